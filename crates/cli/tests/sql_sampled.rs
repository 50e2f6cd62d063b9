//! Whole queries, attacked: the same query is answered many times on two files that differ in one person, through the flow that users have, and an
//! attacker looks for an event that is likelier on one of them than was promised. A query that forgets whose rows they are is caught.

use equipoise_audit::sampled::{Part, Promise, Seen, compare};
use equipoise_session::{
    ledger::Ledger,
    plan::{DataFacts, Plan},
    request::Request,
    session::{Paid, Session},
    source::{Batch, Cells, ColumnRead, Kind, Lost, Source, Visitor},
};
use equipoise_sql_front::Query;
use std::collections::BTreeMap;

/// Visits: who, where, how long.
struct Visits {
    columns: Vec<String>,
    rows: Vec<(String, &'static str, i64)>,
}

const PEOPLE: usize = 40;
/// One person's visits, who may be there or not: more rows, and longer ones, than anybody else has.
const ANN: usize = 40;

impl Visits {
    fn new(with_ann: bool) -> Self {
        let row = |person: usize, visit: usize| {
            let town = if person.is_multiple_of(2) { "Ayr" } else { "Bern" };
            (format!("p{person}"), town, i64::try_from(2 + (person + visit) % 5).expect("a few"))
        };
        let mut rows: Vec<_> =
            (0..PEOPLE).flat_map(|person| (0..person % 3).map(move |visit| row(person, visit))).collect();
        if with_ann {
            rows.extend((0..ANN).map(|_| ("ann".to_string(), "Ayr", 10)));
        }
        Self { columns: ["id", "town", "minutes"].map(String::from).to_vec(), rows }
    }
}

impl Source for Visits {
    fn columns(&self) -> &[String] {
        &self.columns
    }

    fn scan(&self, wanted: &[ColumnRead], visitors: &mut [&mut dyn Visitor]) -> Result<(), Lost> {
        let spelt: Vec<String> = self.rows.iter().map(|row| row.2.to_string()).collect();
        let texts = |column: usize| -> Vec<Option<&str>> {
            self.rows
                .iter()
                .zip(&spelt)
                .map(|(row, spelt)| Some([row.0.as_str(), row.1, spelt.as_str()][column]))
                .collect()
        };
        let texts: Vec<Vec<Option<&str>>> = wanted.iter().map(|one| texts(one.column)).collect();
        let wholes: Vec<Option<i64>> = self.rows.iter().map(|row| Some(row.2)).collect();
        let floats: Vec<f64> = self.rows.iter().map(|row| row.2 as f64).collect();
        let cells: Vec<Cells<'_>> = wanted
            .iter()
            .zip(&texts)
            .map(|(one, texts)| match one.kind {
                Kind::Text => Cells::Texts(texts),
                Kind::Float => Cells::Floats(&floats),
                _ => Cells::Integers(&wholes),
            })
            .collect();
        visitors[0].batch(Batch { rows: self.rows.len(), cells: &cells });
        Ok(())
    }
}

fn facts() -> DataFacts {
    DataFacts {
        name: "visits".into(),
        columns: ["id", "town", "minutes"].map(String::from).to_vec(),
        registered: None,
        kinds: vec![Some(Kind::Text), Some(Kind::Text), Some(Kind::Integer)],
    }
}

/// What one answer shows: every value and end of every row, by its key.
fn seen(query: &Query, plan: &Plan, source: &Visits) -> Seen {
    let mut session = Session::new(Ledger::in_memory().expect("memory"), None).expect("coins");
    let Paid::Charged(charged) = session.charge(plan.clone(), None).expect("no limit") else {
        panic!("no request id was given")
    };
    let rows = query.rows(&session.run(*charged, source).expect("memory"));
    let mut parts = BTreeMap::new();
    for row in &rows.rows {
        let key = row[0].value.to_string();
        for (cell, column) in row.iter().zip(&rows.columns).skip(1) {
            let part = match cell.value.as_f64() {
                Some(number) => Part::Number(number),
                None => Part::Text(cell.value.to_string()),
            };
            parts.insert(format!("{key} {}", column.name), part);
        }
        parts.insert(key, Part::Text("there".into()));
    }
    Seen::Parts(parts)
}

const RUNS: usize = 1500;

/// The lower bound on what a query loses about Ann, and whether it refutes the promise.
fn attacked(options: &str, promise: &Promise) -> (bool, f64, String) {
    let text = format!(
        "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS({options}) town, COUNT(*) AS n, \
         AVG(minutes, contribution_bounds_per_group => (0, 10)) AS average, MEDIAN(minutes) AS middle, \
         SUM(minutes, contribution_bounds_per_group => (0, 20)) / COUNT(*) AS each FROM visits GROUP BY town"
    );
    let query = Query::read(&text, &Request::default()).expect("a query");
    let plan = query.plan(&facts()).expect("a plan");
    let answers = |with_ann: bool| -> Vec<Seen> {
        let source = Visits::new(with_ann);
        (0..RUNS).map(|_| seen(&query, &plan, &source)).collect()
    };
    let found = compare(&answers(true), &answers(false), promise, 1e-6);
    (found.alarm, found.eps_lower, found.event)
}

/// A true promise is refuted with a chance of one in a million.
#[test]
fn a_query_about_people_shows_no_more_of_a_person_than_it_promises() {
    let promise = Promise { eps: 2.0, delta: 0.05 };
    let (alarm, lost, event) = attacked("epsilon=2, delta=0.05, privacy_unit_column=id", &promise);
    assert!(!alarm, "at least {lost} is lost: {event}");
}

/// The same query that protects rows loses far more about a person with forty of them than it says.
#[test]
fn a_query_that_forgets_whose_rows_they_are_is_caught() {
    let promise = Promise { eps: 2.0, delta: 0.05 };
    let (alarm, lost, _) = attacked("epsilon=2, delta=0.05", &promise);
    assert!(alarm && lost > 2.0, "{lost}");
}
