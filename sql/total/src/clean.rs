//! The values that results may have: no NaN, no negative zero, no infinity that arithmetic made, no decimal beyond its digits.

use arrow::{
    array::{Array, ArrayRef, AsArray, PrimitiveArray},
    datatypes::{
        ArrowPrimitiveType, DataType, Decimal128Type, Decimal256Type, DecimalType, Float32Type, Float64Type,
        ToByteSlice,
    },
};
use datafusion::scalar::ScalarValue;
use std::sync::Arc;

/// The longest text that a function makes, in bytes.
pub const TEXT_BYTES: usize = 65_536;

/// What to do with an infinity.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Infinity {
    /// It is what a table says.
    Kept,
    /// It is what arithmetic made.
    Null,
}

/// Each value alone: NaN is null, zero has one sign, a decimal with more digits than its type has is null.
pub fn clean(array: ArrayRef, infinity: Infinity) -> ArrayRef {
    let kept = infinity == Infinity::Kept;
    match array.data_type() {
        DataType::Float64 => each::<Float64Type>(array, |value| {
            // Adding zero leaves every number as it is, and gives zero its one sign.
            (value.is_finite() || kept && !value.is_nan()).then_some(value + 0.0)
        }),
        DataType::Float32 => each::<Float32Type>(array, |value| {
            (value.is_finite() || kept && !value.is_nan()).then_some(value + 0.0)
        }),
        &DataType::Decimal128(precision, _) => each::<Decimal128Type>(array, |value| {
            Decimal128Type::is_valid_decimal_precision(value, precision).then_some(value)
        }),
        &DataType::Decimal256(precision, _) => each::<Decimal256Type>(array, |value| {
            Decimal256Type::is_valid_decimal_precision(value, precision).then_some(value)
        }),
        _ => array,
    }
}

fn each<T: ArrowPrimitiveType>(array: ArrayRef, of: impl Fn(T::Native) -> Option<T::Native>) -> ArrayRef {
    let values = array.as_primitive::<T>();
    // Nearly all batches are clean: bytes are compared, because both zeros are equal as numbers.
    let stays =
        |value: &T::Native| of(*value).is_some_and(|now| now.to_byte_slice() == value.to_byte_slice());
    if values.values().iter().all(stays) {
        return array;
    }
    let values: PrimitiveArray<T> = values.unary_opt(of);
    Arc::new(values.with_data_type(array.data_type().clone()))
}

/// A constant of the query, cleaned as the values of a table are.
pub fn clean_scalar(value: ScalarValue) -> ScalarValue {
    match value {
        ScalarValue::Float64(Some(value)) => ScalarValue::Float64((!value.is_nan()).then_some(value + 0.0)),
        ScalarValue::Float32(Some(value)) => ScalarValue::Float32((!value.is_nan()).then_some(value + 0.0)),
        other => other,
    }
}

/// Whether a constant is one that `clean_scalar` leaves as it is.
pub fn is_clean(value: &ScalarValue) -> bool {
    match value {
        ScalarValue::Float64(Some(value)) => !value.is_nan() && value.to_bits() != (-0.0f64).to_bits(),
        ScalarValue::Float32(Some(value)) => !value.is_nan() && value.to_bits() != (-0.0f32).to_bits(),
        _ => true,
    }
}

/// The bytes of the text in a row; 0 of a null, and 64 of what is no text.
pub fn text_bytes(array: &dyn Array, row: usize) -> usize {
    if array.is_null(row) {
        return 0;
    }
    match array.data_type() {
        DataType::Utf8 => array.as_string::<i32>().value_length(row).try_into().unwrap_or(usize::MAX),
        DataType::LargeUtf8 => array.as_string::<i64>().value_length(row).try_into().unwrap_or(usize::MAX),
        DataType::Utf8View => array.as_string_view().value(row).len(),
        _ => 64,
    }
}

/// Texts that are too long are null.
pub fn short_texts(array: ArrayRef) -> ArrayRef {
    let long = |row: usize| text_bytes(&array, row) > TEXT_BYTES;
    if !(0..array.len()).any(long) {
        return array;
    }
    let keep = arrow::array::BooleanArray::from((0..array.len()).map(long).collect::<Vec<_>>());
    // `nullif` cannot fail on arrays of one length; if it did, no value is the safe answer.
    arrow::compute::nullif(&array, &keep)
        .unwrap_or_else(|_| arrow::array::new_null_array(array.data_type(), array.len()))
}
