//! One-sided geometric variable: P(G >= k) = e^(-rate·k) for k = 0, 1, 2, …
//!
//! Source: the digits of a geometric variable are independent (folklore; S. Canonne, Kamath, Steinke 2020
//! use two digits of base 1/rate). Here: low digits of a few bits each, and the rest found on a ladder.
//!
//! # Guarantee
//!
//! `draw` has exactly this distribution for every positive rational rate.
//!
//! # Why
//!
//! 1. Write G = low + 2^l·high. Since P(G = k) is proportional to e^(-rate·k), low and high are
//!    independent, high is geometric with rate 2^l·rate, and low has mass proportional to e^(-rate·low).
//! 2. A round proposes low uniformly and accepts it with probability e^(-rate·low). That exponential is
//!    the product of one factor for each digit of low, so one comparison of a word with a table entry for
//!    each digit decides it.
//! 3. high is the number of rungs e^(-i·2^l·rate) above one uniform number.
//!
//! # Grade
//!
//! Constant per round: a round takes the same decisions on every path, and whether it is accepted says
//! nothing about what the accepted round returns. A further rung is drawn with probability below 2^-64.

use crate::{
    chance::{Chance, exp_neg},
    coins::{Coins, Law},
    interval::Interval,
    ladder::{Ladder, exp_neg_heads},
    loss::ParameterError,
    ratio::Ratio,
};

/// The law of a one-sided geometric variable, with its tables.
#[derive(Clone, Debug)]
pub struct Geometric {
    rate: Ratio,
    low_bits: u32,
    digits: Vec<Digit>,
    ladder: Ladder,
}

/// Some bits of the low part, and e^(-step·digit) for each of their values.
#[derive(Clone, Debug)]
struct Digit {
    shift: u32,
    mask: u64,
    heads: Vec<u64>,
    step: Ratio,
}

/// How the low part is cut into digits. Only speed depends on it, so audits choose small ones.
#[derive(Clone, Copy, Debug)]
struct Shape {
    /// The widest digit, in bits.
    digit_bits: u32,
    /// The low part ends where 2^l·rate would exceed this.
    span: (i64, u64),
}

impl Shape {
    const FAST: Self = Self { digit_bits: 9, span: (1, 2) };
}

/// Rates below 2^-52 would need whole numbers beyond 64 bits.
const SMALLEST_RATE_BITS: u32 = 52;

struct Entry<'a> {
    digit: &'a Digit,
    value: u64,
}

impl Chance for Entry<'_> {
    #[inline]
    fn head(&self) -> u64 {
        self.digit.heads[usize::try_from(self.value).unwrap_or(0)]
    }

    fn enclose(&self, bits: usize) -> Interval {
        exp_neg(&(&self.digit.step * &Ratio::from(self.value)), bits)
    }
}

impl Geometric {
    /// The law with this rate, which is one over the scale.
    pub fn new(rate: &Ratio) -> Result<Self, ParameterError> {
        Self::with_shape(rate, Shape::FAST)
    }

    fn with_shape(rate: &Ratio, shape: Shape) -> Result<Self, ParameterError> {
        let power = |bits: u32| Ratio::from(1u64 << bits);
        if !rate.is_positive() || *rate < power(SMALLEST_RATE_BITS).recip() {
            let accepted = "the noise scale must be positive and at most 2^52 grid steps; use a coarser grid";
            return Err(ParameterError::out_of_range("noise rate", rate, accepted));
        }
        let span = Ratio::new(shape.span.0, shape.span.1);
        let low_bits = (0..=SMALLEST_RATE_BITS).rev().find(|&bits| rate * &power(bits) <= span).unwrap_or(0);
        let mut digits = Vec::new();
        let count = low_bits.div_ceil(shape.digit_bits);
        let mut shift = 0;
        for index in 0..count {
            let bits = (low_bits - shift).div_ceil(count - index);
            let step = rate * &power(shift);
            let heads = exp_neg_heads(&step, (1 << bits) - 1);
            digits.push(Digit { shift, mask: (1 << bits) - 1, heads, step });
            shift += bits;
        }
        Ok(Self { rate: rate.clone(), low_bits, digits, ladder: Ladder::new(&(rate * &power(low_bits))) })
    }

    /// One proposal for the low part.
    #[inline]
    fn low_round<C: Coins>(&self, coins: &mut C) -> Option<u64> {
        if self.low_bits == 0 {
            return Some(0);
        }
        let low = coins.bits(self.low_bits);
        let mut accepted = true;
        for digit in &self.digits {
            // Every digit is asked, whatever the others said, so that all rounds look alike.
            accepted &= coins.bernoulli(&Entry { digit, value: (low >> digit.shift) & digit.mask });
        }
        accepted.then_some(low)
    }

    /// One round: the variable, unless the proposal is rejected.
    #[inline]
    fn round<C: Coins>(&self, coins: &mut C) -> Option<u64> {
        let low = self.low_round(coins)?;
        Some(self.add_high(low, coins))
    }

    /// The whole variable, given its low part.
    #[inline]
    fn add_high<C: Coins>(&self, low: u64, coins: &mut C) -> u64 {
        let mut high = 0u64;
        loop {
            let rungs = coins.rung(&self.ladder);
            high = high.saturating_add(rungs as u64);
            if rungs < self.ladder.heads().len() {
                break;
            }
        }
        // Beyond 64 bits only with probability e^-2048 or less: there the value saturates.
        high.saturating_mul(1 << self.low_bits).saturating_add(low)
    }
}

impl Law for Geometric {
    type Value = u64;

    #[inline]
    fn draw<C: Coins>(&self, coins: &mut C) -> u64 {
        loop {
            if let Some(value) = self.round(coins) {
                return value;
            }
        }
    }

    fn masses(&self, floor: &Ratio, bits: usize) -> Vec<(u64, Interval)> {
        let ratio = exp_neg(&self.rate, bits);
        let first = Interval::one(bits).sub(&ratio);
        let mut tail = Interval::one(bits);
        let mut masses = Vec::new();
        while !tail.certainly_at_most(floor) {
            masses.push((masses.len() as u64, tail.mul(&first)));
            tail = tail.mul(&ratio);
        }
        masses
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        coins::ScriptedWords,
        tape::{Pmf, enumerate},
    };

    fn floor() -> Ratio {
        "1e-9".parse().unwrap()
    }

    /// The distribution of the kernel, from one round given that it is accepted.
    fn kernel(law: &Geometric) -> Pmf<u64> {
        enumerate(&floor(), |tape| law.round(tape)).given_some()
    }

    /// The certified bracket of every value contains its claimed mass.
    fn agrees(pmf: &Pmf<u64>, law: &Geometric) -> bool {
        law.masses(&"1e-6".parse().unwrap(), crate::interval::AUDIT_BITS).into_iter().all(|(value, claim)| {
            let seen = pmf.mass(&value);
            seen.lower() <= claim.upper() && claim.lower() <= seen.add(pmf.lost()).upper()
        })
    }

    /// Digits of one and two bits, so that the tape can follow them.
    const SHAPES: [Shape; 3] = [
        Shape { digit_bits: 1, span: (1, 1) },
        Shape { digit_bits: 2, span: (2, 1) },
        Shape { digit_bits: 9, span: (1, 2) },
    ];

    #[test]
    fn exact_audit_of_the_kernel_against_its_closed_form() {
        for rate in ["1", "0.3", "0.11", "2.5"] {
            for shape in SHAPES {
                let law = Geometric::with_shape(&rate.parse().unwrap(), shape).unwrap();
                assert!(agrees(&kernel(&law), &law), "rate {rate}, {shape:?}");
            }
        }
    }

    #[test]
    fn a_mutant_whose_second_digit_forgets_its_place_is_caught() {
        let mut law = Geometric::with_shape(&"0.11".parse().unwrap(), SHAPES[0]).unwrap();
        assert!(law.digits.len() > 1);
        law.digits[1].step = law.digits[0].step.clone();
        assert!(!agrees(&kernel(&law), &law));
    }

    #[test]
    fn every_round_takes_the_same_decisions() {
        let law = Geometric::with_shape(&"0.05".parse().unwrap(), SHAPES[1]).unwrap();
        let per_round = 1 + law.digits.len();
        let pmf = enumerate(&floor(), |tape| {
            let accepted = law.low_round(tape).is_some();
            (tape.decisions(), accepted)
        });
        assert!(pmf.iter().all(|((decisions, _), _)| *decisions == per_round) && pmf.iter().count() == 2);
    }

    #[test]
    fn a_scripted_draw() {
        // rate 1/1000: nine low bits in one digit; rungs e^(-i·0.512).
        let law = Geometric::new(&"0.001".parse().unwrap()).unwrap();
        assert_eq!((law.low_bits, law.digits.len()), (8, 1));
        // Low bits 5, accepted; a word below the third rung but not the fourth.
        let third = law.ladder.heads()[2] - 1;
        let mut coins = ScriptedWords::new(vec![5 << 56, 0, third]);
        assert_eq!(law.draw(&mut coins), 3 * 256 + 5);
        // A first proposal is rejected, the second accepted.
        let mut coins = ScriptedWords::new(vec![9 << 56, u64::MAX, 7 << 56, 0, u64::MAX]);
        assert_eq!(law.draw(&mut coins), 7);
    }

    #[test]
    fn rates_without_a_sampler_are_refused_in_one_line() {
        for rate in ["0", "-1", "1e-30"] {
            let error = Geometric::new(&rate.parse().unwrap()).unwrap_err().to_string();
            assert!(error.contains("coarser grid") && !error.contains('\n'), "{error}");
        }
    }
}
