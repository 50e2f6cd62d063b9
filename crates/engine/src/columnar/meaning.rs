//! What a declared type means.

use crate::limits::WIDEST;
use arrow_schema::{DataType, Field, Schema};
use equipoise_core::wording;
use equipoise_session::source::ColumnType;

/// What one column is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// Cells that can be read, and the kind that fits them best, if one does.
    Readable(Option<ColumnType>),
    /// Whole numbers of 64 bits or fewer, of which each text is one.
    Wholes,
    /// Cells that can be read as texts and as nothing else.
    Texts,
    /// Cells that cannot be read, in words.
    Unreadable(&'static str),
}

impl Meaning {
    /// The kind that fits best.
    pub fn kind(self) -> Option<ColumnType> {
        match self {
            Self::Readable(kind) => kind,
            Self::Wholes => Some(ColumnType::Integer),
            Self::Texts => Some(ColumnType::Text),
            Self::Unreadable(_) => None,
        }
    }

    /// What cells are that cannot be read.
    pub fn unreadable(self) -> Option<&'static str> {
        match self {
            Self::Unreadable(what) => Some(what),
            _ => None,
        }
    }
}

/// Cells that are there without bytes, or are too long to be made room for by their number.
pub(crate) const TOO_WIDE: Meaning = Meaning::Unreadable("cells of no bytes or of more than 2^20");

/// What a type means.
pub(crate) fn declared(data_type: &DataType) -> Meaning {
    use DataType as T;
    Meaning::Readable(Some(match data_type {
        T::Null => return Meaning::Readable(None),
        T::Boolean => ColumnType::Boolean,
        T::Int8 | T::Int16 | T::Int32 | T::Int64 | T::UInt8 | T::UInt16 | T::UInt32 => {
            return Meaning::Wholes;
        }
        // Half of the unsigned numbers of 64 bits would be none as signed ones; as floats all are near.
        T::UInt64 | T::Float16 | T::Float32 | T::Float64 => ColumnType::Float,
        T::Decimal32(precision, scale)
        | T::Decimal64(precision, scale)
        | T::Decimal128(precision, scale)
        | T::Decimal256(precision, scale) => decimal(*precision, *scale),
        T::Date32 | T::Date64 => ColumnType::Date,
        T::Timestamp(..) => ColumnType::Timestamp,
        T::Utf8 | T::LargeUtf8 | T::Utf8View | T::Binary | T::LargeBinary | T::BinaryView => ColumnType::Text,
        T::FixedSizeBinary(width) if !(1..=WIDEST).contains(&usize::try_from(*width).unwrap_or(0)) => {
            return TOO_WIDE;
        }
        // Keys and digests, in hexadecimal digits: what looks like a number among them is none.
        T::FixedSizeBinary(_) => return Meaning::Texts,
        T::Dictionary(_, values) => match &**values {
            T::Dictionary(..) => return Meaning::Unreadable("dictionaries of dictionaries"),
            values => match declared(values) {
                // Each row has a place in a list, and looking the list up is less work.
                Meaning::Wholes => ColumnType::Integer,
                other => return other,
            },
        },
        T::Time32(_) | T::Time64(_) => return Meaning::Unreadable("times of day"),
        T::Duration(_) => return Meaning::Unreadable("durations"),
        T::Interval(_) => return Meaning::Unreadable("intervals"),
        T::Struct(_) => return Meaning::Unreadable("structs"),
        T::Map(..) => return Meaning::Unreadable("maps"),
        T::Union(..) => return Meaning::Unreadable("unions"),
        T::RunEndEncoded(..) => return Meaning::Unreadable("run-end encoded cells"),
        _ => return Meaning::Unreadable("lists"),
    }))
}

/// Decimals of so many digits in all, so many of them after the point. 64 bits hold any 18 digits. Where more are declared,
/// six after the point are kept at most, which leaves numbers up to nine million million in range.
pub fn decimal(precision: u8, scale: i8) -> ColumnType {
    const FITTING: u8 = 18;
    const KEPT: u8 = 6;
    match u8::try_from(scale) {
        Err(_) | Ok(0) => ColumnType::Integer,
        Ok(scale) if precision <= FITTING => ColumnType::Decimal { digits: scale },
        Ok(scale) => ColumnType::Decimal { digits: scale.min(KEPT) },
    }
}

/// The columns of a file with a schema: their names, and what each is.
pub(crate) struct Described {
    /// The names.
    pub columns: Vec<String>,
    /// What each is, in the same order.
    pub meanings: Vec<Meaning>,
}

impl Described {
    /// The kind that fits a column best.
    pub fn kind(&self, column: usize) -> Option<ColumnType> {
        self.meanings.get(column)?.kind()
    }

    /// Can its cells be read as texts and as nothing else?
    pub fn is_only_text(&self, column: usize) -> bool {
        self.meanings.get(column) == Some(&Meaning::Texts)
    }

    /// Is every text of it a whole number?
    pub fn texts_are_wholes(&self, column: usize) -> bool {
        self.meanings.get(column) == Some(&Meaning::Wholes)
    }

    /// Why its cells cannot be read.
    pub fn unreadable(&self, column: usize) -> Option<String> {
        let what = self.meanings.get(column)?.unreadable()?;
        Some(unreadable_line(&self.columns[column], what))
    }
}

/// Why a column cannot be read.
pub fn unreadable_line(name: &str, what: &str) -> String {
    let name = wording::shown(name);
    format!(
        "the column '{name}' holds {what}, which cannot be asked about; store them as numbers or texts first"
    )
}

/// The same columns with bytes for texts, so that one text that is not UTF-8 is one null and not an error.
pub(crate) fn without_text(schema: &Schema) -> Schema {
    let fields: Vec<Field> = schema
        .fields()
        .iter()
        .map(|field| Field::clone(field).with_data_type(bytes_for_text(field.data_type())))
        .collect();
    Schema::new(fields)
}

fn bytes_for_text(data_type: &DataType) -> DataType {
    match data_type {
        DataType::Utf8 => DataType::Binary,
        DataType::LargeUtf8 => DataType::LargeBinary,
        DataType::Utf8View => DataType::BinaryView,
        DataType::Dictionary(keys, values) => {
            DataType::Dictionary(keys.clone(), Box::new(bytes_for_text(values)))
        }
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_that_may_not_fit_give_up_their_last_digits() {
        let table = [
            (5, 2, ColumnType::Decimal { digits: 2 }),
            (18, 18, ColumnType::Decimal { digits: 18 }),
            (38, 2, ColumnType::Decimal { digits: 2 }),
            (38, 18, ColumnType::Decimal { digits: 6 }),
            (10, 0, ColumnType::Integer),
            (10, -3, ColumnType::Integer),
        ];
        for (precision, scale, kind) in table {
            assert_eq!(decimal(precision, scale), kind, "decimal({precision}, {scale})");
        }
    }
}
