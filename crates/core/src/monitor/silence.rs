//! How likely a threshold question is answered "below", for each noise: one chance, known to any precision.
//!
//! Each is the chance that a process of rate r stays silent for one unit of time; `slope_upper` bounds how fast
//! ln r grows with the value, which is all that privacy depends on.
//!
//! # Time
//!
//! "Below" is free and can be had for ever, so the time that it takes must not tell the value. With Gumbel noise one word is
//! settled in fixed point by the same steps for every value ([`Fixed`]), but for one word in 2^46, which goes to
//! enclosures. The other shapes, which are kept for comparison, always do.

use crate::{
    chance::{Chance, exp_neg, head_of},
    fixed_exp::{FixedExp, product},
    interval::{Interval, ln_lower},
    ladder::exp_neg_heads,
    ratio::Ratio,
};
use dashu_int::IBig;
use std::sync::LazyLock;

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

/// The chance of "below" for a value, which is counted in units of `1/one`.
pub(super) struct Silence<'a> {
    pub(super) noise: Noise,
    pub(super) scale: &'a Ratio,
    pub(super) threshold: &'a Ratio,
    pub(super) one: u64,
    pub(super) value: i128,
}

impl Silence<'_> {
    /// By how much the value exceeds the threshold.
    fn excess(&self) -> Ratio {
        Ratio::whole(self.value.into()) / Ratio::from(self.one) - self.threshold
    }
}

impl Chance for Silence<'_> {
    fn head(&self) -> u64 {
        head_of(|bits| self.enclose(bits))
    }

    fn settle(&self, from: u64, to: u64) -> Option<bool> {
        let fixed = (self.noise == Noise::Gumbel).then(|| Fixed::new(self)).flatten();
        let head = match fixed {
            Some(fixed) => fixed.silence(self.value),
            None => self.head(),
        };
        let band = if fixed.is_some() { Fixed::BAND } else { 0 };
        if to < head.saturating_sub(band) {
            Some(true)
        } else if from > head.saturating_add(band) {
            Some(false)
        } else {
            None
        }
    }

    fn enclose(&self, bits: usize) -> Interval {
        let work = bits + 16;
        let excess = self.excess();
        let relative = &excess / self.scale;
        let silent = match self.noise {
            Noise::Gumbel => exp_neg_of(&exp(&relative, work)),
            Noise::Saturated { strength } => {
                let rate = exp(&relative.min(Ratio::zero()), work);
                exp_neg_of(&rate.mul_ratio(&Ratio::from(strength)))
            }
            Noise::Laplace => {
                let tail = exp_neg(&relative.abs(), work).div_small(2);
                one_side(&excess, tail)
            }
            Noise::TwoLaplace { factor } => one_side(&excess, two_tail(&relative.abs(), factor, work)),
        };
        silent.to_precision(bits)
    }
}

/// e^-e^x in fixed point, x = (value/one - threshold)/scale, by the same steps for every value.
///
/// # Guarantee
///
/// [`Fixed::silence`] differs from e^-e^x·2^64 by less than [`Fixed::BAND`].
///
/// # Why
///
/// 1. With c the whole number nearest to threshold·one, x = (value - c)·s + r, where s = 1/(scale·one) and r is public. Only
///    -64 < x < 5 matters: below, e^-e^x is within 2^-92 of 1, and above it is less than 2^-200. So value - c is cut to a whole
///    number of at least 65/s + 1, as r may be half a unit, and at most 2^57; and then x to [-64, 5].
/// 2. s and r are rounded down to multiples of 2^-114, so x is right within 2^57·2^-114 + 2^-114 < 2^-56, and is then cut to
///    2^-64.
/// 3. p = e^-(5 - x) is a product of two table entries and a series: right within 16 units of 2^-64 and the error of x times
///    p <= 1, so within 2^-55. y = e^5·p is right within 149·2^-55 + 2^-55 < 2^-47.7.
/// 4. e^-y changes by at most the error of y; its own product is right within 16 units. Together less than 2^-47.6, and the band
///    is 2^-47.
#[derive(Clone, Copy, Debug)]
struct Fixed {
    /// c, and how far a value may be from it.
    centre: i128,
    reach: i128,
    /// s and r in units of 2^-114.
    slope: i128,
    shift: i128,
}

/// e^-i for whole i, in units of 2^-64, as far as it is one at least.
static WHOLE: LazyLock<Vec<u64>> = LazyLock::new(|| exp_neg_heads(&Ratio::one(), 149));

/// See [`crate::prepare`].
pub(crate) fn prepare() {
    LazyLock::force(&WHOLE);
}

impl Fixed {
    /// In units of 2^-64.
    const BAND: u64 = 1 << 17;
    const BITS: usize = 114;
    /// e^5 in units of 2^-56, rounded down.
    const E5: u64 = 10_694_295_168_499_874_043;

    /// What is public of a question; nothing where the scale in units is beyond 2^50.
    fn new(question: &Silence<'_>) -> Option<Self> {
        let one = Ratio::from(question.one);
        let width = question.scale * &one;
        let level = question.threshold * &one;
        let centre = (&level + &Ratio::new(1, 2)).floor_big();
        let reach = i128::try_from((&width * &Ratio::from(65u64)).floor_big()).ok()? + 2;
        if reach >= 1 << 57 {
            return None;
        }
        let scaled = |value: &Ratio| {
            let steps = Ratio::whole(IBig::ONE << Self::BITS);
            i128::try_from((value * &steps / &width).floor_big()).ok()
        };
        let rest = Ratio::whole(centre.clone()) - &level;
        // A threshold beyond 2^126 units is beyond every value.
        Some(Self {
            centre: i128::try_from(centre).ok().filter(|centre| centre.unsigned_abs() < 1 << 126)?,
            reach,
            slope: scaled(&Ratio::one())?,
            shift: scaled(&rest)?,
        })
    }

    fn silence(self, value: i128) -> u64 {
        let distance = value.clamp(-(1 << 126), 1 << 126) - self.centre;
        let distance = distance.clamp(-self.reach, self.reach);
        let x = distance * self.slope + self.shift;
        let five = 5i128 << Self::BITS;
        // 5 - x, from 0 to 69, in units of 2^-64.
        let gap = (five - x).clamp(0, 69i128 << Self::BITS) >> (Self::BITS - 64);
        let gap = gap.unsigned_abs();
        let [whole, part] =
            [gap >> 64, gap & u128::from(u64::MAX)].map(|part| u64::try_from(part).unwrap_or(0));
        let p = exp_neg_fixed(whole, part);
        let y = product(Self::E5, p);
        exp_neg_fixed(y >> 56, y << 8)
    }
}

/// e^-(whole + part), the part in units of 2^-64: within 16 units.
fn exp_neg_fixed(whole: u64, part: u64) -> u64 {
    let at_whole = usize::try_from(whole).ok().and_then(|whole| WHOLE.get(whole)).copied().unwrap_or(0);
    product(at_whole, FixedExp::new().exp_neg(part))
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
        let threshold = -Ratio::from_f64_exact(excess).unwrap();
        let silence = Silence { noise, scale: &scale, threshold: &threshold, one: 1, value: 0 };
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

    /// Words around the true number: every answer is right, and all words but those of the band are settled.
    fn settles_rightly(question: &Silence<'_>) {
        let head = head_of(|bits| question.enclose(bits));
        assert!(Fixed::new(question).is_some());
        let around = [0, 1, Fixed::BAND / 2, Fixed::BAND, 2 * Fixed::BAND, 1 << 40];
        let near = around.iter().flat_map(|d| [head.checked_sub(*d), head.checked_add(*d)]).flatten();
        for word in near.chain([0, u64::MAX]) {
            let right = match question.settle(word, word) {
                Some(below) => below == (word < head),
                None => word.abs_diff(head) <= 2 * Fixed::BAND,
            };
            assert!(right, "{} {} {} {word}", question.scale, question.threshold, question.value);
        }
    }

    /// Every law by its own chance, not by that of another.
    #[test]
    fn one_word_is_settled_rightly_whatever_the_noise() {
        let (scale, threshold) = (Ratio::from(2u64), Ratio::from(10u64));
        for noise in ALL {
            for value in [4, 10, 13] {
                let question = Silence { noise, scale: &scale, threshold: &threshold, one: 1, value };
                let head = head_of(|bits| question.enclose(bits));
                let far = 1 << 40;
                let (low, high) = (head - far, head + far);
                let settled = (question.settle(low, low), question.settle(high, high));
                assert_eq!(settled, (Some(true), Some(false)), "{noise:?} {value}");
            }
        }
    }

    /// Differences of what is cut to 2^126 on both sides fit 128 bits.
    #[test]
    fn thresholds_beyond_every_value_have_no_fixed_point() {
        let fixed = |threshold: &Ratio| {
            let (noise, scale) = (Noise::Gumbel, Ratio::from(2u64));
            Fixed::new(&Silence { noise, scale: &scale, threshold, one: 1, value: 0 }).is_some()
        };
        let edge = Ratio::whole(IBig::ONE << 126);
        assert!(fixed(&(&edge - &Ratio::one())) && fixed(&(Ratio::one() - &edge)));
        assert!(!fixed(&edge) && !fixed(&-edge.clone()));
    }

    #[test]
    fn one_word_is_settled_rightly_whatever_the_value() {
        let relative = [-70.0, -64.0, -44.0, -20.0, -3.3, -0.5, 0.0, 0.7, 2.0, 3.7, 4.99, 5.01, 9.0];
        for scale in ["19.8", "0.001", "0.015384", "1", "1/3", "12345.678", "200000"] {
            let scale: Ratio = scale.parse().unwrap();
            for (one, threshold) in [0, 32].into_iter().flat_map(|bits| {
                ["0", "1/2", "1000.5", "-7/3", "1e15", "-1e18"].map(|threshold| (1u64 << bits, threshold))
            }) {
                let threshold: Ratio = threshold.parse().unwrap();
                let units = |value: &Ratio| i128::try_from((value * &Ratio::from(one)).floor_big()).unwrap();
                let near = relative.map(|x| units(&(&Ratio::from_f64_exact(x).unwrap() * &scale)));
                for far in near.into_iter().chain([-(1 << 110), -5, 5, 1 << 110]) {
                    let value = units(&threshold) + far;
                    let noise = Noise::Gumbel;
                    settles_rightly(&Silence { noise, scale: &scale, threshold: &threshold, one, value });
                }
            }
        }
    }

    /// The bound of the header is not idle: the largest error that is found is within a few powers of two of it.
    #[test]
    fn the_band_holds_everywhere_and_a_narrow_one_would_not() {
        let (scale, threshold) = ("7.77".parse().unwrap(), Ratio::zero());
        let mut most = 0;
        for step in -6000i128..500 {
            let value = step * (777 << 32) / 10_000;
            let question =
                Silence { noise: Noise::Gumbel, scale: &scale, threshold: &threshold, one: 1 << 32, value };
            let found = Fixed::new(&question).unwrap().silence(value);
            most = most.max(found.abs_diff(question.head()));
        }
        assert!(most < Fixed::BAND && most > 16, "{most}");
    }

    #[test]
    fn e_to_the_fifth_is_what_it_says() {
        let exact = Interval::exact(&Ratio::from(5u64), 160).exp();
        let units = (&exact.lower() * &Ratio::whole(IBig::ONE << 56)).floor_big();
        assert_eq!(units, IBig::from(Fixed::E5));
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
