//! Exact audits of whole answers about every graph on four nodes: one node with all of its edges comes or goes.
//!
//! Those of one edge are in `edge_audits.rs`.

use super::{GraphPlan, GraphRequest, edges::GraphRows};
use crate::{answer::Answer, facts::DataFacts};
use equipoise_audit::{Audit, Kind, Measured, pairs::Claim};
use equipoise_core::{
    adjacency::Adjacency,
    interval::exp_upper,
    loss::Loss,
    ratio::Ratio,
    tape::{Pmf, Tape, enumerate},
};

pub(crate) static GRAPH_NODES: Audit = Audit {
    name: "graph-nodes",
    about: "whole counts of edges and degrees of every graph on four nodes, where nodes keep some edges; one node comes or goes",
    source: "edges kept in an order that is a function of each edge, and bounds chosen by their regrets",
    kind: Kind::Claim {
        shipped: || {
            let counts = [
                ("edges", "2", "1"),
                ("edges", "2", "2"),
                ("edges", "4", "1,2"),
                ("degree-histogram", "6", "1"),
            ];
            let said = |(count, epsilon, bounds): (&str, &str, &str)| GraphRequest {
                max_degree: Some(bounds.into()),
                ..request(count, "node", epsilon, "0")
            };
            counts.map(|one| whole(&said(one), &nodes())).into_iter().collect()
        },
        change: "noise for one edge, where a node keeps two",
        mutant: || {
            let one = GraphRequest { max_degree: Some("1".into()), ..request("edges", "node", "2", "0") };
            let two = GraphRequest { max_degree: Some("2".into()), ..one.clone() };
            vec![too_little(&one, &two)]
        },
    },
};

/// Under which nodes keep edges: any key has the promise.
pub(super) const KEY: [u64; 2] = [1, 2];
const NAMES: [&str; 4] = ["ann", "bob", "cid", "dan"];

/// The edges of a graph whose bits say which of six there are.
pub(super) fn list(bits: usize) -> Vec<(&'static str, &'static str)> {
    let all = (0..4).flat_map(|b| (0..b).map(move |a| (NAMES[a], NAMES[b])));
    all.enumerate().filter(|(place, _)| bits >> place & 1 == 1).map(|(_, edge)| edge).collect()
}

/// Every two graphs of which one lacks a node with all of its edges.
fn nodes() -> Vec<(usize, usize)> {
    let without = |bits: usize, node: &str| {
        let named = |place: usize| list(1 << place).iter().any(|&(a, b)| a == node || b == node);
        (0..6)
            .filter(|&place| bits >> place & 1 == 1 && !named(place))
            .fold(0, |left, place| left | 1 << place)
    };
    let pairs = (0..64).flat_map(|bits| NAMES.map(|node| (without(bits, node), bits)));
    pairs.filter(|(a, b)| a != b).collect()
}

pub(super) fn request(count: &str, adjacency: &str, epsilon: &str, delta: &str) -> GraphRequest {
    let text = |text: &str| Some(text.to_string());
    GraphRequest {
        statistic: "graph".into(),
        count: count.into(),
        adjacency: text(adjacency),
        epsilon: text(epsilon),
        delta: text(delta),
        confidence: text("0.5"),
        ..GraphRequest::default()
    }
}

pub(super) fn facts() -> DataFacts {
    let columns = vec!["from".to_string(), "to".to_string()];
    DataFacts { name: "friends".into(), columns, registered: None, kinds: Vec::new(), windows: None }
}

fn plan(request: &GraphRequest) -> GraphPlan {
    GraphPlan::new(request, &facts()).expect("a good request")
}

fn rows(bits: usize) -> GraphRows {
    GraphRows::of(&list(bits))
}

fn measured(
    (eps, delta): (&Ratio, &Ratio),
    pairs: &[(usize, usize)],
    answer: impl Fn(&GraphRows, &mut Tape) -> Answer,
) -> Measured {
    let claim = Claim::new(eps.clone(), delta.clone(), Adjacency::AddRemove).at_resolution("1e-5");
    let floor = "1e-9".parse::<Ratio>().expect("a decimal") / exp_upper(eps);
    let law = |bits: &usize| -> Pmf<String> {
        let rows = rows(*bits);
        enumerate(&floor, |tape| format!("{:?}", answer(&rows, tape)))
    };
    claim.over_inputs("all graphs on 4 nodes", pairs.iter().copied(), law)
}

/// The answers of a whole plan.
fn whole(request: &GraphRequest, pairs: &[(usize, usize)]) -> Measured {
    let plan = plan(request);
    let cost = (plan.cost().eps.ratio().clone(), plan.cost().delta.ratio().clone());
    let bounds = request.max_degree.as_deref().map_or(String::new(), |bounds| format!(", {bounds} at most"));
    measured((&cost.0, &cost.1), pairs, |rows, tape| plan.answer(rows, KEY, tape))
        .case(format!("{}{bounds}", request.count))
}

/// The noise of one plan on what another keeps.
fn too_little(noise: &GraphRequest, kept: &GraphRequest) -> Measured {
    let (noise, kept) = (plan(noise), plan(kept));
    let (super::Way::Kept(noise), super::Way::Kept(kept)) = (&noise.way, &kept.way) else {
        unreachable!("nodes keep edges")
    };
    let Loss::Approx(cost) = noise.cost() else { unreachable!("an epsilon") };
    measured((cost.eps.ratio(), cost.delta.ratio()), &nodes(), |rows, tape| {
        kept.answer_with_noise_of(noise, &rows.ordered(KEY), tape)
    })
}
