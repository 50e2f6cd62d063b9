//! What an engine is asked to count, and what it found.

use crate::{
    need::{Key, Need},
    row_facts::{bins::Bins, places::Places, steps::Steps},
    source::ColumnRead,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// One pass over the rows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pass {
    /// Records are grouped by these columns; without any, all of them are one group.
    pub(crate) by: Vec<ColumnRead>,
    /// Only groups whose key begins like one of these; all groups where there are none.
    pub(crate) keys: Option<Vec<Key>>,
    /// What is counted in each group.
    pub(crate) counts: Vec<Counting>,
}

impl Pass {
    /// As JSON, for an engine that another program drives.
    pub fn to_json(&self) -> Value {
        serde_json::to_value(self).expect("plain values")
    }
}

/// What is counted in each group.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Counting {
    /// Records.
    Records,
    /// Records with a value in each of these columns.
    Values { columns: Vec<ColumnRead> },
    /// Rows between two places, by `(place >> shift) - (low >> shift)`. The places are those of rows themselves: the ordinals of floats, or whole
    /// numbers as they are ([`AnswerLattice::of_rows`](crate::lattice::AnswerLattice::of_rows)).
    Places { column: ColumnRead, places: Places, brackets: Vec<Bracket> },
    /// Records with a value in each of these columns, by the cell of one of them: the ordinal of its number without the last bits.
    Cells { columns: Vec<ColumnRead>, of: usize, shift: u32 },
    /// Rows that have a value, by bin.
    Bins { column: ColumnRead, bins: Bins },
    /// Not counted but added up: what each record adds that has a value in each of these columns.
    Sums { columns: Vec<ColumnRead>, steps: Steps },
}

/// Places from `low` to `high`, both included.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Bracket {
    /// Of the group whose key has this place among those of the pass; of every group where there is none.
    pub group: Option<usize>,
    pub low: i64,
    pub high: i64,
    pub shift: u32,
}

impl Bracket {
    /// The least place of a bucket. That of the first may lie before the bracket, where there are no rows of it.
    pub fn first_of(&self, bucket: i64) -> i64 {
        (self.low >> self.shift).wrapping_add(bucket) << self.shift
    }

    /// Is there such a bucket?
    pub fn has(&self, bucket: i64) -> bool {
        let last = (self.high >> self.shift).wrapping_sub(self.low >> self.shift);
        bucket.cast_unsigned() <= last.cast_unsigned()
    }
}

/// The columns that a need is about, keys aside.
pub(crate) fn columns_of(need: &Need) -> Vec<ColumnRead> {
    need.all_wanted().collect()
}

/// The one column that a need is about.
pub(crate) fn column_of(need: &Need) -> ColumnRead {
    need.wanted().expect("a need of one column")
}

/// What an engine found in a pass.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PassResult {
    /// Each group and bucket that some row lies in, once.
    pub counts: Vec<BucketCount>,
    /// Each group, once for each sum that was asked for.
    pub sums: Vec<GroupSums>,
}

/// How many rows of a group lie in a bucket.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BucketCount {
    /// The texts of the columns that records are grouped by; none for an empty field.
    pub key: Vec<Option<String>>,
    /// Which of the things to count.
    pub of: usize,
    /// Between which places, where places are counted; else zero.
    #[serde(default)]
    pub bracket: usize,
    /// The bucket, cell or bin; zero where records or values are counted.
    #[serde(default)]
    pub bucket: i64,
    /// How many rows.
    pub count: u64,
}

/// What the rows of a group add up to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupSums {
    /// The texts of the columns that records are grouped by.
    pub key: Vec<Option<String>>,
    /// Which of the things to count.
    pub of: usize,
    /// One sum, or several.
    pub sums: Vec<i128>,
}

impl PassResult {
    /// What is found in both of two parts of the rows that have no row in common.
    #[must_use]
    pub fn merge(self, other: Self) -> Self {
        let mut counts: BTreeMap<(Key, usize, usize, i64), u64> = BTreeMap::new();
        for BucketCount { key, of, bracket, bucket, count } in self.counts.into_iter().chain(other.counts) {
            *counts.entry((key, of, bracket, bucket)).or_default() += count;
        }
        let mut sums: BTreeMap<(Key, usize), Vec<i128>> = BTreeMap::new();
        for GroupSums { key, of, sums: more } in self.sums.into_iter().chain(other.sums) {
            let all = sums.entry((key, of)).or_insert_with(|| vec![0; more.len()]);
            all.iter_mut().zip(more).for_each(|(all, more)| *all += more);
        }
        let count = |((key, of, bracket, bucket), count)| BucketCount { key, of, bracket, bucket, count };
        Self {
            counts: counts.into_iter().map(count).collect(),
            sums: sums.into_iter().map(|((key, of), sums)| GroupSums { key, of, sums }).collect(),
        }
    }
}
