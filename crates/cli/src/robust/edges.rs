//! A graph from a file of edges: two columns of vertices and perhaps one of weights, in any format that rows come in.

use equipoise_engine::{OpenOptions, csv::Header};
use equipoise_robust::min_cut::graph::{Change, EdgeWeight, Graph};
use equipoise_session::source::{Batch, Cells, Kind, Visitor, Wanted};
use std::path::Path;

/// The edges of a file; the first record that is none, by its number.
struct Edges {
    list: Vec<EdgeWeight>,
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
            match (vertex(from), vertex(to), weight) {
                (Some(u), Some(v), Some(weight)) => self.list.push(EdgeWeight { ends: [u, v], weight }),
                _ if self.bad.is_none() => self.bad = Some(self.list.len() + 1),
                _ => {}
            }
        }
    }
}

/// Read a graph. Its vertices are 0 to the highest that an edge names, unless their number is given.
pub(super) fn read(path: &Path, no_header: bool, vertices: Option<u32>) -> Result<Graph, String> {
    let options = OpenOptions { header: no_header.then_some(Header::Numbered), ..OpenOptions::default() };
    let source = equipoise_engine::open(&[path], &options).map_err(|error| error.to_string())?;
    let name = path.display();
    let columns = if no_header { 3 } else { source.columns().len() };
    if !(2..=3).contains(&columns) {
        return Err(format!(
            "'{name}' has {columns} columns; a list of edges has two vertices and perhaps a weight"
        ));
    }
    let mut columns: Vec<Wanted> =
        (0..columns).map(|column| Wanted { column, kind: Kind::Integer }).collect();
    let mut edges = scan(&*source, &columns, path)?;
    if no_header && edges.bad == Some(1) {
        // Without a header the number of columns shows in the first record: perhaps there are no weights.
        columns.pop();
        edges = scan(&*source, &columns, path)?;
    }
    if let Some(record) = edges.bad {
        return Err(format!(
            "'{name}', record {record}: two vertices and a weight from 1 to 2^60, all whole numbers, make an edge"
        ));
    }
    let highest =
        edges.list.iter().flat_map(|edge| edge.ends).max().map_or(0, |vertex| vertex.saturating_add(1));
    let mut graph = Graph::new(vertices.unwrap_or(highest)).map_err(|error| format!("'{name}': {error}"))?;
    for (index, edge) in edges.list.into_iter().enumerate() {
        let fits = graph.change(Change::Insert(edge));
        fits.map_err(|error| format!("'{name}', record {}: {error}", index + 1))?;
    }
    Ok(graph)
}

fn scan(
    source: &dyn equipoise_session::source::Source,
    columns: &[Wanted],
    path: &Path,
) -> Result<Edges, String> {
    let mut edges = Edges { list: Vec::new(), bad: None };
    let read = source.scan(columns, &mut [&mut edges]);
    read.map_err(|_| format!("'{}' could not be read to its end", path.display()))?;
    Ok(edges)
}
