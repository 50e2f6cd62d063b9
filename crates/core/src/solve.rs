//! The inverse question: the least number that is enough, in a few decimal digits or among whole numbers.

use crate::{loss::Eps, ratio::Ratio};
use std::ops::Range;

const DIGITS: u32 = 6;

/// The least epsilon of six significant digits for which the test is true, if any is in range.
///
/// The test must stay true once it is true. The answer is certified by the test itself, so rounding
/// in the search can only make epsilon larger.
pub fn smallest_eps(mut accurate_enough: impl FnMut(&Eps) -> bool) -> Option<Eps> {
    // 1e-12 .. 1000, both within reach of the smallest and largest request.
    let eps =
        smallest_decimal(-12..3, |value| Eps::new(value.clone()).is_ok_and(|eps| accurate_enough(&eps)))?;
    Eps::new(eps).ok()
}

/// The least number of six significant digits above ten to the first power, and up to ten to the last, for which
/// the test is true. The test must stay true once it is true, and certifies the answer.
pub fn smallest_decimal(powers: Range<i64>, passes: impl FnMut(&Ratio) -> bool) -> Option<Ratio> {
    smallest_of_digits(DIGITS, powers, passes)
}

/// The same with this many significant digits, for tests that take long. Panics without a digit.
pub fn smallest_of_digits(
    digits: u32,
    powers: Range<i64>,
    mut passes: impl FnMut(&Ratio) -> bool,
) -> Option<Ratio> {
    // Every candidate is mantissa·10^power, where six digits mean 10^5 <= mantissa < 10^6; index runs over all of
    // them in order.
    let per_decade = 9 * 10i64.pow(digits - 1);
    let candidate = |index: i64| {
        let (power, mantissa) =
            (index.div_euclid(per_decade), 10i64.pow(digits - 1) + index.rem_euclid(per_decade));
        let text = format!("{mantissa}e{power}");
        text.parse::<Ratio>().expect("a short decimal")
    };
    let index = |power: i64| per_decade * (power - i64::from(digits) + 1);
    let (mut low, mut high) = (index(powers.start), index(powers.end));
    if !passes(&candidate(high)) {
        return None;
    }
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if passes(&candidate(middle)) { high = middle } else { low = middle }
    }
    Some(candidate(high))
}

/// By how much something is more than what is wanted.
#[derive(Clone, Copy)]
pub(crate) struct Excess {
    /// It is not: this is certain.
    pub holds: bool,
    /// About the logarithm of the factor, which only guides where to look next.
    pub logarithm: f64,
}

impl Excess {
    pub fn of(value: &Ratio, wanted: &Ratio) -> Self {
        Self { holds: value <= wanted, logarithm: (value / wanted).to_f64().ln() }
    }
}

/// A whole number that holds while the one before it does not, where the lower end does not and the upper end does.
///
/// Both ends of what is left are drawn near by aiming a little beyond where the line between them crosses zero, on the side that is
/// farther away. `place` puts a number where the logarithm of what is tested is nearly straight, and `number_at` puts it back. Steps
/// and waves cost time, and no more.
pub(crate) fn first_whole(
    mut low: (u64, Excess),
    mut high: (u64, Excess),
    place: impl Fn(u64) -> f64,
    number_at: impl Fn(f64) -> u64,
    at: impl Fn(u64) -> Excess,
) -> u64 {
    // Where the line between both ends crosses zero, if that tells.
    let crossing = |(low, below): (u64, Excess), (high, above): (u64, Excess)| {
        let share = below.logarithm / (below.logarithm - above.logarithm);
        let (first, last) = (place(low), place(high));
        let crossing = first + (last - first) * share;
        (crossing >= first && crossing <= last).then(|| number_at(crossing).clamp(low, high))
    };
    let mut aimed: Option<u64> = None;
    // How often the same end moved, one after the other: the upper one where it is above zero.
    let mut moved = 0i32;
    while high.0 - low.0 > 1 {
        let gap = high.0 - low.0;
        let crossing = if moved.abs() < 3 { crossing(low, high) } else { None };
        let number = crossing.map_or(low.0 + gap / 2, |crossing| {
            let shift = aimed.map_or(gap / 8, |aimed| crossing.abs_diff(aimed).min(gap));
            let beyond =
                shift.saturating_mul(4).min(1 + shift.saturating_mul(8) / (gap / shift.max(1)).max(1));
            aimed = Some(crossing);
            if moved <= 0 { crossing.saturating_add(beyond) } else { crossing.saturating_sub(beyond) }
        });
        let number = number.clamp(low.0 + 1, high.0 - 1);
        let excess = at(number);
        if excess.holds {
            (high, moved) = ((number, excess), moved.max(0) + 1);
        } else {
            (low, moved) = ((number, excess), moved.min(0) - 1);
        }
    }
    high.0
}

/// The whole number below a place on the line of numbers.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the ends are the nearest")]
pub(crate) fn nearest(place: f64) -> u64 {
    place as u64
}

/// The candidate with the least error among those that can be had; where none can, why the last could not.
pub(crate) fn least_error<T, E>(
    candidates: impl IntoIterator<Item = Result<T, E>>,
    error: impl Fn(&T) -> f64,
) -> Result<T, E> {
    let mut best: Option<(f64, T)> = None;
    let mut failure = None;
    for candidate in candidates {
        match candidate {
            Ok(found) => {
                let error = error(&found);
                if best.as_ref().is_none_or(|(least, _)| error < *least) {
                    best = Some((error, found));
                }
            }
            Err(reason) => failure = Some(reason),
        }
    }
    best.map(|(_, found)| found).ok_or_else(|| failure.expect("some candidate was tried"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_least_short_decimal() {
        for wanted in ["0.5", "1.23457", "0.000123457", "999.999"] {
            let bound: Ratio = wanted.parse().unwrap();
            assert_eq!(smallest_eps(|eps| *eps.ratio() >= bound).unwrap().to_string(), wanted);
        }
        let third = Ratio::new(1, 3);
        assert_eq!(smallest_eps(|eps| *eps.ratio() >= third).unwrap().to_string(), "0.333334");
        assert!(smallest_eps(|_| false).is_none());
        let short = |digits, powers| smallest_of_digits(digits, powers, |eps| *eps >= third).unwrap();
        assert_eq!(
            [short(1, -3..3), short(2, -3..3), short(2, 1..3)].map(|eps| eps.to_string()),
            ["0.4", "0.34", "11"]
        );
    }

    #[test]
    fn the_first_number_is_found_whatever_the_excess_looks_like() {
        const LAST: u64 = 1 << 50;
        let place = |number: u64| number as f64;
        for first in [1, 2, 3, 12_345, LAST / 3, LAST - 1, LAST] {
            for logarithm in [f64::NAN, f64::INFINITY, 0.0, 1.0] {
                let looks = std::cell::Cell::new(0);
                let excess = |part: u64| {
                    looks.set(looks.get() + 1);
                    let holds = part >= first;
                    Excess { holds, logarithm: if holds { -logarithm } else { logarithm } }
                };
                let found = first_whole((0, excess(0)), (LAST, excess(LAST)), place, nearest, excess);
                assert_eq!(found, first);
                assert!(looks.get() <= 210, "{}", looks.get());
            }
            // What is straight takes a few looks.
            let looks = std::cell::Cell::new(0);
            let excess = |part: u64| {
                looks.set(looks.get() + 1);
                Excess { holds: part >= first, logarithm: (first as f64 - part as f64) / 1e10 }
            };
            first_whole((0, excess(0)), (LAST, excess(LAST)), place, nearest, excess);
            assert!(looks.get() <= 12, "{}", looks.get());
        }
    }
}
