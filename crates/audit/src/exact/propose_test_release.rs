//! Laplace noise at a proposed bound on the local sensitivity of a median.

use crate::{Audit, Kind, Measured, pairs};
use equipoise_core::{
    adjacency::Adjacency,
    mechanism::{gate::Gate, propose_test_release::LaplaceAtBound},
    outcome::Slack,
    stability::{Median, Range, Reach},
    tape::enumerate,
};

pub(super) static AUDIT: Audit = Audit {
    name: "propose-test-release",
    about: "a median with noise for a proposed local sensitivity, released far from data that exceeds it, keeps (test + noise epsilons, delta)",
    source: "002_c9075a084346ce80.txt, Algorithm 1; 000_4d769f04a6a550e8.txt, section 7.2",
    kind: Kind::Claim {
        shipped: || measure_all(0),
        change: "the distance to an unsafe data set is one too large",
        mutant: || measure_all(1),
    },
};

const VALUES: [i64; 3] = [0, 1, 4];

fn measure_all(extra_steps: u64) -> Vec<Measured> {
    let one = |bound, adjacency, size| {
        let claim = pairs::claim("2", "0.01", adjacency);
        let parsed = "in range";
        let test = Gate { eps: "1".parse().expect(parsed), delta: "0.01".parse().expect(parsed), adjacency };
        let proposed = LaplaceAtBound { test, noise_eps: "1".parse().expect(parsed), bound };
        let calibrated = proposed.calibrate().expect(parsed);
        claim.over_universe(&VALUES, size, |rows| {
            let window = Median.window(rows, Range::new(0, 4).expect("in order"), Reach::All);
            let distance = Median.slack_below_sensitivity(&window, bound, adjacency);
            let steps = distance.until_unstable().map(|steps| steps + extra_steps);
            let distance = steps.map_or(distance, |steps| Slack::steps_to_unstable(steps, adjacency));
            enumerate(&pairs::coarse_floor(), |tape| {
                if extra_steps == 0 {
                    return calibrated.median(&window, tape);
                }
                calibrated.run(window.target().or(0), distance, tape)
            })
        })
    };
    let cases = [
        (1, Adjacency::Replace, 6),
        (3, Adjacency::Replace, 5),
        (1, Adjacency::AddRemove, 5),
        (3, Adjacency::AddRemove, 4),
    ];
    cases.map(|(bound, adjacency, size)| one(bound, adjacency, size)).into()
}
