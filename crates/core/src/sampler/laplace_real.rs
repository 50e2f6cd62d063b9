//! The Laplace variable: density `e^-|x| / 2`, so that `P(|Z| > t) = e^-t`.
//!
//! One uniform number serves as both sign and size: below one half the value is `ln(2U)`, above it is
//! `-ln(2(1-U))`, the inverse of the distribution function.
//!
//! # Guarantee
//!
//! [`Rounded`](super::real::Rounded) of it returns each multiple with exactly its probability; its grade
//! and reasons are there. A draw takes 2 words.

use super::{
    real::RealVariable,
    span::{Cell, Look, Span},
};
use crate::{chance::exp_neg, coins::Uniform, interval::Interval, ratio::Ratio};

/// Laplace noise of scale 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RealLaplace;

impl RealVariable for RealLaplace {
    const UNIFORMS: usize = 1;

    fn enclose(&self, uniforms: &[Uniform], look: Look) -> Span {
        let Some((below, cell)) = Cell::folded(&uniforms[0]) else { return Span::everything(look.bits) };
        cell.neg_ln(look.bits).signed(below)
    }

    fn cdf(&self, at: &Ratio, bits: usize) -> Interval {
        two_sided_cdf(at, &exp_neg(&at.abs(), bits))
    }
}

/// The distribution function of a symmetric variable from the chance that it lies farther out than `at`.
pub(super) fn two_sided_cdf(at: &Ratio, farther: &Interval) -> Interval {
    let tail = farther.div_small(2);
    if at.is_negative() { tail } else { Interval::one(tail.bits()).sub(&tail) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        coins::{Law, ScriptedWords},
        sampler::{
            real::{EVERY_MULTIPLE, Placement, Rounded},
            real_audit::*,
        },
    };
    use proptest::prelude::*;

    #[test]
    fn exact_audit_the_sampler_has_the_claimed_masses() {
        let law = coarse(RealLaplace, -8..=8);
        assert!(draw_meets_claim(&law, "1e-6"));
        let (all, widest) = looks_meet_claim(&law, 22);
        assert!(all && widest < 1e-6, "{widest}");
    }

    #[test]
    fn a_mutant_that_forgets_to_double_the_folded_number_is_caught() {
        let forgets = |uniforms: &[Uniform], look: Look| {
            let Some((below, _)) = Cell::folded(&uniforms[0]) else { return Span::everything(look.bits) };
            Cell::of(&uniforms[0]).neg_ln(look.bits).signed(below)
        };
        let law = coarse(Mutant { original: RealLaplace, enclose: forgets }, -8..=8);
        assert!(!draw_meets_claim(&law, "1e-4") && !looks_meet_claim(&law, 12).0);
    }

    #[test]
    fn the_coins_of_a_draw_are_counted() {
        assert_eq!(words_per_draw(RealLaplace), [2]);
        let law = coarse(RealLaplace, -8..=8);
        for known in [4, 8, 16] {
            assert!(open_after(&law, known) <= Ratio::new(32, 1 << known), "{known}");
        }
    }

    #[test]
    fn both_tails_together_are_e_to_the_minus_t() {
        for t in ["0", "0.1", "1", "7.5", "40"] {
            let t = ratio(t);
            let outside =
                RealLaplace.cdf(&-t.clone(), 192).add(&Interval::one(192)).sub(&RealLaplace.cdf(&t, 192));
            let gap = outside.sub(&exp_neg(&t, 192));
            assert!(!gap.lower().is_positive() && !gap.upper().is_negative(), "{t}");
        }
    }

    #[test]
    fn a_tape_by_hand() {
        // U in [1/4, 1/4 + 2^-128]: ln(2U) = -ln 2; U at 3/4 gives +ln 2.
        let placement = Placement {
            center: Ratio::zero(),
            scale: ratio("2"),
            grid: ratio("1e-3"),
            clamp: EVERY_MULTIPLE,
        };
        let law = Rounded::new(RealLaplace, placement.clone());
        for (word, expected) in [(1 << 62, -1386), (3 << 62, 1386)] {
            let mut coins = ScriptedWords::new(vec![word, 0]);
            assert_eq!((law.draw(&mut coins), coins.used()), (expected, 2));
        }
        // A center on a border is decided by the sign of the noise, however small: 1/2 goes up, below goes down.
        let law = Rounded::new(
            RealLaplace,
            Placement {
                center: ratio("0.5"),
                scale: ratio("1e-9"),
                grid: Ratio::one(),
                clamp: EVERY_MULTIPLE,
            },
        );
        assert_eq!(law.draw(&mut ScriptedWords::new(vec![1 << 63, 0])), 1);
        assert_eq!(law.draw(&mut ScriptedWords::new(vec![(1 << 63) - 1, 0])), 0);
        // Noise beyond an i64 goes to its end.
        let wild = Rounded::new(
            RealLaplace,
            Placement {
                center: Ratio::zero(),
                scale: ratio("1e30"),
                grid: Ratio::one(),
                clamp: EVERY_MULTIPLE,
            },
        );
        assert_eq!(wild.draw(&mut ScriptedWords::new(vec![1, 0])), i64::MIN);
        assert_eq!(wild.draw(&mut ScriptedWords::new(vec![u64::MAX, 0])), i64::MAX);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn each_draw_is_what_the_distribution_function_says(placement in any_placement(), words in any_words()) {
            prop_assert!(draw_inverts_cdf(&Rounded::new(RealLaplace, placement), &words, false));
        }
    }
}
