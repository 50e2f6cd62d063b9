//! One question of a monitor: a line of JSON, checked, and then bound to the columns that it names.
//!
//! `{"where": "age > 40 and town = 'Ayr'", "threshold": 1000}` asks whether at least about 1000 people pass.
//! `{"sum": "hours", "most": 24, "threshold": 5000}` asks the same of a sum in which each counts from 0 to `most`, 1 where
//! it is not given; `where` may narrow it. Whatever a record holds, its part of the value is a number from 0 to 1.

use crate::{
    columns,
    source::{ColumnRead, ColumnType, Source},
};
use equipoise_core::{ratio::Ratio, wording};
use equipoise_expression::{Kind as Type, Predicate, Question};
use serde::Deserialize;
use serde_json::{Map, Value};
use std::fmt;

/// A question that could be asked of some table.
#[derive(Clone, Debug, PartialEq)]
pub struct Query {
    /// Who counts; everybody where it is not said, which only a sum may do.
    filter: Option<String>,
    sum: Option<Sum>,
    threshold: Ratio,
}

#[derive(Clone, Debug, PartialEq)]
struct Sum {
    column: String,
    most: Ratio,
}

/// Why a line is no question. `Display` is one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueryError(String);

impl fmt::Display for QueryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for QueryError {}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Typed {
    #[serde(rename = "where")]
    filter: Option<String>,
    sum: Option<String>,
    most: Option<Value>,
    threshold: Option<Value>,
}

/// The longest line, in bytes.
pub const LONGEST_LINE: usize = 1 << 16;
/// Numbers beyond this, or below its inverse, are slips of the pen.
const LARGEST: u64 = 1_000_000_000_000_000_000;

pub(super) fn error(text: impl Into<String>) -> QueryError {
    QueryError(text.into())
}

impl Query {
    /// Read a line.
    pub fn parse(line: &str) -> Result<Self, QueryError> {
        if line.len() > LONGEST_LINE {
            return Err(error(format!(
                "a line of {} bytes is too long; use at most {LONGEST_LINE}",
                line.len()
            )));
        }
        let wrong = |problem: &str| {
            let example = r#"write {"where": "age > 40", "threshold": 1000}"#;
            error(format!("not a question: {}; {example}", wording::line(&wording::unmarked(problem))))
        };
        if !line.trim_start().starts_with('{') {
            return Err(wrong("no JSON object"));
        }
        let typed: Typed = serde_json::from_str(line).map_err(|problem| wrong(&problem.to_string()))?;
        let threshold =
            typed.threshold.ok_or_else(|| error("which threshold? Give \"threshold\", such as 1000"))?;
        let threshold = number("threshold", &threshold, THRESHOLD)?;
        let sum = match (typed.sum, typed.most) {
            (None, None) => None,
            (None, Some(_)) => return Err(error("\"most\" belongs to a sum; name its column as \"sum\"")),
            (Some(column), most) => {
                Some(Sum { column, most: most.map_or(Ok(Ratio::one()), |most| bound(&most))? })
            }
        };
        if sum.is_none() && typed.filter.is_none() {
            return Err(error("which records? Give \"where\", such as \"age > 40\", or \"sum\""));
        }
        Ok(Self { filter: typed.filter, sum, threshold })
    }

    /// The same question in the one form that is written down.
    pub fn to_json(&self) -> Value {
        let mut object = Map::new();
        if let Some(filter) = &self.filter {
            object.insert("where".into(), filter.as_str().into());
        }
        if let Some(sum) = &self.sum {
            object.insert("sum".into(), sum.column.as_str().into());
            object.insert("most".into(), sum.most.to_string().into());
        }
        object.insert("threshold".into(), self.threshold.to_string().into());
        object.into()
    }

    /// Find the columns. Sums need a monitor that was begun for them.
    pub(super) fn bind(&self, source: &dyn Source, sums: bool) -> Result<Bound, QueryError> {
        let mut bound = Bound {
            question: Question::Always(true),
            wanted: Vec::new(),
            sum: None,
            threshold: self.threshold.clone(),
        };
        if let Some(filter) = &self.filter {
            bound.question = narrow(filter, source, &mut bound.wanted)?;
        }
        if let Some(Sum { column, most }) = &self.sum {
            if !sums {
                return Err(error("sums need a monitor that was begun with `sums`; this one counts"));
            }
            bound.sum = Some((want(column, ColumnType::Float, source, &mut bound.wanted)?, most.to_f64()));
            bound.threshold = &bound.threshold / most;
        }
        Ok(bound)
    }
}

const THRESHOLD: &str = "give a number such as 1000";

/// A threshold in words.
pub(super) fn threshold(text: &str) -> Result<Ratio, QueryError> {
    number("threshold", &Value::from(text), THRESHOLD)
}

/// What a record may count at most in a sum: the number that its part is divided by.
fn bound(typed: &Value) -> Result<Ratio, QueryError> {
    let accepted = "a record's part must lie between 0 and 1, so give a number above 0 such as 24";
    let most = number("most", typed, accepted)?;
    let least = Ratio::from(LARGEST).recip();
    if most < least { Err(error(format!("most {most} is not accepted; {accepted}"))) } else { Ok(most) }
}

/// A JSON number, or a decimal in quotes. A float is its shortest decimal, as everywhere.
fn number(name: &str, typed: &Value, accepted: &str) -> Result<Ratio, QueryError> {
    let text = match typed {
        Value::Number(number) => number.to_string(),
        Value::String(text) => text.clone(),
        _ => return Err(error(format!("{name} is not a number; {accepted}"))),
    };
    let refused = || error(format!("{name} '{}' is not accepted; {accepted}", wording::shown(&text)));
    let value: Ratio = text.parse().map_err(|_| refused())?;
    if value.abs() > Ratio::from(LARGEST) || value.to_string().len() > 100 {
        Err(refused())
    } else {
        Ok(value)
    }
}

fn narrow(filter: &str, source: &dyn Source, wanted: &mut Vec<ColumnRead>) -> Result<Question, QueryError> {
    let predicate = Predicate::parse(filter).map_err(|problem| error(format!("where: {problem}")))?;
    let mut places = Vec::new();
    for (name, kind) in predicate.columns() {
        let read = match kind {
            Type::Whole => ColumnType::Integer,
            Type::Real => ColumnType::Float,
            Type::Text => ColumnType::Text,
        };
        places.push((name, want(name, read, source, wanted)?, kind));
    }
    let place =
        |name: &str| places.iter().find(|(known, ..)| *known == name).map(|&(_, at, kind)| (at, kind));
    predicate.bind(place).map_err(|problem| error(format!("where: {problem}")))
}

/// The place of these cells among the wanted ones.
fn want(
    name: &str,
    kind: ColumnType,
    source: &dyn Source,
    wanted: &mut Vec<ColumnRead>,
) -> Result<usize, QueryError> {
    let column = columns::place(source.columns(), name).map_err(|problem| error(problem.to_string()))?;
    if let Some(why) = source.unreadable(column) {
        return Err(error(wording::line(&why)));
    }
    let one = ColumnRead { column, kind };
    Ok(wanted.iter().position(|&other| other == one).unwrap_or_else(|| {
        wanted.push(one);
        wanted.len() - 1
    }))
}

/// A question whose columns are known: it can be answered and cannot fail.
#[derive(Clone, Debug)]
pub(super) struct Bound {
    /// Who counts.
    pub question: Question,
    /// The columns, by the places that the question knows them by.
    pub wanted: Vec<ColumnRead>,
    /// The place of the column that is summed, and what its values are divided by.
    pub sum: Option<(usize, f64)>,
    /// In parts of one record.
    pub threshold: Ratio,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gather::tests::Memory;

    fn bound(line: &str, sums: bool) -> Result<Bound, QueryError> {
        let memory = Memory::new(vec![], &[]);
        Query::parse(line).and_then(|query| query.bind(&memory, sums))
    }

    #[test]
    fn what_is_written_down_reads_as_the_same_question() {
        for line in [
            r#"{"where": "salary > 40", "threshold": 1000}"#,
            r#"{"where": "town = 'Ayr'", "threshold": "0.1"}"#,
            r#"{"threshold": -2.5e3, "sum": "salary", "most": 24}"#,
            r#"{"where": "salary is null", "sum": "salary", "threshold": 1}"#,
        ] {
            let query = Query::parse(line).unwrap();
            assert_eq!(Query::parse(&query.to_json().to_string()).unwrap(), query, "{line}");
            assert!(bound(line, true).is_ok());
        }
        let query = Query::parse(r#"{"where":"salary>40","threshold":0.1}"#).unwrap();
        assert_eq!(query.threshold, "0.1".parse().unwrap(), "a float is its shortest decimal");
    }

    #[test]
    fn thresholds_of_sums_are_in_the_columns_own_unit() {
        let bound = bound(r#"{"sum": "salary", "most": 24, "threshold": 5000}"#, true).unwrap();
        assert_eq!((bound.threshold, bound.sum), ("5000/24".parse().unwrap(), Some((0, 24.0))));
    }

    #[test]
    fn what_is_wrong_is_said_in_one_line() {
        for (line, said) in [
            ("", "not a question: no JSON object"),
            (r#"["salary > 1", null, null, 7]"#, "not a question: no JSON object"),
            ("{", "not a question: EOF while parsing an object"),
            (r#"{"where": "salary > 1", "threshold": NaN}"#, "not a question: expected value"),
            (r#"{"where": "salary > 1", "threshold": 1e999}"#, "not a question: number out of range"),
            (
                r#"{"where": "salary > 1", "threshold": "NaN"}"#,
                "threshold 'NaN' is not accepted; give a number",
            ),
            (r#"{"where": "salary > 1", "threshold": "1e300"}"#, "threshold '1e300' is not accepted"),
            (r#"{"where": "salary > 1", "threshold": [1]}"#, "threshold is not a number"),
            (r#"{"where": "salary > 1"}"#, "which threshold?"),
            (r#"{"threshold": 1}"#, "which records?"),
            (r#"{"were": "salary > 1", "threshold": 1}"#, "not a question: unknown field 'were'"),
            (r#"{"where": "salary > 1", "most": 2, "threshold": 1}"#, "\"most\" belongs to a sum"),
            (
                r#"{"sum": "salary", "most": 0, "threshold": 1}"#,
                "most 0 is not accepted; a record's part must lie",
            ),
            (
                r#"{"sum": "salary", "most": -1, "threshold": 1}"#,
                "most -1 is not accepted; a record's part must lie",
            ),
            (
                r#"{"where": "salry > 1", "threshold": 1}"#,
                "no column is called 'salry'; did you mean 'salary'?",
            ),
            (r#"{"sum": "wage", "threshold": 1}"#, "no column is called 'wage'"),
            (r#"{"where": "salary >", "threshold": 1}"#, "where: the expression ends where a column"),
            (r#"{"where": "town = 'a' or town > 3", "threshold": 1}"#, "where: column 'town' holds text"),
        ] {
            let error = bound(line, true).expect_err(line).to_string();
            assert!(error.starts_with(said) && !error.contains('\n'), "{line}: {error}");
        }
        let long = format!("{{\"where\": \"{}\", \"threshold\": 1}}", "x".repeat(LONGEST_LINE));
        assert!(Query::parse(&long).unwrap_err().to_string().starts_with("a line of 65"));
        let sum = bound(r#"{"sum": "salary", "threshold": 1}"#, false).unwrap_err().to_string();
        assert!(sum.starts_with("sums need a monitor"), "{sum}");
    }
}
