//! Numbers as whole numbers: finite floats in their order, and grids of equal steps.
//!
//! # Claim
//!
//! The finite floats, with `-0.0` and `+0.0` taken as one value, correspond one to one and in order to
//! the whole numbers from `-MAX_ORDINAL` to `MAX_ORDINAL`. Cleaning touches each record on its own, so
//! neighbouring files stay neighbouring rows: under add/remove a record that is not a number is dropped,
//! under replace it becomes the low end of the range, because dropping it would change the number of
//! rows. Infinities are the nearest end of the range under both.
//!
//! The order is kept but not the distances: ordinals are spaced evenly, floats are not. Use a [`Grid`]
//! where differences matter (local sensitivity, the interquartile range).

use super::Range;
use crate::{adjacency::Adjacency, loss::ParameterError, ratio::Ratio};
use dashu_int::IBig;

/// The place of the largest finite float.
pub const MAX_ORDINAL: i64 = 0x7fef_ffff_ffff_ffff;

/// Every finite float.
pub const FLOATS: Range = Range { lo: -MAX_ORDINAL, hi: MAX_ORDINAL };

/// The place of a finite float among all finite floats, zero at zero; `None` for NaN and infinities.
pub fn ordinal(value: f64) -> Option<i64> {
    let magnitude = i64::try_from(value.abs().to_bits()).expect("the sign bit is clear");
    value.is_finite().then_some(if value.is_sign_negative() { -magnitude } else { magnitude })
}

/// The float at this place; `None` beyond the largest finite float.
pub fn float(ordinal: i64) -> Option<f64> {
    let magnitude = f64::from_bits(ordinal.unsigned_abs());
    let inside = ordinal.unsigned_abs() <= MAX_ORDINAL.unsigned_abs();
    inside.then_some(if ordinal < 0 { -magnitude } else { magnitude })
}

/// The float `steps` places further (or before, if negative), stopping at the largest.
pub fn step_from(value: f64, steps: i64) -> Option<f64> {
    float(FLOATS.clamp(ordinal(value)?.saturating_add(steps)))
}

/// The range between two finite floats, as places.
pub fn range_of_floats(lo: f64, hi: f64) -> Result<Range, ParameterError> {
    match (ordinal(lo), ordinal(hi)) {
        (Some(low), Some(high)) if low <= high => Ok(Range { lo: low, hi: high }),
        _ => Err(ParameterError::out_of_range(
            "range",
            format!("{lo},{hi}"),
            "give LO,HI as finite numbers with LO at most HI",
        )),
    }
}

/// What becomes of one record: a whole number in the range, or nothing.
///
/// `place` maps a finite float; `None` in `record` is a missing field. Under replace the answer is never
/// `None`.
pub(super) fn clean(
    record: Option<f64>,
    range: Range,
    adjacency: Adjacency,
    place: impl Fn(f64) -> i64,
) -> Option<i64> {
    match record.filter(|value| !value.is_nan()) {
        Some(f64::INFINITY) => Some(range.hi),
        Some(f64::NEG_INFINITY) => Some(range.lo),
        Some(value) => Some(range.clamp(place(value))),
        None => match adjacency {
            Adjacency::AddRemove => None,
            Adjacency::Replace => Some(range.lo),
        },
    }
}

/// One record on the lattice of floats, cleaned for this adjacency.
pub fn clean_float(record: Option<f64>, range: Range, adjacency: Adjacency) -> Option<i64> {
    clean(record, range, adjacency, |value| ordinal(value).expect("finite here"))
}

/// Multiples of a public step: the lattice on which differences have a meaning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grid {
    step: Ratio,
    /// The step as a fraction of small integers, where it is one: most grids, and much faster.
    small: Option<(i128, i128)>,
}

impl Grid {
    /// The multiples of `step`, which is above zero.
    pub fn new(step: Ratio) -> Result<Self, ParameterError> {
        if !step.is_positive() {
            return Err(ParameterError::out_of_range(
                "resolution",
                step,
                "give a number above 0, such as 0.01",
            ));
        }
        let small = u32::try_from(step.numerator().clone())
            .ok()
            .zip(u32::try_from(step.denominator().clone()).ok())
            .map(|(num, den)| (i128::from(num), i128::from(den)));
        Ok(Self { step, small })
    }

    /// The distance between two places.
    pub fn step(&self) -> &Ratio {
        &self.step
    }

    /// The number at this place.
    pub fn value(&self, place: i64) -> Ratio {
        Ratio::from(place) * &self.step
    }

    /// The nearest place to a finite float, halves up, stopping at the ends of 64 bits.
    fn nearest(&self, value: f64) -> i64 {
        let place = self.nearest_small(value).unwrap_or_else(|| {
            let exact = Ratio::from_f64_exact(value).expect("finite here") / &self.step;
            let clamped = exact.round_big().clamp(IBig::from(i64::MIN), IBig::from(i64::MAX));
            i128::try_from(clamped).expect("clamped to 64 bits")
        });
        i64::try_from(place.clamp(i64::MIN.into(), i64::MAX.into())).expect("clamped to 64 bits")
    }

    /// The same in 128-bit integers: `mantissa · 2^exponent · den / num`, where all of it fits.
    fn nearest_small(&self, value: f64) -> Option<i128> {
        let (num, den) = self.small?;
        let bits = value.abs().to_bits();
        let biased = i32::try_from(bits >> 52).ok()?;
        let fraction = i128::from(bits & ((1 << 52) - 1));
        let (mantissa, exponent) =
            if biased == 0 { (fraction, -1074) } else { (fraction + (1 << 52), biased - 1075) };
        let scaled = if value.is_sign_negative() { -mantissa } else { mantissa } * den;
        // 53 + 32 bits so far; twice that over twice the divisor leaves room for 40 bits of exponent.
        let (above, below) = match exponent {
            0..=40 => (scaled << exponent, num),
            -90..0 => (scaled, num.checked_shl(exponent.unsigned_abs()).filter(|n| n >> -exponent == num)?),
            // At least 2^(52 + 43 - 32) steps, beyond 64 bits; and less than half a step. Long division would tell by
            // its time that a row is such a number.
            43.. => return Some(if scaled < 0 { i64::MIN } else { i64::MAX }.into()),
            ..-90 => return Some(0),
            _ => return None,
        };
        Some((2 * above + below).div_euclid(below.checked_mul(2)?))
    }

    /// One record as a place in the range, cleaned for this adjacency.
    pub fn clean(&self, record: Option<f64>, range: Range, adjacency: Adjacency) -> Option<i64> {
        clean(record, range, adjacency, |value| self.nearest(value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn floats_in_order_are_ordinals_in_order() {
        let floats = [f64::MIN, -1.5, -1.0, -f64::MIN_POSITIVE, -5e-324, 0.0, 5e-324, 1e-300, 1.0, f64::MAX];
        for pair in floats.windows(2) {
            assert!(ordinal(pair[0]) < ordinal(pair[1]), "{pair:?}");
        }
        for value in floats {
            assert_eq!(float(ordinal(value).unwrap()), Some(value));
        }
        assert_eq!(ordinal(-0.0), ordinal(0.0));
        assert_eq!(float(0).map(f64::to_bits), Some(0), "zero has no sign");
        assert_eq!(ordinal(f64::MAX), Some(MAX_ORDINAL));
        assert_eq!(ordinal(f64::MIN), Some(-MAX_ORDINAL));
        assert_eq!([f64::NAN, -f64::NAN, f64::INFINITY, f64::NEG_INFINITY].map(ordinal), [None; 4]);
        assert_eq!([MAX_ORDINAL + 1, i64::MIN, i64::MAX].map(float), [None; 3]);
    }

    #[test]
    fn steps_are_the_neighbouring_floats() {
        assert_eq!(step_from(1.0, 1), Some(1.0 + f64::EPSILON));
        assert_eq!(step_from(5e-324, -2), Some(-5e-324));
        assert_eq!(step_from(f64::MAX, 7), Some(f64::MAX));
        assert_eq!(step_from(0.0, i64::MIN), Some(f64::MIN));
    }

    #[test]
    fn cleaning_follows_the_adjacency() {
        let range = range_of_floats(-1.0, 2.0).unwrap();
        let grid = Grid::new(Ratio::new(1, 2)).unwrap();
        let places = Range::new(-2, 4).unwrap();
        for (record, added, replaced) in [
            (Some(1.5), Some(1.5), 1.5),
            (Some(-0.0), Some(0.0), 0.0),
            (Some(9.0), Some(2.0), 2.0),
            (Some(f64::INFINITY), Some(2.0), 2.0),
            (Some(f64::NEG_INFINITY), Some(-1.0), -1.0),
            (Some(f64::NAN), None, -1.0),
            (None, None, -1.0),
        ] {
            let seen = |adjacency| clean_float(record, range, adjacency).map(|place| float(place).unwrap());
            assert_eq!(seen(Adjacency::AddRemove), added, "{record:?}");
            assert_eq!(seen(Adjacency::Replace), Some(replaced), "{record:?}");
            let seen = |adjacency| grid.clean(record, places, adjacency).map(|place| grid.value(place));
            assert_eq!(seen(Adjacency::AddRemove), added.and_then(Ratio::from_f64_exact), "{record:?}");
            assert_eq!(seen(Adjacency::Replace), Ratio::from_f64_exact(replaced), "{record:?}");
        }
        assert!(range_of_floats(1.0, f64::NAN).is_err() && range_of_floats(1.0, 0.0).is_err());
        assert_eq!(
            Grid::new(Ratio::zero()).unwrap_err().to_string(),
            "resolution 0 is not accepted: give a number above 0, such as 0.01"
        );
    }

    #[test]
    fn grids_round_halves_up_and_stop_at_the_ends() {
        let grid = Grid::new("0.1".parse().unwrap()).unwrap();
        let whole = |value| grid.clean(Some(value), Range::WHOLE, Adjacency::Replace);
        assert_eq!([0.3, -0.3, 0.25, 5e-324, -1e-17].map(whole), [3, -3, 3, 0, 0].map(Some));
        assert_eq!([1e300, -1e300].map(whole), [i64::MAX, i64::MIN].map(Some));
        let halves = Grid::new(Ratio::one()).unwrap();
        let whole = |value| halves.clean(Some(value), Range::WHOLE, Adjacency::AddRemove);
        assert_eq!([0.5, -0.5, 1.5, -1.5].map(whole), [1, 0, 2, -1].map(Some));
    }

    proptest! {
        #[test]
        fn ordinals_agree_with_the_order_of_floats(a in any::<f64>(), b in any::<f64>()) {
            if let (Some(x), Some(y)) = (ordinal(a), ordinal(b)) {
                prop_assert_eq!(a.partial_cmp(&b), Some(x.cmp(&y)));
                prop_assert_eq!(float(x), Some(a));
            }
        }

        #[test]
        fn short_grid_arithmetic_agrees_with_exact(
            bits in any::<u64>(),
            exponent in prop_oneof![980u64..1120, 0u64..2047], // both sides of where the short way ends, and all
            (num, den) in prop_oneof![(1..5000u32, 1..5000u32), (1..=u32::MAX, 1..=u32::MAX)],
        ) {
            let value = f64::from_bits((bits & !(0x7ff << 52)) | (exponent << 52));
            let step = Ratio::new(num.into(), den.into());
            let grid = Grid::new(step.clone()).unwrap();
            if let Some(short) = grid.nearest_small(value) {
                let exact = (Ratio::from_f64_exact(value).unwrap() / &step).round_big();
                let ends = |place: IBig| place.clamp(IBig::from(i64::MIN), IBig::from(i64::MAX));
                prop_assert_eq!(ends(IBig::from(short)), ends(exact));
            } else {
                prop_assert!((1116..=1117).contains(&exponent), "the short way covers {}", exponent);
            }
        }
    }
}
