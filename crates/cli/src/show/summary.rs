//! The summaries of groups as cells of a table: each answer above its error, in five digits.

use super::value;
use equipoise_session::{
    answer::{BatchAnswer, Group},
    bar::{Between, ErrorBar, Ranks},
    release::Outcome,
};
use serde_json::Value;

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
    match (item.outcome, item.error.as_ref().and_then(ErrorBar::ends)) {
        (Outcome::Refused, _) => "refused".to_string(),
        (Outcome::Released, Some(ends)) => {
            format!("{}\n{}{limits}", short(&item.value, f64::round), between(ends))
        }
        (Outcome::Released, None) => short(&item.value, f64::round),
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
        let within = match (error.ends(), error.in_ranks()) {
            (Some(ends), _) => between(ends),
            (None, Some(Ranks::One(rank))) => format!("{rank} ranks"),
            (None, _) => String::new(),
        };
        format!("{}\n{within}", short(&told, f64::round))
    };
    (0..QUANTILES.len()).map(cell).collect()
}

/// Both ends, rounded outwards.
fn between(Between { low, high }: &Between) -> String {
    format!("{} to {}", short(low, f64::floor), short(high, f64::ceil))
}

/// A number in five digits, or in as many as it has before the point; anything else as it is.
fn short(shown: &Value, round: fn(f64) -> f64) -> String {
    let number = shown.as_f64().filter(|number| number.fract() != 0.0 || number.abs() >= 1e15);
    let Some(number) = number.filter(|number| number.abs() > 1e-300) else { return value(shown) };
    #[expect(clippy::cast_possible_truncation, reason = "between -300 and 308")]
    let before = number.abs().log10().floor() as i32;
    if !(-4..15).contains(&before) {
        return format!("{:.4}e{before}", round(number / 10f64.powi(before) * 1e4) / 1e4);
    }
    let digits = usize::try_from(4 - before).unwrap_or(0);
    let scale = 10f64.powi(4 - before).max(1.0);
    let text = format!("{:.digits$}", round(number * scale) / scale);
    if digits == 0 { text } else { text.trim_end_matches('0').trim_end_matches('.').to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn five_digits_and_ends_outwards() {
        for (number, said) in [
            (json!(12_345.678), "12346"),
            (json!(1_234_567.8), "1234568"),
            (json!(1.234_56), "1.2346"),
            (json!(-0.012_345_67), "-0.012346"),
            (json!(40.0), "40"),
            (json!(1000), "1000"),
            (json!(1e300), "1.0000e300"),
            (json!(-4.447_006_655e190), "-4.4470e190"),
            (json!(5e-324), "5e-324"),
            (json!(0.0), "0"),
            (json!("12.50"), "12.50"),
        ] {
            assert_eq!(short(&number, f64::round), said);
        }
        assert_eq!(between(&Between { low: json!(1.234_56), high: json!(1.234_51) }), "1.2345 to 1.2346");
    }

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
            ["1000\n990 to 1010", few, "2\n9 ranks", "3\n9 ranks", "4\n9 ranks", few]
        );
        answers[1] = item("quantiles", list, ends);
        assert_eq!(cells(&answers, false)[1..3], [few, "2\n1 to 3"]);
        answers[1].outcome = Outcome::Refused;
        assert_eq!(cells(&answers, false)[5], "refused");
    }
}
