//! Which rows an engine elsewhere has to make before any pass, as a value.

use crate::{
    error::PlanError,
    need::Need,
    plan::Plan,
    rows::bound::{Bound, GroupLimit},
    source::ColumnRead,
    statistic::Argument,
};
use serde::Serialize;
use serde_json::Value;

/// The rows that count. Spelt and drawn as `rows::rank` and `rows::bound` say.
#[derive(Serialize)]
struct RowsElsewhere {
    /// The cells of a row that are handed on, in this order.
    cells: Vec<ColumnRead>,
    /// Those of them whose values come back, as keys; of all others it is only counted whether they are there, or how they lie.
    keys: Vec<ColumnRead>,
    /// Columns behind them that hold one value for each person, or for each person in a group.
    per_unit: Vec<UnitCells>,
    /// At most so many rows of each person.
    bound: Option<WrittenBound>,
}

#[derive(Serialize)]
struct UnitCells {
    column: ColumnRead,
    /// `count`, `sum` or `mean`.
    fold: &'static str,
    /// Of which cells; rows are counted where there are none.
    of: Option<ColumnRead>,
}

#[derive(Serialize)]
struct WrittenBound {
    unit: usize,
    rows: u64,
    groups: Option<WrittenGroups>,
}

#[derive(Serialize)]
struct WrittenGroups {
    keys: Vec<ColumnRead>,
    most: u64,
}

impl Plan {
    /// The same where the rows lie in an engine elsewhere, which knows columns, keys and people, and no expressions of ours. What it is
    /// stated of there goes with every answer.
    pub fn counted_elsewhere(self, engine: &str) -> Result<Self, PlanError> {
        let rows = self.rows();
        if rows.windows().is_some() {
            let problem =
                format!("`window` is for tables that are read here, and this one lies in {engine}:");
            return Err(PlanError::about(Argument::Window, problem)
                .hint("extract the table to a file with the same name and budget, and ask about that"));
        }
        if rows.filter().is_some() {
            let problem = format!("`where` is for tables that are read here, and this one lies in {engine}:");
            return Err(PlanError::about(Argument::Where, problem)
                .hint("filter the table there, and ask about what is left"));
        }
        if rows.derived().computes() {
            let problem =
                format!("expressions are for tables that are read here, and this one lies in {engine}:");
            return Err(
                PlanError::about(Argument::Column, problem).hint("compute the column there, and name it")
            );
        }
        let stated =
            format!("the rows are those that a table of the holder's has in {engine}, which nobody checked");
        Ok(self.stating(stated))
    }

    /// The rows that an engine elsewhere has to make, as JSON.
    pub fn rows_elsewhere(&self) -> Value {
        let mut wanted: Vec<ColumnRead> =
            self.needs().iter().flat_map(|need| Need::all_wanted(need).collect::<Vec<_>>()).collect();
        wanted.sort_unstable();
        wanted.dedup();
        let mut keys: Vec<ColumnRead> = self.needs().iter().flat_map(keys_of).collect();
        keys.sort_unstable();
        keys.dedup();
        let per_unit = self.rows().derived().per_unit();
        let (cells, people) = per_unit.split(&wanted);
        let made = |&column: &ColumnRead| {
            let (fold, of) = per_unit.made_of(column);
            UnitCells { column, fold: fold.noun(), of }
        };
        let bound = |bound: &Bound| WrittenBound {
            unit: bound.unit,
            rows: bound.rows,
            groups: bound
                .groups
                .as_ref()
                .map(|GroupLimit { keys, most }| WrittenGroups { keys: keys.clone(), most: *most }),
        };
        let rows = RowsElsewhere {
            cells: cells.to_vec(),
            keys,
            per_unit: people.iter().map(made).collect(),
            bound: self.rows().bound().map(bound),
        };
        serde_json::to_value(rows).expect("plain values")
    }
}

/// The columns whose values a need asks for.
fn keys_of(need: &Need) -> Vec<ColumnRead> {
    match need {
        Need::Tally(read) => vec![*read],
        Need::Grouped { by, need } => by.iter().copied().chain(keys_of(need)).collect(),
        _ => Vec::new(),
    }
}
