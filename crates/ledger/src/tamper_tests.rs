//! Whoever edits the file is found out: every column of every row, rows dropped, added and swapped.

use super::{
    tests::{granted, loss, on_disk, request, salaries},
    *,
};
use crate::file_id::FileId;
use equipoise_core::adjacency::Unit;
use rusqlite::Connection;

/// A ledger with an entry of every kind and of every shape, closed.
fn made(path: &Path) -> u64 {
    let mut ledger = Ledger::open(path).unwrap();
    ledger.register(&salaries(), Some(&mut &b"1\n2\n"[..])).unwrap();
    ledger.set_limit("salaries", None, Some(&loss("2", "1e-6").into())).unwrap();
    for analyst in [None, Some("ada".to_string())] {
        // From here on nobody asks without a name.
        if let Some(name) = &analyst {
            ledger.set_limit("salaries", Some(name), Some(&loss("1", "0").into())).unwrap();
        }
        for request_id in [None, Some("r".to_string())] {
            let ask = ChargeRequest { analyst: analyst.clone(), request_id, ..request("0.5") };
            let charge = granted(&mut ledger, &ask);
            ledger.record(&charge, "{\"value\":1}").unwrap();
        }
    }
    ledger.verify(None).unwrap().head.entries
}

/// The same, and then begun anew for people, with a charge, and back for rows.
fn made_anew(path: &Path) -> u64 {
    made(path);
    let mut ledger = Ledger::open(path).unwrap();
    let people = DataSet { unit: Unit::Column("person".into()), ..salaries() };
    for data_set in [people, salaries()] {
        ledger.begin_anew(&data_set, true).unwrap();
        ledger.set_limit("salaries", None, Some(&loss("9", "1e-6").into())).unwrap();
        let charge = granted(&mut ledger, &ChargeRequest { data_set, ..by_ben() });
        ledger.record(&charge, "{\"value\":1}").unwrap();
    }
    // Its file, apart from a limit elsewhere, and a monitor's file.
    let elsewhere = path.with_extension("other");
    Ledger::open(&elsewhere).unwrap().register(&salaries(), None).unwrap();
    let file = FileId::from_words([1, 2, 3]);
    let apart = vec![Elsewhere { ledger: elsewhere, data_set: "salaries".into() }];
    ledger.expect("salaries", Expected { files: vec![file], apart });
    let charge = granted(&mut ledger, &by_ben());
    ledger.record(&charge, "{\"value\":1}").unwrap();
    assert!(ledger.adopt(charge.id(), file).unwrap());
    ledger.verify(None).unwrap().head.entries
}

/// Of an analyst without a limit.
fn by_ben() -> ChargeRequest {
    ChargeRequest { analyst: Some("ben".into()), ..request("0.5") }
}

/// Opens without any of our care, and takes away what protects against accidents.
fn raw(path: &Path) -> Connection {
    let connection = Connection::open(path).unwrap();
    connection.execute_batch("DROP TRIGGER entries_stay; DROP TRIGGER entries_are_final").unwrap();
    connection
}

/// Puts the protection back, so that only the edit itself can be noticed.
fn restore(connection: &Connection) {
    for statement in sqlite::SCHEMA.iter().filter(|statement| statement.contains("TRIGGER")) {
        connection.execute_batch(statement).unwrap();
    }
}

/// Where the ledger no longer verifies after this was done to a copy of it.
fn found_at(original: &Path, edit: &str) -> Result<u64, String> {
    let (_folder, path) = on_disk();
    std::fs::copy(original, &path).unwrap();
    let connection = raw(&path);
    connection.execute_batch(edit).unwrap_or_else(|error| panic!("{edit}: {error}"));
    restore(&connection);
    drop(connection);
    let ledger = match Ledger::open_read_only(&path) {
        Ok(ledger) => ledger,
        Err(error) => return Err(format!("cannot be opened: {error}")),
    };
    match ledger.verify(None) {
        Ok(_) => Err("not found out".to_string()),
        Err(VerifyError::Broken { entry, .. }) => Ok(entry),
        Err(VerifyError::Ledger(error)) => Err(format!("cannot be read: {error}")),
    }
}

#[test]
fn an_untouched_copy_verifies() {
    let (_folder, path) = on_disk();
    made(&path);
    assert_eq!(found_at(&path, ""), Err("not found out".to_string()));
}

#[test]
fn an_edit_of_any_column_of_any_row_is_found_out() {
    let (_folder, path) = on_disk();
    let entries = made_anew(&path);
    let mut edits = 0;
    for number in 1..=entries {
        for column in ROW.split(", ") {
            let new = match column {
                "number" => "number + 1000".to_string(),
                "request_id" => "coalesce(request_id, '') || 'x'".to_string(),
                // The last character becomes another one.
                "hash" | "id" => format!(
                    "substr({column}, 1, length({column}) - 1) || \
                     CASE substr({column}, -1) WHEN '0' THEN '1' ELSE '0' END"
                ),
                "body" => "replace(replace(body, '0.5', '0.4'), '}', ' }')".to_string(),
                _ => format!("{column} || 'x'"),
            };
            let edit = format!("UPDATE entries SET {column} = {new} WHERE number = {number}");
            let found = found_at(&path, &edit).unwrap_or_else(|what| panic!("{edit}: {what}"));
            // The file as a whole, the entry itself, or the one whose number is now missing.
            assert!(found == 0 || found == number, "{edit}: said to be at {found}");
            edits += 1;
        }
    }
    assert_eq!(edits, entries * 9);
}

#[test]
fn rows_dropped_added_or_swapped_are_found_out() {
    let (_folder, path) = on_disk();
    let entries = made_anew(&path);
    for number in 1..entries {
        let found = found_at(&path, &format!("DELETE FROM entries WHERE number = {number}")).unwrap();
        assert!(found == 0 || found == number, "{number}: {found}");
        let close_the_gap = format!(
            "DELETE FROM entries WHERE number = {number};
             UPDATE entries SET number = number - 1 WHERE number > {number}"
        );
        let found = found_at(&path, &close_the_gap).unwrap();
        assert!(found == 0 || found == number, "{number}: {found}");
        let swap = format!(
            "UPDATE entries SET number = 1000 WHERE number = {number};
             UPDATE entries SET number = {number} WHERE number = {number} + 1;
             UPDATE entries SET number = {number} + 1 WHERE number = 1000"
        );
        let found = found_at(&path, &swap).unwrap();
        assert!(found == 0 || found == number, "{number}: {found}");
    }
    let added = format!(
        "INSERT INTO entries SELECT {entries} + 1, kind, id || 'x', time, data_set, analyst, NULL, body, hash \
         FROM entries WHERE number = {entries}"
    );
    assert_eq!(found_at(&path, &added), Ok(entries + 1));
}

#[test]
fn the_secret_and_the_tables_are_covered() {
    let (_folder, path) = on_disk();
    made(&path);
    for edit in [
        "UPDATE secret SET secret = zeroblob(32)",
        "DELETE FROM secret",
        "INSERT INTO secret SELECT * FROM secret",
        "CREATE TRIGGER sly AFTER INSERT ON entries BEGIN DELETE FROM secret; END",
        "DROP INDEX charges_by_request",
        "CREATE TABLE more (x)",
        "PRAGMA user_version = 2",
    ] {
        assert_eq!(found_at(&path, edit), Ok(0), "{edit}");
    }
}

/// Who recomputes the hashes leaves a good chain, but sums and limits speak against them, or a kept head does.
#[test]
fn a_new_chain_over_edited_charges_is_found_out() {
    let rechained = |edit: &str| {
        let (_folder, path) = on_disk();
        made_anew(&path);
        let kept = Ledger::open_read_only(&path).unwrap().head().unwrap();
        let connection = raw(&path);
        connection.execute_batch(edit).unwrap();
        let mut before = chain::BEGINNING.to_string();
        let mut rows = Vec::new();
        chain::walk(&connection, |row, _| {
            rows.push(row);
            Ok(())
        })
        .unwrap();
        for row in rows {
            before = chain::hash(&before, &row);
            let new = [&before, &row.number.to_string()];
            connection.execute("UPDATE entries SET hash = ?1 WHERE number = ?2", new).unwrap();
        }
        restore(&connection);
        drop(connection);
        let ledger = Ledger::open_read_only(&path).unwrap();
        let said = |result: Result<Verified, VerifyError>| result.err().map(|error| error.to_string());
        (said(ledger.verify(None)), said(ledger.verify(Some(&kept))))
    };
    let charges: Vec<u64> = vec![4, 6, 9, 11];
    assert_eq!(rechained("").0, None);
    for (edit, expected) in [
        (
            format!(
                "UPDATE entries SET body = replace(body, '\"cost\":{{\"epsilon\":\"0.5\"', \
                 '\"cost\":{{\"epsilon\":\"0.4\"') WHERE number = {}",
                charges[1]
            ),
            "at entry 6: its sum is not that of the charges",
        ),
        (
            "UPDATE entries SET body = replace(body, '\"epsilon\":\"2\"', '\"epsilon\":\"1.5\"') \
             WHERE kind = 'limit'"
                .to_string(),
            "at entry 11: it goes beyond the limit",
        ),
        (
            "UPDATE entries SET id = 'x' WHERE kind = 'record' AND number = 5".to_string(),
            "at entry 5: an answer without a charge before it",
        ),
        // An answer that is taken away contradicts no sum.
        (
            "DELETE FROM entries WHERE kind = 'record' AND number = 5".to_string(),
            "at entry 5: an entry is missing before number 6",
        ),
        (
            "UPDATE entries SET number = -1 WHERE number = 1".to_string(),
            "at entry 1: an entry is missing before number -1",
        ),
        (
            "UPDATE entries SET analyst = 'eve' WHERE kind = 'record' AND number = 5".to_string(),
            "at entry 5: an answer to a charge of another data set or analyst",
        ),
        (
            "UPDATE entries SET data_set = 'other' WHERE number = 4".to_string(),
            "at entry 4: its data set is not registered before it",
        ),
        (
            "UPDATE entries SET body = replace(body, '\"epsilon\":\"2\"', '\"epsilon\":\"1\"') WHERE number = 13"
                .to_string(),
            "at entry 13: its sum of what was spent before is not that of the charges",
        ),
        (
            "UPDATE entries SET body = replace(body, '\"unit\":\"person\"', '\"unit\":null') WHERE number = 13".to_string(),
            "at entry 13: it does not begin anew from the unit and adjacency in force",
        ),
        (
            "UPDATE entries SET data_set = 'other' WHERE number = 13".to_string(),
            "at entry 13: its data set is not registered before it",
        ),
        (
            "UPDATE entries SET analyst = 'eve' WHERE kind = 'adopt'".to_string(),
            "at entry 25: a file to a charge of another data set or analyst",
        ),
        (
            "UPDATE entries SET body = replace(body, '1:2:3', '1:2:03') WHERE kind = 'files'".to_string(),
            "at entry 21: its body is not that of the kind 'files'",
        ),
        (
            "UPDATE entries SET body = replace(body, '\"here\"', '\"hier\"') WHERE kind = 'apart'".to_string(),
            "at entry 22: its body is not that of the kind 'apart'",
        ),
    ] {
        let (alone, against_kept) = rechained(&edit);
        assert_eq!(alone.as_deref(), Some(&*format!("the ledger does not verify {expected}")), "{edit}");
        assert!(against_kept.is_some());
    }
    // An edit that contradicts nothing inside is found by a head that was kept elsewhere, and only so.
    let (alone, against_kept) =
        rechained("UPDATE entries SET time = '2001-01-01T00:00:00Z' WHERE number = 6");
    assert_eq!(alone, None);
    assert_eq!(
        against_kept.as_deref(),
        Some("the ledger does not verify at entry 25: its hash is not the one that was kept")
    );
}

#[test]
fn an_old_copy_is_found_by_a_kept_head_or_a_later_receipt() {
    let (_folder, path) = on_disk();
    made(&path);
    let old = std::fs::read(&path).unwrap();
    let mut ledger = Ledger::open(&path).unwrap();
    ledger.set_limit("salaries", None, None).unwrap();
    let charge = granted(&mut ledger, &by_ben());
    let receipt = ledger.record(&charge, "{}").unwrap();
    let kept: Head = ledger.head().unwrap().to_string().parse().unwrap();
    ledger.verify(Some(&kept)).unwrap();
    drop(ledger);
    std::fs::write(&path, old).unwrap();
    let ledger = Ledger::open(&path).unwrap();
    ledger.verify(None).unwrap();
    assert_eq!(
        ledger.verify(Some(&kept)).unwrap_err().to_string(),
        "the ledger does not verify: it has 12 entries, and had 15 when its head was kept: an old copy"
    );
    assert_eq!(ledger.find(&receipt.id).unwrap(), None);
    let other = Ledger::in_memory().unwrap();
    assert!(
        other.verify(Some(&kept)).unwrap_err().to_string().contains("the head that was kept is of ledger")
    );
    for text in ["", "a b c", "1 2 3 4"] {
        assert!(text.parse::<Head>().is_err());
    }
}

/// No entry is to blame where there is none.
#[test]
fn a_ledger_without_entries_has_no_head() {
    let (_folder, path) = on_disk();
    let ledger = Ledger::open(&path).unwrap();
    raw(&path).execute_batch("DELETE FROM entries").unwrap();
    let fault = ledger.head().unwrap_err().fault;
    assert_eq!(fault, Fault::Damaged { entry: 0, what: "it has no entries".to_string() });
}

#[test]
fn entries_are_not_edited_by_accident() {
    let (_folder, path) = on_disk();
    made(&path);
    let connection = Connection::open(&path).unwrap();
    for edit in ["DELETE FROM entries", "UPDATE entries SET time = ''"] {
        assert!(connection.execute_batch(edit).unwrap_err().to_string().contains("entries are never"));
    }
}
