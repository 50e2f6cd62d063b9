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

pub(crate) static WIDTHS: Audit = Audit {
    name: "widths",
    about: "a width chosen by how many votes agree, then the cell of that width that most are in: choice and cell together",
    source: "000_4d769f04a6a550e8.txt, section 7.1, footnote 3: a choice among aggregators and what is run after it, composed",
    kind: Kind::Claim {
        shipped: || vec![chosen_width("1", 1), chosen_width("1", 2)],
        change: "the choice is not charged",
        mutant: || vec![chosen_width("0.8", 1)],
    },
};

/// All lists of four votes, of which one person changes so many, for fixed shifts, held against this epsilon of one that is paid.
fn chosen_width(claimed: &str, touched: u64) -> Measured {
    let text = |text: &str| Some(text.to_string());
    let people = if touched == 2 { (text("town"), text("replace")) } else { (None, None) };
    let request = VoteRequest {
        default: Some(0.into()),
        blocks: text("4"),
        width: text("1,10"),
        unit: people.0,
        adjacency: people.1,
        ..three("number")
    };
    let plan = plan(&request);
    let adjacency = plan.guarantee().adjacency;
    let delta = plan.cost().delta.ratio().clone();
    let law = |list: &[i64]| -> Pmf<String> {
        let votes: Vec<Vote> = list.iter().map(|&one| Vote::Number(one as f64)).collect();
        let votes: Vec<Option<&Vote>> = votes.iter().map(Some).collect();
        enumerate(&"1e-12".parse().expect("a decimal"), |tape| {
            format!("{:?}", plan.aggregate.kind.cells(&votes, &[vec![0.25], vec![0.5]], tape))
        })
    };
    let claim = Claim::new(claimed.parse().expect("a decimal"), delta, adjacency).at_resolution("1e-6");
    claim.over_votes(&[0, 2, 30], 4, touched, law).case(format!("{touched} votes a person"))
}

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
    let by = |name: &str, request: VoteRequest| VoteRequest { mechanism: text(name), ..request };
    let samples = VoteRequest { rate: text("1/3"), ..by("bootstrap", three("label")) };
    vec![
        (by("popularity", listed(three("label"))), 1),
        (by("whole-set", listed(three("labels"))), 1),
        (samples, 2),
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
    let facts =
        DataFacts { name: "people".into(), columns, registered: None, kinds: Vec::new(), windows: None };
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
    // A popularity has many values, and each a tail that the tape cuts off.
    let claim = Claim::promised(plan.cost(), adjacency).at_resolution("1e-5");
    let found = claim.over_votes(&[0, 1, 2], 3, touched, law);
    let options = if request.options.is_some() { " among options" } else { "" };
    let default = if request.default.is_some() { ", with a default" } else { "" };
    let by = request.mechanism.as_deref().map_or(String::new(), |name| format!(" by {name}"));
    let unit = if request.unit.is_some() { ", people" } else { "" };
    found.case(format!("{}{options}{by}{default}{unit}", request.output))
}
