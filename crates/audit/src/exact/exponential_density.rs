//! The exponential mechanism over an infinite domain cut into public pieces.

use crate::{Audit, Kind, Measured, pairs};
use equipoise_core::{
    adjacency::Adjacency, mechanism::exponential_density::ExponentialDensity, ratio::Ratio, tape::enumerate,
};

pub(super) static AUDIT: Audit = Audit {
    name: "exponential-density",
    about: "a point of a public interval is drawn with density proportional to e^(epsilon·score/(2·sensitivity))",
    source: "004_5f92a75732c1853f.txt, Algorithm 2 over a base measure",
    kind: Kind::Claim {
        shipped: || prices(&Ratio::one()),
        change: "the revenue is said to move by half of the highest price",
        mutant: || prices(&Ratio::new(1, 2)),
    },
};

/// Prices up to one, in three pieces of different length; the score of a piece is the revenue at its lower end.
fn prices(sensitivity: &Ratio) -> Vec<Measured> {
    let claim = pairs::claim("1", "0", Adjacency::AddRemove);
    let quarter = |count: i64| Ratio::new(count, 4);
    let mechanism = ExponentialDensity {
        eps: "1".parse().expect("an epsilon"),
        measures: vec![quarter(1), quarter(2), quarter(1)],
        sensitivity: sensitivity.clone(),
        monotone: true,
    };
    let calibrated = mechanism.calibrate().expect("valid parameters");
    // A record is the most that a person pays, in quarters; the third piece starts at a price of one.
    vec![claim.over_universe(&[0, 1, 2, 4], 3, |limits| {
        let revenue = |price: i64| {
            let buyers = limits.iter().filter(|&&limit| limit >= price).count();
            &quarter(price) * &Ratio::from(buyers as u64)
        };
        let scores = [revenue(1), revenue(2), revenue(4)];
        enumerate(&pairs::floor(), |tape| calibrated.run(&scores, tape).piece)
    })]
}
