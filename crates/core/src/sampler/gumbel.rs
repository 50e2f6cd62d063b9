//! The Gumbel variable `-ln(-ln U)`: distribution function `exp(-e^-x)`.
//!
//! The largest of several scores with Gumbel noise is an exponential-mechanism choice among them.
//!
//! # Guarantee
//!
//! [`Rounded`](super::real::Rounded) of it returns each multiple with exactly its probability; its grade
//! and reasons are there. A draw takes 2 words.

use super::{
    real::RealVariable,
    span::{self, Cell, Look, Span},
};
use crate::{coins::Uniform, interval::Interval, ratio::Ratio};
use dashu_int::IBig;

/// Standard Gumbel noise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gumbel;

impl RealVariable for Gumbel {
    const UNIFORMS: usize = 1;

    fn enclose(&self, uniforms: &[Uniform], look: Look) -> Span {
        span::ln(&Cell::of(&uniforms[0]).neg_ln(look.bits)).negated()
    }

    fn cdf(&self, at: &Ratio, bits: usize) -> Interval {
        // Below -64 the chance is below exp(-e^64), less than any precision in use can show.
        if *at < Ratio::from(-64i64) {
            return Interval::dyadic(IBig::ZERO, IBig::ONE, bits, bits);
        }
        Interval::exact(&-at.clone(), bits + 8).exp().neg().exp().to_precision(bits)
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
        let law = coarse(Gumbel, -3..=9);
        assert!(draw_meets_claim(&law, "1e-6"));
        let (all, widest) = looks_meet_claim(&law, 22);
        assert!(all && widest < 1e-6, "{widest}");
    }

    #[test]
    fn a_mutant_with_the_other_sign_is_caught() {
        let flipped = |uniforms: &[Uniform], look| Gumbel.enclose(uniforms, look).negated();
        let law = coarse(Mutant { original: Gumbel, enclose: flipped }, -3..=9);
        assert!(!draw_meets_claim(&law, "1e-4") && !looks_meet_claim(&law, 12).0);
    }

    #[test]
    fn the_coins_of_a_draw_are_counted() {
        assert_eq!(words_per_draw(Gumbel), [2]);
        let law = coarse(Gumbel, -3..=9);
        for known in [4, 8, 16] {
            assert!(open_after(&law, known) <= Ratio::new(24, 1 << known), "{known}");
        }
    }

    #[test]
    fn a_tape_by_hand() {
        // U in [1/2, 1/2 + 2^-128]: -ln(ln 2) = 0.366512920….
        let placement = Placement {
            center: Ratio::one(),
            scale: Ratio::one(),
            grid: ratio("1e-6"),
            clamp: EVERY_MULTIPLE,
        };
        let law = Rounded::new(Gumbel, placement);
        let mut coins = ScriptedWords::new(vec![1 << 63, 0]);
        assert_eq!((law.draw(&mut coins), coins.used()), (1_366_513, 2));
    }

    #[test]
    fn the_far_left_of_the_distribution_function() {
        for (at, digits) in [("0", (-1f64).exp()), ("-1", (-1f64.exp()).exp()), ("3", (-(-3f64).exp()).exp())]
        {
            assert!((Gumbel.cdf(&ratio(at), 128).to_f64() - digits).abs() < 1e-15);
        }
        for at in ["-63.9", "-64.1", "-1e9"] {
            assert!(Gumbel.cdf(&ratio(at), 192).upper() < ratio("1e-57"), "{at}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn each_draw_is_what_the_distribution_function_says(placement in any_placement(), words in any_words()) {
            prop_assert!(draw_inverts_cdf(&Rounded::new(Gumbel, placement), &words, false));
        }
    }
}
