//! The discrete Gaussian: whole numbers y with probability proportional to e^(-y²/(2σ²)), exactly.
//!
//! Source: the law is that of Canonne, Kamath and Steinke, The Discrete Gaussian for Differential Privacy
//! (2020); the sampler is our own, on strips
//! (`strips.rs`).
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
//! 1. The exponent f(y) = y²/(2σ²) is zero at zero, rises and is convex, so strips draw from the law.
//! 2. Inside the strip that starts at a, the place o = x·W has t = f(a + o) − f(a)
//!    = x·(aW/σ² + x·W²/(2σ²)). In units of 2^-64: aW/σ² and W²/(2σ²) are stored rounded down by at most
//!    one, x is exact, and two products are rounded down, so t comes out within [−6, 0] and e^-t within
//!    [−7, +20] (`fixed_exp.rs` proves its part). Less 20, it is rounded down by at most 27.

use crate::{
    bell::{bell, normaliser},
    chance::word_of,
    coins::{Coins, Law},
    fixed_exp::{FixedExp, product},
    interval::Interval,
    loss::ParameterError,
    ratio::Ratio,
    strips::{Fall, Strips},
};
use dashu_int::IBig;

/// The law and its strips.
///
/// ```
/// use equipoise_core::{coins::{Coins, ScriptedWords}, ratio::Ratio, sampler::discrete_gaussian::DiscreteGaussian};
///
/// let noise = DiscreteGaussian::new(&"2.5".parse::<Ratio>()?)?;
/// let mut coins = ScriptedWords::new(vec![1 << 61, 1 << 61]);
/// assert!(coins.sample(&noise).abs() <= 30);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct DiscreteGaussian {
    strips: Strips<Bell>,
}

/// How the law falls.
#[derive(Clone, Debug)]
struct Bell {
    variance: Ratio,
    log2_width: u32,
    /// W/σ²; zero if W = 1, where strips have no inside.
    slope_unit: Ratio,
    /// W²/(2σ²) in units of 2^-64, rounded down; zero if W = 1.
    curve: u64,
    exponential: FixedExp,
}

/// By how much e^-t may come out too large, from t within 6 and the exponential's own bounds.
const EXCESS: u64 = 20;

// The header's step 2.
const _: () = assert!(FixedExp::ABOVE + 6 <= EXCESS && FixedExp::BELOW + EXCESS <= 27);

impl Bell {
    fn new(variance: &Ratio, log2_width: u32) -> Self {
        let width = whole(1 << log2_width);
        let slope_unit = if log2_width == 0 { Ratio::zero() } else { &width / variance };
        let curve = units_down(&(&(&width * &slope_unit) / &whole(2)));
        Self { variance: variance.clone(), log2_width, slope_unit, curve, exponential: FixedExp::new() }
    }
}

impl Fall for Bell {
    /// aW/σ² in units of 2^-64, rounded down.
    type Slope = u64;

    fn exponent(&self, size: &Ratio) -> Ratio {
        &size.squared() / &(&whole(2) * &self.variance)
    }

    fn slope(&self, start: u64) -> u64 {
        units_down(&(&whole(start) * &self.slope_unit))
    }

    #[inline]
    fn inside(&self, slope: u64, place: u64) -> u64 {
        let x = place << (64 - self.log2_width);
        let t = product(x, slope + product(x, self.curve));
        self.exponential.exp_neg(t) - EXCESS // e^-t is more than a third
    }
}

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
        let width = whole(1 << log2_width);
        let steepest = &(&width * &whole(1 + ((strips + 1) << log2_width))) / variance;
        assert!(log2_width == 0 || steepest < Ratio::one(), "t must stay below one");
        Self { strips: Strips::new(Bell::new(variance, log2_width), log2_width, strips) }
    }

    /// σ², the variance parameter (the variance itself is a little smaller).
    pub fn variance(&self) -> &Ratio {
        &self.strips.fall.variance
    }

    /// One round: a value, or nothing.
    #[inline]
    pub fn round<C: Coins>(&self, coins: &mut C) -> Option<i64> {
        self.strips.round(coins)
    }

    /// Independent draws, as many as there are places.
    pub fn fill<C: Coins>(&self, out: &mut [i64], coins: &mut C) {
        self.strips.fill(out, coins);
    }

    /// The probability of a value.
    pub fn mass(&self, value: i64, bits: usize) -> Interval {
        let work = bits + 16;
        bell(value.unsigned_abs(), self.variance(), work)
            .div(&normaliser(self.variance(), work))
            .to_precision(bits)
    }
}

impl Law for DiscreteGaussian {
    type Value = i64;

    #[inline]
    fn draw<C: Coins>(&self, coins: &mut C) -> i64 {
        self.strips.draw(coins)
    }

    fn masses(&self, floor: &Ratio, bits: usize) -> Vec<(i64, Interval)> {
        assert!(floor.is_positive(), "all whole numbers have a positive probability");
        let work = bits + 16;
        let sum = normaliser(self.variance(), work);
        let mut masses = vec![(0, Interval::one(work).div(&sum).to_precision(bits))];
        for k in 1u64.. {
            let term = bell(k, self.variance(), work);
            // From k on, each term is at most e^-x times the one before, x = k/σ², and 1/(1 − e^-x) <= 1 + 1/x.
            let both_sides = term.mul_ratio(&(&whole(2) + &(&(&whole(2) * self.variance()) / &whole(k))));
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

/// A number in [0, 1] in units of 2^-64, rounded down.
fn units_down(value: &Ratio) -> u64 {
    word_of(&(value * &Ratio::whole(IBig::ONE << 64)).floor_big())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        interval::AUDIT_BITS,
        strips::tests::{
            audit, check_band, compare_batch_with_singles, count_decisions, follow_words_around_the_band,
            mixed_words, near_enough, with_a_weight_one_part_too_small,
        },
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

    /// Does an accepted round have the claimed law?
    fn audited(law: &Strips<Bell>) -> Result<(), String> {
        let variance = &law.fall.variance;
        let sum = normaliser(variance, AUDIT_BITS);
        audit(law, |value| bell(value.unsigned_abs(), variance, AUDIT_BITS).div(&sum))
    }

    #[test]
    fn exact_audit_of_an_accepted_round() {
        for law in small_laws().into_iter().chain([law("400")]) {
            let shape = (law.strips.log2_width, law.strips.table.len());
            assert_eq!(audited(&law.strips), Ok(()), "{} {shape:?}", law.variance());
        }
    }

    fn shaped() -> Strips<Bell> {
        DiscreteGaussian::with_strips(&ratio("20"), 1, 3).strips
    }

    #[test]
    fn a_mutant_whose_zero_is_not_halved_is_caught() {
        let mutant = Strips::with_zero(Bell::new(&ratio("20"), 1), 1, 3, Ratio::new(1, 2));
        assert!(audited(&mutant).is_err());
    }

    #[test]
    fn a_mutant_with_a_weight_one_part_too_small_is_caught() {
        assert!(audited(&with_a_weight_one_part_too_small(shaped(), 2)).is_err());
    }

    #[test]
    fn a_mutant_whose_tail_starts_one_late_is_caught() {
        let mut mutant = shaped();
        mutant.tail_start += 1;
        assert!(audited(&mutant).is_err());
    }

    #[test]
    fn a_round_takes_three_decisions_outside_the_tail() {
        for law in small_laws() {
            count_decisions(&law.strips);
        }
    }

    #[test]
    fn tails_are_rare_and_tables_small() {
        for variance in
            ["1e-300", "1e-3", "1/7", "1", "399.99", "400", "1e4", "1e12", "7e20", &pow2(80), &pow2(100)]
        {
            let law = law(variance).strips;
            assert!(*law.pick.weights().last().unwrap() < 1 << 9 && law.table.len() < 255, "{variance}");
        }
    }

    fn pow2(power: u32) -> String {
        (1u128 << power).to_string()
    }

    #[test]
    fn the_band_holds_in_every_strip() {
        for variance in ["1/100", "1", "399", "400", "10000", "40401/7", "1e12", &pow2(100)] {
            check_band(&law(variance).strips);
        }
        let mut mutant = law("1e12").strips;
        mutant.table[20].slope += 64;
        assert!(!near_enough(&mutant, 20, (1 << mutant.log2_width) - 1), "a slope wrong by 2^-58 shows");
    }

    #[test]
    fn words_inside_the_band_are_decided_by_big_numbers() {
        let law = law("10000").strips;
        assert_eq!(law.log2_width, 3);
        follow_words_around_the_band(&law, 5, 3); // 3 to the right of 33
    }

    #[test]
    fn a_batch_and_single_draws_agree_on_the_same_words() {
        for variance in ["1e-3", "2", "400", "1e12"] {
            compare_batch_with_singles(&law(variance).strips);
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
