//! The Laplace mechanism: counts, histograms and sums between grid points.

use crate::{
    Audit, Kind, Measured,
    pairs::{self, Claim, claim},
};
use equipoise_core::{
    adjacency::Adjacency,
    mechanism::{Noise, Values, laplace::Laplace},
    ratio::Ratio,
    tape::enumerate,
};

pub(super) static AUDIT: Audit = Audit {
    name: "laplace",
    about: "noise at sensitivity over epsilon hides one row of a count, of a histogram and of a sum rounded to a grid",
    source: "004_5f92a75732c1853f.txt, Algorithm 1 and Lemma 3",
    kind: Kind::Claim {
        shipped: || {
            [
                claim_for(Adjacency::AddRemove, "1"),
                claim_for(Adjacency::Replace, "2"),
                between_grid_points(Noise::Discrete),
                between_grid_points(Noise::Real),
            ]
            .concat()
        },
        change: "a histogram under replace is given the sensitivity of one row added, 1 instead of 2",
        mutant: || claim_for(Adjacency::Replace, "1"),
    },
};

const VALUES: [i64; 2] = [0, 1];

fn mechanism(
    claim: &Claim,
    sensitivity: &str,
    grid: &str,
    dimensions: usize,
    values: Values,
    noise: Noise,
) -> Laplace {
    Laplace {
        eps: claim.eps.to_string().parse().expect("an epsilon"),
        sensitivity: sensitivity.parse().expect("a decimal"),
        grid: grid.parse().expect("a decimal"),
        dimensions,
        values,
        noise,
    }
}

/// The histogram of two values over all small data sets.
fn claim_for(adjacency: Adjacency, sensitivity: &str) -> Vec<Measured> {
    ["0.5", "2"]
        .iter()
        .map(|eps| {
            let claim = claim(eps, "0", adjacency);
            let calibrated = mechanism(&claim, sensitivity, "1", 2, Values::OnGrid, Noise::Discrete)
                .calibrate()
                .expect("valid");
            claim.over_universe(&VALUES, 3, |data| {
                let count = |value| Ratio::from(data.iter().filter(|&&x| x == value).count() as u64);
                let counts = [count(0), count(1)];
                enumerate(&pairs::coarse_floor(), |tape| calibrated.run(&counts, tape))
            })
        })
        .collect()
}

/// Two sums of thirds, which lie between the points of a grid of one half.
fn between_grid_points(noise: Noise) -> Vec<Measured> {
    let claim = claim("1", "0", Adjacency::AddRemove);
    let calibrated = mechanism(&claim, "1", "1/2", 2, Values::Any, noise).calibrate().expect("valid");
    // One row adds a third to one sum and two thirds to the other: one in all.
    vec![claim.over_universe(&VALUES, 3, |data| {
        let sum = |value| {
            let thirds = data.iter().map(|&x| if x == value { 1 } else { 2 }).sum();
            Ratio::new(thirds, 3)
        };
        let sums = [sum(0), sum(1)];
        enumerate(&pairs::coarse_floor(), |tape| calibrated.run(&sums, tape))
    })]
}
