//! Names a candidate with nearly the highest score: a better one is exponentially more likely.
//!
//! Source: 004_5f92a75732c1853f.txt, Algorithm 2 and Theorem 4 (McSherry and Talwar 2007).
//!
//! # Guarantee
//!
//! If one neighbouring step changes each score by at most `sensitivity`, then (epsilon, 0) under that
//! adjacency, whatever the scores; and `epsilon²/8`-zero-concentrated. With `monotone`, for scores that all
//! move the same way in one step. Candidate y is named with probability exactly proportional to
//! `e^(rate·score(y))`, where rate is epsilon over twice the sensitivity (over the sensitivity, monotone).
//!
//! # Why
//!
//! 1. A step changes each `rate·score` by at most `rate·sensitivity`, up or down; so the log-ratios of the
//!    probabilities before and after, which differ from those changes by one common constant, lie in an
//!    interval of length epsilon. (Monotone: the changes lie between 0 and `rate·sensitivity = epsilon`.)
//! 2. The interval contains zero, since both sum to one: no log-ratio exceeds epsilon.
//! 3. Write ψ(t) for the logarithm of the mean of the t-th power of the ratio. ψ(0) = ψ(1) = 0, and its
//!    second derivative, the variance of a number in an interval of length epsilon, is at most epsilon²/4.
//!    So ψ(α) <= α(α-1)·epsilon²/8: the Renyi divergence of order α is at most α·epsilon²/8.
//! 4. Candidates at least g below the best weigh at most `(d-1)·p` against the best one's 1, with
//!    `p = e^(-rate·g)`: they are named with probability at most `(d-1)p/(1+(d-1)p)`. One candidate against
//!    d-1 equal ones attains it.
//!
//! # Differs
//!
//! Nothing is computed in floats; the exponents are exact and the choice is exactly as likely as stated.
//! The error bound is the tight one of step 4. The text expects "possibly a larger constant than 4" for
//! the simple form; it holds with 2 ([`Calibrated::simple_accuracy`]).
//!
//! # Example
//!
//! ```
//! use equipoise_core::{mechanism::{exponential::Exponential, selection::Candidates}, ratio::Ratio, tape::enumerate};
//!
//! let candidates = Candidates { count: 3, sensitivity: Ratio::one(), monotone: true };
//! let mechanism = Exponential { eps: "1".parse()?, candidates }.calibrate()?;
//! // The tape takes every path, so this is the exact distribution of the answer.
//! let scores = [Ratio::from(2u64), Ratio::from(5u64), Ratio::from(4u64)];
//! let answer = enumerate(&"1e-9".parse()?, |coins| mechanism.run(&scores, coins));
//! assert!((answer.mass(&1).to_f64() - 0.705).abs() < 1e-3);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use super::selection::{Candidates, Goal, check_beta, simple_units_up};
use crate::{
    chance::exp_neg,
    coins::Coins,
    interval::{Interval, ln_upper},
    loss::{Eps, Loss, ParameterError, Rho},
    ratio::Ratio,
    sampler::weighted::{Weight, Weighted},
};

/// The exponential mechanism over finitely many public candidates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exponential {
    /// The privacy loss.
    pub eps: Eps,
    /// What is public about the candidates.
    pub candidates: Candidates,
}

/// A mechanism that is ready to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Calibrated {
    eps: Eps,
    candidates: Candidates,
    rate: Ratio,
    /// Public weights of the candidates; none where all weigh the same.
    base: Option<Base>,
}

/// Public weights of the candidates, whatever their scores.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Base {
    masses: Vec<Ratio>,
    /// What all others weigh against the lightest candidate.
    others: Ratio,
}

impl Exponential {
    /// Check the public facts and spread epsilon over them.
    pub fn calibrate(self) -> Result<Calibrated, ParameterError> {
        let rate = self.candidates.rate(&self.eps)?;
        Ok(Calibrated { eps: self.eps, candidates: self.candidates, rate, base: None })
    }

    /// The mechanism with the least epsilon that is certain to meet this goal on every data set.
    pub fn for_error(candidates: Candidates, goal: &Goal) -> Result<Self, ParameterError> {
        let units = units_up(&Ratio::from(candidates.count.saturating_sub(1) as u64), &goal.beta)?;
        Ok(Self { eps: candidates.eps_up(goal, &units)?, candidates })
    }
}

/// The x for which `others·e^-x / (1 + others·e^-x) = beta`, rounded up; zero if every x will do.
pub(crate) fn units_up(others: &Ratio, beta: &Ratio) -> Result<Ratio, ParameterError> {
    check_beta(beta)?;
    let odds = others * &(Ratio::one() - beta) / beta;
    Ok(if odds > Ratio::one() { ln_upper(&odds) } else { Ratio::zero() })
}

/// The chance that weight `others·e^-x` is drawn against a weight of one, enclosed.
pub(super) fn chance_of_others(others: &Ratio, x: &Ratio) -> Interval {
    const BITS: usize = 256;
    let weight = exp_neg(x, BITS).mul_ratio(others);
    weight.div(&weight.add(&Interval::one(BITS)))
}

/// The rho of a mechanism whose log-ratios lie in an interval of length epsilon.
pub fn rho_of_bounded_range(eps: &Eps) -> Rho {
    Rho::new(eps.ratio().squared() / Ratio::from(8u64)).expect("epsilon is at most 1000")
}

impl Calibrated {
    /// The same over a public base measure: a candidate is named with probability proportional to its mass times
    /// `e^(rate·score)`. The cost is the same, because masses are public and cancel wherever neighbours are compared.
    /// Errors are bounded for the lightest candidate, which may be the best one.
    pub fn with_base(self, masses: Vec<Ratio>) -> Result<Self, ParameterError> {
        if masses.len() != self.candidates.count {
            let accepted = "give one for each candidate";
            return Err(ParameterError::out_of_range("number of base masses", masses.len(), accepted));
        }
        if let Some(mass) = masses.iter().find(|mass| !mass.is_positive()) {
            let accepted = "give a number above 0; a candidate without mass is better left out";
            return Err(ParameterError::out_of_range("base mass", mass, accepted));
        }
        let sum = masses.iter().fold(Ratio::zero(), |sum, mass| sum + mass);
        let least = masses.iter().min().expect("at least one candidate");
        let others = (&sum - least) / least;
        Ok(Self { base: Some(Base { masses, others }), ..self })
    }

    /// What a run costs.
    pub fn cost(&self) -> Loss {
        Loss::pure(&self.eps)
    }

    /// What a run costs in zero-concentrated accounting: epsilon²/8, a quarter of what pure epsilon implies.
    pub fn bounded_range_rho(&self) -> Rho {
        rho_of_bounded_range(&self.eps)
    }

    /// The law of the answer for these scores. Panics unless there is one score for each candidate.
    pub fn law(&self, scores: &[Ratio]) -> Weighted {
        let exponents = self.candidates.exponents(scores, &self.rate);
        let mass =
            |place: usize| self.base.as_ref().map_or_else(Ratio::one, |base| base.masses[place].clone());
        let weight = |(place, exponent)| Weight { multiplier: mass(place), exponent };
        Weighted::new(exponents.into_iter().enumerate().map(weight))
    }

    /// The index of the named candidate. Panics unless there is one score for each candidate.
    pub fn run<C: Coins>(&self, scores: &[Ratio], coins: &mut C) -> usize {
        coins.sample(&self.law(scores))
    }

    /// How far below the best score the answer may lie, except with probability beta; rounded up.
    pub fn accuracy(&self, beta: &Ratio) -> Result<Ratio, ParameterError> {
        Ok(units_up(&self.others(), beta)? / &self.rate)
    }

    /// The same in the simple form `(ln d + ln(1/beta))/rate`: never less, and easy to remember. Over a base measure the
    /// sharp form stands for it.
    pub fn simple_accuracy(&self, beta: &Ratio) -> Result<Ratio, ParameterError> {
        if self.base.is_some() {
            return self.accuracy(beta);
        }
        Ok(simple_units_up(self.candidates.count, beta)? / &self.rate)
    }

    /// A bound on the chance that the answer lies `error` or more below the best score; attained.
    pub fn chance_of_error(&self, error: &Ratio) -> Ratio {
        if !error.is_positive() {
            return Ratio::one();
        }
        chance_of_others(&self.others(), &(error * &self.rate)).upper()
    }

    /// What the others can weigh against the best candidate at most, at equal scores.
    fn others(&self) -> Ratio {
        let alike = || Ratio::from(self.candidates.count as u64 - 1);
        self.base.as_ref().map_or_else(alike, |base| base.others.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::super::selection_audit::{
        assert_errors_are_bounded, chance_of_losing, claimed, far_score_pairs, ratio, ratios, score_pairs,
        worst,
    };
    use super::*;
    use crate::{adjacency::Adjacency, coins::ScriptedWords, tape::confirm};

    fn calibrated(eps: &str, count: usize, monotone: bool) -> Calibrated {
        let candidates = Candidates { count, sensitivity: Ratio::one(), monotone };
        Exponential { eps: eps.parse().unwrap(), candidates }.calibrate().unwrap()
    }

    #[test]
    fn hand_computed_calibrations() {
        // eps, sensitivity, monotone -> rate; a hundred candidates at beta 0.05: ln(99·19) = 7.5396.
        for (eps, sensitivity, monotone, rate, error) in [
            ("1", "1", false, "1/2", 15.0792),
            ("1", "1", true, "1", 7.5396),
            ("0.5", "0.99", false, "25/99", 29.857),
            ("2", "10", true, "1/5", 37.698),
        ] {
            let candidates = Candidates { count: 100, sensitivity: ratio(sensitivity), monotone };
            let mechanism = Exponential { eps: eps.parse().unwrap(), candidates }.calibrate().unwrap();
            assert_eq!(mechanism.rate, ratio(rate));
            let accuracy = mechanism.accuracy(&ratio("0.05")).unwrap();
            assert!((accuracy.to_f64() - error).abs() < 1e-3, "{accuracy}");
            // ln(100/0.05) = 7.6009.
            let simple = mechanism.simple_accuracy(&ratio("0.05")).unwrap();
            assert!((simple.to_f64() * ratio(rate).to_f64() - 7.6009).abs() < 1e-4 && simple > accuracy);
            assert_eq!(mechanism.cost(), Loss::pure(&eps.parse().unwrap()));
        }
        assert_eq!(*calibrated("1", 3, false).bounded_range_rho().ratio(), ratio("0.125"));
    }

    #[test]
    fn one_candidate_is_named_without_error() {
        let mechanism = calibrated("0.1", 1, false);
        let mut coins = ScriptedWords::new(vec![u64::MAX, u64::MAX]);
        assert_eq!(mechanism.run(&ratios(&[-7]), &mut coins), 0);
        assert!(mechanism.accuracy(&ratio("0.001")).unwrap().is_zero());
    }

    #[test]
    fn the_sampler_draws_what_the_law_claims() {
        for scores in [[0, 0, 0], [3, 1, 0], [-5, 5, 4], [0, 0, 60]] {
            let law = calibrated("1", 3, false).law(&ratios(&scores));
            assert!(confirm(&law, &ratio("1e-9")).unwrap().upper() < ratio("1e-7"), "{scores:?}");
        }
    }

    #[test]
    fn exact_audit_over_all_neighbours_of_a_small_universe() {
        for (adjacency, monotone) in
            [(Adjacency::Replace, false), (Adjacency::AddRemove, false), (Adjacency::AddRemove, true)]
        {
            let pairs = score_pairs(3, adjacency);
            for eps in ["0.1", "1", "4"] {
                let mechanism = calibrated(eps, 3, monotone);
                let (delta, loss) = worst(&ratio(eps), &pairs, |q| claimed(&mechanism.law(q)));
                assert!(delta.certainly_at_most(&ratio("1e-50")), "{adjacency} {eps}: loss {loss}");
            }
        }
    }

    #[test]
    fn the_monotone_rate_under_replace_is_caught() {
        // The mutant spreads epsilon over one sensitivity although one count may rise while another falls.
        let mutant = calibrated("1", 3, true);
        let (delta, loss) =
            worst(&ratio("1"), &score_pairs(3, Adjacency::Replace), |q| claimed(&mutant.law(q)));
        assert!(delta.certainly_above(&ratio("0.1")), "{} at loss {loss}", delta.to_f64());
    }

    #[test]
    fn the_exact_losses_of_the_theory_page() {
        let mechanism = calibrated("1", 3, false);
        let law = |q: &[Ratio]| claimed(&mechanism.law(q));
        let (_, replace) = worst(&ratio("1"), &far_score_pairs(8, Adjacency::Replace), law);
        assert!((replace - 0.9845).abs() < 5e-5, "{replace}");
        let (_, monotone) = worst(&ratio("1"), &far_score_pairs(6, Adjacency::AddRemove), law);
        assert!((monotone - 0.4844).abs() < 1e-4, "{monotone}");
    }

    #[test]
    fn errors_keep_to_their_bounds_and_one_case_attains_them() {
        let mechanism = calibrated("1", 3, false);
        let law = |q: &[Ratio]| claimed(&mechanism.law(q));
        assert_errors_are_bounded(6, |error| mechanism.chance_of_error(error), law);
        let attained = claimed(&mechanism.law(&ratios(&[6, 2, 2])));
        let error = Ratio::from(4u64);
        let gap = mechanism.chance_of_error(&error)
            - chance_of_losing(&attained, &ratios(&[6, 2, 2]), &error).lower();
        assert!(gap < ratio("1e-50"));
    }

    #[test]
    fn theorem_6_holds_with_constant_two() {
        // Ten candidates, one ahead of nine by (ln 10 + 1)/rate: .249 where the text allows e^-1 = .368.
        let mechanism = calibrated("1", 10, false);
        let error = mechanism.simple_accuracy(&ratio("0.36787944117144232159")).unwrap();
        assert!((error.to_f64() - 2.0 * (10f64.ln() + 1.0)).abs() < 1e-15);
        assert!((mechanism.chance_of_error(&error).to_f64() - 0.2488).abs() < 1e-4);
    }

    #[test]
    fn the_inverse_gives_the_least_epsilon() {
        let candidates = Candidates { count: 99, sensitivity: ratio("0.99"), monotone: false };
        let goal = Goal { error: ratio("20"), beta: ratio("0.05") };
        let chosen = Exponential::for_error(candidates.clone(), &goal).unwrap();
        assert!((chosen.eps.ratio().to_f64() - 0.99 * 2.0 * (98.0 * 19f64).ln() / 20.0).abs() < 1e-11);
        assert!(chosen.clone().calibrate().unwrap().accuracy(&goal.beta).unwrap() <= goal.error);
        let eps = Eps::new(chosen.eps.ratio() - &ratio("1e-11")).unwrap();
        let less = Exponential { eps, candidates }.calibrate().unwrap();
        assert!(less.accuracy(&goal.beta).unwrap() > goal.error);
    }

    /// Masses cancel wherever neighbours are compared, and the error is bounded for the lightest candidate. The mutant takes each
    /// mass for one that the scores choose.
    #[test]
    fn a_base_measure_costs_nothing_and_bounds_the_error() {
        let masses = ["1/2", "5", "1/7"].map(ratio).to_vec();
        for (adjacency, monotone) in [(Adjacency::Replace, false), (Adjacency::AddRemove, true)] {
            let pairs = score_pairs(3, adjacency);
            let mechanism = calibrated("1", 3, monotone).with_base(masses.clone()).unwrap();
            let (delta, loss) = worst(&ratio("1"), &pairs, |q| claimed(&mechanism.law(q)));
            assert!(delta.certainly_at_most(&ratio("1e-50")), "{adjacency}: loss {loss}");
            let law = |q: &[Ratio]| claimed(&mechanism.law(q));
            assert_errors_are_bounded(6, |error| mechanism.chance_of_error(error), law);
            let mutant = |q: &[Ratio]| {
                let heavier = q.iter().map(|score| score + &Ratio::one()).collect();
                claimed(&calibrated("1", 3, monotone).with_base(heavier).unwrap().law(q))
            };
            assert!(worst(&ratio("1"), &pairs, mutant).0.certainly_above(&ratio("0.05")), "{adjacency}");
        }
        // All others weigh 5.5/(1/7) = 38.5 against the lightest: ln(38.5·19) = 6.5953 units of two.
        let mechanism = calibrated("1", 3, false).with_base(masses).unwrap();
        assert!((mechanism.accuracy(&ratio("0.05")).unwrap().to_f64() - 13.1906).abs() < 1e-3);
        assert_eq!(mechanism.simple_accuracy(&ratio("0.05")), mechanism.accuracy(&ratio("0.05")));
        let error = |masses: &[&str]| {
            let masses = masses.iter().map(|mass| ratio(mass)).collect();
            calibrated("1", 2, false).with_base(masses).unwrap_err().to_string()
        };
        assert_eq!(error(&["1"]), "number of base masses 1 is not accepted: give one for each candidate");
        assert_eq!(
            error(&["1", "0"]),
            "base mass 0 is not accepted: give a number above 0; a candidate without mass is better left out"
        );
    }

    #[test]
    fn a_script_is_followed() {
        // Weights 1, e^-1/2, e^-1 of 1.9744: the first cumulative sum is 0.5065, the second 0.8137.
        let mechanism = calibrated("1", 3, false);
        let scores = ratios(&[5, 4, 3]);
        for (first, answer) in [(0.50, 0), (0.51, 1), (0.81, 1), (0.82, 2)] {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a word of a script")]
            let word = (first * 2f64.powi(64)) as u64;
            let mut coins = ScriptedWords::new(vec![word, 0]);
            assert_eq!((mechanism.run(&scores, &mut coins), coins.used()), (answer, 2));
        }
    }
}
