//! The summaries of groups as cells of a table: each answer above its error, in as many digits as that justifies.

use equipoise_session::{
    answer::{BatchAnswer, Group},
    bar::{ErrorBar, rounded},
    release::Outcome,
};

/// What the quantiles of a summary are called.
const QUANTILES: [&str; 5] = ["0.05", "0.25", "0.5", "0.75", "0.95"];

/// The error of the first answer of a group's summary that has one.
pub(super) fn error(group: &Group) -> Option<&ErrorBar> {
    group.answers.iter().flatten().find_map(|item| item.error.as_ref())
}

/// What to do about the first answer of a group's summary that was refused.
pub(super) fn advice(group: &Group) -> Option<&String> {
    group.answers.iter().flatten().find_map(|item| item.advice.as_ref())
}

/// The heads of the columns.
pub(super) fn columns(answers: &[BatchAnswer]) -> Vec<String> {
    let names = answers.iter().flat_map(|item| match item.statistic.as_str() {
        "quantiles" => QUANTILES.to_vec(),
        name => vec![name],
    });
    names.map(str::to_string).collect()
}

/// The range that rows were limited to, where it is one for all groups, and what was done to rows beyond it.
pub(super) fn common_limits(groups: &[Group]) -> Option<String> {
    let answers = groups.iter().flat_map(|group| group.answers.iter().flatten());
    let limited = answers.filter_map(|item| {
        let error = item.error.as_ref()?;
        Some((item.statistic.as_str(), error.limited_to()?, error))
    });
    let limited: Vec<(&str, [f64; 2], &ErrorBar)> = limited.collect();
    let (_, range, _) = limited.first()?;
    // The same numbers to the letter, or no common ones.
    if limited.iter().any(|(_, other, _)| other.map(f64::to_bits) != range.map(f64::to_bits)) {
        return None;
    }
    let mut names: Vec<&str> = Vec::new();
    for (name, ..) in &limited {
        if !names.contains(name) {
            names.push(name);
        }
    }
    let common = ErrorBar::common_words(limited.iter().map(|(.., error)| *error));
    let words = common.into_iter().find(|words| words.contains("limited to"))?;
    let names = match names.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        _ => names.join(""),
    };
    Some(format!("of {names}: {words}"))
}

/// The cells of one group; with ranges of its own where groups do not share one.
pub(super) fn cells(answers: &[BatchAnswer], own: bool) -> Vec<String> {
    answers
        .iter()
        .flat_map(|item| if item.statistic == "quantiles" { quantiles(item) } else { vec![one(item, own)] })
        .collect()
}

fn one(item: &BatchAnswer, own: bool) -> String {
    let limits = item.error.as_ref().and_then(ErrorBar::limits_words).filter(|_| own);
    let limits = limits.map_or(String::new(), |limits| format!(", {limits}"));
    match (item.outcome, &item.error) {
        (Outcome::Refused, _) => "refused".to_string(),
        (Outcome::Released, Some(error)) => {
            format!("{}\n{}{limits}", rounded(&item.value, Some(error)), error.short_words(&item.value))
        }
        (Outcome::Released, None) => rounded(&item.value, None),
    }
}

/// One cell for each, told or not; with a bought interval, or how many ranks off.
fn quantiles(item: &BatchAnswer) -> Vec<String> {
    if item.outcome == Outcome::Refused {
        return QUANTILES.map(|_| "refused".to_string()).to_vec();
    }
    let cell = |place: usize| {
        let told = item.value.get(place).cloned().unwrap_or_default();
        let Some(error) = item.error.as_ref().filter(|_| !told.is_null()) else {
            return "too few rows".to_string();
        };
        let error = error.at(place);
        format!("{}\n{}", rounded(&told, Some(&error)), error.short_words(&told))
    };
    (0..QUANTILES.len()).map(cell).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn answers_stand_above_their_errors() {
        let item = |statistic: &str, value: Value, error: Value| -> BatchAnswer {
            serde_json::from_value(json!({
                "statistic": statistic, "mechanism": "laplace", "outcome": "released", "value": value, "error": error,
            }))
            .expect("an answer")
        };
        let bar = json!({ "confidence": 0.95, "kind": "noise", "low": 990, "high": 1010 });
        let ranks = json!({ "confidence": 0.95, "kind": "rank", "rank": [9, 9, 9, 9, 9], "together": true });
        let ends = json!({ "confidence": 0.95, "kind": "interval", "rank": [9, 9, 9, 9, 9], "together": true,
            "low": [null, 1, 2, 3, null], "high": [null, 3, 4, 5, null] });
        let list = json!([null, 2, 3, 4, null]);
        let mut answers = vec![item("count", json!(1000), bar), item("quantiles", list.clone(), ranks)];
        assert_eq!(columns(&answers), ["count", "0.05", "0.25", "0.5", "0.75", "0.95"]);
        let few = "too few rows";
        assert_eq!(
            cells(&answers, false),
            ["1000\n990 to 1010", few, "2\nwithin 9 ranks", "3\nwithin 9 ranks", "4\nwithin 9 ranks", few]
        );
        // No more digits than the bar justifies.
        let wide = json!({ "confidence": 0.95, "kind": "noise", "low": 2701.25, "high": 5260.75 });
        assert_eq!(cells(&[item("mean", json!(3980.5123), wide)], false), ["3980\n2700 to 5270"]);
        answers[1] = item("quantiles", list, ends);
        assert_eq!(cells(&answers, false)[1..3], [few, "2\n1 to 3"]);
        answers[1].outcome = Outcome::Refused;
        assert_eq!(cells(&answers, false)[5], "refused");
    }
}
