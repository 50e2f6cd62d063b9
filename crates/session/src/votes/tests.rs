//! Tests of votes as questions: what a plan refuses, the whole flow, and exact audits over every small list of answers.

use super::*;
use crate::{bar::Shape, gather::tests::Memory, ledger::Ledger, program::ProgramBlocks};
use crate::{promise::Outcome, session::Paid};
use equipoise_core::{
    interval::Interval,
    ratio::Ratio,
    tape::{Pmf, delta_between, enumerate},
};
use serde_json::json;
use std::collections::BTreeMap;

fn facts() -> DataFacts {
    DataFacts {
        name: "people".into(),
        columns: vec!["salary".into(), "town".into()],
        registered: None,
        kinds: Vec::new(),
        windows: None,
    }
}

fn request(output: &str, eps: &str, delta: &str) -> VoteRequest {
    VoteRequest {
        statistic: "program".into(),
        programs: vec![vec!["awk".into()]],
        output: output.into(),
        epsilon: Some(eps.into()),
        delta: Some(delta.into()),
        ..VoteRequest::default()
    }
}

fn plan(request: &VoteRequest) -> VotePlan {
    VotePlan::new(request, &facts()).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn what_cannot_be_planned_is_one_line() {
    let blocks = |text: &str| VoteRequest { blocks: Some(text.into()), ..request("number", "1", "0") };
    let unit = |text: &str| VoteRequest { unit: Some(text.into()), ..request("label", "1", "1e-6") };
    let options = |text: &str| VoteRequest { options: Some(vec![text.into()]), ..request("label", "1", "0") };
    for (request, said) in [
        (
            request("numbers", "1", "0"),
            "output numbers is not accepted: write number, vector:3, label or labels",
        ),
        (request("label", "1", "0"), "labels that are not listed need a delta above 0"),
        (request("vector:2", "1", "0"), "vectors need a delta above 0"),
        (blocks("many"), "blocks many is not accepted"),
        (blocks("0"), "blocks 0 is not accepted"),
        (blocks("20"), "; or give `range=LO,HI`"),
        (unit("user"), "no column is called 'user'"),
        (options("one"), "options one is not accepted"),
        (VoteRequest { range: Some("5,1".into()), ..blocks("20") }, "LO at most HI"),
        (VoteRequest { range: Some("0,1".into()), ..unit("town") }, "a range is for numbers and vectors"),
        (
            VoteRequest { options: Some(vec!["a".into(), "b".into()]), ..blocks("20") },
            "options are for label and labels",
        ),
        (VoteRequest { rows: Some("12".into()), ..request("label", "1", "1e-6") }, "too few blocks"),
        (VoteRequest { epsilon: None, ..blocks("20") }, "Give `epsilon`"),
    ] {
        let error = VotePlan::new(&request, &facts()).map(|_| ()).unwrap_err().to_string();
        assert!(error.contains(said) && !error.contains('\n'), "{request:?}: {error}");
    }
}

#[test]
fn the_whole_price_is_what_was_said() {
    let ranged = |output: &str| VoteRequest { range: Some("0,10".into()), ..request(output, "1", "1e-6") };
    let many = |output: &str| VoteRequest { blocks: Some("2000".into()), ..request(output, "1", "1e-6") };
    let listed = |output: &str| VoteRequest {
        options: Some(vec!["a".into(), "b".into(), "c".into()]),
        ..request(output, "1", "1e-6")
    };
    for (request, name) in [
        (ranged("number"), "trimmed mean"),
        (ranged("vector:3"), "mean in a box"),
        (many("number"), "mean in a private range"),
        (many("vector:2"), "means in private ranges"),
        (
            VoteRequest { blocks: Some("900".into()), ..request("vector:11", "1", "1e-6") },
            "mean of those that agree",
        ),
        (request("label", "1", "1e-6"), "majority"),
        (request("labels", "1", "1e-6"), "majority"),
        (listed("label"), "arg-max"),
        (listed("labels"), "counts"),
    ] {
        let plan = plan(&request);
        assert_eq!(plan.aggregate.kind.name(), name, "{request:?}");
        assert_eq!(plan.cost().eps.to_string(), "1", "{request:?}");
        assert!(plan.cost().delta.ratio() <= &"1e-6".parse().unwrap(), "{request:?}");
        assert!(plan.expected().starts_with(&format!("the {name} of ")), "{}", plan.expected());
        assert_eq!(plan.summary().to_json()["blocks"], plan.touch().votes());
    }
}

/// Planning once panicked here: how likely an option is that nearly all blocks are against has no digits left.
#[test]
fn options_at_a_large_epsilon_with_many_blocks_are_planned() {
    for (epsilon, blocks) in [("100", "2000"), ("1000", "300")] {
        let listed = VoteRequest {
            options: Some(vec!["a".into(), "b".into(), "c".into()]),
            blocks: Some(blocks.into()),
            ..request("label", epsilon, "0")
        };
        let plan = plan(&listed);
        assert_eq!((plan.aggregate.kind.name(), plan.cost().eps.to_string().as_str()), ("arg-max", epsilon));
    }
}

#[test]
fn people_touch_one_block_or_two_and_the_rows_that_are_said_give_the_blocks() {
    let people = |adjacency: &str| VoteRequest {
        unit: Some("town".into()),
        adjacency: Some(adjacency.into()),
        blocks: Some("200".into()),
        ..request("label", "1", "1e-6")
    };
    for (adjacency, votes) in [("add-remove", 1), ("replace", 2)] {
        let plan = plan(&people(adjacency));
        assert_eq!((plan.touch().per_unit(), plan.touch().votes()), (votes, 200));
        assert_eq!(plan.guarantee().unit.to_string(), "town");
    }
    let rows = VoteRequest { rows: Some("100000".into()), ..request("label", "1", "1e-6") };
    assert!((50..200).contains(&plan(&rows).touch().votes()));
    let registered =
        DataFacts { registered: Some((Unit::Column("town".into()), Adjacency::AddRemove)), ..facts() };
    let by_default = VotePlan::new(&request("label", "1", "1e-6"), &registered).unwrap();
    assert_eq!(by_default.guarantee().unit, Unit::Column("town".into()));
    let other = VoteRequest { unit: Some("salary".into()), ..request("label", "1", "1e-6") };
    let error = VotePlan::new(&other, &registered).unwrap_err().to_string();
    assert!(error.starts_with("'people' is registered for one town"), "{error}");
}

/// Answers of a thousand blocks and a large epsilon: what is wrong by chance is wrong with probability below 1e-40.
#[test]
fn the_flow_charges_deals_runs_and_records() {
    let mut session = Session::new(Ledger::in_memory().unwrap(), None).unwrap();
    let memory = Memory::new(vec![2.0; 3000], &["Ayr"]);
    let sure = |output: &str| VoteRequest { blocks: Some("1000".into()), ..request(output, "10", "1e-6") };
    let pay = |session: &mut Session, request: &VoteRequest, id: Option<&str>| {
        session.charge(plan(request), id).unwrap()
    };
    let print = |text: &'static str| {
        move |blocks: &ProgramBlocks, _: Option<&str>| vec![blocks.read(text.as_bytes()); blocks.count()]
    };
    let labels = sure("label");
    let Paid::Charged(charged) = pay(&mut session, &labels, Some("first")) else { panic!("new") };
    let release = session.run_program(*charged, &memory, print("lasso\n")).unwrap();
    assert_eq!((release.value.clone(), release.spent.epsilon.as_str()), (json!("lasso"), "10"));
    assert!(release.receipt.is_some());
    // Asked again, it is free.
    let Paid::Replayed(again) = pay(&mut session, &labels, Some("first")) else { panic!("seen before") };
    assert_eq!(*again, release);
    for (output, printed, value) in [
        ("labels", "b\na", json!(["a", "b"])),
        ("label", "", json!(null)),
        ("number", "not a number", json!(null)),
        ("vector:2", "1", json!(null)),
    ] {
        let Paid::Charged(charged) = pay(&mut session, &sure(output), None) else { panic!("new") };
        let release = session.run_program(*charged, &memory, print(printed)).unwrap();
        assert_eq!(release.value, value, "{output}");
        assert_eq!(release.advice.is_some(), value.is_null(), "{output}");
    }
    let ranged = VoteRequest { range: Some("0,10".into()), ..sure("number") };
    let Paid::Charged(charged) = pay(&mut session, &ranged, None) else { panic!("new") };
    let release = session.run_program(*charged, &memory, print("7.5")).unwrap();
    assert!((release.value.as_f64().unwrap() - 7.5).abs() < 1.0);
    let boxed = VoteRequest { range: Some("0,10".into()), ..sure("vector:2") };
    let Paid::Charged(charged) = pay(&mut session, &boxed, None) else { panic!("new") };
    let release = session.run_program(*charged, &memory, print("[7.5, 1]")).unwrap();
    assert!((release.value[0].as_f64().unwrap() - 7.5).abs() < 1.0);
    assert!(matches!(release.error.unwrap().shape(), Shape::Within(scale) if *scale > 0.0));
}

#[test]
fn a_runner_that_breaks_or_answers_too_little_loses_nothing_but_the_answer() {
    let mut session = Session::new(Ledger::in_memory().unwrap(), None).unwrap();
    let memory = Memory::new(vec![2.0; 30], &["Ayr"]);
    let mut charged = || match session.charge(plan(&request("label", "1", "1e-6")), None).unwrap() {
        Paid::Charged(charged) => *charged,
        Paid::Replayed(_) => panic!("no request id was given"),
    };
    let (first, second) = (charged(), charged());
    assert_eq!(session.run_program(first, &memory, |_, _| panic!("salary 123456")), Err(Unanswered::Data));
    let release = session.run_program(second, &memory, |_, _| Vec::new()).unwrap();
    assert_eq!((release.outcome, release.spent.epsilon.as_str()), (Outcome::Refused, "2"));
}

/// The largest delta at this epsilon between lists of three answers of which so many differ.
fn worst(plan: &VotePlan, answers: &[Option<&str>], touched: usize, eps: &Ratio) -> Interval {
    let floor: Ratio = "1e-9".parse().unwrap();
    let mut all: Vec<Vec<usize>> = vec![vec![]];
    for _ in 0..3 {
        all = all
            .iter()
            .flat_map(|list| (0..answers.len()).map(|one| [list.as_slice(), &[one]].concat()))
            .collect();
    }
    let law = |list: &Vec<usize>| -> Pmf<String> {
        let ballots = plan.ballots();
        let vote = |text: &str| ballots.label(text).or_else(|| ballots.labels([text]));
        let votes: Vec<Option<Vote>> = list.iter().map(|&one| vote(answers[one]?)).collect();
        enumerate(&floor, |tape| format!("{:?}", plan.answer(&votes, None, tape)))
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

/// A confidence of half needs no blocks beyond those that are there, so that three can be planned and enumerated.
fn three(output: &str) -> VoteRequest {
    let (blocks, confidence) = (Some("3".into()), Some("0.5".into()));
    VoteRequest { blocks, confidence, ..request(output, "1", "0.1") }
}

/// What blocks answer that do or do not answer the same shows in the number of answers and in the election. Together they lose
/// no more than this, and more as soon as the number has half of its noise or none.
#[test]
fn mutants_that_count_answers_with_less_noise_are_caught_in_whole_answers() {
    let listed = VoteRequest { options: Some(vec!["a".into(), "b".into()]), ..three("label") };
    let (shipped, eps) = (plan(&listed), "0.45".parse().unwrap());
    let lost = |plan: &VotePlan| worst(plan, &[None, Some("a")], 1, &eps);
    assert!(lost(&shipped).upper() <= "1e-6".parse().unwrap());
    for less in ["0.2", "100"] {
        let mut mutant = shipped.clone();
        let noisier =
            mutant.aggregate.answered.as_ref().map(|answered| answered.with_noise_of(less, shipped.touch()));
        mutant.aggregate.answered = noisier;
        assert!(lost(&mutant).lower() > "0.001".parse().unwrap(), "{less}: {}", lost(&mutant).to_f64());
    }
}

/// More than half of 100 blocks are 51, and of 101 too; at most half are 50. Noise moves both, and not beyond none and all.
#[test]
fn more_than_half_of_the_blocks_by_hand() {
    for blocks in ["100", "101"] {
        let options = Some(vec!["a".into(), "b".into()]);
        let asked = VoteRequest { blocks: Some(blocks.into()), options, ..request("labels", "1", "1e-6") };
        let aggregate = plan(&asked).aggregate;
        let all = blocks.parse().unwrap();
        assert_eq!([0, 3, 500].map(|within| aggregate.named_between(within)), [(51, 50), (48, 53), (0, all)]);
    }
}

/// The bar of vectors is so many times the radius in which most of them lie: of answers that lie within a millionth it is small.
#[test]
fn the_bar_of_vectors_shrinks_with_how_far_apart_they_lie() {
    let (blocks, mechanism) = (Some("900".into()), Some("ball".into()));
    let plan = plan(&VoteRequest { blocks, mechanism, ..request("vector:3", "4", "1e-6") });
    for spread in [1.0, 1e-6] {
        // Squares, so that blocks next to each other are as far apart as any two.
        let at = |block: u32, place: u32| f64::from((block * block * (3 + place) + 17 * block) % 101);
        let vote = |block: u32| {
            plan.ballots().vector((0..3).map(|place| at(block, place) / 100.0 * spread).collect())
        };
        let votes: Vec<Option<Vote>> = (0..900).map(vote).collect();
        let answer = plan.answer(&votes, None, &mut crate::gather::tests::FixedWords(5)).answer;
        let error = answer.error.expect("they agree");
        let &Shape::Within(error) = error.shape() else { panic!("a scale") };
        assert!((spread / 1000.0..spread * 100.0).contains(&error), "{spread}: {error}");
    }
}

/// A block that fits a vector of 50 numbers has at least five rows for each of them.
#[test]
fn blocks_for_long_vectors_have_rows_for_each_number() {
    let asked = VoteRequest { rows: Some("100000".into()), ..request("vector:50", "5", "1e-6") };
    let blocks = plan(&asked).touch().votes();
    assert!(blocks * 250 <= 100_000, "{blocks}");
}

#[test]
fn a_stated_default_stands_for_missing_votes_and_costs_nothing() {
    let mut session = Session::new(Ledger::in_memory().unwrap(), None).unwrap();
    let mut held = |request: &VoteRequest, votes: Vec<Option<Vote>>| match session
        .charge(plan(request), None)
        .unwrap()
    {
        Paid::Charged(charged) => session.count_votes(*charged, None, votes, None).unwrap(),
        Paid::Replayed(_) => panic!("no request id was given"),
    };
    let listed = |default: Option<Value>| VoteRequest {
        options: Some(vec!["blue".into(), "red".into()]),
        default,
        programs: vec![],
        ..request("label", "8", "0")
    };
    // 100 votes at epsilon 8: another option has a chance of 2e^-400.
    let failed = held(&listed(Some(json!("red"))), vec![]);
    assert_eq!((failed.value, failed.mechanism.as_str()), (json!("red"), "arg-max"));
    let nobody = held(&listed(None), vec![]);
    assert_eq!((nobody.outcome, nobody.value), (Outcome::Refused, json!(null)));
    let number = VoteRequest {
        default: Some(json!(3)),
        blocks: Some("2000".into()),
        programs: vec![],
        ..request("number", "8", "0")
    };
    let found = held(&number, vec![]);
    assert_eq!((found.outcome, found.mechanism.as_str()), (Outcome::Released, "winsorized"));
    let wrong = VoteRequest { default: Some(json!("red")), ..request("number", "1", "0") };
    let error = VotePlan::new(&wrong, &facts()).unwrap_err().to_string();
    assert!(error.starts_with("default \"red\" is not accepted"), "{error}");
    let unfit = VoteRequest { mechanism: Some("majority".into()), ..request("vector:3", "1", "1e-6") };
    let error = VotePlan::new(&unfit, &facts()).unwrap_err().to_string();
    assert!(error.contains("There are: ball, vectors"), "{error}");
}

/// A changed script, argument or setting under the same id is another request, which is refused and costs nothing.
#[test]
fn a_stored_answer_is_given_for_the_same_request_only() {
    let mut session = Session::new(Ledger::in_memory().unwrap(), None).unwrap();
    let memory = Memory::new(vec![2.0; 30], &["Ayr"]);
    let first = VoteRequest { settings: vec!["files=ab12".into()], ..request("label", "1", "1e-6") };
    let id = || Some("one");
    let Paid::Charged(charged) = session.charge(plan(&first), id()).unwrap() else { panic!("new") };
    session.run_program(*charged, &memory, |_, _| Vec::new()).unwrap();
    assert!(matches!(session.charge(plan(&first), id()), Ok(Paid::Replayed(_))));
    for other in [
        VoteRequest { settings: vec!["files=cd34".into()], ..first.clone() },
        VoteRequest { programs: vec![vec!["awk".into(), "-F,".into()]], ..first.clone() },
        VoteRequest { typed: true, ..first.clone() },
    ] {
        assert!(session.charge(plan(&other), id()).is_err(), "{other:?}");
    }
}
