//! Tells which questions of a stream are above their thresholds, for ever; records drop out once they have helped.
//!
//! Source: 003_82bbcee9e9852ea0.txt, ThresholdMonitor and AboveNoiselessThreshold; Kaplan, Mansour, Stemmer 2021.
//!
//! # Guarantee
//!
//! Each record adds a contribution between 0 and 1 (or -1 and 1) to the value of each question; questions and
//! thresholds may depend on earlier answers and on nothing else that is private. All answers together, for ever, are
//! (epsilon, delta)-DP under the adjacency given.
//!
//! # Why
//!
//! 1. An answer is "above" with probability 1 - e^-r, as if a process of rate r rang within one unit of time, and
//!    ln r grows with the value, by at most a slope of 1/b for each unit. One record more multiplies r by at most
//!    e^(1/b), and only while it has budget left.
//! 2. Given the answers so far, what is left of every other record is the same with and without the one in question.
//! 3. So the answers are computed from one process whose rate is 1 without the record and e^(1/b) with it, watched in
//!    windows of chosen lengths; where the record multiplies r by less, part of the ringing is of a second process
//!    that knows nothing. Each "above" that the record contributed to spends its budget k.
//! 4. For contributions of 0 or 1 under add/remove, at most k arrivals are seen: [`Arrivals`] has the exact curve.
//!    For parts and signs the Renyi bound of k; for replace, where two records each have a budget, that of 2k, or of
//!    k at twice the slope where contributions have signs.
//! 5. A contribution is cut to what is left of the record's budget, so that nothing is overspent.
//!
//! # Differs
//!
//! The text has Laplace noise with an unnamed constant, and finds its one-noise proof wrong: it is private, and
//! [`Noise::Laplace`] is that form, with its true guarantee. Its second form with two noises, and the simplified
//! monitor that deletes at once, are [`above_noiseless_threshold`] and [`simplified_monitor`]; their printed noise
//! gives far more privacy than they promise, and [`Calibrated::cost`] says how much. Where the text lets a fractional
//! counter overshoot k, the last contribution is cut. Real contributions are rounded towards zero to a public dyadic
//! grid, record by record, so that sums are exact.
//!
//! # Grade
//!
//! One decision for each question, whatever the data. Big-number arithmetic runs at each; its time depends on the
//! value a little.
//!
//! # Example
//!
//! ```
//! use equipoise_core::{adjacency::Adjacency, coins::ScriptedWords, monitor::threshold_monitor::*, ratio::Ratio};
//!
//! let monitor = ThresholdMonitor {
//!     eps: "1".parse()?,
//!     delta: "1e-6".parse()?,
//!     budget: 10,
//!     contributions: Contributions::Binary,
//!     noise: Noise::Gumbel,
//!     adjacency: Adjacency::AddRemove,
//! };
//! let monitor = monitor.calibrate()?;
//! assert!(monitor.scale() <= &"19.8".parse()?);
//! let mut watch = monitor.start(128);
//! # let mut coins = ScriptedWords::new(vec![1 << 63; 2]);
//! // All records say yes to the first question, none to the second.
//! assert_eq!(watch.ask(&[u64::MAX; 2], &Ratio::from(100u64), &mut coins), Answer::Above);
//! assert_eq!(watch.ask(&[0; 2], &Ratio::from(100u64), &mut coins), Answer::Below);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub use super::silence::Noise;
use super::silence::Silence;
use crate::{
    adjacency::Adjacency,
    coins::Coins,
    interval::ln_upper,
    loss::{
        Amount, Approx, Arrivals, Delta, Eps, Loss, ParameterError, Renyi, renyi_curve_upper, renyi_eps_upper,
    },
    ratio::Ratio,
    solve,
};

/// What a record may add to the value of a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contributions {
    /// 0 or 1.
    Binary,
    /// A multiple of 2^-bits from 0 to 1.
    Fractional {
        /// At most 32.
        bits: u32,
    },
    /// A multiple of 2^-bits from -1 to 1.
    Signed {
        /// At most 32.
        bits: u32,
    },
}

/// Parameters of a monitor; all public.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThresholdMonitor {
    /// The privacy parameter of all answers together.
    pub eps: Eps,
    /// The probability outside; above zero.
    pub delta: Delta,
    /// How much each record may contribute to positive answers before it drops out.
    pub budget: u64,
    /// What a record may contribute to one question.
    pub contributions: Contributions,
    /// Which noise.
    pub noise: Noise,
    /// What one person may change.
    pub adjacency: Adjacency,
}

/// A monitor ready to start.
#[derive(Clone, Debug)]
pub struct Calibrated {
    monitor: ThresholdMonitor,
    scale: Ratio,
    /// Stop for good at the first positive answer.
    halts: bool,
}

/// A running monitor. What is left of each record's budget stays secret.
#[derive(Clone)]
pub struct Watch {
    calibrated: Calibrated,
    /// What is left of each record, in units of the contributions' grid.
    left: Vec<u64>,
    /// One bit for each record with anything left.
    active: Vec<u64>,
    halted: bool,
}

/// What is said of one question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Answer {
    /// The noisy value is below the threshold.
    Below,
    /// It is not.
    Above,
    /// The form halts at its first positive answer, and had one.
    Halted,
}

/// How far from its threshold a value must be to be answered rightly.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Accuracy {
    /// Values this far below their thresholds are called below.
    pub below: Ratio,
    /// Values this far above are called above; `None` where the noise may miss any value that often.
    pub above: Option<Ratio>,
}

const LARGEST_BUDGET: u64 = 1_000_000;

impl Contributions {
    fn bits(self) -> u32 {
        match self {
            Self::Binary => 0,
            Self::Fractional { bits } | Self::Signed { bits } => bits.min(32),
        }
    }

    /// A real contribution in units: cut to the range and rounded towards zero; nothing for what is not a number.
    pub fn units(self, value: f64) -> i64 {
        let least = if matches!(self, Self::Signed { .. }) { -1.0 } else { 0.0 };
        // Both steps are exact: a power of two times a number of at most one, cut to its whole part.
        let scaled = value.clamp(least, 1.0) * (1u64 << self.bits()) as f64;
        #[expect(clippy::cast_possible_truncation, reason = "within 2^32, and NaN becomes zero")]
        let units = scaled as i64;
        units
    }
}

impl ThresholdMonitor {
    /// The least noise of six digits that keeps (epsilon, delta). Sees no data, so it may fail freely.
    pub fn calibrate(&self) -> Result<Calibrated, ParameterError> {
        self.check()?;
        let scale = solve::smallest_decimal(-3..12, |scale| self.keeps(scale));
        let scale = scale.ok_or_else(|| {
            let accepted = "no noise up to a scale of 10^12 keeps so little; give more epsilon or delta";
            ParameterError::out_of_range("epsilon", &self.eps, accepted)
        })?;
        Ok(Calibrated { monitor: self.clone(), scale, halts: false })
    }

    /// The monitor with this scale of noise, and with the least epsilon (six digits) that it keeps at delta.
    pub fn at_scale(&self, scale: &Ratio) -> Result<Calibrated, ParameterError> {
        self.check()?;
        let accepted = "give a scale from 0.001 to 10^12, such as 20";
        let refused = || ParameterError::out_of_range("scale", scale, accepted);
        if *scale < Ratio::new(1, 1000) || *scale > Ratio::from(1_000_000_000_000u64) {
            return Err(refused());
        }
        let eps = solve::smallest_eps(|eps| Self { eps: eps.clone(), ..self.clone() }.keeps(scale));
        let monitor = Self { eps: eps.ok_or_else(refused)?, ..self.clone() };
        Ok(Calibrated { monitor, scale: scale.clone(), halts: false })
    }

    /// The largest delta at this scale and epsilon, rounded up; `None` where only the Renyi bound is known.
    pub fn delta_upper(&self, scale: &Ratio, eps: &Ratio) -> Option<Ratio> {
        self.is_exact().then(|| Arrivals::new(self.budget, &self.noise.slope_upper(scale)).delta_upper(eps))
    }

    fn is_exact(&self) -> bool {
        self.contributions == Contributions::Binary && self.adjacency == Adjacency::AddRemove
    }

    /// Budget and slope of the Renyi bound.
    ///
    /// Two records that replace each other spend the budget of each. Where they pull in opposite directions, one
    /// question can move ln r by two slopes, which costs more than twice one slope; a unit spent by both together is
    /// then at most half of a move by two slopes.
    fn renyi_bound(&self, scale: &Ratio) -> (u64, Ratio) {
        let slope = self.noise.slope_upper(scale);
        match (self.adjacency, self.contributions) {
            (Adjacency::AddRemove, _) => (self.budget, slope),
            (Adjacency::Replace, Contributions::Signed { .. }) => (self.budget, slope * Ratio::from(2u64)),
            (Adjacency::Replace, _) => (2 * self.budget, slope),
        }
    }

    fn keeps(&self, scale: &Ratio) -> bool {
        let (eps, delta) = (self.eps.ratio(), self.delta.ratio());
        if self.is_exact() {
            let slope = self.noise.slope_upper(scale);
            // Far too little noise is seen without long sums.
            let hopeless = &slope * &Ratio::from(self.budget) > (eps + &Ratio::one()) * Ratio::from(1000u64);
            return !hopeless && Arrivals::new(self.budget, &slope).delta_upper(eps) <= *delta;
        }
        let (budget, slope) = self.renyi_bound(scale);
        renyi_eps_upper(budget, &slope, delta).is_some_and(|needed| needed <= *eps)
    }

    fn check(&self) -> Result<(), ParameterError> {
        let refuse = |name, value: &dyn std::fmt::Display, accepted| {
            Err(ParameterError::out_of_range(name, value, accepted))
        };
        if self.delta.is_zero() {
            return refuse(
                "delta",
                &self.delta,
                "a monitor needs a delta above 0 such as 1e-6; without one use above-threshold",
            );
        }
        if self.budget == 0 || self.budget > LARGEST_BUDGET {
            return refuse("budget", &self.budget, "give a whole number from 1 to 1000000");
        }
        match self.contributions {
            Contributions::Fractional { bits } | Contributions::Signed { bits } if bits > 32 => {
                refuse("bits", &bits, "give at most 32 bits after the point")
            }
            _ => match self.noise {
                Noise::Saturated { strength: 0 } => {
                    refuse("strength", &0, "give a whole number of at least 1")
                }
                Noise::TwoLaplace { factor } if factor < 2 => refuse("factor", &factor, "give at least 2"),
                _ => Ok(()),
            },
        }
    }
}

/// The text's AboveNoiselessThreshold, second version: two Laplace noises at its printed scales, for ever below or
/// one "above", then a halt. Its cost is what that noise truly keeps.
pub fn above_noiseless_threshold(eps: &Eps, delta: &Delta) -> Result<Calibrated, ParameterError> {
    Ok(Calibrated { halts: true, ..simplified_monitor(eps, delta)? })
}

/// The text's simplified monitor: the same noise, and every record that contributed to an "above" is deleted.
///
/// The wide scale is 10/epsilon·ln²(1/delta), the other 1/epsilon·ln(1/delta); the first is rounded up, the second to a
/// whole part of the first, at most a half. The promise rests on the wide one alone.
pub fn simplified_monitor(eps: &Eps, delta: &Delta) -> Result<Calibrated, ParameterError> {
    let monitor = ThresholdMonitor {
        eps: eps.clone(),
        delta: delta.clone(),
        budget: 1,
        contributions: Contributions::Binary,
        noise: Noise::TwoLaplace { factor: 2 },
        adjacency: Adjacency::AddRemove,
    };
    monitor.check()?;
    let log = ln_upper(&delta.ratio().recip()).dyadic_up(64);
    let factor =
        (&log * &Ratio::from(10u64)).floor_i64().and_then(|f| u64::try_from(f).ok()).unwrap_or(2).max(2);
    let wide = (log.squared() * Ratio::from(10u64) / eps.ratio()).dyadic_up(32);
    ThresholdMonitor { noise: Noise::TwoLaplace { factor }, ..monitor }.at_scale(&wide)
}

impl Calibrated {
    /// What all answers together cost, for ever.
    pub fn cost(&self) -> Loss {
        Loss::approx(&self.monitor.eps, &self.monitor.delta)
    }

    /// The same as a Renyi curve, which adds up better with others.
    pub fn renyi(&self) -> Renyi {
        let (budget, slope) = self.monitor.renyi_bound(&self.scale);
        Renyi { curve: renyi_curve_upper(budget, &slope), delta: Amount::zero() }
    }

    /// Epsilon at another delta, from the same noise; `None` where nothing up to 1000 is certified.
    pub fn at_delta(&self, delta: &Delta) -> Option<Approx> {
        let at = ThresholdMonitor { delta: delta.clone(), ..self.monitor.clone() };
        at.at_scale(&self.scale).ok().map(|at| Approx::new(&at.monitor.eps, delta))
    }

    /// Does it stop for good at the first positive answer?
    pub fn halts(&self) -> bool {
        self.halts
    }

    /// The adjacency that the cost is about.
    pub fn adjacency(&self) -> Adjacency {
        self.monitor.adjacency
    }

    /// What a record may contribute.
    pub fn contributions(&self) -> Contributions {
        self.monitor.contributions
    }

    /// The scale of the noise, called b.
    pub fn scale(&self) -> &Ratio {
        &self.scale
    }

    /// How far from their thresholds this many questions' values must be, to be answered rightly with probability
    /// 1 - beta all together.
    pub fn accuracy(&self, questions: u64, beta: &Ratio) -> Accuracy {
        assert!(beta.is_positive(), "certainty has no finite bound");
        // Half of beta for false alarms and half for misses: 2m/beta, and its logarithm.
        let inverse = Ratio::from(questions.max(1)) * Ratio::from(2u64) / beta;
        let log = ln_upper(&inverse).max(Ratio::one());
        let b = &self.scale;
        match self.monitor.noise {
            Noise::Gumbel => {
                let twice = ln_upper(&log).max(Ratio::zero());
                Accuracy { below: b * &log, above: Some(b * &twice) }
            }
            Noise::Saturated { strength } => {
                let strength = Ratio::from(strength);
                let below = (log.clone() + ln_upper(&strength)).max(Ratio::zero());
                Accuracy { below: b * &below, above: (strength >= log).then(Ratio::zero) }
            }
            // The tail of the sum of two is below e^(-x/wide).
            Noise::Laplace | Noise::TwoLaplace { .. } => Accuracy { below: b * &log, above: Some(b * &log) },
        }
    }

    /// Watch this many records. Their number is not shown by any answer.
    pub fn start(&self, records: usize) -> Watch {
        let mut active = vec![u64::MAX; records.div_ceil(64)];
        if let (Some(last), rest @ 1..) = (active.last_mut(), records % 64) {
            *last = u64::MAX >> (64 - rest);
        }
        let units = self.monitor.budget << self.monitor.contributions.bits();
        Watch { calibrated: self.clone(), left: vec![units; records], active, halted: false }
    }
}

impl Watch {
    /// Answer a question to which each record says yes or no: one bit for each, the first in the lowest place. A
    /// yes counts one. Records without a bit say no, and bits without a record are left out.
    pub fn ask(&mut self, yes: &[u64], threshold: &Ratio, coins: &mut impl Coins) -> Answer {
        let units = self.one();
        let value = if self.calibrated.monitor.contributions == Contributions::Binary {
            let count =
                yes.iter().zip(&self.active).map(|(yes, active)| u64::from((yes & active).count_ones()));
            i128::from(count.sum::<u64>())
        } else {
            let blocks = self.left.chunks(64).zip(yes);
            let parts = blocks.flat_map(|(block, &yes)| {
                block.iter().zip(0u32..).map(move |(&left, place)| left.min(units) & mask(yes, place))
            });
            parts.map(i128::from).sum()
        };
        let answer = self.decide(value, threshold, coins);
        self.record(yes, answer);
        answer
    }

    /// Answer a question to which each record contributes this many units; see [`Contributions::units`].
    pub fn ask_units(&mut self, units: &[i64], threshold: &Ratio, coins: &mut impl Coins) -> Answer {
        let range = self.range();
        let value =
            units.iter().zip(&self.left).map(|(&units, &left)| i128::from(cut(units, left, range))).sum();
        let answer = self.decide(value, threshold, coins);
        self.record_units(units, answer);
        answer
    }

    /// Spend what an earlier answer spent, without asking again: how a monitor is rebuilt from its log.
    pub fn record(&mut self, yes: &[u64], answer: Answer) {
        if answer != Answer::Above {
            return;
        }
        self.halted |= self.calibrated.halts;
        let units = self.one();
        let blocks = self.left.chunks_mut(64).zip(&mut self.active);
        for ((block, active), &yes) in blocks.zip(yes) {
            for (left, place) in block.iter_mut().zip(0u32..) {
                *left -= units.min(*left) & mask(yes, place);
            }
            *active = active_in(block);
        }
    }

    /// The same for a question in units.
    pub fn record_units(&mut self, units: &[i64], answer: Answer) {
        if answer != Answer::Above {
            return;
        }
        self.halted |= self.calibrated.halts;
        let range = self.range();
        let blocks = self.left.chunks_mut(64).zip(&mut self.active);
        for ((block, active), units) in blocks.zip(units.chunks(64)) {
            for (left, &units) in block.iter_mut().zip(units) {
                *left -= cut(units, *left, range).unsigned_abs();
            }
            *active = active_in(block);
        }
    }

    /// A whole contribution in units.
    fn one(&self) -> u64 {
        1 << self.calibrated.monitor.contributions.bits()
    }

    /// The least and the largest contribution in units.
    fn range(&self) -> (i64, i64) {
        let one = i64::try_from(self.one()).unwrap_or(i64::MAX);
        let signed = matches!(self.calibrated.monitor.contributions, Contributions::Signed { .. });
        (if signed { -one } else { 0 }, one)
    }

    fn decide(&self, value: i128, threshold: &Ratio, coins: &mut impl Coins) -> Answer {
        if self.halted {
            return Answer::Halted;
        }
        let Calibrated { monitor, scale, .. } = &self.calibrated;
        let silence = Silence { noise: monitor.noise, scale, threshold, one: self.one(), value };
        if coins.bernoulli(&silence) { Answer::Below } else { Answer::Above }
    }
}

/// All ones where the record says yes. What follows takes the same steps for all records: a pass that visited those who
/// say yes alone would tell how many they are to whoever has a clock.
fn mask(yes: u64, place: u32) -> u64 {
    0u64.wrapping_sub(yes >> place & 1)
}

/// A contribution cut to its range and to what is left of the record.
fn cut(units: i64, left: u64, (least, most): (i64, i64)) -> i64 {
    let left = i64::try_from(left).unwrap_or(i64::MAX);
    units.min(most.min(left)).max(least.max(-left))
}

/// Which records of a block have something left.
fn active_in(block: &[u64]) -> u64 {
    block.iter().zip(0u32..).fold(0, |active, (&left, place)| active | u64::from(left != 0) << place)
}

#[cfg(test)]
#[path = "threshold_monitor_tests.rs"]
mod tests;
