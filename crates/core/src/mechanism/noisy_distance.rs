//! Releases the noisy distance from an unstable data set, and the value as well where that distance is large.
//!
//! Source: 000_4d769f04a6a550e8.txt, Algorithm 13, with the noisy distance made public.
//!
//! # Guarantee
//!
//! For a value with its slack: (epsilon, delta) under the adjacency of the parameters. `cost()` has the delta
//! that is kept, at most the one asked for, because thresholds are whole numbers.
//!
//! # Why
//!
//! 1. Two neighbours with the same value: their distances differ by at most one, so the noisy distance is
//!    epsilon-DP; whether the value follows is decided by the noisy distance alone.
//! 2. Two with different values are both unstable and have distance zero: their noisy distances have one law,
//!    and each releases its value with probability `P(noise >= threshold) = e^(-epsilon·threshold)/(1 + e^-epsilon)`.
//! 3. The threshold is the least whole number for which that is at most delta.
//!
//! # Differs
//!
//! The text keeps the noisy distance to itself. Showing it costs nothing more; on a refusal it says how far
//! off the data is. Where only the value is wanted, the [gate](super::gate) answers more often.
//!
//! # Example
//!
//! ```
//! use equipoise_core::{
//!     adjacency::Adjacency,
//!     coins::ScriptedWords,
//!     mechanism::noisy_distance::NoisyDistance,
//!     outcome::{Outcome, Slack},
//! };
//!
//! let shape = NoisyDistance { eps: "1".parse()?, delta: "1e-6".parse()?, adjacency: Adjacency::Replace };
//! let calibrated = shape.calibrate()?;
//! assert_eq!(calibrated.threshold(), 14);
//! # let mut coins = ScriptedWords::new(vec![1 << 58, 0]);
//! let seen = calibrated.run("red", Slack::steps_to_unstable(30, Adjacency::Replace), &mut coins);
//! assert_eq!((seen.distance, seen.outcome), (Some(31), Outcome::Value("red")));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use crate::{
    adjacency::Adjacency,
    chance::exp_neg,
    coins::Coins,
    interval::Interval,
    loss::{Amount, Approx, Delta, Eps, Loss, ParameterError, significant_up},
    outcome::{Outcome, Slack},
    ratio::Ratio,
    sampler::discrete_laplace::DiscreteLaplace,
};

/// Parameters; all public.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoisyDistance {
    /// How much the distance may show.
    pub eps: Eps,
    /// How often a value that only one data set has may be released. Above zero.
    pub delta: Delta,
    /// What one person may change.
    pub adjacency: Adjacency,
}

/// A noisy distance ready to run.
#[derive(Clone, Debug)]
pub struct Calibrated {
    eps: Eps,
    adjacency: Adjacency,
    threshold: i64,
    delta: Amount,
    law: DiscreteLaplace,
}

/// What everybody may see.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Seen<T> {
    /// The noisy distance; `None` where no number of changes leads to another value.
    pub distance: Option<i64>,
    /// The value, where that distance reaches the threshold.
    pub outcome: Outcome<T>,
}

impl NoisyDistance {
    /// Compute noise and threshold. Sees no data, so it may fail freely and costs nothing.
    pub fn calibrate(&self) -> Result<Calibrated, ParameterError> {
        if self.delta.is_zero() {
            let accepted = "release-or-refuse needs a delta above 0 such as 1e-6";
            return Err(ParameterError::out_of_range("delta", &self.delta, accepted));
        }
        let law = DiscreteLaplace::new(&self.eps.ratio().recip())?;
        let threshold = self.threshold_up()?;
        // Relative precision for the delta that is kept.
        let bits = 160 + self.delta.ratio().bits_of_inverse() + self.eps.ratio().bits_of_inverse();
        let delta = at_least(self.eps.ratio(), threshold, bits).upper();
        assert!(delta <= *self.delta.ratio(), "the threshold keeps delta");
        Ok(Calibrated {
            eps: self.eps.clone(),
            adjacency: self.adjacency,
            threshold,
            delta: Amount::new(significant_up(&delta, 128)).expect("a probability"),
            law,
        })
    }

    /// `ceil(ln(1/(delta·(1 + e^-epsilon)))/epsilon)`, at least zero.
    fn threshold_up(&self) -> Result<i64, ParameterError> {
        let eps = self.eps.ratio();
        let bits = 160 + self.delta.ratio().bits_of_inverse() + eps.bits_of_inverse();
        let sum = exp_neg(eps, bits).add(&Interval::one(bits)).mul_ratio(self.delta.ratio());
        let steps_up = (-sum.ln().lower()) / eps;
        steps_up.ceil_i64().map(|steps| steps.max(0)).ok_or_else(|| {
            let accepted = "so small a budget would need more rows than can be counted; give a larger one";
            ParameterError::out_of_range("epsilon", &self.eps, accepted)
        })
    }
}

/// P(noise >= steps), enclosed.
fn at_least(eps: &Ratio, steps: i64, bits: usize) -> Interval {
    let one = Interval::one(bits);
    let sum = exp_neg(eps, bits).add(&one);
    let power = |steps: u64| exp_neg(&(eps * &Ratio::from(steps)), bits).div(&sum);
    if steps >= 0 { power(steps.unsigned_abs()) } else { one.sub(&power(steps.unsigned_abs() + 1)) }
}

impl Calibrated {
    /// What a run costs.
    pub fn cost(&self) -> Loss {
        Loss::Approx(Approx { eps: (&self.eps).into(), delta: self.delta.clone() })
    }

    /// The value is released from this noisy distance on.
    pub fn threshold(&self) -> i64 {
        self.threshold
    }

    /// The noisy distance, and the value or a refusal. Total: it says something whatever the slack.
    pub fn run<T>(&self, value: T, slack: Slack, coins: &mut impl Coins) -> Seen<T> {
        let noise = coins.sample(&self.law);
        let Some(slack) = slack.counted_in(self.adjacency) else {
            // Slack under replace says nothing under add/remove; see the gate. The noise alone says nothing.
            return Seen { distance: Some(noise), outcome: Outcome::Refused };
        };
        let Some(distance) = slack.until_unstable() else {
            return Seen { distance: None, outcome: Outcome::Value(value) };
        };
        // A distance cut off at a constant still moves by at most one.
        let noisy = i64::try_from(distance).unwrap_or(i64::MAX).saturating_add(noise);
        let outcome = if noisy >= self.threshold { Outcome::Value(value) } else { Outcome::Refused };
        Seen { distance: Some(noisy), outcome }
    }

    /// The chance of a refusal at this slack, rounded up.
    pub fn accuracy(&self, slack: Slack) -> Ratio {
        let Some(slack) = slack.counted_in(self.adjacency) else { return Ratio::one() };
        let Some(distance) = slack.until_unstable() else { return Ratio::zero() };
        let steps = self.threshold.saturating_sub(i64::try_from(distance).unwrap_or(i64::MAX));
        Ratio::one() - at_least(self.eps.ratio(), steps, 128).lower()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        coins::{Law, ScriptedWords},
        stability::{Answer, Median, Range, Reach, ValueAndSlack},
        tape::{Pmf, delta_between, enumerate},
        universe::neighbouring_pairs,
    };
    use Adjacency::{AddRemove, Replace};

    fn ratio(text: &str) -> Ratio {
        text.parse().unwrap()
    }

    fn calibrated(eps: &str, delta: &str, adjacency: Adjacency) -> Calibrated {
        let (eps, delta) = (eps.parse().unwrap(), delta.parse().unwrap());
        NoisyDistance { eps, delta, adjacency }.calibrate().unwrap()
    }

    #[test]
    fn hand_computed_thresholds() {
        // ln(1/(1e-6·(1 + 1/e))) = 13.502…; ln(1e6/(1 + e^-0.1))/0.1 = 131.7….
        for (eps, delta, threshold) in [
            ("1", "1e-6", 14),
            ("0.1", "1e-6", 132),
            ("2", "1e-6", 7),
            ("1", "0.73", 1),
            ("1", "0.74", 0),
            ("1000", "0.999", 1),
            ("1000", "1e-400", 1),
        ] {
            assert_eq!(calibrated(eps, delta, Replace).threshold(), threshold, "{eps} {delta}");
        }
    }

    fn release(calibrated: &Calibrated, data: &[i64], extra: u64) -> Pmf<Seen<Answer<i64>>> {
        let range = Range::new(0, 2).unwrap();
        let window = Median.window(data, range, Reach::Ranks(0));
        let ValueAndSlack { value, slack } = Median.value_and_slack(&window, calibrated.adjacency);
        let rows = slack.until_change().unwrap() + extra;
        let slack = Slack::rows_to_change(rows, calibrated.adjacency);
        enumerate(&ratio("1e-13"), |tape| calibrated.run(value, slack, tape))
    }

    fn worst(calibrated: &Calibrated, extra: u64) -> Interval {
        neighbouring_pairs(&[0, 1, 2], 4, calibrated.adjacency)
            .iter()
            .map(|(a, b)| {
                let (a, b) = (release(calibrated, a, extra), release(calibrated, b, extra));
                delta_between(calibrated.eps.ratio(), &a, &b)
            })
            .reduce(|a, b| a.max(&b))
            .expect("some pair")
    }

    #[test]
    fn exact_audit_finds_the_delta_that_is_kept() {
        for adjacency in Adjacency::ALL {
            let calibrated = calibrated("1", "0.01", adjacency);
            let (worst, claim) = (worst(&calibrated, 0), calibrated.delta.ratio());
            assert!(worst.upper() <= claim + &ratio("1e-12") && worst.lower() >= claim - &ratio("1e-12"));
            assert!(*claim <= ratio("0.01") && *claim > ratio("0.003"));
        }
    }

    #[test]
    fn a_mutant_whose_distance_is_one_too_large_is_caught() {
        let calibrated = calibrated("1", "0.01", Replace);
        let inflated = worst(&calibrated, 1).to_f64() / calibrated.delta.ratio().to_f64();
        assert!((inflated - 1f64.exp()).abs() < 1e-6, "{inflated}");
    }

    #[test]
    fn accuracy_is_the_exact_chance_of_a_refusal() {
        let calibrated = calibrated("1", "0.01", Replace);
        for distance in 0..12 {
            let slack = Slack::steps_to_unstable(distance, Replace);
            let pmf = enumerate(&ratio("1e-13"), |tape| calibrated.run((), slack, tape).outcome);
            let difference = pmf.mass(&Outcome::Refused).to_f64() - calibrated.accuracy(slack).to_f64();
            assert!(difference.abs() < 1e-12, "{distance}");
        }
    }

    #[test]
    fn constant_far_and_foreign_slacks() {
        let calibrated = calibrated("1", "1e-6", AddRemove);
        let script = || ScriptedWords::new(vec![u64::MAX - 1, 0]);
        let noise = DiscreteLaplace::new(&Ratio::one()).unwrap().draw(&mut script());
        assert!(noise > 0, "{noise}");
        let constant = calibrated.run(1, Slack::constant(AddRemove), &mut script());
        assert_eq!(constant, Seen { distance: None, outcome: Outcome::Value(1) });
        let far = calibrated.run(1, Slack::rows_to_change(u64::MAX, AddRemove), &mut script());
        assert_eq!(far, Seen { distance: Some(i64::MAX), outcome: Outcome::Value(1) });
        for slack in [Slack::constant(Replace), Slack::rows_to_change(99, Replace)] {
            let foreign = calibrated.run(1, slack, &mut script());
            assert_eq!(foreign, Seen { distance: Some(noise), outcome: Outcome::Refused });
            assert_eq!(calibrated.accuracy(slack), Ratio::one());
        }
        assert!(calibrated.accuracy(Slack::constant(AddRemove)).is_zero());
    }

    #[test]
    fn a_threshold_beyond_64_bits_is_refused_and_no_panic() {
        // ln(10^1600)/3e-16 is 1.2e19, above 2^63.
        let delta = Delta::new(ratio("1e-400").squared().squared()).unwrap();
        let shape = NoisyDistance { eps: "3e-16".parse().unwrap(), delta, adjacency: Adjacency::Replace };
        let error = shape.calibrate().unwrap_err().to_string();
        assert!(
            error.ends_with("so small a budget would need more rows than can be counted; give a larger one")
        );
    }

    #[test]
    fn bad_parameters_are_refused_in_one_line() {
        let error = |eps: &str, delta: &str| {
            let (eps, delta) = (eps.parse().unwrap(), delta.parse().unwrap());
            NoisyDistance { eps, delta, adjacency: Replace }.calibrate().unwrap_err().to_string()
        };
        assert!(error("1", "0").starts_with("delta 0 is not accepted: release-or-refuse needs"));
        assert!(error("1e-30", "0.1").starts_with("noise scale"));
    }
}
