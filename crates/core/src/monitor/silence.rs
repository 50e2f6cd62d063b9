//! How likely a threshold question is answered "below", for each noise: one chance, known to any precision.
//!
//! Each is the chance that a process of rate r stays silent for one unit of time; `slope_upper` bounds how fast
//! ln r grows with the value, which is all that privacy depends on.

use crate::{
    chance::{Chance, exp_neg, head_of},
    interval::{Interval, ln_lower},
    ratio::Ratio,
};
use dashu_int::IBig;

/// The shape of the noise on the value of a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Noise {
    /// Gumbel noise: r = e^((value - threshold)/scale). Values well above the threshold are hardly ever missed.
    Gumbel,
    /// r = strength·e^((value - threshold)/scale) up to the threshold and constant beyond: a value at the threshold
    /// is missed with probability e^-strength, however far above.
    Saturated {
        /// A whole number of at least one.
        strength: u64,
    },
    /// Laplace noise, as the text has it.
    Laplace,
    /// Laplace noise of this scale, and as much again at the scale divided by this factor, as the text's second
    /// version has it.
    TwoLaplace {
        /// At least two.
        factor: u64,
    },
}

impl Noise {
    /// At least the largest slope of ln r in the value, at this scale.
    ///
    /// Gumbel and saturated: 1/scale. Laplace: with y = -ln P(below), the slope is (e^y - 1)/y over the scale below
    /// the threshold, where y <= ln 2, and less than 1/y above, where y >= ln 2: at most 1/(scale·ln 2). The sum of
    /// two Laplace variables: its density is at most its tail over the wider scale, on either side, so the same.
    pub(super) fn slope_upper(self, scale: &Ratio) -> Ratio {
        match self {
            Self::Gumbel | Self::Saturated { .. } => scale.recip(),
            Self::Laplace | Self::TwoLaplace { .. } => {
                (ln_lower(&Ratio::from(2u64)).dyadic_down(96) * scale).recip()
            }
        }
    }
}

/// The chance of "below" for a value that exceeds the threshold by `excess`.
pub(super) struct Silence<'a> {
    pub(super) noise: Noise,
    pub(super) scale: &'a Ratio,
    pub(super) excess: Ratio,
}

impl Chance for Silence<'_> {
    fn head(&self) -> u64 {
        head_of(|bits| self.enclose(bits))
    }

    fn enclose(&self, bits: usize) -> Interval {
        let work = bits + 16;
        let relative = &self.excess / self.scale;
        let silent = match self.noise {
            Noise::Gumbel => exp_neg_of(&exp(&relative, work)),
            Noise::Saturated { strength } => {
                let rate = exp(&relative.min(Ratio::zero()), work);
                exp_neg_of(&rate.mul_ratio(&Ratio::from(strength)))
            }
            Noise::Laplace => {
                let tail = exp_neg(&relative.abs(), work).div_small(2);
                one_side(&self.excess, tail)
            }
            Noise::TwoLaplace { factor } => one_side(&self.excess, two_tail(&relative.abs(), factor, work)),
        };
        silent.to_precision(bits)
    }
}

/// The chance of "below" from the tail beyond the distance to the threshold.
fn one_side(excess: &Ratio, tail: Interval) -> Interval {
    if excess.is_negative() { Interval::one(tail.bits()).sub(&tail) } else { tail }
}

/// P(X + Y > x) for Laplace variables of scales 1 and 1/f, x >= 0: (f²·e^-x - e^(-f·x))/(2(f² - 1)).
fn two_tail(x: &Ratio, factor: u64, bits: usize) -> Interval {
    if x.is_zero() {
        return Interval::one(bits).div_small(2);
    }
    let factor = Ratio::from(factor.max(2));
    let square = factor.squared();
    let wide = exp_neg(x, bits).mul_ratio(&square);
    let narrow = exp_neg(&(x * &factor), bits);
    wide.sub(&narrow).mul_ratio(&((square - Ratio::one()) * Ratio::from(2u64)).recip())
}

/// e^x, cut off above e^64, where its negated exponential is below every precision in use.
fn exp(x: &Ratio, bits: usize) -> Interval {
    if x.is_positive() {
        Interval::exact(&x.min(&Ratio::from(64u64)).clone(), bits).exp()
    } else {
        exp_neg(&x.abs(), bits)
    }
}

/// e^-x for an enclosed x >= 0.
fn exp_neg_of(x: &Interval) -> Interval {
    let bits = x.bits();
    if x.lower() > Ratio::from(bits as u64) {
        return Interval::dyadic(IBig::ZERO, IBig::ONE, bits, bits);
    }
    exp_neg(&x.lower().max(Ratio::zero()), bits).hull(&exp_neg(&x.upper(), bits))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn below(noise: Noise, scale: f64, excess: f64) -> f64 {
        let scale = Ratio::from_f64_exact(scale).unwrap();
        let silence = Silence { noise, scale: &scale, excess: Ratio::from_f64_exact(excess).unwrap() };
        let word = silence.head() as f64 / 2f64.powi(64);
        let near = silence.enclose(128);
        assert!((near.to_f64() - word).abs() < 1e-15 && (near.upper() - near.lower()).to_f64() < 1e-30);
        word
    }

    const ALL: [Noise; 5] = [
        Noise::Gumbel,
        Noise::Saturated { strength: 1 },
        Noise::Saturated { strength: 7 },
        Noise::Laplace,
        Noise::TwoLaplace { factor: 10 },
    ];

    #[test]
    fn chances_by_hand() {
        let e = f64::exp;
        for (noise, scale, excess, expected) in [
            (Noise::Gumbel, 2.0, 0.0, e(-1.0)),
            (Noise::Gumbel, 2.0, -6.0, e(-e(-3.0))),
            (Noise::Gumbel, 2.0, 4.0, e(-e(2.0))),
            (Noise::Saturated { strength: 7 }, 2.0, 100.0, e(-7.0)),
            (Noise::Saturated { strength: 7 }, 2.0, -6.0, e(-7.0 * e(-3.0))),
            (Noise::Laplace, 2.0, -6.0, 1.0 - e(-3.0) / 2.0),
            (Noise::Laplace, 2.0, 6.0, e(-3.0) / 2.0),
            (Noise::Laplace, 2.0, 0.0, 0.5),
            (Noise::TwoLaplace { factor: 2 }, 2.0, 6.0, (4.0 * e(-3.0) - e(-6.0)) / 6.0),
            (Noise::TwoLaplace { factor: 2 }, 2.0, 0.0, 0.5),
            (Noise::Gumbel, 1.0, 1e9, 0.0),
            (Noise::Gumbel, 1.0, -1e9, 1.0),
        ] {
            let found = below(noise, scale, excess);
            assert!((found - expected).abs() < 1e-14, "{noise:?} {excess}: {found} {expected}");
        }
    }

    /// ln r never falls, and grows by at most the slope for each unit.
    #[test]
    fn slopes_are_bounds() {
        for noise in ALL {
            let slope = noise.slope_upper(&Ratio::from(3u64)).to_f64();
            let rate = |excess: f64| (-below(noise, 3.0, excess).ln()).ln();
            let grown: Vec<f64> =
                (-80..40).map(|i| f64::from(i) / 4.0).map(|x| (rate(x + 0.25) - rate(x)) * 4.0).collect();
            assert!(
                grown.iter().all(|by| (-1e-6..=slope + 1e-6).contains(by)),
                "{noise:?} {slope} {grown:?}"
            );
            let most = grown.iter().copied().fold(0.0, f64::max);
            assert!(
                most > 0.9 * slope || matches!(noise, Noise::TwoLaplace { .. }),
                "{noise:?} {most} {slope}"
            );
        }
    }
}
