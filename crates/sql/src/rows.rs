//! A release as the rows of a query: values with their error bars, sorted and cut as was asked.

use crate::{
    evaluate::{self, Known},
    interval,
    outer::Outer,
    query::{Query, Sorting},
    words,
};
use equipoise_session::{
    answer::{BatchAnswer, Group},
    bar::{Condition, ErrorBar},
    release::{Outcome, Release},
};
use serde_json::{Value, json};
use std::{cmp::Ordering, collections::HashMap};

/// A column of the answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// What it is called.
    pub name: String,
    /// The statistic, where it is an aggregate and nothing else.
    pub statistic: Option<String>,
    /// What its values are, where they are no plain numbers or texts.
    pub value_type: Option<String>,
}

/// One value of the answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// The value; null where nobody knows it.
    pub value: Value,
    /// How far off it may be, where it is an aggregate and nothing else.
    pub error: Option<ErrorBar>,
    /// Was this aggregate refused?
    pub refused: bool,
}

/// The answer of a query.
#[derive(Clone, Debug, PartialEq)]
pub struct Rows {
    /// Its columns.
    pub columns: Vec<Column>,
    /// Its rows, a cell for each column.
    pub rows: Vec<Vec<Cell>>,
    /// What to do about refusals, each once.
    pub advice: Vec<String>,
}

/// What was released for one group, or for all rows.
struct Row<'a> {
    query: &'a Query,
    key: &'a Value,
    answers: Vec<Answered<'a>>,
}

#[derive(Clone, Copy)]
struct Answered<'a> {
    value: &'a Value,
    error: Option<&'a ErrorBar>,
    refused: bool,
    advice: Option<&'a str>,
}

impl<'a> Answered<'a> {
    fn of_all(answer: &'a BatchAnswer) -> Self {
        let refused = answer.outcome == Outcome::Refused;
        let advice = answer.advice.as_deref();
        Self { value: &answer.value, error: answer.error.as_ref(), refused, advice }
    }

    fn of_group(group: &'a Group) -> Self {
        let refused = group.outcome == Outcome::Refused;
        Self { value: &group.value, error: group.error.as_ref(), refused, advice: group.advice.as_deref() }
    }
}

impl Known for Row<'_> {
    fn key(&self, number: usize) -> Value {
        match self.key {
            Value::Array(parts) => parts.get(number).cloned().unwrap_or_default(),
            one => one.clone(),
        }
    }

    fn aggregate(&self, number: usize) -> Value {
        self.answers.get(number).map_or(Value::Null, |answer| answer.value.clone())
    }

    fn ends(&self, number: usize) -> (Value, Value) {
        let answer = self.answers.get(number).copied();
        let ends = answer.and_then(|answer| answer.error).and_then(ErrorBar::ends);
        ends.map_or((Value::Null, Value::Null), |ends| (ends.low.clone(), ends.high.clone()))
    }

    fn confidence(&self, number: usize) -> Option<f64> {
        self.answers.get(number)?.error.map(ErrorBar::confidence)
    }

    fn item(&self, number: usize) -> &Outer {
        &self.query.items[number].tree
    }
}

impl Query {
    /// The rows of what was released for its questions. Nothing but released values is looked at.
    pub fn rows(&self, release: &Release) -> Rows {
        let answers: &[BatchAnswer] = release.answers.as_deref().unwrap_or_default();
        let mut rows = self.released(answers);
        if let Some(having) = &self.having {
            rows.retain(|row| evaluate::value(having, row) == json!(true));
        }
        if !self.order.is_empty() {
            let mut sorted: Vec<(Vec<Value>, Row<'_>)> = rows
                .into_iter()
                .map(|row| (self.order.iter().map(|by| evaluate::value(&by.tree, &row)).collect(), row))
                .collect();
            sorted.sort_by(|(one, _), (other, _)| in_order(&self.order, one, other));
            rows = sorted.into_iter().map(|(_, row)| row).collect();
        }
        let limit = self.limit.unwrap_or(usize::MAX);
        let shown: Vec<&Row<'_>> = rows.iter().skip(self.offset).take(limit).collect();
        let cells = |row: &&Row<'_>| self.items.iter().map(|item| cell(&item.tree, row)).collect();
        let advice = self.advice(&shown, answers);
        Rows { columns: self.columns(answers), rows: shown.iter().map(cells).collect(), advice }
    }

    /// One row for each group, or one for all rows.
    fn released<'a>(&'a self, answers: &'a [BatchAnswer]) -> Vec<Row<'a>> {
        if self.keys.is_empty() {
            let answers = answers.iter().map(Answered::of_all).collect();
            return vec![Row { query: self, key: &Value::Null, answers }];
        }
        let groups: Vec<HashMap<String, &Group>> = answers
            .iter()
            .map(|answer| {
                answer.groups.iter().flatten().map(|group| (group.key.to_string(), group)).collect()
            })
            .collect();
        // All questions of a query have the same keys; one that was refused whole has none.
        let Some(longest) =
            answers.iter().filter_map(|answer| answer.groups.as_ref()).max_by_key(|all| all.len())
        else {
            return Vec::new();
        };
        let row = |key: &'a Value| {
            let text = key.to_string();
            let of = |groups: &HashMap<String, &'a Group>| match groups.get(&text) {
                Some(group) => Answered::of_group(group),
                None => Answered { value: &Value::Null, error: None, refused: true, advice: None },
            };
            Row { query: self, key, answers: groups.iter().map(of).collect() }
        };
        longest.iter().map(|group| row(&group.key)).collect()
    }

    /// What to do about what was refused among the rows that are shown, and where there is no group at all; each once.
    fn advice(&self, shown: &[&Row<'_>], answers: &[BatchAnswer]) -> Vec<String> {
        let of_row = |row: &&Row<'_>| {
            let of = |(number, answer): (usize, &Answered<'_>)| Some((number, answer.advice?.to_string()));
            row.answers.iter().enumerate().filter_map(of).collect::<Vec<_>>()
        };
        let refused = answers.iter().enumerate().filter(|(_, answer)| answer.outcome == Outcome::Refused);
        let of_all = refused.filter_map(|(number, answer)| Some((number, answer.advice.clone()?)));
        // One line for each aggregate: how many rows each group has is not what tells them apart.
        let mut told: Vec<usize> = Vec::new();
        let mut all: Vec<String> = Vec::new();
        for (number, advice) in shown.iter().flat_map(of_row).chain(of_all) {
            let advice = words::in_query(&advice, self.is_of_people(Some(number)));
            if !told.contains(&number) && !all.contains(&advice) {
                all.push(advice);
            }
            told.push(number);
        }
        all
    }

    /// The columns of its answer, as far as public words tell.
    pub fn column_names(&self) -> Vec<String> {
        self.items.iter().map(|item| item.name.clone()).collect()
    }

    fn columns(&self, answers: &[BatchAnswer]) -> Vec<Column> {
        let column = |item: &crate::query::Item| {
            let answer = match item.tree {
                Outer::Aggregate(number) => answers.get(number),
                _ => None,
            };
            Column {
                name: item.name.clone(),
                statistic: answer.map(|answer| answer.statistic.clone()),
                value_type: answer.and_then(|answer| answer.value_type.clone()),
            }
        };
        self.items.iter().map(column).collect()
    }
}

fn cell(tree: &Outer, row: &Row<'_>) -> Cell {
    let answer = match tree {
        Outer::Aggregate(number) => row.answers.get(*number).copied(),
        _ => None,
    };
    let value = evaluate::value(tree, row);
    let own = answer.and_then(|answer| answer.error).cloned();
    Cell {
        error: own.or_else(|| made_of_bars(tree, &value, row)),
        value,
        refused: answer.is_some_and(|answer| answer.refused),
    }
}

/// The bar of a number that is made of aggregates: all of theirs hold at once, and it says what each of them is about.
fn made_of_bars(tree: &Outer, value: &Value, row: &Row<'_>) -> Option<ErrorBar> {
    // Ends of bars are no answers that could be off.
    let is_made = matches!(tree, Outer::Binary(..) | Outer::Negative(_) | Outer::Call(..));
    let between = interval::of(tree, row).filter(|_| is_made && value.is_number())?;
    let confidence = interval::at_once(&between.aggregates, row)?;
    let bar = ErrorBar::noise(confidence, between.low, between.high);
    let many = between.aggregates.len();
    let made = format!("made of the bars of {many} aggregates, which hold at once");
    let bar = bar.on((many > 1).then_some(Condition::Given(made)));
    let clauses = between.aggregates.iter().flat_map(|&number| {
        let aggregate = &row.query.aggregates[number];
        let of = aggregate.column.as_ref().map_or(String::new(), |column| format!(" of {column}"));
        let name = format!("{}{of}", aggregate.statistic.name());
        let words = ErrorBar::common_words(row.answers[number].error);
        words.into_iter().map(move |words| format!("{name}: {words}"))
    });
    Some(clauses.fold(bar, |bar, clause| bar.on(Condition::Given(clause))))
}

fn in_order(order: &[Sorting], one: &[Value], other: &[Value]) -> Ordering {
    for (by, (one, other)) in order.iter().zip(one.iter().zip(other)) {
        let ordering = match (one.is_null(), other.is_null()) {
            (true, true) => Ordering::Equal,
            (true, false) if by.nulls_first => Ordering::Less,
            (true, false) => Ordering::Greater,
            (false, true) if by.nulls_first => Ordering::Greater,
            (false, true) => Ordering::Less,
            (false, false) => {
                let ordering = total(one, other);
                if by.descending { ordering.reverse() } else { ordering }
            }
        };
        if ordering.is_ne() {
            return ordering;
        }
    }
    Ordering::Equal
}

/// An order of all values: numbers and texts that are numbers first, so that sorting is well defined whatever the keys are.
fn total(one: &Value, other: &Value) -> Ordering {
    let number = |value: &Value| match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.trim().parse::<f64>().ok().filter(|number| number.is_finite()),
        _ => None,
    };
    match (number(one), number(other)) {
        (Some(one), Some(other)) => one.total_cmp(&other),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => {
            evaluate::compare(one, other).unwrap_or_else(|| one.to_string().cmp(&other.to_string()))
        }
    }
}

impl Rows {
    /// One JSON object: columns, rows and error bars, in the same order.
    pub fn to_json(&self) -> Value {
        let column = |column: &Column| {
            let mut object = serde_json::Map::from_iter([("name".to_string(), json!(column.name))]);
            if let Some(statistic) = &column.statistic {
                object.insert("statistic".to_string(), json!(statistic));
            }
            if let Some(value_type) = &column.value_type {
                object.insert("type".to_string(), json!(value_type));
            }
            Value::Object(object)
        };
        let values = |row: &Vec<Cell>| row.iter().map(|cell| cell.value.clone()).collect::<Value>();
        let errors = |row: &Vec<Cell>| row.iter().map(|cell| json!(cell.error)).collect::<Value>();
        json!({
            "columns": self.columns.iter().map(column).collect::<Value>(),
            "rows": self.rows.iter().map(values).collect::<Value>(),
            "errors": self.rows.iter().map(errors).collect::<Value>(),
            "advice": self.advice,
        })
    }
}
