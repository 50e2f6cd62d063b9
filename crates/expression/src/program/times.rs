//! Parts and beginnings of days and moments, in UTC.

use super::{
    arithmetic::FARTHEST_DAY,
    vector::{Vector, Wholes},
};
use crate::{Function, Type, field::calendar};
use std::borrow::Cow;

/// Microseconds.
const SECOND: i64 = 1_000_000;
pub(super) const DAY: i64 = 86_400 * SECOND;

/// How much of a moment is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    Year,
    Quarter,
    Month,
    Week,
    Day,
    Hour,
    Minute,
    Second,
}

impl Unit {
    pub const NAMES: [(&'static str, Self); 8] = [
        ("year", Self::Year),
        ("quarter", Self::Quarter),
        ("month", Self::Month),
        ("week", Self::Week),
        ("day", Self::Day),
        ("hour", Self::Hour),
        ("minute", Self::Minute),
        ("second", Self::Second),
    ];

    pub fn named(name: &str) -> Option<Self> {
        Self::NAMES.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, unit)| *unit)
    }

    /// What is left is a day, or a moment.
    pub fn kind(self) -> Type {
        match self {
            Self::Hour | Self::Minute | Self::Second => Type::Timestamp,
            _ => Type::Date,
        }
    }
}

/// The day of a day or moment.
fn day_of(kind: Type, value: i64) -> i64 {
    if kind == Type::Timestamp { value.div_euclid(DAY) } else { value }
}

/// The year, month, day, weekday or hour.
pub(super) fn part(function: Function, kind: Type, values: Wholes) -> Wholes {
    values.map(|value| {
        let day = day_of(kind, value);
        let of_month = |pick: fn((i64, i64, i64)) -> i64| Some(pick(calendar::year_month_day(day)));
        match function {
            Function::Year => of_month(|(year, _, _)| year),
            Function::Month => of_month(|(_, month, _)| month),
            Function::Day => of_month(|(_, _, day)| day),
            // The first of January 1970 was a Thursday.
            Function::Weekday => Some((day.rem_euclid(7) + 4) % 7),
            _ if kind == Type::Timestamp => Some(value.rem_euclid(DAY) / (3600 * SECOND)),
            _ => Some(0),
        }
    })
}

/// The beginning of the year, month or hour.
pub(super) fn truncated(unit: Unit, kind: Type, values: Wholes) -> Wholes {
    values.map(|value| {
        let day = day_of(kind, value);
        if !(-FARTHEST_DAY..=FARTHEST_DAY).contains(&day) {
            return None;
        }
        let (year, month, _) = calendar::year_month_day(day);
        match unit {
            Unit::Year => Some(calendar::days_since_1970(year, 1, 1)),
            Unit::Quarter => Some(calendar::days_since_1970(year, (month - 1) / 3 * 3 + 1, 1)),
            Unit::Month => Some(calendar::days_since_1970(year, month, 1)),
            Unit::Week => Some(day - (day.rem_euclid(7) + 3) % 7),
            Unit::Day => Some(day),
            Unit::Hour | Unit::Minute | Unit::Second => {
                let moment = if kind == Type::Timestamp { value } else { day.checked_mul(DAY)? };
                let length = match unit {
                    Unit::Hour => 3600 * SECOND,
                    Unit::Minute => 60 * SECOND,
                    _ => SECOND,
                };
                moment.checked_sub(moment.rem_euclid(length))
            }
        }
    })
}

/// From one moment to another.
pub(super) fn seconds(later: &Wholes, earlier: &Wholes) -> Vector<'static> {
    let between = |row: usize| {
        let (later, earlier) = (later.get(row)?, earlier.get(row)?);
        Some((i128::from(later) - i128::from(earlier)) as f64 / SECOND as f64)
    };
    let rows = later.values.len();
    Vector::Real(Cow::Owned((0..rows).map(|row| between(row).unwrap_or(f64::NAN)).collect()))
}
