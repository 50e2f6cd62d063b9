//! Rows to edges: every row is total, and the order in which nodes keep edges is a function of each edge and of a key.

use crate::{
    rows::{id::canonical, text_at},
    source::{Batch, ColumnRead, ColumnType, Lost, Source, Visitor},
};
use equipoise_core::{coins::Words, stability::graph::SparseGraph};
use sha2::{Digest, Sha256};
use std::collections::HashMap;

/// The edges that rows name. Private.
pub(super) struct GraphRows {
    pub graph: SparseGraph,
    names: Vec<String>,
}

/// Takes edges from rows.
#[derive(Default)]
struct Reading {
    numbers: HashMap<String, u32>,
    names: Vec<String>,
    edges: Vec<(u32, u32)>,
}

impl Reading {
    fn number(&mut self, name: &str) -> u32 {
        if let Some(&number) = self.numbers.get(name) {
            return number;
        }
        let number = u32::try_from(self.names.len()).expect("four billion names do not fit the memory");
        self.numbers.insert(name.to_string(), number);
        self.names.push(name.to_string());
        number
    }

    /// One row: an edge where it names two different nodes.
    fn row(&mut self, from: Option<&str>, to: Option<&str>) {
        if let (Some(from), Some(to)) = (canonical(from), canonical(to))
            && from != to
        {
            let edge = (self.number(from), self.number(to));
            self.edges.push(edge);
        }
    }

    fn finish(self) -> GraphRows {
        GraphRows { graph: SparseGraph::new(self.edges), names: self.names }
    }
}

/// Under which edges are put in order; drawn for each answer.
pub(super) type OrderKey = [u64; 2];

/// A fresh key.
pub(super) fn order_key<W: Words>(coins: &mut W) -> OrderKey {
    [coins.word(), coins.word()]
}

fn hash(key: OrderKey, (one, other): (&str, &str)) -> u64 {
    let mut hasher = Sha256::new();
    hasher.update(key[0].to_le_bytes());
    hasher.update(key[1].to_le_bytes());
    hasher.update((one.len() as u64).to_le_bytes());
    hasher.update(one.as_bytes());
    hasher.update(other.as_bytes());
    let digest = hasher.finalize();
    u64::from_le_bytes(digest[..8].try_into().expect("eight bytes"))
}

impl Visitor for Reading {
    fn batch(&mut self, batch: Batch<'_>) {
        let [from, to] = batch.cells else { unreachable!("two columns were wanted") };
        for row in 0..batch.rows {
            self.row(text_at(from, row), text_at(to, row));
        }
    }
}

impl GraphRows {
    /// All edges that the rows of a source name.
    pub fn read(source: &dyn Source, columns: [usize; 2]) -> Result<Self, Lost> {
        let mut reading = Reading::default();
        let wanted = columns.map(|column| ColumnRead { column, kind: ColumnType::Text });
        source.scan(&wanted, &mut [&mut reading])?;
        Ok(reading.finish())
    }

    /// The same of pairs of names, for audits and tests.
    pub fn of(pairs: &[(&str, &str)]) -> Self {
        let mut reading = Reading::default();
        for &(from, to) in pairs {
            reading.row(Some(from), Some(to));
        }
        reading.finish()
    }

    /// Each edge once, in the order in which nodes keep them: by a hash of both names under a key that knows nothing of the rows, and by the
    /// names where hashes are equal. Other edges have no say in it.
    pub fn ordered(&self, key: OrderKey) -> Vec<(u32, u32)> {
        let mut keyed: Vec<_> = self
            .graph
            .each_edge()
            .map(|(a, b)| {
                let (one, other) = (self.names[a as usize].as_str(), self.names[b as usize].as_str());
                let pair = if one < other { (one, other) } else { (other, one) };
                (hash(key, pair), pair, (a, b))
            })
            .collect();
        keyed.sort_unstable();
        keyed.into_iter().map(|(_, _, edge)| edge).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_that_name_no_two_nodes_are_no_edges_and_repeats_are_one() {
        let mut reading = Reading::default();
        for (from, to) in [
            (Some("a"), Some("b")),
            (Some("b"), Some(" a\t")),
            (Some("a"), Some("a")),
            (Some("c"), None),
            (None, None),
            (Some(" "), Some("d")),
            (Some("B"), Some("b")),
        ] {
            reading.row(from, to);
        }
        assert_eq!(reading.names, ["a", "b", "B"]);
        let rows = reading.finish();
        assert_eq!((rows.graph.edges(), rows.ordered([1, 2]).len()), (2, 2));
    }

    #[test]
    fn the_order_of_two_edges_does_not_depend_on_others() {
        let all = [("ann", "bob"), ("bob", "cid"), ("cid", "dan"), ("ann", "dan"), ("bob", "dan")];
        let names = |pairs: &[(&str, &str)]| -> Vec<(String, String)> {
            let mut reading = Reading::default();
            for &(from, to) in pairs {
                reading.row(Some(from), Some(to));
            }
            let names = reading.names.clone();
            let of = |edge: (u32, u32)| {
                let (a, b) = (names[edge.0 as usize].clone(), names[edge.1 as usize].clone());
                if a < b { (a, b) } else { (b, a) }
            };
            reading.finish().ordered([3, 4]).into_iter().map(of).collect()
        };
        let whole = names(&all);
        for left in 0..1usize << all.len() {
            // Any rows in any order, some turned round.
            let rest: Vec<(&str, &str)> = (0..all.len())
                .rev()
                .filter(|place| left >> place & 1 == 1)
                .map(|place| if place % 2 == 0 { all[place] } else { (all[place].1, all[place].0) })
                .collect();
            let expected: Vec<_> = whole
                .iter()
                .filter(|(a, b)| rest.iter().any(|(c, d)| (a == c && b == d) || (a == d && b == c)))
                .cloned()
                .collect();
            assert_eq!(names(&rest), expected);
        }
    }
}
