//! Inverse sensitivity: one quantile over a lattice, without bounds.

use super::small_rows::{VALUES, range};
use crate::{
    Audit, Kind, Measured,
    pairs::{self, claim},
};
use equipoise_core::{
    adjacency::Adjacency, mechanism::inverse_sensitivity::InverseSensitivity, stability::Quantile,
    tape::enumerate,
};

pub(super) static AUDIT: Audit = Audit {
    name: "inverse-sensitivity",
    about: "a value is drawn with probability falling by e^(-epsilon/2) for each row that must change to make it the quantile",
    source: "Asi, Duchi 2020; our lengths under both adjacencies",
    kind: Kind::Claim {
        shipped: || [measure("1", Adjacency::AddRemove), measure("1", Adjacency::Replace)].concat(),
        change: "the exponent is epsilon·length instead of epsilon·length/2",
        mutant: || [measure("2", Adjacency::AddRemove), measure("2", Adjacency::Replace)].concat(),
    },
};

/// Quantiles drawn at this epsilon, against a promise of one; with an early cut-off and with none.
fn measure(eps: &str, adjacency: Adjacency) -> Vec<Measured> {
    let claim = claim("1", "0", adjacency);
    let mut measured = Vec::new();
    for (fraction, cut_off) in [("1/4", 92), ("1/2", 92), ("1/2", 2), ("0.9", 92)] {
        let quantile = Quantile::new(&fraction.parse().expect("a fraction")).expect("between 0 and 1");
        let eps = eps.parse().expect("an epsilon");
        let mechanism = InverseSensitivity { eps, target: quantile.into(), range: range(), adjacency };
        let calibrated = mechanism.cut_off_at(cut_off);
        measured.push(claim.over_universe(&VALUES, 4, |rows| {
            enumerate(&pairs::floor(), |tape| calibrated.run_integers(rows, tape))
        }));
    }
    measured
}
