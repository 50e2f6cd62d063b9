//! The low median: the row of rank `floor((n + 1) / 2)`, with the closed forms that one half allows.
//!
//! Source: 001_3b43439ac39fb76e.txt, section 1; 002_c9075a084346ce80.txt, section 1.
//!
//! # Claim
//!
//! The same answers as [`Quantile`] at one half: ties and even numbers of rows go to the smaller value.
//! Under add/remove the slack needs no search, and each distance has one window of rows instead of many.
//!
//! # Why
//!
//! 1. k rows added or removed move the rank among the old rows to `floor((n + 1 ± k) / 2)`; the value
//!    falls once that is at most the number of rows below it, and rises once it passes the last tie.
//! 2. Two rows more raise the rank by exactly one, so adding a row never reaches a window of gaps that
//!    removing one does not: only the k + 1 gaps from rank `ceil((n - 1 - k) / 2)` on remain.
//!
//! # Example
//!
//! ```
//! use equipoise_core::{adjacency::Adjacency, stability::{Answer, Median, Range, Reach}};
//!
//! let window = Median.window(&[1, 1, 2, 3, 3, 3, 3, 4, 5, 5, 5], Range::new(0, 9)?, Reach::Ranks(2));
//! let found = Median.value_and_slack(&window, Adjacency::Replace);
//! assert_eq!(found.value, Answer::Value(3));
//! assert_eq!(found.slack.until_change(), Some(2));
//! assert_eq!(Median.local_sensitivity_at_distance(&window, 1, Adjacency::Replace), Some(1));
//! # Ok::<(), equipoise_core::loss::ParameterError>(())
//! ```

use super::{
    Answer, Profile, Range, Reach, ValueAndSlack, Window,
    quantile::{Quantile, of_no_rows, sensitivity_replace, slack_replace},
};
use crate::{adjacency::Adjacency, outcome::Slack};

/// The low median.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Median;

impl Median {
    /// The median as a quantile.
    pub fn quantile(self) -> Quantile {
        Quantile::half()
    }

    /// The rows around the median.
    pub fn window(self, rows: &[i64], range: Range, reach: Reach) -> Window {
        self.quantile().window(rows, range, reach)
    }

    /// The median, and the fewest changed rows that lead to another value.
    pub fn value_and_slack(self, window: &Window, adjacency: Adjacency) -> ValueAndSlack<i64> {
        assert_eq!(window.rank(), self.quantile().rank(window.rows()), "a window around the median");
        let value = window.target();
        let Answer::Value(target) = value else { return of_no_rows(adjacency) };
        let slack = match adjacency {
            Adjacency::Replace => slack_replace(window, target),
            Adjacency::AddRemove => {
                let (rows, less, up_to) = (window.rows(), window.less(), window.less() + window.equal());
                let fall = (target > window.range().lo()).then(|| rows - 2 * less);
                let rise = (target < window.range().hi()).then(|| 2 * up_to + 1 - rows);
                let nearest = fall.into_iter().chain(rise).fold(rows, u64::min);
                Slack::rows_to_change(nearest, adjacency)
            }
        };
        ValueAndSlack { value, slack }
    }

    /// The most that one row can move the median after at most k changes; `None` where the window is too
    /// small to tell, which depends on public numbers only.
    pub fn local_sensitivity_at_distance(self, window: &Window, k: u64, adjacency: Adjacency) -> Option<u64> {
        if self.quantile().distances(window.reach(), adjacency).is_some_and(|distances| k >= distances) {
            return None;
        }
        Some(match adjacency {
            Adjacency::Replace => sensitivity_replace(window, k),
            Adjacency::AddRemove if k >= window.rows() => window.range().width(),
            Adjacency::AddRemove => {
                let first = i128::from((window.rows() - k) / 2);
                window.gap(first, first + i128::from(k) + 1)
            }
        })
    }

    /// Local sensitivities at every distance that the window fixes, at most `distances` of them.
    pub fn profile(self, window: &Window, distances: u64, adjacency: Adjacency) -> Profile<u64> {
        let at = |k| self.local_sensitivity_at_distance(window, k, adjacency);
        Profile { at_distance: (0..distances).map_while(at).collect(), beyond: window.range().width() }
    }

    /// How far the rows are from a data set whose local sensitivity exceeds `bound`, cut off where the
    /// window ends.
    pub fn slack_below_sensitivity(self, window: &Window, bound: u64, adjacency: Adjacency) -> Slack {
        self.quantile().slack_below_sensitivity_by(window, bound, adjacency, |k, _| {
            self.local_sensitivity_at_distance(window, k, adjacency).expect("within the reach of the window")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stability::quantile::tests::{VALUES, universe};
    use Adjacency::{AddRemove, Replace};

    fn until_change(data: &[i64], range: Range, adjacency: Adjacency) -> Option<u64> {
        let window = Median.window(data, range, Reach::Ranks(0));
        Median.value_and_slack(&window, adjacency).slack.until_change()
    }

    #[test]
    fn closed_forms_agree_with_the_quantile_and_with_search() {
        let range = Range::new(VALUES[0], VALUES[3]).unwrap();
        for adjacency in Adjacency::ALL {
            for rows in [4, 5] {
                let all = universe(rows, adjacency);
                let median = |data: &[i64]| data.get(data.len().saturating_sub(1) / 2).copied();
                let slacks = all.slacks(median);
                for (data, slack) in all.datasets().iter().zip(slacks).filter(|(data, _)| data.len() <= rows)
                {
                    assert_eq!(until_change(data, range, adjacency), slack, "{data:?} {adjacency}");
                    for reach in [Reach::All, Reach::Ranks(0), Reach::Ranks(2)] {
                        let window = Median.window(data, range, reach);
                        let general = Quantile::half();
                        let same = general.profile(&window, 9, adjacency);
                        assert_eq!(Median.profile(&window, 9, adjacency), same, "{data:?}");
                        for bound in 0..=8 {
                            let same = general.slack_below_sensitivity(&window, bound, adjacency);
                            assert_eq!(Median.slack_below_sensitivity(&window, bound, adjacency), same);
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn worked_slacks_of_the_texts() {
        // 001, section 1: no single change moves the median of this sequence.
        let sequence = [1, 1, 2, 3, 3, 3, 3, 4, 5, 5, 5];
        assert_eq!(until_change(&sequence, Range::WHOLE, Replace), Some(2));
        // 001, introduction: 51 people make nothing, 50 make a million; one salary decides.
        let salaries = [vec![0; 51], vec![1_000_000; 50]].concat();
        assert_eq!(until_change(&salaries, Range::new(0, 1_000_000).unwrap(), Replace), Some(1));
        // Ten equal rows inside the range, and at its low end.
        let range = Range::new(0, 9).unwrap();
        assert_eq!(until_change(&[4; 10], range, Replace), Some(5));
        assert_eq!(until_change(&[0; 10], range, Replace), Some(6));
        assert_eq!(until_change(&[4], range, Replace), Some(1));
        // One possible value: constant under replace; only the empty data set differs under add/remove.
        let point = Range::new(4, 4).unwrap();
        assert_eq!(until_change(&[4; 3], point, Replace), None);
        assert_eq!(until_change(&[4; 3], point, AddRemove), Some(3));
        // No rows.
        assert_eq!(until_change(&[], range, Replace), None);
        assert_eq!(until_change(&[], range, AddRemove), Some(1));
    }

    #[test]
    fn worked_sensitivities_of_the_texts() {
        let top = 100;
        let range = Range::new(0, top).unwrap();
        let local = |data: &[i64], k, adjacency| {
            Median
                .local_sensitivity_at_distance(&Median.window(data, range, Reach::All), k, adjacency)
                .unwrap()
        };
        let high = u64::try_from(top).unwrap();
        // 002, example 1.2: four low rows and three high ones.
        assert_eq!(local(&[0, 0, 0, 0, top, top, top], 0, Replace), high);
        // 002, example 1.5.
        assert_eq!(local(&[0; 4], 0, Replace), 0);
        // 002, section 1.3: neighbours with the same median and opposite sensitivities.
        assert_eq!(local(&[0, 0, 0, 0, top, top], 0, Replace), 0);
        assert_eq!(local(&[0, 0, 0, top, top, top], 0, Replace), high);
        // 002, example 1.11: ten low rows. The list is right, so the smooth bound is e^(-5 epsilon) R: the
        // text's e^(-4 epsilon) R is one step too large.
        let ten: Vec<u64> = (0..=6).map(|k| local(&[0; 10], k, Replace)).collect();
        assert_eq!(ten, [0, 0, 0, 0, 0, high, high]);
        // The same for any number of equal rows at the low end: nothing before distance floor(n / 2), so a
        // smooth bound of order one needs about 2 ln(R) / epsilon of them, twice what the text says.
        for rows in 1..=12 {
            let first = (0..=12).find(|&k| local(&vec![0; rows], k, Replace) > 0);
            assert_eq!(first, Some(rows as u64 / 2));
        }
        // 000, section 7.2: of n + 1 rows one more than half are zero. The sensitivity is zero under
        // add/remove only; a replacement moves the median all the way.
        let odd = [vec![0; 1 + 3], vec![top; 3]].concat();
        assert_eq!((local(&odd, 0, AddRemove), local(&odd, 0, Replace)), (0, high));
        let even = [vec![0; 3], vec![top; 3]].concat();
        assert_eq!(local(&even, 0, AddRemove), high);
        // 000, section 7.2.1: the two gaps around the median.
        assert_eq!(local(&[0, 10, 30, 70, 80], 0, Replace), 40);
        assert_eq!(local(&[0, 10, 30, 70, 80], 0, AddRemove), 20);
        // No rows: any first row may come under add/remove.
        assert_eq!((local(&[], 0, AddRemove), local(&[], 3, Replace)), (high, 0));
    }
}
