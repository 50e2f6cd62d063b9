//! Exponentials in floats with a proved error, and floats on a chosen side of exact numbers.
//!
//! # Guarantee
//!
//! On IEEE 754 doubles, [`exp`] is within a relative 2^-48 of e^x for -700 <= x <= 700, on every machine: it uses
//! sums, products and quotients only, never the platform's own exponential. The others name their side.
//!
//! # Why
//!
//! 1. With k the whole number next to x/ln 2, `x - k·HIGH` is exact: HIGH has 33 bits, k has 10, and the result has
//!    no digits below those of x and HIGH. Subtracting `k·LOW` leaves r with |r| <= 0.3466 and an error below
//!    2^-52, as HIGH + LOW is ln 2 within 2^-86.
//! 2. The Taylor sum to the 13th power misses less than 0.3466^14/14!·1.01 < 2^-57; Horner's rule rounds 40 times,
//!    coefficients included, each time at most 2^-53 of a partial sum that further steps shrink: in all below 2^-50 of
//!    e^r > 0.7.
//! 3. The factor 2^k is exact.

use crate::ratio::Ratio;

/// The first 33 bits of ln 2.
const HIGH: f64 = f64::from_bits(0x3fe6_2e42_fee0_0000);
/// What is missing to ln 2.
const LOW: f64 = f64::from_bits(0x3dea_39ef_3579_3c76);
/// 1/n! for n = 0 ..= 13, each rounded once.
const INVERSE_FACTORIALS: [f64; 14] = [
    1.0,
    1.0,
    1.0 / 2.0,
    1.0 / 6.0,
    1.0 / 24.0,
    1.0 / 120.0,
    1.0 / 720.0,
    1.0 / 5040.0,
    1.0 / 40_320.0,
    1.0 / 362_880.0,
    1.0 / 3_628_800.0,
    1.0 / 39_916_800.0,
    1.0 / 479_001_600.0,
    1.0 / 6_227_020_800.0,
];
/// The largest argument in size.
pub(super) const REACH: f64 = 700.0;
/// More than any relative error of one step of this folder, which are all below 2^-40.
pub(super) const ABOVE: f64 = 1.0 + 1.0 / (1u64 << 38) as f64;

/// e^x for |x| <= 700, within a relative 2^-48; beyond, e^-700 or e^700.
pub(super) fn exp(x: f64) -> f64 {
    let x = x.clamp(-REACH, REACH);
    let k = (x * std::f64::consts::LOG2_E).round();
    let r = (x - k * HIGH) - k * LOW;
    let sum = INVERSE_FACTORIALS.iter().rev().fold(0.0, |sum, inverse| sum * r + inverse);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "|k| is at most 1010")]
    let power = f64::from_bits(((k as i64 + 1023) as u64) << 52);
    sum * power
}

/// At least e^x, or infinite above e^700.
pub(super) fn exp_above(x: f64) -> f64 {
    if x > REACH { f64::INFINITY } else { exp(x) * ABOVE }
}

/// At most e^x.
pub(super) fn exp_below(x: f64) -> f64 {
    if x < -REACH { 0.0 } else { exp(x) / ABOVE }
}

/// The sum of at most 2^24 nonnegative numbers, within a relative 2^-39: by blocks, as one long sum of n numbers
/// may be off by n roundings.
pub(super) fn total(values: impl Iterator<Item = f64>) -> f64 {
    let (mut blocks, mut block) = (0.0, 0.0);
    for (i, value) in values.enumerate() {
        block += value;
        if i % 4096 == 4095 {
            blocks += block;
            block = 0.0;
        }
    }
    blocks + block
}

/// 1 - e^-x for 0 <= x, within a relative 2^-45.
pub(super) fn one_minus_exp_neg(x: f64) -> f64 {
    if x > 0.25 {
        return 1.0 - exp(-x);
    }
    // The alternating series x - x²/2 + …; x^15/15! is below 2^-70 of x.
    let mut sum = 0.0;
    for n in (1..=14u8).rev() {
        sum = x / f64::from(n) * (1.0 - sum);
    }
    sum
}

/// At least ln x, by less than a relative or absolute 2^-36, for a positive and finite x.
pub(super) fn ln_above(x: f64) -> f64 {
    // Whatever the platform's logarithm says, the step away from it is checked with our own exponential.
    let slack = 1.0 / (1u64 << 37) as f64;
    let mut y = x.ln();
    y += slack * y.abs().max(1.0);
    while exp_below(y) < x {
        y += slack * y.abs().max(1.0);
    }
    y
}

/// Not below the number.
pub(crate) fn above(value: &Ratio) -> f64 {
    let mut near = value.to_f64();
    while near.is_finite() && Ratio::from_f64_exact(near).is_some_and(|near| near < *value) {
        near = near.next_up();
    }
    near
}

/// Not above the number.
pub(crate) fn below(value: &Ratio) -> f64 {
    -above(&-value.clone())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interval::Interval;

    fn error_of(x: f64, got: f64, truth: impl Fn(&Interval) -> Interval) -> f64 {
        let bits = 1300;
        let at = Interval::exact(&Ratio::from_f64_exact(x).unwrap(), bits);
        let truth = truth(&at);
        let got = Interval::exact(&Ratio::from_f64_exact(got).unwrap(), bits);
        let off = got.sub(&truth);
        let off = if off.lower().is_negative() { off.neg() } else { off };
        off.div(&truth).to_f64()
    }

    #[test]
    fn the_exponential_is_as_close_as_it_says() {
        let mut x = -700.0;
        while x <= 700.0 {
            let off = error_of(x, exp(x), Interval::exp);
            assert!(off < 2f64.powi(-48), "{x}: {off}");
            x += 3.761_234_567_891;
        }
        for x in [0.0, 1e-300, -1e-17, 0.346_573_590_279_972_6, -0.346_573_590_279_972_7, 699.999, -699.999] {
            assert!(error_of(x, exp(x), Interval::exp) < 2f64.powi(-48));
        }
        for x in [1e-300, 1e-9, 0.001, 0.1, 0.25, 0.250_001, 1.0, 30.0] {
            let off = error_of(x, one_minus_exp_neg(x), |x| Interval::one(x.bits()).sub(&x.neg().exp()));
            assert!(off < 2f64.powi(-45), "{x}: {off}");
        }
    }

    /// One long sum of these is off by a part in 2^36.
    #[test]
    fn long_sums_are_as_close_as_they_say() {
        let count = 1 << 20;
        // A power of two times a float is exact.
        let (got, truth) = (total(std::iter::repeat_n(0.1, count)), 0.1 * count as f64);
        assert!((got / truth - 1.0).abs() < 2f64.powi(-39), "{got}");
        assert!((total([0.5, 0.25, 4.0].into_iter()) - 4.75).abs() < 1e-15);
    }

    #[test]
    fn sides_are_kept() {
        for text in ["0.1", "1/3", "-0.1", "20", "0", "1e-30", "123456789.123456789"] {
            let value: Ratio = text.parse().unwrap();
            let (low, high) = (below(&value), above(&value));
            assert!(Ratio::from_f64_exact(low).unwrap() <= value);
            assert!(Ratio::from_f64_exact(high).unwrap() >= value);
            assert!(high <= low.next_up());
        }
        for x in [1e-300, 0.5, 1.0, 1.0 + 1e-12, 7.0, 1e300] {
            let y = ln_above(x);
            assert!(exp_below(y) >= x && (y - x.ln()).abs() < 1e-10 * x.ln().abs().max(1.0));
        }
        assert!(exp_above(701.0).is_infinite() && exp_below(-701.0) <= 0.0);
    }
}
