//! What programs print, read as votes. Whatever cannot be read is no vote, and a public default stands for it.
//!
//! Plain text or JSON, by one total rule for each kind of answer; nothing else about a program is looked at.

use crate::votes::{Ballots, Output, Vote};
use serde_json::Value;

/// What was printed on a block, as a vote.
pub(super) fn read(ballots: &Ballots, printed: &[u8]) -> Option<Vote> {
    if printed.len() > ballots.output().longest_answer() {
        return None;
    }
    let text = std::str::from_utf8(printed).ok()?.trim();
    match ballots.output() {
        Output::Number => ballots.number(number(text)?),
        Output::Vector(length) => ballots.vector(vector(text, length)?),
        Output::Label => label(ballots, text),
        Output::Labels => labels(ballots, text),
    }
}

/// A finite number.
fn number(text: &str) -> Option<f64> {
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
fn vector(text: &str, length: usize) -> Option<Vec<f64>> {
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

fn label(ballots: &Ballots, text: &str) -> Option<Vote> {
    match serde_json::from_str(text) {
        Ok(Value::String(label)) => ballots.label(&label),
        Ok(Value::Array(_) | Value::Object(_) | Value::Null) => None,
        _ => ballots.label(text),
    }
}

fn labels(ballots: &Ballots, text: &str) -> Option<Vote> {
    if text.starts_with('[') {
        let Ok(Value::Array(list)) = serde_json::from_str(text) else { return None };
        let one = |value: &Value| match value {
            Value::String(label) => Some(label.clone()),
            Value::Number(number) => Some(number.to_string()),
            _ => None,
        };
        let list: Vec<String> = list.iter().map(one).collect::<Option<_>>()?;
        return ballots.labels(list.iter().map(String::as_str));
    }
    ballots.labels(text.split([',', '\n']).map(str::trim).filter(|word| !word.is_empty()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vote(output: Output, text: impl AsRef<[u8]>) -> Option<Vote> {
        read(&Ballots::new(output, None), text.as_ref())
    }

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
            assert_eq!(vote(Output::Number, text), value.map(Vote::Number), "{text}");
        }
        assert_eq!(vote(Output::Number, b"\xff"), None);
        assert_eq!(vote(Output::Number, format!("1{}", " ".repeat(4096))), None);
    }

    #[test]
    fn vectors_have_the_length_that_was_said() {
        for text in
            ["1 2.5 -3", "1,2.5,-3\n", "1\n2.5\n-3", "[1, 2.5, -3]", "[[1], [2.5, -3]]", "[\"1\", 2.5, -3]"]
        {
            assert_eq!(vote(Output::Vector(3), text), Some(Vote::Vector(vec![1.0, 2.5, -3.0])), "{text}");
        }
        for text in ["1 2", "1 2 3 4", "1 2 x", "[1, 2, null]", "[1, 2", "nan 1 2", ""] {
            assert_eq!(vote(Output::Vector(3), text), None, "{text}");
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
            assert_eq!(vote(Output::Label, text), value.map(|text| Vote::Label(text.into())), "{text}");
        }
        assert_eq!(vote(Output::Label, "x".repeat(201)), None);
        let set = |labels: &[&str]| Some(Vote::Labels(labels.iter().map(ToString::to_string).collect()));
        for text in ["b, a, b", "a\nb\n", "[\"b\", \"a\"]"] {
            assert_eq!(vote(Output::Labels, text), set(&["a", "b"]), "{text}");
        }
        assert_eq!(vote(Output::Labels, ""), set(&[]));
        assert_eq!(vote(Output::Labels, "[{}]"), None);
        assert_eq!(vote(Output::Labels, "[3, 1]"), set(&["1", "3"]));
    }
}
