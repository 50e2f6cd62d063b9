//! Releases a vector near most votes, coordinate by coordinate, without any bounds: private quantiles choose a range
//! for each coordinate, then the means of the clipped votes get Gaussian noise together.
//!
//! Source: 000_4d769f04a6a550e8.txt, section 7.1; Smith 2011; Bun and Steinke 2016 for the accounting.
//!
//! # Guarantee
//!
//! rho in zero-concentrated privacy, under the adjacency of the [`VotesPerUnit`], for any finite votes of which one person
//! replaces at most [`VotesPerUnit::per_unit`].
//!
//! # Why
//!
//! 1. Two quantiles a coordinate, each by inverse sensitivity with 1/t of its epsilon e: for one person the
//!    log-ratios lie in an interval of length e, which is e²/8 in rho. 2d of them cost 2d·e²/8.
//! 2. In steps of the ranges, t replaced votes move each of d sums by at most t·2^30, and so the vector of sums by at
//!    most `sqrt(d)·t·2^30` in L2: Gaussian noise on whole steps, by the rest of rho.
//! 3. The ranges are public by then. Steps of different coordinates have different sizes, so that a wide coordinate
//!    does not drown a narrow one.
//!
//! # Differs
//!
//! The split between ranges and noise is the one of fifteen with the least predicted noise. Where d is large and blocks
//! are few, the ranges cannot be found: see [`ball`](super::ball).
//!
//! # Example
//!
//! ```
//! use equipoise_core::{adjacency::Adjacency, coins::ScriptedWords};
//! use equipoise_core::subsample::{VotesPerUnit, clip::DEFAULT_BITS, vectors::Vectors};
//!
//! let touch = VotesPerUnit::new(4000, 1, Adjacency::AddRemove)?;
//! let mean = Vectors { rho: "0.1".parse()?, dimensions: 2, bits: DEFAULT_BITS, touch }.calibrate()?;
//! assert_eq!(mean.cost().to_string(), "0.1-zero-concentrated differential privacy");
//! let votes: Vec<Vec<f64>> = (0..4000).map(|i| vec![f64::from(i % 7), 1e6 + f64::from(i % 3)]).collect();
//! # let mut coins = ScriptedWords::new(vec![1 << 61; 99]);
//! let released = mean.run(&votes, &mut coins);
//! assert!((released.value[0] - 3.0).abs() < 1.0);
//! # Ok::<(), equipoise_core::loss::ParameterError>(())
//! ```

use super::{
    VotesPerUnit,
    clip::{Clip, Finder},
};
use crate::{
    coins::Coins,
    loss::{Eps, Loss, ParameterError, Rho},
    mechanism::{
        Noise, Values,
        gaussian::{self, Gaussian, Target},
        l2::L2,
    },
    ratio::Ratio,
    solve::least_error,
};

/// Parameters; all public.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Vectors {
    /// Privacy of everything together; [`rho_for`](crate::loss::rho_for) finds it from epsilon and delta.
    pub rho: Rho,
    /// How long the vectors are.
    pub dimensions: usize,
    /// How many leading bits of a number the quantiles look at, at most 52.
    pub bits: u32,
    /// How many votes there are, and how many one person can change.
    pub touch: VotesPerUnit,
}

/// A mean of vectors ready to run.
#[derive(Clone, Debug)]
pub struct Calibrated {
    params: Vectors,
    finder: Finder,
    noise: gaussian::Calibrated,
}

/// What is released: all of it public.
#[derive(Clone, Debug, PartialEq)]
pub struct Located {
    /// The noisy mean.
    pub value: Vec<f64>,
    /// The range of each coordinate.
    pub clips: Vec<Clip>,
}

impl Vectors {
    /// Split rho and compute the noise. Sees no data, so it may fail freely and costs nothing.
    pub fn calibrate(&self) -> Result<Calibrated, ParameterError> {
        least_error(
            (1..16).map(|share| self.with_share(&Ratio::new(share, 16))),
            Calibrated::noise_in_spreads,
        )
    }

    /// The same with this part of rho for the ranges.
    pub fn with_share(&self, share: &Ratio) -> Result<Calibrated, ParameterError> {
        if self.dimensions == 0 {
            return Err(ParameterError::out_of_range("dimensions", 0, "give at least one coordinate"));
        }
        let range_rho = self.rho.ratio() * share;
        let count = Ratio::from(2 * self.dimensions as u64);
        let finder = Finder::new(&eps_of_bounded_range(&(&range_rho / &count))?, self.touch, self.bits)?;
        let rho = Rho::new(self.rho.ratio() - &range_rho)?;
        let noise = sum_noise(rho, self.touch, self.dimensions, Clip::most_steps());
        Ok(Calibrated { params: self.clone(), finder, noise: noise.calibrate()? })
    }
}

/// Noise for sums of vectors whose coordinates are from 0 to `most` each: the last step, for audits of it.
pub fn sum_noise(rho: Rho, touch: VotesPerUnit, dimensions: usize, most: u64) -> Gaussian {
    let moved = Ratio::from(most) * Ratio::from(touch.per_unit());
    Gaussian {
        target: Target::Zcdp(rho),
        sensitivity: L2::RootOf(moved.squared() * Ratio::from(dimensions as u64)),
        grid: Ratio::one(),
        dimensions,
        values: Values::OnGrid,
        noise: Noise::Discrete,
    }
}

/// The largest epsilon with `epsilon²/8` at most rho, rounded down to 2^-40.
fn eps_of_bounded_range(rho: &Ratio) -> Result<Eps, ParameterError> {
    let unit = Ratio::dyadic(1.into(), 40);
    let root = crate::mechanism::l2::floor_root(&(rho * &Ratio::from(8u64) / unit.squared()));
    Eps::new((root * &unit).min(Ratio::from(1000u64)))
}

impl Calibrated {
    /// What a run costs.
    pub fn cost(&self) -> Loss {
        Loss::zcdp(&self.params.rho)
    }

    /// The noisy mean of the clipped votes. Panics unless there are as many votes as was said, all of the same length.
    pub fn run<C: Coins>(&self, votes: &[Vec<f64>], coins: &mut C) -> Located {
        self.params.touch.check(votes.len());
        assert!(votes.iter().all(|vote| vote.len() == self.params.dimensions), "votes of one length");
        let column = |index: usize| -> Vec<f64> { votes.iter().map(|vote| vote[index]).collect() };
        let clips: Vec<Clip> =
            (0..self.params.dimensions).map(|index| self.finder.run(&column(index), coins)).collect();
        let sum = |(index, clip): (usize, &Clip)| votes.iter().map(|vote| clip.steps(vote[index])).sum();
        let mut sums: Vec<i64> = clips.iter().enumerate().map(sum).collect();
        self.noise.run_counts(&mut sums, coins);
        let count = self.params.touch.votes();
        let most = i64::try_from(Clip::most_steps() * count).unwrap_or(i64::MAX);
        let mean = |(sum, clip): (i64, &Clip)| clip.value(sum.clamp(0, most) as f64 / count as f64);
        Located { value: sums.into_iter().zip(&clips).map(mean).collect(), clips }
    }

    /// With probability 1 - beta each coordinate is this part of its range from the mean of the clipped votes, at most; but
    /// for what floats lose. Each vote is rounded by up to half a step.
    pub fn accuracy(&self, beta: &Ratio) -> f64 {
        let votes = Ratio::from(self.params.touch.votes());
        let steps = self.noise.accuracy(beta) / &votes + Ratio::new(1, 2);
        (steps / Ratio::from(Clip::most_steps())).to_f64()
    }

    /// The standard deviation of the noise in standard deviations of the votes, if those are normal: a hint that
    /// needs no data.
    pub fn noise_in_spreads(&self) -> f64 {
        let steps = (Clip::most_steps() * self.params.touch.votes()) as f64;
        self.noise.variance().to_f64().sqrt() / steps * self.finder.width_in_spreads()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{adjacency::Adjacency, coins::ScriptedWords};

    fn ratio(text: &str) -> Ratio {
        text.parse().unwrap()
    }

    fn vectors(rho: &str, dimensions: usize, votes: u64) -> Vectors {
        let touch = VotesPerUnit::new(votes, 1, Adjacency::AddRemove).unwrap();
        Vectors { rho: rho.parse().unwrap(), dimensions, bits: super::super::clip::DEFAULT_BITS, touch }
    }

    #[test]
    fn the_parts_of_rho_add_up() {
        for (rho, dimensions) in [("0.1", 1usize), ("0.02", 11), ("2", 3)] {
            for share in ["1/2", "1/16", "15/16"] {
                let Ok(found) = vectors(rho, dimensions, 20_000).with_share(&ratio(share)) else { continue };
                let each =
                    eps_of_bounded_range(&(ratio(rho) * ratio(share) / Ratio::from(2 * dimensions as u64)))
                        .unwrap();
                let ranges = each.ratio().squared() / Ratio::from(8u64) * Ratio::from(2 * dimensions as u64);
                let total = found.noise.rho().ratio() + &ranges;
                assert!(
                    total <= ratio(rho) && total > ratio(rho) * ratio("0.999"),
                    "{rho} {dimensions} {share}"
                );
            }
        }
    }

    #[test]
    fn hand_computed_noise() {
        // Two coordinates, rho of one half for the noise: variance of the sums is 2·(2^30)².
        let found = vectors("1", 2, 4000).with_share(&ratio("1/2")).unwrap();
        assert_eq!(found.noise.variance(), Ratio::from(2u64) * Ratio::from(1u64 << 30).squared());
        // Of a sum of 4000 votes, each of up to 2^30 steps: sqrt(2)/4000 of the range.
        let share = found.noise_in_spreads() / found.finder.width_in_spreads();
        assert!((share - 2f64.sqrt() / 4000.0).abs() < 1e-12, "{share}");
        let few = vectors("0.02", 11, 300).calibrate().unwrap_err().to_string();
        assert!(few.starts_with("blocks 300 is not accepted: too few"), "{few}");
    }

    #[test]
    fn a_scripted_run_of_coordinates_of_different_sizes() {
        let mean = vectors("0.5", 3, 3000).calibrate().unwrap();
        let votes: Vec<Vec<f64>> = (0..3000)
            .map(|i| vec![f64::from(i % 5), 1e9 + f64::from(i % 3), -1e-6 * f64::from(i % 9)])
            .collect();
        let found = mean.run(&votes, &mut ScriptedWords::new(vec![1 << 61; 99]));
        for (value, (expected, spread)) in
            found.value.iter().zip([(2.0, 2.0), (1e9 + 1.0, 1e6), (-4e-6, 3e-6)])
        {
            assert!((value - expected).abs() < spread, "{found:?}");
        }
        assert!(mean.accuracy(&ratio("0.05")) < 0.02);
    }
}
