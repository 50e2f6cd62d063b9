//! A choice by slacks that move by one.

use crate::{Audit, Kind, Measured, pairs};
use equipoise_core::{adjacency::Adjacency, outcome::Slack, subsample::choice::Choice, tape::enumerate};

pub(super) static AUDIT: Audit = Audit {
    name: "choice",
    about: "a choice among aggregators or numbers of blocks by their slacks keeps its epsilon",
    source: "000_4d769f04a6a550e8.txt, section 7.1, footnote 3",
    kind: Kind::Claim {
        shipped: || vec![measure("1")],
        change: "twice the epsilon",
        mutant: || vec![measure("2")],
    },
};

fn measure(eps: &str) -> Measured {
    let claim = pairs::claim("1", "0", Adjacency::AddRemove);
    let eps = eps.parse().expect("an epsilon");
    let choice =
        Choice { eps, options: 3, cap: 5, adjacency: Adjacency::AddRemove }.calibrate().expect("in range");
    let law = |slacks: [u64; 3]| {
        let slacks = slacks.map(|people| Slack::rows_to_change(people, Adjacency::AddRemove));
        enumerate(&pairs::floor(), |tape| choice.run(&slacks, tape))
    };
    let moved = |here: [u64; 3], by: [u64; 3]| [0, 1, 2].map(|i| (here[i] + by[i]).max(2) - 1);
    let moves: Vec<[u64; 3]> = (0..27).map(|n| [n % 3, n / 3 % 3, n / 9]).collect();
    let starts = [[1, 1, 1], [1, 3, 2], [4, 4, 1], [5, 9, 2], [3, 3, 3]];
    claim.over(
        starts
            .iter()
            .flat_map(|&here| moves.iter().map(move |&by| (here, by)))
            .map(|(here, by)| (law(here), law(moved(here, by)))),
    )
}
