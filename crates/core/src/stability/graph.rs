//! A graph from a list of edges: what is counted of it, and how far one edge or one node can move that near here.
//!
//! Source: Nissim, Raskhodnikova and Smith 2007 (triangles); Karwa, Raskhodnikova, Smith and Yaroslavtsev 2011 (stars); Kasiviswanathan,
//! Nissim, Raskhodnikova and Smith 2013 and Day, Li and Lyu 2016 (nodes that keep a bounded number of edges).
//!
//! # Claim
//!
//! Any number of nodes may be named by edges, and a node that none names is not there. Data sets are neighbours if they differ in one edge,
//! or in one node with all of its edges.
//! - [`SparseGraph::triangle_pairs`] and [`SparseGraph::star_pairs`] have the local sensitivity at every distance in edges, exactly.
//! - That of triangles and of 2-stars moves by at most one between neighbours; that of larger stars by more than any number.
//! - How far edges that are removed bring triangles and 2-stars down: `fewer_edges`.
//! - One edge moves the edges and the components by at most one, and the degree histogram by at most four in all.
//! - [`kept`]: one node moves the number of kept edges by at most `most`, and the histogram of kept degrees, zero left out, by at most
//!   `2·most + 1` in all, where the order of edges is a function of each edge alone.
//!
//! # Why
//!
//! 1. An edge between i and j makes one triangle with each of c common neighbours. k changes before it give one more for each change at a
//!    node that is next to one of the two, one more for two changes elsewhere: min(c + k, floor((k + s)/2)), where s is the sum of both
//!    degrees, the edge between them left out.
//! 2. An edge between i and j makes h(d_i) + h(d_j) stars of K edges, h(d) = C(d, K-1), degrees without that edge. h is convex, so k changes
//!    are best spent on the node of larger degree.
//! 3. Edges are kept in turn while both ends have kept fewer than `most`. Without a node, each of at most `most` edges that it kept starts
//!    a path along which kept and dropped edges take turns, and a path changes the number of kept edges by at most one and the
//!    degree of no node but its last. Tests enumerate all small graphs in all orders of edges.

use crate::{ratio::Ratio, redact::debug_only_public};
use std::collections::{BTreeMap, HashMap};

/// A simple graph whose nodes are numbers from zero on.
#[derive(Clone, PartialEq, Eq)]
pub struct SparseGraph {
    /// Where the neighbours of each node begin, and where the last end.
    starts: Vec<usize>,
    /// Neighbours of each node, in rising order.
    neighbours: Vec<u32>,
}

debug_only_public!(SparseGraph {});

/// Pairs of nodes that tell how far one edge can move a count near here; none is at most another in both of its numbers. Private.
#[derive(Clone, PartialEq, Eq)]
pub struct Pairs {
    pairs: Vec<(u64, u64)>,
}

debug_only_public!(Pairs {});

/// Stars of more edges than this have more digits than anybody reads.
pub const LARGEST_STAR: u32 = 4;

impl SparseGraph {
    /// The graph with these edges; loops are left out, repeats count once, and so do both directions.
    pub fn new(edges: impl IntoIterator<Item = (u32, u32)>) -> Self {
        let mut both: Vec<(u32, u32)> =
            edges.into_iter().filter(|(a, b)| a != b).flat_map(|(a, b)| [(a, b), (b, a)]).collect();
        both.sort_unstable();
        both.dedup();
        let nodes = both.last().map_or(0, |&(last, _)| last as usize + 1);
        let mut starts = vec![0; nodes + 1];
        for &(node, _) in &both {
            starts[node as usize + 1] += 1;
        }
        for node in 0..nodes {
            starts[node + 1] += starts[node];
        }
        Self { starts, neighbours: both.into_iter().map(|(_, other)| other).collect() }
    }

    fn nodes(&self) -> u32 {
        u32::try_from(self.starts.len() - 1).expect("nodes are numbers of 32 bits")
    }

    pub(super) fn of(&self, node: u32) -> &[u32] {
        &self.neighbours[self.starts[node as usize]..self.starts[node as usize + 1]]
    }

    pub(super) fn degree(&self, node: u32) -> u64 {
        self.of(node).len() as u64
    }

    pub(super) fn are_joined(&self, a: u32, b: u32) -> bool {
        let (few, other) = if self.degree(a) <= self.degree(b) { (a, b) } else { (b, a) };
        self.of(few).binary_search(&other).is_ok()
    }

    /// The number of edges.
    pub fn edges(&self) -> u64 {
        self.neighbours.len() as u64 / 2
    }

    /// All edges, each once.
    pub fn each_edge(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        (0..self.nodes()).flat_map(|a| self.of(a).iter().filter(move |&&b| a < b).map(move |&b| (a, b)))
    }

    /// The degrees of the nodes that have an edge.
    pub fn degrees(&self) -> impl Iterator<Item = u64> + '_ {
        (0..self.nodes()).map(|node| self.degree(node)).filter(|&degree| degree > 0)
    }

    /// The number of triangles.
    pub fn triangles(&self) -> u64 {
        // Each is found once, at its edge between the two nodes that come first by degree; the third comes later.
        let before = |a: u32, b: u32| (self.degree(a), a) < (self.degree(b), b);
        let after: Vec<Vec<u32>> = (0..self.nodes())
            .map(|node| self.of(node).iter().copied().filter(|&other| before(node, other)).collect())
            .collect();
        let mut found = 0;
        for list in &after {
            for (place, &a) in list.iter().enumerate() {
                // Both lists rise, so one walk along the shorter of them with a search in the other will do.
                let (rest, next) = (&list[place + 1..], &after[a as usize]);
                let both = rest.iter().filter(|b| next.binary_search(b).is_ok()).count();
                let back = list[..place].iter().filter(|b| next.binary_search(b).is_ok()).count();
                found += (both + back) as u64;
            }
        }
        found
    }

    /// The number of sets of `edges` edges that share a node; cut off at 2^128.
    pub fn stars(&self, edges: u32) -> u128 {
        self.degrees().map(|degree| choose(degree, edges)).fold(0, u128::saturating_add)
    }

    /// The number of connected parts, of nodes that have an edge.
    pub fn components(&self) -> u64 {
        let mut seen = vec![false; self.nodes() as usize];
        let mut waiting = Vec::new();
        let mut parts = 0;
        for first in (0..self.nodes()).filter(|&node| self.degree(node) > 0) {
            if std::mem::replace(&mut seen[first as usize], true) {
                continue;
            }
            parts += 1;
            waiting.push(first);
            while let Some(node) = waiting.pop() {
                for &next in self.of(node) {
                    if !std::mem::replace(&mut seen[next as usize], true) {
                        waiting.push(next);
                    }
                }
            }
        }
        parts
    }

    /// Nodes by their degree, the largest first.
    fn by_degree(&self) -> Vec<u32> {
        let mut order: Vec<u32> = (0..self.nodes()).filter(|&node| self.degree(node) > 0).collect();
        order.sort_by_key(|&node| (std::cmp::Reverse(self.degree(node)), node));
        order
    }

    /// Of pairs of nodes, also of such that no edge names yet: how many neighbours both have, and the sum of their degrees without an edge
    /// between them. Its time shows the number of edges and how degrees are spread.
    pub fn triangle_pairs(&self) -> Pairs {
        let order = self.by_degree();
        let mut rank = vec![0usize; self.nodes() as usize];
        order.iter().enumerate().for_each(|(place, &node)| rank[node as usize] = place);
        let mut front = Front::default();
        front.add(0, self.largest_sum(&order));
        let mut shared = vec![0u64; self.nodes() as usize];
        let mut touched: Vec<u32> = Vec::new();
        for &node in &order {
            let degree = self.degree(node);
            // The other node of a pair comes later in the order: its degree is no larger.
            // What was found covers all pairs from here on, whose nodes have no more neighbours.
            let known = front.common_at(2 * degree).unwrap_or(0);
            if known >= degree {
                break;
            }
            let mut through = self.of(node).to_vec();
            through.sort_by_key(|&middle| self.degree(middle));
            // Who shares more than `known` neighbours shares one of any degree - known of them: the others have the longest lists.
            let few = usize::try_from(degree - known).expect("a degree");
            let (light, heavy) = through.split_at(few);
            for &other in light.iter().flat_map(|&middle| self.of(middle)) {
                if rank[other as usize] > rank[node as usize] {
                    if shared[other as usize] == 0 {
                        touched.push(other);
                    }
                    shared[other as usize] += 1;
                }
            }
            for other in touched.drain(..) {
                let common = std::mem::take(&mut shared[other as usize]);
                if self.degree(other) > known {
                    let more = heavy.iter().filter(|&&middle| self.are_joined(middle, other)).count() as u64;
                    let joined = u64::from(self.are_joined(node, other));
                    front.add(common + more, degree + self.degree(other) - 2 * joined);
                }
            }
        }
        Pairs { pairs: front.0.into_iter().collect() }
    }

    /// The largest sum of the degrees of two nodes, an edge between them left out; one of them may be a node that is not there.
    fn largest_sum(&self, order: &[u32]) -> u64 {
        let mut best = order.first().map_or(0, |&node| self.degree(node));
        for (place, &one) in order.iter().enumerate() {
            if 2 * self.degree(one) <= best {
                break;
            }
            for &other in &order[place + 1..] {
                let sum = self.degree(one) + self.degree(other);
                if sum <= best {
                    break;
                }
                let joined = self.are_joined(one, other);
                best = best.max(sum - 2 * u64::from(joined));
                if !joined {
                    break;
                }
            }
        }
        best
    }

    /// Of pairs of nodes, also of such that no edge names yet: both degrees without an edge between them, the larger one first.
    pub fn star_pairs(&self) -> Pairs {
        let mut nodes: BTreeMap<u64, u64> = BTreeMap::new();
        for degree in self.degrees() {
            *nodes.entry(degree).or_default() += 1;
        }
        let mut joined: HashMap<(u64, u64), u64> = HashMap::new();
        for (a, b) in self.each_edge() {
            let (a, b) = (self.degree(a), self.degree(b));
            *joined.entry((a.max(b), a.min(b))).or_default() += 1;
        }
        let mut front = Front::default();
        front.add(0, 0);
        for (&larger, &many) in nodes.iter().rev() {
            // A node that is not there yet has no edges and no neighbours.
            front.add(larger, 0);
            for (&smaller, &few) in nodes.range(..=larger).rev() {
                let pairs = if larger == smaller { many * (many - 1) / 2 } else { many * few };
                let edges = joined.get(&(larger, smaller)).copied().unwrap_or(0);
                if edges > 0 {
                    front.add(larger - 1, smaller - 1);
                }
                if edges < pairs {
                    front.add(larger, smaller);
                    break;
                }
            }
        }
        Pairs { pairs: front.0.into_iter().collect() }
    }
}

/// Pairs of numbers by the first; the second falls where the first rises.
#[derive(Default)]
struct Front(BTreeMap<u64, u64>);

impl Front {
    fn add(&mut self, first: u64, second: u64) {
        if self.0.range(first..).any(|(_, &other)| other >= second) {
            return;
        }
        self.0.retain(|&one, &mut other| one > first || other > second);
        self.0.insert(first, second);
    }

    /// The largest first number beside which the second is at least this.
    fn common_at(&self, second: u64) -> Option<u64> {
        self.0.iter().rev().find(|&(_, &other)| other >= second).map(|(&first, _)| first)
    }
}

impl Pairs {
    /// The most that one edge can move the number of triangles after at most k edges have changed.
    pub fn triangles_at(&self, k: u64) -> u64 {
        let moved = self.pairs.iter().map(|&(common, sum)| (common + k).min(u64::midpoint(k, sum)));
        moved.max().unwrap_or(0)
    }

    /// The same for stars of so many edges; cut off at 2^128.
    pub fn stars_at(&self, edges: u32, k: u64) -> u128 {
        let made = |degree: u64| choose(degree, edges - 1);
        let moved =
            self.pairs.iter().map(|&(larger, smaller)| made(larger + k).saturating_add(made(smaller)));
        moved.max().unwrap_or(0)
    }
}

/// In how many ways some things can be chosen of so many; cut off at 2^128.
fn choose(of: u64, some: u32) -> u128 {
    let mut ways: u128 = 1;
    for taken in 0..u64::from(some) {
        let Some(left) = of.checked_sub(taken) else { return 0 };
        // Each quotient is whole.
        ways = ways.saturating_mul(u128::from(left)) / u128::from(taken + 1);
    }
    ways
}

/// How many edges each node keeps, where edges are kept in this order while both ends have kept fewer than `most`; and how many there
/// are.
pub fn kept(ordered: &[(u32, u32)], most: u64) -> (Vec<u64>, u64) {
    let nodes = ordered.iter().map(|&(a, b)| a.max(b) as usize + 1).max().unwrap_or(0);
    let mut degrees = vec![0; nodes];
    let mut edges = 0;
    for &(a, b) in ordered {
        let (a, b) = (a as usize, b as usize);
        if a != b && degrees[a] < most && degrees[b] < most {
            degrees[a] += 1;
            degrees[b] += 1;
            edges += 1;
        }
    }
    (degrees, edges)
}

/// The most that one node moves the histogram of kept degrees, all bins together.
pub fn kept_histogram_sensitivity(most: u64) -> u64 {
    2 * most + 1
}

/// How much worse than the best another bound on degrees is, for each of them: what one node moves by at most one.
///
/// Source: Raskhodnikova and Smith 2016 (the generalized exponential mechanism). The error of a bound is what it drops, and so much noise
/// for each unit of its sensitivity, which is the bound; between two bounds what is true cancels, so that the difference is moved by at
/// most the sum of both, by which it is divided.
pub fn regrets(bounds: &[u64], kept: &[u64], noise: &Ratio) -> Vec<Ratio> {
    let regret = |one: usize| {
        let worse = |other: usize| {
            let dropped = Ratio::from(kept[other]) - Ratio::from(kept[one]);
            let noisier = (Ratio::from(bounds[one]) - Ratio::from(bounds[other])) * noise;
            (dropped + noisier) / Ratio::from(bounds[one] + bounds[other])
        };
        (0..bounds.len()).map(worse).max().unwrap_or_else(Ratio::zero)
    };
    (0..bounds.len()).map(regret).collect()
}

#[cfg(test)]
#[path = "graph_tests.rs"]
pub(super) mod tests;
