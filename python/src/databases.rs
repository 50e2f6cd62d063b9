//! Passwords that stand in no address, and rows written to files by whoever may see them all.

use crate::{
    errors,
    table::{Memory, read_public},
};
use equipoise_core::wording;
use equipoise_engine::{NotExtracted, OpenOptions, extract as write_rows, extracted, open, open_query};
use equipoise_session::{
    columns,
    kind::NAMES,
    source::{ColumnRead, ColumnType, Source},
};
use pyo3::prelude::*;
use serde_json::json;
use std::{collections::BTreeMap, path::PathBuf};

/// Use this password for the server, database and role of an address, in this process alone.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "extracted from Python")]
pub fn hand_password(address: PathBuf, password: String) -> PyResult<()> {
    equipoise_postgres::hand_password(&address, password).map_err(errors::request)
}

/// Write data, or what a query finds, to an Arrow file; what was written, as JSON.
#[pyfunction]
#[pyo3(signature = (data, query, into, types))]
#[expect(clippy::needless_pass_by_value, reason = "extracted from Python")]
pub fn extract(
    py: Python<'_>,
    data: PathBuf,
    query: Option<String>,
    into: PathBuf,
    types: BTreeMap<String, String>,
) -> PyResult<String> {
    py.detach(|| {
        let Some(query) = query else {
            let rows = open(&[&data], &OpenOptions::default()).map_err(errors::request)?;
            return written(&*rows, &types, &into, &|| None);
        };
        let rows = open_query(&data, &query).map_err(errors::request)?;
        written(&*rows, &types, &into, &|| rows.failure())
    })
}

fn written(
    source: &dyn Source,
    types: &BTreeMap<String, String>,
    into: &std::path::Path,
    failure: &dyn Fn() -> Option<String>,
) -> PyResult<String> {
    let names = source.columns();
    let mut said = Vec::new();
    for (name, word) in types {
        let column = columns::place(names, name).map_err(errors::request)?;
        let kind = ColumnType::named(word).ok_or_else(|| {
            let word = wording::shown(word);
            errors::request(format!("no type is called '{word}'. There are: {}", NAMES.join(", ")))
        })?;
        said.push(ColumnRead { column, kind });
    }
    let (wanted, left_out) = extracted(source, &said);
    if wanted.is_empty() {
        return Err(errors::request(
            "there is no column that could be written; select some that are numbers, texts or times",
        ));
    }
    let rows = write_rows(source, &wanted, into).map_err(|error| match (&error, failure()) {
        (NotExtracted::Rows, Some(said)) => {
            errors::data(format!("the query failed, and nothing was written: {}", wording::line(&said)))
        }
        _ => errors::data(error),
    })?;
    Ok(told(names, &wanted, &left_out, rows))
}

fn told(names: &[String], wanted: &[ColumnRead], left_out: &[usize], rows: u64) -> String {
    let columns: serde_json::Map<String, serde_json::Value> =
        wanted.iter().map(|read| (names[read.column].clone(), read.kind.to_string().into())).collect();
    let left_out: Vec<&String> = left_out.iter().map(|&column| &names[column]).collect();
    json!({ "rows": rows, "columns": columns, "left_out": left_out }).to_string()
}

/// The same for columns that Python holds: those that are wanted, by their places, with how each is read.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "extracted from Python")]
pub fn extract_rows(
    reading: &Bound<'_, PyAny>,
    names: Vec<String>,
    wanted: Vec<(usize, String)>,
    rows: usize,
    into: PathBuf,
) -> PyResult<String> {
    let read = |(column, word): &(usize, String)| {
        let kind = ColumnType::named(word).ok_or_else(|| {
            let word = wording::shown(word);
            errors::request(format!("no type is called '{word}'. There are: {}", NAMES.join(", ")))
        })?;
        Ok::<_, PyErr>(ColumnRead { column: *column, kind })
    };
    let wanted: Vec<ColumnRead> = wanted.iter().map(read).collect::<Result<_, _>>()?;
    if wanted.is_empty() {
        return Err(errors::request(
            "there is no column that could be written; select some that are numbers, texts or times",
        ));
    }
    let held = read_public(reading, &wanted)?;
    let lost = |_| errors::data("the rows could not be read to their end; nothing was written");
    let source = Memory::new(names.clone(), wanted.clone(), rows, &held).map_err(lost)?;
    let written = write_rows(&source, &wanted, &into).map_err(errors::data)?;
    let left_out: Vec<usize> =
        (0..names.len()).filter(|column| !wanted.iter().any(|read| read.column == *column)).collect();
    Ok(told(&names, &wanted, &left_out, written))
}
