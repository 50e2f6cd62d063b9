//! An index, chosen with probability proportional to `m·e^-x` for exact m and x.
//!
//! # Guarantee
//!
//! Index i is returned with probability exactly `m_i·e^-x_i / Σ m_j·e^-x_j`; one whose m is zero, never.
//!
//! # Why
//!
//! 1. A uniform number U in [0, 1) times the total falls between two cumulative sums, and the chance that
//!    it falls just below the i-th and not below the one before is the i-th share of the total.
//! 2. U is known to ever more bits and the sums are enclosed ever more tightly; an index is returned only
//!    when every U and all sums within their enclosures agree on it.
//! 3. All exponents may be lowered by the same exact number, so the largest `e^-x` is one and nothing that
//!    matters underflows.
//!
//! # Grade
//!
//! Constant coins: two words, whatever the weights and the outcome. A third is needed with probability
//! below `len·2^-120` (for powers: while the multipliers are below 2^64), because 128 bits of U leave that
//! much doubt next to `len` sums. The sums are all built and all compared with U before any index is
//! known. What remains is the time of the arithmetic: operations on longer numbers take longer, `e^-x` is
//! quicker for x = 0 and for x beyond the precision, and [`Weighted::powers`] multiplies once for each
//! distinct number of steps. A clock that resolves microseconds may learn something of that kind.

use crate::{
    chance::exp_neg,
    coins::{Coins, Law, Uniform},
    interval::Interval,
    ratio::Ratio,
    redact::debug_only_public,
};
use dashu_base::{BitTest, UnsignedAbs};
use dashu_int::{IBig, UBig};
use std::sync::OnceLock;

/// The number `multiplier·e^-exponent`. The multiplier is zero or more, the exponent has any sign.
#[derive(Clone, PartialEq, Eq)]
pub struct Weight {
    /// The factor m.
    pub multiplier: Ratio,
    /// The exponent x.
    pub exponent: Ratio,
}

debug_only_public!(Weight {});

/// The number `multiplier·e^(-step·steps)`, with one step for all powers.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Power {
    /// The factor m: for instance, how many lattice points share a score.
    pub multiplier: u128,
    /// How many steps down.
    pub steps: u64,
}

debug_only_public!(Power {});

/// The law of an index with given weights.
#[derive(Clone)]
pub struct Weighted {
    terms: Terms,
    /// The last index that can be returned; no sum from it on needs a comparison.
    last: usize,
    /// Bits that the sums need beyond those of U, because a multiplier may dwarf the total.
    guard: usize,
    /// What the first comparison sees, made when it is first needed: whoever only asks for the masses never does.
    first: OnceLock<Table>,
}

debug_only_public!(Weighted {});

#[derive(Clone, Debug)]
enum Terms {
    Free(Vec<Weight>),
    Powers { step: Ratio, powers: Vec<(Ratio, u64)> },
}

/// Cumulative sums, enclosed.
#[derive(Clone, Debug)]
struct Table {
    cuts: Vec<Interval>,
    total: Interval,
}

/// Bits of U that the first comparison sees, where a refinement is a word.
const FIRST_KNOWN: usize = 128;
/// Bits of the first sums, relative to the total.
const FIRST_BITS: usize = FIRST_KNOWN + 16;
/// Room for the rounding of a long sum and of a long chain of products.
const SUM_BITS: usize = 48;

impl Weighted {
    /// These weights. Panics if there is none, if one is negative, or if all are zero.
    pub fn new(weights: impl IntoIterator<Item = Weight>) -> Self {
        let mut weights: Vec<Weight> = weights.into_iter().collect();
        assert!(!weights.iter().any(|w| w.multiplier.is_negative()), "weights are not negative");
        let last = last_positive(weights.iter().map(|w| w.multiplier.is_positive()));
        let possible = weights.iter().filter(|w| w.multiplier.is_positive());
        let least = possible.map(|w| w.exponent.clone()).min().expect("one weight is positive");
        let (mut longest, mut shortest) = (0, 0);
        for weight in &mut weights {
            if weight.multiplier.is_zero() {
                weight.exponent = Ratio::zero();
                continue;
            }
            weight.exponent = &weight.exponent - &least;
            let length = log2(&weight.multiplier);
            (longest, shortest) = (length.max(longest), length.min(shortest));
        }
        // The total is at least 2^(shortest-1); an error of one unit is multiplied by at most 2^longest.
        let guard = usize::try_from(longest - shortest + 2).expect("longest >= 0 >= shortest");
        Self { terms: Terms::Free(weights), last, guard, first: OnceLock::new() }
    }

    /// These powers of `e^-step`, built by repeated multiplication: thousands of them take milliseconds.
    /// Panics if there is none, if all are zero, or if the step is negative.
    pub fn powers(step: &Ratio, powers: impl IntoIterator<Item = Power>) -> Self {
        assert!(!step.is_negative(), "powers go down");
        let powers: Vec<Power> = powers.into_iter().collect();
        let last = last_positive(powers.iter().map(|p| p.multiplier > 0));
        let possible = powers.iter().filter(|p| p.multiplier > 0);
        let least = possible.map(|p| p.steps).min().expect("one weight is positive");
        let shift = |p: &Power| {
            (Ratio::from_parts(IBig::from(p.multiplier), UBig::ONE), p.steps.saturating_sub(least))
        };
        let powers = powers.iter().map(shift).collect();
        // The total is at least one. A fixed guard keeps the work the same for all multipliers up to 2^64.
        let terms = Terms::Powers { step: step.clone(), powers };
        Self { terms, last, guard: 64, first: OnceLock::new() }
    }

    /// The index of a uniform number of which some bits are known; more are drawn until it is certain.
    pub(crate) fn settle<C: Coins>(&self, mut uniform: Uniform, coins: &mut C) -> usize {
        loop {
            let known = uniform.known();
            let found = if known <= FIRST_KNOWN {
                let first = || self.terms.table(FIRST_BITS + self.guard, self.last);
                self.first.get_or_init(first).find(&uniform)
            } else {
                // Twice the known bits, so that the sums close in whatever the multipliers are.
                self.terms.table(2 * known + FIRST_BITS + self.guard, self.last).find(&uniform)
            };
            if let Some(index) = found {
                return index;
            }
            coins.refine(&mut uniform);
        }
    }
}

fn last_positive(positive: impl DoubleEndedIterator<Item = bool> + ExactSizeIterator) -> usize {
    positive.enumerate().rfind(|&(_, positive)| positive).expect("at least one weight is positive").0
}

/// The logarithm to base two of a positive number, to within one.
fn log2(value: &Ratio) -> i64 {
    let length = |bits: usize| i64::try_from(bits).expect("numbers that fit in memory");
    length(value.numerator().clone().unsigned_abs().bit_len()) - length(value.denominator().bit_len())
}

impl Terms {
    /// Each weight, to about this many bits behind the point.
    fn enclose(&self, bits: usize) -> Vec<Interval> {
        match self {
            Self::Free(weights) => {
                weights.iter().map(|w| exp_neg(&w.exponent, bits).mul_ratio(&w.multiplier)).collect()
            }
            Self::Powers { step, powers } => enclose_powers(step, powers, bits),
        }
    }

    fn table(&self, bits: usize, last: usize) -> Table {
        let mut total = Interval::zero(bits + SUM_BITS);
        let mut cuts = Vec::with_capacity(last);
        for (index, weight) in self.enclose(bits + SUM_BITS).iter().enumerate().take(last + 1) {
            total = total.add(weight);
            if index < last {
                cuts.push(total.clone());
            }
        }
        Table { cuts, total }
    }
}

/// From the fewest steps to the most, each power comes from the one before by a product for each binary
/// digit of the distance: one product where distances are one.
fn enclose_powers(step: &Ratio, powers: &[(Ratio, u64)], bits: usize) -> Vec<Interval> {
    let mut order: Vec<usize> = (0..powers.len()).collect();
    order.sort_by_key(|&index| powers[index].1);
    let mut weights = vec![Interval::zero(bits); powers.len()];
    // e^(-step·2^digit), computed when first needed.
    let mut factors: Vec<Option<Interval>> = vec![None; 64];
    let (mut at, mut power) = (0, Interval::one(bits));
    for index in order {
        let (multiplier, steps) = &powers[index];
        let mut distance = steps - at;
        while distance > 0 {
            let digit = distance.trailing_zeros();
            let factor = factors[digit as usize]
                .get_or_insert_with(|| exp_neg(&(step * &Ratio::from(1u64 << digit)), bits));
            power = power.mul(factor);
            distance &= distance - 1;
        }
        at = *steps;
        weights[index] = power.mul_ratio(multiplier);
    }
    weights
}

impl Table {
    /// The index of the part of the total that the uniform number falls in, once that is certain.
    fn find(&self, uniform: &Uniform) -> Option<usize> {
        let point = uniform.enclose(self.total.bits()).mul(&self.total);
        let (mut passed, mut reached) = (0, 0);
        for cut in &self.cuts {
            passed += usize::from(cut.high_scaled() <= point.low_scaled());
            reached += usize::from(cut.low_scaled() < point.high_scaled());
        }
        (passed == reached).then_some(passed)
    }
}

impl Law for Weighted {
    type Value = usize;

    fn draw<C: Coins>(&self, coins: &mut C) -> usize {
        let mut uniform = Uniform::unknown();
        coins.refine(&mut uniform);
        coins.refine(&mut uniform);
        self.settle(uniform, coins)
    }

    fn masses(&self, _floor: &Ratio, bits: usize) -> Vec<(usize, Interval)> {
        let work = bits + self.guard + SUM_BITS;
        let weights = self.terms.enclose(work);
        let total = weights.iter().fold(Interval::zero(work), |sum, weight| sum.add(weight));
        let share = |(index, weight): (usize, &Interval)| (index, weight.div(&total).to_precision(bits));
        weights.iter().enumerate().map(share).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        coins::ScriptedWords,
        interval::AUDIT_BITS,
        tape::{confirm, enumerate},
    };
    use proptest::prelude::*;

    fn ratio(text: &str) -> Ratio {
        text.parse().unwrap()
    }

    fn floor() -> Ratio {
        ratio("1e-9")
    }

    fn weight(multiplier: &str, exponent: &str) -> Weight {
        Weight { multiplier: ratio(multiplier), exponent: ratio(exponent) }
    }

    fn free(weights: &[(&str, &str)]) -> Weighted {
        Weighted::new(weights.iter().map(|(m, x)| weight(m, x)))
    }

    fn cases() -> Vec<Weighted> {
        let powers = |step: &str, list: &[(u128, u64)]| {
            Weighted::powers(
                &ratio(step),
                list.iter().map(|&(multiplier, steps)| Power { multiplier, steps }),
            )
        };
        vec![
            free(&[("1", "7")]),
            free(&[("1", "0"), ("1", "0"), ("1", "0")]),
            free(&[("1", "0"), ("1", "1/2"), ("1", "4"), ("2/3", "-1")]),
            free(&[("0", "-1e9"), ("1", "3"), ("0", "0"), ("1/3", "2.5"), ("0", "9")]),
            free(&[("1e-30", "0"), ("1e30", "138"), ("1", "70")]),
            free(&[("5", "1e6"), ("7", "1000001")]),
            powers("0.5", &[(3, 0), (0, 1), (7, 4), (1, 1), (9, 4)]),
            powers("0", &[(3, 0), (1, 9)]),
            powers("1e-3", &[(1, 40_000), (1 << 64, 84_361), (u128::MAX, 130_000)]),
            powers("1e9", &[(1, u64::MAX), (1 << 100, u64::MAX - 1)]),
        ]
    }

    #[test]
    fn exact_audit_every_index_has_exactly_its_share() {
        for (number, law) in cases().iter().enumerate() {
            let lost = confirm(law, &floor()).unwrap();
            assert!(lost.upper() < ratio("1e-7"), "case {number} loses {}", lost.to_f64());
        }
    }

    #[test]
    fn shares_are_those_of_floating_arithmetic() {
        let law = free(&[("1", "0"), ("3", "1/2"), ("0", "1"), ("1/2", "-1")]);
        let weights = [1.0, 3.0 * (-0.5f64).exp(), 0.0, 0.5 * 1f64.exp()];
        let total: f64 = weights.iter().sum();
        for (index, mass) in law.masses(&Ratio::zero(), AUDIT_BITS) {
            assert!((mass.to_f64() - weights[index] / total).abs() < 1e-15);
        }
    }

    #[test]
    fn a_mutant_with_one_changed_exponent_is_caught() {
        struct Mutant;
        impl Law for Mutant {
            type Value = usize;
            fn draw<C: Coins>(&self, coins: &mut C) -> usize {
                free(&[("1", "0"), ("1", "1"), ("1", "2.000001")]).draw(coins)
            }
            fn masses(&self, floor: &Ratio, bits: usize) -> Vec<(usize, Interval)> {
                free(&[("1", "0"), ("1", "1"), ("1", "2")]).masses(floor, bits)
            }
        }
        let told = confirm(&Mutant, &floor()).expect_err("a different law");
        assert!(told.contains("drawn 0.665241"), "{told}");
    }

    #[test]
    fn the_chance_of_more_decisions_halves_with_each() {
        // Two sums: U·total is in doubt next to them only, on less than two cells of U each.
        let law = free(&[("1", "0"), ("2", "1/3"), ("1", "1")]);
        let pmf = enumerate(&floor(), |tape| {
            law.draw(tape);
            tape.decisions()
        });
        for bits in 2..25 {
            let more = pmf.iter().filter(|(decisions, _)| **decisions > bits);
            let doubt = more.fold(pmf.lost().clone(), |sum, (_, mass)| sum.add(mass));
            let bound = Ratio::new(4, 1 << bits);
            assert!(doubt.certainly_at_most(&bound), "{bits}: {}", doubt.to_f64());
        }
    }

    #[test]
    fn two_words_decide_and_a_tie_takes_a_third() {
        // Weights 1 and 2: the only sum is a third of the total, 0x5555…
        let law = free(&[("1", "5"), ("2", "5")]);
        let third = 0x5555_5555_5555_5555;
        for (words, index, used) in [
            (vec![0, 0], 0, 2),
            (vec![u64::MAX, u64::MAX], 1, 2),
            (vec![third, third - 1], 0, 2),
            (vec![third, third + 1], 1, 2),
            (vec![third, third, 0], 0, 3),
            (vec![third, third, third, u64::MAX], 1, 4),
        ] {
            let mut coins = ScriptedWords::new(words);
            assert_eq!((law.draw(&mut coins), coins.used()), (index, used));
        }
        for law in cases() {
            for word in [1, 1 << 40, 0x1234_5678_9abc_def0, 0xfedc_ba98_7654_3210] {
                let mut coins = ScriptedWords::new(vec![word, word]);
                law.draw(&mut coins);
                assert_eq!(coins.used(), 2);
            }
        }
    }

    #[test]
    fn thousands_of_powers_are_chosen_quickly() {
        // The gaps of a sorted column over the 64-bit lattice, scored by their distance from the middle.
        let gaps = (0..4000u64).map(|i| Power {
            multiplier: u128::from(i.wrapping_mul(0x9e37_79b9_7f4a_7c15)),
            steps: i.abs_diff(2000),
        });
        let law = Weighted::powers(&ratio("0.05"), gaps);
        let mut coins = ScriptedWords::new(vec![1 << 63, 0]);
        let index = law.draw(&mut coins);
        assert!((1950..2050).contains(&index), "{index}");
        assert_eq!(coins.used(), 2);
    }

    #[test]
    #[should_panic(expected = "at least one weight is positive")]
    fn no_weight_is_a_broken_invariant() {
        Weighted::new([]);
    }

    #[test]
    #[should_panic(expected = "at least one weight is positive")]
    fn zero_weights_are_a_broken_invariant() {
        free(&[("0", "1"), ("0", "2")]);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn powers_are_the_same_law_as_their_exponents(
            list in proptest::collection::vec((0u64..1000, 0u64..200), 1..12), step in 1u64..2000,
        ) {
            prop_assume!(list.iter().any(|&(multiplier, _)| multiplier > 0));
            let step = Ratio::new(1, step);
            let powers = list.iter().map(|&(m, steps)| Power { multiplier: m.into(), steps });
            let weights = list.iter().map(|&(m, steps)| Weight {
                multiplier: Ratio::from(m), exponent: &step * &Ratio::from(steps),
            });
            let a = Weighted::powers(&step, powers).masses(&Ratio::zero(), AUDIT_BITS);
            let b = Weighted::new(weights).masses(&Ratio::zero(), AUDIT_BITS);
            for ((_, a), (_, b)) in a.iter().zip(&b) {
                prop_assert!(a.lower() <= b.upper() && b.lower() <= a.upper());
                let hull = a.hull(b);
                prop_assert!(&hull.upper() - &hull.lower() < Ratio::dyadic(IBig::ONE, AUDIT_BITS - 8));
            }
        }
    }
}
