//! The exact (epsilon, delta) curve of Gaussian noise, and the least scale for a wanted pair.
//!
//! Source: Balle and Wang, "Improving the Gaussian mechanism for differential privacy" (2018), Theorem 8.
//!
//! # Guarantee
//!
//! Noise of scale sigma on a value of L2-sensitivity D is (epsilon, delta)-DP exactly if
//! `delta >= Phi(m/2 - epsilon/m) - e^epsilon·Phi(-m/2 - epsilon/m)` with m = D/sigma. This is about noise
//! that is a real number (which may be rounded afterwards); noise drawn on a lattice has its own curve.
//!
//! # Why
//!
//! 1. With x = epsilon/m - m/2 and y = epsilon/m + m/2, y² - x² = 2 epsilon, so e^epsilon·phi(y) = phi(x).
//! 2. With Mills' ratio R(t) = Phi(-t)/phi(t) the curve is `phi(x)·(R(x) - R(y))` for x >= 0 and
//!    `1 - phi(x)·(R(-x) + R(y))` for x < 0: nothing large is multiplied by anything small.
//! 3. R is Laplace's continued fraction `1/(t + 1/(t + 2/(t + 3/(t + …))))`; all its terms are positive, so
//!    two consecutive convergents enclose it.

use super::{
    amount::significant_up,
    parameter::{Delta, Eps, ParameterError},
};
use crate::{
    interval::{Interval, ln_upper},
    ratio::Ratio,
    solve::{Excess, first_whole, nearest},
};
use dashu_int::{IBig, UBig};

/// The least delta of Gaussian noise at this epsilon, rounded up. `ratio` is sensitivity over scale.
pub fn gaussian_delta_upper(eps: &Ratio, ratio: &Ratio) -> Ratio {
    gaussian_delta(eps, ratio).upper().min(Ratio::one())
}

/// The least delta of Gaussian noise at this epsilon, rounded down. `ratio` is sensitivity over scale.
pub fn gaussian_delta_lower(eps: &Ratio, ratio: &Ratio) -> Ratio {
    gaussian_delta(eps, ratio).lower().max(Ratio::zero())
}

/// The least scale that makes Gaussian noise (epsilon, delta)-DP, rounded up by at most one part in 10^12.
pub fn gaussian_sigma_upper(eps: &Eps, delta: &Delta, sensitivity: &Ratio) -> Result<Ratio, ParameterError> {
    delta_above_zero(delta)?;
    if !sensitivity.is_positive() {
        let next = "give the largest distance between neighbours, above 0";
        return Err(ParameterError::out_of_range("sensitivity", sensitivity, next));
    }
    let delta_at = |scale: &Ratio| gaussian_delta_upper(eps.ratio(), &scale.recip());
    Ok(significant_up(&(least(scale_hint(eps, delta), delta_at, delta.ratio()) * sensitivity), 128))
}

/// Gaussian noise of any kind needs a positive delta.
pub(crate) fn delta_above_zero(delta: &Delta) -> Result<(), ParameterError> {
    if delta.is_zero() {
        let next = "Gaussian noise needs a delta above 0, such as 1e-6; for delta 0 use laplace";
        return Err(ParameterError::out_of_range("delta", "0", next));
    }
    Ok(())
}

/// About the scale for sensitivity one: the textbook's or, for a tiny epsilon, that of epsilon zero.
pub(super) fn scale_hint(eps: &Eps, delta: &Delta) -> f64 {
    let textbook = (2.0 * (0.3 - ln_upper(delta.ratio()).to_f64())).sqrt() / eps.ratio().to_f64();
    textbook.min(0.4 / delta.ratio().to_f64())
}

/// A number at which delta is no more than what is wanted, within one part in 2^41 of one at which it is more. The hint is where
/// the search begins; delta must be small enough at large enough numbers, and too large at small enough ones.
pub(super) fn least(hint: f64, delta_at: impl Fn(&Ratio) -> Ratio, wanted: &Ratio) -> Ratio {
    let excess_at = |number: &Ratio| Excess::of(&delta_at(number), wanted);
    // Two neighbouring powers of two around the answer.
    #[expect(clippy::cast_possible_truncation, reason = "the logarithm of a float is small")]
    let mut exponent = hint.clamp(1e-300, 1e300).log2().floor() as i32;
    let mut below = excess_at(&power(exponent));
    let mut above = None;
    while below.holds {
        exponent -= 1;
        above = Some(std::mem::replace(&mut below, excess_at(&power(exponent))));
    }
    let above = above.unwrap_or_else(|| {
        loop {
            let next = excess_at(&power(exponent + 1));
            if next.holds {
                break next;
            }
            (below, exponent) = (next, exponent + 1);
        }
    });
    let low = power(exponent);
    let parts = Ratio::from(PARTS);
    let number = |part: u64| &low + &(&low * &Ratio::from(part)) / &parts;
    // Delta falls about as a power of the number, so its logarithm is looked at over that of the number.
    let place = |part: u64| (part as f64 / PARTS as f64).ln_1p();
    let part = |place: f64| nearest(place.exp_m1() * PARTS as f64);
    number(first_whole((0, below), (PARTS, above), place, part, |part| excess_at(&number(part))))
}

/// Into so many parts the way from a power of two to the next is divided.
const PARTS: u64 = 1 << 41;

/// Two to the power of a whole number.
fn power(exponent: i32) -> Ratio {
    let size = Ratio::from_parts(IBig::ONE << exponent.unsigned_abs() as usize, UBig::ONE);
    if exponent < 0 { size.recip() } else { size }
}

fn gaussian_delta(eps: &Ratio, ratio: &Ratio) -> Interval {
    assert!(!eps.is_negative() && ratio.is_positive(), "epsilon at least zero, noise and sensitivity above");
    let (centre, half) = (eps / ratio, ratio / &Ratio::from(2u64));
    let (x, y) = (&centre - &half, &centre + &half);
    let bits = precision(x.to_f64(), y.to_f64(), ratio.to_f64());
    // A small density needs bits after the point; what it is multiplied with needs none of those.
    let mills_bits = precision(0.0, y.to_f64(), ratio.to_f64()).min(bits);
    let mills = |value: &Ratio| mills_ratio(&Interval::exact(value, mills_bits)).to_precision(bits);
    let (density, tail) = (density(&Interval::exact(&x, bits)), mills(&y));
    if x.is_negative() {
        Interval::one(bits).sub(&density.mul(&mills(&-x).add(&tail)))
    } else {
        density.mul(&mills(&x).sub(&tail))
    }
}

/// Bits after the point that leave some 100 significant ones: the density may be small, and the two
/// Mills ratios may be close, apart by about `(y - x)/(1 + y²)`. A delta below 2^-6000 comes out as 0 to 2^-6000.
pub(super) fn precision(x: f64, y: f64, ratio: f64) -> usize {
    let (x, gap) = (x.max(0.0), ratio.max(1e-300));
    let lost = x * x * 0.722 + (1.0 + y * y).log2() + (1.0 / gap).log2().max(0.0);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to a small range")]
    let lost = lost.clamp(0.0, 6000.0).ceil() as usize;
    128 + lost
}

/// The standard normal density.
fn density(x: &Interval) -> Interval {
    let bits = x.bits();
    let two_pi = Interval::pi(bits).mul(&Interval::integer(2, bits));
    x.square().div_small(2).neg().exp().div(&two_pi.sqrt())
}

/// The chance that a standard normal variable lies farther out than t >= 0, on either side.
pub(crate) fn normal_outside(t: &Ratio) -> Interval {
    let t = Interval::exact(t, precision(t.to_f64(), 0.0, 1.0));
    let tail = density(&t).mul(&mills_ratio(&t));
    tail.add(&tail)
}

/// `Phi(-t)/phi(t)` for t >= 0.
pub(super) fn mills_ratio(t: &Interval) -> Interval {
    const SERIES_BELOW: i64 = 4;
    let bits = t.bits();
    if t.upper() < Ratio::from(SERIES_BELOW) {
        // The density is above 2^-13 here, so these bits lose nothing.
        let wide = t.to_precision(bits + 32);
        return wide.neg().normal_cdf().div(&density(&wide)).to_precision(bits);
    }
    let close = Ratio::dyadic(IBig::ONE, bits - 12);
    // The convergents differ by about e^(-2t·sqrt(2·depth)).
    #[expect(clippy::cast_possible_truncation, reason = "at most some thousands")]
    let mut depth = 16 + ((bits as f64 * 0.35 / t.to_f64()).powi(2) * 0.55).min(1e4) as i64;
    loop {
        let enclosed = convergent(t, depth).hull(&convergent(t, depth + 1));
        if enclosed.upper() - enclosed.lower() <= close || depth >= 1 << 17 {
            return enclosed;
        }
        depth *= 2;
    }
}

/// Laplace's continued fraction for Mills' ratio, cut after `depth` terms.
fn convergent(t: &Interval, depth: i64) -> Interval {
    let mut rest = t.clone();
    for numerator in (1..=depth).rev() {
        rest = t.add(&Interval::integer(numerator, t.bits()).div(&rest));
    }
    Interval::one(t.bits()).div(&rest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interval::exp_upper;

    fn ratio(text: &str) -> Ratio {
        text.parse().unwrap()
    }

    fn sigma(eps: &str, delta: &str) -> Ratio {
        gaussian_sigma_upper(&eps.parse().unwrap(), &delta.parse().unwrap(), &Ratio::one()).unwrap()
    }

    #[test]
    fn known_scales() {
        for (eps, delta, scale) in
            [("0.1", "1e-6", 36.30), ("1", "1e-6", 4.225), ("10", "1e-5", 0.4999), ("50", "1e-5", 0.1498)]
        {
            let got = sigma(eps, delta).to_f64();
            assert!((got / scale - 1.0).abs() < 4e-4, "{eps} {delta}: {got}");
        }
        let seven =
            gaussian_sigma_upper(&"1".parse().unwrap(), &"1e-6".parse().unwrap(), &ratio("7")).unwrap();
        assert!((seven.to_f64() / 7.0 - sigma("1", "1e-6").to_f64()).abs() < 1e-12);
    }

    #[test]
    fn the_textbook_scale_fails_for_large_epsilon() {
        // sigma = sqrt(2 ln(1.25/delta))/epsilon and what it really gives; true to 1% or to three digits.
        for (eps, delta, textbook, truth) in [
            (0.1, 1e-6, 52.99, 2.1e-10),
            (1.0, 1e-6, 5.299, 3.2e-9),
            (10.0, 1e-5, 0.4845, 2.27e-5),
            (50.0, 1e-5, 0.0969, 0.586),
        ] {
            let scale = (2.0 * (1.25f64 / delta).ln()).sqrt() / eps;
            assert!((scale / textbook - 1.0).abs() < 1e-3, "{scale}");
            let at = Ratio::from_f64_exact(1.0 / scale).unwrap();
            let (low, high) = (
                gaussian_delta_lower(&Ratio::from_f64_shortest(eps).unwrap(), &at),
                gaussian_delta_upper(&Ratio::from_f64_shortest(eps).unwrap(), &at),
            );
            assert!(low <= high && (high.to_f64() / truth - 1.0).abs() < 0.03, "{eps}: {}", high.to_f64());
            assert!((&high - &low) / &high < ratio("1e-25"));
        }
    }

    #[test]
    fn the_scale_is_certified_and_least_even_far_out() {
        for (eps, delta) in [
            ("0.001", "1e-6"),
            ("1", "0.5"),
            ("1", "1e-30"),
            ("1000", "1e-30"),
            ("1000", "0.999"),
            ("30", "1e-100"),
        ] {
            let scale = sigma(eps, delta);
            let (eps, delta) = (ratio(eps), ratio(delta));
            assert!(gaussian_delta_upper(&eps, &scale.recip()) <= delta);
            let less = &scale * &(Ratio::one() - ratio("1e-12"));
            assert!(gaussian_delta_lower(&eps, &less.recip()) > delta, "{eps} {delta}");
        }
    }

    /// The formula as the papers print it, from the normal distribution alone, at many bits.
    #[test]
    fn the_curve_is_the_printed_formula() {
        for (eps, at) in
            [("0", "1"), ("0", "1e-9"), ("0.5", "3"), ("1", "0.3"), ("20", "1"), ("3", "0.2"), ("60", "9")]
        {
            let (eps, at) = (ratio(eps), ratio(at));
            let bits = 700;
            let half = &at / &ratio("2");
            let phi = |value: Ratio| Interval::exact(&value, bits).normal_cdf();
            let factor = Interval::exact(&eps, bits).exp();
            let printed = phi(&half - &(&eps / &at)).sub(&factor.mul(&phi(-(&half + &(&eps / &at)))));
            let (low, high) = (gaussian_delta_lower(&eps, &at), gaussian_delta_upper(&eps, &at));
            assert!(low <= printed.upper() && printed.lower() <= high, "{eps} {at}");
            assert!(&high - &low <= &high * &ratio("1e-20"), "{eps} {at}: {}", high.to_f64());
        }
    }

    /// What the search for a scale looks at: every part that it may be asked for, and few of them.
    #[test]
    fn a_search_ends_where_it_should_after_few_looks() {
        let wanted = ratio("1e-6");
        for (eps, most) in [("0.01", 20), ("0.3", 20), ("1", 20), ("7", 20)] {
            let looks = std::cell::Cell::new(0);
            let eps: Eps = eps.parse().unwrap();
            let delta_at = |scale: &Ratio| {
                looks.set(looks.get() + 1);
                gaussian_delta_upper(eps.ratio(), &scale.recip())
            };
            let delta: Delta = "1e-6".parse().unwrap();
            let found = least(scale_hint(&eps, &delta), delta_at, &wanted);
            assert!(looks.get() <= most, "{eps:?}: {}", looks.get());
            assert!(delta_at(&found) <= wanted);
            let less = &found - &found / &Ratio::from(PARTS);
            assert!(delta_at(&less) > wanted);
        }
    }

    #[test]
    fn mills_ratio_by_fraction_and_by_series_agree() {
        for t in ["4", "4.5", "7", "20"] {
            let t = Interval::exact(&ratio(t), 900);
            let (fraction, series) = (mills_ratio(&t), t.neg().normal_cdf().div(&density(&t)));
            assert!(fraction.lower() <= series.upper() && series.lower() <= fraction.upper());
        }
    }

    #[test]
    fn a_tiny_delta_is_enclosed_and_what_cannot_be_is_refused() {
        let high = gaussian_delta_upper(&ratio("1000"), &ratio("0.001"));
        assert!(high.is_positive() && high < exp_upper(&ratio("-4000")));
        assert!(gaussian_delta_lower(&ratio("1000"), &ratio("0.001")).is_zero());
        assert_eq!(gaussian_delta_upper(&ratio("1"), &ratio("10000")), Ratio::one());
        let error = |delta: &str, sensitivity: &str| {
            gaussian_sigma_upper(&"1".parse().unwrap(), &delta.parse().unwrap(), &ratio(sensitivity))
                .unwrap_err()
                .to_string()
        };
        assert_eq!(
            error("0", "1"),
            "delta 0 is not accepted: Gaussian noise needs a delta above 0, such as 1e-6; for delta 0 use laplace"
        );
        assert_eq!(
            error("0.1", "-2"),
            "sensitivity -2 is not accepted: give the largest distance between neighbours, above 0"
        );
    }
}
