//! Tests of programs as questions: what a plan refuses, the whole flow, and exact audits over every small list of answers.

use super::*;
use crate::{gather::tests::Memory, ledger::Ledger};
use equipoise_core::{
    interval::Interval,
    ratio::Ratio,
    tape::{Pmf, delta_between, enumerate},
};
use std::collections::BTreeMap;

fn facts() -> DataFacts {
    DataFacts {
        name: "people".into(),
        columns: vec!["salary".into(), "town".into()],
        registered: None,
        kinds: Vec::new(),
    }
}

fn request(output: &str, eps: &str, delta: &str) -> ProgramRequest {
    ProgramRequest {
        programs: vec![vec!["awk".into()]],
        output: output.into(),
        epsilon: Some(eps.into()),
        delta: Some(delta.into()),
        ..ProgramRequest::default()
    }
}

fn plan(request: &ProgramRequest) -> ProgramPlan {
    ProgramPlan::new(request, &facts()).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn what_cannot_be_planned_is_one_line() {
    let blocks = |text: &str| ProgramRequest { blocks: Some(text.into()), ..request("number", "1", "0") };
    let unit = |text: &str| ProgramRequest { unit: Some(text.into()), ..request("label", "1", "1e-6") };
    let options = |text: &str| ProgramRequest { options: Some(text.into()), ..request("label", "1", "0") };
    for (request, said) in [
        (
            request("numbers", "1", "0"),
            "output numbers is not accepted: write number, vector:3, label or labels",
        ),
        (request("label", "1", "0"), "labels that are not listed need a delta above 0"),
        (request("vector:2", "1", "0"), "vectors need a delta above 0"),
        (blocks("many"), "blocks many is not accepted"),
        (blocks("0"), "blocks 0 is not accepted"),
        (blocks("20"), "; or give --range LO,HI"),
        (unit("user"), "no column is called 'user'"),
        (options("one"), "options one is not accepted"),
        (ProgramRequest { range: Some("5,1".into()), ..blocks("20") }, "LO at most HI"),
        (ProgramRequest { range: Some("0,1".into()), ..unit("town") }, "a range is for numbers and vectors"),
        (ProgramRequest { options: Some("a,b".into()), ..blocks("20") }, "options are for label and labels"),
        (ProgramRequest { rows: Some("12".into()), ..request("label", "1", "1e-6") }, "too few blocks"),
        (ProgramRequest { epsilon: None, ..blocks("20") }, "Give --epsilon"),
    ] {
        let error = ProgramPlan::new(&request, &facts()).map(|_| ()).unwrap_err().to_string();
        assert!(error.contains(said) && !error.contains('\n'), "{request:?}: {error}");
    }
}

#[test]
fn the_whole_price_is_what_was_said() {
    let ranged = |output: &str| ProgramRequest { range: Some("0,10".into()), ..request(output, "1", "1e-6") };
    let many = |output: &str| ProgramRequest { blocks: Some("2000".into()), ..request(output, "1", "1e-6") };
    let listed =
        |output: &str| ProgramRequest { options: Some("a,b,c".into()), ..request(output, "1", "1e-6") };
    for (request, name) in [
        (ranged("number"), "trimmed mean"),
        (ranged("vector:3"), "mean in a box"),
        (many("number"), "mean in a private range"),
        (many("vector:2"), "means in private ranges"),
        (
            ProgramRequest { blocks: Some("900".into()), ..request("vector:11", "1", "1e-6") },
            "mean of those that agree",
        ),
        (request("label", "1", "1e-6"), "majority"),
        (request("labels", "1", "1e-6"), "majority"),
        (listed("label"), "arg-max"),
        (listed("labels"), "counts"),
    ] {
        let plan = plan(&request);
        assert_eq!(plan.aggregate.name(), name, "{request:?}");
        assert_eq!(plan.cost().eps.to_string(), "1", "{request:?}");
        assert!(plan.cost().delta.ratio() <= &"1e-6".parse().unwrap(), "{request:?}");
        assert!(plan.expected().starts_with(&format!("the {name} of ")), "{}", plan.expected());
        assert_eq!(plan.to_json()["blocks"], plan.touch().votes());
    }
}

#[test]
fn people_touch_one_block_or_two_and_the_rows_that_are_said_give_the_blocks() {
    let people = |adjacency: &str| ProgramRequest {
        unit: Some("town".into()),
        adjacency: Some(adjacency.into()),
        ..request("label", "1", "1e-6")
    };
    for (adjacency, votes) in [("add-remove", 1), ("replace", 2)] {
        let plan = plan(&people(adjacency));
        assert_eq!((plan.touch().per_unit(), plan.touch().votes()), (votes, 100));
        assert_eq!(plan.guarantee().unit.to_string(), "town");
    }
    let rows = ProgramRequest { rows: Some("100000".into()), ..request("label", "1", "1e-6") };
    assert!((50..200).contains(&plan(&rows).touch().votes()));
    let registered =
        DataFacts { registered: Some((Unit::Column("town".into()), Adjacency::AddRemove)), ..facts() };
    let by_default = ProgramPlan::new(&request("label", "1", "1e-6"), &registered).unwrap();
    assert_eq!(by_default.guarantee().unit, Unit::Column("town".into()));
    let other = ProgramRequest { unit: Some("salary".into()), ..request("label", "1", "1e-6") };
    let error = ProgramPlan::new(&other, &registered).unwrap_err().to_string();
    assert!(error.starts_with("'people' is registered for one town"), "{error}");
}

/// Answers of a thousand blocks and a large epsilon: what is wrong by chance is wrong with probability below 1e-40.
#[test]
fn the_flow_charges_deals_runs_and_records() {
    let mut session = Session::new(Ledger::in_memory().unwrap(), None).unwrap();
    let memory = Memory::new(vec![2.0; 3000], &["Ayr"]);
    let sure = |output: &str| ProgramRequest { blocks: Some("1000".into()), ..request(output, "10", "1e-6") };
    let pay = |session: &mut Session, request: &ProgramRequest, id: Option<&str>| {
        session.charge_program(plan(request), id.map(str::to_string)).unwrap()
    };
    let print = |text: &'static str| {
        move |blocks: &ProgramBlocks| vec![Some(text.as_bytes().to_vec()); blocks.count()]
    };
    let labels = sure("label");
    let PaidProgram::Charged(charged) = pay(&mut session, &labels, Some("first")) else { panic!("new") };
    let release = session.run_program(*charged, &memory, print("lasso\n")).unwrap();
    assert_eq!((release.value.clone(), release.spent.epsilon.as_str()), (json!("lasso"), "10"));
    assert!(release.receipt.is_some());
    // Asked again, it is free.
    let PaidProgram::Before(again) = pay(&mut session, &labels, Some("first")) else { panic!("seen before") };
    assert_eq!(*again, release);
    for (output, printed, value) in [
        ("labels", "b\na", json!(["a", "b"])),
        ("label", "", json!(null)),
        ("number", "not a number", json!(null)),
        ("vector:2", "1", json!(null)),
    ] {
        let PaidProgram::Charged(charged) = pay(&mut session, &sure(output), None) else { panic!("new") };
        let release = session.run_program(*charged, &memory, print(printed)).unwrap();
        assert_eq!(release.value, value, "{output}");
        assert_eq!(release.advice.is_some(), value.is_null(), "{output}");
    }
    let ranged = ProgramRequest { range: Some("0,10".into()), ..sure("number") };
    let PaidProgram::Charged(charged) = pay(&mut session, &ranged, None) else { panic!("new") };
    let release = session.run_program(*charged, &memory, print("7.5")).unwrap();
    assert!((release.value.as_f64().unwrap() - 7.5).abs() < 1.0);
    let boxed = ProgramRequest { range: Some("0,10".into()), ..sure("vector:2") };
    let PaidProgram::Charged(charged) = pay(&mut session, &boxed, None) else { panic!("new") };
    let release = session.run_program(*charged, &memory, print("[7.5, 1]")).unwrap();
    assert!((release.value[0].as_f64().unwrap() - 7.5).abs() < 1.0);
    assert!(release.error.unwrap().scale.unwrap() > 0.0);
}

#[test]
fn a_runner_that_breaks_or_answers_too_little_loses_nothing_but_the_answer() {
    let mut session = Session::new(Ledger::in_memory().unwrap(), None).unwrap();
    let memory = Memory::new(vec![2.0; 30], &["Ayr"]);
    let mut charged = || match session.charge_program(plan(&request("label", "1", "1e-6")), None).unwrap() {
        PaidProgram::Charged(charged) => *charged,
        PaidProgram::Before(_) => panic!("no request id was given"),
    };
    let (first, second) = (charged(), charged());
    assert_eq!(session.run_program(first, &memory, |_| panic!("salary 123456")), Err(Lost));
    let release = session.run_program(second, &memory, |_| Vec::new()).unwrap();
    assert_eq!((release.outcome, release.spent.epsilon.as_str()), (Outcome::Refused, "2"));
}

/// The largest delta at this epsilon between lists of three answers of which so many differ.
fn worst(plan: &ProgramPlan, answers: &[Option<&str>], touched: usize, eps: &Ratio) -> Interval {
    let floor: Ratio = "1e-9".parse().unwrap();
    let mut all: Vec<Vec<usize>> = vec![vec![]];
    for _ in 0..3 {
        all = all
            .iter()
            .flat_map(|list| (0..answers.len()).map(|one| [list.as_slice(), &[one]].concat()))
            .collect();
    }
    let law = |list: &Vec<usize>| -> Pmf<String> {
        let printed: Vec<Option<Vec<u8>>> =
            list.iter().map(|&one| answers[one].map(|text| text.as_bytes().to_vec())).collect();
        enumerate(&floor, |tape| format!("{:?}", plan.aggregate.answer(&printed, tape)))
    };
    let laws: BTreeMap<&Vec<usize>, Pmf<String>> = all.iter().map(|list| (list, law(list))).collect();
    let mut worst: Option<Interval> = None;
    for (a, b) in all.iter().flat_map(|a| all.iter().map(move |b| (a, b))) {
        let differ = a.iter().zip(b).filter(|(a, b)| a != b).count();
        if (1..=touched).contains(&differ) {
            let delta = delta_between(eps, &laws[a], &laws[b]);
            worst = Some(worst.map_or(delta.clone(), |worst| worst.max(&delta)));
        }
    }
    worst.expect("some pair")
}

#[test]
fn exact_audit_of_whole_answers_and_a_mutant_that_touches_more() {
    let three = |output: &str| ProgramRequest { blocks: Some("3".into()), ..request(output, "1", "0.1") };
    let two_each =
        ProgramRequest { unit: Some("town".into()), adjacency: Some("replace".into()), ..three("label") };
    let listed = |request: ProgramRequest| ProgramRequest { options: Some("a,b".into()), ..request };
    let slack: Ratio = "1e-6".parse().unwrap();
    for (request, touched) in [
        (three("label"), 1),
        (three("labels"), 1),
        (listed(three("label")), 1),
        (two_each.clone(), 2),
        (listed(two_each.clone()), 2),
    ] {
        let plan = plan(&request);
        let measured = worst(&plan, &[None, Some("a"), Some("b")], touched, plan.cost().eps.ratio());
        let claimed = plan.cost().delta.ratio();
        assert!(measured.upper() <= claimed + &slack, "{request:?}: {}", measured.upper().to_f64());
    }
    // One who is in two blocks, calibrated as if in one.
    let one = plan(&three("label"));
    let measured = worst(&one, &[None, Some("a"), Some("b")], 2, one.cost().eps.ratio());
    assert!(measured.lower() > one.cost().delta.ratio() + &slack, "{}", measured.lower().to_f64());
}
