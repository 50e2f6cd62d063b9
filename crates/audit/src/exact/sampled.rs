//! Amplification by sampling: randomized response on a secret sample.

use crate::{
    Audit, Kind, Measured,
    pairs::{self, Claim},
};
use equipoise_core::{
    adjacency::Adjacency,
    chance::{Enclosed, Odds},
    coins::Coins,
    interval::Interval,
    loss::{Approx, Loss},
    mechanism::sampled::{InnerLoss, PoissonSampled, SubsetSampled},
    ratio::Ratio,
    tape::{Tape, enumerate},
};

pub(super) static AUDIT: Audit = Audit {
    name: "sampled",
    about: "a mechanism on a secret sample of rate p keeps (ln(1 + p(e^epsilon - 1)), p delta)",
    source: "003_82bbcee9e9852ea0.txt, amplification, corrected; Balle, Barthe, Gaboardi 2018",
    kind: Kind::Claim {
        shipped: || [poisson(), subset(2, 3, 2), leaky_poisson(), leaky_subset()].concat(),
        change: "a subset of 2 of 3 rows is accounted for as 2 of 4",
        mutant: || subset(2, 4, 2),
    },
};

fn decimal(text: &str) -> Ratio {
    text.parse().expect("a decimal")
}

/// Says whether the sample has a one, truthfully with probability e/(1 + e): 1-DP and no better.
pub(crate) fn any_one(sample: &[i64], coins: &mut Tape) -> bool {
    let truth = Enclosed::new(|bits| {
        let one = Interval::one(bits);
        one.div(&one.neg().exp().add(&one))
    });
    coins.bernoulli(&truth) == sample.contains(&1)
}

fn inner() -> InnerLoss {
    let one = Approx::new(&"1".parse().expect("an epsilon"), &"0".parse().expect("a delta"));
    InnerLoss::both(one.clone(), one)
}

/// What is said of the sample, and now and then the sample itself: (1, 1/10) and no better.
type Told = (bool, Option<Vec<i64>>);

fn told(sample: &[i64], coins: &mut Tape) -> Told {
    if coins.bernoulli(&Odds::new(&Ratio::new(1, 10))) {
        return (true, Some(sample.to_vec()));
    }
    (any_one(sample, coins), None)
}

fn leaky_inner() -> InnerLoss {
    let loss = Approx::new(&"1".parse().expect("an epsilon"), &"0.1".parse().expect("a delta"));
    InnerLoss::both(loss.clone(), loss)
}

/// The part p·delta of the price.
fn leaky_poisson() -> Vec<Measured> {
    let of = |(rate, adjacency): (&str, Adjacency)| {
        let rate = rate.parse().expect("a rate");
        let calibrated =
            PoissonSampled { rate, adjacency, inner: leaky_inner() }.calibrate().expect("private under both");
        let claim = claim_of(&calibrated.cost(), adjacency);
        let found = claim.over_universe(&[0, 1], 3, |data| {
            enumerate(&pairs::floor(), |tape| calibrated.run(data, told, tape))
        });
        found.case("an inner mechanism with a delta, each row kept with a probability")
    };
    [("0.5", Adjacency::AddRemove), ("0.1", Adjacency::AddRemove), ("0.5", Adjacency::Replace)]
        .map(of)
        .to_vec()
}

fn leaky_subset() -> Vec<Measured> {
    let shape = SubsetSampled { size: 2, rows: 3, adjacency: Adjacency::Replace, inner: leaky_inner() };
    let calibrated = shape.calibrate().expect("valid");
    let claim = claim_of(&calibrated.cost(), Adjacency::Replace);
    let found = claim.over_universe(&[0, 1], 3, |data| {
        enumerate(&decimal("1e-14"), |tape| calibrated.run(data, told, tape))
    });
    vec![found.case("an inner mechanism with a delta, two of three rows")]
}

fn poisson() -> Vec<Measured> {
    let mut measured = Vec::new();
    for rate in ["0.1", "0.5", "0.9"] {
        for adjacency in Adjacency::ALL {
            let rate = rate.parse().expect("a rate");
            let calibrated =
                PoissonSampled { rate, adjacency, inner: inner() }.calibrate().expect("private under both");
            let claim = claim_of(&calibrated.cost(), adjacency);
            measured.push(claim.over_universe(&[0, 1], 3, |data| {
                enumerate(&pairs::floor(), |tape| calibrated.run(data, any_one, tape))
            }));
        }
    }
    measured
}

/// A sample of `size` of three rows, accounted for as `size` of `rows`.
fn subset(size: u64, rows: u64, sampled: u64) -> Vec<Measured> {
    let calibrate = |size, rows| {
        SubsetSampled { size, rows, adjacency: Adjacency::Replace, inner: inner() }
            .calibrate()
            .expect("valid")
    };
    let claim = claim_of(&calibrate(size, rows).cost(), Adjacency::Replace);
    let calibrated = calibrate(sampled, 3);
    vec![claim.over_universe(&[0, 1], 3, |data| {
        enumerate(&decimal("1e-14"), |tape| calibrated.run(data, any_one, tape))
    })]
}

fn claim_of(cost: &Loss, adjacency: Adjacency) -> Claim {
    let Loss::Approx(cost) = cost else { unreachable!("sampling is accounted for in (epsilon, delta)") };
    Claim::promised(cost, adjacency)
}
