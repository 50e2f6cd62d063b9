//! How many copies of an oblivious algorithm make one that is right against whoever reacts to its answers.
//!
//! Source: 003_82bbcee9e9852ea0.txt, Algorithm B, with the constants worked out.
//!
//! # Guarantee
//!
//! If each of `copies` independent copies is off at one moment of one fixed sequence of updates with chance at
//! most `e^-ln_inverse_failure`, then with probability at least `1 - beta` every one of `answers` private
//! medians with the loss `eps` lies between the lowest and the highest grid value of a copy that is not off,
//! whoever chooses the updates after seeing the answers so far.
//!
//! # Why
//!
//! Write `l = ln(2·answers/(gamma·beta))` with gamma = 1/50.
//!
//! 1. A private median is `eps²/8`-zero-concentrated with respect to the coins of one copy
//!    ([`exponential`](equipoise_core::mechanism::exponential), step 3); all answers together cost
//!    `rho = answers·eps²/8 <= l`, because updates are functions of earlier answers.
//! 2. Compare the pair (coins of copy j, answers) with (fresh coins, the same answers): their divergence of order
//!    a is at most `a·rho`. In the second the updates are fixed once the answers are, so the copy is off with chance
//!    at most `q = e^-ln_inverse_failure`. Then in the first it is off with chance at most
//!    `(q·e^(a·rho))^(1-1/a)`; at `a = sqrt(ln(1/q)/rho)` that is `exp(-(sqrt(ln 1/q) - sqrt(rho))²)`.
//! 3. With `ln 1/q >= (sqrt(l) + sqrt(rho))²` it is at most `e^-l = gamma·beta/(2·answers)`. By Markov's
//!    inequality more than `gamma·copies` copies are off at one answer with chance at most `beta/(2·answers)`.
//! 4. A value below or above the grid values of all copies that are not off has a score of at most
//!    `-(1/2 - gamma)·copies`, the median one of zero. The mechanism names such a value with chance at most
//!    `grid·exp(-eps·(1/2 - gamma)·copies/2) <= beta/(2·answers)`.
//! 5. Both chances, summed over the answers, are at most beta.
//!
//! # Differs
//!
//! The text asks for a loss of about 1/100 for each answer, because it goes through a theorem about averages. Step 2
//! shows that a large loss only asks for copies that fail more rarely: hundreds of copies instead of millions.
//!
//! # Example
//!
//! ```
//! use equipoise_robust::parameters::Wanted;
//!
//! let plan = Wanted { answers: 1000, beta: "0.01".parse()?, grid: 200 }.plan()?;
//! assert_eq!(plan.copies(), 204);
//! assert!((plan.ln_inverse_failure().to_f64() - 64.5).abs() < 0.1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use super::Guarantee;
use equipoise_core::{
    interval::{Interval, ln_upper},
    loss::{Eps, ParameterError},
    ratio::Ratio,
};

/// The precision of square roots.
const BITS: usize = 128;

/// What is asked of a phase.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// How many answers a phase gives before the copies get fresh coins.
    pub answers: u64,
    /// How likely some answer of a phase may be off.
    pub beta: Ratio,
    /// How many values an answer can have.
    pub grid: usize,
}

/// Checked sizes of a phase.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    wanted: Wanted,
    copies: usize,
    eps: Eps,
    ln_inverse_failure: Ratio,
    guarantee: Guarantee,
}

/// The share of copies that may be off at an answer.
fn gamma() -> Ratio {
    Ratio::new(1, 50)
}

impl Wanted {
    fn check(&self) -> Result<(), ParameterError> {
        if !(1..=1 << 40).contains(&self.answers) {
            return Err(ParameterError::out_of_range(
                "answers",
                self.answers,
                "give from 1 to 2^40 answers for each phase, such as 1000",
            ));
        }
        if !self.beta.is_positive() || self.beta >= Ratio::one() {
            return Err(ParameterError::out_of_range(
                "beta",
                &self.beta,
                "give a number between 0 and 1, such as 0.01",
            ));
        }
        if self.grid == 0 {
            return Err(ParameterError::out_of_range("grid", self.grid, "give at least one possible answer"));
        }
        Ok(())
    }

    /// l of the proof, rounded up.
    fn l_upper(&self) -> Ratio {
        ln_upper(&(Ratio::from(2 * self.answers) / (gamma() * &self.beta)))
    }

    /// The fewest copies whose median is useful at this loss: step 4.
    pub fn least_copies(&self, eps: &Eps) -> Result<usize, ParameterError> {
        self.check()?;
        let odds = Ratio::from(2 * self.answers) * Ratio::from(self.grid as u64) / &self.beta;
        let copies = Ratio::from(2u64) * ln_upper(&odds) / ((Ratio::new(1, 2) - gamma()) * eps.ratio());
        let copies = copies.ceil_i64().and_then(|copies| usize::try_from(copies).ok());
        copies.ok_or_else(|| {
            ParameterError::out_of_range(
                "answers",
                self.answers,
                "so many need more copies than can be counted",
            )
        })
    }

    /// The sizes for which the theorem holds, with the least copies times `ln_inverse_failure`.
    pub fn plan(self) -> Result<Plan, ParameterError> {
        self.check()?;
        let l = self.l_upper();
        let eight_l_over_t = &l * &Ratio::from(8u64) / Ratio::from(self.answers);
        let eps = Interval::exact(&eight_l_over_t, BITS).sqrt().lower().dyadic_down(48);
        let eps = Eps::new(eps)?;
        let copies = self.least_copies(&eps)?;
        let ln_inverse_failure = least_ln_inverse_failure(&l, &self.rho(&eps));
        Ok(Plan { wanted: self, copies, eps, ln_inverse_failure, guarantee: Guarantee::Proved })
    }

    /// Sizes of one's own choice, on request. Too few copies for a useful median are refused all the same: such
    /// a wrapper is worse than none. The plan counts as heuristic.
    pub fn heuristic(self, copies: usize, eps: Eps) -> Result<Plan, ParameterError> {
        if copies < self.least_copies(&eps)? {
            return Err(ParameterError::out_of_range(
                "copies",
                copies,
                "their private median would be noise; give more copies, a larger loss, or fewer answers",
            ));
        }
        Ok(Plan {
            wanted: self,
            copies,
            eps,
            ln_inverse_failure: Ratio::zero(),
            guarantee: Guarantee::Heuristic,
        })
    }

    fn rho(&self, eps: &Eps) -> Ratio {
        Ratio::from(self.answers) * eps.ratio().squared() / Ratio::from(8u64)
    }
}

/// `(sqrt(l) + sqrt(rho))²`, rounded up: what step 3 asks of a copy.
fn least_ln_inverse_failure(l: &Ratio, rho: &Ratio) -> Ratio {
    Interval::exact(l, BITS).sqrt().add(&Interval::exact(rho, BITS).sqrt()).square().upper().dyadic_up(32)
}

impl Plan {
    /// How many copies run at once.
    pub fn copies(&self) -> usize {
        self.copies
    }

    /// How many answers a phase gives.
    pub fn answers(&self) -> u64 {
        self.wanted.answers
    }

    /// How likely some answer of a phase may be off.
    pub fn beta(&self) -> &Ratio {
        &self.wanted.beta
    }

    /// How many values the plan allows an answer.
    pub fn grid(&self) -> usize {
        self.wanted.grid
    }

    /// What one answer reveals about the coins of one copy.
    pub fn eps(&self) -> &Eps {
        &self.eps
    }

    /// What all answers of a phase reveal about the coins of one copy, as rho.
    pub fn rho(&self) -> Ratio {
        self.wanted.rho(&self.eps)
    }

    /// How rarely a copy must be off on fixed updates, as ln(1/chance); zero for a heuristic plan.
    pub fn ln_inverse_failure(&self) -> &Ratio {
        &self.ln_inverse_failure
    }

    /// Proved, unless sizes of one's own were asked for.
    pub fn guarantee(&self) -> Guarantee {
        self.guarantee
    }

    /// The same plan with more copies. Fewer are refused.
    pub fn with_copies(mut self, copies: usize) -> Result<Self, ParameterError> {
        if copies < self.wanted.least_copies(&self.eps)? {
            return Err(ParameterError::out_of_range(
                "copies",
                copies,
                "the proof needs more; leave the number out to get the least",
            ));
        }
        self.copies = copies;
        Ok(self)
    }
}

/// Measured times of one copy, in any one unit. They decide nothing but speed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Costs {
    /// To begin on the present input.
    pub init: f64,
    /// To follow the updates between two answers.
    pub update: f64,
    /// To answer.
    pub query: f64,
}

impl Costs {
    /// Time for each answer under this plan: the copies' beginnings spread over the phase, updates and answers.
    pub fn per_answer(&self, plan: &Plan) -> f64 {
        plan.copies as f64 * (self.init / plan.wanted.answers as f64 + self.update + self.query)
    }

    /// The plan with the shortest time for each answer, among phases of a power of two answers.
    pub fn best_plan(&self, beta: &Ratio, grid: usize) -> Result<Plan, ParameterError> {
        let plans = (0..=30).map(|power| Wanted { answers: 1 << power, beta: beta.clone(), grid }.plan());
        let plans = plans.collect::<Result<Vec<_>, _>>()?;
        let quicker = |a: &Plan, b: &Plan| self.per_answer(a).total_cmp(&self.per_answer(b));
        Ok(plans.into_iter().min_by(quicker).expect("there are plans"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(answers: u64) -> Wanted {
        Wanted { answers, beta: "0.01".parse().unwrap(), grid: 200 }
    }

    #[test]
    fn the_table_of_the_theory_page() {
        for (answers, copies, ln_inverse) in
            [(100, 61, 55.3), (1000, 204, 64.5), (10_000, 680, 73.7), (1_000_000, 7495, 92.1)]
        {
            let plan = wanted(answers).plan().unwrap();
            assert_eq!(plan.copies(), copies);
            assert!((plan.ln_inverse_failure().to_f64() - ln_inverse).abs() < 0.06, "{answers}");
        }
    }

    #[test]
    fn the_chances_of_the_proof_sum_to_beta() {
        // Steps 2 to 4 evaluated at the sizes of the plan, in enclosures.
        for answers in [1, 7, 1000, 1 << 30] {
            let plan = wanted(answers).plan().unwrap();
            let root = |value: &Ratio| Interval::exact(value, BITS).sqrt();
            let gap = root(plan.ln_inverse_failure()).sub(&root(&plan.rho()));
            let off = gap.square().neg().exp();
            let many_off = off.mul_ratio(&(Ratio::from(answers) / gamma()));
            let rate = (Ratio::new(1, 2) - gamma()) * Ratio::from(plan.copies() as u64) * plan.eps().ratio();
            let noise = Interval::exact(&(rate / Ratio::from(2u64)), BITS).neg().exp();
            let noise = noise.mul_ratio(&(Ratio::from(answers) * Ratio::from(200u64)));
            assert!(many_off.add(&noise).certainly_at_most(plan.beta()), "{answers}");
            // Nor is much given away.
            assert!(many_off.add(&noise).certainly_above(&(plan.beta() / &Ratio::from(3u64))), "{answers}");
        }
    }

    #[test]
    fn mutant_with_the_first_order_failure_is_caught() {
        // A copy that fails with chance e^-l instead of e^-4l: step 2 then proves nothing.
        let plan = wanted(1000).plan().unwrap();
        let mutant = wanted(1000).l_upper();
        let root = |value: &Ratio| Interval::exact(value, BITS).sqrt();
        let gap = root(&mutant).sub(&root(&plan.rho()));
        assert!(gap.square().neg().exp().certainly_above(&"0.9".parse().unwrap()));
    }

    #[test]
    fn sizes_below_the_bound_are_refused() {
        let errors = [
            wanted(0).plan().unwrap_err(),
            Wanted { beta: Ratio::one(), ..wanted(9) }.plan().unwrap_err(),
            Wanted { grid: 0, ..wanted(9) }.plan().unwrap_err(),
            wanted(1000).plan().unwrap().with_copies(203).unwrap_err(),
            wanted(1000).heuristic(16, "0.5".parse().unwrap()).unwrap_err(),
        ];
        let texts: Vec<String> = errors.iter().map(ToString::to_string).collect();
        assert_eq!(
            texts,
            [
                "answers 0 is not accepted: give from 1 to 2^40 answers for each phase, such as 1000",
                "beta 1 is not accepted: give a number between 0 and 1, such as 0.01",
                "grid 0 is not accepted: give at least one possible answer",
                "copies 203 is not accepted: the proof needs more; leave the number out to get the least",
                "copies 16 is not accepted: their private median would be noise; give more copies, a larger loss, or fewer answers",
            ]
        );
        assert_eq!(wanted(1000).plan().unwrap().with_copies(300).unwrap().guarantee(), Guarantee::Proved);
        let own = wanted(1000).heuristic(64, "2".parse().unwrap()).unwrap();
        assert_eq!((own.guarantee(), own.copies()), (Guarantee::Heuristic, 64));
    }

    #[test]
    fn the_best_phase_balances_beginnings_and_updates() {
        let costs = Costs { init: 1e6, update: 1.0, query: 0.0 };
        let plan = costs.best_plan(&"0.01".parse().unwrap(), 200).unwrap();
        assert!((1 << 18..=1 << 21).contains(&plan.answers()), "{}", plan.answers());
        // About 2·c·sqrt(init·update) with c between 6.5 and 7.5.
        assert!((13_000.0..16_000.0).contains(&costs.per_answer(&plan)), "{}", costs.per_answer(&plan));
    }
}
