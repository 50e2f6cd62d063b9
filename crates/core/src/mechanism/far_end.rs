//! Names an end beyond which few rows lie: among public ends, each holding more than the one before, a near one.
//!
//! Source: the exponential mechanism (004_5f92a75732c1853f.txt, Algorithm 2) with scores that move one way only.
//!
//! # Guarantee
//!
//! (epsilon, 0) under both adjacencies, and `epsilon²/8`-zero-concentrated, whatever the rows. End j is named with probability
//! exactly proportional to `e^(-epsilon·(beyond(j) + price(j)))`, where `beyond(j)` is the number of rows beyond it and
//! `price(j)` a public number of rows, in 64ths.
//!
//! # Why
//!
//! 1. The ends are nested: a row beyond one is beyond all nearer ones. A row that comes adds one to the ends up to some place
//!    and nothing to the others; one that goes takes it away; one that is replaced moves the place, and adds one, or takes
//!    one, at the ends between. So between neighbours, whichever way they are made, all exponents move the same way, by 0 or
//!    by epsilon.
//! 2. All log-ratios before normalising therefore lie in one interval of length epsilon that begins or ends at zero, and so
//!    do they afterwards, around zero: no probability changes by more than `e^epsilon`. This is the monotone case of
//!    [`exponential`](super::exponential), here under replace too; the concentrated loss is the same.
//! 3. A price is public and does not move. It says how many rows beyond are worth an end that lies one farther: without it far
//!    ends, which no row lies beyond, would be as likely as the nearest of them.
//!
//! # Differs
//!
//! Counts on two sides of a target move in opposite ways and cost twice as much; nothing here is lost when more rows than
//! wanted are held.
//!
//! # Example
//!
//! ```
//! use equipoise_core::{mechanism::far_end::{FarEnd, PARTS}, tape::enumerate};
//!
//! // An end twice as far must save three rows.
//! let mechanism = FarEnd { eps: "1".parse()?, prices: vec![0, 3 * PARTS, 6 * PARTS, 9 * PARTS] }.calibrate()?;
//! let named = enumerate(&"1e-9".parse()?, |coins| mechanism.run(&[90, 12, 0, 0], coins));
//! assert!((named.mass(&2).to_f64() - 0.9525).abs() < 1e-3);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use super::exponential::{rho_of_bounded_range, units_up};
use crate::{
    coins::Coins,
    loss::{Eps, Loss, ParameterError, Rho},
    ratio::Ratio,
    sampler::weighted::{Power, Weighted},
};

/// Parameters of the mechanism; all public.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FarEnd {
    /// The privacy loss.
    pub eps: Eps,
    /// What each end costs, in [`PARTS`] of a row, nearest first.
    pub prices: Vec<u64>,
}

/// A price is so many parts of a row: at a large epsilon a whole row would be too much for a farther end.
pub const PARTS: u64 = 64;

/// A mechanism that is ready to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Calibrated {
    eps: Eps,
    prices: Vec<u64>,
}

impl FarEnd {
    /// Check the public facts.
    pub fn calibrate(self) -> Result<Calibrated, ParameterError> {
        if self.prices.is_empty() {
            return Err(ParameterError::out_of_range("ends", 0, "give at least one"));
        }
        Ok(Calibrated { eps: self.eps, prices: self.prices })
    }
}

impl Calibrated {
    /// What a run costs.
    pub fn cost(&self) -> Loss {
        Loss::pure(&self.eps)
    }

    /// What a run costs in zero-concentrated accounting.
    pub fn bounded_range_rho(&self) -> Rho {
        rho_of_bounded_range(&self.eps)
    }

    /// The law of the named end, for the number of rows beyond each. Panics unless there is one number for each end, and none
    /// is larger than the one before.
    pub fn law(&self, beyond: &[u64]) -> Weighted {
        assert_eq!(beyond.len(), self.prices.len(), "one number for each end");
        assert!(beyond.is_sorted_by(|nearer, farther| nearer >= farther), "ends are nested");
        let power = |(&rows, &price): (&u64, &u64)| Power {
            multiplier: 1,
            steps: rows.saturating_mul(PARTS).saturating_add(price),
        };
        let step = self.eps.ratio() / &Ratio::from(PARTS);
        Weighted::powers(&step, beyond.iter().zip(&self.prices).map(power))
    }

    /// By how many rows more than at the best end there may be beyond the named one, prices included, except with probability
    /// beta; rounded up.
    pub fn accuracy(&self, beta: &Ratio) -> Result<Ratio, ParameterError> {
        let others = Ratio::from(self.prices.len() as u64 - 1);
        Ok(units_up(&others, beta)? / self.eps.ratio())
    }

    /// By how many rows the last end costs more than this one, rounded up by less than a float can tell. Where no row lies beyond the last
    /// end, no more than these and [`Calibrated::accuracy`] together lie beyond the named one, with the confidence of that.
    pub fn dearer_than(&self, named: usize) -> f64 {
        let last = self.prices.last().copied().unwrap_or_default();
        last.saturating_sub(self.prices[named]) as f64 / PARTS as f64
    }

    /// The index of the named end.
    pub fn run<C: Coins>(&self, beyond: &[u64], coins: &mut C) -> usize {
        coins.sample(&self.law(beyond))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        adjacency::Adjacency,
        interval::Interval,
        tape::{confirm, delta_between, enumerate},
        universe::neighbouring_pairs,
    };

    fn mechanism(eps: &str, prices: &[u64]) -> Calibrated {
        let prices = prices.iter().map(|rows| rows * PARTS).collect();
        FarEnd { eps: eps.parse().unwrap(), prices }.calibrate().unwrap()
    }

    /// How many of these rows lie beyond each of the ends 0, 1, 2.
    fn beyond(rows: &[i64]) -> [u64; 3] {
        [0, 1, 2].map(|end| rows.iter().filter(|&&row| row > end).count() as u64)
    }

    fn worst(mechanism: &Calibrated, adjacency: Adjacency, counts: impl Fn(&[i64]) -> [u64; 3]) -> Interval {
        let law = |rows: &[i64]| {
            let law = mechanism.law(&counts(rows));
            enumerate(&"1e-30".parse().unwrap(), |coins| coins.sample(&law))
        };
        neighbouring_pairs(&[0, 1, 2, 3], 3, adjacency)
            .iter()
            .map(|(a, b)| delta_between(&Ratio::one(), &law(a), &law(b)))
            .reduce(|a, b| a.max(&b))
            .expect("some pair")
    }

    #[test]
    fn exact_audit_under_both_adjacencies() {
        for adjacency in Adjacency::ALL {
            for prices in [[0, 0, 0], [0, 1, 4], [5, 0, 2]] {
                let delta = worst(&mechanism("1", &prices), adjacency, beyond);
                assert!(delta.certainly_at_most(&"1e-25".parse().unwrap()), "{adjacency} {prices:?}");
            }
        }
    }

    /// Ends that are not nested, as counts on both sides of a middle are not, lose up to twice as much under replace.
    #[test]
    fn a_mutant_that_counts_on_both_sides_is_caught() {
        let sides = |rows: &[i64]| {
            let below = rows.iter().filter(|&&row| row < 2).count() as u64;
            let above = rows.iter().filter(|&&row| row >= 2).count() as u64;
            [below.max(above), below.min(above), 0]
        };
        let unsorted = |rows: &[i64]| {
            let [more, less, _] = sides(rows);
            [more, less, 0]
        };
        // The larger falls while the smaller rises.
        let delta = worst(&mechanism("1", &[0, 0, 9]), Adjacency::Replace, unsorted);
        assert!(delta.certainly_above(&"0.05".parse().unwrap()), "{}", delta.to_f64());
        let more = worst(&mechanism("1.2", &[0, 0, 0]), Adjacency::AddRemove, beyond);
        assert!(more.certainly_above(&"0.001".parse().unwrap()), "{}", more.to_f64());
    }

    #[test]
    fn the_sampler_draws_what_the_law_claims() {
        for counts in [[9, 4, 0], [0, 0, 0], [1_000_000_000, 999_999_999, 3], [u64::MAX, 1, 0]] {
            let law = mechanism("0.5", &[0, 2, 5]).law(&counts);
            assert!(confirm(&law, &"1e-9".parse().unwrap()).unwrap().upper() < "1e-7".parse().unwrap());
        }
    }

    #[test]
    fn farther_ends_pay_their_price_and_no_ends_are_refused() {
        let named = |prices: &[u64], counts: &[u64], end: usize| {
            let law = mechanism("1", prices).law(counts);
            enumerate(&"1e-12".parse().unwrap(), |coins| coins.sample(&law)).mass(&end).to_f64()
        };
        // e^-3 against 1, and the other way round where three rows more lie beyond the nearer end.
        assert!((named(&[0, 3], &[0, 0], 1) - 0.047_426).abs() < 1e-6);
        assert!((named(&[0, 3], &[6, 0], 1) - 0.952_574).abs() < 1e-6);
        assert!(FarEnd { eps: "1".parse().unwrap(), prices: Vec::new() }.calibrate().is_err());
        assert_eq!(mechanism("2", &[0]).cost().to_string(), "2-differential privacy");
        // ln(3·19) over 2, as for four candidates whose scores move one way.
        let accuracy = mechanism("2", &[0, 1, 5, 9]).accuracy(&Ratio::new(1, 20)).unwrap().to_f64();
        assert!((accuracy - 57f64.ln() / 2.0).abs() < 1e-9, "{accuracy}");
        assert_eq!(*mechanism("2", &[0]).bounded_range_rho().ratio(), Ratio::new(1, 2));
    }

    #[test]
    #[should_panic(expected = "nested")]
    fn ends_that_are_not_nested_are_a_mistake() {
        mechanism("1", &[0, 0]).law(&[1, 2]);
    }
}
