//! Simulations whose outcome is sure: what each number came to, what is true, and which bars hold.

use super::*;
use crate::{
    bar::{Condition, GapUnit},
    gather::tests::Memory,
    plan::DataFacts,
    request::Request,
};

fn planned(request: &Request) -> Plan {
    let facts = DataFacts {
        name: "made up".into(),
        columns: vec!["salary".into(), "town".into()],
        registered: None,
        kinds: Vec::new(),
        windows: None,
    };
    Plan::new(request, &facts).unwrap()
}

fn asked(statistic: &str, column: &str, eps: &str) -> Request {
    Request {
        epsilon: Some(eps.into()),
        column: (!column.is_empty()).then(|| column.into()),
        ..Request::new(statistic)
    }
}

#[test]
fn every_trial_has_an_outcome_of_its_own() {
    let plan = planned(&asked("median", "salary", "1"));
    let memory = Memory::new((0..1000).map(f64::from).collect(), &["a"]);
    for trials in [0, 1, 7, 40] {
        assert_eq!(simulate(&plan, &memory, trials).unwrap().trials.len(), trials);
    }
    // Two hundred medians over 2^64 values: that all are the same has a chance below 1e-100.
    let trials = simulate(&plan, &memory, 200).unwrap().trials;
    assert!(trials.iter().any(|trial| trial.value() != trials[0].value()), "each trial draws its own noise");
    let few = Memory::new(vec![1.0], &["a"]);
    // A noisy count of one row would have to exceed the needed rows of more than 80 at epsilon 1/20: about e^-4
    // for each trial, so all 200 with a chance below 1e-300.
    assert!(simulate(&plan, &few, 200).unwrap().trials.iter().any(|trial| !trial.is_released()));
}

/// Three towns: 600 rows in a, 300 in b, 100 without one; salaries 1 to 1000.
fn towns() -> Memory {
    let towns: Vec<&str> =
        (0..10).map(|row| ["a", "a", "b", "a", "a", "", "b", "a", "b", "a"][row]).collect();
    Memory::new((1..=1000).map(f64::from).collect(), &towns)
}

fn grouped(request: Request) -> Request {
    Request { group_by: vec!["town".into()], delta: Some("1e-6".into()), ..request }
}

fn series(request: &Request, trials: usize) -> Vec<Series> {
    simulate(&planned(request), &towns(), trials).unwrap().series
}

/// At epsilon 1000 noise is not zero with a chance below e^-200 for counts, texts and ranks.
#[test]
fn every_number_of_an_answer_is_a_series_with_what_is_true() {
    let count = grouped(asked("count", "", "1000"));
    let told: Vec<_> = series(&count, 3)
        .into_iter()
        .map(|one| (one.label(true), one.values.clone(), one.truth().unwrap(), one.bars, one.held))
        .collect();
    let three = |count: i32| vec![json!(count); 3];
    assert_eq!(
        told,
        [("(empty)", 100), ("a", 600), ("b", 300)]
            .map(|(key, count)| (key.to_string(), three(count), json!(count), 3, 3))
            .into_iter()
            .collect::<Vec<_>>()
    );
    let quantiles = Request { fraction: Some("0.25,0.5".into()), ..asked("quantile", "salary", "1000") };
    let told: Vec<_> =
        series(&quantiles, 2).iter().map(|one| (one.label(true), one.truth(), one.held)).collect();
    assert_eq!(
        told,
        [("quantile 0.25".into(), Some(json!(250.0)), 2), ("quantile 0.5".into(), Some(json!(500.0)), 2)]
    );
    let summary = series(&asked("summary", "salary", "1000"), 2);
    let told: Vec<_> = summary.iter().map(|one| (one.name.as_str(), one.truth().unwrap())).collect();
    let deviation = ((1000.0_f64.powi(2) - 1.0) / 12.0).sqrt();
    assert_eq!(told[..2], [("count", json!(1000)), ("mean", json!(500.5))]);
    assert!((told[2].1.as_f64().unwrap() - deviation).abs() < 1e-9, "{told:?}");
    assert_eq!(
        told[3..],
        [("0.05", 50.0), ("0.25", 250.0), ("0.5", 500.0), ("0.75", 750.0), ("0.95", 950.0)]
            .map(|(fraction, truth)| (&*format!("quantile {fraction}").leak(), json!(truth)))
    );
    // Thirty of each hundred salaries are those of b: the median is the 150th of 300.
    let by_town = series(&grouped(asked("summary", "salary", "1000")), 2);
    let told =
        |name: &str| by_town.iter().find(|one| one.name == name && one.key == Some(json!("b"))).unwrap();
    assert_eq!((by_town.len(), told("count").truth(), told("count").bars), (24, Some(json!(300)), 2));
    assert_eq!(told("quantile 0.5").truth(), Some(json!(499.0)));
    let mode = series(&Request { delta: Some("1e-6".into()), ..asked("mode", "town", "1000") }, 4);
    assert_eq!(mode[0].frequent(), [(json!("a"), 4)]);
    assert_eq!((mode[0].truth(), mode[0].held), (Some(json!("a")), 4));
    let select = Request { among: vec!["b".into(), "c".into()], ..asked("select", "town", "1000") };
    let select = series(&select, 4);
    assert_eq!((select[0].frequent(), select[0].truth()), (vec![(json!("b"), 4)], Some(json!("b"))));
    let iqr = series(&asked("iqr", "salary", "1000"), 2);
    assert_eq!((iqr[0].truth(), iqr[0].held), (Some(json!(500.0)), 2));
}

/// At epsilon 1/1000 no key of a thousand rows is told: a count would have to seem a dozen times as large, at e^-12 for
/// each key and trial. What is checked does not hang on it.
#[test]
fn keys_that_no_trial_told_are_counted() {
    let request = grouped(asked("count", "", "0.001"));
    let simulation = simulate(&planned(&request), &towns(), 5).unwrap();
    let told = simulation.series.len() as u64;
    assert_eq!(simulation.unsaid, Some(3 - told));
    assert_eq!(simulate(&planned(&asked("count", "", "1")), &towns(), 5).unwrap().unsaid, None);
}

/// Where the number of rows is public, a mean and its bar are about rows with the middle in the place of empty fields. One row
/// moves the sum by 10 units, so at epsilon 1000 it has noise with a chance below 2e^-99.
#[test]
fn a_bar_over_all_rows_is_held_against_rows_that_were_filled() {
    let request = Request {
        types: [("salary".to_string(), "integer".to_string())].into(),
        range: Some("0,10".into()),
        adjacency: Some("replace".into()),
        ..asked("mean", "salary", "1000")
    };
    let rows = (0..1000).map(|row| if row % 2 == 0 { f64::NAN } else { 1.0 }).collect();
    let simulation = simulate(&planned(&request), &Memory::new(rows, &["a"]), 4).unwrap();
    let mean = &simulation.series[0];
    assert_eq!((mean.values.clone(), mean.held, mean.bars), (vec![json!(3.0); 4], 4, 4));
}

#[test]
fn a_trial_has_values_with_their_bars() {
    let simulation = simulate(&planned(&asked("count", "", "1000")), &towns(), 2).unwrap();
    let bar = json!({ "confidence": 0.95, "kind": "noise", "low": 1000.0, "high": 1000.0 });
    assert_eq!(
        simulation.trials[0].document(),
        json!({ "outcome": "released", "value": 1000, "error": bar })
    );
    assert_eq!(
        simulation.series[0].summary(),
        json!({
            "statistic": "count", "told": 2, "refused": 0, "median": 1000, "nine_of_ten_between": [1000, 1000],
            "truth": 1000, "bars": { "confidence": 0.95, "judged": 2, "held": 2 },
        })
    );
    let groups = simulate(&planned(&grouped(asked("median", "salary", "1000"))), &towns(), 2).unwrap();
    assert_eq!(groups.trials[0].document()["groups"][1]["key"], "a");
    let summary = simulate(&planned(&asked("summary", "salary", "1000")), &towns(), 2).unwrap();
    assert_eq!(summary.trials[0].document()["answers"][3]["statistic"], "quantiles");
}

/// A judge that never says no would be of no use.
#[test]
fn bars_that_miss_what_is_true_do_not_hold() {
    let judge = |request: &Request, value: Value, error: ErrorBar| {
        let plan = planned(request);
        let question = Question::new(&plan.parts()[0]).unwrap();
        let source = towns();
        let gathered = gather(&plan, &source).unwrap();
        question.holds(0, &question.facts(&gathered), &value, &error).unwrap()
    };
    let count = asked("count", "", "1");
    assert!(judge(&count, json!(1003), ErrorBar::noise(0.9, 1000.0, 1006.0)));
    assert!(!judge(&count, json!(1004), ErrorBar::noise(0.9, 1001.0, 1007.0)));
    let median = asked("median", "salary", "1");
    for (value, rank, holds) in [(500.0, 0, true), (510.0, 10, true), (511.0, 10, false), (489.5, 10, false)]
    {
        assert_eq!(judge(&median, json!(value), ErrorBar::rank(0.9, rank)), holds, "{value}");
    }
    // Beyond the rows nothing is too far.
    assert!(judge(&median, json!(1e9), ErrorBar::rank(0.9, 501)));
    assert!(!judge(&median, json!(500.5), ErrorBar::exact()));
    let interval = ErrorBar::rank(0.9, 1).with_interval(json!(501.0), json!(600.0));
    assert!(!judge(&median, json!(550.0), interval));
    let iqr = asked("iqr", "salary", "1");
    assert!(judge(&iqr, json!(504.0), ErrorBar::ranks(0.9, &[2, 2])));
    assert!(!judge(&iqr, json!(504.5), ErrorBar::ranks(0.9, &[2, 2])));
    let select = Request { among: vec!["a".into(), "b".into(), "c".into()], ..asked("select", "town", "1") };
    assert!(judge(&select, json!("b"), ErrorBar::gap(0.9, 300, GapUnit::Rows)));
    assert!(!judge(&select, json!("b"), ErrorBar::gap(0.9, 299, GapUnit::Rows)));
    assert!(!judge(&select, json!("c"), ErrorBar::gap(0.9, 599, GapUnit::Rows)));
    let mode = Request { delta: Some("1e-6".into()), ..asked("mode", "town", "1") };
    assert!(judge(&mode, json!("a"), ErrorBar::exact()) && !judge(&mode, json!("b"), ErrorBar::exact()));
    // The mean of rows that were moved to 500 at most is 375.25.
    let moved = ErrorBar::noise(0.9, 375.0, 376.0).on(Condition::LimitedTo([0.0, 500.0]));
    assert!(judge(&asked("mean", "salary", "1"), json!(375.5), moved.clone()));
    assert!(!judge(&asked("mean", "salary", "1"), json!(375.5), ErrorBar::noise(0.9, 375.0, 376.0)));
}

#[test]
fn people_with_many_rows_are_judged_by_the_rows_that_took_part() {
    let request = Request { unit: Some("town".into()), ..asked("count", "", "1000") };
    let simulation = simulate(&planned(&request), &towns(), 6).unwrap();
    let one = &simulation.series[0];
    // Two towns have one row each; the empty field names nobody. At epsilon 1000 noise is zero but for e^-800.
    assert_eq!((one.truth_drawn(), one.held, one.bars), (Some(json!(2)), 6, 6));
    // The truth is that of all rows; it changed with the rows that were drawn.
    assert_eq!(one.truth(), Some(json!(1000)));
    let shown = one.summary();
    assert_eq!((&shown["truth"], &shown["truth_of_rows_drawn"]), (&json!(1000), &json!(2)));
}

/// The truth of a run was that of the rows it drew, and another one in the next run.
#[test]
fn the_truth_of_all_rows_is_the_same_in_every_run() {
    let request = Request { unit: Some("town".into()), ..asked("mean", "salary", "1000") };
    let request = Request { range: Some("0,1000".into()), ..request };
    let plan = planned(&request);
    let [one, other] = [(); 2].map(|()| simulate(&plan, &towns(), 3).unwrap().series[0].truth());
    assert_eq!((one, other), (Some(json!(500.5)), Some(json!(500.5))));
    let groups = Request { group_by: vec!["town".into()], keys: vec!["a".into(), "b".into()], ..request };
    let simulation = simulate(&planned(&groups), &towns(), 3).unwrap();
    let truths: Vec<_> = simulation.series.iter().map(|one| (one.label(true), one.truth())).collect();
    let whole = simulate(&planned(&Request { unit: None, ..groups }), &towns(), 3).unwrap();
    let expected: Vec<_> = whole.series.iter().map(|one| (one.label(true), one.truth())).collect();
    assert_eq!(truths, expected);
}
