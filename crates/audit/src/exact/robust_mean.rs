//! Trimmed and winsorized means and medians of votes, at global and smooth sensitivity.

use crate::{Audit, Kind, Measured, pairs};
use equipoise_core::{
    adjacency::Adjacency,
    mechanism::smooth::Noise,
    ratio::Ratio,
    subsample::{
        VotesPerUnit,
        robust_mean::{RobustMean, Scale, Statistic},
    },
    tape::enumerate,
};

pub(super) static AUDIT: Audit = Audit {
    name: "trimmed",
    about: "trimmed and winsorized means and medians of votes keep epsilon with noise for t votes of a person",
    source: "000_4d769f04a6a550e8.txt, section 7.1",
    kind: Kind::Claim {
        shipped: || {
            let mut all = Vec::new();
            for statistic in
                [Statistic::Trimmed { trim: 1 }, Statistic::Winsorized { trim: 1 }, Statistic::Median]
            {
                all.push(measure(statistic.clone(), Scale::Global, 1, 1, Adjacency::AddRemove));
                all.push(measure(statistic.clone(), cauchy(), 1, 1, Adjacency::AddRemove));
                all.push(measure(statistic.clone(), Scale::Global, 2, 2, Adjacency::Replace));
                all.push(measure(statistic, cauchy(), 2, 2, Adjacency::Replace));
            }
            all
        },
        change: "a person in two blocks is counted once",
        mutant: || vec![measure(Statistic::Trimmed { trim: 1 }, cauchy(), 1, 2, Adjacency::Replace)],
    },
};

fn cauchy() -> Scale {
    Scale::Smooth { noise: Noise::Cauchy, beta: Ratio::new(1, 2) }
}

fn measure(
    statistic: Statistic,
    scale: Scale,
    counted: u64,
    replaced: u64,
    adjacency: Adjacency,
) -> Measured {
    let case =
        format!("{statistic:?}, {} sensitivity", if scale == Scale::Global { "global" } else { "smooth" });
    let claim = pairs::claim("1", "0", adjacency);
    let touch = VotesPerUnit::new(5, counted, adjacency).expect("five votes");
    let (low, high, resolution) = (Ratio::zero(), Ratio::from(4u64), Ratio::one());
    let eps = "1".parse().expect("an epsilon");
    let mean =
        RobustMean { eps, statistic, scale, low, high, resolution, touch }.calibrate().expect("in range");
    let found = claim.over_votes(&[0, 1, 4], 5, replaced, |votes| {
        let votes: Vec<f64> = votes.iter().map(|&vote| vote as f64).collect();
        enumerate(&pairs::coarse_floor(), |tape| mean.run(&votes, tape))
    });
    found.case(case)
}
