//! The series behind the functions of [`Interval`], each with its remainder in the enclosure.

use super::{Interval, floor_div, floor_shift};
use dashu_base::{Abs, BitTest, DivEuclid, Signed, UnsignedAbs};
use dashu_int::IBig;

pub(super) fn floor_mod(value: &IBig, modulus: u8) -> IBig {
    let modulus = IBig::from(modulus);
    value - value.div_euclid(&modulus) * modulus
}

/// e^x for the exact dyadic x = value·2^-bits.
///
/// x is halved until it is below 2^-8, the series is summed with an explicit remainder, and the result is
/// squared back. For x < 0 the reciprocal of e^|x| is taken; far below the precision the answer is [0, 1 unit].
pub(super) fn exp_of_point(value: &IBig, bits: usize) -> Interval {
    if value.is_zero() {
        return Interval::one(bits);
    }
    let magnitude = value.clone().abs();
    let length = magnitude.clone().unsigned_abs().bit_len();
    if value.is_negative() {
        // e^-x < 2^-bits as soon as x >= bits; x >= 2^(length-1-bits).
        if length > bits && (IBig::ONE << (length - 1 - bits)) >= IBig::from(bits) {
            return Interval { low: IBig::ZERO, high: IBig::ONE, bits };
        }
        // 1/e^x loses nothing if e^x has the same number of bits below the point.
        let work = bits + 8;
        return Interval::one(work).div(&exp_of_point(&(magnitude << 8), work)).to_precision(bits);
    }
    // The integer part of x·log2(e) bits above the point, plus what squaring loses.
    let integer_bits = if length > bits {
        let whole = u64::try_from(floor_shift(&magnitude, bits)).expect("exponents are far below 2^64");
        usize::try_from(whole).expect("a machine word") * 3 / 2 + 4
    } else {
        4
    };
    let halvings = (length + 8).saturating_sub(bits);
    let work = bits + integer_bits + halvings * 2 + 16;
    let point =
        Interval { low: magnitude.clone(), high: magnitude, bits: bits + halvings }.to_precision(work);
    let mut term = Interval::one(work);
    let mut sum = Interval::one(work);
    let mut index = 1u64;
    loop {
        term = term.mul(&point).div_small(index);
        sum = sum.add(&term);
        if term.high <= IBig::ONE {
            break;
        }
        index += 1;
    }
    // The terms beyond sum to at most the last one, since each is below half of the one before.
    sum.high += &term.high;
    for _ in 0..halvings {
        sum = sum.square();
    }
    sum.to_precision(bits)
}

/// ln y for the exact dyadic y = value·2^-bits > 0: y = m·2^e with 1 <= m < 2, ln m = 2 atanh((m-1)/(m+1)).
pub(super) fn ln_of_point(value: &IBig, bits: usize) -> Interval {
    let length = value.clone().unsigned_abs().bit_len();
    let exponent =
        i64::try_from(length).expect("short numbers") - 1 - i64::try_from(bits).expect("short numbers");
    let work = bits.max(length) + 16;
    let mantissa = Interval { low: value.clone(), high: value.clone(), bits: length - 1 }.to_precision(work);
    let one = Interval::one(work);
    let ln_mantissa = atanh_series(&mantissa.sub(&one).div(&mantissa.add(&one)));
    let ln_two = atanh_series(&one.div_small(3));
    let whole = Interval::integer(exponent, work).mul(&ln_two);
    let half = ln_mantissa.add(&whole);
    half.add(&half).to_precision(bits)
}

/// atanh(t) for 0 <= t <= 1/3.
pub(super) fn atanh_series(t: &Interval) -> Interval {
    let squared = t.square();
    let mut power = t.clone();
    let mut sum = t.clone();
    let mut index = 1u64;
    loop {
        power = power.mul(&squared);
        let term = power.div_small(2 * index + 1);
        sum = sum.add(&term);
        if term.high <= IBig::ONE {
            // The terms beyond shrink at least ninefold each.
            sum.high += &term.high;
            return sum;
        }
        index += 1;
    }
}

/// atan(1/k) by its alternating series.
pub(super) fn atan_of_inverse(k: u64, bits: usize) -> Interval {
    let mut power = Interval::one(bits).div_small(k);
    let mut sum = power.clone();
    let mut index = 1u64;
    loop {
        power = power.div_small(k * k);
        let term = power.div_small(2 * index + 1);
        sum = if index % 2 == 1 { sum.sub(&term) } else { sum.add(&term) };
        if term.high <= IBig::ONE {
            // The rest of an alternating series is below its first omitted term.
            sum.low -= &term.high;
            sum.high += &term.high;
            return sum;
        }
        index += 1;
    }
}

/// Sine and cosine of 2 pi x for the exact dyadic 0 <= x < 2: reduced to an eighth of a turn, then the series.
pub(super) fn sin_cos_of_point(value: &IBig, bits: usize) -> (Interval, Interval) {
    let eighth = IBig::ONE << (bits - 3);
    let quarter = IBig::ONE << (bits - 2);
    // The nearest quarter turn leaves an angle of at most an eighth.
    let quarters = floor_div(&(value + &eighth), &quarter);
    let rest = value - &quarters * &quarter;
    let point = Interval { low: rest.clone(), high: rest, bits };
    let pi = Interval::pi(bits);
    let angle = point.mul(&pi.add(&pi));
    let squared = angle.square();
    let series = |first: Interval, offset: u64| {
        let mut term = first.clone();
        let mut sum = first;
        let mut index = 1u64;
        loop {
            term = term.mul(&squared).div_small((2 * index - 1 + offset) * (2 * index + offset));
            sum = if index % 2 == 1 { sum.sub(&term) } else { sum.add(&term) };
            let size = term.low.clone().abs().max(term.high.clone().abs());
            if size <= IBig::ONE {
                sum.low -= &size;
                sum.high += &size;
                return sum;
            }
            index += 1;
        }
    };
    let cos = series(Interval::one(bits), 0);
    let sin = series(angle.clone(), 1);
    match i64::try_from(floor_mod(&quarters, 4)).expect("a remainder by four") {
        0 => (sin, cos),
        1 => (cos, sin.neg()),
        2 => (sin.neg(), cos.neg()),
        _ => (cos.neg(), sin),
    }
}

/// Phi(x) = 1/2 + phi(x)·(x + x³/3 + x⁵/(3·5) + …) for x >= 0, all terms positive; 1 - Phi(-x) below zero.
pub(super) fn normal_cdf_of_point(value: &IBig, bits: usize) -> Interval {
    if value.is_negative() {
        return Interval::one(bits).sub(&normal_cdf_of_point(&-value, bits));
    }
    let far = Interval { low: (IBig::ONE << bits) - IBig::ONE, high: IBig::ONE << bits, bits };
    // 1 - Phi(x) < e^(-x²/2), so x² >= 2·bits leaves less than one unit.
    let whole = floor_shift(value, bits);
    if &whole * &whole >= IBig::from(2 * bits) {
        return far;
    }
    let grow = usize::try_from(&whole + IBig::ONE).expect("below sqrt(2·bits)");
    // The series grows up to e^(x²/2), which the factor phi(x) takes back.
    let work = bits + grow * grow + 24;
    let x = Interval { low: value.clone(), high: value.clone(), bits }.to_precision(work);
    let squared = x.square();
    let mut term = x.clone();
    let mut sum = x;
    let mut index = 1u64;
    loop {
        term = term.mul(&squared).div_small(2 * index + 1);
        sum = sum.add(&term);
        // Once 2·index + 3 >= 2x² each term is below half of the one before.
        let shrinking = squared.high < (IBig::from(index) << work);
        if shrinking && term.high <= IBig::ONE {
            sum.high += &term.high;
            break;
        }
        index += 1;
    }
    let two_pi = Interval::pi(work).mul(&Interval::integer(2, work));
    let density = squared.div_small(2).neg().exp().div(&two_pi.sqrt());
    let half = Interval::one(work).div_small(2);
    half.add(&density.mul(&sum)).to_precision(bits).min(&Interval::one(bits))
}
