//! The exact (epsilon, delta) curve and Renyi curve of Laplace noise, on the real line and on a lattice.
//!
//! Source: the real line's curves are folklore (see Balle, Barthe and Gaboardi 2018; Mironov 2017); the
//! lattice's are summed here.
//!
//! # Guarantee
//!
//! [`laplace_delta_upper`] and [`laplace_curve_upper`] hold for noise that is a real number (which may be
//! rounded afterwards). Noise drawn on a lattice loses more at the same epsilon, as much as randomized
//! response does where the sensitivity is one step: use [`DiscreteLaplaceLoss`] for it.

use super::{amount::Amount, renyi::RenyiCurve};
use crate::{interval::Interval, ratio::Ratio};
use dashu_base::{BitTest, UnsignedAbs};

const BITS: usize = 192;

/// The delta at `at` of real Laplace noise with this epsilon: `max(0, 1 - e^((at - eps)/2))`, rounded up.
pub fn laplace_delta_upper(eps: &Amount, at: &Ratio) -> Ratio {
    if at >= eps.ratio() {
        return Ratio::zero();
    }
    let half = (at - eps.ratio()) / Ratio::from(2u64);
    Interval::one(BITS).sub(&Interval::exact(&half, BITS).exp()).upper()
}

/// The Renyi curve of real Laplace noise with this epsilon, rounded up.
///
/// At order a: `eps + ln(a/(2a-1) + (a-1)/(2a-1)·e^(-(2a-1)·eps)) / (a - 1)`.
pub fn laplace_curve_upper(eps: &Amount) -> RenyiCurve {
    RenyiCurve::from_upper_bounds(|order| {
        let (above_one, odd) = parts(order);
        let decay = Interval::exact(&-(eps.ratio() * &odd), BITS).exp();
        let mean = decay.mul_ratio(&(&above_one / &odd)).add(&Interval::exact(&(order / &odd), BITS));
        Some(divergence_upper(eps.ratio(), &mean, &above_one))
    })
}

/// `a - 1` and `2a - 1`.
fn parts(order: &Ratio) -> (Ratio, Ratio) {
    (order - &Ratio::one(), order + order - Ratio::one())
}

/// `eps + ln(mean)/(a - 1)`, which lies between zero and eps, rounded up.
fn divergence_upper(eps: &Ratio, mean: &Interval, above_one: &Ratio) -> Ratio {
    (eps + &(mean.ln().upper() / above_one)).max(Ratio::zero()).min(eps.clone())
}

/// Laplace noise on the integers: P(k) in proportion to `e^(-|k|·eps/steps)`, on integer values that change
/// by at most `steps`.
///
/// # Why
///
/// 1. With q = e^(-eps/steps), P(K <= k) is `1 - q^(k+1)/(1+q)` for k >= 0 and `q^-k/(1+q)` for k <= 0.
/// 2. The log-ratio of P(k) and P(k - steps) falls in k, so the worst event is "at most k" for some k.
/// 3. P(K <= k) - e^at·P(K <= k - d) grows with the shift d, so `steps` is the worst shift.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiscreteLaplaceLoss {
    /// The pure epsilon for a change of `steps`.
    pub eps: Amount,
    /// The sensitivity in lattice steps; zero counts as one.
    pub steps: u64,
}

impl DiscreteLaplaceLoss {
    fn steps(&self) -> Ratio {
        Ratio::from(self.steps.max(1))
    }

    /// Enough bits to tell q from one.
    fn bits(&self) -> usize {
        BITS + (self.steps() / self.eps.ratio()).ceil_big().unsigned_abs().bit_len()
    }

    /// q to this power.
    fn decay(&self, power: &Ratio) -> Interval {
        Interval::exact(&-(self.eps.ratio() * power / self.steps()), self.bits()).exp()
    }

    /// The least delta at `at`, rounded up.
    pub fn delta_upper(&self, at: &Ratio) -> Ratio {
        if at >= self.eps.ratio() {
            return Ratio::zero();
        }
        assert!(!at.is_negative(), "an epsilon is not negative");
        // The last k whose log-ratio eps·(steps - 2k)/steps is not below `at`; one more or less where they tie
        // changes nothing.
        let (one, two) = (Ratio::one(), Ratio::from(2u64));
        let last = (self.steps() * (&one - &(at / self.eps.ratio())) / two).floor_i64().unwrap_or(i64::MAX);
        let last = Ratio::from(last);
        let beyond = self.decay(&(&last + &one));
        let shifted = self.decay(&(self.steps() - last - self.steps() * at / self.eps.ratio()));
        let whole = Interval::one(self.bits());
        let norm = whole.add(&self.decay(&one));
        whole.sub(&beyond.add(&shifted).div(&norm)).upper().max(Ratio::zero())
    }

    /// The Renyi curve, rounded up.
    ///
    /// The sum of P(k)^a·P(k - steps)^(1-a) over k < 0, 0..=steps and k > steps, over e^((a-1)·eps), is
    /// `(1-q)/(1+q)·( q/(1-q) + (1 - r^(steps+1))/(1 - r) + q·r^steps/(1-q) )` with r = q^(2a-1).
    pub fn curve_upper(&self) -> RenyiCurve {
        if self.eps.is_zero() {
            return RenyiCurve::pure(&self.eps);
        }
        let one = Interval::one(self.bits());
        let q = self.decay(&Ratio::one());
        RenyiCurve::from_upper_bounds(|order| {
            let (above_one, odd) = parts(order);
            let power = |count: &Ratio| self.decay(&(&odd * count));
            let (r, all) = (power(&Ratio::one()), power(&self.steps()));
            let middle = one.sub(&all.mul(&r)).div(&one.sub(&r)).mul(&one.sub(&q));
            let mean = q.add(&middle).add(&q.mul(&all)).div(&one.add(&q));
            Some(divergence_upper(self.eps.ratio(), &mean, &above_one))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn amount(text: &str) -> Amount {
        Amount::new(text.parse().unwrap()).unwrap()
    }

    fn ratio(text: &str) -> Ratio {
        text.parse().unwrap()
    }

    /// The lattice's mass function and its shift, far enough out for floats.
    fn lattice(eps: f64, steps: i32) -> Vec<(f64, f64)> {
        let q = (-eps / f64::from(steps)).exp();
        let mass = |k: i32| (1.0 - q) / (1.0 + q) * q.powi(k.abs());
        #[expect(clippy::cast_possible_truncation, reason = "a few thousand at most")]
        let far = (-40.0 / q.ln()).ceil() as i32 + steps;
        (-far..=far).map(|k| (mass(k), mass(k - steps))).collect()
    }

    #[test]
    fn the_lattice_curve_is_the_brute_force_sum() {
        for (eps, steps) in [("1", 1), ("1", 2), ("1", 5), ("0.1", 3), ("4", 7), ("1", 60)] {
            let loss = DiscreteLaplaceLoss { eps: amount(eps), steps: u64::from(steps.unsigned_abs()) };
            let eps: f64 = eps.parse().unwrap();
            let points = lattice(eps, steps);
            for at in ["0", "0.05", "0.2", "0.5", "0.99", "1", "3.9"] {
                let brute: f64 =
                    points.iter().map(|(p, q)| (p - at.parse::<f64>().unwrap().exp() * q).max(0.0)).sum();
                let got = loss.delta_upper(&ratio(at)).to_f64();
                assert!((got - brute).abs() < 1e-12, "{eps} {steps} {at}: {got} {brute}");
            }
            for (order, bound) in loss.curve_upper().iter().step_by(5) {
                let a = order.to_f64();
                let ln_sum = points
                    .iter()
                    .map(|(p, q)| q * (a * (p / q).ln() - (a - 1.0) * eps).exp())
                    .sum::<f64>()
                    .ln();
                let brute = eps + ln_sum / (a - 1.0);
                let got = bound.unwrap().ratio().to_f64();
                assert!((got - brute).abs() < 1e-11 * a, "{eps} {steps} {a}: {got} {brute}");
            }
        }
    }

    #[test]
    fn one_step_is_randomized_response_and_many_are_the_real_line() {
        let eps = amount("1");
        let one = DiscreteLaplaceLoss { eps: eps.clone(), steps: 1 };
        let e = 1f64.exp();
        assert!((one.delta_upper(&Ratio::zero()).to_f64() - (e - 1.0) / (e + 1.0)).abs() < 1e-12);
        for ((order, a), (_, b)) in one.curve_upper().iter().zip(RenyiCurve::pure(&eps).iter()) {
            let (a, b) = (a.unwrap().ratio().to_f64(), b.unwrap().ratio().to_f64());
            assert!((a - b).abs() < 1e-12, "{order}");
        }
        let many = DiscreteLaplaceLoss { eps: eps.clone(), steps: 1_000_000 };
        for at in ["0", "0.3", "0.9"] {
            let (lattice, line) = (many.delta_upper(&ratio(at)), laplace_delta_upper(&eps, &ratio(at)));
            assert!((lattice.to_f64() - line.to_f64()).abs() < 1e-6);
        }
        for (a, b) in many.curve_upper().iter().zip(laplace_curve_upper(&eps).iter()) {
            let (a, b) = (a.1.unwrap().ratio().to_f64(), b.1.unwrap().ratio().to_f64());
            assert!(a >= b - 1e-12 && a - b < 1e-6);
        }
    }

    #[test]
    fn a_vanishing_epsilon_is_bounded_too() {
        let loss = DiscreteLaplaceLoss { eps: amount("1e-70"), steps: u64::MAX };
        assert!(loss.delta_upper(&Ratio::zero()).to_f64() < 1e-70);
        assert!(loss.curve_upper().iter().all(|(_, bound)| bound.unwrap() <= &loss.eps));
    }

    /// The claim that a lattice may use the real line's curve is refuted by the lattice itself.
    #[test]
    fn a_lattice_loses_more_than_the_real_line() {
        // Where the lattice has a point at the cut the two agree; elsewhere it loses more.
        let (eps, at) = (amount("1"), ratio("0.7071"));
        for steps in [1, 2, 3, 10, 1000] {
            let lattice = DiscreteLaplaceLoss { eps: eps.clone(), steps };
            assert!(lattice.delta_upper(&at) > laplace_delta_upper(&eps, &at), "{steps}");
            let (a, b) = (lattice.curve_upper(), laplace_curve_upper(&eps));
            assert!(a.iter().zip(b.iter()).all(|(a, b)| a.1 >= b.1), "{steps}");
        }
    }

    #[test]
    fn the_real_line_by_numerical_integration() {
        for eps in [0.2f64, 1.0, 3.0] {
            let amount = Amount::new(Ratio::from_f64_shortest(eps).unwrap()).unwrap();
            let density = |x: f64| 0.5 * (-x.abs()).exp();
            let step = 1e-3;
            let integrate = |f: &dyn Fn(f64) -> f64| -> f64 {
                (-40_000..40_000).map(|i| f((f64::from(i) + 0.5) * step) * step).sum()
            };
            let at = eps / 3.0;
            let brute = integrate(&|x| (density(x) - at.exp() * density(x - eps)).max(0.0));
            let got = laplace_delta_upper(&amount, &Ratio::from_f64_exact(at).unwrap()).to_f64();
            assert!((got - brute).abs() < 1e-6, "{eps}: {got} {brute}");
            for (order, bound) in laplace_curve_upper(&amount).iter().step_by(20).take(5) {
                let a = order.to_f64();
                let brute =
                    integrate(&|x| 0.5 * ((a - 1.0) * (x - eps).abs() - a * x.abs()).exp()).ln() / (a - 1.0);
                let got = bound.unwrap().ratio().to_f64();
                assert!((got - brute).abs() < 1e-5 * a, "{eps} {a}: {got} {brute}");
            }
        }
        assert_eq!(laplace_delta_upper(&amount("1"), &ratio("1")), Ratio::zero());
        assert!(laplace_curve_upper(&Amount::zero()).iter().all(|(_, bound)| bound.unwrap().is_zero()));
    }
}
