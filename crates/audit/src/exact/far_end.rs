//! An end beyond which few rows lie, among nested public ends.

use crate::{Audit, Kind, Measured, pairs};
use equipoise_core::{
    adjacency::Adjacency,
    mechanism::far_end::{FarEnd, PARTS},
    tape::enumerate,
};

pub(super) static AUDIT: Audit = Audit {
    name: "far-end",
    about: "one of several nested ends, with probability proportional to e^(-epsilon·(rows beyond it + its price))",
    source: "the exponential mechanism (004_5f92a75732c1853f.txt, Algorithm 2), scores that move one way",
    kind: Kind::Claim {
        shipped: || Adjacency::ALL.iter().flat_map(|&adjacency| measure("1", adjacency, 1)).collect(),
        change: "a row beyond an end counts twice",
        mutant: || measure("1", Adjacency::Replace, 2),
    },
};

const VALUES: [i64; 4] = [0, 1, 2, 3];
/// Prices that rise, that are the same, and that prefer a far end.
const PRICES: [[u64; 3]; 3] = [[0, 1, 3], [0, 0, 0], [4, 1, 0]];

/// All data sets of up to four rows, against a claim of epsilon one; each row counts so often.
fn measure(eps: &str, adjacency: Adjacency, often: u64) -> Vec<Measured> {
    let measure = |prices: &[u64; 3]| {
        let mechanism = FarEnd {
            eps: eps.parse().expect("an epsilon"),
            prices: prices.map(|rows| rows * PARTS).to_vec(),
        };
        let mechanism = mechanism.calibrate().expect("valid parameters");
        pairs::claim("1", "0", adjacency).over_universe(&VALUES, 4, |rows| {
            let beyond = [0, 1, 2].map(|end| often * rows.iter().filter(|&&row| row > end).count() as u64);
            enumerate(&pairs::floor(), |tape| mechanism.run(&beyond, tape))
        })
    };
    PRICES.iter().map(measure).collect()
}
