//! What text is a decimal number with so many digits after its point.
//!
//! The grammar is that of [`number`](super::number), without the infinities. The number is taken as it stands, not as the
//! nearest float: `0.1` is one tenth. What lies between two multiples of 10^-digits is rounded to the nearest, and ties go
//! away from zero (`0.125` with two digits is `0.13`, `-0.125` is `-0.13`). What leaves 64 bits is no number.

use super::number::{signed, trimmed};

/// The number of units of 10^-digits, or `None` if the field is no number or out of range.
pub fn decimal(field: &[u8], digits: u8) -> Option<i64> {
    let (negative, unsigned) = signed(trimmed(field));
    let (mantissa, exponent) = match unsigned.iter().position(|byte| matches!(byte, b'e' | b'E')) {
        Some(at) => (&unsigned[..at], exponent(&unsigned[at + 1..])?),
        None => (unsigned, 0),
    };
    let point = mantissa.iter().position(|&byte| byte == b'.');
    let (whole, fraction) = match point {
        Some(at) => (&mantissa[..at], &mantissa[at + 1..]),
        None => (mantissa, &mantissa[mantissa.len()..]),
    };
    let all = || whole.iter().chain(fraction);
    if whole.len() + fraction.len() == 0 || !all().all(u8::is_ascii_digit) {
        return None;
    }
    // How many of the digits, filled up with zeros, stand before the point of the result.
    let kept = i64::try_from(whole.len()).ok()?.checked_add(exponent)?.checked_add(i64::from(digits))?;
    let magnitude = rounded(all().map(|byte| byte - b'0'), kept)?;
    if negative { 0i64.checked_sub_unsigned(magnitude) } else { i64::try_from(magnitude).ok() }
}

/// The first so many of the digits as a number, rounded by the next one.
fn rounded(digits: impl Iterator<Item = u8>, kept: i64) -> Option<u64> {
    let mut value = 0u64;
    let mut read = 0i64;
    for digit in digits {
        if read >= kept {
            let up = read == kept && digit >= 5;
            return value.checked_add(u64::from(up));
        }
        value = value.checked_mul(10)?.checked_add(u64::from(digit))?;
        read += 1;
    }
    while value > 0 && read < kept {
        value = value.checked_mul(10)?;
        read += 1;
    }
    Some(value)
}

/// So many units of 10^-digits as text that [`decimal`] reads back, with all its digits: `-0.50`.
pub fn text(units: i128, digits: u8) -> String {
    let places = usize::from(digits);
    let sign = if units < 0 { "-" } else { "" };
    let all = format!("{:0>1$}", units.unsigned_abs(), places + 1);
    let (whole, fraction) = all.split_at(all.len() - places);
    if fraction.is_empty() { format!("{sign}{whole}") } else { format!("{sign}{whole}.{fraction}") }
}

/// A sign and digits. Beyond a billion all exponents are alike: no line has so many digits.
fn exponent(text: &[u8]) -> Option<i64> {
    const MOST: i64 = 1_000_000_000;
    let (negative, digits) = signed(text);
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let value = digits.iter().fold(0, |value: i64, &byte| MOST.min(value * 10 + i64::from(byte - b'0')));
    Some(if negative { -value } else { value })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn decimals_by_hand() {
        let table = [
            ("0", 2, Some(0)),
            ("0.1", 2, Some(10)),
            (" -12.34\t", 2, Some(-1234)),
            ("0.125", 2, Some(13)),
            ("-0.125", 2, Some(-13)),
            ("0.1249999999999999999999999999999", 2, Some(12)),
            ("0.004", 2, Some(0)),
            ("0.005", 2, Some(1)),
            ("-0.004", 2, Some(0)),
            (".5", 0, Some(1)),
            ("-.5", 0, Some(-1)),
            ("0.49", 0, Some(0)),
            ("3.", 1, Some(30)),
            ("1e2", 2, Some(10_000)),
            ("1.5E-1", 2, Some(15)),
            ("5e-3", 2, Some(1)),
            ("5e-4", 2, Some(0)),
            ("123e-5", 0, Some(0)),
            ("92233720368547758.07", 2, Some(i64::MAX)),
            ("92233720368547758.074", 2, Some(i64::MAX)),
            ("92233720368547758.075", 2, None),
            ("92233720368547758.08", 2, None),
            ("-92233720368547758.08", 2, Some(i64::MIN)),
            ("-92233720368547758.085", 2, None),
            ("184467440737095516.15", 2, None),
            ("0", 255, Some(0)),
            ("1", 255, None),
            ("1e-255", 255, Some(1)),
            ("0e99999999999999999999", 2, Some(0)),
            ("1e99999999999999999999", 2, None),
            ("1e-99999999999999999999", 2, Some(0)),
            ("", 2, None),
            (".", 2, None),
            ("-", 2, None),
            ("1e", 2, None),
            ("1e5.0", 2, None),
            ("1.2.3", 2, None),
            ("inf", 2, None),
            ("nan", 2, None),
            ("1,000", 2, None),
            ("\u{661}", 2, None),
        ];
        for (text, digits, value) in table {
            assert_eq!(decimal(text.as_bytes(), digits), value, "{text} with {digits} digits");
        }
    }

    proptest! {
        #[test]
        fn every_decimal_reads_back(units: i64, digits in 0u8..19) {
            let text = text(units.into(), digits);
            prop_assert_eq!(text.contains('.'), digits > 0);
            prop_assert_eq!(decimal(text.as_bytes(), digits), Some(units), "{}", text);
            let text = format!("{units}e-{digits}");
            prop_assert_eq!(decimal(text.as_bytes(), digits), Some(units), "{}", text);
        }

        #[test]
        fn a_number_is_a_number_here_and_there(text in r"[+-]?[0-9]{0,4}(\.[0-9]{0,4})?([eE][+-]?[0-9]{0,2})?") {
            let number = super::super::number::float(text.as_bytes());
            if number.is_nan() || number.abs() < 1e15 {
                prop_assert_eq!(decimal(text.as_bytes(), 2).is_some(), !number.is_nan());
            }
        }

        #[test]
        fn any_bytes_have_an_answer(field: Vec<u8>, digits: u8) {
            let _ = decimal(&field, digits);
        }
    }
}
