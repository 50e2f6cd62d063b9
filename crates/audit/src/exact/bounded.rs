//! The mean of votes in a public ball: the noise of its sum.

use crate::{Audit, Kind, Measured, pairs};
use equipoise_core::{
    adjacency::Adjacency,
    ratio::Ratio,
    subsample::{VotesPerUnit, bounded::sum_noise},
    tape::enumerate,
};

pub(super) static AUDIT: Audit = Audit {
    name: "bounded",
    about: "the sum of votes in a public ball, with Gaussian noise for t votes of a person, keeps (epsilon, delta)",
    source: "000_4d769f04a6a550e8.txt, section 7.1",
    kind: Kind::Claim {
        shipped: || vec![measure(1, 1, Adjacency::AddRemove), measure(2, 2, Adjacency::Replace)],
        change: "a person in two blocks is counted once",
        mutant: || vec![measure(1, 2, Adjacency::Replace)],
    },
};

/// Three votes from -2 to 2 on a line.
fn measure(counted: u64, replaced: u64, adjacency: Adjacency) -> Measured {
    let claim = pairs::claim("1", "0.01", adjacency);
    let touch = VotesPerUnit::new(3, counted, adjacency).expect("three votes");
    let (eps, delta) = ("1".parse().expect("an epsilon"), "0.01".parse().expect("a delta"));
    let noise = sum_noise(&eps, &delta, 1, touch, 2).calibrate().expect("in range");
    claim.over_votes(&[-2, 0, 2], 3, replaced, |votes| {
        let sum = Ratio::from(votes.iter().sum::<i64>());
        enumerate(&pairs::coarse_floor(), |tape| noise.run(std::slice::from_ref(&sum), tape))
    })
}
