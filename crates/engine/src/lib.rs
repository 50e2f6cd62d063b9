//! Data in: files of rows, streamed on all cores, every record total.
//!
//! [`csv::Csv`] reads comma-separated text. Opening a source reads its header and nothing else; rows are read by
//! [`Source::scan`](equipoise_session::source::Source::scan), after the charge.

#![forbid(unsafe_code)]

pub mod boolean;
pub mod calendar;
pub mod csv;
pub mod decimal;
pub mod number;
