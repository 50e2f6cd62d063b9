//! Exact rational numbers: what every guarantee is written in.
//!
//! A decimal that a person types is the number they meant: `"0.1"` is one tenth, not the nearest binary
//! fraction. Sums of what was spent are exact. The big integers underneath are checked differentially
//! against a second library in this file's tests, because such crates have shipped wrong division.

use crate::wording;
use dashu_base::{Abs, BitTest, DivEuclid, DivRemEuclid, Gcd, Sign, Signed, UnsignedAbs};
use dashu_int::{IBig, UBig};
use std::{cmp::Ordering, fmt, ops, str::FromStr};

/// An exact rational number, always in lowest terms.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Ratio {
    num: IBig,
    den: UBig,
}

/// Why a text is not an exact number. `Display` is one line that says what is accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RatioError {
    /// Not a decimal and not a fraction of two integers.
    NotANumber(String),
    /// A fraction with denominator zero.
    ZeroDenominator(String),
    /// More digits or a larger exponent than any privacy parameter needs.
    TooLong(String),
}

impl fmt::Display for RatioError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (problem, hint) = self.parts();
        f.write_str(&wording::with_hint(&problem, &hint))
    }
}

impl RatioError {
    /// What is wrong, and what to write instead.
    pub fn parts(&self) -> (String, String) {
        match self {
            Self::NotANumber(text) => (
                format!("'{text}' is not a number"),
                "write a decimal like 0.5 or 1e-6, or a fraction like 1/3".to_string(),
            ),
            Self::ZeroDenominator(text) => {
                (format!("'{text}' divides by zero"), "write a decimal like 0.5".to_string())
            }
            Self::TooLong(text) => (
                format!("'{text}' has too many digits"),
                format!("use at most {MAX_DIGITS} digits and an exponent within ±{MAX_EXPONENT}"),
            ),
        }
    }
}

impl std::error::Error for RatioError {}

const MAX_DIGITS: usize = 400;
const MAX_EXPONENT: i64 = 400;

impl Ratio {
    /// `num / den` in lowest terms. Panics if `den` is zero.
    pub(crate) fn from_parts(num: IBig, den: UBig) -> Self {
        assert!(!den.is_zero(), "a ratio needs a denominator other than zero");
        let divisor = num.clone().unsigned_abs().gcd(&den);
        if divisor.is_one() || divisor.is_zero() {
            return Self { num, den };
        }
        Self { num: num / IBig::from(divisor.clone()), den: den / divisor }
    }

    /// `num / den` in lowest terms. Panics if `den` is zero.
    pub fn new(num: i64, den: u64) -> Self {
        Self::from_parts(num.into(), den.into())
    }

    /// Zero.
    pub fn zero() -> Self {
        Self { num: IBig::ZERO, den: UBig::ONE }
    }

    /// One.
    pub fn one() -> Self {
        Self { num: IBig::ONE, den: UBig::ONE }
    }

    /// A whole number of any size.
    pub(crate) fn whole(value: IBig) -> Self {
        Self { num: value, den: UBig::ONE }
    }

    /// `num · 2^-bits`.
    pub(crate) fn dyadic(num: IBig, bits: usize) -> Self {
        Self::from_parts(num, UBig::ONE << bits)
    }

    /// The exact value of a finite float; `None` for NaN and infinities.
    pub fn from_f64_exact(value: f64) -> Option<Self> {
        if !value.is_finite() {
            return None;
        }
        let bits = value.to_bits();
        let exponent = i32::try_from((bits >> 52) & 0x7ff).expect("eleven bits fit");
        let fraction = bits & ((1 << 52) - 1);
        let (mantissa, exponent) =
            if exponent == 0 { (fraction, -1074) } else { (fraction | (1 << 52), exponent - 1075) };
        let magnitude = if exponent >= 0 {
            Self::from_parts(IBig::from(mantissa) << exponent.unsigned_abs() as usize, UBig::ONE)
        } else {
            Self::dyadic(mantissa.into(), exponent.unsigned_abs() as usize)
        };
        Some(if value.is_sign_negative() { -magnitude } else { magnitude })
    }

    /// The shortest decimal that reads back as this float: 0.1 is one tenth. `None` for NaN and infinities.
    pub fn from_f64_shortest(value: f64) -> Option<Self> {
        value.is_finite().then(|| format!("{value:e}").parse().expect("a finite float prints as a decimal"))
    }

    pub(crate) fn numerator(&self) -> &IBig {
        &self.num
    }

    pub(crate) fn denominator(&self) -> &UBig {
        &self.den
    }

    /// Is it zero?
    pub fn is_zero(&self) -> bool {
        self.num.is_zero()
    }

    /// Is it below zero?
    pub fn is_negative(&self) -> bool {
        self.num.is_negative()
    }

    /// Is it above zero?
    pub fn is_positive(&self) -> bool {
        self.num > IBig::ZERO // dashu's own is_positive counts zero in
    }

    /// Is it a whole number?
    pub fn is_integer(&self) -> bool {
        self.den.is_one()
    }

    /// Its distance from zero.
    #[must_use]
    pub fn abs(&self) -> Self {
        Self { num: self.num.clone().abs(), den: self.den.clone() }
    }

    /// One over it. Panics at zero.
    #[must_use]
    pub fn recip(&self) -> Self {
        assert!(!self.is_zero(), "zero has no reciprocal");
        let (sign, magnitude) = self.num.clone().into_parts();
        Self { num: IBig::from_parts(sign, self.den.clone()), den: magnitude }
    }

    /// Its square.
    #[must_use]
    pub fn squared(&self) -> Self {
        self * self
    }

    pub(crate) fn floor_big(&self) -> IBig {
        self.num.clone().div_euclid(IBig::from(self.den.clone()))
    }

    pub(crate) fn ceil_big(&self) -> IBig {
        -(-self.num.clone()).div_euclid(IBig::from(self.den.clone()))
    }

    /// The nearest whole number, halves up.
    pub(crate) fn round_big(&self) -> IBig {
        (self + &Self::new(1, 2)).floor_big()
    }

    /// The largest whole number not above it, if it fits.
    pub fn floor_i64(&self) -> Option<i64> {
        self.floor_big().try_into().ok()
    }

    /// The smallest whole number not below it, if it fits.
    pub fn ceil_i64(&self) -> Option<i64> {
        self.ceil_big().try_into().ok()
    }

    /// The nearest whole number, halves up, if it fits.
    pub fn round_i64(&self) -> Option<i64> {
        self.round_big().try_into().ok()
    }

    /// A float near it, for display and hints only; nothing private may rest on it.
    pub fn to_f64(&self) -> f64 {
        // Enough leading bits for a float, then one correctly scaled division.
        let excess = signed_bits(self.num.clone().unsigned_abs().bit_len()) - signed_bits(self.den.bit_len());
        let shift = 70 - excess;
        let scaled = if shift >= 0 {
            (self.num.clone() << shift.unsigned_abs() as usize) / IBig::from(self.den.clone())
        } else {
            self.num.clone() / IBig::from(self.den.clone() << shift.unsigned_abs() as usize)
        };
        let mantissa = scaled.to_f64().value();
        let half = shift / 2;
        // Two steps, so that neither factor overflows where the result does not.
        mantissa * 2f64.powi(-half.clamp(-2000, 2000)) * 2f64.powi(-(shift - half).clamp(-2000, 2000))
    }

    /// The smallest decimal with `places` digits after the point that is not below it.
    pub fn to_decimal_up(&self, places: usize) -> String {
        let scaled = self * &Self::from_parts(IBig::from(10u8).pow(places), UBig::ONE);
        fixed_decimal(&scaled.ceil_big(), places)
    }

    /// Itself as text that is read back as the same number: the whole decimal where one ends, else a fraction such as
    /// `1/3`. A text of more than 400 characters is not read back.
    pub fn to_exact(&self) -> String {
        let places = self.decimal_places().filter(|&places| places < MAX_DIGITS);
        let decimal = places.map(|places| self.to_decimal_up(places));
        decimal.filter(|text| text.len() <= MAX_DIGITS).unwrap_or_else(|| self.to_string())
    }

    /// Itself where that takes at most `longest` characters, else `digits` significant digits that are not below
    /// it, with a power of ten where plain digits would be long.
    pub fn to_short_up(&self, digits: u32, longest: usize) -> String {
        self.to_short(digits, longest, Self::ceil_big)
    }

    /// The same with digits that are not above it.
    pub fn to_short_down(&self, digits: u32, longest: usize) -> String {
        self.to_short(digits, longest, Self::floor_big)
    }

    fn to_short(&self, digits: u32, longest: usize, round: impl Fn(&Self) -> IBig) -> String {
        let exact = self.to_string();
        if exact.len() <= longest && !exact.contains('/') {
            return exact;
        }
        // The first digits as a whole number, and the power of ten they stand for.
        let (ten, limit) = (Self::from(10u64), Self::from(10u64.pow(digits)));
        let (mut head, mut power) = (self.clone(), 0i64);
        while head.abs() >= limit {
            head = &head / &ten;
            power += 1;
        }
        while !head.is_zero() && &head.abs() * &ten < limit {
            head = &head * &ten;
            power -= 1;
        }
        let head = round(&head);
        let places = |power: i64| usize::try_from(power.unsigned_abs()).expect("a short power");
        let plain = if power <= 0 {
            fixed_decimal(&head, places(power))
        } else {
            (&head * IBig::from(10u8).pow(places(power))).to_string()
        };
        if plain.len() <= longest {
            return plain;
        }
        let lead = i64::from(digits) - 1;
        format!("{}e{}", fixed_decimal(&head, places(lead)), power + lead)
    }

    /// Not above it, a multiple of `2^-bits`: keeps long computations short, in a named direction.
    #[must_use]
    pub fn dyadic_down(&self, bits: usize) -> Self {
        Self::dyadic((self * &Self::from_parts(IBig::ONE << bits, UBig::ONE)).floor_big(), bits)
    }

    /// Not below it, a multiple of `2^-bits`.
    #[must_use]
    pub fn dyadic_up(&self, bits: usize) -> Self {
        Self::dyadic((self * &Self::from_parts(IBig::ONE << bits, UBig::ONE)).ceil_big(), bits)
    }

    /// About how many bits one over it has before the point; zero where it is above one.
    pub(crate) fn bits_of_inverse(&self) -> usize {
        (self.den.bit_len() + 1).saturating_sub(self.num.clone().unsigned_abs().bit_len())
    }

    /// The number of decimal places that write it exactly, if it has a finite decimal.
    fn decimal_places(&self) -> Option<usize> {
        let mut rest = self.den.clone();
        let (mut twos, mut fives) = (0, 0);
        while (&rest & UBig::ONE).is_zero() {
            rest >>= 1;
            twos += 1;
        }
        let five = UBig::from(5u8);
        loop {
            let (quotient, remainder) = rest.clone().div_rem_euclid(five.clone());
            if !remainder.is_zero() {
                break;
            }
            rest = quotient;
            fives += 1;
        }
        rest.is_one().then_some(twos.max(fives))
    }
}

fn signed_bits(bits: usize) -> i32 {
    i32::try_from(bits).unwrap_or(i32::MAX / 4)
}

fn fixed_decimal(scaled: &IBig, places: usize) -> String {
    let sign = if scaled.is_negative() { "-" } else { "" };
    let digits = format!("{:0>width$}", scaled.clone().unsigned_abs().to_string(), width = places + 1);
    let (whole, fraction) = digits.split_at(digits.len() - places);
    let fraction = fraction.trim_end_matches('0');
    if fraction.is_empty() { format!("{sign}{whole}") } else { format!("{sign}{whole}.{fraction}") }
}

/// The exact decimal where one of at most 60 places exists, else `num/den`.
impl fmt::Display for Ratio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.decimal_places() {
            Some(places) if places <= 60 => {
                let scaled = self * &Self::from_parts(IBig::from(10u8).pow(places), UBig::ONE);
                f.write_str(&fixed_decimal(&scaled.floor_big(), places))
            }
            _ => write!(f, "{}/{}", self.num, self.den),
        }
    }
}

impl fmt::Debug for Ratio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Ratio {
    type Err = RatioError;

    fn from_str(text: &str) -> Result<Self, RatioError> {
        let text = text.trim();
        let shown = || wording::shown(text);
        if text.len() > MAX_DIGITS {
            return Err(RatioError::TooLong(shown()));
        }
        if let Some((num, den)) = text.split_once('/') {
            let num = integer(num).ok_or_else(|| RatioError::NotANumber(shown()))?;
            let den = digits(den).ok_or_else(|| RatioError::NotANumber(shown()))?;
            return if den.is_zero() {
                Err(RatioError::ZeroDenominator(shown()))
            } else {
                Ok(Self::from_parts(num, den))
            };
        }
        let (mantissa, exponent) = match text.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => {
                let valid = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
                if valid.is_empty() || !valid.bytes().all(|b| b.is_ascii_digit()) {
                    return Err(RatioError::NotANumber(shown()));
                }
                let exponent: i64 = exponent.parse().map_err(|_| RatioError::TooLong(shown()))?;
                (mantissa, exponent)
            }
            None => (text, 0),
        };
        if exponent.abs() > MAX_EXPONENT {
            return Err(RatioError::TooLong(shown()));
        }
        let (negative, unsigned) = match mantissa.strip_prefix(['+', '-']) {
            Some(rest) => (mantissa.starts_with('-'), rest),
            None => (false, mantissa),
        };
        let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
        let all = digits(&format!("{whole}{fraction}")).ok_or_else(|| RatioError::NotANumber(shown()))?;
        let num = IBig::from_parts(if negative { Sign::Negative } else { Sign::Positive }, all);
        let power = exponent - i64::try_from(fraction.len()).expect("a short text");
        let ten = UBig::from(10u8).pow(usize::try_from(power.unsigned_abs()).expect("a small power"));
        Ok(if power >= 0 {
            Self::from_parts(num * IBig::from(ten), UBig::ONE)
        } else {
            Self::from_parts(num, ten)
        })
    }
}

fn digits(text: &str) -> Option<UBig> {
    let text = text.trim();
    (!text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())).then(|| text.parse().expect("digits only"))
}

fn integer(text: &str) -> Option<IBig> {
    let text = text.trim();
    match text.strip_prefix('-') {
        Some(rest) => digits(rest).map(|n| -IBig::from(n)),
        None => digits(text).map(IBig::from),
    }
}

impl From<u64> for Ratio {
    fn from(value: u64) -> Self {
        Self { num: value.into(), den: UBig::ONE }
    }
}

impl From<i64> for Ratio {
    fn from(value: i64) -> Self {
        Self { num: value.into(), den: UBig::ONE }
    }
}

impl PartialOrd for Ratio {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Ratio {
    fn cmp(&self, other: &Self) -> Ordering {
        (&self.num * IBig::from(other.den.clone())).cmp(&(&other.num * IBig::from(self.den.clone())))
    }
}

impl ops::Neg for Ratio {
    type Output = Self;
    fn neg(self) -> Self {
        Self { num: -self.num, den: self.den }
    }
}

macro_rules! operators {
    ($($trait:ident $method:ident |$a:ident, $b:ident| $body:expr;)*) => {$(
        impl ops::$trait<&Ratio> for &Ratio {
            type Output = Ratio;
            fn $method(self, other: &Ratio) -> Ratio {
                let ($a, $b) = (self, other);
                $body
            }
        }
        impl ops::$trait<Ratio> for Ratio {
            type Output = Ratio;
            fn $method(self, other: Ratio) -> Ratio { ops::$trait::$method(&self, &other) }
        }
        impl ops::$trait<&Ratio> for Ratio {
            type Output = Ratio;
            fn $method(self, other: &Ratio) -> Ratio { ops::$trait::$method(&self, other) }
        }
        impl ops::$trait<Ratio> for &Ratio {
            type Output = Ratio;
            fn $method(self, other: Ratio) -> Ratio { ops::$trait::$method(self, &other) }
        }
    )*};
}

operators! {
    Add add |a, b| Ratio::from_parts(
        &a.num * IBig::from(b.den.clone()) + &b.num * IBig::from(a.den.clone()),
        &a.den * &b.den,
    );
    Sub sub |a, b| Ratio::from_parts(
        &a.num * IBig::from(b.den.clone()) - &b.num * IBig::from(a.den.clone()),
        &a.den * &b.den,
    );
    Mul mul |a, b| Ratio::from_parts(&a.num * &b.num, &a.den * &b.den);
    Div div |a, b| std::ops::Mul::mul(a, &b.recip());
}

impl std::iter::Sum for Ratio {
    fn sum<I: Iterator<Item = Self>>(iter: I) -> Self {
        iter.fold(Self::zero(), |total, item| total + item)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_bigint::BigInt;
    use num_rational::BigRational;
    use num_traits::ToPrimitive;
    use proptest::prelude::*;

    fn peer(value: &Ratio) -> BigRational {
        let parse = |text: String| text.parse::<BigInt>().expect("integers print as integers");
        BigRational::new(parse(value.num.to_string()), parse(value.den.to_string()))
    }

    #[test]
    fn decimals_are_what_was_typed() {
        for (text, num, den) in [
            ("0.1", 1, 10),
            ("1e-6", 1, 1_000_000),
            ("-2.50", -5, 2),
            ("1/3", 1, 3),
            (" 7 ", 7, 1),
            (".5", 1, 2),
            ("3.", 3, 1),
            ("+1E+2", 100, 1),
            ("0", 0, 1),
        ] {
            assert_eq!(text.parse::<Ratio>().unwrap(), Ratio::new(num, den), "{text}");
        }
    }

    #[test]
    fn what_is_not_a_number_says_so_in_one_line() {
        for text in [
            "",
            "NaN",
            "inf",
            "1e",
            "e5",
            "1.2.3",
            "--1",
            "1e400000000000000000000",
            "1e401",
            "0x10",
            "1/0",
            "1/-2",
            "½",
            "1_000",
        ] {
            let error = text.parse::<Ratio>().unwrap_err().to_string();
            assert!(!error.contains('\n') && error.contains('\''), "{text}: {error}");
        }
    }

    #[test]
    fn a_float_is_read_both_ways() {
        assert_eq!(Ratio::from_f64_shortest(0.1).unwrap(), Ratio::new(1, 10));
        assert_ne!(Ratio::from_f64_exact(0.1).unwrap(), Ratio::new(1, 10));
        assert_eq!(Ratio::from_f64_exact(f64::NAN), None);
        assert_eq!(Ratio::from_f64_exact(-0.0).unwrap(), Ratio::zero());
        assert_eq!(Ratio::from_f64_exact(5e-324).unwrap().to_f64().to_bits(), 1);
    }

    #[test]
    fn rounding_goes_the_way_its_name_says() {
        let third: Ratio = "1/3".parse().unwrap();
        assert_eq!(third.to_decimal_up(4), "0.3334");
        assert_eq!((-third.clone()).to_decimal_up(4), "-0.3333");
        assert!(third.dyadic_down(8) < third && third < third.dyadic_up(8));
        assert_eq!(Ratio::new(-7, 2).floor_i64(), Some(-4));
        assert_eq!(Ratio::new(-7, 2).ceil_i64(), Some(-3));
        assert_eq!(Ratio::new(-7, 2).round_i64(), Some(-3));
        assert_eq!(Ratio::new(7, 2).round_i64(), Some(4));
    }

    #[test]
    fn short_numbers_are_never_below_the_value() {
        for (value, expected) in [
            ("0.1", "0.1"),
            ("1/3", "0.333334"),
            ("-1/3", "-0.333333"),
            ("1e-300", "1e-300"),
            ("123456789012345678", "1.23457e17"),
            ("0.00012345678", "0.000123457"),
            ("2/3000000", "6.66667e-7"),
            ("999999.5", "999999.5"),
            ("999999.55555555", "1000000"),
        ] {
            assert_eq!(ratio_of(value).to_short_up(6, 12), expected);
            assert!(ratio_of(expected) >= ratio_of(value));
        }
    }

    fn ratio_of(text: &str) -> Ratio {
        text.parse().unwrap()
    }

    fn any_ratio() -> impl Strategy<Value = Ratio> {
        // Words of all ones and zeros are where long division has gone wrong before.
        let limb = prop_oneof![Just(0u64), Just(u64::MAX), any::<u64>()];
        (proptest::collection::vec(limb.clone(), 1..6), proptest::collection::vec(limb, 1..6), any::<bool>())
            .prop_map(|(num, den, negative)| {
                let sign = if negative { Sign::Negative } else { Sign::Positive };
                let den = UBig::from_words(&den.iter().map(|&w| w as _).collect::<Vec<_>>());
                let num = UBig::from_words(&num.iter().map(|&w| w as _).collect::<Vec<_>>());
                Ratio::from_parts(IBig::from_parts(sign, num), den + UBig::ONE)
            })
    }

    proptest! {
        #[test]
        fn agrees_with_a_second_library(a in any_ratio(), b in any_ratio()) {
            prop_assert_eq!(peer(&(&a + &b)), peer(&a) + peer(&b));
            prop_assert_eq!(peer(&(&a - &b)), peer(&a) - peer(&b));
            prop_assert_eq!(peer(&(&a * &b)), peer(&a) * peer(&b));
            if !b.is_zero() {
                prop_assert_eq!(peer(&(&a / &b)), peer(&a) / peer(&b));
            }
            prop_assert_eq!(a.cmp(&b), peer(&a).cmp(&peer(&b)));
            prop_assert_eq!(a.floor_big().to_string(), peer(&a).floor().to_integer().to_string());
            prop_assert_eq!(a.ceil_big().to_string(), peer(&a).ceil().to_integer().to_string());
            let (ours, theirs) = (a.to_f64(), peer(&a).to_f64().unwrap());
            prop_assert!((ours - theirs).abs() <= theirs.abs() * 1e-15);
        }

        #[test]
        fn prints_what_it_parses(a in any_ratio()) {
            prop_assert_eq!(a.to_string().parse::<Ratio>(), Ok(a));
        }

        #[test]
        fn parsing_never_panics(text in "[-+0-9eE./ ]{0,30}|\\PC{0,20}") {
            let _ = text.parse::<Ratio>();
        }
    }
}
