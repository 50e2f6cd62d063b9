//! A choice by slacks that move by one.

use crate::{Audit, Kind, Measured, pairs};
use equipoise_core::{adjacency::Adjacency, outcome::Slack, subsample::choice::Choice, tape::enumerate};

pub(super) static AUDIT: Audit = Audit {
    name: "choice",
    about: "a choice among aggregators or numbers of blocks by their slacks keeps its epsilon",
    source: "000_4d769f04a6a550e8.txt, section 7.1, footnote 3",
    kind: Kind::Claim {
        shipped: || Adjacency::ALL.map(|adjacency| measure("1", adjacency)).to_vec(),
        change: "twice the epsilon",
        mutant: || vec![measure("2", Adjacency::AddRemove)],
    },
};

/// Three options with every slack up to the cap and one beyond, each of which moves by at most one.
fn measure(eps: &str, adjacency: Adjacency) -> Measured {
    let claim = pairs::claim("1", "0", adjacency);
    let eps = eps.parse().expect("an epsilon");
    let choice = Choice { eps, options: 3, cap: 4, adjacency }.calibrate().expect("in range");
    let all: Vec<[u64; 3]> = (0..125).map(|n| [1 + n % 5, 1 + n / 5 % 5, 1 + n / 25]).collect();
    let near = |a: &[u64; 3], b: &[u64; 3]| a < b && a.iter().zip(b).all(|(a, b)| a.abs_diff(*b) <= 1);
    let pairs = all.iter().flat_map(|a| all.iter().filter(|b| near(a, b)).map(|b| (*a, *b)));
    claim.over_inputs("all slacks of three options up to 5, each moved by at most 1", pairs, |slacks| {
        let slacks = slacks.map(|people| Slack::rows_to_change(people, adjacency));
        enumerate(&pairs::floor(), |tape| choice.run(&slacks, tape))
    })
}
