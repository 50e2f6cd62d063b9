//! e^(-rate·gap) for whole gaps, as a chance that one word nearly always settles.
//!
//! # Guarantee
//!
//! [`Tail::at`] is a chance of exactly e^(-rate·gap).
//!
//! # Why
//!
//! 1. A gap is cut into digits of at most nine bits; the exponential is the product of one table entry for each.
//! 2. An entry is short of its number by at most one unit of 2^-64, and a product that rounds down loses less
//!    than one more. So the product of d entries is short by less than 2d units, and never too large.
//! 3. A word outside this band is settled; the others (once in 2^60) are decided by enclosures.

use crate::{
    chance::{Chance, exp_neg, head_of},
    fixed_exp::product,
    interval::Interval,
    ladder::exp_neg_heads,
    ratio::Ratio,
};

const DIGIT_BITS: u32 = 9;

/// Tables of e^(-rate·gap).
#[derive(Clone, Debug)]
pub(crate) struct Tail {
    rate: Ratio,
    /// For each digit, from the lowest, the first 64 bits of e^(-rate·2^(9·place)·digit).
    digits: Vec<Vec<u64>>,
    /// From here on the chance is below 2^-64.
    end: u64,
}

/// The chance e^(-rate·gap).
pub(crate) struct At<'a> {
    tail: &'a Tail,
    gap: u64,
}

impl Tail {
    /// The tables for this rate, which must be at least 2^-52.
    pub(crate) fn new(rate: &Ratio) -> Self {
        // 64 ln 2 < 44.4.
        let end = (&Ratio::new(444, 10) / rate).ceil_i64().expect("a rate that is not vanishing").max(1);
        let end = u64::try_from(end).expect("positive");
        let bits = u64::BITS - end.leading_zeros();
        let digit = |place: u32| {
            let step = rate * &Ratio::from(1u64 << (place * DIGIT_BITS));
            let width = (bits - place * DIGIT_BITS).min(DIGIT_BITS);
            exp_neg_heads(&step, (1 << width) - 1)
        };
        Self { rate: rate.clone(), digits: (0..bits.div_ceil(DIGIT_BITS)).map(digit).collect(), end }
    }

    /// The chance at this gap.
    #[inline]
    pub(crate) fn at(&self, gap: u64) -> At<'_> {
        At { tail: self, gap }
    }
}

impl Chance for At<'_> {
    fn head(&self) -> u64 {
        head_of(|bits| self.enclose(bits))
    }

    fn enclose(&self, bits: usize) -> Interval {
        exp_neg(&(&self.tail.rate * &Ratio::from(self.gap)), bits)
    }

    #[inline]
    fn settle(&self, from: u64, to: u64) -> Option<bool> {
        let mask = (1 << DIGIT_BITS) - 1;
        let mut rest = self.gap.min(self.tail.end);
        let mut least = u64::MAX;
        for digit in &self.tail.digits {
            // `end` has as many bits as the tables have, so that no index is out of range.
            least = product(least, digit[usize::try_from(rest & mask).unwrap_or(0)]);
            rest >>= DIGIT_BITS;
        }
        // The first product is with one, short by a unit of its own.
        let band = 2 * self.tail.digits.len() as u64 + 2;
        if to < least {
            Some(true)
        } else if from >= least.saturating_add(band) && least < u64::MAX - band {
            Some(false)
        } else {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        coins::{Coins, ScriptedWords},
        interval::AUDIT_BITS,
    };
    use proptest::prelude::*;

    /// The words around the true number: every answer given is right, and all but a few are given.
    fn settles_rightly(rate: &str, gap: u64) -> bool {
        let tail = Tail::new(&rate.parse().unwrap());
        let chance = tail.at(gap);
        let head = chance.head();
        let near = (0..40).flat_map(|d| [head.checked_sub(d), head.checked_add(d)]).flatten();
        let right = |word: u64| match chance.settle(word, word) {
            Some(true) => word < head,
            Some(false) => word > head,
            None => word.abs_diff(head) <= 20,
        };
        near.chain([0, u64::MAX]).all(right)
    }

    #[test]
    fn answers_near_the_cut_are_right_or_left_open() {
        for rate in ["1", "0.1", "1/3", "0.0001", "7", "50", "1e-12", "1/4503599627370496"] {
            for gap in [0, 1, 2, 511, 512, 513, 4439, 4440, 4441, 1 << 20, 1 << 40, u64::MAX] {
                assert!(settles_rightly(rate, gap), "{rate} {gap}");
            }
        }
    }

    #[test]
    fn a_gap_of_nothing_is_certain() {
        let tail = Tail::new(&"0.3".parse().unwrap());
        for word in [0, 5, u64::MAX - 9, u64::MAX] {
            assert!(ScriptedWords::new(vec![word]).bernoulli(&tail.at(0)), "{word}");
        }
        assert!(!ScriptedWords::new(vec![1 << 20]).bernoulli(&tail.at(u64::MAX)));
    }

    #[test]
    fn a_mutant_that_forgets_the_band_is_caught() {
        // Short products taken for exact ones decide some words wrongly.
        let tail = Tail::new(&"0.0001".parse().unwrap());
        let wrong = (0..2000u64).any(|gap| {
            let chance = tail.at(gap * 37 + 1);
            let least = tail.digits.iter().enumerate().fold(u64::MAX, |least, (place, digit)| {
                let value = ((gap * 37 + 1) >> (9 * place)) & 511;
                product(least, digit[usize::try_from(value).unwrap()])
            });
            least < chance.head()
        });
        assert!(wrong);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(300))]
        #[test]
        fn any_gap_is_settled_rightly(gap in any::<u32>(), shift in 0u32..32) {
            prop_assert!(settles_rightly("0.00037", u64::from(gap >> shift)));
        }
    }

    #[test]
    fn the_enclosure_is_the_exponential() {
        let tail = Tail::new(&"0.25".parse().unwrap());
        let two = tail.at(8).enclose(AUDIT_BITS).to_f64();
        assert!((two - (-2f64).exp()).abs() < 1e-15);
    }
}
