//! A ledger of the last version whose statistics were words and whose requests had `-` in their names: it verifies, answers every
//! request id again, and explains every receipt. `fixtures/before_the_table` was made by that version: `commands` are its questions.

mod support;

use serde_json::Value;
use std::{fs, path::Path};
use support::Folder;

fn fixture(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/before_the_table").join(name);
    fs::read(path).expect("a fixture")
}

fn old() -> Folder {
    let folder = Folder::empty();
    for name in ["visits.csv", "questions.json"] {
        folder.write(name, fixture(name));
    }
    folder.write("equipoise.ledger", fixture("ledger.sqlite"));
    folder
}

#[test]
fn every_request_id_is_answered_again_and_nothing_is_charged() {
    let folder = old();
    let before = folder.json("budget verify");
    assert_eq!((&before["charges"], &before["recorded"]), (&16.into(), &16.into()), "{before}");
    let commands = String::from_utf8(fixture("commands")).expect("text");
    let mut statistics = Vec::new();
    for line in commands.lines() {
        let output = folder.run(&format!("{line} --json"));
        let code = output.status.code();
        let release: Value =
            serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{line}: {output:?}"));
        let refused = release["outcome"] == "refused";
        assert_eq!(code, Some(if refused { 3 } else { 0 }), "{line}");
        assert_eq!(refused, release["value"].is_null() && release["advice"].is_string(), "{line}");
        assert!(release["receipt"]["id"].is_string(), "{line}");
        // The same in words, for people.
        assert_eq!(folder.run(line).status.code(), code, "{line}");
        statistics.push(release["statistic"].as_str().expect("a name").to_string());
    }
    assert_eq!(statistics.len(), 14);
    assert_eq!(folder.json("budget verify"), before, "nothing was charged or written");
    // Another question under a known id is still refused, and one that differs in its spelling alone is not.
    let other = "median visits.csv minutes --unit person --epsilon 4 --request-id median";
    assert_eq!(folder.code(other), 2);
    let same = "median visits.csv minutes --unit person --epsilon 5.0 --request-id median";
    assert_eq!(folder.code(same), 0);
    folder.write(
        "questions.json",
        String::from_utf8(fixture("questions.json"))
            .expect("text")
            .replace("max-rows-per-unit", "max_rows_per_unit"),
    );
    assert_eq!(folder.code("batch questions.json visits.csv --request-id batch"), 0);
    assert_eq!(folder.json("budget verify"), before);
}

#[test]
fn every_receipt_is_explained() {
    let folder = old();
    let log = folder.json("budget log");
    let charged = |entry: &&Value| entry["event"]["kind"] == "charged";
    let mut explained = 0;
    for entry in log.as_array().expect("a list").iter().filter(charged) {
        let id = entry["id"].as_str().expect("an id");
        let output = folder.run(&format!("explain {id}"));
        let text = String::from_utf8(output.stdout).expect("text");
        assert_eq!(output.status.code(), Some(0), "{id}: {text}");
        assert!(text.contains("epsilon") && text.contains("visits.csv"), "{id}: {text}");
        explained += 1;
    }
    assert_eq!(explained, 16);
}
