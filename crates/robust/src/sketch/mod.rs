//! Sketches: answers about a long stream from little memory, right for streams that do not depend on their keys.
//!
//! - [`kmv`], [`hyperloglog`]: how many distinct numbers came.
//! - [`table`]: the sum of squared counts, and the count of one number; numbers may go again.
//!
//! - [`attack`]: what breaks each of them.
//!
//! Under [`copies`](super::copies) they stay right for whoever reacts to the answers.

pub mod attack;
pub mod hyperloglog;
pub mod kmv;
pub mod table;

use std::{collections::BTreeMap, fmt};

/// What came so far, kept so that a new phase can begin.
pub type Counts = BTreeMap<u64, i64>;

/// A number that comes `count` times, or goes where that is negative.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Item {
    /// The number.
    pub key: u64,
    /// How often.
    pub count: i64,
}

/// Why an item was refused. Nothing changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefusedItem {
    /// The sketch follows insertions only.
    Deletion,
    /// A count beyond 2^62.
    TooLarge,
}

impl fmt::Display for RefusedItem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Deletion => "a distinct count does not follow deletions; give items that come",
            Self::TooLarge => "a count would exceed 2^62; give smaller counts",
        })
    }
}

impl std::error::Error for RefusedItem {}

/// Carry out an item where counts may be anything.
fn add(counts: &mut Counts, item: Item) -> Result<(), RefusedItem> {
    let before = counts.get(&item.key).copied().unwrap_or(0);
    let after = before.checked_add(item.count).filter(|after| after.abs() <= 1 << 62);
    let after = after.ok_or(RefusedItem::TooLarge)?;
    if after == 0 {
        counts.remove(&item.key);
    } else {
        counts.insert(item.key, after);
    }
    Ok(())
}

/// Whole numbers of a stored sketch, read one after another.
struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn word(&mut self) -> Option<u64> {
        let (word, rest) = self.0.split_first_chunk::<8>()?;
        self.0 = rest;
        Some(u64::from_le_bytes(*word))
    }

    fn words(&mut self, count: usize) -> Option<Vec<u64>> {
        (count <= self.0.len() / 8).then(|| (0..count).filter_map(|_| self.word()).collect())
    }

    /// Nothing may follow.
    fn end(&self) -> Option<()> {
        self.0.is_empty().then_some(())
    }
}

fn store(tag: u64, words: impl IntoIterator<Item = u64>) -> Vec<u8> {
    [tag].into_iter().chain(words).flat_map(u64::to_le_bytes).collect()
}
