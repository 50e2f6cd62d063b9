//! Whoever deletes what was sampled: breaks a sampled cut, not the copies behind a private median.
//!
//! The edges at the vertex with the fewest are deleted in turn, each for one answer. If the answer fell, the edge was in the
//! sample, and stays away; otherwise it comes back. In the end the sample has no edge at that vertex, while the
//! graph has many. A second round finds what a denser sample of the same structure still has.

use super::graph::{Change, EdgeWeight, Graph};

/// Something that follows changes and answers.
pub trait Target {
    /// Follow a change that fits.
    fn change(&mut self, change: Change);
    /// The minimum cut, it says.
    fn answer(&mut self) -> i128;
}

/// A graph whose minimum cut is around vertex zero, by a factor of three: one edge to each other vertex, and three times
/// as much between any two others. Panics below two vertices.
pub fn planted(vertices: u32) -> Graph {
    let mut graph = Graph::new(vertices).expect("at least two vertices");
    for v in 1..vertices {
        for u in 0..v {
            graph.grow([u, v], if u == 0 { 1 } else { 3 });
        }
    }
    graph
}

/// An attack on the cut around one vertex.
#[derive(Clone, Debug)]
pub struct DeleteSampled {
    edges: Vec<EdgeWeight>,
    next: usize,
    last: i128,
}

impl DeleteSampled {
    /// So many rounds over the edges of the vertex with the fewest.
    pub fn new(graph: &Graph, rounds: usize) -> Self {
        let least = (0..graph.vertices()).min_by_key(|&vertex| graph.degree(vertex)).expect("vertices");
        let mut edges: Vec<EdgeWeight> = graph.edges().filter(|edge| edge.ends.contains(&least)).collect();
        edges.sort_unstable();
        Self { edges: edges.repeat(rounds), next: 0, last: i128::MAX }
    }

    /// One step against a target, and the same changes to the true graph. False when nothing is left to try.
    pub fn step(&mut self, target: &mut impl Target, graph: &mut Graph) -> bool {
        if self.next == 0 {
            self.last = target.answer();
        }
        let there = self.edges[self.next..].iter().position(|edge| graph.weight(edge.ends) > 0);
        let Some(place) = there else { return false };
        let edge = self.edges[self.next + place];
        self.next += place + 1;
        target.change(Change::Delete(edge));
        graph.change(Change::Delete(edge)).expect("nobody else changes the graph");
        let answer = target.answer();
        if answer < self.last {
            self.last = answer;
        } else {
            target.change(Change::Insert(edge));
            graph.change(Change::Insert(edge)).expect("nobody else changes the graph");
            self.last = target.answer();
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::super::{
        fixed::min_cut,
        sampled::{Levels, Sampled},
    };
    use super::*;
    use crate::{Guarantee, Oblivious, TestWords, copies::Copies, grid::Grid, parameters::Wanted};
    use equipoise_core::ratio::Ratio;

    struct Plain(Sampled);

    impl Target for Plain {
        fn change(&mut self, change: Change) {
            self.0.update(&change);
        }
        fn answer(&mut self) -> i128 {
            self.0.query(&())
        }
    }

    struct Wrapped(Copies<Sampled>, TestWords);

    impl Target for Wrapped {
        fn change(&mut self, change: Change) {
            self.0.update(&change).unwrap();
        }
        fn answer(&mut self) -> i128 {
            self.0.query(&(), &mut self.1).unwrap()
        }
    }

    /// Answer over truth after the attack.
    #[expect(clippy::cast_precision_loss, reason = "for display")]
    fn attacked(target: &mut impl Target, mut graph: Graph) -> f64 {
        let mut attack = DeleteSampled::new(&graph, 3);
        while attack.step(target, &mut graph) {}
        target.answer() as f64 / min_cut(&graph).value as f64
    }

    #[test]
    fn it_breaks_the_sample_and_not_the_copies() {
        let mut coins = TestWords(6);
        let graph = planted(40);
        let shape = Levels::new(40, &Ratio::one(), 14).unwrap();
        let mut plain = Plain(Sampled::init(&shape, &graph, &mut coins));
        let broken = attacked(&mut plain, graph.clone());
        assert!(broken < 0.5, "{broken}");
        let grid = Grid::growing(&"0.1".parse().unwrap(), 4000).unwrap();
        let wanted = Wanted { answers: 700, beta: "0.1".parse().unwrap(), grid: grid.len() };
        let plan = wanted.heuristic(30, "2".parse().unwrap()).unwrap();
        let copies = Copies::new(plan, grid, shape, graph.clone(), true, &mut coins).unwrap();
        assert_eq!(copies.guarantee(), Guarantee::Heuristic);
        let held = attacked(&mut Wrapped(copies, TestWords(9)), graph);
        assert!((0.5..1.6).contains(&held), "{held}");
    }
}
