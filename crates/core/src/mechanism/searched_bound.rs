//! Searches for a bound on the local sensitivity that the data supports, pays for the search, and releases the
//! value with noise for that bound, or refuses.
//!
//! Source: 000_4d769f04a6a550e8.txt, section 7.2, where the analyst "has some idea of what this should be"; the search
//! is the inverse sensitivity mechanism of Asi and Duchi 2020, drawn by permute-and-flip.
//!
//! # Guarantee
//!
//! (search + test + noise epsilons, delta of the test)-DP under the adjacency of the test, for the bound and
//! the answer together, whatever the data.
//!
//! # Why
//!
//! 1. For each bound of a public list the distance to a data set that exceeds it moves by at most one between
//!    neighbours. We want the least bound whose distance reaches a public target.
//! 2. Score a bound by how many changes make it that one: `max(target - its distance, distance of the bound
//!    before it - target + 1, 0)` at most. A maximum of numbers that move by at most one moves by at most one.
//! 3. Permute-and-flip names a bound with nearly the least such score, with the epsilon of the search.
//! 4. Given the bound, [`propose_test_release`](super::propose_test_release) runs on it with its own cost; costs add up.
//! 5. The target is what the test asks for beta/2, plus the score that the search stays below but for beta/2: so
//!    where some bound reaches the target, a refusal has probability at most beta.
//!
//! # Differs
//!
//! The text has no search. A bound read off the data is not private, and one test for each bound would pay for each.
//!
//! # Example
//!
//! ```
//! use equipoise_core::{
//!     adjacency::Adjacency,
//!     coins::ScriptedWords,
//!     mechanism::{gate::Gate, searched_bound::{SearchedBound, doubling_bounds}},
//!     stability::{Median, Range},
//! };
//!
//! let range = Range::new(0, 1_000_000)?;
//! let search = SearchedBound {
//!     search_eps: "0.5".parse()?,
//!     test: Gate { eps: "0.5".parse()?, delta: "1e-6".parse()?, adjacency: Adjacency::AddRemove },
//!     noise_eps: "1".parse()?,
//!     bounds: doubling_bounds(range),
//!     beta: "0.05".parse()?,
//! };
//! let calibrated = search.calibrate()?;
//! assert_eq!(calibrated.cost().to_string(), "(2, 0.000001)-differential privacy");
//! let salaries: Vec<i64> = (0..1000).map(|i| 30_000 + 25 * i).collect();
//! let window = Median.window(&salaries, range, calibrated.reach());
//! # let mut coins = ScriptedWords::new((0..300u64).map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect());
//! let found = calibrated.median(&window, &mut coins);
//! assert!(found.bound <= 16_384);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use super::{
    gate::Gate,
    permute_and_flip::{self, PermuteAndFlip},
    propose_test_release::{CalibratedLaplace, LaplaceAtBound},
    selection::Candidates,
};
use crate::{
    adjacency::Adjacency,
    coins::Coins,
    loss::{Approx, Delta, Eps, Loss, ParameterError},
    outcome::{Outcome, Slack},
    ratio::Ratio,
    stability::{Median, Quantile, Range, Reach, Window},
};

/// Parameters; all public.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchedBound {
    /// The epsilon of the search.
    pub search_eps: Eps,
    /// The test of the bound that was found.
    pub test: Gate,
    /// The epsilon of the noise.
    pub noise_eps: Eps,
    /// The bounds to choose from, growing, each at least one.
    pub bounds: Vec<u64>,
    /// How often a data set that supports some bound may be refused all the same.
    pub beta: Ratio,
}

/// A search with its test and noise, ready to run.
#[derive(Clone, Debug)]
pub struct Calibrated {
    search: permute_and_flip::Calibrated,
    releases: Vec<CalibratedLaplace>,
    target_rows: u64,
    adjacency: Adjacency,
    cost: Approx,
}

/// What everybody may see: the bound was paid for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Searched {
    /// The bound that the noise was made for.
    pub bound: u64,
    /// The noisy value, or a refusal.
    pub outcome: Outcome<i64>,
}

/// 1, 2, 4, … up to the first that no value in the range can exceed.
pub fn doubling_bounds(range: Range) -> Vec<u64> {
    let mut bounds = vec![1u64];
    while let Some(&last) = bounds.last().filter(|&&last| last < range.width()) {
        bounds.push(last.saturating_mul(2));
    }
    bounds
}

impl SearchedBound {
    /// Compute search, tests and noises. Sees no data, so it may fail freely and costs nothing.
    pub fn calibrate(&self) -> Result<Calibrated, ParameterError> {
        if !self.bounds.is_sorted_by(|a, b| a < b) {
            let shown = self.bounds.iter().map(u64::to_string).collect::<Vec<_>>().join(",");
            return Err(ParameterError::out_of_range(
                "bounds",
                shown,
                "give growing numbers such as 1,2,4,8",
            ));
        }
        let candidates = Candidates { count: self.bounds.len(), sensitivity: Ratio::one(), monotone: false };
        let search = PermuteAndFlip { eps: self.search_eps.clone(), candidates }.calibrate()?;
        let release = |&bound: &u64| {
            let (test, noise_eps) = (self.test.clone(), self.noise_eps.clone());
            LaplaceAtBound { test, noise_eps, bound }.calibrate()
        };
        let half = &self.beta / &Ratio::from(2u64);
        let missed = Ratio::whole(search.accuracy(&half)?.ceil_big());
        let asked = self.test.calibrate()?.slack_for(&(Ratio::one() - &half));
        let asked = asked.and_then(Slack::until_change).unwrap_or(u64::MAX);
        let missed = missed.ceil_i64().map_or(u64::MAX, i64::unsigned_abs);
        let pure = |eps: &Eps| Approx::new(eps, &Delta::zero());
        let tested = Approx::new(&self.test.eps, &self.test.delta);
        Ok(Calibrated {
            search,
            releases: self.bounds.iter().map(release).collect::<Result<_, _>>()?,
            target_rows: asked.saturating_add(missed),
            adjacency: self.test.adjacency,
            cost: pure(&self.search_eps).compose(&tested).compose(&pure(&self.noise_eps)),
        })
    }
}

impl Calibrated {
    /// What a run costs.
    pub fn cost(&self) -> Loss {
        Loss::Approx(self.cost.clone())
    }

    /// The slack that makes a bound good enough: with it, a refusal has probability at most beta.
    pub fn target(&self) -> Slack {
        Slack::rows_to_change(self.target_rows, self.adjacency)
    }

    /// How far a window must look for the search to see what it needs: twice the target, because a bound that
    /// is far too large should look worse than one that is a little too large.
    pub fn reach(&self) -> Reach {
        Reach::Ranks(self.target_rows.saturating_mul(2))
    }

    /// The bound and the noisy value, or a refusal. `distance(bound)` counts changes to a data set whose local
    /// sensitivity exceeds the bound.
    pub fn run(&self, value: i64, distance: impl Fn(u64) -> Slack, coins: &mut impl Coins) -> Searched {
        let distances: Vec<Slack> = self.releases.iter().map(|release| distance(release.bound())).collect();
        let found = self.search.run(&self.scores(&distances), coins);
        let outcome = self.releases[found].run(value, distances[found], coins);
        Searched { bound: self.releases[found].bound(), outcome }
    }

    /// Minus the number of changes that make each bound the least that reaches the target.
    fn scores(&self, distances: &[Slack]) -> Vec<Ratio> {
        let rows: Vec<u64> = distances.iter().map(|&slack| self.rows(slack)).collect();
        let before = std::iter::once(0).chain(rows.iter().copied());
        let score = |(&rows, before): (&u64, u64)| {
            let too_near = self.target_rows.saturating_sub(rows);
            let too_far = before.saturating_add(1).saturating_sub(self.target_rows);
            -Ratio::from(too_near.max(too_far))
        };
        rows.iter().zip(before).map(score).collect()
    }

    /// The slack as a number. Infinite ones are infinite for all neighbours too, so any number may stand for
    /// them, and beyond twice the target nothing needs telling apart.
    fn rows(&self, slack: Slack) -> u64 {
        let most = self.target_rows.saturating_mul(2);
        let rows = slack.counted_in(self.adjacency).map(|slack| slack.until_change().unwrap_or(most));
        rows.unwrap_or(0).min(most)
    }

    /// The low median; the median of no rows is the low end of the range.
    pub fn median(&self, window: &Window, coins: &mut impl Coins) -> Searched {
        let distance = |bound| Median.slack_below_sensitivity(window, bound, self.adjacency);
        self.run(window.target().or(window.range().lo()), distance, coins)
    }

    /// A quantile, from the window of that quantile.
    pub fn quantile(&self, quantile: Quantile, window: &Window, coins: &mut impl Coins) -> Searched {
        let distance = |bound| quantile.slack_below_sensitivity(window, bound, self.adjacency);
        self.run(window.target().or(window.range().lo()), distance, coins)
    }

    /// With probability 1 - beta an answer at this bound of the list is off by at most this; `None` for any
    /// other bound.
    pub fn accuracy(&self, bound: u64, beta: &Ratio) -> Option<Ratio> {
        self.releases.iter().find(|release| release.bound() == bound).map(|release| release.accuracy(beta))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        coins::{Law, ScriptedWords},
        interval::Interval,
        sampler::discrete_laplace::DiscreteLaplace,
        tape::{Pmf, Tape, delta_between, enumerate},
        universe::neighbouring_pairs,
    };
    use Adjacency::{AddRemove, Replace};
    use std::collections::BTreeMap;

    fn ratio(text: &str) -> Ratio {
        text.parse().unwrap()
    }

    fn shape(adjacency: Adjacency) -> SearchedBound {
        SearchedBound {
            search_eps: "1".parse().unwrap(),
            test: Gate { eps: "1".parse().unwrap(), delta: "0.05".parse().unwrap(), adjacency },
            noise_eps: "1".parse().unwrap(),
            bounds: vec![1, 2, 4],
            beta: ratio("0.9"),
        }
    }

    const VALUES: [i64; 3] = [0, 1, 4];

    fn range() -> Range {
        Range::new(0, 4).unwrap()
    }

    fn worst(size: usize, adjacency: Adjacency, run: impl Fn(&[i64], &mut Tape) -> Searched) -> Interval {
        let mut seen: BTreeMap<Vec<i64>, Pmf<Searched>> = BTreeMap::new();
        let pairs = neighbouring_pairs(&VALUES, size, adjacency);
        for data in pairs.iter().flat_map(|(a, b)| [a, b]) {
            let pmf = || enumerate(&ratio("1e-9"), |tape| run(data, tape));
            seen.entry(data.clone()).or_insert_with(pmf);
        }
        let deltas = pairs.iter().map(|(a, b)| delta_between(&ratio("3"), &seen[a], &seen[b]));
        deltas.reduce(|a, b| a.max(&b)).expect("some pair")
    }

    #[test]
    fn exact_audit_of_search_test_and_noise_together() {
        let quartile = Quantile::new(&ratio("1/4")).unwrap();
        for (adjacency, size) in [(Replace, 5), (AddRemove, 4)] {
            let calibrated = shape(adjacency).calibrate().unwrap();
            assert_eq!(calibrated.cost().to_string(), "(3, 0.05)-differential privacy");
            let median = worst(size, adjacency, |rows, tape| {
                calibrated.median(&Median.window(rows, range(), calibrated.reach()), tape)
            });
            let lower = worst(size, adjacency, |rows, tape| {
                calibrated.quantile(quartile, &quartile.window(rows, range(), calibrated.reach()), tape)
            });
            assert!(median.upper() <= ratio("0.05") && lower.upper() <= ratio("0.05"), "{adjacency}");
            assert!(median.lower() > ratio("0.001"), "something is released: {}", median.to_f64());
        }
    }

    #[test]
    fn a_mutant_that_searches_with_distances_counted_tenfold_is_caught() {
        let calibrated = shape(Replace).calibrate().unwrap();
        let found = worst(5, Replace, |rows, tape| {
            let window = Median.window(rows, range(), Reach::All);
            let distance = |bound| {
                let slack = Median.slack_below_sensitivity(&window, bound, Replace);
                slack.until_unstable().map_or(slack, |steps| Slack::steps_to_unstable(10 * steps, Replace))
            };
            calibrated.run(window.target().or(0), distance, tape)
        });
        assert!(found.lower() > ratio("0.06"), "{}", found.to_f64());
    }

    #[test]
    fn scores_move_by_at_most_one() {
        for (adjacency, size) in [(Replace, 6), (AddRemove, 6)] {
            let calibrated = shape(adjacency).calibrate().unwrap();
            let scores = |rows: &[i64]| {
                let window = Median.window(rows, range(), calibrated.reach());
                let distance = |&bound: &u64| Median.slack_below_sensitivity(&window, bound, adjacency);
                calibrated.scores(&[1, 2, 4].iter().map(distance).collect::<Vec<_>>())
            };
            for (a, b) in neighbouring_pairs(&VALUES, size, adjacency) {
                let moved = scores(&a).into_iter().zip(scores(&b)).map(|(a, b)| (a - b).abs()).max().unwrap();
                assert!(moved <= Ratio::one(), "{a:?} {b:?}");
            }
        }
    }

    #[test]
    fn data_that_supports_a_bound_is_rarely_refused() {
        let shape = SearchedBound { beta: ratio("0.1"), ..shape(Replace) };
        let calibrated = shape.calibrate().unwrap();
        let (near, target) = (Slack::rows_to_change(1, Replace), calibrated.target_rows);
        // The smallest bound is hopeless, the second good enough or better, the last is never exceeded.
        let seen = |second: u64| {
            let distance = |bound| match bound {
                1 => near,
                2 => Slack::rows_to_change(second, Replace),
                _ => Slack::constant(Replace),
            };
            enumerate(&ratio("1e-11"), |tape| {
                let seen = calibrated.run(0, distance, tape);
                (seen.bound, seen.outcome == Outcome::Refused)
            })
        };
        for rows in [target, target + 3, 2 * target] {
            let refused: f64 = [1, 2, 4].iter().map(|&bound| seen(rows).mass(&(bound, true)).to_f64()).sum();
            assert!(refused <= 0.1, "{rows} {refused}");
        }
        assert!(seen(2 * target).mass(&(2, false)).to_f64() > 0.9);
        assert_eq!(calibrated.accuracy(2, &ratio("0.05")), Some(Ratio::from(6u64)));
        assert_eq!(calibrated.accuracy(3, &ratio("0.05")), None);
    }

    #[test]
    fn hand_computed_calibration() {
        let range = |hi| Range::new(0, hi).unwrap();
        assert_eq!(doubling_bounds(range(0)), [1]);
        assert_eq!(doubling_bounds(range(4)), [1, 2, 4]);
        assert_eq!(doubling_bounds(range(5)), [1, 2, 4, 8]);
        assert_eq!(doubling_bounds(Range::WHOLE).len(), 65);
        // Eighteen rows for a chance of 0.99, and the score that three candidates stay below but for 0.01:
        // 1 - (1 - (1-p)³)/(3p) <= 0.01 at p = e^(-x/2) from x = 9.19….
        let shape = SearchedBound {
            test: Gate { delta: "1e-6".parse().unwrap(), ..shape(Replace).test },
            beta: ratio("0.02"),
            ..shape(Replace)
        };
        assert_eq!(shape.calibrate().unwrap().target().until_change(), Some(18 + 10));
    }

    #[test]
    fn bad_parameters_are_refused_in_one_line() {
        for (bounds, expected) in [
            (vec![2, 1], "bounds 2,1 is not accepted: give growing numbers such as 1,2,4,8"),
            (vec![0, 1], "bound 0 is not accepted: propose at least 1"),
            (vec![], "number of candidates 0 is not accepted: give at least one to choose from"),
        ] {
            let error = SearchedBound { bounds, ..shape(Replace) }.calibrate().unwrap_err().to_string();
            assert!(error.starts_with(expected), "{error}");
        }
        let error = SearchedBound { beta: Ratio::zero(), ..shape(Replace) }.calibrate().unwrap_err();
        assert!(error.to_string().starts_with("beta 0 is not accepted"));
    }

    #[test]
    fn a_scripted_run_with_one_bound() {
        let calibrated = SearchedBound { bounds: vec![4], ..shape(AddRemove) }.calibrate().unwrap();
        let window = Median.window(&[1, 1, 4], range(), calibrated.reach());
        // One candidate: its coin. Two words for the noise of scale four. Then the gate.
        let mut coins = ScriptedWords::new(vec![0, u64::MAX - 1, 0, 0]);
        let noise = DiscreteLaplace::new(&Ratio::from(4u64))
            .unwrap()
            .draw(&mut ScriptedWords::new(vec![u64::MAX - 1, 0]));
        let seen = calibrated.median(&window, &mut coins);
        assert_eq!(seen, Searched { bound: 4, outcome: Outcome::Value(1 + noise) });
    }
}
