//! Frequent values where people have many rows: each person counts once for each value, with all of their rows.

mod support;

use serde_json::json;
use std::{fmt::Write as _, fs};
use support::Folder;

/// The most common condition: 1,000 people have A among twenty conditions, 600 have B alone, some of them twice.
fn conditions() -> Folder {
    let mut text = String::from("person,condition\n");
    for person in 0..1000 {
        writeln!(text, "a{person},A").expect("a string");
        for other in 0..19 {
            writeln!(text, "a{person},other {}", (person + other) % 200).expect("a string");
        }
    }
    for person in 0..600 {
        writeln!(text, "b{person},B").expect("a string");
        if person % 2 == 0 {
            writeln!(text, "b{person},B").expect("a string");
        }
    }
    Folder::with("conditions.csv", text)
}

const PEOPLE: &str = "conditions.csv condition --unit person";

/// 1,000 people against 600: another answer has a chance below e^-150 at these prices.
#[test]
fn the_most_common_condition_is_the_one_that_the_most_people_have() {
    let folder = conditions();
    for (verb, options) in [
        ("select", "--among A,B --epsilon 1"),
        ("select", "--among A,B --epsilon 1 --mechanism exponential"),
        ("select", "--among A,B --epsilon 1 --mechanism noisy-max"),
        ("select", "--max-groups-per-unit 20 --epsilon 20 --delta 1e-6"),
        ("mode", "--epsilon 1 --delta 1e-6"),
        ("mode", "--epsilon 2 --delta 1e-6 --adjacency replace"),
    ] {
        let folder = conditions();
        let release = folder.json(&format!("{verb} {PEOPLE} {options}"));
        assert_eq!(release["value"], "A", "{verb} {options}");
        assert_eq!(release["guarantee"]["once_for_each_value"], true, "{verb} {options}");
        assert_eq!(release["guarantee"]["max_rows_per_unit"], json!(null));
    }
    let drawn = folder.json(&format!("select {PEOPLE} --among A,B --max-rows-per-unit 1 --epsilon 1"));
    // About one person in twenty draws A.
    assert_eq!((&drawn["value"], &drawn["guarantee"]["once_for_each_value"]), (&json!("B"), &json!(null)));
    assert_eq!(drawn["error"]["gap_unit"], json!(null));
}

#[test]
fn bars_and_receipts_say_that_people_were_counted() {
    let folder = conditions();
    let shown = |line: &str| String::from_utf8(folder.run(line).stdout).expect("text");
    let select = shown(&format!("select {PEOPLE} --among A,B --epsilon 1"));
    assert!(
        select.contains("the most frequent value has at most 3 people more (95 % confidence)"),
        "{select}"
    );
    assert!(select.contains("rows       each person counts once for each value"), "{select}");
    let mode = shown(&format!("mode {PEOPLE} --epsilon 1 --delta 1e-6"));
    assert!(mode.contains("none: this is exactly the value that the most people have"), "{mode}");
    let planned = shown(&format!("mode {PEOPLE} --epsilon 1 --delta 1e-6 --dry-run"));
    assert!(planned.contains("people more than any other"), "{planned}");
    assert!(planned.contains("rows       each person counts once for each value"), "{planned}");
}

/// The questions of a batch share their rows: what is counted is said, or asked apart.
#[test]
fn a_batch_counts_drawn_rows_in_all_of_its_questions_or_people_in_all() {
    let folder = conditions();
    let batch = |more: &str, other: &str| {
        let questions = format!(
            r#"{{"data": "conditions.csv", "epsilon": 2, "delta": "1e-6", "unit": "person"{more},
            "questions": [{{"statistic": "select", "column": "condition", "among": ["A", "B"]}}, {other}]}}"#
        );
        fs::write(folder.path("questions.json"), questions).expect("a file");
        folder.run("batch questions.json --json")
    };
    let count = r#"{"statistic": "count"}"#;
    let mixed = batch("", count);
    let error = String::from_utf8(mixed.stderr).expect("text") + &String::from_utf8_lossy(&mixed.stdout);
    assert_eq!(mixed.status.code(), Some(2));
    assert!(error.contains("count each person once for each value of their column"), "{error}");
    assert!(error.contains("or ask them apart"), "{error}");
    // Values of another column are counted in other rows.
    assert_eq!(batch("", r#"{"statistic": "mode", "column": "person"}"#).status.code(), Some(2));
    let answers = |output: std::process::Output| -> serde_json::Value {
        assert!(output.status.success());
        serde_json::from_slice(&output.stdout).expect("one document")
    };
    let drawn = answers(batch(r#", "max_rows_per_unit": 1"#, count));
    assert_eq!(drawn["answers"][0]["value"], "B");
    let people = answers(batch("", r#"{"statistic": "mode", "column": "condition"}"#));
    assert_eq!((&people["answers"][0]["value"], &people["answers"][1]["value"]), (&json!("A"), &json!("A")));
}

/// What is true in a simulation is true of people, and bars are held against it.
#[test]
fn a_simulation_counts_people() {
    let folder = conditions();
    let line = format!("simulate --trials 20 select {PEOPLE} --among A,B --epsilon 1 --json");
    let told = folder.run(&line);
    let text = String::from_utf8(told.stdout).expect("text");
    let document: serde_json::Value = serde_json::from_str(&text).unwrap_or_else(|_| panic!("{text}"));
    let shown = document.to_string();
    assert!(shown.contains(r#""truth":"A""#) && shown.contains(r#""held":20"#), "{shown}");
}
