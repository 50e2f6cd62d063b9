//! Bars that are cut to what is possible: no bar is empty or looks certain where there is noise, and cutting loses no coverage.
//!
//! Rows are few and epsilon small, so that noise takes most answers out of what is possible: counts below zero, shares
//! beyond all, variances below none. The words are fixed: the same every time.

use super::{Answering, Task};
use crate::{
    answer::Answer,
    bar::ErrorBar,
    gather::tests::{FixedWords, Memory, all_rows},
    plan::{DataFacts, Plan},
    request::Request,
    source::ColumnType,
};

const TRIALS: usize = 1000;

fn plan(request: &Request, kind: Option<ColumnType>) -> Task {
    let columns = vec!["salary".into(), "town".into()];
    let facts = DataFacts {
        name: "people".into(),
        columns,
        registered: None,
        kinds: vec![kind, None],
        windows: None,
    };
    Plan::new(request, &facts).unwrap_or_else(|error| panic!("{}: {error}", request.to_json())).task().clone()
}

fn asked(statistic: &str, eps: &str) -> Request {
    let column = (statistic != "count").then(|| "salary".to_string());
    Request { column, epsilon: Some(eps.into()), ..Request::new(statistic) }
}

/// Every bar of an answer: of itself, of its groups, and of the answers of a summary.
fn bars(answer: &Answer) -> Vec<(String, ErrorBar)> {
    let own = answer.error.iter().map(|error| (String::new(), error.clone()));
    let groups = answer.groups.iter().flatten();
    let groups = groups.filter_map(|group| Some((String::new(), group.error.clone()?)));
    let several = answer.several.iter().flatten();
    let several = several.filter_map(|one| Some((one.statistic.to_string(), one.answer.error.clone()?)));
    own.chain(groups).chain(several).collect()
}

/// Both ends, where the bar is in numbers.
fn ends(error: &ErrorBar) -> Option<[f64; 2]> {
    error.numeric_ends()
}

struct Case {
    request: Request,
    kind: Option<ColumnType>,
    rows: Vec<f64>,
    /// The true answer, and between which ends it can lie.
    truth: f64,
    possible: [f64; 2],
    /// Which answer of a summary.
    of: &'static str,
}

fn cases() -> Vec<Case> {
    let ranged = |request: Request| Request { range: Some("0,100".into()), ..request };
    let gridded = |request: Request, mechanism: &str| Request {
        resolution: Some("1".into()),
        mechanism: Some(mechanism.into()),
        delta: Some("1e-3".into()),
        ..ranged(request)
    };
    let keyed = Request { group_by: vec!["town".into()], keys: vec!["b".into()], ..asked("count", "0.05") };
    let least = |top| [0.0, top];
    let mut cases = Vec::new();
    let mut add = |request: Request, rows: &[f64], truth: f64, possible: [f64; 2]| {
        let rows = rows.to_vec();
        cases.push(Case { request, kind: None, rows, truth, possible, of: "" });
    };
    for rows in [0, 1, 30] {
        add(asked("count", "0.05"), &vec![1.0; rows], rows as f64, least(f64::INFINITY));
    }
    add(
        Request { delta: Some("1e-3".into()), mechanism: Some("gaussian".into()), ..asked("count", "0.1") },
        &[],
        0.0,
        least(f64::INFINITY),
    );
    add(keyed, &[1.0; 4], 0.0, least(f64::INFINITY));
    add(ranged(asked("variance", "0.2")), &[50.0; 40], 0.0, least(f64::INFINITY));
    for mechanism in ["smooth", "released-scale"] {
        add(gridded(asked("median", "0.05"), mechanism), &[1.0; 20], 1.0, least(100.0));
        add(gridded(asked("median", "0.05"), mechanism), &[100.0; 20], 100.0, least(100.0));
    }
    for (of, truth) in [("count", 40.0), ("standard-deviation", 0.0)] {
        let (request, rows) = (ranged(asked("summary", "0.2")), vec![50.0; 40]);
        cases.push(Case { request, kind: None, rows, truth, possible: least(f64::INFINITY), of });
    }
    for yes in [0.0, 1.0] {
        let (request, rows) = (asked("mean", "0.2"), vec![yes; 40]);
        cases.push(Case {
            request,
            kind: Some(ColumnType::Boolean),
            rows,
            truth: yes,
            possible: least(1.0),
            of: "",
        });
    }
    cases
}

#[test]
fn bars_that_are_cut_to_what_is_possible_are_never_empty_and_hold_as_often_as_they_say() {
    let mut words = FixedWords(21);
    for case in cases() {
        let asked = case.request.to_json();
        let task = plan(&case.request, case.kind);
        let memory = Memory::new(case.rows.clone(), &["a"]);
        let gathered = all_rows(&memory, &task.needs(), 1);
        let (mut told, mut held, mut refused) = (0, 0, 0);
        while told < TRIALS && refused < 20 * TRIALS {
            let answer = task.answer(&gathered, &mut words);
            let found = bars(&answer);
            refused += usize::from(found.is_empty());
            for (_, error) in found.iter().filter(|(of, _)| of == case.of) {
                let Some([low, high]) = ends(error) else { continue };
                told += 1;
                held += usize::from(low <= case.truth && case.truth <= high);
                assert!(low < high, "{asked} {}: {low} to {high} of {:?}", case.of, answer.value);
                let [least, most] = case.possible;
                assert!(least <= low && high <= most, "{asked} {}: {low} to {high}", case.of);
            }
        }
        println!("bar: {asked} {} held {held} of {told}, {refused} refused", case.of);
        // 95 of 100, less four deviations.
        let told = told as f64;
        assert!(
            told >= 200.0 && held as f64 >= told * 0.95 - 4.0 * (told * 0.95 * 0.05).sqrt(),
            "{asked}: {held} of {told}"
        );
    }
}
