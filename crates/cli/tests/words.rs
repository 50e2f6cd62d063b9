//! What help and errors say, to people and to programs.

mod support;

use equipoise_session::statistic::Statistic;
use serde_json::Value;
use std::fs;
use support::Folder;

fn rows() -> Folder {
    Folder::new(format!("value\n{}", "7\n".repeat(200)))
}

/// The column stood under "Output", behind --plot.
#[test]
fn arguments_stand_among_the_arguments() {
    let folder = Folder::empty();
    for verb in Statistic::names().into_iter().chain(["batch", "monitor", "check", "run"]) {
        let help = String::from_utf8(folder.run(&format!("{verb} --help")).stdout).expect("text");
        if let Some(statistic) = Statistic::named(verb) {
            assert_eq!(help.lines().next(), Some(statistic.spec().about));
        }
        let mut heading = "";
        for line in help.lines().skip_while(|line| !line.starts_with("Usage:")).skip(1) {
            if !line.starts_with(' ') && line.ends_with(':') {
                heading = line;
            }
            let is_argument = line.starts_with("  [") || line.starts_with("  <");
            assert!(!is_argument || heading == "Arguments:", "{verb}: {line} stands under {heading}");
        }
        if Statistic::named(verb).is_some() {
            let output = help.split("Output:").nth(1).expect("a heading");
            let output = output.split("\n\n").next().expect("a paragraph");
            assert!(!output.contains("--range") && !output.contains("--among"), "{verb}: {output}");
        }
    }
    let help = String::from_utf8(folder.run("histogram --help").stdout).expect("text");
    let words: Vec<&str> = help.split_whitespace().collect();
    assert!(words.join(" ").contains("well below one over the number of rows"), "{help}");
}

#[test]
fn who_asks_for_json_is_told_of_errors_in_json() {
    let folder = rows();
    folder.write("bad.json", "{");
    assert_eq!(folder.code("budget set data.csv --epsilon 1"), 0);
    for (line, code, said) in [
        ("median data.csv vaule --epsilon 1 --json", 2, "did you mean 'value'?"),
        ("median missing.csv value --epsilon 1 --json", 2, "missing.csv"),
        ("count data.csv --epsilon 2 --json", 4, "has epsilon 1 left of 1"),
        ("count data.csv --epsilo 2 --json", 2, "unexpected argument '--epsilo'"),
        ("batch bad.json data.csv --json", 2, "cannot be read"),
        ("budget show missing.csv --json", 2, "missing.csv"),
        ("explain abcdef --json", 2, "no receipt"),
        ("plan missing.json --json", 2, "missing.json"),
        ("calibrate --json nothing", 2, "nothing"),
    ] {
        let output = folder.run(line);
        let error: Value =
            serde_json::from_slice(&output.stderr).unwrap_or_else(|_| panic!("{line}: {output:?}"));
        assert_eq!((output.status.code(), &error["exit"]), (Some(code), &code.into()), "{line}");
        assert!(error["error"].as_str().is_some_and(|text| text.contains(said)), "{line}: {error}");
        assert!(output.stdout.is_empty(), "{line}");
    }
    // People are told in words, and so is who only hands the flag on.
    let output = folder.run("median data.csv vaule --epsilon 1");
    assert!(output.stderr.starts_with(b"equipoise: "), "{output:?}");
}

/// Only canonical paths were compared: a second name of a file, or a file of a pattern, could be lost.
#[test]
fn a_picture_takes_the_place_of_no_file_under_any_of_its_names() {
    let folder = rows();
    folder.write("parts/one.csv", "value\n1\n");
    folder.write("q.json", r#"{"data": "data.csv", "epsilon": 1, "questions": [{"statistic": "count"}]}"#);
    assert_eq!(folder.code("count data.csv --epsilon 1"), 0);
    for (name, link) in [
        ("data.csv", "a.svg"),
        ("q.json", "b.svg"),
        ("equipoise.ledger", "c.svg"),
        ("parts/one.csv", "d.svg"),
    ] {
        fs::hard_link(folder.path(name), folder.path(link)).expect("a link");
    }
    for line in [
        "count data.csv --epsilon 1 --plot a.svg",
        "batch q.json --plot b.svg",
        "batch q.json --plot a.svg",
        "count data.csv --epsilon 1 --plot c.svg",
        "count parts --epsilon 1 --plot d.svg",
        "simulate --trials 2 --plot d.svg count parts --epsilon 1",
    ] {
        let before = fs::read(folder.path("data.csv")).expect("the data");
        let said = folder.fails(line);
        assert!(said.contains("exit 2: ") && said.contains("would take the place of"), "{said}");
        assert_eq!(fs::read(folder.path("data.csv")).expect("the data"), before);
    }
    assert_eq!(folder.charges(), 1);
    // A ledger with two names takes no charges.
    fs::remove_file(folder.path("c.svg")).expect("a link");
    assert_eq!(folder.code("batch q.json --plot e.svg"), 0);
    let left: Vec<String> = fs::read_dir(folder.root())
        .expect("a folder")
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .filter(|name| name.contains("unfinished"))
        .collect();
    assert!(left.is_empty(), "{left:?}");
}

/// Real coins, so only what always holds: which bound is found is a test of the audit itself.
#[test]
fn a_simulation_beside_a_neighbour_tells_a_bound() {
    let folder = rows();
    folder.write("less.csv", format!("value\n{}", "7\n".repeat(199)));
    let output = folder
        .run("simulate --trials 2000 --neighbour less.csv --json sum data.csv value --range 0,7 --epsilon 1");
    let document: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"));
    let found = &document["audit"];
    assert!(found["epsilon_lower"].as_f64().is_some_and(|bound| bound >= 0.0), "{found}");
    assert_eq!(found["runs"], 4000);
}
