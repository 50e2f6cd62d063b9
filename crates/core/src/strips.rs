//! Strips: one exact draw from a law on the whole numbers that falls away from zero, by two words.
//!
//! # Guarantee
//!
//! For a [`Fall`] that keeps its promises, [`Strips::draw`] returns y with probability exactly
//! e^-f(|y|) / Σ e^-f(|k|), f being its exponent, if the coins keep their promise. Numbers beyond 2^63 in
//! size come out as ±(2^63 − 1).
//!
//! # Why
//!
//! 1. The numbers 1, 2, … are cut into strips of W = 2^w members that start at a = 1, 1 + W, …; zero is a
//!    strip of its own; what lies from c on is the tail. For a height H, a strip has a whole-number weight
//!    above H·e^-f(a), zero has one above H/(2W), and the tail has the rest of 2^64. One word picks a strip
//!    by weight, exactly.
//! 2. The place in the strip and the sign are uniform bits. y ≠ 0 is then accepted with probability
//!    A = H·e^-f(|y|) / weight < 1, and zero, whatever its sign, with H/(2W) / weight. So a round returns
//!    each y with probability H/(2W)·2^-64·e^-f(|y|): the law, times a constant.
//! 3. The tail is cut into strips too. Which one, h, is geometric with ratio e^-s for s = f(c + W) − f(c),
//!    and y is accepted with what is left, H / (weight·(1 − e^-s)) · e^-(f(y) − h·s). As f is convex,
//!    f(y) − h·s >= f(c); the tail's weight is above H·e^-f(c) / (1 − e^-s), so this is a probability as well.
//! 4. To accept is the only decision with an irrational probability. In strips it is A = K·e^-t with
//!    K = H·e^-f(a) / weight and t = f(a + place) − f(a). In units of 2^-64: K is stored rounded down by at
//!    most 2, [`Fall::inside`] gives e^-t rounded down by at most 27, and their product is rounded down by
//!    less than one. So A lies between the result and 30 above it. Words outside that band are settled;
//!    the others go on to an enclosure of A that is refined until it tells.

use crate::{
    chance::{Chance, Enclosed, exp_neg, head_of, word_of},
    coins::Coins,
    fixed_exp::product,
    interval::Interval,
    ladder::Ladder,
    pick::Pick,
    ratio::Ratio,
};
use dashu_int::{IBig, UBig};
use std::{fmt::Debug, iter};

/// How a law falls.
pub(crate) trait Fall {
    /// What a strip keeps for [`inside`](Fall::inside).
    type Slope: Copy + Debug;

    /// f, for which e^-f is the law times a constant. A polynomial of degree at most two, zero at zero,
    /// rising and convex from there on.
    fn exponent(&self, size: &Ratio) -> Ratio;

    /// What the strip keeps that starts here.
    fn slope(&self, start: u64) -> Self::Slope;

    /// e^-(f(start + place) − f(start)) in units of 2^-64, rounded down by at most 27. Not asked for
    /// strips of one member.
    fn inside(&self, slope: Self::Slope, place: u64) -> u64;
}

/// A law and its strips.
#[derive(Clone, Debug)]
pub(crate) struct Strips<F: Fall> {
    pub(crate) fall: F,
    /// Zero first, then the strips from one on; the tail is the option after the last.
    pub(crate) pick: Pick,
    pub(crate) table: Vec<Strip<F::Slope>>,
    pub(crate) log2_width: u32,
    /// H, the weight of a strip that starts at zero.
    height: Ratio,
    /// What zero weighs per unit of H: half a place, as it comes with both signs.
    zero_share: Ratio,
    /// c, where the tail starts.
    pub(crate) tail_start: u64,
    /// s, by which the exponent grows at least from one strip of the tail to the next.
    tail_step: Ratio,
    ladder: Ladder,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Strip<S> {
    /// a, the smallest member.
    start: u64,
    /// Which bits of a place count: all, or none where the strip is zero alone.
    places: u64,
    /// K, the probability of accepting the smallest member, in units of 2^-64, rounded down.
    cap: u64,
    pub(crate) slope: S,
}

/// Weights are computed in units of 2^-192 of the height.
const WEIGHT_BITS: usize = 192;
/// A share is short by less than this many of those units. H < 2^66 of it are nothing against 2^-64.
const SLACK: u64 = 1 << 24;
/// A uniform number is at least the probability if it is this many units of 2^-64 above its lower bound.
const BAND: u64 = 32;

impl<F: Fall> Strips<F> {
    /// The law with this many strips of this width besides zero and the tail; both change the speed only.
    pub(crate) fn new(fall: F, log2_width: u32, strips: u64) -> Self {
        Self::with_zero(fall, log2_width, strips, Ratio::new(1, 2 << log2_width))
    }

    pub(crate) fn with_zero(fall: F, log2_width: u32, strips: u64, zero_share: Ratio) -> Self {
        let starts = (0..strips).map(|index| 1 + (index << log2_width));
        let tail_start = 1 + (strips << log2_width);
        let at_tail = fall.exponent(&whole(tail_start));
        let tail_step = &fall.exponent(&whole(tail_start + (1 << log2_width))) - &at_tail;
        let mut shares = vec![Interval::exact(&zero_share, WEIGHT_BITS).low_scaled().clone()];
        shares.extend(shares_down(&fall, log2_width, strips));
        let tail_share = tail_share_up(&at_tail, &tail_step);
        let height = tallest(&shares, &tail_share);

        let slack = &height * IBig::from(SLACK);
        let mut weights = Vec::with_capacity(shares.len() + 1);
        let table = iter::once((0, 0))
            .chain(starts.map(|start| (start, u64::MAX)))
            .zip(&shares)
            .map(|((start, places), share)| {
                let scaled = share * &height;
                let weight = word_of(&((&scaled + &slack) >> WEIGHT_BITS)) + 1;
                weights.push(weight);
                let cap = (scaled >> (WEIGHT_BITS - 64)) / IBig::from(weight);
                Strip { start, places, cap: word_of(&cap), slope: fall.slope(start) }
            })
            .collect();
        let used: u128 = weights.iter().map(|&weight| u128::from(weight)).sum();
        let rest = u64::try_from((1 << 64) - used).expect("zero has a weight");
        assert!(IBig::from(rest) << WEIGHT_BITS > &tail_share * &height, "the tail has its weight");
        weights.push(rest);
        Self {
            fall,
            pick: Pick::new(weights),
            table,
            log2_width,
            height: Ratio::whole(height),
            zero_share,
            tail_start,
            ladder: Ladder::new(&tail_step),
            tail_step,
        }
    }

    /// A value. Rounds are repeated until one is accepted.
    #[inline]
    pub(crate) fn draw<C: Coins>(&self, coins: &mut C) -> i64 {
        loop {
            if let Some(value) = self.round(coins) {
                return value;
            }
        }
    }

    /// One round: a value, or nothing.
    #[inline]
    pub(crate) fn round<C: Coins>(&self, coins: &mut C) -> Option<i64> {
        let (value, accepted) = self.attempt(coins);
        accepted.then_some(value)
    }

    /// Independent draws, as many as there are places.
    #[inline]
    pub(crate) fn fill<C: Coins>(&self, out: &mut [i64], coins: &mut C) {
        let mut filled = 0;
        while filled < out.len() {
            // A value that was not accepted is overwritten by the next; the last one was.
            let (value, accepted) = self.attempt(coins);
            out[filled] = value;
            filled += usize::from(accepted);
        }
    }

    /// A value, and whether it counts.
    #[inline]
    fn attempt<C: Coins>(&self, coins: &mut C) -> (i64, bool) {
        let option = coins.pick(&self.pick);
        let Some(strip) = self.table.get(option) else {
            return self.attempt_tail(coins);
        };
        let (bits, accepted) = coins.bits_then(self.log2_width + 1, |bits| {
            let place = (bits >> 1) & strip.places;
            Acceptance { law: self, option, place, near: self.acceptance_near(strip, place) }
        });
        let size = (strip.start + ((bits >> 1) & strip.places)).cast_signed();
        (if bits & 1 == 0 { size } else { -size }, accepted)
    }

    /// The probability of accepting this place, in units of 2^-64, rounded down by at most 30.
    #[inline]
    fn acceptance_near(&self, strip: &Strip<F::Slope>, place: u64) -> u64 {
        if self.log2_width == 0 {
            return strip.cap; // no inside, t = 0
        }
        product(strip.cap, self.fall.inside(strip.slope, place))
    }

    #[cold]
    #[inline(never)]
    fn attempt_tail<C: Coins>(&self, coins: &mut C) -> (i64, bool) {
        let rungs = self.ladder.heads().len();
        let mut steps = 0u64;
        loop {
            let found = coins.rung(&self.ladder);
            steps += found as u64;
            if found < rungs {
                break;
            }
        }
        let start = UBig::from(self.tail_start) + (UBig::from(steps) << self.log2_width as usize);
        let size = |bits: u64| IBig::from(&start + UBig::from(bits >> 1));
        let (bits, accepted) = coins.bits_then(self.log2_width + 1, |bits| {
            let exponent = self.fall.exponent(&Ratio::whole(size(bits)));
            let left = &exponent - &(&self.tail_step * &whole(steps));
            Enclosed::new(move |precision| self.tail_acceptance(&left, precision))
        });
        let size = i64::try_from(&size(bits)).unwrap_or(i64::MAX);
        (if bits & 1 == 0 { size } else { -size }, accepted)
    }

    /// H / (weight·(1 − e^-s)) · e^-left.
    fn tail_acceptance(&self, left: &Ratio, bits: usize) -> Interval {
        let work = bits + 80;
        let stay = Interval::one(work).sub(&exp_neg(&self.tail_step, work));
        let weight = self.pick.weights()[self.table.len()];
        let scaled = exp_neg(left, work).mul_ratio(&(&self.height / &whole(weight)));
        scaled.div(&stay).to_precision(bits).min(&Interval::one(bits))
    }
}

/// The probability of accepting a place of a strip: known closely at once, and to any precision on demand.
struct Acceptance<'a, F: Fall> {
    law: &'a Strips<F>,
    option: usize,
    place: u64,
    near: u64,
}

impl<F: Fall> Chance for Acceptance<'_, F> {
    fn head(&self) -> u64 {
        head_of(|bits| self.enclose(bits))
    }

    fn enclose(&self, bits: usize) -> Interval {
        let Self { law, option, place, .. } = *self;
        let scale = &law.height / &whole(law.pick.weights()[option]);
        let scale = if option == 0 { &scale * &law.zero_share } else { scale };
        // The scale is below 2^66.
        let exponent = law.fall.exponent(&whole(law.table[option].start + place));
        exp_neg(&exponent, bits + 72).mul_ratio(&scale).to_precision(bits).min(&Interval::one(bits))
    }

    #[inline]
    fn settle(&self, from: u64, to: u64) -> Option<bool> {
        // The probability is below one, so this is a lower bound as well.
        let low = self.near.min(u64::MAX - (BAND - 1));
        // One branch, hardly ever taken, rather than one on the answer: if `to` is below, the difference
        // wraps around and is at least this much.
        let open = to.wrapping_sub(low) < BAND + (to - from);
        (!open).then_some(to < low)
    }
}

fn whole(value: u64) -> Ratio {
    Ratio::from(value)
}

/// e^-exponent in units of 2^-192, rounded down by at most 4.
fn exp_neg_down(exponent: &Ratio) -> IBig {
    let enclosed = exp_neg(exponent, WEIGHT_BITS);
    assert!(enclosed.high_scaled() - enclosed.low_scaled() <= IBig::from(4), "a tight enclosure");
    enclosed.low_scaled().clone()
}

/// What each strip weighs per unit of H: e^-f(a) for a = 1, 1 + W, …, in units of 2^-192, short by less
/// than [`SLACK`].
///
/// From one strip to the next f grows, and that growth grows by a constant: two products each. Rounded
/// down, the product of factors below one that are short by e and e' is short by at most e + e' + 1. So
/// the i-th ratio is short by at most 4 + 5i and the i-th share by at most 4 + Σ (5 + 5i) < 5(i + 1)².
fn shares_down<F: Fall>(fall: &F, log2_width: u32, count: u64) -> impl Iterator<Item = IBig> {
    assert!(count < 1 << 10, "the slack is enough");
    let [first, second, third] = [0, 1, 2].map(|index| fall.exponent(&whole(1 + (index << log2_width))));
    let growth = &second - &first;
    let bend = &(&third - &second) - &growth;
    let shrink = bend.is_positive().then(|| exp_neg_down(&bend));
    let mut ratio = exp_neg_down(&growth);
    let mut next = exp_neg_down(&first);
    (0..count).map(move |_| {
        let here = next.clone();
        next = (&here * &ratio) >> WEIGHT_BITS;
        if let Some(shrink) = &shrink {
            ratio = (&ratio * shrink) >> WEIGHT_BITS;
        }
        here
    })
}

/// What the tail weighs per unit of H, in units of 2^-192, rounded up.
fn tail_share_up(at_tail: &Ratio, tail_step: &Ratio) -> IBig {
    let stay = Interval::one(WEIGHT_BITS).sub(&exp_neg(tail_step, WEIGHT_BITS));
    exp_neg(at_tail, WEIGHT_BITS).div(&stay).high_scaled().clone()
}

/// The largest whole height at which all weights, each rounded up by at most one, fit into 2^64.
fn tallest(shares: &[IBig], tail_share: &IBig) -> IBig {
    let room = (IBig::ONE << 64) - IBig::from(shares.len() + 1);
    let sum: IBig = shares.iter().sum();
    (room << WEIGHT_BITS) / (sum + tail_share + IBig::from(SLACK) * IBig::from(shares.len()))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::{
        coins::{ScriptedWords, Words},
        interval::AUDIT_BITS,
        tape::enumerate,
    };

    /// Does an accepted round have the claimed law? Enumerates the round.
    pub(crate) fn audit<F: Fall>(law: &Strips<F>, mass: impl Fn(i64) -> Interval) -> Result<(), String> {
        let ratio = |text: &str| text.parse::<Ratio>().unwrap();
        let pmf = enumerate(&ratio("1e-40"), |tape| law.round(tape)).given_some();
        let mut claimed = Interval::zero(AUDIT_BITS);
        for (&value, found) in pmf.iter() {
            let (found, claim) = (found.hull(&found.add(pmf.lost())), mass(value));
            claimed = claimed.add(&claim);
            if found.certainly_below(&claim) || claim.certainly_below(&found) {
                return Err(format!("{value}: {} instead of {}", found.to_f64(), claim.to_f64()));
            }
            assert!(&found.upper() - &found.lower() < ratio("1e-35"), "the brackets say something");
        }
        if claimed.upper() < ratio("0.99999999999999999999") {
            return Err("values are missing".into());
        }
        Ok(())
    }

    /// The same law with one part of 2^64 moved from this option to the tail.
    pub(crate) fn with_a_weight_one_part_too_small<F: Fall>(mut law: Strips<F>, option: usize) -> Strips<F> {
        let mut weights = law.pick.weights().to_vec();
        weights[option] -= 1;
        weights[law.table.len()] += 1;
        law.pick = Pick::new(weights);
        law
    }

    /// Panics unless a round takes three decisions, and four if it falls into the tail.
    pub(crate) fn count_decisions<F: Fall>(law: &Strips<F>) {
        let pmf = enumerate(&"1e-25".parse().unwrap(), |tape| {
            law.round(tape);
            tape.decisions()
        });
        let strips = &Ratio::one() - &Ratio::dyadic((*law.pick.weights().last().unwrap()).into(), 64);
        let three = pmf.mass(&3);
        assert!(three.lower() <= strips && strips <= three.upper());
        // The tail's ladder starts afresh once in 2^64.
        let often = |mass: &Interval| mass.upper() > Ratio::dyadic(IBig::ONE, 63);
        assert!(pmf.iter().all(|(&decisions, mass)| [3, 4].contains(&decisions) || !often(mass)));
    }

    /// Is the computed probability of accepting rounded down by at most 30?
    pub(crate) fn near_enough<F: Fall>(law: &Strips<F>, option: usize, place: u64) -> bool {
        let near = law.acceptance_near(&law.table[option], place);
        let truth = Acceptance { law, option, place, near }.enclose(128);
        let short = &truth.lower() - &Ratio::dyadic(near.into(), 64);
        !short.is_negative() && short <= Ratio::dyadic(30.into(), 64)
    }

    /// Panics unless the band holds in every strip, at both ends and in between.
    pub(crate) fn check_band<F: Fall>(law: &Strips<F>) {
        let width = 1u64 << law.log2_width;
        assert!(near_enough(law, 0, 0), "zero");
        for option in 1..law.table.len() {
            let mixed = (option as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) & (width - 1);
            for place in [0, mixed, width - 1] {
                assert!(near_enough(law, option, place), "{option} {place}");
            }
        }
    }

    /// Follows words at, next to and far from the probability of accepting this place, negative.
    pub(crate) fn follow_words_around_the_band<F: Fall>(law: &Strips<F>, option: usize, place: u64) {
        let picked = (0..1 << 16).map(|n| n << 48).find(|&word| law.pick.find(word) == option).unwrap();
        let near = law.acceptance_near(&law.table[option], place);
        let head = Acceptance { law, option, place, near }.head();
        assert!(near <= head && head <= near + 30);
        let value = -(law.table[option].start + place).cast_signed();
        let (count, far) = (law.log2_width + 1, 1 << 40);
        let bits = place << 1 | 1;
        for (uniform, more, accepted, used) in [
            (head - far, vec![], true, 2),
            (head - 1, vec![], true, 3),
            (head, vec![0], true, 4),
            (head, vec![u64::MAX], false, 4),
            (head + 1, vec![], false, 3),
            (head + far, vec![], false, 2),
        ] {
            let mut words = vec![picked, bits << (64 - count) | uniform >> count, uniform << (64 - count)];
            words.extend(more);
            let mut coins = ScriptedWords::new(words);
            assert_eq!(law.round(&mut coins), accepted.then_some(value), "{uniform:x}");
            assert_eq!(coins.used(), used);
        }
    }

    /// Words that look random (Steele, Lea and Flood's SplitMix64).
    pub(crate) fn mixed_words(count: u64) -> ScriptedWords {
        let mix = |z: u64, shift: u32, factor: u64| (z ^ (z >> shift)).wrapping_mul(factor);
        let word = |n: u64| {
            let z = n.wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let z = mix(mix(z, 30, 0xbf58_476d_1ce4_e5b9), 27, 0x94d0_49bb_1331_11eb);
            z ^ (z >> 31)
        };
        ScriptedWords::new((1..=count).map(word).collect())
    }

    /// Panics unless a batch and single draws agree on the same words.
    pub(crate) fn compare_batch_with_singles<F: Fall>(law: &Strips<F>) {
        let (mut together, mut alone) = (mixed_words(9000), mixed_words(9000));
        let mut batch = vec![0; 3000];
        law.fill(&mut batch, &mut together);
        let singles: Vec<i64> = (0..3000).map(|_| law.draw(&mut alone)).collect();
        assert_eq!(batch, singles);
        assert_eq!(together.used(), alone.used());
        assert_eq!(together.word(), alone.word());
    }

    #[test]
    fn what_lies_outside_the_band_is_settled_up_to_the_ends_of_the_unit_interval() {
        // settle needs no law; any will do.
        struct Step;
        impl Fall for Step {
            type Slope = ();
            fn exponent(&self, size: &Ratio) -> Ratio {
                size.clone()
            }
            fn slope(&self, _: u64) {}
            fn inside(&self, (): (), _: u64) -> u64 {
                unreachable!("strips of one member")
            }
        }
        let law = Strips::new(Step, 0, 3);
        for near in [0, 1, 31, 1 << 63, u64::MAX - 40, u64::MAX - 20, u64::MAX - 1] {
            let chance = Acceptance { law: &law, option: 0, place: 0, near };
            let low = near.min(u64::MAX - 31);
            for span in [0, 1, 255, (1 << 50) - 1] {
                for from in [0, 1, 40, low.wrapping_sub(span + 1), low, low.saturating_add(BAND), !span] {
                    let Some(to) = from.checked_add(span) else { continue };
                    let certain = if to < low {
                        Some(true)
                    } else if from >= low && from - low >= BAND {
                        Some(false)
                    } else {
                        None
                    };
                    assert_eq!(chance.settle(from, to), certain, "{near} {from} {to}");
                }
            }
        }
    }
}
