//! A proposed bound on how votes agree, and the noisy median behind it.

use super::majority::over_votes;
use crate::{Audit, Kind, Measured, pairs};
use equipoise_core::{
    adjacency::Adjacency,
    stability::Range,
    subsample::{Touch, consensus::ProposedMedian},
    tape::enumerate,
};

pub(super) static AUDIT: Audit = Audit {
    name: "consensus",
    about: "the median of votes that agree within a proposed bound keeps (test + noise epsilons, delta)",
    source: "000_4d769f04a6a550e8.txt, end of section 7.2",
    kind: Kind::Claim {
        shipped: || vec![measure(1, 1), measure(2, 2)],
        change: "a person in two blocks is counted once",
        mutant: || vec![measure(1, 2)],
    },
};

fn measure(counted: u64, replaced: u64) -> Measured {
    let claim = pairs::claim("2", "0.01", Adjacency::Replace);
    let touch = Touch::new(7, counted, Adjacency::Replace).expect("seven votes");
    let eps = || "1".parse().expect("an epsilon");
    let (delta, range) = ("0.01".parse().expect("a delta"), Range::new(0, 4).expect("a range"));
    let median = ProposedMedian { test_eps: eps(), noise_eps: eps(), delta, bound: 1, range, touch };
    let median = median.calibrate().expect("in range");
    over_votes(&claim, &[0, 1, 2, 4], 7, replaced, |votes| {
        enumerate(&pairs::coarse_floor(), |tape| median.run(votes, tape))
    })
}
