//! `equipoise calibrate`: every number that a mechanism derives from its parameters.

use crate::{Exit, args::CalibrateOptions, ask::usage, show};
use equipoise_core::{
    catalog::{self, CatalogError, Derived, Given, Number},
    ratio::Ratio,
    wording,
};
use equipoise_session::{caution, release::Promise};
use serde_json::{Map, Value, json};
use std::fmt::Write as _;

pub(crate) fn run(options: &CalibrateOptions) -> Exit {
    if options.list {
        print!("{}", names());
        return Exit::Done;
    }
    let Some(name) = &options.mechanism else {
        print!("{}", overview());
        return Exit::Done;
    };
    match derive(name, &options.parameters) {
        Ok(numbers) if options.json => {
            let mut document = as_json(name, &numbers);
            let warnings = warnings(&options.parameters);
            if !warnings.is_empty() {
                document["warnings"] = json!(warnings);
            }
            println!("{document}");
        }
        Ok(numbers) => {
            show::warn(&warnings(&options.parameters));
            print!("{}", as_text(&numbers));
        }
        Err(error) => return usage(error),
    }
    Exit::Done
}

fn derive(name: &str, words: &[String]) -> Result<Vec<Number>, CatalogError> {
    let entry = catalog::find(name)?;
    (entry.derive)(&Given::new(entry, pairs(words)?)?)
}

/// What of the price protects little. Parameters are of one row.
fn warnings(words: &[String]) -> Vec<String> {
    let pairs = pairs(words).unwrap_or_default();
    let said = |name: &str| pairs.iter().find(|(other, _)| other == name).map(|(_, value)| value.clone());
    let amount = |name: &str| said(name).unwrap_or_else(|| "0".to_string());
    let promise = Promise {
        epsilon: amount("epsilon"),
        delta: amount("delta"),
        adjacency: String::new(),
        unit: "row".to_string(),
        max_rows_per_unit: None,
        max_groups_per_unit: None,
        once_for_each_value: false,
        per_unit: false,
        composition: None,
        windows: None,
    };
    caution::warnings(&promise, caution::Rows::stated(said("rows").as_deref()))
}

/// `--name value` and `--name=value`, in any order.
fn pairs(words: &[String]) -> Result<Vec<(String, String)>, CatalogError> {
    let mut pairs = Vec::new();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let shown = wording::shown(word);
        let Some(name) = word.strip_prefix("--") else {
            return Err(CatalogError::Name(format!(
                "'{shown}' is not a parameter; write --name value, such as --epsilon 1"
            )));
        };
        if let Some((name, value)) = name.split_once('=') {
            pairs.push((name.to_string(), value.to_string()));
        } else {
            let Some(value) = words.next() else {
                return Err(CatalogError::Name(format!("'{shown}' has no value; write {shown} and a value")));
            };
            pairs.push((name.to_string(), value.clone()));
        }
    }
    Ok(pairs)
}

/// The mechanisms, one a line.
fn names() -> String {
    let width = catalog::ALL.iter().map(|entry| entry.name.len()).max().unwrap_or(0);
    catalog::ALL
        .iter()
        .fold(String::new(), |text, entry| format!("{text}{:width$}  {}\n", entry.name, entry.about))
}

/// The mechanisms and what each takes.
fn overview() -> String {
    let mut text = String::from("Mechanisms and their parameters; those without a default must be given.\n");
    for entry in catalog::ALL {
        let _ = write!(text, "\n{}: {}\n", entry.name, entry.about);
        for parameter in entry.parameters {
            let default = match parameter.default {
                None => String::new(),
                Some("") => " (optional)".to_string(),
                Some(value) => format!(" (default {value})"),
            };
            let _ = writeln!(text, "  --{:12} {}{default}", parameter.name, parameter.about);
        }
    }
    text
}

/// Digits of a number that is too long to be shown exactly, and how long that is.
const DIGITS: u32 = 12;
const LONGEST: usize = 24;

/// An exact number in a readable length: as it is where short, else twelve digits, rounded up.
fn readable(value: &Ratio) -> String {
    value.to_short_up(DIGITS, LONGEST)
}

/// The same rounded down, for what promises something.
fn readable_down(value: &Ratio) -> String {
    value.to_short_down(DIGITS, LONGEST)
}

fn table(rows: &[(u64, Ratio)], readable: impl Fn(&Ratio) -> String) -> String {
    rows.iter().fold(String::new(), |text, (key, value)| format!("{text}\n    {key:>6}  {}", readable(value)))
}

fn object(rows: &[(u64, Ratio)], readable: impl Fn(&Ratio) -> String) -> Value {
    Value::Object(rows.iter().map(|(key, value)| (key.to_string(), json!(readable(value)))).collect())
}

fn as_text(numbers: &[Number]) -> String {
    let mut text = String::new();
    let width = numbers.iter().map(|number| number.name.len()).max().unwrap_or(0).max(18);
    for number in numbers {
        let value = match &number.value {
            Derived::Exact(value) => readable(value),
            Derived::AtLeast(value) => readable_down(value),
            Derived::Text(value) => value.clone(),
            Derived::Table(rows) => table(rows, readable),
            Derived::TableAtLeast(rows) => table(rows, readable_down),
        };
        let line = format!("{:width$} {value}", number.name);
        // A table begins on a line of its own.
        let line = line.split('\n').map(str::trim_end).collect::<Vec<_>>().join("\n");
        let _ = writeln!(text, "{line}\n{:width$}   {}", "", number.about);
    }
    text
}

fn as_json(name: &str, numbers: &[Number]) -> Value {
    let mut entries = Map::new();
    entries.insert("mechanism".to_string(), json!(name));
    for number in numbers {
        let value = match &number.value {
            Derived::Exact(value) => json!(readable(value)),
            Derived::AtLeast(value) => json!(readable_down(value)),
            Derived::Text(value) => json!(value),
            Derived::Table(rows) => object(rows, readable),
            Derived::TableAtLeast(rows) => object(rows, readable_down),
        };
        entries.insert(number.name.to_string(), value);
    }
    Value::Object(entries)
}
