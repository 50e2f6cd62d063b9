//! What the exact audits of the selection mechanisms share: the story of the most common condition.
//!
//! A record is the set of conditions of one person, among three; the score of a condition is its count.

use super::{exponential::Exponential, permute_and_flip::PermuteAndFlip, selection::Candidates};
use crate::{
    adjacency::Adjacency,
    coins::Law,
    interval::{AUDIT_BITS, Interval},
    loss::Eps,
    ratio::Ratio,
    tape::{Pmf, delta_between},
    universe::neighbouring_pairs,
};
use std::collections::{BTreeMap, BTreeSet};

pub(super) fn ratio(text: &str) -> Ratio {
    text.parse().unwrap()
}

pub(super) fn ratios(values: &[i64]) -> Vec<Ratio> {
    values.iter().map(|&value| Ratio::from(value)).collect()
}

/// The distribution that a law claims.
pub(super) fn claimed<L: Law>(law: &L) -> Pmf<L::Value>
where
    L::Value: Ord,
{
    Pmf::from_masses(law.masses(&ratio("1e-30"), AUDIT_BITS))
}

/// The pairs of score vectors of all neighbouring data sets of up to `size` persons.
pub(super) fn score_pairs(size: usize, adjacency: Adjacency) -> BTreeSet<(Vec<i64>, Vec<i64>)> {
    let subsets: Vec<i64> = (0..8).collect();
    let counts = |data: &[i64]| -> Vec<i64> {
        (0..3).map(|condition| data.iter().map(|set| set >> condition & 1).sum()).collect()
    };
    let pairs = neighbouring_pairs(&subsets, size, adjacency);
    pairs.iter().map(|(a, b)| (counts(a), counts(b))).collect()
}

/// The pairs of score vectors between 0 and `most` that one step can lead to, up to order, without a walk
/// through all data sets: every such pair belongs to two neighbours among `most` persons, because
/// conditions that are counted separately can rise, stay or fall separately (under add/remove: together).
pub(super) fn far_score_pairs(most: i64, adjacency: Adjacency) -> BTreeSet<(Vec<i64>, Vec<i64>)> {
    let falls = if adjacency == Adjacency::Replace { -1 } else { 0 };
    let mut pairs = BTreeSet::new();
    for a in 0..=most {
        for b in a..=most {
            for c in b..=most {
                for code in 0..27 {
                    let moves = [code % 3 - 1, code / 3 % 3 - 1, code / 9 - 1];
                    let to = [a + moves[0], b + moves[1], c + moves[2]];
                    if moves.iter().all(|&m| m >= falls) && to.iter().all(|q| (0..=most).contains(q)) {
                        pairs.insert((vec![a, b, c], to.to_vec()));
                    }
                }
            }
        }
    }
    pairs
}

/// The largest delta at this epsilon over the pairs, both directions, certified from both sides; and the
/// largest log-ratio, for display.
pub(super) fn worst<'a>(
    eps: &Ratio,
    pairs: impl IntoIterator<Item = &'a (Vec<i64>, Vec<i64>)>,
    distribution: impl Fn(&[Ratio]) -> Pmf<usize>,
) -> (Interval, f64) {
    let mut known: BTreeMap<Vec<i64>, Pmf<usize>> = BTreeMap::new();
    let mut delta = Interval::zero(AUDIT_BITS);
    let mut loss = 0f64;
    for (a, b) in pairs {
        for scores in [a, b] {
            known.entry(scores.clone()).or_insert_with(|| distribution(&ratios(scores)));
        }
        let (here, there) = (&known[a], &known[b]);
        delta = delta.max(&delta_between(eps, here, there));
        loss = loss.max(here.largest_loss(there)).max(there.largest_loss(here));
    }
    (delta, loss)
}

/// On every score vector between 0 and `most`, the choice loses 1, 2, … of score at most as often as bounded.
pub(super) fn assert_errors_are_bounded(
    most: i64,
    bound: impl Fn(&Ratio) -> Ratio,
    distribution: impl Fn(&[Ratio]) -> Pmf<usize>,
) {
    // Both sides are rounded up, at different precisions.
    let bounds: Vec<(Ratio, Ratio)> =
        (1..=most).map(Ratio::from).map(|error| (error.clone(), bound(&error) + ratio("1e-50"))).collect();
    let vectors: BTreeSet<Vec<i64>> =
        far_score_pairs(most, Adjacency::Replace).into_iter().map(|(scores, _)| scores).collect();
    for scores in vectors {
        let scores = ratios(&scores);
        let drawn = distribution(&scores);
        for (error, bound) in &bounds {
            let chance = chance_of_losing(&drawn, &scores, error);
            assert!(chance.certainly_at_most(bound), "{scores:?} {error}: {}", chance.to_f64());
        }
    }
}

/// The chance that the choice loses at least `error` of score, enclosed.
pub(super) fn chance_of_losing(distribution: &Pmf<usize>, scores: &[Ratio], error: &Ratio) -> Interval {
    let best = scores.iter().max().unwrap();
    let losing = distribution.iter().filter(|(index, _)| best - &scores[**index] >= *error);
    losing.fold(Interval::zero(AUDIT_BITS), |sum, (_, mass)| sum.add(mass))
}

/// The revenue at price p in {1, 2, 3} is p times the number of people who would pay p. One person, who comes,
/// goes or changes their mind, moves the revenue of all prices the same way, by the highest price at most.
#[test]
fn revenue_is_monotone_under_both_adjacencies_and_its_sensitivity_is_the_highest_price() {
    let revenue = |data: &[i64]| -> Vec<i64> {
        (1..=3).map(|price| price * data.iter().map(|&most| i64::from(most >= price)).sum::<i64>()).collect()
    };
    for adjacency in Adjacency::ALL {
        let pairs: BTreeSet<_> = neighbouring_pairs(&[0, 1, 2, 3], 5, adjacency)
            .iter()
            .map(|(a, b)| (revenue(a), revenue(b)))
            .collect();
        let worst_of = |sensitivity: u64| {
            let candidates = Candidates { count: 3, sensitivity: Ratio::from(sensitivity), monotone: true };
            let eps: Eps = "1".parse().unwrap();
            let flips =
                PermuteAndFlip { eps: eps.clone(), candidates: candidates.clone() }.calibrate().unwrap();
            let weights = Exponential { eps, candidates }.calibrate().unwrap();
            let flips = worst(&Ratio::one(), &pairs, |q| claimed(&flips.law(q))).0;
            flips.max(&worst(&Ratio::one(), &pairs, |q| claimed(&weights.law(q))).0)
        };
        assert!(worst_of(3).certainly_at_most(&ratio("1e-50")), "{adjacency}");
        // The mutant takes the sensitivity of the count for that of the revenue.
        assert!(worst_of(1).certainly_above(&ratio("0.1")), "{adjacency}");
    }
}
