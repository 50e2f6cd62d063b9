//! Shares as people read them: JSON has 0.081, words have 8.1 %.

use super::answers::Shown;
use equipoise_session::{
    answer::Group,
    bar::{ErrorBar, PERCENT, hundredfold, hundredfold_bar},
};
use serde_json::Value;

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
            error: group.error.clone().map(hundredfold_bar),
            ..group.clone()
        };
        (shown.measure == PERCENT).then(|| Self {
            value: hundredfold(shown.value),
            error: shown.error.cloned().map(hundredfold_bar),
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
