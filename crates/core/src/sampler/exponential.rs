//! The exponential variable `-ln U`: density `e^-x` for x > 0.
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

/// Exponential noise of mean 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exponential;

impl RealVariable for Exponential {
    const UNIFORMS: usize = 1;

    fn enclose(&self, uniforms: &[Uniform], look: Look) -> Span {
        Cell::of(&uniforms[0]).neg_ln(look.bits)
    }

    fn cdf(&self, at: &Ratio, bits: usize) -> Interval {
        if at.is_positive() { Interval::one(bits).sub(&exp_neg(at, bits)) } else { Interval::zero(bits) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        coins::{Law, ScriptedWords},
        interval::AUDIT_BITS,
        sampler::{
            real::{EVERY_MULTIPLE, Placement, Rounded},
            real_audit::*,
        },
    };
    use proptest::prelude::*;

    #[test]
    fn exact_audit_the_sampler_has_the_claimed_masses() {
        let law = coarse(Exponential, 0..=12);
        assert!(draw_meets_claim(&law, "1e-6"));
        let (all, widest) = looks_meet_claim(&law, 24);
        assert!(all && widest < 1e-6, "{widest}");
    }

    #[test]
    fn a_mutant_with_one_percent_less_noise_is_caught() {
        let less =
            |uniforms: &[Uniform], look| Exponential.enclose(uniforms, look).scaled(&Ratio::new(99, 100));
        let law = coarse(Mutant { original: Exponential, enclose: less }, 0..=12);
        assert!(!draw_meets_claim(&law, "1e-6") && !looks_meet_claim(&law, 24).0);
    }

    #[test]
    fn the_coins_of_a_draw_are_counted() {
        assert_eq!(words_per_draw(Exponential), [2]);
        // Twelve borders, each inside one cell or between two.
        let law = coarse(Exponential, 0..=12);
        for known in [4, 8, 16] {
            assert!(open_after(&law, known) <= Ratio::new(24, 1 << known), "{known}");
        }
    }

    #[test]
    fn a_tape_by_hand() {
        // U in [1/2, 1/2 + 2^-128]: -ln U is ln 2 = 0.693147… or a little less.
        let placement = Placement {
            center: Ratio::zero(),
            scale: Ratio::one(),
            grid: ratio("1e-6"),
            clamp: EVERY_MULTIPLE,
        };
        let law = Rounded::new(Exponential, placement.clone());
        let mut coins = ScriptedWords::new(vec![1 << 63, 0]);
        assert_eq!((law.draw(&mut coins), coins.used()), (693_147, 2));
        // Words of zeros only mean another word, and large noise: 129 ln 2 = 89.415986….
        let mut coins = ScriptedWords::new(vec![0, 0, 1 << 63]);
        assert_eq!((law.draw(&mut coins), coins.used()), (89_415_986, 3));
        // Clamped, it is decided by the zeros alone.
        let clamped = Rounded::new(Exponential, Placement { clamp: -5..=80_000_000, ..placement });
        assert_eq!(clamped.draw(&mut ScriptedWords::new(vec![0, 0])), 80_000_000);
    }

    #[test]
    fn the_tail_left_out_is_below_the_floor() {
        let law = coarse(Exponential, EVERY_MULTIPLE);
        let listed = law.masses(&ratio("1e-9"), AUDIT_BITS);
        let total = listed.iter().fold(Interval::zero(AUDIT_BITS), |sum, (_, mass)| sum.add(mass));
        assert!(total.lower() > Ratio::one() - ratio("1e-9") && total.upper() < Ratio::one());
        assert_eq!(listed.first().unwrap().0, 0);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn each_draw_is_what_the_distribution_function_says(placement in any_placement(), words in any_words()) {
            prop_assert!(draw_inverts_cdf(&Rounded::new(Exponential, placement), &words, true));
        }
    }
}
