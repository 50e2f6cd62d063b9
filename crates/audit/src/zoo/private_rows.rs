//! The threshold ln² n with the true number of rows, where that number is private.

use super::laplace_tail;
use crate::{Audit, Kind, Measured, pairs::Claim};
use equipoise_core::{
    adjacency::Adjacency,
    chance::Enclosed,
    coins::Coins,
    interval::{AUDIT_BITS, Interval},
    ratio::Ratio,
    stability::{Median, Range, Reach},
    tape::{Pmf, enumerate},
};

pub(super) static AUDIT: Audit = Audit {
    name: "threshold-from-private-rows",
    about: "under add/remove the noisy distance is compared with ln² n for the true n, promising the false-positive rate of ln² n",
    source: "000_4d769f04a6a550e8.txt, section 7.2, which leaves open that n must be public",
    kind: Kind::Zoo { broken },
};

/// epsilon·ln² n.
fn exponent(rows: usize, eps: &Ratio, bits: usize) -> Interval {
    Interval::exact(&Ratio::from(rows as u64), bits).ln().square().mul_ratio(eps)
}

/// Does the median's noisy distance pass?
fn passes(data: &[i64], eps: &Ratio) -> Pmf<bool> {
    let window = Median.window(data, Range::new(0, 4).expect("in order"), Reach::Ranks(0));
    let slack = Median.value_and_slack(&window, Adjacency::AddRemove).slack;
    let distance = slack.until_unstable().expect("removing all rows changes the median");
    let reach = eps * &Ratio::from(distance);
    let chance = Enclosed::new(|bits| {
        laplace_tail(&exponent(data.len(), eps, bits).sub(&Interval::exact(&reach, bits)))
    });
    enumerate(&crate::pairs::floor(), |tape| tape.bernoulli(&chance))
}

fn broken() -> Vec<Measured> {
    let eps = Ratio::one();
    // One of two high rows leaves: the distance grows and the threshold falls.
    let (seven, six) = ([0, 0, 0, 0, 0, 4, 4], [0, 0, 0, 0, 0, 4]);
    let delta = laplace_tail(&exponent(six.len(), &eps, AUDIT_BITS)).upper();
    let claim = Claim::new(eps.clone(), delta, Adjacency::AddRemove);
    vec![claim.over("one pair", [(passes(&seven, &eps), passes(&six, &eps))])]
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_exact_figures() {
        let measured = &super::broken()[0];
        assert!((measured.delta.to_f64() - 0.0202).abs() < 1e-4, "{}", measured.delta.to_f64());
        assert!((measured.worst.to_f64() - 0.1552).abs() < 1e-3, "{}", measured.worst.to_f64());
    }
}
