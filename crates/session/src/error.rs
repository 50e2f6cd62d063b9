//! What is wrong with a request, in one line.

use equipoise_core::{loss::ParameterError, wording};
use std::fmt;

/// A request that cannot be planned. Free, because it depends on public facts only; `Display` is one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanError {
    text: String,
    /// Did a mechanism get too little of epsilon? Then the text names a share that nobody typed.
    of_a_share: bool,
}

impl PlanError {
    pub(crate) fn line(text: impl Into<String>) -> Self {
        Self { text: text.into(), of_a_share: false }
    }

    pub(crate) fn unknown(what: &str, name: &str, known: &[&str]) -> Self {
        let hint = wording::nearest(name, known);
        let names: Vec<String> = known.iter().map(ToString::to_string).collect();
        Self::line(format!(
            "no {what} is called '{}'{hint} There are: {}",
            wording::shown(name),
            list(&names)
        ))
    }

    /// Did a mechanism get too little of epsilon?
    pub(crate) fn is_of_a_share(&self) -> bool {
        self.of_a_share
    }
}

impl fmt::Display for PlanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for PlanError {}

impl From<ParameterError> for PlanError {
    fn from(error: ParameterError) -> Self {
        const SHARED: [&str; 3] = ["epsilon", "noise scale", "noise variance"];
        let of_a_share = matches!(&error, ParameterError::OutOfRange { name, .. } if SHARED.contains(name));
        Self { text: error.to_string(), of_a_share }
    }
}

/// Some names in a line.
pub(crate) fn list(names: &[String]) -> String {
    const MOST: usize = 20;
    let mut text = names.iter().take(MOST).map(|name| wording::shown(name)).collect::<Vec<_>>().join(", ");
    if names.len() > MOST {
        text.push_str(", ...");
    }
    text
}
