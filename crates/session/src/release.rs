//! What becomes public: one shape for the command line, the server and Python.

pub use crate::promise::{Outcome, Promise, PromisedWindows, Remaining, Spent, WindowStanding};

use crate::{
    answer::{Answer, BatchAnswer, Group, Named, item_of},
    bar::ErrorBar,
    ledger::{Charge, Receipt},
    next::NextStep,
    planned::PlanSummary,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

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
    /// As what columns were read, where that was declared.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub types: BTreeMap<String, String>,
    /// Of which data set.
    pub data: String,
    /// By which mechanism.
    pub mechanism: String,
    /// What the caller stated, on which the promise rests, one clause each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stated: Vec<String>,
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
    /// Where keys were found and not stated: a key that so many rows have is named in 19 cases of 20, and rarer ones may be missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keys_from: Option<u64>,
    /// The answers to the questions of a batch, in their order; `value` is null then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answers: Option<Vec<BatchAnswer>>,
    /// After a refusal: what to do, from public facts only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub advice: Option<String>,
    /// After a refusal, of all or of some: a whole question that would do, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_step: Option<NextStep>,
    /// What of its promise protects little, one line each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// All that the data set has spent, this release included.
    pub spent: Spent,
    /// What its limit leaves; null without a limit.
    pub remaining: Option<Remaining>,
    /// The calendar windows that it counts in, where a limit renews.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub windows: Vec<WindowStanding>,
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
    /// About how many blocks voted for the answer, where that was paid for; noise may take it below none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub votes: Option<i64>,
    /// How far off that may be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub votes_within: Option<u64>,
    /// The analysis that the blocks chose first, where there was a choice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub analysis: Option<String>,
    /// At most so many blocks more name another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub analysis_gap: Option<u64>,
}

impl Release {
    /// What becomes public of an answer that was paid for, without its receipt.
    pub(crate) fn of(plan: &PlanSummary, answer: Answer, charge: &Charge) -> Self {
        let outcome = answer.outcome();
        let Answer { value, error, rows, advice, groups, several } = answer;
        let balance = charge.balance();
        Self {
            outcome,
            value: value.unwrap_or_default(),
            value_type: plan.value_type.clone(),
            statistic: plan.statistic.clone(),
            column: plan.column.clone(),
            group_by: plan.group_by.clone(),
            filter: plan.filter.clone(),
            types: BTreeMap::new(),
            data: plan.data.clone(),
            mechanism: plan.mechanism.clone(),
            stated: plan.stated.clone(),
            guarantee: plan.guarantee.clone(),
            error,
            rows,
            blocks: None,
            groups,
            keys_from: None,
            answers: several.map(|several| named(several, plan.column.as_deref())),
            advice: advice.filter(|_| outcome == Outcome::Refused),
            next_step: None,
            warnings: plan.warnings.clone(),
            spent: Spent::from(balance.spent()),
            remaining: balance.remaining().as_ref().map(Remaining::from),
            windows: balance.windows.iter().map(WindowStanding::from).collect(),
            receipt: None,
        }
    }

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

/// The answers of a summary, which share a price.
fn named(several: Vec<Named>, column: Option<&str>) -> Vec<BatchAnswer> {
    let item =
        |one: Named| item_of(one.statistic, one.column.as_deref().or(column), one.mechanism, one.answer);
    several.into_iter().map(item).collect()
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
