//! The most frequent vote over every list of seven votes that one person can change.

use crate::{
    Audit, Kind, Measured,
    pairs::{self, Claim},
};
use equipoise_core::{
    adjacency::Adjacency,
    subsample::{Touch, majority::Majority},
    tape::{Pmf, enumerate},
    universe::votes_within,
};

pub(super) static AUDIT: Audit = Audit {
    name: "majority",
    about: "the most frequent vote of blocks, of which one person changes at most t, keeps (epsilon, delta)",
    source: "000_4d769f04a6a550e8.txt, Algorithm 14, lines 6 to 16",
    kind: Kind::Claim {
        shipped: || [1, 2, 3].map(|touched| measure(touched, touched)).to_vec(),
        change: "a person in two blocks is counted once",
        mutant: || vec![measure(1, 2)],
    },
};

/// The claim, measured on all pairs of votes of which so many are replaced.
pub(super) fn over_votes<T: Ord>(
    claim: &Claim,
    values: &[i64],
    votes: usize,
    replaced: u64,
    law: impl Fn(&[i64]) -> Pmf<T>,
) -> Measured {
    let replaced = usize::try_from(replaced).expect("a few");
    claim.over(votes_within(values, votes, replaced).iter().map(|(a, b)| (law(a), law(b))))
}

fn measure(counted: u64, replaced: u64) -> Measured {
    let claim = pairs::claim("1", "0.001", Adjacency::Replace);
    let touch = Touch::new(7, counted, Adjacency::Replace).expect("seven votes");
    let (eps, delta) = ("1".parse().expect("an epsilon"), "0.001".parse().expect("a delta"));
    let election = Majority { eps, delta, touch }.calibrate().expect("in range");
    over_votes(&claim, &[0, 1, 2], 7, replaced, |votes| {
        enumerate(&pairs::floor(), |tape| election.run(votes, tape))
    })
}
