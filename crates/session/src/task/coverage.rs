//! Error bars hold as often as they say, over simulated releases with fixed words: the same every time.

use super::Task;
use crate::{
    answer::{Answer, ErrorBar},
    gather::tests::{FixedWords, Memory, all_rows},
    plan::{DataFacts, Plan},
    request::Request,
};
use equipoise_core::coins::Words;

fn uniform(words: &mut FixedWords) -> f64 {
    ((words.word() >> 11) as f64 + 0.5) / (1u64 << 53) as f64
}

/// Lognormal with median 45,000 and sigma 0.6.
fn salaries(rows: usize, words: &mut FixedWords) -> Vec<f64> {
    let mut salary = || {
        let radius = (-2.0 * uniform(words).ln()).sqrt();
        45_000.0 * (0.6 * radius * (std::f64::consts::TAU * uniform(words)).cos()).exp()
    };
    (0..rows).map(|_| salary()).collect()
}

fn plan(request: &Request) -> Task {
    let columns = vec!["salary".into(), "town".into()];
    let facts = DataFacts { name: "people".into(), columns, registered: None, kinds: Vec::new() };
    Plan::new(request, &facts).unwrap_or_else(|error| panic!("{}: {error}", request.to_json())).task().clone()
}

fn request(statistic: &str, column: &str, eps: &str, confidence: &str) -> Request {
    Request {
        column: (!column.is_empty()).then(|| column.to_string()),
        epsilon: Some(eps.into()),
        confidence: Some(confidence.into()),
        ..Request::new(statistic)
    }
}

const TRIALS: usize = 1000;

/// In how many of the releases does the bar hold?
fn held(task: &Task, memory: &Memory, words: &mut FixedWords, holds: impl Fn(&Answer) -> bool) -> usize {
    let gathered = all_rows(memory, &task.needs(), 1);
    (0..TRIALS).filter(|_| holds(&task.answer(&gathered, words))).count()
}

/// A thousand releases hold at least as often as this: four standard deviations below the confidence. Above it there is
/// no bound where a bar says more than it must; `exact` bars also stay within four deviations above.
fn check(name: &str, confidence: &str, held: usize, exact: bool) {
    let confidence: f64 = confidence.parse().unwrap();
    let mean = confidence * TRIALS as f64;
    let band = 4.0 * (mean * (1.0 - confidence)).sqrt();
    let held = held as f64;
    assert!(held >= mean - band, "{name} at {confidence}: {held} of {TRIALS}");
    assert!(!exact || held <= mean + band, "{name} at {confidence}: {held} of {TRIALS}, which is too often");
}

fn between(error: &ErrorBar, truth: f64) -> bool {
    let [low, high] =
        [&error.low, &error.high].map(|end| end.as_ref().and_then(serde_json::Value::as_f64).unwrap());
    low <= truth && truth <= high
}

#[test]
fn bars_of_noise_hold_as_often_as_they_say() {
    let mut words = FixedWords(1);
    let rows: Vec<f64> = (0..400).map(|i| 40.0 + f64::from(i % 37)).collect();
    let many = rows.len() as f64;
    let sum: f64 = rows.iter().sum();
    let mean = sum / many;
    let variance = rows.iter().map(|row| (row - mean).powi(2)).sum::<f64>() / many;
    let memory = Memory::new(rows, &["a"]);
    for confidence in ["0.9", "0.95"] {
        // The noise of a count is whole, and that of a mean has two parts that share the failure.
        for (statistic, column, truth, exact) in [
            ("count", "", many, true),
            ("sum", "salary", sum, false),
            ("mean", "salary", mean, false),
            ("variance", "salary", variance, false),
        ] {
            let range = (!column.is_empty()).then(|| "0,100".to_string());
            let task = plan(&Request { range, ..request(statistic, column, "1", confidence) });
            let held =
                held(&task, &memory, &mut words, |answer| between(answer.error.as_ref().unwrap(), truth));
            check(statistic, confidence, held, exact);
        }
    }
}

/// The bars are those of the keys that are told, so they must hold given that: also for keys that are told by luck.
#[test]
fn bars_of_told_keys_hold_for_the_keys_that_are_told() {
    let mut words = FixedWords(2);
    for confidence in ["0.9", "0.95"] {
        for rows in [3, 10, 14, 20, 40] {
            let memory = Memory::new(vec![0.0; rows], &["a"]);
            let delta = Some("1e-3".to_string());
            let task = plan(&Request { delta, ..request("histogram", "town", "0.5", confidence) });
            let gathered = all_rows(&memory, &task.needs(), 1);
            let (mut told, mut held) = (0, 0);
            while told < TRIALS {
                let answer = task.answer(&gathered, &mut words);
                if let [group] = answer.groups.as_deref().unwrap() {
                    told += 1;
                    held += usize::from(between(group.error.as_ref().unwrap(), rows as f64));
                }
            }
            check("histogram", confidence, held, false);
        }
    }
}

#[test]
fn bars_in_ranks_and_gaps_hold_as_often_as_they_say() {
    let mut words = FixedWords(3);
    let mut rows = salaries(1000, &mut words);
    for row in &mut rows {
        *row = row.round();
    }
    let memory = Memory::new(rows.clone(), &["a", "b", "a", "c", "a", "b"]);
    rows.sort_unstable_by(f64::total_cmp);
    let row = |rank: i64| rows[usize::try_from(rank - 1).unwrap_or(0).min(rows.len() - 1)];
    // Bars in ranks are proved over all data sets, so they hold more often.
    for confidence in ["0.9", "0.95"] {
        for (fraction, rank) in [("0.5", 500), ("0.9", 900)] {
            let task = plan(&Request {
                fraction: Some(fraction.into()),
                range: Some("0,1000000".into()),
                resolution: Some("1".into()),
                ..request("quantile", "salary", "0.5", confidence)
            });
            let held = held(&task, &memory, &mut words, |answer| {
                let Some(value) = answer.value.as_ref().and_then(serde_json::Value::as_f64) else {
                    return false;
                };
                let off = answer.error.as_ref().unwrap().rank.as_ref().unwrap().as_i64().unwrap();
                row(rank - off) <= value && value <= row(rank + off)
            });
            check("quantile", confidence, held, false);
        }
        let task = plan(&Request {
            range: Some("0,1000000".into()),
            resolution: Some("1".into()),
            interval: Some(true),
            ..request("median", "salary", "2", confidence)
        });
        let holds = |answer: &Answer| between(answer.error.as_ref().unwrap(), row(500));
        check("interval", confidence, held(&task, &memory, &mut words, holds), false);
        let counts = |text: &str| {
            if text == "a" {
                500
            } else if text == "b" {
                333
            } else {
                167
            }
        };
        let among = ["a", "b", "c", "d"].map(String::from).to_vec();
        let task = plan(&Request { among, ..request("select", "town", "0.004", confidence) });
        let held = held(&task, &memory, &mut words, |answer| {
            let value = answer.value.as_ref().unwrap().as_str().unwrap().to_string();
            let has = if value == "d" { 0 } else { counts(&value) };
            500 - has <= answer.error.as_ref().unwrap().gap.unwrap()
        });
        check("select", confidence, held, false);
    }
}

/// The mean of a thousand salaries without bounds, over 200 data sets. At epsilon 0.1 it is refused.
#[test]
fn means_without_bounds_are_as_good_as_promised() {
    let rows = 1000;
    for (eps, most, all_refused) in [("1", 0.02, 0), ("0.1", 0.15, 200)] {
        let task = plan(&request("mean", "salary", eps, "0.95"));
        let mut words = FixedWords(4);
        let mut errors: Vec<f64> = Vec::new();
        let mut refused = 0;
        for _ in 0..200 {
            let salaries = salaries(rows, &mut words);
            let truth = salaries.iter().sum::<f64>() / rows as f64;
            let memory = Memory::new(salaries, &["a"]);
            let gathered = all_rows(&memory, &task.needs(), 1);
            let answer = task.answer(&gathered, &mut words);
            match answer.value.and_then(|value| value.as_f64()) {
                Some(value) => errors.push((value - truth).abs() / truth),
                None => refused += 1,
            }
        }
        errors.sort_unstable_by(f64::total_cmp);
        let median = errors.get(errors.len() / 2).copied().unwrap_or(0.0);
        assert!(median <= most && refused == all_refused, "epsilon {eps}: {median}, {refused} refused");
    }
}
