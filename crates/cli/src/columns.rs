//! `equipoise columns FILE`: the names of columns and their declared types, and what expressions about them are made of. It reads the header
//! or the schema, which are public, and no row.

use crate::{
    Exit,
    args::ColumnsOptions,
    ask::open,
    show::{printable, width},
};
use equipoise_session::{columns::FUNCTIONS, source::Source};
use serde_json::{Value, json};

pub(crate) fn run(options: &ColumnsOptions) -> Exit {
    let header = options.reading.no_header.then_some(false);
    match open(&options.file, options.reading.delimiter.as_deref(), header) {
        Ok(source) if options.json => println!("{:#}", document(&*source)),
        Ok(source) => print(&*source),
        Err(exit) => return exit,
    }
    Exit::Done
}

/// The declared type of a column, or that its use decides.
fn kind(source: &dyn Source, column: usize) -> Option<String> {
    source.declared(column).map(|kind| kind.to_string())
}

fn document(source: &dyn Source) -> Value {
    let column = |(place, name): (usize, &String)| json!({ "name": name, "type": kind(source, place) });
    let columns: Vec<Value> = source.columns().iter().enumerate().map(column).collect();
    let functions: Vec<Value> = FUNCTIONS
        .iter()
        .map(|row| json!({ "usage": row.usage, "about": row.about, "null": row.null }))
        .collect();
    json!({ "columns": columns, "functions": functions })
}

fn print(source: &dyn Source) {
    println!("columns, by the header or the schema; no row was read, and nothing is charged");
    let names: Vec<String> = source.columns().iter().map(|name| printable(name)).collect();
    let longest = names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
    for (place, name) in names.iter().enumerate() {
        match kind(source, place) {
            Some(kind) => println!("  {name:<longest$}  {kind}"),
            None => println!("  {name}"),
        }
    }
    if (0..names.len()).all(|place| kind(source, place).is_none()) {
        println!("  no types are declared: what a column is asked for decides, or --type NAME=TYPE");
    }
    println!("expressions about them, for columns, --group-by and --where");
    let usages = FUNCTIONS.iter().flat_map(|row| row.usage.split("; "));
    for line in filled(usages, width().saturating_sub(2)) {
        println!("  {line}");
    }
}

/// Words with commas between them in lines of this width.
fn filled<'a>(words: impl Iterator<Item = &'a str>, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in words {
        match lines.last_mut() {
            Some(line) if line.chars().count() + word.chars().count() + 3 <= width => {
                line.push_str(", ");
                line.push_str(word);
            }
            last => {
                if let Some(line) = last {
                    line.push(',');
                }
                lines.push(word.to_string());
            }
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_filled_and_no_longer() {
        assert_eq!(filled(["a + b", "abs(x)", "ln(x)"].into_iter(), 16), ["a + b, abs(x),", "ln(x)"]);
        let all = filled(FUNCTIONS.iter().flat_map(|row| row.usage.split("; ")), 78);
        assert!(all.iter().all(|line| line.chars().count() <= 78), "{all:?}");
    }
}
