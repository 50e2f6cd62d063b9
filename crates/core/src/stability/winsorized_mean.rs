//! The mean after the t smallest and t largest values are moved to their nearest neighbours inside.
//!
//! Source: 000_4d769f04a6a550e8.txt, 7.1 and 7.3.1 (robust aggregation of blocks).
//!
//! # Claim
//!
//! For m values, m public, of which changes replace some (see [`super::trimmed_mean`] for why this is the
//! only adjacency): value, global sensitivity and local sensitivity at distance k are exact, the last in
//! time k^3.
//!
//! # Why
//!
//! 1. The value is a weighted sum of sorted values: t + 1 for ranks t + 1 and m - t, 1 between them, over
//!    m. Raising one value all the way moves each sorted value to the next: by `(t+1)` times the gaps
//!    after ranks t + 1 and m - t, plus everything between. That is
//!    `(t+1) (y_{m-t+1} - y_{t+1}) - t (y_{m-t} - y_{t+2})`. Lowering is the mirror image.
//! 2. So k changes should push the two outer values apart and the inner ones together. With u values put
//!    at the bottom, h on top and c = k - u - h inside, the outer ones are `x_{t+1-u}` and `x_{m-t+1+h}`,
//!    and any `m - 2t - 1 - c` consecutive values between them may be the ones that stay.
//! 3. With m = 2t + 1 all weight is on the median.

use super::{Profile, Range, Sorted, mean::over, trimmed_mean::check_middle};
use crate::{loss::ParameterError, ratio::Ratio};

/// How many values there are, and how many are moved inwards on each side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct WinsorizedMean {
    count: u64,
    trim: u64,
}

impl WinsorizedMean {
    /// Of `count` values, move `trim` inwards on each side; at least one must remain between them.
    pub fn new(count: u64, trim: u64) -> Result<Self, ParameterError> {
        check_middle(count, trim)?;
        Ok(Self { count, trim })
    }

    /// The winsorized mean. Panics unless there are as many values as was said.
    pub fn value(self, values: &Sorted) -> Ratio {
        assert_eq!(values.count(), self.count, "the public number of values");
        let (low, high) = (values.at(self.trim_rank() + 1), values.at(self.last_rank()));
        let sum: i128 = values.rows().iter().map(|&value| i128::from(value.clamp(low, high))).sum();
        over(sum, self.count.into())
    }

    /// The most that one replaced value can ever move it.
    pub fn global_sensitivity(self, range: Range) -> Ratio {
        let weight = if self.count == 2 * self.trim + 1 { self.count } else { self.trim + 1 };
        over(i128::from(weight) * i128::from(range.width()), self.count.into())
    }

    /// The most that one replaced value can move it after at most k replacements.
    pub fn local_sensitivity_at_distance(self, values: &Sorted, k: u64) -> Ratio {
        assert_eq!(values.count(), self.count, "the public number of values");
        let k = i128::from(k.min(self.count));
        let widest = if self.count == 2 * self.trim + 1 {
            let rank = self.trim_rank() + 1;
            let around = (0..=k + 1).map(|up| gap(values, rank + up - k - 1, rank + up));
            around.max().expect("k + 2 windows") * i128::from(self.count)
        } else {
            self.raised(values, k).max(self.raised(&values.mirrored(), k))
        };
        over(widest, self.count.into())
    }

    /// Local sensitivities at the distances below `distances`.
    pub fn profile(self, values: &Sorted, distances: u64) -> Profile<Ratio> {
        Profile {
            at_distance: (0..distances).map(|k| self.local_sensitivity_at_distance(values, k)).collect(),
            beyond: self.global_sensitivity(values.range()),
        }
    }

    fn trim_rank(self) -> i128 {
        self.trim.into()
    }

    fn last_rank(self) -> i128 {
        i128::from(self.count - self.trim)
    }

    /// The most that raising one value moves the weighted sum after k changes.
    fn raised(self, values: &Sorted, k: i128) -> i128 {
        let ways = (0..=k).flat_map(|bottom| (0..=k - bottom).map(move |top| (bottom, top)));
        ways.map(|(bottom, top)| {
            let outer = gap(values, self.trim_rank() + 1 - bottom, self.last_rank() + 1 + top);
            (self.trim_rank() + 1) * outer - self.trim_rank() * self.tightest_middle(values, k, bottom, top)
        })
        .max()
        .expect("at least one way to spend the changes")
    }

    /// The least spread of the values that stay inside, with the others of the k changes placed among them.
    fn tightest_middle(self, values: &Sorted, k: i128, bottom: i128, top: i128) -> i128 {
        let inside = k - bottom - top;
        let span = self.last_rank() - self.trim_rank() - 2 - inside;
        if span <= 0 {
            return 0;
        }
        let first = self.trim_rank() + 2 - bottom;
        (first..=first + k).map(|rank| gap(values, rank, rank + span)).min().expect("k + 1 windows")
    }
}

fn gap(values: &Sorted, low: i128, high: i128) -> i128 {
    values.at(high).abs_diff(values.at(low)).into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{adjacency::Adjacency, stability::brute_force::Neighbourhoods};

    fn direct(data: &[i64], trim: usize) -> Ratio {
        let mut moved = data.to_vec();
        let last = data.len() - 1;
        for i in 0..trim {
            moved[i] = data[trim];
            moved[last - i] = data[last - trim];
        }
        Ratio::new(moved.iter().sum(), data.len() as u64)
    }

    #[test]
    fn local_sensitivities_agree_with_search() {
        for (values, counts) in [(vec![0, 1, 3, 8], 1..=7), (vec![0, 5, 6], 8..=9)] {
            let range = Range::new(0, *values.last().unwrap()).unwrap();
            for count in counts {
                let all = Neighbourhoods::new(&values, count, Adjacency::Replace);
                for trim in 0..count.div_ceil(2) {
                    let winsorized = WinsorizedMean::new(count as u64, trim as u64).unwrap();
                    let levels = all.local_sensitivities(|data| direct(data, trim), |a, b| (a - b).abs(), 5);
                    let mut largest = Ratio::zero();
                    for (i, data) in all.datasets().iter().enumerate() {
                        let sorted = Sorted::new(data, range);
                        assert_eq!(winsorized.value(&sorted), direct(data, trim));
                        let profile = winsorized.profile(&sorted, 5);
                        for (k, (found, level)) in profile.at_distance.iter().zip(&levels).enumerate() {
                            assert_eq!(Some(found), level[i].as_ref(), "{data:?} {trim} {k}");
                        }
                        largest = largest.max(profile.at_distance[0].clone());
                    }
                    assert_eq!(largest, winsorized.global_sensitivity(range), "{count} {trim}");
                }
            }
        }
    }

    #[test]
    fn something_must_remain() {
        assert!(WinsorizedMean::new(6, 3).is_err() && WinsorizedMean::new(7, 3).is_ok());
    }
}
