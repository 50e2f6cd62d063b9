//! What counts of cells cost, whether their bars hold, and how near their quantiles lie.

use super::*;
use crate::{
    gather::tests::{FixedWords, Memory, all_rows},
    plan::DataFacts,
    request::Request,
};
use equipoise_core::{
    adjacency::Adjacency,
    interval::Interval,
    tape::{Pmf, delta_between, enumerate},
    universe::neighbouring_pairs,
};
use std::collections::BTreeMap;

fn facts() -> DataFacts {
    DataFacts {
        name: "people".into(),
        columns: vec!["salary".into()],
        registered: None,
        kinds: Vec::new(),
        windows: None,
    }
}

fn planned(eps: &str, cells: usize, adjacency: Adjacency, hundredths: &[i64]) -> CellQuantiles {
    let asked = Request {
        column: Some("salary".into()),
        epsilon: Some(eps.into()),
        adjacency: Some(adjacency.to_string()),
        ..Request::new("summary")
    };
    let facts = facts();
    let said = ResolvedRequest::new(&asked, &facts).unwrap();
    let fractions: Vec<Ratio> = hundredths.iter().map(|&part| Ratio::new(part, 100)).collect();
    CellQuantiles::plan(&said, said.eps(), &fractions, &[(0.0, cells)]).unwrap()
}

fn numbers<T>(rows: Vec<f64>, work: impl FnOnce((&dyn RowFacts, &Need)) -> T) -> T {
    let memory = Memory::new(rows, &["a"]);
    let asked =
        Request { column: Some("salary".into()), epsilon: Some("1".into()), ..Request::new("median") };
    let facts = facts();
    let said = ResolvedRequest::new(&asked, &facts).unwrap();
    let need = said.numbers(0).unwrap();
    let gathered = all_rows(&memory, std::slice::from_ref(&need), 1);
    work((&gathered, &need))
}

const ONE: Limits = Limits { clip: Clip { low: 0.0, high: 3.0, middle: 1.5 }, outside: None };

/// The worst delta of everything that is drawn, at this epsilon, between all neighbours of up to three rows: nothing, on an edge, between
/// edges, beyond an end. Edges that depend on rows are a mutant's.
fn worst(
    task: &CellQuantiles,
    adjacency: Adjacency,
    eps: &str,
    edges: impl Fn(&[f64]) -> Vec<f64>,
) -> Interval {
    let values = [f64::NAN, 0.5, 1.0, 9.0];
    let mut seen: BTreeMap<Vec<i64>, Pmf<Vec<i64>>> = BTreeMap::new();
    let mut worst: Option<Interval> = None;
    for (a, b) in neighbouring_pairs(&[0, 1, 2, 3], 2, adjacency) {
        for codes in [&a, &b] {
            let rows: Vec<f64> = codes.iter().map(|&code| values[usize::try_from(code).unwrap()]).collect();
            let edges = edges(&rows);
            let law = || {
                numbers(rows.clone(), |rows| {
                    enumerate(&"1e-6".parse().unwrap(), |tape| task.noisy(rows, &edges, tape))
                })
            };
            seen.entry(codes.clone()).or_insert_with(law);
        }
        let delta = delta_between(&eps.parse().unwrap(), &seen[&a], &seen[&b]);
        worst = Some(worst.map_or(delta.clone(), |worst| worst.max(&delta)));
    }
    worst.expect("some pair")
}

/// All that is drawn costs what is said, and no less than three quarters of it.
#[test]
fn counts_of_cells_keep_what_they_promise() {
    for adjacency in Adjacency::ALL {
        let task = planned("3", 3, adjacency, &[50]);
        let public = |_: &[f64]| edges(0.0, 3.0, 3);
        let kept = worst(&task, adjacency, "3", public);
        assert!(kept.upper() <= "1e-3".parse().unwrap(), "{adjacency} {}", kept.to_f64());
        let less = worst(&task, adjacency, "2.25", public);
        assert!(less.lower() > "0.1".parse().unwrap(), "{adjacency} {}", less.to_f64());
        // A mutant whose cells end at the largest row: one row more moves the others.
        let by_the_largest = |rows: &[f64]| {
            edges(0.0, rows.iter().copied().filter(|row| !row.is_nan()).fold(1.0, f64::max), 3)
        };
        let caught = worst(&task, adjacency, "3", by_the_largest);
        assert!(caught.lower() > "0.01".parse().unwrap(), "{adjacency} {}", caught.to_f64());
        // A mutant with the noise of twice the epsilon.
        let loud = planned("6", 3, adjacency, &[50]);
        assert!(worst(&loud, adjacency, "3", public).lower() > "0.1".parse().unwrap(), "{adjacency}");
    }
}

/// Bars of all quantiles at once hold as often as they say, for rows that lie in few cells, in all, and on edges.
#[test]
fn bars_hold_all_at_once() {
    let hundredths = [5, 25, 50, 75, 95];
    let task = planned("0.45", 32, Adjacency::AddRemove, &hundredths);
    let limits = Limits { clip: Clip { low: 0.0, high: 64.0, middle: 32.0 }, ..ONE };
    let mut coins = FixedWords(17);
    let laws: [fn(u32) -> f64; 4] = [
        |row| f64::from(row) / 342.0 * 60.0,
        |row| 20.0 + f64::from(row % 7),
        |row| f64::from(row % 2) * 64.0,
        |row| (f64::from(row) / 50.0).exp(),
    ];
    for law in laws {
        let mut rows: Vec<f64> = (0..342).map(law).collect();
        let (mut held, mut wide) = (0, 0.0);
        for _ in 0..400 {
            let answer = numbers(rows.clone(), |rows| task.answer(rows, 342, &limits, None, &mut coins));
            let bar = serde_json::to_value(answer.error).unwrap();
            rows.sort_unstable_by(f64::total_cmp);
            let inside = hundredths.iter().enumerate().all(|(place, &part)| {
                let rank = usize::try_from((342 * part + 99) / 100).unwrap().max(1);
                let truth = rows[rank - 1].min(64.0);
                let end = |end: &str| bar[end][place].as_f64().unwrap();
                wide += end("high") - end("low");
                end("low") <= truth && truth <= end("high")
            });
            held += u32::from(inside);
        }
        assert!(held >= 380, "{held} of 400");
        assert!(wide / 2000.0 < 20.0, "{wide}");
    }
}

/// 342 rows between 0 and 60 of a range up to 64: outer quantiles are off by a few of them.
#[test]
fn quantiles_lie_near_the_true_ones_and_rise() {
    let task = planned("0.45", 32, Adjacency::AddRemove, &[5, 25, 50, 75, 95]);
    let limits = Limits { clip: Clip { low: 0.0, high: 64.0, middle: 32.0 }, ..ONE };
    let mut coins = FixedWords(3);
    let mut off = [0.0; 5];
    for _ in 0..200 {
        let rows: Vec<f64> = (0..342).map(|row| f64::from(row) / 342.0 * 60.0).collect();
        let answer = numbers(rows, |rows| task.answer(rows, 342, &limits, None, &mut coins));
        let values: Vec<f64> =
            answer.value.unwrap().as_array().unwrap().iter().map(|value| value.as_f64().unwrap()).collect();
        assert!(values.is_sorted(), "{values:?}");
        for (place, truth) in [3.0, 15.0, 30.0, 45.0, 57.0].into_iter().enumerate() {
            off[place] += (values[place] - truth).abs() / 200.0;
        }
    }
    assert!(off.iter().all(|&off| off < 2.5), "{off:?}");
}

#[test]
fn edges_of_any_range_rise() {
    for (low, high) in [(0.0, 3.0), (-f64::MAX, f64::MAX), (1.0, 1.0 + f64::EPSILON), (-5.0, -4.0)] {
        let edges = edges(low, high, 32);
        assert!(edges.len() == 31 && edges.is_sorted(), "{low} {high}");
        assert!(edges.iter().all(|edge| (low..=high).contains(edge)), "{low} {high}");
    }
    assert_eq!(edges(0.0, 3.0, 3), [1.0, 2.0]);
    assert_eq!(rising(&[0, 5, 3, 8]), [0.0, 4.0, 4.0, 8.0]);
    // Half of ten rows lie below 1.5, in the middle of the second cell.
    let at = |fraction| between(&[0.0, 2.0, 8.0, 10.0], &[1.0, 2.0], [0.0, 3.0], fraction);
    assert!((at(0.5) - 1.5).abs() < 1e-12 && (at(0.1) - 0.5).abs() < 1e-12 && (at(1.0) - 3.0).abs() < 1e-12);
}

#[test]
fn more_rows_have_more_cells() {
    let asked =
        Request { column: Some("salary".into()), epsilon: Some("0.5".into()), ..Request::new("summary") };
    let facts = facts();
    let said = ResolvedRequest::new(&asked, &facts).unwrap();
    let task = CellQuantiles::plan(&said, said.eps(), &[Ratio::new(1, 2)], &CELLS).unwrap();
    assert_eq!(
        [0, 799, 800, 2999, 3000, 1 << 40].map(|rows| task.reach(rows).len()),
        [32, 32, 64, 64, 128, 128]
    );
}
