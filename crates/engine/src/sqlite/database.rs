//! A database file: opened to look at only, its tables and their columns.

use super::{TableAddress, types};
use crate::{
    columnar::Meaning,
    limits::{LONGEST_NAMES, MOST_FIELDS},
    problem::Problem,
};
use equipoise_session::source::Lost;
use rusqlite::{Connection, ErrorCode, OpenFlags};
use std::{fs, path::Path, time::Duration};

/// How long another program that writes is waited for.
const PATIENCE: Duration = Duration::from_mins(1);

/// A column of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Column {
    pub name: String,
    pub meaning: Meaning,
}

/// A table that can be asked about, and what its columns are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Table {
    /// Its name, spelled as it was made.
    pub name: String,
    pub columns: Vec<Column>,
}

/// Open a file for looking. Nothing that stands in it is run: no view, no trigger, no function of its schema. It is opened by its real path:
/// SQLite takes a path that begins with `file:` for another file's address, and keeps the log of a link beside what it leads to.
pub(super) fn open(file: &Path) -> Result<Connection, Problem> {
    let metadata = fs::metadata(file).map_err(|error| Problem::of(error.kind()))?;
    if metadata.is_dir() {
        return Err(Problem::Folder);
    }
    if !metadata.is_file() {
        return Err(Problem::NotAFile);
    }
    let file = file.canonicalize().map_err(|error| Problem::of(error.kind()))?;
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let opened = Connection::open_with_flags(file, flags).map_err(|error| problem(&error))?;
    let prepared = opened.busy_timeout(PATIENCE).and_then(|()| {
        opened.execute_batch(
            "PRAGMA query_only = ON; PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON;",
        )?;
        // The first look at the file: is it one of SQLite's, and does no crash of its writer wait to be undone?
        opened.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))
    });
    prepared.map_err(|error| problem(&error))?;
    Ok(opened)
}

/// More rows than bytes are in no file: one whose pages lead in circles would never end.
pub(super) fn most_rows(file: &Path) -> Result<u64, Lost> {
    let mut log = file.as_os_str().to_owned();
    log.push("-wal");
    let log = fs::metadata(log).map_or(0, |found| found.len());
    Ok(fs::metadata(file).map_err(|_| Lost)?.len().saturating_add(log))
}

/// What is wrong with a database, from the file and its schema alone.
fn problem(error: &rusqlite::Error) -> Problem {
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Problem::Busy,
        Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => Problem::NotSqlite,
        _ => Problem::SqliteNotReadable,
    }
}

/// The names of tables that can be asked about, by name: no view, which one row could break for all, and nothing virtual.
pub(super) fn tables(opened: &Connection) -> Result<Vec<String>, Problem> {
    let read = || {
        let mut query = opened.prepare(
            "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' \
             AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name",
        )?;
        let names = query.query_map([], |row| row.get::<_, String>(0))?;
        names.collect::<rusqlite::Result<Vec<_>>>()
    };
    read().map_err(|error| problem(&error))
}

/// The table that an address means.
pub(super) fn table(opened: &Connection, address: &TableAddress) -> Result<Table, Problem> {
    let known = tables(opened)?;
    let name = match &address.table {
        Some(typed) => known.iter().find(|name| name.eq_ignore_ascii_case(typed)),
        None if known.len() == 1 => known.first(),
        None => None,
    };
    let Some(name) = name.cloned() else {
        return Err(Problem::NoTable { typed: address.table.clone(), known });
    };
    let columns = columns(opened, &name).map_err(|error| problem(&error))?;
    if columns.len() > MOST_FIELDS
        || columns.iter().map(|column| column.name.len()).sum::<usize>() > LONGEST_NAMES
    {
        return Err(Problem::TooManyColumns);
    }
    Ok(Table { name, columns })
}

fn columns(opened: &Connection, table: &str) -> rusqlite::Result<Vec<Column>> {
    // A generated column that is stored (3) is read as it lies; one that is not (2) would be computed from each row, and can fail.
    const COMPUTED: i64 = 2;
    let mut query = opened.prepare("SELECT name, type, hidden FROM pragma_table_xinfo(?1) ORDER BY cid")?;
    let columns = query.query_map([table], |row| {
        let (declared, hidden): (String, i64) = (row.get(1)?, row.get(2)?);
        let meaning = match hidden {
            COMPUTED => Meaning::Unreadable("what is computed from other columns when it is read"),
            _ => Meaning::Readable(types::kind(&declared)),
        };
        Ok(Column { name: row.get(0)?, meaning })
    })?;
    columns.collect()
}
