//! Tables in an engine where a file name stands: another program counts, and everything else is as ever. That program is a few lines of shell here; the real one is
//! tested with the Python package.

mod support;

use serde_json::Value;
use std::{fs, os::unix::fs::PermissionsExt, process::Output};
use support::Folder;

const TABLE: &str = "duckdb:people.duckdb?table=salaries";

/// A program that says what the schema says, takes every question, and then answers passes by these lines of shell.
fn engine(passes: &str) -> Folder {
    let folder = Folder::empty();
    let script = format!(
        r#"#!/bin/sh
echo '{{"columns": ["pay", "town"], "kinds": ["number", "text"], "engine": "DuckDB"}}'
while read -r line; do
  case "$line" in
    *'"rows"'*) echo '{{}}' ;;
    *'"key"'*) echo '{{}}' ;;
    *) {passes} ;;
  esac
done
"#
    );
    folder.write("people.duckdb", "");
    let path = folder.path("engine");
    fs::write(&path, script).expect("a script");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).expect("a script that runs");
    folder
}

/// What is asked for, and the records that it is held against.
const COUNTED: &str = r#"echo '{"counts": [{"key": [], "of": 0, "count": 30000}, {"key": [], "of": 1, "count": 30000}], "sums": []}'"#;

/// The program with these words behind a count of the table, and this one as Python.
fn asked(folder: &Folder, words: &str, python: &str) -> Output {
    let line = format!("count {TABLE} --epsilon 50 {words}");
    let words: Vec<&str> = line.split_whitespace().collect();
    folder.command(&words).env("EQUIPOISE_PYTHON", python).output().expect("the program runs")
}

fn verified(folder: &Folder) -> (Option<u64>, Option<u64>) {
    let found = folder.json("budget verify --ledger equipoise.ledger");
    (found["charges"].as_u64(), found["lost_count"].as_u64())
}

#[test]
fn a_count_is_charged_answered_and_recorded_as_any_other() {
    let folder = engine(COUNTED);
    let output = asked(&folder, "--ledger equipoise.ledger --json", "./engine");
    let release: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"));
    // At epsilon 50 the count is off by one or more with a chance below 1e-21.
    assert_eq!(release["value"], 30000, "{release}");
    assert_eq!(release["data"], TABLE);
    let clause = "the rows are those that a table of the holder's has in DuckDB, which nobody checked";
    assert_eq!(release["stated"][0], clause);
    let shown = asked(&folder, "--ledger equipoise.ledger --name people", "./engine").stdout;
    let shown = String::from_utf8_lossy(&shown).into_owned();
    assert!(shown.contains(&format!("given      {clause}")) && shown.contains("spent on people"), "{shown}");
    assert_eq!(verified(&folder), (Some(2), Some(0)));
}

#[test]
fn what_cannot_be_asked_is_one_line_and_free() {
    let refuses = engine(COUNTED);
    refuses.write("none", "#!/bin/sh\necho '{\"problem\": \"there is no such table\"}'\n");
    fs::set_permissions(refuses.path("none"), fs::Permissions::from_mode(0o700)).expect("a script that runs");
    for (words, python, said) in [
        ("", "./engine", "name one with --ledger FILE"),
        ("--ledger equipoise.ledger", "./nowhere", "pip install 'equipoise[ibis]'"),
        ("--ledger equipoise.ledger", "/bin/true", "pip install 'equipoise[ibis]'"),
        ("--ledger equipoise.ledger", "./none", "there is no such table"),
        ("--ledger equipoise.ledger --where pay>3", "./engine", "filter the table there"),
    ] {
        let output = asked(&refuses, words, python);
        let line = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{line}");
        assert!(line.contains(said) && line.trim_end().lines().count() == 1, "{line}");
    }
    assert!(!refuses.path("equipoise.ledger").exists(), "nothing was charged");
}

#[test]
fn what_fails_after_the_charge_is_a_lost_answer_without_a_word() {
    for passes in [r#"echo '{"problem": "secret-7f3a"}'"#, "exit 1", "echo 7", "echo '{\"counts\": 3}'"] {
        let folder = engine(passes);
        let output = asked(&folder, "--ledger equipoise.ledger", "./engine");
        let line = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{line}");
        assert!(
            line.contains("the charge stands and the answer is lost") && !line.contains("secret"),
            "{line}"
        );
        assert_eq!(verified(&folder), (Some(1), Some(1)), "{passes}");
    }
}

/// A count of a table by this address from this folder below, and the name that its release and the ledger have for it.
fn named(folder: &Folder, below: &str, address: &str) -> String {
    let ledger = folder.path("equipoise.ledger");
    let words = ["count", address, "--epsilon", "1", "--json", "--ledger", ledger.to_str().expect("a path")];
    let mut command = folder.command(&words);
    command.current_dir(folder.path(below)).env("EQUIPOISE_PYTHON", folder.path("engine"));
    let output = command.output().expect("the program runs");
    let release: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"));
    release["data"].as_str().expect("a name").to_string()
}

#[test]
fn however_an_address_is_spelled_the_table_has_one_budget() {
    let folder = engine(COUNTED);
    let file = folder.path("people.duckdb");
    fs::create_dir(folder.path("below")).expect("a folder");
    fs::hard_link(&file, folder.path("below/linked.duckdb")).expect("a hard link");
    std::os::unix::fs::symlink(&file, folder.path("below/soft.duckdb")).expect("a link");
    let whole = format!("duckdb:{}?table=salaries", file.display());
    for (below, address) in [
        (".", TABLE),
        (".", "duckdb:./people.duckdb?table=salaries"),
        (".", "duckdb:below/../people.duckdb?table=salaries"),
        (".", "duckdb:people.duckdb?table=SALARIES"),
        (".", &whole),
        ("below", "duckdb:../people.duckdb?table=salaries"),
        ("below", "duckdb:soft.duckdb?table=salaries"),
        ("below", "duckdb:linked.duckdb?table=salaries"),
    ] {
        assert_eq!(named(&folder, below, address), TABLE, "{address}");
    }
    // Another table of the file is other data, and so is another file of that name.
    assert_eq!(named(&folder, ".", "duckdb:people.duckdb?table=towns"), "duckdb:people.duckdb?table=towns");
    fs::create_dir(folder.path("other")).expect("a folder");
    folder.write("other/people.duckdb", "");
    assert_eq!(named(&folder, "other", TABLE), "duckdb:other/people.duckdb?table=salaries");
    let shown = folder.json(&format!("budget show {TABLE} --ledger equipoise.ledger"));
    assert!(shown.to_string().contains("\"epsilon\":\"8\""), "{shown}");
}

#[test]
fn a_limit_of_a_table_holds_however_its_address_is_spelled() {
    let folder = engine(COUNTED);
    let words = ["budget", "set", TABLE, "--epsilon", "1", "--ledger", "equipoise.ledger"];
    assert!(folder.command(&words).output().expect("the program runs").status.success());
    fs::hard_link(folder.path("people.duckdb"), folder.path("linked.duckdb")).expect("a hard link");
    for address in ["duckdb:./people.duckdb?table=Salaries", "duckdb:linked.duckdb?table=salaries"] {
        let words = ["count", address, "--epsilon", "50", "--ledger", "equipoise.ledger"];
        let output =
            folder.command(&words).env("EQUIPOISE_PYTHON", "./engine").output().expect("the program runs");
        assert_eq!(output.status.code(), Some(4), "{output:?}");
    }
}
