//! The global minimum cut of a graph that stands still, exactly.
//!
//! Source: H. Nagamochi, T. Ono, T. Ibaraki, "Implementing an efficient minimum capacity cut algorithm" (1994);
//! H. Nagamochi, T. Ibaraki, "A linear-time algorithm for finding a sparse k-connected spanning subgraph" (1992).
//!
//! # Guarantee
//!
//! [`min_cut`] returns a set of vertices, neither empty nor all, and the weight of the edges between it and the
//! rest; no such set has less.
//!
//! # Why
//!
//! 1. Visit the vertices one by one, next always the one with the most weight to those visited. When x is visited,
//!    an edge from x to an unvisited y with weight w raises y's reach from r to r + w. Then x and y are
//!    connected by at least r + w disjoint units of paths (Nagamochi and Ibaraki).
//! 2. Ties and what exceeds the wanted number k may be broken in any order: reaches are only compared up to k.
//! 3. Two vertices that are k-connected are on one side of every cut below k. With k the least cut seen so far,
//!    merging them loses no smaller cut.
//! 4. The vertices visited so far are a side of a cut at every moment, which is compared too. The last vertex's reach
//!    is its whole degree, itself such a cut: each scan merges at least once. When one vertex is left, the
//!    least cut seen is the minimum.
//! 5. The weight by which each edge raised a reach below k is a certificate: a subgraph of weight at most `k·(n-1)`
//!    in which every cut has its own weight or at least k.

use super::graph::Graph;
use std::collections::BinaryHeap;

/// A side of a cut and the weight that crosses it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cut {
    /// The weight of the edges between the side and the rest.
    pub value: u64,
    /// For each vertex, is it on the side?
    pub side: Vec<bool>,
}

/// A global minimum cut. Zero for a graph that is not connected.
pub fn min_cut(graph: &Graph) -> Cut {
    below(Rows::of(graph), u64::MAX).expect("some cut is below the highest number")
}

/// A minimum cut, if it is below the bound.
pub(super) fn below(rows: Rows, bound: u64) -> Option<Cut> {
    let mut merged = Merged::new(rows);
    let mut best: Option<Cut> = None;
    while merged.rows.len() > 1 {
        let least = best.as_ref().map_or(bound, |cut| cut.value);
        if least == 0 {
            break;
        }
        let scan = Scan::run(&merged.rows, least, true, |_, _| {});
        if scan.least_prefix < least {
            let prefix = &scan.order[..scan.prefix];
            best = Some(Cut { value: scan.least_prefix, side: merged.side(prefix) });
        }
        // A cut that this scan found lies below what it merged at; the merges are right for both.
        merged.merge(scan.joined);
    }
    best
}

/// Vertices merged where a scan shows that they are at least `k`-connected, until scans show no more.
pub(super) struct Kernel {
    /// The merged graph.
    pub rows: Rows,
    /// For each vertex, the merged vertex it belongs to.
    pub label: Vec<u32>,
    /// For each half of the rows before merging, the certificate weight of step 5; zero for the second half.
    pub certificate: Vec<u64>,
}

pub(super) fn kernel(rows: Rows, k: u64) -> Kernel {
    let mut certificate = vec![0; rows.to.len()];
    let mut first = true;
    let mut merged = Merged::new(rows);
    let mut idle = 0;
    while merged.rows.len() > 1 && idle < 1 {
        let before = merged.rows.len();
        let scan = Scan::run(&merged.rows, k, false, |half, weight| {
            if first {
                certificate[half] = weight;
            }
        });
        merged.merge(scan.joined);
        first = false;
        // Scans that merge little are not worth their time: a larger kernel is right too.
        idle += usize::from(merged.rows.len() * 20 > before * 19);
    }
    Kernel { rows: merged.rows, label: merged.label, certificate }
}

/// A graph as lists of neighbours, one after another.
#[derive(Clone, Debug)]
pub(super) struct Rows {
    start: Vec<usize>,
    pub to: Vec<u32>,
    pub weight: Vec<u64>,
}

impl Rows {
    pub(super) fn of(graph: &Graph) -> Self {
        let mut rows = Self { start: vec![0], to: Vec::new(), weight: Vec::new() };
        for list in &graph.halves {
            rows.to.extend(list.iter().map(|half| half.to));
            rows.weight.extend(list.iter().map(|half| graph.edges[half.edge as usize].weight));
            rows.start.push(rows.to.len());
        }
        rows
    }

    pub(super) fn len(&self) -> usize {
        self.start.len() - 1
    }

    pub(super) fn range(&self, vertex: usize) -> std::ops::Range<usize> {
        self.start[vertex]..self.start[vertex + 1]
    }

    pub(super) fn to_graph(&self) -> Graph {
        let mut graph = Graph::default();
        for _ in 0..self.len() {
            graph.add_vertex();
        }
        for vertex in 0..self.len() {
            for half in self.range(vertex).filter(|&half| self.to[half] as usize > vertex) {
                graph.grow([number(vertex), self.to[half]], self.weight[half]);
            }
        }
        graph
    }

    fn degree(&self, vertex: usize) -> u64 {
        self.weight[self.range(vertex)].iter().sum()
    }
}

/// A graph of merged vertices, and which vertices went where.
struct Merged {
    rows: Rows,
    label: Vec<u32>,
}

impl Merged {
    fn new(rows: Rows) -> Self {
        let label = (0..number(rows.len())).collect();
        Self { rows, label }
    }

    /// The original vertices of these merged ones.
    fn side(&self, merged: &[u32]) -> Vec<bool> {
        let mut inside = vec![false; self.rows.len()];
        for &vertex in merged {
            inside[vertex as usize] = true;
        }
        self.label.iter().map(|&label| inside[label as usize]).collect()
    }

    fn merge(&mut self, mut joined: Joined) {
        let (groups, count) = joined.groups();
        if count == self.rows.len() {
            return;
        }
        for label in &mut self.label {
            *label = groups[*label as usize];
        }
        self.rows = merge_rows(&self.rows, &groups, count);
    }
}

fn merge_rows(rows: &Rows, groups: &[u32], count: usize) -> Rows {
    // Members of each group, by counting.
    let mut first = vec![0usize; count + 1];
    for &group in groups {
        first[group as usize + 1] += 1;
    }
    for group in 0..count {
        first[group + 1] += first[group];
    }
    let mut members = vec![0u32; groups.len()];
    let mut next = first.clone();
    for (vertex, &group) in groups.iter().enumerate() {
        members[next[group as usize]] = number(vertex);
        next[group as usize] += 1;
    }
    let mut new = Rows { start: vec![0], to: Vec::new(), weight: Vec::new() };
    // Where the row of the present group already has an entry for another group.
    let mut entry = vec![usize::MAX; count];
    for group in 0..count {
        let from = new.to.len();
        for &member in &members[first[group]..first[group + 1]] {
            for half in rows.range(member as usize) {
                let to = groups[rows.to[half] as usize];
                if to as usize == group {
                    continue;
                }
                let place = entry[to as usize];
                if place >= from && place < new.to.len() {
                    new.weight[place] += rows.weight[half];
                } else {
                    entry[to as usize] = new.to.len();
                    new.to.push(to);
                    new.weight.push(rows.weight[half]);
                }
            }
        }
        new.start.push(new.to.len());
    }
    new
}

/// Sets of vertices that are to be merged.
struct Joined(Vec<u32>);

impl Joined {
    fn root(&mut self, mut vertex: u32) -> u32 {
        while self.0[vertex as usize] != vertex {
            let above = self.0[self.0[vertex as usize] as usize];
            self.0[vertex as usize] = above;
            vertex = above;
        }
        vertex
    }

    fn join(&mut self, a: u32, b: u32) {
        let (a, b) = (self.root(a), self.root(b));
        self.0[a.max(b) as usize] = a.min(b);
    }

    /// The number of each vertex's set, and how many sets there are.
    fn groups(&mut self) -> (Vec<u32>, usize) {
        let mut groups = vec![0; self.0.len()];
        let mut count = 0;
        for vertex in 0..number(self.0.len()) {
            let root = self.root(vertex);
            if root == vertex {
                groups[vertex as usize] = count;
                count += 1;
            } else {
                groups[vertex as usize] = groups[root as usize];
            }
        }
        (groups, count as usize)
    }
}

#[expect(clippy::cast_possible_truncation, reason = "vertices are counted in 32 bits")]
fn number(count: usize) -> u32 {
    count as u32
}

/// One visit of all vertices.
struct Scan {
    order: Vec<u32>,
    /// How many vertices of the order are the side of the least cut.
    prefix: usize,
    least_prefix: u64,
    joined: Joined,
}

impl Scan {
    /// Merge at `k`; where it sinks, at the least cut seen. `raised` hears by how much a half raised a reach below k.
    fn run(rows: &Rows, mut k: u64, sinks: bool, mut raised: impl FnMut(usize, u64)) -> Self {
        let count = rows.len();
        let mut reach = vec![0u64; count];
        let mut visited = vec![false; count];
        let mut queue = Queue::new(k, count);
        let mut joined = Joined((0..number(count)).collect());
        let mut order: Vec<u32> = Vec::with_capacity(count);
        let (mut least_prefix, mut prefix, mut crossing) = (u64::MAX, 0, 0u64);
        let mut fresh = 0..number(count);
        while order.len() < count {
            let vertex = queue
                .pop(|vertex, key| !visited[vertex as usize] && reach[vertex as usize].min(k) == key.min(k));
            let vertex =
                vertex.unwrap_or_else(|| fresh.find(|&v| !visited[v as usize]).expect("one is unvisited"));
            visited[vertex as usize] = true;
            order.push(vertex);
            crossing = crossing + rows.degree(vertex as usize) - 2 * reach[vertex as usize];
            if crossing < least_prefix && order.len() < count {
                (least_prefix, prefix) = (crossing, order.len());
                if sinks {
                    k = k.min(crossing);
                }
            }
            for half in rows.range(vertex as usize) {
                let to = rows.to[half];
                if visited[to as usize] {
                    continue;
                }
                let (before, after) = (reach[to as usize], reach[to as usize] + rows.weight[half]);
                reach[to as usize] = after;
                if before < k {
                    raised(half, after.min(k) - before);
                    queue.push(to, after.min(k));
                }
                if after >= k {
                    joined.join(vertex, to);
                }
            }
        }
        Self { order, prefix, least_prefix, joined }
    }
}

/// Vertices by their reach, the farthest first; stale entries are passed over.
enum Queue {
    /// A stack for each reach: small reaches only.
    Stacks {
        stacks: Vec<Vec<u32>>,
        top: usize,
    },
    Heap(BinaryHeap<(u64, u32)>),
}

impl Queue {
    fn new(k: u64, count: usize) -> Self {
        match usize::try_from(k) {
            Ok(k) if k <= count.max(1 << 10) => Self::Stacks { stacks: vec![Vec::new(); k + 1], top: 0 },
            _ => Self::Heap(BinaryHeap::new()),
        }
    }

    fn push(&mut self, vertex: u32, key: u64) {
        match self {
            Self::Stacks { stacks, top } => {
                let key = usize::try_from(key).expect("keys are at most the number of stacks");
                stacks[key].push(vertex);
                *top = key.max(*top);
            }
            Self::Heap(heap) => heap.push((key, vertex)),
        }
    }

    fn pop(&mut self, is_fresh: impl Fn(u32, u64) -> bool) -> Option<u32> {
        match self {
            Self::Stacks { stacks, top } => loop {
                match stacks[*top].pop() {
                    Some(vertex) if is_fresh(vertex, *top as u64) => return Some(vertex),
                    Some(_) => {}
                    None if *top == 0 => return None,
                    None => *top -= 1,
                }
            },
            Self::Heap(heap) => loop {
                let (key, vertex) = heap.pop()?;
                if is_fresh(vertex, key) {
                    return Some(vertex);
                }
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{
        graph::EdgeWeight,
        karger_stein::karger_stein,
        kinds::{ALL, Kind},
        stoer_wagner::stoer_wagner,
    };
    use super::*;
    use crate::TestWords;

    fn crossing(graph: &Graph, side: &[bool]) -> u64 {
        let crosses = |edge: &EdgeWeight| side[edge.ends[0] as usize] != side[edge.ends[1] as usize];
        graph.edges().filter(crosses).map(|edge| edge.weight).sum()
    }

    #[test]
    fn equal_to_two_others_on_thousands_of_graphs() {
        let (mut coins, mut more, mut found) = (TestWords(1), TestWords(2), 0);
        for round in 0..600usize {
            for kind in ALL {
                let vertices = 2 + u32::try_from(round).unwrap() % 14;
                let heaviest = [1, 1, 9, 1 << 40][round % 4];
                let graph = kind.graph(vertices, round % 50, heaviest, &mut coins);
                let cut = min_cut(&graph);
                assert_eq!(cut.value, stoer_wagner(&graph), "{kind:?} {vertices} in round {round}");
                let third = karger_stein(&graph, 6, &mut more);
                assert!(third >= cut.value);
                found += usize::from(third == cut.value);
                assert_eq!(cut.value, crossing(&graph, &cut.side));
                assert!(cut.side.contains(&true) && cut.side.contains(&false));
            }
        }
        assert_eq!(found, 2400, "Karger and Stein found no smaller cut, and all of these");
    }

    #[test]
    fn known_cuts_of_structured_graphs() {
        let edges =
            |ends: &[[u32; 2]]| ends.iter().map(|&ends| EdgeWeight { ends, weight: 1 }).collect::<Vec<_>>();
        let cycle: Vec<[u32; 2]> = (0..50).map(|v| [v, (v + 1) % 50]).collect();
        let complete: Vec<[u32; 2]> = (0..20).flat_map(|v| (0..v).map(move |u| [u, v])).collect();
        let star: Vec<[u32; 2]> = (1..50).map(|v| [0, v]).collect();
        let two = [edges(&complete), vec![EdgeWeight { ends: [3, 20], weight: 7 }]].concat();
        let two = two
            .into_iter()
            .chain(edges(&complete).into_iter().map(|e| EdgeWeight { ends: e.ends.map(|v| v + 20), ..e }));
        for (vertices, list, expected) in [
            (50, edges(&cycle), 2),
            (20, edges(&complete), 19),
            (21, edges(&complete), 0),
            (50, edges(&star), 1),
            (40, two.collect(), 7),
        ] {
            assert_eq!(min_cut(&Graph::with_edges(vertices, list).unwrap()).value, expected);
        }
    }

    #[test]
    fn the_certificate_keeps_every_cut_up_to_k() {
        let mut coins = TestWords(2);
        for k in 1..12 {
            let graph = Kind::Random.graph(11, 40, 3, &mut coins);
            let kernel = kernel(Rows::of(&graph), k);
            let halves = graph.halves.iter().flatten().zip(&kernel.certificate).filter(|(_, w)| **w > 0);
            let certified: Vec<EdgeWeight> = halves
                .map(|(half, &weight)| EdgeWeight { ends: graph.edges[half.edge as usize].ends, weight })
                .collect();
            assert!(certified.iter().all(|edge| edge.weight <= graph.weight(edge.ends)));
            assert!(certified.iter().map(|edge| edge.weight).sum::<u64>() <= 10 * k);
            let certified = Graph::with_edges(11, certified).unwrap();
            for set in 1..1u32 << 10 {
                let side: Vec<bool> = (0..11).map(|vertex| set >> vertex & 1 == 1).collect();
                let (all, part) = (crossing(&graph, &side), crossing(&certified, &side));
                assert!(part == all || part >= k, "{part} of {all} at {k}");
                // Whoever was merged is k-connected: a cut that parts them has at least k.
                let splits = (0..11)
                    .any(|a| (0..11).any(|b| kernel.label[a] == kernel.label[b] && side[a] != side[b]));
                assert!(!splits || all >= k);
            }
        }
    }
}
