//! Answers about a stream that stay right while users react to them.

use crate::errors;
use equipoise_core::{loss::ParameterError, ratio::Ratio};
use equipoise_entropy::OsCoins;
use equipoise_robust::{
    Oblivious,
    copies::Copies,
    grid::Grid,
    hash::Key,
    min_cut::{
        exact::MinCut,
        graph::{Change, EdgeWeight, Graph},
    },
    parameters::{Plan, Wanted},
    sketch::{
        Counts, Item,
        kmv::{Kmv, Size},
        table::{Buckets, F2, Point},
    },
};
use numpy::{PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use std::sync::{Mutex, MutexGuard, PoisonError};

fn ratio(name: &'static str, text: &str) -> PyResult<Ratio> {
    text.parse().map_err(|_| errors::request(format!("{name} is not a number; give one such as 0.1")))
}

fn share(name: &'static str, text: &str) -> PyResult<Ratio> {
    let share = ratio(name, text)?;
    if share.is_zero() || share.is_negative() || share > Ratio::one() {
        let accepted = "give a number above 0 and at most 1, such as 0.1";
        return Err(errors::request(ParameterError::out_of_range(name, share, accepted)));
    }
    Ok(share)
}

fn lock<T>(state: &Mutex<T>) -> MutexGuard<'_, T> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Items as numbers of 64 bits: whole numbers stand for themselves, texts for a keyed hash.
fn numbers(items: &Bound<'_, PyAny>, key: &Key) -> PyResult<Vec<u64>> {
    if let Ok(array) = items.extract::<PyReadonlyArray1<'_, i64>>() {
        return Ok(array.as_array().iter().map(|number| number.cast_unsigned()).collect());
    }
    if let Ok(array) = items.extract::<PyReadonlyArray1<'_, u64>>() {
        return Ok(array.as_array().iter().copied().collect());
    }
    if let Ok(whole) = items.extract::<Vec<i64>>() {
        return Ok(whole.into_iter().map(i64::cast_unsigned).collect());
    }
    let texts: Vec<String> = items.extract().map_err(|_| {
        errors::data("items are whole numbers or texts; give a list or an array of one of them")
    })?;
    Ok(texts.iter().map(|text| key.hash_bytes(text.as_bytes())).collect())
}

/// How many distinct items came: one sketch under a secret key, or copies behind a private median.
#[pyclass(frozen, module = "equipoise._equipoise")]
pub struct Distinct {
    key: Key,
    state: Mutex<(OneOrMany, OsCoins)>,
}

#[expect(clippy::large_enum_variant, reason = "there is one of them")]
enum OneOrMany {
    One(Kmv),
    Many(Copies<Kmv>),
}

#[pymethods]
impl Distinct {
    #[new]
    fn new(
        py: Python<'_>,
        alpha: &str,
        beta: &str,
        answers: u64,
        copies: bool,
        keep: bool,
    ) -> PyResult<Self> {
        let (alpha, beta) = (share("alpha", alpha)?, share("beta", beta)?);
        py.detach(|| {
            let mut coins = OsCoins::new().map_err(errors::lost)?;
            let key = Key::draw(&mut coins);
            let sketch = if copies {
                let half = alpha / Ratio::from(2u64);
                let grid = Grid::growing(&half, 1 << 50).map_err(errors::request)?;
                let plan = Wanted { answers, beta, grid: grid.len() }.plan().map_err(errors::request)?;
                let size = Size::proved(&half, plan.ln_inverse_failure()).map_err(errors::request)?;
                let many = Copies::new(plan, grid, size, Counts::new(), keep, &mut coins);
                OneOrMany::Many(many.map_err(errors::request)?)
            } else {
                OneOrMany::One(Kmv::new(&Size::keyed(&alpha, &beta).map_err(errors::request)?, &mut coins))
            };
            Ok(Self { key, state: Mutex::new((sketch, coins)) })
        })
    }

    /// Items come.
    fn update(&self, py: Python<'_>, items: &Bound<'_, PyAny>) -> PyResult<()> {
        let items = numbers(items, &self.key)?;
        py.detach(|| match &mut lock(&self.state).0 {
            OneOrMany::One(sketch) => {
                sketch.insert_all(&items);
                Ok(())
            }
            OneOrMany::Many(copies) => {
                copies.update_all(&items).map_err(|(done, error)| errors::request(carried_out(done, &error)))
            }
        })
    }

    /// About how many distinct items came.
    fn query(&self, py: Python<'_>) -> PyResult<i128> {
        py.detach(|| {
            let (sketch, coins) = &mut *lock(&self.state);
            match sketch {
                OneOrMany::One(sketch) => Ok(i128::try_from(sketch.distinct()).unwrap_or(i128::MAX)),
                OneOrMany::Many(copies) => copies.query(&(), coins).map_err(errors::request),
            }
        })
    }

    /// How many answers are left; nothing where there is no limit.
    #[getter]
    fn queries_left(&self) -> Option<u64> {
        match &lock(&self.state).0 {
            OneOrMany::One(_) => None,
            OneOrMany::Many(copies) => Some(copies.queries_left()),
        }
    }

    /// Bytes of memory, about.
    #[getter]
    fn space(&self) -> usize {
        match &lock(&self.state).0 {
            OneOrMany::One(sketch) => sketch.space(),
            OneOrMany::Many(copies) => copies.space(),
        }
    }

    /// What stands behind the answers.
    #[getter]
    fn guarantee(&self) -> String {
        match &lock(&self.state).0 {
            OneOrMany::One(_) => "proved".to_string(),
            OneOrMany::Many(copies) => copies.guarantee().to_string(),
        }
    }
}

fn carried_out(done: usize, error: &impl std::fmt::Display) -> String {
    format!("{error}; the {done} items before it were carried out")
}

/// Copies of a sketch of counts, with the key of its items.
struct Counted<A: Oblivious> {
    key: Key,
    state: Mutex<(Copies<A>, OsCoins)>,
}

impl<A: Oblivious<Input = Counts, Update = Item, Shape = Buckets>> Counted<A>
where
    A: Send,
    A::Refused: std::fmt::Display,
{
    /// Rows and width of one's own, copies and loss of an answer, instead of the proved sizes.
    fn new(
        alpha: &Ratio,
        wanted: Wanted,
        grid: Grid,
        keep: bool,
        heuristic: Option<(usize, usize, usize, String)>,
    ) -> PyResult<Self> {
        let mut coins = OsCoins::new().map_err(errors::lost)?;
        let key = Key::draw(&mut coins);
        let (plan, shape): (Plan, Buckets) = match heuristic {
            None => {
                let plan = wanted.plan().map_err(errors::request)?;
                let shape = Buckets::proved(alpha, plan.ln_inverse_failure()).map_err(errors::request)?;
                (plan, shape)
            }
            Some((copies, rows, width, loss)) => {
                let loss = loss.parse().map_err(errors::request)?;
                let plan = wanted.heuristic(copies, loss).map_err(errors::request)?;
                (plan, Buckets::new(alpha, rows, width).map_err(errors::request)?)
            }
        };
        let copies =
            Copies::new(plan, grid, shape, Counts::new(), keep, &mut coins).map_err(errors::request)?;
        Ok(Self { key, state: Mutex::new((copies, coins)) })
    }

    fn update(&self, py: Python<'_>, items: &Bound<'_, PyAny>, counts: Option<Vec<i64>>) -> PyResult<()> {
        let keys = numbers(items, &self.key)?;
        let counts = counts.unwrap_or_else(|| vec![1; keys.len()]);
        if counts.len() != keys.len() {
            return Err(errors::data("items and counts differ in number; give one count for each item"));
        }
        if counts.iter().any(|count| count.unsigned_abs() > 1 << 40) {
            return Err(errors::request("a count is not accepted; give whole numbers from -2^40 to 2^40"));
        }
        py.detach(|| {
            let items: Vec<Item> =
                keys.into_iter().zip(counts).map(|(key, count)| Item { key, count }).collect();
            let updated = lock(&self.state).0.update_all(&items);
            updated.map_err(|(done, error)| errors::request(carried_out(done, &error)))
        })
    }

    fn query(&self, py: Python<'_>, question: &A::Question) -> PyResult<i128>
    where
        A::Question: Sync,
    {
        py.detach(|| {
            let (copies, coins) = &mut *lock(&self.state);
            copies.query(question, coins).map_err(errors::request)
        })
    }

    fn facts(&self) -> (u64, usize, String) {
        let copies = &lock(&self.state).0;
        (copies.queries_left(), copies.space(), copies.guarantee().to_string())
    }
}

/// The sum of squared counts.
#[pyclass(frozen, module = "equipoise._equipoise")]
pub struct Squares(Counted<F2>);

#[pymethods]
impl Squares {
    #[new]
    #[pyo3(signature = (alpha, beta, answers, keep, heuristic=None))]
    fn new(
        py: Python<'_>,
        alpha: &str,
        beta: &str,
        answers: u64,
        keep: bool,
        heuristic: Option<(usize, usize, usize, String)>,
    ) -> PyResult<Self> {
        let (half, beta) = (share("alpha", alpha)? / Ratio::from(2u64), share("beta", beta)?);
        py.detach(|| {
            let grid = Grid::growing(&half, 1 << 100).map_err(errors::request)?;
            let wanted = Wanted { answers, beta, grid: grid.len() };
            Counted::new(&half, wanted, grid, keep, heuristic).map(Self)
        })
    }

    /// Items come, or go where their count is negative.
    #[pyo3(signature = (items, counts=None))]
    fn update(&self, py: Python<'_>, items: &Bound<'_, PyAny>, counts: Option<Vec<i64>>) -> PyResult<()> {
        self.0.update(py, items, counts)
    }

    /// About the sum of squared counts.
    fn query(&self, py: Python<'_>) -> PyResult<i128> {
        self.0.query(py, &())
    }

    /// Answers left, bytes of memory, and what stands behind the answers.
    #[getter]
    fn facts(&self) -> (u64, usize, String) {
        self.0.facts()
    }
}

/// The counts of single items.
#[pyclass(frozen, module = "equipoise._equipoise")]
pub struct PointCounts(Counted<Point>);

#[pymethods]
impl PointCounts {
    #[new]
    #[pyo3(signature = (alpha, beta, answers, keep, heuristic=None))]
    fn new(
        py: Python<'_>,
        alpha: &str,
        beta: &str,
        answers: u64,
        keep: bool,
        heuristic: Option<(usize, usize, usize, String)>,
    ) -> PyResult<Self> {
        let (alpha, beta) = (share("alpha", alpha)?, share("beta", beta)?);
        py.detach(|| {
            // Counts are whole numbers up to about a million, so the grid rounds nothing.
            let grid = Grid::even(1, 1 << 20).map_err(errors::request)?;
            let wanted = Wanted { answers, beta, grid: grid.len() };
            Counted::new(&alpha, wanted, grid, keep, heuristic).map(Self)
        })
    }

    /// Items come, or go where their count is negative.
    #[pyo3(signature = (items, counts=None))]
    fn update(&self, py: Python<'_>, items: &Bound<'_, PyAny>, counts: Option<Vec<i64>>) -> PyResult<()> {
        self.0.update(py, items, counts)
    }

    /// About how often an item came: a list of one item.
    fn query(&self, py: Python<'_>, item: &Bound<'_, PyAny>) -> PyResult<i128> {
        let keys = numbers(item, &self.0.key)?;
        let [key] = keys[..] else { return Err(errors::data("ask about one item at a time")) };
        self.0.query(py, &key)
    }

    /// Answers left, bytes of memory, and what stands behind the answers.
    #[getter]
    fn facts(&self) -> (u64, usize, String) {
        self.0.facts()
    }
}

/// The exact minimum cut of a graph whose edges come and go.
#[pyclass(frozen, module = "equipoise._equipoise")]
pub struct Cut(Mutex<MinCut>);

#[pymethods]
impl Cut {
    #[new]
    fn new(vertices: u32) -> PyResult<Self> {
        Ok(Self(Mutex::new(MinCut::new(Graph::new(vertices).map_err(errors::request)?))))
    }

    /// Edges come, or go where their weight is negative: rows of two ends and perhaps a weight.
    fn update(&self, py: Python<'_>, edges: &Bound<'_, PyAny>) -> PyResult<()> {
        let rows: Vec<Vec<i64>> = match edges.extract::<PyReadonlyArray2<'_, i64>>() {
            Ok(array) => array.as_array().rows().into_iter().map(|row| row.to_vec()).collect(),
            Err(_) => edges
                .extract()
                .map_err(|_| errors::data("edges are rows of two whole numbers and perhaps a weight"))?,
        };
        py.detach(|| {
            let mut cut = lock(&self.0);
            for (place, row) in rows.iter().enumerate() {
                let change = change(row)?;
                cut.change(change).map_err(|error| {
                    errors::request(format!("edge {place}: {error}; the edges before it were carried out"))
                })?;
            }
            Ok(())
        })
    }

    /// The weight of a minimum cut.
    fn query(&self, py: Python<'_>) -> u64 {
        py.detach(|| lock(&self.0).value())
    }

    /// The vertices on the smaller side of a minimum cut.
    fn side(&self, py: Python<'_>) -> Vec<usize> {
        py.detach(|| {
            let side = lock(&self.0).side();
            let inside = side.iter().filter(|&&inside| inside).count();
            let smaller = 2 * inside <= side.len();
            (0..side.len()).filter(|&vertex| side[vertex] == smaller).collect()
        })
    }
}

fn change(row: &[i64]) -> PyResult<Change> {
    let vertex = |number: i64| {
        u32::try_from(number)
            .map_err(|_| errors::request("a vertex is not accepted; give whole numbers from 0"))
    };
    let (u, v, weight) = match *row {
        [u, v] => (u, v, 1),
        [u, v, weight] => (u, v, weight),
        _ => return Err(errors::data("an edge has two ends and perhaps a weight")),
    };
    let edge = EdgeWeight { ends: [vertex(u)?, vertex(v)?], weight: weight.unsigned_abs() };
    Ok(if weight < 0 { Change::Delete(edge) } else { Change::Insert(edge) })
}
