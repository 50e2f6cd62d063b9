//! Why a query is not accepted: where, what, and what to write instead.

use equipoise_core::wording;
use std::fmt;

/// A query that is not accepted. Free, because it depends on public facts only. `Display` is one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SqlError {
    problem: String,
    hint: Option<String>,
    position: Option<(usize, usize)>,
    several: bool,
}

impl SqlError {
    /// What is wrong with a text, at this byte of it.
    pub(crate) fn at(text: &str, byte: usize, problem: impl Into<String>) -> Self {
        Self { position: Some(position(text, byte)), ..Self::anywhere(problem) }
    }

    /// What is wrong with no place in particular.
    pub(crate) fn anywhere(problem: impl Into<String>) -> Self {
        Self { problem: problem.into(), hint: None, position: None, several: false }
    }

    /// What is wrong at this line and column.
    pub(crate) fn placed(position: (usize, usize), problem: impl Into<String>) -> Self {
        Self { position: Some(position), ..Self::anywhere(problem) }
    }

    /// What another process found wrong.
    pub(crate) fn of_parts(problem: String, hint: Option<String>, position: Option<(usize, usize)>) -> Self {
        Self { problem, hint, position, several: false }
    }

    /// What is wrong, what to write instead and where, for another process.
    pub(crate) fn parts(&self) -> (String, Option<String>, Option<(usize, usize)>) {
        (self.problem.clone(), self.hint.clone(), self.position)
    }

    /// The query is about more than one table, which others can answer.
    #[must_use]
    pub(crate) fn about_several(self) -> Self {
        Self { several: true, ..self }
    }

    /// Is nothing wrong but that the query is about more than one table?
    pub fn is_about_several(&self) -> bool {
        self.several
    }

    /// What to write instead.
    #[must_use]
    pub fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    /// Line and column of the query, each from one on, where it is about a place.
    pub fn position(&self) -> Option<(usize, usize)> {
        self.position
    }

    /// What to write instead, where there is something.
    pub fn next_step(&self) -> Option<&str> {
        self.hint.as_deref()
    }
}

/// Line and column of a byte, each from one on.
fn position(text: &str, byte: usize) -> (usize, usize) {
    let mut byte = byte.min(text.len());
    while !text.is_char_boundary(byte) {
        byte -= 1;
    }
    let before = &text[..byte];
    (before.matches('\n').count() + 1, before.chars().rev().take_while(|&c| c != '\n').count() + 1)
}

impl fmt::Display for SqlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((line, column)) = self.position {
            write!(f, "line {line}, column {column}: ")?;
        }
        match &self.hint {
            Some(hint) if hint.starts_with("There are") => {
                f.write_str(&wording::line(&format!("{}. {hint}", self.problem.trim_end_matches('.'))))
            }
            Some(hint) => f.write_str(&wording::line(&wording::with_hint(&self.problem, hint))),
            None => f.write_str(&wording::line(&self.problem)),
        }
    }
}

impl std::error::Error for SqlError {}
