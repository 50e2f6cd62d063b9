//! Pictures of every shape that a release has.

use super::{Release, release as draw};
use equipoise_core::wording::Surface;
use serde_json::{Value, json};

fn document(value: &Value) -> Value {
    json!({
        "outcome": "released", "value": value, "statistic": "mean", "column": "salary", "data": "s.csv",
        "mechanism": "laplace", "error": { "confidence": 0.95, "kind": "noise", "low": 40_000.0, "high": 44_000.0 },
        "guarantee": { "epsilon": "1", "delta": "0", "unit": "row", "adjacency": "add-remove" },
        "spent": { "epsilon": "2", "delta": "0" }, "remaining": { "epsilon": "3", "delta": "0" }, "receipt": null,
    })
}

fn drawn(document: Value, fractions: &[&str]) -> String {
    let release: Release = serde_json::from_value(document).expect("a release");
    let fractions: Vec<String> = fractions.iter().map(ToString::to_string).collect();
    draw(&release, &[fractions], Surface::CommandLine)
}

fn noise(low: f64, high: f64) -> Value {
    json!({ "confidence": 0.95, "kind": "noise", "low": low, "high": high })
}

fn group(key: &Value, value: &Value, error: &Value) -> Value {
    let outcome = if value.is_null() { "refused" } else { "released" };
    json!({ "key": key, "outcome": outcome, "value": value, "error": error })
}

fn count(svg: &str, part: &str) -> usize {
    svg.matches(part).count()
}

#[test]
fn an_answer_has_a_dot_both_ends_of_its_error_its_promise_and_the_budget() {
    let svg = drawn(document(&json!(42_000.123_456)), &[]);
    for part in [
        "<title>mean of salary, s.csv</title>",
        "epsilon 1 for one row (add-remove); laplace",
        "42000 (40000 to 44000)",
        "the true value lies between 40000 and 44000 (95 % confidence)",
        "budget: epsilon 2 spent, epsilon 3 left",
        ">42,000<",
    ] {
        assert!(svg.contains(part), "{part}: {svg}");
    }
    assert!(!svg.contains("42000.123"), "rounded as in words");
    assert_eq!((count(&svg, "<circle"), count(&svg, "class=\"eq-tick\"")), (1, 3));
}

/// "top 1 of 5" stood beside the first of five names in the order of the alphabet, which nobody found to be the most frequent.
#[test]
fn an_exact_set_is_not_numbered() {
    let mut top = document(&json!(["ATL", "ORD"]));
    top["statistic"] = json!("top");
    top["error"] = json!({ "confidence": 1.0, "kind": "exact" });
    let svg = drawn(top, &[]);
    assert!(svg.contains("one of the top 2") && !svg.contains("1 of 2"), "{svg}");
}

#[test]
fn a_histogram_is_bars_from_zero_with_the_ends_of_their_errors() {
    let mut histogram = document(&Value::Null);
    histogram["statistic"] = json!("histogram");
    histogram["error"] = Value::Null;
    histogram["groups"] = json!([
        group(&json!("Ayr"), &json!(500), &noise(480.0, 520.0)),
        group(&json!(["Bath", null]), &json!(20), &noise(0.0, 40.0)),
        group(&json!("Cork"), &Value::Null, &Value::Null),
    ]);
    let svg = drawn(histogram.clone(), &[]);
    assert_eq!(
        (count(&svg, "class=\"eq-bar\""), count(&svg, "<circle"), count(&svg, "class=\"eq-tick\"")),
        (2, 0, 6)
    );
    for part in [
        "Ayr",
        "Bath, (empty)",
        "500 (480 to 520)",
        "class=\"eq-no\"",
        "Cork: refused",
        ">0<",
        "each error holds on its own",
    ] {
        assert!(svg.contains(part), "{part}: {svg}");
    }
    // Means by group are dots on an axis of their own.
    histogram["statistic"] = json!("mean");
    let svg = drawn(histogram, &[]);
    assert_eq!((count(&svg, "class=\"eq-bar\""), count(&svg, "<circle")), (0, 2));
}

/// They were empty: the values of a group that are a list were no numbers.
#[test]
fn quantiles_by_group_have_a_dot_each() {
    let mut quantiles = document(&Value::Null);
    quantiles["statistic"] = json!("quantile");
    quantiles["error"] = Value::Null;
    let ranks = json!({ "confidence": 0.95, "kind": "rank", "rank": [9, 9], "together": true });
    let ends = json!({ "confidence": 0.95, "kind": "interval", "rank": [9, 9], "together": true, "low": [1, 6], "high": [4, 9] });
    quantiles["groups"] = json!([
        group(&json!("Ayr"), &json!([2.5, 7.5]), &ranks),
        group(&json!("Bath"), &json!([3, 8]), &ends),
        group(&json!("Cork"), &json!([null, 8]), &ranks),
    ]);
    let svg = drawn(quantiles, &["0.25", "0.75"]);
    assert_eq!((count(&svg, "<circle"), count(&svg, "class=\"eq-tick\"")), (5, 6));
    assert!(svg.contains("quantiles 0.25, 0.75") && svg.contains("too few rows, 8"), "{svg}");
    let mut list = document(&json!([1, 2]));
    list["statistic"] = json!("quantile");
    list["error"] = ranks;
    let svg = drawn(list, &["0.25", "0.75"]);
    assert!(svg.contains("quantile 0.25: 1") && svg.contains("quantile 0.75: 2 (within 9 ranks)"), "{svg}");
}

/// The count of a summary and its quantiles had one axis, on which neither could be read.
#[test]
fn statistics_of_other_scales_have_axes_of_their_own() {
    let item = |statistic: &str, value: &Value, error: &Value| json!({ "statistic": statistic, "mechanism": "laplace", "outcome": "released", "value": value, "error": error });
    let ranks = json!({ "confidence": 0.95, "kind": "rank", "rank": [9, 9, 9, 9, 9], "together": true });
    let answers = json!([
        item("count", &json!(1000), &noise(990.0, 1010.0)),
        item("mean", &json!(5.5), &noise(5.0, 6.0)),
        item("standard-deviation", &json!(2.0), &noise(1.0, 3.0)),
        item("quantiles", &json!([1, 2, 5, 8, null]), &ranks),
    ]);
    let mut summary = document(&json!({}));
    summary["statistic"] = json!("summary");
    summary["error"] = Value::Null;
    summary["answers"] = answers.clone();
    let svg = drawn(summary.clone(), &[]);
    for part in [
        ">count<",
        ">mean and quantiles<",
        ">standard-deviation<",
        "quantile 0.75: 8 (within 9 ranks)",
        "quantile 0.95: too few rows",
    ] {
        assert!(svg.contains(part), "{part}: {svg}");
    }
    // One axis each, and the count is on none of the others.
    assert_eq!(count(&svg, "class=\"eq-axis\""), 3, "{svg}");
    summary["answers"] = Value::Null;
    summary["groups"] = json!([
        { "key": "Ayr", "outcome": "released", "value": {}, "error": null, "answers": answers },
        { "key": "Bath", "outcome": "refused", "value": null, "error": null, "answers": null },
    ]);
    let svg = drawn(summary.clone(), &[]);
    assert_eq!(
        (count(&svg, "<circle"), count(&svg, "class=\"eq-bar\""), count(&svg, "Bath: refused")),
        (6, 1, 8),
        "{svg}"
    );
    let mut batch = document(&Value::Null);
    batch["statistic"] = json!("batch");
    batch["answers"] =
        json!([item("count", &json!(7), &noise(1.0, 9.0)), item("mean", &json!(5.5), &noise(5.0, 6.0))]);
    let svg = drawn(batch, &[]);
    assert!(svg.contains("question 1: count") && svg.contains("question 2: mean"), "{svg}");
}

#[test]
fn days_decimals_and_texts_are_drawn_as_what_they_are() {
    let mut day = document(&json!("2020-03-04"));
    day["type"] = json!("date");
    day["error"] = json!({ "confidence": 0.95, "kind": "interval", "rank": 9, "low": "2020-02-20", "high": "2020-04-10" });
    let svg = drawn(day, &[]);
    assert!(
        count(&svg, "<circle") == 1 && svg.contains(">2020-03-05<") && svg.contains("2020-03-04"),
        "{svg}"
    );
    let mut text = document(&json!("Ayr"));
    text["error"] = json!({ "confidence": 0.95, "kind": "gap", "gap": 12 });
    let svg = drawn(text, &[]);
    assert!(
        count(&svg, "<circle") == 0 && count(&svg, "class=\"eq-axis\"") == 0 && svg.contains("Ayr"),
        "{svg}"
    );
    let mut refused = document(&Value::Null);
    refused["outcome"] = json!("refused");
    refused["error"] = Value::Null;
    refused["advice"] = json!("declare `range`");
    let svg = drawn(refused, &[]);
    assert!(svg.contains("class=\"eq-no\"") && svg.contains("declare --range"), "{svg}");
}

#[test]
fn nothing_that_can_be_released_breaks_a_picture() {
    let wild = [
        json!("<script>\u{1b}[31m"),
        json!(1e308),
        json!(-1e308),
        json!([1e308, -1e308, 0]),
        json!([]),
        json!(true),
    ];
    for value in wild {
        for error in [Value::Null, noise(-1e308, 1e308)] {
            let mut document = document(&value);
            document["error"] = error;
            document["data"] = json!("<a&b>");
            document["column"] = json!("</text><script>");
            document["where"] = json!("x = '<b>'");
            document["guarantee"]["unit"] = json!("<i>");
            document["groups"] =
                if value.is_array() { Value::Null } else { json!([group(&value, &value, &Value::Null)]) };
            let svg = drawn(document, &["<u>"]);
            for part in ["<script", "\u{1b}", "<a&b>", "<b>", "<i>", "<u>", "NaN", "inf"] {
                assert!(!svg.contains(part), "{part}: {svg}");
            }
        }
    }
    let mut groups = document(&Value::Null);
    groups["groups"] =
        (0..500).map(|row| group(&json!(row.to_string()), &json!(row), &Value::Null)).collect();
    let svg = drawn(groups, &[]);
    assert!(svg.contains("440 more lines are not drawn"), "{svg}");
}
