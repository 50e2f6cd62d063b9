//! PolyPlace noise: density `((alpha-1)/2)·(1+|x|)^-alpha`, so that `P(|Z| > t) = (1+t)^-(alpha-1)`.
//!
//! Source: theory of smooth sensitivity. Its tail is a power, so noise in proportion to a smooth bound
//! is pure differential privacy; as alpha grows it approaches Laplace noise.
//!
//! One uniform number serves as both sign and size: the size is `u^(-1/(alpha-1)) - 1` with u = 2U below
//! one half and u = 2(1-U) above, the inverse of the distribution function.
//!
//! # Guarantee
//!
//! [`Rounded`](super::real::Rounded) of it returns each multiple with exactly its probability; its grade
//! and reasons are there. A draw takes 2 words.

use super::{
    laplace_real::two_sided_cdf,
    real::RealVariable,
    span::{Cell, Look, Span},
};
use crate::{coins::Uniform, interval::Interval, ratio::Ratio};

/// Two-sided noise with a polynomial tail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolyPlace {
    /// `alpha - 1`.
    decay: Ratio,
    /// `1/(alpha - 1)`.
    exponent: Ratio,
}

impl PolyPlace {
    /// The density falls like `|x|^-alpha`. Panics unless alpha is above one.
    pub fn new(alpha: &Ratio) -> Self {
        let decay = alpha - Ratio::one();
        assert!(decay.is_positive(), "a density has alpha > 1");
        Self { exponent: decay.recip(), decay }
    }
}

impl RealVariable for PolyPlace {
    const UNIFORMS: usize = 1;

    fn enclose(&self, uniforms: &[Uniform], look: Look) -> Span {
        let Some((below, cell)) = Cell::folded(&uniforms[0]) else { return Span::everything(look.bits) };
        cell.power_excess(&self.exponent, look, look.bits + look.reach).signed(below)
    }

    fn cdf(&self, at: &Ratio, bits: usize) -> Interval {
        let work = bits + 16;
        let base = Interval::exact(&(at.abs() + Ratio::one()), work);
        let farther = base.ln().mul_ratio(&-self.decay.clone()).exp();
        two_sided_cdf(at, &farther.to_precision(bits))
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

    fn noise(alpha: &str) -> PolyPlace {
        PolyPlace::new(&ratio(alpha))
    }

    #[test]
    fn exact_audit_the_sampler_has_the_claimed_masses() {
        for alpha in ["1.4", "3", "5.25"] {
            let law = coarse(noise(alpha), -8..=8);
            assert!(draw_meets_claim(&law, "1e-5"), "{alpha}");
            let (all, widest) = looks_meet_claim(&law, 20);
            assert!(all && widest < 3e-6, "{alpha} {widest}");
        }
    }

    #[test]
    fn a_mutant_with_exponent_one_over_alpha_is_caught() {
        let original = noise("3");
        let wrong = PolyPlace { exponent: ratio("1/3"), ..original.clone() };
        let enclose = |uniforms: &[Uniform], look| wrong.enclose(uniforms, look);
        let law = coarse(Mutant { original, enclose }, -8..=8);
        assert!(!draw_meets_claim(&law, "1e-4") && !looks_meet_claim(&law, 12).0);
    }

    #[test]
    fn the_coins_of_a_draw_are_counted() {
        assert_eq!(words_per_draw(noise("3.5")), [2]);
        assert_eq!(words_per_draw(noise("1.1")), [2]);
        let law = coarse(noise("2"), -8..=8);
        for known in [4, 8, 16] {
            assert!(open_after(&law, known) <= Ratio::new(32, 1 << known), "{known}");
        }
    }

    #[test]
    fn the_density_is_half_alpha_minus_one_times_a_power() {
        // The density falls for x > 0, so the mass of [x, x+h] lies between h times its values at the ends.
        let h = ratio("0.001");
        for alpha in ["1.5", "2", "4.2"] {
            let density = |x: &Ratio| {
                let power = Interval::exact(&(x + Ratio::one()), 200).ln().mul_ratio(&-ratio(alpha)).exp();
                power.mul_ratio(&((ratio(alpha) - Ratio::one()) * Ratio::new(1, 2) * &h))
            };
            for x in ["0", "0.5", "3", "100"] {
                let x = ratio(x);
                let end = &x + &h;
                let mass = noise(alpha).cdf(&end, 200).sub(&noise(alpha).cdf(&x, 200));
                assert!(density(&end).lower() <= mass.upper() && mass.lower() <= density(&x).upper());
                let mirrored = noise(alpha).cdf(&-x, 200).sub(&noise(alpha).cdf(&-end, 200));
                assert!((mirrored.to_f64() - mass.to_f64()).abs() < 1e-40);
            }
        }
    }

    #[test]
    fn a_tape_by_hand() {
        // alpha = 3/2: the size is u^-2 - 1. U = 1/8 gives u = 1/4 and -15; its cell ends a little above.
        let placement = Placement {
            center: ratio("0.25"),
            scale: Ratio::one(),
            grid: Ratio::one(),
            clamp: EVERY_MULTIPLE,
        };
        let law = Rounded::new(noise("1.5"), placement);
        let mut coins = ScriptedWords::new(vec![1 << 61, 0]);
        assert_eq!((law.draw(&mut coins), coins.used()), (-15, 2));
        // A tail so heavy that most noise is beyond an i64 goes to its ends without computing how far.
        let wild = coarse(noise("1.0001"), EVERY_MULTIPLE);
        let mut coins = ScriptedWords::new(vec![1 << 40, 0]);
        assert_eq!((wild.draw(&mut coins), coins.used()), (i64::MIN, 2));
        let mut coins = ScriptedWords::new(vec![u64::MAX, 0]);
        assert_eq!((wild.draw(&mut coins), coins.used()), (i64::MAX, 2));
    }

    #[test]
    #[should_panic]
    fn alpha_one_has_no_density() {
        let _ = noise("1");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn each_draw_is_what_the_distribution_function_says(placement in any_placement(), words in any_words()) {
            prop_assert!(draw_inverts_cdf(&Rounded::new(noise("2.75"), placement), &words, false));
        }
    }
}
