//! A ladder of cut points e^-step, e^-2step, …: one word finds a geometric variable among them.

use crate::{
    chance::{Chance, ExpNeg, exp_neg, word_of},
    interval::Interval,
    ratio::Ratio,
};

/// The descending numbers `e^(-i·step)` for i = 1, 2, … down to the first below 2^-64.
///
/// The number of rungs above a uniform number is a geometric variable with ratio `e^-step`, cut at the
/// last rung; there the ladder starts afresh, which a geometric variable, having no memory, allows.
#[derive(Clone, Debug)]
pub struct Ladder {
    heads: Vec<u64>,
    step: Ratio,
}

impl Ladder {
    /// The ladder with this step. Panics unless the step is positive.
    pub fn new(step: &Ratio) -> Self {
        assert!(step.is_positive(), "a ladder goes down");
        // 64 ln 2 < 44.4, so the last rung is below 2^-64.
        let rungs = (&Ratio::new(444, 10) / step).ceil_i64().expect("a step that is not vanishing").max(1);
        let mut heads = exp_neg_heads(step, usize::try_from(rungs).expect("positive"));
        heads.remove(0);
        Self { heads, step: step.clone() }
    }

    /// The first 64 bits of each rung, from the top.
    pub fn heads(&self) -> &[u64] {
        &self.heads
    }

    /// A rung, enclosed; index 0 is the highest, `e^-step`.
    pub fn enclose(&self, index: usize, bits: usize) -> Interval {
        exp_neg(&(&self.step * &Ratio::from(index as u64 + 1)), bits)
    }
}

/// The first 64 bits of `e^(-i·step)` for i = 0 ..= last.
///
/// Powers are multiplied up with a few spare bits; where the enclosure straddles a word (about once in
/// 2^60), the entry is computed on its own.
pub(crate) fn exp_neg_heads(step: &Ratio, last: usize) -> Vec<u64> {
    const BITS: usize = 160;
    let ratio = exp_neg(step, BITS);
    let mut power = Interval::one(BITS);
    let mut heads = Vec::with_capacity(last + 1);
    for index in 0..=last {
        let (low, high) = (power.low_scaled() >> (BITS - 64), power.high_scaled() >> (BITS - 64));
        heads.push(if index > 0 && low != high {
            ExpNeg::new(&(step * &Ratio::from(index as u64))).head()
        } else {
            word_of(&low)
        });
        power = power.mul(&ratio);
    }
    heads
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_head_is_the_one_computed_alone() {
        for step in ["1", "0.125", "0.003", "7", "50", "1/3"] {
            let step: Ratio = step.parse().unwrap();
            for (index, head) in exp_neg_heads(&step, 300).into_iter().enumerate() {
                assert_eq!(head, ExpNeg::new(&(&step * &Ratio::from(index as u64))).head(), "{step} {index}");
            }
        }
    }

    #[test]
    fn ladders_end_below_two_to_the_minus_64() {
        for step in ["1", "0.125", "0.3", "7", "44.3", "50", "1000"] {
            let ladder = Ladder::new(&step.parse().unwrap());
            assert_eq!(*ladder.heads().last().unwrap(), 0, "{step}");
            assert!(ladder.heads().is_sorted_by(|a, b| a >= b));
        }
    }
}
