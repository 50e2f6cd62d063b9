//! The mean without the t smallest and the t largest values: exact value, local sensitivity at distance k.
//!
//! Source: 000_4d769f04a6a550e8.txt, 7.1 and 7.3.1 (robust aggregation of blocks).
//!
//! # Claim
//!
//! For m values, m public, of which changes replace some: value and local sensitivity at distance k are
//! exact. This is what an aggregate over blocks needs under both adjacencies of the records behind the
//! blocks: one record changes one block's value, and the number of blocks is public. (A replaced record
//! that may change block touches two.) Add/remove of the values themselves is not offered: with t fixed,
//! too few values have no trimmed mean.
//!
//! # Why
//!
//! 1. A value that leaves the middle and one that enters it differ by at most one window of sorted values:
//!    from rank t + 1 to rank m - t + 1, or from t to m - t.
//! 2. k changes put a of the values on top and b at the bottom, which moves the two ends of the window
//!    apart by a and b ranks, a + b = k.

use super::{
    Profile, Range, Sorted,
    mean::{over, sum},
};
use crate::{loss::ParameterError, ratio::Ratio};

/// How many values there are, and how many are left out on each side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TrimmedMean {
    count: u64,
    trim: u64,
}

impl TrimmedMean {
    /// Of `count` values, leave out `trim` on each side; at least one must remain.
    pub fn new(count: u64, trim: u64) -> Result<Self, ParameterError> {
        check_middle(count, trim)?;
        Ok(Self { count, trim })
    }

    /// How many values there are.
    pub fn count(self) -> u64 {
        self.count
    }

    /// How many are left out on each side.
    pub fn trim(self) -> u64 {
        self.trim
    }

    /// The trimmed mean. Panics unless there are as many values as was said.
    pub fn value(self, values: &Sorted) -> Ratio {
        assert_eq!(values.count(), self.count, "the public number of values");
        let middle = place(self.trim)..place(self.count - self.trim);
        over(sum(&values.rows()[middle]), self.middle())
    }

    /// The most that one replaced value can ever move it.
    pub fn global_sensitivity(self, range: Range) -> Ratio {
        over(range.width().into(), self.middle())
    }

    /// The most that one replaced value can move it after at most k replacements.
    pub fn local_sensitivity_at_distance(self, values: &Sorted, k: u64) -> Ratio {
        assert_eq!(values.count(), self.count, "the public number of values");
        let (first, last) = (i128::from(self.trim), i128::from(self.count - self.trim));
        let k = i128::from(k.min(self.count));
        let gap = |low: i128, high: i128| values.at(high).abs_diff(values.at(low));
        let window =
            |up: i128| gap(first + 1 - (k - up), last + 1 + up).max(gap(first - (k - up), last + up));
        let widest = (0..=k).map(window).max().expect("k + 1 windows");
        over(widest.into(), self.middle())
    }

    /// Local sensitivities at the distances below `distances`.
    pub fn profile(self, values: &Sorted, distances: u64) -> Profile<Ratio> {
        Profile {
            at_distance: (0..distances).map(|k| self.local_sensitivity_at_distance(values, k)).collect(),
            beyond: self.global_sensitivity(values.range()),
        }
    }

    fn middle(self) -> i128 {
        i128::from(self.count - 2 * self.trim)
    }
}

fn place(rank: u64) -> usize {
    usize::try_from(rank).expect("a rank of values in memory")
}

/// Something must remain between what is left out on either side.
pub(super) fn check_middle(count: u64, trim: u64) -> Result<(), ParameterError> {
    if trim.checked_mul(2).is_some_and(|both| both < count) {
        return Ok(());
    }
    Err(ParameterError::out_of_range("trim", trim, "give a number below half of the number of values"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{adjacency::Adjacency, stability::brute_force::Neighbourhoods};

    #[test]
    fn local_sensitivities_agree_with_search() {
        let values = [0, 1, 3, 8];
        let range = Range::new(0, 8).unwrap();
        for count in 1..=7 {
            let all = Neighbourhoods::new(&values, place(count), Adjacency::Replace);
            for trim in 0..count.div_ceil(2) {
                let trimmed = TrimmedMean::new(count, trim).unwrap();
                let direct = |data: &[i64]| {
                    let middle = &data[place(trim)..data.len() - place(trim)];
                    Ratio::new(middle.iter().sum(), middle.len() as u64)
                };
                let levels = all.local_sensitivities(direct, |a, b| (a - b).abs(), 6);
                let mut largest = Ratio::zero();
                for (i, data) in all.datasets().iter().enumerate() {
                    let sorted = Sorted::new(data, range);
                    assert_eq!(trimmed.value(&sorted), direct(data));
                    let profile = trimmed.profile(&sorted, 6);
                    for (found, level) in profile.at_distance.iter().zip(&levels) {
                        assert_eq!(Some(found), level[i].as_ref(), "{data:?} {trim}");
                    }
                    largest = largest.max(profile.at_distance[0].clone());
                }
                assert_eq!(largest, trimmed.global_sensitivity(range));
            }
        }
    }

    #[test]
    fn something_must_remain() {
        assert_eq!(
            TrimmedMean::new(6, 3).unwrap_err().to_string(),
            "trim 3 is not accepted: give a number below half of the number of values"
        );
        assert!(TrimmedMean::new(0, 0).is_err() && TrimmedMean::new(9, u64::MAX).is_err());
        assert!(TrimmedMean::new(7, 3).is_ok());
    }
}
