//! Propose-test-release with the bound read off the data: whether the test passes tells the bound.

use crate::{Audit, Kind, Measured, pairs};
use equipoise_core::{
    adjacency::Adjacency,
    mechanism::{gate::Gate, propose_test_release::LaplaceAtBound},
    stability::{Median, Range, Reach},
    tape::enumerate,
};

pub(super) static AUDIT: Audit = Audit {
    name: "bound-read-off-the-data",
    about: "propose-test-release proposes the local sensitivity of this very data set and promises what a public bound costs",
    source: "000_4d769f04a6a550e8.txt, section 7.2, which leaves open where the proposed bound comes from",
    kind: Kind::Zoo { broken },
};

fn broken() -> Vec<Measured> {
    let (claim, adjacency) = (pairs::claim("2", "0.01", Adjacency::Replace), Adjacency::Replace);
    let parsed = "in range";
    let test = Gate { eps: "1".parse().expect(parsed), delta: "0.01".parse().expect(parsed), adjacency };
    vec![claim.over_universe(&[0, 1, 4], 5, |rows| {
        let window = Median.window(rows, Range::new(0, 4).expect("in order"), Reach::All);
        let here = Median.local_sensitivity_at_distance(&window, 0, adjacency).expect("all rows are there");
        let (test, noise_eps) = (test.clone(), "1".parse().expect(parsed));
        let proposed = LaplaceAtBound { test, noise_eps, bound: here.max(1) };
        let calibrated = proposed.calibrate().expect(parsed);
        enumerate(&pairs::coarse_floor(), |tape| calibrated.median(&window, tape))
    })]
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_refusal_tells_a_small_sensitivity_from_a_large_one() {
        let worst = super::broken()[0].worst.to_f64();
        assert!(worst > 0.9, "{worst}");
    }
}
