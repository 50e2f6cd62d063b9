//! Expressions about one record: arithmetic, comparisons, logic, texts, days; what `--where`, columns and group keys are made of.
//!
//! # Guarantee
//!
//! What an expression is for a record is a function of that record alone, and always there: a value or null.
//!
//! # Why
//!
//! 1. The grammar has no aggregates, no windows, no look at other records, no randomness, no clock and no settings. So a record that
//!    comes or goes changes no other record's value, and whatever is asked of values loses what it loses when asked of a column.
//! 2. Everything is total: a division by zero, a result that leaves 64 bits, a text that is no number, a text that gets too long are null for
//!    their record. Nothing fails, so no error, no panic and no message tells of a record.
//! 3. No record decides how much memory is used: texts are at most as long as what they are made of, and never longer than 65536 bytes;
//!    there is nothing that repeats or pads. How deep an expression is nested, how many steps it has and how long its constants
//!    are is bounded where it is read.
//! 4. The type of an expression follows from the declared types of its columns and from its own words, never from a record. So every
//!    error that it can have is found before any record is read.
//!
//! # Time
//!
//! All branches are computed for all records, so which are taken does not show. What time depends on: the number of records, the lengths of
//! texts and of what is read as a number or day, how many different texts a batch of a coded column has, and for `%`, `ln` and `exp` a
//! little on the numbers, as far as processors and their libraries let it show. The time of a scan counts as public.
//!
//! # Example
//!
//! ```
//! use equipoise_expression::{Expression, Input, Known, Program, Type};
//!
//! let expression = Expression::parse("(arrived - left) / 60 > 1.5 or carrier like 'N_'")?;
//! let schema = [("arrived", Type::Float), ("left", Type::Float), ("carrier", Type::Text)];
//! let column = |name: &str| {
//!     let place = schema.iter().position(|(known, _)| *known == name)?;
//!     Some(Known { place, kind: Some(schema[place].1), by_schema: true })
//! };
//! let program = Program::bind(&expression, &column, None)?;
//! let inputs = [
//!     Input::Real(&[101.0, 700.0, f64::NAN]),
//!     Input::Real(&[10.0, 650.0, 0.0]),
//!     Input::Text(&[None, Some("AA"), Some("NK")]),
//! ];
//! assert_eq!(program.holds(&inputs, 3, true).words(), [0b101]);
//! # Ok::<(), equipoise_expression::ExpressionError>(())
//! ```

#![forbid(unsafe_code)]

mod bind;
mod bitmap;
mod evaluate;
pub mod field;
mod functions;
mod kinds;
mod parse;
mod predicate;
mod program;
mod respell;
mod token;
mod tree;

pub use bind::{Kind, Question, Test};
pub use bitmap::Bitmap;
pub use evaluate::{Column, NULL_CODE, Value};
pub use functions::{Function, Row, TABLE, Type};
pub use predicate::{Comparison, Constant, Predicate, Side};
pub use program::{Input, Known, Output, Program};
pub use respell::{Nearest, respelled};
pub use tree::{Expression, Node, Operator};

use std::fmt;

/// Why an expression was not accepted. `Display` is one line: what, and what to write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpressionError {
    problem: String,
    hint: Option<String>,
    at: Option<usize>,
}

impl ExpressionError {
    pub(crate) fn new(problem: impl Into<String>) -> Self {
        Self { problem: problem.into(), hint: None, at: None }
    }

    #[must_use]
    pub(crate) fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    /// At this byte of the text.
    #[must_use]
    pub(crate) fn at(self, at: usize) -> Self {
        Self { at: Some(at), ..self }
    }

    /// What is wrong.
    pub fn problem(&self) -> &str {
        &self.problem
    }

    /// What to write, where there is something.
    pub fn next_step(&self) -> Option<&str> {
        self.hint.as_deref()
    }

    /// Line and column of the text where it is wrong, each from one on, where that is known.
    pub fn position(&self, text: &str) -> Option<(usize, usize)> {
        let before = text.get(..self.at?)?;
        let line = before.matches('\n').count() + 1;
        Some((line, before.chars().rev().take_while(|&c| c != '\n').count() + 1))
    }
}

impl fmt::Display for ExpressionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.hint {
            Some(hint) if hint.starts_with(char::is_uppercase) => write!(f, "{}. {hint}", self.problem),
            Some(hint) => write!(f, "{}; {hint}", self.problem),
            None => f.write_str(&self.problem),
        }
    }
}

impl std::error::Error for ExpressionError {}

/// Text of a user, short and without control characters; a backtick in it is not one of ours.
pub(crate) fn shown(text: &str) -> String {
    let clean: String =
        text.chars().take(40).map(|c| if c.is_control() || c == '`' { '?' } else { c }).collect();
    if text.chars().nth(40).is_some() { format!("{clean}...") } else { clean }
}
