//! Releases the mean of vectors that lie in a public ball by their nature, such as directions, with Gaussian noise.
//!
//! Source: 000_4d769f04a6a550e8.txt, section 7.1 ("we may need to use the size of the range as a fallback").
//!
//! # Guarantee
//!
//! (epsilon, delta), under the adjacency of the [`VotesPerUnit`], for any votes of which one person replaces at most
//! [`VotesPerUnit::per_unit`].
//!
//! # Why
//!
//! 1. Votes are shortened to the radius of the ball, then rounded to whole steps of 2^-20 of it, towards zero, and checked
//!    exactly: none is longer than 2^20 steps. A vote with a coordinate that is not a finite number counts as zero.
//! 2. So t replaced votes move the sum by at most `2t·2^20` steps in L2: Gaussian noise.
//!
//! # Example
//!
//! ```
//! use equipoise_core::{adjacency::Adjacency, coins::ScriptedWords, subsample::{VotesPerUnit, bounded::Bounded}};
//!
//! let touch = VotesPerUnit::new(100, 1, Adjacency::AddRemove)?;
//! let mean = Bounded { eps: "1".parse()?, delta: "1e-6".parse()?, dimensions: 2, radius: 1.0, touch }.calibrate()?;
//! # let mut coins = ScriptedWords::new(vec![1 << 61; 20]);
//! let direction = mean.run(&vec![vec![0.6, 0.8]; 100], &mut coins);
//! assert!((direction[0] - 0.6).abs() < 0.5);
//! # Ok::<(), equipoise_core::loss::ParameterError>(())
//! ```

use super::VotesPerUnit;
use crate::{
    coins::Coins,
    loss::{Delta, Eps, Loss, ParameterError},
    mechanism::{
        Noise, Values,
        gaussian::{self, Gaussian, Target},
        l2::L2,
    },
    ratio::Ratio,
};

/// Parameters; all public.
#[derive(Clone, Debug, PartialEq)]
pub struct Bounded {
    /// Epsilon.
    pub eps: Eps,
    /// Delta, above zero.
    pub delta: Delta,
    /// How long the vectors are.
    pub dimensions: usize,
    /// Longer votes are shortened to this; above zero.
    pub radius: f64,
    /// How many votes there are, and how many one person can change.
    pub touch: VotesPerUnit,
}

/// A mean ready to run.
#[derive(Clone, Debug)]
pub struct Calibrated {
    params: Bounded,
    noise: gaussian::Calibrated,
}

/// Steps of the radius.
const STEPS: i64 = 1 << 20;
/// Steps over a smaller radius would not be a finite float.
const LEAST_RADIUS: f64 = 1e-290;

impl Bounded {
    /// Compute the noise. Sees no data, so it may fail freely and costs nothing.
    pub fn calibrate(&self) -> Result<Calibrated, ParameterError> {
        if !(self.radius.is_finite() && self.radius > 0.0) {
            return Err(ParameterError::out_of_range(
                "radius",
                self.radius,
                "give a number above 0, such as 1",
            ));
        }
        if self.radius < LEAST_RADIUS {
            return Err(ParameterError::out_of_range("radius", self.radius, "give at least 1e-290"));
        }
        let noise = sum_noise(&self.eps, &self.delta, self.dimensions, self.touch, STEPS.unsigned_abs());
        Ok(Calibrated { params: self.clone(), noise: noise.calibrate()? })
    }
}

/// Noise for a sum of vectors of at most so many steps each: the last step, for audits of it.
pub fn sum_noise(eps: &Eps, delta: &Delta, dimensions: usize, touch: VotesPerUnit, steps: u64) -> Gaussian {
    let moved = Ratio::from(2 * touch.per_unit()) * Ratio::from(steps);
    Gaussian {
        target: Target::Approx { eps: eps.clone(), delta: delta.clone() },
        sensitivity: L2::Exact(moved),
        grid: Ratio::one(),
        dimensions,
        values: Values::Any,
        noise: Noise::Real,
    }
}

/// A vote in whole steps, no longer than `most`: one vote gives one vector, however floats round.
fn shortened(vote: &[f64], radius: f64, most: i64) -> Vec<i64> {
    let longest = vote.iter().fold(0.0, |longest: f64, value| longest.max(value.abs()));
    // The maximum skips what is not a number, so each coordinate is looked at.
    if longest == 0.0 || !vote.iter().all(|value| value.is_finite()) {
        return vec![0; vote.len()];
    }
    let norm = longest * vote.iter().map(|value| (value / longest).powi(2)).sum::<f64>().sqrt();
    let mut scale = most as f64 / norm.max(radius);
    loop {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "at most 2^20 and a little; towards zero is what is meant"
        )]
        let steps: Vec<i64> = vote.iter().map(|value| (value * scale) as i64).collect();
        let square: i128 = steps.iter().map(|&step| i128::from(step) * i128::from(step)).sum();
        if square <= i128::from(most) * i128::from(most) {
            return steps;
        }
        scale *= 1.0 - 1e-9;
    }
}

impl Calibrated {
    /// What a run costs.
    pub fn cost(&self) -> Loss {
        self.noise.cost()
    }

    /// The noisy mean of the shortened votes. Panics unless there are as many votes as was said, all of the same length.
    pub fn run<C: Coins>(&self, votes: &[Vec<f64>], coins: &mut C) -> Vec<f64> {
        self.params.touch.check(votes.len());
        assert!(votes.iter().all(|vote| vote.len() == self.params.dimensions), "votes of one length");
        let mut sums = vec![0i64; self.params.dimensions];
        for vote in votes {
            for (sum, steps) in sums.iter_mut().zip(shortened(vote, self.params.radius, STEPS)) {
                *sum += steps;
            }
        }
        let sums: Vec<Ratio> = sums.into_iter().map(Ratio::from).collect();
        let step = self.params.radius / (STEPS as f64 * self.params.touch.votes() as f64);
        self.noise.run(&sums, coins).iter().map(|sum| sum.to_f64() * step).collect()
    }

    /// With probability 1 - beta no coordinate is farther than this from the mean of the shortened votes, each of which is
    /// rounded by less than two steps: towards zero, and a little more where that leaves it too long.
    pub fn accuracy(&self, beta: &Ratio) -> f64 {
        let steps = self.noise.accuracy(beta) / Ratio::from(self.params.touch.votes()) + Ratio::from(2u64);
        (steps / Ratio::from(STEPS)).to_f64() * self.params.radius
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{adjacency::Adjacency, coins::ScriptedWords};

    fn bounded(radius: f64, per_unit: u64) -> Bounded {
        let touch = VotesPerUnit::new(50, per_unit, Adjacency::AddRemove).unwrap();
        let (eps, delta) = ("1".parse().unwrap(), "1e-6".parse().unwrap());
        Bounded { eps, delta, dimensions: 3, radius, touch }
    }

    #[test]
    fn hand_computed_noise() {
        // 4.2247 times the sensitivity of 2·2^20 steps at epsilon 1, delta 1e-6.
        let sigma = |per_unit| bounded(1.0, per_unit).calibrate().unwrap().noise.variance().to_f64().sqrt();
        assert!((sigma(1) / (2.0 * STEPS as f64) - 4.2247).abs() < 1e-3, "{}", sigma(1));
        assert!((sigma(2) / sigma(1) - 2.0).abs() < 1e-6);
        let error = bounded(0.0, 1).calibrate().unwrap_err().to_string();
        assert_eq!(error, "radius 0 is not accepted: give a number above 0, such as 1");
    }

    /// Every vote, of any size, is within the ball: what the sensitivity rests on. A mutant that rounds to the nearest step
    /// is not.
    #[test]
    fn exact_audit_of_lengths() {
        let mut longer = 0;
        for i in 0..2000 {
            let at = |k: i32| (f64::from(i * k % 101) - 50.0) * 10f64.powi(i % 40 - 20);
            let vote = [at(3), at(7), at(11)];
            for most in [1, 7, 1 << 20] {
                let steps = shortened(&vote, 1.0, most);
                let square: i128 = steps.iter().map(|&step| i128::from(step).pow(2)).sum();
                assert!(square <= i128::from(most).pow(2), "{vote:?}");
                let norm = vote.iter().map(|value| value * value).sum::<f64>().sqrt();
                let nearest = |value: f64| (value / norm.max(1.0) * most as f64).round();
                let square: f64 = vote.iter().map(|&value| nearest(value).powi(2)).sum();
                longer += usize::from(square > (most as f64).powi(2));
            }
        }
        assert!(longer > 100, "{longer}");
    }

    /// One coordinate that is not a number once hid the length of the others: in release builds their squares wrapped
    /// around and passed the check, and a single vote moved the sum by 2^63.
    #[test]
    fn a_vote_with_one_coordinate_that_is_not_a_number_is_no_longer_than_the_ball() {
        for vote in
            [[f64::NAN, 1e300, 1e300, 1e300], [5.0, f64::NAN, 0.0, -7.0], [f64::NEG_INFINITY, 1.0, 1.0, 1.0]]
        {
            assert_eq!(shortened(&vote, 1.0, STEPS), [0; 4]);
        }
    }

    /// 2^20 over such a radius was infinite, and no vote became short enough.
    #[test]
    fn a_radius_too_small_for_finite_steps_is_refused() {
        let error = bounded(1e-310, 1).calibrate().unwrap_err().to_string();
        assert!(error.ends_with("is not accepted: give at least 1e-290"), "{error}");
        let tiny = bounded(LEAST_RADIUS, 1).calibrate().unwrap();
        assert_eq!(shortened(&[1e-300, LEAST_RADIUS, 0.0], tiny.params.radius, STEPS), [0, STEPS, 0]);
    }

    #[test]
    fn a_scripted_run_and_odd_votes() {
        let mean = bounded(2.0, 1).calibrate().unwrap();
        let votes = [vec![vec![1.0, 0.0, -1.0]; 48], vec![vec![f64::MAX; 3], vec![0.0; 3]]].concat();
        let found = mean.run(&votes, &mut ScriptedWords::new(vec![1 << 61; 30]));
        assert!(found.iter().zip([1.0, 0.0, -1.0]).all(|(a, b)| (a - b).abs() < 1.0), "{found:?}");
        assert!(mean.accuracy(&"0.05".parse().unwrap()) < 1.0);
        assert_eq!(shortened(&[f64::INFINITY, 1.0], 1.0, 8), [0, 0]);
    }
}
