//! Names the candidate whose score plus fresh noise is largest; nothing is rounded before the comparison.
//!
//! Source: 004_5f92a75732c1853f.txt, Algorithm 3 and Exercise 2; Ding et al. 2021 for exponential noise.
//!
//! # Guarantee
//!
//! If one neighbouring step changes each score by at most `sensitivity`, then (epsilon, 0) under that
//! adjacency, whatever the scores. With `monotone`, for scores that all move the same way in one step. The
//! noise is an ideal real variable of scale `1/rate`: twice the sensitivity over epsilon (the sensitivity
//! over epsilon, monotone). Gumbel noise gives exactly the law of the
//! [exponential mechanism](super::exponential), exponential noise that of
//! [permute-and-flip](super::permute_and_flip). Laplace noise is kept for comparison: it named the best less
//! often than exponential noise in every case tried (a test has some), and less often than Gumbel noise where
//! the gap is wide; among several close candidates Gumbel noise does worse.
//!
//! # Why
//!
//! 1. Fix the noise of all others. Candidate r wins when its noise exceeds a threshold: the largest of their
//!    noisy scores, less its own score.
//! 2. In units of the scale, one step moves that threshold by at most `2·sensitivity·rate = epsilon`: all
//!    others may rise while r falls. Where all move the same way, by at most `sensitivity·rate`.
//! 3. The chance to exceed t falls by no more than the factor e^epsilon when t rises by epsilon: the hazard
//!    rate is 1 for exponential noise above zero, at most 1 for Laplace noise, and `y/(e^y - 1) <= 1` with
//!    `y = e^-t` for Gumbel noise.
//! 4. A candidate x units below the best overtakes it with Laplace noise with chance `(1 + x/2)e^-x/2`, the
//!    tail of the difference of two such variables. The d-1 others together: at most that many times.
//!
//! # Differs
//!
//! The text's prose says that the noise is "just Δ/ε"; its algorithm draws `Exp(2Δ/ε)`, which is right. With
//! `Δ/ε` the loss is 2 epsilon: a mutant below. Sums are compared as real numbers of which more bits are
//! drawn until the largest is certain: a rounded sum has ties and gaps that no proof covers.
//!
//! # Grade
//!
//! That of [`argmax`]: constant coins, two words for each candidate, up to d²·2^-90.
//!
//! # Example
//!
//! ```
//! use equipoise_core::{mechanism::{noisy_max::{Noise, NoisyMax}, selection::Candidates}, ratio::Ratio, tape::enumerate};
//!
//! let candidates = Candidates { count: 3, sensitivity: Ratio::one(), monotone: true };
//! let mechanism = NoisyMax { eps: "1".parse()?, noise: Noise::Laplace, candidates }.calibrate()?;
//! let scores = [Ratio::from(2u64), Ratio::from(5u64), Ratio::from(4u64)];
//! let answer = enumerate(&"1e-9".parse()?, |coins| mechanism.run(&scores, coins));
//! // Permute-and-flip finds the best with probability 0.797.
//! assert!((answer.mass(&1).to_f64() - 0.704).abs() < 1e-3);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use super::{
    exponential, permute_and_flip,
    selection::{Candidates, Goal, check_beta, least_units_up},
};
use crate::{
    chance::exp_neg,
    coins::{Coins, Law},
    interval::Interval,
    loss::{Eps, Loss, ParameterError},
    ratio::Ratio,
    redact::debug_only_public,
    sampler::{
        exponential::Exponential,
        gumbel::Gumbel,
        laplace_real::RealLaplace,
        lazy::{LazyReal, argmax},
        real::RealVariable,
        weighted::{Weight, Weighted},
    },
};

/// What is added to the scores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Noise {
    /// Density `e^-x` for x > 0: the law of permute-and-flip.
    Exponential,
    /// Distribution function `exp(-e^-x)`: the law of the exponential mechanism.
    Gumbel,
    /// Density `e^-|x|/2`: for comparison.
    Laplace,
}

impl Noise {
    /// All of them, for tests and tables.
    pub const ALL: [Self; 3] = [Self::Exponential, Self::Gumbel, Self::Laplace];
}

/// Report-noisy-max over finitely many public candidates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoisyMax {
    /// The privacy loss.
    pub eps: Eps,
    /// What is added to the scores.
    pub noise: Noise,
    /// What is public about the candidates.
    pub candidates: Candidates,
}

/// A mechanism that is ready to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Calibrated {
    eps: Eps,
    noise: Noise,
    candidates: Candidates,
    rate: Ratio,
}

impl NoisyMax {
    /// Check the public facts and spread epsilon over them.
    pub fn calibrate(self) -> Result<Calibrated, ParameterError> {
        let rate = self.candidates.rate(&self.eps)?;
        Ok(Calibrated { eps: self.eps, noise: self.noise, candidates: self.candidates, rate })
    }

    /// The mechanism with nearly the least epsilon that is certain to meet this goal on every data set.
    pub fn for_error(noise: Noise, candidates: Candidates, goal: &Goal) -> Result<Self, ParameterError> {
        let units = units_up(noise, candidates.count, &goal.beta)?;
        Ok(Self { eps: candidates.eps_up(goal, &units)?, noise, candidates })
    }
}

/// Units of noise by which the answer may miss the best, except with probability beta.
fn units_up(noise: Noise, count: usize, beta: &Ratio) -> Result<Ratio, ParameterError> {
    let others = Ratio::from(count.saturating_sub(1) as u64);
    match noise {
        Noise::Exponential => permute_and_flip::units_up(count, beta),
        Noise::Gumbel => exponential::units_up(&others, beta),
        Noise::Laplace => {
            check_beta(beta)?;
            Ok(least_units_up(&Ratio::one(), beta, |x| chance_to_overtake(x).mul_ratio(&others)))
        }
    }
}

/// `(1 + x/2)e^-x/2`: the chance that one Laplace variable exceeds another by x or more.
fn chance_to_overtake(x: &Ratio) -> Interval {
    exp_neg(x, 256).mul_ratio(&((Ratio::one() + x / &Ratio::from(2u64)) / Ratio::from(2u64)))
}

impl Calibrated {
    /// What a run costs.
    pub fn cost(&self) -> Loss {
        Loss::pure(&self.eps)
    }

    /// The law of the answer for these scores. Panics unless there is one score for each candidate.
    pub fn law(&self, scores: &[Ratio]) -> NoisyScores {
        NoisyScores { noise: self.noise, below: self.candidates.exponents(scores, &self.rate) }
    }

    /// The index of the named candidate. Panics unless there is one score for each candidate.
    pub fn run<C: Coins>(&self, scores: &[Ratio], coins: &mut C) -> usize {
        coins.sample(&self.law(scores))
    }

    /// How far below the best score the answer may lie, except with probability beta; rounded up.
    pub fn accuracy(&self, beta: &Ratio) -> Result<Ratio, ParameterError> {
        Ok(units_up(self.noise, self.candidates.count, beta)? / &self.rate)
    }

    /// A bound on the chance that the answer lies `error` or more below the best score.
    pub fn chance_of_error(&self, error: &Ratio) -> Ratio {
        if !error.is_positive() {
            return Ratio::one();
        }
        let (count, units) = (self.candidates.count, error * &self.rate);
        let others = Ratio::from(count as u64 - 1);
        let bound = match self.noise {
            Noise::Exponential => permute_and_flip::chance_of_losing_to(count, &units),
            Noise::Gumbel => exponential::chance_of_others(&others, &units),
            Noise::Laplace => chance_to_overtake(&units).mul_ratio(&others),
        };
        bound.upper().min(Ratio::one())
    }
}

/// The law of the answer for fixed scores.
#[derive(Clone, PartialEq, Eq)]
pub struct NoisyScores {
    noise: Noise,
    /// How far each score is below the best, in units of noise.
    below: Vec<Ratio>,
}

debug_only_public!(NoisyScores { noise });

impl NoisyScores {
    fn largest<V: RealVariable + Copy, C: Coins>(&self, variable: V, coins: &mut C) -> usize {
        let noisy = |below: &Ratio| LazyReal::new(variable, -below.clone(), Ratio::one());
        argmax(&mut self.below.iter().map(noisy).collect::<Vec<_>>(), coins)
    }
}

impl Law for NoisyScores {
    type Value = usize;

    fn draw<C: Coins>(&self, coins: &mut C) -> usize {
        match self.noise {
            Noise::Exponential => self.largest(Exponential, coins),
            Noise::Gumbel => self.largest(Gumbel, coins),
            Noise::Laplace => self.largest(RealLaplace, coins),
        }
    }

    /// With Laplace noise, for up to twelve candidates; panics beyond.
    fn masses(&self, floor: &Ratio, bits: usize) -> Vec<(usize, Interval)> {
        match self.noise {
            Noise::Exponential => permute_and_flip::Flips::new(&self.below).masses(floor, bits),
            Noise::Gumbel => {
                let weight = |x: &Ratio| Weight { multiplier: Ratio::one(), exponent: x.clone() };
                Weighted::new(self.below.iter().map(weight)).masses(floor, bits)
            }
            Noise::Laplace => {
                assert!(self.below.len() <= 12, "the closed form has 2^candidates terms");
                let places: Vec<Ratio> = self.below.iter().map(|below| -below.clone()).collect();
                let mass = |winner| laplace_mass(&places, winner, bits + 32).to_precision(bits);
                (0..places.len()).map(|winner| (winner, mass(winner))).collect()
            }
        }
    }
}

/// One term `factor·e^(constant + slope·z)` of a density in z.
#[derive(Clone)]
struct Term {
    factor: Ratio,
    constant: Ratio,
    slope: i64,
}

impl Term {
    /// Its integral between two ends, `None` being infinite. The exponent is nowhere positive between them,
    /// and falls without bound towards an infinite end.
    fn integral(&self, low: Option<&Ratio>, high: Option<&Ratio>, bits: usize) -> Interval {
        let slope = Ratio::from(self.slope);
        let power = |end: Option<&Ratio>| {
            let exponent = |end: &Ratio| -(&self.constant + &(&slope * end));
            end.map_or_else(|| Interval::zero(bits), |end| exp_neg(&exponent(end), bits))
        };
        match (low, high) {
            (Some(low), Some(high)) if self.slope == 0 => {
                power(Some(low)).mul_ratio(&(&self.factor * &(high - low)))
            }
            _ => power(high).sub(&power(low)).mul_ratio(&(&self.factor / &slope)),
        }
    }
}

/// The chance that `place + Laplace noise` is largest for the winner: the integral over z of its density at
/// z times the others' distribution functions. Between two neighbouring places each factor is one
/// exponential, or one minus one, so the product is a sum of exponentials.
fn laplace_mass(places: &[Ratio], winner: usize, bits: usize) -> Interval {
    let mut ends: Vec<Option<&Ratio>> = places.iter().map(Some).collect();
    ends.sort();
    ends.dedup();
    let lows = std::iter::once(None).chain(ends.iter().copied());
    let highs = ends.iter().copied().chain([None]);
    let pieces = lows.zip(highs).map(|(low, high)| {
        let terms = laplace_terms(places, winner, |place| high.is_some_and(|high| high <= place));
        terms.iter().fold(Interval::zero(bits), |sum, term| sum.add(&term.integral(low, high, bits)))
    });
    pieces.fold(Interval::zero(bits), |sum, piece| sum.add(&piece))
}

/// The terms of the product where `above` tells which places lie above z.
fn laplace_terms(places: &[Ratio], winner: usize, above: impl Fn(&Ratio) -> bool) -> Vec<Term> {
    let half = Ratio::new(1, 2);
    let sign = |place: &Ratio| if above(place) { 1 } else { -1 };
    let own = sign(&places[winner]);
    let constant = &places[winner] * &Ratio::from(-own);
    let mut terms = vec![Term { factor: half.clone(), constant, slope: own }];
    for (_, place) in places.iter().enumerate().filter(|(index, _)| *index != winner) {
        let side = sign(place);
        // Above: e^(z-place)/2. Below: 1 - e^(place-z)/2.
        let times = |term: &Term| Term {
            factor: &term.factor * &half * Ratio::from(side),
            constant: &term.constant - &(place * &Ratio::from(side)),
            slope: term.slope + side,
        };
        let products: Vec<Term> = terms.iter().map(times).collect();
        if side > 0 { terms = products } else { terms.extend(products) }
    }
    terms
}

#[cfg(test)]
mod tests {
    use super::super::selection_audit::{
        assert_errors_are_bounded, claimed, far_score_pairs, ratio, ratios, score_pairs, worst,
    };
    use super::*;
    use crate::{adjacency::Adjacency, coins::ScriptedWords, interval::AUDIT_BITS, tape::confirm};

    fn calibrated(eps: &str, noise: Noise, count: usize, monotone: bool) -> Calibrated {
        let candidates = Candidates { count, sensitivity: Ratio::one(), monotone };
        NoisyMax { eps: eps.parse().unwrap(), noise, candidates }.calibrate().unwrap()
    }

    #[test]
    fn the_tape_brackets_the_closed_forms() {
        // What is lost falls with the square root of the floor: two undecided numbers at once.
        for noise in Noise::ALL {
            for (scores, widest) in [(&[5][..], "0"), (&[0, 2], "0.01"), (&[3, 1, 0], "0.03")] {
                let law = calibrated("1", noise, scores.len(), false).law(&ratios(scores));
                let lost = confirm(&law, &ratio("1e-5")).unwrap();
                assert!(lost.certainly_at_most(&ratio(widest)), "{noise:?} {scores:?} {}", lost.to_f64());
            }
        }
    }

    #[test]
    fn laplace_masses_are_the_known_ones() {
        // Two candidates: the tail of a difference of Laplace variables.
        for gap in ["0", "1/2", "3", "40"] {
            let law = NoisyScores { noise: Noise::Laplace, below: vec![Ratio::zero(), ratio(gap)] };
            let masses = law.masses(&Ratio::zero(), AUDIT_BITS);
            let known = chance_to_overtake(&ratio(gap)).to_precision(AUDIT_BITS);
            let difference = masses[1].1.sub(&known);
            assert!(difference.upper() < ratio("1e-50") && difference.lower() > ratio("-1e-50"), "{gap}");
        }
        // Any number: the masses sum to one, and equal scores are equally likely.
        for (scores, twins) in [([0, 0, 0, 0], (0, 3)), ([4, 4, 1, 0], (0, 1)), ([9, 0, 0, 5], (1, 2))] {
            let law = calibrated("1", Noise::Laplace, 4, false).law(&ratios(&scores));
            let masses = law.masses(&Ratio::zero(), AUDIT_BITS);
            let total = masses.iter().fold(Interval::zero(AUDIT_BITS), |sum, (_, mass)| sum.add(mass));
            assert!(total.lower() <= Ratio::one() && Ratio::one() <= total.upper());
            let (a, b) = (&masses[twins.0].1, &masses[twins.1].1);
            assert!(total.upper() - total.lower() < ratio("1e-45"));
            assert!(a.lower() <= b.upper() && b.lower() <= a.upper());
        }
    }

    #[test]
    fn laplace_noise_loses_to_exponential_noise_but_not_always_to_gumbel_noise() {
        // One best candidate against d-1 equal ones, x units below: the chance to name the best.
        let best = |noise, d: usize, x: &str| {
            let mut below = vec![ratio(x); d];
            below[0] = Ratio::zero();
            NoisyScores { noise, below }.masses(&Ratio::zero(), AUDIT_BITS)[0].1.clone()
        };
        for d in [2, 3, 5, 8] {
            for x in ["0.1", "1", "2", "6"] {
                let [exponential, gumbel, laplace] = Noise::ALL.map(|noise| best(noise, d, x));
                assert!(gumbel.certainly_below(&exponential) && laplace.certainly_below(&exponential));
            }
        }
        assert!(best(Noise::Laplace, 2, "1").certainly_below(&best(Noise::Gumbel, 2, "1")));
        // .590 against .576 with three, .433 against .390 with eight.
        assert!(best(Noise::Gumbel, 3, "1").certainly_below(&best(Noise::Laplace, 3, "1")));
        assert!(best(Noise::Gumbel, 8, "1.5").certainly_below(&best(Noise::Laplace, 8, "1.5")));
        assert!(best(Noise::Laplace, 8, "4").certainly_below(&best(Noise::Gumbel, 8, "4")));
    }

    #[test]
    fn exact_audit_over_all_neighbours_of_a_small_universe() {
        for (adjacency, monotone) in
            [(Adjacency::Replace, false), (Adjacency::AddRemove, false), (Adjacency::AddRemove, true)]
        {
            for noise in Noise::ALL {
                let mechanism = calibrated("1", noise, 3, monotone);
                let (delta, loss) =
                    worst(&ratio("1"), &score_pairs(3, adjacency), |q| claimed(&mechanism.law(q)));
                assert!(delta.certainly_at_most(&ratio("1e-45")), "{noise:?} {adjacency}: loss {loss}");
            }
        }
    }

    #[test]
    fn noise_of_one_sensitivity_over_epsilon_is_caught() {
        // The prose of the source: Delta/epsilon in place of 2 Delta/epsilon, for scores that may move apart.
        for noise in Noise::ALL {
            let mutant = calibrated("1", noise, 3, true);
            let pairs = far_score_pairs(4, Adjacency::Replace);
            let (delta, loss) = worst(&ratio("1"), &pairs, |q| claimed(&mutant.law(q)));
            assert!(
                delta.certainly_above(&ratio("0.1")) && loss > 1.8,
                "{noise:?} {} {loss}",
                delta.to_f64()
            );
        }
    }

    #[test]
    fn a_sampler_of_half_the_scale_is_caught_on_the_tape() {
        struct Mutant(NoisyScores);
        impl Law for Mutant {
            type Value = usize;
            fn draw<C: Coins>(&self, coins: &mut C) -> usize {
                let below = self.0.below.iter().map(|x| x * &Ratio::from(2u64)).collect();
                NoisyScores { noise: self.0.noise, below }.draw(coins)
            }
            fn masses(&self, floor: &Ratio, bits: usize) -> Vec<(usize, Interval)> {
                self.0.masses(floor, bits)
            }
        }
        for noise in Noise::ALL {
            let law = calibrated("1", noise, 2, false).law(&ratios(&[0, 2]));
            assert!(confirm(&Mutant(law), &ratio("1e-5")).is_err(), "{noise:?}");
        }
    }

    #[test]
    fn errors_keep_to_their_bounds() {
        for noise in Noise::ALL {
            let mechanism = calibrated("1", noise, 3, false);
            let law = |q: &[Ratio]| claimed(&mechanism.law(q));
            assert_errors_are_bounded(5, |error| mechanism.chance_of_error(error), law);
        }
    }

    #[test]
    fn accuracy_and_its_inverse() {
        let goal = Goal { error: ratio("20"), beta: ratio("0.05") };
        let candidates = Candidates { count: 99, sensitivity: ratio("0.99"), monotone: false };
        let mut epsilons = Vec::new();
        for noise in Noise::ALL {
            let chosen = NoisyMax::for_error(noise, candidates.clone(), &goal).unwrap();
            let calibrated = chosen.clone().calibrate().unwrap();
            assert!(calibrated.accuracy(&goal.beta).unwrap() <= goal.error);
            assert!(calibrated.chance_of_error(&goal.error) <= goal.beta);
            epsilons.push(chosen.eps);
        }
        assert!(epsilons.is_sorted(), "Laplace noise needs the most: {epsilons:?}");
        assert!(calibrated("1", Noise::Laplace, 1, false).accuracy(&goal.beta).unwrap().is_zero());
        assert_eq!(calibrated("1", Noise::Laplace, 9, false).chance_of_error(&ratio("1e-9")), Ratio::one());
    }

    #[test]
    fn a_script_is_followed_with_two_words_for_each() {
        for noise in Noise::ALL {
            let law = calibrated("1", noise, 3, false).law(&ratios(&[5, 4, 3]));
            let mut coins = ScriptedWords::new(vec![1 << 63, 0, 1 << 62, 7, 3 << 62, 9]);
            law.draw(&mut coins);
            assert_eq!(coins.used(), 6);
        }
        // -ln(1/2) = 0.69 on 0, -ln(1/4) - 1/2 = 0.89, -ln(3/4) - 1 = -0.71: the second is largest.
        let law = calibrated("1", Noise::Exponential, 3, false).law(&ratios(&[5, 4, 3]));
        let mut coins = ScriptedWords::new(vec![1 << 63, 0, 1 << 62, 0, 3 << 62, 0]);
        assert_eq!(law.draw(&mut coins), 1);
    }
}
