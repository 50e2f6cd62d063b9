//! One cell of any type, and how it is read as each kind.

use crate::{boolean::boolean, calendar, decimal::decimal, number};
use arrow_array::{
    Array,
    cast::AsArray,
    types::{
        Date32Type, Date64Type, Decimal32Type, Decimal64Type, Decimal128Type, Decimal256Type, Float16Type,
        Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, TimestampMicrosecondType,
        TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType, UInt8Type, UInt16Type,
        UInt32Type, UInt64Type,
    },
};
use arrow_schema::{DataType, TimeUnit};
use equipoise_session::source::ColumnType;
use std::fmt::Write;

/// One cell.
#[derive(Clone, Debug, PartialEq)]
pub enum Value<'a> {
    /// Nothing.
    Null,
    /// Yes or no.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// Beyond 63 bits, perhaps.
    Unsigned(u64),
    /// A float of 32 bits.
    Single(f32),
    /// A float of 64 bits.
    Float(f64),
    /// Whole multiples of 10^-scale.
    Decimal(i128, i8),
    /// The same beyond 128 bits, in digits.
    Long(String, i8),
    /// Days since 1970.
    Day(i64),
    /// Microseconds since 1970.
    Moment(i64),
    /// Nanoseconds since 1970: a moment is the microsecond in which it lies, but its text keeps all digits, because
    /// two people whose ids differ in the last one are two people.
    Fine(i64),
    /// Bytes, which are text if they are UTF-8.
    Bytes(&'a [u8]),
    /// Bytes of a fixed length, which are seldom text.
    Fixed(&'a [u8]),
}

/// Reads the cells of an array by their place.
pub(super) type Getter<'a> = Box<dyn Fn(usize) -> Value<'a> + 'a>;

/// The cells of an array. A type that cannot be read has nulls only; a plan has refused it.
pub(super) fn getter(array: &dyn Array) -> Getter<'_> {
    let present = present(array);
    match array.nulls() {
        Some(nulls) => Box::new(move |row| if nulls.is_valid(row) { present(row) } else { Value::Null }),
        None => present,
    }
}

fn present(array: &dyn Array) -> Getter<'_> {
    macro_rules! cells {
        ($type:ty, $value:expr) => {{
            let cells = array.as_primitive::<$type>().values();
            Box::new(move |row| $value(cells[row]))
        }};
    }
    match array.data_type() {
        DataType::Boolean => {
            let cells = array.as_boolean();
            Box::new(move |row| Value::Bool(cells.value(row)))
        }
        DataType::Int8 => cells!(Int8Type, |cell| Value::Int(i64::from(cell))),
        DataType::Int16 => cells!(Int16Type, |cell| Value::Int(i64::from(cell))),
        DataType::Int32 => cells!(Int32Type, |cell| Value::Int(i64::from(cell))),
        DataType::Int64 => cells!(Int64Type, Value::Int),
        DataType::UInt8 => cells!(UInt8Type, |cell| Value::Int(i64::from(cell))),
        DataType::UInt16 => cells!(UInt16Type, |cell| Value::Int(i64::from(cell))),
        DataType::UInt32 => cells!(UInt32Type, |cell| Value::Int(i64::from(cell))),
        DataType::UInt64 => cells!(UInt64Type, Value::Unsigned),
        DataType::Float16 => cells!(Float16Type, |cell: half::f16| Value::Single(cell.to_f32())),
        DataType::Float32 => cells!(Float32Type, Value::Single),
        DataType::Float64 => cells!(Float64Type, Value::Float),
        &DataType::Decimal32(_, scale) => {
            cells!(Decimal32Type, move |cell| Value::Decimal(i128::from(cell), scale))
        }
        &DataType::Decimal64(_, scale) => {
            cells!(Decimal64Type, move |cell| Value::Decimal(i128::from(cell), scale))
        }
        &DataType::Decimal128(_, scale) => cells!(Decimal128Type, move |cell| Value::Decimal(cell, scale)),
        &DataType::Decimal256(_, scale) => {
            cells!(Decimal256Type, move |cell: arrow_buffer::i256| match cell.to_i128() {
                Some(cell) => Value::Decimal(cell, scale),
                None => Value::Long(cell.to_string(), scale),
            })
        }
        DataType::Date32 => cells!(Date32Type, |cell| Value::Day(i64::from(cell))),
        DataType::Date64 => cells!(Date64Type, |cell: i64| Value::Day(cell.div_euclid(86_400_000))),
        DataType::Timestamp(TimeUnit::Second, _) => {
            cells!(TimestampSecondType, |cell| moment(cell, 1_000_000))
        }
        DataType::Timestamp(TimeUnit::Millisecond, _) => {
            cells!(TimestampMillisecondType, |cell| moment(cell, 1000))
        }
        DataType::Timestamp(TimeUnit::Microsecond, _) => cells!(TimestampMicrosecondType, Value::Moment),
        DataType::Timestamp(TimeUnit::Nanosecond, _) => {
            cells!(TimestampNanosecondType, Value::Fine)
        }
        DataType::FixedSizeBinary(_) => {
            let cells = array.as_fixed_size_binary();
            Box::new(move |row| Value::Fixed(cells.value(row)))
        }
        DataType::Dictionary(..) => coded(array),
        _ => match bytes(array) {
            Some(cells) => Box::new(move |row| Value::Bytes(cells(row))),
            None => Box::new(|_| Value::Null),
        },
    }
}

fn coded(array: &dyn Array) -> Getter<'_> {
    let dictionary = array.as_any_dictionary();
    if dictionary.values().is_empty() {
        return Box::new(|_| Value::Null);
    }
    let values = getter(dictionary.values());
    let keys = dictionary.normalized_keys();
    Box::new(move |row| values(keys[row]))
}

fn moment(cell: i64, microseconds: i64) -> Value<'static> {
    cell.checked_mul(microseconds).map_or(Value::Null, Value::Moment)
}

/// The bytes of cells by their place.
pub(super) type Bytes<'a> = Box<dyn Fn(usize) -> &'a [u8] + 'a>;

/// The bytes of cells, null or not, where an array is one of texts or bytes.
pub(super) fn bytes(array: &dyn Array) -> Option<Bytes<'_>> {
    macro_rules! cells {
        ($cells:expr) => {{
            let cells = $cells;
            Some(Box::new(move |row| AsRef::<[u8]>::as_ref(cells.value(row))))
        }};
    }
    match array.data_type() {
        DataType::Binary => cells!(array.as_binary::<i32>()),
        DataType::LargeBinary => cells!(array.as_binary::<i64>()),
        DataType::BinaryView => cells!(array.as_binary_view()),
        DataType::Utf8 => cells!(array.as_string::<i32>()),
        DataType::LargeUtf8 => cells!(array.as_string::<i64>()),
        DataType::Utf8View => cells!(array.as_string_view()),
        _ => None,
    }
}

impl Value<'_> {
    /// As a float; null is NaN.
    pub fn float(&self) -> f64 {
        match self {
            Self::Bool(yes) => f64::from(u8::from(*yes)),
            Self::Int(cell) => *cell as f64,
            Self::Unsigned(cell) => *cell as f64,
            Self::Single(cell) => f64::from(*cell),
            Self::Float(cell) => *cell,
            Self::Decimal(units, scale) => decimal_float(*units, *scale),
            Self::Long(..) => number::float(self.shown().as_bytes()),
            Self::Bytes(bytes) => number::float(bytes),
            Self::Null | Self::Day(_) | Self::Moment(_) | Self::Fine(_) | Self::Fixed(_) => f64::NAN,
        }
    }

    /// As a whole number of this kind.
    pub fn whole(&self, kind: ColumnType) -> Option<i64> {
        match (kind, self) {
            (ColumnType::Integer, Self::Int(cell)) => Some(*cell),
            (ColumnType::Integer | ColumnType::Boolean, Self::Bool(yes)) => Some(i64::from(*yes)),
            (ColumnType::Integer, Self::Bytes(bytes)) => number::integer(bytes),
            (ColumnType::Integer, _) => self.exactly_whole(),
            (ColumnType::Decimal { digits }, Self::Bool(yes)) => {
                decimal(if *yes { b"1" } else { b"0" }, digits)
            }
            (ColumnType::Decimal { digits }, Self::Bytes(bytes)) => decimal(bytes, digits),
            (ColumnType::Decimal { digits }, Self::Decimal(units, scale))
                if *scale == digits.cast_signed() =>
            {
                i64::try_from(*units).ok()
            }
            (ColumnType::Decimal { digits }, _) if self.is_number() => {
                decimal(self.shown().as_bytes(), digits)
            }
            (ColumnType::Date, Self::Day(day)) => Some(*day),
            (ColumnType::Date, Self::Bytes(bytes)) => calendar::date(bytes),
            (ColumnType::Timestamp, Self::Moment(moment)) => Some(*moment),
            (ColumnType::Timestamp, Self::Fine(moment)) => Some(moment.div_euclid(1000)),
            (ColumnType::Timestamp, Self::Day(day)) => day.checked_mul(86_400_000_000),
            (ColumnType::Timestamp, Self::Bytes(bytes)) => calendar::timestamp(bytes),
            (ColumnType::Boolean, Self::Bytes(bytes)) => boolean(bytes),
            (ColumnType::Boolean, Self::Decimal(..) | Self::Long(..)) => boolean(self.shown().as_bytes()),
            (ColumnType::Boolean, _) => self.exactly_whole().filter(|cell| matches!(cell, 0 | 1)),
            _ => None,
        }
    }

    fn is_number(&self) -> bool {
        matches!(
            self,
            Self::Int(_)
                | Self::Unsigned(_)
                | Self::Single(_)
                | Self::Float(_)
                | Self::Decimal(..)
                | Self::Long(..)
        )
    }

    /// A number that is whole and has 64 bits.
    fn exactly_whole(&self) -> Option<i64> {
        match self {
            Self::Int(cell) => Some(*cell),
            Self::Unsigned(cell) => i64::try_from(*cell).ok(),
            Self::Single(cell) => whole_float(f64::from(*cell)),
            Self::Float(cell) => whole_float(*cell),
            Self::Decimal(units, scale) => whole_decimal(*units, *scale),
            Self::Long(..) => number::integer(self.shown().as_bytes()),
            _ => None,
        }
    }

    /// As text at the end of this one; false if there is none.
    pub fn write(&self, text: &mut String) -> bool {
        let before = text.len();
        let written = match self {
            Self::Null => Ok(()),
            Self::Bool(yes) => write!(text, "{yes}"),
            Self::Int(cell) => write!(text, "{cell}"),
            Self::Unsigned(cell) => write!(text, "{cell}"),
            Self::Single(cell) if cell.is_nan() => Ok(()),
            Self::Float(cell) if cell.is_nan() => Ok(()),
            // Both zeros are one text; numbers far from one are shorter with an exponent.
            Self::Single(cell) if near_one(f64::from(*cell)) => write!(text, "{}", cell + 0.0),
            Self::Float(cell) if near_one(*cell) => write!(text, "{}", cell + 0.0),
            Self::Single(cell) => write!(text, "{cell:e}"),
            Self::Float(cell) => write!(text, "{cell:e}"),
            Self::Decimal(units, scale) => write_decimal(text, &units.to_string(), *scale),
            Self::Long(units, scale) => write_decimal(text, units, *scale),
            Self::Day(day) => write!(text, "{}", calendar::date_text(*day)),
            Self::Moment(moment) => write!(text, "{}", calendar::timestamp_text(*moment)),
            Self::Fine(moment) => write_fine(text, *moment),
            Self::Bytes(bytes) => write!(text, "{}", std::str::from_utf8(bytes).unwrap_or_default()),
            Self::Fixed(bytes) => bytes.iter().try_for_each(|byte| write!(text, "{byte:02x}")),
        };
        written.is_ok() && text.len() > before
    }

    fn shown(&self) -> String {
        let mut text = String::new();
        self.write(&mut text);
        text
    }
}

fn near_one(value: f64) -> bool {
    value == 0.0 || (1e-5..1e16).contains(&value.abs())
}

fn whole_float(value: f64) -> Option<i64> {
    const LIMIT: f64 = 9_223_372_036_854_775_808.0; // 2^63
    let whole = value.fract() == 0.0 && (-LIMIT..LIMIT).contains(&value);
    #[expect(clippy::cast_possible_truncation, reason = "it is whole and in range")]
    whole.then_some(value as i64)
}

fn whole_decimal(units: i128, scale: i8) -> Option<i64> {
    let power = 10i128.checked_pow(u32::from(scale.unsigned_abs()));
    let whole = match (power, scale < 0) {
        _ if units == 0 => Some(0),
        (Some(power), true) => units.checked_mul(power),
        (Some(power), false) if units % power == 0 => Some(units / power),
        _ => None,
    };
    i64::try_from(whole?).ok()
}

/// The nearest float. Where units and power are floats exactly, one division rounds once.
fn decimal_float(units: i128, scale: i8) -> f64 {
    const EXACT: u128 = 1 << 53;
    if units.unsigned_abs() <= EXACT && (0..=22).contains(&scale) {
        return units as f64 / 10f64.powi(i32::from(scale));
    }
    number::float(Value::Decimal(units, scale).shown().as_bytes())
}

/// A moment with all nine digits of its fraction, or as microseconds where the last three are zeros.
fn write_fine(text: &mut String, nanoseconds: i64) -> std::fmt::Result {
    if nanoseconds.rem_euclid(1000) == 0 {
        return write!(text, "{}", calendar::timestamp_text(nanoseconds.div_euclid(1000)));
    }
    let second = calendar::timestamp_text(nanoseconds.div_euclid(1_000_000_000) * 1_000_000);
    let fraction = format!("{:09}", nanoseconds.rem_euclid(1_000_000_000));
    write!(text, "{}.{}Z", second.trim_end_matches('Z'), fraction.trim_end_matches('0'))
}

/// Digits with a point so many places from their end.
fn write_decimal(text: &mut String, units: &str, scale: i8) -> std::fmt::Result {
    let places = usize::from(scale.unsigned_abs());
    let (sign, digits) = units.strip_prefix('-').map_or(("", units), |digits| ("-", digits));
    match scale {
        ..0 if digits != "0" => write!(text, "{sign}{digits}{:0<places$}", ""),
        ..=0 => write!(text, "{sign}{digits}"),
        _ => {
            let digits = format!("{digits:0>0$}", places + 1);
            let (whole, fraction) = digits.split_at(digits.len() - places);
            write!(text, "{sign}{whole}.{fraction}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A value, its text, float, integer, and units of a hundredth.
    type Row = (Value<'static>, &'static str, f64, Option<i64>, Option<i64>);

    #[test]
    fn values_by_hand() {
        let two = ColumnType::Decimal { digits: 2 };
        let table: [Row; 14] = [
            (Value::Null, "", f64::NAN, None, None),
            (Value::Bool(true), "true", 1.0, Some(1), Some(100)),
            (Value::Int(-7), "-7", -7.0, Some(-7), Some(-700)),
            (Value::Unsigned(u64::MAX), "18446744073709551615", 18_446_744_073_709_551_615.0, None, None),
            (Value::Single(0.1), "0.1", f64::from(0.1f32), None, Some(10)),
            (Value::Float(2.5e20), "2.5e20", 2.5e20, None, None),
            (Value::Float(-0.0), "0", -0.0, Some(0), Some(0)),
            (Value::Float(1e-7), "1e-7", 1e-7, None, Some(0)),
            (Value::Float(f64::INFINITY), "inf", f64::INFINITY, None, None),
            (Value::Decimal(-5, 3), "-0.005", -0.005, None, Some(-1)),
            (Value::Decimal(1200, 2), "12.00", 12.0, Some(12), Some(1200)),
            (Value::Decimal(12, -2), "1200", 1200.0, Some(1200), Some(120_000)),
            (
                Value::Decimal(i128::MAX, 38),
                "1.70141183460469231731687303715884105727",
                1.701_411_834_604_692_3,
                None,
                Some(170),
            ),
            (Value::Fixed(&[0xab, 1]), "ab01", f64::NAN, None, None),
        ];
        for (value, text, float, whole, units) in table {
            assert_eq!(value.shown(), text);
            assert!(
                value.float().to_bits() == float.to_bits() || value.float().is_nan() && float.is_nan(),
                "{text}"
            );
            assert_eq!((value.whole(ColumnType::Integer), value.whole(two)), (whole, units), "{text}");
        }
        assert_eq!(Value::Float(f64::NAN).whole(ColumnType::Integer), None);
        assert_eq!(Value::Float(9.3e18).whole(ColumnType::Integer), None);
        assert_eq!(Value::Long("9".repeat(60), 59).whole(two), Some(1000));
        assert_eq!(Value::Day(1).whole(ColumnType::Timestamp), Some(86_400_000_000));
        assert_eq!(Value::Moment(1).whole(ColumnType::Date), None);
        assert_eq!(Value::Fine(-1).whole(ColumnType::Timestamp), Some(-1));
        for (nanoseconds, text) in [
            (0, "1970-01-01T00:00:00Z"),
            (250_000_000, "1970-01-01T00:00:00.25Z"),
            (1, "1970-01-01T00:00:00.000000001Z"),
            (1_000_000_120, "1970-01-01T00:00:01.00000012Z"),
            (-1, "1969-12-31T23:59:59.999999999Z"),
            (i64::MIN, "1677-09-21T00:12:43.145224192Z"),
            (i64::MAX, "2262-04-11T23:47:16.854775807Z"),
        ] {
            assert_eq!(Value::Fine(nanoseconds).shown(), text);
        }
        assert_eq!(Value::Int(2).whole(ColumnType::Boolean), None);
    }

    proptest! {
        #[test]
        fn a_number_reads_as_its_text(units: i128, scale in -40i8..40, digits in 0u8..20, bits: u64, whole: i64) {
            for value in [Value::Decimal(units, scale), Value::Decimal(units % 100_000, scale), Value::Float(f64::from_bits(bits)), Value::Int(whole)] {
                let text = value.shown();
                let (float, read) = (value.float(), number::float(text.as_bytes()));
                let zeros = float.abs().to_bits() == 0 && read.abs().to_bits() == 0;
                let nulls = float.is_nan() && read.is_nan();
                prop_assert!(float.to_bits() == read.to_bits() || zeros || nulls, "{text}");
                let kind = ColumnType::Decimal { digits };
                prop_assert_eq!(value.whole(kind), decimal(text.as_bytes(), digits), "{}", text);
                if let Some(read) = number::integer(text.as_bytes()) {
                    prop_assert_eq!(value.whole(ColumnType::Integer), Some(read));
                }
            }
        }
    }
}
