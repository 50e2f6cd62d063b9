//! `equipoise extract`: a table, a view or a query, written to an Arrow file that only its owner reads. It is for whoever may see every row:
//! nothing is charged, and what goes wrong is told in the words of the database.

use crate::{
    Exit,
    args::{ExtractOptions, by_column},
    ask::{internal, open, usage},
    check::declared,
    elsewhere, progress,
};
use equipoise_core::wording;
use equipoise_engine::{NotExtracted, extract, extracted, open_query};
use equipoise_session::source::Source;
use serde_json::{Value, json};
use std::path::absolute;

pub(crate) fn run(options: &ExtractOptions) -> Exit {
    written(options).unwrap_or_else(|exit| exit)
}

fn written(options: &ExtractOptions) -> Result<Exit, Exit> {
    if elsewhere::is_address(&options.file) {
        return by_python(options);
    }
    if let Some(query) = &options.query {
        let rows = open_query(&options.file, query).map_err(usage)?;
        return into_file(&*rows, options, &|| rows.failure());
    }
    let header = options.reading.no_header.then_some(false);
    let rows = open(&options.file, options.reading.delimiter.as_deref(), header)?;
    into_file(&*rows, options, &|| None)
}

fn into_file(
    source: &dyn Source,
    options: &ExtractOptions,
    failure: &dyn Fn() -> Option<String>,
) -> Result<Exit, Exit> {
    let names = source.columns();
    let said = declared(&options.types, names).map_err(usage)?;
    let (wanted, unread) = extracted(source, &said);
    if wanted.is_empty() {
        return Err(usage(
            "there is no column that could be written; select some that are numbers, texts or times",
        ));
    }
    let into = &options.into;
    let rows =
        progress::spinning("reading", || extract(source, &wanted, into)).map_err(|error| match error {
            NotExtracted::Rows => match failure() {
                Some(said) => {
                    internal(format!("the query failed, and nothing was written: {}", wording::line(&said)))
                }
                None => internal(error),
            },
            NotExtracted::File(_) => internal(error),
        })?;
    let columns = wanted.iter().map(|read| (names[read.column].clone(), read.kind.to_string())).collect();
    let left_out = unread.into_iter().map(|column| names[column].clone()).collect();
    told(options, &Told { rows, columns, left_out });
    Ok(Exit::Done)
}

/// What was written.
struct Told {
    rows: u64,
    columns: Vec<(String, String)>,
    left_out: Vec<String>,
}

fn told(options: &ExtractOptions, Told { rows, columns, left_out }: &Told) {
    let path = options.into.to_string_lossy();
    if options.json {
        let columns: Vec<_> =
            columns.iter().map(|(column, kind)| json!({ "column": column, "type": kind })).collect();
        println!("{:#}", json!({ "into": path, "rows": rows, "columns": columns, "left_out": left_out }));
        return;
    }
    println!(
        "{}: {rows} rows, {} columns, for its owner alone; nothing was charged",
        wording::visible(&path),
        columns.len()
    );
    for (column, kind) in columns {
        println!("  {}  {kind}", wording::shown(column));
    }
    for name in left_out {
        println!("  {}  left out: a type that is not read", wording::shown(name));
    }
}

/// A file of DuckDB's, which the Python package reads. What to do goes there by a line: words can be read by others.
fn by_python(options: &ExtractOptions) -> Result<Exit, Exit> {
    let types = by_column(&options.types.types);
    let into = absolute(&options.into).unwrap_or_else(|_| options.into.clone());
    let asked = json!({ "data": options.file, "query": options.query, "into": into, "types": types });
    let done = elsewhere::extracted(&asked)?;
    if let Some(problem) = done["problem"].as_str() {
        return Err(usage(problem));
    }
    let text = |value: &Value| value.as_str().unwrap_or_default().to_string();
    let columns = done["columns"].as_object().into_iter().flatten();
    let found = Told {
        rows: done["rows"].as_u64().unwrap_or_default(),
        columns: columns.map(|(name, kind)| (name.clone(), text(kind))).collect(),
        left_out: done["left_out"].as_array().into_iter().flatten().map(text).collect(),
    };
    told(options, &found);
    Ok(Exit::Done)
}
