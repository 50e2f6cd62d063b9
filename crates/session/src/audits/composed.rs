//! Exact audits of several questions whose losses are composed at a delta: the answers of all of them together, enumerated over every
//! neighbouring pair of small files with empty fields in them.

use super::{
    answers::{CODES, facts, source},
    people,
};
use crate::{batch::Batch, gather::ScanResult, plan::Plan, rows::ScanKeys};
use equipoise_audit::{Audit, Kind, Measured, pairs::Claim};
use equipoise_core::{
    adjacency::Adjacency,
    coins::ScriptedWords,
    interval::exp_upper,
    loss::{Amount, Approx},
    ratio::Ratio,
    tape::{Pmf, enumerate},
};

pub(super) static COMPOSED: Audit = Audit {
    name: "composed",
    about: "several answers whose losses are composed as concentrated ones: all of them together, at the epsilon and delta of the whole",
    source: "Bun and Steinke 2016 (sums of concentrated losses), Cesar and Rogers 2021 (drawn values), and the conversion to a delta",
    kind: Kind::Claim {
        shipped: composed,
        change: "the delta that composing takes is not counted",
        mutant: || {
            let plan = plan(&batch("6", "0.3", Adjacency::AddRemove, &[SELECT; 6]));
            let claim = Approx { eps: plan.cost().eps.clone(), delta: Amount::zero() };
            vec![measured(&plan, Claim::promised(&claim, Adjacency::AddRemove), 3)]
        },
    },
};

/// A choice of two has two outcomes, a median of three values three.
const SELECT: &str = r#"{"statistic": "select", "column": "town", "among": ["ash", "cedar"]}"#;
const MEDIAN: &str = r#"{"statistic": "median", "column": "salary", "mechanism": "inverse-sensitivity", "range": "0,2", "resolution": "1"}"#;
const COUNT: &str = r#"{"statistic": "count", "column": "salary", "mechanism": "gaussian"}"#;

fn batch(eps: &str, delta: &str, adjacency: Adjacency, questions: &[&str]) -> String {
    let questions = questions.join(", ");
    format!(
        r#"{{"epsilon": {eps}, "delta": "{delta}", "adjacency": "{adjacency}", "questions": [{questions}]}}"#
    )
}

fn plan(json: &str) -> Plan {
    let batch = Batch::from_json(json).expect("a batch");
    let plan = Plan::batch(&batch, &facts()).expect("good questions");
    assert!(plan.promise().composition.is_some(), "composing leaves more to each: {json}");
    plan
}

fn floor_of(claim: &Claim) -> Ratio {
    "1e-9".parse::<Ratio>().expect("a decimal") / exp_upper(&claim.eps)
}

fn case(plan: &Plan) -> String {
    let parts = plan.parts();
    let first = &parts[0].request().statistic;
    format!("{} questions, {first} among them, {}", parts.len(), plan.mechanism())
}

fn measured(plan: &Plan, claim: Claim, size: usize) -> Measured {
    let floor = floor_of(&claim);
    // Without people a key draws nothing.
    let keys = ScanKeys::new(1, &mut ScriptedWords::new(vec![1; 6]));
    let law = |codes: &[i64]| -> Pmf<String> {
        let memory = source(codes);
        let gathered = ScanResult::scan(&memory, plan.rows(), &plan.needs(), &keys).expect("memory");
        enumerate(&floor, |tape| format!("{:?}", plan.answers(&gathered, tape)))
    };
    claim.at_resolution("1e-5").over_universe(&CODES, size, law).case(case(plan))
}

fn composed() -> Vec<Measured> {
    let mut found = Vec::new();
    for adjacency in Adjacency::ALL {
        let plan = plan(&batch("6", "0.3", adjacency, &[SELECT; 6]));
        found.push(measured(&plan, Claim::promised(plan.cost(), adjacency), 3));
    }
    // The number of rows is public there, so that a median is drawn and nothing else.
    let medians = plan(&batch("4", "0.3", Adjacency::Replace, &[MEDIAN; 4]));
    found.push(measured(&medians, Claim::promised(medians.cost(), Adjacency::Replace), 3));
    // The bell curve in place of Laplace noise.
    let counts = plan(&batch("8", "0.3", Adjacency::AddRemove, &[COUNT; 4]));
    found.push(measured(&counts, Claim::promised(counts.cost(), Adjacency::AddRemove), 2));
    // A person with two rows.
    let json = batch("8", "0.3", Adjacency::AddRemove, &[SELECT_PERSON; 8]).replacen(
        '{',
        r#"{"unit": "town", "max_rows_per_unit": 2, "#,
        1,
    );
    let plan = plan(&json);
    let claim = Claim::promised(plan.cost(), Adjacency::AddRemove);
    let floor = floor_of(&claim);
    let law = |data: &people::Data| -> Pmf<String> {
        let (memory, keys) = (people::source(data), people::hands(1));
        let gathered = ScanResult::scan(&memory, plan.rows(), &plan.needs(), &keys).expect("memory");
        enumerate(&floor, |tape| format!("{:?}", plan.answers(&gathered, tape)))
    };
    let pairs = people::people_of_two(Adjacency::AddRemove);
    let found_of_people = claim.at_resolution("1e-5").over_inputs(people::PEOPLE_OF_TWO, pairs, law);
    found.push(found_of_people.case(format!("{}, 2 rows a person", case(&plan))));
    found
}

/// A choice about the other column, where the first is who somebody is.
const SELECT_PERSON: &str = r#"{"statistic": "select", "column": "salary", "among": ["0", "1"]}"#;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn composed_answers_keep_to_the_whole_and_a_mutant_does_not() {
        let Kind::Claim { shipped, mutant, .. } = &COMPOSED.kind else { panic!("a claim") };
        let shipped = shipped();
        for measured in &shipped {
            assert!(measured.holds(), "{}: {}", measured.case, measured.worst.to_f64());
        }
        let found =
            |measured: &Measured| (measured.case.clone(), measured.worst.to_f64(), measured.exercised());
        let all: Vec<_> = shipped.iter().map(found).collect();
        assert!(all.iter().any(|(_, _, exercised)| *exercised), "{all:?}");
        assert!(mutant().iter().any(Measured::refuted));
    }
}
