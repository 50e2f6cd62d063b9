//! Limits that renew: by a column of days, with a question about stated windows; and with time, after a word about what that adds up to.

mod support;

use serde_json::{Value, json};
use std::fmt::Write as _;
use support::Folder;

/// A hundred visits on each first day of six months, twenty of them without a day that can be read; of fifty people.
fn visits() -> Folder {
    let mut text = String::from("visited,person,minutes\n");
    for month in 7..=12 {
        for row in 0..100 {
            let day = match row % 10 {
                0 => String::new(),
                1 => "soon".to_string(),
                _ => format!("2026-{month:02}-{:02}", 1 + row % 28),
            };
            writeln!(text, "{day},p{},{row}", row % 50).expect("a string");
        }
    }
    Folder::with("visits.csv", text)
}

fn said(folder: &Folder, line: &str) -> (i32, String) {
    let output = folder.run(line);
    let text =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    (output.status.code().expect("no signal"), text)
}

fn renewing() -> Folder {
    let folder = visits();
    let (code, words) = said(&folder, "budget set visits.csv --epsilon 20 --every month --day visited");
    assert_eq!(code, 0, "{words}");
    let limit = "visits.csv: limit epsilon 20 for the rows of each month by 'visited' (UTC), which whoever has rows in n months may lose n times\n";
    assert_eq!(words, limit);
    folder
}

fn left(document: &Value) -> Vec<(String, String)> {
    let one = |one: &Value| {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_string();
        (text(&one["window"]), text(&one["remaining"]["epsilon"]))
    };
    document["windows"].as_array().into_iter().flatten().map(one).collect()
}

fn pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(a, b)| (a.to_string(), b.to_string())).collect()
}

/// At epsilon 10 a count is off by more than 4 with a probability of e^-40.
#[test]
fn a_question_is_about_the_rows_of_the_windows_that_it_states() {
    let folder = renewing();
    for (windows, rows) in
        [("2026-10", 80), ("2026-10,2026-12", 160), ("2026-07..2026-08", 160), ("2027-01", 0)]
    {
        let release = folder.json(&format!("count visits.csv --epsilon 10 --window {windows}"));
        let count = release["value"].as_i64().expect("a count");
        assert!((count - rows).abs() <= 4, "{windows}: {release}");
        assert_eq!(release["guarantee"]["windows"]["every"], "month");
    }
    let shown = folder.json("budget show visits.csv");
    let windows =
        [("2026-07", "10"), ("2026-08", "10"), ("2026-10", "0"), ("2026-12", "10"), ("2027-01", "10")];
    assert_eq!(left(&shown[0]), pairs(&windows), "{shown}");
    assert_eq!(shown[0]["renewing"]["day"], json!({ "column": "visited", "type": "date" }));
    // The data set counts each question once.
    assert_eq!(shown[0]["spent"]["epsilon"], "40");
    let (code, words) = said(&folder, "count visits.csv --epsilon 1 --window 2026-09..2026-10");
    let over = "equipoise: the budget of data set 'visits.csv' for the month 2026-10 has epsilon 0 left of 20, and 1 was asked for; \
                ask for less, or have its steward raise it with 'equipoise budget set'\n";
    assert_eq!((code, words.as_str()), (4, over));
    let (code, words) = said(&folder, "budget verify");
    assert!(code == 0 && words.contains("4 charges"), "{words}");
    assert!(said(&folder, "budget log").1.contains("charged epsilon 10 for count in 2026-10, 2026-12"));
    assert!(said(&folder, "budget report").1.contains("month 2026-10"));
    let exported: Value = serde_json::from_slice(&folder.run("budget export").stdout).expect("JSON");
    assert_eq!(exported["data_sets"][0]["charges"][1]["windows"], json!(["2026-10", "2026-12"]));
}

/// Whatever is typed, rows of other windows are not counted: a condition that is always true finds those of the window.
#[test]
fn a_typed_condition_does_not_choose_the_window() {
    let folder = renewing();
    for condition in ["minutes >= 0 or visited is null", "visited >= '2026-01-01'", "length(person) > 0"] {
        let release = folder.json_words(&[
            "count",
            "visits.csv",
            "--epsilon",
            "5",
            "--window",
            "2026-09",
            "--where",
            condition,
            "--type",
            "visited=date",
        ]);
        let count = release["value"].as_i64().expect("a count");
        assert!((count - 80).abs() <= 9, "{condition}: {release}");
    }
    // Where the question reads the column as something else, the window does not.
    let text = folder.json_words(&[
        "count",
        "visits.csv",
        "--epsilon",
        "5",
        "--window",
        "2026-09",
        "--type",
        "visited=text",
        "--where",
        "visited like '2026-1%'",
    ]);
    assert!(text["value"].as_i64().expect("a count") <= 9, "{text}");
}

#[test]
fn plans_releases_and_explanations_name_the_windows() {
    let folder = renewing();
    let (code, plan) =
        said(&folder, "median visits.csv minutes --epsilon 2 --window 2026-09,2026-10 --dry-run");
    assert_eq!(code, 0, "{plan}");
    for part in [
        "  windows    what one row has in the months 2026-09 and 2026-10 of 'visited' (UTC)\n",
        "             whoever has rows in n months may lose n times the limit of one\n",
        "    month 2026-09: epsilon 0 spent, epsilon 20 left\n",
    ] {
        assert!(plan.contains(part), "{part}: {plan}");
    }
    assert_eq!(folder.charges(), 0);
    let release = folder.json("median visits.csv minutes --epsilon 2 --window 2026-10,2026-09");
    assert_eq!(release["guarantee"]["windows"]["names"], json!(["2026-09", "2026-10"]));
    assert_eq!(left(&release), pairs(&[("2026-09", "18"), ("2026-10", "18")]));
    let receipt = release["receipt"]["id"].as_str().expect("a receipt");
    let (_, explained) = said(&folder, &format!("explain {receipt}"));
    assert!(
        explained.contains("one row in the months 2026-09 and 2026-10 of 'visited' (UTC)"),
        "{explained}"
    );
}

/// Where people have rows in several windows, each is charged two steps; the data set one.
#[test]
fn people_in_several_windows_pay_two_steps_in_each() {
    let folder = visits();
    let set = "budget set visits.csv --unit person --epsilon 4 --every quarter --day visited";
    assert_eq!(folder.code(set), 0);
    assert_eq!(
        left(&folder.json("count visits.csv --epsilon 1 --window 2026-Q3")),
        pairs(&[("2026-Q3", "3")])
    );
    let both = folder.json("count visits.csv --epsilon 1 --window 2026-Q3..2026-Q4");
    assert_eq!(left(&both), pairs(&[("2026-Q3", "1"), ("2026-Q4", "2")]));
    assert_eq!(both["spent"]["epsilon"], "2");
    assert_eq!(folder.code("budget verify"), 0);
}

#[test]
fn batches_and_queries_are_about_windows_too() {
    let folder = renewing();
    let batch = r#"{"epsilon": "10", "window": "2026-09", "questions": [{"statistic": "count"}, {"statistic": "mean", "column": "minutes", "range": "0,100"}]}"#;
    folder.write("batch.json", batch);
    let release = folder.json("batch batch.json visits.csv");
    let count = release["answers"][0]["value"].as_i64().expect("a count");
    assert!((count - 80).abs() <= 9, "{release}");
    assert_eq!(left(&release), pairs(&[("2026-09", "10")]));
    folder.write(
        "two.json",
        batch.replace(r#"{"statistic": "count"}"#, r#"{"statistic": "count", "window": "2026-10"}"#),
    );
    let (code, words) = said(&folder, "batch two.json visits.csv");
    assert!(code == 2 && words.contains("window"), "{words}");
    let query = "SELECT COUNT(*) AS n FROM 'visits.csv'";
    let rows = folder.json_words(&["sql", query, "--epsilon", "5", "--window", "2026-11"]);
    let text = rows.to_string();
    assert!(text.contains("2026-11"), "{text}");
    let inside = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=5, window='2026-11') COUNT(*) AS n FROM 'visits.csv'";
    assert_eq!(folder.run_words(&["sql", inside]).status.code(), Some(0));
    assert_eq!(folder.run_words(&["sql", query, "--epsilon", "1"]).status.code(), Some(2));
    let shown = folder.json("budget show visits.csv");
    assert_eq!(left(&shown[0]), pairs(&[("2026-09", "10"), ("2026-11", "10")]));
    // Groups are made of the rows of the window.
    let groups = folder.json("count visits.csv --group-by person --keys p2,p3 --epsilon 5 --window 2026-12");
    assert_eq!(left(&groups), pairs(&[("2026-12", "15")]));
}

#[test]
fn what_cannot_be_asked_of_windows_is_one_line_and_free() {
    let folder = renewing();
    folder.write("other.csv", "a\n1\n2\n");
    let mut lines = Vec::new();
    for line in [
        "count visits.csv --epsilon 1",
        "count visits.csv --epsilon 1 --window 2026-13",
        "count visits.csv --epsilon 1 --window october",
        "count other.csv --epsilon 1 --window 2026-10",
        "monitor visits.csv --state m.json --epsilon 1 --delta 1e-6 --budget-per-unit 3",
        "run visits.csv --epsilon 1 --output number --range 0,1 -- true",
        "graph visits.csv --statistic edges --columns person,minutes --epsilon 1",
    ] {
        lines.push(folder.fails(line));
    }
    assert_eq!(folder.charges(), 0);
    for line in &lines {
        let said = line.lines().nth(1).unwrap_or_default();
        assert!(said.starts_with("  exit 2: equipoise: ") && line.lines().count() <= 3, "{line}");
    }
    let windows = "'visits.csv' has a limit for each month of 'visited'";
    for place in [0, 4, 5, 6] {
        assert!(lines[place].contains(windows), "{}", lines[place]);
    }
}

#[test]
fn wrong_limits_are_one_line_and_enter_nothing() {
    let folder = visits();
    for (line, said) in [
        ("budget set visits.csv --epsilon 1 --every month --day visit", "did you mean 'visited'"),
        ("budget set visits.csv --epsilon 1 --every moon --day visited", "no window is called 'moon'"),
        (
            "budget set visits.csv --epsilon 1 --every month --day visited=week",
            "holds date or timestamp, not week",
        ),
        ("budget set visits.csv --every month --day visited", "give --epsilon or --rho"),
        ("budget set visits.csv --every never --epsilon 1", "leave --epsilon and --rho out"),
        (
            "budget set visits.csv --epsilon 1 --every month --day visited --adjacency replace",
            "register it with --adjacency add-remove",
        ),
        (
            "budget set visits.csv --epsilon 0.5 --delta 1e-7 --every week",
            "adds up to epsilon 27, delta 0.0000054 in a year and goes on after it; name the column with --day, or say --adds-up",
        ),
    ] {
        let failed = folder.fails(line);
        assert!(failed.contains("exit 2") && failed.contains(said), "{failed}");
    }
    assert!(!folder.path("equipoise.ledger").exists(), "nothing was entered");
}

#[test]
fn a_limit_with_time_is_set_after_a_word_and_names_its_window() {
    let folder = visits();
    let (code, words) = said(&folder, "budget set visits.csv --epsilon 0.5 --every month --adds-up");
    assert_eq!(code, 0, "{words}");
    assert!(words.contains("which adds up for the same rows: epsilon 6 in a year"), "{words}");
    // Everything can be asked, and counts now.
    let release = folder.json("count visits.csv --epsilon 0.25");
    let now = release["receipt"]["time"].as_str().expect("a time")[..7].to_string();
    assert_eq!(left(&release), pairs(&[(&now, "0.25")]));
    assert!(release["guarantee"]["windows"].is_null(), "the same rows are protected: {release}");
    assert_eq!(release["remaining"]["epsilon"], "0.25");
    let (code, words) = said(&folder, "count visits.csv --epsilon 0.3");
    assert!(code == 4 && words.contains(&format!("for the month {now} has epsilon 0.25 left")), "{words}");
    assert_eq!(folder.code("count visits.csv --epsilon 0.1 --window 2026-10"), 2);
    assert_eq!(folder.code("budget clock --is 2001-01-01"), 2);
    let day = &folder.json("budget show visits.csv")[0];
    assert_eq!(left(day), pairs(&[(&now, "0.25")]));
    assert_eq!(folder.code("budget verify"), 0);
    let (code, words) = said(&folder, "budget set visits.csv --every never");
    assert!(code == 0 && words.contains("no limit for each window any more"), "{words}");
    assert_eq!(folder.code("count visits.csv --epsilon 5"), 0);
    assert_eq!(folder.code("budget verify"), 0);
}

/// A ledger in which nobody ever set such a limit has the layout that it had.
#[test]
fn a_ledger_without_windows_keeps_its_layout() {
    let folder = visits();
    folder.json("count visits.csv --epsilon 1");
    let version = |folder: &Folder| {
        let bytes = std::fs::read(folder.path("equipoise.ledger")).expect("a ledger");
        // The version of the layout stands at byte 60 of a file of SQLite.
        u32::from_be_bytes(bytes[60..64].try_into().expect("four bytes"))
    };
    let before = version(&folder);
    assert!(before < 6, "{before}");
    assert_eq!(folder.code("budget set visits.csv --epsilon 5"), 0);
    assert_eq!(version(&folder), before);
    assert_eq!(folder.code("budget set visits.csv --epsilon 5 --every year --day visited"), 0);
    assert_eq!(version(&folder), 6);
}
