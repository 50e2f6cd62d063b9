//! An odometer: how much has been lost so far, valid at all times at once, with no limit fixed beforehand.
//!
//! Source: Rogers, Roth, Ullman and Vadhan, "Privacy odometers and filters" (2016); the doubling grid of filters is
//! theirs, the filters are those of `filter.rs`.
//!
//! # Guarantee
//!
//! Let parameters be chosen along the way, and let R be the epsilon read when the analyst stops, by any rule.
//! Then for neighbouring data sets with transcript densities p and q, the integral of `(p - e^R·q)_+` is at most
//! `delta + failures`, as long as the releases' own deltas sum to at most `failures` (else there is no reading).
//! With R fixed this is (R, delta + failures)-DP; here R may depend on the transcript.
//!
//! # Why
//!
//! 1. Own deltas: up to mass `failures` each release is one without a delta, on the same transcripts for both.
//! 2. Filter j has the limit `first·2^(j-1)` in zCDP and turns it into epsilon_j at `delta_j = 6·delta/(pi·j)²`. Among
//!    the transcripts on which j is the first filter that is not exhausted, the run is one that filter j admits:
//!    their part of the integral at epsilon_j is at most delta_j.
//! 3. Where the basic sum is smaller and is read instead, `p <= e^R·q` and the integral has nothing there.
//! 4. The deltas of all filters sum to delta.

use crate::{
    interval::Interval,
    loss::{Amount, Approx, Delta, Loss, ParameterError, Rho, Zcdp},
    ratio::Ratio,
};

/// What has been lost so far. Plain data: a ledger may store it and build it again.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Odometer {
    /// The limit of the first filter of the grid: about the smallest total that should be read well.
    pub first: Rho,
    /// What the readings may fail with, besides `failures`.
    pub delta: Delta,
    /// What the releases' own deltas may sum to.
    pub failures: Amount,
    /// The sum of epsilons; `None` once some loss had none.
    pub basic: Option<Amount>,
    /// The sum in zCDP; `None` once some loss had no bound there.
    pub concentrated: Option<Amount>,
    /// The sum of the releases' own deltas.
    pub own: Amount,
}

/// An epsilon that holds now, together with all other readings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reading {
    /// Epsilon, and delta with the releases' own included.
    pub loss: Approx,
    /// The filter of the grid that gave it; `None` where the basic sum is smaller.
    pub filter: Option<u32>,
}

impl Odometer {
    /// Nothing lost yet. `delta` must be above zero.
    pub fn new(first: Rho, delta: Delta, failures: Amount) -> Result<Self, ParameterError> {
        if delta.is_zero() {
            let next = "an odometer of concentrated loss needs a delta above 0, such as 1e-6";
            return Err(ParameterError::out_of_range("delta", "0", next));
        }
        let nothing = || Some(Amount::zero());
        Ok(Self { first, delta, failures, basic: nothing(), concentrated: nothing(), own: Amount::zero() })
    }

    /// The odometer after a release of this loss. It never refuses.
    #[must_use]
    pub fn after(&self, loss: &Loss) -> Self {
        let own = match loss {
            Loss::Approx(loss) => &loss.delta,
            Loss::Zcdp(loss) => &loss.delta,
            Loss::Renyi(loss) => &loss.delta,
        };
        let eps = if let Loss::Approx(loss) = loss { Some(&loss.eps) } else { None };
        let rho = loss.to_zcdp().map(|loss| loss.rho);
        let sum = |so_far: &Option<Amount>, more: Option<&Amount>| Some(so_far.as_ref()?.plus_up(more?));
        Self {
            first: self.first.clone(),
            delta: self.delta.clone(),
            failures: self.failures.clone(),
            basic: sum(&self.basic, eps),
            concentrated: sum(&self.concentrated, rho.as_ref()),
            own: self.own.plus_up(own),
        }
    }

    /// What holds now. `None` where the own deltas exceed what was kept for them, or nothing bounds the loss.
    pub fn read(&self) -> Option<Reading> {
        if self.own > self.failures {
            return None;
        }
        let basic = self.basic.clone().map(|eps| (eps, None));
        let grid = self.concentrated.as_ref().and_then(|rho| {
            let index = self.filter_of(rho.ratio());
            self.eps_of(index).map(|eps| (eps, Some(index)))
        });
        let (eps, filter) = basic.into_iter().chain(grid).min_by(|a, b| a.0.cmp(&b.0))?;
        let delta = Amount::from(&self.delta).plus_up(&self.failures);
        Some(Reading { loss: Approx { eps, delta }, filter })
    }

    /// The first filter, counted from one, that this sum does not exhaust.
    fn filter_of(&self, rho: &Ratio) -> u32 {
        let two = Ratio::from(2u64);
        let (mut index, mut limit) = (1, self.first.ratio().clone());
        while *rho > limit {
            (index, limit) = (index + 1, &limit * &two);
        }
        index
    }

    fn eps_of(&self, index: u32) -> Option<Amount> {
        let limit = Amount::from(&self.first).times_up(1u64.checked_shl(index - 1)?);
        let loss = Zcdp { rho: limit, delta: Amount::zero() };
        loss.to_approx(&self.delta_of(index)).map(|loss| loss.eps)
    }

    /// `6·delta/(pi·index)²`, rounded down.
    fn delta_of(&self, index: u32) -> Delta {
        const BITS: usize = 96;
        let times_pi = Interval::pi(BITS).mul_ratio(&Ratio::from(u64::from(index)));
        let share = Interval::integer(6, BITS).div(&times_pi.square()).lower();
        Delta::new(&share * self.delta.ratio()).expect("a part of a delta")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn odometer() -> Odometer {
        let failures = Amount::new("1e-7".parse().unwrap()).unwrap();
        Odometer::new("0.01".parse().unwrap(), "1e-6".parse().unwrap(), failures).unwrap()
    }

    fn pure(eps: &str) -> Loss {
        Loss::pure(&eps.parse().unwrap())
    }

    #[test]
    fn few_releases_read_as_their_sum_and_many_as_a_filter() {
        let one = odometer().after(&pure("0.1"));
        let reading = one.read().unwrap();
        assert_eq!(reading.loss.eps.ratio().to_string(), "0.1");
        assert_eq!(reading.filter, None);
        let mut many = odometer();
        let mut last = Amount::zero();
        for _ in 0..400 {
            many = many.after(&pure("0.1"));
            let reading = many.read().unwrap();
            assert!(reading.loss.eps >= last, "a reading never falls");
            last = reading.loss.eps;
        }
        let reading = many.read().unwrap();
        // rho is 2.0 and the ninth limit 2.56; beforehand 2.0 would have been 12.1.
        assert_eq!(reading.filter, Some(9));
        assert!((13.0..16.0).contains(&reading.loss.eps.ratio().to_f64()), "{}", reading.loss.eps);
        assert_eq!(*reading.loss.delta.ratio(), "1.1e-6".parse().unwrap());
    }

    #[test]
    fn the_deltas_of_the_grid_sum_to_less_than_delta() {
        let meter = odometer();
        let sum: Ratio = (1..60).map(|index| meter.delta_of(index).ratio().clone()).sum();
        assert!(sum < *meter.delta.ratio() && sum > meter.delta.ratio() * &Ratio::new(98, 100));
    }

    #[test]
    fn own_deltas_beyond_their_share_leave_no_reading() {
        let own = Loss::approx(&"0.1".parse().unwrap(), &"6e-8".parse().unwrap());
        let once = odometer().after(&own);
        assert!(once.read().is_some() && once.after(&own).read().is_none());
        assert!(
            Odometer::new("1".parse().unwrap(), Delta::zero(), Amount::zero())
                .unwrap_err()
                .to_string()
                .starts_with("delta 0 is not accepted")
        );
    }

    #[test]
    fn a_loss_that_is_only_concentrated_or_only_renyi() {
        let rho = Loss::zcdp(&"0.3".parse().unwrap());
        let meter = odometer().after(&pure("0.1")).after(&rho);
        assert!(meter.basic.is_none() && meter.read().unwrap().filter.is_some());
        assert!(meter.after(&Loss::Renyi(rho.to_renyi())).read().is_none());
    }
}
