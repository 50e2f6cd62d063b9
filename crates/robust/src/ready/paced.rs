//! Copies whose phases follow one another: beta is spread over them, and they are as long as measured times make quickest.
//!
//! Times are those of copies that nobody asks again, so what is chosen depends on the input and on no coins that matter.

use super::Promise;
use crate::{
    Guarantee, Oblivious,
    copies::{Copies, Spent},
    grid::Grid,
    parameters::{Costs, Plan, Wanted},
    state::{Damaged, Reader, Stored, Writer},
};
use equipoise_core::{coins::Coins, loss::ParameterError, ratio::Ratio};

/// An oblivious algorithm that can work out its own sizes.
pub trait Sizes: Oblivious<Question: 'static> + Stored {
    /// The values that answers can have, and how far off a copy may be, if an answer may be off by alpha.
    fn grid(alpha: &Ratio) -> Result<(Grid, Ratio), ParameterError>;

    /// The shape of copies on this input that are off by more than this as rarely as that.
    fn shape(input: &Self::Input, alpha: &Ratio, ln_inverse: &Ratio) -> Result<Self::Shape, ParameterError>;

    /// Some question, to measure how long one takes.
    fn some_question() -> &'static Self::Question;

    /// Some change that a copy can follow on any input.
    fn some_update() -> Self::Update;
}

/// Sizes for which times are measured: as for this many answers.
const TYPICAL_ANSWERS: u64 = 1 << 12;

/// Measured phases give at least 2^6 answers, so that measuring is a small part of the work.
const LEAST_POWER: u32 = 6;

/// Copies under a promise.
pub(crate) struct Paced<A: Oblivious> {
    promise: Promise,
    copies: Copies<A>,
    /// The phase whose successor has its sizes.
    planned: u64,
    /// Could no sizes be found for the next phase?
    last: bool,
    /// Updates and answers since the last measurement.
    updates: u64,
    answers: u64,
}

/// Times of one copy, an answer for each so many updates.
pub(crate) fn measure<A: Sizes, C: Coins>(
    promise: &Promise,
    input: &A::Input,
    updates_each: f64,
    coins: &mut C,
) -> Result<Costs, ParameterError> {
    let (grid, alpha) = A::grid(promise.alpha()?)?;
    let typical = Wanted { answers: TYPICAL_ANSWERS, beta: promise.beta.clone(), grid: grid.len() }.plan()?;
    let shape = A::shape(input, &alpha, typical.ln_inverse_failure())?;
    let costs = Costs::measure::<A, _>(&shape, input, &[A::some_update()], A::some_question(), coins);
    Ok(Costs { update: costs.update * updates_each, ..costs })
}

/// What phase i may fail with: all of beta where one phase is all, else `beta/(i·(i + 1))`, which sums to beta.
fn beta_of_phase(promise: &Promise, phase: u64) -> Ratio {
    if !promise.keep {
        return promise.beta.clone();
    }
    &promise.beta / &(Ratio::from(phase) * Ratio::from(phase + 1))
}

/// The plan of a phase and the shape of its copies: what costs make quickest, or as declared.
fn sizes<A: Sizes>(
    promise: &Promise,
    phase: u64,
    input: &A::Input,
    costs: Option<&Costs>,
) -> Result<(Plan, A::Shape), ParameterError> {
    let (grid, alpha) = A::grid(promise.alpha()?)?;
    let wanted = Wanted { answers: promise.answers, beta: beta_of_phase(promise, phase), grid: grid.len() };
    let plan = match costs {
        Some(costs) => costs.best_plan(&wanted.beta, grid.len(), LEAST_POWER)?,
        None if promise.asked > 0 => wanted.plan_asking(promise.asked)?,
        None => wanted.plan()?,
    };
    let shape = A::shape(input, &alpha, plan.ln_inverse_failure())?;
    Ok((plan, shape))
}

impl<A: Sizes> Paced<A> {
    /// Copies of proved sizes on this input.
    pub(crate) fn begin<C: Coins>(
        promise: &Promise,
        input: A::Input,
        coins: &mut C,
    ) -> Result<Self, ParameterError> {
        let costs = promise.measured().then(|| measure::<A, _>(promise, &input, 1.0, coins)).transpose()?;
        let (plan, shape) = sizes::<A>(promise, 1, &input, costs.as_ref())?;
        Self::of(promise, plan, shape, input, coins)
    }

    /// Copies under a plan.
    pub(crate) fn of<C: Coins>(
        promise: &Promise,
        plan: Plan,
        shape: A::Shape,
        input: A::Input,
        coins: &mut C,
    ) -> Result<Self, ParameterError> {
        let (grid, _) = A::grid(promise.alpha()?)?;
        let copies = Copies::new(plan, grid, shape, input, promise.keep, coins)?;
        Ok(Self { promise: promise.clone(), copies, planned: 0, last: false, updates: 0, answers: 0 })
    }

    pub(crate) fn copies(&self) -> &Copies<A> {
        &self.copies
    }

    pub(crate) fn update_all(&mut self, updates: &[A::Update]) -> Result<(), (usize, A::Refused)> {
        self.updates += updates.len() as u64;
        self.copies.update_all(updates)
    }

    pub(crate) fn query<C: Coins>(&mut self, question: &A::Question, coins: &mut C) -> Result<i128, Spent> {
        if self.last && self.copies.queries_left() == 0 {
            return Err(Spent::Answers { answers: self.copies.plan().answers() });
        }
        // Before the first answer, because the next phase's copies begin with that.
        if self.copies.phase() != self.planned && self.guarantee() == Guarantee::Proved {
            self.plan_next(coins);
        }
        self.answers += 1;
        self.copies.query(question, coins)
    }

    /// The sizes of the next phase: on the input as it is, for as many updates between answers as there were.
    fn plan_next<C: Coins>(&mut self, coins: &mut C) {
        let Some(input) = self.copies.input() else { return };
        let each = self.updates as f64 / self.answers.max(1) as f64;
        let measured = self.promise.measured().then(|| measure::<A, _>(&self.promise, input, each, coins));
        let phase = self.copies.phase();
        let next = measured
            .transpose()
            .and_then(|costs| sizes::<A>(&self.promise, phase + 1, input, costs.as_ref()))
            .and_then(|(plan, shape)| self.copies.plan_next(plan, shape));
        // Where beta cannot be spread further, this phase is the last.
        self.last = next.is_err();
        (self.planned, self.updates, self.answers) = (phase, 0, 0);
    }

    pub(crate) fn count_answer(&mut self) {
        self.copies.count_answer();
    }

    pub(crate) fn guarantee(&self) -> Guarantee {
        self.copies.guarantee()
    }
}

impl<A: Sizes> Paced<A>
where
    A::Shape: Stored,
    A::Input: Stored,
{
    pub(crate) fn write(&self, out: &mut Writer) {
        self.promise.write(out);
        out.bytes(&self.copies.to_bytes());
    }

    pub(crate) fn read<C: Coins>(from: &mut Reader<'_>, coins: &mut C) -> Result<Self, Damaged> {
        let promise = Promise::read(from)?;
        let copies = Copies::from_bytes(from.bytes()?, coins)?;
        Ok(Self { promise, copies, planned: 0, last: false, updates: 0, answers: 0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        TestWords,
        sketch::{Counts, Item, table::F2},
    };

    #[test]
    fn phases_grow_with_the_input() {
        let mut coins = TestWords(31);
        let promise = Promise { answers: 0, keep: true, alpha: Ratio::one(), ..Promise::default() };
        let input = Counts::new();
        // An input that takes so many times as long to begin on as one update.
        let costs = |init: f64| Costs { init, update: 1.0, query: 0.1 };
        let plans =
            [1.0, 1e3, 1e6].map(|init| sizes::<F2>(&promise, 1, &input, Some(&costs(init))).unwrap().0);
        assert_eq!(plans[0].answers(), 64);
        assert!((256..=4096).contains(&plans[1].answers()), "{}", plans[1].answers());
        assert!(plans[2].answers() >= 1 << 18, "{}", plans[2].answers());
        // What is measured is planned, whatever this machine takes.
        let mut paced = Paced::<F2>::begin(&promise, input, &mut coins).unwrap();
        let items: Vec<Item> = (0..300).map(|key| Item { key, count: 1 }).collect();
        paced.update_all(&items).unwrap();
        paced.query(&(), &mut coins).unwrap();
        assert_eq!((paced.planned, paced.updates, paced.answers), (1, 0, 1));
        assert_eq!(paced.guarantee(), Guarantee::Proved);
    }

    #[test]
    fn the_chances_of_all_phases_sum_to_beta() {
        let mut coins = TestWords(32);
        let promise = Promise { answers: 2, keep: true, alpha: Ratio::one(), ..Promise::default() };
        let mut paced = Paced::<F2>::begin(&promise, Counts::new(), &mut coins).unwrap();
        let mut spent = Ratio::zero();
        for phase in 1..=4 {
            assert_eq!(paced.copies.phase(), phase);
            spent = spent + paced.copies.plan().beta();
            for _ in 0..2 {
                assert_eq!(paced.query(&(), &mut coins).unwrap(), 0);
            }
            // A restored structure goes on with the next phase, not with the same share once more.
            let bytes = crate::state::seal(*b"paced\0\0\0", |out| paced.write(out));
            let read = crate::state::unseal(*b"paced\0\0\0", &bytes, |from| {
                Paced::<F2>::read(from, &mut TestWords(1))
            });
            paced = read.unwrap();
        }
        assert_eq!(spent, Ratio::new(1, 100) * Ratio::new(4, 5));
        let once = Promise { keep: false, ..promise };
        assert_eq!(
            *Paced::<F2>::begin(&once, Counts::new(), &mut coins).unwrap().copies.plan().beta(),
            once.beta
        );
    }
}
