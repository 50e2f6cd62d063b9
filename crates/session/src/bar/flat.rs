//! An error bar as one flat JSON object, as ledgers have held it from the first version on.
//!
//! Fields that a kind does not have are left out. What is read must be whole: a bar without the numbers that its kind has was
//! written by another version, and reading it is an error that says so.

use super::{Between, Condition, ErrorBar, GapUnit, Ranks, Shape};
use crate::statistic::Fold;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The fields of all kinds of bars.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Flat {
    /// With which probability the bar holds; 1 where the answer is exact.
    confidence: f64,
    kind: Kind,
    /// What the bar is about, where that is not the true value of the rows: then read "the true value" below as this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    covers: Option<Covers>,
    /// The true value is not below this: a number, a text where the answer is one, or a list where the answer is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    low: Option<Value>,
    /// The true value is not above this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    high: Option<Value>,
    /// The answer lies between the rows this many places before and after the true one; one number for each answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    rank: Option<Value>,
    /// The most frequent value has at most this many rows more than the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    gap: Option<u64>,
    /// What a gap is counted in, where that is not rows: `votes`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    gap_unit: Option<String>,
    /// The best option scores at most this much more than the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    score: Option<f64>,
    /// Each label of the answer is named by at least this many blocks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    least: Option<u64>,
    /// Each other label that was an option is named by at most this many blocks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    most: Option<u64>,
    /// Rows, or the answers of blocks, beyond this range were moved into it, which the bar does not cover.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    range: Option<[f64; 2]>,
    /// The same for the second column.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    range_y: Option<[f64; 2]>,
    /// It is about at most so many rows of each person, drawn at random.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    drawn_rows: Option<u64>,
    /// It is about one value of each person, made of all rows of theirs: their count, sum or mean.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    per_unit: Option<Fold>,
    /// Of at most so many groups of each person, drawn at random.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    drawn_groups: Option<u64>,
    /// No interval is of use below so many rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    interval_needs: Option<u64>,
    /// What was done on the way, a clause each, where the bar is about the true value of the rows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    given: Vec<String>,
    /// It is about the population that the rows were drawn from.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    population: bool,
    /// At most so many rows lie outside of that range.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    outside: Option<u64>,
    /// The same for each number of an answer that is a list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ranges: Option<Vec<[f64; 2]>>,
    /// Rows without a value count as this, which the bar does not cover.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    empty_as: Option<f64>,
    /// Rows without a value count as the lowest one, which the bar does not cover.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    empty_lowest: bool,
    /// The bar holds if so many rows have a value, as was stated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    stated_rows: Option<u64>,
    /// Rows were rounded to at least so many significant digits, each on its own: the bar is about the rounded rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    significant_digits: Option<u32>,
    /// Every number of the answer lies within this of the true one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    scale: Option<f64>,
    /// Several ranks or intervals hold all at once with this confidence.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    together: bool,
}

/// What a bar is about, and on what conditions.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Covers {
    /// What lies within the bar, as a noun: `the mean of 60 blocks' answers, each from about 83 rows`.
    of: String,
    /// What was done on the way there, a clause each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    given: Vec<String>,
}

#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Kind {
    #[default]
    Exact,
    Noise,
    Rank,
    Interval,
    Gap,
    Score,
    Votes,
}

const VOTES: &str = "votes";
const PEOPLE: &str = "people";

impl From<ErrorBar> for Flat {
    fn from(bar: ErrorBar) -> Self {
        let together = bar.is_together();
        let mut flat = Self { confidence: bar.confidence, together, ..Self::default() };
        let mut given = Vec::new();
        for condition in bar.conditions {
            match condition {
                Condition::LimitedTo(range) => flat.range = Some(range),
                Condition::SecondLimitedTo(range) => flat.range_y = Some(range),
                Condition::Drawn(rows) => flat.drawn_rows = Some(rows),
                Condition::PerUnit { fold, groups } => {
                    (flat.per_unit, flat.drawn_groups) = (Some(fold), groups);
                }
                Condition::NoInterval(rows) => flat.interval_needs = Some(rows),
                Condition::Outside(rows) => flat.outside = Some(rows),
                Condition::EachLimitedTo(ranges) => flat.ranges = Some(ranges),
                Condition::EmptyAs(number) => flat.empty_as = Some(number),
                Condition::EmptyLowest => flat.empty_lowest = true,
                Condition::StatedRows(rows) => flat.stated_rows = Some(rows),
                Condition::RoundedTo(digits) => flat.significant_digits = Some(digits),
                Condition::Population => flat.population = true,
                Condition::Given(clause) => given.push(clause),
            }
        }
        match bar.of {
            Some(of) => flat.covers = Some(Covers { of, given }),
            None => flat.given = given,
        }
        match bar.shape {
            Shape::Exact => flat,
            Shape::Noise(between) => Self { kind: Kind::Noise, ..flat.between(between) },
            Shape::Within(scale) => Self { kind: Kind::Noise, scale: Some(scale), ..flat },
            Shape::Rank(ranks) => Self { kind: Kind::Rank, rank: Some(ranks.to_json()), ..flat },
            Shape::Interval { ranks, between } => {
                Self { kind: Kind::Interval, rank: Some(ranks.to_json()), ..flat.between(between) }
            }
            Shape::Gap { gap, unit } => {
                let gap_unit = match unit {
                    GapUnit::Rows => None,
                    GapUnit::People => Some(PEOPLE.to_string()),
                    GapUnit::Votes => Some(VOTES.to_string()),
                };
                Self { kind: Kind::Gap, gap: Some(gap), gap_unit, ..flat }
            }
            Shape::Score(gap) => Self { kind: Kind::Score, score: Some(gap), ..flat },
            Shape::Votes { least, most } => {
                Self { kind: Kind::Votes, least: Some(least), most: Some(most), ..flat }
            }
        }
    }
}

impl Flat {
    fn between(self, Between { low, high }: Between) -> Self {
        Self { low: Some(low), high: Some(high), ..self }
    }
}

impl TryFrom<Flat> for ErrorBar {
    type Error = String;

    fn try_from(flat: Flat) -> Result<Self, String> {
        let between = match (flat.low, flat.high) {
            (Some(low), Some(high)) => Some(Between { low, high }),
            _ => None,
        };
        let ranks = flat.rank.as_ref().and_then(Ranks::from_json);
        let shape = match flat.kind {
            Kind::Exact => Some(Shape::Exact),
            Kind::Noise => between.map(Shape::Noise).or(flat.scale.map(Shape::Within)),
            Kind::Rank => ranks.map(Shape::Rank),
            Kind::Interval => ranks.zip(between).map(|(ranks, between)| Shape::Interval { ranks, between }),
            Kind::Gap => {
                let unit = match flat.gap_unit.as_deref() {
                    Some(VOTES) => GapUnit::Votes,
                    Some(PEOPLE) => GapUnit::People,
                    _ => GapUnit::Rows,
                };
                flat.gap.map(|gap| Shape::Gap { gap, unit })
            }
            Kind::Score => flat.score.map(Shape::Score),
            Kind::Votes => flat.least.zip(flat.most).map(|(least, most)| Shape::Votes { least, most }),
        };
        let shape = shape.ok_or_else(|| "an error bar without the numbers of its kind".to_string())?;
        let (of, given) = match flat.covers {
            Some(covers) => (Some(covers.of), covers.given),
            None => (None, flat.given),
        };
        let bar = Self { shape, confidence: flat.confidence, of, conditions: Vec::new() };
        let bar = bar
            .on(flat.range.map(Condition::LimitedTo))
            .on(flat.range_y.map(Condition::SecondLimitedTo))
            .on(flat.drawn_rows.map(Condition::Drawn))
            .on(flat.per_unit.map(|fold| Condition::PerUnit { fold, groups: flat.drawn_groups }))
            .on(flat.interval_needs.map(Condition::NoInterval))
            .on(flat.outside.map(Condition::Outside))
            .on(flat.ranges.map(Condition::EachLimitedTo))
            .on(flat.empty_as.map(Condition::EmptyAs))
            .on(flat.empty_lowest.then_some(Condition::EmptyLowest))
            .on(flat.stated_rows.map(Condition::StatedRows))
            .on(flat.significant_digits.map(Condition::RoundedTo))
            .on(flat.population.then_some(Condition::Population));
        Ok(given.into_iter().fold(bar, |bar, clause| bar.on(Condition::Given(clause))))
    }
}

impl Ranks {
    fn to_json(&self) -> Value {
        match self {
            Self::One(rank) => json!(rank),
            Self::Each(ranks) => json!(ranks),
        }
    }

    fn from_json(ranks: &Value) -> Option<Self> {
        match ranks {
            Value::Array(each) => each.iter().map(Value::as_u64).collect::<Option<_>>().map(Self::Each),
            one => one.as_u64().map(Self::One),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every kind of bar, as JSON of the first version.
    #[test]
    fn every_bar_is_read_as_it_was_written() {
        for (bar, text) in [
            (ErrorBar::exact(), r#"{"confidence":1.0,"kind":"exact"}"#),
            (
                ErrorBar::noise(0.95, -2.0, 5.5)
                    .on(Condition::StatedRows(9))
                    .on(Condition::EmptyAs(1.0))
                    .on(Condition::LimitedTo([0.0, 7.0])),
                r#"{"confidence":0.95,"kind":"noise","low":-2.0,"high":5.5,"range":[0.0,7.0],"empty_as":1.0,"stated_rows":9}"#,
            ),
            (
                ErrorBar::within(0.9, 0.25)
                    .about("the mean of 60 blocks' answers".into())
                    .on(Condition::Given("a clause".into()))
                    .on(Condition::EachLimitedTo(vec![[0.0, 1.0]])),
                r#"{"confidence":0.9,"kind":"noise","covers":{"of":"the mean of 60 blocks' answers","given":["a clause"]},"ranges":[[0.0,1.0]],"scale":0.25}"#,
            ),
            (
                ErrorBar::rank(0.95, 47).on(Condition::EmptyLowest),
                r#"{"confidence":0.95,"kind":"rank","rank":47,"empty_lowest":true}"#,
            ),
            (
                ErrorBar::noise(0.95, 1.0, 2.0)
                    .on(Condition::Outside(40))
                    .on(Condition::LimitedTo([0.0, 7.0]))
                    .on(Condition::Drawn(3)),
                r#"{"confidence":0.95,"kind":"noise","low":1.0,"high":2.0,"range":[0.0,7.0],"drawn_rows":3,"outside":40}"#,
            ),
            (
                ErrorBar::noise(0.95, 1.0, 2.0).on(Condition::PerUnit { fold: Fold::Mean, groups: Some(2) }),
                r#"{"confidence":0.95,"kind":"noise","low":1.0,"high":2.0,"per_unit":"mean","drawn_groups":2}"#,
            ),
            (
                ErrorBar::noise(0.95, 0.5, 0.7)
                    .on(Condition::SecondLimitedTo([-1.0, 1.0]))
                    .on(Condition::LimitedTo([0.0, 7.0])),
                r#"{"confidence":0.95,"kind":"noise","low":0.5,"high":0.7,"range":[0.0,7.0],"range_y":[-1.0,1.0]}"#,
            ),
            (
                ErrorBar::rank(0.95, 3).on(Condition::Given("a clause".into())).on(Condition::Population),
                r#"{"confidence":0.95,"kind":"rank","rank":3,"given":["a clause"],"population":true}"#,
            ),
            (
                ErrorBar::rank(0.95, 31).on(Condition::NoInterval(90)),
                r#"{"confidence":0.95,"kind":"rank","rank":31,"interval_needs":90}"#,
            ),
            (
                ErrorBar::rank(0.95, 31).on(Condition::RoundedTo(7)),
                r#"{"confidence":0.95,"kind":"rank","rank":31,"significant_digits":7}"#,
            ),
            (
                ErrorBar::ranks(0.95, &[4, 7]).with_interval(json!([1, 2]), json!([3, 4])),
                r#"{"confidence":0.95,"kind":"interval","low":[1,2],"high":[3,4],"rank":[4,7],"together":true}"#,
            ),
            (ErrorBar::gap(0.95, 12, GapUnit::Rows), r#"{"confidence":0.95,"kind":"gap","gap":12}"#),
            (
                ErrorBar::gap(0.95, 12, GapUnit::People),
                r#"{"confidence":0.95,"kind":"gap","gap":12,"gap_unit":"people"}"#,
            ),
            (
                ErrorBar::gap(0.95, 12, GapUnit::Votes),
                r#"{"confidence":0.95,"kind":"gap","gap":12,"gap_unit":"votes"}"#,
            ),
            (
                ErrorBar::votes(0.95, 30, 60),
                r#"{"confidence":0.95,"kind":"votes","least":30,"most":60,"together":true}"#,
            ),
        ] {
            assert_eq!(serde_json::to_string(&bar).unwrap(), text);
            assert_eq!(serde_json::from_str::<ErrorBar>(text).unwrap(), bar);
        }
    }

    #[test]
    fn a_bar_that_is_not_whole_is_not_read() {
        for text in [
            r#"{"confidence":0.95,"kind":"noise"}"#,
            r#"{"confidence":0.95,"kind":"noise","low":3}"#,
            r#"{"confidence":0.95,"kind":"rank","rank":"seven"}"#,
            r#"{"confidence":0.95,"kind":"interval","low":3,"high":4}"#,
            r#"{"confidence":0.95,"kind":"gap"}"#,
            r#"{"confidence":0.95,"kind":"votes","least":3}"#,
        ] {
            let error = serde_json::from_str::<ErrorBar>(text).unwrap_err().to_string();
            assert!(error.contains("without the numbers of its kind"), "{text}: {error}");
        }
    }
}
