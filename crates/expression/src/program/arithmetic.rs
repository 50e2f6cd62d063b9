//! Numbers made of numbers. What leaves 64 bits, is infinite or is not a number is null.

use super::vector::{Vector, Wholes};
use crate::{Bitmap, Function, Operator, Type};
use std::borrow::Cow;

/// Beyond so many days from 1970, a billion years, there is no day.
pub(super) const FARTHEST_DAY: i64 = 365_000_000_000;

#[inline]
fn finite(value: f64) -> f64 {
    if value.is_finite() { value } else { f64::NAN }
}

/// Each number made into another, in place where the list is our own.
#[inline]
fn each(values: Cow<'_, [f64]>, change: impl Fn(f64) -> f64) -> Vector<'_> {
    Vector::Real(Cow::Owned(match values {
        Cow::Owned(mut values) => {
            for value in &mut values {
                *value = finite(change(*value));
            }
            values
        }
        Cow::Borrowed(values) => values.iter().map(|&value| finite(change(value))).collect(),
    }))
}

#[inline]
fn pairs<'a>(left: Cow<'a, [f64]>, right: Cow<'a, [f64]>, make: impl Fn(f64, f64) -> f64) -> Vector<'a> {
    Vector::Real(Cow::Owned(match (left, right) {
        (Cow::Owned(mut left), right) => {
            left.iter_mut().zip(right.iter()).for_each(|(a, &b)| *a = finite(make(*a, b)));
            left
        }
        (left, Cow::Owned(mut right)) => {
            left.iter().zip(&mut right).for_each(|(&a, b)| *b = finite(make(a, *b)));
            right
        }
        (left, right) => left.iter().zip(right.iter()).map(|(&a, &b)| finite(make(a, b))).collect(),
    }))
}

/// Two lists of floats.
pub(super) fn reals<'a>(operator: Operator, left: Cow<'a, [f64]>, right: Cow<'a, [f64]>) -> Vector<'a> {
    match operator {
        Operator::Plus => pairs(left, right, |a, b| a + b),
        Operator::Minus => pairs(left, right, |a, b| a - b),
        Operator::Times => pairs(left, right, |a, b| a * b),
        Operator::Over => pairs(left, right, |a, b| a / b),
        Operator::Modulo => pairs(left, right, |a, b| a % b),
    }
}

/// A list of floats and a constant.
pub(super) fn with(operator: Operator, left: Cow<'_, [f64]>, right: f64) -> Vector<'_> {
    match operator {
        Operator::Plus => each(left, |a| a + right),
        Operator::Minus => each(left, |a| a - right),
        Operator::Times => each(left, |a| a * right),
        Operator::Over => each(left, |a| a / right),
        Operator::Modulo => each(left, |a| a % right),
    }
}

/// A constant and a list of floats.
pub(super) fn with_first(operator: Operator, left: f64, right: Cow<'_, [f64]>) -> Vector<'_> {
    match operator {
        Operator::Plus => each(right, |b| left + b),
        Operator::Minus => each(right, |b| left - b),
        Operator::Times => each(right, |b| left * b),
        Operator::Over => each(right, |b| left / b),
        Operator::Modulo => each(right, |b| left % b),
    }
}

/// Whole numbers, or days, and a constant.
pub(super) fn wholes_with(operator: Operator, left: Wholes, right: i64, kind: Type) -> Vector<'static> {
    let found = match operator {
        Operator::Plus => left.map(|value| value.checked_add(right)),
        Operator::Minus => left.map(|value| value.checked_sub(right)),
        Operator::Times => left.map(|value| value.checked_mul(right)),
        Operator::Over | Operator::Modulo if right == 0 => left.map(|_| None),
        Operator::Over | Operator::Modulo => left.map(|value| Some(value.wrapping_rem(right))),
    };
    Vector::Whole(days_or_numbers(found, kind))
}

/// The same numbers; of days those that there are.
fn days_or_numbers(mut found: Wholes, kind: Type) -> Wholes {
    if kind == Type::Date {
        let near = |day: &i64| (-FARTHEST_DAY..=FARTHEST_DAY).contains(day);
        found.present.intersect(&Bitmap::from_test(&found.values, near));
    }
    found
}

/// Two lists of whole numbers, or a day and days.
pub(super) fn wholes(operator: Operator, left: Wholes, right: &Wholes, kind: Type) -> Vector<'static> {
    let found = match operator {
        Operator::Plus => checked(left, right, i64::overflowing_add),
        Operator::Minus => checked(left, right, i64::overflowing_sub),
        Operator::Times => checked(left, right, i64::overflowing_mul),
        // -2^63 % -1 is 0, though the quotient leaves 64 bits; a division of whole numbers is one of floats.
        Operator::Over | Operator::Modulo => {
            checked(left, right, |a, b| if b == 0 { (0, true) } else { (a.wrapping_rem(b), false) })
        }
    };
    Vector::Whole(days_or_numbers(found, kind))
}

/// Both numbers made into one, which is null where it overflows.
fn checked(mut left: Wholes, right: &Wholes, make: impl Fn(i64, i64) -> (i64, bool)) -> Wholes {
    let values = &mut left.values;
    let good = Bitmap::from_blocks(values.len().min(right.values.len()), |range| {
        let mine = values[range.clone()].iter_mut();
        mine.zip(&right.values[range]).enumerate().fold(0, |word, (place, (a, &b))| {
            let (value, overflow) = make(*a, b);
            *a = value;
            word | u64::from(!overflow) << place
        })
    });
    left.present.intersect(&right.present);
    left.present.intersect(&good);
    left
}

/// The opposite numbers.
pub(super) fn negative(vector: Vector<'_>) -> Vector<'_> {
    match vector {
        Vector::Real(values) => each(values, |value| -value),
        Vector::Whole(wholes) => Vector::Whole(wholes.map(i64::checked_neg)),
        other => other,
    }
}

/// A function of one number.
pub(super) fn function(function: Function, vector: Vector<'_>) -> Vector<'_> {
    match (function, vector) {
        (Function::Abs, Vector::Real(values)) => each(values, f64::abs),
        (Function::Floor, Vector::Real(values)) => each(values, f64::floor),
        (Function::Ceil, Vector::Real(values)) => each(values, f64::ceil),
        (Function::Ln, Vector::Real(values)) => each(values, f64::ln),
        (Function::Exp, Vector::Real(values)) => each(values, f64::exp),
        (Function::Sqrt, Vector::Real(values)) => each(values, f64::sqrt),
        (Function::Abs, Vector::Whole(wholes)) => Vector::Whole(wholes.map(i64::checked_abs)),
        // A whole number is the next whole number.
        (_, vector) => vector,
    }
}

/// The nearest numbers with so many digits after the point, ties away from zero.
pub(super) fn round(vector: Vector<'_>, digits: i32) -> Vector<'_> {
    match vector {
        Vector::Real(values) if digits == 0 => each(values, f64::round),
        Vector::Real(values) if digits > 0 => {
            let power = 10f64.powi(digits);
            each(values, |value| {
                let rounded = (value * power).round() / power;
                // So many digits that the number has no more of them.
                if rounded.is_finite() { rounded } else { value }
            })
        }
        Vector::Real(values) => {
            let power = 10f64.powi(-digits);
            each(values, |value| (value / power).round() * power)
        }
        Vector::Whole(wholes) if digits < 0 => Vector::Whole(wholes.map(|value| {
            let Some(power) = 10i128.checked_pow(digits.unsigned_abs()) else { return Some(0) };
            let value = i128::from(value);
            let half = if value < 0 { -(power / 2) } else { power / 2 };
            i64::try_from((value + half) / power * power).ok()
        })),
        other => other,
    }
}
