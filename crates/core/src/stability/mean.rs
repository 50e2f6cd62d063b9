//! The mean of rows in a bounded range: exact value, and local sensitivity at distance k.
//!
//! Source: 002_c9075a084346ce80.txt, examples 1.3 to 1.6, on a bounded range.
//!
//! # Claim
//!
//! The value is exact. The local sensitivity at distance k is exact under both adjacencies, with the low
//! end of the range as the mean of no rows.
//!
//! # Why
//!
//! 1. Replace: one row moves the mean by its own move over n. The longest move starts at the smallest or
//!    the largest row; after one change it starts at an end of the range.
//! 2. Add/remove: a row v that comes to rows z, or leaves them behind, moves the mean by
//!    `|v - mean(z)| / (|z| + 1)`. This is largest where v is extreme and z pulls the other way: z has
//!    lost its t largest rows and gained s of the lowest value, or the mirror image.
//! 3. Either v is new, any value, and s + t = k; or v is the extreme row itself, one of s + t = k + 1
//!    changes. Removing a row instead of leaving it never makes the move shorter.

use super::{Answer, Profile, Range, Sorted};
use crate::{adjacency::Adjacency, ratio::Ratio};
use dashu_int::{IBig, UBig};

/// The mean.
pub fn value(rows: &Sorted) -> Answer<Ratio> {
    match rows.count() {
        0 => Answer::Empty,
        count => Answer::Value(over(sum(rows.rows()), count.into())),
    }
}

/// The most that one row can move the mean after at most k changes.
pub fn local_sensitivity_at_distance(rows: &Sorted, k: u64, adjacency: Adjacency) -> Ratio {
    let (range, count) = (rows.range(), rows.count());
    match adjacency {
        Adjacency::Replace if count == 0 => Ratio::zero(),
        Adjacency::Replace => {
            let (first, last) = (rows.at(1), rows.at(count.into()));
            let move_of_one = last.abs_diff(range.lo()).max(range.hi().abs_diff(first));
            over(if k == 0 { move_of_one } else { range.width() }.into(), count.into())
        }
        Adjacency::AddRemove if k >= count => over(range.width().into(), 1),
        Adjacency::AddRemove => one_side(rows, k, true).max(one_side(&rows.mirrored(), k, false)),
    }
}

/// Local sensitivities at the distances below `distances`.
///
/// Beyond them the public bound is the width of the range under add/remove, and that over n under
/// replace, where n is public.
pub fn profile(rows: &Sorted, distances: u64, adjacency: Adjacency) -> Profile<Ratio> {
    Profile {
        at_distance: (0..distances).map(|k| local_sensitivity_at_distance(rows, k, adjacency)).collect(),
        beyond: global_sensitivity(rows.range(), rows.count(), adjacency),
    }
}

/// The most that one row can ever move the mean. `rows` counts under replace only, where it is public.
pub fn global_sensitivity(range: Range, rows: u64, adjacency: Adjacency) -> Ratio {
    match (adjacency, rows) {
        (Adjacency::AddRemove, _) => over(range.width().into(), 1),
        (Adjacency::Replace, 0) => Ratio::zero(),
        (Adjacency::Replace, rows) => over(range.width().into(), rows.into()),
    }
}

/// Add/remove, with v above the mean of the rest; `low_is_low` unless the rows are mirrored.
fn one_side(rows: &Sorted, k: u64, low_is_low: bool) -> Ratio {
    let (range, sorted) = (rows.range(), rows.rows());
    let count = i128::from(rows.count());
    let (lo, hi, largest) = (i128::from(range.lo()), i128::from(range.hi()), i128::from(rows.at(count)));
    let mut best = Ratio::zero();
    let mut kept = sum(sorted); // the sum of the smallest count - removed rows
    for removed in 0..=k + 1 {
        if removed > 0 {
            kept -= i128::from(sorted[sorted.len() - usize::try_from(removed).expect("at most the rows")]);
        }
        let after = |changes: u64, v: i128| {
            let added = i128::from(changes - removed);
            let left = count - i128::from(removed) + added;
            if left == 0 {
                // Only the low end of the true range stands for no rows.
                return over(if low_is_low { v - lo } else { hi - v }, 1);
            }
            over(v * left - kept - lo * added, left * (left + 1))
        };
        if removed <= k {
            best = best.max(after(k, hi));
        }
        if removed >= 1 {
            best = best.max(after(k + 1, largest));
        }
    }
    best
}

pub(super) fn sum(rows: &[i64]) -> i128 {
    rows.iter().map(|&row| i128::from(row)).sum()
}

pub(super) fn over(num: i128, den: i128) -> Ratio {
    Ratio::from_parts(IBig::from(num), UBig::from(u128::try_from(den).expect("a positive number of rows")))
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::stability::brute_force::Neighbourhoods;

    fn direct(data: &[i64], lo: i64) -> Ratio {
        match data.len() {
            0 => Ratio::from(lo),
            count => Ratio::new(data.iter().sum(), count as u64),
        }
    }

    #[test]
    fn local_sensitivities_agree_with_search() {
        let values = [-2, -1, 3, 8];
        let range = Range::new(-2, 8).unwrap();
        for adjacency in Adjacency::ALL {
            for rows in 0..=5 {
                if adjacency == Adjacency::AddRemove && rows < 5 {
                    continue;
                }
                let size = if adjacency == Adjacency::Replace { rows } else { rows + 7 };
                let all = Neighbourhoods::new(&values, size, adjacency);
                let difference = |a: &Ratio, b: &Ratio| (a - b).abs();
                let levels = all.local_sensitivities(|data| direct(data, -2), difference, 7);
                for (i, data) in all.datasets().iter().enumerate().filter(|(_, data)| data.len() <= rows) {
                    let sorted = Sorted::new(data, range);
                    assert_eq!(value(&sorted).or(Ratio::from(-2i64)), direct(data, -2));
                    let profile = profile(&sorted, 7, adjacency);
                    for (k, level) in levels.iter().enumerate() {
                        let exact = level[i].clone().unwrap_or(Ratio::zero());
                        assert_eq!(profile.at_distance[k], exact, "{data:?} {k} {adjacency}");
                        assert!(exact <= profile.beyond);
                    }
                }
            }
        }
    }

    #[test]
    fn sums_of_extreme_rows_are_exact() {
        let rows = Sorted::new(&[i64::MAX, i64::MAX, i64::MIN], Range::WHOLE);
        assert_eq!(value(&rows), Answer::Value(over(i128::from(i64::MAX) * 2 + i128::from(i64::MIN), 3)));
        assert_eq!(
            local_sensitivity_at_distance(&rows, 0, Adjacency::Replace),
            over(u64::MAX.into(), 3),
            "one row may move across the whole range"
        );
    }
}
