//! The number of triangles of a graph whose edges are private.
//!
//! Source: Nissim, Raskhodnikova and Smith 2007 (smooth sensitivity of the triangle count).
//!
//! # Claim
//!
//! The vertices are public; data sets are neighbours if they differ in one edge. The local sensitivity at
//! distance k is exact. The local sensitivity itself moves by at most one between neighbours. Neighbours
//! that differ in a vertex with all its edges are out of scope: one vertex can move the count by the
//! square of the number of vertices.
//!
//! # Why
//!
//! 1. An edge between i and j makes one triangle with each common neighbour of i and j.
//! 2. k changes give i and j more common neighbours: one change for a vertex that is next to one of them
//!    already, two for the others, never more than all other vertices.

use super::Profile;
use crate::redact::debug_only_public;

/// A simple graph on a public number of vertices.
#[derive(Clone, PartialEq, Eq)]
pub struct Graph {
    vertices: usize,
    /// One row of bits per vertex: who is next to it.
    rows: Vec<Vec<u64>>,
}

debug_only_public!(Graph { vertices });

/// What two vertices have around them.
#[derive(Clone, Copy)]
struct Pair {
    common: u64,
    next_to_one: u64,
}

impl Graph {
    /// The graph with these edges; loops are left out, repeats count once, and so do both directions.
    /// Panics at a vertex that is not below `vertices`.
    pub fn new(vertices: usize, edges: impl IntoIterator<Item = (usize, usize)>) -> Self {
        let mut rows = vec![vec![0; vertices.div_ceil(64)]; vertices];
        for (a, b) in edges {
            assert!(a < vertices && b < vertices, "an edge between vertices of the graph");
            if a != b {
                rows[a][b / 64] |= 1 << (b % 64);
                rows[b][a / 64] |= 1 << (a % 64);
            }
        }
        Self { vertices, rows }
    }

    /// The number of triangles.
    pub fn triangles(&self) -> u64 {
        let edges = self.pairs().filter(|&(a, b)| self.rows[a][b / 64] >> (b % 64) & 1 == 1);
        edges.map(|(a, b)| self.pair(a, b).common).sum::<u64>() / 3
    }

    /// The most that one edge can move the count.
    pub fn local_sensitivity(&self) -> u64 {
        self.pairs().map(|(a, b)| self.pair(a, b).common).max().unwrap_or(0)
    }

    /// The most that one edge can ever move the count.
    pub fn global_sensitivity(&self) -> u64 {
        (self.vertices as u64).saturating_sub(2)
    }

    /// The most that one edge can move the count after at most k edges have changed, for the distances
    /// below `distances`.
    pub fn profile(&self, distances: u64) -> Profile<u64> {
        let ceiling = self.global_sensitivity();
        // Of the pairs with as many common neighbours only the one with most half-way ones matters.
        let mut half_way: Vec<Option<u64>> = vec![None; self.vertices];
        for (a, b) in self.pairs() {
            let Pair { common, next_to_one } = self.pair(a, b);
            let best = &mut half_way[usize::try_from(common).expect("at most the vertices")];
            *best = (*best).max(Some(next_to_one));
        }
        let at = |k: u64| {
            let grown = (0..).zip(&half_way).filter_map(|(common, &next_to_one): (u64, _)| {
                let cheap = k.min(next_to_one?);
                Some((common + cheap + (k - cheap) / 2).min(ceiling))
            });
            grown.max().unwrap_or(0)
        };
        Profile { at_distance: (0..distances).map(at).collect(), beyond: ceiling }
    }

    fn pairs(&self) -> impl Iterator<Item = (usize, usize)> + use<'_> {
        (0..self.vertices).flat_map(|b| (0..b).map(move |a| (a, b)))
    }

    fn pair(&self, a: usize, b: usize) -> Pair {
        let (mut common, mut either) = (0, 0);
        for (x, y) in self.rows[a].iter().zip(&self.rows[b]) {
            common += u64::from((x & y).count_ones());
            either += u64::from((x ^ y).count_ones());
        }
        // An edge between the two shows up as a vertex next to one of them, twice.
        let joined = self.rows[a][b / 64] >> (b % 64) & 1;
        Pair { common, next_to_one: either - 2 * joined }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every graph on few vertices: a number whose bits are the edges.
    struct All {
        vertices: usize,
        edges: Vec<(usize, usize)>,
    }

    impl All {
        fn new(vertices: usize) -> Self {
            Self { vertices, edges: (0..vertices).flat_map(|b| (0..b).map(move |a| (a, b))).collect() }
        }

        fn graph(&self, bits: usize) -> Graph {
            let chosen = self.edges.iter().enumerate().filter(|(i, _)| bits >> i & 1 == 1);
            Graph::new(self.vertices, chosen.map(|(_, &edge)| edge))
        }

        fn triangles(&self, bits: usize) -> u64 {
            let has =
                |a: usize, b: usize| bits >> self.edges.iter().position(|&e| e == (a, b)).unwrap() & 1 == 1;
            let corners = self.edges.iter().flat_map(|&(a, b)| (0..a).map(move |c| (c, a, b)));
            corners.filter(|&(c, a, b)| has(c, a) && has(c, b) && has(a, b)).count() as u64
        }
    }

    #[test]
    fn every_small_graph_agrees_with_search() {
        for vertices in 0..=5 {
            let all = All::new(vertices);
            let counts: Vec<u64> = (0..1 << all.edges.len()).map(|bits| all.triangles(bits)).collect();
            let next_to = |bits: usize| (0..all.edges.len()).map(move |i| bits ^ (1 << i));
            let mut level: Vec<u64> = (0..counts.len())
                .map(|bits| {
                    next_to(bits).map(|other| counts[bits].abs_diff(counts[other])).max().unwrap_or(0)
                })
                .collect();
            let graphs: Vec<Graph> = (0..counts.len()).map(|bits| all.graph(bits)).collect();
            for (bits, graph) in graphs.iter().enumerate() {
                assert_eq!(graph.triangles(), counts[bits]);
                assert_eq!(graph.local_sensitivity(), level[bits]);
                assert!(next_to(bits).all(|other| level[bits].abs_diff(level[other]) <= 1));
            }
            for k in 0..8 {
                for (bits, graph) in graphs.iter().enumerate() {
                    assert_eq!(*graph.profile(8).at(k), level[bits], "{bits:b} {k}");
                    assert!(level[bits] <= graph.global_sensitivity());
                }
                level = (0..level.len())
                    .map(|bits| next_to(bits).map(|other| level[other]).fold(level[bits], u64::max))
                    .collect();
            }
        }
    }

    #[test]
    fn wide_graphs_use_several_words() {
        let star = Graph::new(130, (1..130).map(|leaf| (0, leaf)).chain([(5, 129), (129, 5), (7, 7)]));
        assert_eq!((star.triangles(), star.local_sensitivity()), (1, 1));
        let complete = Graph::new(70, (0..70).flat_map(|b| (0..b).map(move |a| (a, b))));
        assert_eq!((complete.triangles(), complete.local_sensitivity()), (70 * 69 * 68 / 6, 68));
    }
}
