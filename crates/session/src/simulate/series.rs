//! The answers of all trials, one number or text at a time: how often it was told, what it was, and what is true.

use super::truth::number;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// One number or text of the answers, over all trials: a quantile of a list, a part of a summary, the answer for a key.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Series {
    /// Which question of the plan it belongs to, from zero.
    pub question: usize,
    /// What it is: `median`, `quantile 0.9`, `standard-deviation`.
    pub name: String,
    /// The key of its group, where there are groups.
    pub key: Option<Value>,
    /// What its values are, where they are no plain numbers or texts.
    pub value_type: Option<String>,
    /// Are the answers told apart rather than measured?
    pub frequent: bool,
    /// The answers of the trials that told it, in no order that means anything.
    pub values: Vec<Value>,
    /// In how many trials it was refused. A key that stayed unsaid was neither told nor refused.
    pub refused: usize,
    /// How many error bars could be held against what is true, and how many held.
    pub bars: usize,
    /// See `bars`.
    pub held: usize,
    /// How often they say that they hold.
    pub confidence: Option<f64>,
    /// How many of those that are about limited rows hold what is true of the rows as they are, too.
    pub held_plainly: usize,
    /// By how much limiting moved what is true, in each trial that limited rows.
    pub moved: Vec<f64>,
    /// What is true of the rows of a trial; one for all trials where the rows are the same.
    pub truths: Vec<Option<Value>>,
    /// What is true of all rows, where each trial draws some of them.
    pub all_rows: Option<Option<Value>>,
}

/// Where the answers of a series lie.
#[derive(Clone, Debug, PartialEq)]
pub struct Spread {
    /// Half of the answers are not above it.
    pub median: Value,
    /// One answer in twenty is not above it.
    pub low: Value,
    /// Nineteen answers in twenty are not above it.
    pub high: Value,
}

impl Series {
    /// What it is called among the others: its key, its name, or both.
    pub fn label(&self, alone: bool) -> String {
        match &self.key {
            None => self.name.clone(),
            Some(key) if alone => key_words(key),
            Some(key) => format!("{}, {}", key_words(key), self.name),
        }
    }

    /// One of its values as a number: of a date the days since 1970, of a moment the seconds; not-a-number for a text.
    pub fn number(&self, value: &Value) -> f64 {
        number(value, self.value_type.as_deref())
    }

    /// All answers that are numbers, sorted.
    pub fn numbers(&self) -> Vec<f64> {
        let mut numbers: Vec<f64> = self.values.iter().map(|value| self.number(value)).collect();
        numbers.retain(|number| number.is_finite());
        numbers.sort_unstable_by(f64::total_cmp);
        numbers
    }

    /// What is true of all rows; nothing where there are none to tell.
    pub fn truth(&self) -> Option<Value> {
        self.all_rows.clone().unwrap_or_else(|| self.middle())
    }

    /// Where each trial draws rows of people: what is true of the rows drawn, in the middle one of the trials.
    pub fn truth_drawn(&self) -> Option<Value> {
        self.all_rows.as_ref().and_then(|_| self.middle())
    }

    /// The truth in the middle of those of all trials, or of most of them.
    fn middle(&self) -> Option<Value> {
        let truths: Vec<Value> = self.truths.iter().flatten().cloned().collect();
        if self.frequent {
            return frequent(&truths).first().map(|(value, _)| value.clone());
        }
        self.sorted(&truths).get(truths.len().saturating_sub(1) / 2).map(|&value| value.clone())
    }

    /// Where the answers lie; nothing where none is a number.
    pub fn spread(&self) -> Option<Spread> {
        if self.frequent {
            return None;
        }
        let sorted = self.sorted(&self.values);
        let at = |percent: usize| Some((*sorted.get(sorted.len().checked_sub(1)? * percent / 100)?).clone());
        Some(Spread { median: at(50)?, low: at(5)?, high: at(95)? })
    }

    /// The different answers and how many trials gave each, the most frequent first.
    pub fn frequent(&self) -> Vec<(Value, usize)> {
        frequent(&self.values)
    }

    /// The same as one JSON object.
    pub fn summary(&self) -> Value {
        let mut shown = Map::new();
        shown.insert("statistic".into(), json!(self.name));
        if let Some(key) = &self.key {
            shown.insert("key".into(), key.clone());
        }
        if let Some(value_type) = &self.value_type {
            shown.insert("type".into(), json!(value_type));
        }
        shown.insert("told".into(), json!(self.values.len()));
        shown.insert("refused".into(), json!(self.refused));
        if self.frequent {
            let answers: Vec<Value> = self
                .frequent()
                .into_iter()
                .map(|(value, trials)| json!({ "value": value, "trials": trials }))
                .collect();
            shown.insert("answers".into(), json!(answers));
        } else {
            let spread = self.spread();
            shown.insert("median".into(), json!(spread.as_ref().map(|spread| &spread.median)));
            let between = spread.as_ref().map(|spread| [&spread.low, &spread.high]);
            shown.insert("nine_of_ten_between".into(), json!(between));
        }
        shown.insert("truth".into(), json!(self.truth()));
        if self.all_rows.is_some() {
            shown.insert("truth_of_rows_drawn".into(), json!(self.truth_drawn()));
        }
        let mut bars = json!({ "confidence": self.confidence, "judged": self.bars, "held": self.held });
        if let Some(moved) = self.moved_by() {
            bars["held_without_limits"] = json!(self.held_plainly);
            bars["moved_by_limits"] = json!(moved);
        }
        shown.insert("bars".into(), if self.bars > 0 { bars } else { Value::Null });
        Value::Object(shown)
    }

    /// By how much limiting rows moved what is true, in the middle one of the trials that did.
    pub fn moved_by(&self) -> Option<f64> {
        let mut moved = self.moved.clone();
        moved.sort_unstable_by(f64::total_cmp);
        moved.get(moved.len().checked_sub(1)? / 2).copied()
    }

    /// Numbers in their order; what is none is left out.
    fn sorted<'v>(&self, values: &'v [Value]) -> Vec<&'v Value> {
        let mut sorted: Vec<(f64, &Value)> = values.iter().map(|value| (self.number(value), value)).collect();
        sorted.retain(|(number, _)| number.is_finite());
        sorted.sort_by(|one, other| one.0.total_cmp(&other.0));
        sorted.into_iter().map(|(_, value)| value).collect()
    }

    /// The same trials of another worker.
    pub(super) fn take(&mut self, other: Self, drawn: bool) {
        self.values.extend(other.values);
        self.refused += other.refused;
        self.bars += other.bars;
        self.held += other.held;
        self.held_plainly += other.held_plainly;
        self.moved.extend(other.moved);
        self.confidence = self.confidence.or(other.confidence);
        if drawn {
            self.truths.extend(other.truths);
        }
    }
}

fn frequent(values: &[Value]) -> Vec<(Value, usize)> {
    let mut counts: BTreeMap<String, (Value, usize)> = BTreeMap::new();
    for value in values {
        counts.entry(value.to_string()).or_insert_with(|| (value.clone(), 0)).1 += 1;
    }
    let mut counts: Vec<(Value, usize)> = counts.into_values().collect();
    counts.sort_by_key(|(_, count)| usize::MAX - count);
    counts
}

/// A key in words.
fn key_words(key: &Value) -> String {
    match key {
        Value::Array(parts) => parts.iter().map(key_words).collect::<Vec<_>>().join(", "),
        Value::Null => "(empty)".to_string(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
