//! Names the keys that enough people have, from a universe that nobody wrote down; rare keys stay unsaid.
//!
//! Source: 000_4d769f04a6a550e8.txt, section 7.3 (a key is a value that is there or not); Desfontaines, Voss, Gipson
//! and Mandayam 2022, "Differentially private partition selection".
//!
//! # Guarantee
//!
//! (epsilon, delta)-DP for one unit (a person with all of their keys) that is added, removed or replaced, for
//! the set of named keys. With one key for each unit under add/remove no smaller delta suffices.
//!
//! # Why
//!
//! 1. Of each unit at most `max_keys_per_unit` keys count, chosen by fresh coins, apart from all other units.
//! 2. So a unit that comes or goes moves at most that many counts, by one each; a replaced unit twice as many.
//! 3. A key that j units have is named with the gate's probability at j rows to change: that hides one unit of
//!    one key with the gate's (epsilon, delta). Nobody's key has the probability of j = 0, which is never.
//! 4. Decisions about different keys are independent, so what they lose adds up: each key's gate gets epsilon
//!    and delta divided by the number of counts that a unit can move.
//!
//! # Differs
//!
//! The paper bounds nobody's keys; here coins do, and not the order of rows. Keys come out in their own order.
//! The counts are used up by the choice: a histogram of the named keys needs noise and a budget of its own.
//! The time of a run shows how many different keys there are, as the time of reading them did.
//!
//! # Example
//!
//! ```
//! use equipoise_core::{adjacency::Adjacency, coins::ScriptedWords, mechanism::histogram_keys::HistogramKeys};
//!
//! let keys = HistogramKeys {
//!     eps: "1".parse()?,
//!     delta: "1e-6".parse()?,
//!     max_keys_per_unit: 1,
//!     adjacency: Adjacency::AddRemove,
//! };
//! let calibrated = keys.calibrate()?;
//! // Twenty-eight people make a key certain.
//! assert_eq!(calibrated.count_for(&"1".parse()?), Some(28));
//! # let mut coins = ScriptedWords::new(vec![1 << 60; 99]);
//! let people = [vec![["ward 3"]; 40], vec![["ward 9"]; 1]].concat();
//! let named: Vec<&str> = calibrated.run(people, &mut coins).into_iter().collect();
//! assert_eq!(named, ["ward 3"]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use super::gate::{self, Gate};
use crate::{
    adjacency::Adjacency,
    chance::Odds,
    coins::Coins,
    loss::{Delta, Eps, Loss, ParameterError},
    outcome::Slack,
    ratio::Ratio,
};
use std::collections::{BTreeMap, BTreeSet};

/// Parameters; all public.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistogramKeys {
    /// Privacy of one unit.
    pub eps: Eps,
    /// How often a key that only one unit has may be named. Above zero.
    pub delta: Delta,
    /// How many keys of a unit count.
    pub max_keys_per_unit: u64,
    /// What a unit may do.
    pub adjacency: Adjacency,
}

/// Key selection ready to run.
#[derive(Clone, Debug)]
pub struct Calibrated {
    keys: HistogramKeys,
    gate: gate::Calibrated,
}

impl HistogramKeys {
    /// Compute the gate of one key. Sees no data, so it may fail freely and costs nothing.
    pub fn calibrate(&self) -> Result<Calibrated, ParameterError> {
        if self.max_keys_per_unit == 0 {
            let accepted = "give at least 1, the number of keys of one unit that count";
            return Err(ParameterError::out_of_range("keys per unit", self.max_keys_per_unit, accepted));
        }
        let counts_moved = Ratio::from(self.max_keys_per_unit)
            * match self.adjacency {
                Adjacency::AddRemove => Ratio::one(),
                Adjacency::Replace => Ratio::from(2u64),
            };
        let gate = Gate {
            eps: Eps::new(self.eps.ratio() / &counts_moved)?,
            delta: Delta::new(self.delta.ratio() / &counts_moved)?,
            adjacency: self.adjacency,
        };
        Ok(Calibrated { keys: self.clone(), gate: gate.calibrate()? })
    }
}

impl Calibrated {
    /// What a run costs.
    pub fn cost(&self) -> Loss {
        Loss::approx(&self.keys.eps, &self.keys.delta)
    }

    /// The named keys, from the keys of each unit.
    pub fn run<K: Ord>(
        &self,
        units: impl IntoIterator<Item = impl IntoIterator<Item = K>>,
        coins: &mut impl Coins,
    ) -> BTreeSet<K> {
        let mut counts: BTreeMap<K, u64> = BTreeMap::new();
        for unit in units {
            for key in self.bounded(unit.into_iter().collect(), coins) {
                *counts.entry(key).or_insert(0) += 1;
            }
        }
        self.run_counts(counts, coins)
    }

    /// At most `max_keys_per_unit` of these keys, every choice of that many equally likely.
    fn bounded<K: Ord>(&self, keys: BTreeSet<K>, coins: &mut impl Coins) -> Vec<K> {
        let mut left = keys.len() as u64;
        let mut wanted = self.keys.max_keys_per_unit.min(left);
        let mut kept = Vec::new();
        for key in keys {
            // A key is kept with the share of places that are still free among the keys still to come.
            if coins.bernoulli(&Odds::new(&(Ratio::from(wanted) / Ratio::from(left)))) {
                kept.push(key);
                wanted -= 1;
            }
            left -= 1;
        }
        kept
    }

    /// The named keys, where somebody else bounded and counted: each key once, with the number of different
    /// units that have it, no unit counted under more than `max_keys_per_unit` keys.
    pub fn run_counts<K: Ord>(
        &self,
        counts: impl IntoIterator<Item = (K, u64)>,
        coins: &mut impl Coins,
    ) -> BTreeSet<K> {
        // Decided in the order of the keys, so that coins do not depend on the order of rows.
        let counts: BTreeMap<K, u64> = counts.into_iter().filter(|(_, count)| *count > 0).collect();
        counts.into_iter().filter(|(_, count)| self.names(*count, coins)).map(|(key, _)| key).collect()
    }

    /// Is a key of so many different units named? For counts that are too many to be at hand together: ask once for each
    /// key, under the conditions of [`run_counts`](Self::run_counts), which decides each key on its own as well.
    pub fn names(&self, count: u64, coins: &mut impl Coins) -> bool {
        count > 0 && self.gate.run(self.slack(count), coins)
    }

    /// So many units must go before the key is nobody's.
    fn slack(&self, count: u64) -> Slack {
        Slack::rows_to_change(count, self.keys.adjacency)
    }

    /// The exact probability that a key of so many units is named.
    pub fn probability(&self, count: u64) -> Ratio {
        if count == 0 { Ratio::zero() } else { self.gate.probability(self.slack(count)) }
    }

    /// The least number of units that names a key with at least this probability; `None` where none does.
    pub fn count_for(&self, probability: &Ratio) -> Option<u64> {
        self.gate.slack_for(probability)?.until_change()
    }

    /// The chance that a key of so many units is left out.
    pub fn accuracy(&self, count: u64) -> Ratio {
        Ratio::one() - self.probability(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        coins::ScriptedWords,
        interval::Interval,
        tape::{Pmf, delta_between, enumerate},
        universe::neighbouring_pairs,
    };
    use Adjacency::{AddRemove, Replace};

    fn ratio(text: &str) -> Ratio {
        text.parse().unwrap()
    }

    fn calibrated(max_keys_per_unit: u64, adjacency: Adjacency) -> Calibrated {
        let (eps, delta) = ("1".parse().unwrap(), "0.01".parse().unwrap());
        HistogramKeys { eps, delta, max_keys_per_unit, adjacency }.calibrate().unwrap()
    }

    /// The keys of a unit that is written as a number: one for each bit.
    fn bits(unit: i64) -> Vec<u32> {
        (0..4).filter(|bit| unit >> bit & 1 == 1).collect()
    }

    fn named(keys: &Calibrated, units: &[i64]) -> Pmf<BTreeSet<u32>> {
        enumerate(&ratio("1e-40"), |tape| keys.run(units.iter().map(|&unit| bits(unit)), tape))
    }

    fn worst(keys: &Calibrated, units: &[i64], size: usize) -> Interval {
        neighbouring_pairs(units, size, keys.keys.adjacency)
            .iter()
            .map(|(a, b)| delta_between(&ratio("1"), &named(keys, a), &named(keys, b)))
            .reduce(|a, b| a.max(&b))
            .expect("some pair")
    }

    const ONE_KEY: [i64; 3] = [1, 2, 4];
    const MORE_KEYS: [i64; 4] = [0, 3, 4, 7];

    #[test]
    fn exact_audit_with_one_key_for_each_unit() {
        let worst_added = worst(&calibrated(1, AddRemove), &ONE_KEY, 4);
        assert!(worst_added.upper() <= ratio("0.01") + ratio("1e-30"));
        assert!(worst_added.lower() >= ratio("0.01") - ratio("1e-30"), "no smaller delta");
        let worst_replaced = worst(&calibrated(1, Replace), &ONE_KEY, 3);
        assert!(worst_replaced.upper() <= ratio("0.01"), "{}", worst_replaced.to_f64());
    }

    #[test]
    fn exact_audit_with_two_of_up_to_three_keys() {
        let added = worst(&calibrated(2, AddRemove), &MORE_KEYS, 3);
        assert!(added.upper() <= ratio("0.01"));
        // Two keys that nobody else has: 1 - (1 - delta/2)².
        assert!(added.lower() > ratio("0.0099"), "{}", added.to_f64());
        assert!(worst(&calibrated(2, Replace), &MORE_KEYS, 2).upper() <= ratio("0.01"));
    }

    #[test]
    fn a_mutant_that_gives_each_key_the_whole_budget_is_caught() {
        let mut mutant = calibrated(2, AddRemove);
        mutant.gate = calibrated(1, AddRemove).gate;
        assert!(worst(&mutant, &MORE_KEYS, 2).lower() > ratio("0.019"));
        let mut mutant = calibrated(1, Replace);
        mutant.gate = Gate { eps: "1".parse().unwrap(), delta: "0.01".parse().unwrap(), adjacency: Replace }
            .calibrate()
            .unwrap();
        assert!(worst(&mutant, &ONE_KEY, 3).lower() > ratio("0.01"));
    }

    #[test]
    fn hand_computed_probabilities() {
        let keys = calibrated(1, AddRemove);
        assert!(keys.probability(0).is_zero());
        let e = 1f64.exp();
        for (count, expected) in [(1, 0.01), (2, 0.01 * (1.0 + e)), (3, 0.01 * (1.0 + e + e * e))] {
            assert!((keys.probability(count).to_f64() - expected).abs() < 1e-15, "{count}");
        }
        // Half the budget for each of two counts.
        let two = calibrated(2, AddRemove);
        assert!((two.probability(2).to_f64() - 0.005 * (1.0 + 0.5f64.exp())).abs() < 1e-15);
        assert_eq!(two.probability(7), calibrated(1, Replace).probability(7));
        assert_eq!(keys.count_for(&Ratio::one()), Some(9));
        assert_eq!(keys.accuracy(u64::MAX), Ratio::zero());
        assert!(keys.cost() == two.cost() && keys.cost() == calibrated(1, Replace).cost());
    }

    #[test]
    fn keys_of_a_unit_are_chosen_evenly_and_count_once() {
        let keys = calibrated(2, AddRemove);
        let chosen =
            enumerate(&ratio("1e-40"), |tape| keys.bounded([10, 20, 30, 40].into_iter().collect(), tape));
        assert_eq!(chosen.iter().count(), 6);
        assert!(chosen.iter().all(|(_, mass)| (mass.to_f64() - 1.0 / 6.0).abs() < 1e-15));
        // One person, one key, three times: a count of one.
        let pmf = enumerate(&ratio("1e-40"), |tape| keys.run([["a", "a", "a"]], tape).len());
        assert!((pmf.mass(&1).to_f64() - 0.005).abs() < 1e-15);
    }

    #[test]
    fn edges() {
        let keys = calibrated(1, AddRemove);
        let none: [[u8; 0]; 3] = [[], [], []];
        assert!(keys.run(none, &mut ScriptedWords::new(vec![])).is_empty());
        assert!(keys.run_counts([("a", 0)], &mut ScriptedWords::new(vec![])).is_empty());
        let error = |max_keys_per_unit, delta: &str| {
            let (eps, delta) = ("1".parse().unwrap(), delta.parse().unwrap());
            let keys = HistogramKeys { eps, delta, max_keys_per_unit, adjacency: Replace };
            keys.calibrate().unwrap_err().to_string()
        };
        assert_eq!(
            error(0, "0.1"),
            "keys per unit 0 is not accepted: give at least 1, the number of keys of one unit that count"
        );
        assert!(error(1, "0").starts_with("delta 0 is not accepted: release-or-refuse needs a delta"));
    }

    #[test]
    fn a_scripted_run() {
        let keys = calibrated(1, AddRemove);
        // Keys are decided in their own order, whatever the order of the counts.
        let counts = [("z", 100), ("a", 100), ("m", 1)];
        let mut coins = ScriptedWords::new(vec![0, u64::MAX, 1]);
        let named: Vec<&str> = keys.run_counts(counts, &mut coins).into_iter().collect();
        assert_eq!((named, coins.used()), (vec!["a", "z"], 3));
    }
}
