//! What is true of public rows, without noise: the plain functions that simulated answers and their error bars are held
//! against. Nothing here is private, and nothing here is ever released.

use crate::{
    bar::{Between, ErrorBar, Ranks, Shape},
    gather::ScanResult,
    lattice::AnswerLattice,
    need::{Key, Need},
    plan::{Part, PlanError},
    source::{ColumnRead, ColumnType},
    statistic::Argument,
    statistic::{Fold, Statistic, Truth},
    task::{Answering, SUMMARY, Task},
};
use equipoise_core::{adjacency::Adjacency, ratio::Ratio, stability::Quantile};
use serde_json::{Value, json};
use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet},
    iter,
};

/// Floats that are added in another order differ by less than this part of them.
const ROUNDING: f64 = 1e-10;

/// One question as somebody without privacy would ask it.
pub(super) struct Question {
    /// The columns of the keys; none where all rows are one group.
    pub by: Vec<ColumnRead>,
    /// Each number or text of an answer, by its name.
    pub measures: Vec<(String, Measure)>,
    /// What each of them is, where it is no plain number or text.
    pub types: Vec<Option<String>>,
    look: Look,
    /// The task that counts in bins or up to points, where it does.
    pub binned: Option<Task>,
}

/// What is looked at in the rows.
enum Look {
    Count(Need),
    /// Numbers, and where ranks are asked for, where they lie among the possible answers.
    Numbers {
        need: Need,
        ranked: Option<(AnswerLattice, Adjacency)>,
    },
    /// The numbers of two columns.
    Pairs(Need),
    /// Those of several.
    Table(Need),
    Texts {
        wanted: ColumnRead,
        kind: Option<ColumnType>,
        /// Only these are looked at, where they were stated.
        among: Vec<String>,
        /// How many of the most frequent ones were asked for.
        most: usize,
        with_empty: bool,
    },
}

/// One number or text of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Measure {
    Count,
    Sum,
    Mean,
    Variance,
    Deviation,
    Quantile(Quantile),
    /// The third quartile less the first.
    Spread,
    /// The least row.
    Least,
    /// The largest row.
    Largest,
    /// Of two columns.
    Correlation,
    Covariance,
    /// The intercept of a regression, or the coefficient of the column of this place.
    Intercept,
    Coefficient(usize),
    /// The share that it explains.
    Explained,
    /// The mean of the column that it explains.
    Target,
    /// How many different texts there are.
    Distinct,
    /// The most frequent text.
    Frequent,
    /// The most frequent texts.
    Top,
}

/// What was found in the rows of a question, or of one of its groups.
pub(super) struct Facts {
    count: u64,
    /// How many rows have no value.
    empty: u64,
    numbers: Vec<f64>,
    pairs: Vec<[f64; 2]>,
    /// Rows of a table, the explained column last.
    table: Vec<Vec<f64>>,
    /// The sum of a column of whole numbers, in its units.
    whole_sum: Option<i128>,
    /// Sorted.
    places: Vec<i64>,
    texts: BTreeMap<String, u64>,
    /// The true answer of each measure; nothing where there are no rows for one.
    pub truths: Vec<Option<Value>>,
}

impl Question {
    pub fn new(part: &Part) -> Result<Self, PlanError> {
        let said = part.said()?;
        let by = part.task().keyed_by().to_vec();
        // By group, replaced rows are rows that go and rows that come.
        let adjacency = if by.is_empty() { said.adjacency() } else { Adjacency::AddRemove };
        let statistic = said.statistic();
        if part.task().draws_edges() {
            let problem = "edges that are drawn differ from trial to trial, and so does what is true of them";
            return Err(PlanError::line(problem)
                .hint("simulate quantile with the fractions that you mean, or state `at` or `bins`"));
        }
        let mut measures = match statistic.spec().truth {
            Truth::Regression => {
                of_model(&said.on()?.into_iter().map(|column| said.column_name(column)).collect::<Vec<_>>())
            }
            _ => measures(statistic, said.fraction().unwrap_or_default())?,
        };
        if said.fold() == Some(Fold::Count) {
            // A count of rows is the sum of people's counts.
            measures[0].1 = Measure::Sum;
        }
        if !said.has_quantiles() {
            measures.retain(|(_, measure)| !matches!(measure, Measure::Quantile(_)));
        }
        let look = match measures[0].1 {
            Measure::Frequent | Measure::Top => {
                let column = said.column()?;
                let kind = said.kind(column).filter(|kind| kind.is_whole());
                let with_empty = statistic == Statistic::Mode && adjacency == Adjacency::Replace;
                let same = |text: &String| {
                    let whole = kind.and_then(|kind| Some(kind.write(kind.read(text)?)));
                    whole.unwrap_or_else(|| text.clone())
                };
                let among = said.among().iter().map(same).collect();
                let most = if statistic == Statistic::Top { said.k()? } else { 1 };
                Look::Texts { wanted: said.key(column), kind, among, most, with_empty }
            }
            Measure::Distinct => {
                let wanted = said.distinct_values()?;
                Look::Texts { wanted, kind: None, among: Vec::new(), most: 1, with_empty: false }
            }
            Measure::Correlation | Measure::Covariance => {
                let need = part.task().needs().into_iter().find_map(|need| match need {
                    Need::Grouped { need, .. } => Some(*need).filter(|need| need.second().is_some()),
                    need => Some(need).filter(|need| need.second().is_some()),
                });
                Look::Pairs(need.expect("two columns are needed"))
            }
            Measure::Intercept => Look::Table(part.task().needs().remove(0)),
            // Bins and points are looked at by their task.
            _ if part.task().has_bins() => Look::Count(Need::Records),
            Measure::Count if statistic != Statistic::Summary && said.fold().is_none() => {
                let column = said.optional_column()?;
                Look::Count(column.map_or(Need::Records, |column| Need::Present(said.key(column))))
            }
            _ => {
                let column = said.column()?;
                let ranks = |(_, measure): &(String, Measure)| {
                    matches!(measure, Measure::Quantile(_) | Measure::Spread) || measure.is_end()
                };
                // Rows without a value lie at neither end.
                let adjacency = if measures[0].1.is_end() { Adjacency::AddRemove } else { adjacency };
                // Ranks are those of the rows as they were rounded: the row of a rank is the same row, rounded.
                let ranked = measures.iter().any(ranks).then(|| said.lattice(column)).transpose()?;
                Look::Numbers { need: said.numbers(column)?, ranked: ranked.map(|space| (space, adjacency)) }
            }
        };
        let value_type = |(_, measure): &(String, Measure)| match (&look, measure) {
            // A summary has answers of several types.
            (
                Look::Numbers { ranked: Some((space, _)), .. },
                Measure::Quantile(_) | Measure::Least | Measure::Largest,
            ) => space.kind().map(|kind| kind.to_string()),
            _ => part.answer_type(),
        };
        let types = measures.iter().map(value_type).collect();
        let binned = part.task().has_bins().then(|| part.task().clone());
        Ok(Self { by, measures, types, look, binned })
    }

    /// What is true of each bin or point of the rows that were gathered, of all or of one group.
    pub fn truths_of_bins(&self, gathered: &ScanResult<'_>) -> BTreeMap<String, Value> {
        self.binned.as_ref().and_then(|task| task.truths_of_bins(gathered)).unwrap_or_default()
    }

    /// The key of a group, without the bin or point of one of its answers.
    pub fn key_of_group(&self, mut key: Key) -> Key {
        key.truncate(self.by.len());
        key
    }

    /// What is counted in each group to find its key.
    pub fn counted(&self) -> Need {
        match &self.look {
            Look::Count(need) => need.clone(),
            _ => Need::Records,
        }
    }

    /// Look at the rows that were gathered, of all or of one group.
    pub fn facts(&self, gathered: &ScanResult<'_>) -> Facts {
        let mut facts = Facts::of_truth(None);
        match &self.look {
            Look::Count(Need::Present(wanted)) => facts.count = gathered.present(wanted.column),
            Look::Count(_) => facts.count = gathered.records(),
            Look::Numbers { need, ranked } => {
                let values = gathered.values(need);
                facts.count = values.count(false);
                facts.empty = values.count(true) - facts.count;
                if let Some((space, adjacency)) = ranked {
                    facts.places = values.places(space, *adjacency);
                    facts.places.sort_unstable();
                }
                if self.measures.iter().any(|(_, measure)| measure.is_moment()) {
                    values.each_number(|some| {
                        facts.numbers.extend(some.iter().filter(|number| !number.is_nan()));
                    });
                    values.each_whole(|some| {
                        let sum = some.iter().map(|&whole| i128::from(whole)).sum::<i128>();
                        facts.whole_sum = Some(facts.whole_sum.unwrap_or_default() + sum);
                    });
                }
            }
            Look::Pairs(need) => gathered.pairs(need).each(|some| facts.pairs.extend(some)),
            Look::Table(need) => {
                let table = gathered.table(need);
                table.each(|some| facts.table.extend(some.chunks(table.width).map(<[f64]>::to_vec)));
            }
            Look::Texts { wanted, among, with_empty, .. } => {
                let counts = |text: &str| {
                    (among.is_empty() || among.iter().any(|one| one == text))
                        && (*with_empty || !text.is_empty())
                };
                gathered.each_text(*wanted, |text, count| {
                    if count > 0 && counts(text) {
                        facts.texts.insert(text.to_string(), count);
                    }
                });
            }
        }
        let truths = self.measures.iter().map(|&(_, measure)| self.truth(measure, &facts));
        facts.truths = truths.collect();
        facts
    }

    fn truth(&self, measure: Measure, facts: &Facts) -> Option<Value> {
        let place = |quantile: Quantile| {
            let rank = quantile.rank(facts.places.len() as u64);
            facts.places.get(usize::try_from(rank - 1).ok()?).copied()
        };
        match (measure, &self.look) {
            (Measure::Count, _) => Some(json!(facts.count)),
            (Measure::Sum, Look::Numbers { need, .. }) => {
                let kind = need.wanted().map(|wanted| wanted.kind).filter(|kind| kind.is_whole());
                let kind =
                    kind.map(|kind| if kind == ColumnType::Boolean { ColumnType::Integer } else { kind });
                let whole = facts.whole_sum.and_then(|sum| i64::try_from(sum).ok());
                match (kind, whole) {
                    (Some(kind), Some(whole)) => Some(kind.value(whole)),
                    _ => finite(moment(Measure::Sum, &facts.numbers)?),
                }
            }
            (Measure::Quantile(quantile), Look::Numbers { ranked: Some((space, _)), .. }) => {
                Some(space.value(place(quantile)?))
            }
            (Measure::Spread, Look::Numbers { ranked: Some((space, _)), .. }) => {
                let [low, high] = quartiles();
                Some(space.distance(place(low)?, place(high)?))
            }
            (Measure::Least, Look::Numbers { ranked: Some((space, _)), .. }) => {
                Some(space.value(*facts.places.first()?))
            }
            (Measure::Largest, Look::Numbers { ranked: Some((space, _)), .. }) => {
                Some(space.value(*facts.places.last()?))
            }
            (Measure::Distinct, _) => Some(json!(facts.texts.len())),
            (Measure::Frequent, Look::Texts { kind, .. }) => {
                let most = facts.most()?;
                let (text, _) = facts.texts.iter().find(|(_, count)| **count == most)?;
                let whole = kind.and_then(|kind| Some(kind.value(kind.read(text)?)));
                Some(whole.unwrap_or_else(|| json!(text)))
            }
            (Measure::Top, Look::Texts { kind, among, most, .. }) => {
                let mut texts: Vec<(Reverse<u64>, &String)> =
                    facts.texts.iter().map(|(text, count)| (Reverse(*count), text)).collect();
                texts.sort_unstable();
                texts.truncate(*most);
                // A set is released in the order of its texts.
                if among.is_empty() {
                    texts.sort_unstable_by_key(|&(_, text)| text);
                }
                let value = |text: &String| {
                    let whole = kind.and_then(|kind| Some(kind.value(kind.read(text)?)));
                    whole.unwrap_or_else(|| json!(text))
                };
                Some(texts.into_iter().map(|(_, text)| value(text)).collect())
            }
            (measure @ (Measure::Correlation | Measure::Covariance), _) => {
                finite(of_pairs(measure, &facts.pairs)?)
            }
            (measure, Look::Table(_)) => finite(of_table(measure, &facts.table)?),
            (measure, _) => finite(moment(measure, &facts.numbers)?),
        }
    }

    /// Does the bar of an answer hold? Nothing where there is no telling.
    pub fn holds(&self, place: usize, facts: &Facts, value: &Value, error: &ErrorBar) -> Option<bool> {
        let measure = self.measures[place].1;
        if measure == Measure::Explained {
            // Its bar is about the model that was told, which is not at hand.
            return None;
        }
        let number = |value: &Value| number(value, self.types[place].as_deref());
        match error.shape() {
            Shape::Exact => Some(match &facts.truths[place] {
                Some(truth) => value == truth || (number(value) - number(truth)).abs() <= 0.0,
                None => value.is_null(),
            }),
            Shape::Gap { gap, .. } => {
                let text = |value: &Value| match value {
                    Value::String(text) => text.clone(),
                    other => other.to_string(),
                };
                let named: BTreeSet<String> = match value {
                    Value::Array(values) => values.iter().map(text).collect(),
                    one => [text(one)].into(),
                };
                let rows = |text: &String| facts.texts.get(text).copied().unwrap_or_default();
                let least = named.iter().map(rows).min().unwrap_or_default();
                let others = facts.texts.iter().filter(|(text, _)| !named.contains(*text));
                let most = others.map(|(_, &count)| count).max().unwrap_or_default();
                Some(most.saturating_sub(least) <= *gap)
            }
            // Only blocks have votes and vectors, and only callers scores; nobody simulates those here.
            Shape::Votes { .. } | Shape::Within(_) | Shape::Score(_) => None,
            Shape::Rank(ranks) => {
                let (low, high) = self.between_ranks(measure, facts, ranks)?;
                Some(number(&low) <= number(value) && number(value) <= number(&high))
            }
            Shape::Noise(Between { low, high }) | Shape::Interval { between: Between { low, high }, .. } => {
                let (low, high) = (number(low), number(high));
                let truth = if self.is_about_moved(place, error) {
                    self.moved(place, facts, error)?
                } else {
                    number(facts.truths[place].as_ref()?)
                };
                let room = if measure.is_moment() { ROUNDING * low.abs().max(high.abs()) } else { 0.0 };
                Some(low - room <= truth && truth <= high + room)
            }
        }
    }

    /// Whether a bar is about rows that were moved into the range that it tells, or filled, and not about the rows as they are.
    fn is_about_moved(&self, place: usize, error: &ErrorBar) -> bool {
        let measure = self.measures[place].1;
        measure.is_of_table()
            || (measure.is_moment() && (error.limited_to().is_some() || error.empty_as().is_some()))
    }

    /// What is true of the rows, moved and filled; nothing where there are none.
    fn moved(&self, place: usize, facts: &Facts, error: &ErrorBar) -> Option<f64> {
        if self.measures[place].1.is_of_table() {
            let ranges = error.each_limited_to()?;
            let limited = |row: &Vec<f64>| -> Vec<f64> {
                row.iter().zip(ranges).map(|(number, range)| number.clamp(range[0], range[1])).collect()
            };
            return of_table(self.measures[place].1, &facts.table.iter().map(limited).collect::<Vec<_>>());
        }
        let all = [f64::NEG_INFINITY, f64::INFINITY];
        let [least, most] = error.limited_to().unwrap_or(all);
        if let Some([second_least, second_most]) = error.second_limited_to() {
            let limited = |&[x, y]: &[f64; 2]| [x.clamp(least, most), y.clamp(second_least, second_most)];
            return of_pairs(self.measures[place].1, &facts.pairs.iter().map(limited).collect::<Vec<_>>());
        }
        let moved = facts.numbers.iter().map(|number| number.clamp(least, most));
        let empty = usize::try_from(facts.empty).unwrap_or(usize::MAX);
        let filled = error.empty_as().into_iter().flat_map(|number| iter::repeat_n(number, empty));
        moment(self.measures[place].1, &moved.chain(filled).collect::<Vec<f64>>())
    }

    /// Where a bar is about limited rows: does it hold the plain truth too, and by how much has limiting moved what is true?
    pub fn limiting(&self, place: usize, facts: &Facts, error: &ErrorBar) -> Option<(bool, f64)> {
        if !self.is_about_moved(place, error)
            || !(error.limited_to().is_some() || error.each_limited_to().is_some())
        {
            return None;
        }
        let moved = self.moved(place, facts, error)?;
        let number = |value: &Value| number(value, self.types[place].as_deref());
        let plain = number(facts.truths[place].as_ref()?);
        let (Shape::Noise(Between { low, high }) | Shape::Interval { between: Between { low, high }, .. }) =
            error.shape()
        else {
            return None;
        };
        let (low, high) = (number(low), number(high));
        let room = ROUNDING * low.abs().max(high.abs());
        Some((low - room <= plain && plain <= high + room, moved - plain))
    }

    /// The answers that the rows so many ranks before and after the true one would give.
    fn between_ranks(&self, measure: Measure, facts: &Facts, ranks: &Ranks) -> Option<(Value, Value)> {
        let Look::Numbers { ranked: Some((space, _)), .. } = &self.look else { return None };
        let rows = i64::try_from(facts.places.len()).ok()?;
        // Beyond the rows the ends of the range stand for them.
        let at = |quantile: Quantile, off: i64| {
            let rank = i64::try_from(quantile.rank(facts.places.len() as u64)).ok()?.saturating_add(off);
            Some(match usize::try_from(rank - 1) {
                Err(_) => space.range().lo(),
                Ok(_) if rank > rows => space.range().hi(),
                Ok(place) => facts.places[place],
            })
        };
        match (measure, ranks) {
            (Measure::Least | Measure::Largest, Ranks::One(off)) => {
                let off = usize::try_from(*off).ok()?;
                let (least, most) = (*facts.places.first()?, *facts.places.last()?);
                let range = space.range();
                Some(if measure == Measure::Largest {
                    let low = facts.places.iter().rev().nth(off).copied().unwrap_or(range.lo());
                    (space.value(low), space.value(most))
                } else {
                    let high = facts.places.get(off).copied().unwrap_or(range.hi());
                    (space.value(least), space.value(high))
                })
            }
            (Measure::Quantile(quantile), Ranks::One(off)) => {
                let off = i64::try_from(*off).ok()?;
                Some((space.value(at(quantile, -off)?), space.value(at(quantile, off)?)))
            }
            (Measure::Spread, Ranks::Each(off)) => {
                let [first, third] = quartiles();
                let [low, high] = [i64::try_from(*off.first()?).ok()?, i64::try_from(*off.get(1)?).ok()?];
                let least = space.distance(at(first, low)?, at(third, -high)?);
                let most = space.distance(at(first, -low)?, at(third, high)?);
                // A width that was drawn itself is rounded to six digits.
                let wider = |value: Value, part: f64| match value.as_f64() {
                    Some(width) if space.kind().is_none() => json!(width * (1.0 + part)),
                    _ => value,
                };
                Some((wider(least, -5e-6), wider(most, 5e-6)))
            }
            _ => None,
        }
    }
}

impl Measure {
    fn is_end(self) -> bool {
        matches!(self, Self::Least | Self::Largest)
    }

    /// Is it one of the numbers of a regression?
    fn is_of_table(self) -> bool {
        matches!(self, Self::Intercept | Self::Coefficient(_) | Self::Explained | Self::Target)
    }

    fn is_moment(self) -> bool {
        matches!(
            self,
            Self::Sum | Self::Mean | Self::Variance | Self::Deviation | Self::Correlation | Self::Covariance
        )
    }
}

impl Facts {
    /// Those of rows of which nothing else is looked at.
    pub fn of_truth(truth: Option<Value>) -> Self {
        Self {
            count: 0,
            empty: 0,
            numbers: Vec::new(),
            pairs: Vec::new(),
            table: Vec::new(),
            whole_sum: None,
            places: Vec::new(),
            texts: BTreeMap::new(),
            truths: vec![truth],
        }
    }

    fn most(&self) -> Option<u64> {
        self.texts.values().copied().max()
    }
}

/// The numbers and texts that an answer has.
fn measures(statistic: Statistic, fractions: &str) -> Result<Vec<(String, Measure)>, PlanError> {
    let quantile = |fraction: &str| {
        let ratio: Ratio = fraction
            .parse()
            .map_err(|_| PlanError::about(Argument::Fraction, "a fraction that is no number"))?;
        Ok::<_, PlanError>((format!("quantile {fraction}"), Measure::Quantile(Quantile::new(&ratio)?)))
    };
    let one = |measure: Measure| Ok(vec![(statistic.to_string(), measure)]);
    match statistic.spec().truth {
        Truth::Sum => one(Measure::Sum),
        Truth::Mean => one(Measure::Mean),
        Truth::Variance => one(Measure::Variance),
        Truth::Deviation => one(Measure::Deviation),
        Truth::Median => one(quantile("0.5")?.1),
        Truth::Quantiles => fractions.split(',').map(|fraction| quantile(fraction.trim())).collect(),
        Truth::Spread => one(Measure::Spread),
        Truth::Least => one(Measure::Least),
        Truth::Largest => one(Measure::Largest),
        Truth::Correlation => one(Measure::Correlation),
        Truth::Covariance => one(Measure::Covariance),
        Truth::Regression => Ok(of_model(&[])),
        Truth::Distinct => one(Measure::Distinct),
        Truth::Frequent => one(Measure::Frequent),
        Truth::Top => one(Measure::Top),
        Truth::Summary => {
            let sums = [
                (Statistic::Count.name(), Measure::Count),
                (Statistic::Mean.name(), Measure::Mean),
                ("standard-deviation", Measure::Deviation),
            ];
            let mut all = sums.map(|(name, measure)| (name.to_string(), measure)).to_vec();
            for hundredths in SUMMARY {
                all.push(quantile(&Ratio::new(hundredths, 100).to_short_up(2, 4))?);
            }
            Ok(all)
        }
        // A histogram counts too.
        Truth::Count => Ok(vec![(Statistic::Count.to_string(), Measure::Count)]),
    }
}

/// The numbers of a regression on these columns.
fn of_model(columns: &[String]) -> Vec<(String, Measure)> {
    let coefficient =
        |(place, name): (usize, &String)| (format!("coefficient of {name}"), Measure::Coefficient(place));
    let mut all = vec![("intercept".to_string(), Measure::Intercept)];
    all.extend(columns.iter().enumerate().map(coefficient));
    all.extend([("r-squared".to_string(), Measure::Explained), ("mean".to_string(), Measure::Target)]);
    all
}

fn quartiles() -> [Quantile; 2] {
    [1, 3].map(|quarters| Quantile::new(&Ratio::new(quarters, 4)).expect("between 0 and 1"))
}

/// A sum, mean, variance or standard deviation; nothing where there are no rows to divide by.
fn moment(measure: Measure, numbers: &[f64]) -> Option<f64> {
    let sum: f64 = numbers.iter().sum();
    if measure == Measure::Sum {
        return Some(sum);
    }
    let rows = numbers.len() as f64;
    let mean = (!numbers.is_empty()).then(|| sum / rows)?;
    let variance = || numbers.iter().map(|number| (number - mean).powi(2)).sum::<f64>() / rows;
    match measure {
        Measure::Mean => Some(mean),
        Measure::Variance => Some(variance()),
        Measure::Deviation => Some(variance().sqrt()),
        _ => None,
    }
}

/// A covariance or correlation; nothing where there are no rows, or a column has one value.
fn of_pairs(measure: Measure, pairs: &[[f64; 2]]) -> Option<f64> {
    let rows = pairs.len() as f64;
    let mean = |of: &dyn Fn(&[f64; 2]) -> f64| pairs.iter().map(of).sum::<f64>() / rows;
    let [x, y] = (!pairs.is_empty()).then(|| [0, 1].map(|side| mean(&|pair| pair[side])))?;
    let covariance = mean(&|pair| (pair[0] - x) * (pair[1] - y));
    if measure == Measure::Covariance {
        return Some(covariance);
    }
    let variances = mean(&|pair| (pair[0] - x).powi(2)) * mean(&|pair| (pair[1] - y).powi(2));
    (variances > 0.0).then(|| covariance / variances.sqrt())
}

/// A number of a regression by least squares; nothing where columns are combinations of each other.
fn of_table(measure: Measure, rows: &[Vec<f64>]) -> Option<f64> {
    let (count, last) = (rows.len() as f64, rows.first()?.len() - 1);
    let mean = |of: &dyn Fn(&Vec<f64>) -> f64| rows.iter().map(of).sum::<f64>() / count;
    let means: Vec<f64> = (0..=last).map(|column| mean(&|row| row[column])).collect();
    let product = |a: usize, b: usize| mean(&|row| (row[a] - means[a]) * (row[b] - means[b]));
    if measure == Measure::Target {
        return Some(means[last]);
    }
    // Elimination, each time by the largest that is left.
    let mut lines: Vec<Vec<f64>> = (0..last).map(|a| (0..=last).map(|b| product(a, b)).collect()).collect();
    for column in 0..last {
        let largest = |a: &usize, b: &usize| lines[*a][column].abs().total_cmp(&lines[*b][column].abs());
        let pivot = (column..last).max_by(largest)?;
        lines.swap(column, pivot);
        let by = lines[column][column];
        if by.abs() <= ROUNDING * product(column, column) {
            return None;
        }
        lines[column].iter_mut().for_each(|entry| *entry /= by);
        let taken = lines[column].clone();
        for (row, entries) in lines.iter_mut().enumerate() {
            let factor = entries[column];
            if row != column {
                entries.iter_mut().zip(&taken).for_each(|(entry, one)| *entry -= factor * one);
            }
        }
    }
    let coefficients: Vec<f64> = lines.iter().map(|line| line[last]).collect();
    let told = |row: &[f64]| coefficients.iter().zip(row).map(|(one, number)| one * number).sum::<f64>();
    match measure {
        Measure::Coefficient(place) => coefficients.get(place).copied(),
        Measure::Intercept => Some(means[last] - told(&means)),
        _ => {
            let left = mean(&|row| (row[last] - means[last] - told(row) + told(&means)).powi(2));
            let spread = product(last, last);
            (spread > 0.0).then(|| 1.0 - left / spread)
        }
    }
}

fn finite(number: f64) -> Option<Value> {
    number.is_finite().then(|| json!(number))
}

/// An answer as a number: of a date the days since 1970, of a moment the seconds; not-a-number where it is none.
pub(super) fn number(value: &Value, value_type: Option<&str>) -> f64 {
    match value {
        Value::Bool(yes) => f64::from(u8::from(*yes)),
        Value::String(text) => {
            let kind = value_type.and_then(ColumnType::named);
            kind.and_then(|kind| Some(kind.number(kind.read(text)?))).unwrap_or(f64::NAN)
        }
        other => other.as_f64().unwrap_or(f64::NAN),
    }
}
