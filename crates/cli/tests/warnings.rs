//! Prices that protect little are warned of, by public numbers alone.

mod support;

use std::fmt::Write as _;
use support::Folder;

/// Five thousand rows with a key of its own each.
fn lone_keys() -> Folder {
    let mut text = String::from("name,value\n");
    for row in 0..5000 {
        writeln!(text, "p{row},{row}").expect("a string");
    }
    Folder::new(text)
}

fn said(folder: &Folder, line: &str) -> (String, String) {
    let output = folder.run(line);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr))
}

/// Half of the keys were named, each of one person, without a word.
#[test]
fn a_large_delta_is_warned_of_before_and_after() {
    let folder = lone_keys();
    let line = "histogram data.csv name --epsilon 1 --delta 0.5";
    let (plan, warned) = said(&folder, &format!("{line} --dry-run"));
    assert!(plan.contains("(planned;") && warned.lines().count() == 1, "{warned}");
    assert!(
        warned.starts_with("equipoise: warning: delta 0.5 is above one over the number of rows wherever"),
        "{warned}"
    );
    assert_eq!(
        folder.json(&format!("{line} --dry-run"))["warnings"][0].as_str().map(|line| &line[..9]),
        Some("delta 0.5")
    );
    // Each key is told with a probability above a tenth: that none is has a chance below 1e-200.
    let (_, warned) = said(&folder, line);
    assert!(warned.contains("delta 0.5 is above one over the released number of rows, "), "{warned}");
    assert!(
        warned.contains("would also allow one row to be published in full with probability 0.5"),
        "{warned}"
    );
    // As JSON the line is in the document and nowhere else.
    let output = folder.run(&format!("{line} --json"));
    assert!(output.stderr.is_empty(), "{output:?}");
    let release: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(release["warnings"].as_array().map(Vec::len), Some(1), "{}", release["warnings"]);
}

/// The true number of rows decides nothing: only what was stated or released.
#[test]
fn a_stated_number_decides_and_a_private_one_does_not() {
    let folder = lone_keys();
    let stable = "median data.csv value --epsilon 1 --mechanism stable --range 0,5000 --resolution 1";
    let warned = |words: &str| said(&folder, &format!("{stable} --dry-run {words}")).1;
    assert_eq!(warned("--delta 0.0005 --rows 1000"), "");
    assert!(warned("--delta 0.0005 --rows 5000").contains("one over the stated number of rows, 5000"));
    assert_eq!(warned("--delta 0.0005"), "");
    assert!(
        warned("--delta 0.01").contains("wherever there are more than 100:"),
        "{}",
        warned("--delta 0.01")
    );
}

#[test]
fn a_large_epsilon_is_warned_of_everywhere() {
    let folder = lone_keys();
    let much = "epsilon 11 is above 10 and protects little: one row may make an outcome e^11 times as likely";
    let (answer, warned) = said(&folder, "count data.csv --epsilon 11");
    assert!(
        answer.starts_with("count:") && warned == format!("equipoise: warning: {much}\n"),
        "{answer}{warned}"
    );
    assert_eq!(said(&folder, "count data.csv --epsilon 10").1, "");
    assert_eq!(folder.json("count data.csv --epsilon 10").get("warnings"), None);
    let (_, warned) =
        said(&folder, "monitor data.csv --epsilon 11 --delta 1e-6 --budget-per-unit 2 --dry-run");
    assert_eq!(warned, "");
    let (plan, _) = said(&folder, "monitor data.csv --epsilon 11 --delta 1e-6 --budget-per-unit 2 --dry-run");
    assert!(plan.contains(much), "{plan}");
    let (numbers, warned) = said(&folder, "calibrate laplace --epsilon 11 --sensitivity 1");
    assert!(!numbers.is_empty() && warned.contains(much), "{numbers}{warned}");
    let program = "run data.csv --output number --range 0,1 --epsilon 11 --blocks 4 --default 0 --dry-run -- /bin/echo 1";
    assert!(said(&folder, program).1.contains(much), "{:?}", said(&folder, program));
}
