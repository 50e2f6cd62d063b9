//! Discrete Laplace (two-sided geometric) variable: P(Z = z) proportional to e^(-|z|/scale).
//!
//! Source: 004_5f92a75732c1853f.txt, Laplace mechanism, on whole numbers; Ghosh, Roughgarden, Sundararajan 2009.
//!
//! # Guarantee
//!
//! `draw` has exactly this distribution for every positive rational scale, and `fill` is `draw` repeated.
//!
//! # Why
//!
//! 1. P(Z = 0) = (1 - q)/(1 + q) with q = e^(-1/scale): one decision.
//! 2. Given Z ≠ 0, the sign is fair and |Z| - 1 is geometric with ratio q.
//!
//! # Grade
//!
//! Constant per round, like the geometric variable inside; the decision for zero is always taken last.

use super::geometric::{Geometric, Shape};
use crate::{
    chance::{Chance, exp_neg, head_of},
    coins::{Coins, Law},
    interval::Interval,
    loss::ParameterError,
    ratio::Ratio,
};

/// The law of a discrete Laplace variable, with its tables.
#[derive(Clone, Debug)]
pub struct DiscreteLaplace {
    rate: Ratio,
    zero: Zero,
    magnitude: Geometric,
}

/// The chance (1 - q)/(1 + q) of a zero.
#[derive(Clone, Debug)]
struct Zero {
    head: u64,
    rate: Ratio,
}

fn chance_of_zero(rate: &Ratio, bits: usize) -> Interval {
    let (one, q) = (Interval::one(bits), exp_neg(rate, bits));
    one.sub(&q).div(&one.add(&q))
}

impl Chance for Zero {
    #[inline]
    fn head(&self) -> u64 {
        self.head
    }

    fn enclose(&self, bits: usize) -> Interval {
        chance_of_zero(&self.rate, bits)
    }
}

impl DiscreteLaplace {
    /// The law with this scale.
    pub fn new(scale: &Ratio) -> Result<Self, ParameterError> {
        Self::with_shape(scale, Shape::FAST)
    }

    pub(crate) fn with_shape(scale: &Ratio, shape: Shape) -> Result<Self, ParameterError> {
        if !scale.is_positive() {
            return Err(ParameterError::out_of_range("noise scale", scale, "give a positive number"));
        }
        let rate = scale.recip();
        let magnitude = Geometric::with_shape(&rate, shape)?;
        let zero = Zero { head: head_of(|bits| chance_of_zero(&rate, bits)), rate: rate.clone() };
        Ok(Self { rate, zero, magnitude })
    }

    /// One round: a proposal that may be rejected.
    #[inline]
    fn round<C: Coins>(&self, coins: &mut C) -> Option<i64> {
        let (beyond_one, negative) = self.magnitude.round(1, coins)?;
        let magnitude = i64::try_from(beyond_one).unwrap_or(i64::MAX).saturating_add(1);
        let signed = if negative == 1 { -magnitude } else { magnitude };
        Some(if coins.bernoulli(&self.zero) { 0 } else { signed })
    }

    /// As many independent draws as the slice is long.
    pub fn fill<C: Coins>(&self, out: &mut [i64], coins: &mut C) {
        for slot in out {
            *slot = self.draw(coins);
        }
    }
}

impl Law for DiscreteLaplace {
    type Value = i64;

    #[inline]
    fn draw<C: Coins>(&self, coins: &mut C) -> i64 {
        loop {
            if let Some(value) = self.round(coins) {
                return value;
            }
        }
    }

    fn masses(&self, floor: &Ratio, bits: usize) -> Vec<(i64, Interval)> {
        let q = exp_neg(&self.rate, bits);
        let mut mass = chance_of_zero(&self.rate, bits);
        let mut masses = vec![(0, mass.clone())];
        // What lies beyond z on both sides is 2 q^(z+1)/(1 + q), less than 2 q^(z+1).
        let mut tail = q.add(&q);
        let mut z = 1i64;
        while !tail.certainly_at_most(floor) {
            mass = mass.mul(&q);
            masses.push((z, mass.clone()));
            masses.push((-z, mass.clone()));
            tail = tail.mul(&q);
            z += 1;
        }
        masses
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        coins::ScriptedWords,
        interval::AUDIT_BITS,
        tape::{Pmf, enumerate},
    };

    fn floor() -> Ratio {
        "1e-9".parse().unwrap()
    }

    fn agrees(pmf: &Pmf<i64>, law: &DiscreteLaplace) -> bool {
        law.masses(&"1e-6".parse().unwrap(), AUDIT_BITS).into_iter().all(|(value, claim)| {
            let seen = pmf.mass(&value);
            seen.lower() <= claim.upper() && claim.lower() <= seen.add(pmf.lost()).upper()
        })
    }

    #[test]
    fn exact_audit_of_the_kernel_against_its_closed_form() {
        for scale in ["1", "3/2", "50/7", "0.2", "10"] {
            for shape in [Shape { digit_bits: 1, span: (1, 1) }, Shape::FAST] {
                let law = DiscreteLaplace::with_shape(&scale.parse().unwrap(), shape).unwrap();
                let pmf = enumerate(&floor(), |tape| law.round(tape)).given_some();
                assert!(agrees(&pmf, &law), "scale {scale}, {shape:?}");
            }
        }
    }

    #[test]
    fn a_mutant_that_counts_zero_twice_is_caught() {
        let law = DiscreteLaplace::new(&"1".parse().unwrap()).unwrap();
        let pmf = enumerate(&floor(), |tape| {
            let (magnitude, negative) = law.magnitude.round(1, tape)?;
            let magnitude = i64::try_from(magnitude).unwrap();
            Some(if negative == 1 { -magnitude } else { magnitude })
        })
        .given_some();
        assert!(!agrees(&pmf, &law));
    }

    #[test]
    fn masses_sum_to_one_and_decay_by_q() {
        let law = DiscreteLaplace::new(&"2".parse().unwrap()).unwrap();
        let pmf = Pmf::from_masses(law.masses(&floor(), AUDIT_BITS));
        assert!(pmf.lost().upper() <= floor());
        let q = (-0.5f64).exp();
        assert!((pmf.mass(&0).to_f64() - (1.0 - q) / (1.0 + q)).abs() < 1e-15);
        assert!((pmf.mass(&-7).to_f64() / pmf.mass(&6).to_f64() - q).abs() < 1e-14);
    }

    #[test]
    fn a_batch_is_single_draws_on_the_same_words() {
        let mut state = 1u64;
        let words: Vec<u64> = (0..4000)
            .map(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                state.rotate_left(29)
            })
            .collect();
        for scale in ["0.5", "100", "1e6"] {
            let law = DiscreteLaplace::new(&scale.parse().unwrap()).unwrap();
            let mut batch = [0; 200];
            let mut coins = ScriptedWords::new(words.clone());
            law.fill(&mut batch, &mut coins);
            let mut single = ScriptedWords::new(words.clone());
            assert!(batch.iter().all(|&value| value == law.draw(&mut single)));
            assert_eq!(coins.used(), single.used());
        }
    }

    #[test]
    fn every_draw_of_a_small_scale_takes_the_same_decisions() {
        let law = DiscreteLaplace::new(&"1".parse().unwrap()).unwrap();
        let pmf = enumerate(&floor(), |tape| {
            law.draw(tape);
            tape.decisions()
        });
        // A word for the sign, a rung, the zero: always three, and a further rung once in 2^64.
        assert!(
            pmf.iter().all(|(&decisions, _)| decisions == 3) && pmf.lost().upper() < "1e-7".parse().unwrap()
        );
    }
}
