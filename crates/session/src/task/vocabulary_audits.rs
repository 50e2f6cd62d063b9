//! Exact audits of whole answers about shares, bins, ends and distinct values, and mutants of them: every neighbouring pair of small files,
//! with what is computed of their rows.

use super::{Answering, audits::EMPTY, audits::request};
use crate::{
    audits::Memory,
    gather::ScanResult,
    plan::{DataFacts, Plan},
    request::Request,
    rows::ScanKeys,
};
use equipoise_core::{
    adjacency::Adjacency,
    coins::ScriptedWords,
    interval::{Interval, exp_upper},
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
