//! Yes-or-no questions about one record: comparisons, and/or/not, in, between, is null over columns and constants.
//!
//! The grammar is total: whatever a record holds, a question about it has an answer, which depends on that record
//! alone and cannot fail. There are no patterns, no arithmetic and no conversions. A comparison with a null is
//! neither true nor false, as in SQL, and a record counts as a yes only where the whole is true; a number that is not
//! a number is a null.
//!
//! ```
//! use equipoise_predicate::{Column, Kind, Predicate};
//!
//! let predicate = Predicate::parse("age >= 18 and (country in ('CH', 'AT') or income between 1e4 and 2e4)")?;
//! let schema = [("age", Kind::Whole), ("country", Kind::Text), ("income", Kind::Real)];
//! let question = predicate.bind(|name| schema.iter().position(|(n, _)| *n == name).map(|i| (i, schema[i].1)))?;
//! let words = ["AT".into(), "DE".into()];
//! let columns = [
//!     Column::Whole { values: &[17, 40, 52], present: None },
//!     Column::Text { codes: &[0, 0, 1], words: &words },
//!     Column::Real { values: &[0.0, f64::NAN, 12_000.0], present: None },
//! ];
//! assert_eq!(question.evaluate(&columns, 3).words(), [0b110]);
//! # Ok::<(), equipoise_predicate::PredicateError>(())
//! ```

#![forbid(unsafe_code)]

mod bind;
mod bitmap;
mod evaluate;
mod kinds;
mod parse;

pub use bind::{Kind, Question, Test};
pub use bitmap::Bitmap;
pub use evaluate::{Column, NULL_CODE, Value};
pub use parse::{Comparison, Constant, Predicate, Side};

use std::fmt;

/// Why a predicate was not accepted. `Display` is one line: what, where, and what to write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PredicateError(pub(crate) String);

impl fmt::Display for PredicateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for PredicateError {}

/// Text of a user, short and without control characters; a backtick in it is not one of ours.
pub(crate) fn shown(text: &str) -> String {
    let clean: String =
        text.chars().take(40).map(|c| if c.is_control() || c == '`' { '?' } else { c }).collect();
    if text.chars().nth(40).is_some() { format!("{clean}...") } else { clean }
}
