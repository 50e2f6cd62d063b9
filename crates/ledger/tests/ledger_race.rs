//! Many processes ask one ledger for more than its limit allows: exactly the limit is granted.

mod support;

use equipoise_ledger::{ChargeError, Charging, Ledger};
use std::{
    collections::HashSet,
    process::{Command, Stdio},
    time::Instant,
};
use support::{approx, child_folder, data_set, ledger_in, limited_ledger, request, run_child_test, scratch};

const PROCESSES: usize = 8;
const REQUESTS: usize = 400;

/// One of the processes: asks for epsilon 0.01 again and again, each request under a name of its own and twice.
#[test]
fn asking_process() {
    let Some(folder) = child_folder("asking_process") else { return };
    let me = std::process::id();
    let mut ledger = Ledger::open(&ledger_in(&folder)).expect("the ledger opens");
    for number in 0..REQUESTS {
        let ask = request("0.01", Some(&format!("{me}-{number}")));
        match ledger.charge(&ask) {
            Ok(Charging::Granted(charge)) => {
                ledger.record(&charge, &format!("{{\"value\":{number}}}")).expect("recorded");
                println!("@granted {}", charge.id());
                let Ok(Charging::Replay(again)) = ledger.charge(&ask) else { panic!("asked again") };
                assert_eq!(again.receipt.id, charge.id());
            }
            Ok(Charging::Replay(_)) => panic!("a new request has no answer yet"),
            Err(ChargeError::OverBudget(_)) => println!("@refused"),
            Err(error) => panic!("{error}"),
        }
    }
}

/// 8 processes, 3,200 requests and a limit of 7.77: 777 are granted, no more, no fewer, none twice.
#[test]
fn eight_processes_never_overspend() {
    let folder = scratch();
    limited_ledger(folder.path(), "7.77");
    let began = Instant::now();
    let spawn = |_| {
        run_child_test(&mut Command::new(std::env::current_exe().unwrap()), "asking_process", folder.path())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap()
    };
    let children: Vec<_> = (0..PROCESSES).map(spawn).collect();
    let (mut granted, mut refused) = (Vec::new(), 0);
    for child in children {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "a process failed");
        let text = String::from_utf8(output.stdout).unwrap();
        granted.extend(
            text.lines().filter_map(|line| line.split_once("@granted ")).map(|(_, id)| id.to_string()),
        );
        refused += text.lines().filter(|line| line.ends_with("@refused")).count();
    }
    let ledger = Ledger::open_read_only(&ledger_in(folder.path())).unwrap();
    let verified = ledger.verify(None).unwrap();
    let spent = ledger.balance(&data_set().name, None).unwrap();
    println!(
        "race: {PROCESSES} processes, {} requests, {} granted, {refused} refused, limit 7.77, spent {}, {:.1} s",
        PROCESSES * REQUESTS,
        granted.len(),
        spent.spent().eps,
        began.elapsed().as_secs_f64()
    );
    let different: HashSet<&String> = granted.iter().collect();
    assert_eq!((granted.len(), different.len(), refused), (777, 777, PROCESSES * REQUESTS - 777));
    assert_eq!((verified.charges, verified.recorded, verified.lost), (777, 777, 0));
    assert_eq!((spent.spent(), spent.remaining()), (&approx("7.77"), Some(approx("0").into())));
}

/// Eight processes make the same new ledger at once: there is one beginning, and everyone's charge is in it.
#[test]
fn eight_processes_make_one_ledger() {
    for _ in 0..5 {
        let folder = scratch();
        let spawn = |_| {
            run_child_test(&mut Command::new(std::env::current_exe().unwrap()), "first_charge", folder.path())
                .stdout(Stdio::null())
                .spawn()
                .unwrap()
        };
        let children: Vec<_> = (0..PROCESSES).map(spawn).collect();
        for mut child in children {
            assert!(child.wait().unwrap().success());
        }
        let ledger = Ledger::open_read_only(&ledger_in(folder.path())).unwrap();
        assert_eq!(ledger.verify(None).unwrap().charges, PROCESSES as u64);
        assert_eq!(ledger.balance(&data_set().name, None).unwrap().spent(), &approx("8"));
    }
}

#[test]
fn first_charge() {
    let Some(folder) = child_folder("first_charge") else { return };
    let mut ledger = Ledger::open(&ledger_in(&folder)).expect("the ledger opens");
    assert!(matches!(ledger.charge(&request("1", None)), Ok(Charging::Granted(_))));
}
