//! Limits and how each accountant adds up, through the binary.

use serde_json::Value;
use std::{
    fs,
    process::{Command, Output},
};

/// A folder with a file of ten rows.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let rows = "value\n".to_string() + &"7\n".repeat(10);
        fs::write(folder.path().join("data.csv"), rows).expect("a file");
        Self(folder)
    }

    fn run(&self, line: &str) -> Output {
        Command::new(env!("CARGO_BIN_EXE_equipoise"))
            .args(line.split_whitespace())
            .current_dir(self.0.path())
            .env_remove("EQUIPOISE_LEDGER")
            .env_remove("EQUIPOISE_ANALYST")
            .output()
            .expect("the binary runs")
    }

    fn standing(&self) -> Value {
        let shown = self.run("budget show data.csv --json");
        let all: Value = serde_json::from_slice(&shown.stdout).expect("JSON");
        all[0].clone()
    }
}

#[test]
fn each_accountant_can_hold_a_limit() {
    for (accountant, fits) in [("basic", 10), ("zcdp", 3), ("renyi", 3)] {
        let folder = Folder::new();
        let set =
            folder.run(&format!("budget set data.csv --epsilon 1 --delta 1e-6 --accountant {accountant}"));
        assert_eq!(set.status.code(), Some(0));
        let codes: Vec<Option<i32>> =
            (0..fits).map(|_| folder.run("count data.csv --epsilon 0.1").status.code()).collect();
        assert!(codes.iter().all(|code| *code == Some(0)), "{accountant}: {codes:?}");
        let standing = folder.standing();
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
    let folder = Folder::new();
    for _ in 0..100 {
        assert_eq!(folder.run("count data.csv --epsilon 0.01").status.code(), Some(0));
    }
    let standing = folder.standing();
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
    let folder = Folder::new();
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
    assert!(!folder.0.path().join("equipoise.ledger").exists());
}

/// A folder and a pattern were charged to a ledger of their own above the files, where no limit held.
#[test]
fn a_folder_or_a_pattern_does_not_walk_around_the_limit_of_its_files() {
    let folder = Folder::new();
    fs::create_dir(folder.0.path().join("y1")).expect("a folder");
    fs::copy(folder.0.path().join("data.csv"), folder.0.path().join("y1/s.csv")).expect("a copy");
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
    fs::create_dir(folder.0.path().join("y2")).expect("a folder");
    fs::copy(folder.0.path().join("data.csv"), folder.0.path().join("y2/s.csv")).expect("a copy");
    assert_eq!(folder.run("count y2 --epsilon 1").status.code(), Some(0));
    assert!(folder.0.path().join("y2/equipoise.ledger").exists());
}

/// A limit on the size of files (`ulimit -f`, in KiB) is a disk that fails: one line, no death by a signal, nothing charged.
#[test]
#[cfg(target_os = "linux")]
fn a_limit_on_file_sizes_is_a_line_and_no_signal() {
    let folder = Folder::new();
    let line = format!("ulimit -f 4; exec {} count data.csv --epsilon 1", env!("CARGO_BIN_EXE_equipoise"));
    let output =
        Command::new("bash").args(["-c", &line]).current_dir(folder.0.path()).output().expect("bash runs");
    assert!(output.status.code().is_some_and(|code| code == 1 || code == 2), "{output:?}");
    assert!(output.stdout.is_empty() && !output.stderr.is_empty(), "{output:?}");
}
