//! Max-flow between two vertices, up to a bound, searched from both ends at once.
//!
//! Whichever end has seen less goes on, so a small side of a small cut is found in time proportional to that
//! side, however large the graph.

use super::graph::{Graph, Half};

/// What a bounded flow found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// At least the bound flows.
    Enough,
    /// Less flows; the vertices are one side of a least cut between the two.
    Cut { value: u64, side: Vec<u32> },
    /// More steps than allowed.
    GaveUp,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum From {
    Source,
    Sink,
}

/// One end's part of a search.
#[derive(Clone, Debug, Default)]
struct Front {
    /// The vertices seen, in order.
    seen: Vec<u32>,
    /// How many of them were left again.
    done: usize,
    work: usize,
}

/// Working memory for flows on one graph.
#[derive(Clone, Debug, Default)]
pub(super) struct Flow {
    /// For each edge, what flows from its first end to its second.
    through: Vec<i64>,
    touched: Vec<u32>,
    /// For each vertex, the number of the search that saw it, twice, and one more if from the sink.
    mark: Vec<u64>,
    /// The half by which a vertex was seen, and from where.
    by: Vec<(u32, u32)>,
    search: u64,
    fronts: [Front; 2],
    steps_left: usize,
}

impl Flow {
    /// Forget the last flow and look for one.
    pub(super) fn run(&mut self, graph: &Graph, ends: [u32; 2], bound: u64, steps: usize) -> Found {
        for &edge in &self.touched {
            self.through[edge as usize] = 0;
        }
        self.touched.clear();
        self.through.resize(graph.edges.len(), 0);
        self.mark.resize(graph.halves.len(), 0);
        self.by.resize(graph.halves.len(), (0, 0));
        self.steps_left = steps;
        let mut value = 0;
        while value < bound {
            match self.search(graph, ends) {
                Search::Met(joint) => value += self.push(graph, ends, joint, bound - value),
                Search::Closed(from) => {
                    return Found::Cut { value, side: self.fronts[from as usize].seen.clone() };
                }
                Search::GaveUp => return Found::GaveUp,
            }
        }
        Found::Enough
    }

    /// What flows through each edge that was touched.
    pub(super) fn used(&self) -> impl Iterator<Item = (u32, u64)> {
        self.touched.iter().map(|&edge| (edge, self.through[edge as usize].unsigned_abs()))
    }

    /// After a flow without enough: grow this side, which holds one of the ends, to the largest side of a least
    /// cut between them. `None` if it is larger than `most`, or after too many steps.
    pub(super) fn largest_side(
        &mut self,
        graph: &Graph,
        ends: [u32; 2],
        side: Vec<u32>,
        most: usize,
    ) -> Option<Vec<u32>> {
        let holds_source = side.contains(&ends[0]);
        let mut side = side;
        let mut inside: std::collections::BTreeSet<u32> = side.iter().copied().collect();
        let mut next = 0;
        while next < side.len() {
            if side.len() > most {
                return None;
            }
            let vertex = side[next];
            next += 1;
            for half in &graph.halves[vertex as usize] {
                if inside.contains(&half.to) {
                    continue;
                }
                // A neighbour that can still reach the other end is on no side of this kind.
                let pair = if holds_source { [half.to, ends[1]] } else { [ends[0], half.to] };
                if pair[0] == pair[1] {
                    continue;
                }
                let mine = if holds_source { From::Source } else { From::Sink };
                match self.search(graph, pair) {
                    Search::Met(_) => {}
                    Search::Closed(from) if from == mine => {
                        for &more in &self.fronts[mine as usize].seen {
                            if inside.insert(more) {
                                side.push(more);
                            }
                        }
                    }
                    _ => return None,
                }
            }
        }
        Some(side)
    }

    fn residual(&self, graph: &Graph, from: u32, half: Half) -> u64 {
        let edge = &graph.edges[half.edge as usize];
        let flow = self.through[half.edge as usize];
        let against = if edge.ends[0] == from { -flow } else { flow };
        edge.weight.wrapping_add_signed(against)
    }

    fn search(&mut self, graph: &Graph, [source, sink]: [u32; 2]) -> Search {
        self.search += 1;
        for (from, start) in [(From::Source, source), (From::Sink, sink)] {
            let front = &mut self.fronts[from as usize];
            front.seen.clear();
            front.seen.push(start);
            (front.done, front.work) = (0, 0);
            self.mark[start as usize] = 2 * self.search + from as u64;
        }
        loop {
            let mut cheapest = None;
            for from in [From::Source, From::Sink] {
                let front = &self.fronts[from as usize];
                let Some(&vertex) = front.seen.get(front.done) else { return Search::Closed(from) };
                let work = front.work + graph.halves[vertex as usize].len();
                if cheapest.is_none_or(|(_, least)| work < least) {
                    cheapest = Some((from, work));
                }
            }
            let (from, work) = cheapest.expect("both fronts have a vertex");
            let steps = work - self.fronts[from as usize].work + 1;
            if self.steps_left < steps {
                return Search::GaveUp;
            }
            self.steps_left -= steps;
            self.fronts[from as usize].work = work + 1;
            if let Some(joint) = self.leave_next(graph, from) {
                return Search::Met(joint);
            }
        }
    }

    /// See the neighbours of a front's next vertex; the edge to one that the other front has seen, if there is one.
    fn leave_next(&mut self, graph: &Graph, from: From) -> Option<Joint> {
        let front = &mut self.fronts[from as usize];
        let vertex = front.seen[front.done];
        front.done += 1;
        let (mine, other) = match from {
            From::Source => (2 * self.search, 2 * self.search + 1),
            From::Sink => (2 * self.search + 1, 2 * self.search),
        };
        for &half in &graph.halves[vertex as usize] {
            let mark = self.mark[half.to as usize];
            if mark == mine {
                continue;
            }
            // From the source along the edge; from the sink against it.
            let open = match from {
                From::Source => self.residual(graph, vertex, half) > 0,
                From::Sink => self.residual(graph, half.to, half) > 0,
            };
            if !open {
                continue;
            }
            if mark == other {
                let ends = if from == From::Source { [vertex, half.to] } else { [half.to, vertex] };
                return Some(Joint { edge: half.edge, ends });
            }
            self.mark[half.to as usize] = mine;
            self.by[half.to as usize] = (half.edge, vertex);
            self.fronts[from as usize].seen.push(half.to);
        }
        None
    }

    /// The edges of the path that a search found: each with the end that it leaves.
    fn path(&self, graph: &Graph, [source, sink]: [u32; 2], joint: Joint) -> Vec<(u32, u32)> {
        let mut path = vec![(joint.edge, joint.ends[0])];
        let mut at = joint.ends[0];
        while at != source {
            let (edge, before) = self.by[at as usize];
            path.push((edge, before));
            at = before;
        }
        at = joint.ends[1];
        while at != sink {
            let (edge, after) = self.by[at as usize];
            path.push((edge, at));
            at = after;
        }
        debug_assert!(path.iter().all(|&(edge, from)| graph.edges[edge as usize].ends.contains(&from)));
        path
    }

    /// Let as much as possible, and at most `most`, flow along the path that was found.
    fn push(&mut self, graph: &Graph, ends: [u32; 2], joint: Joint, most: u64) -> u64 {
        let path = self.path(graph, ends, joint);
        let open = |&(edge, from): &(u32, u32)| self.residual(graph, from, Half { to: from, edge });
        let amount = path.iter().map(open).min().expect("a path has edges").min(most);
        let signed = i64::try_from(amount).expect("weights are below 2^60");
        for (edge, from) in path {
            if self.through[edge as usize] == 0 {
                self.touched.push(edge);
            }
            let forward = graph.edges[edge as usize].ends[0] == from;
            self.through[edge as usize] += if forward { signed } else { -signed };
        }
        amount
    }
}

/// The edge on which the two fronts met, from the source's vertex to the sink's.
#[derive(Clone, Copy, Debug)]
struct Joint {
    edge: u32,
    ends: [u32; 2],
}

enum Search {
    Met(Joint),
    /// This front has nowhere to go.
    Closed(From),
    GaveUp,
}
