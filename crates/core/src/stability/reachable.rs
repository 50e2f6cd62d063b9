//! Which values a quantile can take after k changed rows: one interval for each k.
//!
//! Source: Asi and Duchi, inverse sensitivity (framework 2 of 002_c9075a084346ce80.txt, section 1.5).
//!
//! # Claim
//!
//! [`Target::reachable`] gives an interval of values for each k = 0, 1, …, such that the interval of k lies
//! within the interval of k + 1 of the same rows and of every neighbouring data set. So the number of the
//! first interval that holds a value, its *length*, moves by at most one between neighbours. For a plain
//! quantile, with the low end as the value of no rows, the interval of k is exactly what k changes can reach.
//!
//! # Why
//!
//! 1. Write r(n) for the target rank among n rows. Among k changes let s be removals: rows removed above
//!    and added below push the target down to the old rank `r(n + k - 2s) - (k - s)`, the other way round
//!    up to `r(n + k - 2s) + s`. Two rows more raise r by 0 or 1 (p at most one half) or by 1 or 2 (at
//!    least), so these move one way in s, and the ends s = 0 and s = k are best.
//! 2. Add/remove, one row added: k + 1 changes of n + 1 rows with s + 1 removals reach the same old rank
//!    down and one more up; a row more moves the row of any rank down or not at all, and the row after it
//!    up or not at all. One row removed: s removals reach one rank less down and the same rank up. Ranks
//!    before the first row read as the low end, after the last as the high end, and r(n) continues to
//!    negative n, so this holds at the ends too.
//! 3. Replace: the rows of ranks m - k and m + k; one replaced row moves sorted rows by at most one rank.
//!
//! # Differs
//!
//! [`lengths`](super::length::lengths) counts the changes after which the quantile *is* a value, for which a
//! row with that value must be there; away from the median a value between rows then costs up to one
//! change more. Here a value costs what the values beyond it cost: intervals, at a few additions each.
//!
//! # Example
//!
//! ```
//! use equipoise_core::{adjacency::Adjacency, stability::{Median, Range, Reach, reachable::Target}};
//!
//! let target = Target::from(Median.quantile());
//! let window = target.window(&[1, 3, 4, 8, 9], Range::new(0, 10)?, Reach::All);
//! let spans = target.reachable(&window, 4, Adjacency::AddRemove);
//! let ends: Vec<_> = spans.iter().map(|span| (span.low, span.high)).collect();
//! assert_eq!(ends, [(4, 4), (3, 4), (3, 8), (1, 8)]);
//! # Ok::<(), equipoise_core::loss::ParameterError>(())
//! ```

use super::{Quantile, Range, Reach, Window};
use crate::adjacency::Adjacency;

/// The row of rank `ceil(p n) + shift`: the low end before the first row, the high end after the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Target {
    quantile: Quantile,
    shift: i64,
}

impl From<Quantile> for Target {
    fn from(quantile: Quantile) -> Self {
        Self { quantile, shift: 0 }
    }
}

/// All values from `low` to `high`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Span {
    /// The lowest value.
    pub low: i64,
    /// The highest value.
    pub high: i64,
}

impl Target {
    /// The row this many ranks after the quantile's, or before it if negative. No file has 2^61 rows, so
    /// that farther shifts mean no more than that.
    pub fn shifted(quantile: Quantile, shift: i64) -> Self {
        const FAR: i64 = 1 << 61;
        Self { quantile, shift: shift.clamp(-FAR, FAR) }
    }

    /// The quantile.
    pub fn quantile(self) -> Quantile {
        self.quantile
    }

    /// How many ranks after the quantile.
    pub fn shift(self) -> i64 {
        self.shift
    }

    /// The rank among this many rows, which may lie before the first or after the last.
    pub fn rank(self, rows: u64) -> i64 {
        RankWalk::at(self, rows).rank()
    }

    /// The rank of the row that is nearest to the target; one where there are no rows.
    pub fn nearest_rank(self, rows: u64) -> u64 {
        u64::try_from(self.rank(rows)).unwrap_or(0).clamp(1, rows.max(1))
    }

    /// The rows around the target.
    pub fn window(self, rows: &[i64], range: Range, reach: Reach) -> Window {
        let count = u64::try_from(rows.len()).expect("64 bits count the rows in memory");
        Window::select(rows, self.nearest_rank(count), range, reach)
    }

    /// The most ranks that k changes can move the target: `ceil(q k)`, with q the larger of p and 1 - p
    /// under add/remove and 1 under replace.
    pub fn ranks_within(self, k: u64, adjacency: Adjacency) -> u64 {
        match adjacency {
            Adjacency::Replace => k,
            Adjacency::AddRemove => {
                let (num, den) = self.quantile.parts();
                let ranks = (u128::from(num.max(den - num)) * u128::from(k)).div_ceil(u128::from(den));
                u64::try_from(ranks).expect("at most k")
            }
        }
    }

    /// The values that k changes can reach, for k = 0, 1, …, `count - 1`.
    ///
    /// The window must reach the `ranks_within(count - 1)` ranks around its target; panics otherwise. The
    /// number of steps is the same whatever the rows.
    pub fn reachable(self, window: &Window, count: usize, adjacency: Adjacency) -> Vec<Span> {
        assert_eq!(window.rank(), self.nearest_rank(window.rows()), "a window around the target");
        let rows = ByRank::new(window);
        let span = |(low, high)| Span { low: rows.at(low), high: rows.at(high) };
        self.reachable_ranks(window.rows(), adjacency).take(count).map(span).collect()
    }

    /// The first and the last rank that k changes of this many rows can reach, for k = 0, 1, …
    pub(crate) fn reachable_ranks(self, rows: u64, adjacency: Adjacency) -> impl Iterator<Item = (i64, i64)> {
        let (mut more, mut fewer) = (RankWalk::at(self, rows), RankWalk::at(self, rows));
        let rank = more.rank();
        let adding_lowers = self.quantile.at_most_half();
        (0..).map(move |k| {
            let ends = match adjacency {
                Adjacency::Replace => (rank - k, rank + k),
                Adjacency::AddRemove if adding_lowers => (more.rank() - k, fewer.rank() + k),
                Adjacency::AddRemove => (fewer.rank(), more.rank()),
            };
            more.up();
            fewer.down();
            ends
        })
    }
}

/// The target rank while rows come or go one at a time, without a division for each.
#[derive(Clone, Copy)]
struct RankWalk {
    num: u64,
    den: u64,
    /// `floor(p n)` plus the shift; n may become negative.
    floor: i64,
    /// What `num·n` leaves over multiples of `den`.
    rest: u64,
}

impl RankWalk {
    fn at(target: Target, rows: u64) -> Self {
        let (num, den) = target.quantile.parts();
        let product = u128::from(num) * u128::from(rows);
        let floor = i64::try_from(product / u128::from(den)).expect("at most the rows");
        let rest = u64::try_from(product % u128::from(den)).expect("below the denominator");
        Self { num, den, floor: floor + target.shift, rest }
    }

    fn rank(&self) -> i64 {
        self.floor + i64::from(self.rest > 0)
    }

    fn up(&mut self) {
        let room = self.den - self.num;
        let over = self.rest >= room;
        self.rest = if over { self.rest - room } else { self.rest + self.num };
        self.floor += i64::from(over);
    }

    fn down(&mut self) {
        let under = self.rest < self.num;
        self.rest = if under { self.rest + (self.den - self.num) } else { self.rest - self.num };
        self.floor -= i64::from(under);
    }
}

/// Rows by rank, with the ends of the range around them.
struct ByRank<'a> {
    range: Range,
    below: i64,
    count: i64,
    values: &'a [i64],
}

impl<'a> ByRank<'a> {
    fn new(window: &'a Window) -> Self {
        let [below, count] =
            [window.below(), window.rows()].map(|n| i64::try_from(n).expect("fewer than 2^62 rows"));
        Self { range: window.range(), below, count, values: window.values() }
    }

    fn at(&self, rank: i64) -> i64 {
        if rank < 1 {
            self.range.lo()
        } else if rank > self.count {
            self.range.hi()
        } else {
            let place = usize::try_from(rank - 1 - self.below).ok();
            *place.and_then(|place| self.values.get(place)).expect("a rank within the reach of the window")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        stability::{
            brute_force::Neighbourhoods,
            quantile::tests::{VALUES, universe},
        },
        universe::neighbouring_pairs,
    };

    fn quantiles() -> Vec<Quantile> {
        ["1/2", "1/4", "3/4", "0.1", "0.9", "1/3", "2/3", "0.49", "0.99"]
            .map(|text| Quantile::new(&text.parse().unwrap()).unwrap())
            .to_vec()
    }

    fn range() -> Range {
        Range::new(VALUES[0], VALUES[3]).unwrap()
    }

    /// Straight from the definition.
    fn value(target: Target, data: &[i64]) -> i64 {
        let rank = target.rank(data.len() as u64);
        if rank < 1 {
            return range().lo();
        }
        data.get(usize::try_from(rank - 1).unwrap()).copied().unwrap_or(range().hi())
    }

    fn spans(target: Target, data: &[i64], count: usize, adjacency: Adjacency) -> Vec<Span> {
        target.reachable(&target.window(data, range(), Reach::All), count, adjacency)
    }

    #[test]
    fn intervals_of_a_quantile_are_what_search_reaches() {
        for adjacency in Adjacency::ALL {
            for (rows, quantile) in (0..=5).flat_map(|rows| quantiles().into_iter().map(move |q| (rows, q))) {
                if adjacency == Adjacency::AddRemove && rows < 5 {
                    continue; // The data sets of up to five rows hold the smaller ones.
                }
                check_by_search(&universe(rows, adjacency), quantile.into(), rows, adjacency);
            }
        }
    }

    fn check_by_search(all: &Neighbourhoods, target: Target, rows: usize, adjacency: Adjacency) {
        for bound in VALUES {
            let down = all.distances_to(|data| value(target, data) <= bound);
            let up = all.distances_to(|data| value(target, data) >= bound);
            for (i, data) in all.datasets().iter().enumerate().filter(|(_, data)| data.len() <= rows) {
                let found = spans(target, data, rows + 2, adjacency);
                for (k, span) in (0..).zip(&found) {
                    if adjacency == Adjacency::Replace && rows == 0 {
                        continue; // There is no other data set; the intervals may be larger.
                    }
                    let within = |distance: Option<u64>| distance.is_some_and(|distance| distance <= k);
                    assert_eq!(
                        span.low <= bound,
                        within(down[i]),
                        "{target:?} {data:?} {k} {bound} {adjacency}"
                    );
                    assert_eq!(
                        span.high >= bound,
                        within(up[i]),
                        "{target:?} {data:?} {k} {bound} {adjacency}"
                    );
                }
            }
        }
    }

    #[test]
    fn intervals_lie_within_the_next_of_every_neighbour() {
        let inside = |inner: &Span, outer: &Span| outer.low <= inner.low && inner.high <= outer.high;
        for adjacency in Adjacency::ALL {
            let pairs: Vec<_> =
                (0..=6).flat_map(|size| neighbouring_pairs(&VALUES, size, adjacency)).collect();
            for (quantile, shift) in
                quantiles().into_iter().flat_map(|q| [-7, -2, -1, 0, 1, 2, 7].map(|shift| (q, shift)))
            {
                let target = Target::shifted(quantile, shift);
                for (a, b) in &pairs {
                    let [here, there] = [a, b].map(|data| spans(target, data, 16, adjacency));
                    for (k, next) in (0..).zip(1..here.len()) {
                        let all = [(&here, &here), (&here, &there), (&there, &here)];
                        for (from, to) in all {
                            assert!(inside(&from[k], &to[next]), "{target:?} {a:?} {b:?} {k} {adjacency}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn rank_movements_are_bounded() {
        for quantile in quantiles() {
            for shift in [-5, 0, 3] {
                let target = Target::shifted(quantile, shift);
                for rows in 0..40u64 {
                    let (mut more, mut fewer) = (RankWalk::at(target, rows), RankWalk::at(target, rows));
                    for k in 0..50 {
                        assert_eq!(more.rank(), target.rank(rows + k));
                        if let Some(left) = rows.checked_sub(k) {
                            assert_eq!(fewer.rank(), target.rank(left));
                        }
                        let steps = k.cast_signed();
                        let ends = [more.rank() - steps, fewer.rank(), more.rank(), fewer.rank() + steps];
                        let most = target.ranks_within(k, Adjacency::AddRemove);
                        let moved = |end: i64| end.abs_diff(target.rank(rows));
                        assert!(ends.into_iter().all(|end| moved(end) <= most), "{target:?} {rows} {k}");
                        more.up();
                        fewer.down();
                    }
                }
            }
        }
    }

    #[test]
    fn a_window_of_the_stated_reach_is_enough() {
        let data: Vec<i64> = (0..200).map(|i| i * i % 97).collect();
        let range = Range::new(0, 96).unwrap();
        for (quantile, adjacency) in quantiles().into_iter().flat_map(|q| Adjacency::ALL.map(|a| (q, a))) {
            for (shift, count) in [(0, 1), (0, 20), (-30, 20), (500, 20), (-9, 400)] {
                let target = Target::shifted(quantile, shift);
                let reach = Reach::Ranks(target.ranks_within(count as u64 - 1, adjacency));
                let narrow = target.reachable(&target.window(&data, range, reach), count, adjacency);
                let whole = target.reachable(&target.window(&data, range, Reach::All), count, adjacency);
                assert_eq!(narrow, whole);
            }
        }
    }

    #[test]
    fn worked_intervals() {
        let span = |low, high| Span { low, high };
        let median = Target::from(Quantile::half());
        let data = [0, 1, 1, 3, 8, 8];
        assert_eq!(
            spans(median, &data, 5, Adjacency::Replace),
            [span(1, 1), span(1, 3), span(0, 8), span(0, 8), span(0, 8)]
        );
        assert_eq!(
            spans(median, &data, 5, Adjacency::AddRemove),
            [span(1, 1), span(1, 3), span(1, 3), span(1, 8), span(0, 8)]
        );
        // No rows: the value is the low end, and one row gives any.
        assert_eq!(spans(median, &[], 2, Adjacency::AddRemove), [span(0, 0), span(0, 8)]);
        // Data at the ends, and targets beyond them.
        assert_eq!(spans(median, &[8; 4], 3, Adjacency::AddRemove), [span(8, 8), span(8, 8), span(8, 8)]);
        assert_eq!(
            spans(Target::shifted(Quantile::half(), -4), &data, 3, Adjacency::Replace),
            [span(0, 0), span(0, 0), span(0, 0)]
        );
    }
}
