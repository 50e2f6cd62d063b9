//! The mean of votes clipped to a paid range: the quantiles that make the range, and the noise of the sum.

use crate::{Audit, Kind, Measured, pairs};
use equipoise_core::{
    adjacency::Adjacency,
    loss::Eps,
    ratio::Ratio,
    stability::Range,
    subsample::{VotesPerUnit, clip::range_quantile, location::sum_noise},
    tape::enumerate,
};

pub(super) static AUDIT: Audit = Audit {
    name: "winsorized",
    about: "the quantiles that make a range, and the sum of votes clipped to it with noise, keep their parts of epsilon for t votes of a person",
    source: "000_4d769f04a6a550e8.txt, section 7.1; Smith 2011",
    kind: Kind::Claim {
        shipped: || {
            let both = |part: fn(u64, u64, Adjacency) -> Measured| {
                vec![
                    part(1, 1, Adjacency::AddRemove),
                    part(1, 1, Adjacency::Replace),
                    part(2, 2, Adjacency::Replace),
                ]
            };
            [both(noise), both(range)].concat()
        },
        change: "a person in two blocks is counted once",
        mutant: || vec![noise(1, 2, Adjacency::Replace), range(1, 2, Adjacency::Replace)],
    },
};

fn noise(counted: u64, replaced: u64, adjacency: Adjacency) -> Measured {
    let claim = pairs::claim("1", "0", adjacency);
    let touch = VotesPerUnit::new(3, counted, adjacency).expect("three votes");
    let noise = sum_noise("1".parse().expect("an epsilon"), touch, 4).calibrate().expect("in range");
    let found = claim.over_votes(&[0, 1, 4], 3, replaced, |votes| {
        enumerate(&pairs::floor(), |tape| noise.run_whole(votes.iter().sum(), tape))
    });
    found.case(format!("noise of the sum, {counted} votes a person"))
}

/// The two quantiles that make the range, on a lattice of five places.
fn range(counted: u64, replaced: u64, adjacency: Adjacency) -> Measured {
    let claim = pairs::claim("2", "0", adjacency);
    let touch = VotesPerUnit::new(5, counted, adjacency).expect("five votes");
    let places = Range::new(0, 4).expect("in order");
    let each: Eps = "1".parse().expect("an epsilon");
    let quantiles = [Ratio::new(1, 4), Ratio::new(3, 4)]
        .map(|fraction| range_quantile(&each, touch, &fraction, places).expect("a small lattice"));
    let found = claim.over_votes(&[0, 1, 2, 4], 5, replaced, |votes| {
        enumerate(&pairs::floor(), |tape| {
            quantiles.each_ref().map(|quantile| quantile.run_integers(votes, tape))
        })
    });
    found.case(format!("two quantiles of the votes, {counted} votes a person"))
}
