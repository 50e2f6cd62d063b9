//! SQL queries: read, planned, paid for, answered, recorded, shown as rows.

use crate::{
    Exit,
    args::SqlOptions,
    ask::{self, Asked, Words},
    told, typed,
};
use equipoise_session::{plan::DataFacts, request::Request};
use equipoise_sql_front::{Query, SqlError};
use std::{
    io::{self, BufRead, IsTerminal, Write},
    path::Path,
};

/// Answer a query, or those that standard input has.
pub(crate) fn run(options: &SqlOptions) -> Exit {
    match &options.query {
        Some(text) => one(text, options),
        None => lines(options),
    }
}

fn one(text: &str, options: &SqlOptions) -> Exit {
    answer(text, options).unwrap_or_else(|exit| exit)
}

/// The query of a command that has one.
pub(crate) fn read(options: &SqlOptions) -> Result<Query, Exit> {
    match &options.query {
        Some(text) => understood(text, options),
        None => Err(ask::usage("which query? Give one, such as \"SELECT COUNT(*) FROM 'people.csv'\"")),
    }
}

/// A query about a file that is there.
fn understood(text: &str, options: &SqlOptions) -> Result<Query, Exit> {
    let query = Query::read(text, &given(options)).map_err(|error| wrong(&error))?;
    if is_data(Path::new(&query.table().name)) {
        return Ok(query);
    }
    let problem = format!("there is no file '{}'", query.table().shown());
    Err(wrong(&query.wrong_table(problem + "; name one, as in FROM 'people.csv'")))
}

fn answer(text: &str, options: &SqlOptions) -> Result<Exit, Exit> {
    let query = understood(text, options)?;
    let (batch, file) = (query.batch(), Path::new(&query.table().name));
    let words = Words {
        text: batch.to_json(),
        delimiter: batch.shared.delimiter.as_deref(),
        header: batch.shared.header,
    };
    let (books, showing) = (&options.books, &options.showing);
    let asked = Asked { file, books, showing, questions: None, query: Some(&query) };
    let plan = |facts: &DataFacts| query.plan(facts).map_err(|error| wrong(&error));
    ask::answer(&asked, &words, plan)
}

/// Could it be opened? Patterns, folders and standard input are data too.
fn is_data(file: &Path) -> bool {
    let text = file.to_string_lossy();
    text == "-" || text.contains(['*', '?', '[']) || file.exists()
}

/// What flags say, as words.
fn given(options: &SqlOptions) -> Request {
    let price = &options.price;
    Request {
        epsilon: price.epsilon.clone(),
        delta: price.delta.clone(),
        unit: price.unit.clone(),
        max_rows_per_unit: price.max_rows_per_unit.clone(),
        max_groups_per_unit: price.max_groups_per_unit.clone(),
        adjacency: price.adjacency.clone(),
        confidence: price.confidence.clone(),
        delimiter: options.reading.delimiter.clone(),
        header: options.reading.no_header.then_some(false),
        types: options.types.types.iter().cloned().collect(),
        ..Request::default()
    }
}

/// Say what is wrong with a query; JSON has the place and the next step as fields too.
pub(crate) fn wrong(error: &SqlError) -> Exit {
    let mut fields = serde_json::Map::new();
    if let Some((line, column)) = error.position() {
        fields.insert("line".to_string(), line.into());
        fields.insert("column".to_string(), column.into());
    }
    if let Some(hint) = error.next_step() {
        fields.insert("hint".to_string(), typed(hint).into());
    }
    told(&typed(&error.to_string()), Exit::Usage as u8, fields)
}

/// Queries of standard input, each up to a semicolon. What went wrong last is the exit code.
fn lines(options: &SqlOptions) -> Exit {
    let is_prompt = io::stdin().is_terminal();
    let (mut text, mut exit) = (String::new(), Exit::Done);
    let ask = |text: &str| {
        if is_prompt {
            print!("{}", if text.trim().is_empty() { "sql> " } else { "...> " });
            let _ = io::stdout().flush();
        }
    };
    ask(&text);
    for line in io::stdin().lock().lines() {
        let Ok(line) = line else { return ask::usage("the query is no text; give UTF-8") };
        if text.trim().is_empty() && [".quit", ".exit"].contains(&line.trim()) {
            return exit;
        }
        text.push_str(&line);
        text.push('\n');
        if line.trim_end().ends_with(';') {
            exit = worse(exit, one(&text, options));
            text.clear();
        }
        ask(&text);
    }
    if !text.trim().is_empty() {
        exit = worse(exit, one(&text, options));
    }
    exit
}

/// The first exit code that is not done stays.
fn worse(before: Exit, now: Exit) -> Exit {
    if before == Exit::Done { now } else { before }
}
