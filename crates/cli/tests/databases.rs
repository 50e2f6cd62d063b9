//! Tables of databases where a file name stands: the same answers, the same errors, and one budget however a table is named.

mod support;

use rusqlite::Connection;
use std::fs;
use support::Folder;

/// `people.db` with a table of two hundred people and one of towns.
fn people() -> Folder {
    let folder = Folder::empty();
    let opened = Connection::open(folder.path("people.db")).expect("a database");
    opened
        .execute_batch(
            "CREATE TABLE Salaries (id INTEGER, salary REAL, town TEXT, born DATE, paid DECIMAL(9,2));
             WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)
             INSERT INTO Salaries SELECT i, 1000.0 + i, CASE WHEN i % 2 THEN 'Ayr' ELSE 'Bath' END,
                 date('1970-01-01', '+' || i || ' days'), i / 4.0 FROM n;
             CREATE TABLE towns (name TEXT); INSERT INTO towns VALUES ('Ayr'), ('Bath');
             CREATE VIEW rich AS SELECT * FROM Salaries WHERE salary > 2000;",
        )
        .expect("tables");
    folder
}

fn value(folder: &Folder, line: &str) -> f64 {
    let release = folder.json(line);
    release["value"].as_f64().unwrap_or_else(|| panic!("{release}"))
}

#[test]
fn questions_about_a_table_are_those_about_a_file() {
    let folder = people();
    let near = |line: &str, truth: f64, off: f64| {
        let value = value(&folder, line);
        assert!((value - truth).abs() <= off, "{line}: {value}");
    };
    near("count sqlite:people.db?table=salaries --epsilon 10", 2000.0, 20.0);
    near("median sqlite:people.db?table=salaries salary --epsilon 10", 2000.5, 60.0);
    near("mean sqlite:people.db?table=salaries paid --range 0,500 --epsilon 10", 250.125, 5.0);
    near("count sqlite:people.db?table=towns --epsilon 10", 2.0, 20.0);
    let by =
        folder.json("count sqlite:people.db?table=salaries --group-by town --keys Ayr,Bath --epsilon 10");
    assert_eq!(by["groups"].as_array().map(Vec::len), Some(2), "{by}");
    let day = folder.json("median sqlite:people.db?table=salaries born --epsilon 10");
    assert!(day["value"].as_str().is_some_and(|day| day.starts_with("197")), "{day}");
    let query = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=10) COUNT(*) AS n FROM 'sqlite:people.db?table=salaries'";
    let output = folder.run_words(&["sql", query]);
    assert!(output.status.success(), "{output:?}");
}

#[test]
fn a_table_has_one_budget_however_it_is_named() {
    let folder = people();
    assert_eq!(folder.code("budget set sqlite:people.db?table=salaries --epsilon 1"), 0);
    assert_eq!(folder.code("count sqlite:people.db?table=SALARIES --epsilon 1"), 0);
    assert_eq!(folder.code("count sqlite:people.db?table=Salaries --epsilon 1"), 4);
    std::os::unix::fs::symlink(folder.path("people.db"), folder.path("link.db")).expect("a link");
    assert_eq!(folder.code("count sqlite:link.db?table=salaries --epsilon 1"), 4);
    fs::hard_link(folder.path("people.db"), folder.path("hard.db")).expect("a link");
    let around = |line: &str, next: &str| {
        let output = folder.run(line);
        let said = String::from_utf8(output.stderr).expect("text");
        assert_eq!(output.status.code(), Some(2), "{line}: {said}");
        assert!(said.contains("is limited in the ledger") && said.contains(next), "{line}: {said}");
    };
    around("count sqlite:hard.db?table=salaries --epsilon 1", "ask of 'sqlite:people.db?table=Salaries'");
    around("count sqlite:people.db?table=salaries --epsilon 1 --ledger other.ledger", "name that ledger");
    assert_eq!(folder.code("budget set sqlite:people.db?table=towns --epsilon 1"), 0);
    // Another table of the file has a budget of its own, as another file in a folder has.
    assert_eq!(folder.code("count sqlite:people.db?table=towns --epsilon 1"), 0);
    // Under a new name it is still that table.
    let opened = Connection::open(folder.path("people.db")).expect("a database");
    opened.execute_batch("ALTER TABLE Salaries RENAME TO wages").expect("a new name");
    around("count sqlite:people.db?table=wages --epsilon 1", "give the table its name 'Salaries' back");
}

#[test]
fn what_is_no_table_costs_nothing() {
    let folder = people();
    for (line, said) in [
        ("count sqlite:people.db?table=rich --epsilon 1", "there is no table 'rich' that can be asked about"),
        (
            "count sqlite:people.db --epsilon 1",
            "has several tables; add ?table= with one of: Salaries, towns",
        ),
        ("count people.db --epsilon 1", "is a SQLite database; name a table of it"),
        ("count sqlite:nobody.db?table=t --epsilon 1", "there is no file"),
        ("median sqlite:people.db?table=salaries town --epsilon 1", "town"),
        ("count sqlite:people.db?table=salaries --no-header --epsilon 1", "has a schema of its own"),
        (
            "monitor sqlite:people.db?table=salaries --epsilon 1 --delta 1e-6 --budget-per-unit 2",
            "a monitor watches files",
        ),
    ] {
        let output = folder.run(line);
        let error = String::from_utf8(output.stderr).expect("text");
        assert_eq!(output.status.code(), Some(2), "{line}: {error}");
        assert!(error.contains(said), "{line}: {error}");
    }
    assert!(!folder.path("equipoise.ledger").exists(), "nothing was charged");
}

#[test]
fn a_picture_never_takes_the_place_of_a_database() {
    let folder = people();
    let output = folder.run("median sqlite:people.db?table=salaries salary --epsilon 1 --plot people.db");
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(
        Connection::open(folder.path("people.db"))
            .expect("a database")
            .execute_batch("SELECT * FROM towns")
            .is_ok()
    );
}

/// SQLite would take `file:` for an address of its own; the file that is read is the one that is charged.
#[test]
fn a_name_that_begins_like_an_address_is_a_name() {
    let folder = people();
    let real = folder.path("people.db").canonicalize().expect("a file");
    assert_eq!(folder.code("budget set sqlite:people.db?table=salaries --epsilon 1"), 0);
    let decoy = folder.path("elsewhere").join(format!("file:{}", real.display()));
    fs::create_dir_all(decoy.parent().expect("a folder")).expect("folders");
    let opened = Connection::open(folder.path("decoy.db")).expect("a database");
    opened
        .execute_batch("CREATE TABLE salaries (salary REAL); INSERT INTO salaries VALUES (1), (2)")
        .expect("rows");
    drop(opened);
    fs::rename(folder.path("decoy.db"), &decoy).expect("a place");
    let address = format!("sqlite:file:{}?table=salaries", real.display());
    let words = ["count", &address, "--epsilon", "10", "--ledger", "mine.ledger", "--json"];
    let mut command = folder.command(&words);
    let output = command.current_dir(folder.path("elsewhere")).output().expect("it runs");
    let release: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert!(release["value"].as_f64().is_some_and(|value| value < 100.0), "{release}");
    let mut ledger =
        folder.command(&["count", "people.csv", "--epsilon", "1", "--ledger", "file:own.ledger"]);
    folder.write("people.csv", "x\n1\n2\n");
    assert!(ledger.output().expect("it runs").status.success());
    assert!(folder.path("file:own.ledger").exists());
}

/// A view may fail for one row, so its rows go to a file first; the file keeps its budget when it is extracted anew.
#[test]
fn a_query_is_extracted_to_a_file_and_asked_about_there() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = people();
    let query = "SELECT id, salary, town, born, paid, salary * 2 AS twice FROM rich";
    let words =
        ["extract", "sqlite:people.db", "--query", query, "--into", "rich.arrow", "--type", "twice=number"];
    let document = folder.json_words(&words);
    assert_eq!(document["rows"], 1000, "{document}");
    let types: Vec<&str> = document["columns"]
        .as_array()
        .expect("columns")
        .iter()
        .filter_map(|column| column["type"].as_str())
        .collect();
    assert_eq!(types, ["integer", "number", "text", "date", "decimal:2", "number"]);
    assert!(!folder.path("equipoise.ledger").exists(), "nothing was charged");
    let mode = fs::metadata(folder.path("rich.arrow")).expect("a file").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    assert_eq!(folder.code("budget set rich.arrow --epsilon 10"), 0);
    let twice = value(&folder, "median rich.arrow twice --epsilon 9");
    assert!((twice - 5001.0).abs() < 200.0, "{twice}");
    assert!(folder.run_words(&words).status.success());
    assert_eq!(folder.code("count rich.arrow --epsilon 9"), 4);
    for (query, said) in [
        (
            "SELECT abs(-9223372036854775807 - 1) AS x FROM rich",
            "the query failed, and nothing was written: integer overflow",
        ),
        (
            "SELECT missing FROM rich",
            "the query cannot be run: no such column: missing in SELECT missing FROM rich",
        ),
        ("DELETE FROM towns", "the query cannot be run"),
    ] {
        let output =
            folder.run_words(&["extract", "sqlite:people.db", "--query", query, "--into", "rich.arrow"]);
        let error = String::from_utf8(output.stderr).expect("text");
        assert!(!output.status.success() && error.contains(said), "{query}: {error}");
    }
    let names: Vec<_> = fs::read_dir(folder.root())
        .expect("a folder")
        .filter_map(Result::ok)
        .map(|entry| entry.file_name())
        .collect();
    assert!(!names.iter().any(|name| name.to_string_lossy().contains("unfinished")), "{names:?}");
    assert!(value(&folder, "count rich.arrow --epsilon 1") > 900.0, "the older extract stays");
}
