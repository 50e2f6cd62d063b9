//! Several quantiles by recursion, on a lattice of three values with labels of at most one bit.

use crate::{
    Audit, Kind, Measured,
    pairs::{self, claim},
};
use equipoise_core::{
    adjacency::Adjacency, loss::Eps, mechanism::quantiles::Quantiles, ratio::Ratio, stability::Range,
    tape::enumerate,
};

pub(super) static AUDIT: Audit = Audit {
    name: "quantiles",
    about: "cuts of disjoint halves of the rows cost, for both halves, what one costs; a replaced row costs twice",
    source: "Kaplan, Schnapp and Stemmer 2022; 002_c9075a084346ce80.txt, section 1.5",
    kind: Kind::Claim {
        shipped: || {
            [
                measure(&["1/4", "3/4"], 1, 1, Adjacency::AddRemove),
                measure(&["1/4", "1/2", "3/4"], 1, 1, Adjacency::AddRemove),
                measure(&["1/4", "1/2", "3/4"], 1, 0, Adjacency::Replace),
            ]
            .concat()
        },
        change: "a replaced row is taken for one step, and the whole epsilon is spent on it",
        mutant: || measure(&["1/4", "1/2", "3/4"], 2, 0, Adjacency::Replace),
    },
};

const VALUES: [i64; 3] = [0, 1, 2];

/// These quantiles with `times` the epsilon of the claim.
fn measure(fractions: &[&str], times: u64, label_bits: u32, adjacency: Adjacency) -> Vec<Measured> {
    // As many rows as show the mutant; under add/remove the smaller data sets are measured too.
    let rows = if adjacency == Adjacency::Replace { 5 } else { 4 };
    let claim = claim("1", "0", adjacency);
    let quantiles = Quantiles {
        eps: Eps::new(&claim.eps * &Ratio::from(times)).expect("in range"),
        fractions: fractions.iter().map(|p| p.parse().expect("a fraction")).collect(),
        range: Range::new(0, 2).expect("in order"),
        adjacency,
    };
    let calibrated = quantiles.with_details(6, label_bits).expect("in order");
    vec![claim.over_universe(&VALUES, rows, |rows| {
        enumerate(&pairs::coarse_floor(), |tape| calibrated.run_integers(rows, tape))
    })]
}
