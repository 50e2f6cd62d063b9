//! The largest row, and the sum of the k largest.
//!
//! Source: 002_c9075a084346ce80.txt, section 1, for the largest row; Fang, Dong and Yi, shifted inverse.
//!
//! # Claim
//!
//! Slack, local sensitivity at distance k, down-sensitivity and lengths of the largest row are exact, with
//! the low end of the range as its value on no rows wherever differences count. Local sensitivity,
//! down-sensitivity and lengths of the sum of the k largest are exact.
//!
//! # Why
//!
//! The largest row is the quantile of rank n. Without the j largest rows it is the next one; a new row at
//! the high end moves it from there, and the largest row moves it when those between are gone. For sums,
//! removing the largest rows lowers every later sum the most.

use super::{
    Answer, Profile, Sorted, ValueAndSlack,
    quantile::of_no_rows,
    removals::{Removals, largest},
};
use crate::{adjacency::Adjacency, outcome::Slack};

/// The largest row, and the fewest changed rows that lead to another one.
pub fn value_and_slack(rows: &Sorted, adjacency: Adjacency) -> ValueAndSlack<i64> {
    let (range, Some(&value)) = (rows.range(), rows.rows().last()) else { return of_no_rows(adjacency) };
    let ties = rows.count() - rows.rows().partition_point(|&row| row < value) as u64;
    let rise = (value < range.hi()).then_some(1);
    let fall = match adjacency {
        Adjacency::AddRemove if value == range.lo() => Some(rows.count()),
        Adjacency::Replace if value == range.lo() => None,
        _ => Some(ties),
    };
    let slack = match rise.into_iter().chain(fall).min() {
        Some(changes) => Slack::rows_to_change(changes, adjacency),
        None => Slack::constant(adjacency),
    };
    ValueAndSlack { value: Answer::Value(value), slack }
}

/// The most that one row can move the largest after at most k changes.
pub fn local_sensitivity_at_distance(rows: &Sorted, k: u64, adjacency: Adjacency) -> u64 {
    let count = i128::from(rows.count());
    if count == 0 && adjacency == Adjacency::Replace {
        return 0;
    }
    let k = i128::from(k);
    let rise = rows.range().hi().abs_diff(rows.at(count - k));
    let fall = if count == 0 { 0 } else { rows.at(count).abs_diff(rows.at(count - k - 1)) };
    rise.max(fall)
}

/// Local sensitivities at the distances below `distances`.
pub fn profile(rows: &Sorted, distances: u64, adjacency: Adjacency) -> Profile<u64> {
    Profile {
        at_distance: (0..distances).map(|k| local_sensitivity_at_distance(rows, k, adjacency)).collect(),
        beyond: rows.range().width(),
    }
}

/// How far the largest row is above the low end when rows are removed, looking at `limit` of them.
pub fn removals(rows: &Sorted, limit: u64) -> Removals {
    let height = |row: i64| u128::from(row.abs_diff(rows.range().lo()));
    let left = rows.rows().iter().rev().map(|&row| height(row));
    Removals::new((0..).zip(left.chain(std::iter::once(0))), limit)
}

/// The sum of the k largest of rows that are zero or more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TopSum {
    /// How many rows are added up.
    pub k: usize,
}

impl TopSum {
    /// The sum of the k largest rows, or of all if there are fewer.
    pub fn value(self, rows: &[u64]) -> u128 {
        super::sum::value(&largest(rows, self.k))
    }

    /// The most that one row can move it, with no row above `highest`.
    pub fn local_sensitivity(self, rows: &[u64], highest: u64, adjacency: Adjacency) -> u64 {
        if self.k == 0 || (rows.is_empty() && adjacency == Adjacency::Replace) {
            return 0;
        }
        let top = largest(rows, self.k.saturating_add(1));
        let row = |place: usize| top.get(place).copied().unwrap_or(0);
        // A new row pushes out the last one of the k; under replace it must take some row's place.
        let pushed_out = match adjacency {
            Adjacency::AddRemove => row(self.k - 1),
            Adjacency::Replace => row(self.k.min(rows.len()) - 1),
        };
        (highest - pushed_out).max(row(0) - row(self.k))
    }

    /// How far it falls when rows are removed, looking at `limit` of them.
    pub fn removals(self, rows: &[u64], limit: u64) -> Removals {
        let looked_at = usize::try_from(limit).unwrap_or(usize::MAX).saturating_add(self.k);
        let top = largest(rows, looked_at);
        let sums = (0..=top.len()).map(|removed| {
            let last = removed.saturating_add(self.k).min(top.len());
            super::sum::value(&top[removed..last])
        });
        Removals::new((0..).zip(sums), limit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stability::{Range, brute_force::Neighbourhoods, removals};

    const VALUES: [i64; 4] = [0, 1, 3, 8];

    fn unsigned(data: &[i64]) -> Vec<u64> {
        data.iter().map(|row| row.unsigned_abs()).collect()
    }

    fn top(data: &[i64], k: usize) -> u128 {
        unsigned(data).iter().rev().take(k).map(|&row| u128::from(row)).sum()
    }

    #[test]
    fn the_largest_row_agrees_with_search() {
        for range in [Range::new(0, 8).unwrap(), Range::new(3, 3).unwrap()] {
            let values: Vec<i64> = VALUES.into_iter().filter(|&v| range.clamp(v) == v).collect();
            for (adjacency, rows) in Adjacency::ALL.iter().flat_map(|&a| (0..=4).map(move |rows| (a, rows))) {
                let size = if adjacency == Adjacency::Replace { rows } else { 2 * rows + 2 };
                let all = Neighbourhoods::new(&values, size, adjacency);
                let slacks = all.slacks(|data| data.last().copied());
                let value = |data: &[i64]| data.last().copied().unwrap_or(range.lo());
                let levels = all.local_sensitivities(value, |a, b| a.abs_diff(*b), 6);
                for (i, data) in all.datasets().iter().enumerate().filter(|(_, data)| data.len() <= rows) {
                    let sorted = Sorted::new(data, range);
                    let found = value_and_slack(&sorted, adjacency);
                    assert_eq!(found.value.or(range.lo()), value(data));
                    assert_eq!(found.slack.until_change(), slacks[i], "{data:?} {adjacency}");
                    for k in (0..6).filter(|&k| all.covers(data, k as u64)) {
                        let found = profile(&sorted, 6, adjacency).at_distance[k];
                        assert_eq!(found, levels[k][i].unwrap_or(0), "{data:?} {k} {adjacency}");
                    }
                }
            }
        }
    }

    #[test]
    fn lengths_agree_with_every_way_to_remove() {
        let range = Range::new(0, 8).unwrap();
        let tallest = |data: &[i64]| top(data, 1);
        removals::tests::check(&VALUES, 5, tallest, |data, limit| removals(&Sorted::new(data, range), limit));
        for k in 0..4 {
            let sum = |data: &[i64]| top(data, k);
            removals::tests::check(&VALUES, 5, sum, |data, limit| {
                TopSum { k }.removals(&unsigned(data), limit)
            });
        }
    }

    #[test]
    fn sums_of_the_largest_agree_with_search() {
        for adjacency in Adjacency::ALL {
            for (rows, k) in (0..=4).flat_map(|rows| (0..4).map(move |k| (rows, k))) {
                let size = if adjacency == Adjacency::Replace { rows } else { rows + 1 };
                let all = Neighbourhoods::new(&VALUES, size, adjacency);
                let levels = all.local_sensitivities(|data| top(data, k), |a, b| a.abs_diff(*b), 1);
                for (data, exact) in all.datasets().iter().zip(&levels[0]).filter(|(d, _)| d.len() <= rows) {
                    let found = TopSum { k }.local_sensitivity(&unsigned(data), 8, adjacency);
                    assert_eq!(u128::from(found), exact.unwrap_or(0), "{data:?} {k} {adjacency}");
                    assert_eq!(TopSum { k }.value(&unsigned(data)), top(data, k));
                }
            }
        }
    }
}
