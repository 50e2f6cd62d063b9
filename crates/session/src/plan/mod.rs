//! From words to a mechanism: every error that a request can have happens here, before rows are read and
//! before anything is charged.
//!
//! A plan sees the words, the names of the columns and what the ledger says of the data set. All of it is
//! public, so a plan and its errors are free.

mod enough;
mod error;
mod part;
mod said;

pub use crate::task::candidates::RunnerUp;
pub use error::PlanError;
pub use part::Part;
pub(crate) use said::{Said, adjacency, uses_delta};

use crate::{
    batch::Batch,
    caution,
    gather::Need,
    request::Request,
    rows::{Rows, plan::charged_by_row},
    session,
    source::{Kind, Source, Wanted},
    statistic::Argument,
    task::{Answering, Expected},
};
use equipoise_core::{
    adjacency::{Adjacency, Unit},
    loss::{Approx, Guarantee, Loss},
    wording,
};
use part::Shared;

/// What is public about a data set: its name, its columns and their types, and what the ledger fixed when it was registered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataFacts {
    /// The name that its budget belongs to.
    pub name: String,
    /// The names of its columns.
    pub columns: Vec<String>,
    /// Unit and adjacency, where the ledger knows the data set already.
    pub registered: Option<(Unit, Adjacency)>,
    /// The types that a schema declares for its columns; none beyond the end of the list.
    pub kinds: Vec<Option<Kind>>,
}

impl DataFacts {
    /// The same with the types that the source's schema declares.
    #[must_use]
    pub fn typed_by(self, source: &dyn Source) -> Self {
        let kinds = (0..self.columns.len()).map(|column| source.declared(column)).collect();
        Self { kinds, ..self }
    }

    /// The type that the schema declares for a column.
    pub(crate) fn kind(&self, column: usize) -> Option<Kind> {
        self.kinds.get(column).copied().flatten()
    }

    /// The column that was named as the unit, or the one that the data set is registered with.
    pub(crate) fn unit(&self, named: Option<&str>) -> Result<Unit, PlanError> {
        let registered = self.registered.as_ref().map(|(unit, _)| unit.clone());
        let Some(name) = named else { return Ok(registered.unwrap_or_default()) };
        match registered {
            Some(Unit::Column(other)) if other != name => Err(PlanError::about(
                Argument::Unit,
                format!(
                    "'{}' is registered with the unit {}",
                    wording::shown(&self.name),
                    wording::shown(&other)
                ),
            )
            .hint("leave out `unit`, or ask of it under another name")),
            _ => Ok(Unit::Column(name.to_string())),
        }
    }
}

/// Questions that can be answered in one scan, with their price.
#[derive(Clone, Debug)]
pub struct Plan {
    /// What was said, as one text.
    asked: String,
    batch: bool,
    data: String,
    parts: Vec<Part>,
    guarantee: Guarantee,
    cost: Approx,
    /// What the ledger is charged, in the adjacency of the data set.
    charge: Approx,
    /// The adjacency in which it is charged.
    charged_in: Adjacency,
    /// The unit in which it is charged.
    charged_for: Unit,
    rows: Rows,
}
impl Plan {
    /// Understand a request.
    pub fn new(request: &Request, facts: &DataFacts) -> Result<Self, PlanError> {
        if request.weight.is_some() {
            return Err(PlanError::about_option("weight", "a weight is for the questions of a batch")
                .hint("leave it out"));
        }
        let (part, shared) =
            Part::new(request, facts).map_err(|error| enough::of_question(request, facts, error))?;
        Ok(Self::of(request.to_json(), false, vec![part], shared, facts))
    }

    /// Understand several questions, which share one scan and one charge.
    pub fn batch(batch: &Batch, facts: &DataFacts) -> Result<Self, PlanError> {
        let mut parts = Vec::new();
        let mut shared = None;
        for (number, request) in batch.priced(facts)?.iter().enumerate() {
            let (part, common) =
                Part::new(request, facts).map_err(|error| enough::of_batch(batch, number, facts, error))?;
            if shared.as_ref().is_some_and(|shared: &Shared| !shared.rows.groups_like(&common.rows)) {
                return Err(PlanError::about(
                    Argument::MaxGroupsPerUnit,
                    "with `max_groups_per_unit` all questions of a batch are grouped by the same columns",
                )
                .hint("ask the others apart"));
            }
            parts.push(part);
            shared = Some(common);
        }
        let shared = shared.expect("a batch has a question");
        Ok(Self::of(batch.to_json(), true, parts, shared, facts))
    }

    fn of(asked: String, batch: bool, parts: Vec<Part>, shared: Shared, facts: &DataFacts) -> Self {
        let Shared { adjacency, unit, rows } = shared;
        let sum = |of: &dyn Fn(&Part) -> Approx| {
            let sum = parts.iter().map(of).reduce(|sum, cost| sum.compose(&cost));
            sum.expect("a plan has a question")
        };
        let cost = sum(&|part| part.cost.clone());
        let (charged_for, charged_in) = facts.registered.clone().unwrap_or_else(|| (unit.clone(), adjacency));
        let charge = match (&charged_for, &unit) {
            (Unit::Row, Unit::Column(_)) => sum(&|part| charged_by_row(&part.of_row, &rows, charged_in)),
            _ if adjacency != charged_in => cost.two_steps(),
            _ => cost.clone(),
        };
        let guarantee = Guarantee { loss: Loss::Approx(cost.clone()), adjacency, unit };
        let data = facts.name.clone();
        Self { asked, batch, data, parts, guarantee, cost, charge, charged_in, charged_for, rows }
    }

    /// What was said, as one text: what is charged, hashed and kept.
    pub fn asked(&self) -> &str {
        &self.asked
    }

    /// The questions.
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// Were several questions asked together? One question may be all there is in a batch.
    pub fn is_batch(&self) -> bool {
        self.batch
    }

    /// What was said of the question, or of the first one of a batch.
    pub fn request(&self) -> &Request {
        &self.parts[0].request
    }

    /// The column of the question; none for a batch.
    pub fn column(&self) -> Option<&str> {
        if self.batch { None } else { self.request().column.as_deref() }
    }

    /// The name that the budget belongs to.
    pub fn data(&self) -> &str {
        &self.data
    }

    /// The statistic, or batch.
    pub fn statistic(&self) -> &str {
        if self.batch { "batch" } else { &self.request().statistic }
    }

    /// The names of the columns that answers are grouped by; none for a batch.
    pub fn group_by(&self) -> &[String] {
        if self.batch { &[] } else { &self.parts[0].group_by }
    }

    /// The name of the mechanism; of a batch, the different ones of its questions.
    pub fn mechanism(&self) -> String {
        let mut names: Vec<&str> = Vec::new();
        for name in self.parts.iter().flat_map(|part| part.mechanism().split(", ")) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names.join(", ")
    }

    /// What an answer promises.
    pub fn guarantee(&self) -> &Guarantee {
        &self.guarantee
    }

    /// The adjacency of the data set, in which the ledger counts.
    pub fn charged_in(&self) -> Adjacency {
        self.charged_in
    }

    /// The unit of the data set, for which the ledger counts.
    pub fn charged_for(&self) -> &Unit {
        &self.charged_for
    }

    /// Which rows of each person take part, in words; `None` where a person is a row.
    pub fn rows_words(&self) -> Option<String> {
        self.rows.words(&self.guarantee.unit)
    }

    /// How many rows of each person take part at most; `None` where a person is a row.
    pub fn rows_per_unit(&self) -> Option<u64> {
        self.rows.bound().map(|_| self.rows.rows_per_unit())
    }

    /// In how many groups rows of each person take part at most, where that was said.
    pub fn groups_per_unit(&self) -> Option<u64> {
        Some(self.rows.bound()?.groups.as_ref()?.most)
    }

    /// What an answer costs under the adjacency of its guarantee.
    pub fn cost(&self) -> &Approx {
        &self.cost
    }

    /// What will be charged.
    pub fn charge(&self) -> &Approx {
        &self.charge
    }

    /// The number of rows that whoever asks stated, for any of the questions.
    pub fn stated_rows(&self) -> caution::Rows {
        let mut stated = self.parts.iter().map(|part| caution::Rows::stated(part.request.rows.as_deref()));
        stated.find(|rows| *rows != caution::Rows::Unknown).unwrap_or(caution::Rows::Unknown)
    }

    /// What of its promise protects little, one line each, as far as it is known beforehand.
    pub fn warnings(&self) -> Vec<String> {
        caution::warnings(&session::promise(self), self.stated_rows())
    }

    /// The columns that it will read, each once, and how: for sources that prepare them.
    pub fn wanted(&self) -> Vec<Wanted> {
        let needs = self.needs();
        let mut wanted: Vec<Wanted> =
            needs.iter().flat_map(Need::all_wanted).chain(self.rows().wanted()).collect();
        wanted.sort_unstable();
        wanted.dedup();
        wanted
    }

    /// What can be told of the answer before any data is read.
    pub fn expected(&self) -> Expected {
        if !self.batch {
            return self.parts[0].expected();
        }
        let words: Vec<String> = self.parts.iter().map(|part| part.expected().words).collect();
        Expected { error: None, words: words.join("; ") }
    }

    /// Whether the columns that it needs can be read at all. Only the schema is asked, so it is free.
    pub fn readable_in(&self, source: &dyn Source) -> Result<(), PlanError> {
        for Wanted { column, kind } in self.wanted() {
            if let Some(line) = source.unreadable(column) {
                return Err(PlanError::about(Argument::Column, line));
            }
            if kind != Kind::Text && source.is_only_text(column) {
                let name = wording::shown(source.columns().get(column).map_or("", String::as_str));
                let problem = format!(
                    "the column '{name}' holds bytes of a fixed length, which are texts and cannot be read as {kind}"
                );
                return Err(PlanError::about(Argument::Column, problem)
                    .hint("ask for count, mode, histogram or select, and compare it with text"));
            }
        }
        Ok(())
    }

    #[cfg(any(test, debug_assertions))]
    pub(crate) fn task(&self) -> &crate::task::Task {
        &self.parts[0].task
    }

    pub(crate) fn rows(&self) -> &Rows {
        &self.rows
    }

    pub(crate) fn needs(&self) -> Vec<Need> {
        self.parts.iter().flat_map(|part| part.task.needs()).collect()
    }
}
