//! Tables of a real Postgres: what is read, what is refused before a charge, and that no name of a table walks around a limit.

mod support;

use equipoise_engine::{
    OpenOptions,
    books::{Account, Asked},
    open,
};
use equipoise_session::source::{Batch, Cells, ColumnRead, ColumnType, Lost, Visitor};
use std::{collections::BTreeSet, path::Path};
use support::{Database, cluster};

/// Everything in the schema `public` for the reader.
const GRANT: &str =
    "GRANT USAGE ON SCHEMA public TO reader; GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader;";

fn database(script: &str) -> Option<Database> {
    equipoise_postgres::install();
    Some(cluster()?.database(&format!("{script}; {GRANT}")))
}

/// All cells, written out.
#[derive(Default)]
struct Seen(Vec<Vec<String>>);

impl Visitor for Seen {
    fn batch(&mut self, batch: Batch<'_>) {
        for row in 0..batch.rows {
            let cell = |cells: &Cells<'_>| match cells {
                Cells::Floats(cells) => format!("{:?}", cells[row]),
                Cells::Integers(cells) => format!("{:?}", cells[row]),
                Cells::Texts(cells) => format!("{:?}", cells[row]),
                Cells::Coded { .. } => unreachable!("texts of tables are not coded"),
            };
            self.0.push(batch.cells.iter().map(cell).collect());
        }
    }
}

fn read(path: &Path, wanted: &[(usize, ColumnType)]) -> Vec<Vec<String>> {
    let source = open(&[path], &OpenOptions::default()).expect("a table");
    let wanted: Vec<ColumnRead> = wanted.iter().map(|&(column, kind)| ColumnRead { column, kind }).collect();
    let mut seen = Seen::default();
    source.scan(&wanted, &mut [&mut seen]).expect("rows");
    seen.0
}

/// All columns by what they are declared to be.
fn read_all(path: &Path) -> Vec<Vec<String>> {
    let source = open(&[path], &OpenOptions::default()).expect("a table");
    let kind = |column| source.declared(column).expect("a kind");
    let wanted: Vec<(usize, ColumnType)> =
        (0..source.columns().len()).map(|column| (column, kind(column))).collect();
    read(path, &wanted)
}

fn problem(path: &Path) -> String {
    let line = open(&[path], &OpenOptions::default()).err().expect("a problem").to_string();
    assert!(!line.contains('\n') && !line.contains("reader@"), "{line}");
    line
}

#[test]
fn every_type_is_read_by_the_rule_of_all_files() {
    let Some(database) = database(
        "CREATE TYPE mood AS ENUM ('sad', 'glad'); CREATE DOMAIN cents AS numeric(12, 2) CHECK (value >= 0);
         CREATE DOMAIN label AS varchar(20) NOT NULL;
         CREATE TABLE t (b bool, i2 int2, i4 int4, i8 int8, o oid, f4 float4, f8 float8, n numeric, n2 numeric(9, 2), n0 numeric(9),
             d date, ts timestamp, tz timestamptz, s text, v varchar(9), c char(6), m mood, u uuid, dom cents, lab label, nm name);
         INSERT INTO t VALUES (true, -2, 3, 9223372036854775807, 4294967295, 0.5, 1e308, 12345.678, 1.25, 7,
             '2026-02-28', '2026-02-28 12:00:00.5', '2026-02-28 12:00:00+01', 'ann', 'bo', 'c', 'glad',
             'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', 3.10, 'x', 'n');
         INSERT INTO t (b, f8, f4, n, d, ts, tz, s, lab) VALUES (false, 'NaN', '-Infinity', 'NaN', 'infinity', '-infinity', 'infinity', '', '');
         INSERT INTO t (n, d, ts, f8, lab) VALUES ('-Infinity', '4713-01-01 BC', '294276-12-31', 'Infinity', 'y');
         INSERT INTO t (n, lab) VALUES (1e200 + 0.5, 'z');",
    ) else {
        return;
    };
    let rows = read_all(&database.address("t"));
    let whole = |row: &Vec<String>| row.join(" ");
    assert_eq!(
        whole(&rows[0]),
        "Some(1) Some(-2) Some(3) Some(9223372036854775807) Some(4294967295) 0.5 1e308 12345.678 Some(125) Some(7) \
         Some(20512) Some(1772280000500000) Some(1772276400000000) Some(\"ann\") Some(\"bo\") Some(\"c\") Some(\"glad\") \
         Some(\"a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11\") Some(310) Some(\"x\") Some(\"n\")"
    );
    assert_eq!(
        whole(&rows[1]),
        "Some(0) None None None None -inf NaN NaN None None None None None None None None None None None None None"
    );
    assert_eq!(rows[2][6..8], ["inf", "-inf"]);
    // The end of what Postgres can say lies behind the last microsecond that 64 bits since 1970 have.
    assert_eq!(rows[2][10..12], ["Some(-2440550)", "None"]);
    assert_eq!(rows[3][7], "1e200");
    assert_eq!(read(&database.address("t"), &[]).len(), 4);
}

#[test]
fn no_row_makes_the_others_unreadable() {
    let Some(database) = database(
        "CREATE TABLE t (s text, x float8);
         INSERT INTO t VALUES ('a', 1), (repeat('x', 1048576), 2), (repeat('x', 1048577), 3), (repeat('y', 300000000), 4), (NULL, NULL);",
    ) else {
        return;
    };
    let lengths: Vec<String> = read(&database.address("t"), &[(0, ColumnType::Text), (1, ColumnType::Float)])
        .into_iter()
        .map(|row| format!("{} {}", row[0].len(), row[1]))
        .collect();
    // `Some("..")` around each text, and None.
    assert_eq!(lengths, ["9 1.0", "1048584 2.0", "4 3.0", "4 4.0", "4 NaN"]);
    // Bytes that are no text, in a database that takes any.
    let odd = cluster().expect("a cluster").database_called(
        "odd",
        "ENCODING 'SQL_ASCII' LOCALE 'C' TEMPLATE template0",
        &format!("CREATE TABLE t (s text, x int); INSERT INTO t VALUES (E'caf\\xe9', 1), (E'caf\\xc3\\xa9', 2); {GRANT}"),
    );
    assert_eq!(read_all(&odd.address("t")), [["None", "Some(1)"], ["Some(\"café\")", "Some(2)"]]);
    let latin = cluster().expect("a cluster").database_called(
        "latin",
        "ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0",
        &format!("CREATE TABLE t (s text, \"größe\" int); INSERT INTO t VALUES ('x', 1); {GRANT}"),
    );
    let source = open(&[latin.address("t")], &OpenOptions::default()).expect("a table");
    assert!(source.unreadable(0).is_some_and(|line| line.contains("whose encoding is not UTF-8")));
    assert_eq!(read(&latin.address("t"), &[(1, ColumnType::Integer)]), [["Some(1)"]]);
}

#[test]
fn types_that_are_not_read_are_refused_by_name_for_free() {
    let Some(database) = database(
        "CREATE TYPE pair AS (a int, b int); CREATE EXTENSION citext;
         CREATE COLLATION loose (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
         CREATE TABLE t (j jsonb, a int[], m money, p pair, ts tsvector, iv interval, ti time, ip inet, by bytea, ci citext,
             s text COLLATE loose, ok int);
         INSERT INTO t (ok) VALUES (1); GRANT SELECT ON t TO reader;
         CREATE TABLE piece (open int, closed int); REVOKE ALL ON piece FROM reader",
    ) else {
        return;
    };
    let source = open(&[database.address("t")], &OpenOptions::default()).expect("a table");
    for (column, what) in
        ["jsonb", "_int4", "money", "pair", "tsvector", "interval", "time", "inet", "bytea", "citext"]
            .iter()
            .enumerate()
    {
        let line = source.unreadable(column).expect("unreadable");
        assert!(line.contains(&format!("values of the type '{what}'")), "{line}");
    }
    assert!(
        source
            .unreadable(10)
            .is_some_and(|line| line.contains("a collation for which different texts are equal"))
    );
    assert_eq!(read(&database.address("t"), &[(11, ColumnType::Integer)]), [["Some(1)"]]);
    database.run("REVOKE ALL ON piece FROM reader; GRANT SELECT (open) ON piece TO reader; INSERT INTO piece VALUES (5, 6)");
    let source = open(&[database.address("piece")], &OpenOptions::default()).expect("a table");
    assert!(source.unreadable(1).is_some_and(|line| line.contains("what this role may not read")));
    assert_eq!(read(&database.address("piece"), &[(0, ColumnType::Integer)]), [["Some(5)"]]);
    assert_eq!(read(&database.address("piece"), &[]).len(), 1);
}

/// Every type that the server itself has, against the table of the documentation.
#[test]
fn the_table_of_types_in_the_documentation_is_that_of_the_program() {
    let Some(database) = database("SELECT 1") else { return };
    let own = "SELECT typname FROM pg_type WHERE typtype IN ('b', 'r') AND typcategory <> 'A' AND typname !~ '^(_|pg_|reg)'
        AND typnamespace = 'pg_catalog'::regnamespace ORDER BY typname";
    let all: Vec<String> = database.run(own).lines().map(str::to_string).collect();
    let columns: Vec<String> = all.iter().map(|name| format!("\"{name}\" pg_catalog.\"{name}\"")).collect();
    database.run(&format!("CREATE TABLE t ({}); GRANT SELECT ON t TO reader", columns.join(", ")));
    let source = open(&[database.address("t")], &OpenOptions::default()).expect("a table");
    let read: BTreeSet<String> = (0..all.len())
        .filter(|place| source.unreadable(*place).is_none())
        .map(|place| all[place].clone())
        .collect();
    let page = include_str!("../../../docs/databases.md");
    let (_, table) = page.split_once("### Types of Postgres").expect("the table");
    let rows = table
        .lines()
        .skip_while(|line| !line.starts_with("|---"))
        .skip(1)
        .take_while(|line| line.starts_with('|'));
    let (mut documented, mut refused) = (BTreeSet::new(), BTreeSet::new());
    for row in rows {
        let mut cells = row.split('|').skip(1).map(str::trim);
        let (types, kind) = (cells.next().expect("types"), cells.next().expect("a kind"));
        let names = types.split('`').skip(1).step_by(2).map(|name| name.trim_matches('"').to_string());
        let names = names.filter(|name| !name.contains('('));
        if kind == "not read" { refused.extend(names) } else { documented.extend(names) }
    }
    assert_eq!(documented, read);
    assert!(refused.iter().all(|name| all.contains(name) && !read.contains(name)), "{refused:?} {all:?}");
    let kinds = [
        ("bool", "boolean"),
        ("int8", "integer"),
        ("numeric", "float"),
        ("date", "date"),
        ("timestamptz", "timestamp"),
        ("uuid", "text"),
    ];
    for (name, kind) in kinds {
        let place = all.iter().position(|known| known == name).expect("a type");
        assert_eq!(
            source.declared(place).map(|kind| format!("{kind:?}").to_lowercase()),
            Some(kind.to_string()),
            "{name}"
        );
    }
}

#[test]
fn what_cannot_be_asked_about_is_one_line_before_anything_is_charged() {
    let Some(database) = database(
        "CREATE TABLE people (salary float8); CREATE VIEW broken AS SELECT 1 / salary::int AS x FROM people;
         CREATE TABLE \"Odd one\" (x int); CREATE MATERIALIZED VIEW still AS SELECT 1 AS x;
         CREATE TABLE hidden (x int); ALTER TABLE hidden ENABLE ROW LEVEL SECURITY;
         CREATE TABLE writable (x int); CREATE SEQUENCE numbers; CREATE SCHEMA closed; CREATE TABLE closed.t (x int);
         CREATE TABLE years (y int) PARTITION BY LIST (y); CREATE TABLE y1 PARTITION OF years FOR VALUES IN (1);
         ALTER TABLE y1 ENABLE ROW LEVEL SECURITY;
         DO $$ BEGIN CREATE ROLE writer LOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$;
         GRANT USAGE ON SCHEMA public TO writer; GRANT SELECT, INSERT ON writable TO writer",
    ) else {
        return;
    };
    database.run("REVOKE SELECT ON ALL TABLES IN SCHEMA closed FROM reader");
    for (table, said) in [
        ("nobody", "there is no such table that this role may know of"),
        ("nobody", "the schema has: public.\"Odd one\", public.hidden, public.people"),
        ("broken", "is a view, which one row could make fail for all others"),
        ("numbers", "is no table"),
        ("hidden", "row security leaves rows out for this role"),
        ("closed.t", "the role may not read the table"),
        ("years", "its part 'y1' is a foreign table, has row security or is stored in a way of its own"),
        ("pg_catalog.pg_statistic", "there is no such table"),
    ] {
        let line = problem(&database.address(table));
        assert!(line.contains(said), "{table}: {line}");
    }
    let writer = problem(&database.address_as("writer", "writable"));
    assert!(writer.contains("the role may write to the table; ask as one that may only read"), "{writer}");
    let boss = problem(&database.address_as("boss", "people"));
    assert!(boss.contains("the role is a superuser"), "{boss}");
    let nobody = problem(&database.address_as("nobody", "people"));
    assert!(nobody.contains("the server does not let this role in"), "{nobody}");
    let missing = database.address("people").to_string_lossy().replace(&database.name, "nowhere");
    assert!(problem(Path::new(&missing)).contains("the server has no such database"));
    let none = problem(Path::new("postgres://reader@127.0.0.1:1/d?table=t"));
    assert_eq!(
        none,
        "'postgres://127.0.0.1:1/d?table=public.t': no server answers there; check host, port and that it is started"
    );
    let secret = problem(Path::new("postgres://ann:secret@127.0.0.1/d?table=t"));
    assert!(secret.contains("an address takes no password") && !secret.contains("secret"), "{secret}");
    let unencrypted =
        database.over_tcp("127.0.0.1", "people").to_string_lossy().into_owned() + "&sslmode=require";
    assert!(problem(Path::new(&unencrypted)).contains("no encrypted line to a server whose certificate"));
    let unnamed = database.address("x").to_string_lossy().replace("?table=x", "");
    assert!(problem(Path::new(&unnamed)).contains("names no table; add ?table=SCHEMA.NAME; there are: "));
    assert_eq!(read_all(&database.address("%22Odd%20one%22")), Vec::<Vec<String>>::new());
    assert_eq!(read_all(&database.address("STILL")), [["Some(1)"]]);
}

#[test]
fn many_rows_come_whole_to_one_reader_and_to_several_and_the_same_ones_twice() {
    let Some(database) = database(
        "CREATE TABLE t (i int, s text); INSERT INTO t SELECT i, 'k' || i FROM generate_series(1, 100000) i;
         CREATE INDEX ON t (i); CREATE INDEX ON t (s); ANALYZE t",
    ) else {
        return;
    };
    let path = database.address("t");
    let rows = read(&path, &[(1, ColumnType::Text), (0, ColumnType::Integer)]);
    assert_eq!((rows.len(), rows[99_999].join(" ")), (100_000, "Some(\"k100000\") Some(100000)".to_string()));
    let source = open(&[&path], &OpenOptions::default()).expect("a table");
    let wanted = [ColumnRead { column: 0, kind: ColumnType::Integer }];
    let mut sums = Vec::new();
    for _ in 0..2 {
        let (mut one, mut two) = (Seen::default(), Seen::default());
        source.scan(&wanted, &mut [&mut one, &mut two]).expect("rows");
        let mut all = [one.0, two.0].concat();
        all.sort();
        sums.push(all);
        // Who writes meanwhile changes nothing for the question that is under way.
        database.run("INSERT INTO t VALUES (-1, 'new'); DELETE FROM t WHERE i = 7");
    }
    assert_eq!(sums[0].len(), 100_000);
    assert!(sums[0] == sums[1], "the same rows in both scans");
    drop(source);
    assert_eq!(read(&path, &[]).len(), 100_001);
    assert_eq!(
        database.run(
            "SELECT count(*) FROM pg_stat_activity WHERE usename = 'reader' AND datname = current_database()"
        ),
        "0"
    );
}

#[test]
fn a_table_that_changed_since_it_was_planned_is_lost() {
    let Some(database) = database("CREATE TABLE t (x int8, y int); INSERT INTO t VALUES (1, 2)") else {
        return;
    };
    let wanted = [ColumnRead { column: 0, kind: ColumnType::Integer }];
    for change in [
        "ALTER TABLE t ALTER x TYPE float8",
        "ALTER TABLE t RENAME COLUMN x TO z",
        "DROP TABLE t; CREATE TABLE t (z float8, y int); GRANT SELECT ON t TO reader",
        "ALTER TABLE t ENABLE ROW LEVEL SECURITY",
    ] {
        let source = open(&[database.address("t")], &OpenOptions::default()).expect("a table");
        database.run(change);
        assert_eq!(source.scan(&wanted, &mut [&mut Seen::default()]), Err(Lost), "{change}");
    }
    // The server ends the line in the middle.
    database.run(
        "ALTER TABLE t DISABLE ROW LEVEL SECURITY; INSERT INTO t SELECT 1, 2 FROM generate_series(1, 1000)",
    );
    let source = open(&[database.address("t")], &OpenOptions::default()).expect("a table");
    let wanted = [ColumnRead { column: 1, kind: ColumnType::Integer }];
    source.scan(&wanted, &mut [&mut Seen::default()]).expect("rows");
    database.run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'reader' AND datname = current_database()");
    assert_eq!(source.scan(&wanted, &mut [&mut Seen::default()]), Err(Lost));
}

fn account(data: &Path, ledger: &Path) -> Result<Account, String> {
    Account::of(&Asked { data, name: None, ledger: Some(ledger), apart: false })
        .map_err(|error| error.to_string())
}

#[test]
fn a_table_is_recognised_whatever_its_server_is_called() {
    let Some(database) = database(
        "CREATE SCHEMA hr; CREATE TABLE hr.t (x int); GRANT USAGE ON SCHEMA hr TO reader; GRANT SELECT ON hr.t TO reader",
    ) else {
        return;
    };
    let folder = tempfile::tempdir().expect("a folder");
    let ledger = folder.path().join("a.ledger");
    let by_socket = database.address("hr.t");
    let named = account(&by_socket, &ledger).expect("an account");
    let shown = by_socket.to_string_lossy().replace("reader@", "");
    assert_eq!(named.name, shown);
    let by_number = account(&database.over_tcp("127.0.0.1", "hr.t"), &ledger).expect("an account");
    let by_name = account(&database.over_tcp("LOCALHOST", "HR.T"), &ledger).expect("an account");
    assert_eq!(
        by_name.name,
        format!("postgres://localhost:{}/{}?table=hr.t", database.cluster.port, database.name)
    );
    assert_eq!(named.expected, by_number.expected);
    assert_eq!(named.expected, by_name.expected);
}
