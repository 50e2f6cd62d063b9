//! Several statistics of the same rows at once: slack, and sensitivity as a sum over the coordinates.
//!
//! Source: 000_4d769f04a6a550e8.txt, Definition 7.1 (local sensitivity of vectors, in L1).
//!
//! # Claim
//!
//! The least slack of the coordinates is the slack of the whole, exactly, where every row may take any
//! combination of values. The sum of the coordinates' local sensitivities is at least the local
//! sensitivity of the vector in L1, at every distance. For means of the coordinates the local sensitivity
//! is exact.
//!
//! # Why
//!
//! 1. The vector changes as soon as one coordinate does.
//! 2. The same changed rows are within reach of every coordinate, so each coordinate's difference is at
//!    most its own sensitivity. The sum can be too large: one row may not be extreme everywhere.
//! 3. Means: which row comes is free, coordinate by coordinate; which row goes must be tried.

use super::{
    Profile, Range,
    mean::{over, sum},
};
use crate::{adjacency::Adjacency, outcome::Slack, ratio::Ratio, redact::debug_only_public};

/// The slack of several statistics taken together. `None` where there are none.
pub fn slack_of_all(slacks: impl IntoIterator<Item = Slack>) -> Option<Slack> {
    slacks.into_iter().min()
}

/// A bound on the L1 local sensitivity of several statistics taken together, at every distance.
pub fn sum_of_profiles(profiles: &[Profile<Ratio>]) -> Profile<Ratio> {
    let distances = profiles.iter().map(|profile| profile.at_distance.len()).max().unwrap_or(0);
    let at = |k: usize| profiles.iter().map(|profile| profile.at(k as u64).clone()).sum();
    Profile {
        at_distance: (0..distances).map(at).collect(),
        beyond: profiles.iter().map(|profile| profile.beyond.clone()).sum(),
    }
}

/// One column of a table: its public range and its rows, in the order of the table.
#[derive(Clone, PartialEq, Eq)]
pub struct Column {
    /// The public range.
    pub range: Range,
    /// The rows, all in the range.
    pub rows: Vec<i64>,
}

debug_only_public!(Column { range });

/// The L1 local sensitivity of the means of these columns, exactly. Panics unless all are equally long.
pub fn local_sensitivity_of_means(columns: &[Column], adjacency: Adjacency) -> Ratio {
    let count = columns.first().map_or(0, |column| column.rows.len());
    assert!(columns.iter().all(|column| column.rows.len() == count), "columns of one table");
    let rows = i128::try_from(count).expect("rows in memory");
    let total = |moved: &dyn Fn(&Column) -> i128| columns.iter().map(moved).sum::<i128>();
    let any_row = |moved: &dyn Fn(&Column, usize) -> i128| {
        (0..count).map(|row| total(&|column| moved(column, row))).max().unwrap_or(0)
    };
    match (adjacency, count) {
        (Adjacency::Replace, 0) => Ratio::zero(),
        (Adjacency::Replace, _) => over(any_row(&longest_move), rows),
        (Adjacency::AddRemove, 0) => over(total(&|column| column.range.width().into()), 1),
        (Adjacency::AddRemove, 1) => {
            let comes = over(any_row(&longest_move), 2);
            comes.max(over(any_row(&|column, row| above_low_end(column, row)), 1))
        }
        (Adjacency::AddRemove, _) => {
            // All over n: the sum of |n v - S| is the distance of v from the mean, times n.
            let away = |column: &Column, v: i64| (rows * i128::from(v) - sum(&column.rows)).abs();
            let comes = total(&|column| away(column, column.range.hi()).max(away(column, column.range.lo())));
            let goes = any_row(&|column, row| away(column, column.rows[row]));
            over(comes, rows * (rows + 1)).max(over(goes, rows * (rows - 1)))
        }
    }
}

fn above_low_end(column: &Column, row: usize) -> i128 {
    column.rows[row].abs_diff(column.range.lo()).into()
}

fn longest_move(column: &Column, row: usize) -> i128 {
    above_low_end(column, row).max(column.range.hi().abs_diff(column.rows[row]).into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stability::{Median, Reach, Sorted, brute_force::Neighbourhoods, mean};

    /// Rows of two columns, written as one number: tens and units.
    const PAIRS: [i64; 6] = [0, 1, 4, 20, 21, 24];

    fn columns(data: &[i64]) -> [Column; 2] {
        let column =
            |range, split: fn(i64) -> i64| Column { range, rows: data.iter().map(|&r| split(r)).collect() };
        [column(Range::new(0, 2).unwrap(), |row| row / 10), column(Range::new(0, 4).unwrap(), |row| row % 10)]
    }

    fn universe(rows: usize, adjacency: Adjacency) -> Neighbourhoods {
        let size = if adjacency == Adjacency::Replace { rows } else { rows + 3 };
        Neighbourhoods::new(&PAIRS, size, adjacency)
    }

    #[test]
    fn means_agree_with_search() {
        for (adjacency, rows) in Adjacency::ALL.iter().flat_map(|&a| (0..=3).map(move |rows| (a, rows))) {
            let all = universe(rows, adjacency);
            let means = |data: &[i64]| {
                columns(data)
                    .map(|column| mean::value(&Sorted::new(&column.rows, column.range)).or(Ratio::zero()))
            };
            let apart = |a: &[Ratio; 2], b: &[Ratio; 2]| (&a[0] - &b[0]).abs() + (&a[1] - &b[1]).abs();
            let levels = all.local_sensitivities(means, apart, 3);
            for (i, data) in all.datasets().iter().enumerate().filter(|(_, data)| data.len() <= rows) {
                let exact = |k: usize| levels[k][i].clone().unwrap_or(Ratio::zero());
                let found = local_sensitivity_of_means(&columns(data), adjacency);
                assert_eq!(found, exact(0), "{data:?} {adjacency}");
                let profiles = columns(data)
                    .map(|column| mean::profile(&Sorted::new(&column.rows, column.range), 3, adjacency));
                let bound = sum_of_profiles(&profiles);
                assert!((0..3).all(|k| *bound.at(k as u64) >= exact(k)), "{data:?} {adjacency}");
            }
        }
        assert_eq!(local_sensitivity_of_means(&[], Adjacency::AddRemove), Ratio::zero());
    }

    #[test]
    fn the_slack_of_two_medians_is_the_lesser_one() {
        for (adjacency, rows) in Adjacency::ALL.iter().flat_map(|&a| (0..=3).map(move |rows| (a, rows))) {
            let all = universe(rows, adjacency);
            let both = |data: &[i64]| {
                columns(data).map(|column| {
                    let window = Median.window(&column.rows, column.range, Reach::Ranks(0));
                    Median.value_and_slack(&window, adjacency)
                })
            };
            let slacks = all.slacks(|data| both(data).map(|one| one.value));
            for (data, exact) in all.datasets().iter().zip(slacks).filter(|(data, _)| data.len() <= rows) {
                let found = slack_of_all(both(data).map(|one| one.slack)).unwrap();
                assert_eq!(found.until_change(), exact, "{data:?} {adjacency}");
            }
        }
        assert_eq!(slack_of_all([]), None);
    }
}
