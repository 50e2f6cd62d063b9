//! The rows of the table.

use super::{
    Argument::{
        self, Among, At, Base, Bins, Bound, Fraction, GroupBy, Interval, K, Keys, NoQuantiles, On, PerUnit,
        Population, QuantileBins, Range, RangeOn, RangeY, Resolution, Rows, Width, Y,
    },
    Column, Mechanism, Only, Spec, Statistic, Truth,
};

/// What ranked answers of one quantile or several take.
const QUANTILES: &[Argument] = &[Range, Resolution, Bound, Interval, Population, Rows, GroupBy, Keys];
/// What ranked answers take.
const RANKED: &[Argument] = &[Range, Resolution, Base, Interval, Rows, GroupBy, Keys];

const fn pure(name: &'static str) -> Mechanism {
    Mechanism { name, needs_delta: false, needs_grid: false, only: Only::All }
}

const fn approximate(name: &'static str) -> Mechanism {
    Mechanism { name, needs_delta: true, needs_grid: false, only: Only::All }
}

const fn one_quantile(mechanism: Mechanism) -> Mechanism {
    Mechanism { only: Only::OneQuantile, ..mechanism }
}

const fn on_a_grid(mechanism: Mechanism) -> Mechanism {
    one_quantile(Mechanism { needs_grid: true, ..mechanism })
}

/// Noise on whole numbers.
const NOISE: &[Mechanism] = &[pure("laplace"), approximate("gaussian")];
/// One quantile has five; several have the first.
const ONE_QUANTILE: &[Mechanism] = &[
    pure("inverse-sensitivity"),
    one_quantile(approximate("stable")),
    on_a_grid(pure("smooth")),
    on_a_grid(approximate("released-scale")),
    on_a_grid(approximate("propose-test-release")),
];
/// What the ends of a column take.
const ENDS: &[Argument] = &[Range, Resolution, GroupBy, Keys];

const fn only(only: Only, mechanism: Mechanism) -> Mechanism {
    Mechanism { only, ..mechanism }
}

/// Among stated values one after another is chosen; found ones pass a gate together.
const TOP: &[Mechanism] = &[
    only(Only::Stated, pure("permute-and-flip")),
    only(Only::Stated, pure("exponential")),
    only(Only::Stated, pure("noisy-max")),
    only(Only::Found, approximate("stable")),
];
const CHOICE: &[Mechanism] = &[pure("permute-and-flip"), pure("exponential"), pure("noisy-max")];

/// One row for each of [`Statistic::ALL`], in its order.
pub(super) const TABLE: &[Spec] = &[
    Spec {
        statistic: Statistic::Count,
        name: "count",
        about: "How many records there are, or how many have a field that is not empty",
        examples: "Examples:
  equipoise count people.csv --epsilon 0.1
  equipoise count people.csv --group-by town,year --epsilon 1 --delta 1e-6
  equipoise count people.csv --group-by member --keys yes,no --epsilon 1
  equipoise count people.csv --where \"age >= 18 and town = 'Ayr'\" --epsilon 0.1
  equipoise count visits.csv --unit person --epsilon 0.1
  equipoise count visits.csv --unit person --per-unit --epsilon 1

With --unit, people are counted: each has one row that takes part, unless --max-rows-per-unit says more. With --per-unit, all
rows are: how many each person has is limited to --range, or to a range that is searched.",
        python: ">>> import equipoise as eq
>>> release = eq.count([\"a\", \"b\"] * 500, epsilon=2)
>>> abs(release.value - 1000) < 50  # off by 50 with a chance of e^-100
True",
        column: Column::Optional,
        takes: &[PerUnit, Range, GroupBy, Keys],
        mechanisms: &[pure("laplace"), Mechanism { only: Only::NoGroups, ..approximate("gaussian") }],
        truth: Truth::Count,
    },
    Spec {
        statistic: Statistic::Share,
        name: "share",
        about: "The share of records of which a condition is true, or a column says yes",
        examples: "Examples:
  equipoise share flights.csv \"dep_delay > 60\" --epsilon 0.1
  equipoise share people.csv \"town = 'Ayr' and age >= 18\" --group-by year --epsilon 1 --delta 1e-6
  equipoise share people.csv member --epsilon 0.1

Yes and no are counted apart, each with noise for all of epsilon. Rows of which the condition is neither true nor false, because
something in it is null, take no part.",
        python: "Yes and no are counted apart, each with noise for all of epsilon. Rows of which the condition is neither true nor false,
because something in it is null, take no part.

>>> import equipoise as eq
>>> release = eq.share({\"delay\": list(range(1000))}, \"delay >= 900\", epsilon=2)
>>> abs(release.value - 0.1) < 0.05  # off by 50 rows with a chance of e^-100
True",
        column: Column::Condition,
        takes: &[Population, Rows, GroupBy, Keys],
        mechanisms: NOISE,
        truth: Truth::Mean,
    },
    Spec {
        statistic: Statistic::Sum,
        name: "sum",
        about: "The sum of a column of numbers",
        examples: "Examples:
  equipoise sum sales.csv amount --epsilon 1 --range 0,500
  equipoise sum sales.csv amount --epsilon 1
  equipoise sum sales.csv amount --unit customer --per-unit --epsilon 1

Without --range, a part of epsilon finds one; it is released with the answer. With --per-unit, all rows of each person are
added up first, and the range is that of people's sums.",
        python: "Without ``range``, a part of epsilon finds one; it is released with the answer.

>>> import equipoise as eq
>>> release = eq.sum([20.0, 30.0] * 5000, epsilon=1, range=(0, 100))
>>> abs(release.value - 250_000) < 10_000  # noise of scale 100: farther off with a chance of e^-100
True",
        column: Column::Summed,
        takes: &[PerUnit, Range, GroupBy, Keys],
        mechanisms: NOISE,
        truth: Truth::Sum,
    },
    Spec {
        statistic: Statistic::Mean,
        name: "mean",
        about: "The mean of a column of numbers, without bounds",
        examples: "Examples:
  equipoise mean salaries.csv salary --epsilon 1
  equipoise mean people.csv age --epsilon 0.5 --range 0,110
  equipoise mean salaries.csv salary --group-by town --epsilon 2 --delta 1e-6
  equipoise mean visits.csv minutes --unit person --per-unit --epsilon 1

With --per-unit, it is the mean of people's means, each of all rows of one person.",
        python: "A ``range`` that is known in advance makes it more accurate. With a privacy unit and ``per_unit=True`` it is the mean of people's
means, each of all rows of one person.

>>> import equipoise as eq
>>> eq.mean([20.0, 30.0] * 5000, epsilon=1, range=(0, 100)).refused
False",
        column: Column::Summed,
        takes: &[PerUnit, Range, Population, Rows, GroupBy, Keys],
        mechanisms: NOISE,
        truth: Truth::Mean,
    },
    Spec {
        statistic: Statistic::Variance,
        name: "variance",
        about: "The variance of a column of numbers (their mean squared distance from the mean), without bounds",
        examples: "Example:
  equipoise variance salaries.csv salary --epsilon 1",
        python: ">>> import equipoise as eq
>>> eq.variance([20.0, 30.0] * 5000, epsilon=1, range=(0, 100)).refused
False",
        column: Column::Summed,
        takes: &[Range, Rows, GroupBy, Keys],
        mechanisms: NOISE,
        truth: Truth::Variance,
    },
    Spec {
        statistic: Statistic::Std,
        name: "std",
        about: "The standard deviation of a column of numbers (the root of the variance), without bounds",
        examples: "Examples:
  equipoise std salaries.csv salary --epsilon 1
  equipoise std salaries.csv salary --group-by town --epsilon 4 --delta 1e-6",
        python: ">>> import equipoise as eq
>>> eq.std([20.0, 30.0] * 5000, epsilon=1, range=(0, 100)).statistic
'std'",
        column: Column::Summed,
        takes: &[Range, Rows, GroupBy, Keys],
        mechanisms: NOISE,
        truth: Truth::Deviation,
    },
    Spec {
        statistic: Statistic::Median,
        name: "median",
        about: "The median of a column of numbers (the lower one of the two in the middle), without bounds",
        examples: "Examples:
  equipoise median salaries.csv salary --epsilon 1
  equipoise median salaries.csv salary --epsilon 0.1 --range 0,1000000 --resolution 1 --json
  equipoise median visits.csv visits --epsilon 1 --delta 1e-6 --mechanism stable

Exit codes: 0 released, 3 refused, 4 over the budget, 2 wrong request (nothing charged), 1 lost.",
        python: ">>> import equipoise as eq
>>> salaries = [30_000 + 7 * i for i in range(1000)]
>>> release = eq.median(salaries, epsilon=1)
>>> release.refused  # a noisy count of 1,000 rows would have to fall below 200 at epsilon 0.05
False",
        column: Column::Ordered,
        takes: QUANTILES,
        mechanisms: ONE_QUANTILE,
        truth: Truth::Median,
    },
    Spec {
        statistic: Statistic::Quantile,
        name: "quantile",
        about: "One quantile or several of a column of numbers, without bounds",
        examples: "Examples:
  equipoise quantile salaries.csv salary 0.9 --epsilon 1
  equipoise quantile salaries.csv salary 0.1,0.5,0.9 --epsilon 2",
        python: ">>> import equipoise as eq
>>> eq.quantile(list(range(10_000)), [0.25, 0.5, 0.75], epsilon=2).refused
False",
        column: Column::Ordered,
        takes: &[Fraction, Range, Resolution, Bound, Interval, Population, Rows, GroupBy, Keys],
        mechanisms: ONE_QUANTILE,
        truth: Truth::Quantiles,
    },
    Spec {
        statistic: Statistic::Iqr,
        name: "iqr",
        about: "The interquartile range of a column of numbers, without bounds",
        examples: "Examples:
  equipoise iqr salaries.csv salary --epsilon 1
  equipoise iqr salaries.csv salary --epsilon 2 --interval
  equipoise iqr salaries.csv salary --epsilon 1 --delta 1e-6 --mechanism scale --resolution 1
  equipoise iqr salaries.csv salary --epsilon 1 --delta 1e-6 --mechanism scale --resolution 1 --base 1.5",
        python: ">>> import equipoise as eq
>>> eq.iqr(list(range(10_000)), epsilon=2).refused
False",
        column: Column::Ordered,
        takes: RANKED,
        mechanisms: &[
            pure("inverse-sensitivity"),
            Mechanism { only: Only::NoStep, ..pure("spread") },
            approximate("scale"),
        ],
        truth: Truth::Spread,
    },
    Spec {
        statistic: Statistic::Min,
        name: "min",
        about: "The least value of a column that more than a few rows lie at or below, from inside of the rows",
        examples: "Examples:
  equipoise min people.csv age --epsilon 1
  equipoise min people.csv hired --type hired=date --epsilon 1

The least value itself is one person's. The answer is at least that, with at most so many rows below it as the error says; with
--range and --resolution fewer values are possible, and fewer rows lie below it.",
        python: "The least value itself is one person's. The answer is at least that, with at most so many rows below it as the error says.

>>> import equipoise as eq
>>> release = eq.min(list(range(10_000)), epsilon=1)
>>> release.refused  # a noisy count of 10,000 rows would have to fall below 200 at epsilon 0.05
False",
        column: Column::Ordered,
        takes: ENDS,
        mechanisms: &[pure("shifted-inverse")],
        truth: Truth::Least,
    },
    Spec {
        statistic: Statistic::Max,
        name: "max",
        about: "The largest value of a column that more than a few rows lie at or above, from inside of the rows",
        examples: "Examples:
  equipoise max people.csv age --epsilon 1
  equipoise max people.csv age --range 0,120 --resolution 1 --group-by town --epsilon 4 --delta 1e-6

The largest value itself is one person's. The answer is at most that, with at most so many rows above it as the error says; with
--range and --resolution fewer values are possible, and fewer rows lie above it.",
        python: "The largest value itself is one person's. The answer is at most that, with at most so many rows above it as the error says.

>>> import equipoise as eq
>>> release = eq.max(list(range(10_000)), epsilon=1)
>>> release.refused  # a noisy count of 10,000 rows would have to fall below 200 at epsilon 0.05
False",
        column: Column::Ordered,
        takes: ENDS,
        mechanisms: &[pure("shifted-inverse")],
        truth: Truth::Largest,
    },
    Spec {
        statistic: Statistic::Correlation,
        name: "correlation",
        about: "How far two columns of numbers rise together: 1 in step, -1 against each other, 0 neither",
        examples: "Examples:
  equipoise correlation people.csv age salary --epsilon 1
  equipoise correlation flights.csv dep_delay arr_delay --range -60,300 --range-y -60,300 --epsilon 1

Rows with a number in both columns count. Without ranges a part of epsilon finds them; they are released with the answer. Where
the values of a column may all be the same, as far as noise tells, there is no correlation, and it is refused.",
        python: "Rows with a number in both columns count. Without ranges a part of epsilon finds them; they are released with the answer.

>>> import equipoise as eq
>>> people = {\"age\": list(range(100)) * 100, \"pay\": [2 * age for age in range(100)] * 100}
>>> release = eq.correlation(people, \"age\", \"pay\", epsilon=1, range=(0, 100), range_y=(0, 200))
>>> release.value > 0.9  # noise of about 5 on sums of 3,333 rows' squares
True",
        column: Column::Summed,
        takes: &[Y, Range, RangeY, GroupBy, Keys],
        mechanisms: &[pure("laplace")],
        truth: Truth::Correlation,
    },
    Spec {
        statistic: Statistic::Covariance,
        name: "covariance",
        about: "The covariance of two columns of numbers (the mean product of distances from their means)",
        examples: "Example:
  equipoise covariance people.csv age salary --range 0,110 --range-y 0,200000 --epsilon 1

Rows with a number in both columns count. Without ranges a part of epsilon finds them; they are released with the answer.",
        python: "Rows with a number in both columns count. Without ranges a part of epsilon finds them; they are released with the answer.

>>> import equipoise as eq
>>> people = {\"age\": list(range(100)) * 100, \"pay\": [2 * age for age in range(100)] * 100}
>>> eq.covariance(people, \"age\", \"pay\", epsilon=1, range=(0, 100), range_y=(0, 200)).refused
False",
        column: Column::Summed,
        takes: &[Y, Range, RangeY, GroupBy, Keys],
        mechanisms: &[pure("laplace")],
        truth: Truth::Covariance,
    },
    Spec {
        statistic: Statistic::Regression,
        name: "regression",
        about: "How a column depends on others: intercept and coefficients by least squares",
        examples: "Examples:
  equipoise regression diamonds.csv price --on carat,depth --epsilon 1
  equipoise regression diamonds.csv price --on carat,depth --range 0,20000 --range-on 0,6,40,80 --epsilon 1
  equipoise regression flights.csv arr_delay --on dep_delay,distance --epsilon 1 --delta 1e-6

Rows with a number in all columns count. Without ranges a part of epsilon finds them; they are released with the answer. Where the
model may predict worse than the mean alone, as far as noise tells, it is refused.",
        python: "Rows with a number in all columns count. Without ranges a part of epsilon finds them; they are released with the answer. Where
the model may predict worse than the mean alone, as far as noise tells, it is refused. For a model to predict with, see
:class:`equipoise.sklearn.Private`.

>>> import equipoise as eq
>>> people = {\"age\": list(range(100)) * 200, \"pay\": [2 * age + 5 for age in range(100)] * 200}
>>> release = eq.regression(people, \"pay\", on=[\"age\"], range=(0, 210), range_on=(0, 100), epsilon=2)
>>> 1.5 < release.value[\"coefficients\"][\"age\"] < 2.5  # noise of about 3 on sums of 6,667 rows' squares
True",
        column: Column::Summed,
        takes: &[On, Range, RangeOn],
        mechanisms: NOISE,
        truth: Truth::Regression,
    },
    Spec {
        statistic: Statistic::Distinct,
        name: "distinct",
        about: "How many different values a column has, or with a unit how many people there are",
        examples: "Examples:
  equipoise distinct people.csv town --epsilon 1
  equipoise distinct visits.csv --unit person --epsilon 0.1
  equipoise distinct people.csv town --group-by year --epsilon 1 --delta 1e-6

Empty fields are no value. With --unit, the values of the rows that take part are counted, one row of each person unless
--max-rows-per-unit says more.",
        python: "Empty fields are no value. With ``privacy_unit`` and no column, people are counted.

>>> import equipoise as eq
>>> release = eq.distinct([\"Bern\", \"Basel\", \"Chur\"] * 100, epsilon=2)
>>> abs(release.value - 3) < 50  # off by 50 with a chance of e^-100
True",
        column: Column::Any,
        takes: &[GroupBy, Keys],
        mechanisms: NOISE,
        truth: Truth::Distinct,
    },
    Spec {
        statistic: Statistic::Ecdf,
        name: "ecdf",
        about: "Which share of the rows is not above stated or drawn points: the distribution function",
        examples: "Examples:
  equipoise ecdf flights.csv dep_delay --at 0,15,60 --epsilon 1
  equipoise ecdf flights.csv dep_delay --epsilon 1
  equipoise ecdf people.csv hired --at 2010-01-01,2020-01-01 --type hired=date --epsilon 1
  equipoise ecdf flights.csv dep_delay --at 0,15,60 --group-by carrier --epsilon 1 --delta 1e-6

The bars of all points hold at once; by group, those of each group. Without --at nine points are drawn, as quantiles at 0.1 to 0.9.",
        python: "The shares are ``groups`` of the release, and the bars of all points hold at once; with ``group_by``
those of each group. Without ``at`` points are drawn.

>>> import equipoise as eq
>>> release = eq.ecdf(list(range(1000)), epsilon=2, at=[99, 499])
>>> [group[\"key\"] for group in release.groups]
['up to 99', 'up to 499']",
        column: Column::Keys,
        takes: &[At, GroupBy, Keys],
        mechanisms: &[pure("laplace")],
        truth: Truth::Mean,
    },
    Spec {
        statistic: Statistic::Mode,
        name: "mode",
        about: "The most frequent value of a column, exact, or a refusal where it leads by too little",
        examples: "Examples:
  equipoise mode people.csv town --epsilon 1 --delta 1e-6
  equipoise mode visits.csv condition --unit person --epsilon 1 --delta 1e-6

With --unit, all rows of a person take part and each person counts once for each value, unless --max-rows-per-unit
draws rows.",
        python: "With a privacy unit, all rows of a person take part and each person counts once for each value, unless
``max_rows_per_unit`` draws rows.

>>> import equipoise as eq
>>> eq.mode([\"Bern\"] * 900 + [\"Basel\"] * 100, epsilon=1, delta=1e-6).value
'Bern'",
        column: Column::Any,
        takes: &[GroupBy, Keys],
        mechanisms: &[approximate("stable")],
        truth: Truth::Frequent,
    },
    Spec {
        statistic: Statistic::Histogram,
        name: "histogram",
        about: "How many records each value or bin of a column has; rare values are not released",
        examples: "Examples:
  equipoise histogram people.csv town --epsilon 1 --delta 1e-6
  equipoise histogram people.csv town,year --epsilon 1 --delta 1e-6
  equipoise histogram people.csv member --keys yes,no --epsilon 1
  equipoise histogram people.csv salary --bins 20 --range 0,100000 --epsilon 1
  equipoise histogram people.csv salary --width 5000 --epsilon 1 --delta 1e-6
  equipoise histogram people.csv salary --quantile-bins 10 --epsilon 1
  equipoise histogram people.csv salary --bins 5 --range 0,100000 --group-by town --epsilon 1 --delta 1e-6

By group, some of epsilon and delta finds the groups unless --keys states them; each group has all bins.",
        python: "The counts are ``groups`` of the release. Values are found privately, which takes a delta, or stated as ``keys``.

>>> import equipoise as eq
>>> release = eq.histogram([\"a\"] * 600 + [\"b\"] * 400, epsilon=1, keys=[\"a\", \"b\", \"c\"])
>>> [group[\"key\"] for group in release.groups]
['a', 'b', 'c']
>>> ages = eq.histogram(list(range(100)), epsilon=1, bins=2, range=(0, 100))
>>> [group[\"key\"] for group in ages.groups]
['below 0', '0 .. 50', '50 .. 100', 'above 100']",
        column: Column::Keys,
        takes: &[GroupBy, Keys, Range, Bins, QuantileBins, Width],
        mechanisms: &[pure("laplace")],
        truth: Truth::Count,
    },
    Spec {
        statistic: Statistic::Select,
        name: "select",
        about: "A value that nearly most records have: among stated candidates, or found ones",
        examples: "Examples:
  equipoise select people.csv town --among Arden,Brook,Elsfield --epsilon 0.5
  equipoise select people.csv town --epsilon 1 --delta 1e-6

With --among for epsilon alone, by permute-and-flip (also --mechanism exponential or noisy-max); without,
candidates that enough rows have are found first, which needs a delta. For the exact most frequent value or a refusal, use mode.
With --unit and --among, all rows of a person take part and each person counts once for each value, unless
--max-rows-per-unit draws rows; without --among, for as many values as --max-groups-per-unit says.",
        python: "Among stated values it always answers, where :func:`mode` may refuse; among frequent ones, found for a delta, it refuses where
none is frequent enough. It may name a value that is not quite the most frequent. With a privacy unit and ``among``, all rows of
a person take part and each person counts once for each value, unless ``max_rows_per_unit`` draws rows; without ``among``, for as
many values as ``max_groups_per_unit`` says.

>>> import equipoise as eq
>>> eq.select([\"Bern\"] * 900 + [\"Basel\"] * 100, epsilon=1, among=[\"Basel\", \"Bern\"]).value  # wrong once in e^400
'Bern'",
        column: Column::Any,
        takes: &[Among, GroupBy, Keys],
        mechanisms: CHOICE,
        truth: Truth::Frequent,
    },
    Spec {
        statistic: Statistic::Top,
        name: "top",
        about: "The K most frequent values of a column: nearly, among stated ones; else exactly, or a refusal",
        examples: "Examples:
  equipoise top people.csv town 3 --among Arden,Brook,Clay,Dale,Elsfield --epsilon 1
  equipoise top people.csv town 3 --epsilon 1 --delta 1e-6

With --among one value after another is chosen, for epsilon over K each, nearly by how frequent they are. Without, the exact set
is released, in the order of its texts, where its last value leads the next one by enough, which needs a delta. For the counts
of the values ask afterwards, at a price of its own: equipoise histogram people.csv town --keys Arden,Brook,Dale --epsilon 1.
With --unit, all rows of a person take part and each person counts once for each value, unless --max-rows-per-unit draws rows.",
        python: "Among stated values it always answers, nearly in the order of how frequent they are; without ``among``, which takes a delta, the exact
set is released in the order of its texts, or refused where its last value leads the next one by too little. With a privacy unit,
all rows of a person take part and each person counts once for each value, unless ``max_rows_per_unit`` draws rows. For the counts of the
values ask :func:`histogram` with ``keys`` afterwards, at a price of its own.

>>> import equipoise as eq
>>> towns = [\"Bern\"] * 900 + [\"Basel\"] * 500 + [\"Biel\"] * 100
>>> eq.top(towns, 2, epsilon=1, delta=1e-6).value  # refused once in e^300
['Basel', 'Bern']",
        column: Column::Any,
        takes: &[K, Among, GroupBy, Keys],
        mechanisms: TOP,
        truth: Truth::Top,
    },
    Spec {
        statistic: Statistic::Summary,
        name: "summary",
        about: "Count, mean, standard deviation and quantiles of a column, for one price in one scan",
        examples: "Examples:
  equipoise summary salaries.csv salary --epsilon 2
  equipoise summary salaries.csv salary --group-by town --epsilon 8 --delta 1e-6
  equipoise summary salaries.csv salary --no-quantiles --epsilon 0.5

Half of epsilon buys the quantiles, which take the most rows; where there are too few for them, all come from noisy counts
of cells of the range. --no-quantiles gives the rest all of epsilon.",
        python: "They are ``answers`` of the release. With ``group_by`` each of its ``groups`` has them, and their values by name as its
``value``: a table is ``pandas.DataFrame([{\"town\": group[\"key\"], **group[\"value\"]} for group in release.groups])``.

>>> import equipoise as eq
>>> release = eq.summary(list(range(10_000)), epsilon=4)
>>> release.statistic
'summary'",
        column: Column::Summed,
        takes: &[Range, Resolution, Interval, NoQuantiles, Rows, GroupBy, Keys],
        mechanisms: &[],
        truth: Truth::Summary,
    },
];
