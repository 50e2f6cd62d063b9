//! Releases a value when its distance from an unstable data set plus Laplace noise passes a threshold: the
//! forms that the texts print, by name, with what they really cost.
//!
//! Source: 000_4d769f04a6a550e8.txt, Algorithm 13 with Proposition 7.2, the prose before it, and section 7.2;
//! 001_3b43439ac39fb76e.txt, SMed and Theorem 1; 002_c9075a084346ce80.txt, Algorithm 1.
//!
//! # Guarantee
//!
//! For a value with its slack: (epsilon, delta') under the adjacency of the parameters, where delta' is the
//! probability that the noise alone passes the threshold, and no smaller delta'. `cost()` has it, rounded up.
//!
//! # Why
//!
//! 1. Two neighbours with the same value: their distances differ by at most one, so passing and failing
//!    each differ in probability by a factor of at most e^epsilon. No delta is needed.
//! 2. Two with different values are both unstable: both have distance zero, pass with probability delta', and
//!    release values that the other never does. This is the only pair that needs a delta, and needs all of it.
//! 3. Whether distance + noise passes is one event, with probability z/2 up to z = 1 and 1 - 1/(2z) from there,
//!    z = e^(epsilon·(distance - threshold)). It is decided exactly, without a noise that would have to be rounded.
//!
//! # Differs
//!
//! Algorithm 13 claims delta and keeps delta/2; the prose doubles the threshold and keeps delta²/2; SMed claims
//! O(e^-t) for epsilon up to one and keeps ½e^(epsilon - t) for every epsilon. The threshold ln² n is rounded up
//! to a fraction, and n is a public number: where the number of rows is private, using it is not private.
//! The [gate](super::gate) opens more often than each of these forms at the same cost: prefer it.
//!
//! # Example
//!
//! ```
//! use equipoise_core::{
//!     adjacency::Adjacency,
//!     coins::ScriptedWords,
//!     mechanism::threshold::{NoisyThreshold, Threshold},
//!     outcome::{Outcome, Slack},
//! };
//!
//! let delta = "1e-6".parse()?;
//! let printed = NoisyThreshold {
//!     eps: "1".parse()?,
//!     threshold: Threshold::Algorithm13 { delta },
//!     adjacency: Adjacency::Replace,
//! };
//! let calibrated = printed.calibrate()?;
//! assert_eq!(calibrated.cost().to_string(), "(1, 0.0000005)-differential privacy");
//! // 19 rows to change for a chance of 0.99, where the gate needs 18 for twice the delta.
//! assert_eq!(calibrated.slack_for(&"0.99".parse()?).unwrap().until_change(), Some(19));
//! # let mut coins = ScriptedWords::new(vec![1 << 40]);
//! let answer = calibrated.run("red", Slack::rows_to_change(40, Adjacency::Replace), &mut coins);
//! assert_eq!(answer, Outcome::Value("red"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use crate::{
    adjacency::Adjacency,
    chance::{Enclosed, exp_neg},
    coins::Coins,
    interval::Interval,
    loss::{Amount, Approx, Delta, Eps, Loss, ParameterError, significant_up},
    outcome::{Outcome, Slack},
    ratio::Ratio,
};
use dashu_int::IBig;

/// What the noisy distance from an unstable data set is compared with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Threshold {
    /// `ln(1/delta)/epsilon`, as Algorithm 13 of 000 prints it.
    Algorithm13 {
        /// The delta it is named after; it keeps half of that.
        delta: Delta,
    },
    /// `2 ln(1/delta)/epsilon`, as the prose of 000 has it.
    Prose {
        /// The delta it is named after; it keeps half of its square.
        delta: Delta,
    },
    /// The least that keeps delta: `ln(1/(2 delta))/epsilon` up to one half, `ln(2 - 2 delta)/epsilon` beyond.
    Least {
        /// The delta, kept exactly.
        delta: Delta,
    },
    /// `t/epsilon` on the distance to another *value*, as SMed of 001 prints it.
    StableMedian {
        /// Keeps ½e^(epsilon - t).
        t: Ratio,
    },
    /// `ln² n`, as section 7.2 of 000 has it for propose-test-release.
    SquaredLogarithm {
        /// A public number: the number of rows under replace, a declared one under add/remove.
        rows: u64,
    },
    /// `2 ln(1/delta)/epsilon + 1`, as Algorithm 1 of 002 prints it.
    Algorithm1 {
        /// The delta it is named after; it keeps ½delta²e^-epsilon.
        delta: Delta,
    },
}

/// Parameters of a noisy threshold; all public.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoisyThreshold {
    /// How much the distance may show: the noise has scale one over this.
    pub eps: Eps,
    /// Which threshold.
    pub threshold: Threshold,
    /// What one person may change.
    pub adjacency: Adjacency,
}

/// A noisy threshold ready to run.
#[derive(Clone, Debug)]
pub struct Calibrated {
    eps: Eps,
    adjacency: Adjacency,
    tail: Tail,
    delta: Amount,
}

/// `z = factor·e^(shift + epsilon·distance)`, which is `e^(epsilon·(distance - threshold))`.
#[derive(Clone, Debug)]
struct Tail {
    factor: Ratio,
    shift: Ratio,
}

const LARGEST_T: u64 = 100_000;

impl NoisyThreshold {
    /// Compute the odds and the true cost. Sees no data, so it may fail freely and costs nothing.
    pub fn calibrate(&self) -> Result<Calibrated, ParameterError> {
        let tail = self.tail()?;
        let delta = Amount::new(tail.noise_passes_up()).expect("a probability");
        Ok(Calibrated { eps: self.eps.clone(), adjacency: self.adjacency, tail, delta })
    }

    fn tail(&self) -> Result<Tail, ParameterError> {
        let (eps, one, two) = (self.eps.ratio(), Ratio::one(), Ratio::from(2u64));
        let from_delta = |delta: &Delta, factor: Ratio, shift: Ratio| {
            if !delta.is_zero() {
                return Ok(Tail { factor, shift });
            }
            let accepted = "release-or-refuse needs a delta above 0 such as 1e-6";
            Err(ParameterError::out_of_range("delta", delta, accepted))
        };
        match &self.threshold {
            Threshold::Algorithm13 { delta } => from_delta(delta, delta.ratio().clone(), Ratio::zero()),
            Threshold::Prose { delta } => from_delta(delta, delta.ratio().squared(), Ratio::zero()),
            Threshold::Algorithm1 { delta } => from_delta(delta, delta.ratio().squared(), -eps.clone()),
            Threshold::Least { delta } => {
                let doubled = delta.ratio() * &two;
                let factor = if doubled <= one { doubled } else { (two - doubled).recip() };
                from_delta(delta, factor, Ratio::zero())
            }
            Threshold::StableMedian { t } => {
                if !t.is_positive() || *t > Ratio::from(LARGEST_T) {
                    let accepted = "give a number above 0 and at most 100000, such as 14";
                    return Err(ParameterError::out_of_range("t", t, accepted));
                }
                Ok(Tail { factor: one, shift: eps - t })
            }
            Threshold::SquaredLogarithm { rows } => {
                if *rows == 0 {
                    let accepted = "give the public number of rows, at least 1";
                    return Err(ParameterError::out_of_range("rows", rows, accepted));
                }
                let threshold_up = Interval::exact(&Ratio::from(*rows), 64).ln().square().upper();
                // The logarithm of one row is exactly nothing.
                let threshold_up = if *rows == 1 { Ratio::zero() } else { threshold_up };
                Ok(Tail { factor: one, shift: -(eps * &threshold_up) })
            }
        }
    }
}

/// Deltas below two to the minus this are not told apart.
const MOST_BITS: usize = 4096;

impl Tail {
    /// The probability that noise alone passes: exact, or thirty digits rounded up.
    fn noise_passes_up(&self) -> Ratio {
        if self.shift.is_zero() {
            return self.passes_without_exponent();
        }
        let mut bits = 256;
        loop {
            let passes = self.passes(&Ratio::zero(), bits);
            let (low, high) = (passes.lower(), passes.upper());
            if high <= &low + &(&low * &Ratio::dyadic(IBig::ONE, 100)) || bits >= MOST_BITS {
                return significant_up(&high, 128);
            }
            bits *= 2;
        }
    }

    fn passes_without_exponent(&self) -> Ratio {
        let half = Ratio::new(1, 2);
        if self.factor <= Ratio::one() { &self.factor * &half } else { Ratio::one() - half / &self.factor }
    }

    /// The probability of passing; `reach` is epsilon times the distance.
    fn passes(&self, reach: &Ratio, bits: usize) -> Interval {
        let exponent = &self.shift + reach;
        if exponent.is_zero() {
            return Interval::exact(&self.passes_without_exponent(), bits);
        }
        // Rounding is multiplied by one over the factor at most.
        let work = bits + 16 + self.factor.bits_of_inverse();
        let half = Ratio::new(1, 2);
        if self.is_above_one(&exponent) {
            let fails = exp_neg(&exponent, work).mul_ratio(&(half / &self.factor));
            return Interval::one(work).sub(&fails).to_precision(bits);
        }
        Interval::exact(&exponent, work).exp().mul_ratio(&(half * &self.factor)).to_precision(bits)
    }

    /// Is `factor·e^exponent` above one, for an exponent other than zero?
    fn is_above_one(&self, exponent: &Ratio) -> bool {
        if exponent.is_negative() || self.factor >= Ratio::one() {
            // A factor above one comes without a shift, so the two never pull in opposite ways.
            debug_assert!(self.factor <= Ratio::one() || self.shift.is_zero());
            return !exponent.is_negative();
        }
        let mut bits = 128;
        loop {
            // e^exponent is no fraction, so some precision tells.
            let inverse = exp_neg(exponent, bits);
            if inverse.certainly_above(&self.factor) {
                return false;
            }
            if inverse.certainly_at_most(&self.factor) {
                return true;
            }
            bits *= 2;
        }
    }
}

impl Calibrated {
    /// What a run costs: not the printed delta but the one that is kept.
    pub fn cost(&self) -> Loss {
        Loss::Approx(Approx { eps: (&self.eps).into(), delta: self.delta.clone() })
    }

    /// The exact probability that this slack passes, enclosed.
    pub fn probability(&self, slack: Slack, bits: usize) -> Interval {
        match slack.counted_in(self.adjacency).map(Slack::until_unstable) {
            // Slack under replace says nothing under add/remove; see the gate.
            None => Interval::zero(bits),
            Some(None) => Interval::one(bits),
            Some(Some(distance)) => self.tail.passes(&(self.eps.ratio() * &Ratio::from(distance)), bits),
        }
    }

    /// The value or a refusal, whatever the slack.
    pub fn run<T>(&self, value: T, slack: Slack, coins: &mut impl Coins) -> Outcome<T> {
        let passes = coins.bernoulli(&Enclosed::new(|bits| self.probability(slack, bits)));
        if passes { Outcome::Value(value) } else { Outcome::Refused }
    }

    /// The least slack that passes with at least this probability; `None` where none does.
    pub fn slack_for(&self, probability: &Ratio) -> Option<Slack> {
        const BITS: usize = 128;
        let at = |rows| Slack::rows_to_change(rows, self.adjacency);
        let reaches = |rows| self.probability(at(rows), BITS).lower() >= *probability;
        let (mut low, mut high) = (0, u64::MAX);
        if !reaches(high) {
            return None;
        }
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if reaches(middle) { high = middle } else { low = middle }
        }
        Some(at(high))
    }

    /// The chance of a refusal at this slack, rounded up.
    pub fn accuracy(&self, slack: Slack) -> Ratio {
        Ratio::one() - self.probability(slack, 128).lower()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        coins::ScriptedWords,
        stability::{Answer, Median, Range, Reach, ValueAndSlack},
        tape::{delta_between, enumerate},
        universe::neighbouring_pairs,
    };
    use Adjacency::{AddRemove, Replace};

    fn ratio(text: &str) -> Ratio {
        text.parse().unwrap()
    }

    fn delta(text: &str) -> Delta {
        text.parse().unwrap()
    }

    fn calibrated(eps: &str, threshold: Threshold, adjacency: Adjacency) -> Calibrated {
        NoisyThreshold { eps: eps.parse().unwrap(), threshold, adjacency }.calibrate().unwrap()
    }

    fn kept(eps: &str, threshold: Threshold) -> f64 {
        calibrated(eps, threshold, Replace).delta.ratio().to_f64()
    }

    #[test]
    fn true_deltas_of_the_printed_forms() {
        let millionth = delta("1e-6");
        for (threshold, exact) in [
            (Threshold::Algorithm13 { delta: millionth.clone() }, "5e-7"),
            (Threshold::Prose { delta: millionth.clone() }, "5e-13"),
            (Threshold::Least { delta: millionth.clone() }, "1e-6"),
            (Threshold::Least { delta: delta("0.5") }, "0.5"),
            (Threshold::Least { delta: delta("0.8") }, "0.8"),
            (Threshold::SquaredLogarithm { rows: 1 }, "0.5"),
            (Threshold::StableMedian { t: ratio("1") }, "0.5"),
        ] {
            let found = calibrated("1", threshold.clone(), Replace);
            assert_eq!(*found.delta.ratio(), ratio(exact), "{threshold:?}");
        }
        let near = |found: f64, expected: f64| assert!((found / expected - 1.0).abs() < 1e-12, "{found}");
        near(kept("1", Threshold::Algorithm1 { delta: millionth }), 0.5e-12 * (-1f64).exp());
        near(kept("0.5", Threshold::StableMedian { t: ratio("14") }), 0.5 * (-13.5f64).exp());
        near(kept("2", Threshold::StableMedian { t: ratio("0.5") }), 1.0 - 0.5 * (-1.5f64).exp());
        let rows = 1000f64;
        near(kept("0.1", Threshold::SquaredLogarithm { rows: 1000 }), 0.5 * rows.powf(-0.1 * rows.ln()));
    }

    /// Rows to change at delta 1e-6: the theory page's table.
    #[test]
    fn distances_of_the_theory_page() {
        for (eps, half, most, algorithm, prose) in [
            ("0.01", 1314, 1705, 1774, 3156),
            ("0.05", 264, 342, 356, 632),
            ("0.1", 133, 172, 179, 317),
            ("0.5", 28, 36, 37, 65),
            ("1", 15, 19, 19, 33),
            ("2", 8, 10, 10, 17),
        ] {
            let least = Threshold::Least { delta: delta("1e-6") };
            let rows = |threshold: &Threshold, probability: &str| {
                let calibrated = calibrated(eps, threshold.clone(), Replace);
                calibrated.slack_for(&ratio(probability)).unwrap().until_change().unwrap()
            };
            assert_eq!([rows(&least, "0.5"), rows(&least, "0.99")], [half, most], "epsilon {eps}");
            assert_eq!(rows(&Threshold::Algorithm13 { delta: delta("1e-6") }, "0.99"), algorithm);
            assert_eq!(rows(&Threshold::Prose { delta: delta("1e-6") }, "0.99"), prose);
        }
    }

    /// The prose asks for distance 2 ln(1/delta)/epsilon = 27.6 "with high probability": that is an even chance.
    #[test]
    fn the_prose_form_is_a_coin_flip_at_the_distance_it_promises() {
        let prose = calibrated("1", Threshold::Prose { delta: delta("1e-6") }, Replace);
        let at = |distance| prose.probability(Slack::steps_to_unstable(distance, Replace), 128).to_f64();
        assert!(at(27) < 0.5 && at(28) > 0.5);
        let past = 28.0 - 2.0 * 1e6f64.ln();
        assert!((at(28) - (1.0 - 0.5 * (-past).exp())).abs() < 1e-12);
    }

    /// The chance of a refusal is what is left of that of passing, rounded up.
    #[test]
    fn refusals_are_what_does_not_pass() {
        let least = calibrated("1", Threshold::Least { delta: delta("1e-6") }, Replace);
        for (distance, passes) in [(0, 1e-6), (5, 1e-6 * 5f64.exp()), (20, 1.0 - 0.25e6 * (-20f64).exp())] {
            let slack = Slack::steps_to_unstable(distance, Replace);
            let refusal = least.accuracy(slack);
            assert!((refusal.to_f64() - (1.0 - passes)).abs() < 1e-12, "{distance}: {}", refusal.to_f64());
            assert!(refusal + least.probability(slack, 200).upper() >= Ratio::one());
        }
    }

    fn forms() -> Vec<Threshold> {
        vec![
            Threshold::Algorithm13 { delta: delta("0.01") },
            Threshold::Prose { delta: delta("0.1") },
            Threshold::Least { delta: delta("0.01") },
            Threshold::Least { delta: delta("0.7") },
            Threshold::StableMedian { t: ratio("5") },
            Threshold::SquaredLogarithm { rows: 5 },
            Threshold::Algorithm1 { delta: delta("0.1") },
        ]
    }

    fn median(data: &[i64], adjacency: Adjacency) -> ValueAndSlack<i64> {
        let range = Range::new(0, 2).unwrap();
        Median.value_and_slack(&Median.window(data, range, Reach::Ranks(0)), adjacency)
    }

    /// The worst delta at `eps` of a median that reports `extra` rows too many.
    fn worst(calibrated: &Calibrated, extra: u64) -> Interval {
        let adjacency = calibrated.adjacency;
        let release = |data: &[i64]| {
            let ValueAndSlack { value, slack } = median(data, adjacency);
            let rows = slack.until_change().unwrap() + extra;
            let slack = Slack::rows_to_change(rows, adjacency);
            enumerate(&ratio("1e-40"), |tape| calibrated.run(value, slack, tape))
        };
        neighbouring_pairs(&[0, 1, 2], 5, adjacency)
            .iter()
            .map(|(a, b)| delta_between(calibrated.eps.ratio(), &release(a), &release(b)))
            .reduce(|a, b| a.max(&b))
            .expect("some pair")
    }

    #[test]
    fn exact_audit_finds_each_true_delta_and_no_smaller_one() {
        for threshold in forms() {
            for adjacency in Adjacency::ALL {
                let calibrated = calibrated("0.8", threshold.clone(), adjacency);
                let (worst, claim) = (worst(&calibrated, 0), calibrated.delta.ratio());
                assert!(worst.upper() <= claim + &ratio("1e-30"), "{threshold:?} {adjacency}");
                assert!(worst.lower() >= claim - &ratio("1e-30"), "{threshold:?} {adjacency}");
            }
        }
    }

    #[test]
    fn a_mutant_that_feeds_the_distance_to_another_value_is_caught() {
        let calibrated = calibrated("0.8", Threshold::Algorithm13 { delta: delta("0.01") }, Replace);
        let (found, claim) = (worst(&calibrated, 1).to_f64(), 0.005);
        assert!((found / claim - 0.8f64.exp()).abs() < 1e-9, "{found}");
    }

    #[test]
    fn no_form_answers_more_often_than_the_gate_at_the_same_cost() {
        for threshold in forms() {
            let noisy = calibrated("0.8", threshold.clone(), Replace);
            let delta = Delta::new(noisy.delta.ratio().clone()).unwrap();
            let gate = super::super::gate::Gate { eps: noisy.eps.clone(), delta, adjacency: Replace };
            let gate = gate.calibrate().unwrap();
            for rows in 1..60 {
                let slack = Slack::rows_to_change(rows, Replace);
                let spare = gate.probability(slack) - noisy.probability(slack, 192).lower();
                assert!(spare > ratio("-1e-35"), "{threshold:?} {rows}");
            }
        }
    }

    #[test]
    fn edges_and_far_distances() {
        let least = calibrated("1000", Threshold::Least { delta: delta("1e-6") }, AddRemove);
        for (slack, refused) in [
            (Slack::rows_to_change(u64::MAX, AddRemove), false),
            (Slack::constant(AddRemove), false),
            (Slack::rows_to_change(u64::MAX, Replace), true),
            (Slack::constant(Replace), true),
        ] {
            let answer = least.run(7, slack, &mut ScriptedWords::new(vec![u64::MAX / 2; 4]));
            assert_eq!(answer == Outcome::Refused, refused, "{slack:?}");
        }
        assert!(least.slack_for(&ratio("2")).is_none());
        let tiny = kept("1000", Threshold::SquaredLogarithm { rows: u64::MAX });
        assert!(tiny == 0.0, "below any float, and still above zero: {tiny}");
        let far = calibrated("1000", Threshold::SquaredLogarithm { rows: u64::MAX }, Replace);
        assert!(far.delta.ratio().is_positive());
        assert_eq!(median(&[], Replace).value, Answer::Empty);
    }

    #[test]
    fn bad_parameters_are_refused_in_one_line() {
        let error = |threshold| {
            let shape = NoisyThreshold { eps: "1".parse().unwrap(), threshold, adjacency: Replace };
            shape.calibrate().unwrap_err().to_string()
        };
        let zero = Delta::zero;
        for threshold in [
            Threshold::Algorithm13 { delta: zero() },
            Threshold::Prose { delta: zero() },
            Threshold::Least { delta: zero() },
            Threshold::Algorithm1 { delta: zero() },
        ] {
            assert_eq!(
                error(threshold),
                "delta 0 is not accepted: release-or-refuse needs a delta above 0 such as 1e-6"
            );
        }
        assert_eq!(
            error(Threshold::StableMedian { t: Ratio::zero() }),
            "t 0 is not accepted: give a number above 0 and at most 100000, such as 14"
        );
        assert_eq!(
            error(Threshold::SquaredLogarithm { rows: 0 }),
            "rows 0 is not accepted: give the public number of rows, at least 1"
        );
    }

    #[test]
    fn a_scripted_run() {
        let half = calibrated("1", Threshold::Least { delta: delta("0.5") }, Replace);
        let slack = Slack::steps_to_unstable(0, Replace);
        for (words, passes) in [(vec![(1 << 63) - 1], true), (vec![1 << 63, 0], false)] {
            let answer = half.run(3, slack, &mut ScriptedWords::new(words));
            assert_eq!(answer, if passes { Outcome::Value(3) } else { Outcome::Refused });
        }
    }
}
