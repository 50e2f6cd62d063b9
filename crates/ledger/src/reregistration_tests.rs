//! A data set that begins anew: nothing is erased, nothing is counted for the wrong unit, nothing happens by itself.

use super::{
    tests::{exported, granted, limited, loss, on_disk, request, salaries},
    *,
};
use equipoise_core::adjacency::{Adjacency, Unit};
use rusqlite::Connection;

fn people() -> DataSet {
    DataSet { unit: Unit::Column("person".into()), ..salaries() }
}

fn ask(data_set: &DataSet, eps: &str, request_id: Option<&str>) -> ChargeRequest {
    let (data_set, request_id) = (data_set.clone(), request_id.map(str::to_string));
    ChargeRequest { data_set, request_id, ..request(eps) }
}

fn spent(ledger: &Ledger) -> String {
    ledger.balance("salaries", None).unwrap().spent().eps.to_string()
}

#[test]
fn what_was_spent_is_kept_and_no_longer_counted() {
    let mut ledger = limited("1");
    let _ = granted(&mut ledger, &ask(&salaries(), "0.7", None));
    let refused = ledger.begin_anew(&people(), false).unwrap_err();
    assert_eq!(
        (refused.exit_code(), refused.to_string().as_str()),
        (
            2,
            "data set 'salaries' has spent epsilon 0.7 for one row (add-remove), and that bounds nothing for one person \
             (add-remove); to count for that from now on, with what was spent kept in the log but no longer counted, say `anew`"
        )
    );
    assert_eq!((spent(&ledger).as_str(), ledger.data_set("salaries").unwrap()), ("0.7", Some(salaries())));
    let earlier = ledger.begin_anew(&people(), true).unwrap().expect("a change");
    assert_eq!(
        (&earlier.data_set, &earlier.spent.approx, earlier.charges),
        (&salaries(), &loss("0.7", "0"), 1)
    );
    assert_eq!(ledger.data_set("salaries").unwrap(), Some(people()));
    assert_eq!(ledger.data_sets().unwrap(), [people()]);
    // The limit stays, and counts from here.
    let balance = ledger.balance("salaries", None).unwrap();
    assert_eq!((balance.spent(), balance.remaining()), (&loss("0", "0"), Some(loss("1", "0").into())));
    assert!(ledger.charges("salaries", None).unwrap().is_empty());
    assert!(matches!(
        ledger.charge(&ask(&salaries(), "0.1", None)),
        Err(ChargeError::DataSet(DataSetError::OtherUnit { .. }))
    ));
    let _ = granted(&mut ledger, &ask(&people(), "0.6", None));
    assert_eq!(ledger.charge(&ask(&people(), "0.6", None)).unwrap_err().exit_code(), 4);
    let verified = ledger.verify(None).unwrap();
    assert_eq!((verified.charges, &verified.earlier), (2, &vec![earlier.clone()]));
    assert_eq!(ledger.earlier(Some("salaries")).unwrap(), [earlier]);
    assert!(ledger.earlier(Some("others")).unwrap().is_empty());
    let exported: serde_json::Value = serde_json::from_str(&exported(&ledger)).unwrap();
    let shown: Vec<_> = exported["data_sets"].as_array().unwrap().iter().collect();
    assert_eq!((&shown[0]["unit"], &shown[0]["in_force"]), (&"row".into(), &false.into()));
    assert!(shown[0]["note"].as_str().unwrap().contains("no figure for those bounds it"));
    assert_eq!((&shown[1]["unit"], &shown[1]["charges"][0]["epsilon"]), (&"person".into(), &"0.6".into()));
    assert!(shown[1]["in_force"] == true && shown[1]["note"].is_null());
}

/// Else a change there and back would make what was spent vanish.
#[test]
fn who_goes_back_takes_up_the_old_sum() {
    let mut ledger = limited("1");
    ledger.set_limit("salaries", Some("ada"), Some(&loss("0.5", "0").into())).unwrap();
    let by_ada = |data_set: &DataSet, eps: &str| ChargeRequest {
        analyst: Some("ada".into()),
        ..ask(data_set, eps, None)
    };
    let _ = granted(&mut ledger, &by_ada(&salaries(), "0.4"));
    ledger.begin_anew(&people(), true).unwrap();
    let _ = granted(&mut ledger, &by_ada(&people(), "0.5"));
    assert_eq!(ledger.charge(&by_ada(&people(), "0.1")).unwrap_err().exit_code(), 4);
    ledger.begin_anew(&salaries(), true).unwrap();
    assert_eq!(spent(&ledger), "0.4");
    assert_eq!(ledger.charge(&by_ada(&salaries(), "0.2")).unwrap_err().exit_code(), 4);
    let _ = granted(&mut ledger, &by_ada(&salaries(), "0.1"));
    assert_eq!(spent(&ledger), "0.5");
    let earlier = ledger.verify(None).unwrap().earlier;
    assert_eq!(earlier.len(), 1);
    assert_eq!((&earlier[0].data_set, &earlier[0].spent.approx), (&people(), &loss("0.5", "0")));
}

#[test]
fn every_accountant_counts_from_there() {
    for accountant in Accountant::ALL {
        let mut ledger = limited("1");
        let limit = Limit::within(&"1".parse().unwrap(), &"1e-6".parse().unwrap(), accountant).unwrap();
        ledger.set_limit("salaries", None, Some(&limit)).unwrap();
        let _ = granted(&mut ledger, &ask(&salaries(), "0.1", None));
        let left = ledger.balance("salaries", None).unwrap().remaining();
        ledger.begin_anew(&people(), true).unwrap();
        assert_eq!(
            ledger.balance("salaries", None).unwrap().remaining().unwrap().parts(),
            limit.written_down().parts()
        );
        let _ = granted(&mut ledger, &ask(&people(), "0.1", None));
        assert_eq!(ledger.balance("salaries", None).unwrap().remaining(), left, "{accountant:?}");
        ledger.verify(None).unwrap();
    }
}

#[test]
fn a_data_set_that_spent_nothing_changes_without_a_word_more() {
    let mut ledger = limited("1");
    let replace = DataSet { adjacency: Adjacency::Replace, ..people() };
    assert!(ledger.begin_anew(&replace, false).unwrap().is_some_and(|earlier| earlier.charges == 0));
    assert_eq!(ledger.begin_anew(&replace, true).unwrap(), None, "it is so already");
    assert_eq!(ledger.data_set("salaries").unwrap(), Some(replace));
    assert!(ledger.verify(None).unwrap().earlier.is_empty());
    let unknown = DataSet { name: "unknown".into(), ..people() };
    assert!(matches!(
        ledger.begin_anew(&unknown, true),
        Err(RegisterError::DataSet(DataSetError::Unregistered { .. }))
    ));
}

#[test]
fn a_question_never_begins_anew() {
    let mut ledger = Ledger::in_memory().unwrap();
    ledger.register(&salaries(), None).unwrap();
    for other in [people(), DataSet { adjacency: Adjacency::Replace, ..salaries() }] {
        assert_eq!(ledger.charge(&ask(&other, "0.1", None)).unwrap_err().exit_code(), 2);
        assert_eq!(ledger.register(&other, None).unwrap_err().exit_code(), 2);
    }
    assert_eq!(ledger.data_set("salaries").unwrap(), Some(salaries()));
}

#[test]
fn a_request_of_before_is_no_answer_for_the_new_unit() {
    let mut ledger = limited("1");
    let old = ask(&salaries(), "0.2", Some("monday"));
    let charge = granted(&mut ledger, &old);
    let in_flight = granted(&mut ledger, &ask(&salaries(), "0.2", Some("tuesday")));
    ledger.record(&charge, "{\"value\":7}").unwrap();
    assert!(matches!(ledger.charge(&old), Ok(Charging::Replay(_))));
    ledger.begin_anew(&people(), true).unwrap();
    // Both as it was asked and as it would be asked now; who was still computing may record what was paid for.
    for again in [old.clone(), ask(&people(), "0.2", Some("monday")), ask(&people(), "0.2", Some("tuesday"))]
    {
        let error = ledger.charge(&again).unwrap_err();
        assert!(matches!(error, ChargeError::BeforeAnew { .. }) && error.exit_code() == 2, "{error}");
        assert!(error.to_string().contains("before the data set began anew"), "{error}");
    }
    ledger.record(&in_flight, "{\"value\":8}").unwrap();
    assert_eq!(spent(&ledger), "0");
    ledger.begin_anew(&salaries(), true).unwrap();
    assert!(
        matches!(ledger.charge(&old), Ok(Charging::Replay(_))),
        "the account that paid is in force again"
    );
    ledger.verify(None).unwrap();
}

#[test]
fn older_ledgers_are_read_and_older_programs_refuse_newer_ones() {
    let (_folder, path) = on_disk();
    let version = || {
        let connection = Connection::open(&path).unwrap();
        connection.query_row("PRAGMA user_version", [], |row| row.get::<_, i64>(0)).unwrap()
    };
    let mut ledger = Ledger::open(&path).unwrap();
    let _ = granted(&mut ledger, &ask(&salaries(), "0.2", None));
    assert_eq!(version(), 1, "as every program reads it");
    ledger.begin_anew(&people(), true).unwrap();
    assert_eq!(version(), 2, "a program that does not know the entry would count for the old unit");
    drop(ledger);
    let mut ledger = Ledger::open(&path).unwrap();
    assert_eq!(ledger.data_set("salaries").unwrap(), Some(people()));
    let _ = granted(&mut ledger, &ask(&people(), "0.2", None));
    ledger.verify(None).unwrap();
    drop(ledger);
    Connection::open(&path).unwrap().execute_batch("PRAGMA user_version = 1").unwrap();
    let said = Ledger::open(&path).unwrap().verify(None).unwrap_err().to_string();
    assert!(said.contains("its version"), "{said}");
    Connection::open(&path).unwrap().execute_batch("PRAGMA user_version = 7").unwrap();
    assert!(matches!(Ledger::open(&path), Err(LedgerError { fault: Fault::Newer { version: 7 }, .. })));
}

#[test]
fn a_newer_layout_is_refused() {
    let (_folder, path) = on_disk();
    drop(Ledger::open(&path).unwrap());
    Connection::open(&path).unwrap().execute_batch("PRAGMA user_version = 7").unwrap();
    for result in [Ledger::open(&path), Ledger::open_read_only(&path)] {
        let error = result.err().unwrap();
        assert_eq!((error.exit_code(), &error.fault), (2, &Fault::Newer { version: 7 }));
        assert!(error.to_string().ends_with(
            "its layout has version 7, this program knows version 6 at most; use a newer equipoise"
        ));
    }
}
