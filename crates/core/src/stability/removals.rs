//! How far a statistic falls when rows are removed: what down-sensitivity mechanisms look at.
//!
//! Source: 002_c9075a084346ce80.txt, Definition 1.7 (down-sensitivity); Fang, Dong and Yi, shifted inverse.
//!
//! # Claim
//!
//! For a statistic that never falls when a row is added, [`Removals::length`] of y is the fewest removed
//! rows after which it is at most y, cut off at a public limit. It moves by at most one when a row is
//! added or removed. [`Removals::down_sensitivity`] is the most that removing one row lowers it.

use crate::redact::debug_only_public;

/// A statistic after the best choice of removed rows, as far as a public limit.
#[derive(Clone, PartialEq, Eq)]
pub struct Removals {
    /// Rows removed and the least value that leaves: the first growing, the second falling.
    steps: Vec<(u64, u128)>,
    limit: u64,
}

debug_only_public!(Removals { limit });

impl Removals {
    /// From the least value after each number of removals, the value itself first.
    ///
    /// Removals beyond `limit` are not looked at, so that the number of steps is public.
    pub(super) fn new(least_after: impl IntoIterator<Item = (u64, u128)>, limit: u64) -> Self {
        let mut steps: Vec<(u64, u128)> = Vec::new();
        for (removed, value) in least_after.into_iter().take_while(|&(removed, _)| removed <= limit) {
            debug_assert!(steps.last().is_none_or(|last| last.0 < removed && value <= last.1));
            if steps.last().is_none_or(|last| value < last.1) {
                steps.push((removed, value));
            }
        }
        Self { steps, limit }
    }

    /// The value with nothing removed.
    pub fn value(&self) -> u128 {
        self.steps[0].1
    }

    /// The fewest removed rows after which the value is at most y; one more than the limit where no
    /// choice within the limit does it.
    pub fn length(&self, y: u128) -> u64 {
        let reached = self.steps.partition_point(|&(_, value)| value > y);
        self.steps.get(reached).map_or(self.limit.saturating_add(1), |&(removed, _)| removed)
    }

    /// The least value after at most this many removals, or after as many as the limit allows.
    pub fn least_after(&self, removed: u64) -> u128 {
        let reached = self.steps.partition_point(|&(steps, _)| steps <= removed);
        self.steps[reached - 1].1
    }

    /// How many removals were looked at.
    pub fn limit(&self) -> u64 {
        self.limit
    }

    /// The most that removing one row lowers the value. Needs a limit of one or more.
    pub fn down_sensitivity(&self) -> u128 {
        assert!(self.limit > 0, "a limit of at least one removal");
        match self.steps.get(1) {
            Some(&(1, next)) => self.value() - next,
            _ => 0,
        }
    }

    /// The last value seen, after at most as many removals as the limit.
    pub fn least(&self) -> u128 {
        self.steps[self.steps.len() - 1].1
    }
}

/// The `wanted` largest rows, largest first.
pub(super) fn largest(rows: &[u64], wanted: usize) -> Vec<u64> {
    if wanted == 0 {
        return Vec::new();
    }
    let mut rows = rows.to_vec();
    if wanted < rows.len() {
        let cut = rows.len() - wanted;
        let (_, _, _) = rows.select_nth_unstable(cut);
        rows.drain(..cut);
    }
    rows.sort_unstable_by(|a, b| b.cmp(a));
    rows
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::{adjacency::Adjacency, stability::brute_force::Neighbourhoods, universe};

    /// Holds lengths, down-sensitivity and the limit against removing rows in every way.
    pub(in crate::stability) fn check(
        values: &[i64],
        rows: usize,
        statistic: impl Fn(&[i64]) -> u128,
        removals: impl Fn(&[i64], u64) -> Removals,
    ) {
        let all = Neighbourhoods::new(values, rows, Adjacency::AddRemove);
        let least_after = |data: &[i64]| {
            // Least value over all subsets, by size: walk down one row at a time.
            let mut shell = vec![data.to_vec()];
            let mut least = vec![statistic(data)];
            while !shell[0].is_empty() {
                let smaller = |data: &Vec<i64>| {
                    let mut others = universe::neighbours(data, values, Adjacency::AddRemove);
                    others.retain(|other| other.len() < data.len());
                    others
                };
                shell = shell.iter().flat_map(smaller).collect();
                shell.sort();
                shell.dedup();
                let here = shell.iter().map(|data| statistic(data)).min().unwrap();
                least.push(here.min(*least.last().unwrap()));
            }
            least
        };
        for data in all.datasets() {
            let least = least_after(data);
            for limit in [0, 1, 2, 100] {
                let found = removals(data, limit);
                assert_eq!(found.value(), statistic(data));
                for y in 0..=statistic(data) + 1 {
                    let exact = least.iter().position(|&value| value <= y).unwrap() as u64;
                    assert_eq!(found.length(y), exact.min(limit + 1), "{data:?} {y} {limit}");
                }
                if limit > 0 {
                    let fall = least[0] - least[1.min(data.len())];
                    assert_eq!(found.down_sensitivity(), fall, "{data:?}");
                }
            }
        }
    }

    #[test]
    fn the_largest_rows_come_first() {
        assert_eq!(largest(&[3, 9, 1, 9, 4], 3), [9, 9, 4]);
        assert_eq!(largest(&[3, 9], 5), [9, 3]);
        assert_eq!(largest(&[3, 9], 0), [0u64; 0]);
        let removals = Removals::new([(0, 9), (1, 9), (2, 4), (3, 0)], 2);
        assert_eq!((removals.least(), removals.down_sensitivity()), (4, 0));
        assert_eq!([9, 8, 4, 3].map(|y| removals.length(y)), [0, 2, 2, 3]);
        assert_eq!([0, 1, 2, 3].map(|removed| removals.least_after(removed)), [9, 9, 4, 4]);
    }
}
