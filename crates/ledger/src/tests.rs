//! What the ledger grants, refuses, remembers and notices.

use super::*;
use equipoise_core::{
    adjacency::{Adjacency, Unit},
    loss::Approx,
};
use rusqlite::Connection;
use std::{fs, ops::ControlFlow, path::PathBuf};

pub(super) fn loss(eps: &str, delta: &str) -> Approx {
    let amount = |text: &str| equipoise_core::loss::Amount::new(text.parse().unwrap()).unwrap();
    Approx { eps: amount(eps), delta: amount(delta) }
}

pub(super) fn salaries() -> DataSet {
    DataSet { name: "salaries".into(), unit: Unit::Row, adjacency: Adjacency::AddRemove }
}

pub(super) fn request(eps: &str) -> ChargeRequest {
    ChargeRequest {
        data_set: salaries(),
        analyst: None,
        request_id: None,
        request: format!("{{\"epsilon\":\"{eps}\"}}"),
        question: "{\"statistic\":\"median\"}".into(),
        cost: loss(eps, "0").into(),
        windows: None,
    }
}

fn named(eps: &str, analyst: &str, request_id: &str) -> ChargeRequest {
    let some = |text: &str| (!text.is_empty()).then(|| text.to_string());
    ChargeRequest { analyst: some(analyst), request_id: some(request_id), ..request(eps) }
}

pub(super) fn granted(ledger: &mut Ledger, request: &ChargeRequest) -> Charge {
    match ledger.charge(request) {
        Ok(Charging::Granted(charge)) => charge,
        other => panic!("not granted: {other:?}"),
    }
}

/// Everything that the export says.
pub(super) fn exported(ledger: &Ledger) -> String {
    let mut text = String::new();
    let mut take = |piece: &str| {
        text.push_str(piece);
        ControlFlow::Continue(())
    };
    ledger.export(&mut take).unwrap();
    text
}

/// Everything that the log says.
pub(super) fn logged(ledger: &Ledger) -> Vec<Entry> {
    let mut entries = Vec::new();
    let mut take = |entry: &Entry| {
        entries.push(entry.clone());
        ControlFlow::Continue(())
    };
    ledger.each_entry(None, &mut take).unwrap();
    entries
}

/// A folder of its own with a ledger in it.
pub(super) fn on_disk() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("test.ledger");
    (folder, path)
}

/// A ledger with a limit of 1 and a registered data set.
pub(super) fn limited(eps: &str) -> Ledger {
    let mut ledger = Ledger::in_memory().unwrap();
    ledger.register(&salaries(), None).unwrap();
    ledger.set_limit("salaries", None, Some(&loss(eps, "0").into())).unwrap();
    ledger
}

#[test]
fn without_a_limit_it_counts() {
    let mut ledger = Ledger::in_memory().unwrap();
    assert_eq!(ledger.data_set("salaries").unwrap(), None);
    for _ in 0..3 {
        let _ = granted(&mut ledger, &request("0.1"));
    }
    assert_eq!(ledger.data_set("salaries").unwrap(), Some(salaries()));
    let balance = ledger.balance("salaries", None).unwrap();
    assert_eq!((balance.spent(), balance.limit(), balance.remaining()), (&loss("0.3", "0"), None, None));
    assert!(balance.data_set.spent.zcdp.is_some());
}

#[test]
fn with_a_limit_it_refuses_what_does_not_fit() {
    let mut ledger = limited("1");
    let charge = granted(&mut ledger, &request("0.7"));
    assert_eq!(charge.balance().remaining(), Some(loss("0.3", "0").into()));
    let error = ledger.charge(&request("0.4")).unwrap_err();
    assert_eq!(error.exit_code(), 4);
    assert_eq!(
        error.to_string(),
        "the budget of data set 'salaries' has epsilon 0.3 left of 1, and 0.4 was asked for; \
         ask for less, or have its steward raise it with 'equipoise budget set'"
    );
    let ChargeError::OverBudget(over) = error else { panic!("{error:?}") };
    let limit = |eps: &str| Some(Limit::Approx(loss(eps, "0")));
    assert_eq!((over.spent, over.requested), (limit("0.7"), limit("0.4")));
    assert_eq!((over.remaining, over.limit), (loss("0.3", "0").into(), loss("1", "0").into()));
    // To the last digit, and nothing beyond; a delta has no budget here.
    let mut delta = request("0.1");
    delta.cost = loss("0.1", "1e-9").into();
    let error = ledger.charge(&delta).unwrap_err().to_string();
    assert!(error.contains("has delta 0 left of 0, and 0.000000001 was asked for;"), "{error}");
    let _ = granted(&mut ledger, &request("0.3"));
    assert_eq!(ledger.charge(&request("1e-50")).unwrap_err().exit_code(), 4);
    assert_eq!(ledger.verify(None).unwrap().charges, 2);
}

/// A limit without a delta, after answers that had one, once said "delta 0 left of 0, and 0 was asked for", beside an epsilon that was left.
#[test]
fn a_limit_below_what_was_spent_says_so_and_leaves_nothing() {
    let mut ledger = Ledger::in_memory().unwrap();
    ledger.register(&salaries(), None).unwrap();
    let _ = granted(&mut ledger, &ChargeRequest { cost: loss("0.5", "1e-6").into(), ..request("1") });
    let balance = ledger.set_limit("salaries", None, Some(&Limit::Approx(loss("3", "0")))).unwrap();
    assert_eq!(balance.remaining(), Some(loss("0", "0").into()));
    let error = ledger.charge(&request("0.1")).unwrap_err();
    assert_eq!(error.exit_code(), 4);
    assert_eq!(
        error.to_string(),
        "the budget of data set 'salaries' is delta 0, and 0.000001 is spent already, so that no question fits; have its steward \
         raise it with 'equipoise budget set'"
    );
}

/// What does not fit a line of the ledger is charged above what it costs, and allowed below what was said.
#[test]
fn what_is_too_long_to_be_written_is_rounded_against_who_asks() {
    let long = format!("1/{}", "3".repeat(120));
    let mut ledger = Ledger::in_memory().unwrap();
    ledger.register(&salaries(), None).unwrap();
    let charge = granted(&mut ledger, &ChargeRequest { cost: loss(&long, &long).into(), ..request("1") });
    assert_eq!(charge.cost().approx, loss("1e-60", "1e-60"));
    assert_eq!(charge.balance().spent(), &loss("1e-60", "1e-60"));
    let limit = Limit::Approx(loss(&format!("1{}/{}", "0".repeat(120), "3".repeat(120)), &long));
    let allowed = ledger.set_limit("salaries", None, Some(&limit)).unwrap().limit().unwrap();
    assert!(allowed.parts()[1].is_zero());
    assert!(allowed.parts()[0].to_string() == "3" && allowed.parts()[0] < limit.parts()[0]);
}

#[test]
fn an_analyst_has_a_limit_within_that_of_all() {
    let mut ledger = limited("2");
    ledger.set_limit("salaries", Some("ada"), Some(&loss("1", "0").into())).unwrap();
    let _ = granted(&mut ledger, &named("0.8", "ada", ""));
    let error = ledger.charge(&named("0.3", "ada", "")).unwrap_err().to_string();
    assert!(
        error.starts_with("the budget of data set 'salaries' for analyst 'ada' has epsilon 0.2"),
        "{error}"
    );
    let _ = granted(&mut ledger, &named("1.1", "bob", ""));
    let balance = ledger.balance("salaries", Some("ada")).unwrap();
    assert_eq!(balance.remaining(), Some(loss("0.1", "0").into()));
    assert_eq!(balance.analyst.unwrap().remaining(), Some(loss("0.2", "0").into()));
    let error = ledger.charge(&named("0.2", "ada", "")).unwrap_err().to_string();
    assert!(error.starts_with("the budget of data set 'salaries' has epsilon 0.1 left of 2"), "{error}");
    assert_eq!(ledger.balance("salaries", Some("bob")).unwrap().analyst.unwrap().limit, None);
    assert_eq!(ledger.analysts("salaries").unwrap(), ["ada", "bob"]);
    ledger.verify(None).unwrap();
}

#[test]
fn a_limit_counts_what_was_spent_before_it() {
    let mut ledger = Ledger::in_memory().unwrap();
    let _ = granted(&mut ledger, &request("3"));
    let balance = ledger.set_limit("salaries", None, Some(&loss("1", "0").into())).unwrap();
    assert_eq!(balance.remaining(), Some(loss("0", "0").into()));
    let mut free = request("1");
    free.cost = Cost::nothing();
    for request in [&request("1e-9"), &free] {
        assert_eq!(ledger.charge(request).unwrap_err().exit_code(), 4);
    }
    ledger.set_limit("salaries", None, Some(&loss("4", "0").into())).unwrap();
    let _ = granted(&mut ledger, &request("1"));
    ledger.set_limit("salaries", None, None).unwrap();
    let _ = granted(&mut ledger, &request("9"));
    ledger.verify(None).unwrap();
}

#[test]
fn limits_close_the_ledger_to_unknown_names() {
    let mut ledger = limited("1");
    let mut other = request("0.1");
    other.data_set.name = "copy of salaries".into();
    let error = ledger.charge(&other).unwrap_err();
    assert_eq!(error.exit_code(), 2);
    assert_eq!(
        error.to_string(),
        "data set 'copy of salaries' is not registered, and this ledger has limits; \
         its steward registers it with 'equipoise budget set'"
    );
    let error = ledger.set_limit("nothing", None, Some(&loss("1", "0").into())).unwrap_err();
    assert!(matches!(error, RegisterError::DataSet(DataSetError::Unregistered { .. })));
}

#[test]
fn unit_and_adjacency_are_fixed_by_the_first_use() {
    let mut ledger = Ledger::in_memory().unwrap();
    let _ = granted(&mut ledger, &request("1"));
    let mut other = request("1");
    other.data_set.adjacency = Adjacency::Replace;
    assert_eq!(
        ledger.charge(&other).unwrap_err().to_string(),
        "data set 'salaries' is registered under add-remove, not replace; ask with `adjacency=add-remove`"
    );
    let mut other = salaries();
    other.unit = Unit::Column("user".into());
    assert_eq!(
        ledger.register(&other, None).unwrap_err().to_string(),
        "data set 'salaries' is registered with unit row, not user; ask with no `unit`"
    );
    assert_eq!(ledger.data_sets().unwrap(), [salaries()]);
}

#[test]
fn asking_again_is_free_and_gives_the_same_answer() {
    let mut ledger = limited("1");
    let ask = named("0.7", "ada", "monday");
    let charge = granted(&mut ledger, &ask);
    let error = ledger.charge(&ask).unwrap_err();
    assert_eq!((error.exit_code(), matches!(error, ChargeError::Lost { .. })), (1, true));
    assert!(error.to_string().contains("no answer was recorded: it is lost, or still being computed"));
    let receipt = ledger.record(&charge, "{\"value\":7}").unwrap();
    assert_eq!((receipt.id.as_str(), receipt.ledger.as_ref()), (charge.id(), None));
    for _ in 0..2 {
        let Ok(Charging::Replay(again)) = ledger.charge(&ask) else { panic!("not a replay") };
        assert_eq!(again, Recorded { release: "{\"value\":7}".into(), receipt: receipt.clone() });
    }
    // Another request under the id, also one that differs in its data set only; another analyst's id.
    let mut elsewhere = ask.clone();
    elsewhere.data_set.name = "elsewhere".into();
    for other in [&named("0.1", "ada", "monday"), &elsewhere] {
        let error = ledger.charge(other).unwrap_err();
        assert_eq!(
            (error.exit_code(), error.to_string().as_str()),
            (2, "request id 'monday' was used for another request; give this one an id of its own")
        );
    }
    let _ = granted(&mut ledger, &named("0.1", "bob", "monday"));
    let verified = ledger.verify(None).unwrap();
    assert_eq!((verified.charges, verified.recorded, verified.lost), (2, 1, 1));
}

#[test]
fn a_charge_is_recorded_once_and_where_it_was_made() {
    let (mut ledger, mut other) = (Ledger::in_memory().unwrap(), Ledger::in_memory().unwrap());
    let charge = granted(&mut ledger, &request("1"));
    let fault = |result: Result<Receipt, LedgerError>| result.unwrap_err().fault;
    assert_eq!(fault(other.record(&charge, "{}")), Fault::NotItsCharge);
    ledger.record(&charge, "{}").unwrap();
    assert_eq!(fault(ledger.record(&charge, "{}")), Fault::AlreadyRecorded);
}

#[test]
fn a_receipt_leads_to_its_charge() {
    let mut ledger = limited("1");
    let charge = granted(&mut ledger, &named("0.5", "ada", "r"));
    let (entry, answer) = ledger.find(charge.id()).unwrap().unwrap();
    assert_eq!((entry.analyst.as_deref(), answer), (Some("ada"), None));
    let receipt = ledger.record(&charge, "{\"value\":1}").unwrap();
    let (entry, answer) = ledger.find(&receipt.id).unwrap().unwrap();
    assert!(matches!(entry.event, Event::Charged { request_id: Some(_), .. }));
    assert_eq!(answer.unwrap().receipt, receipt);
    assert_eq!(ledger.find("nothing").unwrap(), None);
}

#[test]
fn the_same_content_under_another_name_is_noticed() {
    let (_folder, path) = on_disk();
    let mut ledger = Ledger::open(&path).unwrap();
    let first = ledger.register(&salaries(), Some(&mut &b"a\n1\n"[..])).unwrap();
    assert_eq!(first, Registration { new: true, same_content: vec![] });
    let again = ledger.register(&salaries(), Some(&mut &b"a\n1\n"[..])).unwrap();
    assert_eq!(again, Registration { new: false, same_content: vec![] });
    let copy = DataSet { name: "copy".into(), ..salaries() };
    let warned = ledger.register(&copy, Some(&mut &b"a\n1\n"[..])).unwrap();
    assert_eq!(warned, Registration { new: true, same_content: vec!["salaries".into()] });
    let changed = ledger.register(&copy, Some(&mut &b"a\n2\n"[..])).unwrap();
    assert_eq!(changed, Registration { new: false, same_content: vec![] });
    // Once, however often it came back.
    ledger.register(&copy, Some(&mut &b"a\n1\n"[..])).unwrap();
    assert_eq!(ledger.same_content(&mut &b"a\n1\n"[..]).unwrap(), ["copy", "salaries"]);
    // The fingerprint is in the file, and in nothing that is shown.
    let row =
        ledger.read(|entries| latest(entries, entry::kind::REGISTER, "copy", None, "")).unwrap().unwrap();
    let secret = row.fingerprint().unwrap();
    for shown in [format!("{:?}", logged(&ledger)), exported(&ledger)] {
        assert!(!shown.contains(&secret) && !shown.contains("fingerprint"));
    }
    // Another ledger has another secret.
    let mut other = Ledger::in_memory().unwrap();
    other.register(&copy, Some(&mut &b"a\n2\n"[..])).unwrap();
    let row =
        other.read(|entries| latest(entries, entry::kind::REGISTER, "copy", None, "")).unwrap().unwrap();
    assert_ne!(row.fingerprint().unwrap(), secret);
    ledger.verify(None).unwrap();
}

#[test]
fn names_are_short_and_clean() {
    let mut ledger = Ledger::in_memory().unwrap();
    for bad in ["", "a\nb", &"x".repeat(201)] {
        let mut ask = request("1");
        ask.data_set.name = bad.into();
        assert!(matches!(ledger.charge(&ask), Err(ChargeError::DataSet(DataSetError::BadName { .. }))));
    }
    assert_eq!(
        ledger
            .charge(&ChargeRequest { analyst: Some(String::new()), ..request("1") })
            .unwrap_err()
            .to_string(),
        "analyst '' is not accepted: give 1 to 200 characters without characters that cannot be seen"
    );
    for huge in ["1e13", "1e400"] {
        assert_eq!(
            ledger.charge(&ChargeRequest {
                cost: Cost { approx: loss(huge, "0"), zcdp: None },
                ..request("1")
            }),
            Err(ChargeError::TooMuch { requested: loss(huge, "0") })
        );
    }
    assert_eq!(ledger.verify(None).unwrap().charges, 0);
}

#[test]
fn only_its_owner_reads_it() {
    use std::os::unix::fs::PermissionsExt;
    let (folder, path) = on_disk();
    let mut ledger = Ledger::open(&path).unwrap();
    let charge = granted(&mut ledger, &request("1"));
    let receipt = ledger.record(&charge, "{}").unwrap();
    assert_eq!(receipt.ledger.as_deref(), Some(ledger.id()));
    let mut files = 0;
    for file in fs::read_dir(folder.path()).unwrap() {
        let file = file.unwrap();
        assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600, "{:?}", file.path());
        files += 1;
    }
    assert_eq!(files, 3, "the file, its log and its index");
}

#[test]
fn what_is_written_is_there_after_opening_again() {
    let (_folder, path) = on_disk();
    let receipt = {
        let mut ledger = Ledger::open(&path).unwrap();
        let charge = granted(&mut ledger, &named("0.5", "", "r"));
        ledger.record(&charge, "{}").unwrap()
    };
    let mut ledger = Ledger::open(&path).unwrap();
    assert!(
        matches!(ledger.charge(&named("0.5", "", "r")), Ok(Charging::Replay(again)) if again.receipt == receipt)
    );
    let looked = Ledger::open_read_only(&path).unwrap();
    assert_eq!(looked.balance("salaries", None).unwrap().spent(), &loss("0.5", "0"));
    assert_eq!(looked.head().unwrap(), ledger.head().unwrap());
}

#[test]
fn files_that_are_no_ledger_are_left_alone() {
    let (folder, path) = on_disk();
    let line = |error: LedgerError| {
        let text = error.to_string().replace(&folder.path().display().to_string(), "");
        (error.exit_code(), text)
    };
    let missing = Ledger::open_read_only(&path).err().unwrap();
    assert_eq!(
        line(missing),
        (2, "ledger /test.ledger: there is none yet; the first charge or 'budget set' makes it".to_string())
    );
    assert!(!path.exists(), "looking makes nothing");
    let directory = Ledger::open(folder.path()).err().unwrap();
    assert_eq!(line(directory), (2, "ledger : not a file; name a file with `ledger`".to_string()));

    for content in ["salary\n1\n2\n".to_string(), "x".repeat(5000)] {
        fs::write(&path, &content).unwrap();
        for result in [Ledger::open(&path), Ledger::open_read_only(&path)] {
            assert_eq!(
                line(result.err().unwrap()),
                (
                    2,
                    "ledger /test.ledger: not a ledger of Equipoise, left as it is; name another file with `ledger`"
                        .to_string()
                )
            );
        }
        assert_eq!(fs::read_to_string(&path).unwrap(), content);
        fs::remove_file(&path).unwrap();
    }
    // Somebody else's database.
    Connection::open(&path).unwrap().execute_batch("CREATE TABLE theirs (x)").unwrap();
    let before = fs::read(&path).unwrap();
    assert_eq!(Ledger::open(&path).err().unwrap().fault, Fault::NotALedger);
    assert_eq!(fs::read(&path).unwrap(), before);
    let nowhere = Ledger::open(&folder.path().join("no/such/folder.ledger")).err().unwrap();
    assert_eq!((&nowhere.fault, nowhere.exit_code()), (&Fault::NoAccess, 2), "{nowhere}");
}

#[test]
fn a_read_only_ledger_is_looked_at_and_not_charged() {
    let (_folder, path) = on_disk();
    drop(Ledger::open(&path).unwrap());
    let mut looked = Ledger::open_read_only(&path).unwrap();
    let error = looked.charge(&request("1")).unwrap_err();
    assert_eq!(error.exit_code(), 2);
    assert!(error.to_string().contains("read-only; make it and its folder writable"));
    drop(looked);
    let mut permissions = fs::metadata(&path).unwrap().permissions();
    permissions.set_readonly(true);
    fs::set_permissions(&path, permissions).unwrap();
    assert_eq!(Ledger::open(&path).err().unwrap().fault, Fault::ReadOnly);
    assert!(Ledger::open_read_only(&path).is_ok());
}

#[test]
fn an_empty_file_becomes_a_ledger() {
    // What a crash between making the file and beginning the ledger leaves.
    let (_folder, path) = on_disk();
    fs::write(&path, "").unwrap();
    assert_eq!(Ledger::open_read_only(&path).err().unwrap().fault, Fault::Missing);
    Ledger::open(&path).unwrap().verify(None).unwrap();
}

#[test]
fn the_export_names_events_that_dp_accounting_knows() {
    let mut ledger = Ledger::in_memory().unwrap();
    let mut third = request("1/3");
    third.cost = loss("1/3", "1e-6").into();
    let _ = granted(&mut ledger, &third);
    let _ = granted(&mut ledger, &request("0.1"));
    let export: serde_json::Value = serde_json::from_str(&exported(&ledger)).unwrap();
    let data_set = &export["data_sets"][0];
    assert_eq!((&data_set["name"], &data_set["unit"]), (&"salaries".into(), &"row".into()));
    assert_eq!(data_set["charges"][0]["epsilon"], "1/3");
    assert_eq!(data_set["charges"][0]["question"]["statistic"], "median");
    assert_eq!(data_set["event_delta"], "0.000001");
    let event = &data_set["event"];
    assert_eq!(event["class_name"], "ComposedDpEvent");
    let events = event["events"].as_array().unwrap();
    assert_eq!((&events[1]["class_name"], &events[1]["xi"]), (&"ZCDpEvent".into(), &0.0.into()));
    // 0.1·tanh(0.05) = 0.0049958374957879972…
    let rho = events[1]["rho"].as_f64().unwrap();
    assert!(rho > 0.004_995_837_495_787_9 && rho < 0.004_995_837_495_788_1, "{rho}");
    // Without a known rho there is no event that holds.
    let mut plain = request("1");
    plain.cost.zcdp = None;
    let _ = granted(&mut ledger, &plain);
    assert!(exported(&ledger).contains("UnsupportedDpEvent"));
}

#[test]
fn a_file_that_was_replaced_takes_no_charges() {
    let (_folder, path) = on_disk();
    let mut ledger = Ledger::open(&path).unwrap();
    let charge = granted(&mut ledger, &request("1"));
    fs::rename(&path, path.with_extension("away")).unwrap();
    for _ in 0..2 {
        let error = ledger.charge(&request("1")).unwrap_err().to_string();
        assert!(error.ends_with("removed or replaced while it was open; open it again; nothing was charged"));
        assert_eq!(ledger.record(&charge, "{}").unwrap_err().fault, Fault::Replaced);
        // The second time, another file stands there.
        fs::write(&path, "").unwrap();
    }
    fs::rename(path.with_extension("away"), &path).unwrap();
    ledger.record(&charge, "{}").unwrap();
}

#[test]
fn a_forked_child_opens_its_own() {
    let (_folder, path) = on_disk();
    let mut ledger = Ledger::open(&path).unwrap();
    ledger.shared.pretend_a_fork_that_nobody_saw();
    let error = ledger.charge(&request("1")).unwrap_err().to_string();
    assert!(error.ends_with("opened before a fork; open it again in the child; nothing was charged"));
    assert_eq!(ledger.head().unwrap_err().fault, Fault::Forked);
}

/// Closing a file lets go of all locks that a process has on it, those of the parent's own connection too.
#[cfg(target_os = "linux")]
#[test]
fn a_forked_child_does_not_close_what_its_parent_opened() {
    let (folder, path) = on_disk();
    let open = || {
        let files = fs::read_dir("/proc/self/fd").unwrap();
        let inside = |file: &PathBuf| fs::read_link(file).is_ok_and(|to| to.starts_with(folder.path()));
        files.map(|file| file.unwrap().path()).filter(inside).count()
    };
    let ledger = Ledger::open(&path).unwrap();
    let before = open();
    assert!(before > 0);
    ledger.shared.pretend_a_fork_that_nobody_saw();
    drop(ledger);
    assert_eq!(open(), before);
    // Its own is closed.
    let ledger = Ledger::open(&path.with_extension("other")).unwrap();
    assert!(open() > before);
    drop(ledger);
    assert_eq!(open(), before);
}

#[test]
fn a_file_in_a_folder_without_write_access_can_be_looked_at() {
    let (folder, path) = on_disk();
    drop(Ledger::open(&path).unwrap());
    let odd = folder.path().join("a b%41?#\u{e9}.ledger");
    fs::rename(&path, &odd).unwrap();
    let flags = rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY | rusqlite::OpenFlags::SQLITE_OPEN_URI;
    let connection = sqlite::connect(&sqlite::frozen(&odd), flags).unwrap();
    assert!(sqlite::recognise(&connection).unwrap());
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "no file is made beside it");
}

#[test]
fn every_look_up_uses_an_index() {
    let ledger = Ledger::in_memory().unwrap();
    let everybody = "SELECT number FROM entries WHERE kind = ?1 AND data_set = ?2 AND ?3 = '' \
                     ORDER BY number DESC LIMIT 1";
    let analyst = "SELECT number FROM entries WHERE kind = ?1 AND data_set = ?2 AND analyst = ?3 \
                   ORDER BY number DESC LIMIT 1";
    let request = "SELECT number FROM entries WHERE analyst = ?1 AND request_id = ?2";
    let id = "SELECT number FROM entries WHERE id = ?1 AND kind = ?2";
    for (sql, index) in [
        (everybody, "entries_by_data_set"),
        (analyst, "entries_by_analyst"),
        (request, "charges_by_request"),
        (id, "entries_by_id"),
    ] {
        let parameters = vec![Value::from(""); (1..=9).filter(|n| sql.contains(&format!("?{n}"))).count()];
        let explain = format!("EXPLAIN QUERY PLAN {sql}");
        let plan = ledger.read(|entries| entries.rows(&explain, &parameters)).unwrap();
        let plan = format!("{plan:?}");
        assert!(plan.contains(index) && !plan.contains("SCAN") && !plan.contains("B-TREE"), "{sql}: {plan}");
    }
}

/// A fork of the process waited, and so did every other thread, until whoever reads the log had taken all of it.
#[test]
fn the_ledger_is_free_while_its_entries_are_handed_over() {
    let mut ledger = Ledger::in_memory().unwrap();
    for _ in 0..3 {
        let _ = granted(&mut ledger, &request("0.1"));
    }
    let (shared, mut charges) = (ledger.share(), 0);
    let busy = || {
        let (shared, (done, finished)) = (shared.clone(), std::sync::mpsc::channel());
        std::thread::spawn(move || {
            let _ = granted(&mut shared.take().unwrap(), &request("0.1"));
            done.send(()).unwrap();
        });
        let free = finished.recv_timeout(std::time::Duration::from_secs(20)).is_ok();
        assert!(free, "another thread can charge meanwhile");
        ControlFlow::Continue(())
    };
    ledger
        .each_entry(None, &mut |entry| {
            charges += u32::from(matches!(entry.event, Event::Charged { .. }));
            busy()
        })
        .unwrap();
    assert_eq!(charges, 3, "what was charged meanwhile is not of the state that is told");
    let mut text = String::new();
    let mut pieces = 0;
    ledger
        .export(&mut |piece| {
            text.push_str(piece);
            pieces += 1;
            if pieces == 5 { busy() } else { ControlFlow::Continue(()) }
        })
        .unwrap();
    let document: serde_json::Value = serde_json::from_str(&text).unwrap();
    let before = ledger.verify(None).unwrap().charges - 1;
    assert_eq!(document["data_sets"][0]["charges"].as_array().unwrap().len() as u64, before);
}

#[test]
fn every_fault_is_one_line_with_a_next_step() {
    let (busy, damaged) = (Fault::Busy, Fault::Damaged { entry: 7, what: "its body is not JSON".into() });
    for (fault, expected) in [
        (
            Fault::NoAccess,
            "it, or a file beside it, cannot be opened; get access to it and its folder or name another with `ledger`",
        ),
        (
            Fault::NoSharedMemory,
            "its file system cannot share memory between processes; put it on a local disk with `ledger`",
        ),
        (busy, "busy for a minute; nothing was written, try again"),
        (Fault::Full, "no space left on its disk; free some and try again"),
        (damaged, "damaged at entry 7: its body is not JSON; run 'equipoise budget verify'"),
    ] {
        let error = LedgerError { path: Some("x\n.ledger".into()), fault };
        assert_eq!(error.to_string(), format!("ledger x\\u{{a}}.ledger: {expected}"));
    }
    let long = LedgerError { path: Some("y".repeat(500).into()), fault: Fault::Full }.to_string();
    assert!(long.starts_with("ledger ...yyy") && long.len() < 300, "{long}");
}

#[test]
fn a_limit_in_rho_is_a_filter_of_its_own() {
    let mut ledger = Ledger::in_memory().unwrap();
    ledger.register(&salaries(), None).unwrap();
    let zcdp = |rho: &str| {
        Limit::Zcdp(equipoise_core::loss::Zcdp {
            rho: equipoise_core::loss::Amount::new(rho.parse().unwrap()).unwrap(),
            delta: equipoise_core::loss::Amount::zero(),
        })
    };
    ledger.set_limit("salaries", None, Some(&zcdp("0.05"))).unwrap();
    // Epsilon 0.1 is 0.1·tanh(0.05) in rho, a little below 0.005: ten fit, where eleven do not.
    for _ in 0..10 {
        assert!(matches!(ledger.charge(&request("0.1")), Ok(Charging::Granted(_))));
    }
    let error = ledger.charge(&request("0.1")).unwrap_err();
    assert_eq!(error.exit_code(), 4);
    let said = error.to_string();
    assert!(
        said.contains(" has rho 0.000") && said.contains("left of 0.05") && !said.contains("epsilon"),
        "{said}"
    );
    // A charge with a delta needs room for it too.
    ledger.set_limit("salaries", None, Some(&zcdp("1"))).unwrap();
    let with_delta = ChargeRequest { cost: loss("0.1", "1e-9").into(), ..request("0.1") };
    let said = ledger.charge(&with_delta).unwrap_err().to_string();
    assert!(said.contains("delta 0 left of 0"), "{said}");
    assert_eq!(ledger.verify(None).unwrap().charges, 10);
    // The same sum read both ways: basic adds to 1, concentrated says less at a delta.
    let balance = ledger.balance("salaries", None).unwrap();
    assert_eq!(*balance.spent(), loss("1", "0"));
    assert!(balance.data_set.spent.zcdp.is_some());
}

#[test]
fn a_limit_at_a_renyi_order_counts_what_was_spent_before_and_verifies() {
    let mut ledger = Ledger::in_memory().unwrap();
    ledger.register(&salaries(), None).unwrap();
    for _ in 0..5 {
        assert!(matches!(ledger.charge(&request("0.1")), Ok(Charging::Granted(_))));
    }
    let (eps, delta) = ("1".parse().unwrap(), "1e-6".parse().unwrap());
    let limit = Limit::within(&eps, &delta, Accountant::Renyi).unwrap();
    ledger.set_limit("salaries", None, Some(&limit)).unwrap();
    let mut granted = 5;
    let error = loop {
        match ledger.charge(&request("0.01")) {
            Ok(Charging::Granted(_)) => granted += 1,
            Ok(other) => panic!("{other:?}"),
            Err(error) => break error,
        }
    };
    let said = error.to_string();
    assert!(error.exit_code() == 4 && said.contains(" has divergence at order "), "{said}");
    let account = ledger.balance("salaries", None).unwrap().data_set;
    let spent = account.spent_of_limit().unwrap();
    assert!(limit.allows(&spent) && granted > 5, "{granted}");
    let charges = ledger.charges("salaries", None).unwrap();
    assert_eq!(charges.iter().map(|(_, count)| count).sum::<u64>(), granted);
    assert_eq!(limit.spent(&charges).unwrap(), spent, "the sum as read is the sum as charged");
    assert_eq!(ledger.verify(None).unwrap().charges, granted);
    // A limit in another currency starts from the same charges.
    ledger.set_limit("salaries", None, Some(&Limit::Approx(loss("1", "0")))).unwrap();
    assert!(ledger.balance("salaries", None).unwrap().data_set.at_order.is_none());
    assert_eq!(ledger.verify(None).unwrap().charges, granted);
}

#[test]
fn an_analyst_at_an_order_is_counted_alone() {
    let mut ledger = Ledger::in_memory().unwrap();
    ledger.register(&salaries(), None).unwrap();
    let ana = ChargeRequest { analyst: Some("ana".into()), ..request("0.3") };
    assert!(matches!(ledger.charge(&request("0.9")), Ok(Charging::Granted(_))));
    assert!(matches!(ledger.charge(&ana), Ok(Charging::Granted(_))));
    let limit = Limit::within(&"2".parse().unwrap(), &"1e-6".parse().unwrap(), Accountant::Renyi).unwrap();
    ledger.set_limit("salaries", Some("ana"), Some(&limit)).unwrap();
    let balance = ledger.balance("salaries", Some("ana")).unwrap();
    assert_eq!(balance.data_set.at_order, None);
    let spent = balance.analyst.unwrap().spent_of_limit();
    assert_eq!(spent, limit.spent(&[(ana.cost.clone(), 1)]));
}
