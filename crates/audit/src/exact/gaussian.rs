//! The Gaussian mechanism: counts and histograms, on the grid and between its points, discrete and real.

use crate::{
    Audit, Kind, Measured,
    pairs::{self, Claim, claim},
};
use equipoise_core::{
    adjacency::Adjacency,
    loss::{Loss, Rho},
    mechanism::{
        Noise, Values,
        gaussian::{Gaussian, Target},
        l2::L2,
    },
    ratio::Ratio,
    tape::{Pmf, enumerate},
};

pub(super) static AUDIT: Audit = Audit {
    name: "gaussian",
    about: "Gaussian noise, on a grid or real and rounded once, hides one row of a histogram at its L2 sensitivity",
    source: "Canonne, Kamath, Steinke 2020, Theorem 7; Balle, Wang 2018, Theorem 8",
    kind: Kind::Claim {
        shipped: || {
            [
                histogram(Adjacency::AddRemove, 1, Noise::Discrete),
                histogram(Adjacency::Replace, 2, Noise::Discrete),
                histogram(Adjacency::Replace, 2, Noise::Real),
                concentrated(),
                between_grid_points(Noise::Discrete),
                between_grid_points(Noise::Real),
            ]
            .concat()
        },
        change: "a histogram under replace is given the sensitivity of one row added, 1 instead of the root of 2",
        mutant: || histogram(Adjacency::Replace, 1, Noise::Discrete),
    },
};

const VALUES: [i64; 2] = [0, 1];

fn target(claim: &Claim) -> Target {
    let (eps, delta) = (claim.eps.to_string(), claim.delta.to_string());
    Target::Approx { eps: eps.parse().expect("an epsilon"), delta: delta.parse().expect("a delta") }
}

/// The noisy histogram of two values.
fn noisy_counts(mechanism: &Gaussian) -> impl Fn(&[i64]) -> Pmf<Vec<Ratio>> {
    let calibrated = mechanism.calibrate().expect("valid");
    move |data| {
        let count = |value| Ratio::from(data.iter().filter(|&&x| x == value).count() as u64);
        let counts = [count(0), count(1)];
        enumerate(&pairs::coarse_floor(), |tape| calibrated.run(&counts, tape))
    }
}

fn counts(target: Target, squared_sensitivity: u64, noise: Noise) -> Gaussian {
    Gaussian {
        target,
        sensitivity: L2::RootOf(Ratio::from(squared_sensitivity)),
        grid: Ratio::one(),
        dimensions: 2,
        values: Values::OnGrid,
        noise,
    }
}

/// The histogram of two values over all small data sets.
fn histogram(adjacency: Adjacency, squared_sensitivity: u64, noise: Noise) -> Vec<Measured> {
    let measure = |(eps, delta): (&str, &str)| {
        let claim = claim(eps, delta, adjacency);
        let mechanism = counts(target(&claim), squared_sensitivity, noise);
        claim.over_universe(&VALUES, 2, noisy_counts(&mechanism))
    };
    [("1", "0.01"), ("4", "0.001")].map(measure).to_vec()
}

/// A histogram under replace at a target rho, held against what rho says at three deltas.
fn concentrated() -> Vec<Measured> {
    let rho: Rho = "0.5".parse().expect("a rho");
    let mechanism = counts(Target::Zcdp(rho.clone()), 2, Noise::Discrete);
    let measure = |delta: &str| {
        let converted = Loss::zcdp(&rho).to_approx(&delta.parse().expect("a delta"));
        let eps = converted.expect("a delta above zero").eps.ratio().to_string();
        claim(&eps, delta, Adjacency::Replace).over_universe(&VALUES, 2, noisy_counts(&mechanism))
    };
    ["0.1", "0.001", "0.00001"].map(measure).to_vec()
}

/// A sum of thirds, which lie between the points of a grid of one half.
fn between_grid_points(noise: Noise) -> Vec<Measured> {
    let claim = claim("1", "0.01", Adjacency::AddRemove);
    let mechanism = Gaussian {
        target: target(&claim),
        sensitivity: L2::Exact(Ratio::new(2, 3)),
        grid: Ratio::new(1, 2),
        dimensions: 1,
        values: Values::Any,
        noise,
    };
    let calibrated = mechanism.calibrate().expect("valid");
    vec![claim.over_universe(&[1, 2], 3, |data| {
        let sum = [Ratio::new(data.iter().sum(), 3)];
        enumerate(&pairs::coarse_floor(), |tape| calibrated.run(&sum, tape))
    })]
}
