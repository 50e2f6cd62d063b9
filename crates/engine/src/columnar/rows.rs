//! Cells that come row by row, gathered into blocks: what databases hand over.

use super::Value;
use crate::csv::LONGEST_LINE;
use equipoise_session::source::{Batch, Cells, ColumnRead, ColumnType, Visitor};
use std::ops::Range;

/// So many rows are handed over at once, or so many bytes of texts.
const ROWS_AT_ONCE: usize = 4096;
const BYTES_AT_ONCE: usize = 1 << 24;

/// A longer text is null, as a CSV line is that is longer.
pub const LONGEST_TEXT: usize = LONGEST_LINE;

/// Some rows, column by column. A cell that cannot be read as its column is wanted is null, whatever it holds.
pub struct RowBlock {
    rows: usize,
    /// Of all texts.
    bytes: usize,
    cells: Vec<Column>,
}

struct Column {
    kind: ColumnType,
    floats: Vec<f64>,
    integers: Vec<Option<i64>>,
    written: String,
    ranges: Vec<Option<Range<usize>>>,
}

impl RowBlock {
    /// For rows of these columns.
    pub fn new(wanted: &[ColumnRead]) -> Self {
        let column = |wanted: &ColumnRead| Column {
            kind: wanted.kind,
            floats: Vec::new(),
            integers: Vec::new(),
            written: String::new(),
            ranges: Vec::new(),
        };
        Self { rows: 0, bytes: 0, cells: wanted.iter().map(column).collect() }
    }

    /// The next cell of a column; each gets one for every row.
    pub fn put(&mut self, place: usize, cell: &Value<'_>) {
        let column = &mut self.cells[place];
        let before = column.written.len();
        match cell {
            Value::Bytes(bytes) if bytes.len() > LONGEST_TEXT => column.push(&Value::Null),
            cell => column.push(cell),
        }
        self.bytes += column.written.len() - before;
    }

    /// The row is whole; the block is handed over where it is large enough.
    pub fn end_row(&mut self, visitor: &mut dyn Visitor) {
        self.rows += 1;
        if self.rows == ROWS_AT_ONCE || self.bytes >= BYTES_AT_ONCE {
            self.hand_over(visitor);
        }
    }

    /// Hand over what there is.
    pub fn hand_over(&mut self, visitor: &mut dyn Visitor) {
        if self.rows > 0 {
            let texts: Vec<Vec<Option<&str>>> = self.cells.iter().map(Column::texts).collect();
            let cells: Vec<Cells<'_>> = self
                .cells
                .iter()
                .zip(&texts)
                .map(|(column, texts)| match column.kind {
                    ColumnType::Float => Cells::Floats(&column.floats),
                    ColumnType::Text => Cells::Texts(texts),
                    _ => Cells::Integers(&column.integers),
                })
                .collect();
            visitor.batch(Batch { rows: self.rows, cells: &cells });
        }
        (self.rows, self.bytes) = (0, 0);
        self.cells.iter_mut().for_each(Column::clear);
    }
}

impl Column {
    fn push(&mut self, cell: &Value<'_>) {
        match self.kind {
            ColumnType::Float => self.floats.push(cell.float()),
            ColumnType::Text => {
                let begin = self.written.len();
                let some = cell.write(&mut self.written);
                self.ranges.push(some.then_some(begin..self.written.len()));
            }
            kind => self.integers.push(cell.whole(kind)),
        }
    }

    fn texts(&self) -> Vec<Option<&str>> {
        self.ranges.iter().map(|range| range.clone().map(|range| &self.written[range])).collect()
    }

    fn clear(&mut self) {
        self.floats.clear();
        self.integers.clear();
        self.written.clear();
        self.ranges.clear();
    }
}
