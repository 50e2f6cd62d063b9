//! From rows to blocks to votes to an election: every data set of three rows, every way to deal them.

use crate::{Audit, Kind, Measured, pairs};
use equipoise_core::{
    adjacency::Adjacency,
    outcome::Outcome,
    subsample::{
        VotesPerUnit,
        majority::{self, Majority},
        partition::{Blocks, Design, Partition},
    },
    tape::{Pmf, Tape, enumerate},
};

pub(super) static AUDIT: Audit = Audit {
    name: "subsample",
    about: "rows dealt into blocks, a function on each, and the election of its votes keep (epsilon, delta)",
    source: "000_4d769f04a6a550e8.txt, section 7.1",
    kind: Kind::Claim {
        shipped: || {
            let rows = |rounds| Design::Rows { blocks: 3, rounds };
            let equal = Design::Equal { blocks: 3, rounds: 1 };
            vec![
                measure(&rows(1), Adjacency::AddRemove, 1),
                measure(&rows(1), Adjacency::Replace, 1),
                measure(&rows(2), Adjacency::AddRemove, 2),
                measure(&equal, Adjacency::Replace, 1),
            ]
        },
        change: "two rounds are counted as one",
        mutant: || vec![measure(&Design::Rows { blocks: 3, rounds: 2 }, Adjacency::AddRemove, 1)],
    },
};

/// An election of three votes, or of three for each round.
pub(crate) fn election(votes: u64, touched: u64, adjacency: Adjacency) -> majority::Calibrated {
    let touch = VotesPerUnit::new(votes, touched, adjacency).expect("a few votes");
    let (eps, delta) = ("1".parse().expect("an epsilon"), "0.01".parse().expect("a delta"));
    Majority { eps, delta, touch }.calibrate().expect("in range")
}

/// The votes of a function that looks at its rows and at its index.
pub(crate) fn elect(
    blocks: &Blocks,
    function: impl Fn(usize, &[i64]) -> i64,
    rows: &[i64],
    election: &majority::Calibrated,
    tape: &mut Tape,
) -> Outcome<i64> {
    let votes: Vec<i64> = blocks
        .iter()
        .enumerate()
        .map(|(index, block)| function(index % 3, &block.iter().map(|&row| rows[row]).collect::<Vec<_>>()))
        .collect();
    election.run(&votes, tape)
}

/// Any function will do; this one changes with every row.
fn largest(_index: usize, rows: &[i64]) -> i64 {
    rows.iter().copied().max().unwrap_or(0)
}

fn measure(design: &Design, adjacency: Adjacency, touched: u64) -> Measured {
    let claim = pairs::claim("1", "0.01", adjacency);
    let partition = Partition { design: design.clone(), adjacency }.calibrate().expect("allowed");
    let election = election(design.votes(), touched, adjacency);
    claim.over_universe(&[0, 1], 3, |rows| -> Pmf<Outcome<i64>> {
        enumerate(&pairs::floor(), |tape| {
            let blocks = partition.deal_rows(rows.len(), tape);
            elect(&blocks, largest, rows, &election, tape)
        })
    })
}
