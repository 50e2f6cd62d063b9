//! Data in: files of rows, streamed on all cores, every record total.
//!
//! [`open`] is the one door: CSV, Parquet and Arrow files, packed or not, patterns, folders and standard input. It reads
//! headers and schemas and nothing else; rows are read by [`Source::scan`](equipoise_session::source::Source::scan), after
//! the charge.

#![forbid(unsafe_code)]

mod block;
pub mod boolean;
mod bytes;
pub mod calendar;
mod columnar;
pub mod csv;
pub mod decimal;
mod edges;
mod ipc;
mod many;
pub mod number;
mod open;
mod parquet;
mod problem;
mod stream;
mod threads;

pub use block::BlockFormat;
pub use columnar::memory;
pub use edges::{EdgeRow, read_edges};
pub use open::{OpenOptions, STANDARD_INPUT, content, expand, is_pattern, open};
pub use problem::{OpenError, Problem};
