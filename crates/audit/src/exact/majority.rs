//! The most frequent vote over every list of seven votes that one person can change.

use crate::{Audit, Kind, Measured, pairs};
use equipoise_core::{
    adjacency::Adjacency,
    subsample::{VotesPerUnit, majority::Majority},
    tape::enumerate,
};

pub(super) static AUDIT: Audit = Audit {
    name: "majority",
    about: "the most frequent vote of blocks, of which one person changes at most t, keeps (epsilon, delta)",
    source: "000_4d769f04a6a550e8.txt, Algorithm 14, lines 6 to 16",
    kind: Kind::Claim {
        shipped: || {
            let by_replacing = [1, 2, 3].map(|touched| measure(touched, touched, Adjacency::Replace));
            [vec![measure(1, 1, Adjacency::AddRemove)], by_replacing.to_vec()].concat()
        },
        change: "a person in two blocks is counted once",
        mutant: || vec![measure(1, 2, Adjacency::Replace)],
    },
};

fn measure(counted: u64, replaced: u64, adjacency: Adjacency) -> Measured {
    let claim = pairs::claim("1", "0.001", adjacency);
    let touch = VotesPerUnit::new(7, counted, adjacency).expect("seven votes");
    let (eps, delta) = ("1".parse().expect("an epsilon"), "0.001".parse().expect("a delta"));
    let election = Majority { eps, delta, touch }.calibrate().expect("in range");
    claim.over_votes(&[0, 1, 2], 7, replaced, |votes| {
        enumerate(&pairs::floor(), |tape| election.run(votes, tape))
    })
}
