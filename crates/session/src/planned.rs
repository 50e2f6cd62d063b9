//! What is known of a plan before any row is read: one shape for dry runs, receipts, Python and whoever comes.

use crate::{
    bar::ErrorBar,
    ledger::Balance,
    promise::{Promise, Remaining, Spent, WindowStanding},
};
use serde::{Serialize, Serializer, ser::SerializeStruct};
use serde_json::json;

/// A plan in public words and exact numbers. The ledger keeps it beside its charge, and explanations are made of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PlanSummary {
    /// What will be computed.
    pub statistic: String,
    /// Of which column.
    pub column: Option<String>,
    /// What the value will be, where it is no plain number or text.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub value_type: Option<String>,
    /// By which columns answers are grouped.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub group_by: Vec<String>,
    /// Of which records: those of which this is true.
    #[serde(rename = "where", skip_serializing_if = "Option::is_none")]
    pub filter: Option<String>,
    /// Which rows of each person take part, in words; none where a person is a row.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rows: Option<String>,
    /// Of which data set.
    pub data: String,
    /// By which mechanism.
    pub mechanism: String,
    /// What makes one answer of the answers of blocks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub aggregator: Option<String>,
    /// How many blocks there are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blocks: Option<u64>,
    /// What the caller stated and answers for, one clause each: `sensitivity 1, as stated by the caller`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stated: Vec<String>,
    /// What an answer promises.
    pub guarantee: Promise,
    /// The error bar that a released answer will have, where it is known.
    pub error: Option<ErrorBar>,
    /// The same in words, and when there will be a refusal.
    pub expected: String,
    /// How far off the answer will be if the rows lie evenly over a declared range.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub likely: Option<PredictedError>,
    /// The mechanisms that were not taken, the least predicted error first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub runners_up: Vec<RunnerUp>,
    /// What will be charged, in the unit and adjacency of the data set.
    pub charge: Spent,
    /// What of the promise protects little, one line each.
    pub warnings: Vec<String>,
    /// The questions of a batch.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub questions: Vec<QuestionSummary>,
}

/// One question of a planned batch.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct QuestionSummary {
    /// What will be computed.
    pub statistic: String,
    /// Of which column.
    pub column: Option<String>,
    /// What the value will be, where it is no plain number or text.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub value_type: Option<String>,
    /// By which columns answers are grouped.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub group_by: Vec<String>,
    /// By which mechanism.
    pub mechanism: String,
    /// Its part of the price.
    pub cost: Spent,
    /// The error bar that a released answer will have, where it is known.
    pub error: Option<ErrorBar>,
    /// The same in words, and when there will be a refusal.
    pub expected: String,
    /// How far off the answer will be if the rows lie evenly over a declared range.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub likely: Option<PredictedError>,
    /// The mechanisms that were not taken, the least predicted error first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub runners_up: Vec<RunnerUp>,
}

/// A mechanism that was not taken.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RunnerUp {
    /// Its name, for whoever wants it.
    pub mechanism: &'static str,
    /// Could it answer?
    pub possible: bool,
    /// The error bar that it would have.
    pub error: Option<ErrorBar>,
    /// How far off it would be on rows that lie evenly over the declared range.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub likely: Option<PredictedError>,
    /// What it would do, or what it needs.
    pub expected: String,
}

/// How far off an answer will be on rows that lie evenly over a declared range, in the column's unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PredictedError {
    /// The error, except as often as the confidence says.
    pub error: f64,
    /// How many rows were thought of.
    pub rows: u64,
    /// Does it help? Whoever says the middle of the range is off by a quarter of it on average.
    pub(crate) helps: bool,
}

impl Serialize for PredictedError {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("Likely", 2)?;
        // Noise as wide as every number there is has no error that JSON could write.
        fields.serialize_field("error", &Some(self.error).filter(|error| error.is_finite()))?;
        fields.serialize_field("if_rows_lie_evenly", &self.rows)?;
        fields.end()
    }
}

impl PlanSummary {
    /// A plan of which little more is known than what it promises.
    pub(crate) fn bare(statistic: &str, data: &str, guarantee: Promise) -> Self {
        Self {
            statistic: statistic.to_string(),
            column: None,
            value_type: None,
            group_by: Vec::new(),
            filter: None,
            rows: None,
            data: data.to_string(),
            mechanism: String::new(),
            aggregator: None,
            blocks: None,
            stated: Vec::new(),
            charge: Spent { epsilon: guarantee.epsilon.clone(), delta: guarantee.delta.clone() },
            guarantee,
            error: None,
            expected: String::new(),
            likely: None,
            runners_up: Vec::new(),
            warnings: Vec::new(),
            questions: Vec::new(),
        }
    }

    /// The text of one JSON object.
    pub fn to_text(&self) -> String {
        serde_json::to_string(self).expect("texts and numbers are always JSON")
    }

    /// One JSON object.
    pub fn to_json(&self) -> serde_json::Value {
        serde_json::to_value(self).expect("texts and numbers are always JSON")
    }

    /// The document of a dry run: the plan with what its data set has spent and what is left.
    pub fn document(&self, balance: Option<&Balance>) -> serde_json::Value {
        let mut document = serde_json::Map::from_iter([("outcome".to_string(), json!("planned"))]);
        if let serde_json::Value::Object(fields) = self.to_json() {
            document.extend(fields);
        }
        let remaining = balance.and_then(Balance::remaining);
        document.insert("spent".to_string(), json!(balance.map(|balance| Spent::from(balance.spent()))));
        document.insert("remaining".to_string(), json!(remaining.as_ref().map(Remaining::from)));
        let windows = balance.map_or(&[][..], |balance| &balance.windows);
        if !windows.is_empty() {
            let windows: Vec<WindowStanding> = windows.iter().map(WindowStanding::from).collect();
            document.insert("windows".to_string(), json!(windows));
        }
        serde_json::Value::Object(document)
    }
}
