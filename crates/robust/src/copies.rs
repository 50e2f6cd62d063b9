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
//!    their coins. Its sizes may be others, chosen from the input and from times of copies that nobody asks.
//! 3. Where a plan asks some of the copies, they are chosen anew, uniformly and in secret, for each answer.
//! 4. An update is checked against the input, never against a copy, so whether it is refused depends on no coins.
//!
//! How long a copy takes may depend on its coins: whoever can time single updates sees more than the proof allows.
//!
//! # Differs
//!
//! The text initialises all copies between two phases, which stalls the answer in between. Here the next phase's
//! copies begin one by one during the phase.

use super::{
    Guarantee, Oblivious, Shape, fits_memory,
    grid::Grid,
    parameters::Plan,
    state::{Damaged, Kind, Stored, seal, unseal},
};
use equipoise_core::{coins::Coins, loss::ParameterError, sampler::uniform::Below};
use std::fmt;

/// Is the shape good enough for the plan, the grid not too large, and memory enough for all?
fn fits(plan: &Plan, grid: &Grid, shape: &impl Shape) -> Result<(), ParameterError> {
    fits_memory(plan.copies(), shape)?;
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
    Ok(())
}

/// Copies of an oblivious algorithm under a plan.
#[derive(Debug)]
pub struct Copies<A: Oblivious> {
    plan: Plan,
    grid: Grid,
    shape: A::Shape,
    renewal: Renewal<A::Input>,
    running: Vec<A>,
    /// The places of the running copies, in the order in which the last choice left them.
    order: Vec<usize>,
    /// Copies of the next phase that have begun.
    ahead: Vec<A>,
    /// The sizes of the next phase, where they differ from these.
    next: Option<(Plan, A::Shape)>,
    left: u64,
    phase: u64,
}

/// What a structure begins with, or goes on from.
struct Begun<A: Oblivious> {
    plan: Plan,
    grid: Grid,
    shape: A::Shape,
    renewal: Renewal<A::Input>,
    running: Vec<A>,
    left: Option<u64>,
    phase: u64,
}

/// Bring a set of `count` items to the front, each set equally likely whatever the order was. All of them need no coins.
fn choose_first<T, C: Coins>(items: &mut [T], count: usize, coins: &mut C) {
    if count == items.len() {
        return;
    }
    for place in 0..count {
        let from = coins.sample(&Below((items.len() - place) as u64));
        items.swap(place, place + usize::try_from(from).expect("an index"));
    }
}

/// What happens when a phase has given its answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Renewal<I> {
    /// A new phase begins on the input, which is kept for that: memory for the input, no end of answers.
    Kept(I),
    /// No further answers: memory for the copies only.
    Ends,
}

/// Nothing more can be answered. Updates are still followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spent {
    /// All answers were given, and there is no input to begin another phase on.
    Answers {
        /// How many were declared.
        answers: u64,
    },
    /// The answer has changed as often as planned.
    Changes {
        /// How often that was.
        changes: u64,
    },
}

impl fmt::Display for Spent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Answers { answers } => write!(
                f,
                "all {answers} declared answers were given; declare more at the start, or keep the input so that a new phase can begin"
            ),
            Self::Changes { changes } => write!(
                f,
                "the answer has changed {changes} times, as often as planned; plan more changes at the start, or use copies"
            ),
        }
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
        fits(&plan, &grid, &shape)?;
        let running = (0..plan.copies()).map(|_| A::init(&shape, &input, coins)).collect();
        let renewal = if keep { Renewal::Kept(input) } else { Renewal::Ends };
        Ok(Self::begun(Begun { plan, grid, shape, renewal, running, left: None, phase: 1 }))
    }

    fn begun(begun: Begun<A>) -> Self {
        let Begun { plan, grid, shape, renewal, running, left, phase } = begun;
        let left = left.unwrap_or(plan.answers());
        let order = (0..plan.copies()).collect();
        Self { plan, grid, shape, renewal, running, order, ahead: Vec::new(), next: None, left, phase }
    }

    /// Other sizes from the next phase on. Without effect once its copies have begun, or where no phase follows.
    pub fn plan_next(&mut self, plan: Plan, shape: A::Shape) -> Result<(), ParameterError> {
        fits(&plan, &self.grid, &shape)?;
        if self.ahead.is_empty() && matches!(self.renewal, Renewal::Kept(_)) {
            self.next = Some((plan, shape));
        }
        Ok(())
    }

    /// The sizes of the next phase.
    fn coming(&self) -> (&Plan, &A::Shape) {
        self.next.as_ref().map_or((&self.plan, &self.shape), |(plan, shape)| (plan, shape))
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
        choose_first(&mut self.order, self.plan.asked(), coins);
        let asked = self.order[..self.plan.asked()].iter();
        let numbers: Vec<i128> = asked.map(|&copy| self.running[copy].query(question)).collect();
        let answer = self.grid.median(self.plan.eps().clone()).run(&numbers, coins);
        self.begin_copies_ahead(coins);
        Ok(answer)
    }

    /// A share of the next phase's copies that grows with the answers given.
    fn begin_copies_ahead<C: Coins>(&mut self, coins: &mut C) {
        let Renewal::Kept(input) = &self.renewal else { return };
        let (plan, shape) = self.coming();
        let given = u128::from(self.plan.answers() - self.left);
        let due = given * plan.copies() as u128 / u128::from(self.plan.answers());
        let due = usize::try_from(due).expect("at most the copies of a plan");
        let more = (self.ahead.len()..due).map(|_| A::init(shape, input, coins)).collect::<Vec<_>>();
        self.ahead.extend(more);
    }

    fn begin_phase<C: Coins>(&mut self, coins: &mut C) -> Result<(), Spent> {
        if matches!(self.renewal, Renewal::Ends) {
            return Err(Spent::Answers { answers: self.plan.answers() });
        }
        self.begin_copies_ahead(coins);
        self.running = std::mem::take(&mut self.ahead);
        if let Some((plan, shape)) = self.next.take() {
            (self.plan, self.shape) = (plan, shape);
            self.order = (0..self.plan.copies()).collect();
        }
        self.left = self.plan.answers();
        self.phase += 1;
        Ok(())
    }

    /// Count one answer that was given before: how a structure is rebuilt from a log.
    pub fn count_answer(&mut self) {
        self.left = self.left.saturating_sub(1);
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

const KIND: Kind = *b"copies\0\0";

impl<A: Oblivious + Stored> Copies<A>
where
    A::Shape: Stored,
    A::Input: Stored,
{
    /// The state as bytes: the input where it is kept, else the copies with their keys and how many answers are left.
    /// Keep them secret.
    pub fn to_bytes(&self) -> Vec<u8> {
        seal(KIND, |out| {
            let (plan, shape) = self.coming();
            plan.write(out);
            self.grid.write(out);
            shape.write(out);
            match &self.renewal {
                Renewal::Kept(input) => {
                    // A phase that has answered is over, because its coins are not stored.
                    out.words([1, self.phase + u64::from(self.left < self.plan.answers())]);
                    input.write(out);
                }
                Renewal::Ends => {
                    out.words([0, self.phase, self.left]);
                    self.running.write(out);
                }
            }
        })
    }

    /// Go on from a stored state. Where the input was kept, a phase begins with fresh coins, however often a state is
    /// read; otherwise go on from each state once only, because its coins are the same each time.
    pub fn from_bytes<C: Coins>(bytes: &[u8], coins: &mut C) -> Result<Self, Damaged> {
        unseal(KIND, bytes, |from| {
            let (plan, grid, shape) = (Plan::read(from)?, Grid::read(from)?, A::Shape::read(from)?);
            fits(&plan, &grid, &shape)
                .map_err(|_| Damaged::Content("its copies are too small for its plan"))?;
            let (kept, phase) = (bool::read(from)?, from.word()?);
            let (renewal, running, left);
            if kept {
                let input = A::Input::read(from)?;
                running = (0..plan.copies()).map(|_| A::init(&shape, &input, coins)).collect();
                (renewal, left) = (Renewal::Kept(input), plan.answers());
            } else {
                left = from.word()?;
                running = Vec::<A>::read(from)?;
                renewal = Renewal::Ends;
            }
            if running.len() != plan.copies() || left > plan.answers() {
                return Err(Damaged::Content("its copies or answers are not those of its plan"));
            }
            Ok(Self::begun(Begun { plan, grid, shape, renewal, running, left: Some(left), phase }))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        TestWords,
        parameters::Wanted,
        state::{assert_refuses_damage, assert_survives_nonsense},
        test_counter::{Counter, Rarely},
    };
    use equipoise_core::tape::enumerate;

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
        assert_eq!(copies.query(&(), &mut coins).unwrap_err(), Spent::Answers { answers: 20 });
        copies.update(&1).unwrap();
        assert!(
            copies.query(&(), &mut coins).unwrap_err().to_string().starts_with("all 20 declared answers")
        );
    }

    #[test]
    fn kept_input_goes_on_with_fresh_coins_and_copies_with_their_own() {
        let mut coins = TestWords(5);
        let keys = |copies: &Copies<Counter>| copies.running.iter().map(|copy| copy.key).collect::<Vec<_>>();
        let mut copies = copies(64).unwrap();
        copies.update(&1000).unwrap();
        copies.query(&(), &mut coins).unwrap();
        let bytes = copies.to_bytes();
        let mut restored: Vec<Copies<Counter>> =
            (0..2).map(|_| Copies::from_bytes(&bytes, &mut coins).unwrap()).collect();
        assert!(keys(&restored[0]) != keys(&copies) && keys(&restored[0]) != keys(&restored[1]));
        assert_eq!((restored[0].queries_left(), restored[0].phase()), (20, 2));
        restored[0].update(&1000).unwrap();
        let answer = restored[0].query(&(), &mut coins).unwrap();
        assert!((1800..=2000).contains(&answer), "{answer}");
        copies.renewal = Renewal::Ends;
        let bytes = copies.to_bytes();
        let again = Copies::<Counter>::from_bytes(&bytes, &mut coins).unwrap();
        assert_eq!((keys(&again), again.queries_left(), again.phase()), (keys(&copies), 19, 1));
        let damage = |bytes: &[u8]| Copies::<Counter>::from_bytes(bytes, &mut TestWords(1)).err();
        assert_refuses_damage(&bytes, damage);
        assert_survives_nonsense(&bytes, damage);
        // Copies that fail too often for a proved plan are refused, with a checksum that fits.
        copies.shape = Rarely(20);
        let error = Copies::<Counter>::from_bytes(&copies.to_bytes(), &mut coins).unwrap_err();
        assert_eq!(error, Damaged::Content("its copies are too small for its plan"));
    }

    #[test]
    fn the_next_phase_may_have_other_sizes() {
        let mut coins = TestWords(7);
        let mut copies = copies(128).unwrap();
        let first = copies.plan().copies();
        copies.update(&1000).unwrap();
        let grid = copies.plan().grid();
        let wanted = |answers| Wanted { answers, beta: "0.1".parse().unwrap(), grid };
        let (longer, longest) = (wanted(200).plan().unwrap(), wanted(1 << 30).plan().unwrap());
        // Copies that fail too often for so long a phase.
        assert!(copies.plan_next(longest, Rarely(64)).is_err());
        copies.plan_next(longer.clone(), Rarely(100)).unwrap();
        assert_eq!((copies.plan().copies(), copies.queries_left()), (first, 20));
        let stored = Copies::<Counter>::from_bytes(&copies.to_bytes(), &mut coins).unwrap();
        assert_eq!((stored.plan(), stored.queries_left()), (&longer, 200));
        for _ in 0..21 {
            let answer = copies.query(&(), &mut coins).unwrap();
            assert!((900..=1000).contains(&answer), "{answer}");
        }
        assert_eq!((copies.plan(), copies.queries_left()), (&longer, 199));
        assert_eq!((copies.running.len(), copies.order.len()), (longer.copies(), longer.copies()));
        // Too late: the next phase's copies have begun.
        for _ in 0..10 {
            copies.query(&(), &mut coins).unwrap();
        }
        copies.plan_next(wanted(9).plan().unwrap(), Rarely(128)).unwrap();
        assert_eq!(copies.coming().0, &longer);
    }

    #[test]
    fn every_set_of_asked_copies_is_equally_likely() {
        let law = enumerate(&"1e-9".parse().unwrap(), |coins| {
            let mut places = [3, 0, 4, 1, 2];
            choose_first(&mut places, 2, coins);
            places[..2].sort_unstable();
            [places[0], places[1]]
        });
        assert_eq!(law.iter().count(), 10);
        for (_, mass) in law.iter() {
            assert!((mass.to_f64() - 0.1).abs() < 1e-6);
        }
        // They answer as all would.
        let grid = Grid::growing(&"0.1".parse().unwrap(), 1 << 20).unwrap();
        let wanted = Wanted { answers: 20, beta: "0.1".parse().unwrap(), grid: grid.len() };
        let plan = wanted.plan_asking(20).unwrap();
        assert_eq!((plan.asked(), plan.copies()), (20, 103));
        let mut coins = TestWords(8);
        let mut copies = Copies::<Counter>::new(plan, grid, Rarely(64), 0, true, &mut coins).unwrap();
        for step in 1..=30i128 {
            copies.update(&10).unwrap();
            let answer = copies.query(&(), &mut coins).unwrap();
            assert!(answer <= 10 * step && answer * 11 >= 100 * step - 10, "{answer} at {step}");
        }
    }
}
