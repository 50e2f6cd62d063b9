//! How far off an answer may be, how sure that is, and what it is about.
//!
//! An [`ErrorBar`] is a [`Shape`] with its confidence and a list of [conditions](Condition). Its fields are private and every
//! way to make one gives a whole one, so that a bar without its ends, or a rank without its number, does not exist. In JSON it
//! is one flat object (`flat`): what scripts read, and what ledgers hold.

mod digits;
mod flat;
mod near;
mod shares;
mod words;

use crate::statistic::Fold;
pub use digits::rounded;
pub(crate) use digits::{alone, at_most};
use flat::Flat;
pub use near::{rows_words, table_ranks_words};
use serde::{Deserialize, Serialize};
use serde_json::Value;
pub use shares::{PERCENT, SHARE, hundredfold, hundredfold_bar, with_signs};
pub(crate) use words::{DOUBT, rounded_to};
pub use words::{percent, printable, rare_keys_words, value};

/// How far off an answer may be, and how sure that is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(into = "Flat", try_from = "Flat")]
pub struct ErrorBar {
    shape: Shape,
    confidence: f64,
    /// What it is about, as a noun, where that is not the true value of the rows.
    of: Option<String>,
    conditions: Vec<Condition>,
}

/// In which way an answer may be off.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// The answer is the true value.
    Exact,
    /// The true value lies between these, as far as noise goes.
    Noise(Between),
    /// Every number of the answer lies within this of the true one, as far as noise goes.
    Within(f64),
    /// The answer lies between the rows so many places before and after the true one.
    Rank(Ranks),
    /// The true value lies between these, which were bought; and the answer so many ranks from it.
    Interval {
        /// How many ranks off the answer may be.
        ranks: Ranks,
        /// Where the true value lies, or each of several.
        between: Between,
    },
    /// The most frequent value has at most so many more than the answer.
    Gap {
        /// How many more.
        gap: u64,
        /// Of what.
        unit: GapUnit,
    },
    /// The best option scores at most this much more than the answer.
    Score(f64),
    /// Each label of the answer is named by at least so many blocks, and each other option by at most so many.
    Votes {
        /// What each label of the answer has.
        least: u64,
        /// What each other option has.
        most: u64,
    },
}

/// Both ends: numbers, texts where the answer is one, or lists where the answer is one.
#[derive(Clone, Debug, PartialEq)]
pub struct Between {
    /// What it lies between is not below this.
    pub low: Value,
    /// What it lies between is not above this.
    pub high: Value,
}

/// How many ranks off.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ranks {
    /// The one quantile of the answer.
    One(u64),
    /// Each of several quantiles, all at once.
    Each(Vec<u64>),
}

impl Ranks {
    /// One number for each quantile.
    pub fn each(&self) -> &[u64] {
        match self {
            Self::One(rank) => std::slice::from_ref(rank),
            Self::Each(ranks) => ranks,
        }
    }
}

/// What a gap is counted in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GapUnit {
    /// Rows that have the value.
    Rows,
    /// People who have the value in any of their rows.
    People,
    /// Votes of blocks.
    Votes,
}

/// What bars say of each other that hold all at once.
pub const TOGETHER: &str = "the bars of all points hold at once";
/// The same where each group has points of its own.
pub const TOGETHER_IN_GROUP: &str = "the bars of all points of a group hold at once";

/// On what condition a bar holds, or what it does not cover.
#[derive(Clone, Debug, PartialEq)]
pub enum Condition {
    /// At most so many rows of each person take part, drawn at random: the bar is about them.
    Drawn(u64),
    /// All rows of each person, or of each of so many groups of a person's, were first made one value: the bar is about these.
    PerUnit {
        /// What they were made.
        fold: Fold,
        /// In at most so many groups, drawn at random.
        groups: Option<u64>,
    },
    /// An interval was bought, and from about so many rows on it would be of use.
    NoInterval(u64),
    /// Rows, or the answers of blocks, beyond this range count as its nearest end.
    LimitedTo([f64; 2]),
    /// The same for the second column, where there are two.
    SecondLimitedTo([f64; 2]),
    /// At most so many rows lie outside of that range, with the confidence of the bar but apart from it.
    Outside(u64),
    /// The same for each number of an answer that is a list, or for each column of a regression, the explained one last.
    EachLimitedTo(Vec<[f64; 2]>),
    /// Rows without a value count as this.
    EmptyAs(f64),
    /// Rows without a value count as the lowest one.
    EmptyLowest,
    /// So many rows have a value, as was stated.
    StatedRows(u64),
    /// Rows were rounded to at least so many significant digits, each on its own: the bar is about the rounded rows.
    RoundedTo(u32),
    /// It is about the population that the rows were drawn from, each on its own.
    Population,
    /// Anything else that was done on the way, as a clause.
    Given(String),
}

impl Condition {
    fn order(&self) -> u8 {
        match self {
            Self::Drawn(_) | Self::PerUnit { .. } => 0,
            Self::NoInterval(_) => 1,
            Self::LimitedTo(_) => 2,
            Self::SecondLimitedTo(_) => 3,
            Self::Outside(_) => 4,
            Self::EachLimitedTo(_) => 5,
            Self::EmptyAs(_) => 6,
            Self::EmptyLowest => 7,
            Self::StatedRows(_) => 8,
            Self::RoundedTo(_) => 9,
            Self::Population => 10,
            Self::Given(_) => 11,
        }
    }
}

impl ErrorBar {
    fn of_shape(confidence: f64, shape: Shape) -> Self {
        Self { shape, confidence, of: None, conditions: Vec::new() }
    }

    /// The answer is the true value.
    pub fn exact() -> Self {
        Self::of_shape(1.0, Shape::Exact)
    }

    /// The true value lies between these, as far as noise goes.
    pub fn noise(confidence: f64, low: f64, high: f64) -> Self {
        Self::noise_between(confidence, low.into(), high.into())
    }

    /// The same with ends that are no floats.
    pub fn noise_between(confidence: f64, low: Value, high: Value) -> Self {
        Self::of_shape(confidence, Shape::Noise(Between { low, high }))
    }

    /// Every number of the answer lies within this of the true one, as far as noise goes.
    pub fn within(confidence: f64, scale: f64) -> Self {
        Self::of_shape(confidence, Shape::Within(scale))
    }

    /// The answer lies so many ranks from the true value.
    pub fn rank(confidence: f64, rank: u64) -> Self {
        Self::of_shape(confidence, Shape::Rank(Ranks::One(rank)))
    }

    /// Several numbers lie so many ranks from the true ones, all at once.
    pub fn ranks(confidence: f64, ranks: &[u64]) -> Self {
        Self::of_shape(confidence, Shape::Rank(Ranks::Each(ranks.to_vec())))
    }

    /// A bar in ranks with an interval of values that holds the true one; any other bar stays as it is.
    #[must_use]
    pub fn with_interval(self, low: Value, high: Value) -> Self {
        let shape = match self.shape {
            Shape::Rank(ranks) => Shape::Interval { ranks, between: Between { low, high } },
            other => other,
        };
        Self { shape, ..self }
    }

    /// The answer has at most so many rows, or votes, fewer than the most frequent value.
    pub fn gap(confidence: f64, gap: u64, unit: GapUnit) -> Self {
        Self::of_shape(confidence, Shape::Gap { gap, unit })
    }

    /// The best option scores at most this much more than the answer.
    pub fn score(confidence: f64, gap: f64) -> Self {
        Self::of_shape(confidence, Shape::Score(gap))
    }

    /// Each label of the answer has at least so many votes of blocks, and each other one at most so many.
    pub fn votes(confidence: f64, least: u64, most: u64) -> Self {
        Self::of_shape(confidence, Shape::Votes { least, most })
    }

    /// The same bar about something else than the true value of the rows, as a noun.
    #[must_use]
    pub fn about(self, of: String) -> Self {
        Self { of: Some(of), ..self }
    }

    /// The same bar on one more condition, where there is one.
    #[must_use]
    pub fn on(mut self, condition: impl Into<Option<Condition>>) -> Self {
        self.conditions.extend(condition.into());
        // One order, so that a bar that was written and read again is the same.
        self.conditions.sort_by_key(Condition::order);
        self
    }

    /// The same bar with both ends mapped, where it has ends.
    #[must_use]
    pub fn map_ends(self, mut end: impl FnMut(Value) -> Value) -> Self {
        let mut mapped = |Between { low, high }: Between| Between { low: end(low), high: end(high) };
        let shape = match self.shape {
            Shape::Noise(between) => Shape::Noise(mapped(between)),
            Shape::Interval { ranks, between } => Shape::Interval { ranks, between: mapped(between) },
            other => other,
        };
        Self { shape, ..self }
    }

    /// The bar of one number of a list that all hold at once; a bar of one number as it is.
    #[must_use]
    pub fn at(&self, place: usize) -> Self {
        let end = |end: Value| match end {
            Value::Array(mut ends) if place < ends.len() => ends.swap_remove(place),
            Value::Array(_) => Value::Null,
            one => one,
        };
        let one = |ranks: Ranks| match ranks {
            Ranks::Each(each) if place < each.len() => Ranks::One(each[place]),
            other => other,
        };
        let bar = self.clone().map_ends(end);
        let shape = match bar.shape {
            Shape::Rank(ranks) => Shape::Rank(one(ranks)),
            Shape::Interval { ranks, between } => Shape::Interval { ranks: one(ranks), between },
            other => other,
        };
        Self { shape, ..bar }
    }

    /// In which way the answer may be off.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// With which probability the bar holds; 1 where the answer is exact.
    pub fn confidence(&self) -> f64 {
        self.confidence
    }

    /// What it is about, as a noun, where that is not the true value of the rows.
    pub fn subject(&self) -> Option<&str> {
        self.of.as_deref()
    }

    /// On what conditions it holds, and what it does not cover.
    pub fn conditions(&self) -> &[Condition] {
        &self.conditions
    }

    /// Do several ranks, intervals or counts hold all at once with this confidence?
    pub fn is_together(&self) -> bool {
        match &self.shape {
            Shape::Rank(ranks) | Shape::Interval { ranks, .. } => matches!(ranks, Ranks::Each(_)),
            Shape::Votes { .. } => true,
            Shape::Noise(between) => between.low.is_array(),
            Shape::Exact | Shape::Within(_) | Shape::Gap { .. } | Shape::Score(_) => false,
        }
    }

    /// Between which values the true one lies, where that is known.
    pub fn ends(&self) -> Option<&Between> {
        match &self.shape {
            Shape::Noise(between) | Shape::Interval { between, .. } => Some(between),
            _ => None,
        }
    }

    /// The same as numbers.
    pub fn numeric_ends(&self) -> Option<[f64; 2]> {
        let Between { low, high } = self.ends()?;
        Some([low.as_f64()?, high.as_f64()?])
    }

    /// How many ranks off the answer may be.
    pub fn in_ranks(&self) -> Option<&Ranks> {
        match &self.shape {
            Shape::Rank(ranks) | Shape::Interval { ranks, .. } => Some(ranks),
            _ => None,
        }
    }

    /// How many fewer the answer may have than the most frequent value.
    pub fn in_gap(&self) -> Option<u64> {
        match self.shape {
            Shape::Gap { gap, .. } => Some(gap),
            _ => None,
        }
    }

    /// The range beyond which rows count as its nearest end.
    pub fn limited_to(&self) -> Option<[f64; 2]> {
        self.conditions.iter().find_map(|condition| match condition {
            Condition::LimitedTo(range) => Some(*range),
            _ => None,
        })
    }

    /// The same of the second column, where there are two.
    pub fn second_limited_to(&self) -> Option<[f64; 2]> {
        self.conditions.iter().find_map(|condition| match condition {
            Condition::SecondLimitedTo(range) => Some(*range),
            _ => None,
        })
    }

    /// The same for each of several columns, or for each number of an answer that is a list.
    pub fn each_limited_to(&self) -> Option<&[[f64; 2]]> {
        self.conditions.iter().find_map(|condition| match condition {
            Condition::EachLimitedTo(ranges) => Some(ranges.as_slice()),
            _ => None,
        })
    }

    /// What rows without a value count as, where they count as a number.
    pub fn empty_as(&self) -> Option<f64> {
        self.conditions.iter().find_map(|condition| match condition {
            Condition::EmptyAs(number) => Some(*number),
            _ => None,
        })
    }
}
