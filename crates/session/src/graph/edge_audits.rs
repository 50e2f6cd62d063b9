//! Exact audits of whole answers about every graph on four nodes, and about some larger ones, where one edge comes or goes.
//!
//! What is released of a graph depends on its shape alone, so that graphs which differ in names have one law: 64 graphs have eleven. The
//! noise of triangles and stars is enumerated over the numbers that such graphs can have, by the same lines as over those up to 2^50.

use super::{
    GraphPlan, GraphRequest, Looked, Way,
    audits::{KEY, facts, list, request},
    edges::GraphRows,
    near::Near,
};
use crate::answer::Answer;
use equipoise_audit::{Audit, Kind, Measured, pairs::Claim};
use equipoise_core::{
    adjacency::Adjacency,
    ratio::Ratio,
    tape::{Pmf, Tape, enumerate},
};
use std::collections::BTreeSet;

pub(crate) static GRAPH_EDGES: Audit = Audit {
    name: "graph-edges",
    about: "whole counts of every graph on four nodes: edges, components, degrees, and triangles and stars with noise that follows the graph; one edge comes or goes",
    source: "002_c9075a084346ce80.txt, section 1.6 (smooth sensitivity); Vadhan 2017, section 7.3.4 (bounding the local sensitivity)",
    kind: Kind::Claim {
        shipped: || {
            let said = |count: &str, epsilon: &str, delta: &str, mechanism: &str| GraphRequest {
                mechanism: Some(mechanism.into()),
                ..request(count, "edge", epsilon, delta)
            };
            let degrees = GraphRequest {
                max_degree: Some("2".into()),
                ..said("degree-histogram", "4", "0", "laplace")
            };
            let each = [
                said("edges", "2", "0", "laplace"),
                said("components", "2", "0", "laplace"),
                degrees,
                said("triangles", "2", "0", "smooth"),
                said("triangles", "2", "0.01", "smooth"),
                said("triangles", "4", "0.05", "released-scale"),
                said("triangles", "6", "0.05", "bounded-local-sensitivity"),
                said("stars:2", "6", "0.05", "bounded-local-sensitivity"),
                said("stars:3", "2", "0.01", "smooth"),
            ];
            each.iter().map(|request| whole(request, &four_nodes())).collect()
        },
        change: "what one edge does is looked up among edges that are there",
        mutant: || {
            let request = GraphRequest {
                mechanism: Some("bounded-local-sensitivity".into()),
                ..request("triangles", "edge", "6", "0.05")
            };
            vec![near(&request, &ring_and_chord(), |near, rows| near.look_at_joined(&rows.graph))]
        },
    },
};

pub(crate) static GRAPH_REMOVALS: Audit = Audit {
    name: "graph-removals",
    about: "whole counts of triangles and 2-stars that removing edges brings down, of every graph on four nodes and of two larger ones; one edge comes or goes",
    source: "002_c9075a084346ce80.txt, section 1.4 (down-sensitivity); Fang, Dong and Yi 2022, lengths by what edges take",
    kind: Kind::Claim {
        shipped: || {
            let four = |count: &str| whole(&removed(count, "6"), &four_nodes());
            vec![four("triangles"), four("stars:2"), whole(&removed("triangles", "3"), &about_to_meet())]
        },
        change: "plain sums of what edges take, which one edge more raises for many edges at once",
        mutant: || {
            let looked = |near: &Near, rows: &GraphRows| near.look_at_plain_sums(&rows.graph);
            vec![near(&removed("triangles", "3"), &about_to_meet(), looked)]
        },
    },
};

/// The most triangles of a graph that is looked at here, and the most stars.
const LARGEST: u64 = 20;

/// Graphs by the names of their edges, and which of them differ in one edge.
struct Universe {
    graphs: Vec<Vec<(String, String)>>,
    pairs: BTreeSet<(usize, usize)>,
    over: &'static str,
}

/// The eleven shapes of graphs on four nodes, and which become one another by one edge.
fn four_nodes() -> Universe {
    let shapes: Vec<usize> = (0..64).filter(|&bits| shape(bits) == bits).collect();
    let place = |bits: usize| shapes.binary_search(&shape(bits)).expect("each graph has a shape");
    let neighbours = (0..64usize).flat_map(|bits| (0..6).map(move |edge| (bits, bits ^ (1 << edge))));
    let pairs = neighbours.map(|(one, other)| (place(one), place(other))).collect();
    let named = |bits: &usize| {
        list(*bits).into_iter().map(|(a, b)| (a.to_string(), b.to_string())).collect::<Vec<_>>()
    };
    Universe { graphs: shapes.iter().map(named).collect(), pairs, over: "all graphs on 4 nodes" }
}

/// The least of the graphs that differ from this one in names alone.
fn shape(bits: usize) -> usize {
    let place = |a: usize, b: usize| a.max(b) * (a.max(b) - 1) / 2 + a.min(b);
    let ends: Vec<(usize, usize)> = (0..4).flat_map(|b| (0..b).map(move |a| (a, b))).collect();
    let mut least = bits;
    for code in 0..256usize {
        let names = [code & 3, code >> 2 & 3, code >> 4 & 3, code >> 6];
        if names.iter().collect::<BTreeSet<_>>().len() < names.len() {
            continue;
        }
        let there = ends.iter().enumerate().filter(|(edge, _)| bits >> edge & 1 == 1);
        least = least.min(there.fold(0, |found, (_, &(a, b))| found | 1 << place(names[a], names[b])));
    }
    least
}

/// Four people in a ring, and the same with an edge between two who have two common neighbours.
fn ring_and_chord() -> Universe {
    let named = |pairs: &[(&str, &str)]| -> Vec<(String, String)> {
        pairs.iter().map(|&(a, b)| (a.to_string(), b.to_string())).collect()
    };
    let ring = [("ann", "bob"), ("bob", "cid"), ("cid", "dan"), ("dan", "ann")];
    let graphs = vec![named(&ring), [named(&ring), named(&[("ann", "cid")])].concat()];
    Universe { graphs, pairs: BTreeSet::from([(0, 1), (1, 0)]), over: "a ring of 4 nodes and a chord" }
}

/// Two people with four common neighbours, to each of whom both have an edge that is in one triangle more, and eight triangles elsewhere; and
/// the same where the two meet. Then eight edges are in two triangles each, and every removal of one of them counts for two.
fn about_to_meet() -> Universe {
    let name = |node: usize| format!("n{node}");
    let triangle = |a: usize, b: usize, c: usize| [(a, b), (a, c), (b, c)];
    let around = (2..6).flat_map(|common| [(0, common), (1, common)]);
    let thirds = around.zip(6..).flat_map(|((a, b), c)| triangle(a, b, c));
    let elsewhere = (0..8).map(|count| 14 + 3 * count).flat_map(|a| triangle(a, a + 1, a + 2));
    let apart: Vec<(String, String)> = thirds.chain(elsewhere).map(|(a, b)| (name(a), name(b))).collect();
    let met = apart.iter().cloned().chain([(name(0), name(1))]).collect();
    let pairs = BTreeSet::from([(0, 1), (1, 0)]);
    Universe { graphs: vec![apart, met], pairs, over: "two people with 4 common neighbours who meet" }
}

fn removed(count: &str, epsilon: &str) -> GraphRequest {
    GraphRequest { mechanism: Some("shifted-inverse".into()), ..request(count, "edge", epsilon, "0") }
}

fn plan(request: &GraphRequest) -> GraphPlan {
    GraphPlan::new_within(request, &facts(), LARGEST).expect("a good request")
}

fn measured(
    plan: &GraphPlan,
    universe: &Universe,
    answer: impl Fn(&GraphRows, &mut Tape) -> Answer,
) -> Measured {
    let (eps, delta) = (plan.cost().eps.ratio().clone(), plan.cost().delta.ratio().clone());
    // Two noises with long tails multiply, so that paths are cut off where all of them together stay far below what is told apart.
    let claim = Claim::new(eps, delta, Adjacency::AddRemove).at_resolution("1e-3");
    let floor: Ratio = "1e-7".parse().expect("a decimal");
    let law = |&place: &usize| -> Pmf<String> {
        let pairs: Vec<(&str, &str)> =
            universe.graphs[place].iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
        let rows = GraphRows::of(&pairs);
        enumerate(&floor, |tape| format!("{:?}", answer(&rows, tape)))
    };
    claim.over_inputs(universe.over, universe.pairs.iter().copied(), law)
}

/// The answers of a whole plan.
fn whole(request: &GraphRequest, universe: &Universe) -> Measured {
    let plan = plan(request);
    let mechanism = request.mechanism.as_deref().unwrap_or_default();
    let case = format!("{}, {mechanism}", request.count);
    measured(&plan, universe, |rows, tape| plan.answer(rows, KEY, tape)).case(case)
}

/// The same where another look at the graph is drawn from.
fn near(
    request: &GraphRequest,
    universe: &Universe,
    look: impl Fn(&Near, &GraphRows) -> super::near::Here,
) -> Measured {
    let plan = plan(request);
    let Way::Near(near) = &plan.way else { unreachable!("triangles follow the graph") };
    measured(&plan, universe, |rows, tape| {
        plan.way.answer(&Looked::Near(Box::new(look(near, rows))), rows, KEY, tape).0
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_nodes_have_eleven_shapes_and_every_edge_leads_from_one_to_another() {
        let universe = four_nodes();
        assert_eq!(universe.graphs.len(), 11);
        assert!(universe.pairs.iter().all(|(a, b)| a != b && universe.pairs.contains(&(*b, *a))));
        let edges = |place: &usize| universe.graphs[*place].len();
        assert!(universe.pairs.iter().all(|(a, b)| edges(a).abs_diff(edges(b)) == 1));
        let met = about_to_meet();
        let counts: Vec<u64> = met
            .graphs
            .iter()
            .map(|graph| {
                let pairs: Vec<(&str, &str)> = graph.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
                GraphRows::of(&pairs).graph.triangles()
            })
            .collect();
        assert_eq!(counts, [16, 20]);
    }
}
