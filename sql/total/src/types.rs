//! Which types expressions may have, and which casts cannot fail.

use arrow::datatypes::DataType;

/// One plain value a row: lists, structures and maps hold floats and sizes that nothing here looks into.
pub fn is_plain(kind: &DataType) -> bool {
    use DataType::{
        Binary, BinaryView, Boolean, Date32, Date64, Decimal128, Decimal256, Dictionary, Duration, Float32,
        Float64, Int8, Int16, Int32, Int64, Interval, LargeBinary, LargeUtf8, Null, Time32, Time64,
        Timestamp, UInt8, UInt16, UInt32, UInt64, Utf8, Utf8View,
    };
    match kind {
        Null | Boolean | Int8 | Int16 | Int32 | Int64 | UInt8 | UInt16 | UInt32 | UInt64 | Float32
        | Float64 | Decimal128(..) | Decimal256(..) | Utf8 | LargeUtf8 | Utf8View | Binary | LargeBinary
        | BinaryView | Date32 | Date64 | Time32(_) | Time64(_) | Timestamp(..) | Duration(_)
        | Interval(_) => true,
        Dictionary(_, value) => is_text(value),
        _ => false,
    }
}

pub fn is_text(kind: &DataType) -> bool {
    matches!(kind, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View)
}

pub fn is_float(kind: &DataType) -> bool {
    matches!(kind, DataType::Float16 | DataType::Float32 | DataType::Float64)
}

/// A cast that has a value for every value: it stays as it is, so that keys of joins stay what they are.
pub fn is_lossless(from: &DataType, to: &DataType) -> bool {
    use DataType::{Float32, Float64, Int8, Int16, Int32, Int64, Null, UInt8, UInt16, UInt32, UInt64};
    match (from, to) {
        (from, to) if from == to => true,
        (Null, to) => is_plain(to),
        (Int8, Int16 | Int32 | Int64)
        | (Int16 | UInt16, Int32 | Int64)
        | (Int32 | UInt32, Int64)
        | (UInt8, UInt16 | UInt32 | UInt64 | Int16 | Int32 | Int64)
        | (UInt16, UInt32 | UInt64)
        | (UInt32, UInt64)
        | (Int8 | Int16 | Int32 | Int64 | UInt8 | UInt16 | UInt32 | UInt64 | Float32, Float64) => true,
        // Texts of `Utf8` are at most 2 GiB in a batch, so that casts to it can fail.
        (from, to) => is_text(from) && matches!(to, DataType::LargeUtf8 | DataType::Utf8View),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_fail_is_not_lossless() {
        use DataType::{Date32, Float32, Float64, Int32, Int64, UInt64, Utf8};
        for (from, to) in [
            (Int64, Int32),
            (UInt64, Int64),
            (Float64, Float32),
            (Utf8, Int64),
            (Utf8, Date32),
            (DataType::LargeUtf8, Utf8),
        ] {
            assert!(!is_lossless(&from, &to), "{from} to {to}");
        }
        assert!(is_lossless(&Int32, &Int64) && is_lossless(&Utf8, &DataType::Utf8View));
    }
}
