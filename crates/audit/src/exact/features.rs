//! Sets feature by feature: noisy counts compared with half of the votes.

use crate::{
    Audit, Kind, Measured,
    pairs::{self, Claim},
};
use equipoise_core::{
    adjacency::Adjacency,
    loss::Loss,
    subsample::{VotesPerUnit, features::Features},
    tape::enumerate,
};

pub(super) static AUDIT: Audit = Audit {
    name: "counts",
    about: "features that more than half of the votes have, by noisy counts, keep what their rho implies at delta 0.01",
    source: "000_4d769f04a6a550e8.txt, Example 7.2",
    kind: Kind::Claim {
        shipped: || {
            vec![
                measure("0.5", "0.5", 1, 1, Adjacency::Replace),
                measure("0.5", "0.5", 2, 1, Adjacency::AddRemove),
                measure("0.5", "0.5", 1, 2, Adjacency::Replace),
            ]
        },
        change: "a fourth of the noise variance",
        mutant: || vec![measure("0.5", "2", 1, 1, Adjacency::Replace)],
    },
};

/// Every list of three votes, each a set of at most `largest` of two features, and what rho implies at a delta.
fn measure(claimed: &str, spent: &str, largest: usize, touched: u64, adjacency: Adjacency) -> Measured {
    let rho = Loss::zcdp(&claimed.parse().expect("a rho"));
    let claim = Claim::of(&rho, "0.01", adjacency);
    let touch = VotesPerUnit::new(3, touched, adjacency).expect("three votes");
    let features = Features { rho: spent.parse().expect("a rho"), features: 2, largest, touch };
    let features = features.calibrate().expect("in range");
    // A vote is a set, written as a number below four.
    let sets: Vec<i64> = (0..4i64).filter(|set| set.count_ones() as usize <= largest).collect();
    let named = |set: &i64| (0..2usize).filter(|feature| set >> feature & 1 == 1).collect::<Vec<_>>();
    let law = |votes: &[i64]| {
        let votes: Vec<Vec<usize>> = votes.iter().map(named).collect();
        enumerate(&pairs::coarse_floor(), |tape| features.run(&votes, tape))
    };
    claim
        .over_votes(&sets, 3, touched, law)
        .case(format!("sets of at most {largest} of 2 features, rho converted"))
}
