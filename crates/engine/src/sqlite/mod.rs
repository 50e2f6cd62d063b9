//! Tables of SQLite files.
//!
//! A table is read where it lies, in one transaction and from its first row to its last: no filter, no expression and no view is
//! left to the database, because what it does with them, how long it takes and whether it fails may follow from rows. Cells are
//! read by the rule of all files: SQLite lets any cell hold anything, and what cannot be read as its column's kind is null.

mod address;
mod database;
mod query;
mod types;

pub use address::{TableAddress, on_disk};
pub(crate) use query::SqliteQuery;

use crate::{
    columnar::{Described, RowBlock, Value},
    problem::Problem,
    threads,
};
use database::Table;
use equipoise_session::source::{ColumnRead, ColumnType, Lost, Source, Visitor};
use rusqlite::{Row, types::ValueRef};

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
        let mut block = RowBlock::new(wanted);
        let mut left = database::most_rows(&self.address.file)?;
        while let Some(row) = rows.next().map_err(|_| Lost)? {
            left = left.checked_sub(1).ok_or(Lost)?;
            put(row, wanted.len(), &mut block)?;
            block.end_row(visitor);
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

/// The cells of a row, whatever they hold.
fn put(row: &Row<'_>, cells: usize, block: &mut RowBlock) -> Result<(), Lost> {
    for place in 0..cells {
        let cell = match row.get_ref(place).map_err(|_| Lost)? {
            ValueRef::Null => Value::Null,
            ValueRef::Integer(cell) => Value::Int(cell),
            ValueRef::Real(cell) => Value::Float(cell),
            ValueRef::Text(bytes) | ValueRef::Blob(bytes) => Value::Bytes(bytes),
        };
        block.put(place, &cell);
    }
    Ok(())
}
