//! A steward's process is killed, or its disk fails, while a data set begins anew: it counts for the old unit with the old sum,
//! or for the new one, and never for neither or both.
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

mod support;

use equipoise_core::adjacency::Unit;
use equipoise_faults::{End, Fault, Program, Run, Start, mark, run};
use equipoise_ledger::{ChargeError, ChargeRequest, Charging, DataSet, Ledger};
use std::path::Path;
use support::{
    approx, child_arguments, child_folder, child_variables, data_set, ledger_in, limited_ledger, request,
    scratch,
};

/// Points of each kind in a default run; `EQUIPOISE_ALL_FAULTS=1` runs them all.
const SAMPLE: usize = 25;

fn people() -> DataSet {
    DataSet { unit: Unit::Column("person".into()), ..data_set() }
}

/// The process that is tried.
#[test]
fn steward_process() {
    let Some(folder) = child_folder("steward_process") else { return };
    mark();
    let changed = Ledger::open(&ledger_in(&folder))
        .map_err(|error| error.to_string())
        .and_then(|mut ledger| ledger.begin_anew(&people(), true).map_err(|error| error.to_string()));
    match changed {
        Ok(Some(_)) => println!("\n@anew"),
        other => println!("\n@failed {other:?}"),
    }
}

fn steward(fault: Fault) -> (Run, bool) {
    let folder = scratch();
    limited_ledger(folder.path(), "1");
    let mut ledger = Ledger::open(&ledger_in(folder.path())).unwrap();
    let Ok(Charging::Granted(charge)) = ledger.charge(&request("0.25", Some("before"))) else {
        panic!("granted")
    };
    ledger.record(&charge, "{}").unwrap();
    drop((ledger, charge));
    let mut program = Program::new(std::env::current_exe().unwrap());
    for argument in child_arguments("steward_process") {
        program = program.argument(argument);
    }
    for (name, value) in child_variables("steward_process", folder.path()) {
        program = program.variable(name, value);
    }
    let seen = run(&program, Start::Mark, fault);
    let changed = check(folder.path(), seen.stdout.contains("@anew"), &format!("{fault:?} {}", seen.stdout));
    (seen, changed)
}

fn check(folder: &Path, told: bool, context: &str) -> bool {
    let mut ledger = Ledger::open(&ledger_in(folder)).unwrap_or_else(|error| panic!("{context}: {error}"));
    let verified = ledger.verify(None).unwrap_or_else(|error| panic!("{context}: {error}"));
    let changed = ledger.data_set("salaries").unwrap() == Some(people());
    assert!(!told || changed, "{context}: it was told and is not so");
    let spent = ledger.balance("salaries", Some("ada")).unwrap();
    assert_eq!(spent.spent(), &approx(if changed { "0" } else { "0.25" }), "{context}");
    assert_eq!((verified.charges, verified.earlier.len()), (1, usize::from(changed)), "{context}");
    let again = ledger.charge(&request("0.25", Some("before")));
    if changed {
        assert!(matches!(again, Err(ChargeError::BeforeAnew { .. })), "{context}: {again:?}");
    } else {
        assert!(matches!(again, Ok(Charging::Replay(_))), "{context}: {again:?}");
        ledger.begin_anew(&people(), true).unwrap_or_else(|error| panic!("{context}: {error}"));
    }
    // It goes on, whatever happened.
    let next = ChargeRequest { data_set: people(), ..request("0.5", None) };
    assert!(matches!(ledger.charge(&next), Ok(Charging::Granted(_))), "{context}");
    assert_eq!(ledger.verify(None).unwrap().charges, 2, "{context}");
    changed
}

fn points(count: usize) -> Vec<usize> {
    if std::env::var_os("EQUIPOISE_ALL_FAULTS").is_some() || count <= SAMPLE {
        return (0..count).collect();
    }
    (0..SAMPLE).map(|place| place * (count - 1) / (SAMPLE - 1)).collect()
}

#[test]
fn killed_or_failing_while_beginning_anew() {
    let (whole, changed) = steward(Fault::None);
    assert_eq!((whole.end, changed), (End::Exited(0), true), "{}", whole.stderr);
    let killed: Vec<bool> =
        points(whole.stops).into_iter().map(|stop| steward(Fault::KillAt { stop }).1).collect();
    assert!(killed.contains(&true) && killed.contains(&false), "points before and after the change");
    for call in points(whole.disk_calls) {
        for fault in
            [Fault::Fail { call, lasting: false }, Fault::Fail { call, lasting: true }, Fault::Tear { call }]
        {
            steward(fault);
        }
    }
}
