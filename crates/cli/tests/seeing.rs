//! Simulations, pictures, diagnoses, completions and manual pages, through the binary.

use serde_json::Value;
use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};
use tempfile::TempDir;

struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        let folder = Self(tempfile::tempdir().expect("a folder"));
        let rows: Vec<String> =
            (0..1000).map(|row| format!("{},{}\n", row % 50, ["Ayr", "Bath"][row % 2])).collect();
        let rows = rows.concat();
        folder.write("data.csv", &format!("value,town\n{rows}"));
        folder
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).expect("a file");
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
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

    fn json(&self, line: &str) -> Value {
        let output = self.run(line);
        assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).expect("JSON")
    }
}

fn svg(path: &Path) -> String {
    let text = fs::read_to_string(path).expect("a picture");
    assert!(text.starts_with("<svg") && text.trim_end().ends_with("</svg>"), "{text}");
    text
}

#[test]
fn a_simulation_charges_nothing_and_shows_every_answer() {
    let folder = Folder::new();
    let shown = folder
        .json("simulate --trials 50 --json --plot out.svg median data.csv value --epsilon 5 --range 0,50");
    assert_eq!((&shown["outcome"], &shown["trials"]), (&"simulated".into(), &50.into()));
    assert_eq!(shown["values"].as_array().expect("values").len(), 50);
    assert!(svg(&folder.path("out.svg")).contains("simulated, not released"));
    assert!(!folder.path("equipoise.ledger").exists());
    let words = String::from_utf8(folder.run("simulate --trials 20 count data.csv --epsilon 1").stdout)
        .expect("text");
    assert!(words.contains("simulated; nothing was charged") && words.contains("truth      1000"), "{words}");
}

#[test]
fn a_data_set_of_a_ledger_is_not_simulated() {
    let folder = Folder::new();
    assert_eq!(folder.run("count data.csv --epsilon 1").status.code(), Some(0));
    let refused = folder.run("simulate count data.csv --epsilon 1");
    let said = String::from_utf8(refused.stderr).expect("text");
    assert_eq!(refused.status.code(), Some(2));
    assert!(said.contains("is in the ledger, so its rows are private"), "{said}");
    assert!(refused.stdout.is_empty());
    // Nor as a neighbour, nor behind a pattern, nor with another ledger named.
    folder.write("public.csv", "value,town\n1,Ayr\n");
    for line in [
        "simulate --trials 20 --neighbour data.csv count public.csv --epsilon 1000",
        "simulate --trials 20 --neighbour [d]ata.csv count public.csv --epsilon 1000",
        "simulate --trials 20 count [d]ata.csv --epsilon 1",
        "simulate --trials 20 count data.csv --epsilon 1 --ledger none.ledger",
    ] {
        let refused = folder.run(line);
        assert_eq!(refused.status.code(), Some(2), "{line}");
        assert!(refused.stdout.is_empty(), "{line}");
    }
}

/// The true epsilon is 1. A bound above 2 needs counts of 2,000 runs that are off by a factor of e: below 1e-60.
#[test]
fn a_neighbour_tells_a_broken_promise() {
    let folder = Folder::new();
    let text = fs::read_to_string(folder.path("data.csv")).expect("a file");
    folder.write("less.csv", text.strip_suffix("49,Bath\n").expect("its last record"));
    let shown = folder.json("simulate --trials 4000 --json --neighbour less.csv count data.csv --epsilon 1");
    let bound = shown["audit"]["epsilon_lower"].as_f64().expect("a bound");
    assert!((0.0..=2.0).contains(&bound), "{shown}");
    // A pipeline without noise, as files of its answers.
    folder.write("one.txt", &"1000\n".repeat(400));
    folder.write("two.txt", &"999\n".repeat(400));
    let alarm = folder.run("audit --compare one.txt two.txt --epsilon 1");
    assert_eq!(alarm.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&alarm.stdout).starts_with("ALARM"), "{alarm:?}");
    let same = folder.run("audit --compare one.txt one.txt --epsilon 1 --json");
    assert_eq!(same.status.code(), Some(0));
}

#[test]
fn pictures_of_answers_and_groups() {
    let folder = Folder::new();
    assert_eq!(folder.run("count data.csv --epsilon 1 --plot count.svg").status.code(), Some(0));
    assert!(svg(&folder.path("count.svg")).contains("budget: epsilon 1 spent"));
    let groups = folder.run("count data.csv --group-by town --keys Ayr,Bath --epsilon 1 --plot groups.svg");
    assert_eq!(groups.status.code(), Some(0));
    let picture = svg(&folder.path("groups.svg"));
    assert!(picture.contains("Ayr") && picture.contains("Bath"));
}

/// --plot took the place of whatever it was given, the data and the ledger too, after the charge.
#[test]
fn a_picture_takes_the_place_of_no_other_file_and_is_checked_before_the_charge() {
    let folder = Folder::new();
    assert_eq!(folder.run("count data.csv --epsilon 1 --ledger own.svg").status.code(), Some(0));
    let data = fs::read(folder.path("data.csv")).expect("the data");
    for (words, said) in [
        ("count data.csv --epsilon 1 --plot data.csv", "ends in .svg"),
        ("count data.csv --epsilon 1 --ledger own.svg --plot own.svg", "would take the place of"),
        (
            "count data.csv --epsilon 1 --ledger own.svg --plot no/such/folder.svg",
            "no folder for the picture",
        ),
    ] {
        let refused = folder.run(words);
        assert_eq!(refused.status.code(), Some(2), "{words}");
        assert!(String::from_utf8_lossy(&refused.stderr).contains(said), "{words}: {refused:?}");
    }
    assert_eq!(fs::read(folder.path("data.csv")).expect("the data"), data);
    let next = folder.json("count data.csv --epsilon 1 --ledger own.svg --json");
    assert_eq!(next["spent"]["epsilon"], "2", "{next}");
}

#[test]
fn a_check_names_what_is_bad() {
    let folder = Folder::new();
    folder.write("bad.csv", "value,day\n1,2024-02-29\nx,2024-02-30\n\"1,2\n3,\n");
    let shown = folder.json("check bad.csv --json");
    assert_eq!((shown["records"].as_u64(), shown["unreadable"].as_u64()), (Some(4), Some(1)), "{shown}");
    assert_eq!(shown["first_unreadable"], serde_json::json!([3]));
    let columns = shown["columns"].as_array().expect("columns");
    assert_eq!((columns[0]["numbers"].as_u64(), columns[1]["dates"].as_u64()), (Some(2), Some(1)), "{shown}");
    let words = String::from_utf8(folder.run("check bad.csv").stdout).expect("text");
    assert!(words.starts_with("These figures are exact and not private"), "{words}");
    assert_eq!(folder.run("check missing.csv").status.code(), Some(2));
}

#[test]
fn completions_and_manual_pages() {
    let folder = Folder::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = folder.run(&format!("completions {shell}"));
        assert_eq!(script.status.code(), Some(0));
        assert!(String::from_utf8_lossy(&script.stdout).contains("histogram"), "{shell}");
    }
    let page = folder.run("man");
    assert!(String::from_utf8_lossy(&page.stdout).contains(".TH equipoise"));
    fs::create_dir(folder.path("pages")).expect("a folder");
    assert_eq!(folder.run("man --folder pages").status.code(), Some(0));
    assert!(folder.path("pages/equipoise-median.1").exists());
    assert_eq!(folder.run("man --folder none").status.code(), Some(2));
    assert_eq!(folder.run("completions sh").status.code(), Some(2));
}
