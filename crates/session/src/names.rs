//! Byte strings numbered in the order in which they are first met, in little memory and quickly found: there may be millions.

use siphasher::sip::SipHasher13;
use std::hash::Hasher;

/// Hash bytes by a key that nobody else knows. It balances work and carries no guarantee.
pub(crate) fn hash(key: [u64; 2], bytes: &[u8]) -> u64 {
    let mut hasher = SipHasher13::new_with_keys(key[0], key[1]);
    hasher.write(bytes);
    hasher.finish()
}

/// The part, of so many, that a hash deals to.
pub(crate) fn part(hash: u64, parts: usize) -> usize {
    // Not the highest bits, which tables sort by, nor the lowest.
    usize::try_from((hash >> 32) & 0xffff).expect("16 bits") % parts
}

/// Byte strings with numbers.
pub(crate) struct Names {
    key: [u64; 2],
    /// Short ones are found by all that they are, long ones by a hash.
    short: Index,
    long: Index,
    /// Where each ends in the bytes.
    ends: Vec<usize>,
    bytes: Vec<u8>,
}

/// A byte string of at most [`Short::LONGEST`] bytes in two words: its bytes, and above them how many they are. Two are equal
/// where the words are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Short {
    low: u64,
    high: u32,
}

impl Short {
    pub const LONGEST: usize = 11;

    /// A byte string, where it is short.
    #[inline]
    pub fn of(bytes: &[u8]) -> Option<Self> {
        (bytes.len() <= Self::LONGEST).then(|| Self::made(packed(bytes), bytes.len()))
    }

    /// One byte and then a text, where both are short together.
    #[inline(always)]
    pub fn behind(first: u8, bytes: &[u8]) -> Option<Self> {
        (bytes.len() < Self::LONGEST)
            .then(|| Self::made(packed(bytes) << 8 | u128::from(first), bytes.len() + 1))
    }

    /// One byte and then the eight bytes of a word.
    #[inline(always)]
    pub fn behind_word(first: u8, word: u64) -> Self {
        Self::made(u128::from(word) << 8 | u128::from(first), 9)
    }

    #[inline(always)]
    #[expect(
        clippy::cast_possible_truncation,
        reason = "both halves are taken, and a length of at most eleven"
    )]
    fn made(bytes: u128, len: usize) -> Self {
        Self { low: bytes as u64, high: (bytes >> 64) as u32 | (len as u32) << 24 }
    }

    /// The bytes, and how many of them count.
    fn bytes(self) -> ([u8; 12], usize) {
        let mut bytes = [0; 12];
        bytes[..8].copy_from_slice(&self.low.to_le_bytes());
        bytes[8..].copy_from_slice(&self.high.to_le_bytes());
        (bytes, (self.high >> 24) as usize)
    }
}

/// Up to eleven bytes as a number, the first the lowest. Reads overlap, so that no length needs a loop.
#[inline(always)]
fn packed(bytes: &[u8]) -> u128 {
    let word = |at: usize| {
        bytes.get(at..at + 4).map_or(0, |four| u32::from_le_bytes(four.try_into().expect("four bytes")))
    };
    match bytes.len() {
        0 => 0,
        len @ 1..=3 => {
            let byte = |at: usize| u128::from(bytes[at]) << (8 * at);
            byte(0) | byte(len / 2) | byte(len - 1)
        }
        len @ 4..=7 => u128::from(word(0)) | (u128::from(word(len - 4)) >> (8 * (8 - len))) << 32,
        len => {
            let low = u128::from(word(0)) | u128::from(word(4)) << 32;
            low | (u128::from(word(len - 4)) >> (8 * (12 - len))) << 64
        }
    }
}

impl Names {
    /// None yet. By the key they are spread, which balances work and carries no guarantee.
    pub fn keyed(key: [u64; 2]) -> Self {
        Self { key, short: Index::default(), long: Index::default(), ends: Vec::new(), bytes: Vec::new() }
    }

    /// How many different ones there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// How many bytes all of them have together.
    pub fn bytes(&self) -> usize {
        self.bytes.len()
    }

    /// Forget all, and keep the memory for others.
    pub fn clear(&mut self) {
        self.short.clear();
        self.long.clear();
        self.ends.clear();
        self.bytes.clear();
    }

    /// The number of a byte string; a new one if it was never met.
    pub fn number(&mut self, name: &[u8]) -> usize {
        match Short::of(name) {
            Some(short) => self.number_short(short),
            None => self.number_long(name),
        }
    }

    /// The same for a short one. Most have been met, and most of these stand where they are looked for first.
    #[inline(always)]
    pub fn number_short(&mut self, short: Short) -> usize {
        let first = &self.short.slots[place(spread(self.key, short), self.short.slots.len() - 1)];
        if first.is(short) { first.number() } else { self.number_elsewhere(short) }
    }

    #[inline(never)]
    fn number_elsewhere(&mut self, short: Short) -> usize {
        let (next, key) = (self.ends.len(), self.key);
        let where_from = |slot: &Slot| spread(key, slot.short());
        let number = self.short.number(Slot::new(short, next), where_from, |slot| slot.is(short));
        if number == next {
            let (bytes, len) = short.bytes();
            self.push(&bytes[..len]);
        }
        number
    }

    fn number_long(&mut self, name: &[u8]) -> usize {
        let next = self.ends.len();
        let hash = hash(self.key, name);
        let Self { long, ends, bytes, .. } = self;
        let found = |slot: &Slot| slot.low == hash && name_at(ends, bytes, slot.number()) == name;
        let number = long.number(Slot::hashed(hash, next), |slot| slot.low, found);
        if number == next {
            self.push(name);
        }
        number
    }

    fn push(&mut self, name: &[u8]) {
        self.bytes.extend_from_slice(name);
        self.ends.push(self.bytes.len());
    }

    /// The number of a byte string that was met.
    pub fn find(&self, name: &[u8]) -> Option<usize> {
        if let Some(short) = Short::of(name) {
            return self.short.find(spread(self.key, short), |slot| slot.is(short));
        }
        let hash = hash(self.key, name);
        self.long.find(hash, |slot| slot.low == hash && self.name(slot.number()) == name)
    }

    /// The byte string with this number.
    pub fn name(&self, number: usize) -> &[u8] {
        name_at(&self.ends, &self.bytes, number)
    }

    /// All in the order of their numbers.
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.len()).map(|number| self.name(number))
    }
}

fn name_at<'a>(ends: &[usize], bytes: &'a [u8], number: usize) -> &'a [u8] {
    let start = number.checked_sub(1).map_or(0, |before| ends[before]);
    &bytes[start..ends[number]]
}

/// Both halves of a product of what differs and what nobody knows.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "both halves are taken")]
fn spread(key: [u64; 2], short: Short) -> u64 {
    let product = u128::from(short.low ^ key[0]) * u128::from(u64::from(short.high) << 1 ^ key[1] | 1);
    (product >> 64) as u64 ^ product as u64
}

/// Numbers by what they are found by: one row of slots, of which at least half are free.
struct Index {
    /// As many as a power of two.
    slots: Vec<Slot>,
    taken: usize,
}

impl Default for Index {
    fn default() -> Self {
        Self { slots: vec![FREE; FIRST_SLOTS], taken: 0 }
    }
}

/// A short byte string, or the hash of a long one, and its number.
#[derive(Clone, Copy)]
struct Slot {
    low: u64,
    high: u32,
    number: u32,
}

/// No byte string has so many bytes.
const FREE: Slot = Slot { low: 0, high: u32::MAX, number: u32::MAX };
const FIRST_SLOTS: usize = 64;
/// 32 kilobytes of slots.
const ROOMY: usize = 2048;

impl Slot {
    /// More than four thousand million do not fit in the memory that whoever counts them has.
    fn new(short: Short, number: usize) -> Self {
        let number = u32::try_from(number).ok().filter(|&number| number != FREE.number);
        Self { low: short.low, high: short.high, number: number.expect("fewer than 2^32 names") }
    }

    fn hashed(hash: u64, number: usize) -> Self {
        Self::new(Short { low: hash, high: 0 }, number)
    }

    #[inline]
    fn short(&self) -> Short {
        Short { low: self.low, high: self.high }
    }

    #[inline(always)]
    fn is(&self, short: Short) -> bool {
        self.low == short.low && self.high == short.high
    }

    #[inline(always)]
    fn number(&self) -> usize {
        self.number as usize
    }
}

impl Index {
    fn clear(&mut self) {
        self.slots.fill(FREE);
        self.taken = 0;
    }

    /// The number in the slot that this is; else in a new one. `where_from` tells where the search for a slot begins.
    #[inline]
    fn number(&mut self, new: Slot, where_from: impl Fn(&Slot) -> u64, is: impl Fn(&Slot) -> bool) -> usize {
        // While the slots fit in the nearest memory there are many, so that nearly every name stands where it is looked for first.
        let free = if self.slots.len() < ROOMY { 16 } else { 2 };
        if self.taken * free >= self.slots.len() {
            self.grow(&where_from);
        }
        let all = self.slots.len() - 1;
        let mut at = place(where_from(&new), all);
        loop {
            let slot = &self.slots[at];
            if slot.number == FREE.number {
                self.slots[at] = new;
                self.taken += 1;
                return new.number();
            }
            if is(slot) {
                return slot.number();
            }
            at = (at + 1) & all;
        }
    }

    fn find(&self, from: u64, is: impl Fn(&Slot) -> bool) -> Option<usize> {
        let all = self.slots.len() - 1;
        let mut at = place(from, all);
        loop {
            let slot = &self.slots[at];
            if slot.number == FREE.number {
                return None;
            }
            if is(slot) {
                return Some(slot.number());
            }
            at = (at + 1) & all;
        }
    }

    #[cold]
    fn grow(&mut self, where_from: impl Fn(&Slot) -> u64) {
        let many = 2 * self.slots.len();
        let before = std::mem::replace(&mut self.slots, vec![FREE; many]);
        for slot in before.into_iter().filter(|slot| slot.number != FREE.number) {
            let mut at = place(where_from(&slot), many - 1);
            while self.slots[at].number != FREE.number {
                at = (at + 1) & (many - 1);
            }
            self.slots[at] = slot;
        }
    }
}

/// A place among so many, which are one less than a power of two.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "the lowest bits alone are asked for")]
fn place(spread: u64, all: usize) -> usize {
    spread as usize & all
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn every_name_has_a_number_of_its_own_whatever_its_length() {
        let mut names = Names::keyed([3, 5]);
        let mut expected: BTreeMap<Vec<u8>, usize> = BTreeMap::new();
        // All strings of a few letters, zero among them, of up to five bytes, and long ones that differ in one byte.
        let mut all: Vec<Vec<u8>> = vec![Vec::new()];
        for len in 0..5 {
            let longest: Vec<Vec<u8>> = all.iter().filter(|name| name.len() == len).cloned().collect();
            all.extend(
                longest.iter().flat_map(|name| [0, 1, b'a', 255].map(|byte| [name, &[byte][..]].concat())),
            );
        }
        for len in 6..40 {
            all.push(vec![b'x'; len]);
            all.extend((0..len).map(|at| (0..len).map(|byte| if byte == at { 0 } else { b'x' }).collect()));
        }
        for name in all.iter().chain(&all).chain(all.iter().rev()) {
            let next = expected.len();
            let number = *expected.entry(name.clone()).or_insert(next);
            assert_eq!(names.number(name), number);
        }
        assert_eq!(names.len(), expected.len());
        assert_eq!(names.bytes(), expected.keys().map(Vec::len).sum::<usize>());
        for (name, &number) in &expected {
            assert_eq!((names.find(name), names.name(number)), (Some(number), name.as_slice()));
        }
        assert_eq!(names.iter().map(<[u8]>::to_vec).collect::<Vec<_>>(), {
            let mut by_number: Vec<(&usize, &Vec<u8>)> =
                expected.iter().map(|(name, number)| (number, name)).collect();
            by_number.sort_unstable();
            by_number.into_iter().map(|(_, name)| name.clone()).collect::<Vec<_>>()
        });
        assert_eq!((names.find(b"nobody"), names.find(&[7; 30])), (None, None));
        names.clear();
        assert_eq!((names.len(), names.find(b"a"), names.number(b"a")), (0, None, 0));
    }

    #[test]
    fn short_names_are_made_of_their_parts() {
        let text = b"abcdefghijklmno";
        for len in 0..text.len() {
            let text = &text[..len];
            assert_eq!(Short::behind(7, text), Short::of(&[&[7], text].concat()), "{len}");
            let Some(short) = Short::of(text) else {
                assert!(len > Short::LONGEST);
                continue;
            };
            let (bytes, known) = short.bytes();
            assert_eq!(&bytes[..known], text);
        }
        let word = 0x0102_0304_0506_0708;
        assert_eq!(Some(Short::behind_word(2, word)), Short::of(&[&[2][..], &word.to_le_bytes()].concat()));
    }

    #[test]
    fn long_names_with_one_hash_are_told_apart() {
        let mut index = Index::default();
        let names = ["a", "b", "a", "c", "b", "c"];
        let mut known: Vec<&str> = Vec::new();
        let numbers = names.map(|name| {
            let new = Slot::hashed(7, known.len());
            let number = index.number(new, |slot| slot.low, |slot| known[slot.number()] == name);
            if number == known.len() {
                known.push(name);
            }
            number
        });
        assert_eq!(numbers, [0, 1, 0, 2, 1, 2]);
        assert_eq!(index.find(7, |slot| known[slot.number()] == "c"), Some(2));
        assert_eq!(index.find(8, |slot| slot.low == 8), None);
    }
}
