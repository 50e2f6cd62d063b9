//! Releases a set, feature by feature: those that more than half of the votes have, by noisy counts.
//!
//! Source: 000_4d769f04a6a550e8.txt, Example 7.2 (feature by feature; for the set as a whole see
//! [`majority`](super::majority), which takes sets as votes).
//!
//! # Guarantee
//!
//! rho in zero-concentrated privacy for the whole set, under the adjacency of the [`VotesPerUnit`], for any votes of which one person
//! replaces at most [`VotesPerUnit::per_unit`].
//!
//! # Why
//!
//! 1. A vote with at most s features is a vector of at most s ones; a larger vote counts as empty. Two of them differ in at
//!    most 2s places, by one each, so t replaced votes move the counts by at most `t·sqrt(2s)` in L2, and never in more than
//!    all d places: `t·sqrt(min(2s, d))`.
//! 2. Gaussian noise hides that; comparing noisy counts with half of the votes is post-processing.
//!
//! # Differs
//!
//! The text runs d elections, one for each feature. Noise for all counts together costs as much as one of them where few
//! features are in a vote.
//!
//! # Example
//!
//! ```
//! use equipoise_core::{adjacency::Adjacency, coins::ScriptedWords, subsample::{VotesPerUnit, features::Features}};
//!
//! let touch = VotesPerUnit::new(200, 1, Adjacency::AddRemove)?;
//! let features = Features { rho: "0.1".parse()?, features: 50, largest: 5, touch }.calibrate()?;
//! let votes: Vec<Vec<usize>> = (0..200).map(|i| vec![3, 17, i % 50]).collect();
//! # let mut coins = ScriptedWords::new(vec![1 << 40; 400]);
//! let chosen = features.run(&votes, &mut coins);
//! # let _ = chosen;
//! # Ok::<(), equipoise_core::loss::ParameterError>(())
//! ```

use super::VotesPerUnit;
use crate::{
    coins::Coins,
    loss::{Loss, ParameterError, Rho},
    mechanism::{
        Noise, Values,
        gaussian::{self, Gaussian, Target},
        l2::L2,
    },
    ratio::Ratio,
};

/// Parameters; all public.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Features {
    /// Privacy of the whole set; [`rho_for`](crate::loss::rho_for) finds it from epsilon and delta.
    pub rho: Rho,
    /// How many features there are.
    pub features: usize,
    /// The most features of a vote; a larger vote counts as empty.
    pub largest: usize,
    /// How many votes there are, and how many one person can change.
    pub touch: VotesPerUnit,
}

/// Counts ready to be made.
#[derive(Clone, Debug)]
pub struct Calibrated {
    params: Features,
    noise: gaussian::Calibrated,
}

impl Features {
    /// Compute the noise. Sees no data, so it may fail freely and costs nothing.
    pub fn calibrate(&self) -> Result<Calibrated, ParameterError> {
        let places = self.features.min(self.largest.saturating_mul(2)) as u64;
        let touched = Ratio::from(self.touch.per_unit());
        let noise = Gaussian {
            target: Target::Zcdp(self.rho.clone()),
            sensitivity: L2::RootOf(touched.squared() * Ratio::from(places)),
            grid: Ratio::one(),
            dimensions: self.features,
            values: Values::OnGrid,
            noise: Noise::Discrete,
        };
        Ok(Calibrated { params: self.clone(), noise: noise.calibrate()? })
    }
}

impl Calibrated {
    /// What a run costs.
    pub fn cost(&self) -> Loss {
        self.noise.cost()
    }

    /// The features that more than half of the votes have, with the noisy number of those votes. Panics unless there are as
    /// many votes as was said.
    pub fn run<C: Coins>(&self, votes: &[Vec<usize>], coins: &mut C) -> Vec<(usize, i64)> {
        let mut counts = self.count(votes);
        self.noise.run_counts(&mut counts, coins);
        let half = i64::try_from(self.params.touch.votes() / 2).expect("a number of votes");
        counts.into_iter().enumerate().filter(|(_, count)| *count > half).collect()
    }

    fn count(&self, votes: &[Vec<usize>]) -> Vec<i64> {
        self.params.touch.check(votes.len());
        let mut counts = vec![0; self.params.features];
        for vote in votes {
            let mut features: Vec<usize> =
                vote.iter().copied().filter(|&feature| feature < self.params.features).collect();
            features.sort_unstable();
            features.dedup();
            if features.len() <= self.params.largest {
                for feature in features {
                    counts[feature] += 1;
                }
            }
        }
        counts
    }

    /// With probability 1 - beta no count is off by more than this: a feature that so many more than half of the votes
    /// have is in the set, and one that so many fewer have is not.
    pub fn accuracy(&self, beta: &Ratio) -> Ratio {
        self.noise.accuracy(beta)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{adjacency::Adjacency, coins::ScriptedWords};

    fn features(largest: usize, per_unit: u64) -> Calibrated {
        let touch = VotesPerUnit::new(6, per_unit, Adjacency::AddRemove).unwrap();
        Features { rho: "0.5".parse().unwrap(), features: 3, largest, touch }.calibrate().unwrap()
    }

    #[test]
    fn hand_computed_noise() {
        // Sensitivity squared over twice rho.
        for (largest, per_unit, variance) in [(1, 1, 2u64), (2, 1, 3), (9, 1, 3), (1, 2, 8)] {
            assert_eq!(features(largest, per_unit).noise.variance(), Ratio::from(variance));
        }
    }

    /// Every vote replaced by every other: counts move by at most the sensitivity, and some by as much.
    #[test]
    fn exact_audit_of_the_sensitivity() {
        let votes: Vec<Vec<usize>> =
            (0..8usize).map(|set| (0..3).filter(|i| set >> i & 1 == 1).collect()).collect();
        for largest in 1..=3 {
            let counter = features(largest, 1);
            let squared = |a: &Vec<usize>, b: &Vec<usize>| -> i64 {
                let rest = vec![vec![0, 1]; 5];
                let count = |vote: &Vec<usize>| counter.count(&[rest.clone(), vec![vote.clone()]].concat());
                count(a).iter().zip(count(b)).map(|(a, b)| (a - b) * (a - b)).sum()
            };
            let farthest = votes
                .iter()
                .flat_map(|a| votes.iter().map(move |b| (a, b)))
                .map(|(a, b)| squared(a, b))
                .max();
            assert_eq!(farthest, i64::try_from(3.min(2 * largest)).ok());
            // rho = squared sensitivity over twice the variance: the mutant that forgets the factor two has half of it.
            assert!(counter.noise.variance() >= Ratio::from(3.min(2 * largest) as u64));
        }
    }

    #[test]
    fn a_scripted_run() {
        let votes = [vec![0, 1], vec![0, 0, 9], vec![0], vec![0, 1, 2], vec![0], vec![0]];
        let counter = features(2, 1);
        assert_eq!(counter.count(&votes), [5, 1, 0]);
        let chosen = counter.run(&votes, &mut ScriptedWords::new(vec![1 << 40; 40]));
        assert!(chosen.iter().all(|(feature, count)| *feature < 3 && *count > 3));
        assert!(counter.accuracy(&"0.05".parse().unwrap()) < Ratio::from(9u64));
    }
}
