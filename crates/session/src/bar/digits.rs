//! Numbers in as many digits as their bars justify: JSON has all of them, people read these.

use super::{Between, ErrorBar, Shape, value};
use serde_json::Value;

/// Without a bar in the number's own unit, so many significant digits.
const SIGNIFICANT: i32 = 6;
/// A number that is nearer to zero than this is about zero to whoever reads it.
const ABOUT_ZERO: f64 = 1e-30;
/// From here on whole numbers are written with a power of ten.
const LARGE: f64 = 1e15;

/// The answer in words: rounded to two digits behind the first one of its bar, to six digits where there are only ranks, and as
/// it is where it is exact or a whole number.
pub fn rounded(of: &Value, bar: Option<&ErrorBar>) -> String {
    let Some(bar) = bar else { return value(of) };
    match (&bar.shape, of) {
        (Shape::Exact, _) => value(of),
        (Shape::Noise(between) | Shape::Interval { between, .. }, Value::Array(many)) => {
            let one = |(index, one): (usize, &Value)| match (between.low.get(index), between.high.get(index))
            {
                (Some(low), Some(high)) => number(one, place(one, low, high), Round::Nearest),
                _ => value(one),
            };
            list(many.iter().enumerate().map(one))
        }
        (Shape::Noise(between) | Shape::Interval { between, .. }, _) => {
            number(of, place(of, &between.low, &between.high), Round::Nearest)
        }
        (_, Value::Array(many)) => list(many.iter().map(|one| number(one, significant(one), Round::Nearest))),
        _ => number(of, significant(of), Round::Nearest),
    }
}

fn list(many: impl Iterator<Item = String>) -> String {
    let one = |one: String| if one == value(&Value::Null) { "too few rows".to_string() } else { one };
    many.map(one).collect::<Vec<_>>().join(", ")
}

impl Between {
    /// Both ends of one interval, rounded outwards to the digits of the answer. An end that rounding alone moves beyond the range that
    /// values were limited to is that of the range.
    pub(super) fn rounded(
        of: &Value,
        low: &Value,
        high: &Value,
        word: &str,
        limits: Option<[f64; 2]>,
    ) -> String {
        let place = place(of, low, high);
        let end = |exact: &Value, round: Round, limit: Option<f64>| {
            let text = number(exact, place, round);
            let beyond = |one: f64, other: f64| if round == Round::Down { one < other } else { one > other };
            let limited = limit.zip(text.parse::<f64>().ok()).zip(exact.as_f64()).and_then(
                |((limit, shown), exact)| {
                    let written = alone(limit);
                    // What is written of the range must not lie inside of the interval.
                    let outside = written.parse().is_ok_and(|written: f64| !beyond(exact, written));
                    (beyond(shown, limit) && outside).then_some(written)
                },
            );
            limited.unwrap_or(text)
        };
        let low = end(low, Round::Down, limits.map(|limits| limits[0]));
        format!("{low} {word} {}", end(high, Round::Up, limits.map(|limits| limits[1])))
    }
}

/// A number by itself, such as the end of a range.
pub(crate) fn alone(number_alone: f64) -> String {
    let shown = serde_json::json!(number_alone);
    let text = number(&shown, significant(&shown), Round::Nearest);
    // No digit says how sure it is here.
    if text.contains('.') && !text.contains('e') {
        text.trim_end_matches('0').trim_end_matches('.').to_string()
    } else {
        text
    }
}

/// The most that something may be off by, in four digits, or in as many as it has before the point; never less than it is.
pub(crate) fn at_most(most: f64) -> String {
    if most == 0.0 || !most.is_finite() {
        return alone(most);
    }
    let text = number(&serde_json::json!(most), Some((exponent(most) - 3).min(0)), Round::Up);
    let trimmed = if text.contains('.') && !text.contains('e') { text.trim_end_matches('0') } else { &text };
    trimmed.trim_end_matches('.').to_string()
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Round {
    Nearest,
    Down,
    Up,
}

/// The last power of ten that is worth showing of a number with these ends; nothing where they are no numbers, or do not say.
fn place(of: &Value, low: &Value, high: &Value) -> Option<i32> {
    let (low, high) = (low.as_f64()?, high.as_f64()?);
    let middle = of.as_f64().unwrap_or(low / 2.0 + high / 2.0);
    let off = (high - middle).max(middle - low);
    (off > 0.0 && off.is_finite()).then(|| exponent(off) - 2)
}

/// The same for a number without a bar.
fn significant(of: &Value) -> Option<i32> {
    let number = of.as_f64().filter(|number| number.abs() >= ABOUT_ZERO)?;
    let place = exponent(number) + 1 - SIGNIFICANT;
    // What stands before the point stays.
    Some(if number.abs() < LARGE { place.min(0) } else { place })
}

#[expect(clippy::cast_possible_truncation, reason = "between -324 and 308")]
fn exponent(number: f64) -> i32 {
    number.abs().log10().floor() as i32
}

fn number(shown: &Value, place: Option<i32>, round: Round) -> String {
    let Some(number) = shown.as_f64().filter(|_| shown.is_f64()) else { return value(shown) };
    if number.fract() == 0.0 && number.abs() < LARGE && place.is_none_or(|place| place <= 0) {
        return if number == 0.0 { "0".to_string() } else { format!("{number:.0}") };
    }
    let Some(place) = place else {
        return if number.abs() < ABOUT_ZERO { "about 0".to_string() } else { value(shown) };
    };
    let nearest = scaled(number, place).round();
    // More digits than a double has would be made up.
    if nearest.abs() >= 1e16 {
        return value(shown);
    }
    let text = written(nearest, place);
    // What is read of it must not lie on the wrong side.
    let read: f64 = text.parse().unwrap_or(number);
    match round {
        Round::Down if read > number => written(nearest - 1.0, place),
        Round::Up if read < number => written(nearest + 1.0, place),
        _ => text,
    }
}

/// The number in units of this power of ten.
fn scaled(number: f64, place: i32) -> f64 {
    // Ten to the power of 308 is the last one.
    let (first, rest) = (place.clamp(-300, 300), place - place.clamp(-300, 300));
    number / 10f64.powi(first) / 10f64.powi(rest)
}

/// So many units of a power of ten.
fn written(whole: f64, place: i32) -> String {
    if whole == 0.0 {
        return "0".to_string();
    }
    let digits = format!("{:.0}", whole.abs());
    let sign = if whole < 0.0 { "-" } else { "" };
    let length = i32::try_from(digits.len()).expect("a few digits");
    // The exponent of the first digit.
    let first = length - 1 + place;
    let body = if !(-5..15).contains(&first) {
        let (head, tail) = digits.split_at(1);
        let tail = tail.trim_end_matches('0');
        let point = if tail.is_empty() { "" } else { "." };
        format!("{head}{point}{tail}e{first}")
    } else if place >= 0 {
        format!("{digits}{}", "0".repeat(usize::try_from(place).expect("not negative")))
    } else {
        let behind = usize::try_from(-place).expect("negative");
        let padded = format!("{digits:0>width$}", width = behind + 1);
        let (before, after) = padded.split_at(padded.len() - behind);
        format!("{before}.{after}")
    };
    format!("{sign}{body}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    #[test]
    fn what_an_answer_may_be_off_by_is_told_in_four_digits_and_never_less() {
        for (most, said) in [
            (254.121_284, "254.2"),
            (0.005_991, "0.005991"),
            (0.005_991_000_1, "0.005992"),
            (3_213_123.456_789, "3213124"),
            (2.5, "2.5"),
            (0.0, "0"),
            (1e-7, "1e-7"),
            (20.0, "20"),
        ] {
            assert_eq!(at_most(most), said);
            assert!(said.parse::<f64>().unwrap() >= most);
        }
    }

    #[test]
    fn digits_follow_the_bar() {
        let noise = |low: f64, high: f64| ErrorBar::noise(0.95, low, high);
        for (of, low, high, shown, ends) in [
            (33_407.234_5, 33_197.2, 33_617.3, "33407", "33197 to 33618"),
            (0.123_456_789, 0.12, 0.127, "0.12346", "0.12000 to 0.12700"),
            (4.77e-129, -0.02, 0.02, "0", "-0.0200 to 0.0200"),
            (1.234_567e9, 1.2e9, 1.3e9, "1234600000", "1200000000 to 1300000000"),
            (-7.5, -9.25, -5.75, "-7.50", "-9.25 to -5.75"),
            (1.5e200, 1.4e200, 1.6e200, "1.5e200", "1.4e200 to 1.6e200"),
            (2.5e-9, 1e-9, 4e-9, "2.5e-9", "1e-9 to 4e-9"),
        ] {
            let bar = noise(low, high);
            assert_eq!(rounded(&json!(of), Some(&bar)), shown);
            let written = Between::rounded(&json!(of), &json!(low), &json!(high), "to", None);
            let near = |text: &str| text.trim_start_matches("about ").to_string();
            assert_eq!(near(&written), ends, "{of}");
        }
        assert_eq!(rounded(&json!(45_673.880_857_948_65), Some(&ErrorBar::rank(0.95, 31))), "45673.9");
        assert_eq!(rounded(&json!(1_700_000_123.0), Some(&ErrorBar::rank(0.95, 31))), "1700000123");
        assert_eq!(rounded(&json!(4.77e-129), Some(&ErrorBar::rank(0.95, 31))), "about 0");
        assert_eq!(rounded(&json!(0.1 + 0.2), Some(&ErrorBar::exact())), "0.30000000000000004");
        assert_eq!(
            [-33.25, -0.007_812_5, 1024.0, 1.5e300, 0.0].map(alone),
            ["-33.25", "-0.0078125", "1024", "1.5e300", "0"]
        );
        assert_eq!(rounded(&json!(2653), Some(&noise(2640.0, 2660.0))), "2653");
        // The 0.05 quantile of masses from 0 to 8224 lay "between -10 and 3600", the 0.95 quantile up to 8230.
        let within = |low: f64, high: f64| {
            Between::rounded(&json!(5000), &json!(low), &json!(high), "to", Some([-0.25, 8224.0]))
        };
        assert_eq!([within(-0.25, 7000.0), within(4000.0, 8224.0)], ["-0.25 to 7000", "4000 to 8224"]);
        assert_eq!(within(-40.0, 9001.5), "-40 to 9010", "a sum has other ends than its rows");
        assert_eq!(
            rounded(&json!([1.234_567_8, null, 3.0]), Some(&ErrorBar::ranks(0.95, &[1, 2, 3]))),
            "1.23457, too few rows, 3"
        );
    }

    proptest! {
        #[test]
        fn ends_are_rounded_outwards_and_the_answer_hardly_moves(
            of in any::<f64>().prop_filter("finite", |one| one.is_finite() && one.abs() < 1e290),
            below in 1e-9..1e9f64, above in 1e-9..1e9f64,
        ) {
            let (low, high) = (of - below, of + above);
            prop_assume!(low < of && of < high);
            let read = |text: String| text.parse::<f64>().expect("a number");
            let shown = read(rounded(&json!(of), Some(&ErrorBar::noise(0.95, low, high))));
            prop_assert!((shown - of).abs() <= 0.01 * below.max(above) + of.abs() * 1e-15);
            for limits in [None, Some([low, high]), Some([low - 0.1 * below, high + 0.1 * above])] {
                let written = Between::rounded(&json!(of), &json!(low), &json!(high), "to", limits);
                let (first, last) = written.split_once(" to ").unwrap();
                prop_assert!(read(first.into()) <= low && high <= read(last.into()), "{low} {high}: {written}");
            }
        }
    }
}
