//! Several quantiles at once, the middle first.

use crate::{
    Audit, Kind, Measured,
    pairs::{self, claim},
};
use equipoise_core::{
    adjacency::Adjacency, mechanism::quantiles::Quantiles, stability::Range, tape::enumerate,
};

pub(super) static AUDIT: Audit = Audit {
    name: "quantiles",
    about: "the middle quantile cuts the rows in two, each half is asked for itself; a level costs an equal share of epsilon",
    source: "Kaplan, Schnapp, Stemmer 2022, over a lattice",
    kind: Kind::Claim {
        shipped: || {
            [measure("1", Adjacency::AddRemove, 3, 1), measure("1", Adjacency::Replace, 3, 1)].concat()
        },
        change: "each of two levels spends the whole epsilon",
        mutant: || measure("2", Adjacency::AddRemove, 4, 1),
    },
};

/// The quartiles of up to `size` rows drawn at this epsilon, against a promise of one.
fn measure(eps: &str, adjacency: Adjacency, size: usize, label_bits: u32) -> Vec<Measured> {
    let claim = claim("1", "0", adjacency);
    let quantiles = Quantiles {
        eps: eps.parse().expect("an epsilon"),
        fractions: ["1/4", "1/2", "3/4"].map(|p| p.parse().expect("a fraction")).to_vec(),
        range: Range::new(0, 2).expect("in order"),
        adjacency,
    };
    let calibrated = quantiles.with_details(6, label_bits).expect("valid parameters");
    vec![claim.over_universe(&[0, 1, 2], size, |rows| {
        enumerate(&pairs::coarse_floor(), |tape| calibrated.run_integers(rows, tape))
    })]
}
