//! Several statistics for each group of records, whose keys are found once for all of them.
//!
//! # Guarantee
//!
//! Under add/remove, for rows: one row has one key, so its coming or going changes one group. Finding the keys costs a share of
//! epsilon and delta once ([`histogram_keys`](equipoise_core::mechanism::histogram_keys)); the answers of the one group that changes
//! cost the rest together, each its part, whatever the number of groups. A key that only one row has is told with probability at most
//! the delta of the keys; else both data sets tell it and the answers compose. Keys that are stated cost nothing. A range that nobody
//! declared is searched once for all groups and for all moments of the same column, which share one set of noisy sums in each group
//! ([`Pooled`](super::Pooled)), and is paid for by their parts. What people lose follows from what a row loses,
//! of all statistics together. Under replace two groups change; the add/remove form runs at a price of which two steps cost what was said.

use super::{
    Answering, Task,
    groups::{GroupedStatistic, Keys, in_steps, keys_share},
    histogram::{needs_delta, stated_keys},
    stages::SharedRange,
};
use crate::{
    answer::{Answer, Group, MOST_TOLD},
    error::PlanError,
    need::Need,
    resolved::ResolvedRequest,
    row_facts::{Ask, RowFacts},
    source::ColumnRead,
    statistic::Statistic,
};
use equipoise_core::{
    adjacency::Adjacency,
    coins::Coins,
    loss::{Delta, Eps, Loss},
    mechanism::histogram_keys::HistogramKeys,
    ratio::Ratio,
};

/// Questions about groups that one mechanism answers, and that others are about too.
pub(crate) struct Joined<'a> {
    /// What is planned for them.
    pub said: &'a ResolvedRequest<'a>,
    /// Which they are, and what each asks for.
    pub questions: Vec<(usize, Statistic)>,
    /// Their part of epsilon, of one.
    pub eps: Ratio,
    /// Their part of delta, of one.
    pub delta: Ratio,
}

/// Several tasks for each group.
#[derive(Clone, Debug)]
pub(crate) struct Together {
    by: Vec<ColumnRead>,
    keys: Keys,
    tasks: Vec<Answered>,
    cost: Loss,
    /// How many steps of add/remove one step of what was asked for is.
    steps: u64,
}

/// A task, and the questions that it answers.
#[derive(Clone, Debug)]
struct Answered {
    task: Task,
    questions: Vec<usize>,
}

/// The part of epsilon that finds the keys: each question wants as much for its answer, compared with the keys, as it would alone.
fn keys_share_of(statistics: impl Iterator<Item = Statistic>) -> Ratio {
    let for_answer = |statistic| keys_share(statistic).recip() - Ratio::one();
    (Ratio::one() + statistics.map(for_answer).fold(Ratio::zero(), |sum, one| sum + one)).recip()
}

impl Together {
    /// Calibrate the keys and each mechanism. `whole` has the price of all questions; what is planned for some of them, beside their
    /// task, is handed back in `task`. An error says which question it is about.
    pub fn plan(
        whole: &ResolvedRequest,
        joined: &[Joined<'_>],
        mut task: impl FnMut(usize, &ResolvedRequest) -> Result<Task, PlanError>,
    ) -> Result<Self, (usize, PlanError)> {
        let first = |error: PlanError| (0, error);
        let by: Vec<ColumnRead> = whole.group_by().iter().map(|&column| whole.key(column)).collect();
        let single = whole.in_single_steps().map_err(first)?;
        let (eps, delta) = (single.eps().ratio(), single.delta().ratio());
        let stated = stated_keys(whole, &by).map_err(first)?;
        if stated.is_none() && delta.is_zero() {
            return Err(first(needs_delta()));
        }
        let asked = joined.iter().flat_map(|some| some.questions.iter().map(|(_, statistic)| *statistic));
        let share = if stated.is_some() { Ratio::zero() } else { keys_share_of(asked) };
        let left = Ratio::one() - &share;
        let mut keys_delta = Ratio::zero();
        let mut tasks = Vec::new();
        for (place, some) in joined.iter().enumerate() {
            let delta = delta * &some.delta;
            // Half of the delta of a question whose mechanism needs one goes to the keys that are found, and all of that of the others.
            let own = match &stated {
                Some(_) => delta.clone(),
                None if some.said.needs_delta() => &delta / &Ratio::from(2u64),
                None => Ratio::zero(),
            };
            keys_delta = keys_delta + &delta - &own;
            let planned = Eps::new(eps * &some.eps * &left)
                .and_then(|eps| Ok((eps, Delta::new(own)?)))
                .map_err(PlanError::from)
                .and_then(|(eps, delta)| task(place, &some.said.part_of(&single, eps, delta)));
            let questions: Vec<usize> = some.questions.iter().map(|(number, _)| *number).collect();
            let number = questions.first().copied().unwrap_or_default();
            tasks.push(Answered { task: planned.map_err(|error| (number, error))?, questions });
        }
        if let Some(keys) = stated {
            let pure = whole.delta().is_zero();
            let cost = if pure { Loss::pure(whole.eps()) } else { Loss::approx(whole.eps(), whole.delta()) };
            return Ok(Self { by, keys: Keys::Stated(keys), tasks, cost, steps: whole.single_steps() });
        }
        let keys = HistogramKeys {
            eps: Eps::new(eps * &share).map_err(|error| first(error.into()))?,
            delta: Delta::new(keys_delta).map_err(|error| first(error.into()))?,
            max_keys_per_unit: whole.groups_per_unit(),
            adjacency: Adjacency::AddRemove,
        };
        let keys = Keys::found(keys.calibrate().map_err(|error| first(error.into()))?);
        let (cost, steps) = (Loss::approx(whole.eps(), whole.delta()), whole.single_steps());
        Ok(Self { by, keys, tasks, cost, steps })
    }

    /// What a run costs under the adjacency that was asked for.
    pub fn cost(&self) -> &Loss {
        &self.cost
    }

    /// What the keys and each answer lose, in parts.
    pub fn losses(&self) -> Vec<Loss> {
        let answers = self.tasks.iter().flat_map(|answered| answered.task.losses());
        in_steps(self.keys.cost().into_iter().chain(answers), self.steps)
            .unwrap_or_else(|| vec![self.cost.clone()])
    }

    /// Are the keys found?
    pub fn finds_keys(&self) -> bool {
        matches!(self.keys, Keys::Found { .. })
    }

    /// A question as if it stood alone with the same keys: for what is told of it beforehand.
    pub fn only(&self, task: Task) -> Task {
        Task::Groups(Box::new(GroupedStatistic::with(&self.by, &self.keys, task, self.cost.clone())))
    }

    /// What it needs of the rows.
    pub fn needs(&self) -> Vec<Need> {
        let grouped = |need| Need::Grouped { by: self.by.clone(), need: Box::new(need) };
        let tasks = || self.tasks.iter().map(|one| &one.task);
        let of_groups = tasks().flat_map(Answering::needs).chain([Need::Records]).map(grouped);
        of_groups.chain(tasks().filter_map(Answering::shared_need)).collect()
    }

    /// One answer for each question, all of them for the same keys. Never fails, whatever was gathered.
    pub fn answer<C: Coins>(&self, gathered: &dyn RowFacts, coins: &mut C) -> Vec<Answer> {
        let groups = gathered.groups(&self.by);
        let most = MOST_TOLD / self.tasks.iter().map(|one| one.task.answers()).sum::<usize>();
        let questions: usize = self.tasks.iter().map(|one| one.questions.len()).sum();
        let Some((keys, written)) = self.keys.told(&*groups, most, coins) else {
            return (0..questions).map(|_| Answer::too_many_groups()).collect();
        };
        let shared: Vec<Option<SharedRange>> =
            self.tasks.iter().map(|one| one.task.shared(gathered, coins)).collect();
        let none: Vec<Option<Group>> = keys.iter().map(|_| None).collect();
        let mut answers: Vec<Vec<Option<Group>>> = vec![none; questions];
        let asks: Vec<Ask> =
            self.tasks.iter().zip(&shared).flat_map(|(one, shared)| one.task.asks(shared.as_ref())).collect();
        groups.each_of(&written, &asks, &mut |place, group| {
            for (Answered { task, questions }, shared) in self.tasks.iter().zip(&shared) {
                let told = task.answers_group(shared.as_ref(), group, coins);
                for (&question, answer) in questions.iter().zip(told) {
                    answers[question][place] = Some(answer.into_group(&keys[place]));
                }
            }
        });
        let grouped = |answers: Vec<Option<Group>>| {
            Answer::grouped(answers.into_iter().flatten().collect(), || self.keys.advice())
        };
        answers.into_iter().map(grouped).collect()
    }

    /// What the keys and the answers of one group cost under add/remove, added up.
    #[cfg(test)]
    pub fn spent(&self) -> Loss {
        let of = |one: &Answered| match &one.task {
            Task::Summary(task) => task.spent(Adjacency::AddRemove),
            Task::Pooled(task) => task.spent(Adjacency::AddRemove),
            task => task.cost(),
        };
        let keys = match &self.keys {
            Keys::Found { keys, .. } => Some(keys.cost()),
            Keys::Stated(_) => None,
        };
        let parts = keys.into_iter().chain(self.tasks.iter().map(of));
        parts.reduce(|sum, one| sum.compose(&one)).expect("some question")
    }
}
