//! Noisy arg-max of votes with its popularity, over every list of four votes, some of which are for nobody.

use super::conditions::RHO_CASE;
use crate::{
    Audit, Kind, Measured,
    pairs::{self, Claim},
};
use equipoise_core::{
    adjacency::Adjacency,
    loss::Loss,
    subsample::{
        VotesPerUnit,
        arg_max::{ArgMax, Calibrated},
    },
    tape::enumerate,
};

pub(super) static AUDIT: Audit = Audit {
    name: "arg-max",
    about: "a popular vote among publicly many options, with a noisy count, keeps the sum of both epsilons",
    source: "000_4d769f04a6a550e8.txt, Example 7.1",
    kind: Kind::Claim {
        shipped: || {
            let replace = Adjacency::Replace;
            vec![
                measure("2", 1, 1, Adjacency::AddRemove),
                measure("2", 2, 2, replace),
                in_rho(1, Adjacency::AddRemove),
                in_rho(2, replace),
            ]
        },
        change: "the popularity is not paid for",
        mutant: || vec![measure("1", 1, 1, Adjacency::Replace)],
    },
};

fn measure(claimed: &str, counted: u64, replaced: u64, adjacency: Adjacency) -> Measured {
    let claim = pairs::claim(claimed, "0", adjacency);
    let election = election(counted, adjacency, Some("1"));
    let found = claim.over_votes(&[-1, 0, 1], 4, replaced, |votes| {
        enumerate(&pairs::coarse_floor(), |tape| election.run(&places(votes), tape))
    });
    found.case(format!("option and popularity, {counted} votes a person"))
}

/// The option alone, against its rho.
fn in_rho(touched: u64, adjacency: Adjacency) -> Measured {
    let election = election(touched, adjacency, None);
    let claim = Claim::of(&Loss::zcdp(&election.bounded_range_rho()), "0.01", adjacency);
    let found = claim.over_votes(&[-1, 0, 1], 4, touched, |votes| {
        enumerate(&pairs::coarse_floor(), |tape| election.run(&places(votes), tape).option)
    });
    found.case(RHO_CASE)
}

fn election(touched: u64, adjacency: Adjacency, popularity_eps: Option<&str>) -> Calibrated {
    let touch = VotesPerUnit::new(4, touched, adjacency).expect("four votes");
    let eps = |text: &str| text.parse().expect("an epsilon");
    let election = ArgMax { eps: eps("1"), popularity_eps: popularity_eps.map(eps), options: 4, touch };
    election.calibrate().expect("in range")
}

/// A vote below zero is one for nobody.
fn places(votes: &[i64]) -> Vec<Option<u64>> {
    votes.iter().map(|&vote| u64::try_from(vote).ok()).collect()
}
