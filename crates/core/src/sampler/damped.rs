//! A whole number k, with probability proportional to `count(k)·e^(-step·k)`.
//!
//! # Guarantee
//!
//! k is returned with probability exactly `count(k)·e^(-step·k)` over the sum of these numbers.
//!
//! # Why
//!
//! 1. A uniform number U in [0, 1) times the sum falls between two cumulative sums; the chance that it
//!    falls just below the k-th and not below the one before is the k-th share.
//! 2. The powers of `e^-step` are written down once, in units of 2^-190, each too small by less than two
//!    units. Counts add up to at most 2^64, so each cumulative sum is too small by less than 2^65 units,
//!    and the total, which holds a count at k = 0, is at least 2^190 units.
//! 3. A number is returned only if every U with the known bits and all sums within these errors agree on
//!    it. Otherwise enclosures of any precision go on with the same U.
//!
//! # Grade
//!
//! Constant coins: two words, whatever the counts and the outcome; a third with probability below
//! `len·2^-123`. The work is two passes over all counts, the same number of machine operations for each,
//! whether it is zero or not.
//!
//! # Differs
//!
//! [`Weighted`] draws from the same law for any weights, on big numbers. Here the powers are made once,
//! at the first draw, and a choice among a thousand counts takes microseconds.

use super::weighted::{Power, Weighted};
use crate::{
    chance::exp_neg,
    coins::{Coins, Law, Uniform},
    interval::Interval,
    ratio::Ratio,
    redact::debug_only_public,
};
use dashu_int::{IBig, UBig};
use std::sync::OnceLock;

/// The powers of `e^-step`, made once for many draws, at the first of them: a plan that is never paid for writes none of them down,
/// however many there are. How long that takes follows from step and last, which are public.
#[derive(Clone, Debug)]
pub struct Damping {
    step: Ratio,
    last: usize,
    /// `e^(-step·k)` in units, the lowest 64 bits first.
    powers: OnceLock<Vec<[u64; 3]>>,
}

/// The unit is 2^-190, so that 2^64 counts of one stay within four words.
const UNIT_BITS: usize = 190;
/// Spare bits while powers are multiplied up.
const SPARE_BITS: usize = 48;
const FINE_BITS: usize = UNIT_BITS + SPARE_BITS;
/// What a product has too many, beyond three words.
const CUT_BITS: usize = FINE_BITS - 192;
/// A power is too small by less than this many units.
const POWER_ERROR: u128 = 2;

impl Damping {
    /// The powers for k = 0 ..= last. Panics if the step is negative.
    pub fn new(step: &Ratio, last: usize) -> Self {
        assert!(!step.is_negative(), "powers go down");
        Self { step: step.clone(), last, powers: OnceLock::new() }
    }

    fn powers(&self) -> &[[u64; 3]] {
        self.powers.get_or_init(|| self.written_down())
    }

    fn written_down(&self) -> Vec<[u64; 3]> {
        let ratio = exp_neg(&self.step, FINE_BITS);
        let fine = |scaled: &IBig| Fine::of(&UBig::try_from(scaled.clone()).expect("powers are positive"));
        let (least, most) = (fine(ratio.low_scaled()), fine(ratio.high_scaled()));
        let (mut low, mut high) = (Fine::ONE, Fine::ONE);
        let mut powers = Vec::with_capacity(self.last + 1);
        for _ in 0..=self.last {
            let units = low.units();
            // Each product adds a unit of 2^-238 or two: this holds for billions of powers.
            assert!(high.units() == units || high.units() == one_more(units), "the enclosures stay narrow");
            powers.push(units);
            (low, high) = (low.times_down(least), high.times_up(most));
        }
        powers
    }

    /// The last k.
    pub fn last(&self) -> usize {
        self.last
    }

    /// The law of k for these counts, one for each k. Panics unless the first is positive and they add up
    /// to at most 2^64.
    pub fn law(&self, counts: Vec<u64>) -> Damped<'_> {
        let powers = self.powers();
        assert_eq!(counts.len(), powers.len(), "one count for each power");
        assert!(counts[0] > 0, "something weighs one");
        let (mut all, mut total, mut last) = (0u128, Sum::ZERO, 0);
        for (k, (&count, power)) in counts.iter().zip(powers).enumerate() {
            all += u128::from(count);
            total.add_product(count, power);
            last = if count > 0 { k } else { last };
        }
        assert!(all <= 1 << 64, "at most 2^64 are counted");
        Damped { damping: self, counts, total, error: POWER_ERROR * all, last }
    }
}

/// A number from 0 to 1 in units of 2^-238, the lowest 64 bits first: powers are multiplied up by the hundred thousand, and in
/// machine words a product takes nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Fine([u64; 4]);

impl Fine {
    const ONE: Self = Self([0, 0, 0, 1 << (FINE_BITS - 192)]);

    /// So many units; one where it is more, which the upper end of what encloses one may be.
    fn of(value: &UBig) -> Self {
        if *value >= UBig::ONE << FINE_BITS {
            return Self::ONE;
        }
        let mut bytes = [0; 32];
        let written = value.to_le_bytes();
        bytes[..written.len()].copy_from_slice(&written);
        let (words, _) = bytes.as_chunks();
        Self([0, 1, 2, 3].map(|index| u64::from_le_bytes(words[index])))
    }

    /// The same in units of 2^-190, rounded down.
    fn units(self) -> [u64; 3] {
        [0, 1, 2].map(|index| self.0[index] >> SPARE_BITS | self.0[index + 1] << (64 - SPARE_BITS))
    }

    /// The product in units of 2^-476, of eight words.
    fn product(self, other: Self) -> [u64; 8] {
        let mut product = [0; 8];
        for (place, &one) in self.0.iter().enumerate() {
            let mut carry = 0;
            for (further, &two) in other.0.iter().enumerate() {
                let at = &mut product[place + further];
                // (2^64 - 1)^2 + 2 (2^64 - 1) is 2^128 - 1.
                let sum = u128::from(one) * u128::from(two) + u128::from(*at) + u128::from(carry);
                (*at, carry) = halves(sum);
            }
            product[place + 4] = carry;
        }
        product
    }

    /// The product, rounded down.
    fn times_down(self, other: Self) -> Self {
        // 238 bits are three words and 46 bits.
        let product = self.product(other);
        Self([3, 4, 5, 6].map(|index| product[index] >> CUT_BITS | product[index + 1] << (64 - CUT_BITS)))
    }

    /// The product, rounded up.
    fn times_up(self, other: Self) -> Self {
        let [first, second, third, fourth, ..] = self.product(other);
        let Self([mut a, mut b, mut c, mut d]) = self.times_down(other);
        let cut = first | second | third | (fourth & ((1 << CUT_BITS) - 1));
        let mut carry = cut != 0;
        for word in [&mut a, &mut b, &mut c, &mut d] {
            (*word, carry) = word.overflowing_add(carry.into());
        }
        Self([a, b, c, d])
    }
}

fn one_more(mut units: [u64; 3]) -> [u64; 3] {
    let mut carry = true;
    for word in &mut units {
        (*word, carry) = word.overflowing_add(carry.into());
    }
    units
}

/// A number of units, of 256 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Sum {
    high: u128,
    low: u128,
}

fn join(low: u64, high: u64) -> u128 {
    u128::from(low) | u128::from(high) << 64
}

#[expect(clippy::cast_possible_truncation, reason = "the two halves")]
fn halves(value: u128) -> (u64, u64) {
    (value as u64, (value >> 64) as u64)
}

impl Sum {
    const ZERO: Self = Self { high: 0, low: 0 };

    #[inline]
    fn add(&mut self, other: Self) {
        let (low, carry) = self.low.overflowing_add(other.low);
        self.low = low;
        self.high += other.high + u128::from(carry);
    }

    #[inline]
    fn add_product(&mut self, count: u64, power: &[u64; 3]) {
        let (first, carry) = power[0].carrying_mul(count, 0);
        let (second, carry) = power[1].carrying_mul(count, carry);
        let (third, fourth) = power[2].carrying_mul(count, carry);
        self.add(Self { low: join(first, second), high: join(third, fourth) });
    }

    fn plus(mut self, small: u128) -> Self {
        self.add(Self { high: 0, low: small });
        self
    }

    fn minus_or_zero(self, small: u128) -> Self {
        let (low, borrow) = self.low.overflowing_sub(small);
        match self.high.checked_sub(borrow.into()) {
            Some(high) => Self { high, low },
            None => Self::ZERO,
        }
    }

    /// This number times `fraction`/2^128, rounded down.
    fn times_fraction(self, fraction: u128) -> Self {
        let [low, high] = [self.low, self.high].map(|part| wide_product(part, fraction));
        // (high·2^128 + low)·fraction / 2^128: the product of the high part, and the high part of the other.
        let mut product = high;
        product.add(Self { high: 0, low: low.high });
        product
    }

    /// This number over 2^bits, rounded down, for at most 128 bits.
    fn shifted(self, bits: u32) -> Self {
        match bits {
            0 => self,
            128 => Self { high: 0, low: self.high },
            _ => Self { high: self.high >> bits, low: self.low >> bits | self.high << (128 - bits) },
        }
    }
}

/// The product of two numbers of 128 bits.
fn wide_product(a: u128, b: u128) -> Sum {
    let ((a0, a1), (b0, b1)) = (halves(a), halves(b));
    let (first, carry) = a0.carrying_mul(b0, 0);
    let (second, third) = a1.carrying_mul(b0, carry);
    let mut product = Sum { low: join(first, second), high: u128::from(third) };
    let (second, carry) = a0.carrying_mul(b1, 0);
    let (third, fourth) = a1.carrying_mul(b1, carry);
    product.add(Sum { low: u128::from(second) << 64, high: join(third, fourth) });
    product
}

/// The law of k for some counts.
#[derive(Clone)]
pub struct Damped<'a> {
    damping: &'a Damping,
    counts: Vec<u64>,
    /// The sum of all, in units, too small by less than `error`; and so is every part of it.
    total: Sum,
    error: u128,
    /// The last k that can be returned.
    last: usize,
}

debug_only_public!(impl['a] Damped['a] {});

impl Damped<'_> {
    /// The k of the part of the total that a uniform number of at most 128 known bits falls in, once that
    /// is certain.
    fn find(&self, uniform: &Uniform) -> Option<usize> {
        let known = u32::try_from(uniform.known()).expect("at most 128 bits");
        let bits = u128::try_from(uniform.numerator()).expect("at most 128 bits");
        let fraction = if known == 0 { 0 } else { bits << (128 - known) };
        let from = self.total.times_fraction(fraction);
        // U is below (bits + 1)/2^known and the total below total + error: what that adds to `from`, and
        // one unit for each of the two roundings.
        let mut to = from.plus(self.error + 2);
        to.add(self.total.shifted(known));
        // Sums are never zero, so that none is passed where less than the error is left.
        let certain = from.minus_or_zero(self.error);
        let (mut passed, mut reached) = (0, 0);
        let mut sum = Sum::ZERO;
        for (&count, power) in self.counts.iter().zip(self.damping.powers()) {
            sum.add_product(count, power);
            passed += usize::from(sum <= certain);
            reached += usize::from(sum < to);
        }
        // The sum up to the last is the total, which U never reaches, whatever the errors say.
        let (passed, reached) = (passed.min(self.last), reached.min(self.last));
        (passed == reached).then_some(passed)
    }

    fn exact(&self) -> Weighted {
        let power = |(steps, &multiplier): (u64, &u64)| Power { multiplier: multiplier.into(), steps };
        Weighted::powers(&self.damping.step, (0..).zip(&self.counts).map(power))
    }
}

impl Law for Damped<'_> {
    type Value = usize;

    fn draw<C: Coins>(&self, coins: &mut C) -> usize {
        let mut uniform = Uniform::unknown();
        coins.refine(&mut uniform);
        loop {
            coins.refine(&mut uniform);
            if uniform.known() > 128 {
                return self.exact().settle(uniform, coins);
            }
            if let Some(k) = self.find(&uniform) {
                return k;
            }
        }
    }

    fn masses(&self, floor: &Ratio, bits: usize) -> Vec<(usize, Interval)> {
        let mut masses = self.exact().masses(floor, bits);
        masses.retain(|&(k, _)| self.counts[k] > 0);
        masses
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        coins::ScriptedWords,
        tape::{confirm, enumerate},
    };
    use proptest::prelude::*;

    fn ratio(text: &str) -> Ratio {
        text.parse().unwrap()
    }

    /// Products in machine words are those of whole numbers of any length.
    #[test]
    fn products_are_rounded_as_those_of_big_numbers_are() {
        let whole = |fine: Fine| fine.0.iter().rev().fold(UBig::ZERO, |sum, &word| (sum << 64) + word);
        let mut numbers = vec![Fine::ONE, Fine([0; 4]), Fine([u64::MAX, u64::MAX, u64::MAX, (1 << 46) - 1])];
        numbers.extend([3u64, 5, 7].map(|odd| Fine([odd.wrapping_pow(40), !odd, odd << 60, odd << 40])));
        for &one in &numbers {
            for &two in &numbers {
                let product = whole(one) * whole(two);
                let down = &product >> FINE_BITS;
                let up = if (&down << FINE_BITS) == product { down.clone() } else { &down + 1u8 };
                assert_eq!(
                    (whole(one.times_down(two)), whole(one.times_up(two))),
                    (down, up),
                    "{one:?} {two:?}"
                );
            }
            let units = one.units();
            let written = (UBig::from(units[2]) << 128) + (UBig::from(units[1]) << 64) + units[0];
            assert_eq!(written, whole(one) >> SPARE_BITS);
        }
        assert_eq!(one_more([u64::MAX, u64::MAX, 7]), [0, 0, 8]);
    }

    /// Nothing is written down before something is drawn: plans are free, and there may be many.
    #[test]
    fn powers_are_written_down_at_the_first_draw() {
        let damping = Damping::new(&ratio("1e-4"), 900_000);
        assert!(damping.powers.get().is_none() && damping.last() == 900_000);
        assert_eq!(Damping::new(&ratio("0.5"), 3).law(vec![1, 1, 1, 1]).counts.len(), 4);
    }

    #[test]
    fn powers_are_too_small_by_less_than_two_units() {
        for step in ["0.05", "0.5", "3", "1e-9", "0"] {
            let damping = Damping::new(&ratio(step), 300);
            for (k, power) in damping.powers().iter().enumerate() {
                let written = (IBig::from(power[2]) << 128) + (IBig::from(power[1]) << 64) + power[0];
                let truth = exp_neg(&(&ratio(step) * &Ratio::from(k as u64)), UNIT_BITS + 20);
                let unit = IBig::ONE << 20;
                assert!(&(&written * &unit) <= truth.high_scaled(), "{step} {k}");
                assert!(&((written + IBig::from(2)) * unit) > truth.low_scaled(), "{step} {k}");
            }
        }
    }

    /// Counts that are zero in the middle and at the end, large, and alone.
    fn cases() -> Vec<(&'static str, Vec<u64>)> {
        vec![
            ("0.5", vec![1, 0, 3, 7, 0, 40, 0, 0]),
            ("0.05", vec![1, 1 << 40, 0, u64::MAX >> 1]),
            ("3", vec![2, 1, 1]),
            ("1", vec![1, 0, 0]),
            ("0", vec![1, 2, 0, 3]),
            ("44", vec![1, u64::MAX - 1, 0]),
            ("1", vec![u64::MAX, 1]),
        ]
    }

    #[test]
    fn exact_audit_of_every_share() {
        for (step, counts) in cases() {
            let damping = Damping::new(&ratio(step), counts.len() - 1);
            let lost = confirm(&damping.law(counts.clone()), &ratio("1e-9")).unwrap();
            assert!(lost.upper() < ratio("1e-7"), "{counts:?} loses {}", lost.to_f64());
        }
    }

    #[test]
    fn a_mutant_with_one_step_changed_is_caught() {
        struct Mutant(Damping, Damping);
        impl Law for Mutant {
            type Value = usize;
            fn draw<C: Coins>(&self, coins: &mut C) -> usize {
                self.0.law(vec![1, 5, 40]).draw(coins)
            }
            fn masses(&self, floor: &Ratio, bits: usize) -> Vec<(usize, Interval)> {
                self.1.law(vec![1, 5, 40]).masses(floor, bits)
            }
        }
        let [a, b] = ["0.5", "0.500001"].map(|step| Damping::new(&ratio(step), 2));
        assert!(confirm(&Mutant(a, b), &ratio("1e-9")).is_err());
    }

    #[test]
    fn decisions_beyond_the_first_become_half_as_likely_with_each() {
        let damping = Damping::new(&ratio("0.5"), 3);
        let law = damping.law(vec![1, 5, 0, 40]);
        let pmf = enumerate(&ratio("1e-9"), |tape| {
            law.draw(tape);
            tape.decisions()
        });
        for bits in 2..25 {
            let more = pmf.iter().filter(|(decisions, _)| **decisions > bits);
            let doubt = more.fold(pmf.lost().clone(), |sum, (_, mass)| sum.add(mass));
            assert!(doubt.certainly_at_most(&Ratio::new(4, 1 << bits)), "{bits}: {}", doubt.to_f64());
        }
    }

    #[test]
    fn two_words_decide_and_a_tie_takes_more() {
        // Counts 1 and 2 without damping: the only sum is a third of the total, 0x5555…
        let damping = Damping::new(&Ratio::zero(), 1);
        let law = damping.law(vec![1, 2]);
        let third = 0x5555_5555_5555_5555;
        for (words, k, used) in [
            (vec![0, 0], 0, 2),
            (vec![u64::MAX, u64::MAX], 1, 2),
            (vec![third, third - 9], 0, 2),
            (vec![third, third + 9], 1, 2),
            (vec![third, third, 0], 0, 3),
            (vec![third, third, third, u64::MAX], 1, 4),
        ] {
            let mut coins = ScriptedWords::new(words);
            assert_eq!((law.draw(&mut coins), coins.used()), (k, used));
        }
    }

    #[test]
    #[should_panic(expected = "something weighs one")]
    fn a_first_count_of_zero_is_a_broken_invariant() {
        Damping::new(&Ratio::one(), 1).law(vec![0, 1]);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn words_find_what_big_numbers_find(
            mut counts in proptest::collection::vec(0u64..1 << 60, 2..12),
            zero in 0usize..12,
            step in 1u64..200,
            words in any::<[u64; 2]>(),
        ) {
            counts[0] += 1;
            if zero > 0 && zero < counts.len() { counts[zero] = 0; }
            let damping = Damping::new(&Ratio::new(1, step), counts.len() - 1);
            let law = damping.law(counts);
            let draw = |law: &dyn Fn(&mut ScriptedWords) -> usize| {
                law(&mut ScriptedWords::new(words.iter().copied().chain([7, 7, 7]).collect()))
            };
            prop_assert_eq!(draw(&|coins| law.draw(coins)), draw(&|coins| law.exact().draw(coins)));
        }

        #[test]
        fn wide_arithmetic_agrees_with_big_numbers(a in any::<[u128; 2]>(), fraction in any::<u128>(), bits in 0u32..=128) {
            let sum = Sum { high: a[1], low: a[0] };
            let big = |sum: Sum| (UBig::from(sum.high) << 128) + sum.low;
            prop_assert_eq!(big(sum.times_fraction(fraction)), (big(sum) * fraction) >> 128);
            prop_assert_eq!(big(sum.shifted(bits)), big(sum) >> bits as usize);
            let less = sum.minus_or_zero(fraction);
            prop_assert_eq!(big(less), if big(sum) < fraction.into() { UBig::ZERO } else { big(sum) - fraction });
            let small = Sum { high: 0, low: a[0] };
            prop_assert_eq!(big(small.minus_or_zero(fraction)), UBig::from(a[0].saturating_sub(fraction)));
        }
    }
}
