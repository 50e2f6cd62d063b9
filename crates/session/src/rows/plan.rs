//! From words to rows that count, and what one step of a question may cost.

use super::{
    Rows,
    bound::{ALL_GROUPS, Bound, GroupLimit, Step},
    filter::Filter,
};
use crate::{
    columns, error::PlanError, facts::DataFacts, request::Request, source::ColumnRead, statistic::Argument,
    types::Types, windows,
};
use equipoise_core::{
    adjacency::{Adjacency, Unit},
    loss::{Approx, Delta, Eps},
    wording,
};

/// More rows of one person than this are never kept: noise for so many would drown every answer.
const MOST_ROWS: u64 = 100_000;

impl Rows {
    /// From `--where`, `--unit` and `--max-rows-per-unit`, and whose privacy is protected then. A data set that is
    /// registered with a unit keeps it.
    pub fn plan(request: &Request, facts: &DataFacts) -> Result<(Self, Unit), PlanError> {
        let types = Types::plan(request, facts)?;
        let filter = request.filter.as_deref().map(|text| Filter::plan(text, facts, &types)).transpose()?;
        let windows = windows::asked(request, facts)?;
        let filter = match &windows {
            None => filter,
            Some(asked) => {
                let cell = windows::cell(&asked.windows, facts)?;
                Some(Filter::within(filter, cell, &windows::ranges(asked)))
            }
        };
        let unit = facts.unit(request.unit.as_deref())?;
        let bound = match (&unit, request.max_rows_per_unit.as_deref()) {
            (Unit::Row, None) => None,
            (Unit::Row, Some(_)) => {
                return Err(PlanError::about(Argument::MaxRowsPerUnit, "`max_rows_per_unit` needs a unit:")
                    .hint("name the column of people with `unit`"));
            }
            (Unit::Column(name), most) => {
                let column = columns::place(&facts.columns, name).map_err(|error| {
                    PlanError::no_column(Argument::Unit, &error).within_argument(Argument::Unit)
                })?;
                Some(Bound {
                    unit: column,
                    rows: most.map_or(Ok(1), |text| number(Argument::MaxRowsPerUnit, text))?,
                    groups: None,
                    step: Step::Row,
                })
            }
        };
        Ok((Self { filter, windows, bound, ..Self::default() }, unit))
    }

    /// From `--max-groups-per-unit`: the rows of a person lie in at most so many groups, which agree in the keys, and the
    /// bound on rows is one for each group.
    pub fn bounded_by_group(self, request: &Request, keys: Vec<ColumnRead>) -> Result<Self, PlanError> {
        if request.per_unit == Some(true) && self.bound.is_none() {
            return Err(PlanError::about(Argument::PerUnit, "`per_unit` needs a unit:")
                .hint("name the column of people with `unit`"));
        }
        let Some(text) = request.max_groups_per_unit.as_deref() else {
            // The rows of a person in a group are made one value, so that a person has groups.
            let made = request.per_unit == Some(true) && !keys.is_empty();
            return Ok(if made { self.in_groups(keys, 1) } else { self });
        };
        let Some(bound) = &self.bound else {
            return Err(PlanError::about(Argument::MaxGroupsPerUnit, "`max_groups_per_unit` needs a unit:")
                .hint("name the column of people with `unit`"));
        };
        if keys.is_empty() {
            return Err(PlanError::about(
                Argument::MaxGroupsPerUnit,
                "`max_groups_per_unit` is for answers by group",
            )
            .hint("give `group_by`, or leave it out"));
        }
        let most = number(Argument::MaxGroupsPerUnit, text)?;
        if bound.rows.saturating_mul(most) > MOST_ROWS {
            return Err(PlanError::about(
                Argument::MaxGroupsPerUnit,
                format!(
                    "{most} groups of {} rows each are more than {MOST_ROWS} rows of one person",
                    bound.rows
                ),
            )
            .hint("give smaller bounds"));
        }
        Ok(self.in_groups(keys, most))
    }

    /// The same, where a person may have rows in at most so many groups. Nothing changes without a unit: a row is in one
    /// group.
    #[must_use]
    pub fn in_groups(mut self, keys: Vec<ColumnRead>, most: u64) -> Self {
        if let Some(bound) = &mut self.bound {
            bound.groups = Some(GroupLimit { keys, most: most.max(1) });
        }
        self
    }

    /// The same where a person counts once for each value of this column, for questions that see the counts of its values alone: of at
    /// most so many values, or of all where nothing is said. Nothing changes without a unit: a row has one value.
    #[must_use]
    pub fn once_for_each_value(mut self, of: ColumnRead, most: Option<u64>) -> Self {
        if let Some(bound) = &mut self.bound {
            bound.rows = 1;
            bound.groups = Some(GroupLimit { keys: vec![of], most: most.unwrap_or(ALL_GROUPS) });
            bound.step = Step::Person;
        }
        self
    }

    /// The number behind `--max-groups-per-unit`, where it was stated.
    pub fn stated_groups(request: &Request) -> Result<Option<u64>, PlanError> {
        let number = |text: &str| number(Argument::MaxGroupsPerUnit, text);
        request.max_groups_per_unit.as_deref().map(number).transpose()
    }

    /// In words for plans and releases; `None` where all rows count.
    pub fn words(&self, unit: &Unit) -> Option<String> {
        let Unit::Column(name) = unit else { return None };
        let bound = self.bound.as_ref()?;
        let name = wording::shown(name);
        if let (Step::Person, Some(values)) = (bound.step, &bound.groups) {
            return Some(values_words(&name, (values.most != ALL_GROUPS).then_some(values.most)));
        }
        let rows =
            if bound.rows == 1 { "one row".to_string() } else { format!("at most {} rows", bound.rows) };
        let groups = match &bound.groups {
            None => String::new(),
            Some(groups) if groups.most == 1 => " in one group".to_string(),
            Some(groups) => format!(" in each of at most {} groups", groups.most),
        };
        Some(format!("{rows} of each {name}{groups}, drawn at random"))
    }
}

/// That all rows of a person are made one value first, or those of each of so many groups.
pub(crate) fn per_unit_words(unit: &str, groups: Option<u64>) -> String {
    let unit = wording::shown(unit);
    match groups {
        None => format!("all rows of each {unit}, first made one value"),
        Some(1) => format!("all rows of each {unit} in one group, drawn at random, first made one value"),
        Some(most) => format!(
            "all rows of each {unit} in each of at most {most} groups, drawn at random, first made one value"
        ),
    }
}

/// That a person counts once for each value, or for each of so many.
pub(crate) fn values_words(unit: &str, most: Option<u64>) -> String {
    match most {
        None => format!("each {unit} counts once for each value"),
        Some(1) => format!("each {unit} counts for one value, drawn at random"),
        Some(most) => format!("each {unit} counts once for each of at most {most} values, drawn at random"),
    }
}

fn number(argument: Argument, text: &str) -> Result<u64, PlanError> {
    text.parse().ok().filter(|number| (1..=MOST_ROWS).contains(number)).ok_or_else(|| {
        let given = wording::option_with(argument.name(), &wording::shown(text));
        PlanError::about(argument, format!("{given} is not accepted:"))
            .hint("give a whole number from 1 to 100000, such as 3")
    })
}

/// What a question may lose for each row that comes or goes, so that a person loses no more than was said.
#[derive(Clone, Debug)]
pub(crate) struct PerRowBudget {
    /// For each row.
    pub eps: Eps,
    /// For each row.
    pub delta: Delta,
    /// What a row does to the rows that the question sees.
    pub adjacency: Adjacency,
    steps: u64,
    whole: Approx,
}

impl PerRowBudget {
    /// `moves_alike` says that a replaced person moves the answer no more than one who comes or goes, as with a count.
    pub fn new(
        rows: &Rows,
        eps: &Eps,
        delta: &Delta,
        adjacency: Adjacency,
        moves_alike: bool,
    ) -> Result<Self, PlanError> {
        // Where some rows do not count, how many do is private, and a replaced person goes and comes.
        let converted = adjacency == Adjacency::Replace && !rows.are_all() && !moves_alike;
        let steps = rows.steps_per_unit().saturating_mul(if converted { 2 } else { 1 });
        let whole = Approx::new(eps, delta);
        let (eps, delta) = Approx::step_of(eps, delta, steps)?;
        let adjacency = if converted { Adjacency::AddRemove } else { adjacency };
        Ok(Self { eps, delta, adjacency, steps, whole })
    }

    /// How many rows of those that take part a person changes.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// What a person loses where a row loses this much.
    pub fn of_person(&self, of_row: &Approx) -> Approx {
        let mut loss = of_row.steps(self.steps);
        // The share was rounded down; what was said is not below what is lost.
        if self.steps > 1 && !loss.delta.is_zero() && loss.delta <= self.whole.delta {
            loss.delta = self.whole.delta.clone();
        }
        loss
    }
}

/// What a budget that counts single rows is charged for an answer about people: a row that comes or goes changes only so many
/// of the rows that are kept, and one that is replaced may belong to two people.
pub(crate) fn charged_by_row(of_row: &Approx, rows: &Rows, adjacency: Adjacency) -> Approx {
    of_row.steps(rows_charged(rows, adjacency))
}

/// How many of the rows that are kept a budget that counts single rows is charged for.
pub(crate) fn rows_charged(rows: &Rows, adjacency: Adjacency) -> u64 {
    let changed = rows.bound().map_or(1, Bound::changed_by_row);
    match adjacency {
        Adjacency::AddRemove => changed,
        Adjacency::Replace => changed.saturating_mul(2),
    }
}
