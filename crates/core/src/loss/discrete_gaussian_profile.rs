//! The exact (epsilon, delta) curve of discrete Gaussian noise, and the least variance for a wanted pair.
//!
//! Source: Canonne, Kamath and Steinke, "The discrete Gaussian for differential privacy" (2020), Theorem 7.
//!
//! # Guarantee
//!
//! Let X be a whole number with probability proportional to `e^(-x²/(2v))`. Added to a whole number that
//! neighbours move by at most D, it is (epsilon, delta)-DP exactly if
//! `delta >= P(X > t) - e^epsilon·P(X > t + D)` with `t = epsilon·v/D - D/2`. This is about one number;
//! vectors whose coordinates may all move have another curve.
//!
//! # Why
//!
//! 1. Compare X with X - s. P(X = x)/P(X - s = x) = `e^((2xs + s²)/(2v))` grows with x, so the worst event is an
//!    upper tail; at s = D it exceeds e^epsilon exactly above t.
//! 2. Whatever the upper tail, X - s is in it less often the larger s is. So no shift below D is worse than D;
//!    and as X is symmetric, neither is a shift the other way.
//! 3. The tail from n > 0 on is `e^(-n²/(2v))·M(n)/Z`, M(n) being the sum of `e^(-(2nj + j²)/(2v))` over
//!    j >= 0. With m the first whole number above t and c = (m - t)·D/v >= 0, the curve is
//!    `e^(-m²/(2v))·(M(m) - e^-c·M(m + D))/Z` for m > 0: nothing large is multiplied by anything small. For
//!    m <= 0 it is one minus two tails.
//! 4. Where M has many terms the Euler-Maclaurin formula sums them. With a = n - 1/2, u = a/sqrt(v) and Mills'
//!    ratio R, `M(n) = e^((n - 1/4)/(2v))·(sqrt(v)·R(u) - h1/24 + 7·h3/5760 - 31·h5/967680 + rest)`, where
//!    hk = He_k(u)/sqrt(v)^k and |rest| is at most 1/30240 (the size of the sixth periodic Bernoulli function over
//!    6!) times the integral of |He_6(w)|·e^((u² - w²)/2) over w > u, over sqrt(v)^5.
//! 5. He_6 is positive from sqrt(12) on, where that integral is He_5(u). Below, it is at most
//!    `e^6·sqrt(2 pi·6!) < 30240` by Cauchy and Schwarz.

use super::{
    gaussian_profile::{delta_above_zero, least, mills_ratio, precision, scale_hint},
    parameter::{Delta, Eps, ParameterError},
};
use crate::{bell::normaliser, chance::exp_neg, interval::Interval, ratio::Ratio};
use dashu_int::IBig;

/// The least delta at this epsilon of noise with this variance parameter on a number that neighbours move
/// by at most `steps`, a positive whole number; rounded up.
pub fn discrete_gaussian_delta_upper(eps: &Ratio, steps: &Ratio, variance: &Ratio) -> Ratio {
    discrete_gaussian_delta(eps, steps, variance).upper().min(Ratio::one())
}

/// The same, rounded down.
pub fn discrete_gaussian_delta_lower(eps: &Ratio, steps: &Ratio, variance: &Ratio) -> Ratio {
    discrete_gaussian_delta(eps, steps, variance).lower().max(Ratio::zero())
}

/// A variance that makes noise on a number that neighbours move by at most `steps` (epsilon, delta)-DP,
/// while one that is smaller by about one part in 10^9 does not.
///
/// Mostly it is the least such variance. Below one, where the curve has waves, it may lie behind another.
pub fn discrete_gaussian_variance_upper(
    eps: &Eps,
    delta: &Delta,
    steps: &Ratio,
) -> Result<Ratio, ParameterError> {
    delta_above_zero(delta)?;
    if !steps.is_positive() || !steps.is_integer() {
        let next = "give the most that neighbours can be apart, a whole number of at least 1";
        return Err(ParameterError::out_of_range("sensitivity in steps", steps, next));
    }
    let delta_at = |variance: &Ratio| discrete_gaussian_delta_upper(eps.ratio(), steps, variance);
    Ok(least((scale_hint(eps, delta) * steps.to_f64()).powi(2), delta_at, delta.ratio()))
}

/// P(|X| > reach) for a whole number of at least zero.
pub(crate) fn discrete_gaussian_outside(reach: &Ratio, variance: &Ratio) -> Interval {
    let first = reach + &Ratio::one();
    let bits = precision((&first.squared() / variance).to_f64().sqrt(), 0.0, 1.0);
    let curve = Curve { variance, bits };
    let tail = curve.bell(&first).mul(&curve.sum_from(&first)).div(&normaliser(variance, bits));
    tail.add(&tail)
}

fn discrete_gaussian_delta(eps: &Ratio, steps: &Ratio, variance: &Ratio) -> Interval {
    assert!(steps.is_positive() && steps.is_integer(), "neighbours are whole steps apart");
    assert!(!eps.is_negative() && variance.is_positive(), "epsilon at least zero, noise above");
    let threshold = &(eps * variance) / steps - steps / &whole(2);
    let first = Ratio::whole(threshold.floor_big() + IBig::ONE);
    let shifted = &first + steps;
    let in_scales = |value: &Ratio| (value.squared() / variance).to_f64().sqrt();
    let x = if first.is_positive() { in_scales(&first) } else { 0.0 };
    let bits = precision(x, in_scales(&shifted), in_scales(steps));
    let curve = Curve { variance, bits };
    let sum = normaliser(variance, bits);
    // e^epsilon times the shifted tail, as a multiple of the bell at `first`.
    let ratio = exp_neg(&(&(&first - &threshold) * steps / variance), bits);
    let shifted_tail = ratio.mul(&curve.sum_from(&shifted));
    let bell = curve.bell(&first);
    if first.is_positive() {
        return bell.mul(&curve.sum_from(&first).sub(&shifted_tail)).div(&sum);
    }
    let mirrored = Ratio::one() - &first;
    let below = curve.bell(&mirrored).mul(&curve.sum_from(&mirrored));
    Interval::one(bits).sub(&below.add(&bell.mul(&shifted_tail)).div(&sum))
}

fn whole(value: u64) -> Ratio {
    Ratio::from(value)
}

/// The bell curve `e^(-x²/(2v))` at whole numbers.
struct Curve<'a> {
    variance: &'a Ratio,
    bits: usize,
}

/// Euler and Maclaurin are asked from this variance on, …
const WIDE: u64 = 1 << 10;
/// … for tails that start below this part of the variance; steeper ones have few terms.
const STEEP: u64 = 8;

impl Curve<'_> {
    fn bell(&self, at: &Ratio) -> Interval {
        exp_neg(&self.exponent(&at.squared()), self.bits)
    }

    /// value/(2v)
    fn exponent(&self, value: &Ratio) -> Ratio {
        value / &(&whole(2) * self.variance)
    }

    /// M(n): the sum of the curve from a whole number n > 0 on, over its value at n.
    fn sum_from(&self, n: &Ratio) -> Interval {
        let wide = *self.variance >= whole(WIDE) && &(n * &whole(STEEP)) <= self.variance;
        if wide { self.sum_by_formula(n) } else { self.sum_by_terms(n) }
    }

    fn sum_by_terms(&self, n: &Ratio) -> Interval {
        // Terms are added up in far smaller units, so that their cuts do not add up.
        let work = self.bits + 16;
        let unit = Ratio::dyadic(IBig::ONE, work);
        let shrink = exp_neg(&self.variance.recip(), work);
        let (mut term, mut sum) = (Interval::one(work), Interval::one(work));
        let mut ratio = exp_neg(&self.exponent(&(&whole(2) * n + Ratio::one())), work);
        for index in 1u64.. {
            term = term.mul(&ratio);
            ratio = ratio.mul(&shrink);
            sum = sum.add(&term);
            if term.certainly_at_most(&unit) {
                // Each further term is at most e^-x times the one before, and 1/(1 - e^-x) <= 1 + 1/x.
                let x = self.exponent(&(&whole(2) * &(n + &whole(index))));
                let rest = &unit * &(Ratio::one() + x.recip());
                return sum.add(&Interval::between(&Ratio::zero(), &rest, work)).to_precision(self.bits);
            }
        }
        unreachable!("the terms fall below every unit")
    }

    fn sum_by_formula(&self, n: &Ratio) -> Interval {
        let work = self.bits + 16;
        let start = n - &Ratio::new(1, 2);
        let in_scales_squared = start.squared() / self.variance;
        let scale = Interval::exact(self.variance, work).sqrt();
        let integral = scale.mul(&mills_ratio(&Interval::exact(&start, work).div(&scale)));
        // He_k(u)/sqrt(v)^k for odd k, in whole powers of s = a/v and w = 1/v.
        let (s, w) = (&start / self.variance, self.variance.recip());
        let cube = &s.squared() * &s;
        let h3 = &cube - &(&(&whole(3) * &s) * &w);
        let h5 = &(&cube * &s.squared()) - &(&(&whole(10) * &cube) * &w) + &(&whole(15) * &s) * &w.squared();
        let correction = &h3 * &Ratio::new(7, 5760) - &s / &whole(24) - &h5 * &Ratio::new(31, 967_680);
        let rest = if in_scales_squared >= whole(12) {
            &h5 / &whole(30_240)
        } else {
            // 1/sqrt(v)^5, as sqrt(v) is at least 32.
            w.squared() / whole(32)
        };
        let between = Interval::between(&(&correction - &rest), &(&correction + &rest), work);
        let factor = Interval::exact(&self.exponent(&(n - &Ratio::new(1, 4))), work).exp();
        factor.mul(&integral.add(&between)).to_precision(self.bits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        coins::Law,
        loss::gaussian_sigma_upper,
        sampler::discrete_gaussian::DiscreteGaussian,
        tape::{Pmf, delta_between},
    };

    fn ratio(text: &str) -> Ratio {
        text.parse().unwrap()
    }

    fn variance(eps: &str, delta: &str, steps: u64) -> Ratio {
        discrete_gaussian_variance_upper(&eps.parse().unwrap(), &delta.parse().unwrap(), &whole(steps))
            .unwrap()
    }

    fn overlap(a: &Interval, b: &Interval) -> bool {
        a.lower() <= b.upper() && b.lower() <= a.upper()
    }

    /// Every shift of the sampler's own masses: the formula is the exact curve, and D is the worst shift.
    #[test]
    fn the_curve_is_what_enumeration_finds_and_the_largest_shift_is_the_worst() {
        for v in ["1/100", "0.3", "1", "7/3", "30"] {
            let law = DiscreteGaussian::new(&ratio(v)).unwrap();
            let masses = law.masses(&ratio("1e-30"), 192);
            let shifted = |by: i64| Pmf::from_masses(masses.iter().map(|(x, mass)| (x + by, mass.clone())));
            let still = shifted(0);
            for eps in ["0", "0.1", "1", "5", "49"] {
                let eps = ratio(eps);
                let mut before = Ratio::zero();
                for steps in 1..=6i64 {
                    let seen = delta_between(&eps, &still, &shifted(steps));
                    let steps = Ratio::from(steps);
                    let low = discrete_gaussian_delta_lower(&eps, &steps, &ratio(v));
                    let high = discrete_gaussian_delta_upper(&eps, &steps, &ratio(v));
                    assert!(low <= seen.upper() && seen.lower() <= high, "{v} {eps} {steps}");
                    let tiny = high < ratio("1e-400");
                    assert!(tiny || &high - &low <= &high * &ratio("1e-20"), "{v} {eps} {steps}");
                    assert!(before <= high, "{v} {eps} {steps}: a smaller shift is worse");
                    before = low;
                }
            }
        }
    }

    #[test]
    fn both_ways_to_sum_agree() {
        for (v, n) in [("1024", "1"), ("1024", "128"), ("1300", "70"), ("5000.7", "3"), ("5000.7", "600")] {
            let (v, n) = (ratio(v), ratio(n));
            let curve = Curve { variance: &v, bits: 160 };
            let (terms, formula) = (curve.sum_by_terms(&n), curve.sum_by_formula(&n));
            assert!(overlap(&terms, &formula), "{v} {n}");
            let width = formula.upper() - formula.lower();
            assert!(width < &formula.lower() * &ratio("1e-8"), "{v} {n}: {}", width.to_f64());
        }
        // The mutant that forgets the first correction is seen.
        let (v, n) = (ratio("1300"), ratio("70"));
        let curve = Curve { variance: &v, bits: 160 };
        let slope = Interval::exact(&(&ratio("69.5") / &v / ratio("24")), 160);
        assert!(!overlap(&curve.sum_by_terms(&n), &curve.sum_by_formula(&n).add(&slope)));
    }

    #[test]
    fn hand_computed_variances() {
        // In units of the shift; by summing terms in another language.
        for (eps, delta, steps, scale) in [
            ("0.1", "1e-6", 1, 36.305_289),
            ("1", "1e-6", 1, 4.230_779),
            ("1", "1e-6", 5, 4.224_817),
            ("10", "1e-5", 1, 0.499_008),
            ("10", "1e-5", 10, 0.499_204),
            ("50", "1e-5", 1, 0.1),
            ("50", "1e-5", 10, 0.148_198),
            ("0.5", "0.01", 1, 3.159_689),
        ] {
            let got = variance(eps, delta, steps).to_f64().sqrt() / steps as f64;
            assert!((got / scale - 1.0).abs() < 1e-6, "{eps} {delta} {steps}: {got}");
        }
    }

    #[test]
    fn the_variance_is_certified_and_one_a_little_smaller_fails() {
        for (eps, delta, steps) in [
            ("1", "0.01", 1),
            ("0.001", "1e-6", 1),
            ("1e-9", "0.001", 1),
            ("1", "1e-100", 3),
            ("1000", "0.999", 2),
            ("30", "1e-30", 1_000_000),
        ] {
            let found = variance(eps, delta, steps);
            let (eps, delta, steps) = (ratio(eps), ratio(delta), whole(steps));
            assert!(discrete_gaussian_delta_upper(&eps, &steps, &found) <= delta);
            let less = &found * &ratio("0.999999999");
            let at_less = discrete_gaussian_delta_lower(&eps, &steps, &less);
            assert!(at_less > delta, "{eps} {delta} {steps}: {}", at_less.to_f64());
        }
    }

    #[test]
    fn many_steps_are_as_good_as_real_noise() {
        for (eps, delta) in [("0.1", "1e-6"), ("1", "1e-6"), ("10", "1e-5"), ("50", "1e-5")] {
            let real = gaussian_sigma_upper(&eps.parse().unwrap(), &delta.parse().unwrap(), &Ratio::one());
            let on_grid = variance(eps, delta, 1_000_000).to_f64().sqrt() / 1e6;
            assert!((on_grid / real.unwrap().to_f64() - 1.0).abs() < 1e-6, "{eps} {delta}");
        }
    }

    #[test]
    fn tails_are_enclosed() {
        for (v, reach) in [("0.2", 0u64), ("1", 3), ("50", 0), ("2500", 200)] {
            let law = DiscreteGaussian::new(&ratio(v)).unwrap();
            let inside = (1..=reach.cast_signed()).map(|x| law.mass(x, 192));
            let inside = inside.fold(law.mass(0, 192), |sum, mass| sum.add(&mass).add(&mass));
            let outside = discrete_gaussian_outside(&whole(reach), &ratio(v));
            let outside_too = Interval::one(192).sub(&inside);
            assert!(overlap(&outside, &outside_too.to_precision(outside.bits())), "{v} {reach}");
        }
    }

    #[test]
    fn what_has_no_curve_is_refused_in_one_line() {
        let error = |delta: &str, steps: &str| {
            discrete_gaussian_variance_upper(&"1".parse().unwrap(), &delta.parse().unwrap(), &ratio(steps))
                .unwrap_err()
                .to_string()
        };
        assert_eq!(
            error("0", "1"),
            "delta 0 is not accepted: Gaussian noise needs a delta above 0, such as 1e-6; for delta 0 use laplace"
        );
        for steps in ["0", "1.5", "-1"] {
            let start = format!("sensitivity in steps {steps} is not accepted: give the most");
            assert!(error("0.1", steps).starts_with(&start));
        }
    }
}
