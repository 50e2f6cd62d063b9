//! Answers from an engine that another program drives, compared with answers from rows in memory, with the same coins.
//!
//! Coins that are written down exist in tests alone, so the comparison is a test of this crate and not of the package that is shipped: that
//! has no door for them. The package is on the other side, as a program that is handed rows, then passes, and hands back counts. `python/engines`
//! starts this test with `EQUIPOISE_ENGINE`, the command of that program, and without it the test is not run.

use super::{
    Elsewhere, EngineFailure, Pass, PassResult,
    tests::{Scattered, hands, here},
};
use crate::{
    answer::Answer,
    gather::tests::FixedWords,
    plan::{DataFacts, Plan},
    quiet::privately,
    request::Request,
    source::{Batch, Cells, ColumnRead, ColumnType, Lost, Source, Visitor},
    unanswered::Unanswered,
};
use serde_json::{Value, json};
use std::{
    cell::RefCell,
    collections::BTreeSet,
    env,
    io::{BufRead, BufReader, Write},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

/// A column of cells of one declared type.
struct Column {
    name: &'static str,
    kind: ColumnType,
    floats: Vec<f64>,
    wholes: Vec<Option<i64>>,
    texts: Vec<Option<String>>,
}

/// Rows of every type.
struct Typed {
    names: Vec<String>,
    columns: Vec<Column>,
    rows: usize,
}

impl Typed {
    /// So many rows, with all that is odd. Towns first come in their order, so that coins meet them in the same one.
    fn new(rows: usize) -> Self {
        let mixed = |row: usize| u32::try_from(row).unwrap().wrapping_mul(2_654_435_761);
        let float = |row: usize| match row % 17 {
            place if place < ODD.len() => ODD[place],
            _ => f64::from(mixed(row) % 9973) / 8.0,
        };
        let whole = |row: usize, odd: &[Option<i64>], most: u32| match row % 19 {
            place if place < odd.len() => odd[place],
            _ => Some(i64::from(mixed(row) % most) - i64::from(most / 4)),
        };
        let towns = [None, Some("ayr"), Some("b'ute"), Some("cüll"), Some("b'ute"), Some("ayr"), Some("ayr")];
        let id = |row: usize| match row % 23 {
            0 => None,
            1 => Some(" \t ".to_string()),
            2 => Some("  7\t".to_string()),
            _ => Some(format!("p{}", mixed(row) % 97)),
        };
        let wholes = |name, kind, odd: &[Option<i64>], most| Column {
            wholes: (0..rows).map(|row| whole(row, odd, most)).collect(),
            ..Column::empty(name, kind)
        };
        let columns = vec![
            Column { floats: (0..rows).map(float).collect(), ..Column::empty("salary", ColumnType::Float) },
            Column {
                texts: (0..rows).map(|row| towns[row % towns.len()].map(str::to_string)).collect(),
                ..Column::empty("town", ColumnType::Text)
            },
            wholes(
                "age",
                ColumnType::Integer,
                &[None, Some(i64::MIN), Some(i64::MAX), Some(0), Some(-1)],
                400,
            ),
            wholes(
                "hired",
                ColumnType::Date,
                &[None, Some(-719_162), Some(2_932_896), Some(0), Some(-1)],
                9000,
            ),
            wholes(
                "seen",
                ColumnType::Timestamp,
                &[None, Some(-62_135_596_800_000_000), Some(-1), Some(1_700_000_000_123_457)],
                4_000_000_000,
            ),
            wholes(
                "pay",
                ColumnType::Decimal { digits: 2 },
                &[None, Some(-999_999_999_999), Some(5), Some(-1)],
                90_000,
            ),
            wholes("member", ColumnType::Boolean, &[None, Some(1), Some(0)], 2),
            Column { texts: (0..rows).map(id).collect(), ..Column::empty("person", ColumnType::Text) },
            wholes("house", ColumnType::Integer, &[None, Some(3), Some(3)], 40),
        ];
        let mut columns = columns;
        for cell in columns[6].wholes.iter_mut().flatten() {
            *cell &= 1;
        }
        Self { names: columns.iter().map(|column| column.name.to_string()).collect(), columns, rows }
    }

    fn facts(&self) -> DataFacts {
        DataFacts {
            name: "people".into(),
            columns: self.names.clone(),
            registered: None,
            kinds: self.columns.iter().map(|column| Some(column.kind)).collect(),
            windows: None,
        }
    }

    /// As another program is handed them: floats by their bits, so that none is changed on the way.
    fn json(&self) -> Value {
        let column = |column: &Column| {
            let cells = match column.kind {
                ColumnType::Float => {
                    json!(column.floats.iter().map(|cell| cell.to_bits()).collect::<Vec<_>>())
                }
                ColumnType::Text => json!(column.texts),
                _ => json!(column.wholes),
            };
            json!({"name": column.name, "kind": column.kind.to_string(), "cells": cells})
        };
        json!(self.columns.iter().map(column).collect::<Vec<_>>())
    }
}

const ODD: [f64; 12] = [
    f64::NAN,
    -0.0,
    0.0,
    f64::INFINITY,
    f64::NEG_INFINITY,
    7.0,
    7.0,
    -3.25,
    1e-300,
    1e9,
    12.345_678_91,
    5e-324,
];

impl Column {
    fn empty(name: &'static str, kind: ColumnType) -> Self {
        Self { name, kind, floats: Vec::new(), wholes: Vec::new(), texts: Vec::new() }
    }
}

impl Source for Typed {
    fn columns(&self) -> &[String] {
        &self.names
    }

    fn declared(&self, column: usize) -> Option<ColumnType> {
        Some(self.columns[column].kind)
    }

    fn scan(&self, wanted: &[ColumnRead], visitors: &mut [&mut dyn Visitor]) -> Result<(), Lost> {
        let texts: Vec<Vec<Option<String>>> = wanted
            .iter()
            .map(|read| match self.columns[read.column].kind {
                ColumnType::Text => self.columns[read.column]
                    .texts
                    .iter()
                    .map(|text| text.clone().filter(|text| !text.is_empty()))
                    .collect(),
                // Whether a number is there is all that is asked of its text.
                ColumnType::Float => self.columns[read.column]
                    .floats
                    .iter()
                    .map(|cell| (!cell.is_nan()).then(|| cell.to_string()))
                    .collect(),
                kind => self.columns[read.column]
                    .wholes
                    .iter()
                    .map(|cell| cell.map(|cell| kind.write(cell)))
                    .collect(),
            })
            .collect();
        let texts: Vec<Vec<Option<&str>>> =
            texts.iter().map(|texts| texts.iter().map(Option::as_deref).collect()).collect();
        let floats: Vec<Vec<f64>> = wanted
            .iter()
            .map(|read| match &self.columns[read.column] {
                column if column.kind == ColumnType::Float => column.floats.clone(),
                column => column
                    .wholes
                    .iter()
                    .map(|cell| cell.map_or(f64::NAN, |cell| column.kind.number(cell)))
                    .collect(),
            })
            .collect();
        let cells: Vec<Cells<'_>> = wanted
            .iter()
            .enumerate()
            .map(|(place, read)| match read.kind {
                ColumnType::Float => Cells::Floats(&floats[place]),
                ColumnType::Text => Cells::Texts(&texts[place]),
                _ => Cells::Integers(&self.columns[read.column].wholes),
            })
            .collect();
        visitors[0].batch(Batch { rows: self.rows, cells: &cells });
        Ok(())
    }
}

/// A program that has rows in an engine.
struct Program {
    child: Child,
    says: RefCell<ChildStdin>,
    hears: RefCell<BufReader<ChildStdout>>,
}

impl Program {
    fn start(command: &str) -> Self {
        let mut words = command.split(' ');
        let mut child = Command::new(words.next().expect("a command"))
            .args(words)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the program of the engine starts");
        let says = RefCell::new(child.stdin.take().expect("piped"));
        let hears = RefCell::new(BufReader::new(child.stdout.take().expect("piped")));
        Self { child, says, hears }
    }

    /// A line there, a line back; the program begins lines that are meant for nobody with another sign.
    fn ask(&self, what: &Value) -> String {
        let mut says = self.says.borrow_mut();
        writeln!(says, "{what}").expect("the program listens");
        says.flush().expect("the program listens");
        loop {
            let mut line = String::new();
            assert!(
                self.hears.borrow_mut().read_line(&mut line).expect("the program speaks") > 0,
                "the program ended"
            );
            if line.starts_with('{') {
                return line;
            }
        }
    }

    fn pass(&self, pass: &Pass) -> Result<PassResult, EngineFailure> {
        serde_json::from_str(&self.ask(&json!({"pass": pass.to_json()}))).map_err(|_| EngineFailure)
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Every statistic that engines answer, on every type, by groups and by people.
const QUESTIONS: &[&str] = &[
    r#""statistic": "count""#,
    r#""statistic": "count", "column": "town""#,
    r#""statistic": "count", "column": "seen""#,
    r#""statistic": "count", "column": "salary""#,
    r#""statistic": "count", "mechanism": "gaussian", "delta": "1e-6""#,
    r#""statistic": "count", "group_by": ["town"], "delta": "1e-3""#,
    r#""statistic": "count", "group_by": ["town"], "keys": ["ayr", "nowhere", "b'ute"]"#,
    r#""statistic": "count", "group_by": ["member", "town"], "delta": "1e-2""#,
    r#""statistic": "count", "group_by": ["hired"], "keys": ["1970-01-01", "0001-01-01", "2001-01-01"]"#,
    r#""statistic": "count", "unit": "person""#,
    r#""statistic": "count", "unit": "person", "max_rows_per_unit": "3""#,
    r#""statistic": "count", "unit": "house", "max_rows_per_unit": "2""#,
    r#""statistic": "count", "unit": "person", "group_by": ["town"], "max_groups_per_unit": "2", "max_rows_per_unit": "2", "delta": "1e-2""#,
    r#""statistic": "share", "column": "member""#,
    r#""statistic": "share", "column": "member", "group_by": ["town"], "keys": ["ayr", "cüll"]"#,
    r#""statistic": "share", "column": "member", "unit": "person", "max_rows_per_unit": "2""#,
    r#""statistic": "sum", "column": "salary""#,
    r#""statistic": "sum", "column": "salary", "range": "0,1000""#,
    r#""statistic": "sum", "column": "age", "range": "0,100""#,
    r#""statistic": "sum", "column": "age""#,
    r#""statistic": "sum", "column": "pay", "range": "0,1000""#,
    r#""statistic": "sum", "column": "salary", "mechanism": "gaussian", "delta": "1e-6", "range": "-5,90""#,
    r#""statistic": "sum", "column": "salary", "range": "0,1000", "unit": "person", "max_rows_per_unit": "2""#,
    r#""statistic": "mean", "column": "salary""#,
    r#""statistic": "mean", "column": "pay""#,
    r#""statistic": "mean", "column": "age", "range": "0,100""#,
    r#""statistic": "mean", "column": "salary", "group_by": ["town"], "keys": ["ayr", "b'ute", "nowhere"]"#,
    r#""statistic": "mean", "column": "salary", "group_by": ["town"], "delta": "1e-2""#,
    r#""statistic": "mean", "column": "salary", "mechanism": "gaussian", "delta": "1e-6", "range": "-5,90""#,
    r#""statistic": "mean", "column": "pay", "unit": "person", "per_unit": true, "range": "0,1000""#,
    r#""statistic": "mean", "column": "age", "unit": "person", "per_unit": true, "range": "0,100""#,
    r#""statistic": "variance", "column": "salary", "range": "0,1000""#,
    r#""statistic": "variance", "column": "age", "range": "0,100""#,
    r#""statistic": "std", "column": "salary""#,
    r#""statistic": "std", "column": "pay", "range": "0,100""#,
    r#""statistic": "std", "column": "salary", "mechanism": "gaussian", "delta": "1e-6", "range": "0,100""#,
    r#""statistic": "median", "column": "salary""#,
    r#""statistic": "median", "column": "salary", "interval": true"#,
    r#""statistic": "median", "column": "salary", "resolution": "exact""#,
    r#""statistic": "median", "column": "salary", "resolution": "0.5""#,
    r#""statistic": "median", "column": "salary", "resolution": "1e300""#,
    r#""statistic": "median", "column": "salary", "range": "0,100""#,
    r#""statistic": "median", "column": "age""#,
    r#""statistic": "median", "column": "age", "resolution": "7""#,
    r#""statistic": "median", "column": "hired""#,
    r#""statistic": "median", "column": "hired", "resolution": "7""#,
    r#""statistic": "median", "column": "seen""#,
    r#""statistic": "median", "column": "pay""#,
    r#""statistic": "median", "column": "salary", "mechanism": "stable", "delta": "1e-2""#,
    r#""statistic": "median", "column": "salary", "mechanism": "smooth", "range": "0,1000", "resolution": "1""#,
    r#""statistic": "median", "column": "salary", "mechanism": "propose-test-release", "delta": "1e-4", "range": "0,1000", "resolution": "1""#,
    r#""statistic": "median", "column": "salary", "group_by": ["town"], "delta": "1e-3""#,
    r#""statistic": "median", "column": "salary", "group_by": ["town"], "keys": ["ayr", "cüll", "nowhere"], "interval": true"#,
    r#""statistic": "median", "column": "salary", "unit": "person", "max_rows_per_unit": "2""#,
    r#""statistic": "median", "column": "salary", "unit": "person", "group_by": ["town"], "max_groups_per_unit": "2", "delta": "1e-2""#,
    r#""statistic": "mean", "column": "age", "range": "0,9", "unit": "person", "per_unit": true, "group_by": "town", "keys": ["ayr"]"#,
    r#""statistic": "quantile", "column": "salary", "fraction": "0.9""#,
    r#""statistic": "quantile", "column": "hired", "fraction": "0.25,0.5,0.75""#,
    r#""statistic": "quantile", "column": "salary", "fraction": "0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9""#,
    r#""statistic": "iqr", "column": "salary", "mechanism": "inverse-sensitivity""#,
    r#""statistic": "iqr", "column": "salary", "mechanism": "spread""#,
    r#""statistic": "iqr", "column": "age""#,
    r#""statistic": "iqr", "column": "salary", "mechanism": "scale", "delta": "1e-2""#,
    r#""statistic": "min", "column": "salary""#,
    r#""statistic": "max", "column": "age""#,
    r#""statistic": "correlation", "column": "salary", "y": "age", "range": "0,100", "range_y": "0,100""#,
    r#""statistic": "covariance", "column": "salary", "y": "pay""#,
    r#""statistic": "regression", "column": "salary", "on": ["age", "pay"]"#,
    r#""statistic": "distinct", "column": "town""#,
    r#""statistic": "distinct", "column": "town", "unit": "person""#,
    r#""statistic": "ecdf", "column": "salary", "at": "0,7,100,900""#,
    r#""statistic": "ecdf", "column": "age", "at": "3,50""#,
    r#""statistic": "ecdf", "column": "salary""#,
    r#""statistic": "mode", "column": "town", "delta": "1e-2""#,
    r#""statistic": "mode", "column": "age", "delta": "1e-2""#,
    r#""statistic": "mode", "column": "town", "delta": "1e-2", "group_by": ["member"], "keys": ["true", "false"]"#,
    r#""statistic": "histogram", "column": "town", "delta": "1e-3""#,
    r#""statistic": "histogram", "column": "salary", "range": "0,1000", "bins": "10""#,
    r#""statistic": "histogram", "column": "salary", "width": "0.1", "delta": "1e-3""#,
    r#""statistic": "histogram", "column": "age", "width": "50", "delta": "1e-3""#,
    r#""statistic": "histogram", "column": "salary", "quantile_bins": "4""#,
    r#""statistic": "histogram", "column": "town", "delta": "1e-3", "unit": "person""#,
    r#""statistic": "select", "column": "town", "among": ["ayr", "b'ute", "elgin"]"#,
    r#""statistic": "select", "column": "town", "delta": "1e-3""#,
    r#""statistic": "top", "column": "town", "k": "2", "among": ["ayr", "b'ute", "elgin"]"#,
    r#""statistic": "top", "column": "town", "k": "2", "delta": "1e-2""#,
    r#""statistic": "top", "column": "town", "k": "2", "delta": "1e-2", "unit": "person""#,
    r#""statistic": "summary", "column": "salary""#,
    r#""statistic": "summary", "column": "salary", "group_by": ["town"], "keys": ["ayr", "b'ute"]"#,
    r#""statistic": "summary", "column": "age", "range": "0,99""#,
];

fn plan(question: &str, adjacency: &str, facts: &DataFacts) -> Result<Plan, String> {
    let text = format!(r#"{{{question}, "epsilon": "3", "adjacency": "{adjacency}"}}"#);
    let request: Request = serde_json::from_str(&text).expect(question);
    Plan::new(&request, facts).map_err(|error| error.to_string())
}

/// What is answered elsewhere with these coins.
fn elsewhere(
    plan: &Plan,
    runs: &dyn Fn(&Pass) -> Result<PassResult, EngineFailure>,
    seed: u64,
) -> Result<Vec<Answer>, Unanswered> {
    privately(|| Ok(plan.answers(&Elsewhere::new(&runs), &mut FixedWords(seed))))
}

#[test]
fn an_engine_of_another_program_answers_as_rows_in_memory_do() {
    let Ok(command) = env::var("EQUIPOISE_ENGINE") else { return };
    let sizes = env::var("EQUIPOISE_ENGINE_ROWS").unwrap_or_else(|_| "0,1,40,700".to_string());
    let both = env::var("EQUIPOISE_ENGINE_ADJACENCIES").is_ok();
    let seeds = env::var("EQUIPOISE_ENGINE_SEEDS").map_or(1, |said| said.parse().expect("a number of seeds"));
    let drawing = env::var("EQUIPOISE_ENGINE_DRAWS").map_or(true, |said| said != "no");
    let program = Program::start(&command);
    let (mut compared, mut questions) = (0, BTreeSet::new());
    let mut wrong = Vec::new();
    for rows in sizes.split(',').map(|text| text.parse().expect("a number of rows")) {
        let memory = Typed::new(rows);
        assert_eq!(program.ask(&json!({"table": memory.json()})).trim(), "{}", "the table is loaded");
        for question in QUESTIONS.iter().filter(|text| drawing || !text.contains("unit")) {
            for adjacency in ["add-remove", "replace"].into_iter().take(if both { 2 } else { 1 }) {
                let plan = match plan(question, adjacency, &memory.facts()) {
                    Ok(plan) => plan,
                    // Some mechanisms know one adjacency.
                    Err(_) if adjacency == "replace" => continue,
                    Err(error) => {
                        wrong.push(format!("{question}: {error}"));
                        continue;
                    }
                };
                let begun = program.ask(&json!({"rows": plan.rows_elsewhere(), "key": hands().run_key()}));
                if begun.trim() != "{}" {
                    wrong.push(format!("{question}, {rows} rows: {begun}"));
                    continue;
                }
                let parts = Scattered::of(&plan, &memory, 1);
                for seed in 1..=seeds {
                    let expected = elsewhere(&plan, &|pass| parts.pass(pass), seed);
                    let found = elsewhere(&plan, &|pass| program.pass(pass), seed);
                    // Where the order of keys is that of their first rows, a scan here meets coins alike.
                    let in_order = !question.contains("unit") && !question.contains("\"member\", \"town\"");
                    let scanned = !in_order || Ok(here(&plan, &memory, seed)) == expected;
                    if found != expected || !scanned || expected.is_err() {
                        wrong.push(format!(
                            "{question}, {adjacency}, {rows} rows: {expected:?} is {found:?} ({scanned})"
                        ));
                        break;
                    }
                    compared += 1;
                    questions.insert(question);
                }
            }
        }
    }
    println!("{} questions, {compared} answers equal, {} not", questions.len(), wrong.len());
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(questions.len() >= 60, "{}", questions.len());
}
