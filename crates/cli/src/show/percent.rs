//! Shares as people read them: JSON has 0.081, words have 8.1 %.

use super::answers::Shown;
use equipoise_session::{answer::Group, bar::ErrorBar};
use serde_json::{Value, json};

/// What stands behind an answer in percent.
pub(super) const PERCENT: &str = " %";

/// The answer to a question for a share, and those of its groups, times a hundred.
pub(super) struct Percents {
    value: Value,
    error: Option<ErrorBar>,
    groups: Option<Vec<Group>>,
}

impl Percents {
    /// Of an answer that is measured in percent; nothing for others.
    pub fn of(shown: &Shown<'_>) -> Option<Self> {
        let group = |group: &Group| Group {
            value: hundredfold(&group.value),
            error: group.error.clone().map(|error| error.map_ends(|end| hundredfold(&end))),
            ..group.clone()
        };
        (shown.measure == PERCENT).then(|| Self {
            value: hundredfold(shown.value),
            error: shown.error.cloned().map(|error| error.map_ends(|end| hundredfold(&end))),
            groups: shown.groups.map(|groups| groups.iter().map(group).collect()),
        })
    }

    /// The same answer with these numbers.
    pub fn shown<'a>(&'a self, shown: &Shown<'a>) -> Shown<'a> {
        let mut in_percent = shown.clone();
        in_percent.value = &self.value;
        in_percent.error = self.error.as_ref();
        in_percent.groups = self.groups.as_deref();
        in_percent
    }
}

fn hundredfold(share: &Value) -> Value {
    share.as_f64().map_or(share.clone(), |share| json!(100.0 * share))
}
