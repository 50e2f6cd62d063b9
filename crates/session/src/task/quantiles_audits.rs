//! Exact audits of quantiles over decimals: every outcome of the shipped lines on a lattice of a handful of decimals, between all
//! neighbouring data sets of rows that are no such decimals themselves.

use super::*;
use crate::{
    gather::tests::{Memory, all_rows},
    plan::DataFacts,
    request::Request,
};
use equipoise_core::{
    interval::Interval,
    stability::digits::{Digits, Shape as Decimals},
    tape::{Pmf, delta_between, enumerate},
    universe::neighbouring_pairs,
};
use std::collections::BTreeMap;

/// 0, 0.1 to 0.9, 1 to 9, 10 to 90, and their negatives: the steps are those of all decimals, with one digit.
fn few() -> Digits {
    Digits::shaped(Decimals { digits: 1, wholes: 0, lowest: -1, highest: 1 })
}

/// Rows by their number: nothing, on either side of a half, and far away.
const ROWS: [f64; 4] = [f64::NAN, 0.449, 0.451, 96.0];

/// A task of epsilon 8: so many rows are stated that nothing is refused, or four are enough where their number is known.
fn task(fractions: &[Ratio], shape: Shape, interval: bool, adjacency: Adjacency) -> Quantiles {
    let asked = Request {
        column: Some("salary".into()),
        epsilon: Some("8".into()),
        adjacency: Some(adjacency.to_string()),
        rows: (adjacency == Adjacency::AddRemove).then(|| "1000".into()),
        interval: Some(interval),
        ..Request::new("median")
    };
    let facts = DataFacts {
        name: "people".into(),
        columns: vec!["salary".into()],
        registered: None,
        kinds: Vec::new(),
        windows: None,
    };
    let said = ResolvedRequest::new(&asked, &facts).unwrap();
    let need = said.numbers(0).unwrap();
    Quantiles::over(&said, need, AnswerLattice::of_digits(few()), fractions, shape).unwrap()
}

fn distribution(task: &Quantiles, rows: Vec<f64>) -> Pmf<String> {
    let memory = Memory::new(rows, &["a"]);
    let gathered = all_rows(&memory, &[task.need()], 1);
    // What one side cuts off weighs e^8 against the other.
    enumerate(&"1e-10".parse().unwrap(), |tape| format!("{:?}", task.answer(&gathered, tape)))
}

/// The largest delta at the price of the task between all neighbours, whose rows are what a map makes of these numbers.
fn worst(task: &Quantiles, adjacency: Adjacency, size: usize, rows: impl Fn(&[f64]) -> Vec<f64>) -> Interval {
    let eps = Ratio::from(8u64);
    assert_eq!(task.cost().to_string(), "8-differential privacy");
    let mut seen: BTreeMap<Vec<i64>, Pmf<String>> = BTreeMap::new();
    let mut worst: Option<Interval> = None;
    for (a, b) in neighbouring_pairs(&[0, 1, 2, 3], size, adjacency) {
        for codes in [&a, &b] {
            let numbers: Vec<f64> = codes.iter().map(|&code| ROWS[usize::try_from(code).unwrap()]).collect();
            seen.entry(codes.clone()).or_insert_with(|| distribution(task, rows(&numbers)));
        }
        let delta = delta_between(&eps, &seen[&a], &seen[&b]);
        worst = Some(worst.map_or(delta.clone(), |worst| worst.max(&delta)));
    }
    worst.expect("some pair")
}

fn quarters(quarters: &[i64]) -> Vec<Ratio> {
    quarters.iter().map(|&quarters| Ratio::new(quarters, 4)).collect()
}

/// A median and a list of quantiles over decimals keep what they promise. Under replace a list of so few rows is refused, and a median
/// is not.
#[test]
fn quantiles_over_decimals_keep_what_they_promise() {
    let median = |adjacency| (quarters(&[2]), Shape::Single, adjacency, 4);
    let list = (quarters(&[1, 2]), Shape::List, Adjacency::AddRemove, 2);
    for (fractions, shape, adjacency, size) in Adjacency::ALL.into_iter().map(median).chain([list]) {
        let task = task(&fractions, shape, false, adjacency);
        let measured = worst(&task, adjacency, size, <[f64]>::to_vec);
        assert!(measured.upper() <= "1e-3".parse().unwrap(), "{adjacency} {}", measured.to_f64());
        // Not because everything was refused.
        let released = distribution(&task, vec![0.449; size]);
        assert!(released.iter().any(|(outcome, _)| outcome.contains("0.4")), "{adjacency}");
    }
}

/// A mutant that rounds all rows to the step of the largest one: one row more changes what the others are rounded to.
#[test]
fn rounding_that_looks_at_other_rows_is_caught() {
    let by_the_largest = |rows: &[f64]| {
        let largest = rows.iter().copied().fold(0.1, |most: f64, row| most.max(row.abs()));
        let step = 10f64.powf(largest.log10().floor());
        rows.iter().map(|row| (row / step).round() * step).collect()
    };
    for adjacency in Adjacency::ALL {
        let task = task(&quarters(&[2]), Shape::Single, false, adjacency);
        let measured = worst(&task, adjacency, 4, by_the_largest);
        assert!(measured.lower() > "0.01".parse().unwrap(), "{adjacency} {}", measured.to_f64());
    }
}

/// Windows of rows as they are, rounded, answer as rows that were rounded first: the same outcomes with the same chances.
#[test]
fn rounding_the_window_is_rounding_the_rows() {
    let few = few();
    let first = |rows: &[f64]| -> Vec<f64> {
        rows.iter().map(|&row| if row.is_nan() { row } else { few.float(few.place(row)) }).collect()
    };
    for adjacency in Adjacency::ALL {
        let task = task(&quarters(&[2]), Shape::Single, true, adjacency);
        for rows in [vec![0.449, 0.451, 96.0], vec![0.451, 0.46, f64::NAN, -3.2, -2.9], vec![]] {
            let [raw, rounded] = [rows.clone(), first(&rows)].map(|rows| distribution(&task, rows));
            let masses = |pmf: &Pmf<String>| -> Vec<(String, f64)> {
                pmf.iter().map(|(outcome, mass)| (outcome.clone(), mass.to_f64())).collect()
            };
            assert_eq!(masses(&raw), masses(&rounded), "{adjacency} {rows:?}");
        }
    }
}
