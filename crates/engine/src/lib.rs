//! Data in: files of rows, streamed on all cores, every record total.

#![forbid(unsafe_code)]
