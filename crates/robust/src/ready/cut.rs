//! The minimum cut of a graph that changes: exactly, or from samples.

use super::{
    Promise,
    paced::{Paced, Sizes, measure},
    split,
};
use crate::{
    copies::Spent,
    grid::Grid,
    min_cut::{
        exact::MinCut,
        fixed,
        graph::{Change, EdgeWeight, Graph, Misfit},
        sampled::{Levels, Sampled},
    },
    state::{Damaged, Kind, Stored, seal, unseal},
};
use equipoise_core::{coins::Coins, loss::ParameterError, ratio::Ratio};
use std::{fmt, time::Instant};

/// The minimum cut of a graph that changes.
pub struct RobustMinCut(Cuts);

enum Cuts {
    Exact(Box<MinCut>),
    Sampled { copies: Box<Paced<Sampled>>, beside: Option<Beside> },
}

/// Measured seconds for an answer from copies, beside those of computing the cut from scratch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Beside {
    /// An answer, with its share of updates and of the beginning of a phase.
    pub copies: f64,
    /// One computation of the exact cut.
    pub scratch: f64,
}

impl fmt::Display for Beside {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (copies, scratch) = (self.copies * 1e3, self.scratch * 1e3);
        write!(f, "an answer takes about {copies:.3} ms, the exact cut from scratch {scratch:.3} ms: ")?;
        f.write_str(if self.copies < self.scratch {
            "copies beat recomputing"
        } else {
            "recomputing beats copies, and the exact method beats both"
        })
    }
}

const CUT: Kind = *b"min-cut\0";

impl Sizes for Sampled {
    fn grid(alpha: &Ratio) -> Result<(Grid, Ratio), ParameterError> {
        split(alpha, 1 << 40)
    }

    fn shape(graph: &Graph, alpha: &Ratio, ln_inverse: &Ratio) -> Result<Levels, ParameterError> {
        Levels::proved(graph.vertices(), alpha, ln_inverse)
    }

    fn some_question() -> &'static () {
        &()
    }

    fn some_update() -> Change {
        Change::Insert(EdgeWeight { ends: [0, 1], weight: 1 })
    }
}

impl RobustMinCut {
    /// The exact cut, without coins and without a limit on answers.
    pub fn exact(graph: Graph) -> Self {
        Self(Cuts::Exact(Box::new(MinCut::new(graph))))
    }

    /// Copies of sampled graphs behind a private median: within `1 ± alpha`. [`RobustMinCut::beside`] says whether that is
    /// quicker than computing the cut from scratch. The exact cut is quicker on graphs of all sizes that were measured.
    pub fn sampled<C: Coins>(promise: &Promise, graph: Graph, coins: &mut C) -> Result<Self, ParameterError> {
        let promise = Promise { keep: true, ..promise.clone() };
        if !Levels::can_follow(&graph) {
            let next = "samples follow at most 2^24 units one by one; use a larger unit or the exact method";
            return Err(ParameterError::out_of_range("weight of the graph", graph.total_weight(), next));
        }
        let start = Instant::now();
        std::hint::black_box(fixed::min_cut(&graph));
        let scratch = start.elapsed().as_secs_f64();
        let costs = measure::<Sampled, _>(&promise, &graph, 1.0, coins)?;
        let copies = Paced::begin(&promise, graph, coins)?;
        let beside = Beside { copies: costs.per_answer(copies.copies().plan()), scratch };
        Ok(Self(Cuts::Sampled { copies: Box::new(copies), beside: Some(beside) }))
    }

    /// Times as they were measured at the beginning; `None` where nothing was.
    pub fn beside(&self) -> Option<Beside> {
        match &self.0 {
            Cuts::Exact(_) => None,
            Cuts::Sampled { beside, .. } => *beside,
        }
    }

    /// How many vertices the graph has.
    pub fn vertices(&self) -> u32 {
        match &self.0 {
            Cuts::Exact(cut) => cut.graph().vertices(),
            Cuts::Sampled { copies, .. } => copies.copies().input().map_or(0, Graph::vertices),
        }
    }

    /// Edges come and go. Stops at the first change that does not fit, and says how many were followed.
    pub fn update(&mut self, changes: &[Change]) -> Result<(), (usize, Misfit)> {
        match &mut self.0 {
            Cuts::Exact(cut) => {
                let mut numbered = changes.iter().enumerate();
                numbered.try_for_each(|(at, &change)| cut.change(change).map_err(|error| (at, error)))
            }
            Cuts::Sampled { copies, .. } => copies.update_all(changes),
        }
    }

    /// The weight of a minimum cut, exactly or about.
    pub fn query<C: Coins>(&mut self, coins: &mut C) -> Result<i128, Spent> {
        match &mut self.0 {
            Cuts::Exact(cut) => Ok(cut.value().into()),
            Cuts::Sampled { copies, .. } => copies.query(&(), coins),
        }
    }

    /// The vertices on the smaller side of an exact minimum cut. `None` from samples.
    pub fn smaller_side(&mut self) -> Option<Vec<usize>> {
        let Cuts::Exact(cut) = &mut self.0 else { return None };
        let side = cut.side();
        let inside = side.iter().filter(|&&inside| inside).count();
        let smaller = 2 * inside <= side.len();
        Some((0..side.len()).filter(|&vertex| side[vertex] == smaller).collect())
    }

    /// How many answers are left in this phase; `None` without a limit.
    pub fn queries_left(&self) -> Option<u64> {
        match &self.0 {
            Cuts::Exact(_) => None,
            Cuts::Sampled { copies, .. } => Some(copies.copies().queries_left()),
        }
    }

    /// `exact`, `proved` or `heuristic`.
    pub fn guarantee(&self) -> String {
        match &self.0 {
            Cuts::Exact(_) => "exact".to_string(),
            Cuts::Sampled { copies, .. } => copies.guarantee().to_string(),
        }
    }

    /// How many copies there are; one where none is needed.
    pub fn copy_count(&self) -> usize {
        match &self.0 {
            Cuts::Exact(_) => 1,
            Cuts::Sampled { copies, .. } => copies.copies().plan().copies(),
        }
    }

    /// Bytes of memory, about.
    pub fn space(&self) -> usize {
        match &self.0 {
            Cuts::Exact(cut) => cut.space(),
            Cuts::Sampled { copies, .. } => copies.copies().space(),
        }
    }

    /// The state as bytes: the graph, and what was promised.
    pub fn to_bytes(&self) -> Vec<u8> {
        seal(CUT, |out| match &self.0 {
            Cuts::Exact(cut) => {
                true.write(out);
                cut.write(out);
            }
            Cuts::Sampled { copies, .. } => {
                false.write(out);
                copies.write(out);
            }
        })
    }

    /// Go on from a stored state: samples are drawn anew.
    pub fn from_bytes<C: Coins>(bytes: &[u8], coins: &mut C) -> Result<Self, Damaged> {
        unseal(CUT, bytes, |from| {
            Ok(Self(if bool::read(from)? {
                Cuts::Exact(Box::new(MinCut::read(from)?))
            } else {
                let copies = Paced::<Sampled>::read(from, coins)?;
                if copies.copies().input().is_none() {
                    return Err(Damaged::Content("its graph is missing"));
                }
                Cuts::Sampled { copies: Box::new(copies), beside: None }
            }))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{TestWords, state::assert_refuses_damage};

    #[test]
    fn cuts_go_on_after_they_were_stored() {
        let mut coins = TestWords(23);
        let edge = |u, v| EdgeWeight { ends: [u, v], weight: 1 };
        let graph = Graph::with_edges(4, [edge(0, 1), edge(1, 2), edge(2, 3), edge(3, 0)]).unwrap();
        let exact = RobustMinCut::exact(graph.clone());
        let (alpha, beta) = ("0.9".parse().unwrap(), "0.1".parse().unwrap());
        let promise = Promise { alpha, beta, answers: 4, asked: 0, keep: true };
        let sampled = RobustMinCut::sampled(&promise, graph, &mut coins).unwrap();
        assert!(exact.beside().is_none() && sampled.beside().is_some());
        for (cut, guarantee) in [(exact, "exact"), (sampled, "proved")] {
            let bytes = cut.to_bytes();
            let mut cut = RobustMinCut::from_bytes(&bytes, &mut coins).unwrap();
            assert_eq!((cut.query(&mut coins).unwrap(), cut.vertices()), (2, 4));
            let refused = cut.update(&[Change::Delete(edge(0, 1)), Change::Delete(edge(0, 1))]).unwrap_err();
            assert_eq!(refused.0, 1);
            assert_eq!((cut.query(&mut coins).unwrap(), cut.guarantee()), (1, guarantee.to_string()));
            assert_eq!(cut.smaller_side().is_some(), guarantee == "exact");
            assert_refuses_damage(&bytes, |bytes| RobustMinCut::from_bytes(bytes, &mut TestWords(1)).err());
        }
    }

    #[test]
    fn it_says_who_is_quicker() {
        let beside = |copies, scratch| Beside { copies, scratch }.to_string();
        assert_eq!(
            beside(0.012, 0.000_25),
            "an answer takes about 12.000 ms, the exact cut from scratch 0.250 ms: recomputing beats copies, and the exact method beats both"
        );
        assert!(beside(1.0, 2.0).ends_with(": copies beat recomputing"));
    }
}
