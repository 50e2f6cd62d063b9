//! What a private release says about the population that the rows were drawn from.
//!
//! Source: 004_5f92a75732c1853f.txt (stability implies generalization); Jung, Ligett, Neel, Roth,
//! Sharifi-Malvajerdi, Shenfeld 2020, for the constants.
//!
//! # Guarantee
//!
//! If the answers to adaptively chosen questions (means of functions to [0, 1] over independent draws of a
//! population) are (epsilon, delta)-DP under replace and all within `error` of the rows' own means with probability
//! `1 - failure`, they are all within [`Released::population_error`] of the population's means with probability
//! one minus the failure that it is asked for.
//!
//! # Why
//!
//! The cited theorem: for all c, d > 0 the error is at most error + (e^epsilon - 1) + c + 2d, but with probability
//! failure/c + delta/d. Here c and d are chosen so that this is the failure asked for and c + 2d is about least; any
//! choice is valid, so the choice may be made in floats.

use crate::{
    interval::exp_upper,
    loss::{Delta, Eps},
    ratio::Ratio,
};

/// A release about rows, and how accurate it is about these rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Released {
    /// Its epsilon, under replace.
    pub eps: Eps,
    /// Its delta.
    pub delta: Delta,
    /// How far answers are from the means of the rows.
    pub error: Ratio,
    /// How likely some answer is farther.
    pub failure: Ratio,
}

impl Released {
    /// How far answers are from the population's means, but with this probability; rounded up. `None` unless the
    /// probability is above zero. One or more says nothing.
    pub fn population_error(&self, failure: &Ratio) -> Option<Ratio> {
        if !failure.is_positive() || self.error.is_negative() || self.failure.is_negative() {
            return None;
        }
        let shift = exp_upper(self.eps.ratio()) - Ratio::one();
        // failure_1 : failure_2 = sqrt(failure) : sqrt(2·delta) makes c + 2d least.
        let (a, b) = (self.failure.to_f64().sqrt(), (2.0 * self.delta.ratio().to_f64()).sqrt());
        let share = if a + b > 0.0 { (a / (a + b)).clamp(1e-6, 1.0 - 1e-6) } else { 0.5 };
        let share = Ratio::from_f64_exact(share)?;
        let part = |amount: &Ratio, share: Ratio| {
            if amount.is_zero() { Ratio::zero() } else { amount / &(failure * &share) }
        };
        let (c, d) = match (self.failure.is_zero(), self.delta.is_zero()) {
            (false, true) => (part(&self.failure, Ratio::one()), Ratio::zero()),
            (true, _) => (Ratio::zero(), part(self.delta.ratio(), Ratio::one())),
            (false, false) => {
                (part(&self.failure, share.clone()), part(self.delta.ratio(), Ratio::one() - share))
            }
        };
        Some((&self.error + &shift + c + d * Ratio::from(2u64)).dyadic_up(64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn released(eps: &str, delta: &str, error: &str, failure: &str) -> Released {
        let [error, failure] = [error, failure].map(|text| text.parse().unwrap());
        Released { eps: eps.parse().unwrap(), delta: delta.parse().unwrap(), error, failure }
    }

    #[test]
    fn the_theorem_by_hand() {
        let at = |released: Released, failure: &str| {
            released.population_error(&failure.parse().unwrap()).unwrap().to_f64()
        };
        // Nothing can fail: error + e^epsilon - 1.
        assert!((at(released("0.01", "0", "0.02", "0"), "0.05") - (0.02 + 0.01f64.exp_m1())).abs() < 1e-12);
        // Only the sample accuracy can fail: c = 0.001/0.05.
        let c = 0.001 / 0.05;
        assert!(
            (at(released("0.01", "0", "0.02", "0.001"), "0.05") - (0.02 + 0.01f64.exp_m1() + c)).abs()
                < 1e-12
        );
        // Only delta: 2·1e-6/0.05.
        let d = 1e-6 / 0.05;
        assert!(
            (at(released("0.01", "1e-6", "0.02", "0"), "0.05") - (0.02 + 0.01f64.exp_m1() + 2.0 * d)).abs()
                < 1e-12
        );
        // Both: (sqrt(failure) + sqrt(2·delta))²/0.05.
        let both = (0.001f64.sqrt() + 2e-6f64.sqrt()).powi(2) / 0.05;
        assert!(
            (at(released("0.01", "1e-6", "0.02", "0.001"), "0.05") - (0.02 + 0.01f64.exp_m1() + both)).abs()
                < 1e-9
        );
        assert!(released("1", "0", "0", "0").population_error(&Ratio::zero()).is_none());
    }
}
