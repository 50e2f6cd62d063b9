//! The rows of the table.

use super::{
    Argument::{self, Among, Fraction, GroupBy, Interval, K, Keys, Range, Resolution, Rows},
    Column, Mechanism, Only, Spec, Statistic, Truth,
};

/// What ranked answers take.
const RANKED: &[Argument] = &[Range, Resolution, Interval, Rows, GroupBy, Keys];

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

With --unit, people are counted: each has one row that takes part, unless --max-rows-per-unit says more.",
        python: ">>> import equipoise as eq
>>> release = eq.count([\"a\", \"b\"] * 500, epsilon=2)
>>> abs(release.value - 1000) < 50  # off by 50 with a chance of e^-100
True",
        column: Column::Optional,
        takes: &[GroupBy, Keys],
        mechanisms: &[pure("laplace"), Mechanism { only: Only::NoGroups, ..approximate("gaussian") }],
        truth: Truth::Count,
    },
    Spec {
        statistic: Statistic::Sum,
        name: "sum",
        about: "The sum of a column of numbers",
        examples: "Examples:
  equipoise sum sales.csv amount --epsilon 1 --range 0,500
  equipoise sum sales.csv amount --epsilon 1

Without --range, a part of epsilon finds one; it is released with the answer.",
        python: "Without ``range``, a part of epsilon finds one; it is released with the answer.

>>> import equipoise as eq
>>> release = eq.sum([20.0, 30.0] * 5000, epsilon=1, range=(0, 100))
>>> abs(release.value - 250_000) < 10_000  # noise of scale 100: farther off with a chance of e^-100
True",
        column: Column::Summed,
        takes: &[Range, GroupBy, Keys],
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
  equipoise mean salaries.csv salary --group-by town --epsilon 2 --delta 1e-6",
        python: "A ``range`` that is known in advance makes it more accurate.

>>> import equipoise as eq
>>> eq.mean([20.0, 30.0] * 5000, epsilon=1, range=(0, 100)).refused
False",
        column: Column::Summed,
        takes: &[Range, Rows, GroupBy, Keys],
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
        takes: RANKED,
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
        takes: &[Fraction, Range, Resolution, Interval, Rows, GroupBy, Keys],
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
  equipoise iqr salaries.csv salary --epsilon 1 --delta 1e-6 --mechanism scale --resolution 1",
        python: ">>> import equipoise as eq
>>> eq.iqr(list(range(10_000)), epsilon=2).refused
False",
        column: Column::Ordered,
        takes: RANKED,
        mechanisms: &[pure("inverse-sensitivity"), approximate("scale")],
        truth: Truth::Spread,
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
        about: "How many records each value of a column has; rare values are not released",
        examples: "Examples:
  equipoise histogram people.csv town --epsilon 1 --delta 1e-6
  equipoise histogram people.csv town,year --epsilon 1 --delta 1e-6
  equipoise histogram people.csv member --keys yes,no --epsilon 1",
        python: "The counts are ``groups`` of the release. Values are found privately, which takes a delta, or stated as ``keys``.

>>> import equipoise as eq
>>> release = eq.histogram([\"a\"] * 600 + [\"b\"] * 400, epsilon=1, keys=[\"a\", \"b\", \"c\"])
>>> [group[\"key\"] for group in release.groups]
['a', 'b', 'c']",
        column: Column::Keys,
        takes: &[Keys],
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
  equipoise summary salaries.csv salary --group-by town --epsilon 8 --delta 1e-6",
        python: "They are ``answers`` of the release. With ``group_by`` each of its ``groups`` has them, and their values by name as its
``value``: a table is ``pandas.DataFrame([{\"town\": group[\"key\"], **group[\"value\"]} for group in release.groups])``.

>>> import equipoise as eq
>>> release = eq.summary(list(range(10_000)), epsilon=4)
>>> release.statistic
'summary'",
        column: Column::Summed,
        takes: RANKED,
        mechanisms: &[],
        truth: Truth::Summary,
    },
];
