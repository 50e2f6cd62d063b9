//! A statistic for each group of records that agree in some columns.
//!
//! # Guarantee
//!
//! Under add/remove, for rows: one row has one key, so its coming or going changes one group. Which keys are told
//! costs a share of epsilon and delta ([`histogram_keys`]); the answer of the one group that changes costs the
//! rest, whatever the number of groups. A key that only one row has is told with probability at most that delta;
//! else both data sets tell it and the answers compose. Stated keys cost nothing. A range that nobody declared is searched once,
//! over the rows of all groups: the row that comes or goes changes the search and then its own group, and both together cost
//! what that group's search and answer would. Where a unit may touch several
//! groups, each group has its part of the rest. Under replace two groups change; the add/remove form runs at a
//! price of which two steps cost what was said.

use super::{
    Answering, Expected, Task,
    histogram::{needs_delta, stated_keys},
};
use crate::{
    answer::{Answer, Group, MOST_TOLD},
    error::PlanError,
    gather::groups::sort_by_key,
    need::Key,
    need::Need,
    planned::PredictedError,
    resolved::ResolvedRequest,
    row_facts::{GroupFacts, RowFacts},
    source::ColumnRead,
    statistic::Statistic,
};
use equipoise_core::{
    adjacency::Adjacency,
    coins::Coins,
    loss::{Delta, Eps, Loss},
    mechanism::histogram_keys::{self, HistogramKeys},
    ratio::Ratio,
};

/// Hundredths of epsilon that find the keys: as many as let a key be found with about the rows that its answer takes to be of use.
/// A quantile takes three times as many as a key, a sum or mean over a range that all groups share hardly more, a count fewer.
pub(super) fn keys_share(statistic: Statistic) -> Ratio {
    let hundredths = match statistic {
        Statistic::Count => 60,
        Statistic::Share | Statistic::Sum | Statistic::Mean | Statistic::Variance | Statistic::Std => 45,
        _ => 25,
    };
    Ratio::new(hundredths, 100)
}

/// The same task for each group.
#[derive(Clone, Debug)]
pub(crate) struct GroupedStatistic {
    by: Vec<ColumnRead>,
    /// The same, and what the task itself has several answers by: its bins or points.
    shown: Vec<ColumnRead>,
    keys: Keys,
    task: Task,
    cost: Loss,
    /// How many steps of add/remove one step of what was asked for is.
    steps: u64,
}

/// Which keys there are.
#[derive(Clone, Debug)]
pub(super) enum Keys {
    Stated(Vec<Key>),
    Found { keys: Box<histogram_keys::Calibrated>, told_from: Option<u64> },
}

impl Keys {
    /// Keys that are found at this price.
    pub fn found(keys: histogram_keys::Calibrated) -> Self {
        let told_from = keys.count_for(&Ratio::new(19, 20));
        Self::Found { keys: Box::new(keys), told_from }
    }

    /// The keys that are told, in order, with how they are written; nothing where they are more than so many.
    pub fn told<C: Coins>(&self, groups: &dyn GroupFacts, most: usize, coins: &mut C) -> Option<Told> {
        let mut told: Vec<(Key, Vec<u8>)> = Vec::new();
        match self {
            Self::Stated(keys) => told.extend(keys.iter().map(|key| (key.clone(), groups.written(key)))),
            Self::Found { keys, .. } => groups.each_count(&Need::Records, &mut |key, count| {
                if keys.names(count, coins) && told.len() <= most {
                    told.push((groups.read(key), key.to_vec()));
                }
            }),
        }
        if told.len() > most {
            return None;
        }
        sort_by_key(&mut told, |(key, _)| key);
        Some(told.into_iter().unzip())
    }

    /// What finding them costs under add/remove.
    pub fn cost(&self) -> Option<Loss> {
        match self {
            Self::Stated(_) => None,
            Self::Found { keys, .. } => Some(keys.cost()),
        }
    }

    fn told_from_words(&self) -> String {
        match self {
            Self::Found { told_from: Some(rows), .. } => {
                format!("a key is released in 19 cases of 20 when at least {rows} rows have it")
            }
            _ => "no key is released in 19 cases of 20 at this delta".to_string(),
        }
    }

    /// What to do where no group has an answer.
    pub fn advice(&self) -> String {
        match self {
            Self::Stated(_) => "no group has an answer; each says why".to_string(),
            Self::Found { .. } => format!(
                "no group has an answer: {}, and more for an answer; raise epsilon or delta, group by fewer columns, \
                 or state the `keys`",
                self.told_from_words()
            ),
        }
    }
}

/// What each of these loses in so many steps; nothing where a part does not tell.
pub(super) fn in_steps(losses: impl IntoIterator<Item = Loss>, steps: u64) -> Option<Vec<Loss>> {
    losses.into_iter().map(|loss| loss.steps(steps)).collect()
}

/// Keys, and each as groups are written.
type Told = (Vec<Key>, Vec<Vec<u8>>);

impl GroupedStatistic {
    pub fn plan(said: &ResolvedRequest) -> Result<Self, PlanError> {
        Self::of(said, Task::plan)
    }

    /// The same with another task for each group.
    pub fn of(
        said: &ResolvedRequest,
        task: impl FnOnce(&ResolvedRequest) -> Result<Task, PlanError>,
    ) -> Result<Self, PlanError> {
        let by: Vec<ColumnRead> = said.group_by().iter().map(|&column| said.key(column)).collect();
        let single = said.in_single_steps()?;
        let groups = Ratio::from(said.groups_per_unit());
        let (eps, delta) = (single.eps().ratio(), single.delta().ratio());
        let (keys, eps, delta) = if let Some(keys) = stated_keys(said, &by)? {
            (Keys::Stated(keys), eps.clone(), delta.clone())
        } else {
            if delta.is_zero() {
                return Err(needs_delta());
            }
            let share = eps * &keys_share(said.statistic());
            let half = Ratio::new(1, if single.needs_delta() { 2 } else { 1 });
            let keys_delta = delta * &half;
            let keys = HistogramKeys {
                eps: Eps::new(share.clone())?,
                delta: Delta::new(keys_delta.clone())?,
                max_keys_per_unit: said.groups_per_unit(),
                adjacency: Adjacency::AddRemove,
            }
            .calibrate()?;
            (Keys::found(keys), eps - &share, delta - &keys_delta)
        };
        let task = task(&single.part(Eps::new(eps / groups.clone())?, Delta::new(delta / groups)?))?;
        // Whether delta is spent is known from the mechanism that was taken, not from its name.
        let pure = matches!(keys, Keys::Stated(_))
            && matches!(task.cost(), Loss::Approx(cost) if cost.delta.is_zero());
        let cost = if pure { Loss::pure(said.eps()) } else { Loss::approx(said.eps(), said.delta()) };
        let shown = by.iter().chain(task.group_by()).copied().collect();
        Ok(Self { by, shown, keys, task, cost, steps: said.single_steps() })
    }

    /// What is done for each group.
    pub fn task(&self) -> &Task {
        &self.task
    }

    /// The columns whose values tell the groups apart, bins and points aside.
    pub fn keys_by(&self) -> &[ColumnRead] {
        &self.by
    }

    /// What the keys and the answer of one group cost under add/remove, added up.
    #[cfg(test)]
    pub fn spent(&self) -> Loss {
        let task = match &self.task {
            Task::Summary(task) => task.spent(Adjacency::AddRemove),
            task => task.cost(),
        };
        match &self.keys {
            Keys::Stated(_) => task,
            Keys::Found { keys, .. } => keys.cost().compose(&task),
        }
    }

    /// One of several tasks that share their keys: what is told of it beforehand is told by this.
    pub(super) fn with(by: &[ColumnRead], keys: &Keys, task: Task, cost: Loss) -> Self {
        Self { by: by.to_vec(), shown: by.to_vec(), keys: keys.clone(), task, cost, steps: 1 }
    }
}

impl Answering for GroupedStatistic {
    fn mechanism(&self) -> &'static str {
        self.task.mechanism()
    }

    fn cost(&self) -> Loss {
        self.cost.clone()
    }

    fn losses(&self) -> Vec<Loss> {
        let parts = self.keys.cost().into_iter().chain(self.task.losses());
        in_steps(parts, self.steps).unwrap_or_else(|| vec![self.cost()])
    }

    fn needs(&self) -> Vec<Need> {
        let grouped = |need| Need::Grouped { by: self.by.clone(), need: Box::new(need) };
        let of_groups = self.task.needs().into_iter().chain([Need::Records]).map(grouped);
        of_groups.chain(self.task.shared_need()).collect()
    }

    fn expected(&self) -> Expected {
        let inner = self.task.expected();
        let keys = match &self.keys {
            Keys::Stated(_) => "for each stated key".to_string(),
            Keys::Found { .. } => format!("{}; then", self.keys.told_from_words()),
        };
        let shared = if self.task.shared_need().is_some() {
            "; all groups share one range, and rows of all count"
        } else {
            ""
        };
        Expected { words: format!("{keys}: {}{shared}", inner.words), ..inner }
    }

    fn answer<C: Coins>(&self, gathered: &dyn RowFacts, coins: &mut C) -> Answer {
        let groups = gathered.groups(&self.by);
        let Some((keys, written)) = self.keys.told(&*groups, MOST_TOLD / self.task.answers(), coins) else {
            return Answer::too_many_groups();
        };
        let mut answers: Vec<Vec<Group>> = keys.iter().map(|_| Vec::new()).collect();
        let shared = self.task.shared(gathered, coins);
        groups.each_of(&written, &self.task.asks(shared.as_ref()), &mut |place, group| {
            let answer = self.task.answer_group(shared.as_ref(), group, coins);
            answers[place] = if self.task.group_by().is_empty() {
                vec![answer.into_group(&keys[place])]
            } else {
                answer.into_parts_of_group(&keys[place])
            };
        });
        Answer::grouped(answers.into_iter().flatten().collect(), || self.keys.advice())
    }

    fn answer_type(&self) -> Option<String> {
        self.task.answer_type()
    }

    fn group_by(&self) -> &[ColumnRead] {
        &self.shown
    }

    fn keys_from(&self) -> Option<u64> {
        match &self.keys {
            Keys::Stated(_) => None,
            Keys::Found { told_from, .. } => *told_from,
        }
    }

    fn predicted(&self) -> Option<f64> {
        self.task.predicted()
    }

    fn likely(&self) -> Option<PredictedError> {
        self.task.likely()
    }

    fn rows_needed(&self) -> Option<u64> {
        self.task.rows_needed()
    }

    fn rows_assured(&self) -> Option<u64> {
        self.task.rows_assured()
    }

    fn rows_within(&self) -> u64 {
        self.task.rows_within()
    }

    fn parts_needed(&self) -> Vec<(Option<String>, u64)> {
        self.task.parts_needed()
    }

    fn no_prediction(&self) -> String {
        self.task.no_prediction()
    }
}
