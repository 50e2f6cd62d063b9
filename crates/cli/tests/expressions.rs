//! Expressions where columns are named, as a user asks for them.

mod support;

use std::fmt::Write as _;
use support::Folder;

/// 2,000 flights over twelve months; arrivals are late by 0 to 9 minutes more than departures, and some never arrive.
fn flights() -> Folder {
    let mut text = String::from("day,carrier,dep delay,dep_delay,arr_delay\n");
    for flight in 0..2000 {
        let (month, delay) = (flight % 12 + 1, flight % 50);
        let carrier = ["AA", "aa", "UA"][flight % 3];
        let arrival = if flight % 20 == 19 { String::new() } else { (delay + flight % 10).to_string() };
        writeln!(text, "2026-{month:02}-15,{carrier},{delay},{delay},{arrival}").expect("a string");
    }
    Folder::with("flights.csv", text)
}

fn fails(folder: &Folder, words: &[&str]) -> String {
    let output = folder.run_words(words);
    assert_eq!(output.status.code(), Some(2), "{words:?}");
    String::from_utf8(output.stderr).expect("text")
}

/// At epsilon 40 noise exceeds 3 with a probability below e^-100.
#[test]
fn columns_keys_and_conditions_are_computed() {
    let folder = flights();
    let near = |release: &serde_json::Value, truth: f64| {
        let value = release["value"].as_f64().unwrap_or_else(|| panic!("{release}"));
        assert!((value - truth).abs() <= 3.0, "{value} is not near {truth}");
    };
    let count = ["count", "flights.csv", "--epsilon", "40"];
    near(&folder.json_words(&[&count[..], &["--where", "arr_delay - dep_delay >= 5"]].concat()), 900.0);
    near(&folder.json_words(&[&count[..], &["--where", "not arr_delay - dep_delay >= 5"]].concat()), 1000.0);
    near(
        &folder.json_words(
            &[&count[..], &["--where", "lower(carrier) = 'aa' and \"dep delay\" / 0 is null"]].concat(),
        ),
        1334.0,
    );
    near(&folder.json_words(&[&count[..], &["--where", "month(day) between 6 and 8"]].concat()), 501.0);
    near(
        &folder.json_words(&["count", "flights.csv", "nullif(arr_delay - dep_delay, 0)", "--epsilon", "40"]),
        1700.0,
    );
    near(&folder.json_words(&["count", "flights.csv", "dep delay", "--epsilon", "40"]), 2000.0);
    let median = [
        "median",
        "flights.csv",
        "arr_delay - dep_delay",
        "--range",
        "0,16",
        "--resolution",
        "1",
        "--epsilon",
        "40",
    ];
    let release = folder.json_words(&median);
    near(&release, 4.0);
    assert_eq!(release["column"], "arr_delay - dep_delay");
    let by = ["--group-by", "upper(carrier), date_trunc('quarter', day)", "--delta", "1e-6"];
    let groups = folder.json_words(&[&count[..], &by].concat());
    assert_eq!(groups["group_by"], serde_json::json!(["upper(carrier)", "date_trunc('quarter', day)"]));
    let groups = groups["groups"].as_array().expect("groups");
    assert_eq!(groups.len(), 8, "{groups:?}");
    assert_eq!(groups[0]["key"], serde_json::json!(["AA", "2026-01-01"]));
    let receipt = String::from_utf8(folder.run("budget log --json").stdout).expect("text");
    assert!(receipt.contains("arr_delay - dep_delay"), "{receipt}");
}

#[test]
fn a_question_that_cannot_be_computed_costs_nothing() {
    let folder = flights();
    for (words, line) in [
        (
            vec!["count", "flights.csv", "--where", "dep_delay > '60'"],
            "write 60 to compare numbers, or --type dep_delay=text and '60' to compare texts",
        ),
        (
            vec!["count", "flights.csv", "--where", "carrier > 5", "--type", "carrier=text"],
            "write '5' to compare texts, or declare --type carrier=number to read numbers in it",
        ),
        (vec!["count", "flights.csv", "--where", "1 = 1"], "--where: '1 = 1' names no column"),
        (
            vec!["count", "flights.csv", "--where", "hour(day) + carrier > 3", "--type", "carrier=text"],
            "carrier is of the type text, with which + does not compute",
        ),
        (
            vec!["median", "flights.csv", "arr_delay - dep_dely"],
            "no column is called 'dep_dely'; did you mean 'dep_delay'?",
        ),
        (vec!["median", "flights.csv", "lower(carrier)"], "median of a text has no meaning"),
        (
            vec!["count", "flights.csv", "--group-by", "month(day", "--delta", "1e-6"],
            "the expression ends where ')' is expected",
        ),
        (vec!["count", "flights.csv", "--where", "sum(dep_delay) > 3"], "no function is called 'sum'"),
    ] {
        let said = fails(&folder, &[&words[..], &["--epsilon", "1"]].concat());
        // A second line has the command that was probably meant, or one that shows what there is.
        let mut rest = said.lines().skip(1);
        let command = rest.next().unwrap_or_default();
        let command =
            command.starts_with("  try: equipoise ") || command.starts_with("  see: equipoise columns ");
        assert!(said.contains(line) && command && rest.next().is_none(), "{said}");
    }
    assert_eq!(folder.charges(), 0);
}

#[test]
fn a_simulation_knows_what_is_true_of_what_is_computed() {
    let folder = flights();
    let words = [
        "simulate",
        "--trials",
        "20",
        "median",
        "flights.csv",
        "arr_delay - dep_delay",
        "--range",
        "0,16",
        "--resolution",
        "1",
        "--epsilon",
        "1",
    ];
    let output = folder.run_words(&words);
    let text = String::from_utf8(output.stdout).expect("text");
    assert!(output.status.success() && text.contains("truth      4;"), "{text}");
}

/// A condition in another spelling is the same condition, under one request id.
#[test]
fn asking_again_in_another_spelling_is_free() {
    let folder = flights();
    let asked = |filter: &str| {
        folder.json_words(&["count", "flights.csv", "--where", filter, "--epsilon", "1", "--request-id", "a"])
    };
    let first = asked("arr_delay-dep_delay>=5");
    let again = asked("arr_delay - dep_delay >= 5");
    assert_eq!((&first["value"], &first["receipt"]), (&again["value"], &again["receipt"]));
}

/// What was typed, as it is written here, or what shows which columns and functions there are; nothing is charged.
#[test]
fn a_wrong_condition_ends_with_a_whole_command() {
    let folder = Folder::new("delay,carrier\n5,UA\n");
    for (condition, last) in [
        ("dely > 5", "  try: equipoise count data.csv --where 'delay > 5' --epsilon 1   (epsilon 1)"),
        (
            "carrier = UA",
            "  try: equipoise count data.csv --where 'carrier = '\\''UA'\\''' --epsilon 1   (epsilon 1)",
        ),
        (
            "delay => 5 && delay < 9",
            "  try: equipoise count data.csv --where 'delay >= 5 and delay < 9' --epsilon 1   (epsilon 1)",
        ),
        ("far > 5", "  see: equipoise columns data.csv   (free)"),
        ("delay >", "  see: equipoise columns data.csv   (free)"),
    ] {
        let output = folder.run_words(&["count", "data.csv", "--epsilon", "1", "--where", condition]);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!((output.status.code(), said.lines().last()), (Some(2), Some(last)), "{said}");
    }
    assert!(!folder.path("equipoise.ledger").exists());
    let shown = folder.run("columns data.csv");
    let shown = String::from_utf8_lossy(&shown.stdout).into_owned();
    assert!(shown.contains("\n  delay\n  carrier\n") && shown.contains("date_trunc('month', a)"), "{shown}");
    assert!(shown.lines().all(|line| line.chars().count() <= 80), "{shown}");
    assert_eq!(folder.json("columns data.csv")["columns"][1]["name"], "carrier");
}
