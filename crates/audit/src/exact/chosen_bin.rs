//! The bin that holds the interquartile range: a width and a position that are bought, and a gate.

use crate::{Audit, Kind, Measured, pairs};
use equipoise_core::{
    adjacency::Adjacency,
    mechanism::chosen_bin::ChosenBin,
    stability::{Range, Sorted},
    tape::enumerate,
};

pub(super) static AUDIT: Audit = Audit {
    name: "chosen-bin",
    about: "the interquartile range lies in the bin that is released, whose width and position are chosen privately, if few rows leave it there",
    source: "000_4d769f04a6a550e8.txt, Algorithm 12, with a choice among bins in place of noise on cells",
    kind: Kind::Claim {
        shipped: || Adjacency::ALL.into_iter().map(|adjacency| measured("1", adjacency)).collect(),
        change: "the choice among widths and positions costs a fourth of what it shows",
        mutant: || vec![measured("4", Adjacency::Replace)],
    },
};

/// Interquartile ranges of 0, 1, 3 and 4.
const VALUES: [i64; 3] = [0, 1, 4];

/// Epsilon 1 for the choice, which is what the claim says, and 1 for the gate; `choice_eps` is what is used.
fn measured(choice_eps: &str, adjacency: Adjacency) -> Measured {
    let bins = ChosenBin {
        choice_eps: choice_eps.parse().expect("an epsilon"),
        gate_eps: "1".parse().expect("an epsilon"),
        delta: "0.01".parse().expect("a delta"),
        widths: vec![16, 32],
        adjacency,
    };
    let bins = bins.calibrate().expect("valid parameters");
    let size = if adjacency == Adjacency::Replace { 9 } else { 7 };
    pairs::claim("2", "0.01", adjacency).over_universe(&VALUES, size, |rows| {
        let rows = Sorted::new(rows, Range::new(0, 4).expect("in order"));
        enumerate(&pairs::floor(), |tape| bins.run(&rows, tape))
    })
}
