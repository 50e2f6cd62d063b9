//! What is public about a data set before a question is asked.

use crate::{
    error::PlanError,
    source::{ColumnType, Source},
    statistic::Argument,
};
pub use equipoise_ledger::Windows;

use equipoise_core::{
    adjacency::{Adjacency, Unit},
    wording,
};

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
    pub kinds: Vec<Option<ColumnType>>,
    /// The calendar windows of its rows, where the ledger has a limit for each of them.
    pub windows: Option<Windows>,
}

impl DataFacts {
    /// The same with the types that the source's schema declares.
    #[must_use]
    pub fn typed_by(self, source: &dyn Source) -> Self {
        // What can only be read as text is text.
        let text = |column: usize| source.is_only_text(column).then_some(ColumnType::Text);
        let kind = |column: usize| source.declared(column).or_else(|| text(column));
        let kinds = (0..self.columns.len()).map(kind).collect();
        Self { kinds, ..self }
    }

    /// The type that the schema declares for a column.
    pub(crate) fn kind(&self, column: usize) -> Option<ColumnType> {
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
