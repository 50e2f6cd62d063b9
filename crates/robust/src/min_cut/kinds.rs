//! Graphs of several kinds and mixed changes to them, for tests, benchmarks and demonstrations.

use super::graph::{Change, EdgeWeight, Graph};
use equipoise_core::{coins::Coins, sampler::uniform::below};

/// A kind of graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Edges between any two vertices, equally likely.
    Random,
    /// Groups of vertices with many edges inside and few between.
    Clustered,
    /// A square grid; the number of edges follows from that of vertices.
    Grid,
    /// Each vertex comes with edges to earlier ones, the more likely the more edges those have.
    PowerLaw,
}

/// All kinds.
pub const ALL: [Kind; 4] = [Kind::Random, Kind::Clustered, Kind::Grid, Kind::PowerLaw];

impl Kind {
    /// A graph with about this many edges, of weights from one to `heaviest`. Panics below two vertices.
    pub fn graph<C: Coins>(self, vertices: u32, edges: usize, heaviest: u64, coins: &mut C) -> Graph {
        let mut graph = Graph::new(vertices).expect("at least two vertices");
        let pairs = match self {
            Self::Random => (0..edges).map(|_| any_pair(vertices, coins)).collect(),
            Self::Clustered => (0..edges).map(|_| clustered_pair(vertices, coins)).collect(),
            Self::Grid => grid_pairs(vertices),
            Self::PowerLaw => power_law_pairs(vertices, edges, coins),
        };
        for ends in pairs.into_iter().filter(|ends| ends[0] != ends[1]) {
            graph.grow(ends, 1 + below(heaviest, coins));
        }
        graph
    }
}

fn vertex<C: Coins>(vertices: u32, coins: &mut C) -> u32 {
    u32::try_from(below(u64::from(vertices), coins)).expect("below a number of 32 bits")
}

fn any_pair<C: Coins>(vertices: u32, coins: &mut C) -> [u32; 2] {
    [vertex(vertices, coins), vertex(vertices, coins)]
}

/// Eight clusters; one edge in 250 leads to any vertex.
fn clustered_pair<C: Coins>(vertices: u32, coins: &mut C) -> [u32; 2] {
    let size = vertices.div_ceil(8).max(2);
    let u = vertex(vertices, coins);
    if below(250, coins) == 0 {
        return [u, vertex(vertices, coins)];
    }
    let first = u / size * size;
    [u, first + vertex(size.min(vertices - first), coins)]
}

fn grid_pairs(vertices: u32) -> Vec<[u32; 2]> {
    let width = vertices.isqrt();
    let right = (0..vertices).filter(|v| (v + 1) % width != 0).map(|v| [v, v + 1]);
    right.chain((0..vertices).map(|v| [v, v + width])).filter(|ends| ends[1] < vertices).collect()
}

fn power_law_pairs<C: Coins>(vertices: u32, edges: usize, coins: &mut C) -> Vec<[u32; 2]> {
    let each = edges.div_ceil(vertices as usize).max(1);
    let mut pairs = vec![[0, 1]];
    for v in 2..vertices {
        for _ in 0..each {
            let end = below(2 * pairs.len() as u64, coins);
            let pair = pairs[usize::try_from(end / 2).expect("an index")];
            pairs.push([v, pair[usize::from(end % 2 == 1)]]);
        }
    }
    pairs
}

/// Changes in which edges go, come back, and come between any two vertices.
#[derive(Clone, Debug)]
pub struct Mixed {
    there: Vec<[u32; 2]>,
    gone: Vec<[u32; 2]>,
    heaviest: u64,
}

impl Mixed {
    /// Changes to a graph that nobody else changes.
    pub fn new(graph: &Graph, heaviest: u64) -> Self {
        let mut there: Vec<[u32; 2]> = graph.edges().map(|edge| edge.ends).collect();
        there.sort_unstable();
        Self { there, gone: Vec::new(), heaviest }
    }

    /// The next change: a deletion in one of two cases, an edge that comes back in one of four.
    pub fn next<C: Coins>(&mut self, graph: &Graph, coins: &mut C) -> Change {
        let kind = coins.bits(2);
        if kind < 2 && !self.there.is_empty() {
            let index = choose(&self.there, coins);
            let ends = self.there[index];
            let weight = 1 + below(graph.weight(ends).min(self.heaviest), coins);
            if weight == graph.weight(ends) {
                self.gone.push(self.there.swap_remove(index));
            }
            return Change::Delete(EdgeWeight { ends, weight });
        }
        let ends = if kind == 2 && !self.gone.is_empty() {
            let index = choose(&self.gone, coins);
            self.gone.swap_remove(index)
        } else {
            let u = vertex(graph.vertices(), coins);
            let v = vertex(graph.vertices() - 1, coins);
            [u, if v < u { v } else { v + 1 }]
        };
        if graph.weight(ends) == 0 {
            self.there.push(ends);
        }
        Change::Insert(EdgeWeight { ends, weight: 1 + below(self.heaviest, coins) })
    }
}

fn choose<T, C: Coins>(list: &[T], coins: &mut C) -> usize {
    usize::try_from(below(list.len() as u64, coins)).expect("an index of the list")
}
