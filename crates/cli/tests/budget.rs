//! Limits and how each accountant adds up, through the binary.

mod support;

use serde_json::Value;
use std::{fs, process::Command};
use support::Folder;

/// A folder with a file of ten rows.
fn ten_rows() -> Folder {
    Folder::new("value\n".to_string() + &"7\n".repeat(10))
}

fn standing(folder: &Folder) -> Value {
    folder.json("budget show data.csv")[0].clone()
}

#[test]
fn each_accountant_can_hold_a_limit() {
    for (accountant, fits) in [("basic", 10), ("zcdp", 3), ("renyi", 3)] {
        let folder = ten_rows();
        let set =
            folder.run(&format!("budget set data.csv --epsilon 1 --delta 1e-6 --accountant {accountant}"));
        assert_eq!(set.status.code(), Some(0));
        let codes: Vec<Option<i32>> =
            (0..fits).map(|_| folder.run("count data.csv --epsilon 0.1").status.code()).collect();
        assert!(codes.iter().all(|code| *code == Some(0)), "{accountant}: {codes:?}");
        let standing = standing(&folder);
        let lines = standing["accountants"]["lines"].as_array().expect("lines");
        let named = |name: &str| lines.iter().find(|line| line["accountant"] == name).expect("a line");
        assert_eq!(named(accountant)["in_force"], true);
        assert_eq!(lines.iter().filter(|line| line["tightest"] == true).count(), 1);
        let over = folder.run("count data.csv --epsilon 0.99");
        assert_eq!(over.status.code(), Some(4));
        assert_eq!(folder.run("budget verify").status.code(), Some(0));
    }
}

#[test]
fn a_hundred_small_answers_are_tightest_at_renyi_orders() {
    let folder = ten_rows();
    for _ in 0..100 {
        assert_eq!(folder.run("count data.csv --epsilon 0.01").status.code(), Some(0));
    }
    let standing = standing(&folder);
    let lines = standing["accountants"]["lines"].as_array().expect("lines");
    let spent: Vec<f64> = lines
        .iter()
        .map(|line| line["spent"]["epsilon"].as_str().expect("a number").parse().expect("a number"))
        .collect();
    assert!((spent[0] - 1.0).abs() < 1e-12 && spent[1] < 0.55 && spent[2] < 0.55, "{spent:?}");
    assert!(lines.iter().any(|line| line["tightest"] == true && line["accountant"] != "basic"));
    let words = String::from_utf8(folder.run("budget show").stdout).expect("text");
    assert!(words.contains("whenever it is read") && words.contains("(tightest)"), "{words}");
}

#[test]
fn limits_that_cannot_be_are_one_line() {
    let folder = ten_rows();
    for (line, said) in [
        ("budget set data.csv --epsilon 1 --accountant renyi", "needs a delta above 0"),
        ("budget set data.csv --epsilon 1 --accountant zcdp", "needs a delta above 0"),
        ("budget set data.csv --epsilon 1 --accountant pld", "give basic, zcdp or renyi"),
        ("budget set data.csv --rho 1 --accountant zcdp", "cannot be used with"),
        ("budget set data.csv --epsilon -1 --delta 1e-6 --accountant zcdp", "epsilon"),
    ] {
        let output = folder.run(line);
        let error = String::from_utf8(output.stderr).expect("text");
        assert_eq!(output.status.code(), Some(2), "{line}: {error}");
        assert!(error.contains(said), "{line}: {error}");
    }
    assert!(!folder.path("equipoise.ledger").exists());
}

/// A folder and a pattern were charged to a ledger of their own above the files, where no limit held.
#[test]
fn a_folder_or_a_pattern_does_not_walk_around_the_limit_of_its_files() {
    let folder = ten_rows();
    fs::create_dir(folder.path("y1")).expect("a folder");
    fs::copy(folder.path("data.csv"), folder.path("y1/s.csv")).expect("a copy");
    assert_eq!(folder.run("budget set y1/s.csv --epsilon 1").status.code(), Some(0));
    assert_eq!(folder.run("count y1/s.csv --epsilon 2").status.code(), Some(4));
    for asked in ["count y1 --epsilon 20", "count y[1]/s.csv --epsilon 20", "count y1/*.csv --epsilon 20"] {
        let refused = folder.run(asked);
        assert!(matches!(refused.status.code(), Some(2 | 4)), "{asked}: {refused:?}");
        assert!(refused.stdout.is_empty(), "{asked}");
    }
    let hint = folder.run("count y[1]/s.csv --epsilon 20");
    assert!(String::from_utf8_lossy(&hint.stderr).contains("has a ledger beside it"), "{hint:?}");
    // A folder without any ledger gets one that its files share.
    fs::create_dir(folder.path("y2")).expect("a folder");
    fs::copy(folder.path("data.csv"), folder.path("y2/s.csv")).expect("a copy");
    assert_eq!(folder.run("count y2 --epsilon 1").status.code(), Some(0));
    assert!(folder.path("y2/equipoise.ledger").exists());
}

/// A limit on the size of files (`ulimit -f`, in KiB) is a disk that fails: one line, no death by a signal, nothing charged.
#[test]
#[cfg(target_os = "linux")]
fn a_limit_on_file_sizes_is_a_line_and_no_signal() {
    let folder = ten_rows();
    let line = format!("ulimit -f 4; exec {} count data.csv --epsilon 1", env!("CARGO_BIN_EXE_equipoise"));
    let output =
        Command::new("bash").args(["-c", &line]).current_dir(folder.root()).output().expect("bash runs");
    assert!(output.status.code().is_some_and(|code| code == 1 || code == 2), "{output:?}");
    assert!(output.stdout.is_empty() && !output.stderr.is_empty(), "{output:?}");
}

/// A file that a ledger further up counts by itself had a second one beside it for the asking.
#[test]
fn a_file_does_not_walk_around_its_own_ledger_above_it() {
    let folder = ten_rows();
    folder.write("y1/s.csv", "value\n7\n");
    assert_eq!(folder.code("budget set y1/s.csv --epsilon 1 --ledger equipoise.ledger"), 0);
    for line in ["count y1/s.csv --epsilon 20", "simulate --trials 2 count y1/s.csv --epsilon 20"] {
        let said = folder.fails(line);
        assert!(said.contains("exit 2") && said.contains("ledger"), "{said}");
    }
    assert!(!folder.path("y1/equipoise.ledger").exists());
    assert_eq!(folder.code("count y1/s.csv --epsilon 1 --ledger equipoise.ledger"), 0);
}

/// A limit on a pattern held for the pattern alone: its files had ledgers of their own in the folders below.
#[test]
fn a_file_does_not_walk_around_the_limit_of_a_pattern_or_folder_above_it() {
    for (asked, name) in [("y*/s.csv", "y*/s.csv"), (".", ".")] {
        let folder = ten_rows();
        fs::create_dir(folder.path("y1")).expect("a folder");
        fs::create_dir(folder.path("z1")).expect("a folder");
        for place in ["y1/s.csv", "z1/t.csv"] {
            fs::copy(folder.path("data.csv"), folder.path(place)).expect("a copy");
        }
        assert_eq!(folder.run(&format!("budget set {asked} --epsilon 1")).status.code(), Some(0));
        for line in [
            "count y1/s.csv --epsilon 20",
            "count y1 --epsilon 20",
            "count y1/*.csv --epsilon 20",
            "median y1/s.csv value --epsilon 20",
            "count y1/s.csv --epsilon 20 --dry-run",
            "simulate --trials 2 count y1/s.csv --epsilon 20",
        ] {
            let refused = folder.run(line);
            let said = String::from_utf8_lossy(&refused.stderr).into_owned();
            assert!(refused.status.code() == Some(2) && refused.stdout.is_empty(), "{line}: {refused:?}");
            assert!(said.contains(name) && said.contains("ledger"), "{line}: {said}");
        }
        assert!(!folder.path("y1/equipoise.ledger").exists());
        // The ledger above refuses what it does not know, and a file that fits nothing there has its own.
        assert_eq!(
            folder.run("count y1/s.csv --epsilon 20 --ledger equipoise.ledger").status.code(),
            Some(2)
        );
        let other = folder.run("count z1/t.csv --epsilon 1").status.code();
        assert_eq!(other, Some(if name == "." { 2 } else { 0 }));
        assert_eq!(folder.run(&format!("count {asked} --epsilon 1")).status.code(), Some(0));
    }
}
