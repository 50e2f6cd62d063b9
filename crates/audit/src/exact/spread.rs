//! The interquartile range by inverse sensitivity.

use crate::{Audit, Kind, Measured, pairs};
use equipoise_core::{
    adjacency::Adjacency,
    mechanism::spread::{InverseSpread, Widths},
    stability::{Range, Sorted},
    tape::enumerate,
};

pub(super) static AUDIT: Audit = Audit {
    name: "spread",
    about: "an interquartile range, with probability proportional to e^(-epsilon·(rows to change until it is that)/2)",
    source: "inverse sensitivity (framework 2 of 002_c9075a084346ce80.txt) of 000_4d769f04a6a550e8.txt, section 7.2.1",
    kind: Kind::Claim {
        shipped: || Adjacency::ALL.iter().map(|&adjacency| measure("1", adjacency)).collect(),
        change: "weights fall with the length and not with half of it",
        mutant: || vec![measure("2", Adjacency::AddRemove)],
    },
};

const VALUES: [i64; 4] = [0, 1, 3, 4];

/// All data sets of up to five rows, against a claim of epsilon one.
fn measure(eps: &str, adjacency: Adjacency) -> Measured {
    let mechanism =
        InverseSpread { eps: eps.parse().expect("an epsilon"), widths: Widths::Steps(4), adjacency };
    let mechanism = mechanism.cut_off_at(7);
    let range = Range::new(0, 4).expect("a range");
    pairs::claim("1", "0", adjacency).over_universe(&VALUES, 5, |rows| {
        let rows = Sorted::new(rows, range);
        enumerate(&pairs::floor(), |tape| mechanism.run_place(&rows, tape))
    })
}
