//! What becomes public: one shape for the command line, the server and Python.

use crate::{
    answer::{Group, Item},
    bar::ErrorBar,
    ledger::{Limit, Receipt},
};
use equipoise_core::loss::{Amount, Approx};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// An answer or a refusal, what it promises, what it cost, and its receipt. A session makes it; one that was
/// recorded can be read again.
///
/// ```compile_fail
/// # use equipoise_session::release::Release;
/// # fn free(paid: Release) -> Release {
/// Release { value: 4200.into(), ..paid }
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Release {
    /// Whether there is an answer.
    pub outcome: Outcome,
    /// The answer; null after a refusal, and where the true answer is that there are no rows. The empty text, which no field
    /// is, stands for fields that are not there.
    pub value: Value,
    /// What the value is, where it is no plain number or text: `date`, `timestamp`, `decimal:2`, `integer`, `boolean`, or
    /// `days` and `seconds` between two values.
    #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
    pub value_type: Option<String>,
    /// What was computed.
    pub statistic: String,
    /// Of which column.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<String>,
    /// By which columns, where answers for groups were asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub group_by: Vec<String>,
    /// Of which records: those of which this is true.
    #[serde(default, rename = "where", skip_serializing_if = "Option::is_none")]
    pub filter: Option<String>,
    /// Of which data set.
    pub data: String,
    /// By which mechanism.
    pub mechanism: String,
    /// What is promised to the people in the data.
    pub guarantee: Promise,
    /// How far off the answer may be.
    pub error: Option<ErrorBar>,
    /// The number of rows, where a noisy one was paid for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows: Option<i64>,
    /// The blocks behind the answer, where it comes from blocks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocks: Option<Blocks>,
    /// The answers for groups, where they were asked for; `value` is null then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub groups: Option<Vec<Group>>,
    /// The answers to the questions of a batch, in their order; `value` is null then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answers: Option<Vec<Item>>,
    /// After a refusal: what to do, from public facts only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub advice: Option<String>,
    /// What of its promise protects little, one line each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// All that the data set has spent, this release included.
    pub spent: Spent,
    /// What its limit leaves; null without a limit.
    pub remaining: Option<Left>,
    /// Where the charge is written down.
    pub receipt: Option<Receipt>,
}

/// The blocks behind an answer that was put together from theirs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Blocks {
    /// How many there are.
    pub count: u64,
    /// About how many answered, after a refusal too; null where it was not paid for, because a default was stated.
    pub answered: Option<i64>,
    /// How far off that may be.
    pub answered_within: Option<u64>,
    /// With which probability it is no farther off.
    pub confidence: f64,
    /// What a block without an answer counts as; null where it counts for nothing.
    pub missing_as: Value,
    /// Was that stated by whoever asked?
    pub default_stated: bool,
}

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
pub struct Left {
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

impl From<&Limit> for Left {
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

impl Release {
    /// The text of one JSON object, made without a copy in between.
    pub fn to_text(&self) -> String {
        serde_json::to_string(self).expect("texts and finite numbers are always JSON")
    }

    /// The same for people to read, with line breaks.
    pub fn to_lines(&self) -> String {
        serde_json::to_string_pretty(self).expect("texts and finite numbers are always JSON")
    }

    /// One JSON object.
    pub fn to_json(&self) -> Value {
        serde_json::to_value(self).expect("texts and finite numbers are always JSON")
    }
}

#[cfg(test)]
mod tests {
    use super::Release;
    use serde_json::{Value, json};

    /// Releases that earlier versions recorded, as they stand in ledgers: they are read, and given again word for word.
    #[test]
    fn a_release_of_an_earlier_version_is_given_again_as_it_was() {
        for text in [
            r#"{"outcome":"released","value":"b","statistic":"program","data":"p.csv","mechanism":"subsample, programs confined","guarantee":{"epsilon":"1","delta":"0","adjacency":"add-remove","unit":"row"},"error":{"confidence":1.0,"kind":"exact"},"spent":{"epsilon":"1","delta":"0"},"remaining":null,"receipt":null}"#,
            r#"{"outcome":"released","value":4.9,"statistic":"subsample","data":"p.csv","mechanism":"trimmed","guarantee":{"epsilon":"1","delta":"0","adjacency":"add-remove","unit":"row"},"error":{"confidence":0.95,"kind":"noise","low":4.8,"high":5.1},"spent":{"epsilon":"1","delta":"0"},"remaining":null,"receipt":null}"#,
        ] {
            let release: Release = serde_json::from_str(text).unwrap();
            assert_eq!(release.to_text(), text);
        }
    }

    /// An answer that is asked for again comes out of the ledger; parsers that round once too often changed one in sixty.
    #[test]
    fn a_number_that_was_written_down_is_read_back() {
        let number = 57.320_912_124_050_004;
        assert_eq!(serde_json::from_str::<Value>(&json!(number).to_string()).unwrap(), json!(number));
        let mut word = 1_u64;
        for _ in 0..2000 {
            word = word.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let number = f64::from_bits(word);
            if number.is_finite() {
                let read: f64 = serde_json::from_str(&json!(number).to_string()).unwrap();
                assert_eq!(read.to_bits(), number.to_bits());
            }
        }
    }
}
