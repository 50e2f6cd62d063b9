//! What a question comes to: a value or a refusal, and how far off the value may be.

use crate::{
    bar::{Condition, ErrorBar},
    need::Key,
    promise::{Outcome, Spent},
};
use equipoise_core::adjacency::Adjacency;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// One of several answers that were asked for together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BatchAnswer {
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
    /// Where keys were found and not stated: a key that so many rows have is named in 19 cases of 20, and rarer ones may be missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keys_from: Option<u64>,
    /// The answers of a summary.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answers: Option<Vec<BatchAnswer>>,
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
    pub answers: Option<Vec<BatchAnswer>>,
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

/// What stands in the place of a bin or point where a group has none of them.
const ALL_PARTS: &str = "all";

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
    /// Of which column, where it is not that of the question.
    pub column: Option<String>,
    pub mechanism: &'static str,
    pub answer: Answer,
}

impl Named {
    /// The same for a group, whose question names the column.
    fn into_item(self) -> BatchAnswer {
        item_of(self.statistic, self.column.as_deref(), self.mechanism, self.answer)
    }
}

/// One of several answers that were asked for together, without a price of its own.
pub(crate) fn item_of(statistic: &str, column: Option<&str>, mechanism: &str, answer: Answer) -> BatchAnswer {
    let outcome = answer.outcome();
    let Answer { value, error, rows, advice, groups, several } = answer;
    let named =
        |one: Named| item_of(one.statistic, one.column.as_deref().or(column), one.mechanism, one.answer);
    BatchAnswer {
        statistic: statistic.to_string(),
        column: column.map(str::to_string),
        group_by: Vec::new(),
        mechanism: mechanism.to_string(),
        cost: None,
        outcome,
        value: value.unwrap_or_default(),
        value_type: None,
        error,
        rows,
        groups,
        keys_from: None,
        answers: several.map(|several| several.into_iter().map(named).collect()),
        advice,
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
        let known = error.ends().is_none_or(|ends| !ends.low.is_null() && !ends.high.is_null());
        if value.is_finite() && known {
            return Self::released(value.into(), error);
        }
        Self::refused(
            "the answer is beyond what a 64-bit float can hold; declare a smaller `range`, or scale the column",
        )
    }

    /// Answers that stand elsewhere, or come one by one.
    pub fn given_elsewhere() -> Self {
        Self { value: Some(Value::Null), error: None, rows: None, advice: None, groups: None, several: None }
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
             values, ask about fewer rows with `where`, or state the `keys`"
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

    /// The same for a group that has bins or points of its own: each with the group's key before its own.
    pub fn into_parts_of_group(mut self, key: &Key) -> Vec<Group> {
        let with = |own: Option<String>| key.iter().cloned().chain([own]).collect::<Key>();
        let parts = self.groups.take().unwrap_or_default();
        if parts.is_empty() {
            return vec![self.into_group(&with(Some(ALL_PARTS.to_string())))];
        }
        let rows = self.rows;
        let part = |part: Group| {
            let own = part.key.as_str().map(str::to_string);
            Group { key: json!(with(own)), rows: part.rows.or(rows), ..part }
        };
        parts.into_iter().map(part).collect()
    }

    /// Whether there is a value.
    pub fn outcome(&self) -> Outcome {
        if self.value.is_some() { Outcome::Released } else { Outcome::Refused }
    }

    /// The same where rows without a value were the lowest, as they are where the number of rows is public.
    pub fn with_empty_lowest(self, adjacency: Adjacency) -> Self {
        let condition = (adjacency == Adjacency::Replace).then_some(Condition::EmptyLowest);
        Self { error: self.error.map(|error| error.on(condition)), ..self }
    }

    /// The same with a condition on every bar, where there is one.
    pub fn on(mut self, condition: Option<&Condition>) -> Self {
        let Some(condition) = condition else { return self };
        let on =
            |error: &mut Option<ErrorBar>| *error = error.take().map(|error| error.on(condition.clone()));
        on(&mut self.error);
        for group in self.groups.iter_mut().flatten() {
            on(&mut group.error);
            group.answers.iter_mut().flatten().for_each(|item| on(&mut item.error));
        }
        self.several = self.several.map(|several| {
            let one = |named: Named| Named { answer: named.answer.on(Some(condition)), ..named };
            several.into_iter().map(one).collect()
        });
        self
    }

    /// The same with the noisy number of rows.
    pub fn with_rows(self, rows: Option<i64>) -> Self {
        Self { rows, ..self }
    }
}
