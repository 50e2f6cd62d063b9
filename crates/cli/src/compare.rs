//! `equipoise audit --compare`: what the answers of any pipeline on two neighbouring data sets give away.

use crate::{Exit, args::AuditOptions, ask::usage};
use equipoise_audit::sampled::{Found, Part, Promise, Seen, compare};
use serde_json::{Value, json};
use std::{collections::BTreeMap, fs, path::Path};

pub(crate) fn run(options: &AuditOptions) -> Exit {
    let [first, second] = &options.compare[..] else { return usage("--compare takes two files") };
    match judged(options, first, second) {
        Ok(exit) | Err(exit) => exit,
    }
}

fn judged(options: &AuditOptions, first: &Path, second: &Path) -> Result<Exit, Exit> {
    let eps = options.epsilon.ok_or_else(|| usage("what does the pipeline promise? Give --epsilon"))?;
    let sound = eps >= 0.0 && eps.is_finite() && (0.0..1.0).contains(&options.delta);
    let sure = options.confidence > 0.0 && options.confidence < 1.0;
    if !(sound && sure) {
        return Err(usage(
            "give an --epsilon of 0 or more, a --delta from 0 to below 1 and a --confidence between 0 and 1",
        ));
    }
    let promise = Promise { eps, delta: options.delta };
    let (first, second) = (read(first)?, read(second)?);
    if first.len() < 2 || second.len() < 2 {
        return Err(usage("each file needs answers of many runs, one a line; the more, the surer"));
    }
    let found = compare(&first, &second, &promise, 1.0 - options.confidence);
    if options.json {
        println!("{:#}", document(&found));
    } else {
        println!("{}", words(&found, options.confidence));
    }
    Ok(if found.alarm { Exit::Failed } else { Exit::Done })
}

/// One answer a line: a number, several with commas, or any text.
fn read(path: &Path) -> Result<Vec<Seen>, Exit> {
    let text = fs::read_to_string(path).map_err(|error| {
        let shown = equipoise_core::wording::shown(&path.to_string_lossy());
        usage(format!("'{shown}' cannot be read ({}); give a file with one answer a line", error.kind()))
    })?;
    Ok(text.lines().map(line).collect())
}

fn line(text: &str) -> Seen {
    let numbers: Result<Vec<f64>, _> = text.split(',').map(|part| part.trim().parse::<f64>()).collect();
    match numbers {
        Ok(numbers) => match numbers[..] {
            [number] => Seen::Number(number),
            _ => Seen::Numbers(numbers),
        },
        Err(_) => Seen::Text(text.trim().to_string()),
    }
}

/// All that an answer of a simulation shows, as an attacker sees it: the value, the noisy number of rows, the range that was found,
/// the bar, whether it was refused, and the same of each group.
pub(crate) fn seen(document: &Value) -> Seen {
    let mut parts = BTreeMap::new();
    leaves(document, "", &mut parts);
    Seen::Parts(parts)
}

/// Every number and text in a document, by the names that lead to it; groups by their keys, lists by places.
fn leaves(document: &Value, name: &str, parts: &mut BTreeMap<String, Part>) {
    let below = |word: &str| if name.is_empty() { word.to_string() } else { format!("{name} {word}") };
    match document {
        // What is not there is missing.
        Value::Null => {}
        Value::Object(fields) => {
            for (word, value) in fields {
                leaves(value, &below(word), parts);
            }
        }
        Value::Array(values) => {
            for (place, value) in values.iter().enumerate() {
                let key = value.get("key").map_or_else(|| (place + 1).to_string(), Value::to_string);
                leaves(value, &below(&key), parts);
            }
        }
        Value::Number(number) => {
            let part = number.as_f64().map_or_else(|| Part::Text(number.to_string()), Part::Number);
            parts.insert(name.to_string(), part);
        }
        Value::Bool(yes) => {
            parts.insert(name.to_string(), Part::Text(yes.to_string()));
        }
        // Exact decimals are written as texts.
        Value::String(text) => {
            let number = text.parse().map(Part::Number);
            parts.insert(name.to_string(), number.unwrap_or_else(|_| Part::Text(text.clone())));
        }
    }
}

/// The verdict in one line.
pub(crate) fn words(found: &Found, confidence: f64) -> String {
    let bound =
        format!("epsilon is at least {:.4} at the promised delta (confidence {confidence})", found.eps_lower);
    if found.alarm {
        format!("ALARM: the promise does not hold; {bound}, seen where {}", found.event)
    } else if found.event.is_empty() {
        format!("quiet: nothing was found in {} runs", found.runs)
    } else {
        format!(
            "quiet: {bound}, seen where {}; sampling can refute a promise, never confirm one",
            found.event
        )
    }
}

/// The same as JSON.
pub(crate) fn document(found: &Found) -> Value {
    json!({
        "verdict": if found.alarm { "alarm" } else { "quiet" },
        "epsilon_lower": found.eps_lower, "delta_lower": found.delta_lower,
        "event": found.event, "runs": found.runs,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_that_an_answer_shows_is_seen() {
        let bar = json!({ "low": 2.0, "range": [0.0, 8.0], "together": true });
        let group = json!({ "key": "Ayr", "outcome": "released", "value": "1.50", "rows": 7 });
        let document =
            json!({ "outcome": "released", "value": null, "error": bar, "rows": -3, "groups": [group] });
        let Seen::Parts(parts) = seen(&document) else { panic!("parts") };
        let number = Part::Number;
        let text = |text: &str| Part::Text(text.to_string());
        let expected = [
            ("error low", number(2.0)),
            ("error range 1", number(0.0)),
            ("error range 2", number(8.0)),
            ("error together", text("true")),
            ("groups \"Ayr\" key", text("Ayr")),
            ("groups \"Ayr\" outcome", text("released")),
            ("groups \"Ayr\" rows", number(7.0)),
            ("groups \"Ayr\" value", number(1.5)),
            ("outcome", text("released")),
            ("rows", number(-3.0)),
        ];
        assert_eq!(parts, expected.map(|(name, part)| (name.to_string(), part)).into());
    }

    #[test]
    fn lines_are_numbers_lists_or_texts() {
        assert_eq!(line(" 3.5"), Seen::Number(3.5));
        assert_eq!(line("1, 2"), Seen::Numbers(vec![1.0, 2.0]));
        assert_eq!(line("refused "), Seen::Text("refused".into()));
    }
}
