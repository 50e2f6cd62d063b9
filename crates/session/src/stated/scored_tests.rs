//! What follows from the words of a score, what rows add to it, and one choice from charge to record.

use super::*;
use crate::{audits::Memory, session::Paid, simulate::Simulated};
use equipoise_ledger::Ledger;

fn facts() -> DataFacts {
    DataFacts {
        name: "bids".into(),
        columns: vec!["salary".into(), "town".into()],
        registered: None,
        kinds: Vec::new(),
        windows: None,
    }
}

fn request(score: &str, options: &str) -> ScoredRequest {
    ScoredRequest {
        statistic: "choose".into(),
        score: score.into(),
        options: options.into(),
        epsilon: Some("1".into()),
        ..ScoredRequest::default()
    }
}

const REVENUE: &str = "case when salary >= option then option else 0 end";

#[test]
fn the_digital_price_has_its_revenue_as_score_and_its_sensitivity_from_the_words() {
    let memory = Memory::new(vec![1.0, 1.0, 1.0, 3.01, f64::NAN], &["a"]);
    let plan = ScoredPlan::new(&request(REVENUE, "1,3,3.01,4"), &facts()).unwrap();
    let scores: Vec<Ratio> = plan.sums(&memory).unwrap().iter().map(|&sum| plan.steps.number(sum)).collect();
    let shown: Vec<f64> = scores.iter().map(Ratio::to_f64).collect();
    assert_eq!(&shown[..2], [4.0, 3.0]);
    assert!((shown[2] - 3.01).abs() < 1e-11 && shown[3] == 0.0, "{shown:?}");
    // Four is the most that a row adds, and all rows add.
    assert_eq!((plan.steps.most().to_exact().as_str(), plan.steps.is_one_sided()), ("4", true));
    assert!(plan.expected().contains("each row adds 0 to 4"), "{}", plan.expected());
}

#[test]
fn ends_follow_from_words_or_are_stated() {
    let most = |request: &ScoredRequest| ScoredPlan::new(request, &facts()).unwrap().steps.most().to_exact();
    assert_eq!(most(&request("salary >= option", "1..9:2")), "1");
    assert_eq!(most(&request("town = option", "Ayr,Bath")), "1");
    assert_eq!(most(&request("case when salary > option then -option else 2 end", "1,5")), "5");
    let stated = ScoredRequest { range: Some("-7,2".into()), ..request("salary - option", "1,5") };
    assert_eq!(most(&stated), "7");
    let replaced = ScoredRequest { adjacency: Some("replace".into()), ..stated.clone() };
    let gap = |request: &ScoredRequest| ScoredPlan::new(request, &facts()).unwrap().summary().error.unwrap();
    assert_ne!(gap(&stated), gap(&replaced), "nine in place of seven");
    for (bad, said) in [
        (request("salary - option", "1,5"), "how much can a row add"),
        (request("salary > 3", "1,5"), "does not name the option"),
        (request("salary > option", ""), "which options"),
        (request("salary > option", "1,1"), "is there twice"),
        (request("salary > option", "3..1"), "not accepted"),
        (request("salary > option", "1..1e9:1e-9"), "at most 65536"),
        (request("pay > option", "1,2"), "no column is called 'pay'"),
        (request("salary > option +", "1,2"), "ends where a column or a constant is expected"),
        (request("lower(option)", "a,b"), "no number and no condition"),
        (ScoredRequest { range: Some("2,1".into()), ..request("salary > option", "1,2") }, "lower one first"),
        (ScoredRequest { epsilon: None, ..request("salary > option", "1,2") }, "how much privacy"),
        (ScoredRequest { base: Some("1".into()), ..request("salary > option", "1,2") }, "base"),
    ] {
        let error = ScoredPlan::new(&bad, &facts()).unwrap_err().to_string();
        assert!(error.contains(said), "{bad:?}: {error}");
    }
    let columns = vec!["option".to_string()];
    let named = ScoredPlan::new(&request("option > 1", "1,2"), &DataFacts { columns, ..facts() });
    assert!(named.unwrap_err().to_string().contains("a column is called option"));
}

#[test]
fn a_person_counts_for_as_many_rows_as_were_stated() {
    let people = |rows: &str| ScoredRequest {
        unit: Some("town".into()),
        max_rows_per_unit: Some(rows.into()),
        ..request("salary >= option", "1,2,3")
    };
    let gap = |rows| {
        let plan = ScoredPlan::new(&people(rows), &facts()).unwrap();
        serde_json::to_value(plan.summary().error.unwrap()).unwrap()["score"].as_f64().unwrap()
    };
    assert!((gap("3") / gap("1") - 3.0).abs() < 1e-6);
    let memory = Memory::new(vec![5.0; 12], &["a", "b"]);
    let plan = ScoredPlan::new(&people("2"), &facts()).unwrap();
    let scores: Vec<f64> =
        plan.sums(&memory).unwrap().iter().map(|&sum| plan.steps.number(sum).to_f64()).collect();
    assert_eq!(scores, [4.0; 3], "two rows of each of two people");
}

#[test]
fn it_is_charged_answered_and_recorded() {
    let mut session = Session::new(Ledger::in_memory().unwrap(), None).unwrap();
    let rows = Memory::new(vec![3.0; 4000], &["a"]);
    let plan = ScoredPlan::new(&request(REVENUE, "1,2,3"), &facts()).unwrap();
    let Paid::Charged(charged) = session.charge(plan, Some("first")).unwrap() else {
        unreachable!("it is new")
    };
    let release = session.answer_scored(*charged, &rows).unwrap();
    assert_eq!((release.value, release.spent.epsilon.as_str()), (serde_json::json!(3), "1"));
    let plan = ScoredPlan::new(&request(REVENUE, "1,2,3"), &facts()).unwrap();
    assert!(matches!(session.charge(plan, Some("first")).unwrap(), Paid::Replayed(_)));
}

/// Prices of 1 for three hundred bids, of 3 for a hundred: revenues 400 and 300, a hundred steps of scale three apart.
#[test]
fn choices_are_simulated_on_public_rows() {
    let bids: Vec<f64> = [1.0, 1.0, 1.0, 3.01].repeat(100);
    let memory = Memory::new(bids, &["a"]);
    let plan = ScoredPlan::new(&request(REVENUE, "1,2,3"), &facts()).unwrap();
    let simulation = plan.simulate(&memory, 100).unwrap();
    let [series] = &simulation.series[..] else { panic!("one choice") };
    assert!(series.frequent && simulation.refused(0) == 0);
    assert_eq!((series.truth(), series.values.len()), (Some(serde_json::json!(1)), 100));
    assert_eq!(series.frequent()[0].0, serde_json::json!(1));
    assert_eq!((series.bars, series.held), (100, 100), "no other price comes near");
    // Of all rows the price is 1; of the rows that are drawn of each person it may be another.
    let people = ScoredRequest { unit: Some("town".into()), ..request(REVENUE, "1,2,3") };
    let memory = Memory::new([1.0, 1.0, 1.0, 2.01].repeat(10), &["a", "b", "c"]);
    let simulation = ScoredPlan::new(&people, &facts()).unwrap().simulate(&memory, 60).unwrap();
    let series = &simulation.series[0];
    assert_eq!((series.truth(), series.truths.len()), (Some(serde_json::json!(1)), 60));
    assert!(series.bars == 60 && series.held > 40);
}
