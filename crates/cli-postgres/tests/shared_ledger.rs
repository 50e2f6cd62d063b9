//! A ledger in Postgres from the command line: made by its steward, charged by a role that may only add, and looked at by every command.

#[path = "../../postgres/tests/support/mod.rs"]
mod support;

use serde_json::Value;
use std::{
    env, fs,
    path::PathBuf,
    process::{Command, Output},
};
use support::{Database, started};
use tempfile::TempDir;

struct Shared {
    folder: TempDir,
    database: Database,
}

fn shared() -> Option<Shared> {
    let cluster = Box::leak(Box::new(started(&["fsync=on"])?));
    let database = cluster.database_called("books", "", "CREATE ROLE asking LOGIN");
    let folder = tempfile::tempdir().expect("a folder");
    let rows: Vec<String> = (0..500).map(|i| format!("{},{}\n", i % 50, 1000 + i)).collect();
    fs::write(folder.path().join("people.csv"), format!("person,salary\n{}", rows.concat())).expect("a file");
    Some(Shared { folder, database })
}

impl Shared {
    fn run_as(&self, role: &str, line: &str) -> Output {
        let ledger = self.database.ledger_as(role);
        let mut command = Command::new(env!("CARGO_BIN_EXE_equipoise-postgres"));
        command.args(line.split_whitespace()).arg("--ledger").arg(ledger);
        command.current_dir(self.folder.path()).env("HOME", self.folder.path());
        for name in ["EQUIPOISE_LEDGER", "EQUIPOISE_ANALYST", "XDG_STATE_HOME"] {
            command.env_remove(name);
        }
        command.output().expect("the program runs")
    }

    /// What it prints, all of it, and its exit code.
    fn run(&self, line: &str) -> (i32, String) {
        said(&self.run_as("asking", line))
    }

    fn json(&self, line: &str) -> Value {
        let (code, text) = self.run(&format!("{line} --json"));
        assert_eq!(code, 0, "{line}: {text}");
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{line}: {error}: {text}"))
    }
}

fn said(output: &Output) -> (i32, String) {
    let text = [&output.stdout[..], &output.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned());
    (output.status.code().expect("no signal"), text.concat())
}

#[test]
fn every_command_works_on_a_ledger_in_a_database() {
    let Some(shared) = shared() else { return };
    let (code, text) = shared.run("count people.csv --epsilon 1");
    assert_eq!(code, 2, "{text}");
    assert!(text.contains("no ledger that this role may know of; its steward makes one with"), "{text}");
    let (code, text) = said(&shared.run_as("boss", "budget init --role asking"));
    assert_eq!((code, text.contains("made; charge it as asking")), (0, true), "{text}");
    let (code, text) = said(&shared.run_as("boss", "budget init --role asking"));
    assert_eq!((code, text.contains("has a ledger already")), (2, true), "{text}");
    let (code, text) = said(&shared.run_as("boss", "count people.csv --epsilon 1"));
    assert_eq!((code, text.contains("may change or delete entries")), (2, true), "{text}");
    let (code, text) = shared.run("budget set people.csv --epsilon 2");
    assert_eq!(code, 0, "{text}");
    let first = shared.json("count people.csv --epsilon 0.5 --request-id monday");
    let again = shared.json("count people.csv --epsilon 0.5 --request-id monday");
    assert_eq!(first["receipt"], again["receipt"]);
    let ledger = first["receipt"]["ledger"].as_str().expect("a ledger that lasts");
    assert_eq!(ledger.len(), 32);
    let (code, text) = shared.run("median people.csv salary --epsilon 1.6");
    assert_eq!((code, text.contains("1.5")), (4, true), "{text}");
    let shown = shared.json("budget show people.csv");
    assert_eq!(shown[0]["spent"]["epsilon"], "0.5");
    // A file is called by its whole path: the ledger lies beside nothing.
    let path = shared.folder.path().join("people.csv").canonicalize().expect("a path");
    assert_eq!(shown[0]["data"].as_str().map(PathBuf::from), Some(path));
    for (line, word) in [
        ("budget log", "charge"),
        ("budget verify", "holds together"),
        ("budget report people.csv --format md", "0.5"),
        ("budget export", "dp_accounting"),
        ("explain", "epsilon"),
    ] {
        let line = if line == "explain" {
            format!("explain {}", first["receipt"]["id"].as_str().expect("an id"))
        } else {
            line.to_string()
        };
        let (code, text) = shared.run(&line);
        assert_eq!(code, 0, "{line}: {text}");
        assert!(text.contains(word), "{line}: {text}");
        assert!(
            !text.contains("asking@") && !text.contains("boss"),
            "{line}: a role is nobody's business: {text}"
        );
    }
}

#[test]
fn credentials_are_shown_to_nobody() {
    let Some(shared) = shared() else { return };
    for address in ["postgres://asking:secret@127.0.0.1:1/books", "postgres://asking@127.0.0.1:1/books"] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_equipoise-postgres"));
        command.args(["count", "people.csv", "--epsilon", "1", "--ledger", address]);
        let output = command.current_dir(shared.folder.path()).env("PGPASSWORD", "hidden").output();
        let (code, text) = said(&output.expect("the program runs"));
        assert_eq!(code, 2, "{text}");
        assert!(!text.contains("secret") && !text.contains("hidden") && !text.contains("asking"), "{text}");
    }
}
