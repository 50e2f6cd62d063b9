//! An exact, nonnegative quantity of privacy loss, and how sums of it stay short.

use super::parameter::{Delta, Eps, ParameterError, Rho};
use crate::ratio::Ratio;
use dashu_base::{BitTest, UnsignedAbs};
use std::fmt;

/// Sums are exact up to this many significant bits (about 150 digits); longer ones are rounded up.
const EXACT_BITS: usize = 512;
/// What a sum that grew too long is rounded up to.
const ROUNDED_BITS: usize = 256;

/// A nonnegative exact number: some epsilon, delta, rho or divergence that was spent.
///
/// Unlike the parameters of a request it has no upper end, because what was spent adds up. `Display`
/// writes short decimals as they are and rounds longer numbers up to six digits.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Amount(Ratio);

impl Amount {
    /// This number, if it is not negative.
    pub fn new(value: Ratio) -> Result<Self, ParameterError> {
        if value.is_negative() {
            return Err(ParameterError::out_of_range("privacy loss", value, "give 0 or more"));
        }
        Ok(Self(value))
    }

    /// A number that is known to be nonnegative; what rounding left below zero counts as zero.
    pub(crate) fn clamped(value: Ratio) -> Self {
        Self(if value.is_negative() { Ratio::zero() } else { value })
    }

    /// Nothing.
    pub fn zero() -> Self {
        Self(Ratio::zero())
    }

    /// Is it nothing?
    pub fn is_zero(&self) -> bool {
        self.0.is_zero()
    }

    /// The exact number.
    pub fn ratio(&self) -> &Ratio {
        &self.0
    }

    /// The exact number as text for programs: a whole decimal, or a fraction such as `1/3` where no decimal ends. Only what
    /// would be longer than anything we read back is rounded up, to 17 digits.
    pub fn to_exact(&self) -> String {
        let exact = self.0.to_exact();
        if exact.parse::<Ratio>().is_ok() { exact } else { self.0.to_short_up(17, 40) }
    }

    /// For programs too, where the number is itself a bound that was rounded up: up to 17 digits, not below.
    pub fn to_bound(&self) -> String {
        self.0.to_short_up(17, 40)
    }

    /// The sum: exact, or rounded up where it has more than 512 significant bits.
    #[must_use]
    pub fn plus_up(&self, other: &Self) -> Self {
        Self(short_up(&self.0 + &other.0))
    }

    /// The multiple: exact, or rounded up where it has more than 512 significant bits.
    #[must_use]
    pub fn times_up(&self, count: u64) -> Self {
        Self(short_up(&self.0 * &Ratio::from(count)))
    }
}

macro_rules! from_parameter {
    ($($name:ident)*) => {$(
        impl From<&$name> for Amount {
            fn from(parameter: &$name) -> Self { Self(parameter.ratio().clone()) }
        }
    )*};
}

from_parameter! { Eps Delta Rho }

fn short_up(value: Ratio) -> Ratio {
    if numerator_bits(&value) <= EXACT_BITS { value } else { significant_up(&value, ROUNDED_BITS) }
}

fn numerator_bits(value: &Ratio) -> usize {
    value.numerator().clone().unsigned_abs().bit_len()
}

/// Bits after the point that leave about `bits` significant ones.
fn places(value: &Ratio, bits: usize) -> usize {
    (bits + value.denominator().bit_len()).saturating_sub(numerator_bits(value))
}

/// Not below the value, with about `bits` significant bits.
pub(crate) fn significant_up(value: &Ratio, bits: usize) -> Ratio {
    value.dyadic_up(places(value, bits))
}

/// Not above the value, with about `bits` significant bits.
pub(crate) fn significant_down(value: &Ratio, bits: usize) -> Ratio {
    value.dyadic_down(places(value, bits))
}

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.to_short_up(6, 12))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn amount(text: &str) -> Amount {
        Amount::new(text.parse().unwrap()).unwrap()
    }

    #[test]
    fn what_is_shown_is_short_and_never_below() {
        for (value, shown) in [
            ("0", "0"),
            ("1", "1"),
            ("0.000001", "0.000001"),
            ("1/3", "0.333334"),
            ("2/3", "0.666667"),
            ("1e-30", "1e-30"),
            ("123456789/7", "17636700"),
            ("0.99999999999999", "1"),
            ("1/3000", "0.000333334"),
            ("1/30000000", "3.33334e-8"),
            ("1e30", "1e30"),
        ] {
            assert_eq!(amount(value).to_string(), shown);
            assert!(shown.parse::<Ratio>().unwrap() >= value.parse().unwrap());
        }
        assert_eq!(
            Amount::new(Ratio::new(-1, 2)).unwrap_err().to_string(),
            "privacy loss -0.5 is not accepted: give 0 or more"
        );
    }

    #[test]
    fn what_programs_read_is_the_exact_number() {
        let eighty_places = format!("0.{}1", "0".repeat(79));
        for (value, written) in [
            ("0", "0"),
            ("1.0", "1"),
            ("1e-6", "0.000001"),
            ("1/3", "1/3"),
            ("4/6", "2/3"),
            ("0.000000189189189", "0.000000189189189"),
            ("123456789.123456789", "123456789.123456789"),
            ("1e-80", eighty_places.as_str()),
        ] {
            assert_eq!(amount(value).to_exact(), written);
            assert_eq!(written.parse::<Ratio>().unwrap(), value.parse().unwrap());
        }
        // Too long for anybody: 17 digits, not below.
        let unit = |digit: &str, times| amount(&format!("1/{}", digit.repeat(times)));
        let long = Amount(unit("7", 300).ratio() + unit("3", 299).ratio());
        let read: Ratio = long.to_exact().parse().unwrap();
        assert!(read > *long.ratio() && (&read - long.ratio()) / long.ratio().clone() < amount("1e-16").0);
        assert_eq!(amount("1e-399").to_exact(), "1e-399");
    }

    #[test]
    fn a_million_tenths_are_exact() {
        let tenth = amount("0.1");
        assert_eq!(*tenth.times_up(1_000_000).ratio(), Ratio::from(100_000u64));
        let mut sum = Amount::zero();
        for _ in 0..30 {
            sum = sum.plus_up(&tenth);
        }
        assert_eq!(*sum.ratio(), Ratio::from(3u64));
    }

    #[test]
    fn a_sum_that_cannot_stay_short_is_rounded_up_a_little() {
        // The harmonic sum's denominator grows without end.
        let (mut exact, mut sum) = (Ratio::zero(), Amount::zero());
        for den in 1..1500u64 {
            let term = Ratio::new(1, den);
            exact = exact + &term;
            sum = sum.plus_up(&Amount(term));
        }
        assert!(exact.denominator().bit_len() > 2000);
        assert!(sum.ratio().denominator().bit_len() <= 512 && *sum.ratio() >= exact);
        assert!(sum.ratio() - &exact < "1e-70".parse().unwrap());
    }

    #[test]
    fn significant_bits_are_relative() {
        for text in ["1/3", "1e-200", "12345678901234567890123/7"] {
            let value: Ratio = text.parse().unwrap();
            let (down, up) = (significant_down(&value, 64), significant_up(&value, 64));
            assert!(down <= value && value <= up);
            assert!((&up - &down) / &value < Ratio::dyadic(1.into(), 62), "{text}");
        }
    }
}
