//! Texts numbered in the order in which they are first met, in little memory: there may be millions of them.

use siphasher::sip::SipHasher13;
use std::{
    collections::HashMap,
    hash::{BuildHasherDefault, Hasher},
};

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

/// Texts with numbers.
#[derive(Default)]
pub(crate) struct Names {
    index: HashMap<u64, usize, BuildHasherDefault<Hashed>>,
    entries: Vec<Entry>,
    bytes: Vec<u8>,
}

struct Entry {
    start: usize,
    len: usize,
    /// Another text with the same hash.
    next: Option<usize>,
}

impl Names {
    /// How many different texts there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Forget all texts, and keep the memory for others.
    pub fn clear(&mut self) {
        self.index.clear();
        self.entries.clear();
        self.bytes.clear();
    }

    /// The number of a text; a new one if it was never met.
    pub fn number(&mut self, hash: u64, name: &[u8]) -> usize {
        let new = self.entries.len();
        let mut at = *self.index.entry(hash).or_insert(new);
        while at < new {
            if self.name(at) == name {
                return at;
            }
            at = *self.entries[at].next.get_or_insert(new);
        }
        self.entries.push(Entry { start: self.bytes.len(), len: name.len(), next: None });
        self.bytes.extend_from_slice(name);
        new
    }

    /// The number of a text that was met.
    pub fn find(&self, hash: u64, name: &[u8]) -> Option<usize> {
        let mut at = *self.index.get(&hash)?;
        while self.name(at) != name {
            at = self.entries[at].next?;
        }
        Some(at)
    }

    /// The text with this number.
    pub fn name(&self, number: usize) -> &[u8] {
        let Entry { start, len, .. } = self.entries[number];
        &self.bytes[start..start + len]
    }

    /// All texts in the order of their numbers.
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.len()).map(|number| self.name(number))
    }
}

/// Numbers that are hashes already.
#[derive(Default)]
struct Hashed(u64);

impl Hasher for Hashed {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _: &[u8]) {
        unreachable!("keys are whole numbers of 64 bits")
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_with_one_hash_are_told_apart() {
        let mut names = Names::default();
        let numbers = ["a", "b", "a", "c", "b", "c"].map(|name| names.number(7, name.as_bytes()));
        assert_eq!((numbers, names.len()), ([0, 1, 0, 2, 1, 2], 3));
        assert_eq!(
            ["a", "b", "c", "d"].map(|name| names.find(7, name.as_bytes())),
            [Some(0), Some(1), Some(2), None]
        );
        assert_eq!(names.find(8, b"a"), None);
        assert_eq!(names.iter().collect::<Vec<_>>(), [b"a", b"b", b"c"]);
        names.clear();
        assert_eq!((names.len(), names.find(7, b"a"), names.number(7, b"c")), (0, None, 0));
    }
}
