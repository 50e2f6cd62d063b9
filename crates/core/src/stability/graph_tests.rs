//! All small graphs, by search: local sensitivities at every distance, what one edge and one node move, kept edges in every order.

use super::*;
use crate::stability::triangles::Graph;

/// Every graph on few nodes: a number whose bits are the edges.
pub(in crate::stability) struct All {
    edges: Vec<(u32, u32)>,
}

impl All {
    pub fn new(nodes: u32) -> Self {
        Self { edges: (0..nodes).flat_map(|b| (0..b).map(move |a| (a, b))).collect() }
    }

    pub fn list(&self, bits: usize) -> Vec<(u32, u32)> {
        let chosen = self.edges.iter().enumerate().filter(|(i, _)| bits >> i & 1 == 1);
        chosen.map(|(_, &edge)| edge).collect()
    }

    pub fn graph(&self, bits: usize) -> SparseGraph {
        SparseGraph::new(self.list(bits))
    }

    pub fn count(&self) -> usize {
        1 << self.edges.len()
    }

    pub fn next_to(&self, bits: usize) -> impl Iterator<Item = usize> + use<> {
        (0..self.edges.len()).map(move |edge| bits ^ (1 << edge))
    }
}

fn by_hand(list: &[(u32, u32)], statistic: &str) -> u128 {
    let has = |a: u32, b: u32| list.contains(&(a.min(b), a.max(b)));
    let nodes = 0..7u32;
    match statistic {
        "triangles" => {
            let corners =
                nodes.clone().flat_map(|a| (0..a).flat_map(move |b| (0..b).map(move |c| (a, b, c))));
            corners.filter(|&(a, b, c)| has(a, b) && has(b, c) && has(a, c)).count() as u128
        }
        stars => {
            let size: usize = stars.parse().unwrap();
            let at = |node: u32| list.iter().filter(|&&(a, b)| a == node || b == node).count();
            let sets =
                |degree: usize| (0u32..1 << degree).filter(|set| set.count_ones() as usize == size).count();
            nodes.map(|node| sets(at(node)) as u128).sum()
        }
    }
}

/// The local sensitivities by distance of every graph on six nodes, by search; those of four nodes have room there for one change and an edge
/// to new nodes, those of three for two changes.
#[test]
fn local_sensitivities_at_every_distance_are_those_that_a_search_finds() {
    let all = All::new(6);
    for statistic in ["triangles", "2", "3"] {
        let counts: Vec<u128> = (0..all.count()).map(|bits| by_hand(&all.list(bits), statistic)).collect();
        let moved = |bits: usize| all.next_to(bits).map(|other| counts[bits].abs_diff(counts[other])).max();
        let mut level: Vec<u128> = (0..all.count()).map(|bits| moved(bits).unwrap()).collect();
        for k in 0..3 {
            let small = All::new(if k < 2 { 4 } else { 3 }).count();
            for (bits, &expected) in level.iter().enumerate().take(small) {
                let graph = all.graph(bits);
                let found = match statistic {
                    "triangles" => u128::from(graph.triangle_pairs().triangles_at(k)),
                    stars => graph.star_pairs().stars_at(stars.parse().unwrap(), k),
                };
                assert_eq!(found, expected, "{statistic} of {:?} at {k}", all.list(bits));
            }
            level = (0..all.count())
                .map(|bits| all.next_to(bits).map(|other| level[other]).fold(level[bits], u128::max))
                .collect();
        }
    }
}

#[test]
fn counts_of_every_small_graph_are_those_by_hand() {
    let all = All::new(5);
    for bits in 0..all.count() {
        let (graph, list) = (all.graph(bits), all.list(bits));
        assert_eq!(u128::from(graph.triangles()), by_hand(&list, "triangles"), "{list:?}");
        for size in [1, 2, 3, 4] {
            assert_eq!(graph.stars(size), by_hand(&list, &size.to_string()), "{list:?}");
        }
        assert_eq!(graph.edges(), u64::from(bits.count_ones()));
        assert_eq!(graph.each_edge().collect::<Vec<_>>().len() as u64, graph.edges());
    }
}

/// What the calibrations rest on: one edge moves each of these by at most so much.
#[test]
fn one_edge_moves_edges_and_components_by_one_and_the_histogram_by_four() {
    let all = All::new(5);
    let histogram =
        |graph: &SparseGraph| (1..6).map(|d| graph.degrees().filter(|&one| one == d).count()).collect();
    let mut most = [0u64; 5];
    for bits in 0..all.count() {
        let graph = all.graph(bits);
        let here: Vec<usize> = histogram(&graph);
        for other in all.next_to(bits).map(|other| all.graph(other)) {
            let there: Vec<usize> = histogram(&other);
            let moved: usize = here.iter().zip(&there).map(|(a, b)| a.abs_diff(*b)).sum();
            let pairs = (graph.triangle_pairs(), other.triangle_pairs());
            let stars = (graph.star_pairs(), other.star_pairs());
            let found = [
                graph.edges().abs_diff(other.edges()),
                graph.components().abs_diff(other.components()),
                moved as u64,
                pairs.0.triangles_at(0).abs_diff(pairs.1.triangles_at(0)),
                u64::try_from(stars.0.stars_at(2, 0).abs_diff(stars.1.stars_at(2, 0))).unwrap(),
            ];
            most.iter_mut().zip(found).for_each(|(most, found)| *most = found.max(*most));
        }
    }
    assert_eq!(most, [1, 1, 4, 1, 1]);
}

/// Every order of the edges of every graph on four nodes, some on five, and every node that goes: what is kept moves by at most what is
/// claimed, and somewhere by all of it.
#[test]
fn one_node_moves_kept_edges_by_the_bound_and_their_histogram_by_twice_that_and_one() {
    for most in 1..=3 {
        let mut worst = (0, 0);
        let mut look = |ordered: &[(u32, u32)]| {
            let histogram = |(degrees, _): &(Vec<u64>, u64)| -> Vec<usize> {
                (1..=most).map(|bin| degrees.iter().filter(|&&degree| degree == bin).count()).collect()
            };
            let whole = kept(ordered, most);
            for node in 0..5 {
                let rest: Vec<(u32, u32)> =
                    ordered.iter().copied().filter(|&(a, b)| a != node && b != node).collect();
                let without = kept(&rest, most);
                let bins: usize =
                    histogram(&whole).iter().zip(histogram(&without)).map(|(a, b)| a.abs_diff(b)).sum();
                worst = (worst.0.max(whole.1.abs_diff(without.1)), worst.1.max(bins as u64));
            }
        };
        let four = All::new(4);
        let mut ordered = four.edges.clone();
        // A graph is what stands in front of an order, so that all orders of all edges have all graphs in all orders.
        permutations(&mut ordered, 0, &mut |order| (0..=order.len()).for_each(|many| look(&order[..many])));
        // Nodes that lose one edge each to the node that goes, and pass it on: pseudo-random orders on five nodes.
        let five = All::new(5);
        let mut state = 1u64;
        for _ in 0..20_000 {
            let mut order = five.edges.clone();
            for place in (1..order.len()).rev() {
                state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
                order.swap(place, usize::try_from((state >> 33) % (place as u64 + 1)).unwrap());
            }
            look(&order[..usize::try_from((state >> 20) % 11).unwrap()]);
        }
        assert!(worst.0 <= most && worst.1 <= kept_histogram_sensitivity(most), "{most}: {worst:?}");
        assert_eq!(worst.0, most, "some node moves all of it");
    }
}

fn permutations<T>(list: &mut [T], from: usize, visit: &mut impl FnMut(&[T])) {
    if from == list.len() {
        return visit(list);
    }
    for place in from..list.len() {
        list.swap(from, place);
        permutations(list, from + 1, visit);
        list.swap(from, place);
    }
}

/// Differences of errors are moved by at most one, whatever is true: by every node of every graph on four nodes.
#[test]
fn one_node_moves_every_regret_by_at_most_one() {
    let all = All::new(4);
    let (bounds, noise): (_, Ratio) = ([1, 2, 4], "3/2".parse().unwrap());
    let of = |list: &[(u32, u32)]| regrets(&bounds, &bounds.map(|most| kept(list, most).1), &noise);
    for bits in 0..all.count() {
        let list = all.list(bits);
        for node in 0..4 {
            let rest: Vec<(u32, u32)> =
                list.iter().copied().filter(|&(a, b)| a != node && b != node).collect();
            for (one, other) in of(&list).iter().zip(of(&rest)) {
                assert!((one - &other).abs() <= Ratio::one(), "{list:?} {node}");
            }
        }
        assert!(of(&list).iter().any(Ratio::is_zero), "the best has none");
    }
}

#[test]
fn larger_graphs_agree_with_the_dense_one() {
    let mut state = 7u64;
    for (nodes, edges) in [(12u32, 20), (30, 60), (30, 200), (60, 90), (64, 700)] {
        for _ in 0..6 {
            let mut next = || {
                state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
                // Half of the ends are among a few nodes, so that there are hubs.
                let all = if state >> 60 & 1 == 0 { nodes } else { 4 };
                u32::try_from((state >> 33) % u64::from(all)).unwrap()
            };
            let list: Vec<(u32, u32)> = (0..edges).map(|_| (next(), next())).collect();
            let sparse = SparseGraph::new(list.iter().copied());
            // Nodes that no edge names yet take part.
            let dense = Graph::new(400, list.iter().map(|&(a, b)| (a as usize, b as usize)));
            assert_eq!(sparse.triangles(), dense.triangles());
            let (pairs, profile) = (sparse.triangle_pairs(), dense.profile(90));
            for k in 0..90 {
                assert_eq!(pairs.triangles_at(k), *profile.at(k), "{nodes} {edges} {k}");
            }
        }
    }
}

#[test]
fn a_star_of_many_leaves_takes_no_walk_through_all_pairs_of_them() {
    let star = SparseGraph::new((1..100_001).map(|leaf| (0, leaf)).chain([(7, 7), (5, 0)]));
    assert_eq!((star.edges(), star.triangles(), star.components()), (100_000, 0, 1));
    let pairs = star.triangle_pairs();
    assert_eq!((pairs.triangles_at(0), pairs.triangles_at(9)), (1, 9));
    assert_eq!(star.star_pairs().stars_at(2, 0), 100_000);
    assert_eq!(SparseGraph::new([]).triangle_pairs().triangles_at(5), 2);
    assert_eq!(SparseGraph::new([(3, 3)]).star_pairs().stars_at(3, 4), 6);
}

#[test]
fn ways_to_choose() {
    for (of, some, ways) in
        [(5, 2, 10), (3, 4, 0), (0, 0, 1), (10, 3, 120), (u64::MAX, 1, u128::from(u64::MAX))]
    {
        assert_eq!(choose(of, some), ways);
    }
    assert_eq!(choose(u64::MAX, 3), u128::MAX / 3, "cut off");
}
