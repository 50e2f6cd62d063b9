//! Which records compare so. A null compares with nothing.

use super::{Step, What, vector::Vector};
use crate::{Bitmap, Comparison, Operator, Test, Type, Value, bind::compare_exactly};
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

/// The test of a number that a computed one passes: `x * 2 + 1 > 1500` is `x > 749`, which nobody has to compute for each record. Steps with
/// constants rise or fall with the number, so that those whose result lies between two ends lie between two ends themselves, exactly;
/// where a step leaves 64 bits, the result is null and no end is as far. Only for tests of what lies inside of ends: a null passes
/// neither form.
pub(super) fn before_arithmetic<'s>(step: &'s Step, test: &Test) -> Option<(&'s Step, Test)> {
    let &Test::Whole(mut first, mut last, true) = test else { return None };
    let mut inner = step;
    while let Some((operator, next, constant)) = of_constant(inner) {
        let ends = (i128::from(first), i128::from(last));
        let constant = i128::from(constant);
        let (low, high) = match operator {
            Operator::Plus => (ends.0 - constant, ends.1 - constant),
            Operator::Minus => (ends.0 + constant, ends.1 + constant),
            Operator::Times if constant > 0 => (above(ends.0, constant), ends.1.div_euclid(constant)),
            // What is smaller becomes larger.
            Operator::Times if constant < 0 => (above(-ends.1, -constant), (-ends.0).div_euclid(-constant)),
            _ => break,
        };
        // Beyond 64 bits there is no number to begin with.
        (first, last) =
            match (i64::try_from(low.max(i64::MIN.into())), i64::try_from(high.min(i64::MAX.into()))) {
                (Ok(first), Ok(last)) => (first, last),
                _ => (1, 0),
            };
        inner = next;
    }
    (!std::ptr::eq(inner, step)).then_some((inner, Test::Whole(first, last, true)))
}

/// The least whole number that is so many times as large as this one or larger.
fn above(end: i128, times: i128) -> i128 {
    -(-end).div_euclid(times)
}

/// A whole number and a constant.
fn of_constant(step: &Step) -> Option<(Operator, &Step, i64)> {
    let What::Arithmetic(operator, left, right) = &step.what else { return None };
    let numbers = [step.kind, left.kind, right.kind].iter().all(|kind| *kind == Type::Integer);
    match (&left.what, &right.what, operator) {
        (_, What::Whole(constant), _) if numbers => Some((*operator, left, *constant)),
        (What::Whole(constant), _, Operator::Plus | Operator::Times) if numbers => {
            Some((*operator, right, *constant))
        }
        _ => None,
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
