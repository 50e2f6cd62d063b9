//! From words to a mechanism: every error that a request can have happens here, before rows are read and
//! before anything is charged.
//!
//! A plan sees the words, the names of the columns and what the ledger says of the data set. All of it is
//! public, so a plan and its errors are free.

use crate::{
    answer::ErrorBar,
    batch::{self, Batch},
    columns,
    gather::Need,
    request::Request,
    rows::{
        Rows,
        plan::{Terms, charged_by_row},
    },
    source::{Source, Wanted},
    space::not_a_number,
    target,
    task::{self, Expected, STATISTICS, Task},
};
use equipoise_core::{
    adjacency::{Adjacency, Unit},
    interval::exp_upper,
    loss::{Approx, Delta, Eps, Guarantee, Loss, ParameterError},
    ratio::Ratio,
    wording,
};
use std::fmt;

/// What is public about a data set: its name, its columns, and what the ledger fixed when it was registered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataFacts {
    /// The name that its budget belongs to.
    pub name: String,
    /// The names of its columns.
    pub columns: Vec<String>,
    /// Unit and adjacency, where the ledger knows the data set already.
    pub registered: Option<(Unit, Adjacency)>,
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

/// One question of a plan.
#[derive(Clone, Debug)]
pub struct Part {
    request: Request,
    group_by: Vec<String>,
    task: Task,
    cost: Approx,
    facts: DataFacts,
    /// What it costs for each row that comes or goes among those that take part.
    of_row: Approx,
}

/// What all questions of a plan have in common.
pub(crate) struct Shared {
    adjacency: Adjacency,
    unit: Unit,
    rows: Rows,
}

impl Part {
    /// Understand one question. Where an error is wanted and no price, the price is found.
    pub(crate) fn new(request: &Request, facts: &DataFacts) -> Result<(Self, Shared), PlanError> {
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
        let group_by = task.group_by().iter().map(|&column| facts.columns[column].clone()).collect();
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

    /// Its part of the price.
    pub fn cost(&self) -> &Approx {
        &self.cost
    }

    /// What can be told of the answer before any data is read.
    pub fn expected(&self) -> Expected {
        self.task.expected()
    }

    /// The other mechanisms that could answer, and what each would do at the same price.
    pub fn runners_up(&self) -> Vec<RunnerUp> {
        runners_up(&self.request, &self.facts, self.task.mechanism())
    }

    pub(crate) fn task(&self) -> &Task {
        &self.task
    }
}

/// A mechanism that was not taken.
#[derive(Clone, Debug, PartialEq)]
pub struct RunnerUp {
    /// Its name, for `--mechanism`.
    pub mechanism: &'static str,
    /// The error bar that it would have.
    pub error: Option<ErrorBar>,
    /// What it would do, or what it needs.
    pub words: String,
}

/// What the other mechanisms of a statistic would do. Only public words are looked at.
fn runners_up(request: &Request, facts: &DataFacts, taken: &str) -> Vec<RunnerUp> {
    let other = |&mechanism: &&'static str| {
        let request = Request { mechanism: Some(mechanism.to_string()), ..request.clone() };
        let planned = Said::new(&request, facts).and_then(|said| Task::plan(&said));
        let (error, words) = match planned {
            Ok(task) => (task.expected().error, task.expected().words),
            Err(error) => (None, error.to_string()),
        };
        RunnerUp { mechanism, error, words }
    };
    task::mechanisms(request).iter().filter(|&&name| name != taken).map(other).collect()
}

impl Plan {
    /// Understand a request.
    pub fn new(request: &Request, facts: &DataFacts) -> Result<Self, PlanError> {
        if request.weight.is_some() {
            return Err(PlanError::line("a weight is for the questions of a batch; leave it out"));
        }
        let (part, shared) = Part::new(request, facts)?;
        Ok(Self::of(request.to_json(), false, vec![part], shared, facts))
    }

    /// Understand several questions, which share one scan and one charge.
    pub fn batch(batch: &Batch, facts: &DataFacts) -> Result<Self, PlanError> {
        let mut parts = Vec::new();
        let mut shared = None;
        for (number, request) in batch.priced(facts)?.iter().enumerate() {
            let (part, common) =
                Part::new(request, facts).map_err(|error| batch::in_question(number, request, &error))?;
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
            (Unit::Row, Unit::Column(_)) => sum(&|part| charged_by_row(&part.of_row, charged_in)),
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
        for part in &self.parts {
            if !names.contains(&part.mechanism()) {
                names.push(part.mechanism());
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

    /// What an answer costs under the adjacency of its guarantee.
    pub fn cost(&self) -> &Approx {
        &self.cost
    }

    /// What will be charged.
    pub fn charge(&self) -> &Approx {
        &self.charge
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
        match self.wanted().into_iter().find_map(|wanted| source.unreadable(wanted.column)) {
            Some(line) => Err(PlanError::line(line)),
            None => Ok(()),
        }
    }

    #[cfg(test)]
    pub(crate) fn task(&self) -> &Task {
        &self.parts[0].task
    }

    pub(crate) fn rows(&self) -> &Rows {
        &self.rows
    }

    pub(crate) fn needs(&self) -> Vec<Need> {
        self.parts.iter().flat_map(|part| part.task.needs()).collect()
    }
}

/// Words that have been read as what they are, for the tasks to choose from.
#[derive(Clone, Debug)]
pub(crate) struct Said<'a> {
    request: &'a Request,
    facts: &'a DataFacts,
    /// What a row may lose, and what it does to the rows that take part.
    eps: Eps,
    delta: Delta,
    adjacency: Adjacency,
    /// What that comes to for a person.
    terms: Terms,
    /// The adjacency that was asked for.
    asked: Adjacency,
    rows: Rows,
    unit: Unit,
    failure: Ratio,
    group_by: Vec<usize>,
    groups_per_unit: u64,
}

impl<'a> Said<'a> {
    pub fn new(request: &'a Request, facts: &'a DataFacts) -> Result<Self, PlanError> {
        if !STATISTICS.contains(&request.statistic.as_str()) {
            return Err(PlanError::unknown("statistic", &request.statistic, &STATISTICS));
        }
        let eps = request.epsilon.as_deref().ok_or_else(|| {
            PlanError::line("how much privacy may it cost? Give --epsilon, such as --epsilon 1")
        })?;
        let confidence: Ratio = match request.confidence.as_deref() {
            Some(text) => text.parse().map_err(|_| not_a_number("confidence", text))?,
            None => Ratio::new(95, 100),
        };
        let failure = Ratio::one() - &confidence;
        if !confidence.is_positive() || failure < Ratio::new(1, 1_000_000_000) {
            let accepted = "give a number above 0 and at most 0.999999999, such as 0.95";
            return Err(ParameterError::out_of_range("confidence", &confidence, accepted).into());
        }
        let delta: Delta = request.delta.as_deref().map_or(Ok(Delta::zero()), str::parse)?;
        let asked = adjacency(request, facts)?;
        let group_by = group_by(request, facts)?;
        let (rows, unit) = Rows::plan(request, facts)?;
        // A count goes up and down by as much when somebody is replaced as when somebody comes or goes.
        let moves_alike = request.statistic == "count" && group_by.is_empty();
        let terms = Terms::new(&rows, &eps.parse()?, &delta, asked, moves_alike)?;
        Ok(Self {
            request,
            facts,
            eps: terms.eps.clone(),
            delta: terms.delta.clone(),
            adjacency: terms.adjacency,
            terms,
            asked,
            rows,
            unit,
            failure,
            group_by,
            groups_per_unit: 1,
        })
    }

    /// The same for a part of the work: another price and no groups.
    pub fn part(&self, eps: Eps, delta: Delta) -> Self {
        Self { eps, delta, group_by: Vec::new(), ..self.clone() }
    }

    /// The same under add/remove, at a price of which two steps cost no more than what was said: a replaced row is one
    /// that goes and one that comes, and these may belong to two groups. Unchanged where one step is all there is.
    pub fn in_single_steps(&self) -> Result<Self, PlanError> {
        if self.adjacency == Adjacency::AddRemove {
            return Ok(self.clone());
        }
        let eps = Eps::new(self.eps.ratio() / &Ratio::from(2u64))?;
        // Two steps lose delta·(1 + e^epsilon).
        let delta = Delta::new(self.delta.ratio() / &(Ratio::one() + exp_upper(eps.ratio())))?;
        Ok(Self { eps, delta, adjacency: Adjacency::AddRemove, ..self.clone() })
    }

    /// The columns whose texts are the keys of groups; none where all rows are one group.
    pub fn group_by(&self) -> &[usize] {
        &self.group_by
    }

    /// The keys that were stated as public.
    pub fn keys(&self) -> &'a [String] {
        &self.request.keys
    }

    /// The candidates that were stated as public.
    pub fn among(&self) -> &'a [String] {
        &self.request.among
    }

    /// Was an interval of values asked for?
    pub fn interval(&self) -> bool {
        self.request.interval == Some(true)
    }

    /// Does the statistic itself need a delta, apart from finding keys?
    pub fn needs_delta(&self) -> bool {
        needs_delta(self.request)
    }

    /// How many groups one unit may touch: a row has one key.
    pub fn groups_per_unit(&self) -> u64 {
        self.groups_per_unit
    }

    pub fn statistic(&self) -> &'a str {
        &self.request.statistic
    }

    /// What may be lost for each row that comes or goes.
    pub fn eps(&self) -> &Eps {
        &self.eps
    }

    /// How often that may be exceeded, for each row.
    pub fn delta(&self) -> &Delta {
        &self.delta
    }

    /// What a row does: under replace with rows that do not take part, it comes or goes.
    pub fn adjacency(&self) -> Adjacency {
        self.adjacency
    }

    /// Do all rows take part, each on its own?
    pub fn takes_all_rows(&self) -> bool {
        self.rows.are_all()
    }

    /// The probability with which an error bar may fail.
    pub fn failure(&self) -> &Ratio {
        &self.failure
    }

    /// The same as a confidence for display.
    pub fn confidence(&self) -> f64 {
        (Ratio::one() - &self.failure).to_f64()
    }

    pub fn fraction(&self) -> Option<&'a str> {
        self.request.fraction.as_deref()
    }

    pub fn range(&self) -> Option<&'a str> {
        self.request.range.as_deref()
    }

    pub fn resolution(&self) -> Option<&'a str> {
        self.request.resolution.as_deref()
    }

    /// The mechanism by name; `None` for auto.
    pub fn mechanism(&self) -> Option<&'a str> {
        self.request.mechanism.as_deref().filter(|&name| name != "auto")
    }

    /// The number of rows where it was stated.
    pub fn rows(&self) -> Result<Option<u64>, PlanError> {
        let read = |text: &str| {
            text.parse().map_err(|_| {
                ParameterError::out_of_range(
                    "rows",
                    text,
                    "give the number of rows as a whole number, such as 1000",
                )
                .into()
            })
        };
        self.request.rows.as_deref().map(read).transpose()
    }

    /// The mechanism is one of these, and words that this statistic does not take were not said.
    pub fn accepts(&self, mechanisms: &[&str], elsewhere: &[&str]) -> Result<(), PlanError> {
        if let Some(name) = self.mechanism().filter(|name| !mechanisms.contains(name)) {
            let names: Vec<&str> = mechanisms.iter().chain(elsewhere).copied().collect();
            return Err(PlanError::unknown("mechanism", name, &names));
        }
        if self.statistic() != "quantile" && self.fraction().is_some() {
            return Err(PlanError::line(format!("{} takes no fraction; use quantile", self.statistic())));
        }
        let numeric = !matches!(self.statistic(), "count" | "mode" | "histogram" | "select");
        let ranked = numeric && !matches!(self.statistic(), "sum" | "mean" | "variance");
        let grouped = !self.request.group_by.is_empty();
        for (name, said, taken) in [
            ("interval", self.interval(), matches!(self.statistic(), "median" | "quantile")),
            ("among", !self.among().is_empty(), self.statistic() == "select"),
            ("group-by", grouped, self.statistic() != "summary"),
            ("range", self.range().is_some(), numeric),
            ("resolution", self.resolution().is_some(), ranked),
            ("rows", self.request.rows.is_some(), ranked && self.request.group_by.is_empty()),
            (
                "keys",
                !self.keys().is_empty(),
                !self.request.group_by.is_empty() || self.statistic() == "histogram",
            ),
        ] {
            if said && !taken {
                let groups = if self.request.group_by.is_empty() { "" } else { " by group" };
                return Err(PlanError::line(format!(
                    "{}{groups} takes no {name}; leave it out",
                    self.statistic()
                )));
            }
        }
        Ok(())
    }

    /// The place of the column that the statistic needs.
    pub fn column(&self) -> Result<usize, PlanError> {
        self.optional_column()?.ok_or_else(|| {
            let names = list(&self.facts.columns);
            PlanError::line(format!("{} of which column? There are: {names}", self.statistic()))
        })
    }

    /// The place of the column, where one was named.
    pub fn optional_column(&self) -> Result<Option<usize>, PlanError> {
        let Some(name) = self.request.column.as_deref() else { return Ok(None) };
        columns::place(&self.facts.columns, name)
            .map(Some)
            .map_err(|error| PlanError::line(error.to_string()))
    }
}

fn needs_delta(request: &Request) -> bool {
    request.statistic == "mode"
        || (request.statistic == "select" && request.among.is_empty())
        || matches!(request.mechanism.as_deref(), Some("stable" | "scale"))
}

/// Can the question use a delta, to find keys or for its mechanism?
pub(crate) fn uses_delta(request: &Request) -> bool {
    let finds_keys =
        request.keys.is_empty() && (!request.group_by.is_empty() || request.statistic == "histogram");
    finds_keys || needs_delta(request)
}

/// The columns that were named; a text that names none may be several with commas between them.
fn group_by(request: &Request, facts: &DataFacts) -> Result<Vec<usize>, PlanError> {
    let mut places = Vec::new();
    for text in &request.group_by {
        let names =
            if facts.columns.contains(text) { vec![text.as_str()] } else { text.split(',').collect() };
        for name in names {
            let place = columns::place(&facts.columns, name.trim())
                .map_err(|error| PlanError::line(error.to_string()))?;
            if places.contains(&place) {
                let name = wording::shown(name.trim());
                return Err(PlanError::line(format!("'{name}' is grouped by twice; name it once")));
            }
            places.push(place);
        }
    }
    Ok(places)
}

/// The adjacency that was asked for, or the data set's own.
pub(crate) fn adjacency(request: &Request, facts: &DataFacts) -> Result<Adjacency, PlanError> {
    let registered = facts.registered.as_ref().map(|(_, adjacency)| *adjacency);
    let Some(text) = request.adjacency.as_deref() else {
        return Ok(registered.unwrap_or_default());
    };
    let asked: Adjacency = text.parse().map_err(|error| PlanError::line(format!("{error}")))?;
    match (registered, asked) {
        (Some(Adjacency::AddRemove), Adjacency::Replace) => Err(PlanError::line(format!(
            "'{}' is registered with add-remove, which protects its number of rows too; leave out --adjacency",
            wording::shown(&facts.name)
        ))),
        _ => Ok(asked),
    }
}

fn list(names: &[String]) -> String {
    const MOST: usize = 20;
    let mut text = names.iter().take(MOST).map(|name| wording::shown(name)).collect::<Vec<_>>().join(", ");
    if names.len() > MOST {
        text.push_str(", ...");
    }
    text
}

/// A request that cannot be planned. Free, because it depends on public facts only; `Display` is one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanError(String);

impl PlanError {
    pub(crate) fn line(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    pub(crate) fn unknown(what: &str, name: &str, known: &[&str]) -> Self {
        let hint = wording::nearest(name, known);
        let names: Vec<String> = known.iter().map(ToString::to_string).collect();
        Self(format!("no {what} is called '{}'{hint} There are: {}", wording::shown(name), list(&names)))
    }
}

impl fmt::Display for PlanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for PlanError {}

impl From<ParameterError> for PlanError {
    fn from(error: ParameterError) -> Self {
        Self(error.to_string())
    }
}
