//! Probabilities known to any precision: what a single decision is made with.

use crate::{
    interval::{Interval, point},
    ratio::Ratio,
};
use dashu_base::UnsignedAbs;
use dashu_int::{IBig, UBig};

/// A probability whose first 64 bits are at hand and whose further bits can be computed.
///
/// # Guarantee
///
/// `head()` is `floor(p · 2^64)` (or `2^64 - 1` where p is one), and `enclose(bits)` contains p and
/// shrinks to it as `bits` grows.
pub trait Chance {
    /// The first 64 bits.
    fn head(&self) -> u64;

    /// The probability, enclosed.
    fn enclose(&self, bits: usize) -> Interval;

    /// Is a uniform number below p, if its first 64 bits lie in `from ..= to`? `None` where that does not
    /// tell. An answer must be right; a chance whose head is costly may answer from bounds, and give up
    /// a little more often.
    #[inline]
    fn settle(&self, from: u64, to: u64) -> Option<bool> {
        let head = self.head();
        if to < head {
            Some(true)
        } else if from > head {
            Some(false)
        } else {
            None
        }
    }
}

/// The first 64 bits of a number in [0, 1], from ever finer enclosures of it.
///
/// A number that is not a multiple of 2^-64 is told from its neighbours at some precision; one that is
/// must be enclosed exactly.
pub(crate) fn head_of(enclose: impl Fn(usize) -> Interval) -> u64 {
    let mut bits = 128;
    loop {
        let interval = enclose(bits);
        // Capped words, so that a number too close to one to be told from it has a head as well.
        let low = word_of(&(interval.low_scaled() >> (bits - 64)));
        let high = word_of(&(interval.high_scaled() >> (bits - 64)));
        if low == high {
            return low;
        }
        bits *= 2;
    }
}

/// A whole number as a word, capped at both ends.
pub(crate) fn word_of(value: &IBig) -> u64 {
    u64::try_from(value).unwrap_or(if *value < IBig::ZERO { 0 } else { u64::MAX })
}

/// A rational probability.
#[derive(Clone, Debug)]
pub struct Odds {
    head: u64,
    probability: Ratio,
}

impl Odds {
    /// This probability. Panics outside [0, 1].
    pub fn new(probability: &Ratio) -> Self {
        assert!(!probability.is_negative() && *probability <= Ratio::one(), "a probability lies in [0, 1]");
        let scaled = probability * &Ratio::from_parts(IBig::ONE << 64, UBig::ONE);
        Self { head: word_of(&scaled.floor_big()), probability: probability.clone() }
    }

    /// The exact probability.
    pub fn probability(&self) -> &Ratio {
        &self.probability
    }
}

impl Chance for Odds {
    fn head(&self) -> u64 {
        self.head
    }

    fn enclose(&self, bits: usize) -> Interval {
        Interval::exact(&self.probability, bits)
    }
}

/// The probability e^-x for an exact x >= 0.
#[derive(Clone, Debug)]
pub struct ExpNeg {
    head: u64,
    exponent: Ratio,
}

impl ExpNeg {
    /// e to the minus this. Panics below zero.
    pub fn new(exponent: &Ratio) -> Self {
        assert!(!exponent.is_negative(), "e^-x is a probability for x >= 0");
        let exponent = exponent.clone();
        Self { head: head_of(|bits| exp_neg(&exponent, bits)), exponent }
    }
}

/// e^-x for an exact x >= 0, in a number of steps that depends on the precision alone: x may be private.
pub(crate) fn exp_neg(exponent: &Ratio, bits: usize) -> Interval {
    let beyond = Ratio::from(bits as u64);
    // Beyond the precision the answer is known, but not sooner than any other.
    let capped = exponent.min(&beyond);
    let near = exp_neg_of(capped, bits);
    if exponent.is_zero() {
        Interval::one(bits)
    } else if *exponent > beyond {
        Interval::dyadic(IBig::ZERO, IBig::ONE, bits, bits)
    } else {
        near
    }
}

/// e^-x = 2^-k·e^-r for x = k·ln 2 + r with r between 0 and 0.7.
fn exp_neg_of(exponent: &Ratio, bits: usize) -> Interval {
    let work = bits + 40;
    let point = Interval::exact(exponent, work);
    let ln_two = point::ln_two(work);
    let halvings = point.low_scaled() / (ln_two.high_scaled());
    let rest = point.sub(&ln_two.mul_ratio(&Ratio::whole(halvings.clone())));
    let end = |value: &IBig| point::exp(&value.clone().max(IBig::ZERO).unsigned_abs(), work, work);
    let grown = end(rest.low_scaled()).hull(&end(rest.high_scaled()));
    let part = Interval::one(work).div(&grown);
    let halvings = usize::try_from(halvings).expect("at most the precision");
    Interval::dyadic(part.low_scaled().clone(), part.high_scaled().clone(), work + halvings, bits)
}

impl Chance for ExpNeg {
    fn head(&self) -> u64 {
        self.head
    }

    fn enclose(&self, bits: usize) -> Interval {
        exp_neg(&self.exponent, bits)
    }
}

/// A probability given by any enclosing function, its first bits computed once.
pub struct Enclosed<F> {
    head: u64,
    enclose: F,
}

impl<F: Fn(usize) -> Interval> Enclosed<F> {
    /// The probability that `enclose` closes in on. It must not be a multiple of 2^-64 unless enclosed exactly.
    pub fn new(enclose: F) -> Self {
        Self { head: head_of(&enclose), enclose }
    }
}

impl<F: Fn(usize) -> Interval> Chance for Enclosed<F> {
    fn head(&self) -> u64 {
        self.head
    }

    fn enclose(&self, bits: usize) -> Interval {
        (self.enclose)(bits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_steady_exponential_is_the_other_one() {
        for exponent in [
            "1e-30",
            "0.001",
            "0.3",
            "0.6931471805599453",
            "0.6931471805599454",
            "1",
            "2.0794415416798",
            "17.5",
            "127.9",
            "128",
            "128.1",
            "1000",
        ] {
            let x: Ratio = exponent.parse().unwrap();
            for bits in [70, 128, 200] {
                let (steady, plain) = (exp_neg(&x, bits), Interval::exact(&-x.clone(), bits + 40).exp());
                assert!(
                    steady.lower() <= plain.upper() && plain.lower() <= steady.upper(),
                    "{exponent} {bits}"
                );
                let width = &steady.upper() - &steady.lower();
                assert!(width <= Ratio::dyadic(IBig::from(4), bits), "{exponent} {bits}");
            }
        }
    }

    #[test]
    fn heads_are_the_first_64_bits() {
        for (p, head) in
            [("0", 0), ("1", u64::MAX), ("0.5", 1 << 63), ("1/3", 0x5555_5555_5555_5555), ("1e-30", 0)]
        {
            assert_eq!(Odds::new(&p.parse().unwrap()).head(), head, "{p}");
        }
        // floor(2^64 / e), to be found in any table of e.
        assert_eq!(ExpNeg::new(&Ratio::one()).head(), 6_786_177_901_268_885_274);
        assert_eq!(ExpNeg::new(&Ratio::zero()).head(), u64::MAX);
        assert_eq!(ExpNeg::new(&Ratio::from(1000u64)).head(), 0);
        assert_eq!(ExpNeg::new(&"1e-30".parse().unwrap()).head(), u64::MAX);
    }
}
