//! Vectors coordinate by coordinate: the quantiles of one coordinate in rho, and the noise of all sums together.

use crate::{
    Audit, Kind, Measured,
    pairs::{self, Claim},
};
use equipoise_core::{
    adjacency::Adjacency,
    loss::{Eps, Loss, Rho},
    ratio::Ratio,
    stability::Range,
    subsample::{VotesPerUnit, clip::range_quantile, vectors::sum_noise},
    tape::enumerate,
};

pub(super) static AUDIT: Audit = Audit {
    name: "vectors",
    about: "quantiles of coordinates cost epsilon²/8 in rho each, and sums of clipped vectors keep the rho of their noise, for t votes of a person",
    source: "000_4d769f04a6a550e8.txt, section 7.1; Bun and Steinke 2016",
    kind: Kind::Claim {
        shipped: || {
            vec![
                noise(1, 1, Adjacency::AddRemove),
                noise(1, 1, Adjacency::Replace),
                noise(2, 2, Adjacency::Replace),
                quantiles(1, Adjacency::AddRemove),
                quantiles(2, Adjacency::Replace),
            ]
        },
        change: "a person in two blocks is counted once",
        mutant: || vec![noise(1, 2, Adjacency::Replace)],
    },
};

/// Two votes of two coordinates, each from 0 to 2 steps, written in base three.
fn noise(counted: u64, replaced: u64, adjacency: Adjacency) -> Measured {
    let rho: Rho = "0.5".parse().expect("a rho");
    let touch = VotesPerUnit::new(2, counted, adjacency).expect("two votes");
    let noise = sum_noise(rho.clone(), touch, 2, 2).calibrate().expect("in range");
    let claim = Claim::of(&Loss::zcdp(&rho), "0.01", adjacency);
    // The corners of the square, which are farthest apart.
    let found = claim.over_votes(&[0, 2, 6, 8], 2, replaced, |votes| {
        let sums = [votes.iter().map(|vote| vote % 3).sum(), votes.iter().map(|vote| vote / 3).sum()];
        enumerate(&pairs::coarse_floor(), |tape| {
            let mut noisy = sums;
            noise.run_counts(&mut noisy, tape);
            noisy
        })
    });
    found.case(format!("noise of two sums, {counted} votes a person, rho converted"))
}

/// Both quantiles of one coordinate at epsilon 2 each: 2·2²/8 in rho.
fn quantiles(touched: u64, adjacency: Adjacency) -> Measured {
    let each: Eps = "2".parse().expect("an epsilon");
    let rho = Rho::new(each.ratio().squared() / Ratio::from(4u64)).expect("in range");
    let claim = Claim::of(&Loss::zcdp(&rho), "0.01", adjacency);
    let touch = VotesPerUnit::new(5, touched, adjacency).expect("five votes");
    let places = Range::new(0, 4).expect("in order");
    let quantiles = [Ratio::new(1, 4), Ratio::new(3, 4)]
        .map(|fraction| range_quantile(&each, touch, &fraction, places).expect("a small lattice"));
    let found = claim.over_votes(&[0, 1, 2, 4], 5, touched, |votes| {
        enumerate(&pairs::floor(), |tape| {
            quantiles.each_ref().map(|quantile| quantile.run_integers(votes, tape))
        })
    });
    found.case(format!("two quantiles of one coordinate, {touched} votes a person, rho converted"))
}
