//! The mode: the most frequent value, ties to the smaller one, and its slack.
//!
//! Source: 000_4d769f04a6a550e8.txt, 7.3.1 (the mode as an example of a computable distance).
//!
//! # Claim
//!
//! [`Tally::value_and_slack`] counts the fewest changed rows that lead to another mode, exactly, for any
//! ordered universe, values that no row has included.
//!
//! # Why
//!
//! 1. A competitor above the mode must overtake it, one below must only draw level.
//! 2. Replace moves a row from the mode to the competitor: the lead shrinks by two per change.
//! 3. Add/remove changes one of the two counts: the lead shrinks by one per change. Removing all rows is
//!    the other way to another answer.
//! 4. Only the best competitor of each side matters. A value that no row has competes with count zero,
//!    and does better below the mode than above it.
//!
//! # Example
//!
//! ```
//! use equipoise_core::{adjacency::Adjacency, stability::mode::{Tally, Unseen}};
//!
//! let votes = Tally::from_counts([("ash", 4), ("birch", 9)]).unwrap();
//! let found = votes.value_and_slack(Unseen { below: true, above: true }, Adjacency::Replace);
//! // Three voters who change their mind make it 7 for ash against 6 for birch.
//! assert_eq!(found.slack.until_change(), Some(3));
//! ```

use super::{Answer, Range, ValueAndSlack, quantile::of_no_rows};
use crate::{adjacency::Adjacency, outcome::Slack, redact::debug_only_public};
use std::{borrow::Borrow, cmp::Ordering};

/// Are there values of the universe that no row has, on either side of the mode?
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Unseen {
    /// Below the mode.
    pub below: bool,
    /// Above the mode.
    pub above: bool,
}

/// The mode, its count, and its best competitors.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Tally<T> {
    mode: T,
    count: u64,
    rows: u64,
    below: Side,
    above: Side,
}

debug_only_public!(impl[T] Tally[T] {});

/// What lies on one side of the mode.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct Side {
    values: u64,
    best: u64,
}

impl Side {
    fn add(&mut self, count: u64) {
        self.values += 1;
        self.best = self.best.max(count);
    }
}

impl<T: Ord> Tally<T> {
    /// From each value and how many rows have it, every value once, in any order. Counts of zero are
    /// left out; `None` where nothing remains.
    pub fn from_counts<I>(counts: I) -> Option<Self>
    where
        T: Clone,
        I: IntoIterator<Item = (T, u64)>,
        I::IntoIter: Clone,
    {
        let counts = counts.into_iter();
        Self::from_passes(|visit: &mut dyn FnMut(&T, u64)| {
            counts.clone().for_each(|(value, count)| visit(&value, count));
        })
    }

    /// The same where values are handed over: `pass` does so twice, with the same values and counts.
    pub fn from_passes<V>(mut pass: impl FnMut(&mut dyn FnMut(&V, u64))) -> Option<Self>
    where
        T: Borrow<V>,
        V: Ord + ToOwned<Owned = T> + ?Sized,
    {
        let mut best: Option<(T, u64)> = None;
        pass(&mut |value, count| {
            let leads = |(mode, most): &(T, u64)| count > *most || (count == *most && value < mode.borrow());
            if count > 0 && best.as_ref().is_none_or(leads) {
                best = Some((value.to_owned(), count));
            }
        });
        let (mode, count) = best?;
        let mut tally = Self { mode, count, rows: 0, below: Side::default(), above: Side::default() };
        pass(&mut |value, count| {
            tally.rows += count;
            match value.cmp(tally.mode.borrow()) {
                Ordering::Less if count > 0 => tally.below.add(count),
                Ordering::Greater if count > 0 => tally.above.add(count),
                _ => {}
            }
        });
        Some(tally)
    }

    /// From sorted rows.
    pub fn from_sorted(rows: &[T]) -> Option<Self>
    where
        T: Clone,
    {
        Self::from_counts(rows.chunk_by(|a, b| a == b).map(|run| (run[0].clone(), run.len() as u64)))
    }

    /// The mode.
    pub fn mode(&self) -> &T {
        &self.mode
    }

    /// How many rows have it.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The mode, and the fewest changed rows that lead to another one; `unseen` is what the universe holds
    /// beyond the rows.
    pub fn value_and_slack(self, unseen: Unseen, adjacency: Adjacency) -> ValueAndSlack<T> {
        let competes = |side: Side, unseen: bool| (side.values > 0 || unseen).then_some(side.best);
        let below = competes(self.below, unseen.below).map(|best| self.count - best);
        let above = competes(self.above, unseen.above).map(|best| self.count - best + 1);
        let lead = below.into_iter().chain(above).min();
        let slack = match adjacency {
            Adjacency::Replace => match lead {
                Some(lead) => Slack::rows_to_change(lead.div_ceil(2), adjacency),
                None => Slack::constant(adjacency),
            },
            Adjacency::AddRemove => {
                Slack::rows_to_change(lead.map_or(self.rows, |lead| lead.min(self.rows)), adjacency)
            }
        };
        ValueAndSlack { value: Answer::Value(self.mode), slack }
    }
}

impl Tally<i64> {
    /// What a range of whole numbers holds beyond the rows.
    pub fn unseen_in(&self, range: Range) -> Unseen {
        Unseen {
            below: self.mode.abs_diff(range.lo()) > self.below.values,
            above: range.hi().abs_diff(self.mode) > self.above.values,
        }
    }
}

/// The mode of rows in a range, which are first moved into it, and its slack.
pub fn value_and_slack(rows: &[i64], range: Range, adjacency: Adjacency) -> ValueAndSlack<i64> {
    let mut sorted: Vec<i64> = rows.iter().map(|&row| range.clamp(row)).collect();
    sorted.sort_unstable();
    match Tally::from_sorted(&sorted) {
        None => of_no_rows(adjacency),
        Some(tally) => tally.value_and_slack(tally.unseen_in(range), adjacency),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stability::brute_force::Neighbourhoods;

    fn direct(data: &[i64]) -> Option<i64> {
        let count = |value: i64| data.iter().filter(|&&row| row == value).count();
        data.iter().copied().rev().max_by_key(|&value| count(value))
    }

    #[test]
    fn slacks_agree_with_search() {
        for (lo, hi, rows) in [(0, 0, 4), (0, 1, 6), (0, 2, 6), (0, 4, 4), (-1, 2, 5)] {
            let (values, range) = ((lo..=hi).collect::<Vec<_>>(), Range::new(lo, hi).unwrap());
            for adjacency in Adjacency::ALL {
                let sizes = match adjacency {
                    Adjacency::Replace => 0..=rows,
                    Adjacency::AddRemove => rows..=rows,
                };
                for rows in sizes {
                    let size = if adjacency == Adjacency::Replace { rows } else { 2 * rows };
                    let all = Neighbourhoods::new(&values, size, adjacency);
                    let slacks = all.slacks(direct);
                    for (data, slack) in all.datasets().iter().zip(slacks).filter(|(d, _)| d.len() <= rows) {
                        let found = value_and_slack(data, range, adjacency);
                        let value = direct(data).map_or(Answer::Empty, Answer::Value);
                        assert_eq!(found.value, value, "{data:?}");
                        assert_eq!(found.slack.until_change(), slack, "{data:?} {lo}..{hi} {adjacency}");
                    }
                }
            }
        }
    }

    #[test]
    fn the_raw_lead_is_not_a_distance_under_replace() {
        // Four votes against one: a lead of three, and two replacements that level it below the mode.
        let rows = [0, 2, 2, 2, 2];
        let range = Range::new(0, 2).unwrap();
        assert_eq!(value_and_slack(&rows, range, Adjacency::Replace).slack.until_change(), Some(2));
        assert_eq!(value_and_slack(&rows, range, Adjacency::AddRemove).slack.until_change(), Some(3));
        // 001, section 2: the mode of this sequence.
        let rows = [1, 2, 4, 3, 4, 4, 2];
        assert_eq!(value_and_slack(&rows, Range::WHOLE, Adjacency::Replace).value, Answer::Value(4));
    }

    #[test]
    fn values_that_no_row_has_compete() {
        let (replace, add_remove) = (Adjacency::Replace, Adjacency::AddRemove);
        let slack = |unseen, adjacency| {
            let tally = Tally::from_counts([("b", 4), ("zero", 0)]).unwrap();
            assert_eq!((*tally.mode(), tally.count()), ("b", 4));
            tally.value_and_slack(unseen, adjacency).slack.until_change()
        };
        let none = Unseen { below: false, above: false };
        let below = Unseen { below: true, above: true };
        let above = Unseen { below: false, above: true };
        assert_eq!([none, below, above].map(|unseen| slack(unseen, replace)), [None, Some(2), Some(3)]);
        assert_eq!([none, below, above].map(|unseen| slack(unseen, add_remove)), [Some(4); 3]);
        assert_eq!(Tally::<i64>::from_counts([(3, 0)]), None);
    }
}
