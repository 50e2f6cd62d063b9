//! A quantile: the row of rank `max(1, ceil(p n))`, its slack, and its local sensitivity at distance k.
//!
//! Source: 001_3b43439ac39fb76e.txt, stable median, and 000_4d769f04a6a550e8.txt, 7.2, both for every
//! rank and both adjacencies.
//!
//! # Claim
//!
//! [`Quantile::value_and_slack`] counts the fewest changed rows that lead to another value, exactly.
//! [`Quantile::local_sensitivity_at_distance`] is exact, with the low end of the range as the value of no
//! rows. [`Quantile::slack_below_sensitivity`] counts the fewest changes to a data set whose local
//! sensitivity exceeds a bound, never more, and less only where the window ends.
//!
//! # Why
//!
//! 1. Replace: k rows sent to an end shift the sorted rows by k. The value rises once the target rank
//!    plus k passes the last tie, and falls once the target rank minus k passes the first.
//! 2. Add/remove: k changes that push the value up are s removals of low rows and k - s rows added on
//!    top; they read the old rank `r(n + k - 2s) + s`. In s this moves one way only, because two rows
//!    more raise the rank by 0 or 1 (p at most one half) or by 1 or 2 (at least), so one end is best.
//! 3. Local sensitivity: one row moves the value across one gap between consecutive rows. Removing k
//!    rows out of a gap makes it a window of k + 1 gaps; s added rows shift the window by up to s and
//!    cost s of its width.
//! 4. Under replace every window of k + 1 gaps that touches the target is reached. Under add/remove the
//!    row that comes or goes fixes the gap: just below rank `r(N + 1)` where one is added to N rows, just
//!    above rank `r(N - 1)` where one is removed. Shifts other than 0 and s lie within wider windows.
//!
//! # Differs
//!
//! The text's gap formula for the median is the replace case with k = 0; its own example uses
//! add/remove, where only one of the two gaps counts.
//!
//! # Example
//!
//! ```
//! use equipoise_core::{adjacency::Adjacency, stability::{Quantile, Range, Reach}};
//!
//! let ninth_decile = Quantile::new(&"0.9".parse().unwrap())?;
//! let rows: Vec<i64> = (1..=100).collect();
//! let window = ninth_decile.window(&rows, Range::new(0, 1000)?, Reach::Ranks(8));
//! // How far are these rows from a data set where one person can move the decile by more than 5?
//! let slack = ninth_decile.slack_below_sensitivity(&window, 5, Adjacency::AddRemove);
//! assert_eq!(slack.until_unstable(), Some(5));
//! # Ok::<(), equipoise_core::loss::ParameterError>(())
//! ```

use super::{
    Answer, Profile, Range, Reach, ValueAndSlack, Window, reachable::Target, smallest_from_one,
    smallest_up_to,
};
use crate::{
    adjacency::Adjacency::{self, AddRemove},
    loss::ParameterError,
    outcome::Slack,
    ratio::Ratio,
};

/// Which quantile: an exact fraction strictly between 0 and 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Quantile {
    num: u64,
    den: u64,
}

impl Quantile {
    /// The quantile of this fraction of the rows.
    pub fn new(fraction: &Ratio) -> Result<Self, ParameterError> {
        let parts = u64::try_from(fraction.numerator().clone())
            .ok()
            .zip(u64::try_from(fraction.denominator().clone()).ok());
        match parts {
            Some((num, den)) if num > 0 && num < den => Ok(Self { num, den }),
            _ => Err(ParameterError::out_of_range(
                "quantile",
                fraction,
                "give a fraction above 0 and below 1 of at most 19 digits, such as 0.9",
            )),
        }
    }

    pub(crate) const fn half() -> Self {
        Self { num: 1, den: 2 }
    }

    /// Numerator and denominator, in lowest terms.
    pub(crate) fn parts(self) -> (u64, u64) {
        (self.num, self.den)
    }

    pub(crate) fn at_most_half(self) -> bool {
        self.num <= self.den - self.num
    }

    /// The rank among this many rows, from one; one where there are no rows.
    pub fn rank(self, rows: u64) -> u64 {
        let product = u128::from(self.num) * u128::from(rows);
        u64::try_from(product.div_ceil(u128::from(self.den))).expect("a rank is at most the rows").max(1)
    }

    /// The rows around this quantile.
    pub fn window(self, rows: &[i64], range: Range, reach: Reach) -> Window {
        let count = u64::try_from(rows.len()).expect("64 bits count the rows in memory");
        Window::select(rows, self.rank(count), range, reach)
    }

    /// The quantile, and the fewest changed rows that lead to another value.
    pub fn value_and_slack(self, window: &Window, adjacency: Adjacency) -> ValueAndSlack<i64> {
        assert_eq!(window.rank(), self.rank(window.rows()), "a window around the quantile");
        let value = window.target();
        let Answer::Value(target) = value else { return of_no_rows(adjacency) };
        let slack = match adjacency {
            Adjacency::Replace => slack_replace(window, target),
            Adjacency::AddRemove => self.slack_add_remove(window, target),
        };
        ValueAndSlack { value, slack }
    }

    fn slack_add_remove(self, window: &Window, target: i64) -> Slack {
        let (rows, less, up_to) = (window.rows(), window.less(), window.less() + window.equal());
        let (can_fall, can_rise) = (target > window.range().lo(), target < window.range().hi());
        let changed = |k: u64| {
            // Removing every row changes the value, so nothing beyond that needs a look.
            if k >= rows {
                return true;
            }
            let (more, fewer) = (self.rank(rows.saturating_add(k)), self.rank(rows - k));
            let rises = can_rise && (more > up_to || fewer + k > up_to);
            let falls = can_fall && (fewer <= less || more.saturating_sub(k) <= less);
            rises || falls
        };
        Slack::rows_to_change(smallest_from_one(changed), AddRemove)
    }

    /// For how many distances, from zero on, this window fixes the local sensitivity: a public number,
    /// `None` where it does for all.
    ///
    /// k changes can look `ceil(q (k + 1))` ranks away, with q the larger of p and 1 - p under add/remove
    /// and 1 under replace.
    pub fn distances(self, reach: Reach, adjacency: Adjacency) -> Option<u64> {
        let Reach::Ranks(ranks) = reach else { return None };
        Some(match adjacency {
            Adjacency::Replace => ranks,
            Adjacency::AddRemove => {
                let larger = u128::from(self.num.max(self.den - self.num));
                let distances = u128::from(ranks) * u128::from(self.den) / larger;
                u64::try_from(distances).unwrap_or(u64::MAX)
            }
        })
    }

    /// The smallest window that fixes the local sensitivity at this many distances.
    pub fn reach_for(self, distances: u64, adjacency: Adjacency) -> Reach {
        Reach::Ranks(Target::from(self).ranks_within(distances, adjacency))
    }

    /// The most that one row can move the quantile after at most k changes; `None` where the window is
    /// too small to tell, which depends on public numbers only.
    pub fn local_sensitivity_at_distance(self, window: &Window, k: u64, adjacency: Adjacency) -> Option<u64> {
        if self.distances(window.reach(), adjacency).is_some_and(|distances| k >= distances) {
            return None;
        }
        Some(match adjacency {
            Adjacency::Replace => sensitivity_replace(window, k),
            Adjacency::AddRemove => self.sensitivity_add_remove(window, k),
        })
    }

    fn sensitivity_add_remove(self, window: &Window, k: u64) -> u64 {
        self.sensitivity_add_remove_among(window, k, k)
    }

    /// The same in as many steps as for the distance `most`, which is at least k.
    fn sensitivity_add_remove_among(self, window: &Window, k: u64, most: u64) -> u64 {
        // From no rows, one more can be anything.
        let (all_gone, width) = (k >= window.rows(), window.range().width());
        let Some(last) = window.rows().checked_sub(1) else { return width };
        let (k, most) = (k.min(last), most.min(last));
        let widest = |added: u64| {
            let rows = window.rows() - k + 2 * added;
            let before_one_more = i128::from(self.rank(rows + 1)) - 1;
            let with_one_fewer = if rows == 1 { 0 } else { i128::from(self.rank(rows - 1)) };
            let gaps = i128::from(k - added + 1);
            let best_over_shifts = |low: i128| {
                let shifted = low - i128::from(added);
                window.gap(low, low + gaps).max(window.gap(shifted, shifted + gaps))
            };
            best_over_shifts(before_one_more).max(best_over_shifts(with_one_fewer))
        };
        let ways = (0..=most).map(|added| widest(added.min(k)));
        let moved = ways.max().expect("at least one way to spend the changes");
        if all_gone { width } else { moved }
    }

    /// Local sensitivities at every distance that the window fixes, at most `distances` of them.
    pub fn profile(self, window: &Window, distances: u64, adjacency: Adjacency) -> Profile<u64> {
        let at = |k| self.local_sensitivity_at_distance(window, k, adjacency);
        Profile { at_distance: (0..distances).map_while(at).collect(), beyond: window.range().width() }
    }

    /// How far the rows are from a data set whose local sensitivity exceeds `bound`, cut off where the
    /// window ends: propose-test-release with noise for `bound` takes this slack.
    pub fn slack_below_sensitivity(self, window: &Window, bound: u64, adjacency: Adjacency) -> Slack {
        self.slack_below_sensitivity_by(window, bound, adjacency, |k, most| {
            self.sensitivity_add_remove_among(window, k, most)
        })
    }

    /// `add_remove` gives the local sensitivity at a distance, in a number of steps that the second number, the
    /// largest distance asked for, decides alone.
    pub(crate) fn slack_below_sensitivity_by(
        self,
        window: &Window,
        bound: u64,
        adjacency: Adjacency,
        add_remove: impl Fn(u64, u64) -> u64,
    ) -> Slack {
        if window.range().width() <= bound || (window.rows() == 0 && adjacency == Adjacency::Replace) {
            return Slack::constant(adjacency);
        }
        let limit = self.distances(window.reach(), adjacency).unwrap_or(window.rows());
        let steps = match adjacency {
            Adjacency::Replace => narrowest_above(window, bound).min(limit),
            Adjacency::AddRemove if limit == 0 => 0,
            Adjacency::AddRemove => {
                smallest_up_to(limit, |k| add_remove(k - 1, limit - 1) > bound).map_or(limit, |k| k - 1)
            }
        };
        Slack::steps_to_unstable(steps, adjacency)
    }
}

/// No rows: under add/remove any row gives a value, under replace there is no other data set.
pub(super) fn of_no_rows<T>(adjacency: Adjacency) -> ValueAndSlack<T> {
    let slack = match adjacency {
        Adjacency::AddRemove => Slack::rows_to_change(1, adjacency),
        Adjacency::Replace => Slack::constant(adjacency),
    };
    ValueAndSlack { value: Answer::Empty, slack }
}

/// Fall: replace rows until the first tie lies above the target rank. Rise: until the last lies below.
pub(super) fn slack_replace(window: &Window, target: i64) -> Slack {
    let fall = (target > window.range().lo()).then(|| window.rank() - window.less());
    let rise = (target < window.range().hi()).then(|| window.less() + window.equal() + 1 - window.rank());
    match fall.into_iter().chain(rise).min() {
        Some(rows) => Slack::rows_to_change(rows, Adjacency::Replace),
        None => Slack::constant(Adjacency::Replace),
    }
}

/// The widest window of k + 1 gaps around the target.
pub(super) fn sensitivity_replace(window: &Window, k: u64) -> u64 {
    if window.rows() == 0 {
        return 0;
    }
    let (rank, gaps) = (i128::from(window.rank()), i128::from(k.min(window.rows())) + 1);
    (0..=gaps).map(|up| window.gap(rank + up - gaps, rank + up)).max().expect("k + 2 windows")
}

/// Under replace: the fewest changes after which some window around the target is wider than `bound`,
/// among the ranks within reach. As the lower end goes down, the nearest upper end that is far enough
/// never goes up, so each end passes every rank once. The number of steps is the same whatever the rows.
fn narrowest_above(window: &Window, bound: u64) -> u64 {
    let rank = i128::from(window.rank());
    let everything = window.rows() + 1;
    let farthest = i128::from(match window.reach() {
        Reach::Ranks(ranks) => ranks.min(everything),
        Reach::All => everything,
    });
    let (mut low, mut high) = (rank, rank + farthest);
    let mut best = u64::MAX;
    // Each step moves one end; once both have arrived, the last window is looked at again.
    for _ in 0..=2 * farthest {
        if high > rank && window.gap(low, high - 1) > bound {
            high -= 1;
            continue;
        }
        if window.gap(low, high) > bound {
            best = best.min(u64::try_from(high - low - 1).expect("the ends lie apart"));
        }
        low = (low - 1).max(rank - farthest);
    }
    best
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::stability::brute_force::Neighbourhoods;

    /// Both ends of the range are values; unequal gaps tell windows apart.
    pub(in crate::stability) const VALUES: [i64; 4] = [0, 1, 3, 8];

    pub(in crate::stability) fn universe(rows: usize, adjacency: Adjacency) -> Neighbourhoods {
        let size = match adjacency {
            Adjacency::Replace => rows,
            Adjacency::AddRemove => 2 * rows + 1,
        };
        Neighbourhoods::new(&VALUES, size, adjacency)
    }

    fn range() -> Range {
        Range::new(0, 8).unwrap()
    }

    fn quantiles() -> Vec<Quantile> {
        ["1/2", "1/4", "3/4", "0.1", "0.9", "1/3", "0.99", "2/5"]
            .map(|text| Quantile::new(&text.parse().unwrap()).unwrap())
            .to_vec()
    }

    fn direct(quantile: Quantile, data: &[i64]) -> Answer<i64> {
        let rank = usize::try_from(quantile.rank(data.len() as u64)).unwrap();
        data.get(rank - 1).map_or(Answer::Empty, |&value| Answer::Value(value))
    }

    #[test]
    fn ranks_are_exact() {
        let rank = |text: &str, rows| Quantile::new(&text.parse().unwrap()).unwrap().rank(rows);
        assert_eq!([0, 1, 2, 3, 4, 5].map(|rows| rank("1/2", rows)), [1, 1, 1, 2, 2, 3]);
        assert_eq!(rank("0.9", 10), 9);
        assert_eq!(rank("0.1", 30), 3);
        assert_eq!(rank("1e-18", u64::MAX), 19);
        for text in ["0", "1", "-0.5", "1/100000000000000000000"] {
            assert!(Quantile::new(&text.parse().unwrap()).is_err(), "{text}");
        }
        assert_eq!(
            Quantile::new(&Ratio::one()).unwrap_err().to_string(),
            "quantile 1 is not accepted: give a fraction above 0 and below 1 of at most 19 digits, such as 0.9"
        );
    }

    #[test]
    fn slacks_agree_with_search() {
        for adjacency in Adjacency::ALL {
            for (rows, quantile) in (0..=5).flat_map(|rows| quantiles().into_iter().map(move |q| (rows, q))) {
                if adjacency == AddRemove && rows < 5 {
                    continue; // The data sets of up to five rows hold the smaller ones.
                }
                let all = universe(rows, adjacency);
                let slacks = all.slacks(|data| direct(quantile, data));
                for (data, slack) in all.datasets().iter().zip(slacks).filter(|(data, _)| data.len() <= rows)
                {
                    let window = quantile.window(data, range(), Reach::Ranks(0));
                    let found = quantile.value_and_slack(&window, adjacency);
                    assert_eq!(found.value, direct(quantile, data));
                    assert_eq!(found.slack.until_change(), slack, "{quantile:?} {data:?} {adjacency}");
                }
            }
        }
    }

    #[test]
    fn local_sensitivities_agree_with_search() {
        for rows in 0..=5 {
            check_all(&universe(rows, Adjacency::Replace), Adjacency::Replace, rows, rows + 2);
        }
        check_all(&universe(5, AddRemove), AddRemove, 5, 6);
        // More rows, so that added rows shift a window by more than one rank.
        check_all(&Neighbourhoods::new(&VALUES, 13, AddRemove), AddRemove, 9, 4);
    }

    fn check_all(all: &Neighbourhoods, adjacency: Adjacency, rows: usize, distances: usize) {
        for quantile in quantiles() {
            let value = |data: &[i64]| direct(quantile, data).or(0);
            let levels = all.local_sensitivities(value, |a, b| a.abs_diff(*b), distances);
            for (i, data) in all.datasets().iter().enumerate().filter(|(_, data)| data.len() <= rows) {
                let expected = |k: usize| levels[k][i].unwrap_or(0);
                let checked = (0..distances).filter(|&k| all.covers(data, k as u64));
                check_sensitivities(quantile, data, adjacency, checked, expected);
            }
        }
    }

    fn check_sensitivities(
        quantile: Quantile,
        data: &[i64],
        adjacency: Adjacency,
        distances: impl Iterator<Item = usize>,
        expected: impl Fn(usize) -> u64,
    ) {
        let windows = [0, 1, 2, 3].map(|ranks| quantile.window(data, range(), Reach::Ranks(ranks)));
        let whole = quantile.window(data, range(), Reach::All);
        for k in distances {
            let found = |window| quantile.local_sensitivity_at_distance(window, k as u64, adjacency);
            assert_eq!(found(&whole), Some(expected(k)), "{quantile:?} {data:?} {k} {adjacency}");
            for window in &windows {
                let covered = quantile.distances(window.reach(), adjacency).unwrap() > k as u64;
                assert_eq!(found(window), covered.then_some(expected(k)), "{quantile:?} {data:?} {k}");
            }
        }
    }

    #[test]
    fn slack_below_a_sensitivity_agrees_with_search() {
        for adjacency in Adjacency::ALL {
            for (rows, quantile) in (0..=4).flat_map(|rows| quantiles().into_iter().map(move |q| (rows, q))) {
                if adjacency == AddRemove && rows < 4 {
                    continue;
                }
                let all = universe(rows, adjacency);
                let value = |data: &[i64]| direct(quantile, data).or(0);
                let levels = all.local_sensitivities(value, |a, b| a.abs_diff(*b), 1);
                for bound in [0, 1, 2, 4, 6, 7, 8] {
                    let unsafe_here = |data: &[i64]| levels[0][all.place(data).unwrap()] > Some(bound);
                    let distances = all.distances_to(unsafe_here);
                    for (data, exact) in all.datasets().iter().zip(distances) {
                        if data.len() > rows {
                            continue;
                        }
                        let steps = |reach| {
                            let window = quantile.window(data, range(), reach);
                            quantile.slack_below_sensitivity(&window, bound, adjacency).until_unstable()
                        };
                        assert_eq!(steps(Reach::All), exact, "{quantile:?} {data:?} {bound} {adjacency}");
                        for ranks in 0..4 {
                            let limit = quantile.distances(Reach::Ranks(ranks), adjacency).unwrap();
                            let cut = exact.map(|steps| steps.min(limit));
                            assert_eq!(
                                steps(Reach::Ranks(ranks)),
                                cut,
                                "{quantile:?} {data:?} {bound} {ranks}"
                            );
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn the_steps_of_a_test_do_not_depend_on_the_rows() {
        let quantile = Quantile::new(&"0.9".parse().unwrap()).unwrap();
        let steps = |rows: &[i64]| {
            let window = quantile.window(rows, range(), Reach::Ranks(40));
            let asked = std::cell::RefCell::new(Vec::new());
            let sensitivity = |k, most| {
                asked.borrow_mut().push(most);
                let moved = quantile.sensitivity_add_remove_among(&window, k, most);
                assert_eq!(moved, quantile.sensitivity_add_remove(&window, k));
                moved
            };
            quantile.slack_below_sensitivity_by(&window, 2, AddRemove, sensitivity);
            asked.into_inner()
        };
        let flat = steps(&[3; 500]);
        assert_eq!(flat, [43; 6], "44 distances, six questions, each about as many ways");
        let far_and_near = [vec![0; 445], vec![3; 10], vec![8; 45]].concat();
        for rows in [far_and_near, (0..500).map(|row| row / 60).collect()] {
            assert_eq!(steps(&rows), flat);
        }
    }

    #[test]
    fn profiles_stop_where_the_window_stops() {
        let quantile = Quantile::half();
        let window = quantile.window(&[1, 2, 3, 4, 5], range(), Reach::Ranks(2));
        let profile = quantile.profile(&window, 9, Adjacency::Replace);
        assert_eq!(profile, Profile { at_distance: vec![1, 2], beyond: 8 });
        assert_eq!(quantile.profile(&window, 9, AddRemove).at_distance, vec![1, 2, 3, 4]);
    }

    #[test]
    fn the_ends_of_64_bits_do_not_overflow() {
        let quantile = Quantile::half();
        let window = quantile.window(&[i64::MIN, i64::MAX], Range::WHOLE, Reach::Ranks(3));
        for adjacency in Adjacency::ALL {
            assert_eq!(quantile.local_sensitivity_at_distance(&window, 0, adjacency), Some(u64::MAX));
            assert_eq!(quantile.value_and_slack(&window, adjacency).slack.until_change(), Some(1));
        }
    }
}
