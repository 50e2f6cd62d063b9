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
    /// Each edge once, in the order in which nodes keep them.
    pub ordered: Vec<(u32, u32)>,
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

    /// Order by a hash of both names under a key, and by the names where hashes are equal: other edges have no say in it.
    fn finish(self, key: [u64; 2]) -> GraphRows {
        let graph = SparseGraph::new(self.edges);
        let mut keyed: Vec<_> = graph
            .each_edge()
            .map(|(a, b)| {
                let (one, other) = (self.names[a as usize].as_str(), self.names[b as usize].as_str());
                let pair = if one < other { (one, other) } else { (other, one) };
                (hash(key, pair), pair, (a, b))
            })
            .collect();
        keyed.sort_unstable();
        let ordered = keyed.into_iter().map(|(_, _, edge)| edge).collect();
        GraphRows { graph, ordered }
    }
}

fn hash(key: [u64; 2], (one, other): (&str, &str)) -> u64 {
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
    /// All edges that the rows of a source name, ordered by a key that knows nothing of them.
    pub fn read<W: Words>(source: &dyn Source, columns: [usize; 2], coins: &mut W) -> Result<Self, Lost> {
        let key = [coins.word(), coins.word()];
        let mut reading = Reading::default();
        let wanted = columns.map(|column| ColumnRead { column, kind: ColumnType::Text });
        source.scan(&wanted, &mut [&mut reading])?;
        Ok(reading.finish(key))
    }

    /// The same of pairs of names, for audits and tests.
    pub fn of(pairs: &[(&str, &str)], key: [u64; 2]) -> Self {
        let mut reading = Reading::default();
        for &(from, to) in pairs {
            reading.row(Some(from), Some(to));
        }
        reading.finish(key)
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
        let rows = reading.finish([1, 2]);
        assert_eq!((rows.graph.edges(), rows.ordered.len()), (2, 2));
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
            reading.finish([3, 4]).ordered.into_iter().map(of).collect()
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
