//! The private interquartile range with the printed threshold, which forgets to divide by epsilon.

use super::laplace_tail;
use crate::{Audit, Kind, Measured, pairs};
use equipoise_core::{
    adjacency::Adjacency,
    chance::Enclosed,
    coins::Coins,
    interval::Interval,
    outcome::Outcome,
    ratio::Ratio,
    tape::{Pmf, enumerate},
};

pub(super) static AUDIT: Audit = Audit {
    name: "scale-threshold-without-epsilon",
    about: "Scale tests its distance against 1 + ln(1/delta) and promises (4 epsilon, delta)",
    source: "000_4d769f04a6a550e8.txt, Algorithm 12, line 3, and Theorem 7.1",
    kind: Kind::Zoo { broken },
};

/// Which bin of which of the two discretizations is released, or a refusal.
type Released = Outcome<u8>;

/// The two tests of the printed algorithm on a data set at distance one from leaving its bin in both
/// discretizations. What is released afterwards only hides more; here it is the bin alone.
fn as_printed(bin: u8, eps: &Ratio, delta: &Ratio) -> Pmf<Released> {
    let test = Enclosed::new(|bits| {
        let threshold = Interval::one(bits).sub(&Interval::exact(delta, bits).ln());
        let beyond = threshold.sub(&Interval::one(bits));
        laplace_tail(&beyond.mul_ratio(eps))
    });
    enumerate(&pairs::floor(), |tape| {
        if tape.bernoulli(&test) || tape.bernoulli(&test) { Outcome::Value(bin) } else { Outcome::Refused }
    })
}

fn broken() -> Vec<Measured> {
    let delta: Ratio = "1e-6".parse().expect("a decimal");
    ["0.1", "0.25", "0.5"]
        .iter()
        .map(|eps| {
            let eps: Ratio = eps.parse().expect("a decimal");
            let claim = pairs::Claim::new(&eps * &Ratio::from(4u64), delta.clone(), Adjacency::Replace);
            claim.over("one pair", [(as_printed(0, &eps, &delta), as_printed(1, &eps, &delta))])
        })
        .collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_exact_figures_of_the_misprint() {
        for (measured, expected) in super::broken().iter().zip([0.2354, 0.0314, 1.0e-3]) {
            assert!((measured.worst.to_f64() / expected - 1.0).abs() < 0.01, "{}", measured.worst.to_f64());
        }
    }
}
