//! The exact minimum cut of a graph while its edges come and go, deterministic.
//!
//! Source: 003_82bbcee9e9852ea0.txt, the application of Algorithm B; here without its coins.
//!
//! # Guarantee
//!
//! [`MinCut::value`] is the weight of a minimum cut of the present graph and [`MinCut::side`] one side of it, after
//! every change, whoever chose the changes: there are no coins to learn about.
//!
//! # Why
//!
//! The vertices are grouped; the *kernel* is the graph with each group merged into one vertex. Kept true are
//! *(A)* a cut that splits a group has at least `split_low`, and so it has by the certified part of each edge's
//! weight alone; *(B)* a cut of the kernel has at least `low`; the witness is a cut of the kernel. If the
//! witness weighs `low`, and that is at most `split_low`, it is a minimum cut. A change keeps (A) and (B):
//!
//! 1. Insertions lower no cut; weight that comes is not certified. Inside a group the kernel stays as it is.
//! 2. A deletion between two groups that crosses a tight witness lowers it by its weight, and no cut by more. One that
//!    does not cross it is followed by a flow in the kernel: if `low` flows between the two groups, no cut that
//!    the deletion lowered is below `low`; otherwise the flow shows the cut that now is least.
//! 3. A deletion of weight that is not certified leaves (A) as it is. After one of certified weight between groups, let
//!    X be a cut that splits a group and parts the edge's ends u in X and v outside. If u is alone in its group, X
//!    without u splits a group too, has not changed, and so has `split_low`; X has less only if more than half
//!    of u's weight leads into X. So X has one of any neighbours with half of u's weight, and lacks, likewise, one of v's.
//!    If `split_low` flows from each of the former to each of the latter, (A) holds once these flows and all
//!    edges at u and v are certified. Otherwise `split_low` falls by the weight.
//! 4. A deletion of certified weight inside a group is followed by a flow in the graph. Cuts that do not part the
//!    edge's ends have not changed. If `split_low` flows between them, the others have at least that; the edges
//!    of the flow become certified. If f less flows, f is the new `split_low`.
//! 5. If one unit too little flows, the cuts below `split_low` that were not there before are the least cuts between
//!    the ends; all lie inside the largest side of such a cut around one end. If that is small, its vertices become
//!    groups of their own, so that none of these cuts splits a group, and `split_low` stays. All weight counts as
//!    certified from then on.
//! 6. What these rules leave open is computed: the minimum cut of the kernel by [`fixed`], or
//!    new groups of vertices that one scan shows to be k-connected, k a little above the present cut.

use super::{
    fixed::{self, Rows},
    flow::{Flow, Found},
    graph::{Change, Graph, Half, Misfit},
};
use crate::state::{Damaged, Reader, Stored, Writer, stored_whole};
use std::collections::BTreeSet;

/// Sides of cuts up to this size are taken out of their groups.
const SMALL_SIDE: usize = 64;

/// Flows that one deletion between groups may ask for.
const MOST_FLOWS: usize = 16;

/// The exact minimum cut of a graph that changes.
#[derive(Clone, Debug)]
pub struct MinCut {
    graph: Graph,
    /// For each edge, the certified part of its weight as of an epoch; in a later one, all of it.
    certified: Vec<(u64, u32)>,
    epoch: u32,
    group: Vec<u32>,
    /// For each group, how many vertices it has.
    members: Vec<u32>,
    kernel: Graph,
    by_degree: BTreeSet<(u64, u32)>,
    split_low: u64,
    low: u64,
    witness: Witness,
    flow: Flow,
    kernel_flow: Flow,
    work: Work,
}

/// A cut of the kernel.
#[derive(Clone, Debug)]
struct Witness {
    value: u64,
    side: Vec<bool>,
}

/// How changes were followed and answers found, in numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Changes carried out.
    pub changes: u64,
    /// Flows in the graph.
    pub flows: u64,
    /// Flows in the kernel.
    pub kernel_flows: u64,
    /// Vertices taken out of their groups.
    pub taken_out: u64,
    /// Minimum cuts of the kernel computed.
    pub kernel_cuts: u64,
    /// Times all groups were computed anew.
    pub rebuilds: u64,
}

impl MinCut {
    /// Begin with this graph.
    pub fn new(graph: Graph) -> Self {
        let mut cut = Self {
            graph,
            certified: Vec::new(),
            epoch: 0,
            group: Vec::new(),
            members: Vec::new(),
            kernel: Graph::default(),
            by_degree: BTreeSet::new(),
            split_low: 0,
            low: 0,
            witness: Witness { value: u64::MAX, side: Vec::new() },
            flow: Flow::default(),
            kernel_flow: Flow::default(),
            work: Work::default(),
        };
        cut.rebuild();
        cut
    }

    /// The present graph.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// What it took so far.
    pub fn work(&self) -> Work {
        self.work
    }

    /// How many groups there are.
    pub fn groups(&self) -> usize {
        self.kernel.halves.len()
    }

    /// Bytes of memory, about.
    pub fn space(&self) -> usize {
        self.graph.space() + self.kernel.space() + 16 * self.certified.len() + 24 * self.by_degree.len()
    }

    /// Follow a change. One that does not fit changes nothing.
    pub fn change(&mut self, change: Change) -> Result<(), Misfit> {
        self.graph.check(change)?;
        self.work.changes += 1;
        match change {
            Change::Insert(edge) => self.insert(edge.ends, edge.weight),
            Change::Delete(edge) => self.delete(edge.ends, edge.weight),
        }
        Ok(())
    }

    /// The weight of a minimum cut.
    pub fn value(&mut self) -> u64 {
        self.settle();
        self.witness.value
    }

    /// One side of a minimum cut: for each vertex, is it on it?
    pub fn side(&mut self) -> Vec<bool> {
        self.settle();
        self.group.iter().map(|&group| self.witness.side[group as usize]).collect()
    }

    fn insert(&mut self, ends: [u32; 2], weight: u64) {
        let edge = self.graph.grow(ends, weight) as usize;
        self.certified.resize(self.graph.edges.len(), (0, self.epoch));
        let before = self.graph.edges[edge].weight - weight;
        if self.certified[edge].1 < self.epoch {
            self.certified[edge] = (before, self.epoch);
        }
        let groups = ends.map(|end| self.group[end as usize]);
        if groups[0] != groups[1] {
            self.kernel_change(groups, weight, true);
            if self.crosses_witness(groups) {
                self.witness.value += weight;
            }
        }
    }

    fn delete(&mut self, ends: [u32; 2], weight: u64) {
        let edge = self.graph.shrink(ends, weight) as usize;
        let left = self.graph.edges[edge].weight;
        let certified = self.certified_weight(edge, left + weight);
        let hit = certified.saturating_sub(left);
        self.certified[edge] = (certified - hit, self.epoch);
        let groups = ends.map(|end| self.group[end as usize]);
        if groups[0] == groups[1] {
            if hit > 0 {
                self.follow_inside(ends, hit);
            }
            return;
        }
        if self.split_low != u64::MAX && hit > 0 && !self.splits_stay(ends) {
            self.split_low = self.split_low.saturating_sub(hit);
        }
        self.kernel_change(groups, weight, false);
        if self.crosses_witness(groups) {
            self.witness.value -= weight;
            self.low = self.low.saturating_sub(weight);
        } else {
            self.follow_between(groups, weight);
        }
    }

    fn certified_weight(&self, edge: usize, weight: u64) -> u64 {
        let (certified, epoch) = self.certified[edge];
        if epoch < self.epoch { weight } else { certified }
    }

    fn crosses_witness(&self, [a, b]: [u32; 2]) -> bool {
        self.witness.side[a as usize] != self.witness.side[b as usize]
    }

    fn kernel_change(&mut self, groups: [u32; 2], weight: u64, grow: bool) {
        for group in groups {
            let removed = self.by_degree.remove(&(self.kernel.degree(group), group));
            debug_assert!(removed, "every group is listed by its degree");
        }
        if grow {
            self.kernel.grow(groups, weight);
        } else {
            self.kernel.shrink(groups, weight);
        }
        for group in groups {
            self.by_degree.insert((self.kernel.degree(group), group));
        }
    }

    /// Rule 2, for a deletion that does not cross the witness.
    fn follow_between(&mut self, groups: [u32; 2], weight: u64) {
        if self.low == 0 {
            return;
        }
        self.work.kernel_flows += 1;
        let steps = 64 + 2 * self.kernel.edge_count();
        match self.kernel_flow.run(&self.kernel, groups, self.low, steps) {
            Found::Enough => {}
            Found::Cut { value, side } => {
                self.low = value;
                if value < self.witness.value {
                    self.witness = witness(value, &side, self.kernel.halves.len());
                }
            }
            Found::GaveUp => self.low = self.low.saturating_sub(weight),
        }
    }

    /// Rules 4 and 5.
    fn follow_inside(&mut self, ends: [u32; 2], hit: u64) {
        self.work.flows += 1;
        let steps = 64 + 2 * self.graph.edge_count();
        match self.flow.run(&self.graph, ends, self.split_low, steps) {
            Found::Enough => self.certify_flow(),
            Found::Cut { value, side } => {
                let small = (value + 1 == self.split_low)
                    .then(|| self.flow.largest_side(&self.graph, ends, side, SMALL_SIDE))
                    .flatten();
                if let Some(side) = small {
                    self.take_out_side(&side, value);
                } else {
                    self.certify_flow();
                    self.split_low = value;
                }
            }
            Found::GaveUp => self.split_low = self.split_low.saturating_sub(hit),
        }
    }

    /// Rule 3: after a deletion between groups, is every cut that splits a group certain to have `split_low` still?
    fn splits_stay(&mut self, ends: [u32; 2]) -> bool {
        let sources = self.majority(ends[0], ends[1]);
        let sinks = self.majority(ends[1], ends[0]);
        if sources.len() * sinks.len() > MOST_FLOWS {
            return false;
        }
        for end in ends {
            for half in &self.graph.halves[end as usize] {
                self.certified[half.edge as usize] =
                    (self.graph.edges[half.edge as usize].weight, self.epoch);
            }
        }
        let steps = 64 + self.graph.edge_count() / 8;
        for &source in &sources {
            for &sink in sinks.iter().filter(|&&sink| sink != source) {
                self.work.flows += 1;
                if self.flow.run(&self.graph, [source, sink], self.split_low, steps) != Found::Enough {
                    return false;
                }
                self.certify_flow();
            }
        }
        true
    }

    /// A vertex in company is itself. For a vertex alone in its group: neighbours that have, with the one it lost an
    /// edge to, at least half of its weight. That one is on the other side of the cuts in question.
    fn majority(&self, vertex: u32, lost: u32) -> Vec<u32> {
        if self.members[self.group[vertex as usize] as usize] > 1 {
            return vec![vertex];
        }
        let weight = |half: &Half| self.graph.edges[half.edge as usize].weight;
        let mut near: Vec<Half> = self.graph.halves[vertex as usize].clone();
        near.sort_unstable_by_key(|half| (half.to != lost, std::cmp::Reverse(weight(half))));
        let (mut chosen, mut sum) = (Vec::new(), 0);
        for half in near {
            if 2 * sum >= self.graph.degree(vertex) {
                break;
            }
            sum += weight(&half);
            if half.to != lost {
                chosen.push(half.to);
            }
        }
        chosen
    }

    fn certify_flow(&mut self) {
        for (edge, amount) in self.flow.used() {
            let (certified, epoch) = &mut self.certified[edge as usize];
            if *epoch == self.epoch {
                *certified = amount.max(*certified);
            }
        }
    }

    /// Rule 5: the vertices of this side of a least cut become groups of their own.
    fn take_out_side(&mut self, side: &[u32], value: u64) {
        for &vertex in side {
            self.take_out(vertex);
        }
        self.epoch += 1;
        // The kernel has cuts now that it did not have; none is below this one.
        self.low = self.low.min(value);
        if value < self.witness.value {
            let groups: Vec<u32> = side.iter().map(|&vertex| self.group[vertex as usize]).collect();
            self.witness = witness(value, &groups, self.kernel.halves.len());
        }
    }

    /// Make a vertex a group of its own. What is left of its group may be nothing: a group without vertices would be
    /// a cut of weight zero, so the last vertex stays.
    fn take_out(&mut self, vertex: u32) {
        let from = self.group[vertex as usize];
        if self.members[from as usize] == 1 {
            return;
        }
        self.members[from as usize] -= 1;
        self.members.push(1);
        self.work.taken_out += 1;
        let new = self.kernel.add_vertex();
        self.witness.side.push(self.witness.side[from as usize]);
        self.by_degree.insert((0, new));
        self.group[vertex as usize] = new;
        for index in 0..self.graph.halves[vertex as usize].len() {
            let half = self.graph.halves[vertex as usize][index];
            let weight = self.graph.edges[half.edge as usize].weight;
            let to = self.group[half.to as usize];
            if to != from {
                self.kernel_change([from, to], weight, false);
            }
            self.kernel_change([new, to], weight, true);
        }
    }

    /// Rule 6.
    fn settle(&mut self) {
        loop {
            let &(degree, group) = self.by_degree.first().expect("there are groups");
            if degree < self.witness.value {
                self.witness = witness(degree, &[group], self.kernel.halves.len());
            }
            if self.low == self.witness.value && self.low <= self.split_low {
                return;
            }
            if self.low > self.split_low || 4 * self.kernel.halves.len() > 3 * self.graph.halves.len() {
                self.rebuild();
                continue;
            }
            self.work.kernel_cuts += 1;
            if let Some(cut) = fixed::below(Rows::of(&self.kernel), self.witness.value) {
                self.witness = Witness { value: cut.value, side: cut.side };
            }
            self.low = self.witness.value;
        }
    }

    /// New groups, at a connectivity above the present cut.
    fn rebuild(&mut self) {
        self.work.rebuilds += 1;
        let k = self.connectivity_for_groups();
        let kernel = fixed::kernel(Rows::of(&self.graph), k);
        self.certified = vec![(0, self.epoch); self.graph.edges.len()];
        let halves = self.graph.halves.iter().flatten();
        for (half, &amount) in halves.zip(&kernel.certificate).filter(|&(_, &amount)| amount > 0) {
            self.certified[half.edge as usize].0 = amount;
        }
        let merged = kernel.rows.len() < self.graph.halves.len();
        self.split_low = if merged { k } else { u64::MAX };
        self.members = vec![0; kernel.rows.len()];
        for &group in &kernel.label {
            self.members[group as usize] += 1;
        }
        self.group = kernel.label;
        self.kernel = kernel.rows.to_graph();
        let groups = 0..self.kernel.vertices();
        self.by_degree = groups.map(|group| (self.kernel.degree(group), group)).collect();
        let &(degree, group) = self.by_degree.first().expect("there are groups");
        self.witness = witness(degree, &[group], self.kernel.halves.len());
        if let Some(cut) = fixed::below(kernel.rows, degree) {
            self.witness = Witness { value: cut.value, side: cut.side };
        }
        self.low = self.witness.value;
    }

    /// Above the present cut, so that the cut may rise; not so high that many vertices have a smaller degree, because
    /// those stay apart.
    fn connectivity_for_groups(&self) -> u64 {
        let mut degrees: Vec<u64> =
            (0..self.graph.vertices()).map(|vertex| self.graph.degree(vertex)).collect();
        let apart = (degrees.len() / 100).max(4).min(degrees.len() - 1);
        let (_, &mut wanted, _) = degrees.select_nth_unstable(apart);
        let least = degrees.iter().copied().min().expect("there are vertices");
        let present = self.witness.value.min(least);
        wanted.clamp(present + 1, 2 * present + 8)
    }
}

fn witness(value: u64, side: &[u32], groups: usize) -> Witness {
    let mut inside = vec![false; groups];
    for &group in side {
        inside[group as usize] = true;
    }
    Witness { value, side: inside }
}

/// The graph: what follows from it is computed again, and there are no coins.
impl Stored for MinCut {
    fn write(&self, out: &mut Writer) {
        self.graph.write(out);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Damaged> {
        Graph::read(from).map(Self::new)
    }
}

stored_whole!(MinCut, b"mincut\0\0");

#[cfg(test)]
mod tests {
    use super::super::{
        graph::EdgeWeight,
        kinds::{ALL, Kind, Mixed},
        stoer_wagner::stoer_wagner,
    };
    use super::*;
    use crate::TestWords;

    /// The weight that crosses a side, which is neither empty nor all.
    fn crossing(graph: &Graph, side: &[bool]) -> u64 {
        assert!(side.contains(&true) && side.contains(&false));
        let crosses = |edge: &EdgeWeight| side[edge.ends[0] as usize] != side[edge.ends[1] as usize];
        graph.edges().filter(crosses).map(|edge| edge.weight).sum()
    }

    #[test]
    fn equal_to_the_fixed_algorithm_after_every_change() {
        let mut coins = TestWords(11);
        for kind in ALL {
            for (vertices, edges, heaviest, steps) in
                [(2, 1, 1, 60), (6, 9, 1, 300), (12, 36, 1, 400), (30, 90, 5, 400), (90, 270, 1, 500)]
            {
                let mut cut = MinCut::new(kind.graph(vertices, edges, heaviest, &mut coins));
                let mut changes = Mixed::new(cut.graph(), heaviest);
                for step in 0..steps {
                    cut.change(changes.next(cut.graph(), &mut coins)).unwrap();
                    // Not always asked, so that doubts add up.
                    if step % 5 > 0 {
                        let expected = fixed::min_cut(cut.graph()).value;
                        assert_eq!(cut.value(), expected, "{kind:?} of {vertices} at step {step}");
                        let side = cut.side();
                        assert_eq!(crossing(cut.graph(), &side), expected);
                    }
                }
                let expected = stoer_wagner(cut.graph());
                assert_eq!(cut.value(), expected);
            }
        }
    }

    #[test]
    fn whoever_sees_the_witness_gains_nothing() {
        // Deletes across the present witness, and inserts across it when nothing is left: doubts at every step.
        let mut coins = TestWords(5);
        let mut cut = MinCut::new(Kind::Clustered.graph(40, 200, 1, &mut coins));
        for step in 0..400 {
            let side = cut.side();
            let crossing =
                cut.graph().edges().find(|edge| side[edge.ends[0] as usize] != side[edge.ends[1] as usize]);
            let change = match crossing {
                Some(edge) if step / 20 % 2 == 0 => Change::Delete(EdgeWeight { weight: 1, ..edge }),
                _ => {
                    let at = |wanted: bool| side.iter().position(|&s| s == wanted).unwrap();
                    let ends = [at(true), at(false)].map(|end| u32::try_from(end).unwrap());
                    Change::Insert(EdgeWeight { ends, weight: 1 })
                }
            };
            cut.change(change).unwrap();
            assert_eq!(cut.value(), fixed::min_cut(cut.graph()).value, "step {step}");
        }
    }

    #[test]
    fn most_changes_need_no_computation_from_scratch() {
        let mut coins = TestWords(3);
        let mut cut = MinCut::new(Kind::Random.graph(400, 4000, 1, &mut coins));
        let mut changes = Mixed::new(cut.graph(), 1);
        for _ in 0..2000 {
            cut.change(changes.next(cut.graph(), &mut coins)).unwrap();
            cut.value();
        }
        let work = cut.work();
        assert_eq!(work.changes, 2000);
        assert!(work.rebuilds + work.kernel_cuts < 60, "{work:?}");
        assert_eq!(cut.value(), fixed::min_cut(cut.graph()).value);
    }

    #[test]
    fn a_change_that_does_not_fit_changes_nothing() {
        let mut cut = MinCut::new(Graph::new(3).unwrap());
        let edge = |u, v, weight| EdgeWeight { ends: [u, v], weight };
        assert_eq!(cut.value(), 0);
        cut.change(Change::Insert(edge(0, 1, 2))).unwrap();
        for (change, expected) in [
            (Change::Insert(edge(0, 3, 1)), "vertex 3 is not in the graph; its vertices are 0 to 2"),
            (Change::Insert(edge(1, 1, 1)), "an edge from 1 to itself crosses no cut; name two vertices"),
            (Change::Insert(edge(0, 1, 0)), "weight 0 is not accepted; give a whole number from 1 to 2^60"),
            (
                Change::Insert(edge(0, 1, 1 << 60)),
                "all weights together would exceed 2^60; use a smaller unit",
            ),
            (Change::Delete(edge(0, 2, 1)), "there is no edge between 0 and 2 to take 1 from"),
            (Change::Delete(edge(1, 0, 3)), "the edge between 1 and 0 has weight 2; 3 cannot go"),
        ] {
            assert_eq!(cut.change(change).unwrap_err().to_string(), expected);
            assert_eq!((cut.value(), cut.work().changes), (0, 1));
        }
        cut.change(Change::Insert(edge(2, 1, 1))).unwrap();
        assert_eq!(cut.value(), 1);
        assert_eq!(
            Graph::new(1).unwrap_err().to_string(),
            "1 vertices are not accepted; a graph has from 2 to 2^25"
        );
    }
}
