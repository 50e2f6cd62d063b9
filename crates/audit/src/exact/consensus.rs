//! A proposed bound on how votes agree, and the noisy median behind it.

use crate::{Audit, Kind, Measured, pairs};
use equipoise_core::{
    adjacency::Adjacency,
    loss::Eps,
    stability::Range,
    subsample::{
        VotesPerUnit,
        consensus::{ProposedMedian, VoteSpread},
    },
    tape::enumerate,
};

pub(super) static AUDIT: Audit = Audit {
    name: "consensus",
    about: "the median of votes that agree within a proposed bound, and their spread, keep (test + noise epsilons, delta)",
    source: "000_4d769f04a6a550e8.txt, end of section 7.2",
    kind: Kind::Claim {
        shipped: || {
            vec![
                median(1, 1, Adjacency::AddRemove),
                median(2, 2, Adjacency::Replace),
                spread(1, Adjacency::AddRemove),
                spread(1, Adjacency::Replace),
            ]
        },
        change: "a person in two blocks is counted once",
        mutant: || vec![median(1, 2, Adjacency::Replace), spread(2, Adjacency::Replace)],
    },
};

fn median(counted: u64, replaced: u64, adjacency: Adjacency) -> Measured {
    let claim = pairs::claim("2", "0.01", adjacency);
    let touch = VotesPerUnit::new(7, counted, adjacency).expect("seven votes");
    let (delta, range) = ("0.01".parse().expect("a delta"), Range::new(0, 4).expect("a range"));
    let median = ProposedMedian { test_eps: one(), noise_eps: one(), delta, bound: 1, range, touch };
    let median = median.calibrate().expect("in range");
    let found = claim.over_votes(&[0, 1, 2, 4], 7, replaced, |votes| {
        enumerate(&pairs::coarse_floor(), |tape| median.run(votes, tape))
    });
    found.case(format!("the median, {counted} votes a person"))
}

fn spread(replaced: u64, adjacency: Adjacency) -> Measured {
    let claim = pairs::claim("2", "0.01", adjacency);
    let touch = VotesPerUnit::new(9, 1, adjacency).expect("nine votes");
    let (delta, range) = ("0.01".parse().expect("a delta"), Range::new(0, 4).expect("a range"));
    let spread = VoteSpread { gate_eps: one(), noise_eps: one(), delta, range, touch };
    let spread = spread.calibrate().expect("in range");
    let found = claim.over_votes(&[0, 1, 4], 9, replaced, |votes| {
        enumerate(&pairs::floor(), |tape| spread.run(votes, tape))
    });
    found.case("how widely votes are spread")
}

fn one() -> Eps {
    "1".parse().expect("an epsilon")
}
