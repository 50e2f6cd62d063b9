//! Which records compare so. A null compares with nothing.

use super::vector::Vector;
use crate::{Bitmap, Comparison, Test, Value, bind::compare_exactly};
use std::cmp::Ordering;

/// Vectors that can be held against a test with constants.
pub(super) trait Tested {
    /// The records whose value passes.
    fn passing(&self, test: &Test) -> Bitmap;
}

impl Tested for Vector<'_> {
    fn passing(&self, test: &Test) -> Bitmap {
        let (len, found) = match self {
            Self::Real(values) => (values.len(), test.reals(values)),
            Self::Whole(wholes) => {
                let mut found = test.wholes(&wholes.values);
                if let Some(found) = &mut found {
                    found.intersect(&wholes.present);
                }
                (wholes.values.len(), found)
            }
            Self::Text(texts) => {
                let passes = texts.each(false, |text| test.passes(Value::Text(text)));
                (passes.len(), Some(Bitmap::from_test(&passes, |&passes| passes)))
            }
            Self::Truth(truth) => (truth.yes.len(), None),
        };
        found.unwrap_or_else(|| Bitmap::filled(len, false))
    }
}

/// The records for which both sides are there and compare so.
pub(super) fn holds(left: &Vector<'_>, comparison: Comparison, right: &Vector<'_>) -> Bitmap {
    match (left, right) {
        (Vector::Real(left), Vector::Real(right)) => reals(left, comparison, right),
        (Vector::Whole(left), Vector::Whole(right)) => {
            let test = |a: &i64, b: &i64| comparison.holds(a.cmp(b));
            let mut found = Bitmap::from_pairs(&left.values, &right.values, test);
            found.intersect(&left.present);
            found.intersect(&right.present);
            found
        }
        (Vector::Whole(left), Vector::Real(right)) => {
            let order = |row: usize, whole: i64| {
                let right = right[row];
                (!right.is_nan()).then(|| compare_exactly(whole, right))
            };
            by_row(right.len(), |row| order(row, left.get(row)?), comparison)
        }
        (Vector::Real(_), Vector::Whole(_)) => holds(right, comparison.mirrored(), left),
        (Vector::Text(left), Vector::Text(right)) => {
            let rows = left.len().min(right.len());
            by_row(rows, |row| Some(left.get(row)?.cmp(right.get(row)?)), comparison)
        }
        (Vector::Truth(left), Vector::Truth(right)) => {
            let value = |truth: &super::vector::Truth, row| match (truth.yes.get(row), truth.no.get(row)) {
                (false, false) => None,
                (yes, _) => Some(yes),
            };
            by_row(left.yes.len(), |row| Some(value(left, row)?.cmp(&value(right, row)?)), comparison)
        }
        (vector, _) => Bitmap::filled(vector.present().len(), false),
    }
}

fn by_row(rows: usize, order: impl Fn(usize) -> Option<Ordering>, comparison: Comparison) -> Bitmap {
    Bitmap::from_blocks(rows, |range| {
        let start = range.start;
        let bit = |row: usize| u64::from(order(row).is_some_and(|order| comparison.holds(order)));
        range.fold(0, |word, row| word | bit(row) << (row - start))
    })
}

#[expect(clippy::float_cmp, reason = "the user asks for equality")]
fn reals(left: &[f64], comparison: Comparison, right: &[f64]) -> Bitmap {
    match comparison {
        Comparison::Equal => Bitmap::from_pairs(left, right, |a, b| a == b),
        // NaN is a null, and unequal to nothing.
        Comparison::Unequal => Bitmap::from_pairs(left, right, |a, b| !a.is_nan() && !b.is_nan() && a != b),
        Comparison::Below => Bitmap::from_pairs(left, right, |a, b| a < b),
        Comparison::AtMost => Bitmap::from_pairs(left, right, |a, b| a <= b),
        Comparison::Above => Bitmap::from_pairs(left, right, |a, b| a > b),
        Comparison::AtLeast => Bitmap::from_pairs(left, right, |a, b| a >= b),
    }
}

/// The records that lie between both ends, or, where false is wanted, are known not to.
pub(super) fn between(one: &Vector<'_>, low: &Vector<'_>, high: &Vector<'_>, wanted: bool) -> Bitmap {
    let [from, to] = [Comparison::AtLeast, Comparison::AtMost]
        .map(|comparison| if wanted { comparison } else { comparison.negated() });
    let mut found = holds(one, from, low);
    let other = holds(one, to, high);
    if wanted {
        found.intersect(&other);
    } else {
        found.unite(&other);
    }
    found
}
