//! Bins of equal width on a logarithmic scale, as whole numbers.
//!
//! Source: 000_4d769f04a6a550e8.txt, 7.2.1, for any base and any number of shifts.
//!
//! # Claim
//!
//! With base B and shift j of K, a whole number v >= 1 lies in the bin `[B^(k + j/K), B^(k + 1 + j/K))`
//! if and only if it lies in the [`Bin`] that [`Bins::bin`] gives: each bound is the exact smallest whole
//! number not below the power. Zero is a bin of its own. The table depends on public numbers only.

use crate::{interval::Interval, loss::ParameterError, ratio::Ratio};
use dashu_int::IBig;

/// Whole numbers from `lower` to below `upper`; `None` where nothing lies above.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Bin {
    /// The smallest number inside.
    pub lower: u64,
    /// The smallest number above.
    pub upper: Option<u64>,
}

/// The bounds of all bins, one table per shift.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bins {
    bounds: Vec<Vec<u64>>,
}

const MAX_SHIFTS: u32 = 16;
/// Bounds up to 2^64 with errors that stay far below the distance of a power from a whole number.
const BITS: usize = 320;

impl Bins {
    /// Bins of one power of `base` each, in `shifts` positions.
    pub fn new(base: &Ratio, shifts: u32) -> Result<Self, ParameterError> {
        if *base < Ratio::new(1001, 1000) || *base > Ratio::from(65536u64) {
            return Err(ParameterError::out_of_range(
                "base",
                base,
                "give a number from 1.001 to 65536, such as 2 or 1.2",
            ));
        }
        if !(1..=MAX_SHIFTS).contains(&shifts) {
            return Err(ParameterError::out_of_range(
                "shifts",
                shifts,
                "give a whole number from 1 to 16, such as 2",
            ));
        }
        // Every position begins at the number one, below which only zero lies.
        let mut bounds = vec![vec![1]; shifts as usize];
        for (exponent, bound) in powers_up(base, shifts).into_iter().enumerate().skip(1) {
            let table: &mut Vec<u64> = &mut bounds[exponent % shifts as usize];
            if table.last() != Some(&bound) {
                table.push(bound);
            }
        }
        Ok(Self { bounds })
    }

    /// The same for gaps of floats ([`Spacing::Floats`](super::Spacing::Floats)) and powers of two: the bounds are among the
    /// ordinals `powers`, of 2 to the multiples of one over `parts`, which are a multiple of the shifts.
    pub(crate) fn of_floats(powers: &[u64], parts: u32, shifts: u32) -> Self {
        let each = (parts / shifts) as usize;
        let mut bounds = vec![vec![1]; shifts as usize];
        for (exponent, &bound) in powers.iter().step_by(each).enumerate().skip(1) {
            let table: &mut Vec<u64> = &mut bounds[exponent % shifts as usize];
            if table.last() != Some(&bound) {
                table.push(bound);
            }
        }
        Self { bounds }
    }

    /// How many positions there are.
    pub fn shifts(&self) -> usize {
        self.bounds.len()
    }

    /// The bin of this number in this position.
    pub fn bin(&self, shift: usize, number: u64) -> Bin {
        let bounds = &self.bounds[shift];
        let above = bounds.partition_point(|&bound| bound <= number);
        Bin { lower: if above == 0 { 0 } else { bounds[above - 1] }, upper: bounds.get(above).copied() }
    }
}

/// The smallest whole numbers not below `base^(j / parts)` for j = 0, 1, 2, … as far as 64 bits go. The base is
/// above one.
pub fn powers_up(base: &Ratio, parts: u32) -> Vec<u64> {
    let root = Interval::exact(base, BITS).pow(&Interval::exact(&Ratio::new(1, parts.into()), BITS));
    let mut powers = vec![1];
    let mut power = Interval::one(BITS);
    for exponent in 1.. {
        power = power.mul(&root);
        let Some(whole) = smallest_not_below(&power, base, exponent, parts) else { break };
        powers.push(whole);
    }
    powers
}

/// The ordinals of floats next to `2^(LEAST + j / parts)` for j = 0, 1, 2, … as far as floats go, rising or equal.
pub(crate) fn float_powers(parts: u32) -> Vec<u64> {
    let roots: Vec<f64> = (0..parts)
        .map(|part| {
            let exponent = Interval::exact(&Ratio::new(part.into(), parts.into()), BITS);
            Interval::exact(&Ratio::from(2u64), BITS).pow(&exponent).lower().to_f64()
        })
        .collect();
    let two_to = |exponent: i32| match exponent {
        ..-1022 => f64::from_bits(1 << (exponent - LEAST)),
        _ => f64::from_bits(u64::from((exponent + 1023).unsigned_abs()) << 52),
    };
    let powers = (LEAST..1024).flat_map(|exponent| roots.iter().map(move |root| root * two_to(exponent)));
    powers.map(f64::to_bits).collect()
}

/// Two to this power is the smallest float above zero.
pub(crate) const LEAST: i32 = -1074;

/// The smallest whole number not below `base^(exponent / shifts)`, which lies in `power`; `None` beyond
/// 64 bits.
fn smallest_not_below(power: &Interval, base: &Ratio, exponent: usize, shifts: u32) -> Option<u64> {
    let (low, high) = (power.lower().ceil_big(), power.upper().ceil_big());
    debug_assert!(&high - &low <= IBig::ONE);
    if low == high {
        return u64::try_from(low).ok();
    }
    // The interval holds the whole number `low`: compare its power with that of the base, exactly.
    let left = low.pow(shifts as usize) * IBig::from(base.denominator().pow(exponent));
    let reached = left >= base.numerator().pow(exponent);
    u64::try_from(if reached { low } else { high }).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_of_floats_are_powers_of_two() {
        let powers = float_powers(8);
        assert_eq!((powers.len(), powers[0], powers.is_sorted()), ((1024 + 1074) * 8, 1, true));
        let bins = Bins::of_floats(&powers, 8, 4);
        for (number, shift, low, high) in [
            (0.3f64, 0, 0.25f64, 0.5f64),
            (0.5, 0, 0.5, 1.0),
            (100.0, 0, 64.0, 128.0),
            (100.0, 2, 64.0 * 2f64.sqrt(), 128.0 * 2f64.sqrt()),
            (1e-320, 0, 5.06e-321, 1.012e-320),
        ] {
            let Bin { lower, upper } = bins.bin(shift, number.to_bits());
            let near = |found: u64, wanted: f64| (f64::from_bits(found) - wanted).abs() <= wanted * 1e-3;
            assert!(near(lower, low) && near(upper.unwrap(), high), "{number}");
        }
        // Zero is a bin of its own in every position, and so is what lies above the last power.
        for shift in 0..4 {
            assert_eq!(bins.bin(shift, 0), Bin { lower: 0, upper: Some(1) });
            assert_eq!(bins.bin(shift, f64::MAX.to_bits()).upper, None);
        }
    }

    #[test]
    fn bins_of_base_two() {
        let bins = Bins::new(&Ratio::from(2u64), 2).unwrap();
        assert_eq!(bins.shifts(), 2);
        let bin = |shift, number| {
            let Bin { lower, upper } = bins.bin(shift, number);
            (lower, upper)
        };
        assert_eq!([0, 1, 2, 3, 4, 7, 8].map(|v| bin(0, v).0), [0, 1, 2, 2, 4, 4, 8]);
        assert_eq!(bin(0, 0), (0, Some(1)));
        // The half shift: bounds at 2^0.5 = 1.41, 2^1.5 = 2.83, 2^2.5 = 5.66, rounded up.
        assert_eq!([1, 2, 3, 5, 6, 11, 12].map(|v| bin(1, v)), {
            let bounds = [1, 2, 3, 6, 12, 23].map(Some);
            [0, 1, 2, 2, 3, 3, 4].map(|i: usize| (bounds[i].unwrap(), bounds[i + 1]))
        });
        assert_eq!(bin(0, u64::MAX), (1 << 63, None));
        // 2^63.5 rounded up: 13043817825332782213.
        assert_eq!(bin(1, u64::MAX), (13_043_817_825_332_782_213, None));
    }

    #[test]
    fn bounds_agree_with_exact_powers() {
        for (base, shifts) in [("3/2", 1), ("1.2", 3), ("10", 4), ("16", 4)] {
            let base: Ratio = base.parse().unwrap();
            let bins = Bins::new(&base, shifts).unwrap();
            // A bin ends between v - 1 and v if and only if (v - 1)^K < B^e <= v^K for an e of its shift.
            let mut powers = vec![Ratio::one()];
            let to_the = |number: i64| Ratio::from_parts(IBig::from(number).pow(shifts as usize), 1u8.into());
            while powers.last() <= Some(&to_the(200)) {
                powers.push(powers.last().unwrap() * &base);
            }
            for (shift, number) in (0..shifts as usize).flat_map(|shift| (2..200).map(move |v| (shift, v))) {
                let (below, here) = (to_the(number - 1), to_the(number));
                let ends =
                    powers.iter().skip(shift).step_by(shifts as usize).any(|p| below < *p && *p <= here);
                let bin = |number: i64| bins.bin(shift, number.unsigned_abs());
                assert_eq!(bin(number - 1) != bin(number), ends, "{base} {shift} {number}");
                assert!(bin(number).lower <= number.unsigned_abs());
                assert!(!ends || bin(number - 1).upper == Some(number.unsigned_abs()));
            }
        }
    }

    #[test]
    fn public_numbers_out_of_range_say_what_to_write() {
        assert_eq!(
            Bins::new(&Ratio::one(), 2).unwrap_err().to_string(),
            "base 1 is not accepted: give a number from 1.001 to 65536, such as 2 or 1.2"
        );
        assert_eq!(
            Bins::new(&Ratio::from(2u64), 0).unwrap_err().to_string(),
            "shifts 0 is not accepted: give a whole number from 1 to 16, such as 2"
        );
    }
}
