//! Ctrl-C ends a command at once, with a line that says what was charged.

mod support;

use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use std::{
    io::{Read, Write},
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};
use support::Folder;

/// Long beside what is measured by hand (tens of milliseconds), short beside what would have gone on for hours.
const PATIENCE: Duration = Duration::from_mins(1);

fn started(folder: &Folder, line: &str) -> Child {
    // Whoever runs the tests in the background may have the signal ignored, and programs inherit that.
    Command::new("env")
        .args(["--default-signal=INT", env!("CARGO_BIN_EXE_equipoise")])
        .args(line.split(' '))
        .current_dir(folder.path(""))
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts")
}

/// Its exit code and what it said, after the signal.
fn interrupted(mut child: Child) -> (Option<i32>, String) {
    let id = i32::try_from(child.id()).expect("an id");
    kill(Pid::from_raw(id), Signal::SIGINT).expect("it runs");
    let began = Instant::now();
    let code = loop {
        if let Some(status) = child.try_wait().expect("a child") {
            break status.code();
        }
        if began.elapsed() > PATIENCE {
            child.kill().expect("it ends");
            panic!("it went on");
        }
        thread::sleep(Duration::from_millis(5));
    };
    let mut said = String::new();
    child.stderr.take().expect("a pipe").read_to_string(&mut said).expect("text");
    (code, said)
}

fn charges(folder: &Folder) -> usize {
    let shown = folder.run("budget log --json");
    let entries: serde_json::Value = serde_json::from_slice(&shown.stdout).unwrap_or_default();
    let kinds = entries.as_array().into_iter().flatten();
    kinds.filter(|entry| entry["event"]["kind"] == "charged").count()
}

#[test]
fn after_the_charge_it_says_that_the_charge_stands() {
    let folder = Folder::new("value\n1\n");
    let mut child = started(&folder, "count - --name stream --epsilon 1 --ledger equipoise.ledger");
    let mut pipe = child.stdin.take().expect("a pipe");
    // More than is looked at for the header; then the charge is made, and rows could come for ever.
    let rows = format!("value\n{}", "1\n".repeat(1 << 20));
    let writer = thread::spawn(move || pipe.write_all(rows.as_bytes()).map(|()| pipe));
    let began = Instant::now();
    while charges(&folder) == 0 {
        assert!(began.elapsed() < PATIENCE, "nothing was charged");
        thread::sleep(Duration::from_millis(20));
    }
    thread::sleep(Duration::from_millis(300));
    let (code, said) = interrupted(child);
    assert_eq!(code, Some(1), "{said}");
    assert_eq!(
        said,
        "equipoise: interrupted; the charge stands, and the answer is lost unless 'equipoise budget log' shows it\n"
    );
    assert_eq!(charges(&folder), 1);
    // The pipe was open until here.
    drop(writer.join().expect("no panic"));
}

#[test]
fn a_simulation_ends_at_once() {
    let rows: Vec<String> = (0..2000).map(|row| format!("{row}\n")).collect();
    let folder = Folder::new(format!("value\n{}", rows.concat()));
    let child = started(&folder, "simulate --trials 1000000 median data.csv value --epsilon 1");
    thread::sleep(Duration::from_millis(500));
    let (code, said) = interrupted(child);
    assert_eq!((code, said.as_str()), (Some(1), "equipoise: interrupted\n"));
}
