//! Shares of rows of which a condition is true, as a user asks for them.

mod support;

use std::fmt::Write as _;
use support::Folder;

/// 4,000 flights: every tenth is late by more than an hour, every twentieth has no delay, every second is at night.
fn flights() -> Folder {
    let mut text = String::from("carrier,dep_delay,night\n");
    for flight in 0..4000 {
        let delay = match flight % 20 {
            19 => String::new(),
            3 | 13 => "90".to_string(),
            other => other.to_string(),
        };
        let carrier = if flight % 20 < 10 { "AA" } else { "UA" };
        let night = if flight % 2 == 0 { "yes" } else { "no" };
        writeln!(text, "{carrier},{delay},{night}").expect("a string");
    }
    Folder::with("flights.csv", text)
}

fn said(folder: &Folder, words: &[&str]) -> String {
    String::from_utf8(folder.run_words(words).stdout).expect("text")
}

/// At epsilon 40 noise exceeds 3 rows with a probability below e^-100.
#[test]
fn a_share_is_read_in_percent_and_leaves_out_what_is_unknown() {
    let folder = flights();
    let text = said(&folder, &["share", "flights.csv", "dep_delay > 60", "--epsilon", "40"]);
    // 400 of 3,800 rows with a delay.
    assert!(text.starts_with("share of rows where dep_delay > 60: 10.5"), "{text}");
    assert!(text.lines().next().is_some_and(|line| line.ends_with(" %")), "{text}");
    assert!(text.contains("; rows of which it is unknown take no part; about 3"), "{text}");
    let json = folder.json_words(&["share", "flights.csv", "dep_delay > 60", "--epsilon", "40"]);
    let value = json["value"].as_f64().expect("a number");
    assert!((value - 400.0 / 3800.0).abs() < 0.002, "{json}");
    assert_eq!((&json["type"], &json["statistic"]), (&"share".into(), &"share".into()));
    let yes = folder.json_words(&["share", "flights.csv", "night", "--epsilon", "40"]);
    assert!((yes["value"].as_f64().expect("a number") - 0.5).abs() < 0.002, "{yes}");
    let replaced = ["--adjacency", "replace", "--epsilon", "40"];
    let replaced =
        flights().json_words(&[&["share", "flights.csv", "dep_delay > 60"], &replaced[..]].concat());
    assert!((replaced["value"].as_f64().expect("a number") - 400.0 / 3800.0).abs() < 0.003, "{replaced}");
}

#[test]
fn shares_by_group_and_in_a_batch_and_simulated() {
    let folder = flights();
    let by = ["--group-by", "carrier", "--keys", "AA,UA", "--epsilon", "40"];
    let text = said(&folder, &[&["share", "flights.csv", "dep_delay is null"], &by[..]].concat());
    assert!(text.contains("answer in %") && text.contains("  AA") && text.contains("  UA"), "{text}");
    let json = folder.json_words(&[&["share", "flights.csv", "dep_delay is null"], &by[..]].concat());
    let of = |place: usize| json["groups"][place]["value"].as_f64().expect("a number");
    assert!(of(0).abs() < 0.003 && (of(1) - 0.1).abs() < 0.003, "{json}");
    // A bar never leaves what is possible.
    assert!(json["groups"][0]["error"]["low"].as_f64().expect("a number") >= 0.0, "{json}");
    folder.write(
        "questions.json",
        r#"{"data": "flights.csv", "epsilon": 80, "questions": [
            {"statistic": "share", "column": "dep_delay > 60"}, {"statistic": "share", "column": "night"}]}"#,
    );
    let text = said(&folder, &["batch", "questions.json"]);
    assert!(text.contains("share of rows where night: 5") && text.contains("2 of 2 questions"), "{text}");
    let simulated = ["simulate", "--trials", "50", "share", "public.csv", "dep_delay > 60", "--epsilon", "1"];
    let rows = std::fs::read(folder.path("flights.csv")).expect("rows");
    let public = Folder::with("public.csv", rows);
    let text = said(&public, &simulated);
    assert!(text.contains("truth      0.1052"), "{text}");
}

#[test]
fn what_is_no_condition_costs_nothing() {
    let folder = flights();
    for (column, line) in [
        ("dep_delay + 1", "share takes a condition, and 'dep_delay + 1' is of the type number"),
        ("dep_delai > 60", "no column is called 'dep_delai'"),
    ] {
        let output = folder.run_words(&["share", "flights.csv", column, "--epsilon", "1"]);
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{column}: {error}");
        assert!(error.contains(line), "{column}: {error}");
    }
    let typed = ["share", "flights.csv", "dep_delay", "--type", "dep_delay=number", "--epsilon", "1"];
    let error = String::from_utf8_lossy(&folder.run_words(&typed).stderr).into_owned();
    assert!(error.contains("compare it, as in \"dep_delay > 60\""), "{error}");
    assert_eq!(folder.charges(), 0);
}
