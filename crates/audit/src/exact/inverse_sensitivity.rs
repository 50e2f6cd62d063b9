//! Quantiles by inverse sensitivity, on a lattice of five values.

use super::conditions::RHO_CASE;
use crate::{
    Audit, Kind, Measured,
    pairs::{self, Claim, claim},
};
use equipoise_core::{
    adjacency::Adjacency,
    loss::{Eps, Loss},
    mechanism::inverse_sensitivity::InverseSensitivity,
    ratio::Ratio,
    stability::{Quantile, Range},
    tape::enumerate,
};

pub(super) static AUDIT: Audit = Audit {
    name: "inverse-sensitivity",
    about: "a value whose length is k changes weighs e^(-epsilon k/2); lengths cut off early are as private",
    source: "Asi and Duchi; 002_c9075a084346ce80.txt, section 1.5",
    kind: Kind::Claim {
        shipped: || {
            let cut_off =
                measure(1, Some(2), false).into_iter().map(|found| found.case("lengths cut off at 2"));
            [measure(1, None, false), cut_off.collect(), measure(1, None, true)].concat()
        },
        change: "a step of length weighs the whole epsilon instead of half of it",
        mutant: || measure(2, None, false),
    },
};

const VALUES: [i64; 5] = [0, 1, 2, 3, 4];
const ROWS: usize = 4;

/// Every quantile and adjacency, with `times` the epsilon of the claim, which may be held against its rho.
fn measure(times: u64, cut_off: Option<usize>, in_rho: bool) -> Vec<Measured> {
    let range = Range::new(0, 4).expect("in order");
    let cases =
        ["1/4", "1/2", "0.9"].into_iter().flat_map(|p| Adjacency::ALL.map(|adjacency| (p, adjacency)));
    cases
        .map(|(p, adjacency)| {
            let claim = claim("1", "0", adjacency);
            let eps = Eps::new(&claim.eps * &Ratio::from(times)).expect("in range");
            let quantile = Quantile::new(&p.parse().expect("a fraction")).expect("between 0 and 1");
            let mechanism = InverseSensitivity { eps, target: quantile.into(), range, adjacency };
            let calibrated = match cut_off {
                None => mechanism.calibrate().expect("a small lattice"),
                Some(length) => mechanism.cut_off_at(length),
            };
            let rho = Loss::zcdp(&calibrated.bounded_range_rho());
            let claim = if in_rho { Claim::of(&rho, "0.01", adjacency) } else { claim };
            let found = claim.over_universe(&VALUES, ROWS, |rows| {
                enumerate(&pairs::floor(), |tape| calibrated.run_integers(rows, tape))
            });
            if in_rho { found.case(RHO_CASE) } else { found }
        })
        .collect()
}
