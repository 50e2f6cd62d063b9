//! The inverse question: the least epsilon, in a few decimal digits, that is accurate enough.

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
pub fn smallest_decimal(powers: Range<i64>, mut passes: impl FnMut(&Ratio) -> bool) -> Option<Ratio> {
    // Every candidate is mantissa·10^power with 10^5 <= mantissa < 10^6; index runs over all of them in order.
    let per_decade = 9 * 10i64.pow(DIGITS - 1);
    let candidate = |index: i64| {
        let (power, mantissa) =
            (index.div_euclid(per_decade), 10i64.pow(DIGITS - 1) + index.rem_euclid(per_decade));
        let text = format!("{mantissa}e{power}");
        text.parse::<Ratio>().expect("a short decimal")
    };
    let index = |power: i64| per_decade * (power - i64::from(DIGITS) + 1);
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
    }
}
