//! `equipoise extract`: a table, a view or a query, written to an Arrow file that only its owner reads. It is for whoever may see every row:
//! nothing is charged, and what goes wrong is told in the words of the database.

use crate::{
    Exit,
    args::ExtractOptions,
    ask::{internal, open, usage},
    check::declared,
    progress,
};
use equipoise_core::wording;
use equipoise_engine::{NotExtracted, extract, open_query};
use equipoise_session::source::{ColumnRead, ColumnType, Source};
use serde_json::json;

pub(crate) fn run(options: &ExtractOptions) -> Exit {
    written(options).unwrap_or_else(|exit| exit)
}

fn written(options: &ExtractOptions) -> Result<Exit, Exit> {
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
    let kind = |column: usize| {
        let said = said.iter().find(|read| read.column == column).map(|read| read.kind);
        said.or_else(|| source.declared(column)).unwrap_or(ColumnType::Text)
    };
    let (unread, read): (Vec<usize>, Vec<usize>) =
        (0..names.len()).partition(|column| source.unreadable(*column).is_some());
    let wanted: Vec<ColumnRead> =
        read.into_iter().map(|column| ColumnRead { column, kind: kind(column) }).collect();
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
    let left_out: Vec<&String> = unread.into_iter().map(|column| &names[column]).collect();
    let path = into.to_string_lossy();
    if options.json {
        let columns: Vec<_> = wanted
            .iter()
            .map(|read| json!({ "column": names[read.column], "type": read.kind.to_string() }))
            .collect();
        println!("{:#}", json!({ "into": path, "rows": rows, "columns": columns, "left_out": left_out }));
    } else {
        println!(
            "{}: {rows} rows, {} columns, for its owner alone; nothing was charged",
            wording::visible(&path),
            wanted.len()
        );
        for read in &wanted {
            println!("  {}  {}", wording::shown(&names[read.column]), read.kind);
        }
        for name in left_out {
            println!("  {}  left out: a type that is not read", wording::shown(name));
        }
    }
    Ok(Exit::Done)
}
