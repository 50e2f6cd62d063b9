//! How one of several counted values is chosen: by one of three laws that all name the most frequent one most often.
//!
//! `permute-and-flip` errs least. `exponential` weighs a value by its count, and is what most texts mean by a private choice;
//! `noisy-max` names the largest count after Laplace noise.

use crate::error::PlanError;
use equipoise_core::{
    adjacency::Adjacency,
    coins::Coins,
    loss::Eps,
    mechanism::{
        exponential::{self, Exponential},
        noisy_max::{self, Noise, NoisyMax},
        permute_and_flip::{self, PermuteAndFlip},
        selection::Candidates,
    },
    ratio::Ratio,
};

/// The laws, for `--mechanism`.
pub(crate) const NAMES: [&str; 3] = ["permute-and-flip", "exponential", "noisy-max"];

/// One of [`NAMES`] for this many values, ready to choose.
#[derive(Clone, Debug)]
pub(super) enum Choice {
    PermuteAndFlip(permute_and_flip::Calibrated),
    Exponential(exponential::Calibrated),
    NoisyMax(noisy_max::Calibrated),
}

impl Choice {
    /// A record adds to one count: all move the same way where it comes or goes, one falls and one rises where it is replaced.
    pub fn new(name: &str, eps: &Eps, adjacency: Adjacency, count: usize) -> Result<Self, PlanError> {
        let monotone = adjacency == Adjacency::AddRemove;
        let candidates = Candidates { count, sensitivity: Ratio::one(), monotone };
        let eps = eps.clone();
        Ok(match name {
            "exponential" => Self::Exponential(Exponential { eps, candidates }.calibrate()?),
            "noisy-max" => Self::NoisyMax(NoisyMax { eps, noise: Noise::Laplace, candidates }.calibrate()?),
            _ => Self::PermuteAndFlip(PermuteAndFlip { eps, candidates }.calibrate()?),
        })
    }

    /// How many rows fewer than the most frequent value the chosen one has at most, except with this probability.
    pub fn gap(&self, failure: &Ratio) -> Result<u64, PlanError> {
        let gap = match self {
            Self::PermuteAndFlip(mechanism) => mechanism.accuracy(failure),
            Self::Exponential(mechanism) => mechanism.accuracy(failure),
            Self::NoisyMax(mechanism) => mechanism.accuracy(failure),
        }?;
        Ok(gap.ceil_i64().and_then(|gap| u64::try_from(gap).ok()).unwrap_or(u64::MAX))
    }

    /// The place of the chosen one.
    pub fn run<C: Coins>(&self, counts: &[Ratio], coins: &mut C) -> usize {
        match self {
            Self::PermuteAndFlip(mechanism) => mechanism.run(counts, coins),
            Self::Exponential(mechanism) => mechanism.run(counts, coins),
            Self::NoisyMax(mechanism) => mechanism.run(counts, coins),
        }
    }
}
