//! Exact audits of whole answers about shares, bins, ends and distinct values, and mutants of them: every neighbouring pair of small files,
//! with what is computed of their rows.

use super::{Answering, Task, audits::EMPTY, audits::request};
use crate::{
    answer::Answer,
    audits::Memory,
    bar::ErrorBar,
    gather::{ScanResult, tests::FixedWords},
    plan::{DataFacts, Plan},
    request::Request,
    rows::ScanKeys,
};
use equipoise_core::{
    adjacency::Adjacency,
    coins::ScriptedWords,
    interval::{Interval, exp_upper},
    loss::Loss,
    ratio::Ratio,
    tape::{Pmf, delta_between, enumerate},
    universe::neighbouring_pairs,
};
use std::collections::BTreeMap;

/// A record is a code: its number and its text, or empty fields.
const TEXTS: [&str; 3] = ["ash", "beech", "cedar"];

fn source(codes: &[i64]) -> Memory {
    let number = |&code: &i64| if code == EMPTY { f64::NAN } else { code as f64 };
    let text = |&code: &i64| usize::try_from(code).map_or("", |code| TEXTS[code]);
    Memory::new(codes.iter().map(number).collect(), &codes.iter().map(text).collect::<Vec<_>>())
}

fn plan(request: &Request) -> Plan {
    let facts = DataFacts {
        name: "people".into(),
        columns: vec!["salary".into(), "town".into()],
        registered: None,
        kinds: Vec::new(),
        windows: None,
    };
    Plan::new(request, &facts).unwrap_or_else(|error| panic!("{}: {error}", request.to_json()))
}

fn law(plan: &Plan, codes: &[i64], floor: &Ratio) -> Pmf<String> {
    let memory = source(codes);
    // Without people a key draws nothing.
    let hands = ScanKeys::new(1, &mut ScriptedWords::new(vec![1; 6]));
    let gathered = ScanResult::scan(&memory, plan.rows(), &plan.needs(), &hands).expect("memory");
    enumerate(floor, |tape| format!("{:?}", plan.task().answer(&gathered, tape)))
}

/// The largest delta that any pair of files of at most so many rows shows at this epsilon.
fn worst(plan: &Plan, adjacency: Adjacency, eps: &Ratio, size: usize) -> Interval {
    let mut seen: BTreeMap<Vec<i64>, Pmf<String>> = BTreeMap::new();
    let mut worst: Option<Interval> = None;
    // What one side cuts off weighs e^epsilon against the other, and a thousand outcomes lie at the cut.
    let floor = "1e-9".parse::<Ratio>().unwrap() / exp_upper(eps);
    for (a, b) in neighbouring_pairs(&[EMPTY, 0, 2], size, adjacency) {
        for data in [&a, &b] {
            if !seen.contains_key(data) {
                seen.insert(data.clone(), law(plan, data, &floor));
            }
        }
        let delta = delta_between(eps, &seen[&a], &seen[&b]);
        worst = Some(worst.map_or(delta.clone(), |worst| worst.max(&delta)));
    }
    worst.expect("some pair")
}

/// The whole answer loses what its plan promises, and shows more than delta at less than that.
fn keeps(request: &Request, adjacency: Adjacency, size: usize, less: &str) {
    let plan = plan(request);
    let (eps, delta) = (plan.cost().eps.ratio(), plan.cost().delta.ratio());
    let measured = worst(&plan, adjacency, eps, size);
    let room = "1e-5".parse().unwrap();
    assert!(measured.upper() <= delta + &room, "{adjacency} {}: {}", request.to_json(), measured.to_f64());
    let measured = worst(&plan, adjacency, &less.parse().unwrap(), size);
    let seen = "1e-3".parse().unwrap();
    assert!(measured.lower() > delta + &seen, "{adjacency} {}: {}", request.to_json(), measured.to_f64());
}

/// Yes, no and unknown: the row that is unknown moves neither count. Promising a tenth less than all of epsilon is caught, and so
/// is the price of a row that comes where one is replaced: it moves both counts.
#[test]
fn shares_keep_what_they_promise_and_mutants_do_not() {
    for adjacency in Adjacency::ALL {
        keeps(&request("share", Some("salary > 1"), "2", adjacency), adjacency, 3, "1.8");
    }
    let one_step = plan(&request("share", Some("salary > 1"), "2", Adjacency::AddRemove));
    let measured = worst(&one_step, Adjacency::Replace, &"3.9".parse().unwrap(), 3);
    assert!(measured.lower() > "1e-3".parse().unwrap(), "{}", measured.to_f64());
}

/// Bins of stated edges cost epsilon, found ones delta too; a replaced row moves two of them, and noise for one is caught.
#[test]
fn bins_keep_what_they_promise_and_mutants_do_not() {
    let stated = |adjacency: Adjacency| Request {
        bins: Some("1".into()),
        range: Some("0,1".into()),
        ..request("histogram", Some("salary"), "2", adjacency)
    };
    let found = |adjacency: Adjacency| Request {
        width: Some("2".into()),
        delta: Some("0.1".into()),
        ..request("histogram", Some("salary"), "2", adjacency)
    };
    for adjacency in Adjacency::ALL {
        keeps(&stated(adjacency), adjacency, 2, "1.5");
    }
    keeps(&found(Adjacency::AddRemove), Adjacency::AddRemove, 3, "0.1");
    // Two steps of few rows do not use up what is promised for two: more than half of it shows.
    let two_steps = plan(&found(Adjacency::Replace));
    let measured = |eps: &Ratio| worst(&two_steps, Adjacency::Replace, eps, 3);
    assert!(measured(two_steps.cost().eps.ratio()).upper() <= "0.10001".parse().unwrap());
    assert!(measured(&"0.1".parse().unwrap()).lower() > "0.05".parse().unwrap());
    let one_step = plan(&stated(Adjacency::AddRemove));
    let measured = worst(&one_step, Adjacency::Replace, &"3".parse().unwrap(), 2);
    assert!(measured.lower() > "1e-3".parse().unwrap(), "{}", measured.to_f64());
}

/// Bins and points of each group: with stated groups a row moves one count of one of them; where groups are found, the row that brings a key
/// is told with probability at most delta. A replaced row moves two counts, of two groups or of one, and noise for one is caught.
#[test]
fn bins_of_groups_keep_what_they_promise_and_mutants_do_not() {
    let by_town = |request: Request| Request { group_by: vec!["town".into()], ..request };
    let stated = |adjacency: Adjacency| Request {
        bins: Some("1".into()),
        range: Some("0,1".into()),
        keys: vec!["ash".into()],
        ..by_town(request("histogram", Some("salary"), "2", adjacency))
    };
    let points = |adjacency: Adjacency| Request {
        at: Some("0".into()),
        keys: vec!["ash".into(), "cedar".into()],
        ..by_town(request("ecdf", Some("salary"), "2", adjacency))
    };
    for adjacency in Adjacency::ALL {
        keeps(&stated(adjacency), adjacency, 2, "0.9");
        keeps(&points(adjacency), adjacency, 2, "0.9");
    }
    let found = |adjacency: Adjacency| Request {
        at: Some("1".into()),
        delta: Some("0.1".into()),
        ..by_town(request("ecdf", Some("salary"), "2", adjacency))
    };
    let found_both = Request {
        width: Some("2".into()),
        delta: Some("0.1".into()),
        ..by_town(request("histogram", Some("salary"), "2", Adjacency::AddRemove))
    };
    for request in [found(Adjacency::AddRemove), found_both] {
        let plan = plan(&request);
        let measured = worst(&plan, Adjacency::AddRemove, plan.cost().eps.ratio(), 2);
        assert!(
            measured.upper() <= "0.10001".parse().unwrap(),
            "{}: {}",
            request.to_json(),
            measured.to_f64()
        );
    }
    let one_step = plan(&points(Adjacency::AddRemove));
    let measured = worst(&one_step, Adjacency::Replace, &"3".parse().unwrap(), 2);
    assert!(measured.lower() > "1e-3".parse().unwrap(), "{}", measured.to_f64());
}

/// The ends of three rows at most: the value and the noisy number of rows together. The price of the value alone is caught, where the
/// number of rows tells the rest.
#[test]
fn ends_keep_what_they_promise_and_mutants_do_not() {
    for adjacency in Adjacency::ALL {
        for statistic in ["min", "max"] {
            let asked = Request {
                range: Some("0,2".into()),
                resolution: Some("1".into()),
                ..request(statistic, Some("salary"), "16", adjacency)
            };
            keeps(&asked, adjacency, 3, "4");
            let plan = plan(&asked);
            let Task::Extreme(task) = plan.task() else { panic!("an end") };
            let Loss::Approx(spent) = task.spent() else { panic!("an (epsilon, delta) price") };
            assert_eq!(spent.eps.ratio(), plan.cost().eps.ratio());
        }
    }
}

/// Values of a column of texts, empty ones among them: a replaced row takes one away and brings another.
#[test]
fn numbers_of_values_keep_what_they_promise_and_mutants_do_not() {
    for adjacency in Adjacency::ALL {
        keeps(&request("distinct", Some("town"), "2", adjacency), adjacency, 3, "1.9");
    }
}

/// Shares up to two points from three counts; and the mutant that pays for one row that comes where one is replaced.
#[test]
fn distributions_keep_what_they_promise_and_mutants_do_not() {
    let asked = |adjacency: Adjacency| Request {
        at: Some("0".into()),
        ..request("ecdf", Some("salary"), "2", adjacency)
    };
    for adjacency in Adjacency::ALL {
        keeps(&asked(adjacency), adjacency, 2, "1.5");
    }
    let one_step = plan(&asked(Adjacency::AddRemove));
    let measured = worst(&one_step, Adjacency::Replace, &"3".parse().unwrap(), 2);
    assert!(measured.lower() > "1e-3".parse().unwrap(), "{}", measured.to_f64());
}

/// After the charge nothing may fail, whatever the rows.
#[test]
fn no_rows_make_these_answers_panic() {
    let mut coins = FixedWords(9);
    let odd = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MAX, f64::MIN, 5e-324, -0.0, 1.0];
    let mut files: Vec<Vec<f64>> = odd.iter().flat_map(|&row| [vec![row], vec![row; 300]]).collect();
    files.extend([vec![], odd.to_vec(), odd.repeat(80)]);
    for adjacency in Adjacency::ALL {
        let asked = |statistic: &str| Request {
            delta: Some("0.1".into()),
            ..request(statistic, Some("salary"), "1", adjacency)
        };
        let by_town = |request: Request| Request { group_by: vec!["town".into()], ..request };
        let range = Some("-1.7e308,1.7e308".to_string());
        for request in [
            Request { column: Some("salary > 0".into()), ..asked("share") },
            Request { bins: Some("20".into()), range: range.clone(), ..asked("histogram") },
            Request { width: Some("0.1".into()), ..asked("histogram") },
            Request { width: Some("0.1".into()), range: Some("0,9".into()), ..asked("histogram") },
            asked("min"),
            asked("max"),
            Request { resolution: Some("exact".into()), ..asked("max") },
            by_town(asked("max")),
            asked("distinct"),
            by_town(asked("distinct")),
            Request { at: Some("-1e300,0,5".into()), ..asked("ecdf") },
            by_town(Request { at: Some("-1e300,0,5".into()), ..asked("ecdf") }),
            by_town(Request { bins: Some("3".into()), range: range.clone(), ..asked("histogram") }),
            by_town(Request { width: Some("0.1".into()), ..asked("histogram") }),
            by_town(Request { quantile_bins: Some("3".into()), ..asked("histogram") }),
            by_town(asked("ecdf")),
            Request { no_quantiles: Some(true), ..asked("summary") },
        ] {
            let plan = plan(&request);
            for file in &files {
                let memory = Memory::new(file.clone(), &["ash", "", "beech"]);
                let hands = ScanKeys::new(1, &mut ScriptedWords::new(vec![1; 6]));
                let gathered = ScanResult::scan(&memory, plan.rows(), &plan.needs(), &hands).expect("memory");
                let _ = plan.task().answer(&gathered, &mut coins);
            }
        }
    }
}

/// Of bars that are held against the rows as often as they say: 1,000 rows with ties, at 80 % so that a wrong bar shows. The false alarm
/// of each is below 1e-6 (a binomial of 400 at 0.8 below 280).
#[test]
fn bars_hold_as_often_as_they_say() {
    const TRIALS: usize = 400;
    let rows: Vec<f64> = (0..1000).map(|row| f64::from(row % 250)).collect();
    let mut coins = FixedWords(13);
    let mut held = |request: Request, holds: &dyn Fn(&Answer) -> bool| {
        let request = Request { confidence: Some("0.8".into()), ..request };
        let plan = plan(&request);
        let memory = Memory::new(rows.clone(), &["ash", "beech", "cedar"]);
        let hands = ScanKeys::new(1, &mut ScriptedWords::new(vec![1; 6]));
        let gathered = ScanResult::scan(&memory, plan.rows(), &plan.needs(), &hands).expect("memory");
        let held = (0..TRIALS).filter(|_| holds(&plan.task().answer(&gathered, &mut coins))).count();
        assert!(held >= 280, "{}: {held}", request.to_json());
    };
    let adjacency = Adjacency::AddRemove;
    let between = |answer: &Answer, truth: f64| {
        answer
            .error
            .as_ref()
            .and_then(ErrorBar::numeric_ends)
            .is_some_and(|[low, high]| low <= truth && truth <= high)
    };
    held(request("share", Some("salary >= 200"), "0.5", adjacency), &|answer| between(answer, 0.2));
    held(request("distinct", Some("town"), "0.5", adjacency), &|answer| between(answer, 3.0));
    for (statistic, low, high) in [("max", 0, 249), ("min", 0, 249)] {
        held(request(statistic, Some("salary"), "1", adjacency), &|answer| {
            let ranks = answer.error.as_ref().and_then(ErrorBar::in_ranks).map_or(0, |ranks| ranks.each()[0]);
            let value = answer.value.as_ref().and_then(serde_json::Value::as_f64).expect("an answer");
            // Four rows have each value.
            let off = (ranks / 4) as f64;
            if statistic == "max" {
                (f64::from(high) - off..=f64::from(high)).contains(&value)
            } else {
                (f64::from(low)..=f64::from(low) + off).contains(&value)
            }
        });
    }
    let all = Request { at: Some("9,99,199".into()), ..request("ecdf", Some("salary"), "0.5", adjacency) };
    held(all, &|answer| {
        let groups = answer.groups.as_ref().expect("points");
        groups.iter().zip([0.04, 0.4, 0.8]).all(|(group, truth)| {
            let ends = group.error.as_ref().and_then(ErrorBar::numeric_ends);
            ends.is_some_and(|[low, high]| low <= truth && truth <= high)
        })
    });
}
