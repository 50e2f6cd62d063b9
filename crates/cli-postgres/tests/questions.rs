//! Tables of a real Postgres where a file name stands: the same answers, the same errors, and one budget however a table is named.

#[path = "../../postgres/tests/support/mod.rs"]
mod support;

use serde_json::Value;
use std::{
    path::Path,
    process::{Command, Output},
};
use support::{Database, cluster};
use tempfile::TempDir;

/// Two thousand people, a partitioned table and a view, in a schema that `reader` may read.
const PEOPLE: &str = "CREATE SCHEMA hr;
    CREATE TABLE hr.salaries (id int, salary float8, town text, born date, paid numeric(9, 2), extra jsonb);
    INSERT INTO hr.salaries SELECT i, 1000.0 + i, CASE WHEN i % 2 = 1 THEN 'Ayr' ELSE 'Bath' END, date '1970-01-01' + i, i / 4.0
        FROM generate_series(1, 2000) i;
    CREATE VIEW hr.rich AS SELECT * FROM hr.salaries WHERE salary > 2000;
    CREATE TABLE hr.years (year int, x float8) PARTITION BY LIST (year);
    CREATE TABLE hr.y1 PARTITION OF hr.years FOR VALUES IN (1); CREATE TABLE hr.y2 PARTITION OF hr.years FOR VALUES IN (2);
    INSERT INTO hr.years SELECT 1 + i % 2, i FROM generate_series(1, 1000) i;
    GRANT USAGE ON SCHEMA hr TO reader; GRANT SELECT ON ALL TABLES IN SCHEMA hr TO reader";

struct Asking {
    folder: TempDir,
    database: Database,
}

fn asking() -> Option<Asking> {
    Some(Asking { folder: tempfile::tempdir().expect("a folder"), database: cluster()?.database(PEOPLE) })
}

impl Asking {
    /// The program in a folder of its own, `@table` for the address of a table.
    fn run(&self, line: &str) -> Output {
        let words: Vec<String> = line.split('|').flat_map(|part| self.words(part)).collect();
        let mut command = Command::new(env!("CARGO_BIN_EXE_equipoise-postgres"));
        command.args(words).current_dir(self.folder.path()).env("HOME", self.folder.path());
        for name in ["EQUIPOISE_LEDGER", "EQUIPOISE_ANALYST", "XDG_STATE_HOME"] {
            command.env_remove(name);
        }
        command.output().expect("the program runs")
    }

    fn words(&self, line: &str) -> Vec<String> {
        let word = |word: &str| match word.split_once('@') {
            Some((before, table)) if !word.contains("://") => {
                format!("{before}{}", self.database.address(table).display())
            }
            _ => word.to_string(),
        };
        line.split_whitespace().map(word).collect()
    }

    fn code(&self, line: &str) -> i32 {
        self.run(line).status.code().expect("no signal")
    }

    fn json(&self, line: &str) -> Value {
        let output = self.run(&format!("{line} --json"));
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{line}: {output:?}"))
    }

    fn ledger(&self) -> std::path::PathBuf {
        self.folder.path().join(".local/state/equipoise/equipoise.ledger")
    }
}

#[test]
fn questions_about_a_table_are_those_about_a_file() {
    let Some(asking) = asking() else { return };
    let near = |line: &str, truth: f64, off: f64| {
        let release = asking.json(line);
        let value = release["value"].as_f64().unwrap_or_else(|| panic!("{line}: {release}"));
        assert!((value - truth).abs() <= off, "{line}: {value}");
    };
    near("count @hr.salaries --epsilon 10", 2000.0, 20.0);
    near("median @hr.salaries salary --epsilon 10", 2000.5, 60.0);
    near("mean @hr.salaries paid --range 0,500 --epsilon 10", 250.125, 5.0);
    near("count @hr.years --epsilon 10", 1000.0, 20.0);
    near("count @hr.y1 --epsilon 10 --apart", 500.0, 20.0);
    let by = asking.json("median @hr.salaries salary --group-by town --epsilon 10 --delta 1e-6");
    assert_eq!(by["groups"].as_array().map(Vec::len), Some(2), "{by}");
    let day = asking.json("median @hr.salaries born --epsilon 10");
    assert!(day["value"].as_str().is_some_and(|day| day.starts_with("197")), "{day}");
    let address = asking.database.address("hr.salaries").display().to_string();
    let query =
        format!("SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=10) COUNT(*) AS n FROM '{address}'");
    let output = Command::new(env!("CARGO_BIN_EXE_equipoise-postgres"))
        .args(["sql", &query])
        .current_dir(asking.folder.path())
        .env("HOME", asking.folder.path())
        .output()
        .expect("the program runs");
    assert!(output.status.success(), "{output:?}");
    // Nobody's role is in the ledger, in no form.
    let ledger = std::fs::read(asking.ledger()).expect("the user's ledger");
    assert!(!ledger.windows(7).any(|bytes| bytes == b"reader@"), "the role is in the ledger");
    let log = String::from_utf8(asking.run("budget log @hr.salaries").stdout).expect("text");
    assert!(
        log.contains("is one table, known by its number on the server") && !log.contains("disk"),
        "{log}"
    );
    let shown = String::from_utf8(asking.run("budget show @hr.salaries").stdout).expect("text");
    assert!(shown.contains("hr.salaries") && !shown.contains("reader"), "{shown}");
}

/// `./test --sql` names the program that joins in EQUIPOISE_SQL_PROGRAM; it is built nowhere else.
#[test]
fn tables_are_joined_with_files_and_with_themselves_and_every_private_one_pays() {
    let Some(asking) = asking() else { return };
    if std::env::var_os("EQUIPOISE_SQL_PROGRAM").is_none() {
        return;
    }
    let lines: Vec<String> = (1..=2000).map(|id| format!("{id},{}", id % 2)).collect();
    let bonus = format!("who,paid\n{}\n", lines.join("\n"));
    std::fs::write(asking.folder.path().join("bonus.csv"), bonus).expect("a file");
    let address = asking.database.address("hr.salaries").display().to_string();
    let ask = |from: &str, units: &str| {
        let options =
            format!("OPTIONS(epsilon=10, privacy_unit_column=[{units}]) COUNT(*) AS n, SUM(s.salary) AS s");
        let query = format!("SELECT WITH DIFFERENTIAL_PRIVACY {options} FROM {from}");
        let output = Command::new(env!("CARGO_BIN_EXE_equipoise-postgres"))
            .args(["sql", &query, "--json", "--ledger", "all.ledger"])
            .current_dir(asking.folder.path())
            .env("HOME", asking.folder.path())
            .output()
            .expect("the program runs");
        assert!(output.status.success(), "{output:?}");
        let answer: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        answer["rows"][0][0].as_f64().expect("a count")
    };
    let table = format!("'{address}' s");
    let joined = ask(
        &format!("{table} JOIN 'bonus.csv' b ON s.id = b.who WHERE b.paid = '1' AND s.salary > 2000"),
        &format!("'{address}'.id, bonus.who"),
    );
    assert!((joined - 500.0).abs() < 30.0, "{joined}");
    // Two scans of one table at the same time: neither waits for the other.
    let with_itself = ask(
        &format!("{table} JOIN '{address}' o ON s.id = o.id AND s.salary >= o.salary"),
        &format!("'{address}'.id"),
    );
    assert!((with_itself - 2000.0).abs() < 30.0, "{with_itself}");
    let log = asking.run("budget log --ledger all.ledger");
    let log = String::from_utf8(log.stdout).expect("text");
    let charged =
        |name: &str| log.lines().filter(|line| line.contains(name) && line.contains("charged")).count();
    assert_eq!((charged("hr.salaries"), charged("bonus.csv")), (2, 1), "{log}");
    let ledger = std::fs::read(asking.folder.path().join("all.ledger")).expect("a ledger");
    assert!(!ledger.windows(7).any(|bytes| bytes == b"reader@"), "the role is in the ledger");
}

#[test]
fn a_table_has_one_budget_however_it_is_reached() {
    let Some(asking) = asking() else { return };
    let tcp = |host: &str, table: &str| asking.database.over_tcp(host, table).display().to_string();
    assert_eq!(asking.code("budget set @hr.salaries --epsilon 2"), 0);
    assert_eq!(asking.code("count @HR.Salaries --epsilon 1"), 0);
    assert_eq!(asking.code(&format!("count {} --epsilon 1", tcp("127.0.0.1", "hr.salaries"))), 0);
    for host in ["127.0.0.1", "localhost", "LocalHost"] {
        assert_eq!(asking.code(&format!("count {} --epsilon 1", tcp(host, "hr.salaries"))), 4, "{host}");
    }
    let around = |line: &str, next: &str| {
        let output = asking.run(line);
        let said = String::from_utf8(output.stderr).expect("text");
        assert_eq!(output.status.code(), Some(2), "{line}: {said}");
        assert!(
            said.contains("in the ledger") && said.contains(next) && !said.contains("reader@"),
            "{line}: {said}"
        );
    };
    around("count @hr.salaries --epsilon 1 --ledger other.ledger", "name that ledger");
    // A part of a table that is limited, and a table of which a part is.
    assert_eq!(asking.code("budget set @hr.years --epsilon 1"), 0);
    around("count @hr.y1 --epsilon 1 --ledger other.ledger", "is one of the tables of");
    around("count @hr.y1 --epsilon 1", "ask of those");
    // Under a new name it is still that table.
    asking.database.run("ALTER TABLE hr.salaries RENAME TO wages");
    around("count @hr.wages --epsilon 1", "give the table its name 'hr.salaries' back");
    asking.database.run("ALTER TABLE hr.wages RENAME TO salaries");
    // One that takes its place has its budget.
    asking.database.run(
        "DROP TABLE hr.salaries CASCADE; CREATE TABLE hr.salaries (salary float8); GRANT SELECT ON hr.salaries TO reader",
    );
    assert_eq!(asking.code("count @hr.salaries --epsilon 1"), 4);
    assert!(!asking.folder.path().join("equipoise.ledger").exists(), "nothing beside");
}

#[test]
fn what_is_wrong_costs_nothing_and_shows_nothing_of_the_server() {
    let Some(asking) = asking() else { return };
    for (line, said) in [
        ("count @hr.rich --epsilon 1", "is a view, which one row could make fail for all others"),
        ("count @hr.nobody --epsilon 1", "the schema has: hr.salaries, hr.years"),
        (
            "median @hr.salaries extra --epsilon 1",
            "holds values of the type 'jsonb', which cannot be asked about",
        ),
        ("median @hr.salaries town --epsilon 1", "town"),
        ("count @hr.salaries --no-header --epsilon 1", "has a schema of its own"),
        ("count postgres://boss:x@h/d?table=t --epsilon 1", "an address takes no password"),
        ("monitor @hr.salaries --epsilon 1 --delta 1e-6 --budget-per-unit 2", "a monitor watches files"),
    ] {
        let output = asking.run(line);
        let error = String::from_utf8(output.stderr).expect("text");
        assert_eq!(output.status.code(), Some(2), "{line}: {error}");
        // The second line, where there is one, is a command that would be answered.
        let lines: Vec<&str> = error.trim_end().lines().filter(|line| !line.starts_with("  try: ")).collect();
        assert!(error.contains(said) && lines.len() == 1, "{line}: {error}");
    }
    assert!(!asking.ledger().exists(), "nothing was charged");
}

/// A server that ends in the middle of everything: the charge stands, and one fixed line says so.
#[test]
fn what_fails_after_the_charge_is_one_fixed_line() {
    let Some(asking) = asking() else { return };
    let slow = "CREATE TABLE hr.slow AS SELECT i::float8 AS x FROM generate_series(1, 3000000) i; GRANT SELECT ON hr.slow TO reader";
    asking.database.run(slow);
    let name = &asking.database.name;
    let end = format!(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}' AND query LIKE 'COPY%' AND usename = 'reader'"
    );
    let said = std::thread::scope(|scope| {
        let ending = scope.spawn(|| {
            for _ in 0..600 {
                let output = asking.database.cluster.psql("postgres", &end);
                if output.stdout.starts_with(b"t") {
                    return true;
                }
            }
            false
        });
        let output = asking.run("median @hr.slow x --epsilon 1");
        assert!(ending.join().expect("no panic"), "nobody was ended: {output:?}");
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        String::from_utf8(output.stderr).expect("text")
    });
    assert!(said.contains("the charge stands") && said.trim_end().lines().count() == 1, "{said}");
    assert!(!said.contains("terminat") && !said.contains("FATAL"), "{said}");
    let log: Value = asking.json("budget log @hr.slow");
    assert!(log.to_string().contains("lost") || log.to_string().contains("charge"), "{log}");
    assert!(Path::new(&asking.ledger()).exists());
}

#[test]
fn a_view_is_extracted_to_a_file_and_what_fails_is_told_to_its_steward() {
    let Some(asking) = asking() else { return };
    let database = asking.database.address("t").display().to_string().replace("?table=t", "");
    let extract = |query: &str| {
        Command::new(env!("CARGO_BIN_EXE_equipoise-postgres"))
            .args(["extract", &database, "--query", query, "--into", "rich.arrow", "--json"])
            .current_dir(asking.folder.path())
            .output()
            .expect("the program runs")
    };
    let output = extract("SELECT salary, town, born, paid, extra, upper(town) AS loud FROM hr.rich; ");
    let document: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"));
    assert_eq!((&document["rows"], &document["left_out"][0]), (&1000.into(), &"extra".into()), "{document}");
    assert_eq!(document["columns"][3]["type"], "decimal:2", "{document}");
    assert!(!asking.ledger().exists(), "nothing was charged");
    let median = asking.json("median rich.arrow salary --epsilon 10");
    assert!(median["value"].as_f64().is_some_and(|value| (value - 2500.0).abs() < 60.0), "{median}");
    for (query, said) in [
        (
            "SELECT 1 / (id - 7) AS x FROM hr.salaries",
            "the query failed, and nothing was written: division by zero",
        ),
        ("SELECT nothing FROM hr.rich", "the query cannot be run: column \\\"nothing\\\" does not exist"),
        ("SELECT id, id FROM hr.rich", "two columns are called 'id'"),
        ("DELETE FROM hr.salaries RETURNING 1", "the query cannot be run"),
    ] {
        let output = extract(query);
        let error = String::from_utf8(output.stderr).expect("text");
        assert!(!output.status.success() && error.contains(said), "{query}: {error}");
    }
}

/// Whoever looks at all columns of a file looks at those that are not read, too.
#[test]
fn a_table_with_columns_that_are_not_read_can_be_checked() {
    let Some(asking) = asking() else { return };
    let found = asking.json("check @hr.salaries");
    assert!(found.to_string().contains("2000"), "{found}");
}
