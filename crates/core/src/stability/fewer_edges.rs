//! How far triangles and 2-stars of a graph fall at most when edges are removed: what down-sensitivity mechanisms look at.
//!
//! Source: 002_c9075a084346ce80.txt, Definition 1.7 (down-sensitivity); Fang, Dong and Yi, shifted inverse.
//!
//! # Claim
//!
//! Let an edge that is there *take* so many triangles as it is in, or so many 2-stars, and let t(1), t(2), … be what the edges take, the
//! largest first and zeros behind the last. Then with fall(k) = Σ over j = 1, …, k of max(t(j), (j-1)/2), and least(k) the first whole number
//! that is neither negative nor below count - fall(k):
//! - no k removed edges bring the count below least(k);
//! - the length of y, the first k with least(k) at most y, moves by at most one where an edge comes or goes.
//!
//! # Why
//!
//! 1. What is truly left after the best k removals is a maximum cover, which nobody computes for large graphs. But an edge that goes after
//!    others takes no more than it would alone, so that k of them take at most t(1) + … + t(k).
//! 2. An edge e that comes and takes c raises the count by c. It raises what others take by at most one each, lowers none, and raises at most
//!    2c of them: two for each new triangle, one for each new star. With plain sums of t the length could therefore fall by more than
//!    one: many edges each take one more, and each of them then counts for more. The halves (j-1)/2 make up for that.
//! 3. One edge more lengthens by at most one: remove e too. fall'(k+1) is at least c + fall(k), because terms move to later places, where
//!    the halves are no smaller, and none of them falls.
//! 4. And shortens by at most one: fall'(k) is at most c + fall(k+1). Sorted again without e, each place has the same or one more. If e is not among the first k, at most min(k, 2c) of those rise by
//!    one, and min(k, 2c) - c is at most k/2, which is at most the last term of fall(k+1). If e is at place p of the first k, each of the k-1
//!    others rises by one (2c of them at most) or moves back one place, which adds a half at most; and if c is below (p-1)/2, that counts
//!    in its place. All of that is at most c + (k-1)/2 + k/2, and the last two are at most the last two terms of fall(k+1).
//!
//! Smaller halves fail: tests have graphs on which they do.

use super::{
    graph::SparseGraph,
    removals::{Removals, largest},
};

impl SparseGraph {
    /// What triangles come down to at most, as far as `limit` removed edges.
    pub fn triangle_removals(&self, limit: u64) -> Removals {
        removals(self.triangles().into(), &self.triangles_on_edges(), limit, least_taken)
    }

    /// The same for sets of two edges that share a node.
    pub fn two_star_removals(&self, limit: u64) -> Removals {
        let taken: Vec<u64> = self.each_edge().map(|(a, b)| self.degree(a) + self.degree(b) - 2).collect();
        removals(self.stars(2), &taken, limit, least_taken)
    }

    /// A mutant: plain sums of what edges take, as if an edge more left what others take alone.
    pub fn triangle_removals_by_plain_sums(&self, limit: u64) -> Removals {
        removals(self.triangles().into(), &self.triangles_on_edges(), limit, |_| 0)
    }

    /// How many triangles each edge is in.
    fn triangles_on_edges(&self) -> Vec<u64> {
        let on_edge = |(a, b): (u32, u32)| {
            let (few, many) = if self.degree(a) <= self.degree(b) { (a, b) } else { (b, a) };
            self.of(few).iter().filter(|&&other| self.are_joined(many, other)).count() as u64
        };
        self.each_edge().map(on_edge).collect()
    }
}

/// What the edge at this place, from one on, counts for at least: twice that.
fn least_taken(place: u64) -> u64 {
    place - 1
}

/// From a count, what each edge takes of it alone, and twice what each place counts for at least.
fn removals(count: u128, taken: &[u64], limit: u64, least_taken: impl Fn(u64) -> u64) -> Removals {
    let wanted = usize::try_from(limit).unwrap_or(usize::MAX);
    let taken = largest(taken, wanted);
    let mut twice = count.saturating_mul(2);
    let after = (0..=limit).map(|place| {
        if let Some(place_before) = place.checked_sub(1) {
            let at_place = usize::try_from(place_before).ok().and_then(|index| taken.get(index));
            let twice_taken = at_place.map_or(0, |&taken| 2 * u128::from(taken));
            twice = twice.saturating_sub(twice_taken.max(least_taken(place).into()));
        }
        (place, twice.div_ceil(2))
    });
    Removals::new(after, limit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stability::graph::tests::All;

    type Fall = fn(&SparseGraph, u64) -> Removals;

    const COUNTS: [(&str, Fall); 2] = [
        ("triangles", |graph, limit| graph.triangle_removals(limit)),
        ("2-stars", |graph, limit| graph.two_star_removals(limit)),
    ];

    /// Every graph on five nodes: one edge moves every length by at most one, and no choice of removals goes below what is said.
    #[test]
    fn lengths_of_every_small_graph_move_by_at_most_one_and_bound_every_choice_of_removals() {
        let all = All::new(5);
        for (name, fall) in COUNTS {
            let found: Vec<Removals> = (0..all.count()).map(|bits| fall(&all.graph(bits), 20)).collect();
            // The least count after so many removals, of all smaller graphs first.
            let mut least: Vec<Vec<u128>> = Vec::new();
            for (bits, removals) in found.iter().enumerate() {
                let without = all.next_to(bits).filter(|&other| other < bits && bits & other == other);
                let mut here = vec![removals.value()];
                for smaller in without {
                    for (place, &value) in least[smaller].iter().enumerate() {
                        match here.get_mut(place + 1) {
                            Some(known) => *known = value.min(*known),
                            None => here.push(value),
                        }
                    }
                }
                for (removed, &value) in here.iter().enumerate() {
                    assert!(removals.least_after(removed as u64) <= value, "{name} {:?}", all.list(bits));
                }
                if let [whole, one, ..] = here[..] {
                    assert_eq!(removals.down_sensitivity(), whole - one, "{name} {:?}", all.list(bits));
                }
                least.push(here);
            }
            let most = found.iter().map(Removals::value).max().unwrap();
            for bits in 0..all.count() {
                for other in all.next_to(bits).filter(|&other| other < bits) {
                    for y in 0..=most {
                        let lengths = (found[bits].length(y), found[other].length(y));
                        assert!(lengths.0.abs_diff(lengths.1) <= 1, "{name} {:?} {y}", all.list(bits));
                    }
                }
            }
        }
    }

    /// The largest difference of lengths where one edge comes that takes some, over all short lists of what edges take and all choices of
    /// edges that then take one more: what the proof says of any graph.
    fn farthest(least_taken: fn(u64) -> u64, edges: usize, most: u64) -> u64 {
        let mut farthest = 0;
        let mut taken = vec![0; edges];
        loop {
            for comes in 0..=most + 1 {
                for raised in (0usize..1 << edges).filter(|set| u64::from(set.count_ones()) <= 2 * comes) {
                    let mut after: Vec<u64> = taken
                        .iter()
                        .enumerate()
                        .map(|(place, one)| one + (raised >> place & 1) as u64)
                        .collect();
                    after.push(comes);
                    for left in 0..=u128::from(most) * edges as u128 + 4 {
                        let length = |taken: &[u64], count| removals(count, taken, 16, least_taken).length(0);
                        let (without, with) =
                            (length(&taken, left), length(&after, left + u128::from(comes)));
                        farthest = farthest.max(without.abs_diff(with));
                    }
                }
            }
            let Some(place) = (0..edges)
                .rev()
                .find(|&place| taken[place] < if place == 0 { most } else { taken[place - 1] })
            else {
                return farthest;
            };
            taken[place] += 1;
            taken[place + 1..].fill(0);
        }
    }

    #[test]
    fn the_halves_are_what_one_edge_more_asks_for_and_nothing_less_will_do() {
        assert_eq!(farthest(least_taken, 5, 3), 1);
        assert!(farthest(|place| place.saturating_sub(2), 5, 3) > 1);
        assert!(farthest(|place| (place - 1) / 2, 5, 3) > 1);
    }

    /// Two people with two common neighbours, each of whose four edges is in one triangle more, and two triangles elsewhere. Where the
    /// two meet, four edges are in two triangles each.
    fn about_to_meet() -> (Vec<(u32, u32)>, (u32, u32)) {
        let around = [(0, 2), (0, 3), (1, 2), (1, 3)];
        let thirds = around.iter().zip(4..).flat_map(|(&(a, b), c)| [(a, b), (a, c), (b, c)]);
        let elsewhere = [8, 11].into_iter().flat_map(|a| [(a, a + 1), (a, a + 2), (a + 1, a + 2)]);
        (thirds.chain(elsewhere).collect(), (0, 1))
    }

    #[test]
    fn plain_sums_of_what_edges_take_move_by_two_where_two_people_meet() {
        let (edges, meeting) = about_to_meet();
        let apart = SparseGraph::new(edges.iter().copied());
        let met = SparseGraph::new(edges.into_iter().chain([meeting]));
        assert_eq!((apart.triangles(), met.triangles()), (6, 8));
        let lengths = |fall: Fall| [&apart, &met].map(|graph| fall(graph, 20).length(0));
        assert_eq!(lengths(SparseGraph::triangle_removals_by_plain_sums), [6, 4]);
        let [one, other] = lengths(SparseGraph::triangle_removals);
        assert!(one.abs_diff(other) <= 1, "{one} {other}");
    }

    #[test]
    fn a_graph_without_triangles_loses_none_whatever_its_pairs_have_in_common() {
        let bipartite = SparseGraph::new((0..40).flat_map(|a| (40..80).map(move |b| (a, b))));
        assert_eq!(bipartite.triangle_pairs().triangles_at(0), 40);
        let removals = bipartite.triangle_removals(50);
        assert_eq!((removals.value(), removals.least(), removals.length(0)), (0, 0, 0));
        // A complete graph on six nodes: twenty triangles, four on each edge; the tenth edge counts as four and a half.
        let complete = SparseGraph::new((0..6u32).flat_map(|a| (0..a).map(move |b| (a, b))));
        let removals = complete.triangle_removals(12);
        assert_eq!([0, 1, 4, 5].map(|removed| removals.least_after(removed)), [20, 16, 4, 0]);
        let stars = complete.two_star_removals(12);
        assert_eq!([0, 1, 7, 8].map(|removed| stars.least_after(removed)), [60, 52, 4, 0]);
        assert_eq!(SparseGraph::new([]).triangle_removals(3).length(0), 0);
        assert_eq!(SparseGraph::new([(1, 2)]).two_star_removals(0).least(), 0);
    }
}
