//! The story that the selection audits share: which of three conditions is the most common?
//!
//! A record is the set of conditions of one person, a number below eight; the score of a condition is its count.

use crate::{
    Measured,
    pairs::{self, Claim},
};
use equipoise_core::{
    adjacency::Adjacency,
    loss::{Eps, Loss, Rho},
    mechanism::selection::Candidates,
    ratio::Ratio,
    tape::{Tape, enumerate},
};

/// How a selection chooses, given its parameters and the scores.
pub(super) type Choose = fn(&Eps, &Candidates, &[Ratio], &mut Tape) -> usize;

/// Every pair of neighbours among up to two people. Counts are monotone when a person comes or goes.
pub(super) fn measure(adjacency: Adjacency, monotone: bool, choose: Choose) -> Vec<Measured> {
    let measure = |eps: &&str| {
        let claim = pairs::claim(eps, "0", adjacency);
        let candidates = Candidates { count: 3, sensitivity: Ratio::one(), monotone };
        over_people(&claim, &eps.parse().expect("an epsilon"), &candidates, choose)
    };
    ["0.5", "2"].iter().map(measure).collect()
}

/// The two adjacencies as shipped.
pub(super) fn shipped(choose: Choose) -> Vec<Measured> {
    [measure(Adjacency::AddRemove, true, choose), measure(Adjacency::Replace, false, choose)].concat()
}

/// The same held against a rho, as a loss converts it at two deltas.
pub(super) fn in_rho(choose: Choose, rho: fn(&Eps, &Candidates) -> Rho) -> Vec<Measured> {
    let cases =
        Adjacency::ALL.into_iter().flat_map(|adjacency| ["0.1", "0.01"].map(|delta| (adjacency, delta)));
    cases
        .map(|(adjacency, delta)| {
            let (eps, monotone): (Eps, _) =
                ("3".parse().expect("an epsilon"), adjacency == Adjacency::AddRemove);
            let candidates = Candidates { count: 3, sensitivity: Ratio::one(), monotone };
            let claim = Claim::of(&Loss::zcdp(&rho(&eps, &candidates)), delta, adjacency);
            over_people(&claim, &eps, &candidates, choose).case(RHO_CASE)
        })
        .collect()
}

/// How a claim in rho is named.
pub(super) const RHO_CASE: &str = "epsilon²/8 in rho, converted";

fn over_people(claim: &Claim, eps: &Eps, candidates: &Candidates, choose: Choose) -> Measured {
    let sets: Vec<i64> = (0..8).collect();
    claim.over_universe(&sets, 2, |people| {
        let count = |condition: u32| people.iter().map(|set| set >> condition & 1).sum::<i64>();
        let scores: Vec<Ratio> = (0..3).map(|condition| Ratio::from(count(condition))).collect();
        enumerate(&pairs::floor(), |tape| choose(eps, candidates, &scores, tape))
    })
}

/// The mutant of every selection: scores that can move apart, taken for monotone ones.
pub(super) fn taken_for_monotone(choose: Choose) -> Vec<Measured> {
    measure(Adjacency::Replace, true, choose)
}

/// What that mutant changed.
pub(super) const CHANGE: &str = "counts under replace are taken for monotone ones, which halves the noise";
