//! Is this request that request? Numbers are compared as numbers, conditions by their one spelling, everything else as text. A column or key
//! that is an expression is text too: what it means depends on the names of the columns, which are not known here.
//!
//! What was typed stays in the ledger as it was typed, so that ledgers of any age compare alike. Names of fields had `-` between their
//! words in earlier versions, where they have `_` now: both are the same name.

use equipoise_core::ratio::Ratio;
use equipoise_expression::Expression;
use serde_json::Value;

/// What holds a number, or several with commas between them. Names of columns and keys of groups are never among them.
const NUMBERS: [&str; 15] = [
    "base",
    "blocks",
    "bound",
    "confidence",
    "delta",
    "epsilon",
    "fraction",
    "k",
    "max_groups_per_unit",
    "max_rows_per_unit",
    "range",
    "resolution",
    "rows",
    "target_error",
    "weight",
];

/// Do the two texts ask for the same?
pub(super) fn same(one: &str, two: &str) -> bool {
    one == two || canonical(one).zip(canonical(two)).is_some_and(|(one, two)| one == two)
}

fn canonical(text: &str) -> Option<Value> {
    let mut document: Value = serde_json::from_str(text).ok()?;
    one_spelling(&mut document);
    for question in document.get_mut("questions").and_then(Value::as_array_mut).into_iter().flatten() {
        one_spelling(question);
    }
    Some(document)
}

fn one_spelling(question: &mut Value) {
    let Some(fields) = question.as_object_mut() else { return };
    let named = std::mem::take(fields).into_iter().map(|(name, value)| (name.replace('-', "_"), value));
    fields.extend(named);
    for (name, value) in fields {
        if let (true, Some(text)) = (NUMBERS.contains(&name.as_str()), value.as_str()) {
            *value = text.split(',').map(one_text).collect::<Vec<_>>().join(",").into();
        } else if let ("where", Some(Ok(condition))) = (name.as_str(), value.as_str().map(Expression::parse))
        {
            *value = condition.to_string().into();
        }
    }
}

/// A number in its one text; days and whatever else is no number stay as they are.
fn one_text(word: &str) -> String {
    word.parse::<Ratio>().map_or_else(|_| word.trim().to_string(), |number| number.to_exact())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_compared_as_numbers_and_nothing_else_is() {
        let json = |epsilon: &str, range: &str, filter: &str| {
            format!(
                r#"{{"epsilon":"{epsilon}","range":"{range}","where":"{filter}","types":{{"epsilon":"1.0"}}}}"#
            )
        };
        let one = json("1", "0,0.5", "x > 1");
        for (epsilon, range) in [("1.0", "0,0.5"), ("1e0", "0.0, 0.50"), ("2/2", "0,1/2"), ("+1", "0,5e-1")] {
            assert!(same(&one, &json(epsilon, range, "x > 1")), "{epsilon} {range}");
        }
        for filter in ["x>1", " X > 1", "(x > 1)"] {
            assert_eq!(same(&one, &json("1", "0,0.5", filter)), !filter.contains('X'), "{filter}");
        }
        for other in [
            json("1", "0,0.5", "x > '1'"),
            json("1", "0,0.5", "1 < x"),
            json("1", "0,0.5", "x >"),
            json("1.1", "0,0.5", "x > 1"),
            json("1.000000000000000000001", "0,0.5", "x > 1"),
            json("1", "0,0.25", "x > 1"),
            json("1", "0.5,0", "x > 1"),
            json("1", "0,0.5,1", "x > 1"),
            json("1", "0,2020-01-01", "x > 1"),
            json("1", "0,0.5", "x > 1.0"),
            one.replace(r#""1.0"}"#, r#""1"}"#),
            one.replace(r#""epsilon":"1","#, ""),
            one.replace("range", "resolution"),
        ] {
            assert!(!same(&one, &other), "{other}");
        }
    }

    #[test]
    fn questions_of_a_batch_too_and_keys_are_texts() {
        let batch = |weight: &str, key: &str| {
            format!(r#"{{"delta":"1e-6","questions":[{{"weight":"{weight}","keys":["{key}"]}}]}}"#)
        };
        assert!(same(&batch("2", "1"), &batch("2.0", "1").replace("1e-6", "0.000001")));
        assert!(!same(&batch("2", "1"), &batch("3", "1")) && !same(&batch("2", "1"), &batch("2", "1.0")));
        assert!(!same("not JSON", "{}") && same("not JSON", "not JSON"));
    }

    /// A request with everything said, of a session or of votes, one field after another changed or left out: each is another
    /// request. Those that hold numbers are the same however these are written, and no others.
    #[test]
    fn every_field_of_a_request_is_compared() {
        let fields: serde_json::Map<String, Value> = serde_json::from_str(
            r#"{
            "statistic": "mean", "column": "7", "columns": "7", "fraction": "7", "epsilon": "7", "delta": "7",
            "adjacency": "7", "mechanism": "7", "range": "7", "resolution": "7", "interval": true, "population": true, "per_unit": true, "rows": "7",
            "delimiter": "7", "header": false, "group_by": ["7"], "keys": ["7"], "among": ["7"], "target_error": "7",
            "types": {"7": "7"}, "weight": "7", "where": "7", "unit": "7", "max_rows_per_unit": "7",
            "max_groups_per_unit": "7", "confidence": "7", "blocks": "7", "programs": [["7"]], "output": "7",
            "options": ["7"], "missing": "7", "function": "7", "k": "7", "anything": "7"}"#,
        )
        .unwrap();
        let whole = Value::Object(fields.clone()).to_string();
        let as_before =
            whole.replace("max_rows_per_unit", "max-rows-per-unit").replace("target_error", "target-error");
        assert!(as_before != whole && same(&whole, &as_before), "names of earlier versions");
        let numbers = [
            "blocks",
            "confidence",
            "delta",
            "epsilon",
            "fraction",
            "k",
            "max_groups_per_unit",
            "max_rows_per_unit",
            "range",
            "resolution",
            "rows",
            "target_error",
            "weight",
        ];
        for (name, value) in &fields {
            let mut without = fields.clone();
            without.remove(name);
            assert!(!same(&whole, &Value::Object(without).to_string()), "{name} left out");
            let with = |text: String| {
                let mut other = fields.clone();
                other.insert(name.clone(), serde_json::from_str(&text).unwrap());
                let other = Value::Object(other).to_string();
                // Among the questions of a batch too.
                let batch = |one: &str| format!(r#"{{"questions":[{{"epsilon":"1"}},{one}]}}"#);
                assert_eq!(same(&whole, &other), same(&batch(&whole), &batch(&other)), "{name}");
                same(&whole, &other)
            };
            if value.is_boolean() {
                assert!(!with((!value.as_bool().unwrap()).to_string()), "{name}");
                continue;
            }
            let written = |as_what: &str| value.to_string().replace('7', as_what).replace("mean", as_what);
            assert!(!with(written("8")), "{name}");
            assert_eq!(with(written("7.0")), numbers.contains(&name.as_str()), "{name}");
        }
        for request in ["{}", "[]", r#"{"questions":{}}"#, r#"{"questions":7}"#] {
            assert!(same(request, &format!("{request} ")) && !same(request, &whole), "{request}");
        }
    }
}
