//! Words that have been read as what they are, for the tasks to choose from.

use crate::{
    columns,
    error::{PlanError, list},
    facts::DataFacts,
    lattice::{AnswerLattice, DIGITS, DIGITS_OF_DIFFERENCES, EXACT, not_a_number},
    need::Need,
    request::Request,
    rows::{Rows, derived, plan::PerRowBudget},
    source::{ColumnRead, Kind},
    statistic::{Argument, Column, Mechanism, Only, Statistic},
    types::Types,
};
use equipoise_core::{
    adjacency::{Adjacency, Unit},
    interval::exp_upper,
    loss::{Delta, Eps, ParameterError},
    ratio::Ratio,
    wording,
};

/// The word that leaves the mechanism to the plan.
const AUTO: &str = "auto";

/// Words that have been read as what they are, for the tasks to choose from.
#[derive(Clone, Debug)]
pub(crate) struct ResolvedRequest<'a> {
    request: &'a Request,
    statistic: Statistic,
    facts: &'a DataFacts,
    /// What a row may lose, and what it does to the rows that take part.
    eps: Eps,
    delta: Delta,
    adjacency: Adjacency,
    /// What that comes to for a person.
    pub(super) terms: PerRowBudget,
    /// The adjacency that was asked for.
    pub(super) asked: Adjacency,
    pub(super) rows: Rows,
    pub(super) unit: Unit,
    failure: Ratio,
    group_by: Vec<usize>,
    groups_per_unit: u64,
    types: Types,
    /// The mechanism by name; `None` for auto.
    mechanism: Option<&'a str>,
}

impl<'a> ResolvedRequest<'a> {
    pub fn new(request: &'a Request, facts: &'a DataFacts) -> Result<Self, PlanError> {
        let statistic = statistic(request)?;
        let eps = request.epsilon.as_deref().ok_or_else(|| {
            PlanError::about(Argument::Epsilon, "how much privacy may it cost?")
                .hint("Give `epsilon`, such as `epsilon=1`")
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
        let types = Types::plan(request, facts)?;
        let keys = group_by.iter().map(|&column| types.key(column)).collect();
        let rows = rows.bounded_by_group(request, keys)?;
        // A count goes up and down by as much when somebody is replaced as when somebody comes or goes.
        let moves_alike = statistic == Statistic::Count && group_by.is_empty();
        let terms = PerRowBudget::new(&rows, &eps.parse()?, &delta, asked, moves_alike)?;
        Ok(Self {
            request,
            statistic,
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
            types,
            mechanism: request.mechanism.as_deref().filter(|&name| name != AUTO),
        })
    }

    /// The same for a part of the work: another price and no groups.
    pub fn part(&self, eps: Eps, delta: Delta) -> Self {
        Self { eps, delta, group_by: Vec::new(), ..self.clone() }
    }

    /// The same as a part of the work of a whole, in whose steps it is counted: its price and no groups.
    pub fn part_of(&self, whole: &Self, eps: Eps, delta: Delta) -> Self {
        Self { adjacency: whole.adjacency, ..self.part(eps, delta) }
    }

    /// The same by this mechanism.
    pub fn by(&self, mechanism: &'static str) -> Self {
        Self { mechanism: Some(mechanism), ..self.clone() }
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

    /// Are there answers for groups, of which this may be a part?
    pub fn is_by_group(&self) -> bool {
        !self.request.group_by.is_empty()
    }

    /// How the values of a column are read where they are keys.
    pub fn key(&self, column: usize) -> ColumnRead {
        self.types.key(column)
    }

    /// The type of a column, where it was declared or the schema says more than text.
    pub fn kind(&self, column: usize) -> Option<Kind> {
        self.types.of(column)
    }

    /// How the values of a column are read where they are numbers; an error where this statistic cannot use its type.
    pub fn numbers(&self, column: usize) -> Result<Need, PlanError> {
        let summed = self.statistic.spec().column == Column::Summed;
        let instead = match self.kind(column) {
            Some(Kind::Text) => "mode, histogram or select",
            Some(kind) if kind.is_time() && summed => "median, quantile, iqr, mode, histogram or select",
            Some(Kind::Boolean) if self.statistic == Statistic::Iqr => "mean, which is the share of yes",
            _ => return Ok(self.types.numbers(column)),
        };
        let (statistic, name) = (self.statistic(), wording::shown(&self.facts.columns[column]));
        let kind = self.kind(column).expect("a type was found");
        Err(PlanError::about(
            Argument::Column,
            format!("{statistic} of a {kind} has no meaning, and '{name}' is one"),
        )
        .hint(format!("ask for {instead}")))
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

    /// Does the mechanism that was named, or every one that there is, need a delta, apart from finding keys?
    pub fn needs_delta(&self) -> bool {
        needs_delta(self.statistic, self.mechanism, self.request)
    }

    /// The mechanisms that are a choice for this question.
    pub fn mechanisms(&self) -> impl Iterator<Item = Mechanism> {
        let several = self.request.fraction.as_deref().is_some_and(|fractions| fractions.contains(','));
        let grouped = !self.request.group_by.is_empty();
        self.statistic.spec().mechanisms.iter().copied().filter(move |mechanism| match mechanism.only {
            Only::All => true,
            Only::OneQuantile => !several,
            Only::NoGroups => !grouped,
        })
    }

    /// How many groups one unit may touch: a row has one key.
    pub fn groups_per_unit(&self) -> u64 {
        self.groups_per_unit
    }

    pub fn statistic(&self) -> Statistic {
        self.statistic
    }

    /// What may be lost for each row that comes or goes.
    pub fn eps(&self) -> &Eps {
        &self.eps
    }

    /// Delta for each row: by how much any set of outcomes may be likelier than epsilon allows.
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

    /// The same request whose bars may fail with this probability.
    pub fn with_failure(&self, failure: Ratio) -> Self {
        Self { failure, ..self.clone() }
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

    /// Was a step declared, so that all values are as far apart?
    pub fn has_step(&self) -> bool {
        self.request.resolution.as_deref().is_some_and(|resolution| resolution != EXACT)
    }

    /// The possible answers about a column, or what its interquartile range is the difference of.
    pub fn lattice(&self, column: usize) -> Result<AnswerLattice, PlanError> {
        let digits = if self.statistic == Statistic::Iqr { DIGITS_OF_DIFFERENCES } else { DIGITS };
        self.lattice_of(column, self.request.resolution.as_deref(), digits)
    }

    /// The same with every float where no step was declared.
    pub fn exact_lattice(&self, column: usize) -> Result<AnswerLattice, PlanError> {
        self.lattice_of(column, Some(self.request.resolution.as_deref().unwrap_or(EXACT)), DIGITS)
    }

    fn lattice_of(
        &self,
        column: usize,
        resolution: Option<&str>,
        digits: u32,
    ) -> Result<AnswerLattice, PlanError> {
        AnswerLattice::of(self.kind(column).unwrap_or(Kind::Float), self.range(), resolution, digits)
    }

    /// The mechanism by name; `None` for auto.
    pub fn mechanism(&self) -> Option<&'a str> {
        self.mechanism
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

    /// The mechanism can answer this question, and arguments that the statistic does not take were not given.
    pub fn check_arguments(&self) -> Result<(), PlanError> {
        if let Some(name) = self.mechanism {
            let Some(named) = self.mechanisms().find(|mechanism| mechanism.name == name) else {
                let names: Vec<&str> = self.mechanisms().map(|mechanism| mechanism.name).collect();
                let names = if names.is_empty() { vec!["auto"] } else { names };
                return Err(PlanError::unknown("mechanism", name, &names));
            };
            let first = self.mechanisms().next().map_or("", |mechanism| mechanism.name);
            // Without a range there is more to say, which the mechanism does.
            let comes_first = !named.needs_grid || self.range().is_some();
            if named.needs_delta && self.delta.is_zero() && first != name && comes_first {
                return Err(PlanError::about(
                    Argument::Delta,
                    format!("the mechanism {name} needs a delta above 0"),
                )
                .hint(format!("give `delta=1e-6`, or use {first}")));
            }
        }
        if self.statistic != Statistic::Quantile && self.fraction().is_some() {
            return Err(PlanError::about(
                Argument::Fraction,
                format!("{} takes no fraction", self.statistic),
            )
            .hint("use quantile"));
        }
        let grouped = self.request.says(Argument::GroupBy);
        let refused = |argument: Argument| match argument {
            // The column of a histogram is what it groups by.
            Argument::GroupBy if self.statistic == Statistic::Histogram => false,
            Argument::Rows if grouped => true,
            Argument::Keys if !grouped => self.statistic != Statistic::Histogram,
            argument => !self.statistic.takes(argument),
        };
        let refused =
            Argument::ALL.into_iter().find(|&argument| self.request.says(argument) && refused(argument));
        match refused {
            Some(argument) => {
                let groups = if grouped { " by group" } else { "" };
                let name = argument.name();
                let problem = format!("{}{groups} takes no {name}", self.statistic);
                Err(PlanError::about(argument, problem).hint("leave it out"))
            }
            None => Ok(()),
        }
    }

    /// The place of the column that the statistic needs.
    pub fn column(&self) -> Result<usize, PlanError> {
        self.optional_column()?.ok_or_else(|| {
            let names = list(&self.facts.columns);
            PlanError::about(Argument::Column, format!("{} of which column?", self.statistic()))
                .hint(format!("There are: {names}"))
        })
    }

    /// The place of the column, where one was named.
    pub fn optional_column(&self) -> Result<Option<usize>, PlanError> {
        let Some(name) = self.request.column.as_deref() else { return Ok(None) };
        columns::named(&self.facts.columns, name)
            .map(Some)
            .map_err(|error| PlanError::no_column(Argument::Column, &error))
    }
}

/// The statistic that a request names.
pub(crate) fn statistic(request: &Request) -> Result<Statistic, PlanError> {
    Statistic::named(&request.statistic)
        .ok_or_else(|| PlanError::unknown("statistic", &request.statistic, &Statistic::names()))
}

fn needs_delta(statistic: Statistic, mechanism: Option<&str>, request: &Request) -> bool {
    let mechanisms = statistic.spec().mechanisms;
    let finds_candidates = statistic.takes(Argument::Among) && request.among.is_empty();
    let by_mechanism = match mechanism {
        Some(name) => mechanisms.iter().any(|mechanism| mechanism.name == name && mechanism.needs_delta),
        None => !mechanisms.is_empty() && mechanisms.iter().all(|mechanism| mechanism.needs_delta),
    };
    finds_candidates || by_mechanism
}

/// Can the question use a delta, to find keys or for its mechanism?
pub(crate) fn uses_delta(request: &Request) -> bool {
    let Ok(statistic) = statistic(request) else { return false };
    let keyed = !request.group_by.is_empty() || statistic.spec().column == Column::Keys;
    let mechanism = request.mechanism.as_deref().filter(|&name| name != AUTO);
    (keyed && request.keys.is_empty()) || needs_delta(statistic, mechanism, request)
}

/// The columns that were named; a text that names none may be several, or expressions, with commas between them.
fn group_by(request: &Request, facts: &DataFacts) -> Result<Vec<usize>, PlanError> {
    let mut places = Vec::new();
    for text in &request.group_by {
        for name in derived::keys(&facts.columns, text) {
            let place = columns::named(&facts.columns, name.trim())
                .map_err(|error| PlanError::no_column(Argument::GroupBy, &error))?;
            if places.contains(&place) {
                let name = wording::shown(name.trim());
                return Err(PlanError::about(Argument::GroupBy, format!("'{name}' is grouped by twice"))
                    .hint("name it once"));
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
    let asked: Adjacency =
        text.parse().map_err(|error| PlanError::about(Argument::Adjacency, format!("{error}")))?;
    match (registered, asked) {
        (Some(Adjacency::AddRemove), Adjacency::Replace) => Err(PlanError::about(
            Argument::Adjacency,
            format!(
                "'{}' is registered with add-remove, which protects its number of rows too",
                wording::shown(&facts.name)
            ),
        )
        .hint("leave out `adjacency`")),
        _ => Ok(asked),
    }
}
