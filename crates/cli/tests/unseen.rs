//! Names, keys and cells of others with characters that nobody sees: written out wherever people read, exact in JSON.

mod support;

use equipoise_core::wording::is_unseen;
use serde_json::Value;
use std::fs;
use support::Folder;

/// Turns a line around, has no width, is a tag, ends a line, commands a terminal.
const HOSTILE: &str = "x\u{202e}\u{200b}\u{e0041}\u{2028}\u{1b}[31my";
/// The same without what no name of a file's column or of a ledger's data set may have.
const NAME: &str = "n\u{202e}\u{2066}\u{200d}\u{ad}\u{fe0f}m";

/// What was printed, all of which can be seen.
fn seen(folder: &Folder, words: &[&str]) -> (String, String) {
    let output = folder.run_words(words);
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text");
    let (out, err) = (text(output.stdout), text(output.stderr));
    for text in [&out, &err] {
        assert!(!text.contains(|c| c != '\n' && is_unseen(c)), "{words:?}: {text:?}");
    }
    (out, err)
}

fn folder() -> (Folder, String) {
    let rows = format!("7,{HOSTILE}\n").repeat(300);
    let file = format!("{NAME}.csv");
    (Folder::with(&file, format!("{NAME},town\n{rows}")), file)
}

#[test]
fn whatever_nobody_sees_is_written_out_in_text_and_errors() {
    let (folder, file) = folder();
    let file = file.as_str();
    let receipt = {
        let counted = ["count", file, "--group-by", "town", "--epsilon", "5", "--delta", "1e-3", "--json"];
        let release: Value = serde_json::from_str(&seen(&folder, &counted).0).expect("JSON");
        assert_eq!(release["groups"][0]["key"], HOSTILE, "JSON has it exactly");
        release["receipt"]["id"].as_str().expect("an id").to_string()
    };
    let commands: [&[&str]; 21] = [
        &["count", file, "--group-by", "town", "--epsilon", "5", "--delta", "1e-3", "--plot", "out.svg"],
        &["mode", file, "town", "--epsilon", "5", "--delta", "1e-3"],
        &["median", file, NAME, "--epsilon", "1"],
        &["median", file, NAME, "--epsilon", "1", "--dry-run"],
        &["median", file, HOSTILE, "--epsilon", "1"],
        &["count", file, "--where", HOSTILE, "--epsilon", "1"],
        &["count", file, "--where", "town = 'a\u{202e}b'", "--epsilon", "1"],
        &["count", HOSTILE, "--epsilon", "1"],
        &["count", file, HOSTILE, "--epsilon", "1", HOSTILE],
        &["count", file, "--epsilon", HOSTILE],
        &["count", file, "--epsilon", "1", "--ledger", HOSTILE],
        &["count", file, "--epsilon", "1", "--analyst", NAME],
        &["count", file, "--epsilon", "1", "--mechanism", HOSTILE],
        &["budget", "set", file, "--epsilon", "90", "--analyst", HOSTILE],
        &["budget", "set", file, "--epsilon", "90"],
        &["budget", "show"],
        &["budget", "show", file],
        &["budget", "log"],
        &["explain", &receipt],
        &["check", file],
        &["simulate", "--trials", "3", "count", file, "--epsilon", "1"],
    ];
    for words in commands {
        seen(&folder, words);
        seen(&folder, &[words, &["--json"]].concat());
    }
    let (table, _) = seen(&folder, &["budget", "show"]);
    assert!(table.contains(r"n\u{202e}\u{2066}\u{200d}\u{ad}\u{fe0f}m.csv"), "{table}");
    let picture = fs::read_to_string(folder.path("out.svg")).expect("a picture");
    assert!(!picture.contains(|c| c != '\n' && is_unseen(c)) && picture.contains(r"\u{202e}"), "{picture}");
    let (log, _) = seen(&folder, &["budget", "log", "--json"]);
    let log: Vec<Value> = serde_json::from_str(&log).expect("JSON");
    assert!(log.iter().any(|entry| entry["data"] == *file), "the exact name");
}

#[test]
fn the_name_of_an_analyst_can_be_seen() {
    let (folder, file) = folder();
    for name in ["a\u{202e}b", "a\u{200b}b", "a\u{7f}b", "\u{feff}a"] {
        for words in [
            ["budget", "set", &file, "--epsilon", "1", "--analyst", name],
            ["count", &file, "--epsilon", "1", "--analyst", name, "--json"],
        ] {
            let output = folder.run_words(&words);
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            assert_eq!(output.status.code(), Some(2), "{words:?}: {said}");
            assert!(said.contains("without characters that cannot be seen"), "{said}");
        }
    }
    assert_eq!(folder.charges(), 0, "nothing was charged");
    let good = folder.run_words(&["count", &file, "--epsilon", "1", "--analyst", "Ánna Åberg-李"]);
    assert_eq!(good.status.code(), Some(0));
}
