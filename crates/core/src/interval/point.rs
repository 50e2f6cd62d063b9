//! Elementary functions at one exact point, in whole numbers: what the samplers of real variables run on.
//!
//! Each function evaluates its series by Horner's rule in fixed point, cutting every product downwards,
//! and returns an [`Interval`] wide enough for all cuts. The number of steps depends on the precision
//! alone, never on the point, so that the time of a draw does not tell the noise. The functions of
//! [`Interval`] itself are written another way (both ends carried through every step); the tests of this
//! file hold one against the other.

use super::Interval;
use dashu_base::{BitTest, UnsignedAbs};
use dashu_int::{IBig, UBig};
use std::sync::OnceLock;

/// Constants are computed once at this precision; a finer one is computed each time.
const KEPT_BITS: usize = 1024;

/// Extra bits that absorb the cuts of a series.
const GUARD: usize = 24;

/// A constant, computed when it is first asked for.
pub(super) struct Constant {
    copy: OnceLock<Interval>,
    compute: fn(usize) -> Interval,
}

pub(super) static PI: Constant = Constant { copy: OnceLock::new(), compute: super::pi_by_series };
static LN_TWO: Constant = Constant { copy: OnceLock::new(), compute: ln_two_by_series };

/// See [`crate::prepare`].
pub(crate) fn prepare() {
    let _ = (PI.kept(), LN_TWO.kept());
}

impl Constant {
    fn kept(&self) -> &Interval {
        self.copy.get_or_init(|| (self.compute)(KEPT_BITS))
    }

    /// The constant at this precision.
    pub(super) fn enclose(&self, bits: usize) -> Interval {
        if bits > KEPT_BITS { (self.compute)(bits) } else { self.kept().to_precision(bits) }
    }

    /// The constant from below, in units of 2^-bits; off by less than 2 units.
    fn low_units(&self, bits: usize) -> UBig {
        if bits > KEPT_BITS {
            return (self.compute)(bits).low.unsigned_abs();
        }
        (&self.kept().low >> (KEPT_BITS - bits)).unsigned_abs()
    }
}

fn ln_two_by_series(bits: usize) -> Interval {
    let half = super::series::atanh_series(&Interval::one(bits + 16).div_small(3));
    half.add(&half).to_precision(bits)
}

/// `value` in units of 2^-from, cut to units of 2^-to.
fn rescale(value: &UBig, from: usize, to: usize) -> UBig {
    if to >= from { value << (to - from) } else { value >> (from - to) }
}

/// Everything within `error` units of 2^-work of `value`, at a precision of `bits <= work`.
fn around(value: &IBig, error: u64, work: usize, bits: usize) -> Interval {
    let error = IBig::from(error);
    Interval { low: value - &error, high: value + error, bits: work }.to_precision(bits)
}

/// The natural logarithm of `value·2^-scale`, for a value above zero.
pub(crate) fn ln(value: &UBig, scale: usize, bits: usize) -> Interval {
    let work = bits + GUARD;
    let length = value.bit_len();
    assert!(length > 0, "the logarithm needs a number above zero");
    // The number is m·2^exponent with 1 <= m < 2; taken as (m/2)·2^(exponent+1) where m > 4/3, so that
    // ln = 2 atanh(t) with t = (m-1)/(m+1) or (m-2)/(m+2), and |t| <= 1/5.
    let mantissa = rescale(value, length - 1, work);
    let one = UBig::ONE << work;
    let large = &mantissa * 3u8 > &one << 2;
    let centre = if large { &one << 1 } else { one.clone() };
    let exponent = signed(length) - 1 - signed(scale) + i64::from(large);
    let below = mantissa < centre;
    let distance = if below { &centre - &mantissa } else { &mantissa - &centre };
    let t = (distance << work) / (mantissa + centre);
    let squared = (&t * &t) >> work;
    // Each term is worth log2(25) > 4.5 bits.
    let mut sum = UBig::ZERO;
    for index in (0..=work * 2 / 9 + 1).rev() {
        sum = ((sum * &squared) >> work) + &one / (2 * index + 1);
    }
    let magnitude = IBig::from((t * sum) >> (work - 1));
    let ln_mantissa = if below { -magnitude } else { magnitude };
    let estimate = ln_mantissa + IBig::from(exponent) * IBig::from(LN_TWO.low_units(work));
    // Cuts: t by 1.5 units, its square by 1.6, the sum by 4, twice their product by 7, the tail of the
    // series by 1; ln 2 by 2 units for each binary place.
    around(&estimate, 16 + 2 * exponent.unsigned_abs(), work, bits)
}

/// How many terms of a series with these factorial-like divisors fall below 2^-bits.
fn terms(bits: usize, bits_each: usize, divisor: impl Fn(usize) -> usize) -> usize {
    let mut worth = 0;
    let mut index = 0;
    while worth <= bits {
        index += 1;
        worth += bits_each + (divisor(index).bit_len() - 1);
    }
    index
}

/// The natural logarithm of two.
pub(crate) fn ln_two(bits: usize) -> Interval {
    LN_TWO.enclose(bits)
}

/// e to the power `value·2^-scale`, for a value of at least zero; relative precision about `2^-scale`.
pub(crate) fn exp(value: &UBig, scale: usize, bits: usize) -> Interval {
    const HALVINGS: usize = 8;
    let work = scale + GUARD;
    let point = value << GUARD;
    // The number is doublings·ln 2 + rest with 0 <= rest < 0.7.
    let ln_two = LN_TWO.low_units(work);
    let doublings = &point / (&ln_two + UBig::from(2u8));
    let rest = (&point - &doublings * ln_two) >> HALVINGS;
    let doublings = usize::try_from(&doublings).expect("exponents are far below 2^64");
    let one = UBig::ONE << work;
    let mut power = one.clone();
    for index in (1..=terms(work, HALVINGS, |index| index)).rev() {
        power = &one + ((power * &rest) >> work) / index;
    }
    for _ in 0..HALVINGS {
        power = (&power * &power) >> work;
    }
    // Cuts: 5 units before the squarings and 2 per doubling in 256 more; each squaring makes them at most
    // 2·1.42 times as many, eight of them 2^8·2, and adds one.
    let error = IBig::from(4096 + 8 * doublings as u64);
    let power = IBig::from(power);
    let (low, high) = (&power - &error, power + error);
    if doublings <= work {
        return Interval { low, high, bits: work - doublings }.to_precision(bits);
    }
    let up = doublings - work;
    Interval { low: low << up, high: high << up, bits: 0 }.to_precision(bits)
}

/// cos x as a function of x² <= pi²/16.
fn cos_series(squared: &UBig, work: usize) -> UBig {
    alternating(squared, work, |index| (2 * index - 1) * (2 * index))
}

/// sin x / x as a function of x² <= pi²/16.
fn sinc_series(squared: &UBig, work: usize) -> UBig {
    alternating(squared, work, |index| 2 * index * (2 * index + 1))
}

/// 1 - x/d1·(1 - x/d2·(1 - …)), off by less than 4 units: each step makes the cuts so far three times smaller.
fn alternating(x: &UBig, work: usize, divisor: impl Fn(usize) -> usize) -> UBig {
    let one = UBig::ONE << work;
    let mut sum = one.clone();
    for index in (1..=terms(work, 0, &divisor)).rev() {
        sum = &one - ((sum * x) >> work) / divisor(index);
    }
    sum
}

/// `pi·value·2^-scale`, cut downwards by less than 3 units of 2^-work, for an angle of at most pi/4.
fn angle(value: &UBig, scale: usize, work: usize) -> UBig {
    (PI.low_units(work) * value) >> scale
}

/// The cosine of `2 pi·value·2^-scale`, for a value between zero and half a turn.
pub(crate) fn cos_turns(value: &UBig, scale: usize, bits: usize) -> Interval {
    let work = bits + GUARD;
    // In units of an eighth of a turn, so that all comparisons are exact.
    let eighth = UBig::ONE << scale;
    let eighths = value << 3usize;
    assert!(eighths <= &eighth << 2, "a cosine is taken of at most half a turn");
    let squared = |distance: &UBig| {
        let x = angle(distance, scale + 2, work);
        ((&x * &x) >> work, x)
    };
    // The distance from the nearest of zero, a quarter and half a turn is at most an eighth.
    let estimate = if eighths <= eighth {
        cos_series(&squared(&eighths).0, work).into()
    } else if eighths >= &eighth * 3u8 {
        -IBig::from(cos_series(&squared(&((eighth << 2) - eighths)).0, work))
    } else {
        let quarter = eighth << 1;
        let before = eighths <= quarter;
        let (squared, x) = squared(&if before { quarter - eighths } else { eighths - quarter });
        let sine = IBig::from((x * sinc_series(&squared, work)) >> work);
        if before { sine } else { -sine }
    };
    // Cuts: the angle by 3 units, its square by 6, the series by 4.
    around(&estimate, 16, work, bits)
}

/// The cotangent of `(pi/2)·value·2^-scale`, for a value above zero and at most one.
/// Wide by a few units of `2^-bits` as long as it is below `2^reach`.
pub(crate) fn cot_quarter(value: &UBig, scale: usize, bits: usize, reach: usize) -> Interval {
    let work = bits + reach + GUARD;
    let one = UBig::ONE << scale;
    let near = (value << 1usize) <= one;
    let side = if near { value.clone() } else { one - value };
    let x = angle(&side, scale + 1, work);
    let squared = (&x * &x) >> work;
    let (cos, sinc) = (cos_series(&squared, work), sinc_series(&squared, work));
    if near {
        // cos x / (x·sinc x) with x exact but for pi: relative cuts of 16 units in each of cos, sinc and pi.
        let divisor = ((PI.low_units(work) * sinc) >> work) * value;
        let estimate = (cos << (scale + 1 + bits)) / divisor;
        let error = (&estimate >> (work - 8)) + UBig::from(2u8);
        let (estimate, error) = (IBig::from(estimate), IBig::from(error));
        return Interval { low: &estimate - &error, high: estimate + error, bits };
    }
    let estimate = IBig::from((x * sinc) / cos);
    around(&estimate, 64, work, bits)
}

fn signed(bits: usize) -> i64 {
    i64::try_from(bits).expect("short numbers")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ratio::Ratio;
    use proptest::prelude::*;

    fn narrow_and_meeting(fast: &Interval, slow: &Interval) -> bool {
        let slow = slow.to_precision(fast.bits);
        &fast.high - &fast.low <= IBig::from(4) && fast.low <= slow.high && slow.low <= fast.high
    }

    fn ratio(value: &UBig, scale: usize) -> Ratio {
        Ratio::dyadic(value.clone().into(), scale)
    }

    fn any_point() -> impl Strategy<Value = UBig> {
        let word = prop_oneof![Just(0u64), Just(u64::MAX), any::<u64>()];
        (word.clone(), word, 0usize..130).prop_map(|(a, b, down)| {
            let value = ((UBig::from(a) << 64) + UBig::from(b)) >> down;
            if value == UBig::ZERO { UBig::ONE } else { value }
        })
    }

    proptest! {
        #[test]
        fn ln_agrees_with_intervals(value in any_point(), bits in 40usize..300) {
            let slow = Interval::exact(&ratio(&value, 128), 330).ln();
            prop_assert!(narrow_and_meeting(&ln(&value, 128, bits), &slow));
        }

        #[test]
        fn exp_agrees_with_intervals(value in any_point(), bits in 40usize..200, up in 0usize..6) {
            let slow = Interval::exact(&(ratio(&value, 128) * Ratio::from(1u64 << up)), 330).exp();
            let fast = exp(&(value << (128 + up)), 256, bits.min(150));
            prop_assert!(narrow_and_meeting(&fast, &slow));
        }

        #[test]
        fn cos_agrees_with_intervals(value in any_point(), bits in 40usize..300) {
            let slow = Interval::exact(&ratio(&value, 129), 330).sin_cos_turns().1;
            prop_assert!(narrow_and_meeting(&cos_turns(&value, 129, bits), &slow));
        }

        #[test]
        fn cot_agrees_with_intervals(value in any_point(), bits in 40usize..200) {
            let (sin, cos) = Interval::exact(&ratio(&value, 130), 700).sin_cos_turns();
            let fast = cot_quarter(&value, 128, bits, 130);
            prop_assert!(narrow_and_meeting(&fast, &cos.div(&sin)));
        }
    }

    #[test]
    fn the_ends_of_each_domain() {
        let one = UBig::ONE << 64;
        let holds = |interval: Interval, value: i64| {
            interval.lower() <= Ratio::from(value) && Ratio::from(value) <= interval.upper()
        };
        assert!(holds(ln(&one, 64, 100), 0) && holds(exp(&UBig::ZERO, 100, 90), 1));
        assert!(holds(cos_turns(&UBig::ZERO, 64, 100), 1) && holds(cos_turns(&one, 65, 100), -1));
        assert!(holds(cos_turns(&one, 66, 100), 0) && holds(cot_quarter(&one, 64, 100, 20), 0));
        assert!(holds(cot_quarter(&one, 65, 100, 20), 1));
        // Around every place where the formula changes.
        for eighths in 0u64..=4 {
            for near in [-1i64, 0, 1] {
                let Some(value) = (eighths << 60).checked_add_signed(near) else { continue };
                let value = UBig::from(value.min(1 << 62));
                let slow = Interval::exact(&ratio(&value, 63), 200).sin_cos_turns().1;
                assert!(narrow_and_meeting(&cos_turns(&value, 63, 100), &slow));
            }
        }
        // A number far beyond its precision keeps its size.
        let large = exp(&(UBig::from(5000u32) << 100), 100, 20);
        assert!(large.low.bit_len() > 7200 && large.low < large.high);
    }
}
