//! Arrow arrays that somebody else holds in memory, cell by cell, by the rules that files are read by.
//!
//! The one place where the types of Arrow are in the public names of this crate: whoever has such arrays has these types.

use super::{
    Columns, Lying,
    meaning::{Meaning, declared},
    plain::{add_floats, add_wholes},
    value::getter,
};
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;
use equipoise_session::source::{Cells, ColumnRead, ColumnType, Visitor};

/// The kind that fits cells of this type best, if one does.
pub fn kind(data_type: &DataType) -> Option<ColumnType> {
    declared(data_type).kind()
}

/// Can cells of this type be read as texts and as nothing else?
pub fn is_only_text(data_type: &DataType) -> bool {
    declared(data_type) == Meaning::Texts
}

/// What cells of this type are, in words, where they cannot be read; nothing where they can.
pub fn unreadable(data_type: &DataType) -> Option<&'static str> {
    declared(data_type).unreadable()
}

/// Cells as texts; what is null, empty or not UTF-8 is none.
pub fn texts(array: &dyn Array) -> Vec<Option<String>> {
    let cell = getter(array);
    let text = |row| {
        let mut text = String::new();
        cell(row).write(&mut text).then_some(text)
    };
    (0..array.len()).map(text).collect()
}

/// Are texts of such cells whole numbers, each written in one way?
pub fn texts_are_wholes(data_type: &DataType) -> bool {
    declared(data_type) == Meaning::Wholes
}

/// Some cells of a column in memory.
pub enum Part<'a> {
    /// Of Arrow's.
    Array(ArrayRef),
    /// As visitors see them.
    Cells(Cells<'a>),
}

/// Hands parts of columns to a visitor, by the rules that files are read by; its buffers are used again and again.
pub struct Parts<'w> {
    columns: Columns<'w>,
}

impl<'w> Parts<'w> {
    /// For columns that are handed over in this order.
    pub fn new(wanted: &'w [ColumnRead]) -> Self {
        Self { columns: Columns::in_order(wanted) }
    }

    /// Hand over so many rows, of which each part has as many cells.
    pub fn visit(&mut self, rows: usize, parts: &[Part<'_>], visitor: &mut dyn Visitor) {
        let lying = |place: usize| match &parts[place] {
            Part::Array(array) => Lying::Array(&**array),
            Part::Cells(cells) => Lying::Cells(*cells),
        };
        self.columns.visit_lying(rows, lying, visitor);
    }
}

/// Cells as floats; what is null or no number is NaN.
pub fn floats(array: &dyn Array) -> Vec<f64> {
    let mut cells = Vec::with_capacity(array.len());
    if !add_floats(array, &mut cells) {
        let cell = getter(array);
        cells.extend((0..array.len()).map(|row| cell(row).float()));
    }
    cells
}

/// Cells as whole numbers of this kind; what is none of it is null.
pub fn wholes(array: &dyn Array, kind: ColumnType) -> Vec<Option<i64>> {
    let mut cells = Vec::with_capacity(array.len());
    if !add_wholes(array, kind, &mut cells) {
        let cell = getter(array);
        cells.extend((0..array.len()).map(|row| cell(row).whole(kind)));
    }
    cells
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::{
        BinaryArray, Date32Array, Float64Array, Int8Array, Int16Array, Int32Array, Int64Array, StringArray,
        TimestampSecondArray, UInt8Array, UInt16Array, UInt32Array,
    };
    use arrow_schema::TimeUnit;
    use std::sync::Arc;

    #[test]
    fn no_cell_fails_whatever_it_holds() {
        let ends = vec![Some(i64::MIN), None, Some(i64::MAX), Some(0)];
        let moments = TimestampSecondArray::from(ends);
        assert_eq!(texts(&moments)[..3], [None, None, None]);
        assert_eq!(wholes(&moments, ColumnType::Timestamp), [None, None, None, Some(0)]);
        let days = Date32Array::from(vec![i32::MIN, i32::MAX]);
        assert_eq!(texts(&days).len(), 2);
        assert_eq!(wholes(&days, ColumnType::Date), [Some(i64::from(i32::MIN)), Some(i64::from(i32::MAX))]);
        assert!(floats(&days).iter().all(|cell| cell.is_nan()));
        assert_eq!(texts(&BinaryArray::from(vec![b"\xff".as_slice(), b"a"])), [None, Some("a".to_string())]);
    }

    /// What is read as whole numbers in place of its texts has no other texts.
    #[test]
    fn texts_of_whole_numbers_are_written_as_whole_numbers_are() {
        let wholes: Vec<ArrayRef> = vec![
            Arc::new(Int8Array::from(vec![Some(i8::MIN), None, Some(0)])),
            Arc::new(Int16Array::from(vec![Some(i16::MIN), None, Some(i16::MAX)])),
            Arc::new(Int32Array::from(vec![Some(i32::MIN), None, Some(i32::MAX)])),
            Arc::new(Int64Array::from(vec![Some(i64::MIN), None, Some(i64::MAX), Some(-7)])),
            Arc::new(UInt8Array::from(vec![Some(0), None, Some(u8::MAX)])),
            Arc::new(UInt16Array::from(vec![Some(0), None, Some(u16::MAX)])),
            Arc::new(UInt32Array::from(vec![Some(0), None, Some(u32::MAX)])),
        ];
        for array in wholes {
            assert!(texts_are_wholes(array.data_type()));
            let kind = ColumnType::Integer;
            let written: Vec<Option<String>> =
                super::wholes(&array, kind).into_iter().map(|whole| Some(kind.write(whole?))).collect();
            assert_eq!(texts(&array), written, "{}", array.data_type());
        }
        let of = |values| DataType::Dictionary(Box::new(DataType::Int8), Box::new(values));
        for other in
            [DataType::UInt64, DataType::Float64, DataType::Boolean, DataType::Date32, DataType::Utf8]
        {
            assert!(!texts_are_wholes(&other) && !texts_are_wholes(&of(other)));
        }
        assert!(!texts_are_wholes(&of(DataType::Int32)) && !texts_are_wholes(&DataType::Decimal128(9, 0)));
    }

    /// The width of a dictionary's keys follows from how many values there are, so that it says nothing of the type.
    #[test]
    fn a_dictionary_is_what_its_values_are() {
        for keys in [DataType::Int8, DataType::Int16, DataType::UInt32] {
            let of = |values| DataType::Dictionary(Box::new(keys.clone()), Box::new(values));
            assert_eq!(kind(&of(DataType::Utf8)), Some(ColumnType::Text));
            assert_eq!(kind(&of(DataType::Int64)), Some(ColumnType::Integer));
            assert_eq!(unreadable(&of(DataType::Utf8)), None);
            assert!(is_only_text(&of(DataType::FixedSizeBinary(16))) && !is_only_text(&of(DataType::Utf8)));
        }
    }

    #[test]
    fn cells_read_as_in_files() {
        let some = |text: &str| Some(text.to_string());
        assert_eq!(
            texts(&Float64Array::from(vec![1.0, -0.0, f64::NAN, 2.5])),
            [some("1"), some("0"), None, some("2.5")]
        );
        assert_eq!(texts(&StringArray::from(vec!["", " 7"])), [None, some(" 7")]);
        assert_eq!(unreadable(&DataType::Duration(TimeUnit::Second)), Some("durations"));
        assert_eq!(unreadable(&DataType::Utf8View), None);
        assert_eq!(
            floats(&Float64Array::from(vec![Some(1.5), None]))
                .iter()
                .map(|cell| cell.to_bits())
                .collect::<Vec<_>>(),
            [1.5f64.to_bits(), f64::NAN.to_bits()]
        );
    }
}
