//! Answers about a stream that stay right while users react to them.

use crate::{
    errors,
    table::is_numpy,
    turns::{Turn, Turns},
    waiting,
};
use equipoise_core::{ratio::Ratio, stop};
use equipoise_entropy::OsCoins;
use equipoise_robust::{
    choose::{Method, Question, Stream, choices},
    min_cut::graph::{Change, EdgeWeight, Graph},
    ready::{Own, Promise, RobustDistinct, RobustF2, RobustMinCut, RobustPoint},
    sketch::Item,
};
use numpy::{PyReadonlyArray1, PyReadonlyArray2};
use pyo3::{prelude::*, types::PyBytes};
use serde_json::json;
use std::{fmt::Display, path::Path};

fn ratio(name: &'static str, text: &str) -> PyResult<Ratio> {
    text.parse().map_err(|_| errors::request(format!("{name} is not a number; give one such as 0.1")))
}

/// What is wanted: alpha, beta, answers (none: as many as measured times make quickest), copies asked, keep.
type ColumnRead = (String, String, Option<u64>, usize, bool);

fn promise((alpha, beta, answers, asked, keep): ColumnRead) -> PyResult<Promise> {
    let answers = match answers {
        Some(0) => {
            return Err(errors::request(
                "answers 0 is not accepted: give from 1 to 2^40 answers for each phase, such as 1000",
            ));
        }
        Some(answers) => answers,
        None if keep => 0,
        None => 1000,
    };
    Ok(Promise { alpha: ratio("alpha", &alpha)?, beta: ratio("beta", &beta)?, answers, asked, keep })
}

/// A structure and the coins of its answers.
struct Held<T>(Turns<(T, OsCoins)>);

impl<T: Send> Held<T> {
    /// Begin, or go on from bytes, with fresh coins and without the interpreter's lock.
    fn begin<E: Display>(
        py: Python<'_>,
        begin: impl FnOnce(&mut OsCoins) -> Result<T, E> + Send,
    ) -> PyResult<Self> {
        py.detach(|| {
            let mut coins = OsCoins::new().map_err(errors::lost)?;
            let structure = begin(&mut coins).map_err(errors::request)?;
            Ok(Self(Turns::new((structure, coins))))
        })
    }

    fn lock(&self) -> PyResult<Turn<'_, (T, OsCoins)>> {
        self.0.wait()
    }

    fn with<R: Send>(
        &self,
        py: Python<'_>,
        run: impl FnOnce(&mut T, &mut OsCoins) -> R + Send,
    ) -> PyResult<R> {
        py.detach(|| {
            let (structure, coins) = &mut *self.lock()?;
            Ok(run(structure, coins))
        })
    }

    /// Change it item by item; Ctrl-C ends it after some of them.
    fn change<I: Sync, E: Display>(
        &self,
        py: Python<'_>,
        what: &str,
        items: &[I],
        change: impl Fn(&mut T, &[I]) -> Result<(), (usize, E)> + Sync,
    ) -> PyResult<()> {
        waiting::counted(py, what, || {
            let structure = &mut self.lock()?.0;
            let mut done = 0;
            for part in items.chunks(PART) {
                if stop::asked() {
                    break;
                }
                change(structure, part).map_err(|(place, error)| {
                    let place = done + place;
                    errors::request(format!("{what} {place}: {error}; those before it were carried out"))
                })?;
                done += part.len();
            }
            Ok(done)
        })
    }
}

/// So many items are taken in between two looks for Ctrl-C.
const PART: usize = 256;

/// Items as numbers of 64 bits: whole numbers that are not negative stand for themselves, others for a keyed hash. Bytes that are
/// no text stand for negative numbers.
fn numbers(items: &Bound<'_, PyAny>, number: impl Fn(&[u8]) -> PyResult<u64>) -> PyResult<Vec<u64>> {
    let signed = |value: i64| {
        u64::try_from(value).or_else(|_| {
            let mut bytes = [0xff; 9];
            bytes[1..].copy_from_slice(&value.to_le_bytes());
            number(&bytes)
        })
    };
    if is_numpy(items)
        && let Ok(array) = items.extract::<PyReadonlyArray1<'_, i64>>()
    {
        return array.as_array().iter().map(|&value| signed(value)).collect();
    }
    if is_numpy(items)
        && let Ok(array) = items.extract::<PyReadonlyArray1<'_, u64>>()
    {
        return Ok(array.as_array().iter().copied().collect());
    }
    if let Ok(whole) = items.extract::<Vec<i64>>() {
        return whole.into_iter().map(signed).collect();
    }
    if let Ok(whole) = items.extract::<Vec<u64>>() {
        return Ok(whole);
    }
    let texts: Vec<String> = items.extract().map_err(|_| {
        errors::data("items are whole numbers or texts; give a list or an array of one of them")
    })?;
    texts.iter().map(|text| number(text.as_bytes())).collect()
}

fn method(name: &str) -> Method {
    match name {
        "switching" => Method::Switching,
        "flips" => Method::Flips,
        "keyed" => Method::Keyed,
        _ => Method::Copies,
    }
}

/// What a structure says about itself: answers left, changes left, bytes, copies, what stands behind its answers.
type Facts = (Option<u64>, Option<u64>, usize, usize, String);

/// How many distinct items came.
#[pyclass(frozen, module = "equipoise._equipoise")]
pub struct Distinct(Held<RobustDistinct>);

#[pymethods]
impl Distinct {
    #[new]
    fn new(py: Python<'_>, wanted: ColumnRead, way: &str, changes: u64) -> PyResult<Self> {
        let (promise, method) = (promise(wanted)?, method(way));
        Held::begin(py, |coins| match method {
            Method::Keyed => RobustDistinct::keyed(&promise, coins),
            Method::Copies => RobustDistinct::copies(&promise, coins),
            Method::Switching | Method::Flips => RobustDistinct::of_changes(method, &promise, changes, coins),
        })
        .map(Self)
    }

    /// Go on from a stored state.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, state: &[u8]) -> PyResult<Self> {
        Held::begin(py, |coins| RobustDistinct::from_bytes(state, coins)).map(Self)
    }

    /// The state.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.0.with(py, |distinct, _| distinct.to_bytes())?))
    }

    /// Items come.
    fn update(&self, py: Python<'_>, items: &Bound<'_, PyAny>) -> PyResult<()> {
        let items = numbers(items, |item| Ok(self.0.lock()?.0.number(item)))?;
        self.0.change(py, "item", &items, RobustDistinct::update)
    }

    /// About how many distinct items came.
    fn query(&self, py: Python<'_>) -> PyResult<i128> {
        self.0.with(py, RobustDistinct::query)?.map_err(errors::request)
    }

    /// Answers left, changes left, bytes of memory, copies, and what stands behind the answers.
    #[getter]
    fn facts(&self) -> PyResult<Facts> {
        let turn = self.0.lock()?;
        let distinct = &turn.0;
        let (left, changes) = (distinct.queries_left(), distinct.changes_left());
        Ok((left, changes, distinct.space(), distinct.copy_count(), distinct.guarantee().to_string()))
    }
}

/// Copies, rows, buckets in a row, loss: sizes of one's own.
type OwnSizes = Option<(usize, usize, usize, String)>;

fn own(sizes: OwnSizes) -> PyResult<Option<Own>> {
    let Some((copies, rows, width, loss)) = sizes else { return Ok(None) };
    let loss = loss.parse().map_err(errors::request)?;
    Ok(Some(Own { copies, rows, width, loss }))
}

fn items(keys: Vec<u64>, counts: Option<Vec<i64>>) -> PyResult<Vec<Item>> {
    let counts = counts.unwrap_or_else(|| vec![1; keys.len()]);
    if counts.len() != keys.len() {
        return Err(errors::data("items and counts differ in number; give one count for each item"));
    }
    Ok(keys.into_iter().zip(counts).map(|(key, count)| Item { key, count }).collect())
}

/// The sum of squared counts.
#[pyclass(frozen, module = "equipoise._equipoise")]
pub struct Squares(Held<RobustF2>);

#[pymethods]
impl Squares {
    #[new]
    fn new(py: Python<'_>, wanted: ColumnRead, way: &str, changes: u64, sizes: OwnSizes) -> PyResult<Self> {
        let (promise, method, own) = (promise(wanted)?, method(way), own(sizes)?);
        Held::begin(py, |coins| match method {
            Method::Switching | Method::Flips => RobustF2::of_changes(method, &promise, changes, coins),
            Method::Keyed | Method::Copies => RobustF2::new(&promise, own.as_ref(), coins),
        })
        .map(Self)
    }

    /// Go on from a stored state.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, state: &[u8]) -> PyResult<Self> {
        Held::begin(py, |coins| RobustF2::from_bytes(state, coins)).map(Self)
    }

    /// The state.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.0.with(py, |sketch, _| sketch.to_bytes())?))
    }

    /// Items come, or go where their count is negative.
    #[pyo3(signature = (batch, counts=None))]
    fn update(&self, py: Python<'_>, batch: &Bound<'_, PyAny>, counts: Option<Vec<i64>>) -> PyResult<()> {
        let items = items(numbers(batch, |item| Ok(self.0.lock()?.0.number(item)))?, counts)?;
        self.0.change(py, "item", &items, RobustF2::update)
    }

    /// About the sum of squared counts.
    fn query(&self, py: Python<'_>) -> PyResult<i128> {
        self.0.with(py, |sketch, coins| sketch.query(&(), coins))?.map_err(errors::request)
    }

    /// Answers left, changes left, bytes of memory, copies, and what stands behind the answers.
    #[getter]
    fn facts(&self) -> PyResult<Facts> {
        let turn = self.0.lock()?;
        let sketch = &turn.0;
        let (left, changes) = (Some(sketch.queries_left()), sketch.changes_left());
        Ok((left, changes, sketch.space(), sketch.copy_count(), sketch.guarantee().to_string()))
    }
}

/// The counts of single items.
#[pyclass(frozen, module = "equipoise._equipoise")]
pub struct PointCounts(Held<RobustPoint>);

#[pymethods]
impl PointCounts {
    #[new]
    fn new(py: Python<'_>, wanted: ColumnRead, sizes: OwnSizes) -> PyResult<Self> {
        let (promise, own) = (promise(wanted)?, own(sizes)?);
        Held::begin(py, |coins| RobustPoint::new(&promise, own.as_ref(), coins)).map(Self)
    }

    /// Go on from a stored state.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, state: &[u8]) -> PyResult<Self> {
        Held::begin(py, |coins| RobustPoint::from_bytes(state, coins)).map(Self)
    }

    /// The state.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.0.with(py, |sketch, _| sketch.to_bytes())?))
    }

    /// Items come, or go where their count is negative.
    #[pyo3(signature = (batch, counts=None))]
    fn update(&self, py: Python<'_>, batch: &Bound<'_, PyAny>, counts: Option<Vec<i64>>) -> PyResult<()> {
        let items = items(numbers(batch, |item| Ok(self.0.lock()?.0.number(item)))?, counts)?;
        self.0.change(py, "item", &items, RobustPoint::update)
    }

    /// About how often an item came: a list of one item.
    fn query(&self, py: Python<'_>, item: &Bound<'_, PyAny>) -> PyResult<i128> {
        let keys = numbers(item, |item| Ok(self.0.lock()?.0.number(item)))?;
        let [key] = keys[..] else { return Err(errors::data("ask about one item at a time")) };
        self.0.with(py, |sketch, coins| sketch.query(&key, coins))?.map_err(errors::request)
    }

    /// Answers left, changes left, bytes of memory, copies, and what stands behind the answers.
    #[getter]
    fn facts(&self) -> PyResult<Facts> {
        let turn = self.0.lock()?;
        let sketch = &turn.0;
        let left = Some(sketch.queries_left());
        Ok((left, None, sketch.space(), sketch.copy_count(), sketch.guarantee().to_string()))
    }
}

/// The minimum cut of a graph whose edges come and go.
#[pyclass(frozen, module = "equipoise._equipoise")]
pub struct Cut(Held<RobustMinCut>);

fn begin_cut(py: Python<'_>, graph: Graph, sampled: Option<ColumnRead>) -> PyResult<Cut> {
    let promise = sampled.map(promise).transpose()?;
    Held::begin(py, |coins| match &promise {
        None => Ok(RobustMinCut::exact(graph)),
        Some(promise) => RobustMinCut::sampled(promise, graph, coins),
    })
    .map(Cut)
}

#[pymethods]
impl Cut {
    #[new]
    fn new(py: Python<'_>, vertices: u32, sampled: Option<ColumnRead>) -> PyResult<Self> {
        begin_cut(py, Graph::new(vertices).map_err(errors::request)?, sampled)
    }

    /// The graph of a file of edges.
    #[staticmethod]
    fn from_file(
        py: Python<'_>,
        path: &str,
        no_header: bool,
        vertices: Option<u32>,
        sampled: Option<ColumnRead>,
    ) -> PyResult<Self> {
        let graph = py.detach(|| {
            let rows = equipoise_engine::read_edges(Path::new(path), no_header).map_err(errors::data)?;
            let edges: Vec<EdgeWeight> =
                rows.iter().map(|row| EdgeWeight { ends: row.ends, weight: row.weight }).collect();
            Graph::from_list(vertices, &edges)
                .map_err(|(place, error)| errors::data(format!("'{}', record {}: {error}", path, place + 1)))
        })?;
        begin_cut(py, graph, sampled)
    }

    /// Go on from a stored state.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, state: &[u8]) -> PyResult<Self> {
        Held::begin(py, |coins| RobustMinCut::from_bytes(state, coins)).map(Self)
    }

    /// The state.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.0.with(py, |cut, _| cut.to_bytes())?))
    }

    /// Edges come, or go where their weight is negative: rows of two ends and perhaps a weight.
    fn update(&self, py: Python<'_>, edges: &Bound<'_, PyAny>) -> PyResult<()> {
        let no_edges = |_: PyErr| errors::data("edges are rows of two whole numbers and perhaps a weight");
        let rows: Vec<Vec<i64>> = if is_numpy(edges) {
            let array = edges.extract::<PyReadonlyArray2<'_, i64>>().map_err(no_edges)?;
            array.as_array().rows().into_iter().map(|row| row.to_vec()).collect()
        } else {
            edges.extract().map_err(no_edges)?
        };
        // Rows that are no edges are found before anything is carried out.
        let changes: Vec<Change> = rows
            .iter()
            .enumerate()
            .map(|(place, row)| change(row).map_err(|what| errors::data(format!("edge {place}: {what}"))))
            .collect::<PyResult<_>>()?;
        self.0.change(py, "edge", &changes, RobustMinCut::update)
    }

    /// The weight of a minimum cut.
    fn query(&self, py: Python<'_>) -> PyResult<i128> {
        self.0.with(py, RobustMinCut::query)?.map_err(errors::request)
    }

    /// The vertices on the smaller side of a minimum cut.
    fn side(&self, py: Python<'_>) -> PyResult<Vec<usize>> {
        let side = self.0.with(py, |cut, _| cut.smaller_side())?;
        side.ok_or_else(|| errors::request("samples know the weight only; use the method exact"))
    }

    /// Answers left, nothing, bytes of memory, copies, and what stands behind the answers.
    #[getter]
    fn facts(&self) -> PyResult<Facts> {
        let turn = self.0.lock()?;
        let cut = &turn.0;
        Ok((cut.queries_left(), None, cut.space(), cut.copy_count(), cut.guarantee()))
    }

    /// Seconds for an answer from samples and for the exact cut from scratch, where they were measured.
    #[getter]
    fn beside(&self) -> PyResult<Option<(f64, f64)>> {
        Ok(self.0.lock()?.0.beside().map(|beside| (beside.copies, beside.scratch)))
    }
}

fn change(row: &[i64]) -> Result<Change, &'static str> {
    let vertex = |number: i64| {
        u32::try_from(number).map_err(|_| "a vertex is not accepted; give whole numbers from 0")
    };
    let (u, v, weight) = match *row {
        [u, v] => (u, v, 1),
        [u, v, weight] => (u, v, weight),
        _ => return Err("an edge has two ends and perhaps a weight"),
    };
    let edge = EdgeWeight { ends: [vertex(u)?, vertex(v)?], weight: weight.unsigned_abs() };
    Ok(if weight < 0 { Change::Delete(edge) } else { Change::Insert(edge) })
}

/// Which way suits a stream: a list of choices as JSON, that with the least memory first.
#[pyfunction]
pub fn choose_robust(
    question: &str,
    alpha: &str,
    beta: &str,
    answers: u64,
    insertions_only: bool,
    changes: Option<u64>,
) -> PyResult<String> {
    let question = match question {
        "distinct" => Question::Distinct,
        "f2" => Question::SquaredCounts,
        _ => Question::Point,
    };
    let (alpha, beta) = (ratio("alpha", alpha)?, ratio("beta", beta)?);
    let stream = Stream { question, alpha, beta, answers, insertions_only, changes };
    let name = |method| match method {
        Method::Keyed => "keyed",
        Method::Switching => "switching",
        Method::Flips => "flips",
        Method::Copies => "copies",
    };
    let choices = choices(&stream).map_err(errors::request)?;
    let list = choices.iter().map(|choice| {
        json!({
            "method": name(choice.method), "copies": choice.copies, "bytes": choice.bytes(),
            "guarantee": "proved", "promise": choice.promise(),
        })
    });
    Ok(json!(list.collect::<Vec<_>>()).to_string())
}
