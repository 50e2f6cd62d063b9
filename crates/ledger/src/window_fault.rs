//! What stands in the way of a limit that renews, each as one line with the next step.

use super::{calendar::Every, limit::Limit};
use equipoise_core::wording::shown;
use std::fmt;

/// Why a limit for each window was not set, or a charge not counted in one.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WindowFault {
    /// Windows of time for rows that stay: what they lose adds up.
    AddsUp {
        /// The data set.
        name: String,
        /// How long a window is.
        every: Every,
        /// What may be spent in a year.
        in_a_year: Limit,
    },
    /// Under replace a row may go from one window to another.
    Moves {
        /// The data set.
        name: String,
    },
    /// The clock shows another day.
    OtherDay {
        /// As was said.
        day: String,
        /// What the clock shows.
        now: String,
    },
    /// The question is not one about stated windows.
    NotOfWindows {
        /// The data set.
        name: String,
        /// How long a window is.
        every: Every,
        /// The column by which rows lie in them.
        day: String,
    },
    /// The windows are others than when the question was planned.
    Changed {
        /// The data set.
        name: String,
    },
    /// The clock moved by more than a day, over the end of a window.
    Jump {
        /// How long a window is.
        every: Every,
        /// The last charge or word of the steward.
        last: String,
        /// What the clock shows.
        now: String,
    },
}

impl fmt::Display for WindowFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AddsUp { name, every, in_a_year } => write!(
                f,
                "without a column of days the same rows of '{}' may lose this limit again every {}, which adds up to {} in a year and \
                 goes on after it; name the column with `day`, or say `adds_up` to set it all the same",
                shown(name),
                every.name(),
                in_a_year.words()
            ),
            Self::Moves { name } => write!(
                f,
                "a limit by a column of days needs add-remove, and '{}' is registered under replace, where a row may go from one window \
                 to another; register it with `adjacency=add-remove`",
                shown(name)
            ),
            Self::OtherDay { day, now } => write!(
                f,
                "the clock of the ledger shows {now}, not {}; set it right, or say the day that it shows",
                shown(day)
            ),
            Self::NotOfWindows { name, every, day } => write!(
                f,
                "data set '{}' has a limit for each {} of '{}', and this asks about rows of all; ask a statistic of it with \
                 `window={}`",
                shown(name),
                every.name(),
                shown(day),
                every.example()
            ),
            Self::Changed { name } => write!(
                f,
                "the windows of data set '{}' were changed since this was planned; nothing was charged, ask again",
                shown(name)
            ),
            Self::Jump { every, last, now } => write!(
                f,
                "the clock shows {now}, the last charge or word of the steward is of {last}, and a {} with a limit of its own ended in \
                 between; if the clock is right, its steward says so with 'equipoise budget clock --is {}'",
                every.name(),
                now.get(..10).unwrap_or(now)
            ),
        }
    }
}
