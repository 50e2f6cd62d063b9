//! Data in: files of rows, streamed on all cores, every record total.
//!
//! [`open`] is the one door: CSV, Parquet and Arrow files, packed or not, tables of SQLite files and of servers, patterns, folders and standard input. It reads
//! headers and schemas and nothing else; rows are read by [`Source::scan`](equipoise_session::source::Source::scan), after
//! the charge.

#![forbid(unsafe_code)]

mod block;
pub mod books;
mod bytes;
mod columnar;
pub mod csv;
mod edges;
mod extract;
mod ipc;
mod limits;
mod many;
mod open;
mod parquet;
mod problem;
pub mod remote;
mod sqlite;
mod stream;
mod threads;
mod unpack;

pub use block::BlockFormat;
pub use columnar::memory;
/// What readers of rows in other crates are made of.
pub mod reading {
    pub use crate::{
        columnar::{LONGEST_TEXT, Meaning, RowBlock, Value, decimal_kind, unreadable_line},
        threads::each,
    };
}
pub use edges::{EdgeRow, read_edges};
pub use equipoise_session::field::{boolean, calendar, decimal, number};
pub use extract::{NotExtracted, extract, extracted, open_query};
pub use open::{OpenOptions, STANDARD_INPUT, content, expand, files_of, ids_of, is_pattern, open};
pub use problem::{HeaderProblem, OpenError, Problem};
pub use sqlite::{TableAddress, on_disk};
