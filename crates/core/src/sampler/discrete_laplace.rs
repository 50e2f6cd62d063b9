//! Discrete Laplace (two-sided geometric) variable: P(Z = z) proportional to e^(-|z|/scale), exactly.
//!
//! Source: 004_5f92a75732c1853f.txt, Laplace mechanism, on whole numbers; Ghosh, Roughgarden, Sundararajan
//! 2009. The sampler is our own, on strips (`strips.rs`).
//!
//! # Guarantee
//!
//! For every exact scale s in (0, 2^52], `draw` returns z with probability exactly e^(-|z|/s)·(1 - q)/(1 + q)
//! with q = e^(-1/s), if the coins keep their promise, and `fill` is `draw` repeated. Numbers beyond 2^63 in
//! size, which have less than e^-2000 in all, come out as ±(2^63 − 1).
//!
//! # Grade
//!
//! Constant per round. A round takes three decisions, whichever strip it falls in, and the number of
//! rounds is independent of the result. Two exceptions show in the running time: the tail (four decisions)
//! is chosen with probability below 2^-54, and the decision to accept reads more bits or falls back to big
//! numbers with probability at most 2^-59 + W·2^-63, about the same in every strip.
//!
//! # Why
//!
//! 1. The exponent f(y) = y/s is zero at zero, rises and is convex, so strips draw from the law.
//! 2. Inside a strip the place o = x·W has t = x·W/s, in all strips alike. Write x = j/2^9 + k/2^17 + v/2^17
//!    with v < 1, exactly, and r = (W/s)/2^17·v. Then e^-t = e^-(j·(W/s)/2^9) · e^-(k·(W/s)/2^17) · e^-r, of
//!    which two tables hold the first and the second factor, in units of 2^-64 rounded down by at most one:
//!    their product is rounded down by at most 3. If W <= 2^17, r is zero.
//! 3. Else r < 2^-20, as W/s <= 1/8, and 1 − r + r²/2 exceeds e^-r by less than r³/6 < 3 units. r comes out
//!    within [−2, 0] and r²/2 within [−2, 0], so 1 − (r − r²/2) within [−2, +5], and its product with the
//!    tables', computed as a difference, within [−5, +6]. Less 6, it is rounded down by at most 11.

use crate::{
    chance::{exp_neg, word_of},
    coins::{Coins, Law},
    fixed_exp::product,
    interval::Interval,
    ladder::exp_neg_heads,
    loss::ParameterError,
    ratio::Ratio,
    strips::{Fall, Strips},
};
use dashu_int::IBig;

/// The law of a discrete Laplace variable, with its strips.
///
/// ```
/// use equipoise_core::{coins::{Coins, ScriptedWords}, ratio::Ratio, sampler::discrete_laplace::DiscreteLaplace};
///
/// let noise = DiscreteLaplace::new(&"2.5".parse::<Ratio>()?)?;
/// let mut coins = ScriptedWords::new(vec![1 << 61, 1 << 61]);
/// assert!(coins.sample(&noise).abs() <= 120);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct DiscreteLaplace {
    strips: Strips<Decay>,
}

/// How the law falls.
#[derive(Clone, Debug)]
struct Decay {
    scale: Ratio,
    log2_width: u32,
    /// e^-(j·(W/s)/2^9) in units of 2^-64, rounded down.
    coarse: Box<[u64; 1 << COARSE_BITS]>,
    /// e^-(k·(W/s)/2^17) in units of 2^-64, rounded down.
    fine: Box<[u64; 1 << FINE_BITS]>,
    /// (W/s)/2^17 in units of 2^-64, rounded down.
    rest: u64,
}

const COARSE_BITS: u32 = 9;
const FINE_BITS: u32 = 8;
const TABLE_BITS: u32 = COARSE_BITS + FINE_BITS;
/// By how much e^-t may come out too large where the tables do not reach.
const EXCESS: u64 = 6;

impl Decay {
    fn new(scale: &Ratio, log2_width: u32) -> Self {
        let step = &whole(1 << log2_width) / scale;
        assert!(log2_width <= TABLE_BITS || step <= Ratio::new(1, 8), "r must stay below 2^-20");
        let (coarse, fine) = (&step / &whole(1 << COARSE_BITS), &step / &whole(1 << TABLE_BITS));
        let entries = "one head for each entry";
        Self {
            scale: scale.clone(),
            log2_width,
            coarse: exp_neg_heads(&coarse, (1 << COARSE_BITS) - 1).try_into().expect(entries),
            rest: word_of(&(&fine * &Ratio::whole(IBig::ONE << 64)).floor_big()),
            fine: exp_neg_heads(&fine, (1 << FINE_BITS) - 1).try_into().expect(entries),
        }
    }
}

impl Fall for Decay {
    /// All strips are alike.
    type Slope = ();

    fn exponent(&self, size: &Ratio) -> Ratio {
        size / &self.scale
    }

    fn slope(&self, _: u64) {}

    #[inline]
    fn inside(&self, (): (), place: u64) -> u64 {
        let x = place << (64 - self.log2_width);
        let index = |bits: u64| usize::try_from(bits).unwrap_or(0);
        let (j, k) = (x >> (64 - COARSE_BITS), (x >> (64 - TABLE_BITS)) % (1 << FINE_BITS));
        let tables = product(self.coarse[index(j)], self.fine[index(k)]);
        if self.log2_width <= TABLE_BITS {
            return tables;
        }
        let r = product(x << TABLE_BITS, self.rest);
        tables - product(tables, r - product(r, r) / 2) - EXCESS
    }
}

impl DiscreteLaplace {
    /// The law with this scale.
    pub fn new(scale: &Ratio) -> Result<Self, ParameterError> {
        if !scale.is_positive() || *scale > whole(1 << 52) {
            let accepted = "it must be positive and at most 2^52 grid steps; use a coarser grid";
            return Err(ParameterError::out_of_range("noise scale", scale, accepted));
        }
        // Wide strips reject more, narrow ones are many: at 8·W <= scale one round in 16 or less is in vain.
        let log2_width = (1..50).take_while(|&w| whole(8 << w) <= *scale).last().unwrap_or(0);
        // 64·ln 2 < 44.4, so that less than 2^-64 is left.
        let strips = (&(&Ratio::new(444, 10) * scale) / &whole(1 << log2_width)).ceil_i64();
        let strips = strips.expect("at most 711, as 16·W > scale").cast_unsigned();
        Ok(Self::with_strips(scale, log2_width, strips))
    }

    /// The law with this many strips of this width besides zero and the tail; both change the speed only.
    fn with_strips(scale: &Ratio, log2_width: u32, strips: u64) -> Self {
        Self { strips: Strips::new(Decay::new(scale, log2_width), log2_width, strips) }
    }

    /// As many independent draws as the slice is long.
    pub fn fill<C: Coins>(&self, out: &mut [i64], coins: &mut C) {
        self.strips.fill(out, coins);
    }

    fn rate(&self) -> Ratio {
        self.strips.fall.scale.recip()
    }
}

impl Law for DiscreteLaplace {
    type Value = i64;

    #[inline]
    fn draw<C: Coins>(&self, coins: &mut C) -> i64 {
        self.strips.draw(coins)
    }

    fn masses(&self, floor: &Ratio, bits: usize) -> Vec<(i64, Interval)> {
        let q = exp_neg(&self.rate(), bits);
        let mut mass = chance_of_zero(&self.rate(), bits);
        let mut masses = vec![(0, mass.clone())];
        // What lies beyond z on both sides is 2 q^(z+1)/(1 + q), less than 2 q^(z+1).
        let mut tail = q.add(&q);
        let mut z = 1i64;
        while !tail.certainly_at_most(floor) {
            mass = mass.mul(&q);
            masses.push((z, mass.clone()));
            masses.push((-z, mass.clone()));
            tail = tail.mul(&q);
            z += 1;
        }
        masses
    }
}

fn chance_of_zero(rate: &Ratio, bits: usize) -> Interval {
    let (one, q) = (Interval::one(bits), exp_neg(rate, bits));
    one.sub(&q).div(&one.add(&q))
}

fn whole(value: u64) -> Ratio {
    Ratio::from(value)
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
        tape::{Pmf, confirm},
    };

    fn ratio(text: &str) -> Ratio {
        text.parse().unwrap()
    }

    fn law(scale: &str) -> DiscreteLaplace {
        DiscreteLaplace::new(&ratio(scale)).unwrap()
    }

    /// Laws small enough for the tape: as shipped, and with wide strips and early tails.
    fn small_laws() -> Vec<DiscreteLaplace> {
        let shipped = ["1/1000", "0.2", "1", "5/2"].map(law);
        let shaped = [("1/10", 0, 0), ("1", 0, 2), ("2", 1, 0), ("3", 1, 2), ("3", 3, 1)]
            .map(|(s, log2_width, strips)| DiscreteLaplace::with_strips(&ratio(s), log2_width, strips));
        shipped.into_iter().chain(shaped).collect()
    }

    /// Does an accepted round have the claimed law?
    fn audited(law: &Strips<Decay>) -> Result<(), String> {
        let rate = law.fall.scale.recip();
        let zero = chance_of_zero(&rate, AUDIT_BITS);
        audit(law, |z| zero.mul(&exp_neg(&(&whole(z.unsigned_abs()) * &rate), AUDIT_BITS)))
    }

    #[test]
    fn exact_audit_of_an_accepted_round() {
        for law in small_laws() {
            let shape = (law.strips.log2_width, law.strips.table.len());
            assert_eq!(audited(&law.strips), Ok(()), "{} {shape:?}", law.strips.fall.scale);
        }
    }

    #[test]
    fn exact_audit_of_whole_draws() {
        let law = DiscreteLaplace::with_strips(&ratio("1"), 1, 2);
        let lost = confirm(&law, &ratio("1e-6")).unwrap();
        assert!(lost.upper() < ratio("2e-3"), "{}", lost.to_f64());
    }

    fn shaped() -> Strips<Decay> {
        DiscreteLaplace::with_strips(&ratio("3"), 1, 2).strips
    }

    #[test]
    fn a_mutant_that_counts_zero_twice_is_caught() {
        let mutant = Strips::with_zero(Decay::new(&ratio("3"), 1), 1, 2, Ratio::new(1, 2));
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

    const SCALES: [&str; 12] = [
        "1e-300",
        "1e-3",
        "1/7",
        "1",
        "15.99",
        "16",
        "100",
        "1e6",
        "2097151.9",
        "3e6",
        "1e12",
        "4503599627370496",
    ];

    #[test]
    fn tails_are_rare_and_tables_small() {
        for scale in SCALES {
            let law = law(scale).strips;
            assert!(*law.pick.weights().last().unwrap() < 1 << 10 && law.table.len() < 1 << 10, "{scale}");
        }
    }

    #[test]
    fn the_band_holds_in_every_strip() {
        for scale in SCALES {
            check_band(&law(scale).strips);
        }
        for (scale, change) in [("1e6", 40), ("1e12", 40)] {
            let mut mutant = law(scale).strips;
            mutant.fall.coarse[511] -= change;
            assert!(!near_enough(&mutant, 20, (1 << mutant.log2_width) - 1), "an entry wrong by 2^-58 shows");
        }
    }

    #[test]
    fn words_inside_the_band_are_decided_by_big_numbers() {
        for (scale, log2_width, place) in [("100", 3, 5), ("1e6", 16, 12345)] {
            let law = law(scale).strips;
            assert_eq!(law.log2_width, log2_width);
            follow_words_around_the_band(&law, 9, place);
        }
    }

    #[test]
    fn a_batch_is_single_draws_on_the_same_words() {
        for scale in ["1e-3", "0.5", "1", "100", "1e6", "1e12"] {
            compare_batch_with_singles(&law(scale).strips);
        }
    }

    #[test]
    fn wide_laws_have_the_right_moments() {
        // Words are fixed, so this has no false alarms; with fresh ones it would have one in about 1e5 runs.
        for (scale, size) in [("1000", 1e3), ("1e6", 1e6), ("4503599627370496", 2f64.powi(52))] {
            let mut draws = vec![0; 20_000];
            law(scale).fill(&mut draws, &mut mixed_words(50_000));
            let moment = |power| draws.iter().map(|&z| (z as f64 / size).powi(power)).sum::<f64>() / 20_000.0;
            // The k-th moment is k! for even k; its estimate has variance (2k)! − (k!)².
            for (power, expected, variance) in
                [(1, 0.0, 2.0), (2, 2.0, 20.0), (3, 0.0, 720.0), (4, 24.0, 39744.0)]
            {
                let error: f64 = moment(power) - expected;
                assert!(error.abs() < 5.0 * (variance / 20_000f64).sqrt(), "{scale} {power} {error}");
            }
        }
    }

    #[test]
    fn masses_sum_to_one_and_decay_by_q() {
        let floor = ratio("1e-9");
        let pmf = Pmf::from_masses(law("2").masses(&floor, AUDIT_BITS));
        assert!(pmf.lost().upper() <= floor);
        let q = (-0.5f64).exp();
        assert!((pmf.mass(&0).to_f64() - (1.0 - q) / (1.0 + q)).abs() < 1e-15);
        assert!((pmf.mass(&-7).to_f64() / pmf.mass(&6).to_f64() - q).abs() < 1e-14);
    }

    #[test]
    fn tiny_scales_give_zero_and_the_range_is_checked() {
        for scale in ["1e-3", "1e-300"] {
            let mut draws = [1; 500];
            law(scale).fill(&mut draws, &mut mixed_words(1100));
            assert_eq!(draws, [0; 500]);
        }
        for scale in ["0", "-1", "4503599627370497"] {
            let error = DiscreteLaplace::new(&ratio(scale)).unwrap_err().to_string();
            let expected = "it must be positive and at most 2^52 grid steps; use a coarser grid";
            assert_eq!(error, format!("noise scale {scale} is not accepted: {expected}"));
        }
    }
}
