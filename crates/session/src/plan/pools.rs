//! Questions of a batch about moments of the same column: their range is searched once, and one set of noisy sums tells all of them
//! ([`Pooled`]). They are one mechanism, with the price of all of them.

use super::{
    DataFacts, Part, PlanError,
    part::{Plain, Shared},
};
use crate::{
    planned::RunnerUp,
    request::Request,
    resolved::{self, ResolvedRequest},
    statistic::Statistic,
    task::{Answering, Pooled, Task, candidates},
};
use equipoise_core::{
    loss::{Amount, Approx, Loss},
    ratio::Ratio,
    wording,
};

/// Questions that one mechanism answers: one, or several about the same column.
#[derive(Clone, Debug)]
pub(super) struct Run {
    /// Which questions, in order.
    pub questions: Vec<usize>,
    /// What is planned: the question, or the one whose draw tells all of them, with the price of all.
    pub lead: Request,
    statistics: Vec<Statistic>,
}

/// What answers several questions.
#[derive(Clone, Debug)]
pub(super) struct Pool {
    pub questions: Vec<usize>,
    pub task: Task,
}

impl Run {
    /// Does it answer several questions?
    pub fn is_pool(&self) -> bool {
        self.questions.len() > 1
    }

    /// What else is answered with this question, in words.
    pub fn others(&self, questions: &[Request], question: usize) -> Vec<String> {
        let words = |&number: &usize| {
            let question = &questions[number];
            let of = question.column_words().map_or(String::new(), |column| format!(" of {column}"));
            wording::shown(&format!("{}{of}", question.statistic))
        };
        self.questions.iter().filter(|&&number| number != question).map(words).collect()
    }

    /// Its mechanism, and for each of its questions the task that tells what is known of it beforehand, with those that were not taken.
    #[expect(
        clippy::type_complexity,
        reason = "what a plan of parts is made of, taken apart by its one caller"
    )]
    pub fn plan(&self, said: &ResolvedRequest) -> Result<(Task, Vec<(Task, Vec<RunnerUp>)>), PlanError> {
        if !self.is_pool() {
            let (task, others) = candidates::choose(said)?;
            return Ok((task.clone(), vec![(task, others)]));
        }
        let pooled =
            |said: &ResolvedRequest| Ok(Task::Pooled(Box::new(Pooled::plan(said, &self.statistics)?)));
        let (task, others) = candidates::choose_among(said, pooled)?;
        let of = |place: usize| {
            let others = others.iter().map(|other| other.runner_up(|task| only(task, place))).collect();
            (only(&task, place), others)
        };
        let told = (0..self.questions.len()).map(of).collect();
        Ok((task, told))
    }
}

/// The task of one question of several.
fn only(task: &Task, place: usize) -> Task {
    match task {
        Task::Pooled(pooled) => Task::Moments(Box::new(pooled.only(place).clone())),
        task => task.clone(),
    }
}

/// The questions, which have their prices, by the mechanism that answers them.
pub(super) fn runs(questions: &[Request], facts: &DataFacts) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    for (number, question) in questions.iter().enumerate() {
        let statistic = resolved::statistic(question).ok();
        let same = |run: &&mut Run| {
            let first = &questions[run.questions[0]];
            is_moment(first) && is_moment(question) && like(first) == like(question)
        };
        match (statistic, runs.iter_mut().find(same)) {
            (Some(statistic), Some(run)) => {
                run.questions.push(number);
                run.statistics.push(statistic);
            }
            (statistic, _) => runs.push(Run {
                questions: vec![number],
                lead: question.clone(),
                statistics: statistic.into_iter().collect(),
            }),
        }
    }
    let mut checked = Vec::new();
    for mut run in runs {
        if run.is_pool() {
            run.lead = lead(&run, questions);
        }
        if run.is_pool() && !is_searched(&run, questions, facts) {
            // Each alone.
            let alone = |(&number, &statistic): (&usize, &Statistic)| Run {
                questions: vec![number],
                lead: questions[number].clone(),
                statistics: vec![statistic],
            };
            checked.extend(run.questions.iter().zip(&run.statistics).map(alone));
        } else {
            checked.push(run);
        }
    }
    checked
}

/// Is it a moment of rows over a range that is to be searched, at any price?
fn is_moment(question: &Request) -> bool {
    let statistic = resolved::statistic(question).ok();
    statistic.is_some_and(|statistic| Pooled::STATISTICS.contains(&statistic))
        && question.range.is_none()
        && question.fold().is_none()
        && question.population != Some(true)
        && question.target_error.is_none()
}

/// What questions of a pool have in common: all but which moment, and the price.
fn like(question: &Request) -> Request {
    let statistic = String::new();
    // People's values are another column; rows that are not made one are the same with and without the word.
    let per_unit = None;
    Request { statistic, per_unit, epsilon: None, delta: None, weight: None, ..question.clone() }
}

/// The question whose draw tells those of a run.
fn lead(run: &Run, questions: &[Request]) -> Request {
    let sum = |of: fn(&Request) -> Option<&str>| {
        let parts: Vec<Ratio> =
            run.questions.iter().filter_map(|&number| of(&questions[number])?.parse().ok()).collect();
        let all = parts.iter().fold(Ratio::zero(), |sum, part| sum + part);
        (!parts.is_empty()).then(|| all.to_exact())
    };
    Request {
        statistic: Pooled::lead_of(&run.statistics).name().to_string(),
        epsilon: sum(|question| question.epsilon.as_deref()),
        delta: sum(|question| question.delta.as_deref()),
        weight: None,
        ..questions[run.questions[0]].clone()
    }
}

/// Is the range searched, and is each question one that could stand alone? What could not has its own error, later.
fn is_searched(run: &Run, questions: &[Request], facts: &DataFacts) -> bool {
    let could_stand = |request: &Request| {
        let said = ResolvedRequest::new(request, facts)?;
        said.check_arguments()?;
        said.numbers(said.column()?)
    };
    let pooled = || {
        let said = ResolvedRequest::new(&run.lead, facts)?;
        Pooled::plan(&said.part(said.eps().clone(), said.delta().clone()), &run.statistics)
    };
    run.questions.iter().all(|&number| could_stand(&questions[number]).is_ok())
        && pooled().is_ok_and(|pooled| pooled.is_searched())
}

/// Parts of a price in proportion to others: what is shown of one question, never what is charged.
pub(super) fn of(all: &Approx, eps: &Ratio, delta: &Ratio) -> Approx {
    let part = |all: &Amount, part: &Ratio| Amount::new(all.ratio() * part).unwrap_or_else(|_| all.clone());
    Approx { eps: part(&all.eps, eps), delta: part(&all.delta, delta) }
}

/// What a part is of a whole.
pub(super) fn share(part: &Ratio, all: &Ratio) -> Ratio {
    if all.is_zero() { Ratio::zero() } else { part / all }
}

/// The number of a text that is one.
pub(super) fn number(text: Option<&str>) -> Ratio {
    text.and_then(|text| text.parse().ok()).unwrap_or_else(Ratio::zero)
}

/// Plan questions without groups that share one draw.
pub(super) fn plan(
    run: &Run,
    questions: &[Request],
    facts: &DataFacts,
) -> Result<(Vec<Part>, Shared, Pool), PlanError> {
    let said = ResolvedRequest::new(&run.lead, facts)?;
    let (task, told) = run.plan(&said)?;
    let Loss::Approx(of_row) = task.cost() else {
        return Err(PlanError::line("this mechanism has no (epsilon, delta) price"));
    };
    let cost = said.terms.of_person(&of_row);
    let of_all = |of: fn(&Request) -> Option<&str>| -> Vec<Ratio> {
        let parts: Vec<Ratio> =
            run.questions.iter().map(|&question| number(of(&questions[question]))).collect();
        let all = parts.iter().fold(Ratio::zero(), |sum, part| sum + part);
        parts.iter().map(|part| share(part, &all)).collect()
    };
    let eps = of_all(|question| question.epsilon.as_deref());
    let delta = of_all(|question| question.delta.as_deref());
    let parts = run.questions.iter().zip(told).enumerate().map(|(place, (&question, (task, runners_up)))| {
        let share = |all: &Approx| of(all, &eps[place], &delta[place]);
        let (request, cost, of_row) = (questions[question].clone(), share(&cost), share(&of_row));
        let part = Part::plain(Plain { request, task, cost, of_row, runners_up }, facts);
        part.with_sums_of(run.others(questions, question))
    });
    let shared = Shared { adjacency: said.asked, unit: said.unit.clone(), rows: said.rows.clone() };
    Ok((parts.collect(), shared, Pool { questions: run.questions.clone(), task }))
}
