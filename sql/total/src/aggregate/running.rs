//! What an aggregate knows of a group so far: a function of the multiset of its values, whatever their order and whoever read them.

use super::{Kind, exact_sum::ExactSum};
use arrow::{
    array::{Array, ArrayRef, AsArray},
    datatypes::{DataType, Decimal128Type, DecimalType, Float64Type, Int64Type, UInt64Type, i256},
};
use datafusion::{
    common::{Result, exec_err},
    scalar::ScalarValue,
};

/// What is added.
#[derive(Clone, Copy, Debug)]
pub enum Value {
    Float(f64),
    Whole(i256),
}

/// The values of a column.
pub enum Values<'a> {
    Float(&'a arrow::array::Float64Array),
    Signed(&'a arrow::array::Int64Array),
    Unsigned(&'a arrow::array::UInt64Array),
    Decimal(&'a arrow::array::Decimal128Array),
}

impl<'a> Values<'a> {
    pub fn new(array: &'a ArrayRef) -> Result<Self> {
        match array.data_type() {
            DataType::Float64 => Ok(Self::Float(array.as_primitive::<Float64Type>())),
            DataType::Int64 => Ok(Self::Signed(array.as_primitive::<Int64Type>())),
            DataType::UInt64 => Ok(Self::Unsigned(array.as_primitive::<UInt64Type>())),
            DataType::Decimal128(..) => Ok(Self::Decimal(array.as_primitive::<Decimal128Type>())),
            other => exec_err!("no exact aggregate of {other}"),
        }
    }

    pub fn at(&self, row: usize) -> Option<Value> {
        match self {
            Self::Float(array) => array.is_valid(row).then(|| Value::Float(array.value(row))),
            Self::Signed(array) => {
                array.is_valid(row).then(|| Value::Whole(i256::from_i128(array.value(row).into())))
            }
            Self::Unsigned(array) => {
                array.is_valid(row).then(|| Value::Whole(i256::from_i128(array.value(row).into())))
            }
            Self::Decimal(array) => {
                array.is_valid(row).then(|| Value::Whole(i256::from_i128(array.value(row))))
            }
        }
    }
}

/// A group so far.
#[derive(Clone, Debug)]
pub enum Running {
    /// Floats that are added.
    Float { sum: ExactSum, count: u64 },
    /// Integers and decimals: 2^64 of 127 bits each fit into 256.
    Whole { sum: i256, count: u64 },
    /// Floats whose spread is asked for.
    All(Vec<f64>),
}

impl Running {
    pub fn new(kind: Kind, input: &DataType) -> Self {
        match (kind, input) {
            (Kind::Sum | Kind::Avg, DataType::Float64) => Self::Float { sum: ExactSum::default(), count: 0 },
            (Kind::Sum | Kind::Avg, _) => Self::Whole { sum: i256::ZERO, count: 0 },
            _ => Self::All(Vec::new()),
        }
    }

    pub fn add(&mut self, value: Value) {
        match (self, value) {
            // Tables and functions give no NaN; were one there, it is a null as everywhere.
            (_, Value::Float(number)) if number.is_nan() => {}
            (Self::Float { sum, count }, Value::Float(number)) => {
                sum.add(number);
                *count += 1;
            }
            (Self::Whole { sum, count }, Value::Whole(number)) => {
                *sum = sum.wrapping_add(number);
                *count += 1;
            }
            (Self::All(numbers), Value::Float(number)) => numbers.push(number),
            _ => {}
        }
    }

    pub fn write(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        match self {
            Self::Float { sum, count } => {
                bytes.extend(count.to_le_bytes());
                sum.write(&mut bytes);
            }
            Self::Whole { sum, count } => {
                bytes.extend(count.to_le_bytes());
                bytes.extend(sum.to_le_bytes());
            }
            Self::All(numbers) => numbers.iter().for_each(|number| bytes.extend(number.to_le_bytes())),
        }
        bytes
    }

    /// What another part of the group came to; false of bytes that `write` did not make.
    pub fn merge(&mut self, bytes: &[u8]) -> bool {
        let counted = || {
            let (count, rest) = bytes.split_first_chunk::<8>()?;
            Some((u64::from_le_bytes(*count), rest))
        };
        match self {
            Self::Float { sum, count } => {
                let Some((more, rest)) = counted() else { return false };
                let Some(other) = ExactSum::read(rest) else { return false };
                sum.merge(&other);
                *count += more;
            }
            Self::Whole { sum, count } => {
                let Some((more, rest)) = counted() else { return false };
                let Ok(rest) = <[u8; 32]>::try_from(rest) else { return false };
                *sum = sum.wrapping_add(i256::from_le_bytes(rest));
                *count += more;
            }
            Self::All(numbers) => {
                let (more, []) = bytes.as_chunks::<8>() else { return false };
                numbers.extend(more.iter().map(|number| f64::from_le_bytes(*number)));
            }
        }
        true
    }

    /// The aggregate in its type; null of no values, and of a result that leaves its type.
    pub fn finish(&self, kind: Kind, input: &DataType, result: &DataType) -> Result<ScalarValue> {
        let none = ScalarValue::try_from(result)?;
        Ok(match self {
            Self::Float { count: 0, .. } | Self::Whole { count: 0, .. } => none,
            Self::Float { sum, count } => {
                let shared = |sum: f64| if kind == Kind::Avg { sum / *count as f64 } else { sum };
                ScalarValue::Float64(sum.sum().map(|sum| shared(sum) + 0.0))
            }
            Self::Whole { sum, count } => whole(*sum, *count, kind, input, result).unwrap_or(none),
            Self::All(numbers) => ScalarValue::Float64(spread(numbers, kind)),
        })
    }

    pub fn bytes(&self) -> usize {
        match self {
            Self::Float { sum, .. } => size_of::<Self>() + sum.bytes(),
            Self::Whole { .. } => size_of::<Self>(),
            Self::All(numbers) => size_of::<Self>() + numbers.capacity() * size_of::<f64>(),
        }
    }
}

fn whole(sum: i256, count: u64, kind: Kind, input: &DataType, result: &DataType) -> Option<ScalarValue> {
    match (input, result) {
        (_, DataType::Int64) => Some(ScalarValue::Int64(Some(i64::try_from(sum.to_i128()?).ok()?))),
        (_, DataType::UInt64) => Some(ScalarValue::UInt64(Some(u64::try_from(sum.to_i128()?).ok()?))),
        (DataType::Decimal128(_, from), DataType::Decimal128(precision, scale)) => {
            let digits = u32::try_from(i32::from(*scale) - i32::from(*from)).ok()?;
            let scaled = sum.checked_mul(i256::from_i128(10).checked_pow(digits)?)?;
            // Truncated, as plain DataFusion does.
            let value = match kind {
                Kind::Avg => scaled.checked_div(i256::from_i128(count.into()))?,
                _ => scaled,
            };
            let value = value.to_i128()?;
            Decimal128Type::is_valid_decimal_precision(value, *precision).then_some(ScalarValue::Decimal128(
                Some(value),
                *precision,
                *scale,
            ))
        }
        _ => None,
    }
}

/// The variance or its root: both sums are exact and rounded once, so the order does not show.
fn spread(numbers: &[f64], kind: Kind) -> Option<f64> {
    let least = if kind.is_sample() { 2 } else { 1 };
    if numbers.len() < least {
        return None;
    }
    let count = numbers.len() as f64;
    let total = |of: &dyn Fn(f64) -> f64| {
        let mut sum = ExactSum::default();
        numbers.iter().map(|&number| of(number)).for_each(|number| sum.add(number));
        sum.sum().filter(|sum| sum.is_finite())
    };
    let mean = total(&|number| number)? / count;
    if !mean.is_finite() || numbers.iter().any(|number| !(number - mean).is_finite()) {
        return None;
    }
    // What rounding the mean left is taken out again.
    let off = total(&|number| number - mean)?;
    let squares = total(&|number| (number - mean) * (number - mean))? - off * off / count;
    let variance = squares.max(0.0) / if kind.is_sample() { count - 1.0 } else { count };
    let spread = if kind.is_root() { variance.sqrt() } else { variance };
    spread.is_finite().then_some(spread)
}
