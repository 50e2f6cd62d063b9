//! A list of edges from a file: two columns of vertices and perhaps one of weights, in any format that rows come in.
//!
//! A graph is public here, not private rows: errors name the record that is wrong.

use crate::{OpenOptions, csv::Header, open};
use equipoise_session::source::{Batch, Cells, ColumnRead, ColumnType, Source, Visitor};
use std::path::Path;

/// One record: two vertices and a weight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EdgeRow {
    /// The two ends.
    pub ends: [u32; 2],
    /// The weight, one where the file has none.
    pub weight: u64,
}

/// The edges of a file; the first record that is none, by its number.
#[derive(Default)]
struct Edges {
    list: Vec<EdgeRow>,
    records: usize,
    bad: Option<usize>,
}

impl Visitor for Edges {
    fn batch(&mut self, batch: Batch<'_>) {
        let column = |index: usize| match batch.cells.get(index) {
            Some(Cells::Integers(cells)) => Some(*cells),
            _ => None,
        };
        let (Some(from), Some(to)) = (column(0), column(1)) else { return };
        for row in 0..batch.rows {
            let number = |cells: &[Option<i64>]| cells.get(row).copied().flatten();
            let vertex = |cells| number(cells).and_then(|end| u32::try_from(end).ok());
            let weight = column(2)
                .map_or(Some(1), |cells| number(cells).and_then(|weight| u64::try_from(weight).ok()));
            self.records += 1;
            match (vertex(from), vertex(to), weight) {
                (Some(u), Some(v), Some(weight)) => self.list.push(EdgeRow { ends: [u, v], weight }),
                _ => self.bad = self.bad.or(Some(self.records)),
            }
        }
    }
}

/// Read a list of edges. Without a header line, a third column of the first record is the weight; with one, the column called
/// `weight` or `w`, or the third.
pub fn read_edges(path: &Path, no_header: bool) -> Result<Vec<EdgeRow>, String> {
    let options = OpenOptions { header: no_header.then_some(Header::Numbered), ..OpenOptions::default() };
    let source = open(&[path], &options).map_err(|error| error.to_string())?;
    let name = path.display();
    let places = if no_header { vec![0, 1, 2] } else { places(source.columns(), path)? };
    let mut edges = scan(&*source, &places, path)?;
    if no_header && edges.bad == Some(1) {
        // Without a header the number of columns shows in the records: perhaps none has a weight.
        if !edges.list.is_empty() {
            return Err(format!(
                "'{name}', record 1 has no weight from 1 to 2^60 and others have; give all of them one"
            ));
        }
        edges = scan(&*source, &places[..2], path)?;
    }
    match edges.bad {
        None => Ok(edges.list),
        Some(record) => Err(format!(
            "'{name}', record {record}: two vertices and a weight from 1 to 2^60, all whole numbers, make an edge"
        )),
    }
}

/// The places of the two vertices and of the weight, if there is one.
fn places(columns: &[String], path: &Path) -> Result<Vec<usize>, String> {
    let name = path.display();
    if !(2..=3).contains(&columns.len()) {
        return Err(format!(
            "'{name}' has {} columns; a list of edges has two vertices and perhaps a weight",
            columns.len()
        ));
    }
    if columns.iter().all(|column| column.trim().parse::<f64>().is_ok()) {
        return Err(format!(
            "'{name}' begins with numbers where the names of its columns should be; say `no_header` if they are an edge"
        ));
    }
    let weight = columns.iter().position(|column| {
        let column = column.trim();
        column.eq_ignore_ascii_case("weight") || column.eq_ignore_ascii_case("w")
    });
    if weight.is_some() && columns.len() == 2 {
        return Err(format!("'{name}' has a weight and one more column; a list of edges has two vertices"));
    }
    let weight = weight.unwrap_or(2);
    let mut places: Vec<usize> = (0..columns.len()).filter(|&place| place != weight).collect();
    places.extend((columns.len() == 3).then_some(weight));
    Ok(places)
}

fn scan(source: &dyn Source, places: &[usize], path: &Path) -> Result<Edges, String> {
    let wanted: Vec<ColumnRead> =
        places.iter().map(|&column| ColumnRead { column, kind: ColumnType::Integer }).collect();
    let mut edges = Edges::default();
    let read = source.scan(&wanted, &mut [&mut edges]);
    read.map_err(|_| format!("'{}' could not be read to its end", path.display()))?;
    Ok(edges)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(names: &[&str]) -> Result<Vec<usize>, String> {
        let names: Vec<String> = names.iter().map(ToString::to_string).collect();
        places(&names, Path::new("e.csv"))
    }

    #[test]
    fn weights_go_by_their_name_and_else_by_their_place() {
        assert_eq!(of(&["u", "v"]), Ok(vec![0, 1]));
        assert_eq!(of(&["from", "to", "capacity"]), Ok(vec![0, 1, 2]));
        assert_eq!(of(&["Weight", "u", "v"]), Ok(vec![1, 2, 0]));
        assert_eq!(of(&["u", "w", "v"]), Ok(vec![0, 2, 1]));
        for (names, expected) in [
            (&["0", "1"][..], "begins with numbers where the names of its columns should be"),
            (&["u", "weight"], "has a weight and one more column"),
            (&["u"], "has 1 columns"),
            (&["u", "v", "w", "x"], "has 4 columns"),
        ] {
            let error = of(names).unwrap_err();
            assert!(error.contains(expected), "{error}");
        }
    }
}
