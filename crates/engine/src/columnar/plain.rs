//! Arrays of numbers, days and moments, read as a whole: one loop for all cells of a type, with no look at what each of them is.

use arrow_array::{
    Array, ArrowPrimitiveType, PrimitiveArray,
    cast::AsArray,
    types::{
        Date32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, TimestampMicrosecondType,
        UInt8Type, UInt16Type, UInt32Type,
    },
};
use arrow_schema::{DataType, TimeUnit};
use equipoise_session::source::ColumnType;

/// Add the cells as whole numbers of this kind; no where single cells have to be looked at.
pub(super) fn add_wholes(array: &dyn Array, kind: ColumnType, cells: &mut Vec<Option<i64>>) -> bool {
    macro_rules! of {
        ($type:ty) => {
            add(array.as_primitive::<$type>(), i64::from, cells)
        };
    }
    match (kind, array.data_type()) {
        (ColumnType::Integer, DataType::Int8) => of!(Int8Type),
        (ColumnType::Integer, DataType::Int16) => of!(Int16Type),
        (ColumnType::Integer, DataType::Int32) => of!(Int32Type),
        (ColumnType::Integer, DataType::Int64) => of!(Int64Type),
        (ColumnType::Integer, DataType::UInt8) => of!(UInt8Type),
        (ColumnType::Integer, DataType::UInt16) => of!(UInt16Type),
        (ColumnType::Integer, DataType::UInt32) => of!(UInt32Type),
        (ColumnType::Date, DataType::Date32) => of!(Date32Type),
        (ColumnType::Timestamp, DataType::Timestamp(TimeUnit::Microsecond, _)) => {
            of!(TimestampMicrosecondType);
        }
        _ => return false,
    }
    true
}

/// Add the cells as floats; no where single cells have to be looked at.
pub(super) fn add_floats(array: &dyn Array, cells: &mut Vec<f64>) -> bool {
    if *array.data_type() != DataType::Float64 {
        return false;
    }
    let array = array.as_primitive::<Float64Type>();
    match array.nulls() {
        None => cells.extend_from_slice(array.values()),
        Some(nulls) => {
            let there = array.values().iter().zip(nulls.iter());
            cells.extend(there.map(|(&cell, there)| if there { cell } else { f64::NAN }));
        }
    }
    true
}

fn add<T: ArrowPrimitiveType>(
    array: &PrimitiveArray<T>,
    whole: impl Fn(T::Native) -> i64,
    cells: &mut Vec<Option<i64>>,
) {
    let values = array.values().iter();
    match array.nulls() {
        None => cells.extend(values.map(|&cell| Some(whole(cell)))),
        Some(nulls) => {
            cells.extend(values.zip(nulls.iter()).map(|(&cell, there)| there.then(|| whole(cell))));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::columnar::value::getter;
    use arrow_array::{
        ArrayRef, Date32Array, Float64Array, Int8Array, Int16Array, Int32Array, Int64Array,
        TimestampMicrosecondArray, TimestampSecondArray, UInt8Array, UInt16Array, UInt32Array, UInt64Array,
    };
    use std::sync::Arc;

    /// As a whole or cell by cell, with nulls and without, cells are the same.
    #[test]
    fn arrays_as_a_whole_are_what_their_cells_are() {
        let arrays: Vec<ArrayRef> = vec![
            Arc::new(Int8Array::from(vec![Some(i8::MIN), None, Some(i8::MAX)])),
            Arc::new(Int16Array::from(vec![Some(i16::MIN), None, Some(i16::MAX)])),
            Arc::new(Int32Array::from(vec![Some(i32::MIN), None, Some(i32::MAX)])),
            Arc::new(Int64Array::from(vec![Some(i64::MIN), None, Some(i64::MAX)])),
            Arc::new(Int64Array::from(vec![i64::MIN, 0, i64::MAX])),
            Arc::new(UInt8Array::from(vec![Some(0), None, Some(u8::MAX)])),
            Arc::new(UInt16Array::from(vec![Some(0), None, Some(u16::MAX)])),
            Arc::new(UInt32Array::from(vec![Some(0), None, Some(u32::MAX)])),
            Arc::new(UInt64Array::from(vec![Some(0), None, Some(u64::MAX)])),
            Arc::new(Date32Array::from(vec![Some(i32::MIN), None, Some(i32::MAX)])),
            Arc::new(TimestampMicrosecondArray::from(vec![Some(i64::MIN), None, Some(i64::MAX)])),
            Arc::new(TimestampSecondArray::from(vec![Some(i64::MIN), None, Some(1)])),
            Arc::new(Float64Array::from(vec![Some(-0.0), None, Some(f64::INFINITY)])),
            Arc::new(Float64Array::from(vec![f64::NAN, 1.5, f64::MIN])),
        ];
        let mut as_a_whole = 0;
        for array in arrays {
            // A slice begins in the middle of its bits.
            for array in [array.clone(), array.slice(1, 2)] {
                let cell = getter(&*array);
                for kind in
                    [ColumnType::Integer, ColumnType::Date, ColumnType::Timestamp, ColumnType::Boolean]
                {
                    let mut cells = Vec::new();
                    if add_wholes(&*array, kind, &mut cells) {
                        let each: Vec<Option<i64>> =
                            (0..array.len()).map(|row| cell(row).whole(kind)).collect();
                        assert_eq!(cells, each, "{kind} of {}", array.data_type());
                        as_a_whole += 1;
                    }
                }
                let mut cells = Vec::new();
                if add_floats(&*array, &mut cells) {
                    let bits = |cells: Vec<f64>| cells.into_iter().map(f64::to_bits).collect::<Vec<_>>();
                    let each = (0..array.len()).map(|row| cell(row).float()).collect();
                    assert_eq!(bits(cells), bits(each), "{}", array.data_type());
                    as_a_whole += 1;
                }
            }
        }
        assert_eq!(as_a_whole, 24);
    }
}
