//! Noisy arg-max of votes with its popularity, over every list of four votes.

use super::majority::over_votes;
use crate::{Audit, Kind, Measured, pairs};
use equipoise_core::{
    adjacency::Adjacency,
    subsample::{Touch, arg_max::ArgMax},
    tape::enumerate,
};

pub(super) static AUDIT: Audit = Audit {
    name: "arg-max",
    about: "a popular vote among publicly many options, with a noisy count, keeps the sum of both epsilons",
    source: "000_4d769f04a6a550e8.txt, Example 7.1",
    kind: Kind::Claim {
        shipped: || vec![measure("2", 1, 1), measure("2", 2, 2)],
        change: "the popularity is not paid for",
        mutant: || vec![measure("1", 1, 1)],
    },
};

fn measure(claimed: &str, counted: u64, replaced: u64) -> Measured {
    let claim = pairs::claim(claimed, "0", Adjacency::Replace);
    let touch = Touch::new(4, counted, Adjacency::Replace).expect("four votes");
    let one = || "1".parse().expect("an epsilon");
    let election = ArgMax { eps: one(), popularity_eps: Some(one()), options: 4, touch };
    let election = election.calibrate().expect("in range");
    over_votes(&claim, &[0, 1, 2], 4, replaced, |votes| {
        let votes: Vec<u64> = votes.iter().map(|&vote| vote.cast_unsigned()).collect();
        enumerate(&pairs::coarse_floor(), |tape| election.run(&votes, tape))
    })
}
