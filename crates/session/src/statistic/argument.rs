//! The arguments of questions: one name, one help, on every surface.

use equipoise_core::wording::OptionName;

/// An argument of a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Argument {
    /// Of which column.
    Column,
    /// And of which second column.
    Y,
    /// By which columns it is explained.
    On,
    /// Which quantiles.
    Fraction,
    /// How many of the most frequent values.
    K,
    /// The privacy loss.
    Epsilon,
    /// By how much any set of outcomes may be likelier than that.
    Delta,
    /// What may change between data sets that look alike.
    Adjacency,
    /// The mechanism by name.
    Mechanism,
    /// How far off the answer may be, instead of epsilon.
    TargetError,
    /// With which probability the error bar holds.
    Confidence,
    /// Which rows take part.
    Where,
    /// The calendar windows whose rows take part.
    Window,
    /// The column that names the person.
    Unit,
    /// How many rows of each person take part.
    MaxRowsPerUnit,
    /// In how many groups each person takes part.
    MaxGroupsPerUnit,
    /// Whether each person's rows are first made one value.
    PerUnit,
    /// Between which values answers lie.
    Range,
    /// The same for the second column.
    RangeY,
    /// The same for each column that explains.
    RangeOn,
    /// Of which number answers are multiples.
    Resolution,
    /// The most that one row may move the value, as proposed.
    Bound,
    /// The ratio of the ends of a bin of scales.
    Base,
    /// Whether an interval of values is bought.
    Interval,
    /// Whether bars are about the population that the rows were drawn from.
    Population,
    /// Whether a summary has no quantiles, and the rest all of epsilon.
    NoQuantiles,
    /// The number of rows, as stated.
    Rows,
    /// How many bins.
    Bins,
    /// How many bins with about as many rows each.
    QuantileBins,
    /// How wide bins are.
    Width,
    /// At which points.
    At,
    /// Public candidates.
    Among,
    /// By which columns answers are grouped.
    GroupBy,
    /// Public group keys.
    Keys,
    /// What columns hold.
    Types,
}

/// Under which heading the help shows an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Heading {
    /// What the question is about, by its place on the command line.
    Asked,
    /// Which rows take part, and whose they are.
    Rows,
    /// What an answer may cost, and what it promises.
    Privacy,
    /// The values that numbers can take.
    Values,
    /// Answers for groups of records.
    Groups,
    /// How data is read.
    Reading,
}

/// What an argument is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value {
    /// A word, such as the name of a column.
    Text,
    /// A number, as the decimal that was typed.
    Number,
    /// Two numbers, or several.
    Numbers,
    /// Yes, or not given.
    Flag,
    /// Some texts.
    Texts,
    /// A text for some columns each.
    ByColumn,
}

impl Argument {
    /// All of them, in the order of the help.
    pub const ALL: [Self; 35] = [
        Self::Column,
        Self::Y,
        Self::Fraction,
        Self::K,
        Self::Where,
        Self::Window,
        Self::Unit,
        Self::MaxRowsPerUnit,
        Self::MaxGroupsPerUnit,
        Self::PerUnit,
        Self::Epsilon,
        Self::Delta,
        Self::Adjacency,
        Self::Mechanism,
        Self::TargetError,
        Self::Confidence,
        Self::Range,
        Self::RangeY,
        Self::On,
        Self::RangeOn,
        Self::Resolution,
        Self::Bound,
        Self::Base,
        Self::Interval,
        Self::Population,
        Self::NoQuantiles,
        Self::Rows,
        Self::Bins,
        Self::QuantileBins,
        Self::Width,
        Self::At,
        Self::Among,
        Self::GroupBy,
        Self::Keys,
        Self::Types,
    ];

    /// What every statistic takes.
    pub const COMMON: [Self; 13] = [
        Self::Column,
        Self::Where,
        Self::Window,
        Self::Unit,
        Self::MaxRowsPerUnit,
        Self::MaxGroupsPerUnit,
        Self::Epsilon,
        Self::Delta,
        Self::Adjacency,
        Self::Mechanism,
        Self::TargetError,
        Self::Confidence,
        Self::Types,
    ];

    /// Its name in JSON documents and Python: words with `_` between them.
    pub fn name(self) -> &'static str {
        match self {
            Self::Column => "column",
            Self::Y => "y",
            Self::Fraction => "fraction",
            Self::K => "k",
            Self::Epsilon => "epsilon",
            Self::Delta => "delta",
            Self::Adjacency => "adjacency",
            Self::Mechanism => "mechanism",
            Self::TargetError => "target_error",
            Self::Confidence => "confidence",
            Self::Where => "where",
            Self::Window => "window",
            Self::Unit => "unit",
            Self::MaxRowsPerUnit => "max_rows_per_unit",
            Self::MaxGroupsPerUnit => "max_groups_per_unit",
            Self::PerUnit => "per_unit",
            Self::Range => "range",
            Self::RangeY => "range_y",
            Self::On => "on",
            Self::RangeOn => "range_on",
            Self::Resolution => "resolution",
            Self::Bound => "bound",
            Self::Base => "base",
            Self::Interval => "interval",
            Self::Population => "population",
            Self::NoQuantiles => "no_quantiles",
            Self::Rows => "rows",
            Self::Bins => "bins",
            Self::QuantileBins => "quantile_bins",
            Self::Width => "width",
            Self::At => "at",
            Self::Among => "among",
            Self::GroupBy => "group_by",
            Self::Keys => "keys",
            Self::Types => "types",
        }
    }

    /// The argument of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|argument| argument.name() == name)
    }

    /// Its names on every surface.
    pub fn option(self) -> &'static OptionName {
        OptionName::named(self.name()).expect("every argument is an option")
    }

    /// Its name on the command line, without the two dashes.
    pub fn flag(self) -> &'static str {
        self.option().flag
    }

    /// The keyword of Python, where it has an older name than [`Argument::name`].
    pub fn keyword(self) -> &'static str {
        self.option().keyword
    }

    /// What it is.
    pub fn value(self) -> Value {
        match self {
            Self::Column
            | Self::Y
            | Self::Adjacency
            | Self::Mechanism
            | Self::Where
            | Self::Window
            | Self::Unit => Value::Text,
            Self::Epsilon
            | Self::Delta
            | Self::TargetError
            | Self::Confidence
            | Self::MaxRowsPerUnit
            | Self::MaxGroupsPerUnit
            | Self::Resolution
            | Self::Bound
            | Self::Base
            | Self::Bins
            | Self::QuantileBins
            | Self::Width
            | Self::Rows
            | Self::K => Value::Number,
            Self::Fraction | Self::Range | Self::RangeY | Self::RangeOn | Self::At => Value::Numbers,
            Self::Interval | Self::Population | Self::NoQuantiles | Self::PerUnit => Value::Flag,
            Self::Among | Self::GroupBy | Self::Keys | Self::On => Value::Texts,
            Self::Types => Value::ByColumn,
        }
    }

    /// What stands for its value in the help of the command line.
    pub fn placeholder(self) -> &'static str {
        match self {
            Self::Column | Self::Unit => "COLUMN",
            Self::Y => "Y",
            Self::Fraction => "FRACTION",
            Self::K | Self::QuantileBins => "K",
            Self::Epsilon | Self::TargetError => "E",
            Self::Delta => "D",
            Self::Adjacency => "WHICH",
            Self::Mechanism => "NAME",
            Self::Confidence => "C",
            Self::Where => "CONDITION",
            Self::Window => "WINDOW,..",
            Self::MaxRowsPerUnit => "R",
            Self::MaxGroupsPerUnit => "G",
            Self::Range | Self::RangeY => "LO,HI",
            Self::RangeOn => "LO,HI,..",
            Self::Resolution => "STEP",
            Self::Bound | Self::Base => "B",
            Self::Interval | Self::Population | Self::NoQuantiles | Self::PerUnit => "",
            Self::Rows | Self::Bins => "N",
            Self::Width => "W",
            Self::At => "POINT,..",
            Self::Among => "VALUE,..",
            Self::GroupBy | Self::On => "COLUMN,..",
            Self::Keys => "KEY,..",
            Self::Types => "COLUMN=TYPE",
        }
    }

    /// Under which heading the help shows it.
    pub fn heading(self) -> Heading {
        match self {
            Self::Column | Self::Y | Self::Fraction | Self::K => Heading::Asked,
            Self::Where
            | Self::Window
            | Self::Unit
            | Self::MaxRowsPerUnit
            | Self::MaxGroupsPerUnit
            | Self::PerUnit => Heading::Rows,
            Self::Epsilon
            | Self::Delta
            | Self::Adjacency
            | Self::Mechanism
            | Self::TargetError
            | Self::Confidence => Heading::Privacy,
            Self::Range
            | Self::RangeY
            | Self::On
            | Self::RangeOn
            | Self::Resolution
            | Self::Bound
            | Self::Base
            | Self::Interval
            | Self::Population
            | Self::NoQuantiles
            | Self::Rows
            | Self::Bins
            | Self::QuantileBins
            | Self::Width
            | Self::At
            | Self::Among => Heading::Values,
            Self::GroupBy | Self::Keys => Heading::Groups,
            Self::Types => Heading::Reading,
        }
    }

    /// What it does, in one line of help; it names other options for [`equipoise_core::wording::on`].
    pub fn help(self) -> &'static str {
        match self {
            Self::Column => "The column",
            Self::Fraction => "Which quantiles: 0.9, or several as 0.25,0.5,0.75",
            Self::Y => "The second column",
            Self::K => "How many of the most frequent values",
            Self::Where => {
                "Only rows of which this is true: comparisons, and, or, not, in, between, is null; a null is never true"
            }
            Self::Window => {
                "Where a limit renews by a column of days: the calendar windows whose rows alone take part, as 2026-11, 2026-09,2026-11 or \
                 2026-07..2026-09; each is charged"
            }
            Self::Unit => {
                "The column that names the person, where people have several rows: all of a person's rows are protected"
            }
            Self::MaxRowsPerUnit => {
                "With a unit: how many rows of each person take part, drawn at random [default: 1]"
            }
            Self::MaxGroupsPerUnit => {
                "With a unit and groups: in how many groups each person takes part, drawn at random, with R rows in each; for a select of found \
                 values, for how many of them"
            }
            Self::PerUnit => {
                "With a unit: all rows of each person, in each group, are first made one value (their count, sum or mean), and the answer is \
                 about these; `range` is then that of the values"
            }
            Self::Epsilon => "The privacy loss: 0.1 is careful, 1 is usual, above 10 protects little",
            Self::Delta => {
                "By how much any set of outcomes may be likelier than e^epsilon allows, such as 1e-6: well below one over the number of rows"
            }
            Self::Adjacency => {
                "What may change between data sets that look alike, one row or person: add-remove (the number of rows is private too) or \
                 replace"
            }
            Self::Mechanism => {
                "The mechanism by name; auto takes the least predicted error; a plan shows the others"
            }
            Self::TargetError => {
                "How far off the answer may be, instead of epsilon: rows of a count, ranks of a quantile, the column's unit for a sum, or \
                 for a mean or variance with `range` and `rows`; the least epsilon is used"
            }
            Self::Confidence => "With which probability the error bar holds [default: 0.95]",
            Self::Range => {
                "Rows beyond these count as these; only mechanisms that measure in its steps need it. Of the column's type, as 2000-01-01,2030-12-31"
            }
            Self::RangeY => "The same as `range`, for the second column",
            Self::On => "The columns that explain the first one, as carat,depth",
            Self::RangeOn => {
                "The same as `range`, for each column of `on` in their order: 0,6,40,80 are 0 to 6 and 40 to 80"
            }
            Self::Resolution => {
                "Answers and rows are multiples of this; of dates in days, of timestamps in seconds. exact keeps every float, where numbers are \
                 otherwise rounded to 7 significant digits, 9 for an iqr; whole numbers below 1e10 are kept"
            }
            Self::Bound => {
                "With propose-test-release: the most that one row may move the answer, as you propose; tested, and refused where few rows \
                 could change that. Searched where nothing is said"
            }
            Self::Base => {
                "With scale: the answer is told up to factors of this, which few rows must not move it across [default: 2]"
            }
            Self::Interval => {
                "Spend half of epsilon on an interval of values that holds the true answer; for several quantiles one each"
            }
            Self::Population => {
                "Widen the error bar by what the rows differ by chance from a population that they were drawn from, each on its own"
            }
            Self::NoQuantiles => {
                "Leave the quantiles out and spend all of epsilon on count, mean and standard deviation, where there are too few rows for quantiles"
            }
            Self::Rows => {
                "How many rows have a value, exactly, where you state it as public: where all rows take part it stands for a noisy count, of \
                 quantiles, and of means and variances with `range`; the error bar then holds if it is right"
            }
            Self::Bins => {
                "Count numbers in so many bins of one length over `range`; what lies below and above is counted too"
            }
            Self::QuantileBins => {
                "Draw edges with about as many rows between each two, for all of epsilon; counts follow from their ranks"
            }
            Self::Width => {
                "Count numbers between multiples of this, in days for dates and seconds for timestamps: over `range`, or where enough rows are, \
                 which takes a delta"
            }
            Self::At => {
                "The points, of the column's type and in growing order, as 0,15,60; drawn as quantiles where none are stated"
            }
            Self::Among => "The candidates, where they are public; needs no delta",
            Self::GroupBy => {
                "Answer for each group of records that agree in these columns; finding the groups needs a delta"
            }
            Self::Keys => "The groups, where they are public: values of the one column; needs no delta",
            Self::Types => {
                "What a column holds: date, timestamp, decimal:2 (digits after the point), integer, boolean, number or text"
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_argument_has_one_name_and_is_listed() {
        let mut names: Vec<&str> = Argument::ALL.iter().map(|argument| argument.name()).collect();
        for argument in Argument::ALL {
            assert_eq!(Argument::named(argument.name()), Some(argument));
            assert!(!argument.help().is_empty() && !argument.flag().contains('_'));
            assert_eq!(argument.placeholder().is_empty(), argument.value() == Value::Flag);
        }
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), Argument::ALL.len());
        assert!(Argument::COMMON.iter().all(|argument| Argument::ALL.contains(argument)));
    }
}
