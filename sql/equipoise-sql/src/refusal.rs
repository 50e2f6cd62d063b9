//! Why a query is not accepted: which node, why, and the rewrite that would be accepted.

use equipoise_sql_total::NotTotal;
use std::fmt;

/// A query that is not accepted. It depends on the query and on public schemas alone. `Display` is one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The node or clause.
    pub what: String,
    /// Why it is not accepted.
    pub why: String,
    /// What would be accepted.
    pub rewrite: String,
    /// Line and column of the query, each from one on, where they are known.
    pub place: Option<(usize, usize)>,
}

impl Refusal {
    pub(crate) fn new(what: impl Into<String>, why: impl Into<String>, rewrite: impl Into<String>) -> Self {
        Self { what: what.into(), why: why.into(), rewrite: rewrite.into(), place: None }
    }

    /// The line without its place and without the rewrite.
    pub fn problem(&self) -> String {
        format!("{} is not accepted: {}", self.what, self.why)
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((line, column)) = self.place {
            write!(f, "line {line}, column {column}: ")?;
        }
        write!(f, "{}; {}", self.problem(), self.rewrite)
    }
}

impl std::error::Error for Refusal {}

impl From<NotTotal> for Refusal {
    fn from(not: NotTotal) -> Self {
        Self::new(not.what, not.why, not.rewrite)
    }
}
