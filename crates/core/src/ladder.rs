//! A ladder of cut points e^-step, e^-2step, …: one word finds a geometric variable among them.

use crate::{
    chance::{Chance, ExpNeg, exp_neg},
    interval::Interval,
    ratio::Ratio,
};
use dashu_int::IBig;

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
/// Powers are multiplied up in units of 2^-128. The ratio is short by less than two units, the first power,
/// which is one, by one, and each product rounds down by less than one: if a power is short by e, the next
/// is short by at most e + 3. Where that leaves a head open (about once in 2^60), it is computed on its own.
pub(crate) fn exp_neg_heads(step: &Ratio, last: usize) -> Vec<u64> {
    let ratio = exp_neg(step, 160).low_scaled() >> 32;
    let ratio = u128::try_from(&ratio).unwrap_or(if ratio < IBig::ZERO { 0 } else { u128::MAX });
    let mut power = u128::MAX;
    let mut heads = vec![u64::MAX];
    for index in 1..=last {
        power = power.carrying_mul(ratio, 0).1;
        let most = power.saturating_add(3 * index as u128 + 1);
        let [head, highest] = [power, most].map(|bound| (bound >> 64) as u64);
        let alone = || ExpNeg::new(&(step * &Ratio::from(index as u64))).head();
        heads.push(if head == highest { head } else { alone() });
    }
    heads
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_head_is_the_one_computed_alone() {
        for step in ["1", "0.125", "0.003", "7", "50", "1/3", "1e300", "1e-18", "1e-40"] {
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
