//! What each person's rows are made first, where a question is about people's values.

use serde::{Deserialize, Serialize};

/// What all rows of a person, or of a person in a group, are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Fold {
    /// How many there are, or how many have a value.
    Count,
    /// The sum of their values.
    Sum,
    /// The mean of their values.
    Mean,
}

impl Fold {
    /// As a noun.
    pub fn noun(self) -> &'static str {
        match self {
            Self::Count => "count",
            Self::Sum => "sum",
            Self::Mean => "mean",
        }
    }
}
