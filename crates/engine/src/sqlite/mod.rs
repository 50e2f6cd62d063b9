//! Tables of SQLite files.
//!
//! A table is read where it lies, in one transaction and from its first row to its last: no filter, no expression and no view is
//! left to the database, because what it does with them, how long it takes and whether it fails may follow from rows. Cells are
//! read by the rule of all files: SQLite lets any cell hold anything, and what cannot be read as its column's kind is null.

mod address;
mod database;
mod types;

pub use address::{TableAddress, on_disk};

use crate::{
    columnar::{Described, Value},
    csv::LONGEST_LINE,
    problem::Problem,
    threads,
};
use database::Table;
use equipoise_session::source::{Batch, Cells, ColumnRead, ColumnType, Lost, Source, Visitor};
use rusqlite::{Row, types::ValueRef};
use std::ops::Range;

/// So many rows are handed over at once, or so many bytes of texts.
const ROWS_AT_ONCE: usize = 4096;
const BYTES_AT_ONCE: usize = 1 << 24;

/// A longer text is null, as a CSV line is that is longer.
const LONGEST_TEXT: usize = LONGEST_LINE;

/// A table whose columns have been looked up.
pub(crate) struct Sqlite {
    address: TableAddress,
    table: Table,
    described: Described,
}

impl Sqlite {
    /// Look up the table and its columns.
    pub fn open(address: TableAddress) -> Result<Self, Problem> {
        let file = address.file.canonicalize().map_err(|error| Problem::of(error.kind()))?;
        let address = TableAddress { file, ..address };
        let opened = database::open(&address.file)?;
        let table = database::table(&opened, &address)?;
        let described = Described {
            columns: table.columns.iter().map(|column| column.name.clone()).collect(),
            meanings: table.columns.iter().map(|column| column.meaning).collect(),
        };
        Ok(Self { address, table, described })
    }
}

/// The table of an address as its database spells it, and all tables there: names are found whatever their case.
pub(crate) fn spelled(address: &TableAddress) -> Result<(String, Vec<String>), Problem> {
    let opened = database::open(&address.file)?;
    Ok((database::table(&opened, address)?.name, database::tables(&opened)?))
}

impl Source for Sqlite {
    fn columns(&self) -> &[String] {
        &self.described.columns
    }

    fn declared(&self, column: usize) -> Option<ColumnType> {
        self.described.kind(column)
    }

    fn is_only_text(&self, column: usize) -> bool {
        self.described.is_only_text(column)
    }

    fn unreadable(&self, column: usize) -> Option<String> {
        self.described.unreadable(column)
    }

    /// The answer is lost if the file breaks off, if somebody writes for a minute, or if the table has other columns now.
    fn scan(&self, wanted: &[ColumnRead], visitors: &mut [&mut dyn Visitor]) -> Result<(), Lost> {
        let first = visitors.len().min(1);
        // One reader: rows come out of one transaction, in the order in which they lie.
        threads::each(&mut visitors[..first], |visitor| self.read(wanted, visitor))
    }
}

impl Sqlite {
    fn read(&self, wanted: &[ColumnRead], visitor: &mut dyn Visitor) -> Result<(), Lost> {
        let mut opened = database::open(&self.address.file).map_err(|_| Lost)?;
        let snapshot = opened.transaction().map_err(|_| Lost)?;
        let address = TableAddress { table: Some(self.table.name.clone()), ..self.address.clone() };
        if database::table(&snapshot, &address).map_err(|_| Lost)? != self.table {
            return Err(Lost);
        }
        let mut query = snapshot.prepare(&self.select(wanted)).map_err(|_| Lost)?;
        let mut rows = query.query([]).map_err(|_| Lost)?;
        let mut block = Block::new(wanted);
        let mut left = database::most_rows(&self.address.file)?;
        while let Some(row) = rows.next().map_err(|_| Lost)? {
            left = left.checked_sub(1).ok_or(Lost)?;
            block.push(row)?;
            if block.rows == ROWS_AT_ONCE || block.bytes >= BYTES_AT_ONCE {
                block.hand_over(visitor);
            }
        }
        block.hand_over(visitor);
        Ok(())
    }

    /// Columns by name, all rows as they lie. Where rows are only counted, a number stands for each.
    fn select(&self, wanted: &[ColumnRead]) -> String {
        let quoted = |name: &str| format!("\"{}\"", name.replace('"', "\"\""));
        let names: Vec<String> =
            wanted.iter().map(|wanted| quoted(&self.described.columns[wanted.column])).collect();
        let names = if names.is_empty() { "1".to_string() } else { names.join(", ") };
        format!("SELECT {names} FROM main.{} NOT INDEXED", quoted(&self.table.name))
    }
}

/// Some rows, column by column.
struct Block {
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

impl Block {
    fn new(wanted: &[ColumnRead]) -> Self {
        let column = |wanted: &ColumnRead| Column {
            kind: wanted.kind,
            floats: Vec::new(),
            integers: Vec::new(),
            written: String::new(),
            ranges: Vec::new(),
        };
        Self { rows: 0, bytes: 0, cells: wanted.iter().map(column).collect() }
    }

    fn push(&mut self, row: &Row<'_>) -> Result<(), Lost> {
        for (place, column) in self.cells.iter_mut().enumerate() {
            let cell = match row.get_ref(place).map_err(|_| Lost)? {
                ValueRef::Null => Value::Null,
                ValueRef::Integer(cell) => Value::Int(cell),
                ValueRef::Real(cell) => Value::Float(cell),
                ValueRef::Text(bytes) | ValueRef::Blob(bytes) if bytes.len() > LONGEST_TEXT => Value::Null,
                ValueRef::Text(bytes) | ValueRef::Blob(bytes) => Value::Bytes(bytes),
            };
            let before = column.written.len();
            column.push(&cell);
            self.bytes += column.written.len() - before;
        }
        self.rows += 1;
        Ok(())
    }

    fn hand_over(&mut self, visitor: &mut dyn Visitor) {
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
