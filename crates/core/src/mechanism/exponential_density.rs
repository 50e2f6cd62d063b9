//! Names a point of an infinite domain with nearly the highest score, by a density over public pieces.
//!
//! Source: 004_5f92a75732c1853f.txt, Algorithm 2 over a domain with a base measure (McSherry and Talwar 2007).
//!
//! # Guarantee
//!
//! If one neighbouring step changes the score of each piece by at most `sensitivity`, then (epsilon, 0)
//! under that adjacency, and `epsilon²/8`-zero-concentrated. The point lies in a piece with probability
//! exactly proportional to `measure·e^(rate·score)`, and is uniform inside it.
//!
//! # Why
//!
//! 1. The density with respect to the base measure is `e^(rate·score)` over its integral. The integral is
//!    the sum of `measure·e^(rate·score)` over the pieces, because the score is constant on each.
//! 2. The log-ratio of two neighbours' densities at a point is bounded as for finitely many candidates: the
//!    measures are public and the same in both.
//! 3. The place inside the piece comes from fresh coins only.
//! 4. The best piece has at least the least measure m of all, the others together at most `total - m`: the
//!    error bound is that of `total/m` equal candidates.
//!
//! # Differs
//!
//! The text asks that the integral be finite for every data set; with finitely many pieces of finite
//! measure it always is.
//!
//! # Example
//!
//! ```
//! use equipoise_core::{mechanism::exponential_density::ExponentialDensity, ratio::Ratio, tape::enumerate};
//!
//! // Where on [0, 4) is it busiest? Three public pieces of length 1, 1 and 2, scored by their counts.
//! let measures = vec![Ratio::one(), Ratio::one(), Ratio::from(2u64)];
//! let mechanism =
//!     ExponentialDensity { eps: "1".parse()?, measures, sensitivity: Ratio::one(), monotone: true }.calibrate()?;
//! let scores = [Ratio::from(3u64), Ratio::from(1u64), Ratio::from(3u64)];
//! let piece = enumerate(&"1e-9".parse()?, |coins| mechanism.run(&scores, coins).piece);
//! assert!((piece.mass(&2).to_f64() - 0.638).abs() < 1e-3);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use super::{
    exponential::{chance_of_others, rho_of_bounded_range, units_up},
    selection::{Candidates, Goal},
};
use crate::{
    coins::{Coins, Uniform},
    loss::{Eps, Loss, ParameterError, Rho},
    ratio::Ratio,
    sampler::weighted::{Weight, Weighted},
};

/// The exponential mechanism over public pieces of a domain, the score being constant on each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExponentialDensity {
    /// The privacy loss.
    pub eps: Eps,
    /// The base measure of each piece: its length, area or weight. A piece of measure zero is never chosen.
    pub measures: Vec<Ratio>,
    /// The most that one neighbouring step changes the score of any piece.
    pub sensitivity: Ratio,
    /// Do all scores always move the same way between neighbours?
    pub monotone: bool,
}

/// A point of the domain: a piece, and a place inside it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Point {
    /// The index of the piece.
    pub piece: usize,
    /// The part of the piece's measure before the point: uniform, its further bits drawn when wanted.
    pub within: Uniform,
}

impl Point {
    /// The part of the piece's measure before the point, rounded down to the known bits (64 after a run).
    pub fn fraction_down(&self) -> Ratio {
        self.within.enclose(self.within.known()).lower()
    }

    /// Learn 64 more bits of the place. It costs nothing: the coins know nothing of the data.
    pub fn refine<C: Coins>(&mut self, coins: &mut C) {
        coins.refine(&mut self.within);
    }
}

/// A mechanism that is ready to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Calibrated {
    eps: Eps,
    measures: Vec<Ratio>,
    candidates: Candidates,
    rate: Ratio,
}

impl ExponentialDensity {
    /// Check the public facts and spread epsilon over them.
    pub fn calibrate(self) -> Result<Calibrated, ParameterError> {
        let candidates = self.candidates()?;
        let rate = candidates.rate(&self.eps)?;
        Ok(Calibrated { eps: self.eps, measures: self.measures, candidates, rate })
    }

    /// This mechanism with the least epsilon that is certain to meet the goal on every data set.
    pub fn with_error(mut self, goal: &Goal) -> Result<Self, ParameterError> {
        let candidates = self.candidates()?;
        self.eps = candidates.eps_up(goal, &units_up(&others(&self.measures), &goal.beta)?)?;
        Ok(self)
    }

    fn candidates(&self) -> Result<Candidates, ParameterError> {
        if let Some(piece) = self.measures.iter().position(Ratio::is_negative) {
            return Err(ParameterError::out_of_range(
                "measure",
                format!("{} of piece {piece}", self.measures[piece]),
                "give a length, area or weight of at least 0",
            ));
        }
        if !self.measures.iter().any(Ratio::is_positive) {
            return Err(ParameterError::out_of_range("total measure", 0, "give a piece of positive measure"));
        }
        let (count, sensitivity) = (self.measures.len(), self.sensitivity.clone());
        Ok(Candidates { count, sensitivity, monotone: self.monotone })
    }
}

/// How much measure there can be outside the best piece, relative to that piece. Some measure is positive.
fn others(measures: &[Ratio]) -> Ratio {
    let total: Ratio = measures.iter().cloned().sum();
    let least = measures.iter().filter(|measure| measure.is_positive()).min().expect("a positive measure");
    total / least - Ratio::one()
}

impl Calibrated {
    /// What a run costs.
    pub fn cost(&self) -> Loss {
        Loss::pure(&self.eps)
    }

    /// What a run costs in zero-concentrated accounting: epsilon²/8.
    pub fn bounded_range_rho(&self) -> Rho {
        rho_of_bounded_range(&self.eps)
    }

    /// The law of the piece for these scores. Panics unless there is one score for each piece.
    pub fn law(&self, scores: &[Ratio]) -> Weighted {
        let exponents = self.candidates.exponents(scores, &self.rate);
        let weight =
            |(multiplier, exponent): (&Ratio, Ratio)| Weight { multiplier: multiplier.clone(), exponent };
        Weighted::new(self.measures.iter().zip(exponents).map(weight))
    }

    /// A point of the domain. Panics unless there is one score for each piece.
    pub fn run<C: Coins>(&self, scores: &[Ratio], coins: &mut C) -> Point {
        let mut point = Point { piece: coins.sample(&self.law(scores)), within: Uniform::unknown() };
        point.refine(coins);
        point
    }

    /// How far below the best score of a piece with positive measure the point's may lie, except with
    /// probability beta; rounded up.
    pub fn accuracy(&self, beta: &Ratio) -> Result<Ratio, ParameterError> {
        Ok(units_up(&others(&self.measures), beta)? / &self.rate)
    }

    /// A bound on the chance that the point's score lies `error` or more below the best.
    pub fn chance_of_error(&self, error: &Ratio) -> Ratio {
        if !error.is_positive() {
            return Ratio::one();
        }
        chance_of_others(&others(&self.measures), &(error * &self.rate)).upper()
    }
}

#[cfg(test)]
mod tests {
    use super::super::selection_audit::{
        assert_errors_are_bounded, claimed, ratio, ratios, score_pairs, worst,
    };
    use super::*;
    use crate::{
        adjacency::Adjacency,
        coins::ScriptedWords,
        tape::{confirm, enumerate},
    };

    fn params(measures: &[&str], monotone: bool) -> ExponentialDensity {
        let measures = measures.iter().map(|measure| ratio(measure)).collect();
        ExponentialDensity { eps: "1".parse().unwrap(), measures, sensitivity: Ratio::one(), monotone }
    }

    fn calibrated(measures: &[&str], monotone: bool) -> Calibrated {
        params(measures, monotone).calibrate().unwrap()
    }

    #[test]
    fn what_cannot_be_calibrated_says_why() {
        for (measures, expected) in [
            (&[][..], "total measure 0 is not accepted: give a piece of positive measure"),
            (&["0", "0"], "total measure 0 is not accepted: give a piece of positive measure"),
            (
                &["1", "-1/2"],
                "measure -0.5 of piece 1 is not accepted: give a length, area or weight of at least 0",
            ),
        ] {
            assert_eq!(params(measures, false).calibrate().unwrap_err().to_string(), expected);
        }
        let mut flat = params(&["1"], false);
        flat.sensitivity = Ratio::zero();
        assert!(flat.calibrate().unwrap_err().to_string().starts_with("sensitivity 0 is not accepted"));
    }

    #[test]
    fn hand_computed_accuracy() {
        // Total 5, least 1/2: as ten candidates. (1/rate)·ln(9·19) = 2·5.1417.
        let mechanism = calibrated(&["1", "1/2", "0", "7/2"], false);
        assert!((mechanism.accuracy(&ratio("0.05")).unwrap().to_f64() - 10.2833).abs() < 1e-3);
        assert_eq!(*mechanism.bounded_range_rho().ratio(), ratio("0.125"));
        let goal = Goal { error: ratio("2"), beta: ratio("0.05") };
        let solved = params(&["1", "1/2", "0", "7/2"], false).with_error(&goal).unwrap();
        assert!((solved.eps.ratio().to_f64() - 5.1417).abs() < 1e-4);
        assert!(solved.calibrate().unwrap().accuracy(&goal.beta).unwrap() <= goal.error);
    }

    #[test]
    fn the_sampler_draws_what_the_law_claims() {
        let mechanism = calibrated(&["1", "1/2", "0", "7/2"], false);
        for scores in [[0, 0, 0, 0], [3, 1, 9, 0], [-5, 5, 5, 4]] {
            let lost = confirm(&mechanism.law(&ratios(&scores)), &ratio("1e-9")).unwrap();
            assert!(lost.upper() < ratio("1e-7"));
        }
    }

    #[test]
    fn the_place_is_uniform_whatever_the_piece() {
        let mechanism = calibrated(&["1", "3"], false);
        let pmf = enumerate(&ratio("1e-12"), |tape| {
            let mut point = mechanism.run(&ratios(&[2, 0]), tape);
            point.refine(tape);
            (point.piece, point.fraction_down())
        });
        for piece in 0..2 {
            let masses: Vec<_> =
                ["0", "1/4", "1/2", "3/4"].iter().map(|place| pmf.mass(&(piece, ratio(place)))).collect();
            assert!(masses.iter().all(|mass| *mass == masses[0] && mass.lower().is_positive()));
        }
        assert_eq!(pmf.iter().count(), 8);
    }

    #[test]
    fn exact_audit_over_all_neighbours_of_a_small_universe_and_a_mutant() {
        let measures = ["1", "1/3", "40"];
        for (adjacency, monotone) in
            [(Adjacency::Replace, false), (Adjacency::AddRemove, false), (Adjacency::AddRemove, true)]
        {
            let mechanism = calibrated(&measures, monotone);
            let (delta, loss) =
                worst(&ratio("1"), &score_pairs(3, adjacency), |q| claimed(&mechanism.law(q)));
            assert!(delta.certainly_at_most(&ratio("1e-50")), "{adjacency}: loss {loss}");
        }
        let mutant = calibrated(&measures, true);
        let (delta, _) = worst(&ratio("1"), &score_pairs(3, Adjacency::Replace), |q| claimed(&mutant.law(q)));
        assert!(delta.certainly_above(&ratio("0.05")), "{}", delta.to_f64());
    }

    #[test]
    fn errors_keep_to_their_bound() {
        let mechanism = calibrated(&["1", "1/3", "2"], false);
        let law = |q: &[Ratio]| claimed(&mechanism.law(q));
        assert_errors_are_bounded(4, |error| mechanism.chance_of_error(error), law);
    }

    #[test]
    fn a_script_is_followed() {
        let mechanism = calibrated(&["1", "1"], false);
        let mut coins = ScriptedWords::new(vec![3 << 62, 0, 1 << 63]);
        let point = mechanism.run(&ratios(&[0, 0]), &mut coins);
        assert_eq!((point.piece, point.fraction_down(), coins.used()), (1, ratio("1/2"), 3));
    }
}
