//! A window of ranks from many rows: one pass that counts, between two values guessed from a sample.
//!
//! # Claim
//!
//! [`window`] is the window of the cleaned rows around the target, exactly: cleaned as in
//! [`lattice`](super::lattice), counted without those that were dropped, selected as by
//! [`Window::select`]. The sample decides the speed only.
//!
//! # Why
//!
//! 1. Rows below the low value and above the high one need only be counted; a handful between is kept.
//! 2. If the wanted ranks lie between the counts, they are among the kept rows and the ties of the two
//!    values. If not, which a sample in random order makes a matter of one in a million, all rows are
//!    selected from.
//!
//! # Time
//!
//! Time depends on the rows, as that of any selection does: it belongs to the scan, whose time counts as
//! public. The sampled places do not depend on the rows, so neither do they need coins.

use super::{
    Range, Reach, Window,
    lattice::{clean_float, float},
    reachable::Target,
    selection::{WindowParts, bounds, count, index, select_ranks},
};
use crate::adjacency::Adjacency;

/// A row before it is cleaned, in the order of the lattice.
pub trait Row: Copy + PartialOrd {
    /// Not above any row.
    const LEAST: Self;
    /// Not below any row.
    const GREATEST: Self;

    /// Its place in the range, cleaned on its own; nothing if it is dropped. In the order of the rows.
    fn place(self, range: Range, adjacency: Adjacency) -> Option<i64>;

    /// The row at a place.
    fn at(place: i64) -> Self;
}

impl Row for i64 {
    const LEAST: Self = i64::MIN;
    const GREATEST: Self = i64::MAX;

    fn place(self, range: Range, _adjacency: Adjacency) -> Option<i64> {
        Some(range.clamp(self))
    }

    fn at(place: i64) -> Self {
        place
    }
}

/// Places are [ordinals](super::lattice::ordinal). What is not a number is neither below nor above any row.
impl Row for f64 {
    const LEAST: Self = f64::NEG_INFINITY;
    const GREATEST: Self = f64::INFINITY;

    fn place(self, range: Range, adjacency: Adjacency) -> Option<i64> {
        clean_float(Some(self), range, adjacency)
    }

    fn at(place: i64) -> Self {
        float(place).unwrap_or(if place < 0 { Self::LEAST } else { Self::GREATEST })
    }
}

/// The rows around the target, cleaned for this adjacency.
pub fn window<T: Row>(
    rows: &[T],
    target: Target,
    range: Range,
    reach: Reach,
    adjacency: Adjacency,
) -> Window {
    let question = Question { target, range, reach, adjacency };
    question.bracketed(rows).unwrap_or_else(|| question.whole(rows))
}

/// All rows as places, cleaned for this adjacency.
pub fn places<T: Row>(rows: &[T], range: Range, adjacency: Adjacency) -> Vec<i64> {
    let mut places = Vec::with_capacity(rows.len());
    places.extend(rows.iter().filter_map(|row| row.place(range, adjacency)));
    places
}

#[derive(Clone, Copy)]
struct Question {
    target: Target,
    range: Range,
    reach: Reach,
    adjacency: Adjacency,
}

/// Fewer rows are quicker to select from directly.
const LEAST_ROWS: usize = 4096;
/// How many standard deviations of the sample's rank lie between the guess and the ends of the bracket.
const DEVIATIONS: f64 = 5.0;
/// Rows that are looked at together; a power of two.
const GROUP: usize = 256;

/// Two places, and the rows between which comparisons find the places between them.
struct Bracket<T> {
    low_place: i64,
    high_place: i64,
    low: T,
    high: T,
}

/// What one pass found out.
#[derive(Default)]
struct Scan {
    below: u64,
    at_low: u64,
    between: Vec<i64>,
    at_high: u64,
    dropped: u64,
}

impl Question {
    fn whole<T: Row>(self, rows: &[T]) -> Window {
        let mut places = places(rows, self.range, self.adjacency);
        let rank = self.target.nearest_rank(count(places.len()));
        Window::select_in_place(&mut places, rank, self.range, self.reach)
    }

    fn bracketed<T: Row>(self, rows: &[T]) -> Option<Window> {
        let Reach::Ranks(ranks) = self.reach else { return None };
        if rows.len() < LEAST_ROWS {
            return None;
        }
        let bracket = self.guess(rows, ranks)?;
        let scan = self.scan(rows, &bracket);
        self.window_of(count(rows.len()), scan, &bracket)
    }

    /// Values around the target that a sample puts the window between. Floats only choose the speed here.
    fn guess<T: Row>(self, rows: &[T], ranks: u64) -> Option<Bracket<T>> {
        let mut sample = self.sample(rows);
        sample.sort_unstable();
        let kept = sample.len() as f64;
        let all = kept * stride(rows.len()) as f64;
        // The target's share of the rows, between zero and one.
        let share = (self.target.nearest_rank(index_of(all)?) as f64 / all.max(1.0)).min(1.0);
        let half =
            ranks as f64 / all.max(1.0) * kept + DEVIATIONS * ((kept * share * (1.0 - share)).sqrt() + 1.0);
        if half * 3.0 > kept {
            return None;
        }
        let place = |at: f64, beyond: i64| match index_of(at) {
            Some(at) if at < count(sample.len()) => sample[index(at)],
            _ => beyond,
        };
        let Range { lo, hi } = self.range;
        let (low_place, high_place) = (place(kept * share - half, lo), place(kept * share + half, hi));
        Some(Bracket {
            low_place,
            high_place,
            // Rows beyond the range are moved to its ends, so they are never below or above those.
            low: if low_place == lo { T::LEAST } else { T::at(low_place) },
            high: if high_place == hi { T::GREATEST } else { T::at(high_place) },
        })
    }

    /// The places of one row from each stride, at an offset that looks random and is the same every time.
    fn sample<T: Row>(self, rows: &[T]) -> Vec<i64> {
        const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;
        let mut offset = 0u64;
        let mut sample = Vec::with_capacity(rows.len() / stride(rows.len()) + 1);
        for stretch in rows.chunks_exact(stride(rows.len())) {
            offset = (offset ^ offset >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9).wrapping_add(GOLDEN);
            let chosen = (u128::from(offset) * u128::from(count(stretch.len()))) >> 64;
            let row = stretch[usize::try_from(chosen).expect("below the length")];
            sample.extend(row.place(self.range, self.adjacency));
        }
        sample
    }

    /// Count the rows below the bracket and sort out the others that are not above it.
    fn scan<T: Row>(self, rows: &[T], bracket: &Bracket<T>) -> Scan {
        let mut scan = Scan::default();
        let mut near = [T::LEAST; GROUP];
        for group in rows.chunks(GROUP) {
            // No branch depends on a row. What is not a number is neither below nor above, hence near.
            let mut count = 0;
            for &row in group {
                near[count % GROUP] = row;
                let (below, above) = (row < bracket.low, row > bracket.high);
                scan.below += u64::from(below);
                count += 1 - usize::from(below) - usize::from(above);
            }
            self.sort_out(&near[..count], bracket, &mut scan);
        }
        scan
    }

    fn sort_out<T: Row>(self, near: &[T], bracket: &Bracket<T>, scan: &mut Scan) {
        for &row in near {
            match row.place(self.range, self.adjacency) {
                None => scan.dropped += 1,
                Some(place) if place < bracket.low_place => scan.below += 1,
                Some(place) if place == bracket.low_place => scan.at_low += 1,
                Some(place) if place == bracket.high_place => scan.at_high += 1,
                Some(place) => scan.between.push(place),
            }
        }
    }

    /// The window, if its ranks lie in the bracket.
    fn window_of<T>(self, rows: u64, scan: Scan, bracket: &Bracket<T>) -> Option<Window> {
        let Scan { below, at_low, mut between, at_high, dropped } = scan;
        let rows = rows - dropped;
        let rank = self.target.nearest_rank(rows);
        let (first, last) = bounds(rank, rows, self.reach);
        let (from_between, from_high) = (below + at_low, below + at_low + count(between.len()));
        if first <= below || last > from_high + at_high {
            return None;
        }
        // Ranks are from one: those up to `from_between` are ties of the low end, then rows, then ties.
        let copies = |from: u64, to: u64| index(to.min(last).saturating_sub(from.max(first - 1)));
        let mut values = vec![bracket.low_place; copies(below, from_between)];
        let kept = copies(from_between, from_high);
        let rank_in_order = |value: i64, between: &[i64]| {
            let less = between.iter().filter(|&&place| place < value).count();
            let equal = between.iter().filter(|&&place| place == value).count();
            (from_between + count(less), count(equal))
        };
        if kept > 0 {
            let start = index((first - 1).saturating_sub(from_between));
            let part = select_ranks(&mut between, start, start + kept - 1);
            part.sort_unstable();
            values.extend_from_slice(part);
        }
        values.resize(values.len() + copies(from_high, from_high + at_high), bracket.high_place);
        let target = values[index(rank - first)];
        let (less, equal) = if target == bracket.low_place {
            (below, at_low)
        } else if target == bracket.high_place {
            (from_high, at_high)
        } else {
            rank_in_order(target, &between)
        };
        let (range, reach, below) = (self.range, self.reach, first - 1);
        Some(Window::from_parts(WindowParts { range, reach, rank, rows, below, values, less, equal }))
    }
}

/// One row in this many is sampled: the cube root of the rows balances the sort of the sample against the
/// rows that a bracket of its width keeps.
fn stride(rows: usize) -> usize {
    let mut stride = 1;
    while stride * stride * stride < rows {
        stride += stride.div_ceil(8);
    }
    stride
}

/// A float as a count; nothing below zero.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "only the speed depends on it")]
fn index_of(value: f64) -> Option<u64> {
    (value >= 0.0).then_some(value as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stability::{Quantile, lattice::FLOATS};
    use proptest::prelude::*;

    fn target(p: &str, shift: i64) -> Target {
        Target::shifted(Quantile::new(&p.parse().unwrap()).unwrap(), shift)
    }

    /// Numbers that look random, from their index.
    fn mixed(index: u64) -> u64 {
        let mut word = index.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word ^ word >> 31
    }

    fn check<T: Row>(rows: &[T], range: Range, must_bracket: bool) {
        for (p, shift) in [("1/2", 0), ("1/4", 0), ("0.999", 0), ("1e-6", 0), ("1/2", -300), ("0.9", 1 << 40)]
        {
            for adjacency in Adjacency::ALL {
                for reach in [Reach::Ranks(0), Reach::Ranks(40), Reach::All] {
                    let question = Question { target: target(p, shift), range, reach, adjacency };
                    let bracketed = question.bracketed(rows);
                    if must_bracket && reach != Reach::All {
                        assert!(bracketed.is_some(), "{p} {shift} {adjacency} {reach:?}");
                    }
                    if let Some(bracketed) = bracketed {
                        assert_eq!(bracketed, question.whole(rows), "{p} {shift} {adjacency} {reach:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn rows_of_all_kinds_give_the_window_of_all_rows() {
        let uniform = |i: u64| mixed(i) as f64 / 2f64.powi(64);
        let count = 20_000;
        let smooth: Vec<f64> = (0..count).map(|i| 45_000.0 * (uniform(i) + 0.5)).collect();
        let tied: Vec<f64> = smooth.iter().map(|x| (x / 5000.0).floor()).collect();
        let sorted: Vec<f64> = (0..count).map(|i| i as f64 - 9000.5).collect();
        let odd: Vec<f64> = (0..count)
            .map(|i| match mixed(i) % 7 {
                0 => f64::NAN,
                1 => f64::INFINITY,
                2 => f64::NEG_INFINITY,
                3 => -0.0,
                4 => 0.0,
                _ => uniform(i) - 0.5,
            })
            .collect();
        let zeros = vec![-0.0; 9001];
        let narrow = super::super::lattice::range_of_floats(0.0, 50_000.0).unwrap();
        for rows in [&smooth, &tied, &sorted, &odd, &zeros] {
            check(rows, FLOATS, true);
            check(rows, narrow, true);
        }
        check(&vec![f64::NAN; 5000], FLOATS, false);
        let whole: Vec<i64> = (0..count).map(|i| mixed(i).cast_signed()).collect();
        check(&whole, Range::WHOLE, true);
        check(&whole, Range::new(-1 << 60, 1 << 61).unwrap(), true);
        check(&vec![7; 5000], Range::new(0, 7).unwrap(), true);
        check(&[3, 1, 2], Range::WHOLE, false);
    }

    #[test]
    fn a_bracket_that_misses_is_not_used() {
        // The sampled rows are all low, the others all high: the guess is wrong and the answer is not.
        let mut rows = vec![1_000_000i64; 20_000];
        let question = Question {
            target: target("1/2", 0),
            range: Range::WHOLE,
            reach: Reach::Ranks(3),
            adjacency: Adjacency::AddRemove,
        };
        let places: Vec<i64> = (0..20_000).collect();
        for place in question.sample(&places) {
            rows[usize::try_from(place).unwrap()] = place;
        }
        assert!(question.bracketed(&rows).is_none());
        let found = window(&rows, question.target, question.range, question.reach, question.adjacency);
        assert_eq!(found.values(), [1_000_000; 7]);
    }

    #[test]
    fn strides_are_near_the_cube_root() {
        for rows in [1, 8, 1000, 4096, 100_000, 10_000_000, 1_000_000_000] {
            let cube = (rows as f64).cbrt();
            assert!((cube..=1.3 * cube + 1.0).contains(&(stride(rows) as f64)), "{rows} {}", stride(rows));
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn any_rows_give_the_window_of_all_rows(
            distinct in 1u64..5000, scale in 0u32..60, salt in any::<u64>(), ranks in 0u64..100, share in 1u64..1000,
        ) {
            let rows: Vec<i64> = (0..6000).map(|i| (mixed(i ^ salt) % distinct).cast_signed() << scale).collect();
            let target = Target::from(Quantile::new(&crate::ratio::Ratio::new(share.cast_signed(), 1000)).unwrap());
            let question =
                Question { target, range: Range::WHOLE, reach: Reach::Ranks(ranks), adjacency: Adjacency::AddRemove };
            if let Some(found) = question.bracketed(&rows) {
                prop_assert_eq!(found, question.whole(&rows));
            }
        }
    }
}
