//! Several statistics for each group of records, whose keys are found once for all of them.
//!
//! # Guarantee
//!
//! Under add/remove, for rows: one row has one key, so its coming or going changes one group. Finding the keys costs a share of
//! epsilon and delta once ([`histogram_keys`](equipoise_core::mechanism::histogram_keys)); the answers of the one group that changes
//! cost the rest together, each its part, whatever the number of groups. A key that only one row has is told with probability at most
//! the delta of the keys; else both data sets tell it and the answers compose. A range that nobody declared is searched once for all
//! groups, for each statistic that needs one, and is paid for by that statistic's part. What people lose follows from what a row loses,
//! of all statistics together. Under replace two groups change; the add/remove form runs at a price of which two steps cost what was said.

use super::{
    Answering, Task,
    groups::{GroupedStatistic, Keys, keys_share},
    histogram::needs_delta,
    stages::SharedRange,
};
use crate::{
    answer::{Answer, Group, MOST_TOLD},
    error::PlanError,
    gather::ScanResult,
    need::Need,
    resolved::ResolvedRequest,
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

/// A question about groups that others are about too.
pub(crate) struct Joined<'a> {
    /// What it asks.
    pub said: &'a ResolvedRequest<'a>,
    /// Its part of epsilon, of one.
    pub eps: Ratio,
    /// Its part of delta, of one.
    pub delta: Ratio,
}

/// Several tasks for each group.
#[derive(Clone, Debug)]
pub(crate) struct Together {
    by: Vec<ColumnRead>,
    keys: Keys,
    tasks: Vec<Task>,
    cost: Loss,
}

/// The part of epsilon that finds the keys: each question wants as much for its answer, compared with the keys, as it would alone.
fn keys_share_of(statistics: impl Iterator<Item = Statistic>) -> Ratio {
    let for_answer = |statistic| keys_share(statistic).recip() - Ratio::one();
    (Ratio::one() + statistics.map(for_answer).fold(Ratio::zero(), |sum, one| sum + one)).recip()
}

impl Together {
    /// Calibrate the keys and each question. `whole` has the price of all of them; what is planned for one question, beside its
    /// task, is handed back in `task`. An error says which question it is about.
    pub fn plan(
        whole: &ResolvedRequest,
        questions: &[Joined<'_>],
        mut task: impl FnMut(&ResolvedRequest) -> Result<Task, PlanError>,
    ) -> Result<Self, (usize, PlanError)> {
        let first = |error: PlanError| (0, error);
        let by = whole.group_by().iter().map(|&column| whole.key(column)).collect();
        let single = whole.in_single_steps().map_err(first)?;
        let (eps, delta) = (single.eps().ratio(), single.delta().ratio());
        if delta.is_zero() {
            return Err(first(needs_delta()));
        }
        let share = keys_share_of(questions.iter().map(|question| question.said.statistic()));
        let left = Ratio::one() - &share;
        let mut keys_delta = Ratio::zero();
        let mut tasks = Vec::new();
        for (number, question) in questions.iter().enumerate() {
            let delta = delta * &question.delta;
            // Half of the delta of a question whose mechanism needs one goes to the keys, and all of that of the others.
            let own = if question.said.needs_delta() { &delta / &Ratio::from(2u64) } else { Ratio::zero() };
            keys_delta = keys_delta + &delta - &own;
            let planned = Eps::new(eps * &question.eps * &left)
                .and_then(|eps| Ok((eps, Delta::new(own)?)))
                .map_err(PlanError::from)
                .and_then(|(eps, delta)| task(&question.said.part_of(&single, eps, delta)));
            tasks.push(planned.map_err(|error| (number, error))?);
        }
        let keys = HistogramKeys {
            eps: Eps::new(eps * &share).map_err(|error| first(error.into()))?,
            delta: Delta::new(keys_delta).map_err(|error| first(error.into()))?,
            max_keys_per_unit: whole.groups_per_unit(),
            adjacency: Adjacency::AddRemove,
        };
        let keys = Keys::found(keys.calibrate().map_err(|error| first(error.into()))?);
        Ok(Self { by, keys, tasks, cost: Loss::approx(whole.eps(), whole.delta()) })
    }

    /// What a run costs under the adjacency that was asked for.
    pub fn cost(&self) -> &Loss {
        &self.cost
    }

    /// One of the questions as if it stood alone with the same keys: for what is told of it beforehand.
    pub fn only(&self, number: usize) -> Task {
        let task = self.tasks[number].clone();
        Task::Groups(Box::new(GroupedStatistic::with(&self.by, &self.keys, task, self.cost.clone())))
    }

    /// What it needs of the rows.
    pub fn needs(&self) -> Vec<Need> {
        let grouped = |need| Need::Grouped { by: self.by.clone(), need: Box::new(need) };
        let of_groups = self.tasks.iter().flat_map(Answering::needs).chain([Need::Records]).map(grouped);
        of_groups.chain(self.tasks.iter().filter_map(Answering::shared_need)).collect()
    }

    /// One answer for each question, all of them for the same keys. Never fails, whatever was gathered.
    pub fn answer<C: Coins>(&self, gathered: &ScanResult<'_>, coins: &mut C) -> Vec<Answer> {
        let groups = gathered.groups(&self.by).expect("what is asked for was looked for");
        let most = MOST_TOLD / self.tasks.iter().map(Answering::answers).sum::<usize>();
        let Some((keys, written)) = self.keys.told(groups, most, coins) else {
            return self.tasks.iter().map(|_| Answer::too_many_groups()).collect();
        };
        let shared: Vec<Option<SharedRange>> =
            self.tasks.iter().map(|task| task.shared(gathered, coins)).collect();
        let none: Vec<Option<Group>> = keys.iter().map(|_| None).collect();
        let mut answers: Vec<Vec<Option<Group>>> = self.tasks.iter().map(|_| none.clone()).collect();
        groups.each_of(&written, |place, group| {
            for ((task, shared), answers) in self.tasks.iter().zip(&shared).zip(&mut answers) {
                let answer = task.answer_group(shared.as_ref(), group, coins);
                answers[place] = Some(answer.into_group(&keys[place]));
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
        let Keys::Found { keys, .. } = &self.keys else { unreachable!("keys are found") };
        let of = |task: &Task| match task {
            Task::Summary(task) => task.spent(Adjacency::AddRemove),
            task => task.cost(),
        };
        self.tasks.iter().fold(keys.cost(), |sum, task| sum.compose(&of(task)))
    }
}
