//! Whole queries, attacked: the same query is answered many times on two files that differ in one person, through the flow that users have, and an
//! attacker looks for an event that is likelier on one of them than was promised. Queries that are broken by little are caught: one that forgets
//! whose rows they are, half of the noise, keys that are told too soon.
//!
//! `EQUIPOISE_ATTACKS=20` makes twenty times as many runs, so that the attacker sees smaller losses; it takes as many times longer.

use equipoise_audit::sampled::{Part, Promise, Seen, compare};
use equipoise_session::{
    ledger::Ledger,
    plan::{DataFacts, Plan},
    request::Request,
    session::{Paid, Session},
    source::{Batch, Cells, ColumnRead, ColumnType, Lost, Source, Visitor},
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

/// How Ann is there, where she is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ann {
    /// With all of her visits, where others are too.
    Among,
    /// With one visit.
    Once,
    /// With all of them, in a town that nobody else visits.
    Elsewhere,
}

impl Visits {
    fn new(with: Option<Ann>) -> Self {
        let row = |person: usize, visit: usize| {
            let town = if person.is_multiple_of(2) { "Ayr" } else { "Bern" };
            (format!("p{person}"), town, i64::try_from(2 + (person + visit) % 5).expect("a few"))
        };
        let mut rows: Vec<_> =
            (0..PEOPLE).flat_map(|person| (0..person % 3).map(move |visit| row(person, visit))).collect();
        let town = if with == Some(Ann::Elsewhere) { "Cork" } else { "Ayr" };
        let visits = match with {
            None => 0,
            Some(Ann::Once) => 1,
            Some(_) => ANN,
        };
        rows.extend((0..visits).map(|_| ("ann".to_string(), town, 10)));
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
                ColumnType::Text => Cells::Texts(texts),
                ColumnType::Float => Cells::Floats(&floats),
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
        kinds: vec![Some(ColumnType::Text), Some(ColumnType::Text), Some(ColumnType::Integer)],
        windows: None,
    }
}

/// What one answer shows: every value of every row, by its key where there are groups.
fn seen(query: &Query, plan: &Plan, source: &Visits) -> Seen {
    let mut session = Session::new(Ledger::in_memory().expect("memory"), None).expect("coins");
    let Paid::Charged(charged) = session.charge(plan.clone(), None).expect("no limit") else {
        panic!("no request id was given")
    };
    let rows = query.rows(&session.run(*charged, source).expect("memory"));
    let grouped = rows.columns[0].statistic.is_none();
    let mut parts = BTreeMap::new();
    for row in &rows.rows {
        let key = if grouped { row[0].value.to_string() } else { String::new() };
        for (cell, column) in row.iter().zip(&rows.columns).skip(usize::from(grouped)) {
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

fn runs() -> usize {
    let times = std::env::var("EQUIPOISE_ATTACKS").ok().and_then(|text| text.parse().ok());
    2000 * times.unwrap_or(1usize)
}

/// The lower bound on what a query loses about Ann, and whether it refutes the promise.
fn attacked(options: &str, select: &str, ann: Ann, promise: &Promise) -> (bool, f64, String) {
    let text = format!("SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS({options}) {select}");
    let query = Query::read(&text, &Request::default()).expect("a query");
    let plan = query.plan(&facts()).expect("a plan");
    let answers = |with: Option<Ann>| -> Vec<Seen> {
        let source = Visits::new(with);
        (0..runs()).map(|_| seen(&query, &plan, &source)).collect()
    };
    let found = compare(&answers(Some(ann)), &answers(None), promise, 1e-6);
    (found.alarm, found.eps_lower, found.event)
}

const BY_TOWN: &str = "town, COUNT(*) AS n, AVG(minutes, contribution_bounds_per_group => (0, 10)) AS average, \
     MEDIAN(minutes) AS middle, SUM(minutes, contribution_bounds_per_group => (0, 20)) / COUNT(*) AS each \
     FROM visits GROUP BY town";

/// A true promise is refuted with a chance of one in a million.
#[test]
fn a_query_about_people_shows_no_more_of_a_person_than_it_promises() {
    let promise = Promise { eps: 2.0, delta: 0.05 };
    let options = "epsilon=2, delta=0.05, privacy_unit_column=id";
    for ann in [Ann::Among, Ann::Elsewhere] {
        let (alarm, lost, event) = attacked(options, BY_TOWN, ann, &promise);
        assert!(!alarm, "{ann:?}: at least {lost} is lost: {event}");
    }
}

/// The same query that protects rows loses far more about a person with forty of them than it says.
#[test]
fn a_query_that_forgets_whose_rows_they_are_is_caught() {
    let promise = Promise { eps: 2.0, delta: 0.05 };
    let (alarm, lost, _) = attacked("epsilon=2, delta=0.05", BY_TOWN, Ann::Among, &promise);
    assert!(alarm && lost > 2.0, "{lost}");
}

/// Queries whose whole price goes into one number or one key: with what they are planned with, and with that of half of the noise, or of a
/// threshold that is too low, held against the same promise.
#[test]
fn half_of_the_noise_is_caught_and_all_of_it_is_not() {
    for (select, ann, kept, broken, (eps, delta)) in [
        (
            "COUNT(*, contribution_bounds_per_group => (0, 20)) AS n FROM visits",
            Ann::Among,
            "epsilon=1.5, privacy_unit_column=id",
            "epsilon=3, privacy_unit_column=id",
            (1.5, 0.0),
        ),
        (
            "SUM(minutes, contribution_bounds_per_group => (0, 50)) AS total FROM visits",
            Ann::Among,
            "epsilon=1.5, privacy_unit_column=id",
            "epsilon=3, privacy_unit_column=id",
            (1.5, 0.0),
        ),
        (
            "SUM(minutes, contribution_bounds_per_row => (0, 10)) AS total FROM visits WHERE minutes > 1",
            Ann::Once,
            "epsilon=1.5",
            "epsilon=3",
            (1.5, 0.0),
        ),
        (
            "town, COUNT(*) AS n FROM visits GROUP BY town",
            Ann::Elsewhere,
            "epsilon=1, delta=0.05, privacy_unit_column=id",
            "epsilon=1, delta=0.5, privacy_unit_column=id",
            (1.0, 0.05),
        ),
    ] {
        let promise = Promise { eps, delta };
        let (alarm, lost, event) = attacked(kept, select, ann, &promise);
        assert!(!alarm, "{select}: at least {lost} is lost: {event}");
        let (alarm, lost, _) = attacked(broken, select, ann, &promise);
        assert!(alarm, "{select}: {broken} was not caught: {lost}");
    }
}

/// One range and one set of noisy sums for three aggregates lose no more of a row than the query promises.
#[test]
fn aggregates_that_share_noisy_sums_keep_the_promise_together() {
    let promise = Promise { eps: 4.0, delta: 0.0 };
    let select = "AVG(minutes) AS mean, SUM(minutes) AS total, VAR_POP(minutes) AS spread FROM visits";
    let (alarm, lost, event) = attacked("epsilon=4", select, Ann::Once, &promise);
    assert!(!alarm, "at least {lost} is lost: {event}");
}
