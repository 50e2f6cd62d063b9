//! The mean of votes in a public ball: the noise of its sum.

use super::majority::over_votes;
use crate::{Audit, Kind, Measured, pairs};
use equipoise_core::{
    adjacency::Adjacency,
    ratio::Ratio,
    subsample::{Touch, bounded::sum_noise},
    tape::enumerate,
};

pub(super) static AUDIT: Audit = Audit {
    name: "bounded",
    about: "the sum of votes in a public ball, with Gaussian noise for t votes of a person, keeps (epsilon, delta)",
    source: "000_4d769f04a6a550e8.txt, section 7.1",
    kind: Kind::Claim {
        shipped: || vec![measure(1, 1), measure(2, 2)],
        change: "a person in two blocks is counted once",
        mutant: || vec![measure(1, 2)],
    },
};

/// Three votes from -2 to 2 on a line.
fn measure(counted: u64, replaced: u64) -> Measured {
    let claim = pairs::claim("1", "0.01", Adjacency::Replace);
    let touch = Touch::new(3, counted, Adjacency::Replace).expect("three votes");
    let (eps, delta) = ("1".parse().expect("an epsilon"), "0.01".parse().expect("a delta"));
    let noise = sum_noise(&eps, &delta, 1, touch, 2).calibrate().expect("in range");
    over_votes(&claim, &[-2, 0, 2], 3, replaced, |votes| {
        let sum = Ratio::from(votes.iter().sum::<i64>());
        enumerate(&pairs::coarse_floor(), |tape| noise.run(std::slice::from_ref(&sum), tape))
    })
}
