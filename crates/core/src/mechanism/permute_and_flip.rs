//! Names a candidate with nearly the highest score: in random order, the first whose biased coin says yes.
//!
//! Source: McKenna and Sheldon 2020, "Permute-and-Flip"; the same law as 004_5f92a75732c1853f.txt,
//! Algorithm 3 (report-noisy-max with exponential noise; Ding et al. 2021).
//!
//! # Guarantee
//!
//! If one neighbouring step changes each score by at most `sensitivity`, then (epsilon, 0) under that
//! adjacency, whatever the scores, and no smaller epsilon in general. With `monotone`, for scores that all
//! move the same way in one step. Candidate r is named with probability exactly
//! `p_r·E[1/(1+N)]`, where `p_s = e^(-rate·(best - score(s)))`, rate is epsilon over twice the sensitivity
//! (over the sensitivity, monotone), and N counts how many of the others' coins say yes.
//!
//! # Why
//!
//! 1. The best candidate's coin always says yes, so somebody wins; among those whose coins say yes all are
//!    equally likely to come first in a random order: hence the formula.
//! 2. It is also the law of the largest of `rate·score + Z` with standard exponential Z: given that
//!    `rate·score(r) + Z_r` exceeds the best `rate·score` by v, which has density `p_r·e^-v` for v > 0, each
//!    other stays below with chance `1 - p_s·e^-v`, and `∫ p_r·e^-v·Π(1 - p_s·e^-v) dv = p_r·E[1/(1+N)]`.
//! 3. Fix the noise of all others. Candidate r wins when Z_r exceeds a threshold, a difference of scores
//!    that one step moves by at most `2·sensitivity·rate = epsilon` (monotone: by `sensitivity·rate`);
//!    and `P(Z_r > t) <= e^epsilon·P(Z_r > t + epsilon)`.
//! 4. A coin turned to yes for a worse candidate, or to no for a better one, never helps the better ones.
//!    So the chance to err by g or more is largest with one best candidate and d-1 at exactly g below:
//!    `E[N/(1+N)] = 1 - (1-(1-p)^d)/(dp)`, N binomial of d-1 trials with `p = e^(-rate·g)`. Attained.
//!    Since n/(1+n) is concave it is at most `(d-1)p/(1+(d-1)p)`, the exponential mechanism's.
//!
//! # Differs
//!
//! All d coins are flipped, also after the winner is known: how many are flipped would say how many
//! candidates score nearly best. For accounting in rho use the [exponential mechanism](super::exponential):
//! its log-ratios lie in an interval of length epsilon, these in one of up to twice that.
//!
//! # Grade
//!
//! Constant per round: d-1 uniform choices by rejection, whose number of rounds depends on nothing private,
//! then d coins. What remains is the time of the arithmetic: a coin's chance `e^-x` is computed more quickly
//! for x = 0 and for x beyond the precision.
//!
//! # Example
//!
//! ```
//! use equipoise_core::{mechanism::{permute_and_flip::PermuteAndFlip, selection::Candidates}, ratio::Ratio, tape::enumerate};
//!
//! let candidates = Candidates { count: 3, sensitivity: Ratio::one(), monotone: true };
//! let mechanism = PermuteAndFlip { eps: "1".parse()?, candidates }.calibrate()?;
//! let scores = [Ratio::from(2u64), Ratio::from(5u64), Ratio::from(4u64)];
//! let answer = enumerate(&"1e-9".parse()?, |coins| mechanism.run(&scores, coins));
//! // The exponential mechanism finds the best with probability 0.705 only.
//! assert!((answer.mass(&1).to_f64() - 0.797).abs() < 1e-3);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use super::{
    exponential,
    selection::{Candidates, Goal, least_units_up, simple_units_up},
};
use crate::{
    chance::{Chance, ExpNeg, exp_neg},
    coins::{Coins, Law},
    interval::Interval,
    loss::{Eps, Loss, ParameterError},
    ratio::Ratio,
    redact::debug_only_public,
    sampler::uniform::shuffle,
};

/// Permute-and-flip over finitely many public candidates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PermuteAndFlip {
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
}

impl PermuteAndFlip {
    /// Check the public facts and spread epsilon over them.
    pub fn calibrate(self) -> Result<Calibrated, ParameterError> {
        let rate = self.candidates.rate(&self.eps)?;
        Ok(Calibrated { eps: self.eps, candidates: self.candidates, rate })
    }

    /// The mechanism with nearly the least epsilon that is certain to meet this goal on every data set.
    pub fn for_error(candidates: Candidates, goal: &Goal) -> Result<Self, ParameterError> {
        let units = units_up(candidates.count, &goal.beta)?;
        Ok(Self { eps: candidates.eps_up(goal, &units)?, candidates })
    }
}

/// Nearly the least x for which one best candidate loses to the others, all x below, with chance beta.
pub(super) fn units_up(count: usize, beta: &Ratio) -> Result<Ratio, ParameterError> {
    // The exponential mechanism's x is enough, by step 4.
    let start = exponential::units_up(&Ratio::from(count.saturating_sub(1) as u64), beta)?;
    Ok(if start.is_zero() { start } else { least_units_up(&start, beta, |x| chance_of_losing_to(count, x)) })
}

/// `1 - (1-(1-p)^d)/(dp)` at `p = e^-x`: the chance that d-1 candidates, all x below, beat the best.
pub(super) fn chance_of_losing_to(count: usize, x: &Ratio) -> Interval {
    const BITS: usize = 512;
    let others = Ratio::from(count as u64 - 1);
    // The chance falls with x, so next to zero the one at zero will do.
    if *x < Ratio::new(1, 1 << 60) {
        return Interval::exact(&(others / Ratio::from(count as u64)), BITS);
    }
    let p = exp_neg(x, BITS);
    if *x > Ratio::from(100u64) {
        // n/(1+n) <= n/2 for whole n: hardly more than the exact chance, and nothing to divide by.
        return p.mul_ratio(&(others / Ratio::from(2u64)));
    }
    let one = Interval::one(BITS);
    let count = Ratio::from(count as u64);
    let none = one.sub(&p).ln().mul_ratio(&count).exp();
    one.sub(&one.sub(&none).div(&p.mul_ratio(&count)))
}

/// The law of the answer for fixed scores.
#[derive(Clone)]
pub struct Flips {
    coins: Vec<ExpNeg>,
}

debug_only_public!(Flips {});

impl Flips {
    /// A coin for each candidate, by how far below the best it is; at least one of them is zero.
    pub(super) fn new(exponents: &[Ratio]) -> Self {
        assert!(exponents.iter().any(Ratio::is_zero), "the best candidate is always ready to win");
        Self { coins: exponents.iter().map(ExpNeg::new).collect() }
    }
}

impl Law for Flips {
    type Value = usize;

    fn draw<C: Coins>(&self, coins: &mut C) -> usize {
        let mut order: Vec<usize> = (0..self.coins.len()).collect();
        shuffle(&mut order, coins);
        let ready: Vec<bool> = self.coins.iter().map(|chance| coins.bernoulli(chance)).collect();
        *order.iter().find(|&&candidate| ready[candidate]).expect("the best candidate is always ready")
    }

    fn masses(&self, _floor: &Ratio, bits: usize) -> Vec<(usize, Interval)> {
        let work = bits + 32;
        let chances: Vec<Interval> = self.coins.iter().map(|chance| chance.enclose(work)).collect();
        let mass = |candidate: usize| {
            let others = chances.iter().enumerate().filter(|(other, _)| *other != candidate);
            let ready = number_of_successes(others.map(|(_, chance)| chance), work);
            let share = |(count, mass): (usize, &Interval)| mass.div_small(count as u64 + 1);
            let first = ready.iter().enumerate().map(share).fold(Interval::zero(work), |sum, x| sum.add(&x));
            (candidate, chances[candidate].mul(&first).to_precision(bits))
        };
        (0..chances.len()).map(mass).collect()
    }
}

/// The distribution of how many of these independent coins say yes.
fn number_of_successes<'a>(chances: impl Iterator<Item = &'a Interval>, bits: usize) -> Vec<Interval> {
    let mut masses = vec![Interval::one(bits)];
    for chance in chances {
        let not = Interval::one(bits).sub(chance);
        let mut next: Vec<Interval> = masses.iter().map(|mass| mass.mul(&not)).collect();
        next.push(Interval::zero(bits));
        for (more, mass) in next[1..].iter_mut().zip(&masses) {
            *more = more.add(&mass.mul(chance));
        }
        masses = next;
    }
    masses
}

impl Calibrated {
    /// What a run costs.
    pub fn cost(&self) -> Loss {
        Loss::pure(&self.eps)
    }

    /// The law of the answer for these scores. Panics unless there is one score for each candidate.
    pub fn law(&self, scores: &[Ratio]) -> Flips {
        Flips::new(&self.candidates.exponents(scores, &self.rate))
    }

    /// The index of the named candidate. Panics unless there is one score for each candidate.
    pub fn run<C: Coins>(&self, scores: &[Ratio], coins: &mut C) -> usize {
        coins.sample(&self.law(scores))
    }

    /// How far below the best score the answer may lie, except with probability beta; rounded up.
    pub fn accuracy(&self, beta: &Ratio) -> Result<Ratio, ParameterError> {
        Ok(units_up(self.candidates.count, beta)? / &self.rate)
    }

    /// The same in the simple form `(ln d + ln(1/beta))/rate`: never less, and easy to remember.
    pub fn simple_accuracy(&self, beta: &Ratio) -> Result<Ratio, ParameterError> {
        Ok(simple_units_up(self.candidates.count, beta)? / &self.rate)
    }

    /// A bound on the chance that the answer lies `error` or more below the best score; attained, up to an
    /// error of 100 in the exponent.
    pub fn chance_of_error(&self, error: &Ratio) -> Ratio {
        if !error.is_positive() {
            return Ratio::one();
        }
        chance_of_losing_to(self.candidates.count, &(error * &self.rate)).upper()
    }
}

#[cfg(test)]
mod tests {
    use super::super::selection_audit::{
        assert_errors_are_bounded, chance_of_losing, claimed, far_score_pairs, ratio, ratios, score_pairs,
        worst,
    };
    use super::*;
    use crate::{
        adjacency::Adjacency,
        coins::ScriptedWords,
        tape::{Pmf, confirm, enumerate},
    };

    fn calibrated(eps: &str, count: usize, monotone: bool) -> Calibrated {
        let candidates = Candidates { count, sensitivity: Ratio::one(), monotone };
        PermuteAndFlip { eps: eps.parse().unwrap(), candidates }.calibrate().unwrap()
    }

    /// Beyond 512 bits e^-x may be zero, which nothing is divided by; of three candidates two at e^-x each win half of the time.
    #[test]
    fn hardly_any_chance_of_losing_is_still_told() {
        for x in [90u64, 101, 300] {
            let found = chance_of_losing_to(3, &Ratio::from(x)).upper().to_f64();
            assert!((found / (-(x as f64)).exp() - 1.0).abs() < 1e-6, "{x}: {found}");
        }
        for x in [400u64, 2000, 1 << 40] {
            let found = chance_of_losing_to(3, &Ratio::from(x)).upper();
            assert!(found.is_positive() && found <= Ratio::dyadic(1.into(), 500), "{x}");
        }
    }

    #[test]
    fn the_sampler_draws_what_the_law_claims() {
        for scores in
            [vec![4], vec![0, 0, 0], vec![3, 1, 0], vec![-5, 5, 4], vec![0, 0, 60], vec![1, 2, 3, 3]]
        {
            let law = calibrated("1", scores.len(), false).law(&ratios(&scores));
            assert!(confirm(&law, &ratio("1e-30")).unwrap().upper() < ratio("1e-50"), "{scores:?}");
        }
    }

    #[test]
    fn every_path_takes_the_same_decisions() {
        let law = calibrated("1", 3, false).law(&ratios(&[5, 4, 3]));
        let pmf = enumerate(&ratio("1e-12"), |tape| {
            law.draw(tape);
            tape.decisions()
        });
        // Two places of the order and three coins.
        assert_eq!(pmf.iter().map(|(&decisions, _)| decisions).collect::<Vec<_>>(), [5]);
    }

    #[test]
    fn masses_are_the_integral_of_the_theory_page() {
        // p_r ∫ (1 - u p_s)(1 - u p_t) du = p_r (1 - (p_s + p_t)/2 + p_s p_t/3).
        let p = [1.0, (-0.5f64).exp(), (-1.5f64).exp()];
        for (r, mass) in calibrated("1", 3, false).law(&ratios(&[7, 6, 4])).masses(&Ratio::zero(), 192) {
            let (s, t) = (p[(r + 1) % 3], p[(r + 2) % 3]);
            assert!((mass.to_f64() - p[r] * (1.0 - f64::midpoint(s, t) + s * t / 3.0)).abs() < 1e-15);
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
    fn mutants_are_caught() {
        let pairs = score_pairs(3, Adjacency::Replace);
        // Epsilon is spread over one sensitivity although one count may rise while another falls.
        let fast = calibrated("1", 3, true);
        let (delta, _) = worst(&ratio("1"), &pairs, |q| claimed(&fast.law(q)));
        assert!(delta.certainly_above(&ratio("0.1")), "{}", delta.to_f64());
        // The candidates are asked in their public order: ties go to the first.
        let fixed = |scores: &[Ratio]| {
            let law = calibrated("1", 3, false).law(scores);
            enumerate(&ratio("1e-12"), |tape| {
                law.coins.iter().position(|chance| tape.bernoulli(chance)).unwrap()
            })
        };
        let (delta, _) = worst(&ratio("1"), &pairs, fixed);
        assert!(delta.certainly_above(&ratio("0.1")), "{}", delta.to_f64());
    }

    #[test]
    fn the_exact_losses_of_the_theory_page() {
        let mechanism = calibrated("1", 3, false);
        let law = |q: &[Ratio]| -> Pmf<usize> { claimed(&mechanism.law(q)) };
        let pairs = far_score_pairs(8, Adjacency::Replace);
        let (_, replace) = worst(&ratio("1"), &pairs, law);
        assert!((replace - 1.0).abs() < 1e-12, "{replace}");
        // Tight: at any smaller epsilon some event needs a delta.
        let (delta, _) = worst(&ratio("0.999999"), &pairs, law);
        assert!(delta.certainly_above(&ratio("1e-9")));
        let (delta, monotone) = worst(&ratio("0.5"), &far_score_pairs(6, Adjacency::AddRemove), law);
        assert!((monotone - 0.5).abs() < 1e-12 && delta.certainly_at_most(&ratio("1e-50")));
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
        // Ten candidates, one ahead of nine by (ln 10 + 1)/rate: .150 where the text allows e^-1 = .368.
        let mechanism = calibrated("1", 10, false);
        let error = mechanism.simple_accuracy(&ratio("0.36787944117144232159")).unwrap();
        assert!((mechanism.chance_of_error(&error).to_f64() - 0.1503).abs() < 1e-4);
    }

    #[test]
    fn lemma_5_is_an_inequality() {
        // The largest of ten exponential variables exceeds ln 10 + 1 with probability 1 - (1 - e^-1/10)^10
        // = .3126; the text says e^-1 = .3679.
        let below = Interval::one(192).sub(&exp_neg(&Ratio::one(), 192).div_small(10));
        let exceeds = Interval::one(192).sub(&(0..10).fold(Interval::one(192), |all, _| all.mul(&below)));
        assert!((exceeds.to_f64() - 0.3126).abs() < 5e-5);
        assert!(exceeds.certainly_below(&exp_neg(&Ratio::one(), 192)));
    }

    #[test]
    fn accuracy_is_certified_and_better_than_the_exponential_mechanisms() {
        let beta = ratio("0.05");
        for count in [1, 2, 3, 99, 100_000] {
            let mechanism = calibrated("1", count, false);
            let accuracy = mechanism.accuracy(&beta).unwrap();
            let candidates = mechanism.candidates.clone();
            let exponential = exponential::Exponential { eps: mechanism.eps.clone(), candidates };
            assert!(accuracy <= exponential.calibrate().unwrap().accuracy(&beta).unwrap());
            if count > 1 {
                assert!(mechanism.chance_of_error(&accuracy) <= beta);
                assert!(mechanism.chance_of_error(&(accuracy - ratio("1e-8"))) > beta);
            }
        }
        // Far beyond any use, still a bound.
        assert!(calibrated("1", 3, false).chance_of_error(&ratio("1e9")) < ratio("1e-100"));
        assert!(calibrated("1", 3, false).chance_of_error(&ratio("1e-300")) >= ratio("2/3"));
    }

    #[test]
    fn the_expected_error_is_never_above_the_exponential_mechanisms() {
        let flips = calibrated("1", 3, false);
        let (eps, candidates) = (flips.eps.clone(), flips.candidates.clone());
        let weights = exponential::Exponential { eps, candidates }.calibrate().unwrap();
        let mut vectors: Vec<Vec<i64>> =
            far_score_pairs(6, Adjacency::Replace).into_iter().map(|(scores, _)| scores).collect();
        vectors.dedup();
        for scores in vectors {
            let scores = ratios(&scores);
            let best = scores.iter().max().unwrap();
            let expected = |distribution: Pmf<usize>| {
                let part = |(index, mass): (&usize, &Interval)| mass.mul_ratio(&(best - &scores[*index]));
                distribution.iter().map(part).fold(Interval::zero(192), |sum, part| sum.add(&part))
            };
            let excess =
                expected(claimed(&flips.law(&scores))).sub(&expected(claimed(&weights.law(&scores))));
            assert!(excess.certainly_at_most(&ratio("1e-50")), "{scores:?} {}", excess.to_f64());
        }
    }

    #[test]
    fn the_inverse_meets_its_goal() {
        let candidates = Candidates { count: 99, sensitivity: ratio("0.99"), monotone: false };
        let goal = Goal { error: ratio("20"), beta: ratio("0.05") };
        let chosen = PermuteAndFlip::for_error(candidates.clone(), &goal).unwrap();
        assert!(chosen.eps < exponential::Exponential::for_error(candidates, &goal).unwrap().eps);
        assert!(chosen.calibrate().unwrap().accuracy(&goal.beta).unwrap() <= goal.error);
    }

    #[test]
    fn a_script_is_followed() {
        // The order 0 1 2 becomes 1 0 2: place 2 keeps its item, place 1 swaps with place 0. Coins of 1,
        // e^-1/2 = 0.607 and e^-1 = 0.368 follow; the second says yes, and stands first.
        let law = calibrated("1", 3, false).law(&ratios(&[5, 4, 3]));
        let mut coins = ScriptedWords::new(vec![2 << 62, 0, u64::MAX, 1 << 63, 1 << 63]);
        assert_eq!((law.draw(&mut coins), coins.used()), (1, 5));
        let mut coins = ScriptedWords::new(vec![2 << 62, 0, u64::MAX, 5 << 61, 1 << 63]);
        assert_eq!((law.draw(&mut coins), coins.used()), (0, 5));
    }
}
