//! Several released quantiles tell of each other: what lies ranks below one of them lies below its true value, and so gives an end to it.
//!
//! # Why
//!
//! All bars hold at once: the answer at `p` lies within `e` ranks of the row at `p` of all rows. Where `e` is less than the ranks from there
//! to the row at a larger `q`, that answer is not above the true value at `q`; and from above likewise. It is post-processing and costs
//! nothing. The number of rows is noisy: half of it is taken, and it must be twenty times the ranks, which is far beyond its noise.

use crate::bar::{Condition, value};
use serde_json::Value;

/// The noisy number of rows is at least so many times the ranks that an answer may be off.
const ROWS_OVER_RANKS: u64 = 20;

/// Between which other answers the true values lie, as a clause; nothing where they are too near, or too few rows were counted.
pub(super) fn others(fractions: &[f64], ranks: &[u64], rows: u64, answers: &Value) -> Option<Condition> {
    let most = ranks.iter().copied().max()?;
    let answers = answers.as_array().filter(|_| rows >= ROWS_OVER_RANKS.saturating_mul(most))?;
    let apart = |one: usize, other: usize| {
        let between = (fractions[one] - fractions[other]).abs() * rows as f64 / 2.0;
        (ranks[other] + 1) as f64 <= between
    };
    let known = |place: &usize| answers.get(*place).is_some_and(Value::is_number);
    let words = |place: usize| {
        let low = (0..place).rev().filter(known).find(|&other| apart(place, other))?;
        let high = (place + 1..fractions.len()).filter(known).find(|&other| apart(place, other))?;
        let shown = |other: usize| value(&answers[other]);
        let fraction = format!("{:.4}", fractions[place]);
        let fraction = fraction.trim_end_matches('0');
        Some(format!("the {fraction} quantile lies between {} and {}", shown(low), shown(high)))
    };
    let all: Vec<String> = (0..fractions.len()).filter(known).filter_map(words).collect();
    (!all.is_empty()).then(|| Condition::Given(format!("as the others tell, {}", all.join(", "))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn said(fractions: &[f64], ranks: &[u64], rows: u64, answers: &Value) -> Option<String> {
        others(fractions, ranks, rows, answers).map(|condition| match condition {
            Condition::Given(words) => words,
            other => panic!("{other:?}"),
        })
    }

    #[test]
    fn the_quantiles_around_one_are_its_ends() {
        let fractions = [0.45, 0.5, 0.55];
        assert_eq!(
            said(&fractions, &[104, 94, 104], 53_944, &json!([2011.12, 2400.96, 2862.04])).unwrap(),
            "as the others tell, the 0.5 quantile lies between 2011.12 and 2862.04"
        );
        // Too near for these ranks, too few rows, or not released.
        assert_eq!(said(&[0.499, 0.5, 0.501], &[100; 3], 53_944, &json!([1, 2, 3])), None);
        assert_eq!(said(&fractions, &[100; 3], 1999, &json!([1, 2, 3])), None);
        assert_eq!(said(&fractions, &[100; 3], 53_944, &json!([null, 2, 3])), None);
        let five = said(&[0.05, 0.25, 0.5, 0.75, 0.95], &[10; 5], 10_000, &json!([1, 2, 3, 4, 5])).unwrap();
        assert!(five.contains("the 0.25 quantile lies between 1 and 3, the 0.5 quantile"), "{five}");
        assert!(!five.contains("0.05") && !five.contains("0.95"), "ends have one side only: {five}");
    }

    /// Whatever the rows are, and wherever answers lie within their ranks, the true value lies between.
    #[test]
    fn no_true_value_lies_beyond_them() {
        let (fractions, ranks) = ([0.4, 0.5, 0.6], [4u64, 3, 4]);
        for rows in 80..200u64 {
            let value = |rank: i64| json!(rank.clamp(1, i64::try_from(rows).unwrap()) * 10);
            #[expect(clippy::cast_possible_truncation, reason = "at most 200")]
            let at = |fraction: f64| (fraction * rows as f64).ceil() as i64;
            for (below, above) in [(-4, 4), (4, -4), (4, 4), (-4, -4)] {
                let answers = json!([value(at(0.4) + below), value(at(0.5)), value(at(0.6) + above)]);
                // The number of rows may be off by a third.
                for counted in [rows * 2 / 3, rows, rows * 4 / 3] {
                    if said(&fractions, &ranks, counted, &answers).is_some() {
                        let [low, high] = [&answers[0], &answers[2]].map(|end| end.as_i64().unwrap());
                        let truth = value(at(0.5)).as_i64().unwrap();
                        assert!(low <= truth && truth <= high, "{rows} {counted} {answers}");
                    }
                }
            }
        }
    }
}
