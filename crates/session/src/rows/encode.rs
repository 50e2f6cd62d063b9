//! Rows as bytes, and bytes as rows.

use crate::source::{Batch, Cells, ColumnRead, ColumnType, Visitor};

/// Write a length in as few bytes as it needs.
pub(crate) fn put_length(mut length: usize, bytes: &mut Vec<u8>) {
    while length >= 0x80 {
        bytes.push(0x80 | u8::try_from(length & 0x7f).expect("seven bits"));
        length >>= 7;
    }
    bytes.push(u8::try_from(length).expect("seven bits"));
}

/// Read what [`put_length`] wrote, and step over it.
pub(crate) fn take_length(bytes: &mut &[u8]) -> usize {
    let mut length = 0;
    for place in (0..).step_by(7) {
        let (&byte, rest) = bytes.split_first().expect("a length ends");
        *bytes = rest;
        length |= usize::from(byte & 0x7f) << place;
        if byte < 0x80 {
            break;
        }
    }
    length
}

/// Step over so many bytes.
pub(crate) fn take<'a>(length: usize, bytes: &mut &'a [u8]) -> &'a [u8] {
    let (taken, rest) = bytes.split_at(length);
    *bytes = rest;
    taken
}

/// Write one cell.
pub(super) fn put(cells: &Cells<'_>, row: usize, bytes: &mut Vec<u8>) {
    match cells {
        Cells::Floats(values) => {
            // One way to write what is not a number, so that equal cells are equal bytes.
            let value = if values[row].is_nan() { f64::NAN } else { values[row] };
            bytes.extend_from_slice(&value.to_bits().to_le_bytes());
        }
        Cells::Integers(values) => match values[row] {
            None => bytes.push(0),
            Some(value) => {
                bytes.push(1);
                bytes.extend_from_slice(&value.to_le_bytes());
            }
        },
        texts => match super::text_at(texts, row) {
            None => bytes.push(0),
            Some(text) => {
                put_length(text.len() + 1, bytes);
                bytes.extend_from_slice(text.as_bytes());
            }
        },
    }
}

/// A cell that was written, as far as adding up needs it.
pub(super) enum Cell {
    Null,
    Whole(i64),
    Real(f64),
    Text,
}

/// Read a cell that [`put`] wrote, and step over it.
pub(super) fn take_cell(kind: ColumnType, bytes: &mut &[u8]) -> Cell {
    let word = |bytes: &mut &[u8]| <[u8; 8]>::try_from(take(8, bytes)).expect("eight bytes");
    match kind {
        ColumnType::Float => match f64::from_bits(u64::from_le_bytes(word(bytes))) {
            nothing if nothing.is_nan() => Cell::Null,
            number => Cell::Real(number),
        },
        ColumnType::Text => match take_length(bytes) {
            0 => Cell::Null,
            length => {
                take(length - 1, bytes);
                Cell::Text
            }
        },
        _ => match take_length(bytes) {
            0 => Cell::Null,
            _ => Cell::Whole(i64::from_le_bytes(word(bytes))),
        },
    }
}

/// How many rows are handed over together.
const ROWS: usize = 4096;

/// Collects rows from bytes and hands them over in batches.
pub(super) struct Decoder {
    columns: Vec<Decoded>,
    rows: usize,
}

enum Decoded {
    Floats(Vec<f64>),
    Integers(Vec<Option<i64>>),
    /// Texts one after the other, and where each begins and ends.
    Texts(String, Vec<Option<(usize, usize)>>),
}

impl Decoder {
    pub fn new(wanted: &[ColumnRead]) -> Self {
        let column = |wanted: &ColumnRead| match wanted.kind {
            ColumnType::Float => Decoded::Floats(Vec::new()),
            ColumnType::Text => Decoded::Texts(String::new(), Vec::new()),
            ColumnType::Integer
            | ColumnType::Decimal { .. }
            | ColumnType::Date
            | ColumnType::Timestamp
            | ColumnType::Boolean => Decoded::Integers(Vec::new()),
        };
        Self { columns: wanted.iter().map(column).collect(), rows: 0 }
    }

    /// One more row, as [`put`] wrote its cells.
    pub fn row(&mut self, mut bytes: &[u8], visitor: &mut dyn Visitor) {
        for column in &mut self.columns {
            column.take(&mut bytes);
        }
        self.rows += 1;
        if self.rows == ROWS {
            self.flush(visitor);
        }
    }

    /// Hand over what there is.
    pub fn flush(&mut self, visitor: &mut dyn Visitor) {
        if self.rows == 0 {
            return;
        }
        let texts: Vec<Vec<Option<&str>>> = self.columns.iter().map(Decoded::texts).collect();
        let cells: Vec<Cells<'_>> = self
            .columns
            .iter()
            .zip(&texts)
            .map(|(column, texts)| match column {
                Decoded::Floats(values) => Cells::Floats(values),
                Decoded::Integers(values) => Cells::Integers(values),
                Decoded::Texts(..) => Cells::Texts(texts),
            })
            .collect();
        visitor.batch(Batch { rows: self.rows, cells: &cells });
        self.columns.iter_mut().for_each(Decoded::clear);
        self.rows = 0;
    }
}

impl Decoded {
    fn take(&mut self, bytes: &mut &[u8]) {
        let word = |bytes: &mut &[u8]| <[u8; 8]>::try_from(take(8, bytes)).expect("eight bytes");
        match self {
            Self::Floats(values) => values.push(f64::from_bits(u64::from_le_bytes(word(bytes)))),
            Self::Integers(values) => {
                let there = take_length(bytes) > 0;
                values.push(there.then(|| i64::from_le_bytes(word(bytes))));
            }
            Self::Texts(all, ends) => {
                let span = take_length(bytes).checked_sub(1).map(|length| {
                    let start = all.len();
                    let text = std::str::from_utf8(take(length, bytes)).expect("a text was written");
                    all.push_str(text);
                    (start, all.len())
                });
                ends.push(span);
            }
        }
    }

    fn texts(&self) -> Vec<Option<&str>> {
        match self {
            Self::Texts(all, ends) => ends.iter().map(|ends| ends.map(|(from, to)| &all[from..to])).collect(),
            Self::Floats(_) | Self::Integers(_) => Vec::new(),
        }
    }

    fn clear(&mut self) {
        match self {
            Self::Floats(values) => values.clear(),
            Self::Integers(values) => values.clear(),
            Self::Texts(all, ends) => {
                all.clear();
                ends.clear();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_of_any_size_are_read_again() {
        let mut bytes = Vec::new();
        let lengths = [0, 1, 127, 128, 129, 16_383, 16_384, 1 << 20, usize::MAX];
        for length in lengths {
            put_length(length, &mut bytes);
        }
        let mut rest = &bytes[..];
        assert_eq!(lengths.map(|_| take_length(&mut rest)), lengths);
        assert!(rest.is_empty());
    }

    struct Seen(Vec<String>);

    impl Visitor for Seen {
        fn batch(&mut self, batch: Batch<'_>) {
            let [Cells::Floats(a), Cells::Integers(b), Cells::Texts(c)] = batch.cells else {
                panic!("three columns")
            };
            self.0.extend((0..batch.rows).map(|row| format!("{} {:?} {:?}", a[row], b[row], c[row])));
        }
    }

    #[test]
    fn rows_come_back_as_they_went() {
        let floats = [1.5, f64::NAN, -0.0];
        let wholes = [Some(i64::MIN), None, Some(0)];
        let texts = [Some("a, b"), Some("\u{fc}"), None];
        let codes = [Some(0), Some(1), None];
        let kinds = [ColumnType::Float, ColumnType::Date, ColumnType::Text];
        let wanted: Vec<ColumnRead> =
            kinds.iter().enumerate().map(|(column, &kind)| ColumnRead { column, kind }).collect();
        for text in [Cells::Texts(&texts), Cells::Coded { texts: &["a, b", "\u{fc}"], codes: &codes }] {
            let cells = [Cells::Floats(&floats), Cells::Integers(&wholes), text];
            let (mut decoder, mut seen) = (Decoder::new(&wanted), Seen(Vec::new()));
            for row in (0..3).cycle().take(3 * ROWS) {
                let mut bytes = Vec::new();
                for cells in &cells {
                    put(cells, row, &mut bytes);
                }
                decoder.row(&bytes, &mut seen);
            }
            decoder.flush(&mut seen);
            assert_eq!(seen.0.len(), 3 * ROWS);
            let expected = [
                "1.5 Some(-9223372036854775808) Some(\"a, b\")",
                "NaN None Some(\"\u{fc}\")",
                "-0 Some(0) None",
            ];
            assert!(seen.0.chunks(3).all(|rows| rows == expected));
        }
    }
}
