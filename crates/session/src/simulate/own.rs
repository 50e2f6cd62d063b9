//! Counts of graphs and choices on public rows, many times: what they answer, what is true, and how many of their bars hold.

use super::{Series, Simulation, Trial};
use crate::{
    answer::{Answer, Group},
    bar::ErrorBar,
    error::PlanError,
    quiet::{ended_by, privately},
    release::Outcome,
    session::Priced,
    source::Source,
    unanswered::Unanswered,
};
use equipoise_core::{loss::Approx, stop};
use equipoise_entropy::OsCoins;
use serde_json::Value;
use std::{num::NonZero, thread};

/// What can be rehearsed on public rows beside questions: nothing is charged, nothing is recorded.
pub trait Simulated: Priced {
    /// What an answer costs under the adjacency of its guarantee.
    fn costs(&self) -> Approx;

    /// Every column that it reads can be read, by the source's schema.
    fn is_readable_in(&self, source: &dyn Source) -> Result<(), PlanError>;

    /// Answer many times.
    fn simulate(&self, source: &dyn Source, trials: usize) -> Result<Simulation, Unanswered>;
}

/// One answer, and of each of its numbers or texts what is true and whether its bar held.
pub(crate) struct Tried {
    pub answer: Answer,
    pub judged: Vec<Judged>,
}

/// See [`Tried`].
pub(crate) struct Judged {
    /// What is true of the rows that took part.
    pub truth: Option<Value>,
    /// Whether what the bar is about lies within it; nothing where there is no bar.
    pub held: Option<bool>,
}

/// How the trials are to be told.
pub(crate) struct Telling<'a> {
    /// What a number or text of the answers is called.
    pub name: &'a str,
    /// Are the answers told apart rather than measured?
    pub frequent: bool,
    /// What is true of all rows, where each trial draws some of them.
    pub all_rows: Option<Value>,
}

/// Try many times, on all cores.
pub(crate) fn trials(
    telling: &Telling<'_>,
    trials: usize,
    one: impl Fn(&mut OsCoins) -> Result<Tried, Unanswered> + Sync,
) -> Result<Simulation, Unanswered> {
    privately(|| {
        let part = |trials: usize| -> Result<Vec<Tried>, Unanswered> {
            let mut coins = OsCoins::new().map_err(|_| Unanswered::Coins)?;
            let tried = (0..trials).map(|_| {
                stop::look();
                one(&mut coins)
            });
            tried.collect()
        };
        let part = &part;
        let workers = thread::available_parallelism().map_or(1, NonZero::get).min(trials).max(1);
        let share = |worker: usize| trials / workers + usize::from(worker < trials % workers);
        let tried = thread::scope(|scope| {
            let running: Vec<_> =
                (0..workers).map(|worker| scope.spawn(stop::carried(move || part(share(worker))))).collect();
            let mut all = Vec::with_capacity(trials);
            for worker in running {
                all.extend(worker.join().map_err(|panic| ended_by(&*panic))??);
            }
            Ok::<_, Unanswered>(all)
        })?;
        Ok(told(telling, tried))
    })
}

fn told(telling: &Telling<'_>, tried: Vec<Tried>) -> Simulation {
    let mut series: Vec<Series> = Vec::new();
    for Tried { answer, judged } in &tried {
        for ((key, value, error), judged) in parts(answer).into_iter().zip(judged) {
            let place = series.iter().position(|known| known.key.as_ref() == key).unwrap_or_else(|| {
                series.push(Series {
                    name: telling.name.to_string(),
                    key: key.cloned(),
                    frequent: telling.frequent,
                    all_rows: telling.all_rows.clone().map(Some),
                    ..Series::default()
                });
                series.len() - 1
            });
            let here = &mut series[place];
            if here.truths.is_empty() || telling.all_rows.is_some() {
                here.truths.push(judged.truth.clone());
            }
            let Some(value) = value else {
                here.refused += 1;
                continue;
            };
            here.values.push(value.clone());
            if let (Some(held), Some(error)) = (judged.held, error) {
                here.bars += 1;
                here.held += usize::from(held);
                here.confidence = Some(error.confidence());
            }
        }
    }
    let trials = tried.into_iter().map(|one| Trial { answers: vec![one.answer], batch: false }).collect();
    Simulation { trials, series, unsaid: None }
}

/// The numbers or texts of an answer with their keys and bars.
fn parts(answer: &Answer) -> Vec<(Option<&Value>, Option<&Value>, Option<&ErrorBar>)> {
    let group = |group: &'_ Group| -> bool { group.outcome == Outcome::Released };
    match &answer.groups {
        Some(groups) => groups
            .iter()
            .map(|one| (Some(&one.key), group(one).then_some(&one.value), one.error.as_ref()))
            .collect(),
        None => vec![(None, answer.value.as_ref(), answer.error.as_ref())],
    }
}
