//! Any weighted sum of sorted values: global and local sensitivity.
//!
//! Source: 000_4d769f04a6a550e8.txt, 7.1 (aggregation of blocks); the trimmed and the winsorized mean and
//! the median are special cases.
//!
//! # Claim
//!
//! For m values, m public, of which one is replaced, and weights of zero or more by rank: the local
//! sensitivity is exact, and no value moves the sum by more than the largest weight times the width.
//!
//! # Why
//!
//! Replacing the smallest value by the high end moves every sorted value to the next one, which is the
//! most that any replacement can raise any of them. Lowering is the mirror image. The gaps that a single
//! replacement crosses do not overlap, so they add up to the width at most.

use super::Sorted;
use crate::{loss::ParameterError, ratio::Ratio};

/// The weights, by rank from the smallest value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LStatistic {
    weights: Vec<Ratio>,
}

impl LStatistic {
    /// These weights, none of them negative.
    pub fn new(weights: Vec<Ratio>) -> Result<Self, ParameterError> {
        match weights.iter().find(|weight| weight.is_negative()) {
            None => Ok(Self { weights }),
            Some(weight) => Err(ParameterError::out_of_range("weight", weight, "give weights of 0 or more")),
        }
    }

    /// The weighted sum. Panics unless there is one value per weight.
    pub fn value(&self, values: &Sorted) -> Ratio {
        self.sum_over(values, |rank| Ratio::from(values.at(rank)))
    }

    /// The sum of the weights.
    pub fn total(&self) -> Ratio {
        self.weights.iter().fold(Ratio::zero(), |sum, weight| sum + weight)
    }

    /// The most that one replaced value can ever move it.
    pub fn global_sensitivity(&self, width: u64) -> Ratio {
        self.weights.iter().max().map_or(Ratio::zero(), |largest| largest * &Ratio::from(width))
    }

    /// The most that one replaced value can move it.
    pub fn local_sensitivity(&self, values: &Sorted) -> Ratio {
        let gap = |rank: i128| Ratio::from(values.at(rank + 1).abs_diff(values.at(rank)));
        self.sum_over(values, gap).max(self.sum_over(values, |rank| gap(rank - 1)))
    }

    fn sum_over(&self, values: &Sorted, term: impl Fn(i128) -> Ratio) -> Ratio {
        assert_eq!(values.rows().len(), self.weights.len(), "one value per weight");
        self.weights.iter().zip(1..).map(|(weight, rank)| weight * &term(rank)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        adjacency::Adjacency,
        stability::{Range, TrimmedMean, brute_force::Neighbourhoods},
    };

    #[test]
    fn local_sensitivities_agree_with_search() {
        let range = Range::new(-1, 7).unwrap();
        for weights in [vec![1, 2, 0, 5], vec![0, 0, 3, 1, 1], vec![2, 2, 2], vec![4], vec![]] {
            let all = Neighbourhoods::new(&[-1, 0, 3, 7], weights.len(), Adjacency::Replace);
            let direct =
                |data: &[i64]| data.iter().zip(&weights).map(|(row, weight)| row * weight).sum::<i64>();
            let levels = all.local_sensitivities(direct, |a, b| a.abs_diff(*b), 1);
            let statistic = LStatistic::new(weights.iter().map(|&w| Ratio::from(w)).collect()).unwrap();
            let mut largest = Ratio::zero();
            for (data, exact) in all.datasets().iter().zip(&levels[0]) {
                let sorted = Sorted::new(data, range);
                assert_eq!(statistic.value(&sorted), Ratio::from(direct(data)));
                let found = statistic.local_sensitivity(&sorted);
                assert_eq!(found, Ratio::from(exact.unwrap_or(0)), "{data:?} {weights:?}");
                largest = largest.max(found);
            }
            assert_eq!(largest, statistic.global_sensitivity(range.width()), "{weights:?}");
        }
    }

    #[test]
    fn the_trimmed_mean_is_one() {
        let values = Sorted::new(&[0, 2, 3, 3, 9], Range::new(0, 10).unwrap());
        let third = Ratio::new(1, 3);
        let weights = [0, 1, 1, 1, 0].map(|w: i64| Ratio::from(w) * &third).to_vec();
        let statistic = LStatistic::new(weights).unwrap();
        let trimmed = TrimmedMean::new(5, 1).unwrap();
        assert_eq!(statistic.value(&values), trimmed.value(&values));
        assert_eq!(statistic.local_sensitivity(&values), trimmed.local_sensitivity_at_distance(&values, 0));
        assert!(LStatistic::new(vec![Ratio::new(-1, 2)]).is_err());
    }
}
