//! The private aggregator of votes, ready for them: what it makes of the votes, and what its error bar covers.
//!
//! A bar is about the blocks' answers, and about nothing else: how far their mean lies from what a function gives on all rows
//! is a property of the function, which no noise tells. `covers` says so in every bar.

use super::{
    answered::{Answered, Seen},
    choose::Kind,
    output::{Output, Vote},
};
use crate::{
    answer::Answer,
    bar::{Condition, ErrorBar, GapUnit},
    release::Blocks,
    task::bar::Bar,
};
use equipoise_core::{
    coins::Coins,
    loss::{Approx, Loss},
    outcome::Outcome,
    ratio::Ratio,
    subsample::clip::Clip,
};
use serde_json::{Value, json};

/// An aggregator, ready for votes.
#[derive(Clone, Debug)]
pub(super) struct Aggregate {
    pub output: Output,
    pub kind: Kind,
    /// What a block without an answer counts as; nothing where its vote is for nobody.
    pub missing: Option<Vote>,
    /// Nothing where what is missing counts as was stated: then that is as good a vote as any.
    pub answered: Option<Answered>,
    pub options: Vec<String>,
    pub cost: Approx,
    pub failure: Ratio,
    pub confidence: f64,
    pub blocks: u64,
    pub size: Size,
}

/// How many rows or people are in a block, as far as that is public.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Size {
    /// What is dealt.
    pub of: &'static str,
    pub stated: Option<u64>,
    /// What was dealt, where its number is public.
    pub public: Option<u64>,
}

/// An answer, and what was found of the blocks behind it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Tallied {
    pub answer: Answer,
    pub blocks: Blocks,
}

impl Aggregate {
    pub fn cost(&self) -> &Approx {
        &self.cost
    }

    /// What everything costs together.
    pub fn loss(&self) -> Loss {
        let kind = self.kind.cost();
        self.answered.iter().fold(kind, |sum, answered| sum.compose(&answered.cost()))
    }

    /// The same where so many rows were dealt and that number is public.
    #[must_use]
    pub fn over_public(&self, rows: Option<u64>) -> Self {
        Self { size: Size { public: rows, ..self.size }, ..self.clone() }
    }

    /// What can be told beforehand, in words.
    pub fn expected(&self) -> String {
        let of = format!("the {} of {} blocks' answers", self.kind.name(), self.blocks);
        let spreads =
            |spreads: f64| format!("{of}, with noise of about {spreads:.2} standard deviations of an answer");
        let agree = "where three blocks of four agree";
        let what = match &self.kind {
            Kind::Trimmed { .. } => {
                format!("{of}, within {} of it", short_up(self.scale().unwrap_or_default()))
            }
            Kind::Bounded { .. } => {
                format!("{of}, each number within {} of it", short_up(self.scale().unwrap_or_default()))
            }
            Kind::Location { mean } => spreads(mean.noise_in_spreads()),
            Kind::Vectors { mean } => spreads(mean.noise_in_spreads()),
            Kind::Ball { mean, .. } => {
                format!("{}, or a refusal where they do not agree", spreads(mean.noise_in_spreads()))
            }
            Kind::Majority { election } => {
                let success = election.success_lower(&Ratio::new(3, 4)).to_f64();
                format!("{of}, exactly, or a refusal: released with probability {success:.2} {agree}")
            }
            Kind::Options { election, gap } => {
                let success = election.success_lower(&Ratio::new(3, 4)).to_f64();
                let many = self.options.len();
                format!(
                    "{of} among {many} options, or one with at most {gap} votes fewer: the most frequent one with \
                     probability {success:.2} {agree}"
                )
            }
            Kind::Counts { within, .. } => {
                let (least, most) = self.named_between(*within);
                format!(
                    "{of} for {} options: each that is released is named by at least {least} blocks, each other by at most {most}",
                    self.options.len()
                )
            }
        };
        match &self.answered {
            Some(answered) => format!("{what}; refused unless {}", answered.words()),
            None => format!("{what}; {}, as stated", self.missing_words()),
        }
    }

    /// The error bar of a released answer, where it is known beforehand.
    pub fn expected_error(&self) -> Option<ErrorBar> {
        match &self.kind {
            Kind::Trimmed { ends, .. } | Kind::Bounded { ends, .. } => {
                let bar = ErrorBar::within(self.confidence, self.scale()?);
                Some(self.covered(bar.on(Condition::LimitedTo([ends.0, ends.1]))))
            }
            Kind::Majority { .. } => Some(self.covered(ErrorBar::exact())),
            Kind::Options { gap, .. } => {
                Some(self.covered(ErrorBar::gap(self.confidence, *gap, GapUnit::Votes)))
            }
            Kind::Counts { within, .. } => Some(self.covered(self.votes_bar(*within))),
            Kind::Location { .. } | Kind::Ball { .. } | Kind::Vectors { .. } => None,
        }
    }

    /// How far noise and rounding go, where that is known beforehand.
    fn scale(&self) -> Option<f64> {
        match &self.kind {
            Kind::Trimmed { mean, ends } => {
                let within = mean.accuracy(&self.failure)?.to_f64();
                Some(with_rounding(within, &[ends.0, ends.1]))
            }
            Kind::Bounded { mean, ends } => {
                Some(with_rounding(mean.accuracy(&self.failure), &[ends.0, ends.1]))
            }
            _ => None,
        }
    }

    /// The answer from the votes, nothing where there is none. Never fails.
    pub fn answer<C: Coins>(&self, votes: &[Option<Vote>], coins: &mut C) -> Tallied {
        let fits = |vote: &&Vote| vote.answers(self.output);
        let given: Vec<Option<&Vote>> = votes.iter().map(|vote| vote.as_ref().filter(fits)).collect();
        let count = given.iter().flatten().count();
        let seen = self.answered.as_ref().map(|answered| answered.run(count, coins));
        let filled: Vec<Option<&Vote>> =
            given.into_iter().map(|vote| vote.or(self.missing.as_ref())).collect();
        let answer = self.aggregated(&filled, coins);
        let answer = if seen.is_none_or(|seen| seen.enough) { answer } else { self.too_few_answered() };
        Tallied { answer, blocks: self.told_of_blocks(seen) }
    }

    fn aggregated<C: Coins>(&self, votes: &[Option<&Vote>], coins: &mut C) -> Answer {
        match &self.kind {
            Kind::Trimmed { mean, ends } => {
                let value = mean.run(&numbers(votes), coins).to_f64();
                // The mean of what was limited lies between the ends, so that the bar may be cut there.
                let bar = Bar::near(value, self.scale().unwrap_or_default()).between(ends.0, ends.1);
                self.number(bar, Some([ends.0, ends.1]))
            }
            Kind::Location { mean } => {
                let located = mean.run(&numbers(votes), coins);
                let Clip { low, high } = located.clip;
                let within = with_rounding(mean.accuracy(&located.clip, &self.failure), &[low, high]);
                self.number(Bar::near(located.value, within), Some([low, high]))
            }
            Kind::Ball { mean, single } => match mean.run(&vectors(votes), coins) {
                Outcome::Refused => self.too_few_agree(),
                Outcome::Value(found) => {
                    let within = with_rounding(mean.accuracy(&self.failure) * found.radius, &found.value);
                    if *single {
                        self.number(Bar::near(found.value[0], within), None)
                    } else {
                        self.vector(&found.value, within, None)
                    }
                }
            },
            Kind::Bounded { mean, ends } => {
                let middle = f64::midpoint(ends.0, ends.1);
                let moved =
                    |vote: Vec<f64>| vote.iter().map(|value| value.clamp(ends.0, ends.1) - middle).collect();
                let votes: Vec<Vec<f64>> = vectors(votes).into_iter().map(moved).collect();
                let value: Vec<f64> = mean.run(&votes, coins).iter().map(|value| value + middle).collect();
                let limited = Condition::LimitedTo([ends.0, ends.1]);
                self.vector(&value, self.scale().unwrap_or_default(), Some(limited))
            }
            Kind::Vectors { mean } => {
                let found = mean.run(&vectors(votes), coins);
                let widest = found.clips.iter().map(Clip::width).fold(0.0, f64::max);
                let ranges: Vec<[f64; 2]> = found.clips.iter().map(|clip| [clip.low, clip.high]).collect();
                let within = with_rounding(mean.accuracy(&self.failure) * widest, ranges.as_flattened());
                self.vector(&found.value, within, Some(Condition::EachLimitedTo(ranges)))
            }
            Kind::Majority { election } => {
                let votes: Vec<Option<Elected>> =
                    votes.iter().map(|vote| self.elected_by((*vote)?)).collect();
                match election.run_some(&votes, coins) {
                    Outcome::Value(Some(elected)) => {
                        Answer::released(elected.into_json(), self.covered(ErrorBar::exact()))
                    }
                    Outcome::Value(None) | Outcome::Refused => self.too_few_agree(),
                }
            }
            Kind::Options { election, gap } => {
                let place = |vote: Option<&Vote>| match vote {
                    Some(Vote::Listed(place)) => Some(*place as u64),
                    _ => None,
                };
                let votes: Vec<Option<u64>> = votes.iter().copied().map(place).collect();
                let named = usize::try_from(election.run(&votes, coins).option).unwrap_or_default();
                let bar = ErrorBar::gap(self.confidence, *gap, GapUnit::Votes);
                Answer::released(json!(self.options[named]), self.covered(bar))
            }
            Kind::Counts { counts, within } => {
                let votes: Vec<Vec<usize>> = votes.iter().copied().map(named_places).collect();
                let named: Vec<&String> =
                    counts.run(&votes, coins).into_iter().map(|(place, _)| &self.options[place]).collect();
                Answer::released(json!(named), self.covered(self.votes_bar(*within)))
            }
        }
    }

    fn elected_by(&self, vote: &Vote) -> Option<Elected> {
        match vote {
            Vote::Label(label) => Some(Elected::Label(label.clone())),
            Vote::Labels(labels) => Some(Elected::Labels(labels.clone())),
            Vote::Listed(place) => self.options.get(*place).cloned().map(Elected::Label),
            Vote::Number(_) | Vote::Vector(_) | Vote::Named(_) => None,
        }
    }

    fn number(&self, bar: Bar, range: Option<[f64; 2]>) -> Answer {
        let error = ErrorBar::noise(self.confidence, bar.low, bar.high);
        Answer::number(bar.value, self.covered(error.on(range.map(Condition::LimitedTo))))
    }

    fn vector(&self, value: &[f64], within: f64, limited: Option<Condition>) -> Answer {
        if !value.iter().chain([&within]).all(|value| value.is_finite()) {
            return Answer::refused(
                "the answer is beyond what a 64-bit float can hold; let the program scale it",
            );
        }
        Answer::released(json!(value), self.covered(ErrorBar::within(self.confidence, within).on(limited)))
    }

    /// An option that is released is named by more than half of the blocks up to noise, every other by at most half.
    pub(super) fn named_between(&self, within: u64) -> (u64, u64) {
        let half = self.blocks / 2;
        ((half + 1).saturating_sub(within), half.saturating_add(within).min(self.blocks))
    }

    fn votes_bar(&self, within: u64) -> ErrorBar {
        let (least, most) = self.named_between(within);
        ErrorBar::votes(self.confidence, least, most)
    }

    /// The same bar, and what it is about.
    fn covered(&self, bar: ErrorBar) -> ErrorBar {
        let blocks = self.blocks;
        let of = match &self.kind {
            Kind::Trimmed { .. } => format!("the trimmed mean of {blocks} blocks' answers"),
            Kind::Location { .. } | Kind::Bounded { .. } | Kind::Vectors { .. } => {
                format!("the mean of {blocks} blocks' answers")
            }
            Kind::Ball { .. } => {
                format!(
                    "the weighted mean of those of {blocks} blocks' answers that lie close to most others"
                )
            }
            Kind::Majority { .. } | Kind::Options { .. } => {
                format!("the most frequent answer of {blocks} blocks")
            }
            Kind::Counts { .. } => format!("the options that more than half of {blocks} blocks name"),
        };
        let Size { of: dealt, stated, public } = self.size;
        let each = |rows: u64| format!(", each from about {} {dealt}", (rows + blocks / 2) / blocks);
        let each = match (public, stated) {
            (Some(rows), _) => each(rows),
            (None, Some(rows)) => format!("{}, as stated", each(rows)),
            (None, None) => String::new(),
        };
        let given = self.limits(&bar).into_iter().chain([self.missing_words()]);
        given.fold(bar.about(format!("{of}{each}")), |bar, clause| bar.on(Condition::Given(clause)))
    }

    /// What was done to answers before they were put together.
    fn limits(&self, bar: &ErrorBar) -> Vec<String> {
        /// So many ranges are shown.
        const MANY: usize = 4;
        let between = |[low, high]: &[f64; 2]| format!("{} to {}", plain(*low), plain(*high));
        let range = bar.limited_to().as_ref().map(between).unwrap_or_default();
        let ranges = bar.conditions().iter().find_map(|condition| match condition {
            Condition::EachLimitedTo(ranges) => Some(ranges),
            _ => None,
        });
        match &self.kind {
            Kind::Trimmed { .. } => {
                let trimmed = super::choose::trimmed(self.blocks);
                let left_out = format!("the {trimmed} lowest and the {trimmed} highest are left out");
                vec![format!("answers are limited to {range}"), left_out]
            }
            Kind::Bounded { .. } => vec![format!("each number is limited to {range}")],
            Kind::Location { .. } => vec![format!("answers are limited to {range}, a range found privately")],
            Kind::Vectors { .. } => match ranges {
                Some(ranges) if ranges.len() <= MANY => {
                    let ranges: Vec<String> = ranges.iter().map(between).collect();
                    vec![format!("in turn limited to {}, ranges found privately", ranges.join(", "))]
                }
                _ => vec!["each number is limited to a range found privately, which JSON tells".to_string()],
            },
            Kind::Majority { .. } => vec!["of equally frequent ones the first in order".to_string()],
            Kind::Ball { .. } | Kind::Options { .. } | Kind::Counts { .. } => Vec::new(),
        }
    }

    /// What stands for a block without an answer.
    fn missing_words(&self) -> String {
        /// So many numbers or labels are shown.
        const MANY: usize = 8;
        let counts = "blocks without an answer count";
        match self.missing.as_ref() {
            None => format!("{counts} for none"),
            Some(Vote::Number(value)) => format!("{counts} as {}", plain(*value)),
            Some(Vote::Vector(values)) if values.iter().all(|value| value.total_cmp(&values[0]).is_eq()) => {
                format!("{counts} as {} in every place", plain(values[0]))
            }
            Some(Vote::Vector(values)) if values.len() > MANY => format!("{counts} as the stated default"),
            Some(Vote::Vector(values)) => {
                let values: Vec<String> = values.iter().map(|&value| plain(value)).collect();
                format!("{counts} as {}", values.join(", "))
            }
            Some(vote) => match self.shown(vote) {
                Value::Array(names) if names.is_empty() => format!("{counts} as naming none"),
                Value::Array(names) if names.len() > MANY => format!("{counts} as the stated default"),
                Value::Array(names) => {
                    let names: Vec<&str> = names.iter().filter_map(Value::as_str).collect();
                    format!("{counts} as {}", names.join(", "))
                }
                one => format!("{counts} as {}", one.as_str().unwrap_or_default()),
            },
        }
    }

    /// A vote as it was answered.
    fn shown(&self, vote: &Vote) -> Value {
        match vote {
            Vote::Number(value) => json!(value),
            Vote::Vector(values) => json!(values),
            Vote::Label(label) => json!(label),
            Vote::Labels(labels) => json!(labels),
            Vote::Listed(place) => json!(self.options.get(*place)),
            Vote::Named(_) => {
                let names = named_places(Some(vote)).into_iter().filter_map(|place| self.options.get(place));
                json!(names.collect::<Vec<_>>())
            }
        }
    }

    fn told_of_blocks(&self, seen: Option<Seen>) -> Blocks {
        Blocks {
            count: self.blocks,
            answered: seen.map(|seen| seen.noisy),
            answered_within: self.answered.as_ref().map(Answered::within),
            confidence: self.confidence,
            missing_as: self.missing.as_ref().map_or(Value::Null, |vote| self.shown(vote)),
            default_stated: self.answered.is_none(),
        }
    }

    fn too_few_agree(&self) -> Answer {
        Answer::refused(format!(
            "too few of the {} blocks agree; use fewer and larger blocks, a coarser answer, or a larger epsilon",
            self.blocks
        ))
    }

    fn too_few_answered(&self) -> Answer {
        let words = self.answered.as_ref().map(Answered::words).unwrap_or_default();
        Answer::refused(format!(
            "too few blocks seem to have answered: it takes that {words}; try it on made-up rows of the same columns, with more \
             time, memory or rows in a block, or state a `default`"
        ))
    }
}

/// What can win an election without options.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Elected {
    Label(String),
    Labels(Vec<String>),
}

impl Elected {
    fn into_json(self) -> Value {
        match self {
            Self::Label(label) => json!(label),
            Self::Labels(labels) => json!(labels),
        }
    }
}

impl Vote {
    /// Is it of the kind that was said?
    fn answers(&self, output: Output) -> bool {
        match self {
            Self::Number(_) => output == Output::Number,
            Self::Vector(values) => output == Output::Vector(values.len()),
            Self::Label(_) | Self::Listed(_) => output == Output::Label,
            Self::Labels(_) | Self::Named(_) => output == Output::Labels,
        }
    }
}

/// Numbers; what is missing was filled.
fn numbers(votes: &[Option<&Vote>]) -> Vec<f64> {
    let number = |vote: Option<&Vote>| match vote {
        Some(Vote::Number(value)) => *value,
        _ => 0.0,
    };
    votes.iter().copied().map(number).collect()
}

/// Numbers are vectors of one coordinate.
fn vectors(votes: &[Option<&Vote>]) -> Vec<Vec<f64>> {
    let vector = |vote: Option<&Vote>| match vote {
        Some(Vote::Vector(value)) => value.clone(),
        Some(Vote::Number(value)) => vec![*value],
        _ => Vec::new(),
    };
    votes.iter().copied().map(vector).collect()
}

/// The places of the options that a vote names.
fn named_places(vote: Option<&Vote>) -> Vec<usize> {
    match vote {
        Some(Vote::Named(named)) => (0..named.len()).filter(|&place| named[place]).collect(),
        _ => Vec::new(),
    }
}

/// What floats of this size lose on the way to steps and back, added to an error.
fn with_rounding(within: f64, near: &[f64]) -> f64 {
    let largest = near.iter().fold(0.0f64, |largest, end| largest.max(end.abs()));
    (within + 8.0 * f64::EPSILON * largest).next_up()
}

/// A number for words.
fn plain(value: f64) -> String {
    let text = json!(value).to_string();
    text.strip_suffix(".0").map_or(text.clone(), str::to_string)
}

/// An error for words, in four digits and not below itself.
fn short_up(error: f64) -> String {
    let up = (error * 1e4).ceil() / 1e4;
    format!("{up:.4}")
}
