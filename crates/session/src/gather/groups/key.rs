//! Keys of groups as bytes, which are small and quickly compared, and as texts, which people read.

use crate::{
    field::number,
    names::Short,
    need::Key,
    rows::encode::{put_length, take, take_length},
    source::{Batch, Cells, ColumnRead, ColumnType},
};
use std::cmp::Ordering;

/// Where a key stands in an answer: fields that are not there first, then numbers and bins by their size, then texts.
#[derive(Clone, Debug)]
pub(crate) struct Standing(Vec<(u8, f64)>);

impl Standing {
    pub fn of(key: &Key) -> Self {
        let of_field = |field: &Option<String>| match field.as_deref() {
            None => (0, 0.0),
            // A bin is called by its edges, as 500 .. 1000.
            Some(text) => match number::float(text.split(" .. ").next().unwrap_or(text).as_bytes()) {
                number if number.is_nan() => (2, 0.0),
                number => (1, number),
            },
        };
        Self(key.iter().map(of_field).collect())
    }

    /// Which of two keys comes first, whose standings these are.
    pub fn cmp(&self, key: &Key, other: &Self, other_key: &Key) -> Ordering {
        let fields = self.0.iter().zip(key).zip(other.0.iter().zip(other_key));
        let fields = fields.map(|(((kind, number), text), ((other_kind, other_number), other_text))| {
            kind.cmp(other_kind).then(number.total_cmp(other_number)).then_with(|| text.cmp(other_text))
        });
        fields.fold(Ordering::Equal, Ordering::then)
    }
}

/// Put what has keys in the order of an answer; each key is read once.
pub(crate) fn sort_by_key<T>(all: &mut Vec<T>, key: impl Fn(&T) -> &Key) {
    let mut standing: Vec<(Standing, T)> = all.drain(..).map(|one| (Standing::of(key(&one)), one)).collect();
    standing.sort_by(|(one, item), (other, other_item)| one.cmp(key(item), other, key(other_item)));
    all.extend(standing.into_iter().map(|(_, item)| item));
}

// The first byte of a field says what it is. Behind `WHOLE` stand eight bytes; from `SHORT` on it is a text whose length is what
// the byte is above it, and behind `LONG` a length and a text.
const NOTHING: u8 = 0;
const WHOLE: u8 = 1;
const SHORT: u8 = 2;
const LONG: u8 = u8::MAX;

/// The key of one text, where it is short.
#[inline(always)]
pub(super) fn short_text(text: Option<&str>) -> Option<Short> {
    match text {
        None => Short::of(&[NOTHING]),
        Some(text) => Short::behind(u8::try_from(text.len()).ok()?.checked_add(SHORT)?, text.as_bytes()),
    }
}

/// The key of one whole number.
#[inline(always)]
pub(super) fn short_whole(whole: Option<i64>) -> Short {
    match whole {
        None => Short::of(&[NOTHING]).expect("one byte is short"),
        Some(whole) => Short::behind_word(WHOLE, whole.cast_unsigned()),
    }
}

/// Write the key of one row.
pub(super) fn put_row(batch: Batch<'_>, row: usize, places: &[usize], written: &mut Vec<u8>) {
    for &place in places {
        match batch.cells[place] {
            Cells::Integers(cells) => put_whole(cells[row], written),
            cells => put_text(text(&cells, row), written),
        }
    }
}

/// Write a key that was stated. What is no value of the column's type stays a text, which no row of it has.
pub(super) fn put_stated(key: &Key, by: &[ColumnRead], written: &mut Vec<u8>) {
    for (text, column) in key.iter().zip(by) {
        let whole =
            text.as_deref().filter(|_| column.kind.is_whole()).and_then(|text| column.kind.read(text));
        match whole {
            Some(whole) => put_whole(Some(whole), written),
            None => put_text(text.as_deref(), written),
        }
    }
}

/// A stated key of these columns as it is compared.
pub(crate) fn written(key: &Key, by: &[ColumnRead]) -> Vec<u8> {
    let mut written = Vec::new();
    put_stated(key, by, &mut written);
    written
}

/// The same where texts are read as whole numbers: a text that is not written as the number is has no row.
pub(super) fn written_as(key: &Key, by: &[ColumnRead], read_as: &[ColumnRead]) -> Vec<u8> {
    let mut written = Vec::new();
    for ((text, column), read_as) in key.iter().zip(by).zip(read_as) {
        let other = text.as_deref().filter(|text| column != read_as && !is_written_so(text, read_as.kind));
        match other {
            Some(text) => put_text(Some(text), &mut written),
            None => put_stated(&vec![text.clone()], &[*read_as], &mut written),
        }
    }
    written
}

fn is_written_so(text: &str, kind: ColumnType) -> bool {
    kind.read(text).is_some_and(|whole| kind.write(whole) == text)
}

/// A text with its length before it, so that no two keys of several texts are written alike.
pub(super) fn put_text(text: Option<&str>, written: &mut Vec<u8>) {
    match text {
        None => written.push(NOTHING),
        Some(text) => {
            if let Some(length) = u8::try_from(text.len()).ok().filter(|&length| length < LONG - SHORT) {
                written.push(SHORT + length);
            } else {
                written.push(LONG);
                put_length(text.len(), written);
            }
            written.extend_from_slice(text.as_bytes());
        }
    }
}

fn put_whole(whole: Option<i64>, written: &mut Vec<u8>) {
    match whole {
        None => written.push(NOTHING),
        Some(whole) => {
            written.push(WHOLE);
            written.extend_from_slice(&whole.to_le_bytes());
        }
    }
}

/// The texts of a key that was written by these columns.
pub(crate) fn read(mut written: &[u8], by: &[ColumnRead]) -> Key {
    let mut field = |column: &ColumnRead| {
        let length = match take(1, &mut written) {
            [] | [NOTHING] => return None,
            [WHOLE] => {
                let whole = <[u8; 8]>::try_from(take(8, &mut written)).expect("eight bytes");
                return Some(column.kind.write(i64::from_le_bytes(whole)));
            }
            [LONG] => take_length(&mut written),
            [short, ..] => usize::from(short - SHORT),
        };
        Some(String::from_utf8_lossy(take(length, &mut written)).into_owned())
    };
    by.iter().map(&mut field).collect()
}

/// The text of a row.
pub(super) fn text<'a>(cells: &Cells<'a>, row: usize) -> Option<&'a str> {
    match cells {
        Cells::Texts(texts) => texts[row],
        Cells::Coded { texts, codes } => texts.get(codes[row]? as usize).copied(),
        _ => panic!("a source hands over the kinds that were wanted"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn columns(kind: ColumnType) -> [ColumnRead; 2] {
        [0, 1].map(|column| ColumnRead { column, kind })
    }

    #[test]
    fn bins_are_ordered_by_their_edges() {
        let mut keys: Vec<Key> = ["1000 .. 1500", "town", "-5 .. 500", "500 .. 1000", "7"]
            .map(|text| vec![Some(text.to_string())])
            .into();
        sort_by_key(&mut keys, |key| key);
        let sorted: Vec<&str> = keys.iter().filter_map(|key| key[0].as_deref()).collect();
        assert_eq!(sorted, ["-5 .. 500", "7", "500 .. 1000", "1000 .. 1500", "town"]);
    }

    #[test]
    fn keys_are_read_as_they_were_written_and_differ_where_they_differ() {
        let keys: [&[Option<&str>]; 10] = [
            &[None, None],
            &[Some(""), None],
            &[Some("a"), Some("bc")],
            &[Some("ab"), Some("c")],
            &[None, Some("\u{0}\u{1}")],
            &[Some("\u{0}"), None],
            &[Some(&"x".repeat(300)), None],
            &[Some(&"x".repeat(252)), None],
            &[Some(&"x".repeat(253)), None],
            &[Some(&"x".repeat(254)), Some("")],
        ];
        let mut seen = BTreeSet::new();
        for key in keys {
            let mut written = Vec::new();
            for text in key {
                put_text(*text, &mut written);
            }
            let expected: Key = key.iter().map(|text| text.map(str::to_string)).collect();
            assert_eq!(read(&written, &columns(ColumnType::Text)), expected);
            assert!(seen.insert(written));
        }
    }

    #[test]
    fn a_short_key_is_what_is_written() {
        for text in [None, Some(""), Some("a"), Some("0123456789"), Some("\u{e4}\u{f6}")] {
            let mut written = Vec::new();
            put_text(text, &mut written);
            assert_eq!((short_text(text), Short::of(&written).is_some()), (Short::of(&written), true));
        }
        for text in ["0123456789a".to_string(), "x".repeat(300)] {
            assert_eq!(short_text(Some(&text)), None);
        }
        for whole in [None, Some(0), Some(-1), Some(i64::MIN)] {
            let mut written = Vec::new();
            put_whole(whole, &mut written);
            assert_eq!(Some(short_whole(whole)), Short::of(&written));
        }
    }

    #[test]
    fn numbers_come_in_the_order_of_their_size() {
        let keys =
            ["10", "b", "9", "-1.5", "9.0", "", "a"].map(|text| (!text.is_empty()).then(|| text.to_string()));
        let mut keys: Vec<Key> = keys.into_iter().map(|field| vec![Some("x".to_string()), field]).collect();
        sort_by_key(&mut keys, |key| key);
        let fields: Vec<&str> = keys.iter().map(|key| key[1].as_deref().unwrap_or_default()).collect();
        assert_eq!(fields, ["", "-1.5", "9", "9.0", "10", "a", "b"]);
    }

    #[test]
    fn values_of_a_type_are_written_as_whole_numbers_and_read_as_their_texts() {
        let wholes = [Some(-1), None, Some(0), Some(20_000)];
        for kind in [ColumnType::Integer, ColumnType::Date, ColumnType::Decimal { digits: 2 }] {
            let by = columns(kind);
            let cells = [Cells::Integers(&wholes[..2]), Cells::Integers(&wholes[2..])];
            for row in 0..2 {
                let (mut written, mut stated) = (Vec::new(), Vec::new());
                put_row(Batch { rows: 2, cells: &cells }, row, &[0, 1], &mut written);
                let key = read(&written, &by);
                let text = |whole: Option<i64>| whole.map(|whole| kind.write(whole));
                assert_eq!(key, [text(wholes[row]), text(wholes[2 + row])]);
                put_stated(&key, &by, &mut stated);
                assert_eq!(written, stated, "{kind} {row}");
            }
        }
    }
}
