//! The one table of statistics: what can be asked for, with which arguments, and by which mechanisms.
//!
//! Planning, the verbs of the command line and their help, JSON requests, the functions of Python and the truths of `simulate`
//! all come from these rows, so that a new statistic is a row here and what it does in [`task`](crate::task).

mod argument;
mod fold;
mod table;

pub use argument::{Argument, Heading, Value};
pub use fold::Fold;
use std::fmt;

/// What can be asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Statistic {
    /// How many records there are, or how many have a value.
    Count,
    /// The share of records of which a condition is true.
    Share,
    /// The sum of a column.
    Sum,
    /// Its mean.
    Mean,
    /// The mean squared distance from the mean.
    Variance,
    /// The root of the variance.
    Std,
    /// The lower one of the two rows in the middle.
    Median,
    /// One quantile or several.
    Quantile,
    /// The third quartile less the first.
    Iqr,
    /// The least value, from inside.
    Min,
    /// The largest value, from inside.
    Max,
    /// How two columns move together, between -1 and 1.
    Correlation,
    /// The mean product of their distances from their means.
    Covariance,
    /// How a column depends on others, by least squares.
    Regression,
    /// How many different values there are.
    Distinct,
    /// Which share of the rows is not above stated points.
    Ecdf,
    /// The most frequent value, exact or refused.
    Mode,
    /// How many records each value has.
    Histogram,
    /// A value that nearly most records have.
    Select,
    /// The values that the most records have.
    Top,
    /// Count, mean, standard deviation and quantiles for one price.
    Summary,
}

/// One row of the table.
#[derive(Debug)]
pub struct Spec {
    /// Which statistic it is about.
    pub statistic: Statistic,
    /// Its name: the verb of the command line, the function of Python, the word of a request.
    pub name: &'static str,
    /// What it tells, in one line of help.
    pub about: &'static str,
    /// Command lines and what else its help says of them.
    pub examples: &'static str,
    /// What the documentation of its Python function says after the first line, with an example that runs.
    pub python: &'static str,
    /// What its column is.
    pub column: Column,
    /// The arguments that not all statistics take; [`Argument::COMMON`] are the others.
    pub takes: &'static [Argument],
    /// The mechanisms that can answer it, the one that answers whatever the rows first; none where it has parts with their own.
    pub mechanisms: &'static [Mechanism],
    /// What a simulation holds its answers against.
    pub truth: Truth,
}

/// A mechanism of a statistic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mechanism {
    /// Its name, as everywhere.
    pub name: &'static str,
    /// Whether it spends delta.
    pub needs_delta: bool,
    /// Whether it measures in steps of a declared range.
    pub needs_grid: bool,
    /// For which questions it is a choice.
    pub only: Only,
}

/// For which questions of a statistic a mechanism is a choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Only {
    /// For all of them.
    All,
    /// For one quantile, not for a list of them.
    OneQuantile,
    /// Where answers are not grouped.
    NoGroups,
    /// Where candidates are stated.
    Stated,
    /// Where they are found.
    Found,
    /// Where no step is declared.
    NoStep,
}

/// What the column of a statistic is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Column {
    /// None, or one whose fields are counted.
    Optional,
    /// A condition about each record, or a column of yes and no.
    Condition,
    /// Numbers that can be added.
    Summed,
    /// Numbers, days or moments, in order.
    Ordered,
    /// Values of any type.
    Any,
    /// One or several whose values are the group keys.
    Keys,
}

/// What is true of the rows, without noise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Truth {
    /// The number of rows, or of fields that are not empty.
    Count,
    /// The sum of the rows.
    Sum,
    /// Their mean.
    Mean,
    /// Their variance.
    Variance,
    /// Its root.
    Deviation,
    /// The row in the middle.
    Median,
    /// The quantiles that were asked for.
    Quantiles,
    /// The third quartile less the first.
    Spread,
    /// The least row.
    Least,
    /// The largest row.
    Largest,
    /// The correlation of two columns.
    Correlation,
    /// Their covariance.
    Covariance,
    /// The coefficients of least squares.
    Regression,
    /// How many different values there are.
    Distinct,
    /// The most frequent value.
    Frequent,
    /// The most frequent values.
    Top,
    /// Count, mean, standard deviation and quantiles.
    Summary,
}

impl Statistic {
    /// All of them, in the order of the help.
    pub const ALL: [Self; 21] = [
        Self::Count,
        Self::Share,
        Self::Sum,
        Self::Mean,
        Self::Variance,
        Self::Std,
        Self::Median,
        Self::Quantile,
        Self::Iqr,
        Self::Min,
        Self::Max,
        Self::Correlation,
        Self::Covariance,
        Self::Regression,
        Self::Distinct,
        Self::Ecdf,
        Self::Mode,
        Self::Histogram,
        Self::Select,
        Self::Top,
        Self::Summary,
    ];

    /// Its row.
    pub fn spec(self) -> &'static Spec {
        table::TABLE.iter().find(|spec| spec.statistic == self).expect("every statistic has a row")
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        self.spec().name
    }

    /// The statistic of this name.
    pub fn named(name: &str) -> Option<Self> {
        table::TABLE.iter().find(|spec| spec.name == name).map(|spec| spec.statistic)
    }

    /// All names, in the order of the help.
    pub fn names() -> Vec<&'static str> {
        Self::ALL.iter().map(|statistic| statistic.name()).collect()
    }

    /// Does it take this argument?
    pub fn takes(self, argument: Argument) -> bool {
        Argument::COMMON.contains(&argument) || self.spec().takes.contains(&argument)
    }

    /// The arguments that it takes, in the order of [`Argument::ALL`].
    pub fn arguments(self) -> impl Iterator<Item = Argument> {
        Argument::ALL.into_iter().filter(move |&argument| self.takes(argument))
    }
}

impl fmt::Display for Statistic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_statistic_has_one_row_in_the_order_of_the_list() {
        let rows: Vec<Statistic> = table::TABLE.iter().map(|spec| spec.statistic).collect();
        assert_eq!(rows, Statistic::ALL);
        let names: BTreeSet<&str> = Statistic::names().into_iter().collect();
        assert_eq!(names.len(), Statistic::ALL.len());
        for statistic in Statistic::ALL {
            assert_eq!(Statistic::named(statistic.name()), Some(statistic));
            let spec = statistic.spec();
            assert!(spec.about.len() < 100 && !spec.about.ends_with('.'), "{}", spec.about);
            assert!(spec.examples.contains(&format!("equipoise {}", spec.name)), "{}", spec.name);
            assert!(spec.python.contains(&format!("eq.{}(", spec.name)), "{}", spec.name);
            let own = spec.takes.iter().all(|argument| !Argument::COMMON.contains(argument));
            assert!(own, "{}: what all take is not said again", spec.name);
        }
        assert_eq!(Statistic::named("batch"), None);
    }
}
