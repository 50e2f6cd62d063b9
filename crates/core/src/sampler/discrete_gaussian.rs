//! The discrete Gaussian: whole numbers y with probability proportional to e^(-y²/(2σ²)), exactly.
//!
//! Source: the law is that of Canonne, Kamath and Steinke, The Discrete Gaussian for Differential Privacy
//! (2020); the sampler is a strip envelope with whole-number weights, our own.
//!
//! # Guarantee
//!
//! For every exact variance parameter σ² in (0, 2^100], [`DiscreteGaussian::draw`](Law::draw) returns y
//! with probability exactly e^(-y²/(2σ²)) / Σ e^(-k²/(2σ²)), if the coins keep their promise. Numbers
//! beyond 2^63 in size, which have less than e^-30000000 in all, come out as ±(2^63 − 1).
//!
//! # Grade
//!
//! Constant per round. A round takes three decisions, whichever strip it falls in, and the
//! number of rounds is independent of the result: rounds are independent and alike, so the accepted value
//! has the same law whether it comes first or fifth. Two exceptions show in the running time: the tail
//! (four decisions) is chosen with probability below 2^-55, and the decision to accept reads more bits or
//! falls back to big numbers with probability at most 2^-59 + W·2^-63, about the same in every strip.
//!
//! # Why
//!
//! 1. The numbers 1, 2, … are cut into strips of W = 2^w members that start at a = 1, 1 + W, …; zero is a
//!    strip of its own; what lies from c on is the tail. For a height H, a strip has the whole-number
//!    weight ceil(H·e^(-a²/(2σ²))), zero has ceil(H/(2W)), and the tail has the rest of 2^64. One word
//!    picks a strip by weight, exactly.
//! 2. The place in the strip and the sign are uniform bits. y ≠ 0 is then accepted with probability
//!    A = H·e^(-y²/(2σ²)) / weight <= 1, and zero, whatever its sign, with H/(2W) / weight. So a round
//!    returns each y with probability H/(2W)·2^-64·e^(-y²/(2σ²)): the law, times a constant.
//! 3. The tail is cut into strips too. Which one is geometric with ratio e^(-cW/σ²), and y is accepted with
//!    what is left: e^(-y²/(2σ²)) = e^(-c²/(2σ²)) · e^(-h·cW/σ²) · e^(-((hW+o)² + 2co)/(2σ²)) for the place
//!    y = c + hW + o. The tail's weight is an upper bound, so this is a probability as well.
//! 4. To accept is the only decision with an irrational probability. In strips it is A = K·e^-t with
//!    K = H·e^(-a²/(2σ²)) / weight, t = x·(aW/σ² + x·W²/(2σ²)), x = o/W. In units of 2^-64: K, aW/σ² and
//!    W²/(2σ²) are stored rounded down by at most 2, and x is exact. So t comes out within [−6, 0], e^-t
//!    within [−7, +20] (`fixed_exp.rs` proves its part) and A within [−10, +20]. Words outside that band
//!    are settled; the others go on to an enclosure of A that is refined until it tells.

use crate::{
    bell::{bell, normaliser},
    chance::{Chance, Enclosed, exp_neg, head_of, word_of},
    coins::{Coins, Law},
    fixed_exp::{FixedExp, product},
    interval::Interval,
    ladder::Ladder,
    loss::ParameterError,
    pick::Pick,
    ratio::Ratio,
};
use dashu_int::{IBig, UBig};

/// The law and its strips.
///
/// ```
/// use equipoise_core::{coins::{Coins, ScriptedWords}, ratio::Ratio, sampler::discrete_gaussian::DiscreteGaussian};
///
/// let noise = DiscreteGaussian::new(&"2.5".parse::<Ratio>()?)?;
/// let mut coins = ScriptedWords::new(vec![1 << 63, 0]);
/// assert!(coins.sample(&noise).abs() <= 30);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct DiscreteGaussian {
    variance: Ratio,
    /// Zero first, then the strips from one on; the tail is the option after the last.
    pick: Pick,
    strips: Vec<Strip>,
    log2_width: u32,
    /// W²/(2σ²) in units of 2^-64, rounded down; zero if W = 1, where strips have no inside.
    curve: u64,
    exponential: FixedExp,
    /// H, the weight of a strip that starts at zero.
    height: Ratio,
    /// What zero weighs per unit of H: half a place, as it comes with both signs.
    zero_share: Ratio,
    /// c, where the tail starts.
    tail_start: u64,
    /// The tail's strips.
    ladder: Ladder,
}

#[derive(Clone, Copy, Debug)]
struct Strip {
    /// a, the smallest member.
    start: u64,
    /// Which bits of a place count: all, or none where the strip is zero alone.
    places: u64,
    /// aW/σ² in units of 2^-64, rounded down; zero if W = 1.
    slope: u64,
    /// The probability of accepting the smallest member, in units of 2^-64, rounded down.
    cap: u64,
}

/// The precision at which weights are computed: a share of H < 2^66 is then known to far less than 2^-64.
const WEIGHT_BITS: usize = 192;
/// A settled word lies this far below the computed probability …
const BAND_BELOW: u64 = 21;
/// … or this far above the end of that.
const BAND: u64 = 32;

// The header's step 4: [−10, +20], from t within 6 and the exponential's own bounds.
const _: () = assert!(FixedExp::ABOVE + 6 < BAND_BELOW && FixedExp::BELOW + 3 < BAND - BAND_BELOW);

impl DiscreteGaussian {
    /// The law with this σ².
    pub fn new(variance: &Ratio) -> Result<Self, ParameterError> {
        if !variance.is_positive() || *variance > whole(1 << 50).squared() {
            let accepted = "it must be positive and at most 2^100 squared grid steps; use a coarser grid";
            return Err(ParameterError::out_of_range("noise variance", variance, accepted));
        }
        // 10·W <= σ keeps t below one up to 9.4·σ; strips of one member need no such care.
        let fits = |log2_width: u32| &whole(100) * &whole(1 << log2_width).squared() <= *variance;
        let log2_width = (1..50).take_while(|&w| fits(w)).last().unwrap_or(0);
        // Beyond 9.3·σ less than 2^-63 is left.
        let end = &Ratio::new(8649, 100) * variance;
        let strips =
            (0..200).find(|&n| whole(n << log2_width).squared() >= end).expect("fewer than 200, as 20·W > σ");
        Ok(Self::with_strips(variance, log2_width, strips))
    }

    /// The law with this many strips of this width besides zero and the tail; both change the speed only.
    fn with_strips(variance: &Ratio, log2_width: u32, strips: u64) -> Self {
        Self::with_zero(variance, log2_width, strips, Ratio::new(1, 2 << log2_width))
    }

    fn with_zero(variance: &Ratio, log2_width: u32, strips: u64, zero_share: Ratio) -> Self {
        let width = whole(1 << log2_width);
        let tail_start = 1 + (strips << log2_width);
        let steepest = &(&(&whole(tail_start) * &width) + &width.squared()) / variance;
        assert!(log2_width == 0 || steepest < Ratio::one(), "t must stay below one");
        let ladder_step = &(&whole(tail_start) * &width) / variance;
        // What each option weighs per unit of H, enclosed: zero, the strips, the tail.
        let starts = (0..strips).map(|index| 1 + (index << log2_width));
        let mut shares = vec![Interval::exact(&zero_share, WEIGHT_BITS)];
        shares.extend(bells(variance, &width, strips));
        let stay = Interval::one(WEIGHT_BITS).sub(&exp_neg(&ladder_step, WEIGHT_BITS));
        let tail_share = bell(tail_start, variance, WEIGHT_BITS).div(&stay);
        let height = tallest(&shares, &tail_share);
        let mut weights: Vec<u64> = shares.iter().map(|share| weight_up(share, &height)).collect();
        let used: u128 = weights.iter().map(|&weight| u128::from(weight)).sum();
        let rest = (1u128 << 64) - used;
        assert!(rest >= u128::from(weight_up(&tail_share, &height)), "the tail has its weight");
        weights.push(u64::try_from(rest).expect("zero has a weight"));

        let slope_unit = if log2_width == 0 { Ratio::zero() } else { &width / variance };
        let strips = std::iter::once((0, 0))
            .chain(starts.map(|start| (start, u64::MAX)))
            .zip(shares.iter().zip(&weights))
            .map(|((start, places), (share, &weight))| Strip {
                start,
                places,
                slope: units_down(&(&whole(start) * &slope_unit)),
                cap: units_down(&(&(&share.lower() * &height) / &whole(weight))),
            })
            .collect();
        Self {
            variance: variance.clone(),
            pick: Pick::new(weights),
            strips,
            log2_width,
            curve: units_down(&(&(&width * &slope_unit) / &whole(2))),
            exponential: FixedExp::new(),
            height,
            zero_share,
            tail_start,
            ladder: Ladder::new(&ladder_step),
        }
    }

    /// σ², the variance parameter (the variance itself is a little smaller).
    pub fn variance(&self) -> &Ratio {
        &self.variance
    }

    /// One round: a value, or nothing.
    #[inline]
    pub fn round<C: Coins>(&self, coins: &mut C) -> Option<i64> {
        let (value, accepted) = self.attempt(coins);
        accepted.then_some(value)
    }

    /// Independent draws, as many as there are places.
    pub fn fill<C: Coins>(&self, out: &mut [i64], coins: &mut C) {
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
        let Some(strip) = self.strips.get(option) else {
            return self.attempt_tail(coins);
        };
        let (bits, accepted) = coins.bits_then(self.log2_width + 1, |bits| {
            let place = (bits >> 1) & strip.places;
            let near = self.acceptance_near(strip, place);
            Acceptance { law: self, option, place, near }
        });
        let size = (strip.start + ((bits >> 1) & strip.places)).cast_signed();
        (if bits & 1 == 0 { size } else { -size }, accepted)
    }

    /// The probability of accepting this place, in units of 2^-64, within [−10, +20].
    #[inline]
    fn acceptance_near(&self, strip: &Strip, place: u64) -> u64 {
        if self.log2_width == 0 {
            return strip.cap; // no inside, t = 0
        }
        let x = place << (64 - self.log2_width);
        let t = product(x, strip.slope + product(x, self.curve));
        product(strip.cap, self.exponential.exp_neg(t))
    }

    #[cold]
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
        let beyond = |bits: u64| (UBig::from(steps) << self.log2_width as usize) + UBig::from(bits >> 1);
        let (bits, accepted) = coins.bits_then(self.log2_width + 1, |bits| {
            let (place, beyond) = (whole(bits >> 1), Ratio::from_parts(beyond(bits).into(), UBig::ONE));
            let doubled = &beyond.squared() + &(&(&whole(2) * &whole(self.tail_start)) * &place);
            Enclosed::new(move |precision| self.tail_acceptance(&doubled, precision))
        });
        let size = UBig::from(self.tail_start) + beyond(bits);
        let size = i64::try_from(&IBig::from(size)).unwrap_or(i64::MAX);
        (if bits & 1 == 0 { size } else { -size }, accepted)
    }

    /// H·e^(-c²/(2σ²)) / (weight·(1 − e^(-cW/σ²))) · e^(-doubled/(2σ²)).
    fn tail_acceptance(&self, doubled: &Ratio, bits: usize) -> Interval {
        let work = bits + 80;
        let width = whole(1 << self.log2_width);
        let step = &(&whole(self.tail_start) * &width) / &self.variance;
        let stay = Interval::one(work).sub(&exp_neg(&step, work));
        let exponent = &(doubled + &whole(self.tail_start).squared()) / &(&whole(2) * &self.variance);
        let weight = self.pick.weights()[self.strips.len()];
        let scaled = exp_neg(&exponent, work).mul_ratio(&(&self.height / &whole(weight)));
        scaled.div(&stay).to_precision(bits).min(&Interval::one(bits))
    }

    /// The probability of a value.
    pub fn mass(&self, value: i64, bits: usize) -> Interval {
        let work = bits + 16;
        bell(value.unsigned_abs(), &self.variance, work)
            .div(&normaliser(&self.variance, work))
            .to_precision(bits)
    }
}

/// The probability of accepting a place of a strip: known closely at once, and to any precision on demand.
struct Acceptance<'a> {
    law: &'a DiscreteGaussian,
    option: usize,
    place: u64,
    near: u64,
}

impl Chance for Acceptance<'_> {
    fn head(&self) -> u64 {
        head_of(|bits| self.enclose(bits))
    }

    fn enclose(&self, bits: usize) -> Interval {
        let Self { law, option, place, .. } = *self;
        let scale = &law.height / &whole(law.pick.weights()[option]);
        let scale = if option == 0 { &scale * &law.zero_share } else { scale };
        // The scale is below 2^66.
        let at_place = bell(law.strips[option].start + place, &law.variance, bits + 72);
        at_place.mul_ratio(&scale).to_precision(bits).min(&Interval::one(bits))
    }

    #[inline]
    fn settle(&self, from: u64, to: u64) -> Option<bool> {
        let low = self.near.saturating_sub(BAND_BELOW);
        // One branch, hardly ever taken, rather than one on the answer.
        let open = (to >= low) & (from.saturating_sub(low) < BAND);
        (!open).then_some(to < low)
    }
}

impl Law for DiscreteGaussian {
    type Value = i64;

    #[inline]
    fn draw<C: Coins>(&self, coins: &mut C) -> i64 {
        loop {
            if let Some(value) = self.round(coins) {
                return value;
            }
        }
    }

    fn masses(&self, floor: &Ratio, bits: usize) -> Vec<(i64, Interval)> {
        assert!(floor.is_positive(), "all whole numbers have a positive probability");
        let work = bits + 16;
        let sum = normaliser(&self.variance, work);
        let mut masses = vec![(0, Interval::one(work).div(&sum).to_precision(bits))];
        for k in 1u64.. {
            let term = bell(k, &self.variance, work);
            // From k on, each term is at most e^-x times the one before, x = k/σ², and 1/(1 − e^-x) <= 1 + 1/x.
            let both_sides = term.mul_ratio(&(&whole(2) + &(&(&whole(2) * &self.variance) / &whole(k))));
            // The sum exceeds one, so that this bounds their probability.
            if both_sides.upper() < *floor {
                break;
            }
            let (value, mass) = (k.cast_signed(), term.div(&sum).to_precision(bits));
            masses.extend([(value, mass.clone()), (-value, mass)]);
        }
        masses
    }
}

fn whole(value: u64) -> Ratio {
    Ratio::from(value)
}

/// e^(-a²/(2σ²)) at this many starts a = 1, 1 + W, 1 + 2W, …
///
/// From one to the next the exponent grows by (2aW + W²)/(2σ²), and that growth by W²/σ²: two products each.
fn bells(variance: &Ratio, width: &Ratio, count: u64) -> impl Iterator<Item = Interval> {
    let growth = &(&(&whole(2) + width) * width) / &(&whole(2) * variance);
    let shrink = exp_neg(&(&width.squared() / variance), WEIGHT_BITS);
    let mut ratio = exp_neg(&growth, WEIGHT_BITS);
    let mut next = bell(1, variance, WEIGHT_BITS);
    (0..count).map(move |_| {
        let here = next.clone();
        next = next.mul(&ratio);
        ratio = ratio.mul(&shrink);
        here
    })
}

/// A number in [0, 1] in units of 2^-64, rounded down.
fn units_down(value: &Ratio) -> u64 {
    word_of(&(value * &Ratio::from_parts(IBig::ONE << 64, UBig::ONE)).floor_big())
}

/// The smallest whole number that is certainly not below share·height.
fn weight_up(share: &Interval, height: &Ratio) -> u64 {
    word_of(&(&share.upper() * height).ceil_big())
}

/// The largest whole height at which the weights, each rounded up by less than one, fit into 2^64.
fn tallest(shares: &[Interval], tail_share: &Interval) -> Ratio {
    let room = &Ratio::from_parts(IBig::ONE << 64, UBig::ONE) - &whole(shares.len() as u64 + 1);
    let sum = shares.iter().fold(tail_share.clone(), |sum, share| sum.add(share));
    Ratio::from_parts((&room / &sum.upper()).floor_big(), UBig::ONE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        coins::{ScriptedWords, Words},
        interval::AUDIT_BITS,
        tape::enumerate,
    };

    fn ratio(text: &str) -> Ratio {
        text.parse().unwrap()
    }

    fn law(variance: &str) -> DiscreteGaussian {
        DiscreteGaussian::new(&ratio(variance)).unwrap()
    }

    /// Laws small enough for the tape: as shipped, and with wide strips and early tails.
    fn small_laws() -> Vec<DiscreteGaussian> {
        let shipped = ["1/100", "1/2", "1", "4", "20"].map(law);
        let shaped = [("1/100", 0, 0), ("4", 0, 2), ("20", 1, 0), ("20", 1, 3), ("50", 2, 1), ("100", 2, 4)]
            .map(|(v, log2_width, strips)| DiscreteGaussian::with_strips(&ratio(v), log2_width, strips));
        shipped.into_iter().chain(shaped).collect()
    }

    /// Does an accepted round have the claimed law? Enumerates the round.
    fn audit(law: &DiscreteGaussian) -> Result<(), String> {
        let pmf = enumerate(&ratio("1e-40"), |tape| law.round(tape)).given_some();
        let sum = normaliser(law.variance(), AUDIT_BITS);
        let mut claimed = Interval::zero(AUDIT_BITS);
        for (value, mass) in pmf.iter() {
            let found = mass.hull(&mass.add(pmf.lost()));
            let claim = bell(value.unsigned_abs(), law.variance(), AUDIT_BITS).div(&sum);
            claimed = claimed.add(&claim);
            if found.certainly_below(&claim) || claim.certainly_below(&found) {
                return Err(format!("{value}: {} instead of {}", found.to_f64(), claim.to_f64()));
            }
            assert!(&found.upper() - &found.lower() < ratio("1e-35"), "the brackets say something");
        }
        if claimed.upper() < ratio("0.99999999999999999999") {
            Err("values are missing".into())
        } else {
            Ok(())
        }
    }

    #[test]
    fn exact_audit_of_an_accepted_round() {
        for law in small_laws().into_iter().chain([law("400")]) {
            assert_eq!(audit(&law), Ok(()), "{} {} {}", law.variance, law.log2_width, law.strips.len());
        }
    }

    #[test]
    fn a_mutant_whose_zero_is_not_halved_is_caught() {
        let mutant = DiscreteGaussian::with_zero(&ratio("20"), 1, 3, Ratio::new(1, 2));
        assert!(audit(&mutant).is_err());
    }

    #[test]
    fn a_mutant_with_a_weight_one_part_too_small_is_caught() {
        let mut mutant = DiscreteGaussian::with_strips(&ratio("20"), 1, 3);
        let mut weights = mutant.pick.weights().to_vec();
        weights[2] -= 1;
        weights[4] += 1;
        mutant.pick = Pick::new(weights);
        assert!(audit(&mutant).is_err());
    }

    #[test]
    fn a_mutant_whose_tail_starts_one_late_is_caught() {
        let mut mutant = DiscreteGaussian::with_strips(&ratio("20"), 1, 3);
        mutant.tail_start += 1;
        assert!(audit(&mutant).is_err());
    }

    #[test]
    fn a_round_takes_three_decisions_outside_the_tail() {
        for law in small_laws() {
            let pmf = enumerate(&ratio("1e-25"), |tape| {
                law.round(tape);
                tape.decisions()
            });
            let tail = Ratio::dyadic((*law.pick.weights().last().unwrap()).into(), 64);
            let three = pmf.mass(&3);
            assert!(three.lower() <= &Ratio::one() - &tail && &Ratio::one() - &tail <= three.upper());
            // The tail's ladder starts afresh once in 2^64.
            let often = |mass: &Interval| mass.upper() > Ratio::dyadic(IBig::ONE, 63);
            assert!(pmf.iter().all(|(&decisions, mass)| [3, 4].contains(&decisions) || !often(mass)));
        }
    }

    #[test]
    fn tails_are_rare_and_tables_small() {
        for variance in
            ["1e-300", "1e-3", "1/7", "1", "399.99", "400", "1e4", "1e12", "7e20", &pow2(80), &pow2(100)]
        {
            let law = law(variance);
            assert!(*law.pick.weights().last().unwrap() < 1 << 9 && law.strips.len() < 255, "{variance}");
        }
    }

    fn pow2(power: u32) -> String {
        (1u128 << power).to_string()
    }

    /// Is the computed probability of accepting within [−10, +20] units of the enclosed one?
    fn near_enough(law: &DiscreteGaussian, option: usize, place: u64) -> bool {
        let near = law.acceptance_near(&law.strips[option], place);
        let truth = Acceptance { law, option, place, near }.enclose(128);
        let error = &Ratio::dyadic(near.into(), 64) - &truth.lower();
        Ratio::dyadic((-10).into(), 64) <= error && error <= Ratio::dyadic(20.into(), 64)
    }

    #[test]
    fn the_band_holds_in_every_strip() {
        for variance in ["1/100", "1", "399", "400", "10000", "40401/7", "1e12", &pow2(100)] {
            let law = law(variance);
            let width = 1u64 << law.log2_width;
            for option in 1..law.strips.len() {
                for place in [0, width / 3, width - 1] {
                    assert!(near_enough(&law, option, place), "{variance} {option} {place}");
                }
            }
            assert!(near_enough(&law, 0, 0));
        }
        let mut mutant = law("1e12");
        mutant.strips[20].slope += 64;
        assert!(!near_enough(&mutant, 20, (1 << mutant.log2_width) - 1), "a slope wrong by 2^-58 shows");
    }

    /// A word that picks this option.
    fn word_for(law: &DiscreteGaussian, option: usize) -> u64 {
        (0..1 << 16).map(|n| n << 48).find(|&word| law.pick.find(word) == option).unwrap()
    }

    #[test]
    fn words_inside_the_band_are_decided_by_big_numbers() {
        let law = law("10000");
        assert_eq!(law.log2_width, 3);
        let (option, place, bits) = (5, 3, 7); // 3 to the right of 33, negative
        let near = law.acceptance_near(&law.strips[option], place);
        let head = Acceptance { law: &law, option, place, near }.head();
        assert!(near - 20 <= head && head <= near + 10);
        let far = 1 << 40;
        for (uniform, more, accepted, used) in [
            (head - far, vec![], true, 2),
            (head - 1, vec![], true, 3),
            (head, vec![0], true, 4),
            (head, vec![u64::MAX], false, 4),
            (head + 1, vec![], false, 3),
            (head + far, vec![], false, 2),
        ] {
            let mut words = vec![word_for(&law, option), bits << 60 | uniform >> 4, uniform << 60];
            words.extend(more);
            let mut coins = ScriptedWords::new(words);
            assert_eq!(law.round(&mut coins), accepted.then_some(-36), "{uniform:x}");
            assert_eq!(coins.used(), used);
        }
    }

    /// Words that look random (Steele, Lea and Flood's SplitMix64).
    fn mixed_words(count: u64) -> ScriptedWords {
        let mix = |z: u64, shift: u32, factor: u64| (z ^ (z >> shift)).wrapping_mul(factor);
        let word = |n: u64| {
            let z = n.wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let z = mix(mix(z, 30, 0xbf58_476d_1ce4_e5b9), 27, 0x94d0_49bb_1331_11eb);
            z ^ (z >> 31)
        };
        ScriptedWords::new((1..=count).map(word).collect())
    }

    #[test]
    fn a_batch_and_single_draws_agree_on_the_same_words() {
        for variance in ["1e-3", "2", "400", "1e12"] {
            let law = law(variance);
            let (mut together, mut alone) = (mixed_words(9000), mixed_words(9000));
            let mut batch = vec![0; 3000];
            law.fill(&mut batch, &mut together);
            let singles: Vec<i64> = (0..3000).map(|_| law.draw(&mut alone)).collect();
            assert_eq!(batch, singles, "{variance}");
            assert_eq!(together.used(), alone.used());
            assert_eq!(together.word(), alone.word());
        }
    }

    #[test]
    fn wide_laws_have_the_right_moments() {
        // Words are fixed, so this has no false alarms; with fresh ones it would have one in about 1e5 runs.
        for (variance, sigma) in [("10000", 100.0), ("1e12", 1e6), (&pow2(100), 2f64.powi(50))] {
            let mut draws = vec![0; 20_000];
            law(variance).fill(&mut draws, &mut mixed_words(50_000));
            let moment =
                |power| draws.iter().map(|&y| (y as f64 / sigma).powi(power)).sum::<f64>() / 20_000.0;
            for (power, expected, deviation) in [(1, 0.0, 1.0), (2, 1.0, 2.0), (3, 0.0, 15.0), (4, 3.0, 96.0)]
            {
                let error: f64 = moment(power) - expected;
                assert!(error.abs() < 5.0 * (deviation / 20_000f64).sqrt(), "{variance} {power} {error}");
            }
        }
    }

    #[test]
    fn masses_leave_out_less_than_the_floor() {
        for (variance, floor) in [("1e-3", "1e-9"), ("1", "1e-12"), ("30", "1e-6"), ("30", "0.9")] {
            let law = law(variance);
            let masses = law.masses(&ratio(floor), AUDIT_BITS);
            let sum = masses.iter().fold(Interval::zero(AUDIT_BITS), |sum, (_, mass)| sum.add(mass));
            assert!(sum.lower() > &Ratio::one() - &ratio(floor) && sum.lower() < Ratio::one());
            assert!(masses.iter().all(|(value, mass)| *mass == law.mass(*value, AUDIT_BITS)));
        }
    }

    #[test]
    fn tiny_variances_give_zero_and_the_range_is_checked() {
        for variance in ["1e-3", "1e-300"] {
            let mut draws = [1; 500];
            law(variance).fill(&mut draws, &mut mixed_words(1000));
            assert_eq!(draws, [0; 500]);
        }
        for variance in ["0", "-1", "1267650600228229401496703205377"] {
            let error = DiscreteGaussian::new(&ratio(variance)).unwrap_err().to_string();
            let expected = "it must be positive and at most 2^100 squared grid steps; use a coarser grid";
            assert_eq!(error, format!("noise variance {variance} is not accepted: {expected}"));
        }
    }
}
