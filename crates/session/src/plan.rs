//! From words to a mechanism: every error that a request can have happens here, before rows are read and
//! before anything is charged.
//!
//! A plan sees the words, the names of the columns and what the ledger says of the data set. All of it is
//! public, so a plan and its errors are free.

use crate::{
    columns,
    gather::Need,
    request::Request,
    space::not_a_number,
    task::{Expected, STATISTICS, Task},
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

/// A question that can be answered, with its price.
#[derive(Clone, Debug)]
pub struct Plan {
    request: Request,
    data: String,
    group_by: Vec<String>,
    task: Task,
    guarantee: Guarantee,
    cost: Approx,
    /// What the ledger is charged, in the adjacency of the data set.
    charge: Approx,
    /// The adjacency in which it is charged.
    charged_in: Adjacency,
}

impl Plan {
    /// Understand a request.
    pub fn new(request: &Request, facts: &DataFacts) -> Result<Self, PlanError> {
        let said = Said::new(request, facts)?;
        let task = Task::plan(&said)?;
        let loss = task.cost();
        let Some(cost) = approx(&loss) else {
            return Err(PlanError::line("this mechanism has no (epsilon, delta) price"));
        };
        let charged_in = facts.registered.as_ref().map_or(said.adjacency, |(_, adjacency)| *adjacency);
        let charge = match (said.adjacency, charged_in) {
            (Adjacency::AddRemove, Adjacency::Replace) => cost.two_steps(),
            _ => cost.clone(),
        };
        let guarantee = Guarantee { loss, adjacency: said.adjacency, unit: Unit::Row };
        Ok(Self {
            request: request.clone(),
            data: facts.name.clone(),
            group_by: task.group_by().iter().map(|&column| facts.columns[column].clone()).collect(),
            task,
            guarantee,
            cost,
            charge,
            charged_in,
        })
    }

    /// What was said.
    pub fn request(&self) -> &Request {
        &self.request
    }

    /// The name that the budget belongs to.
    pub fn data(&self) -> &str {
        &self.data
    }

    /// The statistic.
    pub fn statistic(&self) -> &str {
        &self.request.statistic
    }

    /// The names of the columns that answers are grouped by.
    pub fn group_by(&self) -> &[String] {
        &self.group_by
    }

    /// The name of the mechanism.
    pub fn mechanism(&self) -> &'static str {
        self.task.mechanism()
    }

    /// What an answer promises.
    pub fn guarantee(&self) -> &Guarantee {
        &self.guarantee
    }

    /// The adjacency of the data set, in which the ledger counts.
    pub fn charged_in(&self) -> Adjacency {
        self.charged_in
    }

    /// What an answer costs under the adjacency of its guarantee.
    pub fn cost(&self) -> &Approx {
        &self.cost
    }

    /// What will be charged.
    pub fn charge(&self) -> &Approx {
        &self.charge
    }

    /// What can be told of the answer before any data is read.
    pub fn expected(&self) -> Expected {
        self.task.expected()
    }

    pub(crate) fn task(&self) -> &Task {
        &self.task
    }

    pub(crate) fn needs(&self) -> Vec<Need> {
        self.task.needs()
    }
}

fn approx(loss: &Loss) -> Option<Approx> {
    match loss {
        Loss::Approx(approx) => Some(approx.clone()),
        Loss::Zcdp(_) | Loss::Renyi(_) => None,
    }
}

/// Words that have been read as what they are, for the tasks to choose from.
#[derive(Clone, Debug)]
pub(crate) struct Said<'a> {
    request: &'a Request,
    facts: &'a DataFacts,
    eps: Eps,
    delta: Delta,
    adjacency: Adjacency,
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
        let said = Self {
            request,
            facts,
            eps: eps.parse()?,
            delta: request.delta.as_deref().map_or(Ok(Delta::zero()), str::parse)?,
            adjacency: adjacency(request, facts)?,
            failure,
            group_by: group_by(request, facts)?,
            groups_per_unit: 1,
        };
        Ok(said)
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

    /// Does the statistic itself need a delta, apart from finding keys?
    pub fn needs_delta(&self) -> bool {
        self.statistic() == "mode" || matches!(self.mechanism(), Some("stable" | "scale"))
    }

    /// How many groups one unit may touch: a row has one key.
    pub fn groups_per_unit(&self) -> u64 {
        self.groups_per_unit
    }

    pub fn statistic(&self) -> &'a str {
        &self.request.statistic
    }

    pub fn eps(&self) -> &Eps {
        &self.eps
    }

    pub fn delta(&self) -> &Delta {
        &self.delta
    }

    pub fn adjacency(&self) -> Adjacency {
        self.adjacency
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
        let numeric = !matches!(self.statistic(), "count" | "mode" | "histogram");
        let ranked = numeric && !matches!(self.statistic(), "sum" | "mean" | "variance");
        for (name, said, taken) in [
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
