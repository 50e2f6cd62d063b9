//! What a plan will do: each statistic's mechanism, ready to run on what a scan has gathered.
//!
//! `Answering` is what all of them do; `Task` is the one place where it is dispatched. `Coins` is not object-safe, so that audits
//! run the same generic code on a tape: hence an enum and a macro, and no `dyn`.

#[cfg(test)]
mod audits;
pub(crate) mod bar;
mod bins;
pub(crate) mod candidates;
mod cell_quantiles;
mod choice;
mod clip;
mod count;
#[cfg(test)]
mod coverage;
#[cfg(test)]
mod cut_bars;
mod distinct;
mod divisor;
mod drawn_edges;
mod each;
mod ecdf;
mod edges;
mod ends;
mod even;
mod exact;
mod extreme;
mod groups;
mod guard;
mod histogram;
mod holding;
mod measured;
mod mode;
mod moments;
mod noise;
pub(crate) mod pairs;
mod population;
mod quantiles;
pub(crate) mod regression;
mod scale;
mod select;
mod sensitivity_noise;
mod spread;
mod stages;
mod summary;
mod sums;
mod texts;
pub(crate) mod together;
mod top;
#[cfg(test)]
mod typed_audits;
#[cfg(test)]
mod vocabulary_audits;

use crate::{
    answer::Answer,
    bar::ErrorBar,
    error::PlanError,
    need::Need,
    planned::PredictedError,
    resolved::ResolvedRequest,
    row_facts::{Ask, RowFacts},
    source::ColumnRead,
    statistic::{Argument, Statistic},
};
pub(crate) use clip::Lattice;
use equipoise_core::{coins::Coins, loss::Loss};
pub(crate) use holding::DOUBT;
pub(crate) use moments::{Fineness, Pooled};
use serde_json::Value;
use stages::SharedRange;
use std::collections::BTreeMap;
pub(crate) use summary::SUMMARY;

/// What a statistic does once its mechanism is calibrated from public facts.
pub(crate) trait Answering {
    /// The name of the mechanism.
    fn mechanism(&self) -> &'static str;

    /// What a run costs under the adjacency that was asked for.
    fn cost(&self) -> Loss;

    /// The same in parts that [`composed`](crate::plan) prices add up, each in the family that describes it best; what a part loses
    /// does not depend on what the others answered, whatever else does.
    fn losses(&self) -> Vec<Loss> {
        vec![self.cost()]
    }

    /// What it needs of the rows.
    fn needs(&self) -> Vec<Need>;

    /// What can be told beforehand.
    fn expected(&self) -> Expected;

    /// The answer. Never fails, whatever was gathered.
    fn answer<C: Coins>(&self, gathered: &dyn RowFacts, coins: &mut C) -> Answer;

    /// What it will ask of each group, as far as that is known once the range that they share is: so that it can be found for all groups
    /// together. Nothing rests on it but speed.
    fn asks(&self, _shared: Option<&SharedRange>) -> Vec<Ask> {
        Vec::new()
    }

    /// What it needs of all rows where there are groups, to find a range for all of them.
    fn shared_need(&self) -> Option<Need> {
        None
    }

    /// The range that all groups share. It costs each of them what it would cost a single one to find its own.
    fn shared<C: Coins>(&self, _all: &dyn RowFacts, _coins: &mut C) -> Option<SharedRange> {
        None
    }

    /// The answer of one group.
    fn answer_group<C: Coins>(
        &self,
        _shared: Option<&SharedRange>,
        group: &dyn RowFacts,
        coins: &mut C,
    ) -> Answer {
        self.answer(group, coins)
    }

    /// One answer for each question that it answers, of one group.
    fn answers_group<C: Coins>(
        &self,
        shared: Option<&SharedRange>,
        group: &dyn RowFacts,
        coins: &mut C,
    ) -> Vec<Answer> {
        vec![self.answer_group(shared, group, coins)]
    }

    /// What answers are, where they are no plain numbers or texts: `date`, `decimal:2`, or what they are measured in.
    fn answer_type(&self) -> Option<String> {
        None
    }

    /// The columns that it groups by.
    fn group_by(&self) -> &[ColumnRead] {
        &[]
    }

    /// From how many rows on a key is named in 19 cases of 20, where keys are found.
    fn keys_from(&self) -> Option<u64> {
        None
    }

    /// How many answers it has for each group.
    fn answers(&self) -> usize {
        1
    }

    /// How far off the answer will be, in rows, ranks or the column's unit, where public facts tell.
    fn predicted(&self) -> Option<f64> {
        None
    }

    /// How far noise moves a sum, mean or variance, as a share of a range that may be known only later: less is better.
    fn noise_share(&self) -> Option<f64> {
        None
    }

    /// How far off the answer will be in the column's unit, if the rows lie evenly over a declared range.
    fn likely(&self) -> Option<PredictedError> {
        None
    }

    /// From how many rows on all of it is released, about, where public facts tell.
    fn rows_needed(&self) -> Option<u64> {
        None
    }

    /// From how many rows on it is refused as seldom as its bar fails: what is needed, and as many more as noise may take away.
    fn rows_assured(&self) -> Option<u64> {
        self.rows_needed()
    }

    /// How far off the number of rows may be that an answer is told with, as often as its bar holds.
    fn rows_within(&self) -> u64 {
        0
    }

    /// The same for each part of a summary that is released or refused on its own, of quantiles with their fractions; none where all of it
    /// is one.
    fn parts_needed(&self) -> Vec<(Option<String>, u64)> {
        Vec::new()
    }

    /// Why there is no prediction, and what to do.
    fn no_prediction(&self) -> String {
        "the answer is exact or refused, so no error can be aimed at; give `epsilon`".to_string()
    }
}

/// A mechanism with its parameters.
#[derive(Clone, Debug)]
pub(crate) enum Task {
    Bins(Box<bins::Bins>),
    Count(count::Count),
    Distinct(distinct::Distinct),
    DrawnEdges(Box<drawn_edges::DrawnEdges>),
    Ecdf(Box<ecdf::Ecdf>),
    Extreme(Box<extreme::Extreme>),
    Groups(Box<groups::GroupedStatistic>),
    Histogram(Box<histogram::Histogram>),
    Mode(mode::Mode),
    Moments(Box<moments::Moments>),
    Pairs(Box<pairs::PairStatistic>),
    Pooled(Box<moments::Pooled>),
    SensitivityNoise(Box<sensitivity_noise::SensitivityNoise>),
    Quantiles(Box<quantiles::Quantiles>),
    Regression(Box<regression::Regression>),
    Scale(Box<scale::Scale>),
    Select(Box<select::Select>),
    Spread(Box<spread::SpreadDrawn>),
    Summary(Box<summary::Summary>),
    Top(Box<top::Top>),
}

/// What can be told of an answer before any data is read.
#[derive(Clone, Debug, PartialEq)]
pub struct Expected {
    /// The error bar that a released answer will have.
    pub error: Option<ErrorBar>,
    /// The same in words, and when there will be a refusal.
    pub words: String,
}

/// Hand a call on to whatever task it is.
macro_rules! dispatch {
    ($task:expr, $one:ident => $call:expr) => {
        match $task {
            Task::Bins($one) => $call,
            Task::Count($one) => $call,
            Task::Distinct($one) => $call,
            Task::DrawnEdges($one) => $call,
            Task::Ecdf($one) => $call,
            Task::Extreme($one) => $call,
            Task::Groups($one) => $call,
            Task::Histogram($one) => $call,
            Task::Mode($one) => $call,
            Task::Moments($one) => $call,
            Task::Pairs($one) => $call,
            Task::Pooled($one) => $call,
            Task::SensitivityNoise($one) => $call,
            Task::Quantiles($one) => $call,
            Task::Regression($one) => $call,
            Task::Scale($one) => $call,
            Task::Select($one) => $call,
            Task::Spread($one) => $call,
            Task::Summary($one) => $call,
            Task::Top($one) => $call,
        }
    };
}

impl Task {
    /// Calibrate the mechanism that was named, or the first of those that there are.
    pub fn plan(said: &ResolvedRequest) -> Result<Self, PlanError> {
        said.check_arguments()?;
        let grouped = !said.group_by().is_empty();
        Ok(match said.statistic() {
            Statistic::Ecdf => Self::between_edges(said)?,
            Statistic::Histogram if Self::has_edges(said) => Self::between_edges(said)?,
            Statistic::Histogram => Self::Histogram(Box::new(histogram::Histogram::plan(said)?)),
            Statistic::Count if grouped && said.fold().is_none() => {
                Self::Histogram(Box::new(histogram::Histogram::plan(said)?))
            }
            _ if grouped => Self::Groups(Box::new(groups::GroupedStatistic::plan(said)?)),
            Statistic::Count if said.fold().is_none() => Self::Count(count::Count::plan(said)?),
            Statistic::Distinct => Self::Distinct(distinct::Distinct::plan(said)?),
            Statistic::Min | Statistic::Max => Self::Extreme(Box::new(extreme::Extreme::plan(said)?)),
            Statistic::Select => Self::Select(Box::new(select::Select::plan(said)?)),
            Statistic::Summary => Self::Summary(Box::new(summary::Summary::plan(said)?)),
            Statistic::Top => Self::Top(Box::new(top::Top::plan(said)?)),
            Statistic::Mode => Self::Mode(mode::Mode::plan(said)?),
            Statistic::Count
            | Statistic::Share
            | Statistic::Sum
            | Statistic::Mean
            | Statistic::Variance
            | Statistic::Std => Self::Moments(Box::new(moments::Moments::plan(said)?)),
            Statistic::Correlation | Statistic::Covariance => {
                Self::Pairs(Box::new(pairs::PairStatistic::plan(said)?))
            }
            Statistic::Iqr if said.mechanism() == Some(spread::NAME) => {
                Self::Spread(Box::new(spread::SpreadDrawn::plan(said)?))
            }
            Statistic::Regression => Self::Regression(Box::new(regression::Regression::plan(said)?)),
            Statistic::Iqr if said.mechanism() == Some(scale::NAME) => {
                Self::Scale(Box::new(scale::Scale::plan(said)?))
            }
            Statistic::Median | Statistic::Quantile
                if said.mechanism().is_some_and(|name| sensitivity_noise::NAMES.contains(&name)) =>
            {
                Self::SensitivityNoise(Box::new(quantiles::plan_noised(said)?))
            }
            Statistic::Median | Statistic::Quantile | Statistic::Iqr => {
                Self::Quantiles(Box::new(quantiles::Quantiles::plan(said)?))
            }
        })
    }
}

impl Task {
    /// Does a histogram count between edges, stated or drawn?
    fn has_edges(said: &ResolvedRequest) -> bool {
        bins::Bins::are_said(said) || drawn_edges::DrawnEdges::are_said(said)
    }

    /// Bins or points of the first column, of all rows or of each group of those that agree in the others.
    fn between_edges(said: &ResolvedRequest) -> Result<Self, PlanError> {
        let of_all = |said: &ResolvedRequest| {
            Ok(if drawn_edges::DrawnEdges::are_said(said) {
                Self::DrawnEdges(Box::new(drawn_edges::DrawnEdges::plan(said)?))
            } else if said.statistic() == Statistic::Ecdf {
                Self::Ecdf(Box::new(ecdf::Ecdf::plan(said)?))
            } else {
                Self::Bins(Box::new(bins::Bins::plan(said)?))
            })
        };
        match said.group_by() {
            [column, by @ ..] if !by.is_empty() => {
                let of_group = |one: &ResolvedRequest| of_all(&one.in_group(*column));
                let grouped = groups::GroupedStatistic::of(&said.grouped_by(by), of_group)?;
                Ok(Self::Groups(Box::new(grouped)))
            }
            _ if !said.keys().is_empty() => {
                let problem = "keys are those of `group_by`, and bins and points have none";
                Err(PlanError::about(Argument::Keys, problem).hint("leave `keys` out"))
            }
            _ => of_all(said),
        }
    }

    /// How many rows lie in each bin, or which share up to each point, without noise, where that was asked for: of all rows, or of a group.
    pub fn truths_of_bins(&self, gathered: &dyn RowFacts) -> Option<BTreeMap<String, Value>> {
        match self {
            Self::Bins(bins) => Some(bins.truths(gathered)),
            Self::Ecdf(ecdf) => Some(ecdf.truths(gathered)),
            Self::Groups(groups) => groups.task().truths_of_bins(gathered),
            _ => None,
        }
    }

    /// Does it count between edges that are stated or found: what is true of them can be told?
    pub fn has_bins(&self) -> bool {
        match self {
            Self::Groups(groups) => groups.task().has_bins(),
            task => matches!(task, Self::Bins(_) | Self::Ecdf(_)),
        }
    }

    /// The columns whose values tell groups apart; bins and points of another column are no groups.
    pub fn keyed_by(&self) -> &[ColumnRead] {
        match self {
            Self::Groups(groups) => groups.keys_by(),
            task => task.group_by(),
        }
    }

    /// Does it draw the edges?
    pub fn draws_edges(&self) -> bool {
        match self {
            Self::Groups(groups) => groups.task().draws_edges(),
            task => matches!(task, Self::DrawnEdges(_)),
        }
    }
}

impl Answering for Task {
    fn mechanism(&self) -> &'static str {
        dispatch!(self, task => task.mechanism())
    }

    fn cost(&self) -> Loss {
        dispatch!(self, task => task.cost())
    }

    fn losses(&self) -> Vec<Loss> {
        dispatch!(self, task => task.losses())
    }

    fn needs(&self) -> Vec<Need> {
        dispatch!(self, task => task.needs())
    }

    fn expected(&self) -> Expected {
        dispatch!(self, task => task.expected())
    }

    fn answer<C: Coins>(&self, gathered: &dyn RowFacts, coins: &mut C) -> Answer {
        dispatch!(self, task => task.answer(gathered, coins))
    }

    fn asks(&self, shared: Option<&SharedRange>) -> Vec<Ask> {
        dispatch!(self, task => task.asks(shared))
    }

    fn shared_need(&self) -> Option<Need> {
        dispatch!(self, task => task.shared_need())
    }

    fn shared<C: Coins>(&self, all: &dyn RowFacts, coins: &mut C) -> Option<SharedRange> {
        dispatch!(self, task => task.shared(all, coins))
    }

    fn answer_group<C: Coins>(
        &self,
        shared: Option<&SharedRange>,
        group: &dyn RowFacts,
        coins: &mut C,
    ) -> Answer {
        dispatch!(self, task => task.answer_group(shared, group, coins))
    }

    fn answers_group<C: Coins>(
        &self,
        shared: Option<&SharedRange>,
        group: &dyn RowFacts,
        coins: &mut C,
    ) -> Vec<Answer> {
        dispatch!(self, task => task.answers_group(shared, group, coins))
    }

    fn answer_type(&self) -> Option<String> {
        dispatch!(self, task => task.answer_type())
    }

    fn group_by(&self) -> &[ColumnRead] {
        dispatch!(self, task => task.group_by())
    }

    fn keys_from(&self) -> Option<u64> {
        dispatch!(self, task => task.keys_from())
    }

    fn answers(&self) -> usize {
        dispatch!(self, task => task.answers())
    }

    fn predicted(&self) -> Option<f64> {
        dispatch!(self, task => task.predicted())
    }

    fn noise_share(&self) -> Option<f64> {
        dispatch!(self, task => task.noise_share())
    }

    fn likely(&self) -> Option<PredictedError> {
        dispatch!(self, task => task.likely())
    }

    fn rows_needed(&self) -> Option<u64> {
        dispatch!(self, task => task.rows_needed())
    }

    fn rows_assured(&self) -> Option<u64> {
        dispatch!(self, task => task.rows_assured())
    }

    fn rows_within(&self) -> u64 {
        dispatch!(self, task => task.rows_within())
    }

    fn parts_needed(&self) -> Vec<(Option<String>, u64)> {
        dispatch!(self, task => task.parts_needed())
    }

    fn no_prediction(&self) -> String {
        dispatch!(self, task => task.no_prediction())
    }
}
