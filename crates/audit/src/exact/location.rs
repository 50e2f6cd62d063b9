//! The mean of votes clipped to a paid range: the noise of its sum.

use super::majority::over_votes;
use crate::{Audit, Kind, Measured, pairs};
use equipoise_core::{
    adjacency::Adjacency,
    subsample::{Touch, location::sum_noise},
    tape::enumerate,
};

pub(super) static AUDIT: Audit = Audit {
    name: "winsorized",
    about: "the sum of votes clipped to a paid range, with noise for t votes of a person, keeps the epsilon of the noise",
    source: "000_4d769f04a6a550e8.txt, section 7.1; Smith 2011",
    kind: Kind::Claim {
        shipped: || vec![measure(1, 1), measure(2, 2)],
        change: "a person in two blocks is counted once",
        mutant: || vec![measure(1, 2)],
    },
};

fn measure(counted: u64, replaced: u64) -> Measured {
    let claim = pairs::claim("1", "0", Adjacency::Replace);
    let touch = Touch::new(3, counted, Adjacency::Replace).expect("three votes");
    let noise = sum_noise("1".parse().expect("an epsilon"), touch, 4).calibrate().expect("in range");
    over_votes(&claim, &[0, 1, 4], 3, replaced, |votes| {
        enumerate(&pairs::floor(), |tape| noise.run_whole(votes.iter().sum(), tape))
    })
}
