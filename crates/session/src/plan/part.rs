//! One question of a plan: its mechanism, its price, and the mechanisms that were not taken.

use super::{DataFacts, PlanError, composed::Lost, target};
use crate::{
    planned::{PredictedError, QuestionSummary, RunnerUp},
    promise::Spent,
    request::Request,
    resolved::{self, ResolvedRequest},
    rows::{Rows, derived::Derived},
    statistic::Column,
    task::{Answering, Expected, Task, candidates},
};
use equipoise_core::{
    adjacency::{Adjacency, Unit},
    loss::{Approx, Delta, Loss},
};

/// One question of a plan.
#[derive(Clone, Debug)]
pub struct Part {
    pub(super) request: Request,
    pub(super) group_by: Vec<String>,
    pub(super) task: Task,
    pub(super) cost: Approx,
    runners_up: Vec<RunnerUp>,
    pub(super) facts: DataFacts,
    /// What it costs for each row that comes or goes among those that take part.
    pub(super) of_row: Approx,
    /// What it loses in parts, where it is composed with others.
    pub(super) lost: Option<Lost>,
    /// The questions that are answered from the same noisy sums, in words.
    sums_with: Vec<String>,
}

/// What is planned for a question: its words, its task and its price.
pub(super) struct Plain {
    pub request: Request,
    pub task: Task,
    pub cost: Approx,
    pub of_row: Approx,
    pub runners_up: Vec<RunnerUp>,
}

/// What all questions of a plan have in common.
pub(super) struct Shared {
    pub(super) adjacency: Adjacency,
    pub(super) unit: Unit,
    pub(super) rows: Rows,
}

impl Shared {
    /// The same with columns that are computed.
    pub(super) fn with(self, derived: &Derived) -> Self {
        Self { rows: self.rows.with_derived(derived.clone()), ..self }
    }
}

impl Part {
    /// Understand one question. Where an error is wanted and no price, the price is found.
    pub(super) fn new(request: &Request, facts: &DataFacts) -> Result<(Self, Shared), PlanError> {
        Self::of(request, facts, None)
    }

    /// The same for a question that is composed with others at this delta. What it is said to cost is what it would alone.
    pub(super) fn composed(
        request: &Request,
        facts: &DataFacts,
        delta: &Delta,
    ) -> Result<(Self, Shared), PlanError> {
        Self::of(request, facts, Some(delta))
    }

    fn of(
        request: &Request,
        facts: &DataFacts,
        composed: Option<&Delta>,
    ) -> Result<(Self, Shared), PlanError> {
        let mut request = request.clone();
        if resolved::statistic(&request)?.spec().column == Column::Keys
            && let Some(key) = request.column.take()
        {
            // The column of a histogram is its key.
            request.group_by.insert(0, key);
        }
        let request = target::solve(&request, facts)?;
        let said = ResolvedRequest::new(&request, facts)?;
        let said = if composed.is_some() { said.concentrated() } else { said };
        let (task, runners_up) = candidates::choose(&said)?;
        let lost = composed.map(|_| Lost { losses: task.losses(), steps: said.terms.steps() });
        let no_price = || PlanError::line("this mechanism has no (epsilon, delta) price");
        let (of_row, cost) = match (&lost, composed, task.cost()) {
            (Some(lost), Some(delta), _) => {
                (lost.of_row(delta).ok_or_else(no_price)?, lost.of_person(delta).ok_or_else(no_price)?)
            }
            (_, _, Loss::Approx(of_row)) => {
                let cost = said.terms.of_person(&of_row);
                (of_row, cost)
            }
            _ => return Err(no_price()),
        };
        let shared = Shared { adjacency: said.asked, unit: said.unit.clone(), rows: said.rows.clone() };
        let plain = Self::plain(Plain { request, task, cost, of_row, runners_up }, facts);
        Ok((Self { lost, ..plain }, shared))
    }

    /// A question that is planned.
    pub(super) fn plain(plain: Plain, facts: &DataFacts) -> Self {
        let Plain { request, task, cost, of_row, runners_up } = plain;
        let group_by = task.group_by().iter().map(|key| facts.columns[key.column].clone()).collect();
        Self {
            request,
            group_by,
            task,
            cost,
            runners_up,
            facts: facts.clone(),
            of_row,
            lost: None,
            sums_with: Vec::new(),
        }
    }

    /// The same where others are answered from the same noisy sums.
    pub(super) fn with_sums_of(self, others: Vec<String>) -> Self {
        Self { sums_with: others, ..self }
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
        let Expected { error, words } = self.task.expected();
        let more = match self.request.population {
            Some(true) => "; then wider by what the rows differ by chance from their population",
            _ => "",
        };
        let shared = match self.sums_with.as_slice() {
            [] => String::new(),
            others => format!("; one range and one set of noisy sums for this and {}", others.join(", ")),
        };
        Expected { error, words: words + &shared + more }
    }

    /// How far off the answer will be in the column's unit, if the rows lie evenly over a declared range.
    pub fn likely(&self) -> Option<PredictedError> {
        self.task.likely()
    }

    /// From how many rows on all of it is released, about, where public facts tell.
    pub(crate) fn rows_needed(&self) -> Option<u64> {
        self.task.rows_needed()
    }

    /// The same for each part of a summary that is released or refused on its own, of quantiles with their fractions.
    pub(crate) fn parts_needed(&self) -> Vec<(Option<String>, u64)> {
        self.task.parts_needed()
    }

    /// From how many rows on a key is named in 19 cases of 20, where keys are found.
    pub(crate) fn keys_from(&self) -> Option<u64> {
        self.task.keys_from()
    }

    /// The other mechanisms that could answer, and what each would do at the same price.
    pub fn runners_up(&self) -> &[RunnerUp] {
        &self.runners_up
    }

    /// What is known of it before any row is read.
    pub fn summary(&self) -> QuestionSummary {
        let Expected { error, words } = self.expected();
        QuestionSummary {
            statistic: self.request.statistic.clone(),
            column: self.request.column_words(),
            value_type: self.answer_type(),
            group_by: self.group_by.clone(),
            mechanism: self.mechanism().to_string(),
            cost: Spent::from(&self.cost),
            error,
            expected: words,
            likely: self.likely(),
            runners_up: self.runners_up.clone(),
        }
    }

    pub(crate) fn of_row(&self) -> &Approx {
        &self.of_row
    }

    pub(crate) fn task(&self) -> &Task {
        &self.task
    }

    /// What was said, read as what it is.
    pub(crate) fn said(&self) -> Result<ResolvedRequest<'_>, PlanError> {
        ResolvedRequest::new(&self.request, &self.facts)
    }
}
