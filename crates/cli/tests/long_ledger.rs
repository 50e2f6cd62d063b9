//! A ledger of any length is read in a small memory, and whoever stops reading stops it.

mod support;

use equipoise_core::{
    adjacency::{Adjacency, Unit},
    loss::Approx,
};
use equipoise_session::ledger::{ChargeRequest, Charging, DataSet, Ledger};
use serde_json::Value;
use std::{
    fs::{self, File},
    io::Read,
    path::Path,
    process::{Command, Stdio},
};

const CHARGES: usize = 500;
/// Bytes of each question. All of them together do not fit twice into the memory below, and the program that held them held them twice.
const LONG: usize = 100_000;
/// For all that the program maps, itself included (which is less than 60,000), in kilobytes.
const MEMORY: usize = 90_000;

/// A ledger whose charges have long questions and no answers.
fn made(path: &Path) {
    let mut ledger = Ledger::open(path).expect("a ledger");
    let question = format!(r#"{{"statistic":"median","column":"{}"}}"#, "x".repeat(LONG));
    let request = ChargeRequest {
        data_set: DataSet { name: "a.csv".into(), unit: Unit::Row, adjacency: Adjacency::AddRemove },
        analyst: Some("ana".into()),
        request_id: None,
        request: r#"{"statistic":"median"}"#.into(),
        question,
        cost: Approx::new(&"0.1".parse().expect("a number"), &"0".parse().expect("a number")).into(),
        windows: None,
    };
    for _ in 0..CHARGES {
        assert!(matches!(ledger.charge(&request), Ok(Charging::Granted(_))));
    }
}

/// The program with its memory limited, and where its output goes.
fn limited(folder: &Path, words: &[&str], output: Stdio) -> Command {
    let mut command = Command::new("sh");
    command
        .args(["-c", &format!("ulimit -v {MEMORY}; exec \"$0\" \"$@\""), env!("CARGO_BIN_EXE_equipoise")])
        .args(words)
        .current_dir(folder)
        .env_remove("EQUIPOISE_LEDGER")
        .stdout(output)
        .stderr(Stdio::piped());
    command
}

#[test]
fn a_long_ledger_is_read_in_little_memory() {
    let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).expect("a folder");
    made(&folder.path().join("equipoise.ledger"));
    let at = |name: &str| folder.path().join(name);
    for words in [
        &["budget", "log"][..],
        &["budget", "log", "--json"],
        &["budget", "export"],
        &["budget", "show"],
        &["budget", "verify"],
    ] {
        let output = File::create(at("output")).expect("a file");
        let done = limited(folder.path(), words, output.into()).output().expect("it runs");
        let said = String::from_utf8_lossy(&done.stderr).into_owned();
        assert_eq!(done.status.code(), Some(0), "{words:?}: {said}");
        let length = fs::metadata(at("output")).expect("a file").len();
        let (all, sums) = ((CHARGES * LONG) as u64, words.contains(&"show") || words.contains(&"verify"));
        assert_eq!(length > all, !sums, "{words:?}: {length} bytes");
        if words.contains(&"--json") {
            let text = fs::read_to_string(at("output")).expect("text");
            let entries: Vec<Value> = serde_json::from_str(&text).expect("JSON");
            // The ledger itself, the registration, the charges.
            assert_eq!(entries.len(), CHARGES + 2);
        }
    }
    // Whoever stops reading is no error.
    for words in [&["budget", "log"][..], &["budget", "log", "--json"], &["budget", "export"]] {
        let mut child = limited(folder.path(), words, Stdio::piped()).spawn().expect("it runs");
        let mut begin = [0; 64];
        child.stdout.take().expect("a pipe").read_exact(&mut begin).expect("a beginning");
        let done = child.wait_with_output().expect("it ends");
        assert_eq!((done.status.code(), done.stderr.len()), (Some(0), 0), "{words:?}: {done:?}");
    }
}
