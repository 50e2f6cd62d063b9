//! A ledger and a monitor's state of a version that knew neither files nor analysts who must be named: both still do all they did.
//! `fixtures/first_layouts` was made by that version: questions of two analysts, limits, a data set that began anew, a monitor.

mod support;

use std::{fs, path::Path};
use support::Folder;

fn old() -> Folder {
    let folder = Folder::empty();
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/first_layouts");
    for name in ["ledger.sqlite", "visits.csv", "other.csv", "visits.csv.monitor"] {
        let at = if name == "ledger.sqlite" { "equipoise.ledger" } else { name };
        folder.write(at, fs::read(fixtures.join(name)).expect("a fixture"));
    }
    folder
}

#[test]
fn an_older_ledger_is_read_verified_and_goes_on() {
    let folder = old();
    let verified = folder.json("budget verify");
    assert_eq!((&verified["charges"], &verified["recorded"]), (&7.into(), &7.into()), "{verified}");
    let head = "budget verify --head";
    let kept = verified["head"].as_str().expect("a head").to_string();
    let shown = folder.json("budget show visits.csv");
    assert_eq!(
        (&shown[0]["spent"]["epsilon"], &shown[0]["limit"]["epsilon"]),
        (&"1.5".into(), &"6".into()),
        "{shown}"
    );
    assert_eq!(shown[0]["earlier"][0]["spent"]["epsilon"], "29/24", "{shown}");
    let log = folder.json("budget log");
    let kinds: Vec<&str> =
        log.as_array().expect("a list").iter().filter_map(|e| e["event"]["kind"].as_str()).collect();
    assert!(
        ["created", "registered", "limited", "anew"].iter().all(|kind| kinds.contains(kind)),
        "{kinds:?}"
    );
    // The same request id gives the same answer, where its account is in force.
    assert_eq!(
        folder.code("median visits.csv minutes --epsilon 0.5 --analyst ana --request-id first --unit person"),
        2
    );
    assert_eq!(folder.code("count visits.csv --unit person --epsilon 0.25 --analyst ben"), 0);
    let after = folder.json("budget verify");
    assert_eq!(after["charges"], 8, "{after}");
    let words: Vec<&str> = head.split(' ').chain([kept.as_str()]).collect();
    assert_eq!(folder.run_words(&words).status.code(), Some(0), "what an older version wrote is as it was");
    // Whoever charges now writes what the older version does not know, and that refuses the file by its version.
    let bytes = fs::read(folder.path("equipoise.ledger")).expect("a ledger");
    assert_eq!(bytes[60..64], [0, 0, 0, 3], "SQLite's user_version");
}

/// The copy asked again what the file had asked, on one charge.
#[test]
fn an_older_state_goes_on_in_the_first_file_that_asks_and_in_no_copy() {
    let folder = old();
    fs::copy(folder.path("visits.csv.monitor"), folder.path("copy")).expect("a copy");
    folder.write("questions", "{\"where\":\"minutes > 30\",\"threshold\":5}\n");
    let line = "monitor visits.csv questions --unit person --epsilon 1 --delta 1e-6 --budget-per-unit 2 --analyst ben";
    let first = folder.run(line);
    assert_eq!(first.status.code(), Some(0), "{first:?}");
    assert!(String::from_utf8_lossy(&first.stderr).contains("monitor goes on, charged before"), "{first:?}");
    let copied = folder.run(&format!("{line} --state copy"));
    let said = String::from_utf8_lossy(&copied.stderr).into_owned();
    assert_eq!((copied.status.code(), copied.stdout.len()), (Some(2), 0), "{said}");
    assert!(said.contains("it was copied, brought back") && said.contains("another --state"), "{said}");
    assert_eq!(folder.code(line), 0, "the first file goes on");
    assert_eq!(folder.json("budget verify")["charges"], 7, "one charge in all");
}
