//! What was said: a question as words, before anything is understood or any data is touched.
//!
//! The command line, a JSON document and the Python package all fill this one struct. Numbers stay the
//! decimals that were typed; a JSON number or a float counts as its shortest decimal.

use crate::statistic::{Argument, Fold, Statistic};
use equipoise_core::wording;
use serde::{Deserialize, Deserializer, Serialize, de};
use std::{collections::BTreeMap, fmt};

/// A question in words. Fields that were not said are `None` and take their defaults in the plan.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// What to compute: count, share, sum, mean, variance, median, quantile, iqr, min, max, correlation, covariance, regression, distinct, ecdf, mode, histogram, select, top or summary.
    pub statistic: String,
    /// Of which column.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<String>,
    /// And of which second column, of a correlation or covariance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub y: Option<String>,
    /// Which quantiles, such as 0.9 or 0.25,0.5,0.75.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "words")]
    pub fraction: Option<String>,
    /// How many of the most frequent values.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "words")]
    pub k: Option<String>,
    /// The privacy loss.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "words")]
    pub epsilon: Option<String>,
    /// By how much any set of outcomes may be likelier than e^epsilon allows.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "words")]
    pub delta: Option<String>,
    /// add-remove or replace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub adjacency: Option<String>,
    /// The name of a mechanism, or auto.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mechanism: Option<String>,
    /// LO,HI: answers lie between these, and rows are moved there.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "words")]
    pub range: Option<String>,
    /// The same for the second column.
    #[serde(default, alias = "range-y", skip_serializing_if = "Option::is_none", deserialize_with = "words")]
    pub range_y: Option<String>,
    /// By which columns a regression explains the first one.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "names")]
    pub on: Vec<String>,
    /// LO,HI for each of them, one after the other.
    #[serde(
        default,
        alias = "range-on",
        skip_serializing_if = "Option::is_none",
        deserialize_with = "words"
    )]
    pub range_on: Option<String>,
    /// Answers and rows are multiples of this.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "words")]
    pub resolution: Option<String>,
    /// The most that one row may move the value, as proposed.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "words")]
    pub bound: Option<String>,
    /// The ratio of the ends of a bin of scales.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "words")]
    pub base: Option<String>,
    /// Whether half of epsilon buys an interval of values that holds the true quantile, or one for each of several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<bool>,
    /// Whether bars are about the population that the rows were drawn from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub population: Option<bool>,
    /// Whether a summary has no quantiles, and the rest all of epsilon.
    #[serde(default, alias = "no-quantiles", skip_serializing_if = "Option::is_none")]
    pub no_quantiles: Option<bool>,
    /// How many bins of one length a histogram has over its range.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "words")]
    pub bins: Option<String>,
    /// How many bins of a histogram have about as many rows each.
    #[serde(
        default,
        alias = "quantile-bins",
        skip_serializing_if = "Option::is_none",
        deserialize_with = "words"
    )]
    pub quantile_bins: Option<String>,
    /// How wide the bins of a histogram are.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "words")]
    pub width: Option<String>,
    /// At which points a distribution function is asked for.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "words")]
    pub at: Option<String>,
    /// The number of rows, where the data holder states it. Means and variances over a declared range are divided by it.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "words")]
    pub rows: Option<String>,
    /// The character between fields, where it is not a comma.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delimiter: Option<String>,
    /// Whether the first line names the columns; it does unless this says no.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub header: Option<bool>,
    /// Answer for each group of records that agree in these columns; a text with commas names several.
    #[serde(default, alias = "group-by", skip_serializing_if = "Vec::is_empty", deserialize_with = "names")]
    pub group_by: Vec<String>,
    /// The keys of the groups, where they are public: their one column's texts. Found privately without.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "names")]
    pub keys: Vec<String>,
    /// The candidates of a selection, where they are public. Found privately without.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "names")]
    pub among: Vec<String>,
    /// How far off the answer may be, in rows for counts, in ranks for quantiles, in the column's unit for sums and
    /// means: the least epsilon for that is used.
    #[serde(
        default,
        alias = "target-error",
        skip_serializing_if = "Option::is_none",
        deserialize_with = "words"
    )]
    pub target_error: Option<String>,
    /// What columns hold, such as `{"hired": "date"}`: date, timestamp, decimal:2, integer, boolean, number or text.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub types: BTreeMap<String, String>,
    /// Among the questions of a batch: which share of epsilon and delta this one has.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "words")]
    pub weight: Option<String>,
    /// Only records of which this is true take part.
    #[serde(default, rename = "where", skip_serializing_if = "Option::is_none")]
    pub filter: Option<String>,
    /// With a limit that renews by a column of days: the calendar windows whose rows alone take part, as `2026-11`, `2026-09,2026-11` or
    /// `2026-07..2026-09`.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "words")]
    pub window: Option<String>,
    /// The column that names the person: all records with one value of it are protected together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    /// How many records of each person take part, drawn at random; one unless this says more.
    #[serde(
        default,
        alias = "max-rows-per-unit",
        skip_serializing_if = "Option::is_none",
        deserialize_with = "words"
    )]
    pub max_rows_per_unit: Option<String>,
    /// In how many groups records of each person take part, drawn at random; the bound on records is then one for each
    /// group.
    #[serde(
        default,
        alias = "max-groups-per-unit",
        skip_serializing_if = "Option::is_none",
        deserialize_with = "words"
    )]
    pub max_groups_per_unit: Option<String>,
    /// Whether each person's rows are first made one value, by group: a count, sum or mean is then one over people.
    #[serde(default, alias = "per-unit", skip_serializing_if = "Option::is_none")]
    pub per_unit: Option<bool>,
    /// How sure the error bar is.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "words")]
    pub confidence: Option<String>,
}

impl Request {
    /// A question about a statistic, nothing else said.
    pub fn new(statistic: &str) -> Self {
        Self { statistic: statistic.to_string(), ..Self::default() }
    }

    /// Give an argument that is a text or a number; nothing for others.
    pub fn set_text(&mut self, argument: Argument, text: Option<String>) {
        let field = match argument {
            Argument::Column => &mut self.column,
            Argument::Y => &mut self.y,
            Argument::Fraction => &mut self.fraction,
            Argument::K => &mut self.k,
            Argument::Epsilon => &mut self.epsilon,
            Argument::Delta => &mut self.delta,
            Argument::Adjacency => &mut self.adjacency,
            Argument::Mechanism => &mut self.mechanism,
            Argument::TargetError => &mut self.target_error,
            Argument::Confidence => &mut self.confidence,
            Argument::Where => &mut self.filter,
            Argument::Window => &mut self.window,
            Argument::Unit => &mut self.unit,
            Argument::MaxRowsPerUnit => &mut self.max_rows_per_unit,
            Argument::MaxGroupsPerUnit => &mut self.max_groups_per_unit,
            Argument::Range => &mut self.range,
            Argument::RangeY => &mut self.range_y,
            Argument::RangeOn => &mut self.range_on,
            Argument::Resolution => &mut self.resolution,
            Argument::Bound => &mut self.bound,
            Argument::Base => &mut self.base,
            Argument::Rows => &mut self.rows,
            Argument::Bins => &mut self.bins,
            Argument::QuantileBins => &mut self.quantile_bins,
            Argument::Width => &mut self.width,
            Argument::At => &mut self.at,
            Argument::Interval
            | Argument::PerUnit
            | Argument::Population
            | Argument::NoQuantiles
            | Argument::Among
            | Argument::GroupBy
            | Argument::Keys
            | Argument::On
            | Argument::Types => {
                return;
            }
        };
        *field = text;
    }

    /// An argument as one text, as the command line takes it; none for flags and types.
    pub(crate) fn text(&self, argument: Argument) -> Option<String> {
        match argument {
            Argument::Column => self.column.clone(),
            Argument::Y => self.y.clone(),
            Argument::Fraction => self.fraction.clone(),
            Argument::Epsilon => self.epsilon.clone(),
            Argument::Delta => self.delta.clone(),
            Argument::Adjacency => self.adjacency.clone(),
            Argument::Mechanism => self.mechanism.clone(),
            Argument::TargetError => self.target_error.clone(),
            Argument::Confidence => self.confidence.clone(),
            Argument::Where => self.filter.clone(),
            Argument::Window => self.window.clone(),
            Argument::Unit => self.unit.clone(),
            Argument::MaxRowsPerUnit => self.max_rows_per_unit.clone(),
            Argument::MaxGroupsPerUnit => self.max_groups_per_unit.clone(),
            Argument::Range => self.range.clone(),
            Argument::RangeY => self.range_y.clone(),
            Argument::RangeOn => self.range_on.clone(),
            Argument::On => Some(self.on.join(",")),
            Argument::Resolution => self.resolution.clone(),
            Argument::Bound => self.bound.clone(),
            Argument::Base => self.base.clone(),
            Argument::Rows => self.rows.clone(),
            Argument::Bins => self.bins.clone(),
            Argument::QuantileBins => self.quantile_bins.clone(),
            Argument::Width => self.width.clone(),
            Argument::At => self.at.clone(),
            Argument::K => self.k.clone(),
            Argument::Among => Some(self.among.join(",")),
            Argument::GroupBy => Some(self.group_by.join(",")),
            Argument::Keys => Some(self.keys.join(",")),
            Argument::Interval
            | Argument::PerUnit
            | Argument::Population
            | Argument::NoQuantiles
            | Argument::Types => None,
        }
    }

    /// Give an argument that is yes or not given; nothing for others.
    pub fn set_flag(&mut self, argument: Argument, given: bool) {
        match argument {
            Argument::Interval => self.interval = given.then_some(true),
            Argument::Population => self.population = given.then_some(true),
            Argument::NoQuantiles => self.no_quantiles = given.then_some(true),
            Argument::PerUnit => self.per_unit = given.then_some(true),
            _ => {}
        }
    }

    /// Give an argument that is a list of texts; nothing for others.
    pub fn set_texts(&mut self, argument: Argument, texts: Vec<String>) {
        match argument {
            Argument::Among => self.among = texts,
            Argument::On => self.on = texts,
            Argument::GroupBy => self.group_by = texts,
            Argument::Keys => self.keys = texts,
            _ => {}
        }
    }

    /// Was this argument given?
    pub fn says(&self, argument: Argument) -> bool {
        match argument {
            Argument::Column => self.column.is_some(),
            Argument::Y => self.y.is_some(),
            Argument::Fraction => self.fraction.is_some(),
            Argument::K => self.k.is_some(),
            Argument::Epsilon => self.epsilon.is_some(),
            Argument::Delta => self.delta.is_some(),
            Argument::Adjacency => self.adjacency.is_some(),
            Argument::Mechanism => self.mechanism.is_some(),
            Argument::TargetError => self.target_error.is_some(),
            Argument::Confidence => self.confidence.is_some(),
            Argument::Where => self.filter.is_some(),
            Argument::Window => self.window.is_some(),
            Argument::Unit => self.unit.is_some(),
            Argument::MaxRowsPerUnit => self.max_rows_per_unit.is_some(),
            Argument::MaxGroupsPerUnit => self.max_groups_per_unit.is_some(),
            Argument::PerUnit => self.per_unit == Some(true),
            Argument::Range => self.range.is_some(),
            Argument::RangeY => self.range_y.is_some(),
            Argument::On => !self.on.is_empty(),
            Argument::RangeOn => self.range_on.is_some(),
            Argument::Resolution => self.resolution.is_some(),
            Argument::Bound => self.bound.is_some(),
            Argument::Base => self.base.is_some(),
            Argument::Interval => self.interval == Some(true),
            Argument::Population => self.population == Some(true),
            Argument::NoQuantiles => self.no_quantiles == Some(true),
            Argument::Rows => self.rows.is_some(),
            Argument::Bins => self.bins.is_some(),
            Argument::QuantileBins => self.quantile_bins.is_some(),
            Argument::Width => self.width.is_some(),
            Argument::At => self.at.is_some(),
            Argument::Among => !self.among.is_empty(),
            Argument::GroupBy => !self.group_by.is_empty(),
            Argument::Keys => !self.keys.is_empty(),
            Argument::Types => !self.types.is_empty(),
        }
    }

    /// What each person's rows are made first, where they are.
    pub fn fold(&self) -> Option<Fold> {
        let statistic = Statistic::named(&self.statistic).filter(|_| self.per_unit == Some(true))?;
        match statistic {
            Statistic::Count => Some(Fold::Count),
            Statistic::Sum => Some(Fold::Sum),
            Statistic::Mean => Some(Fold::Mean),
            _ => None,
        }
    }

    /// What it is about, in words: the column, or both.
    pub fn column_words(&self) -> Option<String> {
        let column = self.column.clone()?;
        if !self.on.is_empty() {
            return Some(format!("{column} on {}", self.on.join(", ")));
        }
        Some(self.y.as_ref().map_or(column.clone(), |y| format!("{column} and {y}")))
    }

    /// Read a JSON object. The error is one line and quotes nothing but names.
    pub fn from_json(text: &str) -> Result<Self, RequestError> {
        serde_json::from_str(text)
            .map_err(|error| RequestError(wording::line(&wording::unmarked(&error.to_string()))))
    }

    /// One text for one question: what is charged, hashed and kept.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("texts and options are always JSON")
    }
}

/// A JSON document that is not a request. `Display` is one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestError(pub(crate) String);

impl fmt::Display for RequestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the request cannot be read: {}", self.0)
    }
}

impl std::error::Error for RequestError {}

/// A string, a number as its shortest decimal, or a list of these joined by commas.
fn words<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Word {
        Text(String),
        Number(serde_json::Number),
    }
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Words {
        One(Word),
        Several(Vec<Word>),
    }
    let text = |word: Word| match word {
        Word::Text(text) => text,
        Word::Number(number) => number.to_string(),
    };
    let unreadable = |_| de::Error::custom("a number or a text is due here");
    Ok(Option::<Words>::deserialize(deserializer).map_err(unreadable)?.map(|words| match words {
        Words::One(word) => text(word),
        Words::Several(several) => several.into_iter().map(text).collect::<Vec<_>>().join(","),
    }))
}

/// A text, or a list of texts.
fn names<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Names {
        One(String),
        Several(Vec<String>),
    }
    let unreadable = |_| de::Error::custom("a text or a list of texts is due here");
    Ok(match Names::deserialize(deserializer).map_err(unreadable)? {
        Names::One(name) => vec![name],
        Names::Several(names) => names,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_a_text_or_a_list() {
        let one = Request::from_json(r#"{"statistic": "count", "group-by": "town"}"#).unwrap();
        let several =
            Request::from_json(r#"{"statistic": "count", "group-by": ["town"], "keys": ["a", "b"]}"#)
                .unwrap();
        assert_eq!(one.group_by, several.group_by);
        assert_eq!(Request::from_json(&several.to_json()).unwrap(), several);
        let wrong = Request::from_json(r#"{"statistic": "count", "keys": 7}"#).unwrap_err().to_string();
        assert!(wrong.contains("a text or a list of texts is due here"), "{wrong}");
    }

    #[test]
    fn numbers_are_their_shortest_decimals_and_texts_stay() {
        let json = r#"{"statistic": "quantile", "column": "salary", "fraction": [0.25, "0.5"], "epsilon": 0.1, "rows": 12}"#;
        let request = Request::from_json(json).unwrap();
        assert_eq!(request.epsilon.as_deref(), Some("0.1"));
        assert_eq!(request.fraction.as_deref(), Some("0.25,0.5"));
        assert_eq!(request.rows.as_deref(), Some("12"));
        assert_eq!(Request::from_json(&request.to_json()).unwrap(), request);
    }

    #[test]
    fn what_is_not_a_request_is_one_line() {
        for (json, said) in [
            ("", "EOF while parsing"),
            ("[]", "invalid length 0"),
            ("{\"statistic\": \"count\", \"seed\": 7}", "unknown field 'seed'"),
            ("{\"statistic\": \"count\", \"epsilon\": {}}", "a number or a text is due here"),
            ("{\"statistic\": \"a\nb\"}", "control character"),
        ] {
            let error = Request::from_json(json).unwrap_err().to_string();
            assert!(error.contains(said) && !error.contains('\n'), "{json}: {error}");
        }
    }
}
