//! Ideal real noise, rounded once to a public grid: `center + scale·Z` to the nearest multiple of `grid`.
//!
//! A [`RealVariable`] is a function of one or two uniform numbers whose bits are drawn as they are
//! needed. [`Rounded`] looks at what the known bits say of `center + scale·Z`; as soon as everything they
//! leave possible rounds to one multiple, that multiple is the answer.
//!
//! # Guarantee
//!
//! `draw` returns exactly the multiple that the ideal real number `center + scale·Z` rounds to (nearest,
//! halves up), moved to the nearer end of `clamp` where it lies outside. So it has the distribution of
//! the ideal mechanism followed by a public function, which is post-processing: no float, no residue.
//!
//! # Why
//!
//! 1. Every end of a [`Span`] is rounded outwards, so the ideal number lies between them.
//! 2. Rounding and clamping never decrease: if both ends lead to one multiple, so does everything between.
//! 3. Undecided draws look at more bits of the same uniform numbers, at a finer precision. The ideal number
//!    lies on a border between two cells with probability zero, so a draw ends with probability one.
//!
//! # Grade
//!
//! 1, constant coins, up to 2^-60. The first look takes 128 bits of each uniform number. Between the
//! multiples of an `i64` there are fewer than 2^64 borders. With one uniform number a border lies in one
//! of its 2^128 cells. With two it is a curve of two monotone arcs, each of which passes fewer than
//! 2·2^128 of the 2^256 cells. So a first look stays open with probability at most 2^-62, and the cuts of
//! the arithmetic, 2^-80 of a grid, add less than that. The arithmetic takes a number of steps fixed by
//! scale, grid and clamp; only the length of the numbers within a step can vary. This supposes that the
//! center's own multiple fits an `i64`; farther out the answer is still exact.
//!
//! # Example
//!
//! ```
//! use equipoise_core::coins::{Law, ScriptedWords};
//! use equipoise_core::sampler::{laplace_real::RealLaplace, real::{EVERY_MULTIPLE, Placement, Rounded}};
//!
//! let law = Rounded::new(RealLaplace, Placement {
//!     center: "12.5".parse()?,
//!     scale: "2".parse()?,
//!     grid: "0.01".parse()?,
//!     clamp: EVERY_MULTIPLE,
//! });
//! // These words write the uniform number 3/4, and so the noise 2·ln 2: 12.5 + 1.386… is 1389 hundredths.
//! assert_eq!(law.draw(&mut ScriptedWords::new(vec![3 << 62, 0])), 1389);
//! # Ok::<(), equipoise_core::ratio::RatioError>(())
//! ```

use super::span::{Look, Span};
use crate::{
    coins::{Coins, Law, Uniform},
    interval::Interval,
    ratio::Ratio,
    redact::debug_only_public,
};
use dashu_base::{BitTest, DivEuclid, UnsignedAbs};
use dashu_int::IBig;
use std::ops::RangeInclusive;

/// An ideal real random variable, made from uniform numbers.
///
/// # Guarantee
///
/// If the uniforms are independent, the number that `enclose` closes in on has the distribution
/// function that `cdf` encloses.
pub trait RealVariable {
    /// How many uniform numbers it is a function of.
    const UNIFORMS: usize;

    /// Where it lies, given the known bits of its uniform numbers.
    fn enclose(&self, uniforms: &[Uniform], look: Look) -> Span;

    /// The chance that it is at most this number, enclosed.
    fn cdf(&self, at: &Ratio, bits: usize) -> Interval;
}

impl<V: RealVariable> RealVariable for &V {
    const UNIFORMS: usize = V::UNIFORMS;

    fn enclose(&self, uniforms: &[Uniform], look: Look) -> Span {
        (**self).enclose(uniforms, look)
    }

    fn cdf(&self, at: &Ratio, bits: usize) -> Interval {
        (**self).cdf(at, bits)
    }
}

/// So many times a uniform number is refined before the first look: with words, 128 bits.
pub(super) const FIRST_REFINEMENTS: usize = 2;
const FIRST_BITS: usize = 64 * FIRST_REFINEMENTS;

/// The uniform numbers of a fresh variable.
pub(super) fn fresh<V: RealVariable>() -> Vec<Uniform> {
    vec![Uniform::unknown(); V::UNIFORMS]
}

pub(super) fn refine<C: Coins>(uniforms: &mut [Uniform], coins: &mut C) {
    for uniform in uniforms {
        coins.refine(uniform);
    }
}

/// How many bits are known beyond those of the first look; a finer precision goes with them.
pub(super) fn later_bits(uniforms: &[Uniform]) -> usize {
    uniforms.iter().map(Uniform::known).max().unwrap_or(0).saturating_sub(FIRST_BITS)
}

/// All multiples that fit an `i64`.
pub const EVERY_MULTIPLE: RangeInclusive<i64> = i64::MIN..=i64::MAX;

/// Where a variable is put and how it is rounded.
#[derive(Clone, PartialEq, Eq)]
pub struct Placement {
    /// What is added to the noise; usually private.
    pub center: Ratio,
    /// What the noise is multiplied with; zero means no noise.
    pub scale: Ratio,
    /// The distance between neighbouring answers; positive.
    pub grid: Ratio,
    /// The multiples that can be returned; values beyond go to the nearer end.
    pub clamp: RangeInclusive<i64>,
}

debug_only_public!(Placement { grid, clamp });

/// The law of `center + scale·Z`, rounded to a multiple of `grid` and clamped.
#[derive(Clone)]
pub struct Rounded<V> {
    variable: V,
    placement: Placement,
    first: Look,
    /// `(center + scale·z)/grid + 1/2 = (constant + slope·z)/divisor`, in whole numbers.
    constant: IBig,
    slope: IBig,
    divisor: IBig,
}

debug_only_public!(impl[V: std::fmt::Debug] Rounded[V] { variable, placement });

impl<V: RealVariable> Rounded<V> {
    /// This variable in this place. Panics if the grid is not positive, the scale is negative or the
    /// clamp range is empty.
    pub fn new(variable: V, placement: Placement) -> Self {
        assert!(placement.grid.is_positive(), "a grid has a positive distance");
        assert!(!placement.scale.is_negative(), "noise has a scale of at least zero");
        assert!(!placement.clamp.is_empty(), "some multiple must be allowed");
        let center = &placement.center / &placement.grid + Ratio::new(1, 2);
        let scale = &placement.scale / &placement.grid;
        let (center_den, scale_den) =
            (IBig::from(center.denominator().clone()), IBig::from(scale.denominator().clone()));
        Self {
            first: first_look(&scale),
            constant: center.numerator() * &scale_den,
            slope: scale.numerator() * &center_den,
            divisor: center_den * scale_den,
            variable,
            placement,
        }
    }

    /// The same law, drawn with arithmetic that fits every scale from `least` to `most`: where the scale is
    /// private and only its limits are public, the time of a draw depends on these.
    #[must_use]
    pub fn for_scales_between(mut self, least: &Ratio, most: &Ratio) -> Self {
        let grid = &self.placement.grid;
        let (wide, narrow) = (first_look(&(most / grid)), first_look(&(least / grid)));
        self.first.bits = self.first.bits.max(wide.bits).max(narrow.bits);
        self.first.reach = self.first.reach.max(wide.reach).max(narrow.reach);
        self
    }

    /// The standard variable.
    pub fn variable(&self) -> &V {
        &self.variable
    }

    /// The place it was given.
    pub fn placement(&self) -> &Placement {
        &self.placement
    }

    /// The multiple that an end of a span leads to.
    fn multiple(&self, end: &IBig, bits: usize) -> i64 {
        let whole = ((&self.constant << bits) + &self.slope * end).div_euclid(&self.divisor << bits);
        let saturated = i64::try_from(&whole).unwrap_or(if whole < IBig::ZERO { i64::MIN } else { i64::MAX });
        saturated.clamp(*self.placement.clamp.start(), *self.placement.clamp.end())
    }

    /// The least and the largest multiple that the known bits leave possible.
    fn possible(&self, uniforms: &[Uniform]) -> (i64, i64) {
        if self.slope.is_zero() {
            let only = self.multiple(&IBig::ZERO, 0);
            return (only, only);
        }
        let later = later_bits(uniforms);
        let look = Look { bits: self.first.bits + later, reach: self.first.reach + later };
        let span = self.variable.enclose(uniforms, look);
        let least = span.low_scaled().map(|end| self.multiple(end, span.bits()));
        let largest = span.high_scaled().map(|end| self.multiple(end, span.bits()));
        (least.unwrap_or(*self.placement.clamp.start()), largest.unwrap_or(*self.placement.clamp.end()))
    }

    /// The least and the largest multiple still possible when one is left, or after so many looks.
    pub fn draw_within<C: Coins>(&self, looks: usize, coins: &mut C) -> (i64, i64) {
        let mut uniforms = fresh::<V>();
        for _ in 0..FIRST_REFINEMENTS {
            refine(&mut uniforms, coins);
        }
        let mut possible = self.possible(&uniforms);
        for _ in 1..looks {
            if possible.0 == possible.1 {
                break;
            }
            refine(&mut uniforms, coins);
            possible = self.possible(&uniforms);
        }
        possible
    }

    /// The chance that the multiple is at most this one, before clamping.
    fn chance_at_most(&self, multiple: i64, bits: usize) -> Interval {
        let Placement { center, scale, grid, .. } = &self.placement;
        let border = (Ratio::from(multiple) + Ratio::new(1, 2)) * grid - center;
        if scale.is_zero() {
            // Halves go up, so a center on the border is above it.
            return Interval::integer(i64::from(border.is_positive()), bits);
        }
        self.variable.cdf(&(border / scale), bits)
    }
}

/// The least t with `P(|Z| > t) <= failure` for a symmetric variable, or up to a part in 10,000 more; `None` if it
/// exceeds `most`.
pub fn tail_upper(variable: &impl RealVariable, failure: &Ratio, most: &Ratio) -> Option<Ratio> {
    const HALVINGS: usize = 14;
    let bits = 32 + failure.denominator().bit_len();
    let half = failure / Ratio::from(2u64);
    let enough = |t: &Ratio| variable.cdf(t, bits).lower() >= Ratio::one() - &half;
    let mut high = Ratio::new(1, 1 << 10);
    while !enough(&high) {
        if high > *most {
            return None;
        }
        high = &high + &high;
    }
    let mut low = &high * &Ratio::new(1, 2);
    for _ in 0..HALVINGS {
        let middle = (&low + &high) * Ratio::new(1, 2);
        if enough(&middle) { high = middle } else { low = middle }
    }
    Some(high)
}

/// The precision of the first look, from public numbers only.
fn first_look(scale_over_grid: &Ratio) -> Look {
    let size = binary_size(scale_over_grid);
    // Cuts of 2^-80 grids meet a border once in 2^78 draws; noise beyond 2^65 grids is beyond any i64.
    let bits = usize::try_from(80 + size.max(0)).expect("positive");
    Look { bits, reach: usize::try_from((66 - size).max(8)).expect("positive") }
}

/// The whole number e with `2^(e-1) < |x| < 2^(e+1)`; zero for zero.
pub(super) fn binary_size(x: &Ratio) -> i64 {
    let length = |bits: usize| i64::try_from(bits).expect("short numbers");
    if x.is_zero() {
        return 0;
    }
    length(x.numerator().clone().unsigned_abs().bit_len()) - length(x.denominator().bit_len())
}

impl<V: RealVariable> Law for Rounded<V> {
    type Value = i64;

    fn draw<C: Coins>(&self, coins: &mut C) -> i64 {
        self.draw_within(usize::MAX, coins).0
    }

    /// Panics where `floor` leaves too many multiples to list: a heavy tail needs a narrower `clamp`.
    fn masses(&self, floor: &Ratio, bits: usize) -> Vec<(i64, Interval)> {
        const MOST: i64 = 1 << 16;
        let (first, last) = self.placement.clamp.clone().into_inner();
        let (zero, one) = (Interval::zero(bits), Interval::one(bits));
        let rare = floor / Ratio::from(4u64);
        let at_most = |multiple: i64| {
            if multiple == last { one.clone() } else { self.chance_at_most(multiple, bits) }
        };
        let start = (&self.placement.center / &self.placement.grid).round_big();
        let start = i64::try_from(&start).unwrap_or(if start < IBig::ZERO { first } else { last });
        let start = start.clamp(first, last);
        let few_below = start.saturating_sub(MOST) <= first || at_most(start - MOST).upper() < rare;
        let few_above = start.saturating_add(MOST) >= last || one.sub(&at_most(start + MOST)).upper() < rare;
        assert!(few_below && few_above, "too many multiples to list; declare a narrower clamp");
        // Down from the center until less than a quarter of the floor is left below, then up likewise.
        let mut masses = Vec::new();
        let mut above = at_most(start);
        let (mut at, mut upper) = (start, above.clone());
        loop {
            let lower = if at == first { zero.clone() } else { at_most(at - 1) };
            masses.push((at, upper.sub(&lower).max(&zero)));
            if at == first || lower.upper() < rare {
                break;
            }
            (at, upper) = (at - 1, lower);
        }
        masses.reverse();
        let mut at = start;
        while at < last && one.sub(&above).upper() >= rare {
            at += 1;
            let next = at_most(at);
            masses.push((at, next.sub(&above).max(&zero)));
            above = next;
        }
        masses
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        coins::ScriptedWords,
        interval::AUDIT_BITS,
        sampler::{cauchy::Cauchy, laplace_real::RealLaplace, real_audit::*},
    };

    fn place(center: &str, scale: &str, grid: &str) -> Placement {
        Placement { center: ratio(center), scale: ratio(scale), grid: ratio(grid), clamp: EVERY_MULTIPLE }
    }

    #[test]
    fn no_noise_is_the_rounded_center_halves_up() {
        for (center, expected) in [("2.4", 2), ("2.5", 3), ("-2.5", -2), ("-2.6", -3), ("1e30", i64::MAX)] {
            let law = Rounded::new(Cauchy, place(center, "0", "1"));
            assert_eq!(law.draw(&mut ScriptedWords::new(vec![0, 0])), expected);
            let masses = law.masses(&ratio("1e-9"), AUDIT_BITS);
            assert_eq!(masses, [(expected, Interval::one(AUDIT_BITS))], "{center}");
        }
    }

    #[test]
    fn a_clamp_of_one_multiple_returns_it() {
        let law = Rounded::new(Cauchy, Placement { clamp: 4..=4, ..place("0", "1", "1") });
        assert_eq!(law.draw(&mut ScriptedWords::new(vec![7, 7])), 4);
        assert_eq!(law.masses(&ratio("1e-9"), AUDIT_BITS), [(4, Interval::one(AUDIT_BITS))]);
    }

    #[test]
    fn a_clamp_far_from_the_center_keeps_its_masses() {
        for clamp in [-20..=-15, 15..=20] {
            let law = coarse(RealLaplace, clamp);
            assert!(draw_meets_claim(&law, "1e-6"));
            let masses = law.masses(&ratio("1e-9"), AUDIT_BITS);
            assert_eq!(masses.len(), 6);
            assert!(masses.iter().all(|(_, mass)| mass.lower().is_positive()));
        }
    }

    #[test]
    #[should_panic(expected = "narrower clamp")]
    fn a_heavy_tail_without_a_clamp_is_not_listed() {
        let _ = coarse(Cauchy, EVERY_MULTIPLE).masses(&ratio("1e-12"), AUDIT_BITS);
    }

    #[test]
    fn extreme_grids_and_centers_end() {
        let words = || ScriptedWords::new(vec![0x0123_4567_89ab_cdef, 0xfedc_ba98_7654_3210, 5, 6, 7, 8]);
        for (center, scale, grid) in
            [("0", "1", "1e-200"), ("0", "1e-200", "1"), ("1e300", "1", "1"), ("-1e300", "1e290", "1e-3")]
        {
            let mut coins = words();
            Rounded::new(Cauchy, place(center, scale, grid)).draw(&mut coins);
            assert_eq!(coins.used(), 2, "{center} {scale} {grid}");
        }
        let law = Rounded::new(RealLaplace, place("0.5", "1e-200", "1"));
        assert_eq!(law.draw(&mut words()), 0);
    }

    #[test]
    fn a_private_scale_is_drawn_with_public_arithmetic() {
        let (least, most) = (ratio("1e-9"), ratio("1e9"));
        for grid in ["0.01", "100"] {
            let of = |scale: &str| Rounded::new(Cauchy, place("0.3", scale, grid));
            let looks: Vec<Look> = ["1e-9", "1", "777", "1e9"]
                .map(|scale| of(scale).for_scales_between(&least, &most).first)
                .to_vec();
            assert!(looks.windows(2).all(|pair| pair[0] == pair[1]) && of("1").first != of("1e9").first);
        }
        let of = |scale: &str| Rounded::new(Cauchy, place("0.3", scale, "0.01"));
        for word in [1, 1 << 40, 3 << 62, u64::MAX] {
            let words = || ScriptedWords::new(vec![word, 77]);
            let fitted = of("1.7").for_scales_between(&least, &most).draw(&mut words());
            assert_eq!(fitted, of("1.7").draw(&mut words()));
        }
    }

    #[test]
    fn sizes_are_within_a_factor_of_two() {
        for text in ["1", "0.75", "1.5", "1e30", "1e-30", "-3/7"] {
            let (x, size) = (ratio(text).abs(), binary_size(&ratio(text)));
            let power = |e: i64| 2f64.powi(i32::try_from(e).unwrap());
            assert!(power(size - 1) < x.to_f64() && x.to_f64() < power(size + 1), "{text}");
        }
    }

    #[test]
    #[should_panic(expected = "positive distance")]
    fn a_grid_of_zero_is_refused() {
        let _ = Rounded::new(Cauchy, place("0", "1", "0"));
    }
}
