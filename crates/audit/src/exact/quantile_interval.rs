//! A confidence interval for a quantile: two ends, half of epsilon each.

use crate::{
    Audit, Kind, Measured,
    pairs::{self, claim},
};
use equipoise_core::{
    adjacency::Adjacency,
    loss::Eps,
    mechanism::quantile_interval::QuantileInterval,
    ratio::Ratio,
    stability::{Median, Range},
    tape::enumerate,
};

pub(super) static AUDIT: Audit = Audit {
    name: "quantile-interval",
    about: "two ends at half of epsilon each cost epsilon together",
    source: "order statistics; 002_c9075a084346ce80.txt, section 1.5",
    kind: Kind::Claim {
        shipped: || measure(1),
        change: "each end is given the whole epsilon",
        mutant: || measure(2),
    },
};

/// The ends one rank from the median, so that the few rows of a small universe matter.
fn measure(times: u64) -> Vec<Measured> {
    Adjacency::ALL
        .into_iter()
        .map(|adjacency| {
            let claim = claim("1", "0", adjacency);
            let interval = QuantileInterval {
                eps: Eps::new(&claim.eps * &Ratio::from(times)).expect("in range"),
                quantile: Median.quantile(),
                range: Range::new(0, 2).expect("in order"),
                adjacency,
                beta: Ratio::new(1, 20),
                rows_at_most: 5,
            };
            let calibrated = interval.with_details(1, 6).expect("in range");
            claim.over_universe(&[0, 1, 2], 5, |rows| {
                enumerate(&pairs::floor(), |tape| calibrated.run_integers(rows, tape))
            })
        })
        .collect()
}
