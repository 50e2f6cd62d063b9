//! A column whose values are told apart as texts, each value of a type by the one text that stands for it.

use crate::{
    error::PlanError,
    need::Need,
    resolved::ResolvedRequest,
    source::{ColumnRead, ColumnType},
};
use serde_json::{Value, json};

/// How the column of a question is read, and what its values are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Texts {
    wanted: ColumnRead,
    kind: Option<ColumnType>,
}

impl Texts {
    pub fn plan(said: &ResolvedRequest) -> Result<Self, PlanError> {
        let column = said.column()?;
        Ok(Self { wanted: said.key(column), kind: said.kind(column).filter(|kind| kind.is_whole()) })
    }

    pub fn wanted(self) -> ColumnRead {
        self.wanted
    }

    pub fn need(self) -> Need {
        Need::Tally(self.wanted)
    }

    /// A text of the column as a value of its type.
    pub fn value(self, text: &str) -> Value {
        let whole = self.kind.and_then(|kind| Some(kind.value(kind.read(text)?)));
        whole.unwrap_or_else(|| json!(text))
    }

    /// The name of that type.
    pub fn answer_type(self) -> Option<String> {
        self.kind.map(|kind| kind.to_string())
    }
}
