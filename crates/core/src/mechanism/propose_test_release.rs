//! Runs a mechanism that is safe on most data sets, where the data is far from the others; else it refuses.
//!
//! Source: 002_c9075a084346ce80.txt, Algorithm 1; 000_4d769f04a6a550e8.txt, section 7.2 (Dwork and Lei 2009).
//!
//! # Guarantee
//!
//! Let SAFE be data sets on which the inner mechanism is (e2, d2)-indistinguishable from all neighbours, both
//! ways round, and let the slack count changes to a data set outside SAFE. With a test of (e1, d1) the
//! outcome is (e1 + e2, d1 + d2)-DP under the adjacency of the test.
//! [`LaplaceAtBound`]: noise for local sensitivity `bound`, where few changes cannot exceed it: (e1 + e2, d1).
//!
//! # Why
//!
//! 1. Neighbours that are both unsafe: both pass with probability d1 at most, and both refuse alike.
//! 2. Neighbours of which one is safe: their inner answers are (e2, d2)-indistinguishable, their tests
//!    (e1, d1)-indistinguishable, and the two use separate coins: losses add up.
//! 3. Where the local sensitivity is at most the bound, the value moves by at most that to any neighbour, and
//!    Laplace noise of scale bound/e2 hides it with e2 and no delta.
//!
//! # Differs
//!
//! The text compares a noisy distance with 2 ln(1/delta)/epsilon + 1 and states no guarantee; the optimal
//! [`gate`] needs 14 rows to change for an even chance where that test needs 30 (epsilon 1, delta
//! 1e-6), and [`threshold`](super::threshold) has the printed form. The inner mechanism always runs, and is
//! thrown away on a refusal, so that a refusal takes as long as an answer. Bound and parameters are public: a bound
//! read off the data is not private; [`searched_bound`](super::searched_bound) pays for one.
//!
//! A distance of your own? [`refute`](crate::refute) searches small data sets for what is wrong with it.
//!
//! # Example
//!
//! ```
//! use equipoise_core::{
//!     adjacency::Adjacency,
//!     coins::ScriptedWords,
//!     mechanism::{gate::Gate, propose_test_release::LaplaceAtBound},
//!     outcome::Outcome,
//!     stability::{Median, Range},
//! };
//!
//! let test = Gate { eps: "1".parse()?, delta: "1e-6".parse()?, adjacency: Adjacency::AddRemove };
//! let proposed = LaplaceAtBound { test, noise_eps: "1".parse()?, bound: 2 };
//! let calibrated = proposed.calibrate()?;
//! assert_eq!(calibrated.cost().to_string(), "(2, 0.000001)-differential privacy");
//! // A hundred ages around thirty, in a range where the median could move by 120.
//! let ages: Vec<i64> = (0..100).map(|i| 25 + i / 10).collect();
//! let window = Median.window(&ages, Range::new(0, 120)?, calibrated.reach());
//! # let mut coins = ScriptedWords::new(vec![1 << 58, 0, 0]);
//! let Outcome::Value(age) = calibrated.median(&window, &mut coins) else { panic!("far from unsafe") };
//! assert!((25..35).contains(&age));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use super::gate::{self, Gate};
use crate::{
    adjacency::Adjacency,
    coins::Coins,
    loss::{Approx, Delta, Eps, Loss, ParameterError},
    mechanism::{
        Noise, Values,
        laplace::{self, Laplace},
    },
    outcome::{Outcome, Slack},
    ratio::Ratio,
    stability::{Median, Quantile, Reach, Window},
};

/// Any mechanism behind a test; all parameters public.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProposeTestRelease {
    /// The test: how much the distance may show, and how often an unsafe data set may pass.
    pub test: Gate,
    /// What the inner mechanism loses between a safe data set and any neighbour.
    pub inner: Approx,
}

/// A tested mechanism ready to run.
#[derive(Clone, Debug)]
pub struct Calibrated {
    gate: gate::Calibrated,
    cost: Approx,
}

impl ProposeTestRelease {
    /// Compute the test. Sees no data, so it may fail freely and costs nothing.
    pub fn calibrate(&self) -> Result<Calibrated, ParameterError> {
        let cost = Approx::new(&self.test.eps, &self.test.delta).compose(&self.inner);
        Ok(Calibrated { gate: self.test.calibrate()?, cost })
    }
}

impl Calibrated {
    /// What a run costs.
    pub fn cost(&self) -> Loss {
        Loss::Approx(self.cost.clone())
    }

    /// The inner answer or a refusal. `distance` counts changes to an unsafe data set:
    /// [`Slack::steps_to_unstable`]. The inner mechanism runs in any case, on unsafe data too.
    pub fn run<Y, C: Coins>(
        &self,
        distance: Slack,
        inner: impl FnOnce(&mut C) -> Y,
        coins: &mut C,
    ) -> Outcome<Y> {
        let answer = inner(coins);
        if self.gate.run(distance, coins) { Outcome::Value(answer) } else { Outcome::Refused }
    }

    /// The chance of a refusal at this distance.
    pub fn accuracy(&self, distance: Slack) -> Ratio {
        self.gate.accuracy(distance)
    }

    /// The least distance that is refused with probability at most beta.
    pub fn distance_for(&self, beta: &Ratio) -> Option<Slack> {
        self.gate.slack_for(&(Ratio::one() - beta))
    }
}

/// Laplace noise at a proposed bound on the local sensitivity of whole numbers; all parameters public.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaplaceAtBound {
    /// The test.
    pub test: Gate,
    /// The epsilon of the noise.
    pub noise_eps: Eps,
    /// The most that one row may move the value, in steps of the grid of the rows. At least one.
    pub bound: u64,
}

/// Noise at a proposed bound, ready to run.
#[derive(Clone, Debug)]
pub struct CalibratedLaplace {
    tested: Calibrated,
    noise: laplace::Calibrated,
    adjacency: Adjacency,
    bound: u64,
}

impl LaplaceAtBound {
    /// Compute test and noise. Sees no data, so it may fail freely and costs nothing.
    pub fn calibrate(&self) -> Result<CalibratedLaplace, ParameterError> {
        if self.bound == 0 {
            let accepted = "propose at least 1; a value that no row can move is for a stable release";
            return Err(ParameterError::out_of_range("bound", self.bound, accepted));
        }
        let noise = Laplace {
            eps: self.noise_eps.clone(),
            sensitivity: Ratio::from(self.bound),
            grid: Ratio::one(),
            dimensions: 1,
            values: Values::OnGrid,
            noise: Noise::Discrete,
        };
        let inner = Approx::new(&self.noise_eps, &Delta::zero());
        let tested = ProposeTestRelease { test: self.test.clone(), inner }.calibrate()?;
        let (noise, adjacency) = (noise.calibrate()?, self.test.adjacency);
        Ok(CalibratedLaplace { tested, noise, adjacency, bound: self.bound })
    }
}

impl CalibratedLaplace {
    /// What a run costs.
    pub fn cost(&self) -> Loss {
        self.tested.cost()
    }

    /// How far a window must look for the test to be as good as with all rows.
    pub fn reach(&self) -> Reach {
        let certain = self.tested.distance_for(&Ratio::zero()).and_then(Slack::until_unstable);
        certain.map_or(Reach::All, Reach::Ranks)
    }

    /// The noisy value or a refusal. `distance` counts changes to a data set whose local sensitivity exceeds
    /// the bound.
    pub fn run(&self, value: i64, distance: Slack, coins: &mut impl Coins) -> Outcome<i64> {
        // The exact sum, cut off at the ends of 64 bits: what happens after the noise costs nothing.
        self.tested.run(distance, |coins| self.noise.run_whole(value, coins), coins)
    }

    /// The noisy low median; the median of no rows is the low end of the range.
    pub fn median(&self, window: &Window, coins: &mut impl Coins) -> Outcome<i64> {
        let distance = Median.slack_below_sensitivity(window, self.bound, self.adjacency);
        self.run(window.target().or(window.range().lo()), distance, coins)
    }

    /// A noisy quantile, from the window of that quantile.
    pub fn quantile(&self, quantile: Quantile, window: &Window, coins: &mut impl Coins) -> Outcome<i64> {
        let distance = quantile.slack_below_sensitivity(window, self.bound, self.adjacency);
        self.run(window.target().or(window.range().lo()), distance, coins)
    }

    /// The proposed bound.
    pub fn bound(&self) -> u64 {
        self.bound
    }

    /// The chance of a refusal at this distance.
    pub fn chance_of_refusal(&self, distance: Slack) -> Ratio {
        self.tested.accuracy(distance)
    }

    /// The least distance that is refused with probability at most beta.
    pub fn distance_for(&self, beta: &Ratio) -> Option<Slack> {
        self.tested.distance_for(beta)
    }

    /// With probability 1 - beta an answer is off by at most this.
    pub fn accuracy(&self, beta: &Ratio) -> Ratio {
        self.noise.accuracy(beta)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        chance::{Chance, Enclosed, ExpNeg, Odds},
        coins::ScriptedWords,
        interval::Interval,
        mechanism::threshold::{NoisyThreshold, Threshold},
        stability::Range,
        tape::{Pmf, Tape, delta_between, enumerate},
        universe::neighbouring_pairs,
    };
    use Adjacency::{AddRemove, Replace};
    use std::collections::BTreeMap;

    fn ratio(text: &str) -> Ratio {
        text.parse().unwrap()
    }

    fn gate(eps: &str, delta: &str, adjacency: Adjacency) -> Gate {
        Gate { eps: eps.parse().unwrap(), delta: delta.parse().unwrap(), adjacency }
    }

    fn at_bound(bound: u64, adjacency: Adjacency) -> CalibratedLaplace {
        let test = gate("1", "0.01", adjacency);
        LaplaceAtBound { test, noise_eps: "1".parse().unwrap(), bound }.calibrate().unwrap()
    }

    /// The worst delta at `eps` over all data sets of so many rows.
    fn worst<Y: Ord + Clone>(
        eps: &str,
        (values, size, adjacency): (&[i64], usize, Adjacency),
        run: impl Fn(&[i64], &mut Tape) -> Y,
    ) -> Interval {
        let mut seen: BTreeMap<Vec<i64>, Pmf<Y>> = BTreeMap::new();
        let pairs = neighbouring_pairs(values, size, adjacency);
        for data in pairs.iter().flat_map(|(a, b)| [a, b]) {
            let pmf = || enumerate(&ratio("1e-12"), |tape| run(data, tape));
            seen.entry(data.clone()).or_insert_with(pmf);
        }
        let deltas = pairs.iter().map(|(a, b)| delta_between(&ratio(eps), &seen[a], &seen[b]));
        deltas.reduce(|a, b| a.max(&b)).expect("some pair")
    }

    const VALUES: [i64; 3] = [0, 1, 4];

    fn range() -> Range {
        Range::new(0, 4).unwrap()
    }

    #[test]
    fn exact_audit_of_noise_at_a_bound() {
        let quartile = Quantile::new(&ratio("1/4")).unwrap();
        for (bound, adjacency, size) in
            [(1, Replace, 5), (3, Replace, 5), (1, AddRemove, 4), (3, AddRemove, 4)]
        {
            let calibrated = at_bound(bound, adjacency);
            let median = worst("2", (&VALUES, size, adjacency), |rows, tape| {
                calibrated.median(&Median.window(rows, range(), calibrated.reach()), tape)
            });
            let lower = worst("2", (&VALUES, size, adjacency), |rows, tape| {
                let window = quartile.window(rows, range(), calibrated.reach());
                calibrated.quantile(quartile, &window, tape)
            });
            for found in [&median, &lower] {
                assert!(found.upper() <= ratio("0.01"), "{bound} {adjacency}: {}", found.to_f64());
                assert!(found.lower() > ratio("0.001"), "{bound} {adjacency}: {}", found.to_f64());
            }
        }
    }

    #[test]
    fn a_mutant_whose_distance_is_one_too_large_is_caught() {
        let calibrated = at_bound(1, Replace);
        let found = worst("2", (&VALUES, 5, Replace), |rows, tape| {
            let window = Median.window(rows, range(), Reach::All);
            let distance = Median.slack_below_sensitivity(&window, 1, Replace).until_unstable();
            let distance = Slack::steps_to_unstable(distance.unwrap() + 1, Replace);
            calibrated.run(window.target().or(0), distance, tape)
        });
        assert!(found.lower() > ratio("0.02"), "{}", found.to_f64());
    }

    #[test]
    fn a_mutant_with_half_the_noise_is_caught() {
        let (tested, halved) = (at_bound(3, Replace), at_bound(1, Replace));
        let mutant = CalibratedLaplace { noise: halved.noise, ..tested };
        let found = worst("2", (&VALUES, 5, Replace), |rows, tape| {
            mutant.median(&Median.window(rows, range(), Reach::All), tape)
        });
        assert!(found.lower() > ratio("0.011"), "{}", found.to_f64());
    }

    /// Shows everything where nobody has a one; else leaks the number of ones now and then, and says by a
    /// biased coin whether there are several: (1, 0.02) wherever at least two people have a one.
    fn exposing(rows: &[i64], coins: &mut Tape) -> i64 {
        let ones: i64 = rows.iter().sum();
        let truth = Enclosed::new(|bits| {
            let decay = ExpNeg::new(&Ratio::one()).enclose(bits);
            Interval::one(bits).div(&decay.add(&Interval::one(bits)))
        });
        match ones {
            0 => 100,
            _ if coins.bernoulli(&Odds::new(&ratio("0.02"))) => ones,
            _ => -1 - i64::from(coins.bernoulli(&truth) == (ones > 1)),
        }
    }

    #[test]
    fn exact_audit_of_any_mechanism_behind_a_test() {
        let inner = Approx::new(&"1".parse().unwrap(), &"0.02".parse().unwrap());
        for (adjacency, size) in [(AddRemove, 5), (Replace, 6)] {
            let tested = ProposeTestRelease { test: gate("1", "0.01", adjacency), inner: inner.clone() };
            let tested = tested.calibrate().unwrap();
            assert_eq!(tested.cost().to_string(), "(2, 0.03)-differential privacy");
            let found = |from_unsafe: u64| {
                worst("2", (&[0, 1], size, adjacency), |rows, tape| {
                    let ones = rows.iter().sum::<i64>().unsigned_abs();
                    // Unsafe with at most one one; a change takes away one at most.
                    let distance = Slack::steps_to_unstable(ones.saturating_sub(from_unsafe), adjacency);
                    tested.run(distance, |coins| exposing(rows, coins), tape)
                })
            };
            assert!(found(1).upper() <= ratio("0.03") && found(1).lower() >= ratio("0.01"));
            assert!(found(0).lower() > ratio("0.03"), "a distance to the exposing set itself is a mutant");
        }
    }

    #[test]
    fn hand_computed_distances() {
        let calibrated = at_bound(2, Replace);
        // An even chance at 14 rows to change, and at 30 with the printed test.
        let test = gate("1", "1e-6", Replace);
        let inner = Approx::new(&"1".parse().unwrap(), &Delta::zero());
        let tested = ProposeTestRelease { test, inner }.calibrate().unwrap();
        assert_eq!(tested.distance_for(&ratio("0.5")).unwrap().until_change(), Some(14));
        let printed = NoisyThreshold {
            eps: "1".parse().unwrap(),
            threshold: Threshold::Algorithm1 { delta: "1e-6".parse().unwrap() },
            adjacency: Replace,
        };
        let printed = printed.calibrate().unwrap().slack_for(&ratio("0.5")).unwrap();
        assert_eq!(printed.until_change(), Some(30));
        assert_eq!(tested.accuracy(Slack::constant(Replace)), Ratio::zero());
        assert_eq!((calibrated.bound(), calibrated.reach()), (2, Reach::Ranks(8)));
        let refused = calibrated.chance_of_refusal(Slack::steps_to_unstable(0, Replace));
        assert!(refused >= ratio("0.99") && refused < ratio("0.990000001"));
        // Scale two: P(beyond t) = 2q^(t+1)/(1 + q) is at most 0.05 from t = 6.
        assert_eq!(calibrated.accuracy(&ratio("0.05")), Ratio::from(6u64));
    }

    #[test]
    fn edges() {
        let error = LaplaceAtBound { bound: 0, ..shape() }.calibrate().unwrap_err().to_string();
        assert_eq!(
            error,
            "bound 0 is not accepted: propose at least 1; a value that no row can move is for a stable release"
        );
        let error = LaplaceAtBound { test: gate("1", "0", Replace), ..shape() }.calibrate().unwrap_err();
        assert!(error.to_string().starts_with("delta 0 is not accepted"));
        // No rows: the low end plus noise, refused or not, like any other.
        let calibrated = shape().calibrate().unwrap();
        let empty = Median.window(&[], range(), calibrated.reach());
        let pmf = enumerate(&ratio("1e-12"), |tape| calibrated.median(&empty, tape));
        assert!((pmf.mass(&Outcome::Refused).to_f64() - 0.99).abs() < 1e-10);
        // A bound as wide as the range is never exceeded.
        let wide = LaplaceAtBound { bound: 4, ..shape() }.calibrate().unwrap();
        let pmf = enumerate(&ratio("1e-12"), |tape| wide.median(&empty, tape));
        assert!(pmf.mass(&Outcome::Refused).upper().is_zero());
    }

    fn shape() -> LaplaceAtBound {
        LaplaceAtBound { test: gate("1", "0.01", AddRemove), noise_eps: "1".parse().unwrap(), bound: 1 }
    }

    #[test]
    fn a_refusal_takes_the_decisions_of_an_answer() {
        let calibrated = at_bound(1, Replace);
        let pmf = enumerate(&ratio("1e-12"), |tape| {
            let refused = calibrated.run(3, Slack::steps_to_unstable(2, Replace), tape) == Outcome::Refused;
            (refused, tape.decisions())
        });
        assert_eq!(pmf.iter().map(|(seen, _)| *seen).collect::<Vec<_>>(), [(false, 2), (true, 2)]);
    }

    #[test]
    fn a_scripted_run() {
        let calibrated = at_bound(1, Replace);
        // Two words for noise above zero, then the gate, which opens on the lowest word.
        for (last, expected) in [(0, Outcome::Value(i64::MAX)), (u64::MAX, Outcome::Refused)] {
            let mut coins = ScriptedWords::new(vec![u64::MAX - 1, 0, last]);
            let distance = Slack::steps_to_unstable(0, Replace);
            assert_eq!(calibrated.run(i64::MAX, distance, &mut coins), expected);
        }
    }
}
