//! Names of statistics stand in their one table: elsewhere a literal that names one is a place that a new statistic would have to touch.

use super::{files, read, shipped};
use std::collections::BTreeSet;

/// What stands before a literal that names a statistic, where the literal is not an ordinary word.
const BEFORE: &[&str] = &[
    "statistic == ",
    "statistic != ",
    "Request::new(",
    "Statistic::named(",
    "\"statistic\": ",
    "words_of(",
    " request(",
];
/// More than these would be a second table.
const FEW: usize = 10;

/// The names in the table.
fn names() -> BTreeSet<String> {
    let table = read("crates/session/src/statistic/table.rs");
    let name = |rest: &str| rest.split('"').next().unwrap_or_default().to_string();
    table.split("        name: \"").skip(1).map(name).collect()
}

/// Every literal of this text that names a statistic, without comments and the text of documentation.
fn named<'a>(text: &'a str, names: &BTreeSet<String>) -> Vec<&'a str> {
    let is_code =
        |line: &&str| !["//", "#", ">>>", "``"].iter().any(|mark| line.trim_start().starts_with(mark));
    let mut found = Vec::new();
    for line in text.lines().filter(is_code) {
        for before in BEFORE {
            for rest in line.split(before).skip(1) {
                let literal = rest.strip_prefix('"').and_then(|rest| rest.split('"').next());
                found.extend(literal.filter(|literal| names.contains(*literal)));
            }
        }
    }
    found
}

#[test]
fn names_of_statistics_are_in_the_table() {
    let names = names();
    assert!(names.len() > 20 && names.contains("median"), "the table was read: {names:?}");
    // Generated of the table; or audits, which ask like users.
    let beside = [
        "/statistic/",
        "_tests.rs",
        "/tests.rs",
        "audits",
        "coverage.rs",
        "cut_bars.rs",
        "claims.rs",
        "_statistics.py",
        "_methods.py",
    ];
    let shipped_code = [
        "crates/session/src",
        "crates/cli/src",
        "crates/sql/src",
        "crates/server/src",
        "crates/engine/src",
        "python/src",
    ];
    let rust = shipped_code.iter().flat_map(|folder| files(folder, ".rs"));
    let paths: Vec<String> = rust.chain(files("python/package/equipoise", ".py")).collect();
    let mut found = Vec::new();
    for path in paths.iter().filter(|path| !beside.iter().any(|mark| path.contains(mark))) {
        let text = read(path);
        found.extend(named(shipped(&text), &names).into_iter().map(|name| format!("{path}: {name}")));
    }
    assert!(found.len() < FEW, "{} literals name a statistic: {found:#?}", found.len());
    assert!(!found.is_empty(), "Python asks for counts by name, so none means that nothing was read");
}

#[test]
fn literals_that_name_statistics_are_found() {
    let names = ["median", "count"].map(String::from).into();
    let text = "if statistic == \"median\" { Request::new(\"count\") } // count\n// statistic == \"count\"\nlet word = \"median\";";
    assert_eq!(named(text, &names), ["median", "count"]);
}
