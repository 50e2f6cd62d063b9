//! The Rust half of the Python package: tables in, releases out, the interpreter's lock released while working.
//!
//! Everything here is called by `package/equipoise`, which owns names, defaults and documentation. What crosses the
//! border is plain: texts of JSON, lists, arrays.

#![forbid(unsafe_code)]

mod around;
mod blocks;
mod books;
mod catalog;
mod databases;
mod elsewhere;
mod errors;
mod graph;
mod joined;
mod monitor;
mod numbers;
#[cfg(target_os = "linux")]
mod programs;
mod robust;
mod sql;
mod stated;
mod table;
mod turns;
mod waiting;

/// Make ready what is otherwise made when it is first needed, so that no fork comes in the middle of it. True once that is all;
/// until numpy is there, something is left.
#[pyo3::pyfunction]
fn prepare(py: pyo3::Python<'_>) -> pyo3::PyResult<bool> {
    equipoise_postgres::install();
    equipoise_core::prepare();
    equipoise_session::quiet::prepare();
    errors::prepare(py);
    table::prepare(py)
}

/// The command line, as the executable of that name runs it: the words that were typed, and the helper that keeps sandboxes. Gives the exit code.
#[pyo3::pyfunction]
fn command_line(py: pyo3::Python<'_>, words: Vec<std::ffi::OsString>, keeper: std::path::PathBuf) -> u8 {
    py.detach(|| equipoise_cli::run(words, Some(keeper)))
}

/// The compiled part of the package.
#[pyo3::pymodule]
mod _equipoise {
    #[cfg(target_os = "linux")]
    #[pymodule_export]
    use crate::programs::{rehearse_program, run_program};
    #[pymodule_export]
    use crate::{
        around::Together,
        blocks::{Ballot, deal_people, deal_rows},
        books::{Account, Books, Planned, known_as, simulate},
        catalog::{
            answer_words, audit, audits, calibrate, cautions, explain, in_python, limits_words, mechanisms,
            next_call, picture, rare_keys_words, rows_words, short_words, table_ranks_words, table_words,
            visible,
        },
        databases::{extract, extract_rows, hand_password},
        elsewhere::release_elsewhere,
        graph::Graph,
        joined::{JoinedQuery, is_about_several, sql_program},
        monitor::{FileWatch, Holdout, Threshold, Watch},
        robust::{Cut, Distinct, PointCounts, Squares, choose_robust},
        sql::SqlQuery,
        stated::Stated,
        table::{Arrow, File, cells, read, shown, write},
    };
    #[pymodule_export]
    use crate::{command_line, prepare};
}
