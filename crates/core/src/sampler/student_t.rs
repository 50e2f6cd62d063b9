//! Student's t variable with nu degrees of freedom: `sqrt(nu(U^(-2/nu) - 1))·cos(2 pi V)`.
//!
//! Source: Bailey (1994), the polar form of Box and Muller's method; nu may be any rational number of at
//! least one. nu = 1 is the Cauchy variable.
//!
//! # Guarantee
//!
//! [`Rounded`](super::real::Rounded) of it returns each multiple with exactly its probability; its grade
//! and reasons are there. A draw takes 4 words.

use super::{
    laplace_real::two_sided_cdf,
    real::RealVariable,
    span::{self, Cell, Look, Span},
};
use crate::{coins::Uniform, interval::Interval, ratio::Ratio};
use dashu_base::BitTest;
use dashu_int::IBig;

/// Student's t noise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StudentT {
    nu: Ratio,
    /// `2/nu`.
    exponent: Ratio,
}

impl StudentT {
    /// With so many degrees of freedom. Panics below one.
    pub fn new(nu: &Ratio) -> Self {
        assert!(*nu >= Ratio::one(), "Student's t is used with at least one degree of freedom");
        Self { nu: nu.clone(), exponent: Ratio::from(2u64) / nu }
    }
}

impl RealVariable for StudentT {
    const UNIFORMS: usize = 2;

    fn enclose(&self, uniforms: &[Uniform], look: Look) -> Span {
        let square = Look { bits: look.bits + 8, reach: 2 * look.reach };
        // The root halves a relative error, and is itself below 2^reach.
        let excess = Cell::of(&uniforms[0]).power_excess(&self.exponent, square, square.bits + look.reach);
        let squared = excess.scaled(&self.nu);
        span::polar(&span::sqrt(&squared, look.bits + 8), &uniforms[1], look)
    }

    /// `P(|Z| > t)` is the regularized incomplete beta function at `x = nu/(nu+t²)` with a = nu/2, b = 1/2.
    /// Each of its two halves is a positive series, and together they are the whole beta function.
    fn cdf(&self, at: &Ratio, bits: usize) -> Interval {
        if at.is_zero() {
            return Interval::exact(&Ratio::new(1, 2), bits);
        }
        let half = Ratio::new(1, 2);
        let a = &self.nu * &half;
        let x = &self.nu / (&self.nu + at.squared());
        let rest = Ratio::one() - &x;
        let work = bits + x.denominator().bit_len() + 32;
        let whole = beta_part(&a, &half, &half, work).add(&beta_part(&half, &a, &half, work));
        let farther = if x <= half {
            beta_part(&a, &half, &x, work).div(&whole)
        } else {
            Interval::one(work).sub(&beta_part(&half, &a, &rest, work).div(&whole))
        };
        two_sided_cdf(at, &farther.to_precision(bits))
    }
}

/// The integral of `s^(a-1)·(1-s)^(b-1)` from 0 to x <= 1/2:
/// `x^a·(1-x)^b/a · (1 + (a+b)/(a+1)·x + (a+b)(a+b+1)/((a+1)(a+2))·x² + …)`.
fn beta_part(a: &Ratio, b: &Ratio, x: &Ratio, bits: usize) -> Interval {
    let rest = Ratio::one() - x;
    let power = |base: &Ratio, exponent: &Ratio| Interval::exact(base, bits).ln().mul_ratio(exponent);
    let front = power(x, a).add(&power(&rest, b)).exp().mul_ratio(&a.recip());
    let mut term = Interval::one(bits);
    let mut sum = term.clone();
    let mut index = 0u64;
    loop {
        let n = Ratio::from(index);
        let ratio = x * (a + b + &n) / (a + Ratio::one() + n);
        term = term.mul_ratio(&ratio);
        sum = sum.add(&term);
        index += 1;
        // Every later ratio lies between this one and x, so below 3/4 the rest is at most three terms.
        // A few units, since rounding up keeps a term from falling to one.
        if ratio <= Ratio::new(3, 4) && *term.high_scaled() <= IBig::from(8) {
            let three = term.mul_ratio(&Ratio::from(3u64));
            return front.mul(&sum.hull(&sum.add(&three)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        coins::{Law, ScriptedWords},
        interval::AUDIT_BITS,
        sampler::{
            cauchy::Cauchy,
            real::{EVERY_MULTIPLE, Placement, Rounded},
            real_audit::*,
        },
    };
    use proptest::prelude::*;

    fn noise(nu: &str) -> StudentT {
        StudentT::new(&ratio(nu))
    }

    #[test]
    fn exact_audit_the_sampler_has_the_claimed_masses() {
        for nu in ["1", "5/2"] {
            let law = coarse(Remembering::new(noise(nu)), -3..=3);
            assert!(draw_meets_claim(&law, "1e-4"), "{nu}");
            let (all, widest) = looks_meet_claim(&law, 6);
            assert!(all && widest < 0.02, "{nu} {widest}");
        }
    }

    #[test]
    fn a_mutant_with_exponent_one_over_nu_is_caught() {
        let original = noise("3");
        let wrong = StudentT { exponent: ratio("1/3"), ..original.clone() };
        let enclose = |uniforms: &[Uniform], look| wrong.enclose(uniforms, look);
        let law = coarse(Remembering::new(Mutant { original, enclose }), -2..=2);
        assert!(!draw_meets_claim(&law, "1e-4") && !looks_meet_claim(&law, 5).0);
    }

    #[test]
    fn the_coins_of_a_draw_are_counted() {
        assert_eq!(words_per_draw(noise("3")), [4]);
        assert_eq!(words_per_draw(noise("1")), [4]);
        let law = coarse(noise("2"), -3..=3);
        assert!(open_after(&law, 5) <= Ratio::new(96, 1 << 5));
    }

    fn meets(a: &Interval, b: &Interval) -> bool {
        a.lower() <= b.upper() && b.lower() <= a.upper()
    }

    #[test]
    fn one_degree_of_freedom_is_cauchy() {
        let (student, cauchy) = (coarse(noise("1"), -9..=9), coarse(Cauchy, -9..=9));
        let floor = ratio("1e-20");
        let pairs = student.masses(&floor, AUDIT_BITS).into_iter().zip(cauchy.masses(&floor, AUDIT_BITS));
        for ((m, ours), (n, theirs)) in pairs {
            assert!(m == n && meets(&ours, &theirs), "{m}");
            assert!(ours.upper() - ours.lower() < ratio("1e-50"));
        }
    }

    #[test]
    fn closed_forms_of_whole_degrees_of_freedom() {
        const BITS: usize = 200;
        let half = Interval::exact(&Ratio::new(1, 2), BITS);
        for t in ["0.01", "0.7", "1", "2.5", "30"] {
            let t = ratio(t);
            let exact = |value: &Ratio| Interval::exact(value, BITS);
            // nu = 2: 1/2 + t / (2 sqrt(2+t²)).
            let root = exact(&(t.squared() + ratio("2"))).sqrt();
            let two = half.add(&exact(&t).div(&root).div_small(2));
            // nu = 3: 1/2 + (s/(1+s²) + atan s)/pi with s = t/sqrt(3).
            let s = exact(&t).div(&exact(&ratio("3")).sqrt());
            let part = s.div(&Interval::one(BITS).add(&s.square())).add(&s.atan());
            let three = half.add(&part.div(&Interval::pi(BITS)));
            // nu = 4: 1/2 + t(6+t²) / (2 (4+t²)^(3/2)).
            let sum = t.squared() + ratio("4");
            let cube = exact(&sum).sqrt().mul_ratio(&sum);
            let four = half.add(&exact(&(&t * (t.squared() + ratio("6")))).div(&cube).div_small(2));
            for (nu, closed) in [("2", two), ("3", three), ("4", four)] {
                let ours = noise(nu).cdf(&t, BITS);
                assert!(meets(&ours, &closed) && ours.upper() - ours.lower() < ratio("1e-55"), "{nu} {t}");
                assert!(meets(&noise(nu).cdf(&-t.clone(), BITS), &Interval::one(BITS).sub(&closed)));
            }
        }
    }

    #[test]
    fn other_degrees_of_freedom_agree_with_the_integral_over_the_angle() {
        // P(Z > t) = 2·∫ P(U < (1 + t²/(nu cos²))^(-nu/2)) dV over a quarter turn, falling in V.
        const PANELS: u64 = 400;
        for (nu, t) in [("5/2", 1.0f64), ("7/3", 0.2), ("1.01", 4.0), ("20.5", 2.0)] {
            let n = ratio(nu).to_f64();
            let integrand = |panel: u64| {
                let cos = (std::f64::consts::FRAC_PI_2 * panel as f64 / PANELS as f64).cos();
                (1.0 + t * t / (n * cos * cos)).powf(-n / 2.0) / (2.0 * PANELS as f64)
            };
            let (high, low) =
                ((0..PANELS).map(integrand).sum::<f64>(), (1..=PANELS).map(integrand).sum::<f64>());
            let tail = 1.0 - noise(nu).cdf(&Ratio::from_f64_exact(t).unwrap(), 192).to_f64();
            assert!(low - 1e-12 <= tail && tail <= high + 1e-12, "{nu} {t}: {low} {tail} {high}");
        }
    }

    #[test]
    fn a_tape_by_hand() {
        // nu = 2, U = 1/2, V at 0: sqrt(2(2-1)) = 1.414213…
        let placement = Placement {
            center: Ratio::zero(),
            scale: Ratio::one(),
            grid: ratio("1e-5"),
            clamp: EVERY_MULTIPLE,
        };
        let law = Rounded::new(noise("2"), placement);
        let mut coins = ScriptedWords::new(vec![1 << 63, 0, 0, 0]);
        assert_eq!((law.draw(&mut coins), coins.used()), (141_421, 4));
        let mut coins = ScriptedWords::new(vec![1 << 63, 1 << 63, 0, 0]);
        assert_eq!((law.draw(&mut coins), coins.used()), (-141_421, 4));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn each_draw_is_what_the_tail_of_the_radius_says(placement in any_placement(), words in any_words()) {
            let tail = |squared: &Ratio| {
                let base = Ratio::one() + squared / ratio("2.5");
                Interval::exact(&base, POLAR_BITS).ln().mul_ratio(&ratio("-1.25")).exp()
            };
            prop_assert!(polar_draw_agrees(&Rounded::new(noise("2.5"), placement), &words, tail));
        }
    }
}
