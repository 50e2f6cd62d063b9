//! How many changes lead to a given value of a quantile: the length of the inverse sensitivity mechanism.
//!
//! Source: Asi and Duchi, inverse sensitivity (framework 2 of 002_c9075a084346ce80.txt, section 1.5).
//!
//! # Claim
//!
//! [`lengths`] covers the range with steps on which the length is constant. The length of y is the fewest
//! changed rows after which the quantile is y, exactly, cut off at a public number that grows with the
//! window; so it moves by at most one between neighbours. There are at most two steps per row of the
//! window, whatever the size of the range.
//!
//! # Why
//!
//! 1. Replace: the quantile is y once the target rank lies among the rows equal to y; each change moves
//!    one row across, or turns one into y.
//! 2. Add/remove: y too low needs rows added at y or removed above it, y too high needs rows added at y
//!    or removed below it. Mixing the two never beats the better one, except that some row must equal y.
//! 3. A value outside the window is more than K ranks from the target. One change moves the distance by
//!    at most q on average, with q the larger of p and 1 - p (1 under replace), so that the length there
//!    is at least `floor(K / q) + 1`, which is where every length is cut off.
//!
//! # Differs
//!
//! The usual length under add/remove, ranks between y and the target, is at most this one; dividing by q
//! makes the mechanism up to twice as sharp, at every quantile and not at the median only.

use super::{Quantile, Window, smallest_from_one};
use crate::adjacency::Adjacency;

/// A run of values with one length.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Step {
    /// The first value.
    pub from: i64,
    /// The last value.
    pub to: i64,
    /// The fewest changed rows after which the quantile is one of these values.
    pub length: u64,
}

/// Rows below a value and equal to it. Beside the target only one of the two sums is read.
#[derive(Clone, Copy)]
struct Counts {
    less: u64,
    equal: u64,
}

/// The lengths of all values of the range, in order. Neighbouring steps have different lengths.
pub fn lengths(quantile: Quantile, window: &Window, adjacency: Adjacency) -> Vec<Step> {
    let limit =
        quantile.distances(window.reach(), adjacency).map_or(u64::MAX, |steps| steps.saturating_add(1));
    let length = |counts| length(quantile, window.rows(), counts, adjacency).min(limit);
    let range = window.range();
    // Values beyond the window are cut off, whatever rows lie there: these counts only show it.
    let mut steps = Steps(Vec::new());
    let mut less = window.below();
    let mut next = Some(range.lo());
    for ties in window.values().chunk_by(|a, b| a == b) {
        let (value, equal) = (ties[0], ties.len() as u64);
        if let Some(from) = next.filter(|&from| from < value) {
            steps.push(from, value - 1, length(Counts { less, equal: 0 }));
        }
        steps.push(value, value, length(Counts { less, equal }));
        less += equal;
        next = value.checked_add(1);
    }
    if let Some(from) = next.filter(|&from| from <= range.hi()) {
        steps.push(from, range.hi(), length(Counts { less, equal: 0 }));
    }
    steps.0
}

struct Steps(Vec<Step>);

impl Steps {
    fn push(&mut self, from: i64, to: i64, length: u64) {
        match self.0.last_mut() {
            Some(last) if last.length == length => last.to = to,
            _ => self.0.push(Step { from, to, length }),
        }
    }
}

/// The length of a value with these counts. No rows: one change, to a single row, gives any value.
fn length(quantile: Quantile, rows: u64, counts: Counts, adjacency: Adjacency) -> u64 {
    let rank = quantile.rank(rows);
    let Counts { less, equal } = counts;
    match adjacency {
        Adjacency::Replace => (less + 1).saturating_sub(rank).max(rank.saturating_sub(less + equal)),
        Adjacency::AddRemove if rank > less + equal => too_low(quantile, rows, counts),
        Adjacency::AddRemove if rank <= less => too_high(quantile, rows, counts),
        Adjacency::AddRemove => 0,
    }
}

fn too_low(quantile: Quantile, rows: u64, Counts { less, equal }: Counts) -> u64 {
    let needed = u64::from(equal == 0);
    smallest_from_one(|k| {
        // k rows added at y; or one if none is there yet, and the others removed above.
        let added = quantile.rank(rows.saturating_add(k)).saturating_sub(k) <= less + equal;
        let left = (rows + needed).saturating_sub(k - needed);
        added || quantile.rank(left) <= less + equal + needed
    })
}

fn too_high(quantile: Quantile, rows: u64, Counts { less, equal }: Counts) -> u64 {
    let needed = u64::from(equal == 0);
    smallest_from_one(|k| {
        let removed = k - needed;
        let left = (rows + needed).saturating_sub(removed);
        quantile.rank(rows.saturating_add(k)) > less || quantile.rank(left).saturating_add(removed) > less
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stability::{
        Answer, Median, Range, Reach,
        quantile::tests::{VALUES, universe},
    };

    fn quantiles() -> Vec<Quantile> {
        ["1/2", "1/4", "3/4", "0.1", "0.9", "1/3", "2/3"]
            .map(|text| Quantile::new(&text.parse().unwrap()).unwrap())
            .to_vec()
    }

    fn length_at(steps: &[Step], value: i64) -> u64 {
        steps.iter().find(|step| (step.from..=step.to).contains(&value)).unwrap().length
    }

    #[test]
    fn lengths_agree_with_search_and_are_cut_off_in_public() {
        let range = Range::new(VALUES[0], VALUES[3]).unwrap();
        for adjacency in Adjacency::ALL {
            for (rows, quantile) in (1..=5).flat_map(|rows| quantiles().into_iter().map(move |q| (rows, q))) {
                if adjacency == Adjacency::AddRemove && rows < 5 {
                    continue;
                }
                let all = universe(rows, adjacency);
                for value in VALUES {
                    let is_value = |data: &[i64]| {
                        let rank = usize::try_from(quantile.rank(data.len() as u64)).unwrap();
                        data.get(rank - 1) == Some(&value)
                    };
                    let exact = all.distances_to(is_value);
                    for (data, exact) in all.datasets().iter().zip(exact) {
                        if data.len() > rows {
                            continue;
                        }
                        let steps =
                            |reach| lengths(quantile, &quantile.window(data, range, reach), adjacency);
                        let found = length_at(&steps(Reach::All), value);
                        assert_eq!(Some(found), exact, "{quantile:?} {data:?} {value} {adjacency}");
                        for ranks in 0..4 {
                            let limit = quantile.distances(Reach::Ranks(ranks), adjacency).unwrap() + 1;
                            let cut = length_at(&steps(Reach::Ranks(ranks)), value);
                            assert_eq!(cut, found.min(limit), "{quantile:?} {data:?} {value} {ranks}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn values_beyond_a_window_are_cut_off() {
        for quantile in quantiles() {
            for (rows, ranks) in (1..60).flat_map(|rows| (0..rows).map(move |ranks| (rows, ranks))) {
                let rank = quantile.rank(rows);
                for adjacency in Adjacency::ALL {
                    let limit = quantile.distances(Reach::Ranks(ranks), adjacency).unwrap() + 1;
                    let at = |less| length(quantile, rows, Counts { less, equal: 0 }, adjacency);
                    assert!(rank <= ranks || at(rank - ranks - 1) >= limit, "{quantile:?} {rows} {ranks}");
                    assert!(rank + ranks > rows || at(rank + ranks) >= limit, "{quantile:?} {rows} {ranks}");
                }
            }
        }
    }

    #[test]
    fn the_median_has_a_closed_form() {
        let range = Range::new(0, 6).unwrap();
        for data in crate::universe::datasets(&[0, 2, 3, 6], 6, Adjacency::AddRemove) {
            let steps =
                lengths(Median.quantile(), &Median.window(&data, range, Reach::All), Adjacency::AddRemove);
            for value in 0..=6 {
                let count = |holds: fn(&i64, &i64) -> bool| {
                    i64::try_from(data.iter().filter(|row| holds(row, &value)).count()).unwrap()
                };
                let (less, equal, more) = (count(i64::lt), count(i64::eq), count(i64::gt));
                let closed = (less - equal - more + 1).max(more - less - equal).max(0);
                assert_eq!(length_at(&steps, value), closed.unsigned_abs(), "{data:?} {value}");
            }
        }
    }

    #[test]
    fn steps_cover_the_range_in_order() {
        for (data, range) in [
            (vec![], Range::WHOLE),
            (vec![i64::MIN, i64::MAX], Range::WHOLE),
            (vec![1, 5, 5, 9], Range::new(1, 9).unwrap()),
            (vec![3], Range::new(3, 3).unwrap()),
        ] {
            for (adjacency, reach) in Adjacency::ALL
                .iter()
                .flat_map(|&a| [Reach::All, Reach::Ranks(0), Reach::Ranks(1)].map(|r| (a, r)))
            {
                let window = Median.window(&data, range, reach);
                let steps = lengths(Median.quantile(), &window, adjacency);
                assert_eq!((steps[0].from, steps.last().unwrap().to), (range.lo(), range.hi()));
                for pair in steps.windows(2) {
                    assert_eq!(pair[0].to.checked_add(1), Some(pair[1].from));
                    assert_ne!(pair[0].length, pair[1].length);
                }
                if let Answer::Value(value) = window.target() {
                    assert_eq!(length_at(&steps, value), 0);
                }
            }
        }
    }
}
