//! Sets feature by feature: noisy counts compared with half of the votes.

use crate::{
    Audit, Kind, Measured,
    pairs::{self, Claim},
};
use equipoise_core::{
    adjacency::Adjacency,
    loss::Loss,
    subsample::{Touch, features::Features},
    tape::{Pmf, enumerate},
};

pub(super) static AUDIT: Audit = Audit {
    name: "features",
    about: "features that more than half of the votes have, by noisy counts, keep what their rho implies at delta 0.01",
    source: "000_4d769f04a6a550e8.txt, Example 7.2",
    kind: Kind::Claim {
        shipped: || vec![measure("0.5", "0.5")],
        change: "a fourth of the noise variance",
        mutant: || vec![measure("0.5", "2")],
    },
};

/// Three votes with at most one of two features; one is replaced.
fn measure(claimed: &str, spent: &str) -> Measured {
    let rho = Loss::zcdp(&claimed.parse().expect("a rho"));
    let delta = "0.01".parse().expect("a delta");
    let implied = rho.to_approx(&delta).expect("a delta above zero");
    let (eps, delta) = (implied.eps.ratio().clone(), implied.delta.ratio().clone());
    let claim = Claim { eps, delta, adjacency: Adjacency::Replace };
    let touch = Touch::new(3, 1, Adjacency::Replace).expect("three votes");
    let features = Features { rho: spent.parse().expect("a rho"), features: 2, largest: 1, touch };
    let features = features.calibrate().expect("in range");
    let law = |last: &[usize]| -> Pmf<Vec<(usize, i64)>> {
        let votes = vec![vec![0], vec![1], last.to_vec()];
        enumerate(&pairs::coarse_floor(), |tape| features.run(&votes, tape))
    };
    let sets: [&[usize]; 3] = [&[], &[0], &[1]];
    claim.over([(0, 1), (0, 2), (1, 2)].map(|(a, b)| (law(sets[a]), law(sets[b]))))
}
