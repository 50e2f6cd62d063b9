//! Refute a distance that somebody wrote: search a small universe for a pair that breaks its promise.
//!
//! Propose-test-release and stable release are private for any distance that keeps two promises: it moves by
//! at most one between neighbours, and it is zero where the data is unsafe. Both are easy to state and easy
//! to get wrong; these searches find the pair that shows it. No finding is no proof, but mistakes show on
//! tiny data sets.
//!
//! ```
//! use equipoise_core::{adjacency::Adjacency, refute::{Refutation, refute_distance}};
//!
//! // The majority of zeros and ones, unsafe where one row decides. The gap of the counts moves by two where
//! // a row is replaced, so it is not the distance.
//! let gap = |rows: &[i64]| {
//!     let ones: i64 = rows.iter().sum();
//!     Some((rows.len() as i64 - 2 * ones).unsigned_abs())
//! };
//! let decided_by_one = |rows: &[i64]| gap(rows) < Some(2);
//! let found = refute_distance(gap, decided_by_one, &[0, 1], 5, Adjacency::Replace);
//! assert!(matches!(found, Some(Refutation::UnsafeButFar { .. })));
//! // Even and odd halves of the gap: right.
//! let halved = |rows: &[i64]| gap(rows).map(|gap| gap / 2);
//! assert_eq!(refute_distance(halved, decided_by_one, &[0, 1], 5, Adjacency::Replace), None);
//! ```

use crate::{adjacency::Adjacency, outcome::Slack, universe};
use std::fmt;

/// Why a distance or a slack may not be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refutation {
    /// Neighbours whose distances differ by more than one; `None` is infinitely far.
    MovesTooFast {
        /// A data set.
        data: Vec<i64>,
        /// Its distance.
        distance: Option<u64>,
        /// A neighbour.
        neighbour: Vec<i64>,
        /// The neighbour's distance.
        neighbour_distance: Option<u64>,
    },
    /// An unsafe data set that is said to be some way from being unsafe.
    UnsafeButFar {
        /// The data set.
        data: Vec<i64>,
        /// Its distance.
        distance: Option<u64>,
    },
    /// The slack is counted in another adjacency.
    OtherAdjacency {
        /// The data set.
        data: Vec<i64>,
        /// How its slack is counted.
        counted_in: Adjacency,
    },
}

impl fmt::Display for Refutation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let steps =
            |distance: &Option<u64>| distance.map_or("infinity".to_string(), |steps| steps.to_string());
        match self {
            Self::MovesTooFast { data, distance, neighbour, neighbour_distance } => write!(
                f,
                "the distance of {data:?} is {} and that of its neighbour {neighbour:?} is {}: it may move by at most 1",
                steps(distance),
                steps(neighbour_distance)
            ),
            Self::UnsafeButFar { data, distance } => {
                write!(f, "{data:?} is unsafe and its distance is {}: it must be 0", steps(distance))
            }
            Self::OtherAdjacency { data, counted_in } => {
                write!(f, "the slack of {data:?} is counted under {counted_in}: count it under the other one")
            }
        }
    }
}

/// The first pair or data set that breaks a promise of this distance to the unsafe data sets, if there is one
/// among data sets over `values` (of `size` rows under replace, of up to `size` under add/remove).
///
/// `distance` is `None` where no number of changes leads to an unsafe data set. Rows come sorted.
pub fn refute_distance(
    distance: impl Fn(&[i64]) -> Option<u64>,
    is_unsafe: impl Fn(&[i64]) -> bool,
    values: &[i64],
    size: usize,
    adjacency: Adjacency,
) -> Option<Refutation> {
    let unsafe_but_far = |data: &Vec<i64>| {
        let distance = distance(data);
        (is_unsafe(data) && distance != Some(0))
            .then(|| Refutation::UnsafeButFar { data: data.clone(), distance })
    };
    universe::datasets(values, size, adjacency)
        .iter()
        .find_map(unsafe_but_far)
        .or_else(|| moves_too_fast(distance, values, size, adjacency))
}

fn moves_too_fast(
    distance: impl Fn(&[i64]) -> Option<u64>,
    values: &[i64],
    size: usize,
    adjacency: Adjacency,
) -> Option<Refutation> {
    universe::neighbouring_pairs(values, size, adjacency).into_iter().find_map(|(data, neighbour)| {
        let (distance, neighbour_distance) = (distance(&data), distance(&neighbour));
        let near = match (distance, neighbour_distance) {
            (None, None) => true,
            (Some(a), Some(b)) => a.abs_diff(b) <= 1,
            (None, Some(_)) | (Some(_), None) => false,
        };
        (!near).then_some(Refutation::MovesTooFast { data, distance, neighbour, neighbour_distance })
    })
}

/// The same for a function with its slack, as [`stable`](crate::mechanism::stable) takes it: a data set is unsafe
/// where some neighbour has another value. Distances in the finding are distances to an unsafe data set.
pub fn refute_slack<Y: PartialEq>(
    value_and_slack: impl Fn(&[i64]) -> (Y, Slack),
    values: &[i64],
    size: usize,
    adjacency: Adjacency,
) -> Option<Refutation> {
    let foreign = |data: Vec<i64>| {
        let counted_in = value_and_slack(&data).1.adjacency();
        (counted_in != adjacency).then_some(Refutation::OtherAdjacency { data, counted_in })
    };
    if let Some(found) = universe::datasets(values, size, adjacency).into_iter().find_map(foreign) {
        return Some(found);
    }
    let is_unsafe = |data: &[i64]| {
        let here = value_and_slack(data).0;
        universe::neighbours(data, values, adjacency).iter().any(|other| value_and_slack(other).0 != here)
    };
    let distance = |data: &[i64]| value_and_slack(data).1.until_unstable();
    refute_distance(distance, is_unsafe, values, size, adjacency)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stability::{Median, Range, Reach, ValueAndSlack, mode};

    const VALUES: [i64; 3] = [0, 1, 2];

    fn range() -> Range {
        Range::new(0, 2).unwrap()
    }

    fn median(rows: &[i64], adjacency: Adjacency) -> ValueAndSlack<i64> {
        Median.value_and_slack(&Median.window(rows, range(), Reach::Ranks(0)), adjacency)
    }

    #[test]
    fn true_slacks_pass() {
        for adjacency in Adjacency::ALL {
            for size in 1..=5 {
                let median = |rows: &[i64]| (median(rows, adjacency).value, median(rows, adjacency).slack);
                assert_eq!(refute_slack(median, &VALUES, size, adjacency), None);
                let mode = |rows: &[i64]| {
                    let found = mode::value_and_slack(rows, range(), adjacency);
                    (found.value, found.slack)
                };
                assert_eq!(refute_slack(mode, &VALUES, size, adjacency), None);
            }
        }
    }

    #[test]
    fn a_mutant_slack_of_one_more_row_is_refuted() {
        for adjacency in Adjacency::ALL {
            let careless = |rows: &[i64]| {
                let found = median(rows, adjacency);
                let rows = found.slack.until_change().unwrap() + 1;
                (found.value, Slack::rows_to_change(rows, adjacency))
            };
            let found = refute_slack(careless, &VALUES, 3, adjacency).unwrap();
            assert!(matches!(found, Refutation::UnsafeButFar { distance: Some(1), .. }), "{found}");
        }
    }

    #[test]
    fn a_mutant_slack_of_the_raw_gap_is_refuted() {
        let raw = |rows: &[i64]| {
            let found = mode::value_and_slack(rows, range(), Adjacency::AddRemove);
            let gap = found.slack.until_change().unwrap();
            (found.value, Slack::rows_to_change(gap, Adjacency::Replace))
        };
        assert!(refute_slack(raw, &VALUES, 5, Adjacency::Replace).is_some());
    }

    #[test]
    fn findings_read_as_one_line() {
        let doubled = |rows: &[i64]| Some(2 * rows.len() as u64);
        let found = refute_distance(doubled, <[i64]>::is_empty, &[7], 2, Adjacency::AddRemove).unwrap();
        assert_eq!(
            found.to_string(),
            "the distance of [] is 0 and that of its neighbour [7] is 2: it may move by at most 1"
        );
        let one = |_: &[i64]| Some(1);
        let found = refute_distance(one, |rows| rows == [7], &[7], 2, Adjacency::AddRemove).unwrap();
        assert_eq!(found.to_string(), "[7] is unsafe and its distance is 1: it must be 0");
        let never = |rows: &[i64]| rows.first().map(|_| 1);
        let found = refute_distance(never, |_| false, &[7], 1, Adjacency::AddRemove).unwrap();
        assert_eq!(
            found.to_string(),
            "the distance of [] is infinity and that of its neighbour [7] is 1: it may move by at most 1"
        );
        let foreign = |_: &[i64]| (0, Slack::constant(Adjacency::Replace));
        assert_eq!(
            refute_slack(foreign, &[7], 1, Adjacency::AddRemove).unwrap().to_string(),
            "the slack of [] is counted under replace: count it under the other one"
        );
    }
}
