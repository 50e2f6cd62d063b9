//! What one person may change: every guarantee names it.

use crate::wording;
use std::{fmt, str::FromStr};

/// Which data sets count as neighbours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Adjacency {
    /// One record comes or goes; the number of records is private.
    #[default]
    AddRemove,
    /// One record takes another value; the number of records is public.
    Replace,
}

impl Adjacency {
    /// Both, for tests and tables.
    pub const ALL: [Self; 2] = [Self::AddRemove, Self::Replace];
}

impl fmt::Display for Adjacency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::AddRemove => "add-remove",
            Self::Replace => "replace",
        })
    }
}

/// Not the name of an adjacency.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownAdjacency(String);

impl fmt::Display for UnknownAdjacency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "adjacency '{}' is not known: write add-remove or replace", self.0)
    }
}

impl std::error::Error for UnknownAdjacency {}

impl FromStr for Adjacency {
    type Err = UnknownAdjacency;
    fn from_str(text: &str) -> Result<Self, UnknownAdjacency> {
        match text {
            "add-remove" => Ok(Self::AddRemove),
            "replace" => Ok(Self::Replace),
            _ => Err(UnknownAdjacency(wording::shown(text))),
        }
    }
}

/// Whose privacy is protected: one row, or everything a person contributed.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub enum Unit {
    /// One record.
    #[default]
    Row,
    /// All records that share a value of this column.
    Column(String),
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Row => f.write_str("row"),
            Self::Column(name) => f.write_str(name),
        }
    }
}

/// How the number of records is known, and so what may be computed from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowCount {
    /// Exact and public: replace adjacency, no filter.
    Public(u64),
    /// Stated by the data holder, who answers for it.
    Declared(u64),
    /// A private release, already paid for; may be negative or off by its noise.
    Released(i64),
    /// Nothing is known.
    Unknown,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_read_back() {
        for adjacency in Adjacency::ALL {
            assert_eq!(adjacency.to_string().parse(), Ok(adjacency));
        }
        assert_eq!(
            "swap".parse::<Adjacency>().unwrap_err().to_string(),
            "adjacency 'swap' is not known: write add-remove or replace"
        );
    }
}
