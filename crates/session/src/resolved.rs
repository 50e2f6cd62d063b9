//! Words that have been read as what they are, for the tasks to choose from.

use crate::{
    bar::{TOGETHER, TOGETHER_IN_GROUP},
    columns,
    error::{HOLDS_TEXT, PlanError, list},
    facts::DataFacts,
    lattice::{AnswerLattice, DIGITS, DIGITS_OF_DIFFERENCES, EXACT, not_a_number},
    need::Need,
    request::Request,
    rows::{Rows, bound::ALL_GROUPS, derived, per_unit::PerUnit, plan::PerRowBudget},
    source::{ColumnRead, ColumnType},
    statistic::{Argument, Column, Fold, Mechanism, Only, Statistic},
    types::Types,
};
use equipoise_core::{
    adjacency::{Adjacency, Unit},
    interval::exp_upper,
    loss::{Delta, Eps, ParameterError},
    ratio::Ratio,
    wording,
};

mod by_words;
pub(crate) use by_words::uses_delta;
use by_words::{counted_values, needs_delta};

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
    /// Is it about the bins or points of one group among others?
    in_group: bool,
    types: Types,
    /// The mechanism by name; `None` for auto.
    mechanism: Option<&'a str>,
    /// Are losses added up as concentrated ones, with other parts of the same plan?
    concentrated: bool,
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
        let rows = match counted_values(statistic, request, facts, &types) {
            Some(values) => rows.once_for_each_value(values, Rows::stated_groups(request)?),
            None => rows.bounded_by_group(request, keys)?,
        };
        // A count goes up and down by as much when somebody is replaced as when somebody comes or goes.
        // So does a number of values, and the number of rows beyond an end.
        let alike = [Statistic::Count, Statistic::Distinct, Statistic::Min, Statistic::Max];
        let moves_alike = alike.contains(&statistic) && group_by.is_empty() && request.per_unit != Some(true);
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
            in_group: false,
            types,
            mechanism: request.mechanism.as_deref().filter(|&name| name != AUTO),
            concentrated: false,
        })
    }

    /// The same as a part of a plan whose losses are added up as concentrated ones: the bell curve then needs no delta of its own. Only for
    /// statistics whose tasks say what they lose in parts.
    pub fn concentrated(self) -> Self {
        let noisy = match self.statistic {
            // By group it is a histogram, or a sum of people's counts.
            Statistic::Count => self.group_by.is_empty(),
            Statistic::Share
            | Statistic::Sum
            | Statistic::Mean
            | Statistic::Variance
            | Statistic::Std
            | Statistic::Summary => true,
            _ => false,
        };
        Self { concentrated: noisy, ..self }
    }

    /// The same for a question that shares its keys with others, so that a count is one for each group.
    pub fn in_groups_concentrated(self) -> Self {
        if self.statistic == Statistic::Count {
            Self { concentrated: true, ..self }
        } else {
            self.concentrated()
        }
    }

    /// Are losses added up as concentrated ones?
    pub fn is_concentrated(&self) -> bool {
        self.concentrated
    }

    /// The same for a part of the work: another price and no groups.
    pub fn part(&self, eps: Eps, delta: Delta) -> Self {
        Self { eps, delta, group_by: Vec::new(), ..self.clone() }
    }

    /// The same by these columns.
    pub fn grouped_by(&self, columns: &[usize]) -> Self {
        Self { group_by: columns.to_vec(), ..self.clone() }
    }

    /// The same about the bins or points of a column in one group.
    pub fn in_group(&self, column: usize) -> Self {
        Self { group_by: vec![column], in_group: true, ..self.clone() }
    }

    /// What bars say that hold all at once.
    pub fn together(&self) -> &'static str {
        if self.in_group { TOGETHER_IN_GROUP } else { TOGETHER }
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

    /// How many steps of add/remove one step of what was asked for is.
    pub fn single_steps(&self) -> u64 {
        if self.adjacency == Adjacency::AddRemove { 1 } else { 2 }
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
    pub fn kind(&self, column: usize) -> Option<ColumnType> {
        self.types.of(column)
    }

    /// How the values of a column are read where they are numbers; an error where this statistic cannot use its type.
    pub fn numbers(&self, column: usize) -> Result<Need, PlanError> {
        let summed = self.statistic.spec().column == Column::Summed;
        if self.statistic.spec().column == Column::Condition {
            return self.condition(column);
        }
        if self.types.said(column).is_none() && self.facts.kind(column) == Some(ColumnType::Text) {
            return Err(self.text_for_numbers(column));
        }
        let instead = match self.kind(column) {
            Some(ColumnType::Text) => "mode, histogram or select",
            Some(kind) if kind.is_time() && summed => "median, quantile, iqr, mode, histogram or select",
            Some(ColumnType::Boolean) if self.statistic == Statistic::Iqr => {
                "mean, which is the share of yes"
            }
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

    /// Why a column whose schema says text is not asked for numbers: where it holds names, all of them would be missing.
    fn text_for_numbers(&self, column: usize) -> PlanError {
        let (statistic, name) = (self.statistic(), wording::shown(&self.facts.columns[column]));
        let problem = format!("{statistic} takes numbers, and the schema says that '{name}' {HOLDS_TEXT}");
        PlanError::about(Argument::Column, problem)
            .hint("ask for mode, histogram or select, or declare with `types` that its texts are numbers")
    }

    /// Yes and no of each record: what a condition says, or a column whose type is no other.
    fn condition(&self, column: usize) -> Result<Need, PlanError> {
        match self.kind(column).or(self.facts.kind(column)) {
            None | Some(ColumnType::Boolean) => {
                Ok(Need::Wholes(ColumnRead { column, kind: ColumnType::Boolean }))
            }
            Some(kind) => {
                let (statistic, name) = (self.statistic(), wording::shown(&self.facts.columns[column]));
                let problem = format!("{statistic} takes a condition, and '{name}' is a {kind}");
                Err(PlanError::about(Argument::Column, problem)
                    .hint(format!("compare it, as in \"{name} {}\"", kind.compared())))
            }
        }
    }

    /// The keys that were stated as public.
    pub fn keys(&self) -> &'a [String] {
        &self.request.keys
    }

    /// The candidates that were stated as public.
    pub fn among(&self) -> &'a [String] {
        &self.request.among
    }

    /// Are bars about the population that the rows were drawn from?
    pub fn population(&self) -> bool {
        self.request.population == Some(true)
    }

    /// How many of the most frequent values were asked for.
    pub fn k(&self) -> Result<usize, PlanError> {
        const MOST: usize = 1000;
        let accepted = format!("a whole number from 1 to {MOST}, such as 10");
        let Some(text) = self.request.k.as_deref() else {
            return Err(PlanError::about(Argument::K, "how many of the most frequent values?")
                .hint(format!("Give `k`: {accepted}")));
        };
        text.parse().ok().filter(|k| (1..=MOST).contains(k)).ok_or_else(|| {
            PlanError::about(
                Argument::K,
                format!("{} of the most frequent values are not accepted:", wording::shown(text)),
            )
            .hint(format!("give {accepted}"))
        })
    }

    /// Is a summary to have quantiles?
    pub fn has_quantiles(&self) -> bool {
        self.request.no_quantiles != Some(true)
    }

    /// Was an interval of values asked for?
    pub fn interval(&self) -> bool {
        self.request.interval == Some(true)
    }

    /// Does the mechanism that was named, or every one that there is, need a delta, apart from finding keys?
    pub fn needs_delta(&self) -> bool {
        !self.concentrated && needs_delta(self.statistic, self.mechanism, self.request)
    }

    /// The mechanisms that are a choice for this question.
    pub fn mechanisms(&self) -> impl Iterator<Item = Mechanism> {
        let several = self.request.fraction.as_deref().is_some_and(|fractions| fractions.contains(','));
        let grouped = !self.request.group_by.is_empty();
        let stated = !self.request.among.is_empty();
        self.statistic.spec().mechanisms.iter().copied().filter(move |mechanism| match mechanism.only {
            Only::All => true,
            Only::OneQuantile => !several,
            Only::NoGroups => !grouped,
            Only::Stated => stated,
            Only::Found => !stated,
            Only::NoStep => !self.has_step(),
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

    /// Does each person count once for each value, so that counts are of people?
    pub fn counts_people(&self) -> bool {
        self.rows.counts_people()
    }

    /// How many values of the column one unit may have at most; nothing where there is no bound on them.
    pub fn values_per_unit(&self) -> Option<u64> {
        match self.rows.bound() {
            Some(bound) if self.rows.counts_people() => {
                bound.groups.as_ref().map(|groups| groups.most).filter(|&most| most != ALL_GROUPS)
            }
            _ => Some(1),
        }
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

    /// The range of the second column.
    pub fn range_y(&self) -> Option<&'a str> {
        self.request.range_y.as_deref()
    }

    /// The ranges of the columns that explain.
    pub fn range_on(&self) -> Option<&'a str> {
        self.request.range_on.as_deref()
    }

    /// How many bins of one length, where they were asked for.
    pub fn bins(&self) -> Option<&'a str> {
        self.request.bins.as_deref()
    }

    /// How many bins with about as many rows each, where they were asked for.
    pub fn quantile_bins(&self) -> Option<&'a str> {
        self.request.quantile_bins.as_deref()
    }

    /// How wide bins are, where that was said.
    pub fn width(&self) -> Option<&'a str> {
        self.request.width.as_deref()
    }

    /// At which points, where they were stated.
    pub fn at(&self) -> Option<&'a str> {
        self.request.at.as_deref()
    }

    /// Is there a bound on the groups of a person?
    pub fn limits_groups(&self) -> bool {
        self.request.says(Argument::MaxGroupsPerUnit)
    }

    /// Was a step declared, so that all values are as far apart?
    pub fn has_step(&self) -> bool {
        self.request.resolution.as_deref().is_some_and(|resolution| resolution != EXACT)
    }

    /// The bound that was proposed on what one row does.
    pub fn bound(&self) -> Option<&'a str> {
        self.request.bound.as_deref()
    }

    /// The ratio of the ends of a bin of scales, where it was stated.
    pub fn base(&self) -> Option<&'a str> {
        self.request.base.as_deref()
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
        AnswerLattice::of(self.kind(column).unwrap_or(ColumnType::Float), self.range(), resolution, digits)
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
            if named.needs_delta && !self.concentrated && self.delta.is_zero() && first != name && comes_first
            {
                return Err(PlanError::about(
                    Argument::Delta,
                    format!("the mechanism {name} needs a delta above 0"),
                )
                .hint(format!("give `delta=1e-6`, or use {first}")));
            }
        }
        for (argument, mechanism) in [(Argument::Bound, "propose-test-release"), (Argument::Base, "scale")] {
            let other = self.request.mechanism.as_deref() != Some(mechanism);
            if other && self.request.says(argument) && self.statistic.takes(argument) {
                let problem = format!("`{}` is for the mechanism {mechanism}", argument.name());
                return Err(PlanError::about(argument, problem)
                    .hint(format!("give `mechanism={mechanism}`, or leave it out")));
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
            // The column of a histogram or an ecdf is what it groups by.
            Argument::GroupBy if self.statistic.spec().column == Column::Keys => false,
            Argument::Rows if grouped => true,
            Argument::Range if self.statistic == Statistic::Count => self.fold().is_none(),
            Argument::Range if self.statistic == Statistic::Histogram => {
                let binned = [Argument::Bins, Argument::Width, Argument::QuantileBins];
                !binned.iter().any(|&argument| self.request.says(argument))
            }
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

    /// The place of the column that the statistic needs: of what each person's rows were made, where they were.
    pub fn column(&self) -> Result<usize, PlanError> {
        match self.fold() {
            Some(fold) => self.column_of_people(fold),
            None => self.column_of_rows(),
        }
    }

    /// The place of the column that was named.
    fn column_of_rows(&self) -> Result<usize, PlanError> {
        self.named_column()?.ok_or_else(|| {
            let names = list(&self.facts.columns);
            PlanError::about(Argument::Column, format!("{} of which column?", self.statistic()))
                .hint(format!("There are: {names}"))
        })
    }

    /// What each person's rows are made first, where they are.
    pub fn fold(&self) -> Option<Fold> {
        self.request.fold()
    }

    /// The place of the column that holds what each person's rows were made.
    fn column_of_people(&self, fold: Fold) -> Result<usize, PlanError> {
        if fold != Fold::Count {
            self.numbers(self.column_of_rows()?)?;
        }
        self.named_column()?;
        let name = fold.column_name(self.request.column.as_deref());
        PerUnit::place(self.facts, &name)
            .ok_or_else(|| PlanError::about(Argument::PerUnit, "`per_unit` needs a unit and a column"))
    }

    /// Whether people's values lie between public ends, because those of their rows are yes and no.
    pub fn public_ends(&self) -> Option<&'static str> {
        let column = self.column_of_rows().ok()?;
        (self.fold() == Some(Fold::Mean) && self.kind(column) == Some(ColumnType::Boolean)).then_some("0,1")
    }

    /// The place of the second column that the statistic needs.
    pub fn second_column(&self) -> Result<usize, PlanError> {
        let Some(name) = self.request.y.as_deref() else {
            let names = list(&self.facts.columns);
            return Err(PlanError::about(Argument::Y, format!("{} with which column?", self.statistic()))
                .hint(format!("Name a second one. There are: {names}")));
        };
        columns::named(&self.facts.columns, name).map_err(|error| PlanError::no_column(Argument::Y, &error))
    }

    /// The places of the columns that explain.
    pub fn on(&self) -> Result<Vec<usize>, PlanError> {
        if self.request.on.is_empty() {
            let names = list(&self.facts.columns);
            return Err(PlanError::about(Argument::On, format!("{} on which columns?", self.statistic()))
                .hint(format!("Name them with `on`. There are: {names}")));
        }
        let place = |name: &String| {
            columns::named(&self.facts.columns, name)
                .map_err(|error| PlanError::no_column(Argument::On, &error))
        };
        self.request.on.iter().map(place).collect()
    }

    /// What a column is called.
    pub fn column_name(&self, column: usize) -> String {
        self.facts.columns[column].clone()
    }

    /// The place of the column, or of the one that names people where none was named.
    fn column_or_unit(&self) -> Result<usize, PlanError> {
        match (self.optional_column()?, &self.unit) {
            (None, Unit::Column(name)) => columns::named(&self.facts.columns, name)
                .map_err(|error| PlanError::no_column(Argument::Unit, &error)),
            (Some(column), _) => Ok(column),
            (None, _) => self.column(),
        }
    }

    /// How values are read where only their number counts: whole numbers as what they are, which is faster than their texts.
    pub fn distinct_values(&self) -> Result<ColumnRead, PlanError> {
        let column = self.column_or_unit()?;
        Ok(match self.kind(column) {
            Some(kind @ (ColumnType::Integer | ColumnType::Date | ColumnType::Boolean)) => {
                ColumnRead { column, kind }
            }
            _ => self.key(column),
        })
    }

    /// The place of the column, where one was named or people's rows were made one value.
    pub fn optional_column(&self) -> Result<Option<usize>, PlanError> {
        match self.fold() {
            Some(fold) => self.column_of_people(fold).map(Some),
            None => self.named_column(),
        }
    }

    fn named_column(&self) -> Result<Option<usize>, PlanError> {
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
