//! `equipoise calibrate`: every number that a mechanism derives from its parameters.

use crate::{Exit, args::CalibrateOptions};
use equipoise_core::{
    catalog::{self, CatalogError, Derived, Given, Number},
    ratio::Ratio,
    wording,
};
use serde_json::{Map, Value, json};
use std::fmt::Write as _;

pub(crate) fn run(options: &CalibrateOptions) -> Exit {
    let Some(name) = &options.mechanism else {
        print!("{}", overview());
        return Exit::Done;
    };
    match derive(name, &options.parameters) {
        Ok(numbers) if options.json => println!("{}", as_json(name, &numbers)),
        Ok(numbers) => print!("{}", as_text(&numbers)),
        Err(error) => {
            eprintln!("equipoise: {error}");
            return Exit::Usage;
        }
    }
    Exit::Done
}

fn derive(name: &str, words: &[String]) -> Result<Vec<Number>, CatalogError> {
    let entry = catalog::find(name)?;
    (entry.derive)(&Given::new(entry, pairs(words)?)?)
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

/// An exact number in a readable length: as it is where short, else twelve digits, rounded up.
fn readable(value: &Ratio) -> String {
    value.to_short_up(12, 24)
}

fn as_text(numbers: &[Number]) -> String {
    let mut text = String::new();
    for number in numbers {
        let value = match &number.value {
            Derived::Exact(value) => readable(value),
            Derived::Text(value) => value.clone(),
            Derived::Table(rows) => rows.iter().fold(String::new(), |text, (key, value)| {
                format!("{text}\n    {key:>6}  {}", readable(value))
            }),
        };
        let _ = writeln!(text, "{:18} {value}\n{:18}   {}", number.name, "", number.about);
    }
    text
}

fn as_json(name: &str, numbers: &[Number]) -> Value {
    let mut object = Map::new();
    object.insert("mechanism".to_string(), json!(name));
    for number in numbers {
        let value = match &number.value {
            Derived::Exact(value) => json!(readable(value)),
            Derived::Text(value) => json!(value),
            Derived::Table(rows) => Value::Object(
                rows.iter().map(|(key, value)| (key.to_string(), json!(readable(value)))).collect(),
            ),
        };
        object.insert(number.name.to_string(), value);
    }
    Value::Object(object)
}
