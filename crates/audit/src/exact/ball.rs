//! A consensus of votes: its test and its noise over every list of six votes.

use crate::{Audit, Kind, Measured, pairs};
use equipoise_core::{
    adjacency::Adjacency,
    loss::{Approx, Delta, Eps},
    mechanism::{
        Noise, Values,
        gate::Gate,
        gaussian::{Gaussian, Target},
        l2::L2,
        propose_test_release::ProposeTestRelease,
    },
    outcome::Slack,
    ratio::Ratio,
    subsample::ball::Core,
    tape::enumerate,
};

pub(super) static AUDIT: Audit = Audit {
    name: "ball",
    about: "the mean of votes that are close to more than half of the others, behind a test, keeps (epsilon, delta)",
    source: "000_4d769f04a6a550e8.txt, end of section 7.2; Ashtiani and Liaw 2022",
    kind: Kind::Claim {
        shipped: || Adjacency::ALL.map(|adjacency| measure(15, &Ratio::from(3u64), adjacency)).to_vec(),
        change: "a replaced vote is taken to move the weights by 2, not by three times the other votes",
        mutant: || vec![measure(2, &Ratio::new(1, 2), Adjacency::Replace)],
    },
};

/// Six votes, radius one step, and at least 10 of the largest weight 30: a person moves the weight by at most 15 and the mean by at
/// most 6·5/10 steps.
fn measure(weight_per_person: u128, sensitivity: &Ratio, adjacency: Adjacency) -> Measured {
    let claim = pairs::claim("2", "0.01", adjacency);
    let eps: Eps = "1".parse().expect("an epsilon");
    let half: Delta = "0.005".parse().expect("a delta");
    let noise = Gaussian {
        target: Target::Approx { eps: eps.clone(), delta: half.clone() },
        sensitivity: L2::Exact(sensitivity.clone()),
        grid: Ratio::one(),
        dimensions: 1,
        values: Values::Any,
        noise: Noise::Real,
    };
    let noise = noise.calibrate().expect("in range");
    let test = Gate { eps: eps.clone(), delta: half.clone(), adjacency };
    let tested = ProposeTestRelease { test, inner: Approx::new(&eps, &half) }.calibrate().expect("in range");
    claim.over_votes(&[0, 1, 9], 6, 1, |votes| {
        let lists: Vec<Vec<i64>> = votes.iter().map(|&vote| vec![vote]).collect();
        let core = Core::of(&lists, 1);
        let people = u64::try_from(core.weight().saturating_sub(10) / weight_per_person).expect("a few");
        let distance = Slack::steps_to_unstable(people, adjacency);
        let mean = core.mean(1);
        enumerate(&pairs::coarse_floor(), |tape| tested.run(distance, |tape| noise.run(&mean, tape), tape))
    })
}
