//! What the neighbourhood of a data set looks like: pure functions of the rows, without coins.
//!
//! Each file takes one statistic and answers, under each adjacency, some of these questions: its exact
//! value; its [`Slack`], how many rows must change before the value does; its local sensitivity at
//! distance k, the most that one further row can move the value after any k rows have changed; the
//! length of the way to another value. Nothing here is private by itself: mechanisms are built on top.
//!
//! Rows are whole numbers on a public [`Range`]: a grid of equal steps, or the lattice of all finite
//! floats in their order ([`lattice`]). Slacks and lengths need only the order; sensitivities are
//! differences, so they mean something on a grid of equal steps only.
//!
//! Selecting rows is separate from deciding: [`selection`] turns rows into a [`Window`] of ranks, and
//! the decisions look at the window alone.
//!
//! The empty data set: under add/remove every function has a value there. Release-or-refuse mechanisms
//! give it a symbol of its own, [`Answer::Empty`]; mechanisms that add noise read it as the low end of
//! the range, and every sensitivity here does the same. Under replace the number of rows is public and
//! the empty data set has no neighbour.

pub mod bins;
pub mod bracket;
pub mod brute_force;
mod decay;
pub mod digits;
pub mod distinct;
mod fewer_edges;
pub mod graph;
pub mod in_order;
pub mod iqr;
pub mod l_statistic;
pub mod labels;
pub mod lattice;
pub mod length;
pub mod max;
pub mod mean;
pub mod median;
pub mod mode;
pub mod on_grid;
pub mod quantile;
pub mod reachable;
pub mod removals;
pub mod selection;
pub mod smooth;
pub mod stable;
pub mod streamed;
pub mod subsets;
pub mod sum;
pub mod top;
pub mod triangles;
pub mod trimmed_mean;
pub mod winsorized_mean;

use crate::{loss::ParameterError, outcome::Slack, redact::debug_only_public};
pub use in_order::InOrder;
pub use median::Median;
pub use quantile::Quantile;
pub use selection::{Reach, Sorted, Spacing, Window};
pub use trimmed_mean::TrimmedMean;
pub use winsorized_mean::WinsorizedMean;

/// The public range of a column: whole numbers from `lo` to `hi`, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Range {
    lo: i64,
    hi: i64,
}

impl Range {
    /// Every whole number of 64 bits.
    pub const WHOLE: Self = Self { lo: i64::MIN, hi: i64::MAX };

    /// The numbers from `lo` to `hi`.
    pub fn new(lo: i64, hi: i64) -> Result<Self, ParameterError> {
        if lo <= hi {
            return Ok(Self { lo, hi });
        }
        Err(ParameterError::out_of_range("range", format!("{lo},{hi}"), "give LO,HI with LO at most HI"))
    }

    /// The lowest value.
    pub fn lo(self) -> i64 {
        self.lo
    }

    /// The highest value.
    pub fn hi(self) -> i64 {
        self.hi
    }

    /// The difference of the two ends: the most that any value in the range can move.
    pub fn width(self) -> u64 {
        self.hi.abs_diff(self.lo)
    }

    /// The nearest value in the range: a row is moved on its own, so this is always allowed.
    pub fn clamp(self, value: i64) -> i64 {
        value.clamp(self.lo, self.hi)
    }
}

/// A statistic of rows of which there may be none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Answer<T> {
    /// There are no rows. A symbol of its own, different from every value.
    Empty,
    /// The statistic of the rows.
    Value(T),
}

impl<T> Answer<T> {
    /// The value, or this public one where there are no rows: what mechanisms that add noise use.
    pub fn or(self, empty: T) -> T {
        match self {
            Self::Empty => empty,
            Self::Value(value) => value,
        }
    }
}

/// A statistic, and how far the rows are from another value of it.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct ValueAndSlack<T> {
    /// The exact value: private, it must pass a gate before anyone sees it.
    pub value: Answer<T>,
    /// The least number of changed rows that leads to another value.
    pub slack: Slack,
}

debug_only_public!(impl[T] ValueAndSlack[T] {});

/// Local sensitivities by distance, with a ceiling where the list ends.
///
/// Entry k bounds what one row can move the value after any k rows have changed; it never decreases,
/// and entry k of a data set is at most entry k + 1 of each neighbour. The length of the list and the
/// ceiling are public, so the same holds where the list ends, and the largest `e^(-beta k) entry(k)` is
/// a beta-smooth bound.
#[derive(Clone, PartialEq, Eq)]
pub struct Profile<S> {
    /// The local sensitivity at distances 0, 1, 2, ...
    pub at_distance: Vec<S>,
    /// A public bound for every distance beyond the list.
    pub beyond: S,
}

debug_only_public!(impl[S: std::fmt::Debug] Profile[S] { beyond });

impl<S: Clone> Profile<S> {
    /// The entry at this distance.
    pub fn at(&self, distance: u64) -> &S {
        usize::try_from(distance).ok().and_then(|k| self.at_distance.get(k)).unwrap_or(&self.beyond)
    }
}

/// The smallest `k >= 1` with `holds(k)`, for a condition that stays true once it is true and holds at
/// `u64::MAX`. Always 64 evaluations, whatever the rows.
fn smallest_from_one(holds: impl Fn(u64) -> bool) -> u64 {
    let mut fails = 0;
    for bit in (0..64).rev() {
        let candidate = fails + (1 << bit);
        if !holds(candidate) {
            fails = candidate;
        }
    }
    fails.saturating_add(1)
}

/// The smallest k from one to `limit` with `holds(k)`, for a condition that stays true once it is true; `None` if
/// there is none. As many evaluations, none beyond the limit, whatever the rows.
fn smallest_up_to(limit: u64, holds: impl Fn(u64) -> bool) -> Option<u64> {
    let mut fails = 0;
    for bit in (0..u64::BITS - limit.leading_zeros()).rev() {
        let candidate = fails + (1 << bit);
        let held = holds(candidate.min(limit));
        if candidate <= limit && !held {
            fails = candidate;
        }
    }
    (fails < limit).then(|| fails + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_know_their_width_and_their_order() {
        assert_eq!(Range::WHOLE.width(), u64::MAX);
        assert_eq!(Range::new(-3, 4).unwrap().width(), 7);
        assert_eq!(Range::new(2, 2).unwrap().clamp(-9), 2);
        assert_eq!(
            Range::new(3, 1).unwrap_err().to_string(),
            "range 3,1 is not accepted: give LO,HI with LO at most HI"
        );
    }

    #[test]
    fn the_search_finds_the_first_true() {
        for wanted in [1, 2, 3, 64, 1000, u64::MAX - 1, u64::MAX] {
            assert_eq!(smallest_from_one(|k| k >= wanted), wanted);
        }
    }

    #[test]
    fn the_search_with_a_limit_asks_as_often_whatever_the_answer() {
        for limit in [1u64, 2, 3, 7, 8, 100, u64::MAX] {
            for wanted in [1, 2, 5, 7, 8, 99, 100, 101, u64::MAX] {
                let asked = std::cell::Cell::new(0);
                let found = smallest_up_to(limit, |k| {
                    assert!((1..=limit).contains(&k));
                    asked.set(asked.get() + 1);
                    k >= wanted
                });
                assert_eq!(found, (wanted <= limit).then_some(wanted), "{wanted} up to {limit}");
                assert_eq!(asked.get(), u64::BITS - limit.leading_zeros());
            }
        }
    }

    #[test]
    fn profiles_end_in_their_ceiling() {
        let profile = Profile { at_distance: vec![0, 3], beyond: 9 };
        assert_eq!([0, 1, 2, u64::MAX].map(|k| *profile.at(k)), [0, 3, 9, 9]);
        assert_eq!(Answer::Empty.or(4), 4);
    }
}
