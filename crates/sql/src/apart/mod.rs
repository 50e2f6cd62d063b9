//! The program that joins, started by whoever holds the ledger: it is handed a query and columns, and later rows, and hands rows back.
//!
//! # Guarantee
//!
//! The program opens no file and no ledger. What it knows of a table is what it was handed: names and types of columns before the charge, and
//! rows when the relation is first read, which is after it. So nothing comes out of it that whoever started it did not have, and plan, charge,
//! bounding, noise and record are those of the process that asks. It says nothing anywhere but on an unnamed socket, which is its standard
//! input; what fails after the charge is a lost answer without a word.

mod answering;
mod asking;
mod wire;

pub use answering::{Connection, Engine, Opened, serve};
pub use asking::{Agreed, Handed, Relation, open};

use equipoise_session::source::{ColumnRead, ColumnType, Source};
use serde::{Deserialize, Serialize};
use std::{env, path::PathBuf};

/// What the program is called.
pub const PROGRAM: &str = "equipoise-sql";
/// The variable that says where it is.
pub const VARIABLE: &str = "EQUIPOISE_SQL_PROGRAM";
/// The word that it is started with here.
pub const WORD: &str = "relation";
/// How to get it.
pub const HOW: &str = "install both alike: pip install 'equipoise[sql]', or cargo install --path sql/equipoise-sql in the source of equipoise";

/// The program that joins: where the variable says, in one of these folders, or where programs are looked for.
pub fn find(beside: &[PathBuf]) -> Option<PathBuf> {
    if let Some(said) = env::var_os(VARIABLE).filter(|said| !said.is_empty()) {
        return Some(PathBuf::from(said));
    }
    let on_path = env::var_os("PATH").unwrap_or_default();
    let on_path: Vec<PathBuf> = env::split_paths(&on_path).collect();
    beside.iter().chain(&on_path).map(|folder| folder.join(PROGRAM)).find(|path| path.is_file())
}

/// What is known of tables beside the query. What it does not name is of no meaning.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Beside {
    /// Tables that are public.
    pub public: Vec<String>,
    /// Tables with the columns that name their units, where the query says nothing else.
    pub units: Vec<(String, String)>,
}

/// A column of a table, as it is known before a row is read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableColumn {
    /// Its name.
    pub name: String,
    /// Its place in the source.
    pub place: usize,
    /// The type that its schema declares.
    pub kind: Option<ColumnType>,
}

impl TableColumn {
    /// Those of a source that can be read.
    pub fn of(source: &dyn Source) -> Vec<Self> {
        let columns = source.columns().iter().enumerate();
        let readable = columns.filter(|(place, _)| source.unreadable(*place).is_none());
        readable
            .map(|(place, name)| Self { name: name.clone(), place, kind: source.declared(place) })
            .collect()
    }
}

/// Why a table cannot be had, and what to do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NoTable {
    /// What is wrong.
    pub problem: String,
    /// What to write instead.
    pub hint: String,
}

/// What is read of one table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableRead {
    /// Its name, as it was typed.
    pub name: String,
    /// All columns that some scan of it wants.
    pub wanted: Vec<ColumnRead>,
    /// How often it is scanned for one reading of the relation, perhaps at the same time.
    pub scans: usize,
}
