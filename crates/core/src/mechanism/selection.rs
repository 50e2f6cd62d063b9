//! What all selection mechanisms share: the public facts about the candidates, and the error one may expect.
//!
//! A selection names one of finitely many public candidates whose private score is nearly the highest.
//! [`exponential`](super::exponential), [`permute_and_flip`](super::permute_and_flip) and
//! [`noisy_max`](super::noisy_max) take the same facts. For pure epsilon accounting permute-and-flip errs
//! least; for accounting in rho the exponential mechanism costs least.
//!
//! # Example
//!
//! ```
//! use equipoise_core::{mechanism::{permute_and_flip::PermuteAndFlip, selection::{Candidates, Goal}}, ratio::Ratio};
//!
//! // Which of twelve conditions is most common? A person adds at most one to each count.
//! let candidates = Candidates { count: 12, sensitivity: Ratio::one(), monotone: true };
//! let goal = Goal { error: Ratio::from(10u64), beta: "0.05".parse()? };
//! let mechanism = PermuteAndFlip::for_error(candidates, &goal)?;
//! assert!(mechanism.eps.ratio().to_f64() < 0.53);
//! assert!(mechanism.calibrate()?.accuracy(&goal.beta)? <= goal.error);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use crate::{
    interval::{Interval, ln_upper},
    loss::{Eps, ParameterError},
    ratio::Ratio,
};

/// The public facts of a selection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidates {
    /// How many there are.
    pub count: usize,
    /// The most that one neighbouring step changes the score of any one candidate.
    pub sensitivity: Ratio,
    /// Do all scores always move the same way between neighbours? Counts do when a record comes or goes,
    /// but not when a record is replaced. It halves the noise.
    pub monotone: bool,
}

/// A wanted accuracy: the chosen score lies at most `error` below the best, except with probability `beta`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Goal {
    /// How far below the best score is acceptable.
    pub error: Ratio,
    /// How often a worse choice is acceptable.
    pub beta: Ratio,
}

/// Scores computed in floats, taken exactly. A score that is not finite is a bug of the score function,
/// and is refused before anything is drawn: leaving such a candidate out would depend on the data. Whether it
/// is refused may depend on the data too: charge first, and show this one line, which names neither candidate
/// nor score.
///
/// The sensitivity must cover what the floats were rounded by.
pub fn scores_from_f64(scores: &[f64]) -> Result<Vec<Ratio>, ParameterError> {
    let refused = || {
        let accepted = "a score is a finite number on every data set; mend the score function";
        ParameterError::out_of_range("score", "of some candidate", accepted)
    };
    scores.iter().map(|&score| Ratio::from_f64_exact(score).ok_or_else(refused)).collect()
}

impl Candidates {
    /// The score difference that epsilon is spread over: twice the sensitivity, because one score may rise
    /// while another falls; once, where they move together.
    fn range(&self) -> Ratio {
        if self.monotone { self.sensitivity.clone() } else { &self.sensitivity * &Ratio::from(2u64) }
    }

    fn check(&self) -> Result<(), ParameterError> {
        if self.count == 0 {
            return Err(ParameterError::out_of_range(
                "number of candidates",
                self.count,
                "give at least one to choose from",
            ));
        }
        if !self.sensitivity.is_positive() {
            return Err(ParameterError::out_of_range(
                "sensitivity",
                &self.sensitivity,
                "give a number above 0, the most that one person changes any score",
            ));
        }
        Ok(())
    }

    /// How much of the exponent one unit of score is worth.
    pub(super) fn rate(&self, eps: &Eps) -> Result<Ratio, ParameterError> {
        self.check()?;
        Ok(eps.ratio() / &self.range())
    }

    /// `rate · (best score - score)` for each candidate. Panics unless there is one score for each.
    pub(super) fn exponents(&self, scores: &[Ratio], rate: &Ratio) -> Vec<Ratio> {
        assert_eq!(scores.len(), self.count, "one score for each candidate");
        let best = scores.iter().max().expect("at least one candidate");
        scores.iter().map(|score| (best - score) * rate).collect()
    }

    /// The least epsilon, rounded up, for which `units` of `1/rate` are not more than the wanted error.
    pub(super) fn eps_up(&self, goal: &Goal, units: &Ratio) -> Result<Eps, ParameterError> {
        self.check()?;
        if !goal.error.is_positive() {
            return Err(ParameterError::out_of_range(
                "error",
                &goal.error,
                "give a number above 0, the loss of score that is acceptable",
            ));
        }
        if units.is_zero() {
            return Err(ParameterError::out_of_range(
                "beta",
                &goal.beta,
                "a blind choice already meets it; give a smaller one, or more candidates",
            ));
        }
        let eps = units * &self.range() / &goal.error;
        Eps::new(eps.to_decimal_up(12).parse().expect("a decimal"))
    }
}

/// Refuses a failure probability that is not one.
pub(super) fn check_beta(beta: &Ratio) -> Result<(), ParameterError> {
    // Chances below are computed to 256 bits and more; beyond this they could not be told from zero.
    let least = "1e-50".parse::<Ratio>().expect("a decimal");
    if *beta >= least && *beta < Ratio::one() {
        return Ok(());
    }
    Err(ParameterError::out_of_range("beta", beta, "give a number from 1e-50 to 1, such as 0.05"))
}

/// `ln(count/beta)`, rounded up: the units of error that every mechanism here keeps to.
pub(super) fn simple_units_up(count: usize, beta: &Ratio) -> Result<Ratio, ParameterError> {
    check_beta(beta)?;
    Ok(ln_upper(&(Ratio::from(count as u64) / beta)))
}

/// Nearly the least x for which a bound that falls with x is certainly at most beta; `start` is a guess from
/// above.
pub(super) fn least_units_up(start: &Ratio, beta: &Ratio, bound: impl Fn(&Ratio) -> Interval) -> Ratio {
    const STEPS: usize = 40;
    let meets = |x: &Ratio| bound(x).certainly_at_most(beta);
    if meets(&Ratio::zero()) {
        return Ratio::zero();
    }
    let (mut low, mut high) = (Ratio::zero(), start.dyadic_up(STEPS));
    while !meets(&high) {
        high = &high * &Ratio::from(2u64);
    }
    for _ in 0..STEPS {
        let middle = ((&low + &high) / Ratio::from(2u64)).dyadic_up(STEPS);
        if meets(&middle) { high = middle } else { low = middle }
    }
    high
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chance::exp_neg;

    fn candidates(count: usize, sensitivity: &str) -> Candidates {
        Candidates { count, sensitivity: sensitivity.parse().unwrap(), monotone: false }
    }

    #[test]
    fn what_cannot_be_calibrated_says_why() {
        let eps: Eps = "1".parse().unwrap();
        for (candidates, expected) in [
            (candidates(0, "1"), "number of candidates 0 is not accepted: give at least one to choose from"),
            (
                candidates(3, "0"),
                "sensitivity 0 is not accepted: give a number above 0, the most that one person changes any score",
            ),
            (
                candidates(3, "-0.5"),
                "sensitivity -0.5 is not accepted: give a number above 0, the most that one person changes any score",
            ),
        ] {
            assert_eq!(candidates.rate(&eps).unwrap_err().to_string(), expected);
        }
        for beta in ["0", "1", "-1", "2"] {
            let error = check_beta(&beta.parse().unwrap()).unwrap_err().to_string();
            let expected =
                format!("beta {beta} is not accepted: give a number from 1e-50 to 1, such as 0.05");
            assert_eq!(error, expected);
        }
    }

    #[test]
    fn a_score_that_is_no_number_is_refused_without_naming_it() {
        assert_eq!(scores_from_f64(&[0.5, -3.0]).unwrap(), [Ratio::new(1, 2), Ratio::from(-3i64)]);
        for score in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let error = scores_from_f64(&[1.0, score]).unwrap_err().to_string();
            assert_eq!(
                error,
                "score of some candidate is not accepted: a score is a finite number on every data set; mend the score function"
            );
        }
    }

    #[test]
    fn a_goal_that_needs_no_data_or_no_number_is_refused() {
        let goal = |error: &str| Goal { error: error.parse().unwrap(), beta: "0.5".parse().unwrap() };
        let error = candidates(3, "1").eps_up(&goal("0"), &Ratio::one()).unwrap_err().to_string();
        assert_eq!(
            error,
            "error 0 is not accepted: give a number above 0, the loss of score that is acceptable"
        );
        let error = candidates(1, "1").eps_up(&goal("1"), &Ratio::zero()).unwrap_err().to_string();
        assert_eq!(
            error,
            "beta 0.5 is not accepted: a blind choice already meets it; give a smaller one, or more candidates"
        );
        let error = candidates(3, "1").eps_up(&goal("1e-9"), &Ratio::one()).unwrap_err().to_string();
        assert!(error.starts_with("epsilon 2000000000 is not accepted"), "{error}");
    }

    #[test]
    fn the_search_rounds_up_and_hardly() {
        let beta: Ratio = "0.01".parse().unwrap();
        let found = least_units_up(&Ratio::one(), &beta, |x| exp_neg(x, 128));
        let exact = 100f64.ln();
        assert!(found.to_f64() >= exact && found.to_f64() < exact + 1e-10);
        assert!(exp_neg(&found, 128).certainly_at_most(&beta));
    }
}
