//! Releases a mean, trimmed or winsorized mean, median or any weighted sum of sorted votes in a public range, with noise.
//!
//! Source: 000_4d769f04a6a550e8.txt, section 7.1, and its footnotes 1 and 2; section 7.3 and Nissim, Raskhodnikova and Smith
//! 2007 for smooth sensitivity.
//!
//! # Guarantee
//!
//! Laplace noise at the global sensitivity: epsilon. Noise at a smooth bound: what [`smooth`] keeps.
//! Under the adjacency of the [`VotesPerUnit`], for any votes of which one person replaces at most [`VotesPerUnit::per_unit`].
//!
//! # Why
//!
//! 1. Votes are rounded to a public grid and moved into a public range, each on its own. The statistic is exact from there.
//! 2. One replaced vote moves it by at most its global sensitivity G, so t of them by at most tG, and never by more than
//!    the range is wide; for weights that add up to w, by more than w widths.
//! 3. Write L(k) for the most that one vote can move it after k others were replaced. t votes move it by at most
//!    `L(0) + … + L(t - 1) <= t·L(t - 1)`; after k people have changed, tk votes have, so `t·L(t(k + 1) - 1)` bounds what one
//!    more person can do, and is at most its next entry at every neighbour, also where both are cut at the width: a smooth bound
//!    can be made of it.
//!
//! # Differs
//!
//! The median has no useful global sensitivity. Its smooth bound is there; without a range use
//! [`location`](super::location).
//!
//! # Example
//!
//! ```
//! use equipoise_core::{adjacency::Adjacency, coins::ScriptedWords, ratio::Ratio};
//! use equipoise_core::subsample::{VotesPerUnit, robust_mean::{RobustMean, Scale, Statistic}};
//!
//! let touch = VotesPerUnit::new(100, 1, Adjacency::AddRemove)?;
//! let mean = RobustMean {
//!     eps: "1".parse()?, statistic: Statistic::Trimmed { trim: 10 }, scale: Scale::Global,
//!     low: Ratio::zero(), high: Ratio::from(10u64), resolution: "0.01".parse()?, touch,
//! }.calibrate()?;
//! let votes: Vec<f64> = (0..100).map(|i| 4.0 + f64::from(i % 5) * 0.1).collect();
//! # let mut coins = ScriptedWords::new(vec![1 << 62; 9]);
//! let answer = mean.run(&votes, &mut coins).to_f64();
//! assert!((answer - 4.2).abs() < 0.5);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use super::VotesPerUnit;
use crate::{
    adjacency::Adjacency,
    coins::Coins,
    loss::{Eps, Loss, ParameterError},
    mechanism::{
        Noise, Values,
        laplace::{self, Laplace},
        smooth::{self, Smooth},
    },
    ratio::Ratio,
    stability::{
        Median, Profile, Range, Reach, Sorted, TrimmedMean, WinsorizedMean, l_statistic::LStatistic,
        lattice::Grid,
    },
};

/// Which statistic of the sorted votes; public.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Statistic {
    /// The mean without so many of the smallest and of the largest votes; the mean itself at zero.
    Trimmed {
        /// How many on each side.
        trim: u64,
    },
    /// The mean after so many of the smallest and of the largest votes are moved inwards.
    Winsorized {
        /// How many on each side.
        trim: u64,
    },
    /// The low median.
    Median,
    /// Any weights of zero or more, by rank.
    Weights(Vec<Ratio>),
}

/// What the noise follows; public.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scale {
    /// The most that one person can ever do: Laplace noise.
    Global,
    /// What one person can do near these votes.
    Smooth {
        /// Which noise.
        noise: smooth::Noise,
        /// How fast the bound may change between neighbours.
        beta: Ratio,
    },
}

/// Parameters; all public.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RobustMean {
    /// Epsilon.
    pub eps: Eps,
    /// Which statistic.
    pub statistic: Statistic,
    /// What the noise follows.
    pub scale: Scale,
    /// The low end of the votes.
    pub low: Ratio,
    /// The high end of the votes.
    pub high: Ratio,
    /// Votes and answers are multiples of this.
    pub resolution: Ratio,
    /// How many votes there are, and how many one person can change.
    pub touch: VotesPerUnit,
}

#[derive(Clone, Debug)]
enum Kind {
    Trimmed(TrimmedMean),
    Winsorized(WinsorizedMean),
    Median,
    Weights(LStatistic),
}

#[derive(Clone, Debug)]
enum Mechanism {
    Global(Box<laplace::Calibrated>),
    Smooth(Box<smooth::Calibrated>),
}

/// A mean ready to run.
#[derive(Clone, Debug)]
pub struct Calibrated {
    kind: Kind,
    mechanism: Mechanism,
    grid: Grid,
    range: Range,
    touch: VotesPerUnit,
}

/// Smooth bounds look at no more distances; those of winsorized means take the third power of the distance.
const MOST_DISTANCES: u64 = 400;
const MOST_DISTANCES_WINSORIZED: u64 = 24;

impl RobustMean {
    /// Compute the noise. Sees no data, so it may fail freely and costs nothing.
    pub fn calibrate(&self) -> Result<Calibrated, ParameterError> {
        let grid = Grid::new(self.resolution.clone())?;
        let place = |end: &Ratio| (end / &self.resolution).round_i64();
        let (Some(low), Some(high)) = (place(&self.low), place(&self.high)) else {
            let accepted = "the range must be below 2^63 steps; give a coarser resolution";
            return Err(ParameterError::out_of_range("resolution", &self.resolution, accepted));
        };
        let range = Range::new(low, high)?;
        let kind = self.kind()?;
        let mechanism = match &self.scale {
            Scale::Global => Mechanism::Global(Box::new(self.laplace(&kind, range).calibrate()?)),
            Scale::Smooth { .. } if matches!(kind, Kind::Weights(_)) => {
                let accepted =
                    "weights have no smooth bound here; use trimmed, winsorized or median, or global noise";
                return Err(ParameterError::out_of_range("scale", "smooth", accepted));
            }
            Scale::Smooth { noise, beta } => {
                let (eps, noise, beta) = (self.eps.clone(), noise.clone(), beta.clone());
                let smooth = Smooth { eps, noise, beta, range: Some(range), grid: Ratio::one() };
                Mechanism::Smooth(Box::new(smooth.calibrate()?))
            }
        };
        Ok(Calibrated { kind, mechanism, grid, range, touch: self.touch })
    }

    fn kind(&self) -> Result<Kind, ParameterError> {
        let votes = self.touch.votes();
        Ok(match &self.statistic {
            Statistic::Trimmed { trim } => Kind::Trimmed(TrimmedMean::new(votes, *trim)?),
            Statistic::Winsorized { trim } => Kind::Winsorized(WinsorizedMean::new(votes, *trim)?),
            Statistic::Median => Kind::Median,
            Statistic::Weights(weights) if weights.len() as u64 != votes => {
                let accepted = "give one weight for each vote";
                return Err(ParameterError::out_of_range("weights", weights.len(), accepted));
            }
            Statistic::Weights(weights) => Kind::Weights(LStatistic::new(weights.clone())?),
        })
    }

    fn laplace(&self, kind: &Kind, range: Range) -> Laplace {
        let each = kind.global_sensitivity(range);
        let sensitivity = (each * Ratio::from(self.touch.per_unit())).min(kind.widest_move(range));
        let (eps, grid) = (self.eps.clone(), Ratio::one());
        Laplace { eps, sensitivity, grid, dimensions: 1, values: Values::Any, noise: Noise::Real }
    }
}

impl Kind {
    fn global_sensitivity(&self, range: Range) -> Ratio {
        match self {
            Self::Trimmed(mean) => mean.global_sensitivity(range),
            Self::Winsorized(mean) => mean.global_sensitivity(range),
            Self::Median => Ratio::from(range.width()),
            Self::Weights(weights) => weights.global_sensitivity(range.width()),
        }
    }

    /// What the weights of all votes come to.
    fn total_weight(&self) -> Ratio {
        match self {
            Self::Trimmed(_) | Self::Winsorized(_) | Self::Median => Ratio::one(),
            Self::Weights(weights) => weights.total(),
        }
    }

    /// However many votes are replaced, weights that add up to w move the sum by at most w widths.
    fn widest_move(&self, range: Range) -> Ratio {
        self.total_weight() * Ratio::from(range.width())
    }

    fn value(&self, votes: &Sorted) -> Ratio {
        match self {
            Self::Trimmed(mean) => mean.value(votes),
            Self::Winsorized(mean) => mean.value(votes),
            Self::Median => Ratio::from(votes.at(i128::from(votes.count()).midpoint(1))),
            Self::Weights(weights) => weights.value(votes),
        }
    }

    /// What t votes can do after k people of t votes each have changed, for k below a public number.
    fn profile(&self, votes: &Sorted, touched: u64, distances: u64) -> Profile<Ratio> {
        let count = Ratio::from(touched);
        let window = Median.window(votes.rows(), votes.range(), Reach::All);
        let local = |k: u64| match self {
            Self::Trimmed(mean) => mean.local_sensitivity_at_distance(votes, k),
            Self::Winsorized(mean) => mean.local_sensitivity_at_distance(votes, k),
            Self::Median => {
                let found = Median.local_sensitivity_at_distance(&window, k, Adjacency::Replace);
                Ratio::from(found.expect("all rows are there"))
            }
            Self::Weights(_) => unreachable!("refused by calibrate"),
        };
        let most = match self {
            Self::Winsorized(_) => MOST_DISTANCES_WINSORIZED,
            _ => MOST_DISTANCES,
        };
        let listed = distances.min(most / touched);
        // A bound that is at most its next entry at every neighbour stays so when both are cut at one public number.
        let widest = self.widest_move(votes.range());
        let capped = |each: Ratio| (each * &count).min(widest.clone());
        Profile {
            at_distance: (0..listed).map(|k| capped(local(touched * (k + 1) - 1))).collect(),
            beyond: capped(self.global_sensitivity(votes.range())),
        }
    }
}

impl Calibrated {
    /// What a run costs.
    pub fn cost(&self) -> Loss {
        match &self.mechanism {
            Mechanism::Global(noise) => noise.cost(),
            Mechanism::Smooth(noise) => noise.cost(),
        }
    }

    /// The noisy statistic of the votes. A vote that is not a number counts as the low end. Panics unless there are as many
    /// votes as was said.
    pub fn run<C: Coins>(&self, votes: &[f64], coins: &mut C) -> Ratio {
        self.touch.check(votes.len());
        let place = |&vote: &f64| self.grid.clean(Some(vote), self.range, Adjacency::Replace);
        let places: Vec<i64> = votes.iter().filter_map(place).collect();
        let sorted = Sorted::new(&places, self.range);
        let value = self.kind.value(&sorted);
        let noisy = match &self.mechanism {
            Mechanism::Global(noise) => noise.run(&[value], coins).remove(0),
            Mechanism::Smooth(noise) => {
                let distances = noise.decay().distances();
                let profile = self.kind.profile(&sorted, self.touch.per_unit(), distances);
                noise.run(&value, &noise.decay().profile(&profile), coins)
            }
        };
        let (low, high) = (Ratio::from(self.range.lo()), Ratio::from(self.range.hi()));
        let inside = if matches!(self.kind, Kind::Weights(_)) { noisy } else { noisy.max(low).min(high) };
        inside * self.grid.step()
    }

    /// With probability 1 - beta the error is at most this, for every votes if the noise is global; nothing is known
    /// beforehand of a smooth bound. Votes are rounded by up to half a step, and so is what weights of one make of them.
    pub fn accuracy(&self, beta: &Ratio) -> Option<Ratio> {
        match &self.mechanism {
            Mechanism::Global(noise) => {
                let rounded = self.kind.total_weight() / Ratio::from(2u64);
                Some((noise.accuracy(beta) + rounded) * self.grid.step())
            }
            Mechanism::Smooth(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        coins::ScriptedWords,
        interval::{AUDIT_BITS, Interval},
        tape::{Pmf, delta_between, enumerate},
        universe::votes_within,
    };
    use std::collections::BTreeMap;

    fn ratio(text: &str) -> Ratio {
        text.parse().unwrap()
    }

    fn params(statistic: Statistic, scale: Scale, votes: u64, per_unit: u64) -> RobustMean {
        let touch = VotesPerUnit::new(votes, per_unit, Adjacency::AddRemove).unwrap();
        let (low, high) = (Ratio::zero(), Ratio::from(4u64));
        RobustMean { eps: "1".parse().unwrap(), statistic, scale, low, high, resolution: Ratio::one(), touch }
    }

    /// Votes between two points of the grid are moved to one of them before noise is added.
    #[test]
    fn accuracy_counts_what_votes_are_rounded_by() {
        let weights = vec![Ratio::one(); 8];
        for (statistic, rounded) in
            [(Statistic::Trimmed { trim: 2 }, "0.5"), (Statistic::Weights(weights), "4")]
        {
            let mean = params(statistic, Scale::Global, 8, 1).calibrate().unwrap();
            let Mechanism::Global(noise) = &mean.mechanism else { panic!("global") };
            let beta = ratio("0.05");
            assert_eq!(mean.accuracy(&beta).unwrap() - noise.accuracy(&beta), ratio(rounded));
        }
    }

    #[test]
    fn hand_computed_noise() {
        for (statistic, votes, per_unit, scale) in [
            (Statistic::Trimmed { trim: 0 }, 8, 1, "0.5"),
            (Statistic::Trimmed { trim: 2 }, 8, 1, "1"),
            (Statistic::Trimmed { trim: 2 }, 8, 2, "2"),
            (Statistic::Winsorized { trim: 1 }, 8, 1, "1"),
            (Statistic::Median, 8, 1, "4"),
            (Statistic::Weights(vec![ratio("1/4"); 4]), 4, 1, "1"),
            // Two medians or three of four kept votes cannot move it by more than the range is wide.
            (Statistic::Median, 8, 2, "4"),
            (Statistic::Trimmed { trim: 3 }, 8, 3, "4"),
            (Statistic::Winsorized { trim: 3 }, 8, 2, "4"),
            // Half and a quarter of the width, not twice the half.
            (Statistic::Weights(["1/2", "0", "1/4", "0"].map(ratio).to_vec()), 4, 2, "3"),
            // Weights of three move the sum by three widths.
            (Statistic::Weights(vec![Ratio::one(); 3]), 3, 2, "8"),
        ] {
            let params = params(statistic.clone(), Scale::Global, votes, per_unit);
            let Mechanism::Global(noise) = params.calibrate().unwrap().mechanism else { panic!("global") };
            assert_eq!(noise.scale(), ratio(scale), "{statistic:?} {per_unit}");
        }
    }

    fn worst(mean: &Calibrated, votes: usize, replaced: usize) -> Interval {
        let run = |votes: &[i64]| -> Pmf<Ratio> {
            let votes: Vec<f64> = votes.iter().map(|&vote| vote as f64).collect();
            enumerate(&ratio("1e-12"), |tape| mean.run(&votes, tape))
        };
        let mut seen: BTreeMap<Vec<i64>, Pmf<Ratio>> = BTreeMap::new();
        let mut worst = Interval::zero(AUDIT_BITS);
        for (a, b) in votes_within(&[0, 1, 4], votes, replaced) {
            for votes in [&a, &b] {
                seen.entry(votes.clone()).or_insert_with(|| run(votes));
            }
            worst = worst.max(&delta_between(&Ratio::one(), &seen[&a], &seen[&b]));
        }
        worst
    }

    fn cauchy() -> Scale {
        Scale::Smooth { noise: smooth::Noise::Cauchy, beta: ratio("1/2") }
    }

    #[test]
    fn exact_audit_over_all_votes_that_one_person_can_change() {
        for scale in [Scale::Global, cauchy()] {
            for statistic in
                [Statistic::Trimmed { trim: 1 }, Statistic::Winsorized { trim: 1 }, Statistic::Median]
            {
                for per_unit in [1, 2] {
                    let mean = params(statistic.clone(), scale.clone(), 5, per_unit).calibrate().unwrap();
                    let delta = worst(&mean, 5, usize::try_from(per_unit).unwrap());
                    assert!(
                        delta.certainly_at_most(&ratio("1e-8")),
                        "{statistic:?} {scale:?} {}",
                        delta.to_f64()
                    );
                }
            }
        }
    }

    #[test]
    fn a_mutant_whose_person_has_two_votes_is_caught() {
        for scale in [Scale::Global, cauchy()] {
            let mean = params(Statistic::Trimmed { trim: 1 }, scale, 5, 1).calibrate().unwrap();
            assert!(worst(&mean, 5, 2).certainly_above(&ratio("0.01")));
        }
    }

    /// Noise for half of the width in which votes lie: what a cap below the width would add.
    #[test]
    fn a_mutant_capped_at_half_the_width_is_caught() {
        for statistic in
            [Statistic::Median, Statistic::Trimmed { trim: 2 }, Statistic::Winsorized { trim: 2 }]
        {
            let whole = params(statistic.clone(), Scale::Global, 5, 2).calibrate().unwrap();
            let half = RobustMean { high: Ratio::from(2u64), ..params(statistic, Scale::Global, 5, 2) };
            let mutant = Calibrated { range: whole.range, ..half.calibrate().unwrap() };
            assert!(worst(&whole, 5, 2).certainly_at_most(&ratio("1e-8")));
            assert!(worst(&mutant, 5, 2).certainly_above(&ratio("0.01")));
        }
    }

    #[test]
    fn a_smooth_bound_is_never_above_the_width() {
        let votes = Sorted::new(&[0, 0, 0, 4, 4], Range::new(0, 4).unwrap());
        for (kind, expected) in [
            // One vote moves the median from 0 to 4; two do no more.
            (Kind::Median, "4"),
            // Three votes count a third each: two votes move two thirds of the width.
            (Kind::Trimmed(TrimmedMean::new(5, 1).unwrap()), "8/3"),
            (Kind::Trimmed(TrimmedMean::new(5, 2).unwrap()), "4"),
        ] {
            let profile = kind.profile(&votes, 2, 3);
            assert_eq!(profile.beyond, ratio(expected), "{kind:?}");
            assert_eq!(profile.at_distance.last(), Some(&ratio(expected)), "{kind:?}");
            assert!(profile.at_distance.iter().all(|entry| *entry <= profile.beyond), "{kind:?}");
        }
    }

    #[test]
    fn edges_and_a_script() {
        let mean = params(Statistic::Median, cauchy(), 4, 1).calibrate().unwrap();
        let answer =
            mean.run(&[f64::NAN, 3.0, 3.0, f64::INFINITY], &mut ScriptedWords::new(vec![1 << 62; 9]));
        assert!(!answer.is_negative() && answer <= Ratio::from(4u64));
        assert!(mean.accuracy(&ratio("0.1")).is_none());
        let weights = params(Statistic::Weights(vec![Ratio::one(); 3]), Scale::Global, 4, 1);
        assert!(weights.calibrate().unwrap_err().to_string().starts_with("weights 3 is not accepted"));
        let smooth = params(Statistic::Weights(vec![Ratio::one(); 4]), cauchy(), 4, 1);
        assert!(smooth.calibrate().unwrap_err().to_string().starts_with("scale smooth is not accepted"));
    }
}
