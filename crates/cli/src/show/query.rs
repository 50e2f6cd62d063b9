//! The rows of a query in a table that fits the terminal, or as one JSON object.

use super::{
    grid::{shortened, width},
    paid, percent, printable, warn,
};
use crate::{Exit, typed};
use comfy_table::{Table, presets::NOTHING};
use equipoise_session::{
    bar::{ErrorBar, rare_keys_words, rounded},
    release::{Outcome, Release},
};
use equipoise_sql_front::{Cell, Query, Rows};
use serde_json::{Value, json};
use unicode_width::UnicodeWidthStr;

/// How many rows a table shows.
const LONGEST_TABLE: usize = 10_000;

/// Print the rows of a query; the exit code tells an answer from a refusal.
pub(crate) fn rows(query: &Query, release: &Release, as_json: bool) -> Exit {
    let exit = match release.outcome {
        Outcome::Released => Exit::Done,
        Outcome::Refused => Exit::Refused,
    };
    let rows = query.rows(release);
    if as_json {
        let mut document = rows.to_json();
        document["release"] = release.to_json();
        println!("{document:#}");
        return exit;
    }
    warn(&release.warnings);
    if !rows.rows.is_empty() {
        println!("{}", fitted(&rows));
    }
    if rows.rows.len() > LONGEST_TABLE {
        println!("  and {} more rows, which --json shows", rows.rows.len() - LONGEST_TABLE);
    }
    println!("  result     {} row{}", rows.rows.len(), if rows.rows.len() == 1 { "" } else { "s" });
    below(&rows);
    let found = release.answers.iter().flatten().filter_map(|answer| answer.keys_from);
    if let Some(rows) = found.max().filter(|_| release.outcome == Outcome::Released) {
        println!("  about      {}", rare_keys_words(rows));
    }
    paid(release);
    exit
}

/// What holds for all rows: how sure the bars are, what they are about, and what to do about refusals.
fn below(rows: &Rows) {
    let bars = || rows.rows.iter().flatten().filter_map(|cell| cell.error.as_ref());
    if let Some(confidence) = bars().map(ErrorBar::confidence).reduce(f64::min).filter(|sure| *sure < 1.0) {
        let lists = if bars().any(ErrorBar::is_together) { ", and those of a list all at once" } else { "" };
        println!("  error      each holds on its own{lists} ({} confidence)", percent(confidence));
    }
    for (place, column) in rows.columns.iter().enumerate() {
        let bars = rows.rows.iter().filter_map(|row| row[place].error.as_ref());
        for words in ErrorBar::common_words(bars) {
            println!("  about      {}: {words}", printable(&column.name));
        }
    }
    for advice in &rows.advice {
        println!("  advice     where an answer is missing: {}", typed(advice));
    }
}

/// The rows as a table where it fits the terminal, or 80 columns where there is none; else a block of lines for each row.
fn fitted(rows: &Rows) -> String {
    let table = table(rows).to_string();
    let widest = table.lines().map(|line| line.trim_end().width()).max().unwrap_or(0);
    if widest <= width() { table } else { blocks(rows, width()) }
}

/// Each row as lines, one for a column.
fn blocks(rows: &Rows, width: usize) -> String {
    // Half of the width is for names.
    let names: Vec<String> =
        rows.columns.iter().map(|column| shortened(&printable(&column.name), width / 2)).collect();
    let widest = names.iter().map(|name| name.width()).max().unwrap_or(0);
    let line = |(name, cell): (&String, &Cell)| {
        let error = Some(error(cell)).filter(|error| !error.is_empty());
        let error = error.map_or(String::new(), |error| format!("  {error}"));
        format!("   {name}{}  {}{error}", " ".repeat(widest - name.width()), answer(cell))
    };
    let block = |row: &Vec<Cell>| names.iter().zip(row).map(line).collect::<Vec<_>>().join("\n");
    rows.rows.iter().take(LONGEST_TABLE).map(block).collect::<Vec<_>>().join("\n\n")
}

/// A column for each column, and one for the error bars of each aggregate.
fn table(rows: &Rows) -> Table {
    let mut table = Table::new();
    table.load_style(NOTHING);
    let has_bar = |place: usize| {
        rows.columns[place].statistic.is_some() || rows.rows.iter().any(|row| row[place].error.is_some())
    };
    let head = rows.columns.iter().enumerate().flat_map(|(place, column)| {
        let name = printable(&column.name);
        if has_bar(place) { vec![name, "error".to_string()] } else { vec![name] }
    });
    table.set_header(head.enumerate().map(indented));
    for row in rows.rows.iter().take(LONGEST_TABLE) {
        let cells = row.iter().enumerate().flat_map(|(place, cell)| {
            if has_bar(place) { vec![answer(cell), error(cell)] } else { vec![answer(cell)] }
        });
        table.add_row(cells.enumerate().map(indented));
    }
    table
}

/// Indented like everything else, in the first column.
fn indented((place, text): (usize, String)) -> String {
    if place == 0 { format!("  {text}") } else { text }
}

fn answer(cell: &Cell) -> String {
    match &cell.value {
        _ if cell.refused => "refused".to_string(),
        Value::Null => "(null)".to_string(),
        Value::String(text) => printable(text),
        value => match (value.as_f64(), &cell.error) {
            // What is computed from several answers has no bar that would say how many digits mean something.
            (Some(number), None) if value.is_f64() => shorter(number),
            _ => rounded(value, cell.error.as_ref()),
        },
    }
}

/// A number in at most seven significant digits; JSON has all.
fn shorter(number: f64) -> String {
    let short: f64 = format!("{number:.6e}").parse().unwrap_or(number);
    rounded(&json!(short), None)
}

fn error(cell: &Cell) -> String {
    cell.error.as_ref().map_or(String::new(), |error| error.short_words(&cell.value))
}
