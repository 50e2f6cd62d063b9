//! What is promised and what it costs, in exact numbers: what plans, receipts and releases share.

pub use crate::windows::PromisedWindows;

use crate::{
    ledger::{InWindow, Limit},
    rows::plan::{per_unit_words, values_words},
};
use equipoise_core::{
    loss::{Amount, Approx},
    wording,
};
use serde::{Deserialize, Serialize};

/// Whether there is an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// There is.
    Released,
    /// There is none; the charge stands.
    Refused,
}

/// A guarantee in words and exact numbers ([`Amount::to_exact`]).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Promise {
    /// Epsilon.
    pub epsilon: String,
    /// Delta.
    pub delta: String,
    /// What one person may change.
    pub adjacency: String,
    /// Whose privacy is protected.
    pub unit: String,
    /// How many rows of each unit took part at most, drawn at random, where a unit may have several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_rows_per_unit: Option<u64>,
    /// In how many groups they lie at most, where that was said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_groups_per_unit: Option<u64>,
    /// Whether each unit counted once for each value that it has, or for each of so many values as groups are said.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub once_for_each_value: bool,
    /// Whether all rows of each unit, in each of so many groups as are said, were first made one value, in some answer.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub per_unit: bool,
    /// How the losses of several parts were added up, where not as they are: `zcdp`. What each part costs alone then adds up to more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub composition: Option<String>,
    /// The calendar windows that it is about, where a limit renews by a column of days: protected is what one unit has in one of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub windows: Option<PromisedWindows>,
}

/// A calendar window that a charge counts in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WindowStanding {
    /// Its name, such as 2026-11.
    pub window: String,
    /// How long it is.
    pub every: String,
    /// All that was spent in it.
    pub spent: Spent,
    /// What its limit leaves.
    pub remaining: Option<Remaining>,
}

impl From<&InWindow> for WindowStanding {
    fn from(one: &InWindow) -> Self {
        Self {
            window: one.window.name(),
            every: one.window.every().name().to_string(),
            spent: Spent::from(&one.account.spent.approx),
            remaining: one.account.remaining().as_ref().map(Remaining::from),
        }
    }
}

impl Promise {
    /// That each unit counted once for each value, in words; nothing where rows were counted.
    pub fn values_words(&self) -> Option<String> {
        self.once_for_each_value
            .then(|| values_words(&wording::visible(&self.unit), self.max_groups_per_unit))
    }

    /// That all rows of each unit were first made one value, in words; nothing where they were not.
    pub fn per_unit_words(&self) -> Option<String> {
        self.per_unit.then(|| per_unit_words(&self.unit, self.max_groups_per_unit))
    }
}

/// A privacy loss in exact numbers: decimals, or a fraction such as `1/3` where no decimal ends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spent {
    /// Epsilon.
    pub epsilon: String,
    /// Delta.
    pub delta: String,
}

/// What a limit leaves, in its currency and in exact numbers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Remaining {
    /// Epsilon, where the limit is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub epsilon: Option<String>,
    /// Rho, where the limit is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rho: Option<String>,
    /// The Renyi order and the divergence at it, where the limit is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order: Option<String>,
    /// See `order`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub divergence: Option<String>,
    /// Delta.
    pub delta: String,
}

impl From<&Limit> for Remaining {
    fn from(limit: &Limit) -> Self {
        let [loss, delta] = limit.parts().map(Amount::to_exact);
        let nothing = Self { epsilon: None, rho: None, order: None, divergence: None, delta };
        match limit {
            Limit::Approx(_) => Self { epsilon: Some(loss), ..nothing },
            Limit::Zcdp(_) => Self { rho: Some(loss), ..nothing },
            Limit::Renyi(at) => Self { order: Some(at.order.to_string()), divergence: Some(loss), ..nothing },
        }
    }
}

impl From<&Approx> for Spent {
    fn from(loss: &Approx) -> Self {
        Self { epsilon: loss.eps.to_exact(), delta: loss.delta.to_exact() }
    }
}
