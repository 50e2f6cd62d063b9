//! Arrow arrays that somebody else holds in memory, cell by cell, by the rules that files are read by.
//!
//! The one place where the types of Arrow are in the public names of this crate: whoever has such arrays has these types.

use super::{meaning::declared, value::getter};
use arrow_array::Array;
use arrow_schema::DataType;
use equipoise_session::source::Kind;

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

/// Cells as whole numbers of this kind; what is none of it is null.
pub fn wholes(array: &dyn Array, kind: Kind) -> Vec<Option<i64>> {
    let cell = getter(array);
    (0..array.len()).map(|row| cell(row).whole(kind)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::{BinaryArray, Date32Array, Float64Array, StringArray, TimestampSecondArray};
    use arrow_schema::TimeUnit;

    #[test]
    fn no_cell_fails_whatever_it_holds() {
        let ends = vec![Some(i64::MIN), None, Some(i64::MAX), Some(0)];
        let moments = TimestampSecondArray::from(ends);
        assert_eq!(texts(&moments)[..3], [None, None, None]);
        assert_eq!(wholes(&moments, Kind::Timestamp), [None, None, None, Some(0)]);
        let days = Date32Array::from(vec![i32::MIN, i32::MAX]);
        assert_eq!(texts(&days).len(), 2);
        assert_eq!(wholes(&days, Kind::Date), [Some(i64::from(i32::MIN)), Some(i64::from(i32::MAX))]);
        assert_eq!(texts(&BinaryArray::from(vec![b"\xff".as_slice(), b"a"])), [None, Some("a".to_string())]);
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
    }
}
