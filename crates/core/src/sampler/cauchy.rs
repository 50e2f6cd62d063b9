//! The Cauchy variable `tan(pi(U - 1/2))`: density `1/(pi(1+x²))`.
//!
//! # Guarantee
//!
//! [`Rounded`](super::real::Rounded) of it returns each multiple with exactly its probability; its grade
//! and reasons are there. A draw takes 2 words.

use super::{
    real::RealVariable,
    span::{Cell, Look, Span},
};
use crate::{coins::Uniform, interval::Interval, ratio::Ratio};

/// Cauchy noise of scale 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cauchy;

impl RealVariable for Cauchy {
    const UNIFORMS: usize = 1;

    fn enclose(&self, uniforms: &[Uniform], look: Look) -> Span {
        // tan(pi(U - 1/2)) is -cot(pi U) below one half and cot(pi(1-U)) above.
        let Some((below, cell)) = Cell::folded(&uniforms[0]) else { return Span::everything(look.bits) };
        cell.cot_quarter(look).signed(below)
    }

    fn cdf(&self, at: &Ratio, bits: usize) -> Interval {
        let work = bits + 8;
        let part = Interval::exact(at, work).atan().div(&Interval::pi(work));
        Interval::exact(&Ratio::new(1, 2), work).add(&part).to_precision(bits)
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
        let law = coarse(Cauchy, -8..=8);
        assert!(draw_meets_claim(&law, "1e-6"));
        let (all, widest) = looks_meet_claim(&law, 22);
        assert!(all && widest < 1e-6, "{widest}");
    }

    #[test]
    fn a_mutant_with_the_tangent_of_half_the_angle_is_caught() {
        // u·pi/4 in place of u·pi/2: the cell of half the folded number.
        let half = |uniforms: &[Uniform], look: Look| {
            let Some((below, cell)) = Cell::folded(&uniforms[0]) else { return Span::everything(look.bits) };
            cell.halved().cot_quarter(look).signed(below)
        };
        let law = coarse(Mutant { original: Cauchy, enclose: half }, -8..=8);
        assert!(!draw_meets_claim(&law, "1e-4") && !looks_meet_claim(&law, 12).0);
    }

    #[test]
    fn the_coins_of_a_draw_are_counted() {
        assert_eq!(words_per_draw(Cauchy), [2]);
        let law = coarse(Cauchy, -8..=8);
        for known in [4, 8, 16] {
            assert!(open_after(&law, known) <= Ratio::new(32, 1 << known), "{known}");
        }
    }

    #[test]
    fn quarters_lie_at_minus_one_zero_and_one() {
        for (at, chance) in [("-1", "1/4"), ("0", "1/2"), ("1", "3/4")] {
            let enclosed = Cauchy.cdf(&ratio(at), 192);
            assert!(enclosed.lower() <= ratio(chance) && ratio(chance) <= enclosed.upper());
        }
    }

    #[test]
    fn a_tape_by_hand() {
        // U = 3/4 gives tan(pi/4) = 1, U = 1/3 gives tan(-pi/6) = -0.57735…
        let placement = Placement {
            center: Ratio::zero(),
            scale: Ratio::one(),
            grid: ratio("1e-5"),
            clamp: EVERY_MULTIPLE,
        };
        let law = Rounded::new(Cauchy, placement);
        for (words, expected) in [([3 << 62, 0], 100_000), ([u64::MAX / 3, u64::MAX / 3], -57_735)] {
            let mut coins = ScriptedWords::new(words.to_vec());
            assert_eq!((law.draw(&mut coins), coins.used()), (expected, 2));
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn each_draw_is_what_the_distribution_function_says(placement in any_placement(), words in any_words()) {
            prop_assert!(draw_inverts_cdf(&Rounded::new(Cauchy, placement), &words, false));
        }
    }
}
