//! What a question comes to: a value or a refusal, and how far off the value may be.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// How far off an answer may be, and how sure that is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ErrorBar {
    /// With which probability the bar holds; 1 where the answer is exact.
    pub confidence: f64,
    /// What the bar covers.
    pub kind: ErrorKind,
    /// The true value is not below this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub low: Option<f64>,
    /// The true value is not above this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub high: Option<f64>,
    /// The answer lies between the rows this many places before and after the true one; one number for each
    /// answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rank: Option<Value>,
    /// Rows beyond this range were moved into it, which the bar does not cover.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub range: Option<[f64; 2]>,
    /// Every number of the answer lies within this of the true one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scale: Option<f64>,
}

/// What an error bar covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ErrorKind {
    /// The answer is the true value.
    Exact,
    /// The noise that was added.
    Noise,
    /// The distance in ranks from the true value.
    Rank,
}

impl ErrorBar {
    /// The answer is the true value.
    pub fn exact() -> Self {
        Self {
            confidence: 1.0,
            kind: ErrorKind::Exact,
            low: None,
            high: None,
            rank: None,
            range: None,
            scale: None,
        }
    }
}

/// The outcome of a question, before it has a receipt.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Answer {
    /// The value; `None` is a refusal.
    pub value: Option<Value>,
    /// Its error bar.
    pub error: Option<ErrorBar>,
    /// The noisy number of rows, where one was paid for.
    pub rows: Option<i64>,
    /// After a refusal: what to do, from public facts only.
    pub advice: Option<String>,
}

impl Answer {
    /// A value and its error bar.
    pub fn released(value: Value, error: ErrorBar) -> Self {
        Self { value: Some(value), error: Some(error), rows: None, advice: None }
    }

    /// A number and its error bar, or a refusal where they are beyond what a float can hold: JSON would show null.
    pub fn number(value: f64, error: ErrorBar) -> Self {
        let finite = [Some(value), error.low, error.high].into_iter().flatten().all(f64::is_finite);
        if finite {
            return Self::released(value.into(), error);
        }
        Self::refused(
            "the answer is beyond what a 64-bit float can hold; declare a smaller --range, or scale the column",
        )
    }

    /// No answer.
    pub fn refused(advice: impl Into<String>) -> Self {
        Self { value: None, error: None, rows: None, advice: Some(advice.into()) }
    }

    /// The same with the noisy number of rows.
    pub fn with_rows(self, rows: Option<i64>) -> Self {
        Self { rows, ..self }
    }
}
