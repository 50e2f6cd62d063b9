//! Tables of SQLite files: what is read, what is refused before a charge, and that no name of a table walks around a limit.

#[expect(dead_code, reason = "other tests read other files")]
mod support;

use equipoise_engine::{
    OpenOptions,
    books::{Account, Asked, share_rows},
    open,
};
use equipoise_session::source::{Batch, Cells, ColumnRead, ColumnType, Lost, Visitor};
use rusqlite::Connection;
use std::{
    env, fs,
    path::{Path, PathBuf},
};
use support::{Folder, alone::alone, mutate::mutated};

fn database(folder: &Folder, name: &str, schema: &str) -> PathBuf {
    let path = folder.0.join(name);
    Connection::open(&path).unwrap().execute_batch(schema).unwrap();
    path
}

fn address(file: &Path, table: &str) -> PathBuf {
    PathBuf::from(format!("sqlite:{}?table={table}", file.display()))
}

/// All cells, written out.
#[derive(Default)]
struct Seen(Vec<Vec<String>>);

impl Visitor for Seen {
    fn batch(&mut self, batch: Batch<'_>) {
        for row in 0..batch.rows {
            self.0.push(
                batch
                    .cells
                    .iter()
                    .map(|cells| match cells {
                        Cells::Floats(cells) => format!("{:?}", cells[row]),
                        Cells::Integers(cells) => format!("{:?}", cells[row]),
                        Cells::Texts(cells) => format!("{:?}", cells[row]),
                        Cells::Coded { .. } => unreachable!("texts of tables are not coded"),
                    })
                    .collect(),
            );
        }
    }
}

fn read(path: &Path, wanted: &[(usize, ColumnType)]) -> Vec<Vec<String>> {
    let source = open(&[path], &OpenOptions::default()).unwrap();
    let wanted: Vec<ColumnRead> = wanted.iter().map(|&(column, kind)| ColumnRead { column, kind }).collect();
    let (mut seen, mut idle) = (Seen::default(), Seen::default());
    source.scan(&wanted, &mut [&mut seen, &mut idle]).unwrap();
    assert!(idle.0.is_empty());
    seen.0
}

fn problem(path: &Path) -> String {
    let line = open(&[path], &OpenOptions::default()).err().expect("a problem").to_string();
    assert!(!line.contains('\n'), "{line}");
    line
}

#[test]
fn every_cell_is_read_by_the_rule_of_all_files_whatever_it_holds() {
    let folder = Folder::new();
    let file = database(
        &folder,
        "a.db",
        "CREATE TABLE t (n INTEGER, x REAL, s TEXT, d DATE, b BOOLEAN, m DECIMAL(9,2));
         INSERT INTO t VALUES (1, 2.5, 'ann', '2026-01-02', 1, 3.25);
         INSERT INTO t VALUES ('not a number', '7', 12, 12, 'no', '1e9999');
         INSERT INTO t VALUES (NULL, x'00ff', x'ff', '2026-13-01', 2, NULL);
         INSERT INTO t VALUES (9223372036854775807, 1e308, '', '', '', 'x');",
    );
    let kinds = [
        ColumnType::Integer,
        ColumnType::Float,
        ColumnType::Text,
        ColumnType::Date,
        ColumnType::Boolean,
        ColumnType::Decimal { digits: 2 },
    ];
    let path = address(&file, "t");
    let source = open(&[&path], &OpenOptions::default()).unwrap();
    assert_eq!(source.columns(), ["n", "x", "s", "d", "b", "m"]);
    assert_eq!((0..6).map(|column| source.declared(column)).collect::<Vec<_>>(), kinds.map(Some));
    let wanted: Vec<(usize, ColumnType)> = kinds.into_iter().enumerate().collect();
    assert_eq!(
        read(&path, &wanted),
        [
            ["Some(1)", "2.5", "Some(\"ann\")", "Some(20455)", "Some(1)", "Some(325)"],
            ["None", "7.0", "Some(\"12\")", "None", "Some(0)", "None"],
            ["None", "NaN", "None", "None", "None", "None"],
            ["Some(9223372036854775807)", "1e308", "None", "None", "None", "None"],
        ]
    );
    assert_eq!(read(&path, &[]).len(), 4);
}

#[test]
fn many_rows_and_odd_names_come_whole() {
    let folder = Folder::new();
    let file = database(
        &folder,
        "a b?.db",
        "CREATE TABLE \"odd \"\"t\" (\"select\" INT, \"a\"\"b\" TEXT) ;
         WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10000)
         INSERT INTO \"odd \"\"t\" SELECT i, 'k' || i FROM n;
         CREATE INDEX by_key ON \"odd \"\"t\" (\"a\"\"b\");",
    );
    let rows = read(&address(&file, "odd \"t"), &[(1, ColumnType::Text), (0, ColumnType::Integer)]);
    assert_eq!(rows.len(), 10_000);
    assert_eq!(rows[9_999], ["Some(\"k10000\")", "Some(10000)"]);
}

#[test]
fn what_cannot_be_asked_about_is_one_line_before_anything_is_charged() {
    let folder = Folder::new();
    let file = database(
        &folder,
        "a.db",
        "CREATE TABLE people (salary REAL); CREATE TABLE towns (name TEXT);
         CREATE VIEW broken AS SELECT abs(-9223372036854775808) AS x FROM people;
         CREATE VIRTUAL TABLE words USING fts5(text);",
    );
    assert!(problem(&address(&file, "nobody")).contains("there is no table 'nobody'"));
    assert!(problem(&address(&file, "nobody")).contains("people, towns"));
    assert!(problem(&address(&file, "broken")).contains("there is no table 'broken'"));
    assert!(problem(&address(&file, "words")).contains("there is no table 'words'"));
    assert!(problem(&address(&file, "sqlite_schema")).contains("there is no table"));
    assert!(problem(&address(&folder.0.join("none.db"), "t")).contains("there is no file"));
    assert!(problem(&address(&folder.0, "t")).contains("is a folder"));
    let several = PathBuf::from(format!("sqlite:{}", file.display()));
    assert!(problem(&several).contains("has several tables"));
    assert!(problem(&file).contains("is a SQLite database; name a table of it"));
    let text = folder.0.join("text.db");
    fs::write(&text, "no database at all, and long enough to be looked at as one: ".repeat(40)).unwrap();
    assert!(problem(&address(&text, "t")).contains("is no whole SQLite database"));
    let one = database(&folder, "one.db", "CREATE TABLE Only (x REAL); INSERT INTO only VALUES (1);");
    assert_eq!(
        read(&PathBuf::from(format!("sqlite:{}", one.display())), &[(0, ColumnType::Float)]),
        [["1.0"]]
    );
}

#[test]
fn a_column_that_rows_could_break_is_refused_by_the_plan() {
    let folder = Folder::new();
    let file = database(
        &folder,
        "a.db",
        "CREATE TABLE t (x INTEGER, z INTEGER GENERATED ALWAYS AS (x + 1) STORED);
         INSERT INTO t (x) VALUES (-9223372036854775808), (3);
         ALTER TABLE t ADD COLUMN y INTEGER GENERATED ALWAYS AS (abs(x)) VIRTUAL;",
    );
    let path = address(&file, "t");
    let source = open(&[&path], &OpenOptions::default()).unwrap();
    assert_eq!(source.columns(), ["x", "z", "y"]);
    assert!(source.unreadable(2).is_some_and(|line| line.contains("computed from other columns")));
    assert_eq!((source.unreadable(0), source.unreadable(1)), (None, None));
    assert_eq!(read(&path, &[(0, ColumnType::Integer), (1, ColumnType::Integer)])[1], ["Some(3)", "Some(4)"]);
}

#[test]
fn a_table_that_changed_its_columns_since_it_was_planned_is_lost() {
    let folder = Folder::new();
    let file = database(&folder, "a.db", "CREATE TABLE t (x REAL, y REAL); INSERT INTO t VALUES (1, 2);");
    let path = address(&file, "t");
    let source = open(&[&path], &OpenOptions::default()).unwrap();
    let other = Connection::open(&file).unwrap();
    other.execute_batch("ALTER TABLE t RENAME COLUMN x TO z;").unwrap();
    let wanted = [ColumnRead { column: 0, kind: ColumnType::Float }];
    assert_eq!(source.scan(&wanted, &mut [&mut Seen::default()]), Err(Lost));
    // What was written and is not yet in the main file is read too.
    let log = Connection::open(&file).unwrap();
    log.pragma_update(None, "journal_mode", "WAL").unwrap();
    log.execute_batch("INSERT INTO t VALUES (3, 4);").unwrap();
    assert_eq!(read(&path, &[(0, ColumnType::Float)]), [["1.0"], ["3.0"]]);
}

fn account(data: &Path) -> Result<Account, String> {
    Account::of(&Asked { data, name: None, ledger: None, apart: false }).map_err(|error| error.to_string())
}

#[test]
fn a_table_has_one_name_however_it_is_typed() {
    let folder = Folder::new();
    let file = database(&folder, "a.db", "CREATE TABLE People (x REAL); CREATE TABLE towns (y TEXT);");
    let named = |path: &Path| account(path).unwrap().name;
    assert_eq!(named(&address(&file, "People")), "sqlite:a.db?table=People");
    assert_eq!(named(&address(&file, "PEOPLE")), "sqlite:a.db?table=People");
    let link = folder.0.join("link.db");
    std::os::unix::fs::symlink(&file, &link).unwrap();
    assert_eq!(named(&address(&link, "people")), "sqlite:a.db?table=People");
    assert_eq!(named(&address(&file, "towns")), "sqlite:a.db?table=towns");
}

/// Two names of one table are the same rows, two tables of one database are not; so are files, alone, in folders and behind links.
#[test]
fn the_same_rows_are_told_by_files_and_tables() {
    let folder = Folder::new();
    let file = database(&folder, "a.db", "CREATE TABLE People (x REAL); CREATE TABLE towns (y TEXT);");
    fs::hard_link(&file, folder.0.join("hard.db")).unwrap();
    let hard = folder.0.join("hard.db");
    let (people, towns) = (address(&file, "People"), address(&hard, "towns"));
    assert!(share_rows(&people, &address(&hard, "PEOPLE")) && share_rows(&people, &file));
    assert!(!share_rows(&people, &towns) && !share_rows(&address(&file, "towns"), &people));
    fs::create_dir(folder.0.join("in")).unwrap();
    let [one, two] = ["in/one.csv", "in/two.csv"].map(|name| folder.0.join(name));
    for path in [&one, &two] {
        fs::write(path, "x\n1\n").unwrap();
    }
    let link = folder.0.join("link.csv");
    std::os::unix::fs::symlink(&one, &link).unwrap();
    for other in
        [&one, &link, &folder.0.join("in"), &folder.0.join("in/*.csv"), &folder.0.join("in/../in/one.csv")]
    {
        assert!(share_rows(&one, other) && share_rows(other, &one), "{}", other.display());
    }
    for other in [&two, &folder.0.join("in/t*.csv"), &folder.0.join("nothing.csv"), &people] {
        assert!(!share_rows(&one, other), "{}", other.display());
    }
}

/// The log of a database lies beside the file itself, and its rows are as many through a link.
#[test]
fn a_link_leads_to_the_log_too() {
    let folder = Folder::new();
    let file = database(&folder, "a.db", "PRAGMA journal_mode = WAL; CREATE TABLE t (x INTEGER);");
    let writer = Connection::open(&file).unwrap();
    writer
        .execute_batch(
            "PRAGMA wal_autocheckpoint = 0;
             WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000) INSERT INTO t SELECT i FROM n;",
        )
        .unwrap();
    assert!(fs::metadata(&file).unwrap().len() < 20_000, "the rows are in the log");
    let link = folder.0.join("link.db");
    std::os::unix::fs::symlink(&file, &link).unwrap();
    for path in [&file, &link] {
        assert_eq!(read(&address(path, "t"), &[]).len(), 20_000);
    }
}

/// A file that is broken is one line before the charge, lost after it, or read: never the end of the process, and never without end.
#[test]
fn broken_databases_do_not_end_the_process() {
    alone("broken_databases_do_not_end_the_process", || {
        let folder = Folder::new();
        let file = database(
            &folder,
            "whole.db",
            "PRAGMA page_size = 512;
             CREATE TABLE t (n INTEGER, s TEXT);
             WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 600)
             INSERT INTO t SELECT i, 'text ' || i FROM n;
             INSERT INTO t VALUES (1, printf('%.*c', 5000, 'x'));",
        );
        let whole = fs::read(&file).unwrap();
        let most: u64 =
            env::var("EQUIPOISE_MUTATED_FILES").ok().and_then(|most| most.parse().ok()).unwrap_or(1500);
        let mut outcomes = [0; 3];
        for seed in 0..most {
            let path = folder.file("broken.db", &mutated(&whole, &whole, seed));
            let outcome = match open(&[address(&path, "t")], &OpenOptions::default()) {
                Err(_) => 0,
                Ok(source) => {
                    let wanted: Vec<ColumnRead> = [ColumnType::Text, ColumnType::Integer]
                        .into_iter()
                        .take(source.columns().len())
                        .enumerate()
                        .map(|(column, kind)| ColumnRead { column, kind })
                        .collect();
                    1 + usize::from(source.scan(&wanted, &mut [&mut Seen::default()]).is_ok())
                }
            };
            outcomes[outcome] += 1;
        }
        assert!(outcomes.iter().all(|&count| count > 0), "{outcomes:?}");
    });
}
