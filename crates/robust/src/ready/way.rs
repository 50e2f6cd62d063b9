//! One sketch in several ways: copies behind a private median, one after another, or behind a monitor.

use super::{
    Promise,
    paced::{Paced, Sizes},
};
use crate::{
    Guarantee, Oblivious,
    choose::Method,
    copies::Spent,
    flips::{self, Flips},
    state::{Damaged, Reader, Stored, Writer},
    switching::{self, Switching},
};
use equipoise_core::{coins::Coins, loss::ParameterError, ratio::Ratio};

pub(crate) enum Way<A: Oblivious> {
    Copies(Paced<A>),
    Switching(Switching<A>),
    Flips(Flips<A>),
}

impl<A: Sizes> Way<A> {
    /// One sketch after another, or copies behind a monitor, on an input: `changes` is how often the answer may change.
    pub(crate) fn of_changes<C: Coins>(
        method: Method,
        promise: &Promise,
        changes: u64,
        input: &A::Input,
        coins: &mut C,
    ) -> Result<Self, ParameterError> {
        let (alpha, beta, answers) = (promise.alpha()?.clone(), promise.beta.clone(), promise.answers);
        let eighth = &alpha / &Ratio::from(8u64);
        if method == Method::Switching {
            let changes = usize::try_from(changes).unwrap_or(usize::MAX);
            let wanted = switching::Wanted { alpha, beta, answers, changes };
            let shape = A::shape(input, &eighth, &wanted.ln_inverse_failure()?)?;
            return Switching::new(wanted, &shape, input, coins).map(Self::Switching);
        }
        // The grid of an answer that may be off by alpha rounds by an eighth of that.
        let (grid, _) = A::grid(&alpha)?;
        let plan = flips::Wanted { alpha, beta, answers, changes, grid: grid.len() }.plan()?;
        let shape = A::shape(input, &eighth, plan.ln_inverse_failure())?;
        Flips::new(plan, grid, &shape, input, coins).map(Self::Flips)
    }

    pub(crate) fn update_all(&mut self, updates: &[A::Update]) -> Result<(), (usize, A::Refused)> {
        match self {
            Self::Copies(copies) => return copies.update_all(updates),
            Self::Switching(switching) => switching.update_all(updates),
            Self::Flips(flips) => flips.update_all(updates),
        }
        Ok(())
    }

    pub(crate) fn query<C: Coins>(&mut self, question: &A::Question, coins: &mut C) -> Result<i128, Spent> {
        match self {
            Self::Copies(copies) => copies.query(question, coins),
            Self::Switching(switching) => switching.query(question),
            Self::Flips(flips) => flips.query(question, coins),
        }
    }

    pub(crate) fn queries_left(&self) -> u64 {
        match self {
            Self::Copies(copies) => copies.copies().queries_left(),
            Self::Switching(switching) => switching.queries_left(),
            Self::Flips(flips) => flips.queries_left(),
        }
    }

    /// How often the answer may still change; `None` without a limit.
    pub(crate) fn changes_left(&self) -> Option<u64> {
        match self {
            Self::Copies(_) => None,
            Self::Switching(switching) => Some(switching.changes_left() as u64),
            Self::Flips(flips) => Some(flips.changes_left()),
        }
    }

    /// Count an answer that was given before, from a log. Sketches used one after another give it again, having no coins to draw.
    pub(crate) fn count_answer(&mut self) {
        match self {
            Self::Copies(copies) => copies.count_answer(),
            Self::Switching(switching) => drop(switching.query(A::some_question())),
            Self::Flips(flips) => flips.count_answer(),
        }
    }

    /// Does it keep its input, so that a stored state has no coins to use twice?
    pub(crate) fn keeps_input(&self) -> bool {
        matches!(self, Self::Copies(copies) if copies.copies().input().is_some())
    }

    pub(crate) fn guarantee(&self) -> Guarantee {
        match self {
            Self::Copies(copies) => copies.guarantee(),
            Self::Switching(switching) => switching.guarantee(),
            Self::Flips(_) => Guarantee::Proved,
        }
    }

    pub(crate) fn copy_count(&self) -> usize {
        match self {
            Self::Copies(copies) => copies.copies().plan().copies(),
            Self::Switching(switching) => switching.changes_left(),
            Self::Flips(flips) => flips.copies(),
        }
    }

    pub(crate) fn space(&self) -> usize {
        match self {
            Self::Copies(copies) => copies.copies().space(),
            Self::Switching(switching) => switching.space(),
            Self::Flips(flips) => flips.space(),
        }
    }
}

impl<A: Sizes> Way<A>
where
    A::Shape: Stored,
    A::Input: Stored,
{
    pub(crate) fn write(&self, out: &mut Writer) {
        match self {
            Self::Copies(copies) => {
                out.word(0);
                copies.write(out);
            }
            Self::Switching(switching) => {
                out.word(1);
                out.bytes(&switching.to_bytes());
            }
            Self::Flips(flips) => {
                out.word(2);
                out.bytes(&flips.to_bytes());
            }
        }
    }

    pub(crate) fn read<C: Coins>(from: &mut Reader<'_>, coins: &mut C) -> Result<Self, Damaged> {
        match from.word()? {
            0 => Paced::read(from, coins).map(Self::Copies),
            1 => Switching::from_bytes(from.bytes()?).map(Self::Switching),
            2 => Flips::from_bytes(from.bytes()?).map(Self::Flips),
            _ => Err(Damaged::Content("it is robust in no known way")),
        }
    }
}
