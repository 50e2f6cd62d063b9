//! A steward's query to a SQLite file: its rows go to a file and are never asked about here, because one row can fail it for all.

use super::{database, put, types};
use crate::{columnar::RowBlock, problem::Problem, remote::Queried, threads};
use equipoise_session::source::{ColumnRead, ColumnType, Lost, Source, Visitor};
use rusqlite::Connection;
use std::{
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

/// The query as a view of this connection alone: that is how SQLite says what its columns are declared to be.
const VIEW: &str = "temp.extracted";

/// A query whose columns have been looked up.
pub(crate) struct SqliteQuery {
    file: PathBuf,
    query: String,
    columns: Vec<String>,
    kinds: Vec<Option<ColumnType>>,
    said: Mutex<Option<String>>,
}

impl SqliteQuery {
    /// Look up its columns. A column of a table keeps the type that it has there; what is computed has none, and is text.
    pub fn open(file: &Path, query: &str) -> Result<Self, Problem> {
        let query = query.trim().trim_end_matches(';').to_string();
        let file = file.canonicalize().map_err(|error| Problem::of(error.kind()))?;
        let opened = viewed(&file, &query)?;
        let looked_up = || {
            let mut found = opened
                .prepare("SELECT name, type FROM pragma_table_xinfo('extracted', 'temp') ORDER BY cid")?;
            let found = found.query_map([], |row| Ok((row.get(0)?, row.get::<_, String>(1)?)))?;
            found.collect::<rusqlite::Result<Vec<(String, String)>>>()
        };
        let (columns, declared): (Vec<String>, Vec<String>) =
            looked_up().map_err(|error| Problem::Query(error.to_string()))?.into_iter().unzip();
        let kinds = declared.iter().map(|declared| types::kind(declared)).collect();
        Ok(Self { file, query, columns, kinds, said: Mutex::new(None) })
    }

    fn read(&self, wanted: &[ColumnRead], visitor: &mut dyn Visitor) -> Result<(), Lost> {
        let told = |error: rusqlite::Error| {
            *self.said.lock().unwrap_or_else(PoisonError::into_inner) = Some(error.to_string());
            Lost
        };
        let opened = viewed(&self.file, &self.query).map_err(|_| Lost)?;
        let quoted = |name: &String| format!("\"{}\"", name.replace('"', "\"\""));
        let names: Vec<String> = wanted.iter().map(|read| quoted(&self.columns[read.column])).collect();
        let mut query = opened.prepare(&format!("SELECT {} FROM {VIEW}", names.join(", "))).map_err(told)?;
        let mut rows = query.query([]).map_err(told)?;
        let mut block = RowBlock::new(wanted);
        while let Some(row) = rows.next().map_err(told)? {
            put(row, wanted.len(), &mut block)?;
            block.end_row(visitor);
        }
        block.hand_over(visitor);
        Ok(())
    }
}

/// The file with the query as a view. Nothing is written to the file.
fn viewed(file: &Path, query: &str) -> Result<Connection, Problem> {
    let opened = database::open(file)?;
    // By itself first: what is wrong is told in the words of whoever typed it.
    if let Err(error) = opened.prepare(query) {
        return Err(Problem::Query(error.to_string()));
    }
    // The view lies in memory; the file was opened for reading only.
    let made = opened
        .execute_batch("PRAGMA query_only = OFF")
        .and_then(|()| opened.execute(&format!("CREATE TEMP VIEW extracted AS {query}"), []));
    match made {
        Ok(_) => Ok(opened),
        Err(error) => Err(Problem::Query(error.to_string())),
    }
}

impl Source for SqliteQuery {
    fn columns(&self) -> &[String] {
        &self.columns
    }

    fn declared(&self, column: usize) -> Option<ColumnType> {
        *self.kinds.get(column)?
    }

    fn scan(&self, wanted: &[ColumnRead], visitors: &mut [&mut dyn Visitor]) -> Result<(), Lost> {
        let first = visitors.len().min(1);
        threads::each(&mut visitors[..first], |visitor| self.read(wanted, visitor))
    }
}

impl Queried for SqliteQuery {
    fn failure(&self) -> Option<String> {
        self.said.lock().ok()?.clone()
    }
}
