//! The story that the selection audits share: which of three conditions is the most common?
//!
//! A record is the set of conditions of one person, a number below eight; the score of a condition is its count.

use crate::{Measured, pairs};
use equipoise_core::{
    adjacency::Adjacency,
    loss::Eps,
    mechanism::selection::Candidates,
    ratio::Ratio,
    tape::{Tape, enumerate},
};

/// How a selection chooses, given its parameters and the scores.
pub(super) type Choose = fn(&Eps, &Candidates, &[Ratio], &mut Tape) -> usize;

/// Every pair of neighbours among up to two people. Counts are monotone when a person comes or goes.
pub(super) fn measure(adjacency: Adjacency, monotone: bool, choose: Choose) -> Vec<Measured> {
    let sets: Vec<i64> = (0..8).collect();
    let measure = |eps: &&str| {
        let claim = pairs::claim(eps, "0", adjacency);
        let eps: Eps = eps.parse().expect("an epsilon");
        let candidates = Candidates { count: 3, sensitivity: Ratio::one(), monotone };
        claim.over_universe(&sets, 2, |people| {
            let count = |condition: u32| people.iter().map(|set| set >> condition & 1).sum::<i64>();
            let scores: Vec<Ratio> = (0..3).map(|condition| Ratio::from(count(condition))).collect();
            enumerate(&pairs::floor(), |tape| choose(&eps, &candidates, &scores, tape))
        })
    };
    ["0.5", "2"].iter().map(measure).collect()
}

/// The two adjacencies as shipped.
pub(super) fn shipped(choose: Choose) -> Vec<Measured> {
    [measure(Adjacency::AddRemove, true, choose), measure(Adjacency::Replace, false, choose)].concat()
}

/// The mutant of every selection: scores that can move apart, taken for monotone ones.
pub(super) fn taken_for_monotone(choose: Choose) -> Vec<Measured> {
    measure(Adjacency::Replace, true, choose)
}

/// What that mutant changed.
pub(super) const CHANGE: &str = "counts under replace are taken for monotone ones, which halves the noise";
