//! A weighted graph whose edges come and go.

use crate::state::{Damaged, Reader, Stored, Writer};
use std::{collections::HashMap, fmt};

/// The most that all weights may sum to: sums and doubled sums stay far from the end of 64 bits.
const MOST_WEIGHT: u64 = 1 << 60;

/// One change of a graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// An edge comes, or an edge that is there grows heavier.
    Insert(EdgeWeight),
    /// An edge goes, or loses some of its weight.
    Delete(EdgeWeight),
}

/// An edge with a weight.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct EdgeWeight {
    /// The two ends, in either order.
    pub ends: [u32; 2],
    /// The weight, at least one.
    pub weight: u64,
}

/// Why a change does not fit a graph. The graph is as before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Misfit {
    /// A cut needs two vertices, and memory ends somewhere.
    VertexCount {
        /// How many were asked for.
        vertices: u32,
    },
    /// There is no such vertex.
    UnknownVertex {
        /// What was named.
        vertex: u32,
        /// How many vertices there are.
        vertices: u32,
    },
    /// Both ends are the same vertex.
    SelfLoop {
        /// That vertex.
        vertex: u32,
    },
    /// A weight of zero.
    NoWeight,
    /// Less weight is there than was to go.
    NotThere {
        /// The edge and the weight that was to go.
        wanted: EdgeWeight,
        /// The weight that is there.
        there: u64,
    },
    /// All weights together would be more than can be counted.
    TooHeavy,
    /// More at once, or in all, than a structure follows that looks at every unit.
    TooManyUnits {
        /// The most that it follows.
        most: u64,
    },
}

impl fmt::Display for Misfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::VertexCount { vertices } => {
                write!(f, "{vertices} vertices are not accepted; a graph has from 2 to 2^25")
            }
            Self::UnknownVertex { vertex, vertices } => {
                write!(f, "vertex {vertex} is not in the graph; its vertices are 0 to {}", vertices - 1)
            }
            Self::SelfLoop { vertex } => {
                write!(f, "an edge from {vertex} to itself crosses no cut; name two vertices")
            }
            Self::NoWeight => write!(f, "weight 0 is not accepted; give a whole number from 1 to 2^60"),
            Self::NotThere { wanted: EdgeWeight { ends: [u, v], weight }, there: 0 } => {
                write!(f, "there is no edge between {u} and {v} to take {weight} from")
            }
            Self::NotThere { wanted: EdgeWeight { ends: [u, v], weight }, there } => {
                write!(f, "the edge between {u} and {v} has weight {there}; {weight} cannot go")
            }
            Self::TooManyUnits { most } => write!(
                f,
                "samples follow weights unit by unit, at most {most} at once and 16 times that in all; use a larger unit or the exact method"
            ),
            Self::TooHeavy => write!(f, "all weights together would exceed 2^60; use a smaller unit"),
        }
    }
}

impl std::error::Error for Misfit {}

/// One direction of an edge.
#[derive(Clone, Copy, Debug)]
pub(super) struct Half {
    pub to: u32,
    pub edge: u32,
}

#[derive(Clone, Debug)]
pub(super) struct Edge {
    pub ends: [u32; 2],
    pub weight: u64,
    /// Where the halves stand in the lists of the ends.
    at: [u32; 2],
}

/// A weighted graph on the vertices 0, 1 and so on. Parallel edges are one edge with their weights summed.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    pub(super) halves: Vec<Vec<Half>>,
    pub(super) edges: Vec<Edge>,
    free: Vec<u32>,
    // Never iterated, so nothing depends on its order.
    index: HashMap<[u32; 2], u32>,
    degrees: Vec<u64>,
    total: u64,
}

impl Graph {
    /// A graph without edges.
    pub fn new(vertices: u32) -> Result<Self, Misfit> {
        if !(2..=1 << 25).contains(&vertices) {
            return Err(Misfit::VertexCount { vertices });
        }
        let mut graph = Self::default();
        for _ in 0..vertices {
            graph.add_vertex();
        }
        Ok(graph)
    }

    /// A graph with these edges.
    pub fn with_edges(vertices: u32, edges: impl IntoIterator<Item = EdgeWeight>) -> Result<Self, Misfit> {
        let mut graph = Self::new(vertices)?;
        for edge in edges {
            graph.change(Change::Insert(edge))?;
        }
        Ok(graph)
    }

    /// A graph with these edges on so many vertices, or on all up to the highest that an edge names. If an edge does not fit,
    /// its place in the list.
    pub fn from_list(vertices: Option<u32>, edges: &[EdgeWeight]) -> Result<Self, (usize, Misfit)> {
        let highest = edges.iter().flat_map(|edge| edge.ends).max();
        let vertices = vertices.unwrap_or_else(|| highest.map_or(0, |vertex| vertex.saturating_add(1)));
        let mut graph = Self::new(vertices).map_err(|error| (0, error))?;
        for (place, &edge) in edges.iter().enumerate() {
            graph.change(Change::Insert(edge)).map_err(|error| (place, error))?;
        }
        Ok(graph)
    }

    pub(super) fn add_vertex(&mut self) -> u32 {
        self.halves.push(Vec::new());
        self.degrees.push(0);
        self.vertices() - 1
    }

    /// How many vertices there are.
    #[expect(clippy::cast_possible_truncation, reason = "vertices are counted in 32 bits")]
    pub fn vertices(&self) -> u32 {
        self.halves.len() as u32
    }

    /// How many pairs of vertices have an edge.
    pub fn edge_count(&self) -> usize {
        self.index.len()
    }

    /// The sum of all weights.
    pub fn total_weight(&self) -> u64 {
        self.total
    }

    /// The weights of the edges at a vertex, summed.
    pub fn degree(&self, vertex: u32) -> u64 {
        self.degrees[vertex as usize]
    }

    /// The weight between two vertices, zero without an edge.
    pub fn weight(&self, ends: [u32; 2]) -> u64 {
        self.index.get(&sorted(ends)).map_or(0, |&edge| self.edges[edge as usize].weight)
    }

    /// Bytes of memory, about.
    pub fn space(&self) -> usize {
        32 * self.halves.len() + 24 * self.edges.len() + 16 * 2 * self.edge_count() + 24 * self.edge_count()
    }

    /// All edges, in no order that means anything.
    pub fn edges(&self) -> impl Iterator<Item = EdgeWeight> {
        let edges = self.edges.iter().filter(|edge| edge.weight > 0);
        edges.map(|edge| EdgeWeight { ends: edge.ends, weight: edge.weight })
    }

    /// Does this change fit?
    pub fn check(&self, change: Change) -> Result<(), Misfit> {
        let (Change::Insert(wanted) | Change::Delete(wanted)) = change;
        for vertex in wanted.ends {
            if vertex >= self.vertices() {
                return Err(Misfit::UnknownVertex { vertex, vertices: self.vertices() });
            }
        }
        if wanted.ends[0] == wanted.ends[1] {
            return Err(Misfit::SelfLoop { vertex: wanted.ends[0] });
        }
        if wanted.weight == 0 {
            return Err(Misfit::NoWeight);
        }
        match change {
            Change::Insert(_) if wanted.weight > MOST_WEIGHT - self.total => Err(Misfit::TooHeavy),
            Change::Delete(_) if self.weight(wanted.ends) < wanted.weight => {
                Err(Misfit::NotThere { wanted, there: self.weight(wanted.ends) })
            }
            _ => Ok(()),
        }
    }

    /// Carry out a change, if it fits.
    pub fn change(&mut self, change: Change) -> Result<(), Misfit> {
        self.check(change)?;
        match change {
            Change::Insert(edge) => self.grow(edge.ends, edge.weight),
            Change::Delete(edge) => self.shrink(edge.ends, edge.weight),
        };
        Ok(())
    }

    /// Insert a weight that fits; the number of the edge.
    pub(super) fn grow(&mut self, ends: [u32; 2], weight: u64) -> u32 {
        self.total += weight;
        for end in ends {
            self.degrees[end as usize] += weight;
        }
        let key = sorted(ends);
        if let Some(&edge) = self.index.get(&key) {
            self.edges[edge as usize].weight += weight;
            return edge;
        }
        let at = key.map(|end| count(&self.halves[end as usize]));
        let new = Edge { ends: key, weight, at };
        let edge = self.free.pop().unwrap_or_else(|| count(&self.edges));
        if edge as usize == self.edges.len() {
            self.edges.push(new);
        } else {
            self.edges[edge as usize] = new;
        }
        for (from, to) in [(key[0], key[1]), (key[1], key[0])] {
            self.halves[from as usize].push(Half { to, edge });
        }
        self.index.insert(key, edge);
        edge
    }

    /// Take away a weight that is there; the number of the edge, which may be used again.
    pub(super) fn shrink(&mut self, ends: [u32; 2], weight: u64) -> u32 {
        self.total -= weight;
        for end in ends {
            self.degrees[end as usize] -= weight;
        }
        let key = sorted(ends);
        let edge = self.index[&key];
        self.edges[edge as usize].weight -= weight;
        if self.edges[edge as usize].weight == 0 {
            self.index.remove(&key);
            self.free.push(edge);
            for (end, at) in key.into_iter().zip(self.edges[edge as usize].at) {
                self.unlink(end, at);
            }
        }
        edge
    }

    /// Take one half out of a list; the last half moves into its place.
    fn unlink(&mut self, vertex: u32, at: u32) {
        let list = &mut self.halves[vertex as usize];
        list.swap_remove(at as usize);
        if let Some(moved) = list.get(at as usize) {
            let edge = &mut self.edges[moved.edge as usize];
            let side = usize::from(edge.ends[1] == vertex);
            edge.at[side] = at;
        }
    }
}

impl Stored for Graph {
    fn write(&self, out: &mut Writer) {
        let mut edges: Vec<EdgeWeight> = self.edges().collect();
        edges.sort_unstable();
        out.words([u64::from(self.vertices()), edges.len() as u64]);
        out.words(
            edges
                .iter()
                .flat_map(|edge| [u64::from(edge.ends[0]) << 32 | u64::from(edge.ends[1]), edge.weight]),
        );
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Damaged> {
        let misfit = Damaged::Content("its graph has an edge that cannot be");
        let vertices = u32::try_from(from.word()?).map_err(|_| misfit.clone())?;
        let words = from.count()?.checked_mul(2).ok_or(misfit.clone())?;
        let edges = from.words(words)?;
        let edges = edges.chunks_exact(2).map(|edge| EdgeWeight {
            // Both halves of a word fit.
            ends: [edge[0] >> 32, edge[0] & 0xffff_ffff].map(|end| u32::try_from(end).expect("32 bits")),
            weight: edge[1],
        });
        Self::with_edges(vertices, edges).map_err(|_| misfit)
    }
}

#[expect(clippy::cast_possible_truncation, reason = "vertices and edges are counted in 32 bits")]
fn count<T>(list: &[T]) -> u32 {
    list.len() as u32
}

fn sorted([u, v]: [u32; 2]) -> [u32; 2] {
    [u.min(v), u.max(v)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::{assert_refuses_damage, seal, unseal};

    #[test]
    fn edges_come_and_go_and_the_rest_is_stored() {
        let edge = |u, v, weight| EdgeWeight { ends: [u, v], weight };
        let mut graph =
            Graph::with_edges(5, [edge(0, 1, 3), edge(2, 1, 1), edge(4, 0, 7), edge(1, 0, 2)]).unwrap();
        assert_eq!((graph.weight([1, 0]), graph.edge_count(), graph.total_weight()), (5, 3, 13));
        graph.change(Change::Delete(edge(0, 1, 5))).unwrap();
        graph.change(Change::Insert(edge(3, 1, 1 << 40))).unwrap();
        assert_eq!((graph.weight([1, 0]), graph.degree(1), graph.degree(0)), (0, 1 + (1 << 40), 7));
        let bytes = seal(*b"graph\0\0\0", |out| graph.write(out));
        let read = unseal(*b"graph\0\0\0", &bytes, Graph::read).unwrap();
        let edges = |graph: &Graph| graph.edges().collect::<std::collections::BTreeSet<_>>();
        assert_eq!((read.vertices(), edges(&read)), (5, edges(&graph)));
        assert_refuses_damage(&bytes, |bytes| unseal(*b"graph\0\0\0", bytes, Graph::read).err());
    }
}
