//! What a question comes to: a value or a refusal, and how far off the value may be.

use crate::{
    groups::Key,
    release::{Outcome, Spent},
    session::shaped,
};
use equipoise_core::adjacency::Adjacency;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// How far off an answer may be, and how sure that is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ErrorBar {
    /// With which probability the bar holds; 1 where the answer is exact.
    pub confidence: f64,
    /// In which way the answer may be off.
    pub kind: ErrorKind,
    /// What the bar is about, where that is not the true value of the rows: then read "the true value" below as this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub covers: Option<Covers>,
    /// The true value is not below this: a number, a text where the answer is one, or a list where the answer is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub low: Option<Value>,
    /// The true value is not above this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub high: Option<Value>,
    /// The answer lies between the rows this many places before and after the true one; one number for each
    /// answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rank: Option<Value>,
    /// The most frequent value has at most this many rows more than the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gap: Option<u64>,
    /// What a gap is counted in, where that is not rows: `votes`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gap_unit: Option<String>,
    /// Each label of the answer is named by at least this many blocks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub least: Option<u64>,
    /// Each other label that was an option is named by at most this many blocks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub most: Option<u64>,
    /// Rows, or the answers of blocks, beyond this range were moved into it, which the bar does not cover.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub range: Option<[f64; 2]>,
    /// The same for each number of an answer that is a list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ranges: Option<Vec<[f64; 2]>>,
    /// Rows without a value count as this, which the bar does not cover.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub empty_as: Option<f64>,
    /// Rows without a value count as the lowest one, which the bar does not cover.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub empty_lowest: bool,
    /// The bar holds if so many rows have a value, as was stated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stated_rows: Option<u64>,
    /// Every number of the answer lies within this of the true one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scale: Option<f64>,
    /// Several ranks or intervals hold all at once with this confidence.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub together: bool,
}

/// What an error bar is about, and on what conditions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Covers {
    /// What lies within the bar, as a noun: `the mean of 60 blocks' answers, each from about 83 rows`.
    pub of: String,
    /// What was done on the way there, a clause each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub given: Vec<String>,
}

/// In which way an answer may be off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ErrorKind {
    /// The answer is the true value.
    Exact,
    /// The noise that was added.
    Noise,
    /// The distance in ranks from the true value.
    Rank,
    /// Where the true value lies, by a paid interval of its own; with the distance in ranks of the answer.
    Interval,
    /// How many rows, or votes of blocks, fewer the answer has than the most frequent value.
    Gap,
    /// Of how many blocks each label of a set has the vote at least, and each other one at most.
    Votes,
}

impl ErrorBar {
    /// The answer is the true value.
    pub fn exact() -> Self {
        Self::of(1.0, ErrorKind::Exact)
    }

    /// The true value lies between these, as far as noise goes.
    pub fn noise(confidence: f64, low: f64, high: f64) -> Self {
        Self::noise_between(confidence, low.into(), high.into())
    }

    /// The same with ends that are no floats.
    pub fn noise_between(confidence: f64, low: Value, high: Value) -> Self {
        Self { low: Some(low), high: Some(high), ..Self::of(confidence, ErrorKind::Noise) }
    }

    /// The answer lies so many ranks from the true value.
    pub fn rank(confidence: f64, rank: Value) -> Self {
        Self { rank: Some(rank), ..Self::of(confidence, ErrorKind::Rank) }
    }

    /// Several numbers lie so many ranks from the true ones, all at once.
    pub fn ranks(confidence: f64, ranks: &[u64]) -> Self {
        Self { together: true, ..Self::rank(confidence, json!(ranks)) }
    }

    /// The same with an interval of values that holds the true one.
    #[must_use]
    pub fn interval(self, low: Value, high: Value) -> Self {
        Self { kind: ErrorKind::Interval, low: Some(low), high: Some(high), ..self }
    }

    /// The answer has at most so many rows fewer than the most frequent value.
    pub fn gap(confidence: f64, gap: u64) -> Self {
        Self { gap: Some(gap), ..Self::of(confidence, ErrorKind::Gap) }
    }

    /// The answer has at most so many votes of blocks fewer than the most frequent one.
    pub fn gap_in_votes(confidence: f64, gap: u64) -> Self {
        Self { gap_unit: Some("votes".to_string()), ..Self::gap(confidence, gap) }
    }

    /// Each label of the answer has at least so many votes of blocks, and each other one at most so many.
    pub fn votes(confidence: f64, least: u64, most: u64) -> Self {
        Self {
            least: Some(least),
            most: Some(most),
            together: true,
            ..Self::of(confidence, ErrorKind::Votes)
        }
    }

    /// The same bar about something else than the true value of the rows.
    #[must_use]
    pub fn about(self, covers: Covers) -> Self {
        Self { covers: Some(covers), ..self }
    }

    /// Every number of the answer lies within this of the true one, as far as noise goes.
    pub fn scale(confidence: f64, scale: f64) -> Self {
        Self { scale: Some(scale), ..Self::of(confidence, ErrorKind::Noise) }
    }

    fn of(confidence: f64, kind: ErrorKind) -> Self {
        Self {
            confidence,
            kind,
            covers: None,
            low: None,
            high: None,
            rank: None,
            gap: None,
            gap_unit: None,
            least: None,
            most: None,
            range: None,
            ranges: None,
            empty_as: None,
            empty_lowest: false,
            stated_rows: None,
            scale: None,
            together: false,
        }
    }
}

/// One of several answers that were asked for together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Item {
    /// What was computed.
    pub statistic: String,
    /// Of which column.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<String>,
    /// By which columns, where answers for groups were asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub group_by: Vec<String>,
    /// By which mechanism.
    pub mechanism: String,
    /// Its part of the price; none where several answers come from the same noise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Spent>,
    /// Whether there is an answer.
    pub outcome: Outcome,
    /// The answer; null after a refusal.
    pub value: Value,
    /// What the value is, where it is no plain number or text.
    #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
    pub value_type: Option<String>,
    /// How far off it may be.
    pub error: Option<ErrorBar>,
    /// The number of rows, where a noisy one was paid for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows: Option<i64>,
    /// The answers for groups, where they were asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub groups: Option<Vec<Group>>,
    /// The answers of a summary.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answers: Option<Vec<Item>>,
    /// After a refusal: what to do, from public facts only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub advice: Option<String>,
}

/// The answer for one group of records.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Group {
    /// The text of the column that was grouped by, or a list of texts for several columns; null for an empty field.
    pub key: Value,
    /// Whether there is an answer.
    pub outcome: Outcome,
    /// The answer; null after a refusal.
    pub value: Value,
    /// How far off it may be.
    pub error: Option<ErrorBar>,
    /// The number of rows, where a noisy one was paid for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows: Option<i64>,
    /// The answers of a summary, each with its error; `value` has their values by name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answers: Option<Vec<Item>>,
    /// After a refusal: what to do, from public facts only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub advice: Option<String>,
}

impl Group {
    /// How many answers it has.
    pub(crate) fn told(&self) -> usize {
        self.answers.as_ref().map_or(1, Vec::len)
    }
}

/// A release tells at most so many answers for groups, so that it can be kept and read in a small memory.
pub(crate) const MOST_TOLD: usize = 1_000_000;

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
    /// The answers for groups, where they were asked for.
    pub groups: Option<Vec<Group>>,
    /// Several answers by name, where a summary was asked for.
    pub several: Option<Vec<Named>>,
}

/// One answer of a summary.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Named {
    pub statistic: &'static str,
    pub mechanism: &'static str,
    pub answer: Answer,
}

impl Named {
    /// The same for a group, whose question names the column.
    fn into_item(self) -> Item {
        shaped(self.statistic, None, self.mechanism, self.answer)
    }
}

impl Answer {
    /// A value and its error bar.
    pub fn released(value: Value, error: ErrorBar) -> Self {
        Self { value: Some(value), error: Some(error), rows: None, advice: None, groups: None, several: None }
    }

    /// A number and its error bar, or a refusal where they are beyond what a float can hold: JSON would show null.
    pub fn number(value: f64, error: ErrorBar) -> Self {
        // An end that is not finite was made null.
        let known = |end: &Option<Value>| end.as_ref().is_none_or(|end| !end.is_null());
        if value.is_finite() && known(&error.low) && known(&error.high) {
            return Self::released(value.into(), error);
        }
        Self::refused(
            "the answer is beyond what a 64-bit float can hold; declare a smaller --range, or scale the column",
        )
    }

    /// No answer.
    pub fn refused(advice: impl Into<String>) -> Self {
        Self {
            value: None,
            error: None,
            rows: None,
            advice: Some(advice.into()),
            groups: None,
            several: None,
        }
    }

    /// Answers for groups; where none of them has an answer, a refusal.
    pub fn grouped(groups: Vec<Group>, advice: impl FnOnce() -> String) -> Self {
        let any = groups.iter().any(|group| group.outcome == Outcome::Released);
        Self {
            value: any.then_some(Value::Null),
            error: None,
            rows: None,
            advice: (!any).then(advice),
            groups: Some(groups),
            several: None,
        }
    }

    /// No answers, because there would be too many.
    pub fn too_many_groups() -> Self {
        Self::refused(format!(
            "more than {MOST_TOLD} answers for groups would be told, in this question or in a batch together; group by columns with fewer \
             values, ask about fewer rows with --where, or state the --keys"
        ))
    }

    /// Several answers, and their values as one object; where none of them has a value, a refusal.
    pub fn summary(several: Vec<Named>) -> Self {
        let any = several.iter().any(|named| named.answer.outcome() == Outcome::Released);
        let value =
            |named: &Named| (named.statistic.to_string(), named.answer.value.clone().unwrap_or_default());
        Self {
            value: any.then(|| Value::Object(several.iter().map(value).collect())),
            error: None,
            rows: None,
            advice: (!any).then(|| "no statistic has an answer; each says why".to_string()),
            groups: None,
            several: Some(several),
        }
    }

    /// The same as the answer for a group.
    pub fn into_group(self, key: &Key) -> Group {
        let key = match key.as_slice() {
            [one] => json!(one),
            several => json!(several),
        };
        Group {
            key,
            outcome: self.outcome(),
            value: self.value.unwrap_or_default(),
            error: self.error,
            rows: self.rows,
            answers: self.several.map(|several| several.into_iter().map(Named::into_item).collect()),
            advice: self.advice,
        }
    }

    /// Whether there is a value.
    pub fn outcome(&self) -> Outcome {
        if self.value.is_some() { Outcome::Released } else { Outcome::Refused }
    }

    /// The same where rows without a value were the lowest, as they are where the number of rows is public.
    pub fn with_empty_lowest(self, adjacency: Adjacency) -> Self {
        let empty_lowest = adjacency == Adjacency::Replace;
        Self { error: self.error.map(|error| ErrorBar { empty_lowest, ..error }), ..self }
    }

    /// The same with the noisy number of rows.
    pub fn with_rows(self, rows: Option<i64>) -> Self {
        Self { rows, ..self }
    }
}
