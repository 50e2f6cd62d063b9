//! Exact audits of whole answers about blocks: every list of what a few blocks gave, the blocks that gave nothing included.

use super::{VotePlan, VoteRequest, output::Vote};
use crate::plan::DataFacts;
use equipoise_audit::{Audit, Kind, Measured, pairs::Claim};
use equipoise_core::{
    adjacency::Adjacency,
    ratio::Ratio,
    tape::{Pmf, enumerate},
};

pub(crate) static VOTES: Audit = Audit {
    name: "votes",
    about: "whole answers from the votes of blocks: value, bar, refusal and the noisy number of blocks that answered",
    source: "shares of epsilon and delta of the number and of the aggregator",
    kind: Kind::Claim {
        shipped: || shipped().iter().map(|(request, touched)| keeps(request, *touched)).collect(),
        change: "one who is in two blocks is calibrated as if in one",
        mutant: || vec![keeps(&three("label"), 2)],
    },
};

/// What a block may say, and nothing.
const ANSWERS: [Option<&str>; 3] = [None, Some("a"), Some("b")];

/// A confidence of half needs no blocks beyond those that are there, so that three can be planned and enumerated.
pub(crate) fn three(output: &str) -> VoteRequest {
    let text = |text: &str| Some(text.to_string());
    VoteRequest {
        statistic: "program".into(),
        programs: vec![vec!["awk".into()]],
        output: output.into(),
        epsilon: text("1"),
        delta: text("0.1"),
        blocks: text("3"),
        confidence: text("0.5"),
        ..VoteRequest::default()
    }
}

fn shipped() -> Vec<(VoteRequest, u64)> {
    let text = |text: &str| Some(text.to_string());
    let listed =
        |request: VoteRequest| VoteRequest { options: Some(vec!["a".into(), "b".into()]), ..request };
    let stated = |request: VoteRequest| VoteRequest { default: Some("a".into()), ..request };
    let replaced = |request: VoteRequest| VoteRequest { adjacency: text("replace"), ..request };
    let people = |request: VoteRequest| VoteRequest { unit: text("town"), ..replaced(request) };
    vec![
        (three("label"), 1),
        (three("labels"), 1),
        (listed(three("label")), 1),
        (stated(three("label")), 1),
        (replaced(three("label")), 1),
        (people(three("label")), 2),
        (listed(people(three("label"))), 2),
        (stated(listed(people(three("label")))), 2),
    ]
}

pub(crate) fn plan(request: &VoteRequest) -> VotePlan {
    let columns = vec!["salary".into(), "town".into()];
    let facts = DataFacts { name: "people".into(), columns, registered: None, kinds: Vec::new() };
    VotePlan::new(request, &facts).expect("a good request")
}

fn keeps(request: &VoteRequest, touched: u64) -> Measured {
    let plan = plan(request);
    let floor: Ratio = "1e-9".parse().expect("a decimal");
    let law = |list: &[i64]| -> Pmf<String> {
        let ballots = plan.ballots();
        let vote = |text: &str| ballots.label(text).or_else(|| ballots.labels([text]));
        let answer = |&one: &i64| ANSWERS[usize::try_from(one).expect("a place")];
        let votes: Vec<Option<Vote>> = list.iter().map(|one| vote(answer(one)?)).collect();
        enumerate(&floor, |tape| format!("{:?}", plan.answer(&votes, None, tape)))
    };
    let adjacency = if request.adjacency.is_some() { Adjacency::Replace } else { Adjacency::AddRemove };
    let claim = Claim::promised(plan.cost(), adjacency).at_resolution("1e-6");
    let found = claim.over_votes(&[0, 1, 2], 3, touched, law);
    let options = if request.options.is_some() { " among options" } else { "" };
    let default = if request.default.is_some() { ", with a default" } else { "" };
    let unit = if request.unit.is_some() { ", people" } else { "" };
    found.case(format!("{}{options}{default}{unit}", request.output))
}
