//! The whole program is killed, or its disk fails, at its system calls: no answer without a charge, no charge lost.
//!
//! The default run samples the points evenly; `EQUIPOISE_ALL_FAULTS=1` runs them all.
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

use equipoise_faults::{End, Fault, Program, Run, Start, run};
use equipoise_session::ledger::Ledger;
use std::{fmt::Write as _, fs, path::Path};

/// Points of each kind in a default run.
const SAMPLE: usize = 25;

fn data() -> String {
    let mut text = String::from("value\n");
    for value in 0..400 {
        writeln!(text, "{value}").expect("a string");
    }
    text
}

fn ask(folder: &Path, fault: Fault) -> Run {
    let program = Program::new(env!("CARGO_BIN_EXE_equipoise"))
        .argument("median")
        .argument(folder.join("data.csv"))
        .argument("value")
        .argument("--epsilon")
        .argument("1")
        // A declared number of rows: else one run in millions is refused.
        .argument("--rows")
        .argument("400")
        .argument("--ledger")
        .argument(folder.join("equipoise.ledger"));
    run(&program, Start::Program, fault)
}

/// Ask with a fault and check what is left: what was printed is recorded, and the ledger holds together.
fn ask_and_check(fault: Fault) -> (Run, u64) {
    let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).expect("a folder");
    fs::write(folder.path().join("data.csv"), data()).expect("a file");
    let seen = ask(folder.path(), fault);
    let path = folder.path().join("equipoise.ledger");
    let ledger = Ledger::open(&path).unwrap_or_else(|error| panic!("{fault:?}: {error}"));
    let verified = ledger.verify(None).unwrap_or_else(|error| panic!("{fault:?}: {error}"));
    let spent = ledger.balance("data.csv", None).expect("a balance").spent().eps.to_string();
    assert_eq!(spent, if verified.charges == 1 { "1" } else { "0" }, "{fault:?}");
    let answered = seen.stdout.contains("median of value:");
    assert!(
        !answered || (verified.charges, verified.recorded) == (1, 1),
        "{fault:?}: an answer without a charge"
    );
    assert!(verified.charges <= 1, "{fault:?}");
    if seen.end == End::Exited(0) {
        assert!(answered, "{fault:?}: {}", seen.stderr);
    }
    if let End::Exited(code @ 1..) = seen.end {
        let lines = seen.stderr.lines().count();
        assert!(lines == 1 && !answered, "{fault:?}: exit {code}, {}", seen.stderr);
        words_are_true(&seen.stderr, verified.charges, &format!("{fault:?}"));
    }
    (seen, verified.charges)
}

/// Only the ledger can fail here, and the line says so, and what became of the charge.
fn words_are_true(said: &str, charges: u64, what: &str) {
    assert!(said.contains("equipoise.ledger") && !said.contains("the data"), "{what}: {said}");
    let claims = [("nothing was charged", 0), ("the charge stands and the answer is lost", 1)];
    let made: Vec<u64> =
        claims.iter().filter(|(words, _)| said.contains(words)).map(|claim| claim.1).collect();
    let unsure = said.contains("whether it was written is not known");
    assert!(made == [charges] || (made.is_empty() && unsure), "{what}: {charges} charges, {said}");
}

fn points(count: usize) -> Vec<usize> {
    if std::env::var_os("EQUIPOISE_ALL_FAULTS").is_some() || count <= SAMPLE {
        return (0..count).collect();
    }
    (0..SAMPLE).map(|point| point * (count - 1) / (SAMPLE - 1)).collect()
}

#[test]
fn a_killed_program_never_answers_without_a_charge_and_never_loses_one() {
    let (whole, charges) = ask_and_check(Fault::None);
    assert_eq!((whole.end, charges), (End::Exited(0), 1));
    let killed = points(whole.stops);
    let charged = killed.iter().filter(|&&stop| ask_and_check(Fault::KillAt { stop }).1 == 1).count();
    println!("{} system call stops, {} tried, {charged} after the charge", whole.stops, killed.len());
    assert!(charged > 0 && charged < killed.len(), "points before and after the charge");
}

#[test]
fn a_failing_disk_is_one_line_and_never_an_answer_without_a_charge() {
    let (whole, _) = ask_and_check(Fault::None);
    let calls = points(whole.disk_calls);
    let mut failed = 0;
    for &call in &calls {
        for fault in
            [Fault::Fail { call, lasting: false }, Fault::Fail { call, lasting: true }, Fault::Tear { call }]
        {
            failed += usize::from(ask_and_check(fault).0.end != End::Exited(0));
        }
    }
    println!(
        "{} disk calls, {} tried in three ways, {failed} ended without an answer",
        whole.disk_calls,
        calls.len()
    );
    assert!(failed > 0, "some fault reaches the user");
}
