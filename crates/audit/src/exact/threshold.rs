//! The printed thresholds, each with the delta that it really keeps.

use super::small_rows::{honest, measure, median, one_too_many};
use crate::{Audit, Kind, Measured, pairs::Claim};
use equipoise_core::{
    adjacency::Adjacency,
    loss::Loss,
    mechanism::threshold::{NoisyThreshold, Threshold},
    outcome::Slack,
};

pub(super) static AUDIT: Audit = Audit {
    name: "threshold",
    about: "a median released when its noisy distance passes a printed threshold keeps the delta that calibration derives",
    source: "000_4d769f04a6a550e8.txt, Algorithm 13; 001_3b43439ac39fb76e.txt, SMed; 002_c9075a084346ce80.txt, Algorithm 1",
    kind: Kind::Claim {
        shipped: || measure_all(honest),
        change: "the distance to another value stands where the distance to an unstable data set is due",
        mutant: || measure_all(one_too_many),
    },
};

fn forms() -> Vec<Threshold> {
    let delta = |text: &str| text.parse().expect("a delta");
    vec![
        Threshold::Algorithm13 { delta: delta("0.001") },
        Threshold::Prose { delta: delta("0.01") },
        Threshold::Least { delta: delta("0.001") },
        Threshold::StableMedian { t: "7".parse().expect("a decimal") },
        Threshold::SquaredLogarithm { rows: 6 },
        Threshold::Algorithm1 { delta: delta("0.01") },
    ]
}

fn measure_all(distort: fn(Slack) -> Slack) -> Vec<Measured> {
    let one = |adjacency, threshold| {
        let shape = NoisyThreshold { eps: "1".parse().expect("an epsilon"), threshold, adjacency };
        let calibrated = shape.calibrate().expect("in range");
        let Loss::Approx(cost) = calibrated.cost() else { unreachable!("a cost in epsilon and delta") };
        let claim = Claim::promised(&cost, adjacency);
        measure(&claim, 5, median, distort, |value, slack, tape| calibrated.run(value, slack, tape))
    };
    let forms_under = |adjacency| forms().into_iter().map(move |threshold| one(adjacency, threshold));
    Adjacency::ALL.into_iter().flat_map(forms_under).collect()
}
