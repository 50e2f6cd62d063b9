//! Votes that nearly agree, as cells of a shifted grid.

use crate::{Audit, Kind, Measured, pairs};
use equipoise_core::{
    adjacency::Adjacency,
    subsample::{VotesPerUnit, grid::GridVotes},
    tape::enumerate,
};

pub(super) static AUDIT: Audit = Audit {
    name: "grid",
    about: "the cell of a public grid that most votes are in keeps (epsilon, delta), for a given shift",
    source: "001_3b43439ac39fb76e.txt, section 2",
    kind: Kind::Claim {
        shipped: || vec![measure(1, 1, Adjacency::AddRemove), measure(2, 2, Adjacency::Replace)],
        change: "a person in two blocks is counted once",
        mutant: || vec![measure(1, 2, Adjacency::Replace)],
    },
};

fn measure(counted: u64, replaced: u64, adjacency: Adjacency) -> Measured {
    let claim = pairs::claim("1", "0.01", adjacency);
    let touch = VotesPerUnit::new(5, counted, adjacency).expect("five votes");
    let (eps, delta) = ("1".parse().expect("an epsilon"), "0.01".parse().expect("a delta"));
    let grid = GridVotes { eps, delta, widths: vec![1.0], touch }.calibrate().expect("in range");
    claim.over_votes(&[0, 1, 4], 5, replaced, |votes| {
        let votes: Vec<Vec<f64>> = votes.iter().map(|&vote| vec![vote as f64 * 0.4]).collect();
        enumerate(&pairs::floor(), |tape| {
            // Floats have no order of their own; their bits tell them apart.
            grid.run_shifted(&votes, &[0.25], tape).map(|middle| middle[0].to_bits())
        })
    })
}
