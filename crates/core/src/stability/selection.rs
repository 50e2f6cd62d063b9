//! From rows to a window of ranks: the only part that looks at every row.
//!
//! # Claim
//!
//! A [`Window`] holds the sorted rows of ranks `rank - K ..= rank + K`, counted from one, together with
//! the number of rows, of rows before and after the window, and of rows below and equal to the row of the
//! target rank. Selection takes time linear in the number of rows; only the window is sorted.
//!
//! A decision may look at `K` ranks to either side and at nothing else, so that its running time depends
//! on public numbers. Ranks before the first row read as the low end of the range, ranks after the last
//! as the high end.

use super::{Answer, Range};
use crate::redact::debug_only_public;

/// How many ranks to either side of the target a window holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reach {
    /// This many, a public number.
    Ranks(u64),
    /// All rows: exact at any distance, in time that depends on the number of rows.
    All,
}

/// The rows around a target rank, sorted, with the counts that decisions need.
#[derive(Clone, PartialEq, Eq)]
pub struct Window {
    range: Range,
    reach: Reach,
    rank: u64,
    rows: u64,
    below: u64,
    values: Vec<i64>,
    less: u64,
    equal: u64,
}

debug_only_public!(Window { range, reach });

/// What a reader of streams found out about its rows, to be checked and made into a [`Window`].
#[derive(Clone, PartialEq, Eq)]
pub struct WindowParts {
    /// The public range; every row was moved into it.
    pub range: Range,
    /// How many ranks to either side were asked for.
    pub reach: Reach,
    /// The target rank, from one; one where there are no rows.
    pub rank: u64,
    /// How many rows there are.
    pub rows: u64,
    /// How many rows come before the window.
    pub below: u64,
    /// The rows of the window, sorted.
    pub values: Vec<i64>,
    /// How many rows are below the row of the target rank.
    pub less: u64,
    /// How many rows equal it, itself included.
    pub equal: u64,
}

debug_only_public!(WindowParts { range, reach });

/// The first and the last rank of a window, from one; empty where there are no rows.
pub(super) fn bounds(rank: u64, rows: u64, reach: Reach) -> (u64, u64) {
    match reach {
        Reach::All => (1, rows),
        Reach::Ranks(ranks) => (rank.saturating_sub(ranks).max(1), rank.saturating_add(ranks).min(rows)),
    }
}

pub(super) fn index(count: u64) -> usize {
    usize::try_from(count).expect("a rank of rows in memory")
}

pub(super) fn count(rows: usize) -> u64 {
    u64::try_from(rows).expect("64 bits count the rows in memory")
}

impl Window {
    /// Selects the window from rows, which are first moved into the range, each on its own.
    ///
    /// `rank` is the target, from one to the number of rows; it is one where there are no rows.
    pub fn select(rows: &[i64], rank: u64, range: Range, reach: Reach) -> Self {
        Self::select_in_place(&mut rows.to_vec(), rank, range, reach)
    }

    /// The same without a copy: the rows are moved into the range and reordered.
    pub fn select_in_place(rows: &mut [i64], rank: u64, range: Range, reach: Reach) -> Self {
        for row in &mut *rows {
            *row = range.clamp(*row);
        }
        let (first, last) = bounds(rank, count(rows.len()), reach);
        let mut parts = WindowParts {
            range,
            reach,
            rank,
            rows: count(rows.len()),
            below: first - 1,
            values: Vec::new(),
            less: 0,
            equal: 0,
        };
        if !rows.is_empty() {
            assert!((1..=parts.rows).contains(&rank), "the target is the rank of a row");
            let window = select_ranks(rows, index(first - 1), index(last - 1));
            window.sort_unstable();
            parts.values = window.to_vec();
            let target = parts.values[index(rank - first)];
            for &row in &*rows {
                parts.less += u64::from(row < target);
                parts.equal += u64::from(row == target);
            }
        }
        Self::from_parts(parts)
    }

    /// A window that something else selected. Panics where the parts contradict each other.
    pub fn from_parts(parts: WindowParts) -> Self {
        let WindowParts { range, reach, rank, rows, below, values, less, equal } = parts;
        let (first, last) = bounds(rank, rows, reach);
        assert!(first == below + 1 && count(values.len()) == last + 1 - first, "the ranks of the window");
        assert!(values.is_sorted() && values.iter().all(|&v| range.clamp(v) == v), "sorted, in the range");
        if rows == 0 {
            assert!(rank == 1 && less == 0 && equal == 0, "no rows, no counts");
        } else {
            assert!(rank <= rows && less < rank && rank <= less + equal, "the target lies among its ties");
        }
        Self { range, reach, rank, rows, below, values, less, equal }
    }

    /// The window of the same rows after each was taken to another place by a map that keeps their order, into this range.
    ///
    /// Where x1 <= x2 <= … are the rows, their places f(x1) <= f(x2) <= … are in order too, so the row of a rank becomes the
    /// row of that rank: the few rows of the window are all that must be mapped. Only what became equal to the target is not
    /// known where equal places reach an end of the window; `ties` counts, of all rows, those whose place is below this one and
    /// those at it.
    #[must_use]
    pub fn mapped(
        &self,
        range: Range,
        place: impl Fn(i64) -> i64,
        ties: impl FnOnce(i64) -> (u64, u64),
    ) -> Self {
        let values: Vec<i64> = self.values.iter().map(|&row| range.clamp(place(row))).collect();
        let Self { reach, rank, rows, below, .. } = *self;
        let (mut less, mut equal) = (0, 0);
        if rows > 0 {
            let target = values[index(rank - below - 1)];
            let (first, last) = (values[0], values[values.len() - 1]);
            (less, equal) = if (first < target || below == 0) && (target < last || self.above() == 0) {
                let start = values.partition_point(|&value| value < target);
                let end = values.partition_point(|&value| value <= target);
                (below + count(start), count(end - start))
            } else {
                ties(target)
            };
        }
        Self::from_parts(WindowParts { range, reach, rank, rows, below, values, less, equal })
    }

    /// The public range of the rows.
    pub fn range(&self) -> Range {
        self.range
    }

    /// How many ranks to either side can be looked at.
    pub fn reach(&self) -> Reach {
        self.reach
    }

    /// The target rank, from one.
    pub fn rank(&self) -> u64 {
        self.rank
    }

    /// The number of rows: private under add/remove.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// The number of rows before the window.
    pub fn below(&self) -> u64 {
        self.below
    }

    /// The number of rows after the window.
    pub fn above(&self) -> u64 {
        self.rows - self.below - count(self.values.len())
    }

    /// The rows of the window, sorted.
    pub fn values(&self) -> &[i64] {
        &self.values
    }

    /// The row of the target rank.
    pub fn target(&self) -> Answer<i64> {
        if self.rows == 0 { Answer::Empty } else { Answer::Value(self.at(self.rank.into())) }
    }

    /// How many rows are below the target's.
    pub fn less(&self) -> u64 {
        self.less
    }

    /// How many rows equal the target's.
    pub fn equal(&self) -> u64 {
        self.equal
    }

    /// The row of this rank: the low end before the first row, the high end after the last.
    ///
    /// Panics at a row outside the window; callers stay within their reach, which is public.
    pub fn at(&self, rank: i128) -> i64 {
        if rank < 1 {
            self.range.lo()
        } else if rank > i128::from(self.rows) {
            self.range.hi()
        } else {
            let place = usize::try_from(rank - 1 - i128::from(self.below)).ok();
            *place.and_then(|place| self.values.get(place)).expect("a rank within the reach of the window")
        }
    }

    /// The difference of the rows of two ranks, the lower first.
    pub(crate) fn gap(&self, low: i128, high: i128) -> u64 {
        self.at(high).abs_diff(self.at(low))
    }
}

/// How far apart places are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Spacing {
    /// All equally far: a gap is a number of steps.
    #[default]
    Even,
    /// As the floats whose [ordinals](super::lattice::ordinal) they are: a gap is the ordinal of the float nearest to their
    /// difference, or of the largest one. It rises with the upper place and falls with the lower one, as numbers do.
    Floats,
}

/// All rows, sorted: for statistics that need more than one window.
#[derive(Clone, PartialEq, Eq)]
pub struct Sorted {
    range: Range,
    rows: Vec<i64>,
    spacing: Spacing,
}

debug_only_public!(Sorted { range, spacing });

impl Sorted {
    /// Sorts the rows, which are first moved into the range, each on its own.
    pub fn new(rows: &[i64], range: Range) -> Self {
        let mut rows: Vec<i64> = rows.iter().map(|&row| range.clamp(row)).collect();
        rows.sort_unstable();
        Self { range, rows, spacing: Spacing::Even }
    }

    /// The same with places that are so far apart.
    #[must_use]
    pub fn spaced(self, spacing: Spacing) -> Self {
        Self { spacing, ..self }
    }

    /// How far apart two places are, the lower first.
    pub fn gap(&self, low: i64, high: i64) -> u64 {
        self.spacing.gap(low, high)
    }

    /// How far apart places are.
    pub fn spacing(&self) -> Spacing {
        self.spacing
    }

    /// The public range of the rows.
    pub fn range(&self) -> Range {
        self.range
    }

    /// The rows, sorted.
    pub fn rows(&self) -> &[i64] {
        &self.rows
    }

    /// The number of rows: private under add/remove.
    pub fn count(&self) -> u64 {
        count(self.rows.len())
    }

    /// The row of this rank, from one: the low end before the first row, the high end after the last.
    pub fn at(&self, rank: i128) -> i64 {
        match usize::try_from(rank - 1) {
            Err(_) if rank < 1 => self.range.lo(),
            place => place.ok().and_then(|place| self.rows.get(place)).copied().unwrap_or(self.range.hi()),
        }
    }

    /// The rows and the range turned upside down.
    pub(crate) fn mirrored(&self) -> Self {
        // One's complement reverses the order without overflow and keeps every difference.
        let range = Range { lo: !self.range.hi(), hi: !self.range.lo() };
        Self { range, rows: self.rows.iter().rev().map(|row| !row).collect(), spacing: Spacing::Even }
    }
}

/// The rows of these places in sorted order, in any order among themselves.
pub(super) fn select_ranks(rows: &mut [i64], first: usize, last: usize) -> &mut [i64] {
    let (_, _, _) = rows.select_nth_unstable(first);
    let rest = &mut rows[first..];
    let (_, _, _) = rest.select_nth_unstable(last - first);
    &mut rest[..=last - first]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const RANGE: Range = Range { lo: -5, hi: 9 };

    #[test]
    fn a_window_counts_and_pads() {
        let window = Window::select(&[7, 3, 3, 90, -2, 3, 8], 3, RANGE, Reach::Ranks(1));
        assert_eq!(window.values(), [3, 3, 3]);
        assert_eq!((window.below(), window.above(), window.rows()), (1, 3, 7));
        assert_eq!((window.target(), window.less(), window.equal()), (Answer::Value(3), 1, 3));
        let all = Window::select(&[7, 90, -2], 1, RANGE, Reach::All);
        assert_eq!([-4, 0, 1, 2, 3, 4, 99].map(|rank| all.at(rank)), [-5, -5, -2, 7, 9, 9, 9]);
        assert_eq!(all.gap(0, 4), 14);
        let empty = Window::select(&[], 1, RANGE, Reach::Ranks(4));
        assert_eq!((empty.target(), empty.at(0), empty.at(1)), (Answer::Empty, -5, 9));
        assert_eq!(Window::select(&[4], 1, RANGE, Reach::Ranks(0)).values(), [4]);
    }

    #[test]
    fn sorted_rows_pad_and_mirror() {
        let sorted = Sorted::new(&[7, 90, -2], RANGE);
        assert_eq!([-4, 0, 1, 2, 3, 4, 99].map(|rank| sorted.at(rank)), [-5, -5, -2, 7, 9, 9, 9]);
        assert_eq!(sorted.count(), 3);
        let mirror = sorted.mirrored();
        assert!(mirror.rows().is_sorted());
        for rank in -1..=5 {
            assert_eq!(!mirror.at(4 - rank), sorted.at(rank));
        }
        assert_eq!(Sorted::new(&[i64::MIN], Range::WHOLE).mirrored().rows(), [i64::MAX]);
    }

    #[test]
    #[should_panic]
    fn a_decision_cannot_look_beyond_its_reach() {
        Window::select(&[1, 2, 3, 4, 5], 3, RANGE, Reach::Ranks(1)).at(1);
    }

    #[test]
    #[should_panic]
    fn counts_that_contradict_each_other_are_refused() {
        let parts = WindowParts {
            range: RANGE,
            reach: Reach::All,
            rank: 1,
            rows: 2,
            below: 0,
            values: vec![1, 2],
            less: 1,
            equal: 1,
        };
        Window::from_parts(parts);
    }

    proptest! {
        #[test]
        fn windows_agree_with_sorting(
            rows in prop::collection::vec(-8i64..12, 1..60),
            rank in any::<prop::sample::Index>(),
            reach in 0u64..12,
        ) {
            let rank = rank.index(rows.len());
            let window = Window::select(&rows, count(rank) + 1, RANGE, Reach::Ranks(reach));
            let mut sorted: Vec<i64> = rows.iter().map(|&row| RANGE.clamp(row)).collect();
            sorted.sort_unstable();
            let first = rank.saturating_sub(index(reach));
            let last = (rank + index(reach)).min(rows.len() - 1);
            prop_assert_eq!(window.values(), &sorted[first..=last]);
            prop_assert_eq!(index(window.below()), first);
            prop_assert_eq!(index(window.above()), rows.len() - 1 - last);
            prop_assert_eq!(window.target(), Answer::Value(sorted[rank]));
            prop_assert_eq!(index(window.less()), sorted.partition_point(|&row| row < sorted[rank]));
            prop_assert_eq!(
                index(window.less() + window.equal()),
                sorted.partition_point(|&row| row <= sorted[rank])
            );
            let whole = Window::select(&rows, count(rank) + 1, RANGE, Reach::All);
            prop_assert_eq!(whole.values(), &sorted);
        }
    }
}
