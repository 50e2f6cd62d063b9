//! The interquartile range, and how many rows must change before it leaves its bin.
//!
//! Source: 000_4d769f04a6a550e8.txt, 7.2.1, query Q0 and its answer A0.
//!
//! # Claim
//!
//! The interquartile range is the row of rank `ceil(3n/4)` minus the row of rank `ceil(n/4)`. The slack of
//! a [`Bin`] is the fewest changed rows that take it out of the bin, exactly, in time linear in the number
//! of sorted rows. No rows are an answer of their own under add/remove.
//!
//! # Why
//!
//! 1. The range falls below w if and only if some interval of width w leaves at most `ceil(n/4) - 1` rows
//!    below it and `n - ceil(3n/4)` at or above its end. The best interval starts at a row.
//! 2. The range reaches W if and only if, for some u, at least `ceil(n/4)` rows are at most u and
//!    `n - ceil(3n/4) + 1` are at least `u + W`. The best u is a row or the low end.
//! 3. Replace: each missing or superfluous row costs one change.
//! 4. Add/remove: as n moves too, the two conditions become `D1 <= 0` and `D2 <= 0` for whole numbers
//!    with three kinds of change: (-3, +1), (+1, -3) and (-1, -1). With x the first kind minus the second,
//!    k changes suffice if and only if `(D1 - k) / 2 <= x <= (k - D2) / 2` for some whole x in -k..=k.
//!
//! Of distances this uses that they rise with the upper row and fall with the lower one, and nothing else: rows may be floats,
//! whose differences are rounded ([`Spacing`](super::Spacing)).
//!
//! # Differs
//!
//! The text assumes that n is known and proposes to ask for a noisy n first; the ranks would still use
//! the true one. The add/remove form needs no n. Zero, whose logarithm the text calls minus infinity, is
//! the bin `[0, 1)`: no logarithm is taken.
//!
//! # Example
//!
//! ```
//! use equipoise_core::{adjacency::Adjacency, ratio::Ratio};
//! use equipoise_core::stability::{Answer, Range, Sorted, bins::Bins, iqr};
//!
//! let rows = Sorted::new(&(0..100).collect::<Vec<_>>(), Range::new(0, 1000)?);
//! assert_eq!(iqr::value(&rows), Answer::Value(50));
//! // Two ways to cut the powers of two: 50 lies in [32, 64) and in [46, 91).
//! let bins = Bins::new(&Ratio::from(2u64), 2)?;
//! assert_eq!(iqr::slack(&rows, &bins, Adjacency::Replace).until_change(), Some(14));
//! # Ok::<(), equipoise_core::loss::ParameterError>(())
//! ```

use super::{
    Answer, InOrder,
    bins::{Bin, Bins},
    selection::Sorted,
};
use crate::{adjacency::Adjacency, outcome::Slack};

/// The interquartile range.
pub fn value(rows: &dyn InOrder) -> Answer<u64> {
    let Quartiles { first, third } = quartiles(rows.count());
    match rows.count() {
        0 => Answer::Empty,
        _ => Answer::Value(rows.gap(rows.at(first.into()), rows.at(third.into()))),
    }
}

/// The ranks of the two quartiles.
struct Quartiles {
    first: u64,
    third: u64,
}

fn quartiles(rows: u64) -> Quartiles {
    // Three quarters of n, rounded up, are n less a quarter rounded down.
    Quartiles { first: rows.div_ceil(4), third: rows - rows / 4 }
}

/// The fewest changed rows after which the interquartile range has left the bin that holds it.
pub fn slack_in_bin(rows: &Sorted, bin: Bin, adjacency: Adjacency) -> Slack {
    let Answer::Value(here) = value(rows) else { return super::quantile::of_no_rows::<u64>(adjacency).slack };
    assert!(bin.lower <= here && bin.upper.is_none_or(|upper| here < upper), "the bin of these rows");
    let count = rows.count();
    if adjacency == Adjacency::Replace && count == 1 {
        return Slack::constant(adjacency); // a single row has no spread, whatever it is
    }
    let shrink = (bin.lower > 0).then(|| cheapest_shrink(rows, bin.lower, adjacency));
    let grow = bin.upper.and_then(|upper| cheapest_grow(rows, upper, adjacency));
    let all_gone = (adjacency == Adjacency::AddRemove).then_some(count);
    match shrink.into_iter().chain(grow).chain(all_gone).min() {
        Some(changes) => Slack::rows_to_change(changes, adjacency),
        None => Slack::constant(adjacency),
    }
}

/// The largest slack among the bins of all shifts: still at most one apart between neighbours.
pub fn slack(rows: &Sorted, bins: &Bins, adjacency: Adjacency) -> Slack {
    let here = value(rows).or(0);
    let slacks = (0..bins.shifts()).map(|shift| slack_in_bin(rows, bins.bin(shift, here), adjacency));
    slacks.max().expect("at least one shift")
}

/// The same, cut off at a public number of changes, from no more rows than that around the quartiles.
///
/// A width is undercut or reached by k changes as [`reachable`] tells; whoever opens a gate for certain from `most` changes on cannot tell a
/// slack beyond from this one.
pub fn slack_within(rows: &dyn InOrder, bins: &Bins, most: u64, adjacency: Adjacency) -> Slack {
    let Answer::Value(here) = value(rows) else { return super::quantile::of_no_rows::<u64>(adjacency).slack };
    let count = rows.count();
    if adjacency == Adjacency::Replace && count == 1 {
        return Slack::constant(adjacency);
    }
    // Changing all rows leads anywhere that there is.
    let looked_at = most.min(count.saturating_add(1));
    let reached = reachable(rows, usize::try_from(looked_at).unwrap_or(usize::MAX), adjacency);
    let all_gone = (adjacency == Adjacency::AddRemove).then_some(count);
    let left = |bin: Bin| {
        let out = |&(low, high): &(u64, u64)| low < bin.lower || bin.upper.is_some_and(|upper| upper <= high);
        reached.iter().position(out).map(|changes| changes as u64)
    };
    let slacks =
        (0..bins.shifts()).map(|shift| match left(bins.bin(shift, here)).into_iter().chain(all_gone).min() {
            Some(changes) => Slack::rows_to_change(changes.min(most), adjacency),
            None if looked_at < most => Slack::constant(adjacency),
            None => Slack::rows_to_change(most, adjacency),
        });
    slacks.max().expect("at least one shift")
}

/// Rows within so many changes of the quartiles will be looked at.
fn look_at_quartiles(rows: &dyn InOrder, most: u64) {
    let count = rows.count();
    if count == 0 {
        return;
    }
    let Quartiles { first, third } = quartiles(count);
    for rank in [first, third] {
        let near = most.saturating_add(1);
        rows.look_at(rank.saturating_sub(near).max(1), rank.saturating_add(near).min(count));
    }
}

/// The least and the largest interquartile range that k changed rows lead to, for each k from 0 to below `most`. That of no rows counts as zero.
///
/// A width is reached by k changes where `cheapest_grow` is at most k, and undercut where `cheapest_shrink` is: here the same two
/// conditions are solved for the width. Of the rows only those within about `most` ranks of the quartiles are looked at.
pub fn reachable(rows: &dyn InOrder, most: usize, adjacency: Adjacency) -> Vec<(u64, u64)> {
    look_at_quartiles(rows, most as u64);
    let here = value(rows).or(0);
    let mut found = vec![(here, here); most.min(1)];
    for changes in 1..most as u64 {
        let (low, high) = found[found.len() - 1];
        found.push((low.min(shrunk(rows, changes, adjacency)), high.max(grown(rows, changes, adjacency))));
    }
    found
}

/// The largest interquartile range that so many changes lead to.
fn grown(rows: &dyn InOrder, changes: u64, adjacency: Adjacency) -> u64 {
    let (count, changes) = (i128::from(rows.count()), i128::from(changes));
    let Quartiles { first, third } = quartiles(rows.count());
    // So many rows are at most the lower end of the widest range.
    let (from, to) = match adjacency {
        Adjacency::Replace => (i128::from(first) - changes, i128::from(first)),
        Adjacency::AddRemove => ((count - 3 * changes).div_euclid(4), (count + changes + 3).div_euclid(4)),
    };
    let mut widest = 0;
    for low in from.max(0)..=to.min(count) {
        // And so many rows at least lie at its upper end or beyond.
        let high = match adjacency {
            Adjacency::Replace => {
                i128::from(rows.count() - third + 1) - (changes - (i128::from(first) - low).max(0))
            }
            Adjacency::AddRemove => match second_deficit(count - 4 * low, changes) {
                Some(most) => -(most - count - 1).div_euclid(4),
                None => continue,
            },
        };
        let (low, high) = (rows.at(low), rows.at(count - high.max(0) + 1));
        if low < high {
            widest = widest.max(rows.gap(low, high));
        }
    }
    widest
}

/// The least interquartile range that so many changes lead to.
fn shrunk(rows: &dyn InOrder, changes: u64, adjacency: Adjacency) -> u64 {
    let (count, changes) = (i128::from(rows.count()), i128::from(changes));
    let Quartiles { first, third } = quartiles(rows.count());
    // So many rows lie before the first one of the narrowest range.
    let (from, to) = match adjacency {
        Adjacency::Replace => (i128::from(first) - 1, i128::from(first) - 1 + changes),
        Adjacency::AddRemove => {
            ((count - 1 - changes).div_euclid(4), (count - 1 + 3 * changes).div_euclid(4))
        }
    };
    if count == 0 || to >= count {
        return 0;
    }
    let mut narrowest = u64::MAX;
    for below in from.max(0)..=to {
        // And so many at most beyond its last one.
        let above = match adjacency {
            Adjacency::Replace => {
                i128::from(rows.count() - third) + changes - (below + 1 - i128::from(first)).max(0)
            }
            Adjacency::AddRemove => match second_deficit(4 * below + 1 - count, changes) {
                Some(most) => (most + count).div_euclid(4),
                None => continue,
            },
        };
        let (start, end) = (below + 1, count - above);
        narrowest = narrowest.min(if end <= start { 0 } else { rows.gap(rows.at(start), rows.at(end)) });
    }
    narrowest
}

/// The largest second deficit that so many changes meet beside this first one; see [`changes_for`].
fn second_deficit(first: i128, changes: i128) -> Option<i128> {
    let least = ceil_half(first - changes).max(-changes);
    (least <= changes).then_some(changes - 2 * least)
}

/// The fewest changes to an interquartile range below `width >= 1`.
fn cheapest_shrink(rows: &Sorted, width: u64, adjacency: Adjacency) -> u64 {
    let (sorted, count) = (rows.rows(), rows.count());
    let mut end = 0;
    let mut best = u64::MAX;
    for (start, &low) in sorted.iter().enumerate() {
        if start > 0 && sorted[start - 1] == low {
            continue;
        }
        while end < sorted.len() && rows.gap(low, sorted[end]) < width {
            end += 1;
        }
        let (below, above) = (start as u64, (sorted.len() - end) as u64);
        best = best.min(match adjacency {
            Adjacency::Replace => {
                let Quartiles { first, third } = quartiles(count);
                below.saturating_sub(first - 1) + above.saturating_sub(count - third)
            }
            Adjacency::AddRemove => {
                let (b, t) = (i128::from(below), i128::from(above));
                let inside = i128::from(count) - b - t;
                changes_for(3 * b + 1 - inside - t, 3 * t - b - inside)
            }
        });
    }
    best
}

/// The fewest changes to an interquartile range of at least `width >= 1`, if the range has room for it.
fn cheapest_grow(rows: &Sorted, width: u64, adjacency: Adjacency) -> Option<u64> {
    let (sorted, range) = (rows.rows(), rows.range());
    let mut up_to = 0;
    let mut far = 0;
    let mut best = None;
    for &low in std::iter::once(&range.lo()).chain(sorted) {
        if rows.gap(low, range.hi()) < width {
            break;
        }
        while up_to < sorted.len() && sorted[up_to] <= low {
            up_to += 1;
        }
        while far < sorted.len() && (sorted[far] <= low || rows.gap(low, sorted[far]) < width) {
            far += 1;
        }
        let changes = grow_changes(rows.count(), up_to as u64, (sorted.len() - far) as u64, adjacency);
        best = Some(best.map_or(changes, |best: u64| best.min(changes)));
    }
    best
}

fn grow_changes(count: u64, low: u64, high: u64, adjacency: Adjacency) -> u64 {
    match adjacency {
        Adjacency::Replace => {
            let Quartiles { first, third } = quartiles(count);
            first.saturating_sub(low) + (count - third + 1).saturating_sub(high)
        }
        Adjacency::AddRemove => {
            let (low, high) = (i128::from(low), i128::from(high));
            let inside = i128::from(count) - low - high;
            changes_for(inside + high - 3 * low, low + inside + 1 - 3 * high)
        }
    }
}

/// The fewest changes of the three kinds that bring both deficits to zero or below.
fn changes_for(first: i128, second: i128) -> u64 {
    // No change lowers a deficit by more than three, or their sum by more than two.
    let third = |deficit: i128| -(-deficit).div_euclid(3);
    let least = third(first).max(third(second)).max(ceil_half(first + second)).max(0);
    // From there on, x has room except where its two bounds meet halfway between whole numbers.
    let halfway = first + second == 2 * least && (first - least).rem_euclid(2) == 1;
    u64::try_from(least + i128::from(halfway)).expect("at most a few times the rows")
}

fn ceil_half(value: i128) -> i128 {
    -(-value).div_euclid(2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stability::{
        Range, Spacing, bins::float_powers, brute_force::Neighbourhoods, lattice::ordinal,
    };

    fn direct(data: &[i64]) -> Option<u64> {
        let n = data.len();
        (n > 0).then(|| data[(3 * n).div_ceil(4) - 1].abs_diff(data[n.div_ceil(4) - 1]))
    }

    fn bins() -> [Bins; 3] {
        [("2", 2), ("3/2", 3), ("4", 1)]
            .map(|(base, shifts)| Bins::new(&base.parse().unwrap(), shifts).unwrap())
    }

    fn check(values: &[i64], rows: usize, adjacency: Adjacency) {
        let range = Range::new(values[0], *values.last().unwrap()).unwrap();
        let size = if adjacency == Adjacency::Replace { rows } else { 2 * rows };
        let all = Neighbourhoods::new(values, size, adjacency);
        for bins in bins() {
            let mut best = vec![Some(0); all.datasets().len()];
            for shift in 0..bins.shifts() {
                let exact = all.slacks(|data| direct(data).map(|iqr| bins.bin(shift, iqr)));
                for (i, data) in all.datasets().iter().enumerate().filter(|(_, data)| data.len() <= rows) {
                    let sorted = Sorted::new(data, range);
                    assert_eq!(value(&sorted), direct(data).map_or(Answer::Empty, Answer::Value));
                    let found = slack_in_bin(&sorted, bins.bin(shift, direct(data).unwrap_or(0)), adjacency);
                    assert_eq!(found.until_change(), exact[i], "{data:?} in {values:?} {shift} {adjacency}");
                    best[i] = best[i].zip(exact[i]).map(|(a, b)| a.max(b));
                }
            }
            for (data, best) in all.datasets().iter().zip(best).filter(|(data, _)| data.len() <= rows) {
                let sorted = Sorted::new(data, range);
                let found = slack(&sorted, &bins, adjacency);
                assert_eq!(found.until_change(), best, "{data:?}");
                for most in [1, 2, 3, 5, 40] {
                    let cut_off = |slack: Slack| slack.until_change().unwrap_or(most).min(most);
                    let within = slack_within(&sorted, &bins, most, adjacency);
                    assert_eq!(cut_off(within), cut_off(found), "{data:?} {most} {adjacency}");
                }
            }
        }
    }

    /// What so many changes lead to, against the fewest changes that lead there.
    #[test]
    fn what_is_reachable_agrees_with_the_fewest_changes() {
        for (values, size) in [(vec![0i64, 1, 2, 4, 9], 6), (vec![0, 1, 3], 9), (vec![0, 5, 6, 8], 7)] {
            let range = Range::new(values[0], *values.last().unwrap()).unwrap();
            for adjacency in Adjacency::ALL {
                for data in crate::universe::datasets(&values, size, Adjacency::AddRemove) {
                    let rows = Sorted::new(&data, range);
                    if data.is_empty() || (data.len() == 1 && adjacency == Adjacency::Replace) {
                        continue;
                    }
                    let reached = reachable(&rows, 2 * size + 4, adjacency);
                    assert!(reached.is_sorted_by(|a, b| a.0 >= b.0 && a.1 <= b.1), "{data:?}");
                    for width in 1..=rows.gap(range.lo(), range.hi()) {
                        let grow = reached.iter().position(|&(_, most)| most >= width);
                        let shrink = reached.iter().position(|&(least, _)| least < width);
                        let expected = cheapest_grow(&rows, width, adjacency)
                            .map(|k| usize::try_from(k).expect("a few"));
                        assert_eq!(
                            grow,
                            expected.filter(|&k| k < reached.len()),
                            "{data:?} {width} {adjacency}"
                        );
                        let expected =
                            usize::try_from(cheapest_shrink(&rows, width, adjacency)).expect("a few");
                        assert_eq!(shrink, Some(expected), "{data:?} {width} {adjacency}");
                    }
                }
            }
        }
    }

    #[test]
    fn slacks_agree_with_search() {
        for rows in 0..=7 {
            check(&[0, 1, 2, 4, 9], rows, Adjacency::Replace);
        }
        check(&[0, 1, 3], 9, Adjacency::Replace);
        check(&[0, 5, 6, 8], 5, Adjacency::AddRemove);
        check(&[0, 1, 4], 7, Adjacency::AddRemove);
        check(&[3], 3, Adjacency::AddRemove);
        check(&[3], 3, Adjacency::Replace);
    }

    /// The same where gaps are those of floats, in bins of powers of two.
    #[test]
    fn slacks_of_floats_agree_with_search() {
        let values = [-2.0, 0.0, 1e-300, 0.25, 1e300].map(|value| ordinal(value).unwrap());
        let range = Range::new(values[0], values[4]).unwrap();
        let bins = Bins::of_floats(&float_powers(2), 2, 2);
        let spaced = |data: &[i64]| Sorted::new(data, range).spaced(Spacing::Floats);
        let gap = |data: &[i64]| match value(&spaced(data)) {
            Answer::Value(gap) => Some(gap),
            Answer::Empty => None,
        };
        // From -2 to 0.25, and to the smallest of the others, which is lost in the sum.
        assert_eq!(gap(&[values[0], values[0], values[3], values[3]]), Some(2.25f64.to_bits()));
        assert_eq!(gap(&[values[0], values[0], values[2], values[2]]), Some(2f64.to_bits()));
        for (adjacency, rows, size) in [(Adjacency::Replace, 5, 5), (Adjacency::AddRemove, 4, 8)] {
            let all = Neighbourhoods::new(&values, size, adjacency);
            for shift in 0..bins.shifts() {
                let exact = all.slacks(|data| gap(data).map(|iqr| bins.bin(shift, iqr)));
                for (data, exact) in all.datasets().iter().zip(exact).filter(|(data, _)| data.len() <= rows) {
                    let bin = bins.bin(shift, gap(data).unwrap_or(0));
                    let found = slack_in_bin(&spaced(data), bin, adjacency);
                    assert_eq!(found.until_change(), exact, "{data:?} {shift} {adjacency}");
                }
            }
        }
    }

    #[test]
    fn deficits_are_met_with_the_fewest_changes() {
        for (first, second) in (-9i128..=9).flat_map(|a| (-9i128..=9).map(move |b| (a, b))) {
            let enough = |k: i128| {
                let kinds = (0..=k).flat_map(|a| (0..=k - a).map(move |b| (a, b, k - a - b)));
                kinds.into_iter().any(|(a, b, c)| first - 3 * a + b - c <= 0 && second + a - 3 * b - c <= 0)
            };
            let fewest = (0..30).find(|&k| enough(k)).unwrap();
            assert_eq!(i128::from(changes_for(first, second)), fewest, "{first} {second}");
        }
    }

    #[test]
    fn the_ends_of_64_bits_do_not_overflow() {
        let rows = Sorted::new(&[i64::MIN, i64::MIN, i64::MAX, i64::MAX], Range::WHOLE);
        assert_eq!(value(&rows), Answer::Value(u64::MAX));
        let [bins, _, _] = bins();
        assert_eq!(slack(&rows, &bins, Adjacency::Replace).until_change(), Some(1));
        // Removing one high row makes the other one the third quartile of three.
        assert_eq!(slack(&rows, &bins, Adjacency::AddRemove).until_change(), Some(2));
    }

    #[test]
    fn equal_rows_are_a_bin_of_their_own() {
        let [bins, _, _] = bins();
        let rows = Sorted::new(&[5; 8], Range::new(0, 9).unwrap());
        // Two of eight rows must move to one side before the lower quartile does.
        assert_eq!(slack(&rows, &bins, Adjacency::Replace).until_change(), Some(2));
        let rows = Sorted::new(&[5; 8], Range::new(5, 5).unwrap());
        assert_eq!(slack(&rows, &bins, Adjacency::Replace).until_change(), None);
        assert_eq!(slack(&rows, &bins, Adjacency::AddRemove).until_change(), Some(8));
    }
}
