//! The printed test of A_samp on votes, as many of them replaced as a row may touch.

use super::majority::over_votes;
use crate::{Audit, Kind, Measured, pairs};
use equipoise_core::{
    adjacency::{Adjacency, RowCount},
    ratio::Ratio,
    subsample::bootstrap::Printed,
    tape::enumerate,
};

pub(super) static AUDIT: Audit = Audit {
    name: "bootstrap",
    about: "A_samp as printed, run on the votes of its samples, keeps (epsilon, delta/2) under replace",
    source: "000_4d769f04a6a550e8.txt, Algorithm 14 and Theorem 7.3",
    kind: Kind::Claim {
        shipped: || vec![measure(2)],
        change: "a row is in twice as many samples as the check allows",
        mutant: || vec![measure(4)],
    },
};

/// Six samples of rate 1/6 in the printed places: a row that passes the check is in at most two.
fn measure(replaced: u64) -> Measured {
    let claim = pairs::claim("1", "0.01", Adjacency::Replace);
    let (eps, delta) = ("1".parse().expect("an epsilon"), "0.02".parse().expect("a delta"));
    let printed = Printed { eps, delta, rows: RowCount::Public(9), adjacency: Adjacency::Replace };
    let printed = printed.calibrate().expect("in range").with_details(6, Ratio::new(1, 6));
    over_votes(&claim, &[0, 1, 2], 6, replaced, |votes| {
        enumerate(&pairs::floor(), |tape| printed.run(Some(votes), tape))
    })
}
