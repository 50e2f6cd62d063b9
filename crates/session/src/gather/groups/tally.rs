//! How many records of one group have each value of a column.

use crate::{
    rows::encode::{put_length, take, take_length},
    source::ColumnType,
};
use std::collections::HashMap;

/// How many records have each text or each whole number, and how many have none.
#[derive(Clone, Default)]
pub(crate) struct Tally {
    texts: HashMap<Box<str>, u64>,
    wholes: HashMap<i64, u64>,
    empty: u64,
}

/// What a value costs in memory beside its own bytes.
const ENTRY: u64 = 120;

impl Tally {
    /// Count a text; how many bytes of memory that took.
    pub fn add(&mut self, text: Option<&str>, count: u64) -> u64 {
        let Some(text) = text else {
            self.empty += count;
            return 0;
        };
        // Looked up by reference first, because most texts have been seen before.
        if let Some(seen) = self.texts.get_mut(text) {
            *seen += count;
            return 0;
        }
        self.texts.insert(text.into(), count);
        ENTRY + text.len() as u64
    }

    /// The same for a whole number.
    pub fn add_whole(&mut self, whole: Option<i64>, count: u64) -> u64 {
        let Some(whole) = whole else {
            self.empty += count;
            return 0;
        };
        let before = self.wholes.len();
        *self.wholes.entry(whole).or_default() += count;
        if self.wholes.len() > before { ENTRY } else { 0 }
    }

    /// Take over what another thread has counted.
    pub fn take(&mut self, other: Self) {
        self.empty += other.empty;
        for (text, count) in other.texts {
            self.add(Some(&text), count);
        }
        for (whole, count) in other.wholes {
            self.add_whole(Some(whole), count);
        }
    }

    /// How many records have a value, which is given as the text that stands for it.
    pub fn count(&self, kind: ColumnType, text: &str) -> u64 {
        let whole = if kind.is_whole() { kind.read(text) } else { None };
        let count = match whole {
            Some(whole) => self.wholes.get(&whole),
            None => self.texts.get(text),
        };
        count.copied().unwrap_or_default()
    }

    /// Hand over each value, whole numbers as the texts of their type, and the empty text for rows without one. The order
    /// depends on the values alone, so that coins which are replayed meet the same value.
    pub fn each(&self, kind: ColumnType, mut visit: impl FnMut(&str, u64)) {
        visit("", self.empty);
        let mut texts: Vec<(&str, u64)> = self.texts.iter().map(|(text, &count)| (&**text, count)).collect();
        texts.sort_unstable();
        for (text, count) in texts {
            visit(text, count);
        }
        let mut wholes: Vec<(i64, u64)> = self.wholes.iter().map(|(&whole, &count)| (whole, count)).collect();
        wholes.sort_unstable();
        for (whole, count) in wholes {
            visit(&kind.write(whole), count);
        }
    }

    pub fn put(&self, bytes: &mut Vec<u8>) {
        let count = |count: u64, bytes: &mut Vec<u8>| put_length(super::in_memory(count), bytes);
        count(self.empty, bytes);
        put_length(self.texts.len(), bytes);
        for (text, &many) in &self.texts {
            count(many, bytes);
            put_length(text.len(), bytes);
            bytes.extend_from_slice(text.as_bytes());
        }
        put_length(self.wholes.len(), bytes);
        for (whole, &many) in &self.wholes {
            count(many, bytes);
            bytes.extend_from_slice(&whole.to_le_bytes());
        }
    }

    /// Add what [`put`](Self::put) wrote, and step over it.
    pub fn add_written(&mut self, bytes: &mut &[u8]) {
        self.empty += take_length(bytes) as u64;
        for _ in 0..take_length(bytes) {
            let count = take_length(bytes) as u64;
            let length = take_length(bytes);
            self.add(Some(std::str::from_utf8(take(length, bytes)).expect("a text was written")), count);
        }
        for _ in 0..take_length(bytes) {
            let count = take_length(bytes) as u64;
            let whole = <[u8; 8]>::try_from(take(8, bytes)).expect("eight bytes");
            self.add_whole(Some(i64::from_le_bytes(whole)), count);
        }
    }
}
