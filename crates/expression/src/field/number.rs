//! What text is a number.
//!
//! Spaces and tabs around a number mean nothing. A number is an optional sign, decimal digits with at most one
//! point among or beside them, and an optional exponent: `12`, `-0.5`, `.5`, `3.`, `+6.02e23`. `inf` and
//! `infinity` in any case, with an optional sign, are the infinities, and so is what rounds to them
//! (`1e999`). Nothing else is a number: no thousands separators, no hexadecimal, no `nan`, no units.

/// The nearest float (ties to even), or NaN if the field is not a number.
pub fn float(field: &[u8]) -> f64 {
    let (negative, unsigned) = signed(trimmed(field));
    let magnitude = short_decimal(unsigned).unwrap_or_else(|| any_decimal(unsigned));
    if negative { -magnitude } else { magnitude }
}

/// A whole number of 64 bits: a sign and digits, and if a point follows, then only zeros after it.
pub fn integer(field: &[u8]) -> Option<i64> {
    let (negative, unsigned) = signed(trimmed(field));
    let whole = unsigned.iter().position(|&byte| byte == b'.').unwrap_or(unsigned.len());
    let (digits, fraction) = unsigned.split_at(whole);
    if digits.is_empty() || fraction.iter().skip(1).any(|&byte| byte != b'0') {
        return None;
    }
    // Negative numbers reach one further than positive ones.
    let value = digits.iter().try_fold(0i64, |value, &byte| {
        let digit = byte.wrapping_sub(b'0');
        (digit < 10).then(|| value.checked_mul(10)?.checked_sub(i64::from(digit)))?
    })?;
    if negative { Some(value) } else { value.checked_neg() }
}

/// The one text of a float that is a number: its shortest digits, with an exponent where it is far from one. Both zeros are one text.
pub fn text(value: f64) -> String {
    if value == 0.0 || (1e-5..1e16).contains(&value.abs()) {
        format!("{}", value + 0.0)
    } else {
        format!("{value:e}")
    }
}

/// Without spaces and tabs at either end.
pub(crate) fn trimmed(mut field: &[u8]) -> &[u8] {
    while let [b' ' | b'\t', rest @ ..] = field {
        field = rest;
    }
    while let [rest @ .., b' ' | b'\t'] = field {
        field = rest;
    }
    field
}

/// Whether a minus stands before a text, and the text after its sign.
pub(crate) fn signed(text: &[u8]) -> (bool, &[u8]) {
    match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        _ => (false, text),
    }
}

/// Digits with at most one point whose digits, read as one whole number, are a float exactly. That number and the
/// power of ten are both exact, so one division rounds once, to the nearest.
fn short_decimal(text: &[u8]) -> Option<f64> {
    const POWERS: [f64; 20] = [
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17,
        1e18, 1e19,
    ];
    const LONGEST: usize = 19; // 19 digits fit in 64 bits
    if text.len() > LONGEST {
        return None;
    }
    let mut digits = 0u64;
    let mut after_point = None;
    for (at, &byte) in text.iter().enumerate() {
        let digit = byte.wrapping_sub(b'0');
        if digit < 10 {
            digits = digits * 10 + u64::from(digit);
        } else if byte == b'.' && after_point.is_none() {
            after_point = Some(text.len() - at - 1);
        } else {
            return None;
        }
    }
    let digit_count = text.len() - usize::from(after_point.is_some());
    (digit_count > 0 && digits <= 1 << 53).then(|| digits as f64 / POWERS[after_point.unwrap_or(0)])
}

/// Any unsigned number of the grammar above, NaN for all else.
#[cold]
fn any_decimal(text: &[u8]) -> f64 {
    if text.eq_ignore_ascii_case(b"inf") || text.eq_ignore_ascii_case(b"infinity") {
        return f64::INFINITY;
    }
    let (decimal, exponent) = match text.iter().position(|byte| matches!(byte, b'e' | b'E')) {
        Some(at) => (&text[..at], Some(&text[at + 1..])),
        None => (text, None),
    };
    let points = decimal.split(|&byte| byte == b'.').count() - 1;
    let plain = decimal.iter().all(|&byte| byte.is_ascii_digit() || byte == b'.');
    let good_exponent = exponent.is_none_or(|exponent| {
        let digits = exponent.strip_prefix(b"+").or(exponent.strip_prefix(b"-")).unwrap_or(exponent);
        !digits.is_empty() && digits.iter().all(u8::is_ascii_digit)
    });
    if !plain || points > 1 || decimal.len() == points || !good_exponent {
        return f64::NAN;
    }
    std::str::from_utf8(text).ok().and_then(|text| text.parse().ok()).unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn floats_by_hand() {
        let table: [(&str, f64); 28] = [
            ("0", 0.0),
            ("12", 12.0),
            (" \t-0.5 ", -0.5),
            ("+.5", 0.5),
            ("3.", 3.0),
            ("007.50", 7.5),
            ("0.1", 0.1),
            ("45123.17", 45123.17),
            ("9007199254740993", 9_007_199_254_740_992.0), // a tie, to even
            ("9007199254740995", 9_007_199_254_740_996.0),
            ("123456789012345678901234567890", 123_456_789_012_345_678_901_234_567_890.0),
            ("0.0000000000000000000000000001", 1e-28),
            ("6.02e23", 6.02e23),
            ("1E-5", 1e-5),
            ("1e+5", 1e5),
            ("1e999", f64::INFINITY),
            ("-1e999", f64::NEG_INFINITY),
            ("1e-999", 0.0),
            ("1e99999999999999999999999", f64::INFINITY),
            ("4.9e-324", 5e-324),
            ("2.4e-324", 0.0),
            ("2.5e-324", 5e-324),
            ("1.7976931348623157e308", f64::MAX),
            ("1.7976931348623159e308", f64::INFINITY),
            ("inf", f64::INFINITY),
            ("-INF", f64::NEG_INFINITY),
            ("+Infinity", f64::INFINITY),
            ("-0", -0.0),
        ];
        for (text, value) in table {
            assert_eq!(float(text.as_bytes()).to_bits(), value.to_bits(), "{text}");
        }
    }

    #[test]
    fn what_is_no_number() {
        let long = "1".repeat(40) + "x";
        let texts = [
            "", " ", ".", "+", "-", "+-1", "--1", "1.2.3", "1,000", "1 000", "0x10", "1e", "1e+", "e5",
            ".e5", "1e5.0", "nan", "NaN", "-nan", "infinit", "in", "1_000", "12a", "a12", "$5", "5%",
            "1e5e5", "\u{661}", "1\u{a0}", "1\0", "- 1", &long,
        ];
        for text in texts {
            assert!(float(text.as_bytes()).is_nan(), "{text:?}");
            assert_eq!(integer(text.as_bytes()), None, "{text:?}");
        }
        assert!(float(b"\xff1").is_nan());
    }

    #[test]
    fn integers_by_hand() {
        let table = [
            ("0", Some(0)),
            ("-0", Some(0)),
            (" +42\t", Some(42)),
            ("007", Some(7)),
            ("3.0", Some(3)),
            ("3.", Some(3)),
            ("-3.000", Some(-3)),
            ("3.5", None),
            (".0", None),
            ("3.0.0", None),
            ("1e3", None),
            ("inf", None),
            ("9007199254740993", Some(9_007_199_254_740_993)),
            ("9223372036854775807", Some(i64::MAX)),
            ("9223372036854775808", None),
            ("-9223372036854775808", Some(i64::MIN)),
            ("-9223372036854775809", None),
            ("00000000000000000000000000000001", Some(1)),
        ];
        for (text, value) in table {
            assert_eq!(integer(text.as_bytes()), value, "{text}");
        }
    }

    proptest! {
        #[test]
        fn floats_are_the_nearest(text in r"[+-]?[0-9]{0,22}(\.[0-9]{0,22})?([eE][+-]?[0-9]{1,3})?") {
            // The standard library is correctly rounded and takes this grammar too.
            let expected = text.parse::<f64>().unwrap_or(f64::NAN);
            let found = float(text.as_bytes());
            prop_assert!(found.to_bits() == expected.to_bits() || found.is_nan() && expected.is_nan());
        }

        #[test]
        fn every_float_reads_back(bits: u64) {
            let value = f64::from_bits(bits);
            let same = |text: String| value.is_nan() || float(text.as_bytes()).to_bits() == bits;
            let good = same(format!("{value}")) && same(format!("{value:e}"));
            prop_assert!(good);
        }

        #[test]
        fn every_integer_reads_back(value: i64) {
            prop_assert_eq!(integer(value.to_string().as_bytes()), Some(value));
        }

        #[test]
        fn any_bytes_have_an_answer(field: Vec<u8>) {
            let _ = (float(&field), integer(&field));
        }
    }
}
