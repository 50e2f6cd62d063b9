//! Which files a data set is, what is counted apart, and who must be named.

use super::{
    tests::{granted, limited, logged, loss, on_disk, request, salaries},
    *,
};
use crate::file_id::FileId;
use rusqlite::Connection;
use std::fs;

fn file(number: u64) -> FileId {
    FileId::from_words([1, number, 7])
}

fn files(numbers: &[u64]) -> Expected {
    Expected { files: numbers.iter().map(|number| file(*number)).collect(), apart: Vec::new() }
}

fn version(path: &Path) -> i64 {
    let connection = Connection::open(path).unwrap();
    connection.query_row("PRAGMA user_version", [], |row| row.get(0)).unwrap()
}

/// Who had used up a limit went on by leaving the name out.
#[test]
fn with_a_limit_for_any_analyst_a_name_is_needed() {
    let mut ledger = limited("9");
    let _ = granted(&mut ledger, &request("0.1"));
    ledger.set_limit("salaries", Some("ada"), Some(&loss("1", "0").into())).unwrap();
    let ada = ChargeRequest { analyst: Some("ada".into()), ..request("1") };
    let _ = granted(&mut ledger, &ada);
    assert_eq!(ledger.charge(&ada).unwrap_err().exit_code(), 4);
    let error = ledger.charge(&request("0.1")).unwrap_err();
    assert_eq!(
        (error.exit_code(), error.to_string().as_str()),
        (
            2,
            "data set 'salaries' has limits for analysts, and nobody was named; say who asks with `analyst=NAME`"
        )
    );
    assert_eq!(ledger.verify(None).unwrap().charges, 2, "nothing was charged");
    let _ = granted(&mut ledger, &ChargeRequest { analyst: Some("ben".into()), ..request("1") });
    ledger.set_limit("salaries", Some("ada"), None).unwrap();
    let _ = granted(&mut ledger, &request("0.1"));
}

#[test]
fn files_are_kept_with_a_charge_or_a_registration_where_they_are_new() {
    let (_folder, path) = on_disk();
    let mut ledger = Ledger::open(&path).unwrap();
    let _ = granted(&mut ledger, &request("0.1"));
    assert_eq!(version(&path), 1, "nothing that an older program does not know");
    ledger.expect("salaries", files(&[1, 2]));
    for _ in 0..3 {
        let _ = granted(&mut ledger, &request("0.1"));
    }
    assert_eq!(version(&path), 3, "an older program would walk around by another name");
    ledger.expect("salaries", files(&[2, 3]));
    ledger.register(&salaries(), None).unwrap();
    let kept: Vec<Event> = logged(&ledger)
        .into_iter()
        .map(|entry| entry.event)
        .filter(|event| matches!(event, Event::Files { .. }))
        .collect();
    let both = [files(&[1, 2]), files(&[3])].map(|expected| Event::Files { files: expected.files });
    assert_eq!(kept, both);
    let guarded = |limited| Guarded { name: "salaries".into(), limited, files: files(&[1, 2, 3]).files };
    assert_eq!(ledger.guarded().unwrap(), [guarded(false)]);
    ledger.set_limit("salaries", Some("ada"), Some(&loss("1", "0").into())).unwrap();
    assert_eq!(ledger.guarded().unwrap(), [guarded(true)]);
    ledger.set_limit("salaries", Some("ada"), None).unwrap();
    assert_eq!(ledger.guarded().unwrap(), [guarded(false)]);
    // What is refused leaves no trace.
    ledger.set_limit("salaries", None, Some(&loss("0.4", "0").into())).unwrap();
    ledger.expect("salaries", files(&[9]));
    assert_eq!(ledger.charge(&request("0.1")).unwrap_err().exit_code(), 4);
    assert_eq!(ledger.guarded().unwrap(), [guarded(true)]);
    ledger.verify(None).unwrap();
}

#[test]
fn of_very_many_files_the_first_hundred_thousand_are_kept_in_entries_of_a_thousand() {
    let mut ledger = Ledger::in_memory().unwrap();
    let many = |count: u64| files(&(0..count).collect::<Vec<_>>());
    for (files, kept, entries) in [(2500, 2500, 3), (2501, 2501, 4), (MOST_FILES as u64 + 5, MOST_FILES, 102)]
    {
        ledger.expect("salaries", many(files));
        ledger.register(&salaries(), None).unwrap();
        assert_eq!(ledger.guarded().unwrap()[0].files.len(), kept);
        let is_files = |entry: &Entry| matches!(entry.event, Event::Files { .. });
        assert_eq!(logged(&ledger).iter().filter(|entry| is_files(entry)).count(), entries);
    }
    ledger.verify(None).unwrap();
}

#[test]
fn what_is_counted_apart_stands_in_both_ledgers_before_it_is_charged() {
    let (folder, path) = on_disk();
    let other_path = folder.path().join("other.ledger");
    let mut other = Ledger::open(&other_path).unwrap();
    let there = DataSet { name: "a.csv".into(), ..salaries() };
    other.register(&there, None).unwrap();
    other.set_limit("a.csv", None, Some(&loss("1", "0").into())).unwrap();
    let mut ledger = Ledger::open(&path).unwrap();
    let elsewhere = Elsewhere { ledger: other_path.clone(), data_set: "a.csv".into() };
    ledger.expect("salaries", Expected { files: vec![file(1)], apart: vec![elsewhere] });
    let asked = ChargeRequest { analyst: Some("ada".into()), request_id: Some("r".into()), ..request("0.5") };
    let charge = granted(&mut ledger, &asked);
    ledger.record(&charge, "{}").unwrap();
    let parts = |entry: &Entry| (entry.data_set.clone(), entry.analyst.clone());
    let of = |entries: Vec<Entry>| -> Vec<(Entry, Apart)> {
        let apart = |entry: Entry| match entry.event.clone() {
            Event::Apart(apart) => Some((entry, apart)),
            _ => None,
        };
        entries.into_iter().filter_map(apart).collect()
    };
    let here = of(logged(&ledger));
    let [(entry, apart)] = &here[..] else { panic!("{here:?}") };
    assert_eq!(parts(entry), (Some("salaries".into()), Some("ada".into())));
    assert_eq!((apart.charged, apart.data_set.as_str()), (Charged::Here, "a.csv"));
    assert_eq!((&apart.ledger, &apart.cost), (&other.id().to_string(), &asked.cost));
    let said = of(logged(&other));
    let [(entry, apart)] = &said[..] else { panic!("{said:?}") };
    assert_eq!(parts(entry), (Some("a.csv".into()), Some("ada".into())));
    assert_eq!((apart.charged, apart.data_set.as_str()), (Charged::There, "salaries"));
    assert_eq!(apart.ledger, ledger.id());
    // An answer that is given again is charged nowhere, and so nothing is said.
    assert!(matches!(ledger.charge(&asked), Ok(Charging::Replay(_))));
    assert_eq!(of(logged(&other)).len(), 1);
    for ledger in [&ledger, &other] {
        ledger.verify(None).unwrap();
    }
    // Where it cannot be written down, nothing is charged.
    drop(other);
    let mut mode = fs::metadata(&other_path).unwrap().permissions();
    mode.set_readonly(true);
    fs::set_permissions(&other_path, mode).unwrap();
    let error = ledger.charge(&request("0.5")).unwrap_err();
    assert!(matches!(error, ChargeError::Apart(LedgerError { fault: Fault::ReadOnly, .. })), "{error}");
    assert!(error.exit_code() == 2 && error.to_string().contains("other.ledger: read-only"), "{error}");
    assert_eq!(ledger.verify(None).unwrap().charges, 1);
}

/// What a monitor of an older version was paid for goes on in one file, whichever comes first.
#[test]
fn a_charge_is_adopted_by_one_file_for_ever() {
    let (_folder, path) = on_disk();
    let mut ledger = Ledger::open(&path).unwrap();
    let [one, two] = [(); 2].map(|()| granted(&mut ledger, &request("0.5")));
    assert!(ledger.adopt(one.id(), file(1)).unwrap() && ledger.adopt(one.id(), file(1)).unwrap());
    assert!(!ledger.adopt(one.id(), file(2)).unwrap());
    assert!(ledger.adopt(two.id(), file(2)).unwrap());
    assert_eq!(ledger.adopt("none", file(3)).unwrap_err().fault, Fault::NotItsCharge);
    drop(ledger);
    let mut again = Ledger::open(&path).unwrap();
    assert!(again.adopt(one.id(), file(1)).unwrap() && !again.adopt(one.id(), file(2)).unwrap());
    assert_eq!(version(&path), 3);
    again.verify(None).unwrap();
}

#[test]
fn an_older_copy_is_part_of_the_ledger_and_a_later_one_is_not() {
    let (folder, path) = on_disk();
    let mut ledger = Ledger::open(&path).unwrap();
    let _ = granted(&mut ledger, &request("0.1"));
    drop(ledger);
    let copy_path = folder.path().join("copy.ledger");
    fs::copy(&path, &copy_path).unwrap();
    let mut ledger = Ledger::open(&path).unwrap();
    let mut copy = Ledger::open(&copy_path).unwrap();
    let _ = granted(&mut ledger, &request("0.1"));
    assert!(ledger.contains(&copy.head().unwrap()).unwrap());
    assert!(!copy.contains(&ledger.head().unwrap()).unwrap());
    let _ = granted(&mut copy, &request("0.1"));
    assert!(!ledger.contains(&copy.head().unwrap()).unwrap(), "it has a charge of its own");
    assert!(!Ledger::in_memory().unwrap().contains(&ledger.head().unwrap()).unwrap());
}

/// SQLite keeps its log beside each name: charges under one were not seen under the other.
#[test]
fn a_ledger_with_two_names_takes_no_charges() {
    let (folder, path) = on_disk();
    drop(Ledger::open(&path).unwrap());
    let link = folder.path().join("link.ledger");
    fs::hard_link(&path, &link).unwrap();
    for name in [&path, &link] {
        let error = Ledger::open(name).err().unwrap();
        assert_eq!((error.exit_code(), &error.fault), (2, &Fault::TwoNames));
    }
    fs::remove_file(link).unwrap();
    assert!(Ledger::open(&path).is_ok());
}
