//! Questions about people's values: what goes with `per_unit`, and what to ask instead of rows that are drawn.

use super::{Part, Plan, PlanError};
use crate::{
    bar::Condition,
    batch::Batch,
    next::NextStep,
    promise::Spent,
    request::Request,
    statistic::{Argument, Fold, Statistic},
};

/// A question that stands alone draws no rows where each person's are made one value.
pub(super) fn alone(request: &Request) -> Result<(), PlanError> {
    if request.per_unit == Some(true) && request.max_rows_per_unit.is_some() {
        return Err(PlanError::about(
            Argument::MaxRowsPerUnit,
            "with `per_unit` all rows of each person take part, and `max_rows_per_unit` would draw some",
        )
        .hint("leave one of them out"));
    }
    Ok(())
}

/// The questions of a batch share their rows: where one of them makes a value of a person's rows in each group, all take rows of so many
/// groups of a person, one unless it was said. Where all of them do, no rows are drawn.
pub(super) fn in_groups(batch: &Batch) -> Batch {
    let made = |question: &Request| question.per_unit == Some(true) && !question.group_by.is_empty();
    let mut batch = batch.clone();
    if batch.questions.iter().all(|question| question.per_unit == Some(true)) {
        // Nobody is there whose rows would be drawn.
        for question in &mut batch.questions {
            question.max_rows_per_unit = None;
        }
    }
    if batch.questions.iter().any(made) {
        for question in batch.questions.iter_mut().filter(|question| !question.group_by.is_empty()) {
            question.max_groups_per_unit.get_or_insert_with(|| "1".to_string());
        }
    }
    batch
}

impl Part {
    /// What each person's rows are made first, where they are.
    pub(crate) fn fold(&self) -> Option<Fold> {
        self.request.fold()
    }
}

impl Plan {
    /// Which rows of people an answer is about.
    pub(crate) fn about_people(&self, part: &Part) -> Option<Condition> {
        match part.fold() {
            Some(fold) => {
                let groups = if part.group_by.is_empty() { None } else { self.groups_per_unit() };
                Some(Condition::PerUnit { fold, groups })
            }
            None => self.rows_per_unit().map(Condition::Drawn),
        }
    }

    /// Are some of a person's rows, values or groups left out by chance?
    pub(crate) fn draws(&self) -> bool {
        let Some(bound) = self.rows.bound() else { return false };
        bound.draws() && (bound.groups.is_some() || self.rows_per_unit().is_some())
    }

    /// The question about all rows of each person where this one is about some that are drawn.
    pub(crate) fn of_all_rows(&self) -> Option<NextStep> {
        let part = self.parts.first().filter(|part| !self.batch && part.fold().is_none())?;
        self.rows_per_unit()?;
        let statistic = Statistic::named(&part.request.statistic)?;
        if !statistic.takes(Argument::PerUnit) {
            return None;
        }
        let request = Request { per_unit: Some(true), max_rows_per_unit: None, ..part.request.clone() };
        let plan = Self::new(&request, &part.facts).ok()?;
        let why = match statistic {
            Statistic::Count => "all rows of each person are counted",
            _ => "all rows of each person take part, made one value first",
        };
        Some(NextStep { why: why.to_string(), request, charge: Spent::from(plan.charge()) })
    }
}
