//! A process is killed, or its disk fails, at every system call from opening the ledger to the answer.
//!
//! After each: what the process was told is charged is charged, what it was told is recorded is recorded and is
//! given again, nothing was charged twice, the limit holds, the ledger verifies and goes on. The default run
//! samples the points evenly; `EQUIPOISE_ALL_FAULTS=1` runs them all.
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

mod support;

use equipoise_faults::{End, Fault, Program, Run, Start, mark, run};
use equipoise_ledger::{ChargeError, Charging, Ledger, Verified};
use std::{collections::BTreeMap, path::Path};
use support::{
    approx, child_arguments, child_folder, child_variables, data_set, ledger_in, limited_ledger, request,
    scratch,
};

const ANSWER: &str = "{\"value\":42}";
/// Points of each kind in a default run; at each disk call three things go wrong.
const KILL_SAMPLE: usize = 40;
const DISK_SAMPLE: usize = 20;

/// The process that is tried: it pays for two answers, and says what it knows to be done.
#[test]
fn answering_process() {
    let Some(folder) = child_folder("answering_process") else { return };
    mark();
    let mut ledger = match Ledger::open(&ledger_in(&folder)) {
        Ok(ledger) => ledger,
        Err(error) => return println!("\n@failed {error}"),
    };
    for name in ["first", "second"] {
        // A failed try is tried once more: the ledger must still be good for it in the same process.
        for _ in 0..2 {
            match ledger.charge(&request("0.25", Some(name))) {
                Ok(Charging::Granted(charge)) => {
                    println!("\n@charged {name} {}", charge.id());
                    match ledger.record(&charge, ANSWER) {
                        Ok(receipt) => println!("\n@answered {name} {}", receipt.hash),
                        Err(error) => println!("\n@failed {error}"),
                    }
                }
                Ok(Charging::Replay(again)) => println!("\n@answered {name} {}", again.receipt.hash),
                Err(ChargeError::Lost { id, .. }) => println!("\n@charged {name} {id}"),
                Err(error) => println!("\n@failed {error}"),
            }
        }
    }
}

/// The mutant: it says that it is charged before the ledger does.
#[test]
fn hasty_process() {
    let Some(folder) = child_folder("hasty_process") else { return };
    mark();
    let mut ledger = Ledger::open(&ledger_in(&folder)).expect("the ledger opens");
    println!("\n@charged first");
    let _ = ledger.charge(&request("0.25", Some("first")));
}

/// Where the process begins.
#[derive(Clone, Copy, Debug)]
enum Before {
    /// There is no ledger.
    Nothing,
    /// There is one with a limit of 1 and one charge, closed in good order.
    Closed,
    /// The same, and its last process was killed.
    Killed,
}

fn prepare(before: Before, folder: &Path) {
    if matches!(before, Before::Nothing) {
        return;
    }
    limited_ledger(folder, "1");
    let mut ledger = Ledger::open(&ledger_in(folder)).unwrap();
    assert!(matches!(ledger.charge(&request("0.25", Some("before"))), Ok(Charging::Granted(_))));
    if matches!(before, Before::Killed) {
        // Copied while open, with its log: just what a killed process leaves.
        for name in ["test.ledger", "test.ledger-wal"] {
            std::fs::copy(folder.join(name), folder.join(format!("{name}.copy"))).unwrap();
        }
        drop(ledger);
        for name in ["test.ledger", "test.ledger-wal"] {
            std::fs::rename(folder.join(format!("{name}.copy")), folder.join(name)).unwrap();
        }
    }
}

fn with_fault(before: Before, fault: Fault) -> Run {
    faulty(before, "answering_process", fault)
}

fn faulty(before: Before, process: &str, fault: Fault) -> Run {
    let folder = scratch();
    prepare(before, folder.path());
    let mut program = Program::new(std::env::current_exe().unwrap());
    for argument in child_arguments(process) {
        program = program.argument(argument);
    }
    for (name, value) in child_variables(process, folder.path()) {
        program = program.variable(name, value);
    }
    let seen = run(&program, Start::Mark, fault);
    let told: Vec<&str> = seen.stdout.lines().filter(|line| line.starts_with('@')).collect();
    let context = format!("{before:?} {fault:?} {told:?} {}", seen.stderr);
    check(before, folder.path(), &told, &context);
    seen
}

/// What must hold after whatever happened.
fn check(before: Before, folder: &Path, told: &[&str], context: &str) {
    let mut ledger = Ledger::open(&ledger_in(folder)).unwrap_or_else(|error| panic!("{context}: {error}"));
    let verify = |ledger: &Ledger| -> Verified {
        ledger.verify(None).unwrap_or_else(|error| panic!("{context}: {error}"))
    };
    let verified = verify(&ledger);
    let (mut charged, mut answered) = (BTreeMap::new(), BTreeMap::new());
    for line in told {
        match line.split(' ').collect::<Vec<_>>()[..] {
            ["@charged", name, id] => {
                assert_eq!(*charged.entry(name).or_insert(id), id, "{context}: charged twice");
            }
            ["@answered", name, hash] => {
                assert_eq!(*answered.entry(name).or_insert(hash), hash, "{context}: two answers");
            }
            _ => {}
        }
    }
    for id in charged.values() {
        assert!(ledger.find(id).unwrap().is_some(), "{context}: a charge was lost");
    }
    let earlier = u64::from(!matches!(before, Before::Nothing));
    let found = verified.charges - earlier;
    let without_an_id = told.iter().filter(|line| **line == "@charged first").count();
    assert!((charged.len() + without_an_id) as u64 <= found, "{context}: a charge was lost");
    assert!(found <= 2, "{context}: {found} charges");
    let spent = ledger.balance(&data_set().name, Some("ada")).unwrap();
    let quarters = ["0", "0.25", "0.5", "0.75"];
    assert_eq!(spent.spent(), &approx(quarters[usize::try_from(verified.charges).unwrap()]), "{context}");
    // Asking again: the same answer, or lost, or never charged; never a second charge.
    for name in ["first", "second"] {
        match (ledger.charge(&request("0.25", Some(name))), answered.get(name)) {
            (Ok(Charging::Replay(again)), told) => {
                assert_eq!(again.release, ANSWER, "{context}");
                assert!(told.is_none_or(|hash| *hash == again.receipt.hash), "{context}: another receipt");
            }
            (Err(ChargeError::Lost { id, .. }), None) => {
                assert!(charged.get(name).is_none_or(|told| *told == id), "{context}: another charge");
            }
            (Ok(Charging::Granted(charge)), None) => {
                assert!(!charged.contains_key(name), "{context}: charged a second time");
                ledger.record(&charge, ANSWER).unwrap();
            }
            (other, told) => panic!("{context}: {other:?} after {told:?}"),
        }
    }
    assert_eq!(verify(&ledger).charges, earlier + 2, "{context}");
}

/// All of them, or evenly chosen ones.
fn points(count: usize, sample: usize) -> Vec<usize> {
    if std::env::var_os("EQUIPOISE_ALL_FAULTS").is_some() || count <= sample {
        return (0..count).collect();
    }
    (0..sample).map(|place| place * (count - 1) / (sample - 1)).collect()
}

fn whole(before: Before) -> Run {
    let seen = with_fault(before, Fault::None);
    assert_eq!(seen.end, End::Exited(0), "{}", seen.stderr);
    assert_eq!(
        seen.stdout.matches("@answered").count(),
        4,
        "each answer, and again for free: {}",
        seen.stdout
    );
    assert!(seen.stops > 100 && seen.disk_calls > 10, "{} stops, {} disk calls", seen.stops, seen.disk_calls);
    seen
}

fn kill_at_every_stop(before: Before) {
    let stops = whole(before).stops;
    let points = points(stops, KILL_SAMPLE);
    for &stop in &points {
        assert_eq!(with_fault(before, Fault::KillAt { stop }).end, End::Killed);
    }
    println!("crash, {before:?} before: {stops} points between opening and answers, {} tried", points.len());
}

#[test]
fn killed_while_making_a_ledger() {
    kill_at_every_stop(Before::Nothing);
}

#[test]
fn killed_while_charging() {
    kill_at_every_stop(Before::Closed);
}

#[test]
fn killed_after_another_was_killed() {
    kill_at_every_stop(Before::Killed);
}

/// The check itself is checked: it catches a process that answers before it is charged.
#[test]
fn a_hasty_mutant_is_caught() {
    let mutant = |fault| std::panic::catch_unwind(|| faulty(Before::Closed, "hasty_process", fault));
    let stops = mutant(Fault::None).expect("without a crash nobody can tell").stops;
    let caught = |&stop: &usize| {
        mutant(Fault::KillAt { stop }).is_err_and(|said| {
            said.downcast_ref::<String>().is_some_and(|said| said.contains("a charge was lost"))
        })
    };
    let points = points(stops, KILL_SAMPLE);
    let count = points.iter().filter(|stop| caught(stop)).count();
    println!("hasty mutant: caught at {count} of {} points", points.len());
    assert!(count > 0);
}

/// One failure, and a disk that stays full, at every call that writes, cuts or synchronises; and half a write.
#[test]
fn the_disk_fails() {
    for before in [Before::Nothing, Before::Closed, Before::Killed] {
        let calls = whole(before).disk_calls;
        let points = points(calls, DISK_SAMPLE);
        let (mut errors, mut torn) = (0, 0);
        for &call in &points {
            for lasting in [false, true] {
                let seen = with_fault(before, Fault::Fail { call, lasting });
                assert_eq!(seen.end, End::Exited(0), "{}", seen.stderr);
                errors += usize::from(seen.stdout.contains("@failed"));
            }
            torn += usize::from(with_fault(before, Fault::Tear { call }).end == End::Killed);
        }
        println!(
            "disk, {before:?} before: {calls} calls, {} tried, {} failures injected ({errors} reached the caller), \
             {torn} torn writes",
            points.len(),
            2 * points.len()
        );
        assert!(errors > 0 && torn > 0);
    }
}
