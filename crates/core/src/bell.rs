//! The bell curve e^(-y²/(2σ²)) at whole numbers, and its sum, enclosed.

use crate::{chance::exp_neg, interval::Interval, ratio::Ratio};
use dashu_int::IBig;

/// e^(-y²/(2σ²)).
pub(crate) fn bell(y: u64, variance: &Ratio, bits: usize) -> Interval {
    exp_neg(&(&Ratio::from(y).squared() / &(&Ratio::from(2u64) * variance)), bits)
}

/// The sum of e^(-y²/(2σ²)) over all whole numbers y.
///
/// For σ² > 1/2 by Poisson's formula, as sqrt(2πσ²) times the sum of e^(-2π²σ²k²), whose terms fall faster.
pub(crate) fn normaliser(variance: &Ratio, bits: usize) -> Interval {
    let work = bits + 64;
    let twice = &Ratio::from(2u64) * variance;
    if twice <= Ratio::one() {
        return theta(&Interval::exact(&twice.recip(), work)).to_precision(bits);
    }
    let pi = Interval::pi(work);
    let root = pi.mul_ratio(&twice).sqrt();
    root.mul(&theta(&pi.square().mul_ratio(&twice))).to_precision(bits)
}

/// The sum of e^(-rate·k²) over all whole numbers k, for a rate of at least one.
fn theta(rate: &Interval) -> Interval {
    let bits = rate.bits();
    let unit = Ratio::dyadic(IBig::ONE, bits);
    let mut sum = Interval::one(bits);
    for k in 1.. {
        let term = rate.mul(&Interval::integer(k * k, bits)).neg().exp();
        sum = sum.add(&term).add(&term);
        if term.certainly_at_most(&unit) {
            // Each further term is below half of the one before, so that each side adds less than this one.
            let rest = Interval::between(&Ratio::zero(), &unit, bits);
            return sum.add(&rest).add(&rest);
        }
    }
    unreachable!("the terms fall below every unit")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_sums_agree() {
        for variance in ["1/50", "1/2", "3/5", "1", "20"] {
            let variance = variance.parse().unwrap();
            let terms = (1..200).map(|y| bell(y, &variance, 160));
            let sum = terms.fold(Interval::one(160), |sum, term| sum.add(&term).add(&term));
            let difference = &sum.lower() - &normaliser(&variance, 160).lower();
            assert!(difference.abs() < "1e-44".parse().unwrap(), "{variance}");
        }
    }

    #[test]
    fn extreme_variances_have_the_sums_they_should() {
        let sum = |variance: &str| normaliser(&variance.parse().unwrap(), 128).to_f64();
        assert!((sum("1e-300") - 1.0).abs() < 1e-15);
        assert!((sum("1e30") / (std::f64::consts::TAU * 1e30).sqrt() - 1.0).abs() < 1e-12);
    }
}
