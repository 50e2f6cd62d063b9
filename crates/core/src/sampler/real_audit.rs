//! What the tests of all real laws share: the sampler enumerated, and its claim held against it.

use super::{
    real::{EVERY_MULTIPLE, Placement, RealVariable, Rounded},
    span::{Look, Span},
};
use crate::{
    coins::{Law, ScriptedWords, Uniform, Words},
    interval::{AUDIT_BITS, Interval},
    ratio::Ratio,
    tape::enumerate,
};
use dashu_int::{IBig, UBig};
use proptest::prelude::*;
use std::{
    cell::RefCell,
    collections::{BTreeMap, HashMap},
    ops::RangeInclusive,
};

pub(super) fn ratio(text: &str) -> Ratio {
    text.parse().unwrap()
}

/// A coarse grid: cells about as large as the scale, cut off by the clamp, the center off every border.
pub(super) fn coarse<V: RealVariable>(variable: V, clamp: RangeInclusive<i64>) -> Rounded<V> {
    let placement = Placement { center: ratio("0.3"), scale: ratio("1.5"), grid: Ratio::one(), clamp };
    Rounded::new(variable, placement)
}

/// A sampler that differs from the original in one place, with the original's claim.
pub(super) struct Mutant<V, F> {
    pub original: V,
    pub enclose: F,
}

impl<V: RealVariable, F: Fn(&[Uniform], Look) -> Span> RealVariable for Mutant<V, F> {
    const UNIFORMS: usize = V::UNIFORMS;

    fn enclose(&self, uniforms: &[Uniform], look: Look) -> Span {
        (self.enclose)(uniforms, look)
    }

    fn cdf(&self, at: &Ratio, bits: usize) -> Interval {
        self.original.cdf(at, bits)
    }
}

/// The same variable, remembering what it said of each cell: the paths of a tape share their beginnings.
pub(super) struct Remembering<V> {
    variable: V,
    said: RefCell<HashMap<(Look, Vec<Uniform>), Span>>,
}

impl<V> Remembering<V> {
    pub fn new(variable: V) -> Self {
        Self { variable, said: RefCell::default() }
    }
}

impl<V: RealVariable> RealVariable for Remembering<V> {
    const UNIFORMS: usize = V::UNIFORMS;

    fn enclose(&self, uniforms: &[Uniform], look: Look) -> Span {
        let key = (look, uniforms.to_vec());
        self.said.borrow_mut().entry(key).or_insert_with(|| self.variable.enclose(uniforms, look)).clone()
    }

    fn cdf(&self, at: &Ratio, bits: usize) -> Interval {
        self.variable.cdf(at, bits)
    }
}

/// Enumerate `draw` and say whether every bracket `[mass, mass + lost]` meets the claimed mass.
pub(super) fn draw_meets_claim<V: RealVariable>(law: &Rounded<V>, floor: &str) -> bool {
    let pmf = enumerate(&ratio(floor), |tape| law.draw(tape));
    let claim: BTreeMap<i64, Interval> = law.masses(&ratio("1e-30"), AUDIT_BITS).into_iter().collect();
    assert!(pmf.iter().all(|(multiple, _)| law.placement().clamp.contains(multiple)));
    let total = claim.values().fold(Interval::zero(AUDIT_BITS), |sum, mass| sum.add(mass));
    assert!(total.lower() <= Ratio::one() && total.upper() > Ratio::one() - ratio("1e-29"));
    claim.iter().all(|(multiple, mass)| {
        let seen = pmf.mass(multiple);
        seen.lower() <= mass.upper() && mass.lower() <= seen.add(pmf.lost()).upper()
    })
}

/// Enumerate the same kernel for so many looks, every path to its end. What is still open then lies
/// between two multiples, so each distribution value has a bracket of its own: say whether all of them
/// contain the claim, and the widest.
pub(super) fn looks_meet_claim<V: RealVariable>(law: &Rounded<V>, looks: usize) -> (bool, f64) {
    let pmf = enumerate(&ratio("1e-40"), |tape| law.draw_within(looks, tape));
    assert!(pmf.lost().upper().is_zero());
    let sum = |keep: &dyn Fn(i64, i64) -> bool| {
        pmf.iter()
            .filter(|((least, most), _)| keep(*least, *most))
            .fold(Interval::zero(AUDIT_BITS), |total, (_, mass)| total.add(mass))
    };
    let mut claimed = Interval::zero(AUDIT_BITS);
    let (mut all, mut widest) = (true, 0.0f64);
    for (multiple, mass) in law.masses(&ratio("1e-30"), AUDIT_BITS) {
        claimed = claimed.add(&mass);
        let (least, most) = (sum(&|_, most| most <= multiple), sum(&|least, _| least <= multiple));
        let slack = ratio("1e-29");
        all &= least.lower() <= claimed.upper() + &slack && claimed.lower() <= most.upper() + slack;
        widest = widest.max(most.to_f64() - least.to_f64());
    }
    (all, widest)
}

/// The chance that so many known bits of each uniform number leave a draw open, enumerated.
pub(super) fn open_after<V: RealVariable>(law: &Rounded<V>, known: usize) -> Ratio {
    let pmf = enumerate(&ratio("1e-40"), |tape| {
        let (least, most) = law.draw_within(known - 1, tape);
        let decisions = tape.decisions();
        assert!(decisions >= 2 * V::UNIFORMS && decisions.is_multiple_of(V::UNIFORMS));
        least == most
    });
    pmf.mass(&false).upper()
}

/// Random places on random grids, from one as coarse as the scale to one of 2^-40 of it.
pub(super) fn any_placement() -> impl Strategy<Value = Placement> {
    (-1_000_000i64..1_000_000, 1u64..1000, 1i64..1000, 1u64..100, 0u32..40).prop_map(|(a, b, c, d, fine)| {
        Placement {
            center: Ratio::new(a, b),
            scale: Ratio::new(c, d),
            grid: Ratio::new(7, 5u64 << fine),
            clamp: EVERY_MULTIPLE,
        }
    })
}

/// Random words, among them the extreme ones.
pub(super) fn any_words() -> impl Strategy<Value = Vec<u64>> {
    let word = prop_oneof![1 => Just(0u64), 1 => Just(u64::MAX), 1 => 0u64..100, 20 => any::<u64>()];
    proptest::collection::vec(word, 16)
}

/// The uniform number written by these words, as an enclosure.
pub(super) fn uniform_of(words: &[u64], bits: usize) -> Interval {
    let low = words.iter().fold(UBig::ZERO, |sum, &word| (sum << 64) + UBig::from(word));
    let low = IBig::from(low);
    Interval::dyadic(low.clone(), low + IBig::ONE, 64 * words.len(), bits)
}

/// The borders of a multiple as values of the standard variable; `None` where the clamp leaves it open.
pub(super) fn borders(placement: &Placement, multiple: i64) -> (Option<Ratio>, Option<Ratio>) {
    let half = Ratio::new(1, 2);
    let value = |steps: Ratio| (steps * &placement.grid - &placement.center) / &placement.scale;
    let low = (multiple != *placement.clamp.start()).then(|| value(Ratio::from(multiple) - &half));
    let high = (multiple != *placement.clamp.end()).then(|| value(Ratio::from(multiple) + half));
    (low, high)
}

/// The multiple drawn from a variable that inverts its distribution function, checked by that function:
/// the whole cell of the uniform number lies between the chances of the borders. An independent
/// computation: the sampler takes logarithms and cotangents, the chances exponentials and arc tangents.
pub(super) fn draw_inverts_cdf<V: RealVariable>(law: &Rounded<V>, words: &[u64], falling: bool) -> bool {
    const BITS: usize = 1200;
    let mut coins = ScriptedWords::new(words.to_vec());
    let multiple = law.draw(&mut coins);
    let at = uniform_of(&words[..coins.used()], BITS);
    let at = if falling { Interval::one(BITS).sub(&at) } else { at };
    let (low, high) = borders_cdf(law, multiple, BITS);
    low.is_none_or(|low| low.lower() <= at.lower()) && high.is_none_or(|high| at.upper() <= high.upper())
}

fn borders_cdf<V: RealVariable>(
    law: &Rounded<V>,
    multiple: i64,
    bits: usize,
) -> (Option<Interval>, Option<Interval>) {
    let (low, high) = borders(law.placement(), multiple);
    let cdf = |at: Ratio| law.variable().cdf(&at, bits);
    (low.map(cdf), high.map(cdf))
}

/// The multiple drawn from a radius times the cosine of `2 pi V`, checked without roots and logarithms:
/// the radius exceeds r if and only if U is below `tail(r²)`. The whole cell of (U, V) is checked at its
/// worst corner.
pub(super) fn polar_draw_agrees<V: RealVariable>(
    law: &Rounded<V>,
    words: &[u64],
    tail: impl Fn(&Ratio) -> Interval,
) -> bool {
    let mut coins = ScriptedWords::new(words.to_vec());
    let multiple = law.draw(&mut coins);
    let of =
        |skip: usize| -> Vec<u64> { words[..coins.used()].iter().skip(skip).step_by(2).copied().collect() };
    let (u, v) = (uniform_of(&of(0), POLAR_BITS), uniform_of(&of(1), POLAR_BITS));
    let cos = v.sin_cos_turns().1;
    let slack = ratio("1e-100");
    let at_least = |border: &Ratio, cos: &Interval| {
        let least = cos.lower();
        if border.is_positive() {
            least.is_positive() && u.upper() <= tail(&(border / least).squared()).upper() + &slack
        } else {
            !least.is_negative() || tail(&(border / least).squared()).lower() <= u.lower() + &slack
        }
    };
    let (low, high) = borders(law.placement(), multiple);
    low.is_none_or(|low| at_least(&low, &cos)) && high.is_none_or(|high| at_least(&-high, &cos.neg()))
}

/// The precision of that check.
pub(super) const POLAR_BITS: usize = 800;

/// Words that look random; good enough to be timed and to show the usual path.
pub(super) struct Scrambled(pub u64);

impl Words for Scrambled {
    fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

/// The words that each of many usual draws takes, on a fine grid.
pub(super) fn words_per_draw<V: RealVariable>(variable: V) -> Vec<usize> {
    let placement =
        Placement { center: ratio("12.34"), scale: ratio("1.7"), grid: ratio("1e-6"), clamp: EVERY_MULTIPLE };
    let law = Rounded::new(variable, placement);
    let mut source = Scrambled(1);
    let mut used: Vec<usize> = (0..200)
        .map(|_| {
            let mut coins = ScriptedWords::new((0..20).map(|_| source.word()).collect());
            law.draw(&mut coins);
            coins.used()
        })
        .collect();
    used.dedup();
    used
}
