//! Types of columns: their names, and how one value of each is read and written.
//!
//! A value of a whole type is a whole number inside: days since 1970, microseconds since 1970, units of the last digit,
//! zero or one. The map is one to one and keeps the order, and it is chosen by public words alone. So a mechanism that
//! answers about those whole numbers answers about the column, at the same price, and what is written at the end is
//! post-processing.

use crate::{
    field::{boolean::boolean, calendar, decimal, number},
    source::ColumnType,
};
use serde_json::{Value, json};
use std::fmt;

/// The names that can be declared; a decimal has any number of digits up to 18.
pub const NAMES: [&str; 7] = ["date", "timestamp", "decimal:2", "integer", "boolean", "number", "text"];

/// The most digits after the point that 64 bits hold with one before it.
const MOST_DIGITS: u8 = 18;

impl ColumnType {
    /// A type by its name, as in `--type hired=date`.
    pub fn named(name: &str) -> Option<Self> {
        Some(match name {
            "date" => Self::Date,
            "timestamp" => Self::Timestamp,
            "integer" => Self::Integer,
            "boolean" => Self::Boolean,
            "number" => Self::Float,
            "text" => Self::Text,
            _ => {
                let digits = name.strip_prefix("decimal:")?;
                let plain = digits.bytes().all(|byte| byte.is_ascii_digit());
                let digits = digits.parse().ok().filter(|&digits| plain && digits <= MOST_DIGITS)?;
                Self::Decimal { digits }
            }
        })
    }

    /// Is a value of it a whole number inside?
    pub fn is_whole(self) -> bool {
        !matches!(self, Self::Float | Self::Text)
    }

    /// Days and moments have an order and distances, but no sums.
    pub fn is_time(self) -> bool {
        matches!(self, Self::Date | Self::Timestamp)
    }

    /// How a value of it becomes a condition, as an example.
    pub(crate) fn compared(self) -> &'static str {
        match self {
            Self::Text => "= 'text'",
            Self::Date | Self::Timestamp => ">= '2026-01-01'",
            _ => "> 60",
        }
    }

    /// How many whole numbers one unit of it takes: of a moment a second, of a decimal one.
    pub(crate) fn units(self) -> i64 {
        match self {
            Self::Timestamp => 1_000_000,
            Self::Decimal { digits } => 10i64.pow(u32::from(digits.min(MOST_DIGITS))),
            _ => 1,
        }
    }

    /// What its distances are measured in, where that is not plain numbers.
    pub(crate) fn measure(self) -> Option<&'static str> {
        match self {
            Self::Date => Some("days"),
            Self::Timestamp => Some("seconds"),
            _ => None,
        }
    }

    /// A text as the whole number inside; nothing if it is no such value, or for types that have none.
    pub fn read(self, text: &str) -> Option<i64> {
        let field = text.as_bytes();
        match self {
            Self::Date => calendar::date(field),
            Self::Timestamp => calendar::timestamp(field),
            Self::Decimal { digits } => decimal::decimal(field, digits),
            Self::Integer => number::integer(field),
            Self::Boolean => boolean(field),
            Self::Float | Self::Text => None,
        }
    }

    /// The whole number inside as the one text that stands for it.
    pub fn write(self, whole: i64) -> String {
        match self {
            Self::Date => calendar::date_text(whole),
            Self::Timestamp => calendar::timestamp_text(whole),
            Self::Decimal { digits } => decimal::text(whole.into(), digits),
            Self::Boolean => (whole != 0).to_string(),
            Self::Integer | Self::Float | Self::Text => whole.to_string(),
        }
    }

    /// The whole number inside as JSON: a whole number, a yes or no, or else text, which loses no digit.
    pub(crate) fn value(self, whole: i64) -> Value {
        match self {
            Self::Integer => json!(whole),
            Self::Boolean => json!(whole != 0),
            _ => json!(self.write(whole)),
        }
    }

    /// A distance of so many whole numbers as JSON: days, seconds, or a number of the type itself.
    pub(crate) fn distance(self, wholes: i128) -> Value {
        match self {
            Self::Decimal { digits } => json!(decimal::text(wholes, digits)),
            Self::Timestamp if wholes % 1_000_000 != 0 => json!(wholes as f64 / 1e6),
            Self::Timestamp => whole_value(wholes / 1_000_000),
            _ => whole_value(wholes),
        }
    }

    /// The value of the type next to a number, as JSON; a number itself where it is beyond 64 bits.
    pub(crate) fn near(self, number: f64, round: fn(f64) -> f64) -> Value {
        let units = self.units() as f64;
        let number = round(number * units) / units;
        match self {
            Self::Decimal { digits } => json!(format!("{number:.0$}", usize::from(digits))),
            #[expect(clippy::cast_possible_truncation, reason = "whole and within 64 bits")]
            _ if number.abs() < 9e18 => json!(number as i64),
            _ => json!(number),
        }
    }

    /// The number that a whole number inside stands for, as the nearest float or next to it.
    pub(crate) fn number(self, whole: i64) -> f64 {
        whole as f64 / self.units() as f64
    }
}

impl fmt::Display for ColumnType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Date => f.write_str("date"),
            Self::Timestamp => f.write_str("timestamp"),
            Self::Decimal { digits } => write!(f, "decimal:{digits}"),
            Self::Integer => f.write_str("integer"),
            Self::Boolean => f.write_str("boolean"),
            Self::Float => f.write_str("number"),
            Self::Text => f.write_str("text"),
        }
    }
}

fn whole_value(whole: i128) -> Value {
    match (i64::try_from(whole), u64::try_from(whole)) {
        (Ok(whole), _) => json!(whole),
        (_, Ok(whole)) => json!(whole),
        _ => json!(whole as f64),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const WHOLE: [ColumnType; 6] = [
        ColumnType::Integer,
        ColumnType::Decimal { digits: 0 },
        ColumnType::Decimal { digits: 2 },
        ColumnType::Decimal { digits: 18 },
        ColumnType::Timestamp,
        ColumnType::Date,
    ];

    #[test]
    fn names_are_read_as_they_are_written() {
        for name in NAMES.into_iter().chain(["decimal:0", "decimal:18"]) {
            assert_eq!(ColumnType::named(name).map(|kind| kind.to_string()).as_deref(), Some(name));
        }
        for wrong in
            ["", "Date", "datetime", "decimal", "decimal:", "decimal:19", "decimal:-1", "decimal:+1", "int"]
        {
            assert_eq!(ColumnType::named(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn values_and_distances_by_hand() {
        let cents = ColumnType::Decimal { digits: 2 };
        assert_eq!(ColumnType::Date.value(20_512), json!("2026-02-28"));
        assert_eq!(ColumnType::Timestamp.value(1_500_000), json!("1970-01-01T00:00:01.5Z"));
        assert_eq!(cents.value(-5), json!("-0.05"));
        assert_eq!(ColumnType::Integer.value(9_007_199_254_740_993), json!(9_007_199_254_740_993i64));
        assert_eq!([0, 1].map(|whole| ColumnType::Boolean.value(whole)), [json!(false), json!(true)]);
        assert_eq!(ColumnType::Date.distance(411), json!(411));
        assert_eq!(ColumnType::Timestamp.distance(3_000_000), json!(3));
        assert_eq!(ColumnType::Timestamp.distance(1_500_000), json!(1.5));
        assert_eq!(cents.distance(i128::from(i64::MAX) + 1), json!("92233720368547758.08"));
        let whole = i128::from(i64::MAX) - i128::from(i64::MIN);
        assert_eq!(ColumnType::Integer.distance(whole), json!(u64::MAX));
        assert_eq!(cents.number(1234).to_string(), "12.34");
    }

    proptest! {
        /// One to one and in order, so that answers about the whole numbers are answers about the values.
        #[test]
        fn every_value_reads_back_and_keeps_its_place(a: i64, b in -365_000_000_000i64..365_000_000_000) {
            for kind in WHOLE {
                let whole = if kind == ColumnType::Date { b } else { a };
                prop_assert_eq!(kind.read(&kind.write(whole)), Some(whole), "{}", kind);
            }
        }
    }
}
