//! The sum of rows that are zero or more.
//!
//! Source: 002_c9075a084346ce80.txt, section 1.4, for the sum.
//!
//! # Claim
//!
//! The sum is exact. Removing the largest rows lowers it fastest, so lengths and down-sensitivity are
//! exact, and need no bound on the rows; the other sensitivities need one.

use super::removals::{Removals, largest};
use crate::adjacency::Adjacency;

/// The sum: 64-bit rows in any number that fits in memory do not overflow.
pub fn value(rows: &[u64]) -> u128 {
    rows.iter().map(|&row| u128::from(row)).sum()
}

/// The most that one row of at most `highest` can ever move the sum, under either adjacency.
pub fn global_sensitivity(highest: u64) -> u64 {
    highest
}

/// The most that one row can move the sum of these rows, none above `highest`.
pub fn local_sensitivity(rows: &[u64], highest: u64, adjacency: Adjacency) -> u64 {
    match (adjacency, rows.iter().min(), rows.iter().max()) {
        (Adjacency::AddRemove, _, _) => highest,
        (Adjacency::Replace, Some(least), Some(&most)) => most.max(highest - least),
        (Adjacency::Replace, _, _) => 0,
    }
}

/// How far the sum falls when rows are removed, looking at `limit` of them.
pub fn removals(rows: &[u64], limit: u64) -> Removals {
    let wanted = usize::try_from(limit).unwrap_or(usize::MAX);
    let mut left = value(rows);
    let after = largest(rows, wanted).into_iter().map(move |row| {
        left -= u128::from(row);
        left
    });
    Removals::new((0..).zip(std::iter::once(value(rows)).chain(after)), limit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stability::{brute_force::Neighbourhoods, removals};

    fn unsigned(data: &[i64]) -> Vec<u64> {
        data.iter().map(|row| row.unsigned_abs()).collect()
    }

    #[test]
    fn lengths_agree_with_every_way_to_remove() {
        let sum = |data: &[i64]| unsigned(data).iter().map(|&row| u128::from(row)).sum();
        removals::tests::check(&[0, 1, 2, 5], 5, sum, |data, limit| removals(&unsigned(data), limit));
    }

    #[test]
    fn sensitivities_agree_with_search() {
        for adjacency in Adjacency::ALL {
            for rows in 0..5 {
                let size = if adjacency == Adjacency::Replace { rows } else { rows + 1 };
                let all = Neighbourhoods::new(&[0, 1, 2, 5], size, adjacency);
                let sum = |data: &[i64]| data.iter().sum::<i64>();
                let levels = all.local_sensitivities(sum, |a, b| a.abs_diff(*b), 1);
                for (data, exact) in all.datasets().iter().zip(&levels[0]).filter(|(d, _)| d.len() <= rows) {
                    let found = local_sensitivity(&unsigned(data), 5, adjacency);
                    assert_eq!(found, exact.unwrap_or(0), "{data:?} {adjacency}");
                    assert!(found <= global_sensitivity(5));
                }
            }
        }
    }

    #[test]
    fn the_largest_rows_do_not_overflow() {
        let rows = [u64::MAX; 3];
        assert_eq!(removals(&rows, 2).value(), 3 * u128::from(u64::MAX));
        assert_eq!(removals(&rows, 2).length(u128::from(u64::MAX)), 2);
        assert_eq!((value(&[]), removals(&[], 2).down_sensitivity()), (0, 0));
    }
}
