//! Copies of an oblivious algorithm that answer together, right also for whoever reacts to the answers.
//!
//! Source: 003_82bbcee9e9852ea0.txt, Algorithm B.
//!
//! # Guarantee
//!
//! With [`Guarantee::Proved`]: with probability at least `1 - beta` for each phase, every answer of the phase lies
//! between the lowest and the highest grid value of a copy that is not off, against anyone who chooses updates
//! and questions from the answers so far. If a copy promises `(1 ± alpha)·truth`, the answer lies in
//! that range, rounded down once to the grid.
//!
//! # Why
//!
//! [`parameters`](super::parameters) has the proof. What it asks of the code:
//!
//! 1. Nothing but private medians depends on the copies' coins, and a phase gives at most `plan.answers()` of them.
//! 2. A new phase has fresh coins for every copy. Its copies begin on an input that depends on earlier phases only.
//!    They may begin early, while the phase before still answers: until they are asked, nothing depends on
//!    their coins.
//! 3. An update is checked against the input, never against a copy, so whether it is refused depends on no coins.
//!
//! How long a copy takes may depend on its coins: whoever can time single updates sees more than the proof allows.
//!
//! # Differs
//!
//! The text initialises all copies between two phases, which stalls the answer in between. Here the next phase's
//! copies begin one by one during the phase.

use super::{Guarantee, Oblivious, Shape, grid::Grid, parameters::Plan};
use equipoise_core::{coins::Coins, loss::ParameterError};
use std::fmt;

/// Copies of an oblivious algorithm under a plan.
#[derive(Debug)]
pub struct Copies<A: Oblivious> {
    plan: Plan,
    grid: Grid,
    shape: A::Shape,
    renewal: Renewal<A::Input>,
    running: Vec<A>,
    /// Copies of the next phase that have begun.
    ahead: Vec<A>,
    left: u64,
    phase: u64,
}

/// What happens when a phase has given its answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Renewal<I> {
    /// A new phase begins on the input, which is kept for that: memory for the input, no end of answers.
    Kept(I),
    /// No further answers: memory for the copies only.
    Ends,
}

/// The phase has given all its answers, and there is no input to begin another on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spent {
    /// How many answers were declared.
    pub answers: u64,
}

impl fmt::Display for Spent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "all {} declared answers were given; declare more at the start, or keep the input so that a new phase can begin",
            self.answers
        )
    }
}

impl std::error::Error for Spent {}

impl<A: Oblivious> Copies<A> {
    /// Copies of this shape under this plan, on this input. Refused where the plan is proved and the shape
    /// fails too often for it, or where the grid has more values than planned.
    pub fn new<C: Coins>(
        plan: Plan,
        grid: Grid,
        shape: A::Shape,
        input: A::Input,
        keep: bool,
        coins: &mut C,
    ) -> Result<Self, ParameterError> {
        let known = shape.ln_inverse_failure();
        if plan.guarantee() == Guarantee::Proved && known < *plan.ln_inverse_failure() {
            return Err(ParameterError::out_of_range(
                "shape of a copy with ln(1/failure)",
                known.to_decimal_up(2),
                "the plan needs copies that fail more rarely; give a larger shape or ask for a heuristic plan",
            ));
        }
        if grid.len() > plan.grid() {
            return Err(ParameterError::out_of_range("grid", grid.len(), "the plan allows fewer values"));
        }
        let running = (0..plan.copies()).map(|_| A::init(&shape, &input, coins)).collect();
        let renewal = if keep { Renewal::Kept(input) } else { Renewal::Ends };
        Ok(Self { left: plan.answers(), plan, grid, shape, renewal, running, ahead: Vec::new(), phase: 1 })
    }

    /// Follow one change of the input. A refused one changes nothing.
    pub fn update(&mut self, update: &A::Update) -> Result<(), A::Refused> {
        if let Renewal::Kept(input) = &mut self.renewal {
            A::apply(input, update)?;
        }
        for copy in self.running.iter_mut().chain(&mut self.ahead) {
            copy.update(update);
        }
        Ok(())
    }

    /// Follow many changes, copy by copy. Stops at the first that is refused, and says how many were carried out.
    pub fn update_all(&mut self, updates: &[A::Update]) -> Result<(), (usize, A::Refused)> {
        let mut good = updates.len();
        let mut refused = None;
        if let Renewal::Kept(input) = &mut self.renewal {
            for (index, update) in updates.iter().enumerate() {
                if let Err(error) = A::apply(input, update) {
                    (good, refused) = (index, Some(error));
                    break;
                }
            }
        }
        for copy in self.running.iter_mut().chain(&mut self.ahead) {
            copy.update_all(&updates[..good]);
        }
        refused.map_or(Ok(()), |error| Err((good, error)))
    }

    /// The private median of the copies' answers.
    pub fn query<C: Coins>(&mut self, question: &A::Question, coins: &mut C) -> Result<i128, Spent> {
        if self.left == 0 {
            self.begin_phase(coins)?;
        }
        self.left -= 1;
        let numbers: Vec<i128> = self.running.iter_mut().map(|copy| copy.query(question)).collect();
        let answer = self.grid.median(self.plan.eps().clone()).run(&numbers, coins);
        self.begin_copies_ahead(coins);
        Ok(answer)
    }

    /// A share of the next phase's copies that grows with the answers given.
    fn begin_copies_ahead<C: Coins>(&mut self, coins: &mut C) {
        let Renewal::Kept(input) = &self.renewal else { return };
        let given = u128::from(self.plan.answers() - self.left);
        let due = given * self.plan.copies() as u128 / u128::from(self.plan.answers());
        while (self.ahead.len() as u128) < due {
            self.ahead.push(A::init(&self.shape, input, coins));
        }
    }

    fn begin_phase<C: Coins>(&mut self, coins: &mut C) -> Result<(), Spent> {
        if matches!(self.renewal, Renewal::Ends) {
            return Err(Spent { answers: self.plan.answers() });
        }
        self.begin_copies_ahead(coins);
        self.running = std::mem::take(&mut self.ahead);
        self.left = self.plan.answers();
        self.phase += 1;
        Ok(())
    }

    /// How many answers this phase still gives.
    pub fn queries_left(&self) -> u64 {
        self.left
    }

    /// The number of the phase, from one.
    pub fn phase(&self) -> u64 {
        self.phase
    }

    /// What stands behind the answers.
    pub fn guarantee(&self) -> Guarantee {
        self.plan.guarantee()
    }

    /// The plan.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Bytes of memory of all copies, about.
    pub fn space(&self) -> usize {
        self.running.iter().chain(&self.ahead).map(A::space).sum()
    }

    /// The input as it is kept, if it is.
    pub fn input(&self) -> Option<&A::Input> {
        match &self.renewal {
            Renewal::Kept(input) => Some(input),
            Renewal::Ends => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{TestWords, parameters::Wanted};
    use equipoise_core::ratio::Ratio;

    /// Counts, and answers with an error of its own coins: off by a hundred in one of `2^rarely` copies.
    #[derive(Debug)]
    struct Counter {
        count: i128,
        off: bool,
        key: u64,
    }

    #[derive(Clone, Debug)]
    struct Rarely(u32);

    impl Shape for Rarely {
        fn ln_inverse_failure(&self) -> Ratio {
            // ln 2 > 69/100.
            Ratio::from(u64::from(self.0)) * Ratio::new(69, 100)
        }
    }

    impl Oblivious for Counter {
        type Shape = Rarely;
        type Input = i128;
        type Update = i64;
        type Question = ();
        type Refused = String;

        fn apply(input: &mut i128, update: &i64) -> Result<(), String> {
            let next = *input + i128::from(*update);
            if next < 0 {
                return Err(format!("{next} is below zero"));
            }
            *input = next;
            Ok(())
        }

        fn init<C: Coins>(shape: &Rarely, input: &i128, coins: &mut C) -> Self {
            Self { count: *input, off: coins.bits(shape.0) == 0, key: coins.bits(64) }
        }

        fn update(&mut self, update: &i64) {
            self.count += i128::from(*update);
        }

        fn query(&mut self, (): &()) -> i128 {
            self.count + if self.off { 100 } else { 0 }
        }

        fn space(&self) -> usize {
            size_of::<Self>()
        }
    }

    fn copies(rarely: u32) -> Result<Copies<Counter>, ParameterError> {
        let grid = Grid::growing(&"0.1".parse().unwrap(), 1 << 20).unwrap();
        let plan = Wanted { answers: 20, beta: "0.1".parse().unwrap(), grid: grid.len() }.plan().unwrap();
        Copies::new(plan, grid, Rarely(rarely), 0, true, &mut TestWords(1))
    }

    #[test]
    fn answers_are_right_and_phases_have_fresh_coins() {
        let mut coins = TestWords(2);
        let mut copies = copies(64).unwrap();
        let mut keys: Vec<u64> = copies.running.iter().map(|copy| copy.key).collect();
        for step in 1..=100u64 {
            copies.update(&10).unwrap();
            let answer = copies.query(&(), &mut coins).unwrap();
            let truth = i128::from(step) * 10;
            assert!(answer <= truth && answer * 11 >= truth * 10 - 10, "{answer} for {truth}");
            assert_eq!(copies.queries_left(), (100 - step) % 20);
            if copies.queries_left() == 19 && step > 1 {
                keys.extend(copies.running.iter().map(|copy| copy.key));
            }
        }
        assert_eq!((copies.phase(), copies.guarantee()), (5, Guarantee::Proved));
        keys.sort_unstable();
        keys.dedup();
        assert_eq!(keys.len(), 5 * copies.plan().copies(), "no copy serves two phases");
    }

    #[test]
    fn a_shape_that_fails_too_often_is_refused() {
        let error = copies(20).unwrap_err().to_string();
        assert_eq!(
            error,
            "shape of a copy with ln(1/failure) 13.8 is not accepted: the plan needs copies that fail more rarely; give a larger shape or ask for a heuristic plan"
        );
    }

    #[test]
    fn refused_updates_and_spent_answers_leave_a_usable_structure() {
        let mut coins = TestWords(2);
        let mut copies = copies(64).unwrap();
        assert_eq!(copies.update(&-1).unwrap_err(), "-1 is below zero");
        assert_eq!(copies.update_all(&[5, 5, -11, 7]).unwrap_err(), (2, "-1 is below zero".to_string()));
        assert_eq!(copies.query(&(), &mut coins).unwrap(), 10);
        copies.renewal = Renewal::Ends;
        for _ in 1..20 {
            copies.query(&(), &mut coins).unwrap();
        }
        assert_eq!(copies.query(&(), &mut coins).unwrap_err(), Spent { answers: 20 });
        copies.update(&1).unwrap();
        assert!(
            copies.query(&(), &mut coins).unwrap_err().to_string().starts_with("all 20 declared answers")
        );
    }
}
