//! Exact audits of whole answers: what a release shows, its noisy number of rows included, enumerated over every neighbouring pair of
//! small files with empty fields in them.

use super::Memory;
use crate::{
    gather::ScanResult,
    plan::{DataFacts, Plan},
    request::Request,
    rows::ScanKeys,
    task::Answering,
};
use equipoise_audit::{Audit, Kind, Measured, pairs::Claim};
use equipoise_core::{
    adjacency::Adjacency,
    coins::ScriptedWords,
    interval::exp_upper,
    ratio::Ratio,
    tape::{Pmf, enumerate},
};

pub(super) static ANSWERS: Audit = Audit {
    name: "answers",
    about: "whole answers to questions: value, bar, refusal and the noisy number of rows together",
    source: "shares of epsilon and delta of each question",
    kind: Kind::Claim {
        shipped: answers,
        change: "the bought number of rows, a twentieth of a median, is not counted",
        mutant: || {
            let plan = plan(&on_a_small_grid(request("median", Some("salary"), "8", Adjacency::AddRemove)));
            let share = Claim::new(Ratio::new(38, 100), Ratio::zero(), Adjacency::AddRemove);
            vec![measured(&plan, share, 2)]
        },
    },
};

pub(super) static GROUPS: Audit = Audit {
    name: "groups",
    about: "answers by group: which keys are released, empty ones among them, and the answer of each",
    source: "a share of epsilon and delta for the keys, the rest for the one group that changes",
    kind: Kind::Claim {
        shipped: groups,
        change: "under replace, what one row that comes or goes costs",
        mutant: || {
            let plan = plan(&by_town(request("count", None, "2", Adjacency::AddRemove)));
            let claim = Claim::promised(plan.cost(), Adjacency::Replace);
            vec![measured(&plan, claim, 3)]
        },
    },
};

/// A record is a code: its number and its text, or empty fields.
const EMPTY: i64 = -1;
pub(super) const CODES: [i64; 3] = [EMPTY, 0, 2];
const TEXTS: [&str; 3] = ["ash", "beech", "cedar"];

pub(super) fn source(codes: &[i64]) -> Memory {
    let number = |&code: &i64| if code == EMPTY { f64::NAN } else { code as f64 };
    let text = |&code: &i64| usize::try_from(code).map_or("", |code| TEXTS[code]);
    Memory::new(codes.iter().map(number).collect(), &codes.iter().map(text).collect::<Vec<_>>())
}

pub(super) fn facts() -> DataFacts {
    DataFacts {
        name: "people".into(),
        columns: vec!["salary".into(), "town".into()],
        registered: None,
        kinds: Vec::new(),
        windows: None,
    }
}

fn plan(request: &Request) -> Plan {
    Plan::new(request, &facts()).expect("a good request")
}

fn law(plan: &Plan, codes: &[i64], floor: &Ratio) -> Pmf<String> {
    let memory = source(codes);
    // Without people a key draws nothing.
    let hands = ScanKeys::new(1, &mut ScriptedWords::new(vec![1; 6]));
    let gathered = ScanResult::scan(&memory, plan.rows(), &plan.needs(), &hands).expect("memory");
    enumerate(floor, |tape| format!("{:?}", plan.task().answer(&gathered, tape)))
}

fn measured(plan: &Plan, claim: Claim, size: usize) -> Measured {
    // What one side cuts off weighs e^epsilon against the other, and a thousand outcomes lie at the cut.
    let floor = "1e-9".parse::<Ratio>().expect("a decimal") / exp_upper(&claim.eps);
    let claim = claim.at_resolution("1e-5");
    let found = claim.over_universe(&CODES, size, |codes| law(plan, codes, &floor));
    let mechanism = plan.mechanism();
    let groups = if plan.group_by().is_empty() { "" } else { " by group" };
    found.case(format!("{}{groups}, {mechanism}", plan.request().statistic))
}

fn keeps(request: &Request, adjacency: Adjacency) -> Measured {
    let plan = plan(request);
    measured(&plan, Claim::promised(plan.cost(), adjacency), 3)
}

fn request(statistic: &str, column: Option<&str>, eps: &str, adjacency: Adjacency) -> Request {
    Request {
        column: column.map(str::to_string),
        epsilon: Some(eps.into()),
        adjacency: Some(adjacency.to_string()),
        ..Request::new(statistic)
    }
}

fn on_a_small_grid(request: Request) -> Request {
    Request { range: Some("0,2".into()), resolution: Some("1".into()), ..request }
}

fn with_delta(request: Request) -> Request {
    Request { delta: Some("0.1".into()), ..request }
}

fn by(mechanism: &str, request: Request) -> Request {
    Request { mechanism: Some(mechanism.into()), ..request }
}

fn answers() -> Vec<Measured> {
    let mut found = Vec::new();
    for adjacency in Adjacency::ALL {
        let median = |eps: &str| on_a_small_grid(request("median", Some("salary"), eps, adjacency));
        let town = |statistic: &str, eps: &str| request(statistic, Some("town"), eps, adjacency);
        let listed =
            |request: Request| Request { among: vec!["ash".into(), "cedar".into(), "oak".into()], ..request };
        let stable = by("stable", with_delta(median("1")));
        found.extend(
            [
                town("count", "2"),
                by("gaussian", with_delta(town("count", "2"))),
                median("8"),
                Request { interval: Some(true), rows: Some("100".into()), ..median("16") },
                Request { statistic: "quantile".into(), fraction: Some("0.9".into()), ..median("8") },
                with_delta(town("mode", "1")),
                with_delta(town("select", "1")),
                Request { k: Some("2".into()), ..listed(town("top", "1")) },
                Request { k: Some("1".into()), ..with_delta(town("top", "1")) },
                listed(town("select", "1")),
                by("exponential", with_delta(town("select", "1"))),
                by("noisy-max", listed(town("select", "1"))),
                Request { statistic: "iqr".into(), ..by("scale", stable.clone()) },
                stable,
            ]
            .map(|request| keeps(&request, adjacency)),
        );
    }
    found
}

fn by_town(request: Request) -> Request {
    Request { group_by: vec!["town".into()], delta: Some("0.12".into()), ..request }
}

fn groups() -> Vec<Measured> {
    let mut found = Vec::new();
    for adjacency in Adjacency::ALL {
        let median = on_a_small_grid(request("median", Some("salary"), "2", adjacency));
        let stated = Request {
            group_by: vec!["town".into()],
            keys: vec!["ash".into(), "oak".into()],
            ..request("count", Some("salary"), "2", adjacency)
        };
        found.extend(
            [
                by_town(request("count", None, "2", adjacency)),
                by_town(request("count", Some("salary"), "2", adjacency)),
                by_town(request("mode", Some("town"), "2", adjacency)),
                by("stable", by_town(median)),
                stated,
            ]
            .map(|request| keeps(&request, adjacency)),
        );
    }
    found
}
