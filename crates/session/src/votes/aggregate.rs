//! The private aggregator of votes, ready for them: what it makes of the votes, and what its error bar covers.
//!
//! A bar is about the blocks' answers, and about nothing else: how far their mean lies from what a function gives on all rows
//! is a property of the function, which no noise tells. `covers` says so in every bar.

use super::{
    VotePlan,
    answered::{Answered, Seen},
    choose::Kind,
    numeric::{STEPS, numbers, vectors},
    output::{Output, Vote},
};
use crate::{
    answer::Answer,
    bar::{Condition, ErrorBar, GapUnit, alone},
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
    /// Nothing where what is missing counts as was stated: then that is as good a vote as any. Nothing for samples either, where
    /// it is one more vote.
    pub answered: Option<Answered>,
    pub default_stated: bool,
    pub options: Vec<String>,
    pub cost: Approx,
    pub failure: Ratio,
    pub confidence: f64,
    pub blocks: u64,
    pub size: Size,
}

/// How many rows or people are in a block, as far as that is public.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Size {
    /// What is dealt.
    pub of: &'static str,
    pub stated: Option<u64>,
    /// What was dealt, where its number is public.
    pub public: Option<u64>,
    /// The share of them in one block.
    pub share: f64,
}

/// An answer, and what was found of the blocks behind it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Tallied {
    pub answer: Answer,
    pub blocks: Blocks,
}

impl Tallied {
    /// The same where the blocks chose an analysis first.
    pub fn chosen(self, plan: &VotePlan, analysis: Option<String>) -> Self {
        let (Some(name), Some(analyses)) = (analysis, plan.analyses()) else { return self };
        let gap = analyses.gap();
        let clause = format!("the analysis {name} was chosen; at most {gap} blocks more name another one");
        let mut answer = self.answer;
        answer.error = answer.error.map(|bar| bar.on(Condition::Given(clause)));
        let blocks = Blocks { analysis: Some(name), analysis_gap: Some(gap), ..self.blocks };
        Self { answer, blocks }
    }
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

    /// The same where a block has this share of the rows.
    #[must_use]
    pub fn with_share(self, share: f64) -> Self {
        Self { size: Size { share, ..self.size }, ..self }
    }

    /// The share of the rows in a block.
    pub fn share(&self) -> f64 {
        self.size.share
    }

    /// What votes come from.
    fn voters(&self) -> &'static str {
        if self.kind.is_sampled() { "samples" } else { "blocks" }
    }

    /// What can be told beforehand, in words.
    pub fn expected(&self) -> String {
        let of = format!("the {} of {} {}' answers", self.kind.name(), self.blocks, self.voters());
        let spreads =
            |spreads: f64| format!("{of}, with noise of about {spreads:.2} standard deviations of an answer");
        let agree = "where three blocks of four agree";
        let what = match &self.kind {
            Kind::Ranged { .. } => {
                format!("{of}, within {} of it", short_up(self.scale().unwrap_or_default()))
            }
            Kind::Median { median } => {
                let rounded = median.digits();
                let rounded = rounded
                    .map_or(String::new(), |digits| format!(", rounded to {digits} significant digits"));
                format!("{of}{rounded}, within {} ranks of it", median.ranks)
            }
            Kind::Consensus { bound, .. } => {
                let within = short_up(self.scale().unwrap_or_default());
                format!("{of} within {} of each other: within {within} of it, or a refusal", plain(*bound))
            }
            Kind::Grid { grids, .. } => {
                format!("{of}, of width {}, or a refusal where too few agree", grids.words())
            }
            Kind::Bounded { .. } => {
                format!("{of}, each number within {} of it", short_up(self.scale().unwrap_or_default()))
            }
            Kind::Location { mean } => spreads(mean.noise_in_spreads()),
            Kind::Vectors { mean } => spreads(mean.noise_in_spreads()),
            Kind::Ball { mean, .. } => {
                format!("{}, or a refusal where they do not agree", spreads(mean.noise_in_spreads()))
            }
            Kind::Bootstrap { election } => {
                let success = election.success_lower(&Ratio::new(3, 4)).to_f64();
                let size = self.sample_words();
                format!(
                    "{of}, exactly, or a refusal: {} evaluations, each of {size}; released with probability {success:.2} {agree}",
                    self.blocks
                )
            }
            Kind::Printed { .. } | Kind::Sa { .. } => {
                let size = self.sample_words();
                format!("{of}, exactly, or a refusal: {} evaluations, each of {size}", self.blocks)
            }
            Kind::Majority { election } => {
                let success = election.success_lower(&Ratio::new(3, 4)).to_f64();
                format!("{of}, exactly, or a refusal: released with probability {success:.2} {agree}")
            }
            Kind::Options { election, gap, popularity } => {
                let success = election.success_lower(&Ratio::new(3, 4)).to_f64();
                let many = self.options.len();
                let popular = popularity
                    .map_or(String::new(), |within| format!("; how many votes it has, within {within}"));
                format!(
                    "{of} among {many} options, or one with at most {gap} votes fewer: the most frequent one with \
                     probability {success:.2} {agree}{popular}"
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
            None if self.default_stated => format!("{what}; {}, as stated", self.missing_words()),
            None => format!("{what}; {}", self.missing_words()),
        }
    }

    /// How much of the rows a sample has, in words.
    fn sample_words(&self) -> String {
        let Size { of, stated, public, share } = self.size;
        match public.or(stated) {
            Some(rows) => format!("about {} {of}", (rows as f64 * share).round()),
            None => format!("about {share:.2e} of the {of}"),
        }
    }

    /// The error bar of a released answer, where it is known beforehand.
    pub fn expected_error(&self) -> Option<ErrorBar> {
        match &self.kind {
            Kind::Ranged { ends, .. } | Kind::Bounded { ends, .. } | Kind::Consensus { ends, .. } => {
                let bar = ErrorBar::within(self.confidence, self.scale()?);
                Some(self.covered(bar.on(Condition::LimitedTo([ends.0, ends.1]))))
            }
            Kind::Median { median } => {
                let limits = median.ends.map(|ends| Condition::LimitedTo([ends.0, ends.1]));
                Some(self.covered(ErrorBar::rank(self.confidence, median.ranks).on(limits)))
            }
            Kind::Majority { .. } | Kind::Bootstrap { .. } | Kind::Printed { .. } | Kind::Sa { .. } => {
                Some(self.covered(ErrorBar::exact()))
            }
            Kind::Options { gap, .. } => {
                Some(self.covered(ErrorBar::gap(self.confidence, *gap, GapUnit::Votes)))
            }
            Kind::Counts { within, .. } => Some(self.covered(self.votes_bar(*within))),
            Kind::Location { .. } | Kind::Ball { .. } | Kind::Vectors { .. } | Kind::Grid { .. } => None,
        }
    }

    /// How far noise and rounding go, where that is known beforehand.
    fn scale(&self) -> Option<f64> {
        match &self.kind {
            Kind::Ranged { mean, ends, .. } => {
                let within = mean.accuracy(&self.failure)?.to_f64();
                Some(with_rounding(within, &[ends.0, ends.1]))
            }
            Kind::Consensus { median, ends, .. } => {
                // Votes are rounded by up to half a step.
                let steps = (median.accuracy(&self.failure) + Ratio::new(1, 2)).to_f64();
                Some(with_rounding(steps * step_of(*ends), &[ends.0, ends.1]))
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
        let mut answer = if seen.is_none_or(|seen| seen.enough) { answer } else { self.too_few_answered() };
        let mut blocks = self.told_of_blocks(seen);
        // How popular an option is stands with the blocks that voted.
        if let (Kind::Options { popularity: Some(within), .. }, Some(votes)) =
            (&self.kind, answer.rows.take())
        {
            (blocks.votes, blocks.votes_within) = (Some(votes), Some(*within));
        }
        Tallied { answer, blocks }
    }

    fn aggregated<C: Coins>(&self, votes: &[Option<&Vote>], coins: &mut C) -> Answer {
        match &self.kind {
            Kind::Ranged { mean, ends, .. } => {
                let value = mean.run(&numbers(votes), coins).to_f64();
                self.in_range(value, *ends)
            }
            Kind::Median { median } => {
                let value = median.run(&numbers(votes), coins);
                let limits = median.ends.map(|ends| Condition::LimitedTo([ends.0, ends.1]));
                let bar = ErrorBar::rank(self.confidence, median.ranks).on(limits);
                Answer::number(value, self.covered(bar))
            }
            Kind::Consensus { median, ends, .. } => {
                let step = step_of(*ends);
                let place = |value: f64| steps_from(value, ends.0, step);
                let votes: Vec<i64> = numbers(votes).into_iter().map(place).collect();
                match median.run(&votes, coins) {
                    Outcome::Refused => self.too_few_agree(),
                    Outcome::Value(steps) => self.in_range(ends.0 + steps as f64 * step, *ends),
                }
            }
            Kind::Grid { grids, single } => match grids.run(votes, coins) {
                Outcome::Refused => self.too_few_agree(),
                Outcome::Value((middle, width)) => self.cell(&middle, width, *single),
            },
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
                let votes: Vec<Option<Elected>> = self.elected(votes);
                self.most_frequent(election.run_some(&votes, coins))
            }
            Kind::Bootstrap { election } => {
                let votes: Vec<Option<Elected>> = self.elected(votes);
                self.most_frequent(election.run(&votes, coins))
            }
            Kind::Printed { form } => {
                let votes: Vec<Option<Elected>> = self.elected(votes);
                self.most_frequent(form.run(Some(&votes), coins))
            }
            Kind::Sa { form, .. } => {
                let votes: Vec<Option<Elected>> = self.elected(votes);
                self.most_frequent(form.run(&votes, coins))
            }
            Kind::Options { election, gap, .. } => {
                let place = |vote: Option<&Vote>| match vote {
                    Some(Vote::Listed(place)) => Some(*place as u64),
                    _ => None,
                };
                let votes: Vec<Option<u64>> = votes.iter().copied().map(place).collect();
                let elected = election.run(&votes, coins);
                let named = usize::try_from(elected.option).unwrap_or_default();
                let bar = ErrorBar::gap(self.confidence, *gap, GapUnit::Votes);
                let answer = Answer::released(json!(self.options[named]), self.covered(bar));
                Answer { rows: elected.popularity, ..answer }
            }
            Kind::Counts { counts, within } => {
                let votes: Vec<Vec<usize>> = votes.iter().copied().map(named_places).collect();
                let named: Vec<&String> =
                    counts.run(&votes, coins).into_iter().map(|(place, _)| &self.options[place]).collect();
                Answer::released(json!(named), self.covered(self.votes_bar(*within)))
            }
        }
    }

    fn elected(&self, votes: &[Option<&Vote>]) -> Vec<Option<Elected>> {
        votes.iter().map(|vote| self.elected_by((*vote)?)).collect()
    }

    /// What was elected; that most gave no answer is none.
    fn most_frequent(&self, elected: Outcome<Option<Elected>>) -> Answer {
        match elected {
            Outcome::Value(Some(elected)) => {
                Answer::released(elected.into_json(), self.covered(ErrorBar::exact()))
            }
            Outcome::Value(None) | Outcome::Refused => self.too_few_agree(),
        }
    }

    /// A number with its noise, known to lie in a range.
    fn in_range(&self, value: f64, ends: (f64, f64)) -> Answer {
        // The mean or median of what was limited lies between the ends, so that the bar may be cut there.
        let bar = Bar::near(value, self.scale().unwrap_or_default()).between(ends.0, ends.1);
        self.number(bar, Some([ends.0, ends.1]))
    }

    /// The middle of a cell, which holds all answers that lie in it.
    fn cell(&self, middle: &[f64], width: f64, single: bool) -> Answer {
        let within = with_rounding(width / 2.0, middle);
        let bar = if single {
            let bar = Bar::near(middle[0], within);
            ErrorBar::noise(1.0, bar.low, bar.high)
        } else {
            ErrorBar::within(1.0, within)
        };
        if !middle.iter().chain([&within]).all(|value| value.is_finite()) {
            return self.too_large();
        }
        let value = if single { json!(middle[0]) } else { json!(middle) };
        Answer::released(
            value,
            self.covered(bar.on(Condition::Given(format!("cells have the width {}", plain(width))))),
        )
    }

    fn elected_by(&self, vote: &Vote) -> Option<Elected> {
        match vote {
            Vote::Label(label) => Some(Elected::Label(label.clone())),
            Vote::Labels(labels) => Some(Elected::Labels(labels.clone())),
            Vote::Listed(place) => self.options.get(*place).cloned().map(Elected::Label),
            Vote::Named(_) => {
                let names = named_places(Some(vote)).into_iter().filter_map(|place| self.options.get(place));
                Some(Elected::Labels(names.cloned().collect()))
            }
            Vote::Number(_) | Vote::Vector(_) => None,
        }
    }

    fn number(&self, bar: Bar, range: Option<[f64; 2]>) -> Answer {
        let error = ErrorBar::noise(self.confidence, bar.low, bar.high);
        Answer::number(bar.value, self.covered(error.on(range.map(Condition::LimitedTo))))
    }

    fn vector(&self, value: &[f64], within: f64, limited: Option<Condition>) -> Answer {
        if !value.iter().chain([&within]).all(|value| value.is_finite()) {
            return self.too_large();
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
            Kind::Ranged { winsorized: false, .. } => format!("the trimmed mean of {blocks} blocks' answers"),
            Kind::Ranged { winsorized: true, .. } => {
                format!("the winsorized mean of {blocks} blocks' answers")
            }
            Kind::Median { .. } | Kind::Consensus { .. } => format!("the median of {blocks} blocks' answers"),
            Kind::Grid { .. } => format!("the cell that most of {blocks} blocks' answers lie in"),
            Kind::Bootstrap { .. } | Kind::Printed { .. } | Kind::Sa { .. } => {
                format!("the most frequent answer of {blocks} samples")
            }
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
        let Size { of: dealt, stated, public, share } = self.size;
        let each = |rows: u64| format!(", each from about {} {dealt}", (rows as f64 * share).round());
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
        // Nobody typed these, and JSON has all digits.
        let found = |[low, high]: &[f64; 2]| format!("{} to {}", alone(*low), alone(*high));
        let ranges = bar.conditions().iter().find_map(|condition| match condition {
            Condition::EachLimitedTo(ranges) => Some(ranges),
            _ => None,
        });
        match &self.kind {
            Kind::Ranged { trim, winsorized, .. } => {
                let done = if *winsorized { "are moved to the nearest other" } else { "are left out" };
                let at_ends = format!("the {trim} lowest and the {trim} highest {done}");
                let limited = format!("answers are limited to {range}");
                if *trim == 0 { vec![limited] } else { vec![limited, at_ends] }
            }
            Kind::Median { median } if median.ends.is_none() => {
                let rounded = |digits: u32| format!("answers are rounded to {digits} significant digits");
                median.digits().map(rounded).into_iter().collect()
            }
            Kind::Median { .. } | Kind::Consensus { .. } => vec![format!("answers are limited to {range}")],
            Kind::Bounded { .. } => vec![format!("each number is limited to {range}")],
            Kind::Location { .. } => {
                let range = bar.limited_to().as_ref().map(found).unwrap_or_default();
                vec![format!("answers are limited to {range}, a range found privately")]
            }
            Kind::Vectors { .. } => match ranges {
                Some(ranges) if ranges.len() <= MANY => {
                    let ranges: Vec<String> = ranges.iter().map(found).collect();
                    vec![format!("in turn limited to {}, ranges found privately", ranges.join(", "))]
                }
                _ => vec!["each number is limited to a range found privately, which JSON tells".to_string()],
            },
            Kind::Majority { .. } | Kind::Bootstrap { .. } | Kind::Printed { .. } | Kind::Sa { .. } => {
                vec!["of equally frequent ones the first in order".to_string()]
            }
            Kind::Ball { .. } | Kind::Grid { .. } | Kind::Options { .. } | Kind::Counts { .. } => Vec::new(),
        }
    }

    /// What stands for a block without an answer.
    fn missing_words(&self) -> String {
        /// So many numbers or labels are shown.
        const MANY: usize = 8;
        let counts = format!("{} without an answer count", self.voters());
        match self.missing.as_ref() {
            None if self.kind.is_sampled() => format!("{counts} as one answer more, which is never released"),
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
    pub(super) fn shown(&self, vote: &Vote) -> Value {
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
            default_stated: self.default_stated,
            votes: None,
            votes_within: None,
            analysis: None,
            analysis_gap: None,
        }
    }

    #[expect(clippy::unused_self, reason = "one of the refusals of an aggregate")]
    fn too_large(&self) -> Answer {
        Answer::refused("the answer is beyond what a 64-bit float can hold; let the program scale it")
    }

    fn too_few_agree(&self) -> Answer {
        Answer::refused(format!(
            "too few of the {} {} agree; {}, a coarser answer, or a larger epsilon",
            self.blocks,
            self.voters(),
            if self.kind.is_sampled() { "use larger samples" } else { "use fewer and larger blocks" }
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

/// A range is cut into steps of this length.
fn step_of(ends: (f64, f64)) -> f64 {
    (ends.1 - ends.0) / STEPS as f64
}

/// The nearest step to a number, inside the range; each number on its own.
fn steps_from(value: f64, low: f64, step: f64) -> i64 {
    #[expect(clippy::cast_possible_truncation, reason = "between zero and the number of steps")]
    let place = ((value - low) / step).round().clamp(0.0, STEPS as f64) as i64;
    place
}
