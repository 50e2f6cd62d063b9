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

use crate::state::{Damaged, Reader, Stored, Writer};
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
    /// Counts beyond what sums of squares can hold.
    TooLarge,
}

impl fmt::Display for RefusedItem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Deletion => "a distinct count does not follow deletions; give items that come",
            Self::TooLarge => "all counts of the stream together would exceed 2^60; use a larger unit",
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

impl Stored for Counts {
    fn write(&self, out: &mut Writer) {
        out.word(self.len() as u64);
        out.words(self.iter().flat_map(|(&key, &count)| [key, count.cast_unsigned()]));
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Damaged> {
        (0..from.count()?).map(|_| Ok((from.word()?, from.word()?.cast_signed()))).collect()
    }
}
