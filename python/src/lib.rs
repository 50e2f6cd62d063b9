//! The Rust half of the Python package: tables in, releases out, the interpreter's lock released while working.
//!
//! Everything here is called by `package/equipoise`, which owns names, defaults and documentation. What crosses the
//! border is plain: texts of JSON, lists, arrays.

#![forbid(unsafe_code)]

mod blocks;
mod books;
mod catalog;
mod errors;
mod monitor;
#[cfg(target_os = "linux")]
mod programs;
mod robust;
mod table;

/// The compiled part of the package.
#[pyo3::pymodule]
mod _equipoise {
    #[cfg(target_os = "linux")]
    #[pymodule_export]
    use crate::programs::run_program;
    #[pymodule_export]
    use crate::{
        blocks::{Ballot, deal_people, deal_rows},
        books::{Books, Planned, charged_ledger, data_name, known_as, simulate},
        catalog::{audit, audits, calibrate, mechanisms},
        monitor::{FileWatch, Holdout, Threshold, Watch},
        robust::{Cut, Distinct, PointCounts, Squares, choose_robust},
        table::{Arrow, File, cells, read, shown, write},
    };
}
