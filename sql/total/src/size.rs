//! How long a text may get: bounded for each row before anything is computed, so that no row decides how much memory is used.

use crate::clean::{TEXT_BYTES, text_bytes};
use datafusion::{logical_expr::ColumnarValue, scalar::ScalarValue};
use std::ops::Range;

/// A row that could become longer than this on the way is null without being tried.
const ROW_BYTES: u64 = 16 << 20;
/// Rows that could together become longer than this are computed one part after another.
const PART_BYTES: u64 = 64 << 20;

/// What the length of a function's text is bounded by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Size {
    /// No text, or one that is at most a few times as long as the arguments.
    Small,
    /// All arguments together, with the first between them.
    Joined,
    /// The first argument, a literal number of times.
    Repeated,
    /// A literal number of characters.
    Padded,
    /// The first argument with every occurrence of the second replaced by the third.
    Replaced,
    /// The same by a pattern, which may match between any two characters and repeat what it matched.
    PatternReplaced,
    /// Each character of the first argument replaced by one of the third.
    Translated,
}

impl Size {
    /// The largest literal that the second argument may be.
    pub fn largest_literal(self) -> Option<i64> {
        match self {
            Self::Repeated => Some(65_536),
            // Four bytes each at most.
            Self::Padded => Some(65_536 / 4),
            _ => None,
        }
    }

    fn bound(self, args: &[ColumnarValue], row: usize) -> u64 {
        let bytes = |place: usize| args.get(place).map_or(0, |value| length(value, row));
        let all = || (0..args.len()).map(bytes).fold(0u64, u64::saturating_add);
        let bound = match self {
            Self::Small => 0,
            Self::Joined => all().saturating_add(bytes(0).saturating_mul(args.len() as u64)),
            Self::Repeated => bytes(0).saturating_mul(args.get(1).map_or(0, whole)),
            Self::Padded => args.get(1).map_or(0, whole).saturating_mul(4),
            Self::Replaced => {
                let matches = bytes(0).checked_div(bytes(1)).unwrap_or(bytes(0) + 1);
                bytes(0).saturating_add(matches.saturating_mul(bytes(2)))
            }
            Self::PatternReplaced => (2 * (bytes(0) + 1)).saturating_mul(bytes(2) + 1),
            Self::Translated => bytes(0).saturating_mul(bytes(2) + 1),
        };
        bound.saturating_add(1)
    }

    /// Ranges of rows to compute together, in order, and whether to compute them at all.
    pub fn parts(self, args: &[ColumnarValue], rows: usize) -> Vec<(Range<usize>, bool)> {
        if self == Self::Small {
            return vec![(0..rows, true)];
        }
        let mut parts = Vec::new();
        let (mut start, mut together) = (0, 0u64);
        for row in 0..rows {
            let bound = self.bound(args, row);
            let too_long = bound > ROW_BYTES;
            if start < row && (too_long || together.saturating_add(bound) > PART_BYTES) {
                parts.push((start..row, true));
                (start, together) = (row, 0);
            }
            if too_long {
                parts.push((row..row + 1, false));
                (start, together) = (row + 1, 0);
            } else {
                together += bound;
            }
        }
        if start < rows || parts.is_empty() {
            parts.push((start..rows, true));
        }
        parts
    }
}

const _: () = assert!(TEXT_BYTES == 65_536);

fn length(value: &ColumnarValue, row: usize) -> u64 {
    match value {
        ColumnarValue::Array(array) => text_bytes(array, row) as u64,
        ColumnarValue::Scalar(scalar) => match scalar.try_as_str() {
            Some(text) => text.map_or(0, str::len) as u64,
            None => 64,
        },
    }
}

/// A literal number; none of what is no number, which the kernel refuses itself.
fn whole(value: &ColumnarValue) -> u64 {
    let ColumnarValue::Scalar(scalar) = value else { return u64::MAX };
    whole_literal(scalar).map_or(0, |number| u64::try_from(number).unwrap_or(0))
}

/// The whole number that a literal is.
pub fn whole_literal(scalar: &ScalarValue) -> Option<i64> {
    match scalar.cast_to(&arrow::datatypes::DataType::Int64) {
        Ok(ScalarValue::Int64(number)) => number,
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{ArrayRef, StringArray};
    use std::sync::Arc;

    /// One megabyte, more than sixteen, none, one, sixteen and the end: rows beyond the bound are not tried, others in parts below theirs.
    #[test]
    fn rows_that_could_get_too_long_are_not_tried() {
        let texts = [16, 257, 0, 16, 256].map(|bytes| "x".repeat(bytes));
        let array: ArrayRef = Arc::new(StringArray::from_iter_values(texts));
        let number = ColumnarValue::Scalar(ScalarValue::Int64(Some(65_536)));
        let parts = Size::Repeated.parts(&[ColumnarValue::Array(array), number.clone()], 5);
        assert_eq!(parts, [(0..1, true), (1..2, false), (2..4, true), (4..5, false)]);
        let many: ArrayRef = Arc::new(StringArray::from_iter_values(vec!["x".repeat(160); 20]));
        let parts = Size::Repeated.parts(&[ColumnarValue::Array(many), number], 20);
        assert_eq!(parts.len(), 4);
        assert!(
            parts.iter().all(|(rows, tried)| *tried && rows.len() as u64 * 160 * 65_536 <= PART_BYTES),
            "{parts:?}"
        );
    }

    /// What a function gives is never longer than its bound says, on texts that grow as much as they can.
    #[test]
    fn bounds_are_no_less_than_what_kernels_make() {
        let text = |text: &str| ColumnarValue::Scalar(ScalarValue::from(text));
        let at_least = |size: Size, args: &[ColumnarValue], made: usize| {
            assert!(size.bound(args, 0) >= made as u64, "{size:?}: {} for {made}", size.bound(args, 0));
        };
        at_least(Size::Joined, &[text("--"), text("a"), text("b"), text("c")], "a--b--c".len());
        at_least(Size::Replaced, &[text("aaaa"), text("a"), text("xyz")], "aaaa".replace('a', "xyz").len());
        at_least(Size::Replaced, &[text("aaaa"), text(""), text("xyz")], "aaaa".replace("", "xyz").len());
        at_least(Size::PatternReplaced, &[text("aaaa"), text(""), text("${0}xy")], "xyaxyaxyaxyaxy".len());
        at_least(Size::PatternReplaced, &[text("abcd"), text("(.*)"), text("\\1\\1\\1")], 12);
        at_least(Size::Translated, &[text("aaaa"), text("a"), text("e\u{301}\u{301}")], 4 * 5);
    }
}
