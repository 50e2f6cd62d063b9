//! Real noise that is never rounded: compared as finely as it takes.
//!
//! Report-noisy-max adds noise to scores and names the largest. Rounding the sums first would create
//! ties, and with them a loss that no proof covers; here the sums stay ideal real numbers, and more of
//! their bits are drawn until the comparison is certain.
//!
//! # Guarantee
//!
//! [`compare`] and [`argmax`] decide exactly as for the ideal numbers `offset + scale·Z`, which tie with
//! probability zero.
//!
//! # Grade
//!
//! 1, constant coins, up to k²·2^-90 for k numbers with exponential, Gumbel or Laplace noise: all are
//! first refined to 128 bits, enclosed to within about 2^-94 of the least scale, and compared once with
//! the best. Only where an enclosure overlaps that of the best are more bits drawn. Before that, neither
//! the coins nor the steps depend on the offsets.
//!
//! # Example
//!
//! ```
//! use equipoise_core::coins::ScriptedWords;
//! use equipoise_core::ratio::Ratio;
//! use equipoise_core::sampler::{exponential::Exponential, lazy::{LazyReal, argmax}};
//!
//! let scores = [3i64, 5, 4];
//! let noisy = |&score: &i64| LazyReal::new(Exponential, Ratio::from(score), Ratio::from(2u64));
//! let mut numbers: Vec<_> = scores.iter().map(noisy).collect();
//! // Two words each: small noise for the first two, large for the last.
//! let mut coins = ScriptedWords::new(vec![1 << 63, 0, 1 << 63, 0, 1 << 60, 0]);
//! assert_eq!(argmax(&mut numbers, &mut coins), 2);
//! ```

use super::{
    real::{FIRST_REFINEMENTS, RealVariable, binary_size, fresh, later_bits, refine},
    span::{Look, Span},
};
use crate::{
    coins::{Coins, Uniform},
    ratio::Ratio,
    redact::debug_only_public,
};
use std::cmp::Ordering;

/// `offset + scale·Z` for an ideal real variable Z of which some bits are known.
#[derive(Clone)]
pub struct LazyReal<V> {
    variable: V,
    offset: Ratio,
    scale: Ratio,
    uniforms: Vec<Uniform>,
}

debug_only_public!(impl[V: std::fmt::Debug] LazyReal[V] { variable });

impl<V: RealVariable> LazyReal<V> {
    /// A fresh one, of which nothing is known. Panics unless the scale is positive.
    pub fn new(variable: V, offset: Ratio, scale: Ratio) -> Self {
        assert!(scale.is_positive(), "numbers without noise may tie; give a positive scale");
        Self { variable, offset, scale, uniforms: fresh::<V>() }
    }

    /// Where it lies by the bits known so far, its ends multiples of `2^-bits`.
    pub fn enclose(&self, bits: usize) -> Span {
        let finer = usize::try_from(binary_size(&self.scale).max(0)).expect("positive") + 2;
        let look = Look { bits: bits + finer, reach: bits.max(64) };
        self.variable.enclose(&self.uniforms, look).placed(&self.offset, &self.scale, bits)
    }

    /// Learn more bits.
    pub fn refine<C: Coins>(&mut self, coins: &mut C) {
        refine(&mut self.uniforms, coins);
    }

    fn refine_for_first_look<C: Coins>(&mut self, coins: &mut C) {
        if self.uniforms.iter().all(|uniform| uniform.known() == 0) {
            for _ in 0..FIRST_REFINEMENTS {
                self.refine(coins);
            }
        }
    }

    /// The precision at which its enclosure is fine against its scale and its known bits.
    fn wanted_bits(&self) -> usize {
        usize::try_from((96 - binary_size(&self.scale)).max(16)).expect("positive")
            + later_bits(&self.uniforms)
    }
}

/// How two of them compare; bits are drawn until that is certain.
pub fn compare<V, W, C>(a: &mut LazyReal<V>, b: &mut LazyReal<W>, coins: &mut C) -> Ordering
where
    V: RealVariable,
    W: RealVariable,
    C: Coins,
{
    a.refine_for_first_look(coins);
    b.refine_for_first_look(coins);
    loop {
        let bits = a.wanted_bits().max(b.wanted_bits());
        let (left, right) = (a.enclose(bits), b.enclose(bits));
        if left.certainly_below(&right) {
            return Ordering::Less;
        }
        if right.certainly_below(&left) {
            return Ordering::Greater;
        }
        if left.width() >= right.width() { a.refine(coins) } else { b.refine(coins) }
    }
}

/// The index of the largest. Panics if there is none.
pub fn argmax<V: RealVariable, C: Coins>(numbers: &mut [LazyReal<V>], coins: &mut C) -> usize {
    assert!(!numbers.is_empty(), "the largest of nothing");
    for number in numbers.iter_mut() {
        number.refine_for_first_look(coins);
    }
    let finest =
        |numbers: &[LazyReal<V>]| numbers.iter().map(LazyReal::wanted_bits).max().expect("not empty");
    let all = |numbers: &[LazyReal<V>], bits| numbers.iter().map(|number| number.enclose(bits)).collect();
    let mut bits = finest(numbers);
    let mut spans: Vec<Span> = all(numbers, bits);
    loop {
        // A missing low end orders below all numbers.
        let best = (0..spans.len()).max_by_key(|&index| spans[index].low_scaled()).expect("not empty");
        let rival = |index: &usize| *index != best && !spans[*index].certainly_below(&spans[best]);
        let rivals: Vec<usize> = (0..spans.len()).filter(rival).collect();
        if rivals.is_empty() {
            return best;
        }
        let contenders = rivals.into_iter().chain([best]);
        let widest = contenders.max_by_key(|&index| spans[index].width()).expect("not empty");
        numbers[widest].refine(coins);
        let finer = finest(numbers);
        if finer > bits {
            (bits, spans) = (finer, all(numbers, finer));
        } else {
            spans[widest] = numbers[widest].enclose(bits);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        chance::exp_neg,
        coins::{Law, ScriptedWords, Words},
        sampler::{
            exponential::Exponential,
            gumbel::Gumbel,
            laplace_real::RealLaplace,
            real::{Placement, Rounded},
            real_audit::{Remembering, Scrambled, any_words, ratio, uniform_of},
        },
        tape::{Pmf, enumerate},
    };
    use proptest::prelude::*;

    fn lazy<V: RealVariable>(variable: V, offset: &str) -> LazyReal<V> {
        LazyReal::new(variable, ratio(offset), ratio("1.5"))
    }

    fn meets<T: Ord>(pmf: &Pmf<T>, value: &T, claim: f64) -> bool {
        let mass = pmf.mass(value);
        mass.to_f64() <= claim + 1e-12 && claim <= mass.to_f64() + pmf.lost().to_f64() + 1e-12
    }

    fn winners<V: RealVariable>(variable: V, offsets: &[&str], floor: &str) -> Pmf<usize> {
        let variable = Remembering::new(variable);
        enumerate(&ratio(floor), |tape| {
            let mut numbers: Vec<_> = offsets.iter().map(|offset| lazy(&variable, offset)).collect();
            argmax(&mut numbers, tape)
        })
    }

    #[test]
    fn exact_audit_two_numbers_compare_as_their_difference_does() {
        // Scores 0.9 apart at scale 1.5: t = 0.6.
        let t = 0.6f64;
        let exponential = winners(Exponential, &["0", "0.9"], "1e-5");
        assert!(meets(&exponential, &1, 1.0 - (-t).exp() / 2.0) && exponential.lost().to_f64() < 0.02);
        let gumbel = winners(Gumbel, &["0", "0.9"], "1e-5");
        assert!(meets(&gumbel, &1, 1.0 / (1.0 + (-t).exp())) && gumbel.lost().to_f64() < 0.02);
        let laplace = winners(RealLaplace, &["0", "0.9"], "1e-5");
        assert!(meets(&laplace, &1, 1.0 - (0.5 + t / 4.0) * (-t).exp()) && laplace.lost().to_f64() < 0.02);
    }

    #[test]
    fn the_largest_of_three_with_gumbel_noise_is_an_exponential_choice() {
        let pmf = winners(Gumbel, &["0", "1.5", "-1.5"], "1e-5");
        let total = 1.0 + 1f64.exp() + (-1f64).exp();
        for (index, score) in [0.0f64, 1.0, -1.0].into_iter().enumerate() {
            assert!(meets(&pmf, &index, score.exp() / total), "{index}");
        }
        assert!(pmf.lost().to_f64() < 0.12, "{}", pmf.lost().to_f64());
    }

    #[test]
    fn a_mutant_that_rounds_before_comparing_is_caught() {
        // Scores in whole grids and noise rounded to them: ties go to the first, which then wins too often.
        let variable = Remembering::new(Exponential);
        let rounded = enumerate(&ratio("1e-5"), |tape| {
            let mut round = |offset: i64| {
                let law = Rounded::new(
                    &variable,
                    Placement {
                        center: Ratio::from(offset),
                        scale: ratio("1.5"),
                        grid: Ratio::one(),
                        clamp: -3..=9,
                    },
                );
                law.draw(tape)
            };
            usize::from(round(1) > round(0))
        });
        assert!(!meets(&rounded, &1, 1.0 - (-1.0f64 / 1.5).exp() / 2.0));
        let ours = winners(Exponential, &["0", "1"], "1e-5");
        assert!(meets(&ours, &1, 1.0 - (-1.0f64 / 1.5).exp() / 2.0));
    }

    #[test]
    fn numbers_of_two_laws_compare() {
        // An exponential against a Gumbel variable: P(G < E) is the mean of exp(-e^-E), and e^-E is uniform.
        let (exponential, gumbel) = (Remembering::new(Exponential), Remembering::new(Gumbel));
        let pmf = enumerate(&ratio("1e-5"), |tape| {
            let (mut a, mut b) = (lazy(&exponential, "0"), lazy(&gumbel, "0"));
            compare(&mut a, &mut b, tape)
        });
        // The mean of e^-U for a uniform U is 1 - 1/e.
        assert!(
            meets(&pmf, &Ordering::Less, (-1f64).exp())
                && meets(&pmf, &Ordering::Greater, 1.0 - (-1f64).exp())
        );
        assert!(pmf.mass(&Ordering::Equal).upper().is_zero());
    }

    #[test]
    fn the_coins_do_not_depend_on_the_scores() {
        let mut source = Scrambled(3);
        for offsets in
            [vec!["0"; 5], vec!["1e12", "-1e12", "0", "3", "1e-9"], vec!["0.1", "0.2", "0.3", "0", "9"]]
        {
            for _ in 0..40 {
                let words = (0..20).map(|_| source.word()).collect();
                let mut coins = ScriptedWords::new(words);
                let mut numbers: Vec<_> = offsets.iter().map(|offset| lazy(Gumbel, offset)).collect();
                argmax(&mut numbers, &mut coins);
                assert_eq!(coins.used(), 10);
            }
        }
    }

    #[test]
    fn equal_words_are_told_apart_by_later_ones() {
        let mut numbers = [lazy(RealLaplace, "0"), lazy(RealLaplace, "0")];
        // The fifth word goes to one of them, whose cell then still lies inside the other's.
        let mut coins = ScriptedWords::new(vec![9, 9, 9, 9, 1, 1 << 63]);
        assert_eq!((argmax(&mut numbers, &mut coins), coins.used()), (0, 6));
        let mut pair = (lazy(Exponential, "0"), lazy(Gumbel, "1e9"));
        assert_eq!(
            compare(&mut pair.0, &mut pair.1, &mut ScriptedWords::new(vec![0, 0, 1, 1, 5])),
            Ordering::Less
        );
    }

    #[test]
    fn enclosures_shrink_and_stay_inside() {
        let mut number = lazy(RealLaplace, "3");
        let mut coins = Scrambled(11);
        assert_eq!(number.enclose(64), Span::everything(64));
        let mut last = number.enclose(200);
        for _ in 0..3 {
            number.refine(&mut coins);
            let next = number.enclose(200);
            assert!(last.lower().is_none_or(|low| low <= next.lower().unwrap()));
            assert!(last.upper().is_none_or(|high| next.upper().unwrap() <= high));
            last = next;
        }
    }

    #[test]
    #[should_panic(expected = "positive scale")]
    fn numbers_without_noise_are_refused() {
        let _ = LazyReal::new(Gumbel, Ratio::zero(), Ratio::zero());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn the_winner_is_the_largest_at_a_much_finer_precision(
            words in any_words(),
            offsets in proptest::collection::vec(-3i64..3, 5),
            num in 1i64..50,
        ) {
            let scale = Ratio::new(num, 10);
            let mut numbers: Vec<_> = offsets
                .iter()
                .map(|&offset| LazyReal::new(Exponential, Ratio::from(offset), scale.clone()))
                .collect();
            let mut coins = ScriptedWords::new(words.clone());
            let best = argmax(&mut numbers, &mut coins);
            prop_assume!(coins.used() == 10);
            // e^-x falls: u_i·e^(-offset_i/scale) is least for the largest.
            let value = |index: usize| {
                let u = uniform_of(&words[2 * index..2 * index + 2], 900);
                let shifted = Ratio::from(offsets[index] + 3) / &scale;
                u.mul(&exp_neg(&shifted, 900))
            };
            for index in 0..5 {
                prop_assert!(index == best || value(best).lower() <= value(index).upper());
            }
        }
    }
}
