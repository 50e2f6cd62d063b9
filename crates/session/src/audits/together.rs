//! Exact audits of several questions about the same groups, whose keys are found once: the answers of all of them together, enumerated
//! over every neighbouring pair of small files with empty fields in them.

use super::{
    Memory,
    answers::{CODES, facts, source},
    people,
};
use crate::{batch::Batch, gather::ScanResult, plan::Plan, rows::ScanKeys};
use equipoise_audit::{Audit, Kind, Measured, pairs::Claim};
use equipoise_core::{
    adjacency::Adjacency,
    coins::ScriptedWords,
    interval::exp_upper,
    ratio::Ratio,
    tape::{Pmf, enumerate},
};

pub(super) static TOGETHER: Audit = Audit {
    name: "together",
    about: "several answers by group whose keys are found once: the keys, and the answers of all questions together",
    source: "a share of epsilon and delta for the keys of all questions, the rest for the one group that changes",
    kind: Kind::Claim {
        shipped: together,
        change: "the price of one of two questions",
        mutant: || {
            let plan = plan(&format!(r#"{{"epsilon": 8, {DELTA}, "questions": [{COUNT}, {PRESENT}]}}"#));
            let claim = Claim::promised(plan.parts()[0].cost(), Adjacency::AddRemove);
            vec![measured(&plan, claim, 2)]
        },
    },
};

const DELTA: &str = r#""delta": "0.12", "group_by": "town""#;
const COUNT: &str = r#"{"statistic": "count"}"#;
const PRESENT: &str = r#"{"statistic": "count", "column": "salary"}"#;
const MODE: &str = r#"{"statistic": "mode", "column": "town"}"#;
/// A median that is exact or refused has few outcomes.
const STABLE: &str = r#"{"statistic": "median", "column": "salary", "mechanism": "stable", "range": "0,2", "resolution": "1"}"#;

fn plan(json: &str) -> Plan {
    let batch = Batch::from_json(json).expect("a batch");
    let plan = Plan::batch(&batch, &facts()).expect("good questions");
    assert!(plan.has_one_selection(), "the keys are found once");
    plan
}

fn law(plan: &Plan, memory: &Memory, keys: &ScanKeys, floor: &Ratio) -> Pmf<String> {
    let gathered = ScanResult::scan(memory, plan.rows(), &plan.needs(), keys).expect("memory");
    enumerate(floor, |tape| format!("{:?}", plan.answers(&gathered, tape)))
}

/// What one side cuts off weighs e^epsilon against the other, and a thousand outcomes lie at the cut.
fn floor_of(claim: &Claim) -> Ratio {
    "1e-9".parse::<Ratio>().expect("a decimal") / exp_upper(&claim.eps)
}

fn measured(plan: &Plan, claim: Claim, size: usize) -> Measured {
    let floor = floor_of(&claim);
    // Without people a key draws nothing.
    let keys = ScanKeys::new(1, &mut ScriptedWords::new(vec![1; 6]));
    let claim = claim.at_resolution("1e-5");
    claim.over_universe(&CODES, size, |codes| law(plan, &source(codes), &keys, &floor)).case(case(plan))
}

/// The questions, in a few words.
fn case(plan: &Plan) -> String {
    let of = |part: &crate::plan::Part| part.request().statistic.clone();
    plan.parts().iter().map(of).collect::<Vec<_>>().join(" and ")
}

fn together() -> Vec<Measured> {
    let mut found = Vec::new();
    for adjacency in Adjacency::ALL {
        for (eps, questions, size) in
            [("2", [MODE, STABLE], 3), ("4", [COUNT, MODE], 2), ("8", [COUNT, PRESENT], 2)]
        {
            let [one, other] = questions;
            let plan = plan(&format!(
                r#"{{"epsilon": {eps}, "adjacency": "{adjacency}", {DELTA}, "questions": [{one}, {other}]}}"#
            ));
            found.push(measured(&plan, Claim::promised(plan.cost(), adjacency), size));
        }
        // A person with two rows, in one group or in two.
        let plan = plan(&format!(
            r#"{{"epsilon": 4, "delta": "0.2", "adjacency": "{adjacency}", "unit": "town", "max_rows_per_unit": 2,
               "group_by": "salary", "questions": [{MODE}, {STABLE}]}}"#
        ));
        let claim = Claim::promised(plan.cost(), adjacency);
        let floor = floor_of(&claim);
        let pairs = people::people_of_two(adjacency);
        found.push(
            claim
                .at_resolution("1e-5")
                .over_inputs(people::PEOPLE_OF_TWO, pairs, |data| {
                    law(&plan, &people::source(data), &people::hands(1), &floor)
                })
                .case(format!("{}, 2 rows a person", case(&plan))),
        );
    }
    found
}
