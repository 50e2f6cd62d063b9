//! One question of a plan: its mechanism, its price, and the mechanisms that were not taken.

use super::{DataFacts, PlanError, Said};
use crate::{
    bar::ErrorBar,
    request::Request,
    rows::Rows,
    target,
    task::{
        Expected, Likely, Task,
        candidates::{self, Candidate},
    },
};
use equipoise_core::{
    adjacency::{Adjacency, Unit},
    loss::{Approx, Loss},
};

/// One question of a plan.
#[derive(Clone, Debug)]
pub struct Part {
    pub(super) request: Request,
    pub(super) group_by: Vec<String>,
    pub(super) task: Task,
    pub(super) cost: Approx,
    facts: DataFacts,
    /// What it costs for each row that comes or goes among those that take part.
    pub(super) of_row: Approx,
}

/// What all questions of a plan have in common.
pub(super) struct Shared {
    pub(super) adjacency: Adjacency,
    pub(super) unit: Unit,
    pub(super) rows: Rows,
}

impl Part {
    /// Understand one question. Where an error is wanted and no price, the price is found.
    pub(super) fn new(request: &Request, facts: &DataFacts) -> Result<(Self, Shared), PlanError> {
        let mut request = request.clone();
        if request.statistic == "histogram"
            && let Some(key) = request.column.take()
        {
            // The column of a histogram is its key.
            request.group_by.insert(0, key);
        }
        let request = target::solve(&request, facts)?;
        let said = Said::new(&request, facts)?;
        let task = Task::plan(&said)?;
        let Loss::Approx(of_row) = task.cost() else {
            return Err(PlanError::line("this mechanism has no (epsilon, delta) price"));
        };
        let group_by = task.group_by().iter().map(|key| facts.columns[key.column].clone()).collect();
        let cost = said.terms.of_person(&of_row);
        let shared = Shared { adjacency: said.asked, unit: said.unit.clone(), rows: said.rows.clone() };
        Ok((Self { request, group_by, task, cost, facts: facts.clone(), of_row }, shared))
    }

    /// What was said, with the price that was found for it.
    pub fn request(&self) -> &Request {
        &self.request
    }

    /// The names of the columns that answers are grouped by.
    pub fn group_by(&self) -> &[String] {
        &self.group_by
    }

    /// The name of the mechanism.
    pub fn mechanism(&self) -> &'static str {
        self.task.mechanism()
    }

    /// What answers are, where they are no plain numbers or texts: `date`, `decimal:2`, `days`.
    pub fn answer_type(&self) -> Option<String> {
        self.task.answer_type()
    }

    /// Its part of the price.
    pub fn cost(&self) -> &Approx {
        &self.cost
    }

    /// What can be told of the answer before any data is read.
    pub fn expected(&self) -> Expected {
        self.task.expected()
    }

    /// How far off the answer will be in the column's unit, if the rows lie evenly over a declared range.
    pub fn likely(&self) -> Option<Likely> {
        self.task.likely()
    }

    /// The other mechanisms that could answer, and what each would do at the same price.
    pub fn runners_up(&self) -> Vec<RunnerUp> {
        runners_up(&self.request, &self.facts, self.task.mechanism())
    }

    #[cfg(any(test, debug_assertions))]
    pub(crate) fn of_row(&self) -> &Approx {
        &self.of_row
    }

    pub(crate) fn task(&self) -> &Task {
        &self.task
    }

    /// What was said, read as what it is.
    pub(crate) fn said(&self) -> Result<Said<'_>, PlanError> {
        Said::new(&self.request, &self.facts)
    }
}

/// A mechanism that was not taken.
#[derive(Clone, Debug, PartialEq)]
pub struct RunnerUp {
    /// Its name, for `--mechanism`.
    pub mechanism: &'static str,
    /// Could it answer?
    pub possible: bool,
    /// The error bar that it would have.
    pub error: Option<ErrorBar>,
    /// How far off it would be on rows that lie evenly over the declared range.
    pub likely: Option<Likely>,
    /// What it would do, or what it needs.
    pub words: String,
}

/// What the other mechanisms of a statistic would do, the least predicted error first. Only public words are looked at.
fn runners_up(request: &Request, facts: &DataFacts, taken: &str) -> Vec<RunnerUp> {
    let planned = |&mechanism: &&'static str| {
        let request = Request { mechanism: Some(mechanism.to_string()), ..request.clone() };
        let planned = Said::new(&request, facts).and_then(|said| Task::plan(&said));
        Candidate { mechanism, planned }
    };
    let others = candidates::mechanisms(request).iter().filter(|&&name| name != taken);
    let mut others: Vec<Candidate> = others.map(planned).collect();
    others.sort_by(candidates::by_error);
    let runner_up = |Candidate { mechanism, planned }: Candidate| {
        let (likely, Expected { error, words }, possible) = match planned {
            Ok(task) => (task.likely(), task.expected(), true),
            Err(error) => {
                let words = if error.is_of_a_share() {
                    "needs a larger epsilon".to_string()
                } else {
                    error.to_string()
                };
                (None, Expected { error: None, words }, false)
            }
        };
        RunnerUp { mechanism, possible, error, likely, words }
    };
    others.into_iter().map(runner_up).collect()
}
