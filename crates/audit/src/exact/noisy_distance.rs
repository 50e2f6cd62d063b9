//! The noisy distance made public, with the value where it is large.

use super::small_rows::{honest, measure, median, one_too_many};
use crate::{Audit, Kind, Measured, pairs};
use equipoise_core::{adjacency::Adjacency, mechanism::noisy_distance::NoisyDistance, outcome::Slack};

pub(super) static AUDIT: Audit = Audit {
    name: "noisy-distance",
    about: "the noisy distance of a median, and the median where it is large, keep (epsilon, delta)",
    source: "000_4d769f04a6a550e8.txt, Algorithm 13, with its noisy distance made public",
    kind: Kind::Claim {
        shipped: || measure_all(honest),
        change: "the distance counts one row too many",
        mutant: || measure_all(one_too_many),
    },
};

fn measure_all(distort: fn(Slack) -> Slack) -> Vec<Measured> {
    let one = |adjacency| {
        let claim = pairs::claim("1", "0.01", adjacency);
        let shape = NoisyDistance {
            eps: "1".parse().expect("an epsilon"),
            delta: "0.01".parse().expect("a delta"),
            adjacency,
        };
        let calibrated = shape.calibrate().expect("in range");
        measure(&claim, 4, median, distort, |value, slack, tape| calibrated.run(value, slack, tape))
    };
    Adjacency::ALL.into_iter().map(one).collect()
}
