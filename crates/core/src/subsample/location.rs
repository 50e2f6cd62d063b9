//! Releases a number near most votes, without any bounds on them: two private quantiles choose a range, then the
//! mean of the votes clipped to it gets noise.
//!
//! Source: 000_4d769f04a6a550e8.txt, section 7.1 (winsorized mean of block outputs); Smith 2011 for the range by
//! private quantiles.
//!
//! # Guarantee
//!
//! epsilon, under the adjacency of the [`VotesPerUnit`], for any finite votes of which one person replaces at most
//! [`VotesPerUnit::per_unit`].
//!
//! # Why
//!
//! 1. Each quantile is drawn by [inverse sensitivity](crate::mechanism::inverse_sensitivity) with 1/t of its
//!    epsilon: t replaced votes move a length by at most t.
//! 2. The range is made of the two quantiles alone, and so costs what they cost.
//! 3. Clipped votes are whole steps from 0 to 2^30; t replaced votes move their sum by at most t·2^30. Laplace noise
//!    hides that, and what follows is post-processing.
//!
//! # Differs
//!
//! Published recipes add noise of half this scale, which loses twice the epsilon (`equipoise audit --only
//! winsorized-under-noised`). They split epsilon evenly; here the split is the one of fifteen with the least
//! predicted noise, from the exact rank error of the quantiles and the exact scale of the noise. The quantiles look at
//! the leading bits of votes only: among fewer values they err less.
//!
//! # Example
//!
//! ```
//! use equipoise_core::{adjacency::Adjacency, coins::ScriptedWords};
//! use equipoise_core::subsample::{VotesPerUnit, clip::DEFAULT_BITS, location::Location};
//!
//! let touch = VotesPerUnit::new(1000, 1, Adjacency::AddRemove)?;
//! let mean = Location { eps: "1".parse()?, bits: DEFAULT_BITS, touch }.calibrate()?;
//! assert_eq!(mean.cost().to_string(), "1-differential privacy");
//! let votes: Vec<f64> = (0..1000).map(|i| 250.0 + f64::from(i % 21)).collect();
//! # let mut coins = ScriptedWords::new(vec![1 << 61; 40]);
//! let released = mean.run(&votes, &mut coins);
//! assert!((released.value - 260.0).abs() < 1.0);
//! # Ok::<(), equipoise_core::loss::ParameterError>(())
//! ```

use super::{
    VotesPerUnit,
    clip::{Clip, Finder},
};
use crate::{
    coins::Coins,
    loss::{Eps, Loss, ParameterError},
    mechanism::{
        Noise, Values,
        laplace::{self, Laplace},
    },
    ratio::Ratio,
    solve::least_error,
};

/// Parameters; all public.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// Privacy of range and mean together.
    pub eps: Eps,
    /// How many leading bits of a vote the quantiles look at, at most 52.
    pub bits: u32,
    /// How many votes there are, and how many one person can change.
    pub touch: VotesPerUnit,
}

/// A mean ready to run.
#[derive(Clone, Debug)]
pub struct Calibrated {
    eps: Eps,
    touch: VotesPerUnit,
    finder: Finder,
    noise: laplace::Calibrated,
}

/// What is released: all of it public.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Located {
    /// The noisy mean.
    pub value: f64,
    /// The range that votes were clipped to.
    pub clip: Clip,
}

/// Parts of epsilon that may go to the range, in sixteenths.
const SHARES: std::ops::Range<i64> = 1..16;

impl Location {
    /// Split epsilon and compute the noise. Sees no data, so it may fail freely and costs nothing.
    pub fn calibrate(&self) -> Result<Calibrated, ParameterError> {
        least_error(SHARES.map(|share| self.with_share(&Ratio::new(share, 16))), Calibrated::noise_in_spreads)
    }

    /// The same with this part of epsilon for the range.
    pub fn with_share(&self, share: &Ratio) -> Result<Calibrated, ParameterError> {
        let range_eps = self.eps.ratio() * share;
        let each = Eps::new(&range_eps / &Ratio::from(2u64))?;
        let finder = Finder::new(&each, self.touch, self.bits)?;
        let noise = sum_noise(Eps::new(self.eps.ratio() - &range_eps)?, self.touch, Clip::most_steps());
        Ok(Calibrated { eps: self.eps.clone(), touch: self.touch, finder, noise: noise.calibrate()? })
    }
}

/// Noise for a sum of votes from 0 to `most` each: the last step, for audits of it.
pub fn sum_noise(eps: Eps, touch: VotesPerUnit, most: u64) -> Laplace {
    let sensitivity = Ratio::from(most) * Ratio::from(touch.per_unit());
    let (values, noise) = (Values::OnGrid, Noise::Discrete);
    Laplace { eps, sensitivity, grid: Ratio::one(), dimensions: 1, values, noise }
}

impl Calibrated {
    /// What a run costs.
    pub fn cost(&self) -> Loss {
        Loss::pure(&self.eps)
    }

    /// The noisy mean of the clipped votes. Panics unless there are as many votes as was said.
    pub fn run<C: Coins>(&self, votes: &[f64], coins: &mut C) -> Located {
        self.touch.check(votes.len());
        let clip = self.finder.run(votes, coins);
        let sum = votes.iter().map(|&vote| clip.steps(vote)).sum();
        let noisy = self.noise.run_whole(sum, coins);
        let most = i64::try_from(Clip::most_steps() * self.touch.votes()).unwrap_or(i64::MAX);
        let value = clip.value(noisy.clamp(0, most) as f64 / self.touch.votes() as f64);
        Located { value, clip }
    }

    /// With probability 1 - beta the released value is this close to the mean of the clipped votes, each of which is rounded
    /// by up to half a step; but for what floats lose.
    pub fn accuracy(&self, clip: &Clip, beta: &Ratio) -> f64 {
        let votes = Ratio::from(self.touch.votes());
        let steps = self.noise.accuracy(beta) / &votes + Ratio::new(1, 2);
        (steps / Ratio::from(Clip::most_steps())).to_f64() * clip.width()
    }

    /// The standard deviation of the noise in standard deviations of the votes, if those are normal: a hint that
    /// needs no data.
    pub fn noise_in_spreads(&self) -> f64 {
        let share = self.noise.scale().to_f64() / (Clip::most_steps() * self.touch.votes()) as f64;
        share * std::f64::consts::SQRT_2 * self.finder.width_in_spreads()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        adjacency::Adjacency,
        coins::ScriptedWords,
        interval::{AUDIT_BITS, Interval},
        tape::{Pmf, delta_between, enumerate},
        universe::votes_within,
    };
    use std::collections::BTreeMap;

    fn ratio(text: &str) -> Ratio {
        text.parse().unwrap()
    }

    fn location(eps: &str, votes: u64, per_unit: u64) -> Location {
        let touch = VotesPerUnit::new(votes, per_unit, Adjacency::AddRemove).unwrap();
        Location { eps: eps.parse().unwrap(), bits: super::super::clip::DEFAULT_BITS, touch }
    }

    #[test]
    fn calibrations() {
        // Half of epsilon for noise: a scale of 2·2^30 in the sum of steps.
        let half = location("1", 4000, 1).with_share(&ratio("1/2")).unwrap();
        assert_eq!(half.noise.scale(), Ratio::from(2u64 << 30));
        let two = location("1", 4000, 2).with_share(&ratio("1/2")).unwrap();
        assert_eq!(two.noise.scale(), Ratio::from(4u64 << 30));
        let best = location("1", 1000, 1).calibrate().unwrap();
        for share in 1..16 {
            if let Ok(other) = location("1", 1000, 1).with_share(&Ratio::new(share, 16)) {
                assert!(best.noise_in_spreads() <= other.noise_in_spreads());
            }
        }
        assert!(best.noise_in_spreads() < 0.06, "{}", best.noise_in_spreads());
        let few = location("1", 20, 1).calibrate().unwrap_err().to_string();
        assert!(few.starts_with("blocks 20 is not accepted: too few"), "{few}");
    }

    /// The last step over every pair of votes that one person can change, the range being paid for: a coarse copy of
    /// the steps, drawn by the same noise.
    fn worst(touch: u64, replaced: usize) -> Interval {
        let touch = VotesPerUnit::new(3, touch, Adjacency::AddRemove).unwrap();
        let noise = sum_noise("1".parse().unwrap(), touch, 4).calibrate().unwrap();
        let run = |votes: &[i64]| -> Pmf<i64> {
            enumerate(&ratio("1e-14"), |tape| noise.run_whole(votes.iter().sum(), tape))
        };
        let mut seen: BTreeMap<Vec<i64>, Pmf<i64>> = BTreeMap::new();
        let mut worst = Interval::zero(AUDIT_BITS);
        for (a, b) in votes_within(&[0, 1, 4], 3, replaced) {
            for votes in [&a, &b] {
                seen.entry(votes.clone()).or_insert_with(|| run(votes));
            }
            worst = worst.max(&delta_between(&Ratio::one(), &seen[&a], &seen[&b]));
        }
        worst
    }

    #[test]
    fn exact_audit_of_the_clipped_mean() {
        assert!(worst(1, 1).certainly_at_most(&ratio("1e-9")));
        assert!(worst(2, 2).certainly_at_most(&ratio("1e-9")));
    }

    #[test]
    fn a_mutant_that_counts_two_votes_as_one_is_caught() {
        assert!(worst(1, 2).certainly_above(&ratio("0.1")));
    }

    #[test]
    fn a_scripted_run_is_near_the_middle() {
        let mean = location("1", 1000, 1).calibrate().unwrap();
        for scale in [1e-9, 1.0, 1e12] {
            let votes: Vec<f64> = (0..1000).map(|i| scale * (5.0 + f64::from(i % 11))).collect();
            let found = mean.run(&votes, &mut ScriptedWords::new(vec![1 << 61; 40]));
            assert!((found.value / scale - 10.0).abs() < 1.0, "{found:?}");
            assert!(mean.accuracy(&found.clip, &ratio("0.05")) < scale * 1.0);
        }
        let same = mean.run(&[7.5; 1000], &mut ScriptedWords::new(vec![1 << 61; 40]));
        assert!((same.value - 7.5).abs() < 0.01, "{same:?}");
    }
}
