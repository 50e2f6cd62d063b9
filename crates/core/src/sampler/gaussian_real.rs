//! The standard normal variable `sqrt(-2 ln U)·cos(2 pi V)`.
//!
//! Source: Box and Muller (1958), one of the two values.
//!
//! # Guarantee
//!
//! [`Rounded`](super::real::Rounded) of it returns each multiple with exactly its probability; its grade
//! and reasons are there. A draw takes 4 words.

use super::{
    real::RealVariable,
    span::{self, Cell, Look, Span},
};
use crate::{coins::Uniform, interval::Interval, ratio::Ratio};

/// Gaussian noise of variance 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RealGaussian;

/// The radius is below 2^8 unless U < e^(-2^15).
const RADIUS_REACH: usize = 8;

impl RealVariable for RealGaussian {
    const UNIFORMS: usize = 2;

    fn enclose(&self, uniforms: &[Uniform], look: Look) -> Span {
        let look = Look { bits: look.bits, reach: RADIUS_REACH };
        let squared = Cell::of(&uniforms[0]).neg_ln(look.bits + 8).scaled(&Ratio::from(2u64));
        span::polar(&span::sqrt(&squared, look.bits + 8), &uniforms[1], look)
    }

    fn cdf(&self, at: &Ratio, bits: usize) -> Interval {
        Interval::exact(at, bits + 8).normal_cdf().to_precision(bits)
    }
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
        let law = coarse(Remembering::new(RealGaussian), -3..=3);
        assert!(draw_meets_claim(&law, "5e-6"));
        let (all, widest) = looks_meet_claim(&law, 8);
        assert!(all && widest < 0.005, "{widest}");
    }

    #[test]
    fn a_mutant_without_the_two_is_caught() {
        let forgets = |uniforms: &[Uniform], look: Look| {
            let squared = Cell::of(&uniforms[0]).neg_ln(look.bits + 8);
            span::polar(&span::sqrt(&squared, look.bits + 8), &uniforms[1], look)
        };
        let law = coarse(Remembering::new(Mutant { original: RealGaussian, enclose: forgets }), -2..=2);
        assert!(!draw_meets_claim(&law, "1e-4") && !looks_meet_claim(&law, 5).0);
    }

    #[test]
    fn the_coins_of_a_draw_are_counted() {
        assert_eq!(words_per_draw(RealGaussian), [4]);
        // Six borders, each met by at most eight in 2^known cells, or sixteen where it runs between two.
        let law = coarse(RealGaussian, -3..=3);
        for known in [4, 6] {
            assert!(open_after(&law, known) <= Ratio::new(96, 1 << known), "{known}");
        }
    }

    #[test]
    fn a_tape_by_hand() {
        // U = 1/2 and V = 1/8: sqrt(2 ln 2)·sqrt(1/2) = sqrt(ln 2) = 0.832554…; V = 3/8 negates it.
        let placement = Placement {
            center: Ratio::zero(),
            scale: Ratio::one(),
            grid: ratio("1e-6"),
            clamp: EVERY_MULTIPLE,
        };
        let law = Rounded::new(RealGaussian, placement);
        for (turn, expected) in [(1 << 61, 832_555), (3 << 61, -832_555)] {
            let mut coins = ScriptedWords::new(vec![1 << 63, turn, 0, 0]);
            assert_eq!((law.draw(&mut coins), coins.used()), (expected, 4));
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn each_draw_is_what_the_tail_of_the_radius_says(placement in any_placement(), words in any_words()) {
            let tail = |squared: &Ratio| crate::chance::exp_neg(&(squared * Ratio::new(1, 2)), POLAR_BITS);
            prop_assert!(polar_draw_agrees(&Rounded::new(RealGaussian, placement), &words, tail));
        }
    }
}
