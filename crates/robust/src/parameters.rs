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
//! 6. Where only `asked` of the copies answer, each set of that many equally likely and drawn anew for each answer: the
//!    median has the loss `eps` to the copies that are asked, so to all copies `e = ln(1 + (asked/copies)(e^eps - 1))`
//!    ([`amplify`](equipoise_core::amplify)), which is `e²/2`-zero-concentrated; `answers·e²/2 <= l` takes the place of
//!    step 1. Who is asked does not depend on who is off, so step 3 holds with `asked` in the place of `copies`,
//!    and step 4 too. More copies follow the updates, fewer answer: worth it where answering is slow.
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

use super::{
    Guarantee, Oblivious,
    state::{Damaged, Reader, Stored, Writer},
};
use equipoise_core::{
    coins::Coins,
    interval::{Interval, exp_lower, exp_upper, ln_upper},
    loss::{Eps, ParameterError},
    ratio::Ratio,
};
use std::time::Instant;

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
    /// How many of them answer, each time others.
    asked: usize,
    /// The fewest copies for which the theorem holds at this `asked`.
    least: usize,
    eps: Eps,
    /// What all answers of a phase reveal about the coins of one copy.
    rho: Ratio,
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

    /// How rarely the median of step 4 must miss, as a logarithm.
    fn ln_odds_upper(&self) -> Ratio {
        ln_upper(&(Ratio::from(2 * self.answers) * Ratio::from(self.grid as u64) / &self.beta))
    }

    /// The fewest copies whose median is useful at this loss: step 4.
    pub fn least_copies(&self, eps: &Eps) -> Result<usize, ParameterError> {
        self.check()?;
        let copies = Ratio::from(2u64) * self.ln_odds_upper() / ((Ratio::new(1, 2) - gamma()) * eps.ratio());
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
        let rho = self.rho(&eps);
        let ln_inverse_failure = least_ln_inverse_failure(&l, &rho);
        let guarantee = Guarantee::Proved;
        Ok(Plan {
            wanted: self,
            copies,
            asked: copies,
            least: copies,
            eps,
            rho,
            ln_inverse_failure,
            guarantee,
        })
    }

    /// The sizes for which the theorem holds when only so many copies answer each time: step 6.
    pub fn plan_asking(self, asked: usize) -> Result<Plan, ParameterError> {
        self.check()?;
        let refused = |next| Err(ParameterError::out_of_range("copies asked", asked, next));
        if asked < 8 {
            return refused("give at least 8; fewer need astronomically many copies");
        }
        let l = self.l_upper();
        let two_l_over_t = &l * &Ratio::from(2u64) / Ratio::from(self.answers);
        let to_all = Interval::exact(&two_l_over_t, BITS).sqrt().lower().dyadic_down(48);
        let asked_ratio = Ratio::from(asked as u64);
        let eps = Ratio::from(2u64) * self.ln_odds_upper() / ((Ratio::new(1, 2) - gamma()) * &asked_ratio);
        let eps = eps.dyadic_up(48);
        let share = (exp_upper(&eps) - Ratio::one()) / (exp_lower(&to_all) - Ratio::one());
        let copies = (asked_ratio * share).ceil_i64().and_then(|copies| usize::try_from(copies).ok());
        let Some(copies) = copies.filter(|&copies| copies <= 1 << 40) else {
            return refused("so few need astronomically many copies; ask more");
        };
        let copies = copies.max(asked);
        let rho = Ratio::from(self.answers) * to_all.squared() / Ratio::from(2u64);
        let ln_inverse_failure = least_ln_inverse_failure(&l, &rho);
        let (eps, guarantee) = (Eps::new(eps)?, Guarantee::Proved);
        Ok(Plan { wanted: self, copies, asked, least: copies, eps, rho, ln_inverse_failure, guarantee })
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
        let rho = self.rho(&eps);
        let (least, ln_inverse_failure) = (self.least_copies(&eps)?, Ratio::zero());
        let guarantee = Guarantee::Heuristic;
        Ok(Plan { wanted: self, copies, asked: copies, least, eps, rho, ln_inverse_failure, guarantee })
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

    /// How many of the copies answer each time.
    pub fn asked(&self) -> usize {
        self.asked
    }

    /// What one answer reveals about the coins of one copy that was asked.
    pub fn eps(&self) -> &Eps {
        &self.eps
    }

    /// What all answers of a phase reveal about the coins of one copy, as rho.
    pub fn rho(&self) -> &Ratio {
        &self.rho
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
        if copies < self.least {
            return Err(ParameterError::out_of_range(
                "copies",
                copies,
                "the proof needs more; leave the number out to get the least",
            ));
        }
        if self.asked == self.copies {
            self.asked = copies;
        }
        self.copies = copies;
        Ok(self)
    }
}

/// Read back by planning again, so that no stored plan is proved without its conditions.
impl Stored for Plan {
    fn write(&self, out: &mut Writer) {
        out.words([self.wanted.answers, self.wanted.grid as u64, self.copies as u64, self.asked as u64]);
        self.wanted.beta.write(out);
        (self.guarantee == Guarantee::Proved).write(out);
        self.eps.ratio().write(out);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Damaged> {
        let (answers, grid, copies, asked) = (from.word()?, from.size()?, from.size()?, from.size()?);
        let wanted = Wanted { answers, beta: Ratio::read(from)?, grid };
        let proved = bool::read(from)?;
        let eps = Eps::new(Ratio::read(from)?);
        let plan = match (proved, asked == copies) {
            (true, true) => wanted.plan().and_then(|plan| plan.with_copies(copies)),
            (true, false) => wanted.plan_asking(asked).and_then(|plan| plan.with_copies(copies)),
            (false, _) => eps.and_then(|eps| wanted.heuristic(copies, eps)),
        };
        plan.map_err(|_| Damaged::Content("its plan is below the bound of the proof"))
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
    /// Times of one copy that nobody will ask again, in seconds: what it takes to begin, to follow these updates and to
    /// answer once. Of three runs the shortest.
    pub fn measure<A: Oblivious, C: Coins>(
        shape: &A::Shape,
        input: &A::Input,
        updates: &[A::Update],
        question: &A::Question,
        coins: &mut C,
    ) -> Self {
        let runs = [(); 3].map(|()| {
            let start = Instant::now();
            let mut copy = A::init(shape, input, coins);
            let init = start.elapsed().as_secs_f64();
            copy.update_all(updates);
            let update = start.elapsed().as_secs_f64() - init;
            std::hint::black_box(copy.query(question));
            Self { init, update, query: start.elapsed().as_secs_f64() - init - update }
        });
        let least = |of: fn(&Self) -> f64| runs.iter().map(of).fold(f64::INFINITY, f64::min);
        Self {
            init: least(|costs| costs.init),
            update: least(|costs| costs.update),
            query: least(|costs| costs.query),
        }
    }

    /// Time for each answer under this plan: the copies' beginnings spread over the phase, updates and answers.
    pub fn per_answer(&self, plan: &Plan) -> f64 {
        plan.copies as f64 * (self.init / plan.wanted.answers as f64 + self.update)
            + plan.asked as f64 * self.query
    }

    /// The plan with the shortest time for each answer, among phases of a power of two answers, at least so many, in which
    /// all copies answer, or a half, a quarter and so on of them.
    pub fn best_plan(&self, beta: &Ratio, grid: usize, least_power: u32) -> Result<Plan, ParameterError> {
        let mut plans = Vec::new();
        for power in least_power..=30 {
            let wanted = Wanted { answers: 1 << power, beta: beta.clone(), grid };
            let plan = wanted.clone().plan()?;
            let fewer = (1..=4).map(|half| plan.copies >> half).filter(|&asked| asked >= 16);
            plans.extend(fewer.filter_map(|asked| wanted.clone().plan_asking(asked).ok()));
            plans.push(plan);
        }
        let quicker = |a: &Plan, b: &Plan| self.per_answer(a).total_cmp(&self.per_answer(b));
        Ok(plans.into_iter().min_by(quicker).expect("there are plans"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::{assert_refuses_damage, seal, unseal};
    use equipoise_core::{
        amplify::fixed_size_replace,
        loss::{Approx, Delta},
    };

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
            let gap = root(plan.ln_inverse_failure()).sub(&root(plan.rho()));
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
        let gap = root(&mutant).sub(&root(plan.rho()));
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
        let plan = costs.best_plan(&"0.01".parse().unwrap(), 200, 0).unwrap();
        assert!((1 << 18..=1 << 21).contains(&plan.answers()), "{}", plan.answers());
        // About 2·c·sqrt(init·update) with c between 6.5 and 7.5.
        assert!((13_000.0..16_000.0).contains(&costs.per_answer(&plan)), "{}", costs.per_answer(&plan));
    }

    #[test]
    fn asking_some_of_the_copies_costs_what_amplification_says() {
        // The theory page: 70 of some 650 at a thousand answers, against 204 without a choice.
        let plan = wanted(1000).plan_asking(70).unwrap();
        assert_eq!((plan.asked(), plan.copies()), (70, 654));
        let one = Approx::new(plan.eps(), &Delta::zero());
        let loss = fixed_size_replace(&one, 70, plan.copies() as u64).unwrap().eps;
        let rho = Ratio::from(1000u64) * loss.ratio().squared() / Ratio::from(2u64);
        assert!(rho <= wanted(1000).l_upper() && rho > wanted(1000).l_upper() * Ratio::new(99, 100));
        // Mutant: one copy in twenty less reveals more than the copies withstand.
        let loss = fixed_size_replace(&one, 70, plan.copies() as u64 * 19 / 20).unwrap().eps;
        assert!(Ratio::from(500u64) * loss.ratio().squared() > wanted(1000).l_upper());
        assert!(plan.clone().with_copies(653).is_err());
        assert_eq!(plan.with_copies(900).unwrap().asked(), 70);
        for (asked, next) in [(7, "give at least 8"), (8, "so few need")] {
            let error = wanted(1 << 40).plan_asking(asked).unwrap_err().to_string();
            assert!(error.contains(next), "{error}");
        }
        // Worth it only where answers are slow beside updates.
        let beta = "0.01".parse().unwrap();
        let slow_answers = Costs { init: 1e4, update: 1e-6, query: 1.0 };
        let plan = slow_answers.best_plan(&beta, 200, 0).unwrap();
        assert!(plan.asked() < plan.copies() / 4, "{} of {}", plan.asked(), plan.copies());
        let quick_answers = Costs { query: 0.0, ..slow_answers }.best_plan(&beta, 200, 0).unwrap();
        assert_eq!(quick_answers.asked(), quick_answers.copies());
    }

    #[test]
    fn stored_plans_are_planned_again() {
        let own = wanted(1000).heuristic(64, "2".parse().unwrap()).unwrap();
        let plans = [wanted(9).plan().unwrap(), wanted(1000).plan_asking(70).unwrap(), own];
        for plan in plans {
            let bytes = seal(*b"plan\0\0\0\0", |out| plan.write(out));
            assert_eq!(unseal(*b"plan\0\0\0\0", &bytes, Plan::read).unwrap(), plan);
            assert_refuses_damage(&bytes, |bytes| unseal(*b"plan\0\0\0\0", bytes, Plan::read).err());
            // Fewer copies than the proof needs, with a checksum that fits.
            let few = Plan { copies: 5, asked: 5, ..plan };
            let bytes = seal(*b"plan\0\0\0\0", |out| few.write(out));
            let error = unseal(*b"plan\0\0\0\0", &bytes, Plan::read).unwrap_err();
            assert_eq!(error, Damaged::Content("its plan is below the bound of the proof"));
        }
    }
}
