//! The exponential mechanism over an infinite domain cut into public pieces.

use super::conditions;
use crate::{
    Audit, Kind, Measured,
    pairs::{self, Claim},
};
use equipoise_core::{
    adjacency::Adjacency,
    loss::{Eps, Loss},
    mechanism::exponential_density::ExponentialDensity,
    ratio::Ratio,
    tape::enumerate,
};

pub(super) static AUDIT: Audit = Audit {
    name: "exponential-density",
    about: "a point of a public interval is drawn with density proportional to e^(epsilon·score/(2·sensitivity))",
    source: "004_5f92a75732c1853f.txt, Algorithm 2 over a base measure",
    kind: Kind::Claim {
        shipped: || {
            let both = Adjacency::ALL.map(|adjacency| prices(&Ratio::one(), adjacency, &Claimed::Eps));
            let rho = Adjacency::ALL.map(|adjacency| prices(&Ratio::one(), adjacency, &Claimed::Rho));
            [both, rho].concat()
        },
        change: "the revenue is said to move by half of the highest price",
        mutant: || vec![prices(&Ratio::new(1, 2), Adjacency::AddRemove, &Claimed::Eps)],
    },
};

/// In which currency the claim is held against the measurement.
enum Claimed {
    Eps,
    Rho,
}

/// Prices up to one, in three pieces of different length; the score of a piece is the revenue at its lower end. A buyer who
/// comes or goes moves all revenues the same way, one who is replaced does not.
fn prices(sensitivity: &Ratio, adjacency: Adjacency, claimed: &Claimed) -> Measured {
    let quarter = |count: i64| Ratio::new(count, 4);
    let eps: Eps = "2".parse().expect("an epsilon");
    let mechanism = ExponentialDensity {
        eps,
        measures: vec![quarter(1), quarter(2), quarter(1)],
        sensitivity: sensitivity.clone(),
        monotone: adjacency == Adjacency::AddRemove,
    };
    let calibrated = mechanism.calibrate().expect("valid parameters");
    let claim = match claimed {
        Claimed::Eps => pairs::claim("2", "0", adjacency),
        Claimed::Rho => Claim::of(&Loss::zcdp(&calibrated.bounded_range_rho()), "0.1", adjacency),
    };
    // A record is the most that a person pays, in quarters; the third piece starts at a price of one.
    let found = claim.over_universe(&[0, 1, 2, 4], 3, |limits| {
        let revenue = |price: i64| {
            let buyers = limits.iter().filter(|&&limit| limit >= price).count();
            &quarter(price) * &Ratio::from(buyers as u64)
        };
        let scores = [revenue(1), revenue(2), revenue(4)];
        enumerate(&pairs::floor(), |tape| calibrated.run(&scores, tape).piece)
    });
    match claimed {
        Claimed::Eps => found,
        Claimed::Rho => found.case(conditions::RHO_CASE),
    }
}
