//! The program asked over a socket by whoever holds the ledger: the same relation as where it opens files itself, and nothing but a lost answer
//! where one side goes away.

use equipoise_engine::OpenOptions;
use equipoise_session::{
    request::Request,
    source::{Batch, Cells, ColumnRead, ColumnType, Lost, Source, Visitor},
};
use equipoise_sql_front::{
    SqlError,
    apart::{self, Agreed, Beside, NoTable, TableColumn, TableRead},
    several::{self, Several},
};
use std::{
    fmt::Write as _,
    fs,
    path::Path,
    process::{Command, Stdio},
    sync::Arc,
};
use tempfile::TempDir;

fn program() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_equipoise-sql"))
}

/// Enough rows for many batches, ids with blanks around them, empty cells.
fn database() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let mut people = String::from("person,town\n");
    let mut visits = String::from("who,cost,day\n,7,2026-01-01\n");
    for person in 0..20_000 {
        writeln!(people, "{person} ,{}", ["Ayr", "Bern", "", "Cork"][person % 4]).unwrap();
        for visit in 0..person % 3 {
            let cost = if person % 7 == 0 { "none".to_string() } else { (person % 50 + visit).to_string() };
            writeln!(visits, " {person},{cost},2026-01-{:02}", person % 28 + 1).unwrap();
        }
    }
    fs::write(folder.path().join("people.csv"), people).unwrap();
    fs::write(folder.path().join("visits.csv"), visits).unwrap();
    fs::write(folder.path().join("towns.csv"), "town,country\nAyr,X\nBern,X\nCork,Y\n").unwrap();
    folder
}

const FROM: [&str; 5] = [
    "'people.csv' p JOIN 'visits.csv' v ON p.person = v.who JOIN 'towns.csv' t ON t.town = p.town WHERE v.day < '2026-01-20'",
    "'people.csv' p LEFT JOIN (SELECT who, SUM(cost) AS c, MAX(day) AS d FROM 'visits.csv' GROUP BY who) x ON x.who = p.person",
    "'people.csv' p WHERE p.town IN (SELECT town FROM 'towns.csv') AND NOT EXISTS (SELECT 1 FROM 'visits.csv' v WHERE v.who = p.person)",
    "(SELECT person FROM 'people.csv' UNION ALL SELECT who FROM 'visits.csv') u",
    "'visits.csv' a JOIN 'visits.csv' v ON a.who = v.who AND a.cost < v.cost",
];

fn query(folder: &Path, from: &str) -> String {
    let from = ["people", "visits", "towns"].iter().fold(from.to_string(), |from, name| {
        from.replace(&format!("'{name}.csv'"), &format!("'{}'", folder.join(format!("{name}.csv")).display()))
    });
    let private = [("people", "people.person"), ("visits", "visits.who")];
    let units: Vec<&str> = private
        .iter()
        .filter(|(name, _)| from.contains(&format!("{name}.csv")))
        .map(|(_, unit)| *unit)
        .collect();
    let public = if from.contains("towns.csv") { ", public_tables=[towns]" } else { "" };
    let asked = match from {
        _ if from.contains("v.day") => "SUM(v.cost), MODE(t.country)",
        _ if from.contains(" x ON") => "SUM(x.c), MODE(x.d)",
        _ => "COUNT(*)",
    };
    format!(
        "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1, delta=1e-6, privacy_unit_column=[{}]{public}) {asked} FROM {from}",
        units.join(", ")
    )
}

fn given() -> Request {
    Request { types: [("cost".to_string(), "number".to_string())].into(), ..Request::default() }
}

/// Rows as texts.
#[derive(Default)]
struct Rows(Vec<String>);

impl Visitor for Rows {
    fn batch(&mut self, batch: Batch<'_>) {
        for row in 0..batch.rows {
            let cell = |cells: &Cells<'_>| match cells {
                Cells::Floats(floats) => floats[row].to_string(),
                Cells::Integers(wholes) => format!("{:?}", wholes[row]),
                Cells::Texts(texts) => format!("{:?}", texts[row]),
                Cells::Coded { texts, codes } => format!("{:?}", codes[row].map(|code| texts[code as usize])),
            };
            self.0.push(batch.cells.iter().map(cell).collect::<Vec<_>>().join("|"));
        }
    }
}

fn rows(source: &dyn Source) -> Result<Vec<String>, Lost> {
    let kind = |column| source.declared(column).unwrap_or(ColumnType::Text);
    let wanted: Vec<ColumnRead> =
        (0..source.columns().len()).map(|column| ColumnRead { column, kind: kind(column) }).collect();
    let mut visitors = [Rows::default(), Rows::default()];
    {
        let mut visitors: Vec<&mut dyn Visitor> =
            visitors.iter_mut().map(|rows| rows as &mut dyn Visitor).collect();
        source.scan(&wanted, &mut visitors)?;
    }
    let mut rows: Vec<String> = visitors.into_iter().flat_map(|rows| rows.0).collect();
    rows.sort();
    Ok(rows)
}

fn opened(name: &str) -> Box<dyn Source> {
    equipoise_engine::open(&[Path::new(name)], &OpenOptions::default()).unwrap()
}

fn columns(name: &str) -> Result<Vec<TableColumn>, NoTable> {
    let source = equipoise_engine::open(&[Path::new(name)], &OpenOptions::default());
    source.map(|source| TableColumn::of(&*source)).map_err(|error| NoTable {
        problem: error.to_string(),
        hint: "name a file, as in FROM 'people.csv' AS p".into(),
    })
}

fn agreed(program: &Path, query: &str) -> Result<Agreed, SqlError> {
    apart::open(program, &Several::read(query).unwrap(), &given(), &Beside::default(), &columns)
}

#[test]
fn a_relation_is_the_same_whoever_reads_the_tables() {
    equipoise_sql::install();
    let folder = database();
    for from in FROM {
        let query = query(folder.path(), from);
        let several = Several::read(&query).unwrap();
        let here = several::installed().unwrap().open(&several, &given(), None).unwrap();
        let apart = agreed(program(), &query).unwrap_or_else(|error| panic!("{query}: {error}"));
        assert_eq!((&apart.private, &apart.public), (&here.private, &here.public), "{query}");
        let table = |read: &TableRead| (0..read.scans).map(|_| opened(&read.name)).collect();
        let tables = apart.reads.iter().map(table).collect();
        let apart = Arc::new(apart);
        let relation = apart.handed(tables);
        assert_eq!(relation.columns(), here.source.columns());
        let expected = rows(&*here.source).unwrap();
        assert!(expected.len() > 1000, "{query}: {}", expected.len());
        // As often as it is read.
        for _ in 0..2 {
            assert!(rows(&relation) == Ok(expected.clone()), "{query}");
        }
        assert_eq!(apart.query.batch().to_json(), here.query.batch().to_json());
    }
}

#[test]
fn what_is_wrong_is_the_same_line_and_tables_that_are_public_are_said_beside_the_query() {
    equipoise_sql::install();
    let folder = database();
    let right = query(folder.path(), FROM[0]);
    for wrong in [
        right.replace("p.person = v.who", "p.town = v.day"),
        right.replace(", public_tables=[towns]", ""),
        right.replace("SUM(v.cost)", "SUM(v.costs)"),
        right.replace("visits.csv", "nowhere.csv"),
    ] {
        let several = Several::read(&wrong).unwrap();
        let here = several::installed().unwrap().open(&several, &given(), None).err().unwrap();
        let apart = agreed(program(), &wrong).err().unwrap();
        assert_eq!((here.to_string(), here.position()), (apart.to_string(), apart.position()));
    }
    let beside = right.replace(", public_tables=[towns]", "");
    let several = Several::read(&beside).unwrap();
    let towns = folder.path().join("towns.csv").display().to_string();
    let public = vec![towns.clone(), "what the query does not name".to_string()];
    let beside = Beside { public, ..Beside::default() };
    let agreed = apart::open(program(), &several, &given(), &beside, &columns).unwrap();
    assert_eq!(agreed.public, std::slice::from_ref(&towns));
    // Units, too; what the query says goes before.
    let units = vec![("people".to_string(), "nobody".to_string()), (towns.clone(), "town".to_string())];
    let known = Beside { units, ..Beside::default() };
    let error = apart::open(program(), &several, &given(), &known, &columns).err().unwrap().to_string();
    assert!(error.contains("a row would belong to two units"), "{error}");
}

/// A table that breaks off.
struct Broken(Box<dyn Source>);

impl Source for Broken {
    fn columns(&self) -> &[String] {
        self.0.columns()
    }
    fn scan(&self, _: &[ColumnRead], _: &mut [&mut dyn Visitor]) -> Result<(), Lost> {
        Err(Lost)
    }
}

#[test]
fn rows_are_lost_where_one_side_goes_away_and_only_what_was_agreed_is_read() {
    let folder = database();
    let query = query(folder.path(), FROM[0]);
    let agreed_query = agreed(program(), &query).unwrap();
    let tables: Vec<Broken> = agreed_query.reads.iter().map(|read| Broken(opened(&read.name))).collect();
    let relation = agreed_query.relation(tables.iter().map(|table| vec![table as &dyn Source]).collect());
    assert_eq!(rows(&relation), Err(Lost));
    assert_eq!(rows(&relation), Err(Lost), "and stays so");
    // Nobody hands tables over: columns are known, rows are not.
    let agreed_query = agreed(program(), &query).unwrap();
    assert!(!agreed_query.relation(Vec::new()).columns().is_empty());
    assert_eq!(rows(&agreed_query.relation(Vec::new())), Err(Lost));
    // Programs that are something else.
    for other in ["/bin/true", "/bin/cat", "/nowhere/equipoise-sql"] {
        let error = agreed(Path::new(other), &query).err().unwrap().to_string();
        assert!(error.starts_with(&format!("the program '{other}' does not answer")), "{error}");
        assert!(error.contains("pip install 'equipoise[sql]'"), "{error}");
    }
}

#[test]
fn at_a_terminal_it_hands_nothing_over() {
    let run = |stdin: Stdio| Command::new(program()).arg(apart::WORD).stdin(stdin).output().unwrap();
    let output = run(Stdio::null());
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(
        String::from_utf8_lossy(&output.stderr),
        "equipoise: 'relation' is how other programs of equipoise ask; ask with: equipoise sql \"SELECT ..\"\n"
    );
    assert_eq!(run(Stdio::piped()).status.code(), Some(2));
}
