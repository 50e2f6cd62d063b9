//! What programs print, read as votes. Whatever cannot be read is no vote, and a public default stands for it.
//!
//! Plain text or JSON, by one total rule for each kind of answer; nothing else about a program is looked at.

use crate::plan::PlanError;
use equipoise_core::{loss::ParameterError, wording};
use serde_json::Value;
use std::collections::BTreeSet;

/// What programs answer with; public.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output {
    /// A finite number: `3.5`, also as JSON.
    Number,
    /// So many finite numbers: `1 2 3`, `1,2,3`, one a line, or a JSON list.
    Vector(usize),
    /// One line of text, or a JSON text or number.
    Label,
    /// Several such, one a line or separated by commas, or a JSON list.
    Labels,
}

/// The longest label, in characters.
const LONGEST_LABEL: usize = 200;
/// The most labels of one answer.
const MOST_LABELS: usize = 10_000;
/// The longest vector.
const MOST_COORDINATES: usize = 16_383;

impl Output {
    /// From `number`, `vector:K`, `label` or `labels`.
    pub fn read(text: &str) -> Result<Self, PlanError> {
        let wrong = || {
            let shown = wording::shown(text);
            PlanError::from(ParameterError::out_of_range(
                "output",
                shown,
                "write number, vector:3, label or labels",
            ))
        };
        match text {
            "number" => Ok(Self::Number),
            "label" => Ok(Self::Label),
            "labels" => Ok(Self::Labels),
            _ => {
                let length: usize =
                    text.strip_prefix("vector:").and_then(|length| length.parse().ok()).ok_or_else(wrong)?;
                if (1..=MOST_COORDINATES).contains(&length) { Ok(Self::Vector(length)) } else { Err(wrong()) }
            }
        }
    }
}

/// A finite number.
pub(super) fn number(answer: &[u8]) -> Option<f64> {
    let text = std::str::from_utf8(answer).ok()?.trim();
    // Every JSON number is also one of these, and so are JSON's forms of text around one.
    finite(text).or_else(|| json_number(&serde_json::from_str(text).ok()?))
}

fn finite(text: &str) -> Option<f64> {
    text.parse().ok().filter(|value: &f64| value.is_finite())
}

fn json_number(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => number.as_f64().filter(|value| value.is_finite()),
        Value::String(text) => finite(text.trim()),
        Value::Array(list) if list.len() == 1 => json_number(&list[0]),
        _ => None,
    }
}

/// A vector of this length.
pub(super) fn vector(answer: &[u8], length: usize) -> Option<Vec<f64>> {
    let text = std::str::from_utf8(answer).ok()?.trim();
    let numbers: Option<Vec<f64>> = if text.starts_with('[') {
        let mut list = Vec::new();
        flatten(&serde_json::from_str(text).ok()?, &mut list)?;
        Some(list)
    } else {
        let words = text.split(|c: char| c == ',' || c.is_whitespace()).filter(|word| !word.is_empty());
        words.take(length + 1).map(finite).collect()
    };
    numbers.filter(|numbers| numbers.len() == length)
}

/// Lists of lists, such as the coefficients of several classes, are read row by row.
fn flatten(value: &Value, into: &mut Vec<f64>) -> Option<()> {
    match value {
        Value::Array(list) => list.iter().try_for_each(|one| flatten(one, into)),
        other => {
            into.push(json_number(other)?);
            Some(())
        }
    }
}

/// A label: one line that is not empty.
pub(super) fn label(answer: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(answer).ok()?.trim();
    match serde_json::from_str(text) {
        Ok(Value::String(label)) => fit(&label),
        Ok(Value::Array(_) | Value::Object(_) | Value::Null) => None,
        _ => fit(text),
    }
}

fn fit(text: &str) -> Option<String> {
    let text = text.trim();
    let good =
        !text.is_empty() && text.chars().count() <= LONGEST_LABEL && !text.chars().any(char::is_control);
    good.then(|| text.to_string())
}

/// A set of labels, which may be empty.
pub(super) fn labels(answer: &[u8]) -> Option<BTreeSet<String>> {
    let text = std::str::from_utf8(answer).ok()?.trim();
    if text.starts_with('[') {
        let Ok(Value::Array(list)) = serde_json::from_str(text) else { return None };
        let one = |value: &Value| match value {
            Value::String(label) => fit(label),
            Value::Number(number) => fit(&number.to_string()),
            _ => None,
        };
        return some(list.iter().map(one).collect::<Option<BTreeSet<String>>>()?);
    }
    let words = text.split([',', '\n']).map(str::trim).filter(|word| !word.is_empty());
    some(words.map(fit).collect::<Option<BTreeSet<String>>>()?)
}

fn some(labels: BTreeSet<String>) -> Option<BTreeSet<String>> {
    (labels.len() <= MOST_LABELS).then_some(labels)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_finite_or_none() {
        for (text, value) in [
            ("3.5\n", Some(3.5)),
            (" -1e3 ", Some(-1000.0)),
            ("\"7\"", Some(7.0)),
            ("[2]", Some(2.0)),
            ("NaN", None),
            ("inf", None),
            ("1e999", None),
            ("", None),
            ("1 2", None),
            ("{\"a\": 1}", None),
            ("true", None),
            ("null", None),
        ] {
            assert_eq!(number(text.as_bytes()), value, "{text}");
        }
        assert_eq!(number(b"\xff"), None);
    }

    #[test]
    fn vectors_have_the_length_that_was_said() {
        for text in
            ["1 2.5 -3", "1,2.5,-3\n", "1\n2.5\n-3", "[1, 2.5, -3]", "[[1], [2.5, -3]]", "[\"1\", 2.5, -3]"]
        {
            assert_eq!(vector(text.as_bytes(), 3), Some(vec![1.0, 2.5, -3.0]), "{text}");
        }
        for text in ["1 2", "1 2 3 4", "1 2 x", "[1, 2, null]", "[1, 2", "nan 1 2", ""] {
            assert_eq!(vector(text.as_bytes(), 3), None, "{text}");
        }
    }

    #[test]
    fn labels_are_one_line_and_sets_have_no_order() {
        for (text, value) in [
            ("model 3\n", Some("model 3")),
            ("\"a b\"", Some("a b")),
            ("17", Some("17")),
            ("true", Some("true")),
            ("a\nb", None),
            ("", None),
            ("[1]", None),
            ("null", None),
            ("a\u{7}b", None),
        ] {
            assert_eq!(label(text.as_bytes()).as_deref(), value, "{text}");
        }
        assert_eq!(label("x".repeat(201).as_bytes()), None);
        let set = |text: &str| labels(text.as_bytes()).map(|set| set.into_iter().collect::<Vec<_>>());
        for text in ["b, a, b", "a\nb\n", "[\"b\", \"a\"]"] {
            assert_eq!(set(text), Some(vec!["a".to_string(), "b".to_string()]), "{text}");
        }
        assert_eq!(set(""), Some(vec![]));
        assert_eq!(set("[{}]"), None);
        assert_eq!(set("[3, 1]"), Some(vec!["1".to_string(), "3".to_string()]));
    }

    #[test]
    fn outputs_are_read_or_one_line_says_what_there_is() {
        assert_eq!(Output::read("vector:3").unwrap(), Output::Vector(3));
        for text in ["vector", "vector:0", "vector:x", "numbers", "vector:99999"] {
            let error = Output::read(text).unwrap_err().to_string();
            assert!(error.contains("write number, vector:3, label or labels"), "{error}");
        }
    }
}
