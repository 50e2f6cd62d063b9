//! One bit for each record.

/// One bit for each record, the first in the lowest place of the first word; bits beyond the last record are zero.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bitmap {
    words: Vec<u64>,
    len: usize,
}

impl Bitmap {
    /// The bits that a function gives, 64 records at a time: it is asked for the first record of each block.
    #[inline]
    pub fn from_blocks(len: usize, mut block: impl FnMut(std::ops::Range<usize>) -> u64) -> Self {
        let words = (0..len).step_by(64).map(|start| block(start..len.min(start + 64))).collect();
        let mut map = Self { words, len };
        map.trim();
        map
    }

    /// A bit for each value.
    #[inline]
    pub fn from_test<T>(values: &[T], test: impl Fn(&T) -> bool) -> Self {
        Self::from_blocks(values.len(), |range| {
            // A whole block has a fixed length, which lets the comparison run several values at a time.
            let bit = |word: u64, (place, value): (usize, &T)| word | u64::from(test(value)) << place;
            match <&[T; 64]>::try_from(&values[range.clone()]) {
                Ok(block) => block.iter().enumerate().fold(0, bit),
                Err(_) => values[range].iter().enumerate().fold(0, bit),
            }
        })
    }

    /// All bits the same.
    pub fn filled(len: usize, bit: bool) -> Self {
        let mut map = Self { words: vec![if bit { u64::MAX } else { 0 }; len.div_ceil(64)], len };
        map.trim();
        map
    }

    fn trim(&mut self) {
        if let (Some(last), rest @ 1..) = (self.words.last_mut(), self.len % 64) {
            *last &= u64::MAX >> (64 - rest);
        }
    }

    /// The bits as words.
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// How many records.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Are there no records?
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The bit of one record; false beyond the last.
    pub fn get(&self, index: usize) -> bool {
        index < self.len && self.words[index / 64] >> (index % 64) & 1 == 1
    }

    /// How many bits are set.
    pub fn count(&self) -> u64 {
        self.words.iter().map(|word| u64::from(word.count_ones())).sum()
    }

    /// A bit for each pair of values; as many as the shorter list has.
    #[inline]
    pub(crate) fn from_pairs<T>(left: &[T], right: &[T], test: impl Fn(&T, &T) -> bool) -> Self {
        let len = left.len().min(right.len());
        Self::from_blocks(len, |range| {
            let bit = |word: u64, (place, (left, right)): (usize, (&T, &T))| {
                word | u64::from(test(left, right)) << place
            };
            // As in `from_test`: blocks of a fixed length are compared several at a time.
            match (<&[T; 64]>::try_from(&left[range.clone()]), <&[T; 64]>::try_from(&right[range.clone()])) {
                (Ok(left), Ok(right)) => left.iter().zip(right).enumerate().fold(0, bit),
                _ => left[range.clone()].iter().zip(&right[range]).enumerate().fold(0, bit),
            }
        })
    }

    /// The bits that are not set.
    #[must_use]
    pub(crate) fn opposite(&self) -> Self {
        let mut map = Self { words: self.words.iter().map(|word| !word).collect(), len: self.len };
        map.trim();
        map
    }

    /// The other's bits where a bit of the first is set, one's own elsewhere.
    #[must_use]
    pub(crate) fn replaced(&self, taken: &Self, other: &Self) -> Self {
        let mut mine = self.clone();
        mine.intersect(&taken.opposite());
        let mut others = other.clone();
        others.intersect(taken);
        mine.unite(&others);
        mine
    }

    /// Take the other's values where a bit is set; records that either list does not have stay as they are.
    pub(crate) fn choose<T: Copy>(&self, mine: &mut [T], others: &[T]) {
        let blocks = mine.chunks_mut(64).zip(others.chunks(64));
        for (&word, (mine, others)) in self.words.iter().zip(blocks) {
            let places = mine.iter_mut().zip(others).enumerate();
            places.for_each(|(place, (mine, &other))| {
                *mine = if word >> place & 1 == 1 { other } else { *mine }
            });
        }
    }

    /// Keep the bits that are set in both. Records that the other does not have count as not set.
    pub fn intersect(&mut self, other: &Self) {
        let others = other.words.iter().chain(std::iter::repeat(&0));
        self.words.iter_mut().zip(others).for_each(|(word, other)| *word &= other);
    }

    /// Add the bits that are set in the other.
    pub fn unite(&mut self, other: &Self) {
        self.words.iter_mut().zip(&other.words).for_each(|(word, other)| *word |= other);
        self.trim();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_beyond_the_last_record_stay_zero() {
        for len in [0, 1, 63, 64, 65, 130] {
            let mut map = Bitmap::filled(len, true);
            assert_eq!(map.count(), len as u64);
            map.unite(&Bitmap::filled(200, true));
            assert_eq!((map.count(), map.len(), map.is_empty()), (len as u64, len, len == 0));
            map.intersect(&Bitmap::filled(1, true));
            assert_eq!(map.count(), u64::from(len > 0));
            assert!(!map.get(len));
        }
    }
}
