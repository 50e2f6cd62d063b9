//! What statistics ask of the rows: facts, each asked for by a plain value, whoever has the rows.
//!
//! A statistic is a dialogue. It asks for facts, draws coins, and asks again depending on what was drawn; the coins are with whoever holds
//! the ledger, the rows may be anywhere. A scan in this process ([`gather`](crate::gather)) keeps the rows behind these facts, for speed; an engine elsewhere
//! ([`elsewhere`](crate::elsewhere)) makes them of grouped counts and sums. The decisions are the same functions, so equal facts are an equal law of
//! answers.
//!
//! # How large facts are
//!
//! | fact | numbers in it | adds up over parts of the rows |
//! |---|---|---|
//! | a count | one | yes |
//! | a window of ranks | twice its reach and one, which is public | counts by prefixes of places do ([`elsewhere`](crate::elsewhere)) |
//! | rows in order | those of the ranks that are looked at | as windows do |
//! | cells, bins between edges | one for each cell or bin, which are public | yes |
//! | sums of steps | a public number of them | yes |
//! | counts of texts, keys, multiples of a width | one for each that some row has | yes |

pub(crate) mod bins;
pub(crate) mod places;
pub(crate) mod steps;

use crate::{
    need::{Key, Need},
    rows::cells::{CellLattice, Cells},
    source::ColumnRead,
};
use bins::Bins;
use equipoise_core::stability::{InOrder, Reach, Spacing, Window, reachable::Target};
use places::Places;
use std::collections::BTreeMap;
use steps::Steps;

/// Do rows without a value count?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Nulls {
    Counted,
    LeftOut,
}

/// A window of ranks: around which one, and how far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Around {
    pub target: Target,
    pub reach: Reach,
}

/// Facts about some rows: all of them, or those of a group. Private until a mechanism has answered from them. Asking never fails: where
/// rows cannot be read the work ends ([`give_up`](crate::quiet::give_up)), and the answer is lost.
pub(crate) trait RowFacts {
    /// How many records, fields or values there are.
    fn count(&self, need: &Need, nulls: Nulls) -> u64;

    /// The rows around targets, as places.
    fn windows(&self, need: &Need, places: &Places, wanted: &[Around]) -> Vec<Window>;

    /// All rows as places, of which some ranks will be looked at.
    fn in_order(&self, need: &Need, places: &Places, spacing: Spacing) -> Box<dyn InOrder + '_>;

    /// How many rows of a column lie in each cell of a coarse lattice; which column where the need has several.
    fn cells(&self, need: &Need, column: usize, lattice: CellLattice) -> Cells;

    /// How many rows lie in each bin. Bins without rows may be left out.
    fn bins(&self, need: &Need, bins: &Bins) -> BTreeMap<i64, u64>;

    /// The exact sums of what each row adds.
    fn sums(&self, need: &Need, steps: &Steps) -> Vec<i128>;

    /// Hand over each text of the column, or value of a type as the text that stands for it, and how many records have it;
    /// the empty text stands for records that have none.
    fn each_text(&self, read: ColumnRead, visit: &mut dyn FnMut(&str, u64));

    /// How many records have each of these texts in the column.
    fn with_texts(&self, read: ColumnRead, texts: &[String]) -> Vec<u64>;

    /// The groups of records that agree in these columns.
    fn groups(&self, by: &[ColumnRead]) -> Box<dyn GroupFacts + '_>;
}

/// The same for each group of records that agree in some columns. Keys are as they are written to be compared.
pub(crate) trait GroupFacts {
    /// A stated key as it is compared.
    fn written(&self, key: &Key) -> Vec<u8>;

    /// The texts of a key.
    fn read(&self, written: &[u8]) -> Key;

    /// Hand over every key and the count of its group, each key once.
    fn each_count(&self, need: &Need, visit: &mut dyn FnMut(&[u8], u64));

    /// The counts of these keys, zero where no record has one.
    fn counts_of(&self, need: &Need, keys: &[Vec<u8>]) -> Vec<u64>;

    /// Hand over each of these keys by its place, and the facts about its group. What will be asked of every group, as far as it is known
    /// beforehand, is given so that it can be found for all groups together; anything else may be asked too.
    fn each_of(&self, keys: &[Vec<u8>], asks: &[Ask], visit: &mut dyn FnMut(usize, &dyn RowFacts));
}

/// A question about rows, as a value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Ask {
    Count(Need, Nulls),
    Windows(Need, Places, Vec<Around>),
    Cells(Need, usize, CellLattice),
    Bins(Need, Bins),
    Sums(Need, Steps),
}

/// A sum in 64 bits, the nearest end where it lies beyond them.
pub(crate) fn saturated(sum: i128) -> i64 {
    i64::try_from(sum).unwrap_or(if sum > 0 { i64::MAX } else { i64::MIN })
}
