//! Structures with their sizes worked out: say what is wanted, send batches of updates, ask.
//!
//! All of them have `update`, `query`, `queries_left`, `guarantee`, `space`, `to_bytes` and `from_bytes`.
//!
//! # Example
//!
//! ```
//! use equipoise_robust::ready::{Promise, RobustDistinct};
//! # struct Fixed(u64);
//! # impl equipoise_core::coins::Words for Fixed {
//! #     fn word(&mut self) -> u64 { self.0 = self.0.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1); self.0 ^ self.0 >> 29 }
//! # }
//! # let mut coins = Fixed(1);
//! let promise = Promise { alpha: "0.2".parse()?, beta: "0.01".parse()?, answers: 1000, keep: false };
//! let mut distinct = RobustDistinct::keyed(&promise, &mut coins)?;
//! distinct.update(&[1, 2, 3, 2, 1])?;
//! assert_eq!(distinct.query(&mut coins)?, 3);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use super::{
    Guarantee, Oblivious,
    copies::{Copies, Spent},
    grid::Grid,
    hash::Key,
    min_cut::{
        exact::MinCut,
        graph::{Change, Graph, Misfit},
        sampled::{Levels, Sampled},
    },
    parameters::{Costs, Plan, Wanted},
    sketch::{
        Counts, Item, RefusedItem,
        kmv::{Kmv, Size},
        table::{Buckets, F2, Point},
    },
    state::{Damaged, Kind, Stored, seal, unseal},
};
use equipoise_core::{
    coins::Coins,
    loss::{Eps, ParameterError},
    ratio::Ratio,
};

/// What is wanted of a structure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Promise {
    /// How far off an answer may be, as a share.
    pub alpha: Ratio,
    /// How likely some answer of a phase may be farther off.
    pub beta: Ratio,
    /// How many answers there will be, or a phase gives; zero to choose what measured times make quickest, if input is kept.
    pub answers: u64,
    /// Keep the input in memory, so that a new phase begins when all answers are given.
    pub keep: bool,
}

/// Sizes of one's own, which no theorem covers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Own {
    /// Copies.
    pub copies: usize,
    /// Rows of a copy, an odd number.
    pub rows: usize,
    /// Buckets of a row.
    pub width: usize,
    /// The loss of an answer.
    pub loss: Eps,
}

/// Half of the error for the grid, half for the copies.
fn half(alpha: &Ratio) -> Ratio {
    alpha / &Ratio::from(2u64)
}

impl Promise {
    /// The number of answers that this cost makes quickest, or the declared one.
    fn wanted(&self, grid: usize, costs: impl FnOnce() -> Costs) -> Result<Wanted, ParameterError> {
        let mut wanted = Wanted { answers: self.answers, beta: self.beta.clone(), grid };
        if self.answers == 0 && self.keep {
            wanted.answers = costs().best_plan(&self.beta, grid)?.answers();
        }
        Ok(wanted)
    }

    fn alpha(&self) -> Result<&Ratio, ParameterError> {
        if !self.alpha.is_positive() || self.alpha > Ratio::one() {
            let accepted = "give a number above 0 and at most 1, such as 0.1";
            return Err(ParameterError::out_of_range("alpha", &self.alpha, accepted));
        }
        Ok(&self.alpha)
    }
}

/// How long a phase is measured for: sizes as for this many answers.
const TYPICAL_ANSWERS: u64 = 1 << 12;

fn typical(promise: &Promise, grid: usize) -> Result<Plan, ParameterError> {
    Wanted { answers: TYPICAL_ANSWERS, beta: promise.beta.clone(), grid }.plan()
}

/// How many distinct items came.
pub struct RobustDistinct {
    items: Key,
    form: Form,
}

enum Form {
    /// One sketch under a secret key: enough for one stream of items that come.
    Keyed(Kmv),
    Copies(Box<Copies<Kmv>>),
}

const DISTINCT: Kind = *b"distinct";

impl RobustDistinct {
    /// One sketch under a secret key: no limit on answers, for one stream of items that only come.
    pub fn keyed<C: Coins>(promise: &Promise, coins: &mut C) -> Result<Self, ParameterError> {
        let sketch = Kmv::new(&Size::keyed(promise.alpha()?, &promise.beta)?, coins);
        Ok(Self { items: Key::draw(coins), form: Form::Keyed(sketch) })
    }

    /// Copies behind a private median.
    pub fn copies<C: Coins>(promise: &Promise, coins: &mut C) -> Result<Self, ParameterError> {
        let alpha = half(promise.alpha()?);
        let grid = Grid::growing(&alpha, 1 << 50)?;
        let size = |plan: &Plan| Size::proved(&alpha, plan.ln_inverse_failure());
        let trial = size(&typical(promise, grid.len())?)?;
        let costs = || Costs::measure::<Kmv, _>(&trial, &Counts::new(), &[1], &(), coins);
        let plan = promise.wanted(grid.len(), costs)?.plan()?;
        let size = size(&plan)?;
        let copies = Copies::new(plan, grid, size, Counts::new(), promise.keep, coins)?;
        Ok(Self { items: Key::draw(coins), form: Form::Copies(Box::new(copies)) })
    }

    /// The number that stands for an item.
    pub fn number(&self, item: &[u8]) -> u64 {
        self.items.hash_bytes(item)
    }

    /// Items come.
    pub fn update(&mut self, numbers: &[u64]) -> Result<(), RefusedItem> {
        match &mut self.form {
            Form::Keyed(sketch) => sketch.insert_all(numbers),
            Form::Copies(copies) => copies.update_all(numbers).map_err(|(_, error)| error)?,
        }
        Ok(())
    }

    /// How many distinct items came, about.
    pub fn query<C: Coins>(&mut self, coins: &mut C) -> Result<i128, Spent> {
        match &mut self.form {
            Form::Keyed(sketch) => Ok(sketch.query(&())),
            Form::Copies(copies) => copies.query(&(), coins),
        }
    }

    /// How many answers are left; `None` without a limit.
    pub fn queries_left(&self) -> Option<u64> {
        match &self.form {
            Form::Keyed(_) => None,
            Form::Copies(copies) => Some(copies.queries_left()),
        }
    }

    /// Count an answer that was given before: how a structure is rebuilt from a log.
    pub fn count_answer(&mut self) {
        if let Form::Copies(copies) = &mut self.form {
            copies.count_answer();
        }
    }

    /// What stands behind the answers.
    pub fn guarantee(&self) -> Guarantee {
        match &self.form {
            Form::Keyed(_) => Guarantee::Proved,
            Form::Copies(copies) => copies.guarantee(),
        }
    }

    /// How many sketches there are.
    pub fn copy_count(&self) -> usize {
        match &self.form {
            Form::Keyed(_) => 1,
            Form::Copies(copies) => copies.plan().copies(),
        }
    }

    /// Bytes of memory, about.
    pub fn space(&self) -> usize {
        match &self.form {
            Form::Keyed(sketch) => sketch.space(),
            Form::Copies(copies) => copies.space(),
        }
    }

    /// The state as bytes. They hold keys: keep them secret.
    pub fn to_bytes(&self) -> Vec<u8> {
        seal(DISTINCT, |out| {
            self.items.write(out);
            let (keyed, bytes) = match &self.form {
                Form::Keyed(sketch) => (true, sketch.to_bytes()),
                Form::Copies(copies) => (false, copies.to_bytes()),
            };
            keyed.write(out);
            out.bytes(&bytes);
        })
    }

    /// Go on from a stored state; once only, unless it keeps its input.
    pub fn from_bytes<C: Coins>(bytes: &[u8], coins: &mut C) -> Result<Self, Damaged> {
        unseal(DISTINCT, bytes, |from| {
            let (items, keyed, bytes) = (Key::read(from)?, bool::read(from)?, from.bytes()?);
            let form = if keyed {
                Form::Keyed(Kmv::from_bytes(bytes)?)
            } else {
                Form::Copies(Box::new(Copies::from_bytes(bytes, coins)?))
            };
            Ok(Self { items, form })
        })
    }
}

/// Items that come and go, in copies of a sketch.
pub struct Sketched<A: Oblivious> {
    items: Key,
    copies: Copies<A>,
}

/// The sum of squared counts.
pub type RobustF2 = Sketched<F2>;

/// The counts of single items.
pub type RobustPoint = Sketched<Point>;

/// What the two sketches of rows have in common.
pub trait RowSketch:
    Oblivious<Shape = Buckets, Input = Counts, Update = Item, Refused = RefusedItem> + Stored
{
    /// What a stored structure is called.
    const STORED_AS: Kind;

    /// The values that answers can have, and how far off a copy may be, if an answer may be off by alpha.
    fn grid(alpha: &Ratio) -> Result<(Grid, Ratio), ParameterError>;

    /// Some question, to measure how long one takes.
    fn ask(&mut self) -> i128;
}

impl RowSketch for F2 {
    const STORED_AS: Kind = *b"rows-f2\0";

    fn grid(alpha: &Ratio) -> Result<(Grid, Ratio), ParameterError> {
        Ok((Grid::growing(&half(alpha), 1 << 100)?, half(alpha)))
    }

    fn ask(&mut self) -> i128 {
        self.query(&())
    }
}

impl RowSketch for Point {
    const STORED_AS: Kind = *b"rows-at\0";

    /// Counts are whole numbers up to about a million, so the grid rounds nothing.
    fn grid(alpha: &Ratio) -> Result<(Grid, Ratio), ParameterError> {
        Ok((Grid::even(1, 1 << 20)?, alpha.clone()))
    }

    fn ask(&mut self) -> i128 {
        self.query(&0)
    }
}

impl<A: RowSketch> Sketched<A> {
    /// Copies of proved sizes, or of one's own.
    pub fn new<C: Coins>(
        promise: &Promise,
        own: Option<&Own>,
        coins: &mut C,
    ) -> Result<Self, ParameterError> {
        let (grid, alpha) = A::grid(promise.alpha()?)?;
        let (plan, shape) = if let Some(own) = own {
            let wanted = Wanted { answers: promise.answers, beta: promise.beta.clone(), grid: grid.len() };
            let plan = wanted.heuristic(own.copies, own.loss.clone())?;
            (plan, Buckets::new(&alpha, own.rows, own.width)?)
        } else {
            let shape = |plan: &Plan| Buckets::proved(&alpha, plan.ln_inverse_failure());
            let trial = shape(&typical(promise, grid.len())?)?;
            let costs = || measure_rows::<A, _>(&trial, coins);
            let plan = promise.wanted(grid.len(), costs)?.plan()?;
            let shape = shape(&plan)?;
            (plan, shape)
        };
        let copies = Copies::new(plan, grid, shape, Counts::new(), promise.keep, coins)?;
        Ok(Self { items: Key::draw(coins), copies })
    }

    /// The number that stands for an item.
    pub fn number(&self, item: &[u8]) -> u64 {
        self.items.hash_bytes(item)
    }

    /// Items come, or go where their counts are negative. Stops at the first that is refused, and says how many were followed.
    pub fn update(&mut self, items: &[Item]) -> Result<(), (usize, RefusedItem)> {
        self.copies.update_all(items)
    }

    /// The answer.
    pub fn query<C: Coins>(&mut self, question: &A::Question, coins: &mut C) -> Result<i128, Spent> {
        self.copies.query(question, coins)
    }

    /// How many answers are left in this phase.
    pub fn queries_left(&self) -> u64 {
        self.copies.queries_left()
    }

    /// Count an answer that was given before: how a structure is rebuilt from a log.
    pub fn count_answer(&mut self) {
        self.copies.count_answer();
    }

    /// What stands behind the answers.
    pub fn guarantee(&self) -> Guarantee {
        self.copies.guarantee()
    }

    /// The plan.
    pub fn plan(&self) -> &Plan {
        self.copies.plan()
    }

    /// Bytes of memory, about.
    pub fn space(&self) -> usize {
        self.copies.space()
    }

    /// The state as bytes. They hold keys: keep them secret.
    pub fn to_bytes(&self) -> Vec<u8> {
        seal(A::STORED_AS, |out| {
            self.items.write(out);
            out.bytes(&self.copies.to_bytes());
        })
    }

    /// Go on from a stored state; once only, unless it keeps its input.
    pub fn from_bytes<C: Coins>(bytes: &[u8], coins: &mut C) -> Result<Self, Damaged> {
        unseal(A::STORED_AS, bytes, |from| {
            let (items, bytes) = (Key::read(from)?, from.bytes()?);
            Ok(Self { items, copies: Copies::from_bytes(bytes, coins)? })
        })
    }
}

fn measure_rows<A: RowSketch, C: Coins>(shape: &Buckets, coins: &mut C) -> Costs {
    let start = std::time::Instant::now();
    let mut copy = A::init(shape, &Counts::new(), coins);
    let init = start.elapsed().as_secs_f64();
    copy.update(&Item { key: 1, count: 1 });
    let update = start.elapsed().as_secs_f64() - init;
    std::hint::black_box(copy.ask());
    Costs { init, update, query: start.elapsed().as_secs_f64() - init - update }
}

/// The minimum cut of a graph that changes.
pub struct RobustMinCut(Cuts);

enum Cuts {
    Exact(Box<MinCut>),
    Sampled(Box<Copies<Sampled>>),
}

const CUT: Kind = *b"min-cut\0";

impl RobustMinCut {
    /// The exact cut, without coins and without a limit on answers.
    pub fn exact(graph: Graph) -> Self {
        Self(Cuts::Exact(Box::new(MinCut::new(graph))))
    }

    /// Copies of sampled graphs behind a private median: within `1 ± alpha`. The exact cut is quicker on graphs of all
    /// sizes that were measured.
    pub fn sampled<C: Coins>(promise: &Promise, graph: Graph, coins: &mut C) -> Result<Self, ParameterError> {
        let alpha = half(promise.alpha()?);
        let grid = Grid::growing(&alpha, 1 << 40)?;
        let shape = |plan: &Plan| Levels::proved(graph.vertices(), &alpha, plan.ln_inverse_failure());
        let trial = shape(&typical(promise, grid.len())?)?;
        let costs = || Costs::measure::<Sampled, _>(&trial, &graph, &[], &(), coins);
        let plan = promise.wanted(grid.len(), costs)?.plan()?;
        let shape = shape(&plan)?;
        Ok(Self(Cuts::Sampled(Box::new(Copies::new(plan, grid, shape, graph, true, coins)?))))
    }

    /// Edges come and go. Stops at the first change that does not fit, and says how many were followed.
    pub fn update(&mut self, changes: &[Change]) -> Result<(), (usize, Misfit)> {
        match &mut self.0 {
            Cuts::Exact(cut) => {
                let mut numbered = changes.iter().enumerate();
                numbered.try_for_each(|(at, &change)| cut.change(change).map_err(|error| (at, error)))
            }
            Cuts::Sampled(copies) => copies.update_all(changes),
        }
    }

    /// The weight of a minimum cut, exactly or about.
    pub fn query<C: Coins>(&mut self, coins: &mut C) -> Result<i128, Spent> {
        match &mut self.0 {
            Cuts::Exact(cut) => Ok(cut.value().into()),
            Cuts::Sampled(copies) => copies.query(&(), coins),
        }
    }

    /// One side of an exact minimum cut: for each vertex, is it on it? `None` from samples.
    pub fn side(&mut self) -> Option<Vec<bool>> {
        match &mut self.0 {
            Cuts::Exact(cut) => Some(cut.side()),
            Cuts::Sampled(_) => None,
        }
    }

    /// How many answers are left in this phase; `None` without a limit.
    pub fn queries_left(&self) -> Option<u64> {
        match &self.0 {
            Cuts::Exact(_) => None,
            Cuts::Sampled(copies) => Some(copies.queries_left()),
        }
    }

    /// `exact`, `proved` or `heuristic`.
    pub fn guarantee(&self) -> String {
        match &self.0 {
            Cuts::Exact(_) => "exact".to_string(),
            Cuts::Sampled(copies) => copies.guarantee().to_string(),
        }
    }

    /// How many copies there are; one where none is needed.
    pub fn copy_count(&self) -> usize {
        match &self.0 {
            Cuts::Exact(_) => 1,
            Cuts::Sampled(copies) => copies.plan().copies(),
        }
    }

    /// Bytes of memory, about.
    pub fn space(&self) -> usize {
        match &self.0 {
            Cuts::Exact(cut) => cut.space(),
            Cuts::Sampled(copies) => copies.space(),
        }
    }

    /// The state as bytes: the graph, and what was promised.
    pub fn to_bytes(&self) -> Vec<u8> {
        seal(CUT, |out| {
            let (exact, bytes) = match &self.0 {
                Cuts::Exact(cut) => (true, cut.to_bytes()),
                Cuts::Sampled(copies) => (false, copies.to_bytes()),
            };
            exact.write(out);
            out.bytes(&bytes);
        })
    }

    /// Go on from a stored state: samples are drawn anew.
    pub fn from_bytes<C: Coins>(bytes: &[u8], coins: &mut C) -> Result<Self, Damaged> {
        unseal(CUT, bytes, |from| {
            let (exact, bytes) = (bool::read(from)?, from.bytes()?);
            Ok(Self(if exact {
                Cuts::Exact(Box::new(MinCut::from_bytes(bytes)?))
            } else {
                Cuts::Sampled(Box::new(Copies::from_bytes(bytes, coins)?))
            }))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{TestWords, min_cut::graph::EdgeWeight, state::assert_refuses_damage};

    fn promise(answers: u64, keep: bool) -> Promise {
        Promise { alpha: "0.9".parse().unwrap(), beta: "0.1".parse().unwrap(), answers, keep }
    }

    #[test]
    fn distinct_goes_on_after_it_was_stored() {
        let mut coins = TestWords(21);
        let keyed = RobustDistinct::keyed(&promise(0, false), &mut coins).unwrap();
        let copies = RobustDistinct::copies(&promise(10, false), &mut coins).unwrap();
        assert_eq!((keyed.queries_left(), copies.queries_left()), (None, Some(10)));
        for mut distinct in [keyed, copies] {
            distinct.update(&[distinct.number(b"ann"), distinct.number(b"bob")]).unwrap();
            let mut distinct = RobustDistinct::from_bytes(&distinct.to_bytes(), &mut coins).unwrap();
            distinct.update(&[distinct.number(b"ann")]).unwrap();
            let answer = distinct.query(&mut coins).unwrap();
            assert!((1..=2).contains(&answer), "{answer}");
            assert_eq!(distinct.guarantee(), Guarantee::Proved);
        }
        // Without a declared number of answers, and nothing kept to begin again on.
        assert!(RobustDistinct::copies(&promise(0, false), &mut coins).is_err());
        assert!(
            RobustDistinct::keyed(&Promise { alpha: Ratio::zero(), ..promise(1, false) }, &mut coins)
                .is_err()
        );
    }

    #[test]
    fn rows_go_on_after_they_were_stored() {
        let mut coins = TestWords(22);
        let own = Own { copies: 60, rows: 3, width: 64, loss: "2".parse().unwrap() };
        let mut f2 = RobustF2::new(&promise(10, true), Some(&own), &mut coins).unwrap();
        f2.update(&[Item { key: 1, count: 100 }]).unwrap();
        let bytes = f2.to_bytes();
        let mut f2 = RobustF2::from_bytes(&bytes, &mut coins).unwrap();
        let answer = f2.query(&(), &mut coins).unwrap();
        assert!((5_000..=10_000).contains(&answer), "{answer}");
        assert_eq!((f2.queries_left(), f2.guarantee()), (9, Guarantee::Heuristic));
        let other = RobustPoint::from_bytes(&bytes, &mut coins).err().unwrap().to_string();
        assert_eq!(
            other,
            "the state is of the structure 'rows-f2', not 'rows-at'; give the one that was stored"
        );
        assert_refuses_damage(&bytes, |bytes| RobustF2::from_bytes(bytes, &mut TestWords(1)).err());
    }

    #[test]
    fn cuts_go_on_after_they_were_stored() {
        let mut coins = TestWords(23);
        let edge = |u, v| EdgeWeight { ends: [u, v], weight: 1 };
        let graph = Graph::with_edges(4, [edge(0, 1), edge(1, 2), edge(2, 3), edge(3, 0)]).unwrap();
        let exact = RobustMinCut::exact(graph.clone());
        let sampled = RobustMinCut::sampled(&promise(4, true), graph, &mut coins).unwrap();
        for (cut, guarantee) in [(exact, "exact"), (sampled, "proved")] {
            let bytes = cut.to_bytes();
            let mut cut = RobustMinCut::from_bytes(&bytes, &mut coins).unwrap();
            assert_eq!(cut.query(&mut coins).unwrap(), 2);
            let refused = cut.update(&[Change::Delete(edge(0, 1)), Change::Delete(edge(0, 1))]).unwrap_err();
            assert_eq!(refused.0, 1);
            assert_eq!((cut.query(&mut coins).unwrap(), cut.guarantee()), (1, guarantee.to_string()));
            assert_eq!(cut.side().is_some(), guarantee == "exact");
            assert_refuses_damage(&bytes, |bytes| RobustMinCut::from_bytes(bytes, &mut TestWords(1)).err());
        }
    }
}
