//! Releases a vector near most votes, or refuses, without any bounds: votes that are close to more than half of the
//! others are averaged. One test for all coordinates, so that few blocks are enough.
//!
//! Source: 000_4d769f04a6a550e8.txt, end of section 7.2 (consensus of block outputs by propose-test-release); the
//! weights by numbers of close votes after Ashtiani and Liaw 2022 and FriendlyCore (Tsfadia et al. 2022).
//!
//! # Guarantee
//!
//! (epsilon, delta), under the adjacency of the [`VotesPerUnit`], for any finite votes of which one person replaces at most t,
//! [`VotesPerUnit::per_unit`].
//!
//! # Why
//!
//! 1. The radius r is a private quantile of the distances in disjoint pairs of votes: t votes change at most t of them.
//! 2. Of m votes, vote i with n_i votes within r of it, itself included, gets the weight `a_i = max(0, 2 n_i - m - 1)`.
//!    Votes with a weight have more than half of all votes nearby, so two of them share a close vote and are
//!    within 2r of each other; this holds for votes before and after one was replaced as well, because either still
//!    has half of the m - 1 votes that stay nearby (`n_i >= (m + 2)/2`).
//! 3. Replace one vote, with N close votes before and N' after. The others' weights change by at most 2 each, and only
//!    those close to the old or the new vote, not to both. If old and new both have a weight, all weights together
//!    change by at most `2·(2m - N - N') + (2N - m - 1) + (2N' - m - 1) <= 2(m - 1)`; else by at most
//!    `2(m - 1) + (m - 1)`. So always by at most `3(m - 1)`.
//! 4. The sum A of all weights therefore moves by at most `3(m - 1)`. The weighted mean moves by at most
//!    `2r·3(m - 1)/A'`, since it lies within 2r of every vote that has a weight before or after.
//! 5. Call votes safe if no t replaced votes bring A below a public A0: between safe votes and their neighbours the
//!    mean moves by at most `6 t r (m - 1)/A0` in L2, which Gaussian noise hides. The distance to unsafe votes is
//!    `floor((A - A0)/(3 t (m - 1)))` people: propose-test-release.
//!
//! # Differs
//!
//! FriendlyCore keeps or drops votes at random and then bounds their number; here weights change slowly instead and one
//! gate decides. The constant is 6 where the mean of votes known to lie within 2r of each other has 2.
//!
//! # Example
//!
//! ```
//! use equipoise_core::{adjacency::Adjacency, coins::ScriptedWords, outcome::Outcome, subsample::{VotesPerUnit, ball::Ball}};
//!
//! let touch = VotesPerUnit::new(400, 1, Adjacency::AddRemove)?;
//! let ball = Ball { eps: "2".parse()?, delta: "1e-6".parse()?, dimensions: 2, touch }.calibrate()?;
//! assert_eq!(ball.cost().to_string(), "(2, 0.000001)-differential privacy");
//! let votes: Vec<Vec<f64>> =
//!     (0..400).map(|i| vec![1.0 + f64::from(i * i % 97) * 1e-3, f64::from(i * i % 89) * 1e-3]).collect();
//! # let mut coins = ScriptedWords::new(vec![1 << 61; 60]);
//! let Outcome::Value(found) = ball.run(&votes, &mut coins) else { panic!("all agree") };
//! assert!((found.value[0] - 1.048).abs() < 0.1);
//! # Ok::<(), equipoise_core::loss::ParameterError>(())
//! ```

use super::VotesPerUnit;
use crate::{
    adjacency::Adjacency,
    coins::Coins,
    loss::{Approx, Delta, Eps, Loss, ParameterError},
    mechanism::{
        Noise, Values,
        gate::Gate,
        gaussian::{self, Gaussian, Target},
        inverse_sensitivity::{self, InverseSensitivity},
        l2::L2,
        propose_test_release::{self, ProposeTestRelease},
    },
    outcome::{Outcome, Slack},
    ratio::Ratio,
    solve::least_error,
    stability::{
        Quantile, Range,
        lattice::{FLOATS, float, ordinal},
    },
};

/// Parameters; all public.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ball {
    /// Privacy of radius, test and noise together.
    pub eps: Eps,
    /// Shared evenly by test and noise. Above zero.
    pub delta: Delta,
    /// How long the vectors are.
    pub dimensions: usize,
    /// How many votes there are, and how many one person can change.
    pub touch: VotesPerUnit,
}

/// How epsilon is shared out, and how much agreement is asked for; all public.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Split {
    /// Epsilon of the radius.
    pub radius: Eps,
    /// Epsilon of the test.
    pub test: Eps,
    /// Epsilon of the noise.
    pub noise: Eps,
    /// A0 as a part of its largest value `m(m - 1)`.
    pub agreement: Ratio,
}

/// A consensus of vectors ready to run.
#[derive(Clone, Debug)]
pub struct Calibrated {
    params: Ball,
    split: Split,
    radius: inverse_sensitivity::Calibrated,
    tested: propose_test_release::Calibrated,
    noise: gaussian::Calibrated,
    least_weight: u64,
}

/// What is released: all of it public.
#[derive(Clone, Debug, PartialEq)]
pub struct Located {
    /// The noisy mean.
    pub value: Vec<f64>,
    /// Votes within this distance of more than half of all votes were averaged.
    pub radius: f64,
}

/// The radius is cut into this many steps, as a power of two: votes are rounded to them.
const STEP_BITS: u32 = 16;
/// Leading bits of a distance that the radius looks at: right to one part in eight, from 2^14 values.
const RADIUS_BITS: u32 = 3;
/// Which quantile of the pair distances: two of three pairs are closer.
const PAIRS: (i64, u64) = (2, 3);
/// How often the radius may lie beyond a quarter of the pairs from there.
const RADIUS_FAILURE: (i64, u64) = (1, 20);
/// How often votes that are normal may fail the test.
const FAILURE: (i64, u64) = (1, 100);
/// More votes would overflow, and take hours.
const MOST_VOTES: u64 = 1 << 20;

impl Ball {
    /// Share epsilon out for the least noise and compute it. Sees no data, so it may fail freely and costs nothing.
    pub fn calibrate(&self) -> Result<Calibrated, ParameterError> {
        let radius = self.least_radius_eps()?;
        let found = [5, 6, 7].map(|tenths| {
            let agreement = Ratio::new(tenths, 10);
            let test = self.least_test_eps(&agreement)?;
            let noise = Eps::new(self.eps.ratio() - radius.ratio() - test.ratio());
            let noise = noise.map_err(|_| self.too_few())?;
            self.with_split(Split { radius: radius.clone(), test, noise, agreement })
        });
        least_error(found, Calibrated::noise_in_radii)
    }

    /// The same with this split.
    pub fn with_split(&self, split: Split) -> Result<Calibrated, ParameterError> {
        let votes = self.touch.votes();
        if self.dimensions == 0 || self.dimensions >= 1 << 14 {
            let accepted = "give between 1 and 16383 coordinates";
            return Err(ParameterError::out_of_range("dimensions", self.dimensions, accepted));
        }
        if !(4..=MOST_VOTES).contains(&votes) {
            let accepted = "give between 4 and 2^20 blocks for a consensus of vectors";
            return Err(ParameterError::out_of_range("blocks", votes, accepted));
        }
        let half = Delta::new(self.delta.ratio() / &Ratio::from(2u64))?;
        let most = Ratio::from(votes) * Ratio::from(votes - 1);
        let least = &split.agreement * &most;
        if !least.is_positive() || least > most {
            let accepted = "give a number above 0 and at most 1";
            return Err(ParameterError::out_of_range("agreement", &split.agreement, accepted));
        }
        let least_weight = u64::try_from(least.ceil_i64().unwrap_or(i64::MAX)).expect("above zero");
        // In steps, of which the radius has 2^16.
        let sensitivity = Ratio::from(6u64 * self.touch.per_unit() * (votes - 1))
            * Ratio::from(1u64 << STEP_BITS)
            / Ratio::from(least_weight);
        let noise = Gaussian {
            target: Target::Approx { eps: split.noise.clone(), delta: half.clone() },
            sensitivity: L2::Exact(sensitivity),
            grid: Ratio::one(),
            dimensions: self.dimensions,
            values: Values::Any,
            noise: Noise::Real,
        };
        let test = Gate { eps: split.test.clone(), delta: half.clone(), adjacency: self.touch.adjacency() };
        let inner = Approx::new(&split.noise, &half);
        Ok(Calibrated {
            params: self.clone(),
            radius: self.radius(&split.radius)?.calibrate()?,
            tested: ProposeTestRelease { test, inner }.calibrate()?,
            noise: noise.calibrate()?,
            split,
            least_weight,
        })
    }

    fn radius(&self, eps: &Eps) -> Result<InverseSensitivity, ParameterError> {
        let shift = 52 - RADIUS_BITS;
        let eps = Eps::new(eps.ratio() / &Ratio::from(self.touch.per_unit()))?;
        let target = Quantile::new(&Ratio::new(PAIRS.0, PAIRS.1))?.into();
        let range = Range::new(0, FLOATS.hi() >> shift)?;
        Ok(InverseSensitivity { eps, target, range, adjacency: Adjacency::Replace })
    }

    /// The least part of epsilon whose radius lies between the distances of about half and of nearly all pairs.
    fn least_radius_eps(&self) -> Result<Eps, ParameterError> {
        let ranks = self.touch.votes() / 8;
        self.least_part(|eps| {
            let found =
                self.radius(eps)?.calibrate()?.accuracy(&Ratio::new(RADIUS_FAILURE.0, RADIUS_FAILURE.1))?;
            Ok(found <= ranks)
        })
    }

    /// The least part of epsilon at which votes that nearly all agree pass the test.
    fn least_test_eps(&self, agreement: &Ratio) -> Result<Eps, ParameterError> {
        let adjacency = self.touch.adjacency();
        // Normal votes have about nine tenths of the largest weight.
        let spare = (Ratio::new(9, 10) - agreement) * Ratio::from(self.touch.votes());
        let people = (spare / Ratio::from(3 * self.touch.per_unit())).floor_i64().expect("fewer than votes");
        let distance = Slack::steps_to_unstable(u64::try_from(people).unwrap_or(0), adjacency);
        let delta = Delta::new(self.delta.ratio() / &Ratio::from(2u64))?;
        self.least_part(|eps| {
            let gate = Gate { eps: eps.clone(), delta: delta.clone(), adjacency }.calibrate()?;
            Ok(gate.accuracy(distance) <= Ratio::new(FAILURE.0, FAILURE.1))
        })
    }

    /// The fewest 32nds of epsilon that are enough; what is enough stays so.
    fn least_part(
        &self,
        enough: impl Fn(&Eps) -> Result<bool, ParameterError>,
    ) -> Result<Eps, ParameterError> {
        let part = |parts: i64| Eps::new(self.eps.ratio() * &Ratio::new(parts, 32));
        let (mut low, mut high) = (0, 31);
        if !enough(&part(high)?)? {
            return Err(self.too_few());
        }
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if enough(&part(middle)?)? { high = middle } else { low = middle }
        }
        part(high)
    }

    fn too_few(&self) -> ParameterError {
        let accepted = "too few to find a consensus at this epsilon; use more blocks or a larger epsilon";
        ParameterError::out_of_range("blocks", self.touch.votes(), accepted)
    }
}

impl Calibrated {
    /// What a run costs.
    pub fn cost(&self) -> Loss {
        Loss::pure(&self.split.radius).compose(&self.tested.cost())
    }

    /// How epsilon is shared out.
    pub fn split(&self) -> &Split {
        &self.split
    }

    /// The noisy mean of the votes that agree, or a refusal. Panics unless there are as many votes as was said, all of
    /// the same length.
    pub fn run<C: Coins>(&self, votes: &[Vec<f64>], coins: &mut C) -> Outcome<Located> {
        self.params.touch.check(votes.len());
        assert!(votes.iter().all(|vote| vote.len() == self.params.dimensions), "votes of one length");
        let radius = self.draw_radius(votes, coins);
        let step = radius / f64::from(1u32 << STEP_BITS);
        let steps: Vec<Vec<i64>> = votes.iter().map(|vote| whole_steps(vote, step)).collect();
        let core = Core::of(&steps, 1 << STEP_BITS);
        let inner = |coins: &mut C| self.noise.run(&core.mean(self.params.dimensions), coins);
        let outcome = self.tested.run(self.distance(&core), inner, coins);
        outcome
            .map(|mean| Located { value: mean.iter().map(|steps| steps.to_f64() * step).collect(), radius })
    }

    /// A private radius: two thirds of the pairs are closer, widened so that nearly all votes of one cloud have a
    /// weight.
    fn draw_radius<C: Coins>(&self, votes: &[Vec<f64>], coins: &mut C) -> f64 {
        let shift = 52 - RADIUS_BITS;
        // One distance for each pair: however floats round, t votes change at most t of these numbers.
        let place =
            |pair: &[Vec<f64>]| ordinal(distance(&pair[0], &pair[1]).min(f64::MAX)).unwrap_or(0) >> shift;
        let places: Vec<i64> = votes.chunks_exact(2).map(place).collect();
        let drawn = self.radius.run_integers(&places, coins);
        let edge = float(FLOATS.clamp((drawn + 1) << shift)).expect("clamped to the floats");
        (edge * self.params.widen()).clamp(SMALLEST_RADIUS, f64::MAX)
    }

    fn distance(&self, core: &Core) -> Slack {
        let votes = u128::from(self.params.touch.votes());
        let each = 3 * u128::from(self.params.touch.per_unit()) * (votes - 1);
        let people = core.weight.saturating_sub(self.least_weight.into()) / each;
        Slack::steps_to_unstable(u64::try_from(people).unwrap_or(u64::MAX), self.params.touch.adjacency())
    }

    /// With probability 1 - beta each coordinate is this part of the radius from the weighted mean of the votes that agree, which
    /// are rounded by up to half a step; but for what floats lose.
    pub fn accuracy(&self, beta: &Ratio) -> f64 {
        ((self.noise.accuracy(beta) + Ratio::new(1, 2)) / Ratio::from(1u64 << STEP_BITS)).to_f64()
    }

    /// The standard deviation of the noise of a coordinate as a part of the radius.
    pub fn noise_in_radii(&self) -> f64 {
        self.noise.variance().to_f64().sqrt() / f64::from(1u32 << STEP_BITS)
    }

    /// The same in standard deviations of a coordinate of the votes, if those are normal and alike in all coordinates:
    /// a hint that needs no data.
    pub fn noise_in_spreads(&self) -> f64 {
        // Pairs are sqrt(2d) apart on average, a little more at this quantile and rounded up.
        let pair = (2.0 * self.params.dimensions as f64).sqrt() + 0.5;
        self.noise_in_radii() * pair * self.params.widen()
    }
}

impl Ball {
    /// In few dimensions distances vary more, and the radius must be wider to hold nearly all votes.
    fn widen(&self) -> f64 {
        1.0 + 2.5 / (self.dimensions as f64).sqrt()
    }
}

/// 2^-40.
const LEAST_SPREAD: f64 = 1.0 / (1u64 << 40) as f64;
/// Steps of smaller radii would not be normal floats.
const SMALLEST_RADIUS: f64 = 1e-290;

/// Scaled by the longest side, so that squares neither vanish nor overflow. At least 2^-40 of the votes themselves, so
/// that votes are never too many steps from zero.
fn distance(a: &[f64], b: &[f64]) -> f64 {
    let gaps = || a.iter().zip(b).map(|(a, b)| (a - b).abs().max(a.abs().max(b.abs()) * LEAST_SPREAD));
    let longest = gaps().fold(0.0, f64::max);
    if longest == 0.0 || longest.is_infinite() {
        return longest;
    }
    longest * gaps().map(|gap| (gap / longest).powi(2)).sum::<f64>().sqrt()
}

/// The nearest whole steps, within 2^60. One vote gives one vector, however floats round.
fn whole_steps(vote: &[f64], step: f64) -> Vec<i64> {
    const MOST: i64 = 1 << 60;
    #[expect(
        clippy::cast_possible_truncation,
        reason = "floats beyond 64 bits become the ends, then are clamped"
    )]
    vote.iter().map(|value| ((value / step).round() as i64).clamp(-MOST, MOST)).collect()
}

/// The sum of the weights, and the weighted sum of the votes: private, both.
#[derive(Clone, PartialEq, Eq)]
pub struct Core {
    weight: u128,
    sums: Vec<i128>,
}

impl std::fmt::Debug for Core {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Core").finish_non_exhaustive()
    }
}

impl Core {
    /// Votes are weighted by how many lie within this radius. The work depends on the number of votes and their length
    /// alone.
    pub fn of(votes: &[Vec<i64>], radius: u32) -> Self {
        let count = i64::try_from(votes.len()).expect("a list in memory");
        let mut nearby = vec![1i64; votes.len()];
        for (i, vote) in votes.iter().enumerate() {
            for (j, other) in votes.iter().enumerate().skip(i + 1) {
                let near = i64::from(is_near(vote, other, radius));
                nearby[i] += near;
                nearby[j] += near;
            }
        }
        let mut core = Self { weight: 0, sums: vec![0; votes.first().map_or(0, Vec::len)] };
        for (vote, near) in votes.iter().zip(nearby) {
            let weight = (2 * near - count - 1).max(0);
            core.weight += u128::from(weight.unsigned_abs());
            for (sum, &value) in core.sums.iter_mut().zip(vote) {
                *sum += i128::from(weight) * i128::from(value);
            }
        }
        core
    }

    /// The sum of all weights.
    pub fn weight(&self) -> u128 {
        self.weight
    }

    /// The weighted mean; zero where no vote has a weight, which is never safe.
    pub fn mean(&self, dimensions: usize) -> Vec<Ratio> {
        if self.weight == 0 {
            return vec![Ratio::zero(); dimensions];
        }
        let weight = dashu_int::UBig::from(self.weight);
        self.sums.iter().map(|&sum| Ratio::from_parts(sum.into(), weight.clone())).collect()
    }
}

/// Is the distance at most the radius, of at most 2^24 steps? Exact, in the same number of operations for all votes.
fn is_near(a: &[i64], b: &[i64], radius: u32) -> bool {
    debug_assert!(radius <= 1 << 24 && a.len() < 1 << 14, "squares add up within 64 bits");
    let radius = u64::from(radius);
    let gap = |(a, b): (&i64, &i64)| a.abs_diff(*b).min(radius + 1).pow(2);
    a.iter().zip(b).map(gap).sum::<u64>() <= radius * radius
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        coins::ScriptedWords,
        interval::{AUDIT_BITS, Interval},
        tape::{Pmf, delta_between, enumerate},
        universe::{multisets, neighbouring_pairs},
    };
    use std::collections::BTreeMap;

    fn ratio(text: &str) -> Ratio {
        text.parse().unwrap()
    }

    fn ball(eps: &str, dimensions: usize, votes: u64, per_unit: u64) -> Ball {
        let touch = VotesPerUnit::new(votes, per_unit, Adjacency::AddRemove).unwrap();
        Ball { eps: eps.parse().unwrap(), delta: "1e-6".parse().unwrap(), dimensions, touch }
    }

    fn lists(votes: &[i64]) -> Vec<Vec<i64>> {
        votes.iter().map(|&vote| vec![vote]).collect()
    }

    /// Steps 3 and 4: how far the weights and the weighted mean move when one vote is replaced. The largest move of the
    /// mean, times A'/(r(m - 1)), that was found.
    fn check_moves(all: &[Vec<Vec<i64>>], points: &[Vec<i64>], radius: u32) -> f64 {
        let mut worst = 0f64;
        for votes in all {
            let (here, count) = (Core::of(votes, radius), votes.len() as u128);
            for (index, point) in (0..votes.len()).flat_map(|i| points.iter().map(move |p| (i, p))) {
                let mut other = votes.clone();
                other[index] = point.clone();
                let there = Core::of(&other, radius);
                assert!(here.weight.abs_diff(there.weight) <= 3 * (count - 1), "{votes:?} {other:?}");
                if here.weight == 0 || there.weight == 0 {
                    continue;
                }
                let squared: Ratio = here
                    .mean(point.len())
                    .iter()
                    .zip(there.mean(point.len()))
                    .map(|(a, b)| (a - &b).squared())
                    .sum();
                let scale = Ratio::from(u64::try_from(here.weight.max(there.weight)).unwrap())
                    / Ratio::from(u64::from(radius) * u64::try_from(count - 1).unwrap());
                assert!(squared.clone() * scale.squared() <= Ratio::from(36u64), "{votes:?} {other:?}");
                worst = worst.max((squared.to_f64()).sqrt() * scale.to_f64());
            }
        }
        worst
    }

    #[test]
    fn weights_and_mean_move_as_little_as_claimed() {
        let mut worst = 0f64;
        for (count, radius) in [(4, 1), (5, 1), (5, 2), (6, 1), (6, 2), (7, 2)] {
            let values: Vec<i64> = (0..=4 * i64::from(radius)).collect();
            let all: Vec<Vec<Vec<i64>>> = multisets(&values, count).iter().map(|v| lists(v)).collect();
            worst = worst.max(check_moves(&all, &lists(&values), radius));
        }
        assert!(worst > 1.0, "{worst}");
        // In the plane: all lists of four of nine points.
        let points: Vec<Vec<i64>> = (0..9).map(|i| vec![i % 3, i / 3]).collect();
        let all: Vec<Vec<Vec<i64>>> = multisets(&(0..9).collect::<Vec<_>>(), 4)
            .iter()
            .map(|list| list.iter().map(|&i| points[usize::try_from(i).unwrap()].clone()).collect())
            .collect();
        check_moves(&all, &points, 1);
        check_moves(&all, &points, 2);
    }

    /// An agreement of nothing would be passed by any votes, and one beyond all pairs by none.
    #[test]
    fn an_agreement_is_a_part_of_all_pairs() {
        let ball = ball("1", 2, 900, 1);
        let split = ball.calibrate().unwrap().split().clone();
        let with = |agreement: &str| ball.with_split(Split { agreement: ratio(agreement), ..split.clone() });
        for agreement in ["0", "-1/2", "1.001"] {
            let refused = with(agreement).unwrap_err().to_string();
            assert!(refused.ends_with("give a number above 0 and at most 1"), "{agreement}: {refused}");
        }
        // All of 900 votes and the 899 others of each.
        assert_eq!(with("1").unwrap().least_weight, 900 * 899);
    }

    /// The radius is right within an eighth of the votes, and no cheaper one is. With few votes the test that half of the pairs agree
    /// is the only one that they pass.
    #[test]
    fn no_more_is_spent_than_a_radius_needs_and_few_votes_may_agree_by_half() {
        for votes in [400, 900, 5000] {
            let ball = ball("1", 3, votes, 1);
            let off = |eps: &Ratio| {
                let eps = Eps::new(eps.clone()).unwrap();
                ball.radius(&eps).unwrap().calibrate().unwrap().accuracy(&ratio("1/20")).unwrap()
            };
            let eps = ball.least_radius_eps().unwrap().ratio().clone();
            assert!(off(&eps) <= votes / 8, "{votes}");
            let less = &eps - &ratio("1/32");
            assert!(!less.is_positive() || off(&less) > votes / 8, "{votes}");
        }
        let (mut few, mut enough) = (60, 900);
        while enough - few > 1 {
            let middle = few + (enough - few) / 2;
            if ball("1", 3, middle, 1).calibrate().is_ok() { enough = middle } else { few = middle }
        }
        let least = ball("1", 3, enough, 1).calibrate().unwrap();
        assert_eq!(least.split().agreement, ratio("1/2"));
    }

    #[test]
    fn calibrations() {
        let found = ball("1", 11, 900, 1).calibrate().unwrap();
        let split = found.split();
        let sum = split.radius.ratio() + split.test.ratio() + split.noise.ratio();
        assert_eq!(sum, Ratio::one());
        assert_eq!(found.cost().to_string(), "(1, 0.000001)-differential privacy");
        assert!(found.noise_in_spreads() < 1.0, "{}", found.noise_in_spreads());
        // (sqrt(22) + 1/2) times (1 + 2.5/sqrt(11)).
        assert!((found.noise_in_spreads() / found.noise_in_radii() - 9.10283).abs() < 1e-4);
        let two = ball("1", 11, 1800, 2).calibrate().unwrap();
        assert!((two.noise_in_radii() / found.noise_in_radii() - 1.0).abs() < 0.05);
        let few = ball("1", 11, 60, 1).calibrate().unwrap_err().to_string();
        assert!(few.starts_with("blocks 60 is not accepted: too few"), "{few}");
    }

    /// The test and the noise, with given epsilons, over all lists of five votes of five values, radius one step.
    fn worst(claim_delta: &str, slack_of: impl Fn(&Core) -> Slack, sensitivity: Ratio) -> Interval {
        let half = Delta::new(ratio(claim_delta) / Ratio::from(2u64)).unwrap();
        let eps: Eps = "1".parse().unwrap();
        let noise = Gaussian {
            target: Target::Approx { eps: eps.clone(), delta: half.clone() },
            sensitivity: L2::Exact(sensitivity),
            grid: Ratio::one(),
            dimensions: 1,
            values: Values::Any,
            noise: Noise::Real,
        }
        .calibrate()
        .unwrap();
        let test = Gate { eps: eps.clone(), delta: half.clone(), adjacency: Adjacency::Replace };
        let tested = ProposeTestRelease { test, inner: Approx::new(&eps, &half) }.calibrate().unwrap();
        let run = |votes: &[i64]| -> Pmf<Outcome<Vec<Ratio>>> {
            let core = Core::of(&lists(votes), 1);
            enumerate(&ratio("1e-9"), |tape| {
                tested.run(slack_of(&core), |tape| noise.run(&core.mean(1), tape), tape)
            })
        };
        let mut seen: BTreeMap<Vec<i64>, Pmf<Outcome<Vec<Ratio>>>> = BTreeMap::new();
        let mut worst = Interval::zero(AUDIT_BITS);
        for (a, b) in neighbouring_pairs(&[0, 1, 9], 6, Adjacency::Replace) {
            for votes in [&a, &b] {
                seen.entry(votes.clone()).or_insert_with(|| run(votes));
            }
            worst = worst.max(&delta_between(&Ratio::from(2u64), &seen[&a], &seen[&b]));
        }
        worst
    }

    /// Of the largest weight 30, at least this much.
    const LEAST: u128 = 10;

    fn people(core: &Core, each: u128) -> Slack {
        let people = u64::try_from(core.weight.saturating_sub(LEAST) / each).unwrap();
        Slack::steps_to_unstable(people, Adjacency::Replace)
    }

    #[test]
    fn exact_audit_of_test_and_noise_over_all_small_lists_of_votes() {
        let sensitivity = Ratio::new(6 * 5, 10);
        let delta = worst("0.01", |core| people(core, 15), sensitivity);
        assert!(delta.certainly_at_most(&ratio("0.010001")), "{}", delta.to_f64());
    }

    #[test]
    fn a_mutant_whose_test_counts_a_third_of_the_move_is_caught() {
        let delta = worst("0.01", |core| people(core, 2), Ratio::new(1, 2));
        assert!(delta.certainly_above(&ratio("0.02")), "{}", delta.to_f64());
    }

    #[test]
    fn a_scripted_run_and_edges() {
        let found = ball("2", 3, 500, 1).calibrate().unwrap();
        for (centre, spread) in [(0.0, 1.0), (1e5, 1e-3), (-1e-200, 1e-204), (4.0, 0.0)] {
            // Squares, so that votes next to each other are as far apart as any two.
            let place = |i: usize, j: usize| ((i * i * (3 + j) + 17 * i) % 101) as f64;
            let at = |i: usize, j: usize| centre + spread * (place(i, j) / 50.0 - 1.0);
            let votes: Vec<Vec<f64>> = (0..500).map(|i| (0..3).map(|j| at(i, j)).collect()).collect();
            let coins = &mut ScriptedWords::new(vec![1 << 61; 60]);
            let Outcome::Value(located) = found.run(&votes, coins) else { panic!("{centre} {spread}") };
            for value in &located.value {
                assert!(
                    (value - centre).abs() < spread.max(1e-9 * f64::abs(centre)),
                    "{centre} {spread} {located:?}"
                );
            }
        }
        let apart: Vec<Vec<f64>> = (0..500).map(|i| vec![2f64.powi(i - 250), 0.0, 0.0]).collect();
        assert_eq!(found.run(&apart, &mut ScriptedWords::new(vec![1 << 61; 60])), Outcome::Refused);
        assert!(found.accuracy(&ratio("0.05")) < 0.25, "{}", found.accuracy(&ratio("0.05")));
        assert_eq!(Core::of(&lists(&[0, 9, 18, 27]), 1).mean(1), [Ratio::zero()]);
    }
}
