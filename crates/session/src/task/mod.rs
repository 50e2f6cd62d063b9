//! What a plan will do: each statistic's mechanism, ready to run on what a scan has gathered.

#[cfg(test)]
mod audits;
pub(crate) mod bar;
pub(crate) mod candidates;
mod choice;
mod clip;
mod count;
#[cfg(test)]
mod coverage;
#[cfg(test)]
mod cut_bars;
mod divisor;
mod ends;
mod even;
mod exact;
mod groups;
mod guard;
mod histogram;
mod mode;
mod moments;
mod noise;
mod noised;
mod quantiles;
mod scale;
mod select;
mod summary;
mod texts;
#[cfg(test)]
mod typed_audits;

use crate::{
    answer::Answer,
    bar::ErrorBar,
    gather::{Gathered, Need},
    plan::{PlanError, Said},
    source::Wanted,
};
use equipoise_core::{coins::Coins, loss::Loss};
pub use even::Likely;
pub(crate) use summary::SUMMARY;

/// A mechanism with its parameters, calibrated from public facts.
#[derive(Clone, Debug)]
pub(crate) enum Task {
    Count(count::Count),
    Groups(Box<groups::Groups>),
    Histogram(Box<histogram::Histogram>),
    Mode(mode::Mode),
    Moments(Box<moments::Moments>),
    Noised(Box<noised::Noised>),
    Quantiles(Box<quantiles::Quantiles>),
    Scale(Box<scale::Scale>),
    Select(Box<select::Select>),
    Summary(Box<summary::Summary>),
}

/// What can be told of an answer before any data is read.
#[derive(Clone, Debug, PartialEq)]
pub struct Expected {
    /// The error bar that a released answer will have.
    pub error: Option<ErrorBar>,
    /// The same in words, and when there will be a refusal.
    pub words: String,
}

/// The statistics that can be asked for.
pub const STATISTICS: [&str; 11] = [
    "count",
    "sum",
    "mean",
    "variance",
    "median",
    "quantile",
    "iqr",
    "mode",
    "histogram",
    "select",
    "summary",
];

impl Task {
    /// Choose and calibrate the mechanism.
    pub fn plan(said: &Said) -> Result<Self, PlanError> {
        let grouped = !said.group_by().is_empty();
        if !grouped && said.mechanism().is_none() && candidates::mechanisms(said.request()).len() > 1 {
            return candidates::best(said);
        }
        Ok(match said.statistic() {
            "histogram" => Self::Histogram(Box::new(histogram::Histogram::plan(said)?)),
            "count" if grouped => Self::Histogram(Box::new(histogram::Histogram::plan(said)?)),
            _ if grouped => Self::Groups(Box::new(groups::Groups::plan(said)?)),
            "count" => Self::Count(count::Count::plan(said)?),
            "select" => Self::Select(Box::new(select::Select::plan(said)?)),
            "summary" => Self::Summary(Box::new(summary::Summary::plan(said)?)),
            "mode" => Self::Mode(mode::Mode::plan(said)?),
            "sum" | "mean" | "variance" => Self::Moments(Box::new(moments::Moments::plan(said)?)),
            "iqr" if said.mechanism() == Some("scale") => Self::Scale(Box::new(scale::Scale::plan(said)?)),
            "median" | "quantile" if said.mechanism().is_some_and(|name| noised::NAMES.contains(&name)) => {
                Self::Noised(Box::new(quantiles::plan_noised(said)?))
            }
            "median" | "quantile" | "iqr" => Self::Quantiles(Box::new(quantiles::Quantiles::plan(said)?)),
            other => return Err(PlanError::unknown("statistic", other, &STATISTICS)),
        })
    }

    /// How many answers it has for each group.
    fn answers(&self) -> usize {
        if let Self::Summary(_) = self { summary::ANSWERS } else { 1 }
    }

    /// The columns that it groups by.
    pub fn group_by(&self) -> &[Wanted] {
        match self {
            Self::Groups(task) => task.by(),
            Self::Histogram(task) => task.by(),
            _ => &[],
        }
    }

    /// What answers are, where they are no plain numbers or texts: `date`, `decimal:2`, or what they are measured in.
    pub fn answer_type(&self) -> Option<String> {
        match self {
            Self::Groups(task) => task.task().answer_type(),
            Self::Mode(task) => task.answer_type(),
            Self::Moments(task) => task.answer_type(),
            Self::Noised(task) => task.answer_type(),
            Self::Quantiles(task) => task.answer_type(),
            Self::Scale(task) => task.answer_type(),
            Self::Select(task) => task.answer_type(),
            Self::Count(_) | Self::Histogram(_) | Self::Summary(_) => None,
        }
    }

    /// The name of the mechanism.
    pub fn mechanism(&self) -> &'static str {
        match self {
            Self::Count(task) => task.mechanism(),
            Self::Histogram(_) => "laplace",
            Self::Moments(task) => task.mechanism(),
            Self::Groups(task) => task.mechanism(),
            Self::Mode(_) => "stable",
            Self::Noised(task) => task.mechanism(),
            Self::Quantiles(task) => task.mechanism(),
            Self::Scale(_) => "scale",
            Self::Select(task) => task.mechanism(),
            Self::Summary(_) => "laplace, inverse-sensitivity",
        }
    }

    /// What a run costs under the adjacency that was asked for.
    pub fn cost(&self) -> Loss {
        match self {
            Self::Count(task) => task.cost(),
            Self::Groups(task) => task.cost(),
            Self::Histogram(task) => task.cost(),
            Self::Mode(task) => task.cost(),
            Self::Moments(task) => task.cost(),
            Self::Noised(task) => task.cost(),
            Self::Quantiles(task) => task.cost(),
            Self::Scale(task) => task.cost(),
            Self::Select(task) => task.cost(),
            Self::Summary(task) => task.cost(),
        }
    }

    /// What it needs of the rows.
    pub fn needs(&self) -> Vec<Need> {
        match self {
            Self::Count(task) => vec![task.need()],
            Self::Groups(task) => task.needs(),
            Self::Histogram(task) => vec![task.need()],
            Self::Mode(task) => vec![task.need()],
            Self::Moments(task) => vec![task.need()],
            Self::Noised(task) => vec![task.need()],
            Self::Quantiles(task) => vec![task.need()],
            Self::Scale(task) => vec![task.need()],
            Self::Select(task) => vec![task.need()],
            Self::Summary(task) => task.needs(),
        }
    }

    /// What can be told beforehand.
    pub fn expected(&self) -> Expected {
        match self {
            Self::Count(task) => task.expected(),
            Self::Groups(task) => task.expected(),
            Self::Histogram(task) => task.expected(),
            Self::Mode(task) => task.expected(),
            Self::Moments(task) => task.expected(),
            Self::Noised(task) => task.expected(),
            Self::Quantiles(task) => task.expected(),
            Self::Scale(task) => task.expected(),
            Self::Select(task) => task.expected(),
            Self::Summary(task) => task.expected(),
        }
    }

    /// How far off the answer will be, in rows, ranks or the column's unit, where public facts tell.
    pub fn predicted(&self) -> Option<f64> {
        match self {
            Self::Count(task) => Some(task.within()),
            Self::Histogram(task) => Some(task.within()),
            Self::Groups(task) => task.task().predicted(),
            Self::Moments(task) => task.predicted(),
            Self::Quantiles(task) => task.predicted(),
            Self::Select(task) => {
                task.expected().error.and_then(|error| error.in_gap()).map(|gap| gap as f64)
            }
            Self::Mode(_) | Self::Noised(_) | Self::Scale(_) | Self::Summary(_) => None,
        }
    }

    /// How far noise moves a sum, mean or variance, as a share of a range that may be known only later: less is better.
    pub fn noise_share(&self) -> Option<f64> {
        match self {
            Self::Moments(task) => Some(task.noise_share()),
            _ => None,
        }
    }

    /// How far off the answer will be in the column's unit, if the rows lie evenly over a declared range.
    pub fn likely(&self) -> Option<Likely> {
        match self {
            Self::Groups(task) => task.task().likely(),
            Self::Noised(task) => Some(task.likely()),
            Self::Quantiles(task) => task.likely(),
            Self::Scale(task) => task.likely(),
            _ => None,
        }
    }

    /// Why there is no prediction, and what to do.
    pub fn no_prediction(&self, statistic: &str) -> String {
        match self {
            Self::Moments(task) => format!("the error of a {statistic} depends on {}", task.no_prediction()),
            Self::Noised(task) => format!(
                "the error of {} follows the rows; give --epsilon, or use inverse-sensitivity, whose error in ranks holds for all rows",
                task.mechanism()
            ),
            Self::Scale(_) => {
                "the error of scale is a factor; give --epsilon, or use inverse-sensitivity, whose error is in ranks".to_string()
            }
            Self::Groups(task) => task.task().no_prediction(statistic),
            Self::Select(_) => {
                "the error depends on how many values there are; state them with --among, or give --epsilon"
                    .to_string()
            }
            Self::Summary(_) => "a summary has several errors; give --epsilon".to_string(),
            _ => "the answer is exact or refused, so no error can be aimed at; give --epsilon".to_string(),
        }
    }

    /// The answer. Never fails, whatever was gathered.
    pub fn answer<C: Coins>(&self, gathered: &Gathered<'_>, coins: &mut C) -> Answer {
        match self {
            Self::Count(task) => task.answer(gathered, coins),
            Self::Groups(task) => task.answer(gathered, coins),
            Self::Histogram(task) => task.answer(gathered, coins),
            Self::Mode(task) => task.answer(gathered, coins),
            Self::Moments(task) => task.answer(gathered, coins),
            Self::Noised(task) => task.answer(gathered, coins),
            Self::Quantiles(task) => task.answer(gathered, coins),
            Self::Scale(task) => task.answer(gathered, coins),
            Self::Select(task) => task.answer(gathered, coins),
            Self::Summary(task) => task.answer(gathered, coins),
        }
    }
}
