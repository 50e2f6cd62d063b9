//! Stable medians, quantiles and modes over every data set of seven rows.

use super::small_rows::{Statistic, honest, measure, median, mode, one_too_many, quartile};
use crate::{Audit, Kind, Measured, pairs};
use equipoise_core::{adjacency::Adjacency, mechanism::stable::Stable, outcome::Slack};

pub(super) static AUDIT: Audit = Audit {
    name: "stable",
    about: "the exact median, lower quartile and mode, released when many rows must change to change them, keep (epsilon, delta)",
    source: "000_4d769f04a6a550e8.txt, Algorithm 13; 001_3b43439ac39fb76e.txt, SMed",
    kind: Kind::Claim {
        shipped: || measure_all(7, honest),
        change: "the slack counts one row too many",
        mutant: || measure_all(4, one_too_many),
    },
};

fn measure_all(size: usize, distort: fn(Slack) -> Slack) -> Vec<Measured> {
    let one = |adjacency, statistic: Statistic| {
        let claim = pairs::claim("1", "0.001", adjacency);
        let stable = Stable {
            eps: "1".parse().expect("an epsilon"),
            delta: "0.001".parse().expect("a delta"),
            adjacency,
        };
        let calibrated = stable.calibrate().expect("in range");
        measure(&claim, size, statistic, distort, |value, slack, tape| calibrated.run(value, slack, tape))
    };
    Adjacency::ALL
        .into_iter()
        .flat_map(|adjacency| [median, quartile, mode].map(|statistic: Statistic| one(adjacency, statistic)))
        .collect()
}
