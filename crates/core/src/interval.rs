//! Real numbers enclosed between two dyadic ones: every operation rounds outwards.
//!
//! An [`Interval`] is the pair `[low, high]` of integers over `2^bits`. Whatever real number the
//! operands stand for, the result contains the result for that number; a test of this file checks each
//! function against the others' inverses and against known digits. Nothing here knows about privacy:
//! calibrations take the end that works against us ([`Interval::upper`], [`Interval::lower`]).

use crate::ratio::Ratio;
use dashu_base::{BitTest, DivEuclid, Signed, SquareRoot, UnsignedAbs};
use dashu_int::{IBig, UBig};
use series::{atan_of_inverse, exp_of_point, floor_mod, ln_of_point, normal_cdf_of_point, sin_cos_of_point};
use std::cmp::Ordering;

mod arc;
mod hyperbolic;
pub(crate) mod point;
mod series;

/// A real number known to lie in `[low, high] · 2^-bits`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interval {
    low: IBig,
    high: IBig,
    bits: usize,
}

/// The precision at which probabilities are added up in audits.
pub const AUDIT_BITS: usize = 192;

fn floor_shift(value: &IBig, bits: usize) -> IBig {
    value >> bits // dashu shifts towards minus infinity; a test holds it to that
}

fn ceil_shift(value: &IBig, bits: usize) -> IBig {
    -floor_shift(&-value, bits)
}

fn floor_div(a: &IBig, b: &IBig) -> IBig {
    // div_euclid rounds towards minus infinity for a positive divisor, which is the only kind used here.
    debug_assert!(*b > IBig::ZERO);
    a.div_euclid(b)
}

fn ceil_div(a: &IBig, b: &IBig) -> IBig {
    -floor_div(&-a, b)
}

impl Interval {
    /// The tightest interval of this precision around an exact number.
    pub fn exact(value: &Ratio, bits: usize) -> Self {
        let scaled = value.numerator() << bits;
        let den = IBig::from(value.denominator().clone());
        Self { low: floor_div(&scaled, &den), high: ceil_div(&scaled, &den), bits }
    }

    /// A whole number.
    pub fn integer(value: i64, bits: usize) -> Self {
        let scaled = IBig::from(value) << bits;
        Self { low: scaled.clone(), high: scaled, bits }
    }

    /// Zero.
    pub fn zero(bits: usize) -> Self {
        Self::integer(0, bits)
    }

    /// One.
    pub fn one(bits: usize) -> Self {
        Self::integer(1, bits)
    }

    /// `[low, high] / 2^scale`, widened to this precision. `low <= high`.
    pub(crate) fn dyadic(low: IBig, high: IBig, scale: usize, bits: usize) -> Self {
        debug_assert!(low <= high);
        Self { low, high, bits: scale }.to_precision(bits)
    }

    /// Everything between two exact numbers, in either order.
    pub fn between(a: &Ratio, b: &Ratio, bits: usize) -> Self {
        Self::exact(a, bits).hull(&Self::exact(b, bits))
    }

    /// The same number at another precision, rounded outwards.
    #[must_use]
    pub fn to_precision(&self, bits: usize) -> Self {
        match bits.cmp(&self.bits) {
            Ordering::Equal => self.clone(),
            Ordering::Greater => {
                let shift = bits - self.bits;
                Self { low: &self.low << shift, high: &self.high << shift, bits }
            }
            Ordering::Less => {
                let shift = self.bits - bits;
                Self { low: floor_shift(&self.low, shift), high: ceil_shift(&self.high, shift), bits }
            }
        }
    }

    /// The precision: ends are multiples of `2^-bits`.
    pub fn bits(&self) -> usize {
        self.bits
    }

    /// The lower end, exactly.
    pub fn lower(&self) -> Ratio {
        Ratio::dyadic(self.low.clone(), self.bits)
    }

    /// The upper end, exactly.
    pub fn upper(&self) -> Ratio {
        Ratio::dyadic(self.high.clone(), self.bits)
    }

    pub(crate) fn low_scaled(&self) -> &IBig {
        &self.low
    }

    pub(crate) fn high_scaled(&self) -> &IBig {
        &self.high
    }

    /// The middle as a float, for display only.
    pub fn to_f64(&self) -> f64 {
        Ratio::dyadic(&self.low + &self.high, self.bits + 1).to_f64()
    }

    /// The smallest interval that contains both.
    #[must_use]
    pub fn hull(&self, other: &Self) -> Self {
        self.same_precision(other);
        Self {
            low: self.low.clone().min(other.low.clone()),
            high: self.high.clone().max(other.high.clone()),
            bits: self.bits,
        }
    }

    /// The larger of the two numbers.
    #[must_use]
    pub fn max(&self, other: &Self) -> Self {
        self.same_precision(other);
        Self {
            low: self.low.clone().max(other.low.clone()),
            high: self.high.clone().max(other.high.clone()),
            bits: self.bits,
        }
    }

    /// The smaller of the two numbers.
    #[must_use]
    pub fn min(&self, other: &Self) -> Self {
        self.neg().max(&other.neg()).neg()
    }

    /// Certainly less than the other number.
    pub fn certainly_below(&self, other: &Self) -> bool {
        self.same_precision(other);
        self.high < other.low
    }

    /// Certainly at most this exact number.
    pub fn certainly_at_most(&self, value: &Ratio) -> bool {
        self.upper() <= *value
    }

    /// Certainly more than this exact number.
    pub fn certainly_above(&self, value: &Ratio) -> bool {
        self.lower() > *value
    }

    fn same_precision(&self, other: &Self) {
        assert_eq!(self.bits, other.bits, "intervals of different precision do not mix");
    }

    fn map_ends(&self, low: IBig, high: IBig) -> Self {
        debug_assert!(low <= high);
        Self { low, high, bits: self.bits }
    }

    /// The negated number.
    #[must_use]
    pub fn neg(&self) -> Self {
        self.map_ends(-&self.high, -&self.low)
    }

    /// The sum.
    #[must_use]
    pub fn add(&self, other: &Self) -> Self {
        self.same_precision(other);
        self.map_ends(&self.low + &other.low, &self.high + &other.high)
    }

    /// The difference.
    #[must_use]
    pub fn sub(&self, other: &Self) -> Self {
        self.same_precision(other);
        self.map_ends(&self.low - &other.high, &self.high - &other.low)
    }

    /// The product.
    #[must_use]
    pub fn mul(&self, other: &Self) -> Self {
        self.same_precision(other);
        if !self.low.is_negative() && !other.low.is_negative() {
            return self.map_ends(
                floor_shift(&(&self.low * &other.low), self.bits),
                ceil_shift(&(&self.high * &other.high), self.bits),
            );
        }
        let products = [
            &self.low * &other.low,
            &self.low * &other.high,
            &self.high * &other.low,
            &self.high * &other.high,
        ];
        let low = products.iter().min().expect("four products");
        let high = products.iter().max().expect("four products");
        self.map_ends(floor_shift(low, self.bits), ceil_shift(high, self.bits))
    }

    /// The square, which is never negative.
    #[must_use]
    pub fn square(&self) -> Self {
        let product = self.mul(self);
        if product.low.is_negative() { product.map_ends(IBig::ZERO, product.high.clone()) } else { product }
    }

    /// The product with an exact number.
    #[must_use]
    pub fn mul_ratio(&self, factor: &Ratio) -> Self {
        let (num, den) = (factor.numerator(), IBig::from(factor.denominator().clone()));
        let (a, b) = (&self.low * num, &self.high * num);
        let (low, high) = if a <= b { (a, b) } else { (b, a) };
        self.map_ends(floor_div(&low, &den), ceil_div(&high, &den))
    }

    /// The quotient. Panics unless the divisor is certainly positive.
    #[must_use]
    pub fn div(&self, other: &Self) -> Self {
        self.same_precision(other);
        assert!(other.low > IBig::ZERO, "an interval quotient needs a divisor that is certainly positive");
        let (low, high) = (&self.low << self.bits, &self.high << self.bits);
        let low = if low.is_negative() { floor_div(&low, &other.low) } else { floor_div(&low, &other.high) };
        let high =
            if high.is_negative() { ceil_div(&high, &other.high) } else { ceil_div(&high, &other.low) };
        self.map_ends(low, high)
    }

    /// The quotient by a small whole number.
    #[must_use]
    pub fn div_small(&self, divisor: u64) -> Self {
        let divisor = IBig::from(divisor);
        self.map_ends(floor_div(&self.low, &divisor), ceil_div(&self.high, &divisor))
    }

    /// The square root. Ends below zero count as zero.
    #[must_use]
    pub fn sqrt(&self) -> Self {
        let root = |value: &IBig| -> UBig {
            if value.is_negative() { UBig::ZERO } else { (value.clone().unsigned_abs() << self.bits).sqrt() }
        };
        self.map_ends(root(&self.low).into(), IBig::from(root(&self.high)) + IBig::ONE)
    }

    /// e to this number.
    #[must_use]
    pub fn exp(&self) -> Self {
        let low = exp_of_point(&self.low, self.bits);
        if self.low == self.high {
            return low;
        }
        let high = exp_of_point(&self.high, self.bits);
        self.map_ends(low.low, high.high)
    }

    /// e to this number, minus one. Small results keep the bits after the point that the number has, and no more.
    #[must_use]
    pub fn exp_minus_one(&self) -> Self {
        self.exp().sub(&Self::one(self.bits))
    }

    /// The natural logarithm. Panics unless the number is certainly positive.
    #[must_use]
    pub fn ln(&self) -> Self {
        assert!(self.low > IBig::ZERO, "the logarithm needs a number that is certainly positive");
        let low = ln_of_point(&self.low, self.bits);
        if self.low == self.high {
            return low;
        }
        let high = ln_of_point(&self.high, self.bits);
        self.map_ends(low.low, high.high)
    }

    /// This certainly positive number to the power of another.
    #[must_use]
    pub fn pow(&self, exponent: &Self) -> Self {
        self.ln().mul(exponent).exp()
    }

    /// The circle constant.
    pub fn pi(bits: usize) -> Self {
        point::PI.enclose(bits)
    }

    /// Sine and cosine of `2 pi` times this number. The interval may be of any width.
    pub fn sin_cos_turns(&self) -> (Self, Self) {
        let work = self.bits + 24;
        let wide = self.to_precision(work);
        let width = &wide.high - &wide.low;
        let whole = IBig::ONE << work;
        let everything =
            || Self { low: -(IBig::ONE << self.bits), high: IBig::ONE << self.bits, bits: self.bits };
        if width >= whole {
            return (everything(), everything());
        }
        // Take off whole turns, so that the low end lies in [0, 1).
        let turns = floor_shift(&wide.low, work) << work;
        let (low, high) = (&wide.low - &turns, &wide.high - &turns);
        let (sin_low, cos_low) = sin_cos_of_point(&low, work);
        let (sin_high, cos_high) = sin_cos_of_point(&high, work);
        let (mut sin, mut cos) = (sin_low.hull(&sin_high), cos_low.hull(&cos_high));
        // An extremum at a quarter turn strictly inside the interval widens it to plus or minus one.
        let quarter = IBig::ONE << (work - 2);
        let one = IBig::ONE << work;
        let mut at = ceil_div(&low, &quarter);
        while &at * &quarter <= high {
            match i64::try_from(floor_mod(&at, 4)).expect("a remainder by four") {
                0 => cos.high.clone_from(&one),
                1 => sin.high.clone_from(&one),
                2 => cos.low = -&one,
                _ => sin.low = -&one,
            }
            at += IBig::ONE;
        }
        (sin.to_precision(self.bits), cos.to_precision(self.bits))
    }

    /// The chance that a standard normal variable is at most this number.
    #[must_use]
    pub fn normal_cdf(&self) -> Self {
        let low = normal_cdf_of_point(&self.low, self.bits);
        if self.low == self.high {
            return low;
        }
        let high = normal_cdf_of_point(&self.high, self.bits);
        self.map_ends(low.low, high.high)
    }
}

/// Machin: pi = 16 atan(1/5) - 4 atan(1/239).
fn pi_by_series(bits: usize) -> Interval {
    let work = bits + 16;
    let sixteen = Interval::integer(16, work);
    let four = Interval::integer(4, work);
    sixteen.mul(&atan_of_inverse(5, work)).sub(&four.mul(&atan_of_inverse(239, work))).to_precision(bits)
}

/// A rational upper bound on e^x, with a relative error of at most 2^-64.
pub fn exp_upper(x: &Ratio) -> Ratio {
    exp_at(x).upper()
}

/// A rational lower bound on e^x, with a relative error of at most 2^-64.
pub fn exp_lower(x: &Ratio) -> Ratio {
    exp_at(x).lower()
}

fn exp_at(x: &Ratio) -> Interval {
    // Relative precision: below one, the answer needs about |x|·log2(e) more bits.
    let extra = if x.is_negative() {
        x.abs().ceil_i64().map_or(0, |n| usize::try_from(n).unwrap_or(0)) * 3 / 2
    } else {
        0
    };
    Interval::exact(x, 80 + extra).exp()
}

/// A rational upper bound on ln x for x > 0, within 2^-64.
pub fn ln_upper(x: &Ratio) -> Ratio {
    ln_at(x).upper()
}

/// A rational lower bound on ln x for x > 0, within 2^-64.
pub fn ln_lower(x: &Ratio) -> Ratio {
    ln_at(x).lower()
}

fn ln_at(x: &Ratio) -> Interval {
    assert!(x.is_positive(), "the logarithm needs a positive number");
    let bits = 80 + x.denominator().bit_len();
    Interval::exact(x, bits).ln().to_precision(80)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ratio(text: &str) -> Ratio {
        text.parse().unwrap()
    }

    fn contains(interval: &Interval, digits: &str) -> bool {
        // The digits are truncated, so the true number lies within one unit of the last place above.
        let places = digits.split_once('.').map_or(0, |(_, f)| f.len());
        let low = ratio(digits);
        let high = &low + &ratio(&format!("1e-{places}"));
        interval.lower() <= high && interval.upper() >= low
    }

    #[test]
    fn known_digits() {
        let at = |text: &str| Interval::exact(&ratio(text), 128);
        assert!(contains(&at("1").exp(), "2.71828182845904523536028747135266249775"));
        assert!(contains(&at("-1").exp(), "0.36787944117144232159552377016146086744"));
        assert!(contains(&at("10").exp(), "22026.46579480671651695790064528424436635351"));
        assert!(contains(&at("2").ln(), "0.69314718055994530941723212145817656807"));
        assert!(contains(&at("10").ln(), "2.30258509299404568401799145468436420760"));
        assert!(contains(&Interval::pi(128), "3.14159265358979323846264338327950288419"));
        assert!(contains(&at("2").sqrt(), "1.41421356237309504880168872420969807856"));
        assert!(contains(&at("1.96").normal_cdf(), "0.975002104851779"));
        assert!(contains(&at("-6").normal_cdf(), "0.00000000098658764503"));
        let (sin, cos) = Interval::exact(&Ratio::new(1, 12), 128).sin_cos_turns();
        assert!(contains(&sin, "0.5000000000000000000000000000"));
        assert!(contains(&cos, "0.8660254037844386467637231707529361834"));
    }

    #[test]
    fn results_are_tight() {
        let unit = Ratio::dyadic(IBig::from(64), 128);
        let x = Interval::exact(&ratio("3.7"), 128);
        for y in [
            x.exp().mul_ratio(&Ratio::new(1, 64)),
            x.ln(),
            x.sqrt(),
            x.normal_cdf(),
            x.neg().exp(),
            Interval::pi(128),
        ] {
            assert!(&y.upper() - &y.lower() <= unit, "{y:?}");
        }
    }

    #[test]
    fn bounds_are_as_close_as_they_say() {
        let close = Ratio::dyadic(IBig::ONE, 64);
        for x in ["0", "1", "-1", "1/3", "-1/3", "-0.000001", "700", "-700", "12345.678", "-12345.678"] {
            let (low, high) = (exp_lower(&ratio(x)), exp_upper(&ratio(x)));
            assert!(low.is_positive() && &high - &low <= &low * &close, "e^{x}");
        }
        for x in ["1", "2", "1/3", "1e-300", "1e300", "123456789/1000"] {
            assert!(ln_upper(&ratio(x)) - ln_lower(&ratio(x)) <= close, "ln {x}");
        }
        // The bits after the point, whether the result is small or not.
        let small = Interval::exact(&ratio("1e-30"), 128).exp_minus_one();
        assert!(small.upper() - small.lower() <= Ratio::dyadic(IBig::from(64), 128));
        assert!(small.lower() <= ratio("1e-30") && ratio("1e-30") <= small.upper());
    }

    #[test]
    fn shifting_right_rounds_down() {
        for (value, bits, down, up) in
            [(-5, 1, -3, -2), (5, 1, 2, 3), (-4, 2, -1, -1), (-1, 70, -1, 0), (1, 70, 0, 1)]
        {
            let value = IBig::from(value);
            assert_eq!((floor_shift(&value, bits), ceil_shift(&value, bits)), (down.into(), up.into()));
        }
    }

    #[test]
    #[should_panic(expected = "certainly positive")]
    fn zero_is_no_divisor() {
        let _ = Interval::one(64).div(&Interval::zero(64));
    }

    #[test]
    fn far_ends_stay_enclosed() {
        let bits = 64;
        let tiny = Interval::exact(&ratio("-1e6"), bits).exp();
        assert!(tiny.lower().is_zero() && tiny.upper() <= Ratio::dyadic(IBig::ONE, bits));
        let sure = Interval::exact(&ratio("100"), bits).normal_cdf();
        assert!(sure.upper() == Ratio::one() && sure.lower() < Ratio::one());
        let huge = Interval::exact(&ratio("700"), bits).exp();
        assert!((huge.to_f64() / 700f64.exp() - 1.0).abs() < 1e-12);
    }

    #[test]
    fn wide_angles_reach_their_extremes() {
        let at = |a: &str, b: &str| Interval::between(&ratio(a), &ratio(b), 64).sin_cos_turns();
        let (sin, cos) = at("0.2", "0.3");
        assert!(sin.upper() == Ratio::one() && cos.lower().is_negative() && cos.upper().is_positive());
        let (sin, cos) = at("0.9", "1.6");
        assert!(sin.upper() == Ratio::one() && cos.upper() == Ratio::one() && cos.lower() == -Ratio::one());
        assert!(sin.lower().to_f64() < -0.58);
        let (sin, _) = at("-3", "3");
        assert!(sin.lower() == -Ratio::one() && sin.upper() == Ratio::one());
    }

    proptest! {
        #[test]
        fn encloses_what_floats_say(x in -30.0f64..30.0, width in 0.0f64..0.01) {
            let low = Ratio::from_f64_exact(x).unwrap();
            let high = Ratio::from_f64_exact(x + width).unwrap();
            let interval = Interval::between(&low, &high, 160);
            let inside = |i: &Interval, value: f64| {
                let slack = value.abs() * 1e-14 + 1e-300;
                i.lower().to_f64() <= value + slack && value - slack <= i.upper().to_f64()
            };
            let mid = x + width / 2.0;
            prop_assert!(inside(&interval.exp(), mid.exp()));
            prop_assert!(inside(&interval.square(), mid * mid));
            let (sin, cos) = interval.sin_cos_turns();
            let near = |i: &Interval, v: f64| i.lower().to_f64() <= v + 1e-12 && v - 1e-12 <= i.upper().to_f64();
            let angle = (mid - mid.floor()) * std::f64::consts::TAU;
            prop_assert!(near(&sin, angle.sin()) && near(&cos, angle.cos()));
            if x > 0.001 {
                prop_assert!(inside(&interval.ln(), mid.ln()) || mid.ln().abs() < 1e-3);
                prop_assert!(inside(&interval.sqrt(), mid.sqrt()));
                prop_assert!(inside(&Interval::one(160).div(&interval), 1.0 / mid));
            }
        }

        #[test]
        fn ln_undoes_exp(num in -20_000i64..20_000) {
            let x = Interval::exact(&Ratio::new(num, 1000), 160);
            let back = x.exp().ln();
            prop_assert!(back.lower() <= x.upper() && x.lower() <= back.upper());
            prop_assert!(back.upper().to_f64() - back.lower().to_f64() < 1e-30);
        }

        #[test]
        fn a_coarser_precision_contains_a_finer_one(num in -5000i64..5000, den in 1u64..1000) {
            let x = Ratio::new(num, den);
            let (fine, coarse) = (Interval::exact(&x, 200), Interval::exact(&x, 60));
            for (f, c) in [(fine.exp(), coarse.exp()), (fine.normal_cdf(), coarse.normal_cdf())] {
                prop_assert!(c.lower() <= f.lower() && f.upper() <= c.upper());
            }
        }
    }
}
