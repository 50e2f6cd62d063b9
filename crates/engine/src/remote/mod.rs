//! Tables of database servers. Their addresses are understood here; who reads them is a crate of its own, which whoever starts the
//! program hands in ([`install`]), so that the first build needs no network and no encryption.

mod address;
mod problem;

pub use address::{AddressProblem, PostgresAddress, TableName, text};
pub use problem::ServerProblem;

use crate::problem::Problem;
use equipoise_core::wording;
use equipoise_session::{file_id::FileId, source::Source};
use std::{borrow::Cow, path::Path, sync::OnceLock};

/// Reads tables of servers.
pub trait Tables: Send + Sync {
    /// Which table an address leads to. No row is read.
    fn look_up(&self, address: &PostgresAddress) -> Result<FoundTable, ServerProblem>;

    /// The table with its columns. No row is read.
    fn open(&self, address: &PostgresAddress) -> Result<Box<dyn Source>, ServerProblem>;

    /// The rows of a query, for its steward alone: they go to a file, and no question is ever asked of them here.
    fn query(&self, address: &PostgresAddress, query: &str) -> Result<Box<dyn Queried>, ServerProblem>;
}

/// Rows of a steward's query.
pub trait Queried: Source {
    /// Why the rows could not be read to their end, in the words of the database, which may quote rows.
    fn failure(&self) -> Option<String>;
}

/// A table that an address leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundTable {
    /// Its address without a user, every part of it spelled out.
    pub name: String,
    /// The same without host and port: what it is called there.
    pub table: (String, TableName),
    /// Which table it is, whatever it is called and however it is reached; then its partitions, each with its address.
    pub ids: Vec<(String, FileId)>,
}

static TABLES: OnceLock<&'static dyn Tables> = OnceLock::new();

/// Hand in who reads tables of servers; the first one counts.
pub fn install(tables: &'static dyn Tables) {
    let _ = TABLES.set(tables);
}

/// Are tables of servers read by this program?
pub fn installed() -> bool {
    TABLES.get().is_some()
}

fn tables() -> Result<&'static dyn Tables, ServerProblem> {
    TABLES.get().copied().ok_or(ServerProblem::NotBuilt)
}

/// The table that a path leads to; `None` where it is no address of one.
pub(crate) fn look_up(path: &Path) -> Option<Result<FoundTable, Problem>> {
    let address = PostgresAddress::of(path)?.map_err(ServerProblem::Address);
    Some(address.and_then(|address| tables()?.look_up(&address)).map_err(Problem::Server))
}

/// Its rows; `None` where a path is no address of a table.
pub(crate) fn open(path: &Path) -> Option<Result<Box<dyn Source>, Problem>> {
    let address = PostgresAddress::of(path)?.map_err(ServerProblem::Address);
    Some(address.and_then(|address| tables()?.open(&address)).map_err(Problem::Server))
}

/// The rows of a query; `None` where a path is no address of a server.
pub(crate) fn query(path: &Path, query: &str) -> Option<Result<Box<dyn Queried>, Problem>> {
    let address = PostgresAddress::of(path)?.map_err(ServerProblem::Address);
    Some(address.and_then(|address| tables()?.query(&address, query)).map_err(Problem::Server))
}

/// A path as it may be shown: an address without what may be a secret in it.
pub fn shown(path: &Path) -> Cow<'_, str> {
    match PostgresAddress::of(path) {
        None => path.to_string_lossy(),
        Some(Ok(address)) => Cow::Owned(address.shown()),
        Some(Err(_)) => Cow::Borrowed("postgres://.."),
    }
}

/// The same in one line of ours.
pub(crate) fn visible(path: &Path) -> String {
    wording::visible(&shown(path)).into_owned()
}
