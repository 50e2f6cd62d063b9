//! SQL queries as a user types them: rows, JSON, dry runs, one charge, and errors that cost nothing.

mod support;

use std::{
    io::Write as _,
    process::{Output, Stdio},
};
use support::Folder;

const BY_TOWN: &str =
    "SELECT town, COUNT(*) AS n, AVG(value) AS mean FROM 'data.csv' GROUP BY town ORDER BY n DESC";

fn ask(folder: &Folder, query: &str, words: &[&str]) -> Output {
    folder.run_words(&[&["sql", query][..], words].concat())
}

fn json(folder: &Folder, query: &str, words: &[&str]) -> serde_json::Value {
    let output = ask(folder, query, &[words, &["--json"]].concat());
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {told}"))
}

fn error_of(output: &Output) -> (i32, String) {
    (output.status.code().expect("an exit code"), String::from_utf8_lossy(&output.stderr).into_owned())
}

/// At epsilon 200 noise of ten rows has a chance below 1e-100.
#[test]
fn a_query_is_one_charge_and_a_row_for_each_group() {
    let folder = Folder::of_towns();
    let price = ["--epsilon", "200", "--delta", "1e-6", "--request-id", "monday"];
    let rows = json(&folder, BY_TOWN, &price);
    let names: Vec<&str> =
        rows["columns"].as_array().unwrap().iter().map(|column| column["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["town", "n", "mean"]);
    let towns: Vec<&str> =
        rows["rows"].as_array().unwrap().iter().map(|row| row[0].as_str().unwrap()).collect();
    assert_eq!(towns, ["Bath", "Ayr"], "a town of one row is not released");
    for (row, (count, mean)) in [(2000.0, 1500.0), (1000.0, 1501.5)].into_iter().enumerate() {
        let row = &rows["rows"][row];
        assert!((row[1].as_f64().unwrap() - count).abs() < 10.0, "{row}");
        assert!((row[2].as_f64().unwrap() - mean).abs() < 30.0, "{row}");
    }
    assert_eq!(rows["errors"][0][0], serde_json::Value::Null);
    assert_eq!(rows["errors"][0][1]["kind"], "noise");
    assert_eq!(rows["release"]["spent"]["epsilon"], "200");
    // What is done to released values is free, and so is asking again.
    let again = json(&folder, &format!("{BY_TOWN} LIMIT 1"), &price);
    assert_eq!(again["rows"][0], rows["rows"][0]);
    assert_eq!(
        (again["rows"].as_array().unwrap().len(), &again["release"]["spent"]["epsilon"]),
        (1, &"200".into())
    );
    assert_eq!(folder.json("budget verify")["charges"], 1);
    let (code, other) = error_of(&ask(&folder, "SELECT COUNT(*) FROM 'data.csv'", &price));
    assert_eq!(code, 2, "{other}");
}

/// It was taken for another request, because a plan writes the unit down that is registered and the query does not.
#[test]
fn a_query_about_people_is_given_again_under_its_request_id() {
    let folder = Folder::of_towns();
    folder.run("budget set data.csv --epsilon 5 --delta 1e-5 --unit town");
    let price = ["--epsilon", "1", "--delta", "1e-6", "--request-id", "monday"];
    let query = "SELECT COUNT(*) AS n FROM 'data.csv'";
    let rows = json(&folder, query, &price);
    let again = json(&folder, query, &price);
    assert_eq!(rows["release"]["guarantee"]["unit"], "town");
    assert_eq!((&again["rows"], &again["release"]["receipt"]), (&rows["rows"], &rows["release"]["receipt"]));
    assert_eq!(folder.json("budget verify")["charges"], 1);
}

#[test]
fn rows_are_a_table_with_bars_and_the_price_below() {
    let folder = Folder::of_towns();
    let output = ask(&folder, BY_TOWN, &["--epsilon", "200", "--delta", "1e-6"]);
    let shown = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<&str> = shown.lines().collect();
    let words = |line: usize| lines[line].split_whitespace().collect::<Vec<_>>();
    assert_eq!(words(0), ["town", "n", "error", "mean", "error"], "{shown}");
    assert!(words(1)[0] == "Bath" && words(2)[0] == "Ayr" && lines[1].contains(" to "), "{shown}");
    for line in [
        "  result     2 rows",
        "  error      each holds on its own (95 % confidence)",
        "  privacy    epsilon 200, delta 0.000001 for one row (add-remove)",
    ] {
        assert!(shown.contains(line), "{shown}");
    }
    assert!(output.status.success() && shown.contains("  receipt    "), "{shown}");
}

#[test]
fn a_dry_run_reads_nothing_and_says_what_the_unit_is() {
    let folder = Folder::of_towns();
    let query = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1, delta=1e-6, privacy_unit_column=value, max_groups_contributed=2)
        town, COUNT(*), MEDIAN(year) FROM data.csv GROUP BY town";
    let output = ask(&folder, query, &["--dry-run"]);
    let shown = String::from_utf8(output.stdout).unwrap();
    assert!(shown.contains("count by town") && shown.contains("median of year by town"), "{shown}");
    assert!(shown.contains("one row of each value in each of at most 2 groups, drawn at random"), "{shown}");
    assert!(shown.contains("keys       found once for all questions"), "{shown}");
    assert!(!folder.path("equipoise.ledger").exists());
    let plan = json(&folder, query, &["--dry-run"]);
    assert_eq!((&plan["outcome"], &plan["charge"]["epsilon"]), (&"planned".into(), &"1".into()));
}

#[test]
fn what_is_wrong_has_a_place_and_costs_nothing() {
    let folder = Folder::of_towns();
    for (query, said) in [
        ("SELECT value FROM 'data.csv'", "line 1, column 8: 'value' stands outside of an aggregate"),
        (
            "SELECT AVG(valu)\nFROM data.csv",
            "line 1, column 8: no column is called 'valu'; did you mean 'value'?",
        ),
        ("SELECT COUNT(*)\nFROM people", "line 2, column 6: there is no file 'people'; name one"),
        ("SELECT COUNT(*) FROM data.csv WHERE", "line 1, column 36: nothing follows 'WHERE'"),
        ("SELECT COUNT(*) FROM data.csv JOIN b", "line 1, column 31: a join is not accepted"),
        ("SELECT COUNT(*) FROM data.csv WHERE town > 3 + 'x'", "line 1, column 37: "),
        (
            "SELECT town, COUNT(*) FROM data.csv GROUP BY town",
            "line 1, column 46: finding keys needs a delta above 0; give --delta 1e-6",
        ),
        ("SELECT \u{1b}[31m FROM data.csv", "line 1, column 8: the character \\u{1b} is not expected here"),
    ] {
        let (code, line) = error_of(&ask(&folder, query, &["--epsilon", "1"]));
        assert!(code == 2 && line.starts_with(&format!("equipoise: {said}")), "{query}: {line}");
        assert!(line.trim_end().lines().count() == 1 && !line.contains('\u{1b}'), "{line}");
    }
    let (code, line) = error_of(&ask(&folder, "SELECT COUNT(*) FROM data.csv", &[]));
    assert!(code == 2 && line.contains("how much privacy may the query cost?"), "{line}");
    let output = ask(&folder, "SELECT value FROM data.csv", &["--epsilon", "1", "--json"]);
    let error: serde_json::Value = serde_json::from_slice(&output.stderr).unwrap();
    assert_eq!((&error["line"], &error["column"], &error["exit"]), (&1.into(), &8.into(), &2.into()));
    assert!(!folder.path("equipoise.ledger").exists());
}

/// A name is shown as what it is, and never as what it tells a terminal to do.
#[test]
fn names_do_not_command_the_terminal() {
    let folder = Folder::of_towns();
    let output = ask(&folder, "SELECT COUNT(*) AS \"red \u{1b}[31m\" FROM data.csv", &["--epsilon", "1"]);
    let shown = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success() && !shown.contains('\u{1b}') && shown.contains("red "), "{shown:?}");
}

#[test]
fn queries_come_from_standard_input_each_up_to_a_semicolon() {
    let folder = Folder::of_towns();
    let mut running = folder
        .command(&["sql", "--epsilon", "1"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let text = ".tables\n.columns data.csv\nSELECT COUNT(*)\n  FROM data.csv;\n.budget\n.plan SELECT SUM(year)\nFROM data.csv;\n\
        SELECT wrong FROM data.csv;\nSELECT COUNT(*) FROM '-';\nSELECT SUM(year) FROM data.csv;\n.quit\nSELECT COUNT(*) FROM data.csv;";
    running.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let output = running.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(2), "what went wrong is the exit code");
    let shown = String::from_utf8(output.stdout).unwrap();
    assert_eq!(shown.matches("  receipt    ").count(), 2, "{shown}");
    for line in [
        "  data.csv\n  value\n  town\n  year\n",
        "  data.csv: epsilon 1 spent, no limit\n",
        "planned; nothing was read",
    ] {
        assert!(shown.contains(line), "{line:?}: {shown}");
    }
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(
        errors.contains("line 1, column 8: 'wrong'") && errors.contains("standard input has the queries"),
        "{errors}"
    );
}

#[test]
fn a_query_is_simulated_on_public_rows_and_never_on_those_of_a_ledger() {
    let folder = Folder::of_towns();
    let query = "SELECT town, COUNT(*), AVG(value) FROM data.csv GROUP BY town";
    let words = ["simulate", "--trials", "20", "sql", query, "--epsilon", "20", "--delta", "1e-6"];
    let shown = String::from_utf8(folder.run_words(&words).stdout).unwrap();
    assert!(shown.contains("Bath") && shown.contains("20 of 20"), "{shown}");
    assert!(!folder.path("equipoise.ledger").exists());
    assert!(ask(&folder, "SELECT COUNT(*) FROM data.csv", &["--epsilon", "1"]).status.success());
    let (code, line) = error_of(&folder.run_words(&words));
    assert!(code == 2 && line.contains("is in a ledger"), "{line}");
}
