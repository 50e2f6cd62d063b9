//! Lengths of texts that are written as differences: how many there are, and to how many bytes the texts come.
//!
//! A text may begin like the one before it, for a few bits. So a small page can hold texts without end, and which it holds
//! is only seen by reading all lengths, as is done here before the `parquet` crate makes room for them.

use super::thrift::{Broken, Cursor};

/// Whole numbers, each written as the difference from the one before (`DELTA_BINARY_PACKED`).
struct Lengths<'a> {
    cursor: Cursor<'a>,
    /// Numbers in a part of a block.
    in_part: usize,
    /// Parts in a block.
    parts: usize,
    /// How many are still to come.
    left: u64,
    last: i32,
    /// Whether the one that stands before all blocks is still to come.
    first: bool,
    least_step: i32,
    /// Bits of a number in each part of this block.
    widths: &'a [u8],
    part: usize,
    /// Which number of the part is next.
    at: usize,
    packed: &'a [u8],
}

impl<'a> Lengths<'a> {
    fn new(bytes: &'a [u8]) -> Result<Self, Broken> {
        let mut cursor = Cursor::new(bytes);
        let mut size = || usize::try_from(cursor.number()?).map_err(|_| Broken::Wrong);
        let (block, parts) = (size()?, size()?);
        let left = cursor.number()?;
        let last = i32::try_from(cursor.whole()?).map_err(|_| Broken::Wrong)?;
        let whole = parts > 0 && block > 0 && block <= 1 << 30 && block % parts == 0;
        if !whole || block % 128 != 0 || (block / parts) % 32 != 0 {
            return Err(Broken::Wrong);
        }
        let in_part = block / parts;
        Ok(Self {
            cursor,
            in_part,
            parts,
            left,
            last,
            first: true,
            least_step: 0,
            widths: &[],
            part: 0,
            at: 0,
            packed: &[],
        })
    }

    /// Begin a block, whose numbers are `left` or fewer. Parts behind the last number have no bytes.
    fn block(&mut self, left: u64) -> Result<(), Broken> {
        self.least_step = i32::try_from(self.cursor.whole()?).map_err(|_| Broken::Wrong)?;
        self.widths = self.cursor.take(self.parts)?;
        let used = left.div_ceil(self.in_part as u64).min(self.parts as u64);
        let used = usize::try_from(used).map_err(|_| Broken::Wrong)?;
        let mut bytes = 0usize;
        for &width in &self.widths[..used] {
            if width > 32 {
                return Err(Broken::Wrong);
            }
            bytes += usize::from(width) * (self.in_part / 8);
        }
        self.packed = self.cursor.take(bytes)?;
        (self.part, self.at) = (0, 0);
        Ok(())
    }

    /// Where what stands behind all numbers begins.
    fn end(mut self) -> Result<usize, Broken> {
        let mut left = self.left.saturating_sub(1);
        while left > 0 {
            self.block(left)?;
            left = left.saturating_sub((self.in_part * self.parts) as u64);
        }
        Ok(self.cursor.at())
    }

    /// The next number.
    fn next(&mut self) -> Result<i32, Broken> {
        let before = self.left;
        self.left = before.checked_sub(1).ok_or(Broken::Ends)?;
        if self.first {
            self.first = false;
            return Ok(self.last);
        }
        if self.at == self.in_part && self.part + 1 < self.parts {
            self.packed = &self.packed[usize::from(self.widths[self.part]) * (self.in_part / 8)..];
            (self.part, self.at) = (self.part + 1, 0);
        } else if self.widths.is_empty() || self.at == self.in_part {
            self.block(before)?;
        }
        let step = bits(self.packed, self.at, self.widths[self.part]);
        self.at += 1;
        self.last = self.last.wrapping_add(self.least_step).wrapping_add(step.cast_signed());
        Ok(self.last)
    }
}

/// A number of so many bits at its place among others.
fn bits(packed: &[u8], place: usize, width: u8) -> u32 {
    let (first, shift) = (place * usize::from(width) / 8, place * usize::from(width) % 8);
    let bytes = &packed[first.min(packed.len())..packed.len().min(first + 8)];
    let mut word = [0; 8];
    word[..bytes.len()].copy_from_slice(bytes);
    #[expect(clippy::cast_possible_truncation, reason = "no more than 32 bits are kept")]
    let number = (u64::from_le_bytes(word) >> shift & ((1 << width) - 1)) as u32;
    number
}

/// How many texts there are, where lengths stand before them (`DELTA_LENGTH_BYTE_ARRAY`).
pub fn count(bytes: &[u8]) -> Result<u64, Broken> {
    Ok(Lengths::new(bytes)?.left)
}

/// How many bytes all texts have together, where each says how much of the one before it begins with
/// (`DELTA_BYTE_ARRAY`). There must be no more of them than `most`.
pub fn texts(bytes: &[u8], most: u64) -> Result<u64, Broken> {
    let prefixes = Lengths::new(bytes)?;
    if prefixes.left > most {
        return Err(Broken::Wrong);
    }
    let behind = &bytes[prefixes.end()?..];
    let (mut prefixes, mut suffixes) = (Lengths::new(bytes)?, Lengths::new(behind)?);
    if prefixes.left != suffixes.left {
        return Err(Broken::Wrong);
    }
    let (mut all, mut stored, mut last) = (0u64, 0u64, 0u64);
    for _ in 0..prefixes.left {
        let prefix = u64::try_from(prefixes.next()?).map_err(|_| Broken::Wrong)?;
        let suffix = u64::try_from(suffixes.next()?).map_err(|_| Broken::Wrong)?;
        if prefix > last {
            return Err(Broken::Wrong);
        }
        last = prefix + suffix;
        all += last;
        stored += suffix;
    }
    let texts = behind.len() - Lengths::new(behind)?.end()?;
    if stored > texts as u64 { Err(Broken::Ends) } else { Ok(all) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn number(mut number: u64, bytes: &mut Vec<u8>) {
        while number >= 0x80 {
            bytes.push(number.to_le_bytes()[0] | 0x80);
            number >>= 7;
        }
        bytes.push(number.to_le_bytes()[0]);
    }

    fn zigzag(value: i32) -> u64 {
        u64::from(((value << 1) ^ (value >> 31)).cast_unsigned())
    }

    /// Blocks of 128 numbers in four parts.
    fn packed(values: &[i32]) -> Vec<u8> {
        let mut bytes = Vec::new();
        for size in [128, 4, values.len() as u64] {
            number(size, &mut bytes);
        }
        number(zigzag(values.first().copied().unwrap_or(0)), &mut bytes);
        let steps: Vec<i32> = values.windows(2).map(|pair| pair[1].wrapping_sub(pair[0])).collect();
        for block in steps.chunks(128) {
            let least = *block.iter().min().unwrap();
            number(zigzag(least), &mut bytes);
            let parts: Vec<Vec<u32>> = block
                .chunks(32)
                .map(|part| part.iter().map(|step| step.wrapping_sub(least).cast_unsigned()).collect())
                .collect();
            let width = |part: &Vec<u32>| part.iter().map(|step| 32 - step.leading_zeros()).max().unwrap();
            // Parts without numbers may have any width.
            (0..4).for_each(|k| bytes.push(parts.get(k).map_or(77, |part| width(part).to_le_bytes()[0])));
            for part in &parts {
                let mut all = vec![0u8; width(part) as usize * 4];
                for (place, step) in part.iter().enumerate() {
                    for bit in (0..width(part)).filter(|bit| step >> bit & 1 == 1) {
                        let at = place * width(part) as usize + bit as usize;
                        all[at / 8] |= 1 << (at % 8);
                    }
                }
                bytes.extend(all);
            }
        }
        bytes
    }

    #[test]
    fn texts_by_hand() {
        // "ab", "abc", "b": prefixes 0, 2, 0; suffixes 2, 1, 1.
        let page = [packed(&[0, 2, 0]), packed(&[2, 1, 1]), b"abcb".to_vec()].concat();
        assert_eq!((texts(&page, 3), texts(&page, 2)), (Ok(6), Err(Broken::Wrong)));
        assert_eq!(texts(&page[..page.len() - 1], 3), Err(Broken::Ends));
        // A prefix that is longer than the text before it.
        assert_eq!(
            texts(&[packed(&[0, 3]), packed(&[2, 0]), b"ab".to_vec()].concat(), 9),
            Err(Broken::Wrong)
        );
        // A megabyte that is repeated a million times, in a megabyte.
        let (long, many) = (1 << 20, 1 << 20);
        let prefixes: Vec<i32> = (0..many).map(|k| if k == 0 { 0 } else { long }).collect();
        let suffixes: Vec<i32> = (0..many).map(|k| if k == 0 { long } else { 0 }).collect();
        let page = [packed(&prefixes), packed(&suffixes), vec![b'a'; 1 << 20]].concat();
        assert!(page.len() < 1_200_000);
        assert_eq!(texts(&page, 1 << 20), Ok(1 << 40));
        // Of no texts nothing is left.
        assert_eq!((texts(&[packed(&[]), packed(&[])].concat(), 0), count(&packed(&[]))), (Ok(0), Ok(0)));
    }

    proptest! {
        #[test]
        fn numbers_come_back(values in prop::collection::vec(any::<i32>(), 0..600), small in prop::collection::vec(0..9i32, 0..600)) {
            for values in [&values, &small] {
                let bytes = packed(values);
                let mut read = Lengths::new(&bytes).unwrap();
                for value in values {
                    prop_assert_eq!(read.next(), Ok(*value));
                }
                prop_assert_eq!(read.next(), Err(Broken::Ends));
                prop_assert_eq!(Lengths::new(&bytes).unwrap().end(), Ok(bytes.len()));
            }
        }

        #[test]
        fn any_bytes_come_to_an_end(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = (texts(&bytes, 1000), count(&bytes));
            let _ = texts(&[&[0x80, 1, 4][..], &bytes].concat(), 1000);
        }
    }
}
