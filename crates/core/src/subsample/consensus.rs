//! Releases the median of the votes where they agree within a proposed bound, or how widely they are spread; refuses else.
//!
//! Source: 000_4d769f04a6a550e8.txt, end of section 7.2 ("view the intermediate results as a data set and consider some measure of
//! the concentration of these values"), Algorithm 12 (Scale).
//!
//! # Guarantee
//!
//! The median: (test + noise epsilons, delta). The spread: (gate + noise epsilons, delta). Under the adjacency of the
//! [`VotesPerUnit`], for any votes of which one person replaces at most t, [`VotesPerUnit::per_unit`]; the spread for t = 1.
//!
//! # Why
//!
//! 1. Votes are data of public number, of which one person replaces t: [propose-test-release](crate::mechanism::propose_test_release)
//!    and [Scale](crate::mechanism::scale) run on them under replace.
//! 2. Let k replaced votes be the fewest after which one more can move the median by more than the bound b. For fewer than
//!    k votes, one person's t votes move it by at most t·b, one vote at a time. So floor(k/t) people lead to votes that
//!    are not safe, and noise at t·b is enough.
//!
//! # Example
//!
//! ```
//! use equipoise_core::{adjacency::Adjacency, coins::ScriptedWords, outcome::Outcome, stability::Range};
//! use equipoise_core::subsample::{VotesPerUnit, consensus::ProposedMedian};
//!
//! let touch = VotesPerUnit::new(100, 1, Adjacency::AddRemove)?;
//! let median = ProposedMedian {
//!     test_eps: "1".parse()?, noise_eps: "1".parse()?, delta: "1e-6".parse()?,
//!     bound: 2, range: Range::new(0, 1_000_000)?, touch,
//! }.calibrate()?;
//! let votes: Vec<i64> = (0..100).map(|i| 5000 + i % 3).collect();
//! # let mut coins = ScriptedWords::new(vec![1 << 58, 0, 0]);
//! let Outcome::Value(answer) = median.run(&votes, &mut coins) else { panic!("they agree") };
//! assert!((answer - 5001).abs() < 50);
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
        laplace::{self, Laplace},
        propose_test_release::{self, ProposeTestRelease},
        scale::{self, Scale, Spread},
    },
    outcome::{Outcome, Slack},
    ratio::Ratio,
    stability::{Median, Range, Reach, Sorted},
};

/// A median of votes that agree; all parameters public.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProposedMedian {
    /// Epsilon of the test.
    pub test_eps: Eps,
    /// Epsilon of the noise.
    pub noise_eps: Eps,
    /// Above zero.
    pub delta: Delta,
    /// The most that one vote may move the median, in steps.
    pub bound: u64,
    /// The range of the votes, whole numbers of steps.
    pub range: Range,
    /// How many votes there are, and how many one person can change.
    pub touch: VotesPerUnit,
}

/// A median ready to run.
#[derive(Clone, Debug)]
pub struct Calibrated {
    params: ProposedMedian,
    tested: propose_test_release::Calibrated,
    noise: laplace::Calibrated,
}

impl ProposedMedian {
    /// Compute test and noise. Sees no data, so it may fail freely and costs nothing.
    pub fn calibrate(&self) -> Result<Calibrated, ParameterError> {
        let sensitivity = Ratio::from(self.bound) * Ratio::from(self.touch.per_unit());
        let (eps, values, noise) = (self.noise_eps.clone(), Values::OnGrid, Noise::Discrete);
        let noise =
            Laplace { eps, sensitivity, grid: Ratio::one(), dimensions: 1, values, noise }.calibrate()?;
        let (eps, delta, adjacency) = (self.test_eps.clone(), self.delta.clone(), self.touch.adjacency());
        let inner = Approx::new(&self.noise_eps, &Delta::zero());
        let tested = ProposeTestRelease { test: Gate { eps, delta, adjacency }, inner }.calibrate()?;
        Ok(Calibrated { params: self.clone(), tested, noise })
    }
}

impl Calibrated {
    /// What a run costs.
    pub fn cost(&self) -> Loss {
        self.tested.cost()
    }

    /// The noisy low median of the votes, or a refusal. Panics unless there are as many votes as was said.
    pub fn run<C: Coins>(&self, votes: &[i64], coins: &mut C) -> Outcome<i64> {
        self.params.touch.check(votes.len());
        let window = Median.window(votes, self.params.range, Reach::All);
        let value = window.target().or(self.params.range.lo());
        let safe = Median.slack_below_sensitivity(&window, self.params.bound, Adjacency::Replace);
        self.tested.run(self.people(safe), |coins| self.noise.run_whole(value, coins), coins)
    }

    /// Steps of people to votes that are not safe, from steps of votes.
    fn people(&self, votes: Slack) -> Slack {
        let adjacency = self.params.touch.adjacency();
        match votes.until_unstable() {
            Some(votes) => Slack::steps_to_unstable(votes / self.params.touch.per_unit(), adjacency),
            None => Slack::constant(adjacency),
        }
    }

    /// With probability 1 - beta an answer is off by at most this.
    pub fn accuracy(&self, beta: &Ratio) -> Ratio {
        self.noise.accuracy(beta)
    }
}

/// How widely votes are spread: their interquartile range up to a factor; all parameters public.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VoteSpread {
    /// Epsilon of the gate.
    pub gate_eps: Eps,
    /// Epsilon of the cell that is released.
    pub noise_eps: Eps,
    /// Above zero.
    pub delta: Delta,
    /// The range of the votes, whole numbers of steps.
    pub range: Range,
    /// How many votes there are; one person may change one.
    pub touch: VotesPerUnit,
}

/// A spread ready to run.
#[derive(Clone, Debug)]
pub struct CalibratedSpread {
    inner: scale::Calibrated,
    range: Range,
    touch: VotesPerUnit,
}

impl VoteSpread {
    /// Compute gate and cells: factors of two in two positions. Sees no data, so it may fail freely and costs nothing.
    pub fn calibrate(&self) -> Result<CalibratedSpread, ParameterError> {
        if self.touch.per_unit() > 1 {
            let accepted =
                "the spread needs a design in which a person changes one vote: fresh labels, or add-remove";
            return Err(ParameterError::out_of_range("votes per unit", self.touch.per_unit(), accepted));
        }
        let inner = Scale {
            gate_eps: self.gate_eps.clone(),
            noise_eps: self.noise_eps.clone(),
            delta: self.delta.clone(),
            base: Ratio::from(2u64),
            shifts: 2,
            parts: 2,
            adjacency: Adjacency::Replace,
        };
        Ok(CalibratedSpread { inner: inner.calibrate()?, range: self.range, touch: self.touch })
    }
}

impl CalibratedSpread {
    /// What a run costs.
    pub fn cost(&self) -> Loss {
        self.inner.cost()
    }

    /// About how far apart the quartiles of the votes are, in steps, or a refusal. Panics unless there are as many votes as
    /// was said.
    pub fn run<C: Coins>(&self, votes: &[i64], coins: &mut C) -> Outcome<Spread> {
        self.touch.check(votes.len());
        self.inner.run(&Sorted::new(votes, self.range), coins)
    }

    /// The middle of what was released.
    pub fn estimate(&self, spread: &Spread) -> Option<Ratio> {
        self.inner.estimate(spread)
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

    fn median(votes: u64, per_unit: u64) -> Calibrated {
        let touch = VotesPerUnit::new(votes, per_unit, Adjacency::Replace).unwrap();
        let range = Range::new(0, 4).unwrap();
        let [test_eps, noise_eps]: [Eps; 2] = ["1", "1"].map(|eps| eps.parse().unwrap());
        ProposedMedian { test_eps, noise_eps, delta: "0.01".parse().unwrap(), bound: 1, range, touch }
            .calibrate()
            .unwrap()
    }

    fn worst(median: &Calibrated, replaced: usize) -> Interval {
        let mut seen: BTreeMap<Vec<i64>, Pmf<Outcome<i64>>> = BTreeMap::new();
        let mut worst = Interval::zero(AUDIT_BITS);
        for (a, b) in votes_within(&[0, 1, 2, 4], 7, replaced) {
            for votes in [&a, &b] {
                seen.entry(votes.clone())
                    .or_insert_with(|| enumerate(&ratio("1e-12"), |tape| median.run(votes, tape)));
            }
            worst = worst.max(&delta_between(&Ratio::from(2u64), &seen[&a], &seen[&b]));
        }
        worst
    }

    #[test]
    fn exact_audit_over_all_votes_that_one_person_can_change() {
        for per_unit in [1, 2] {
            let delta = worst(&median(7, per_unit), usize::try_from(per_unit).unwrap());
            assert!(delta.certainly_at_most(&ratio("0.010000001")), "{}", delta.to_f64());
        }
    }

    #[test]
    fn a_mutant_whose_person_has_two_votes_is_caught() {
        let delta = worst(&median(7, 1), 2);
        assert!(delta.certainly_above(&ratio("0.0101")), "{}", delta.to_f64());
    }

    #[test]
    fn costs_refusals_and_the_spread() {
        assert_eq!(median(7, 1).cost().to_string(), "(2, 0.01)-differential privacy");
        let touch = |per_unit| VotesPerUnit::new(400, per_unit, Adjacency::AddRemove).unwrap();
        let [gate_eps, noise_eps]: [Eps; 2] = ["1", "2"].map(|eps| eps.parse().unwrap());
        let range = Range::new(0, 1 << 40).unwrap();
        let spread =
            VoteSpread { gate_eps, noise_eps, delta: "1e-6".parse().unwrap(), range, touch: touch(1) };
        let calibrated = spread.calibrate().unwrap();
        let votes: Vec<i64> = (0..400).map(|i| 1_000_000 + 5 * i).collect();
        let Outcome::Value(found) = calibrated.run(&votes, &mut ScriptedWords::new(vec![0, 0, 0])) else {
            panic!("far from another bin")
        };
        let estimate = calibrated.estimate(&found).unwrap().to_f64();
        assert!(estimate > 250.0 && estimate < 4000.0, "{estimate}");
        let error = VoteSpread { touch: touch(2), ..spread }.calibrate().unwrap_err().to_string();
        assert!(error.starts_with("votes per unit 2 is not accepted"), "{error}");
    }
}
