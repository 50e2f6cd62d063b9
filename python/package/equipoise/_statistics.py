"""The statistics: one function each, on any kind of data. Written by the table of statistics; do not edit.

Every function takes a column of numbers (numpy, pandas, Polars, pyarrow, a list, anything that speaks Arrow) or a table
or the path of a file with the name of a column. All share their keywords.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, Union

from ._ask import ask
from ._release import Release

Number = Union[float, int, str]
Path = Union[str, "os.PathLike[str]"]

__all__ = ["count", "share", "sum", "mean", "variance", "std", "median", "quantile", "iqr", "min", "max", "correlation", "covariance", "regression", "distinct", "ecdf", "mode", "histogram", "select", "top", "summary", "quantiles"]

#: Keywords as the words of a request, and what they are.
WORDS: dict[str, tuple[str, str]] = {
    "y": ("y", "text"),
    "q": ("fraction", "numbers"),
    "k": ("k", "number"),
    "where": ("where", "text"),
    "window": ("window", "text"),
    "privacy_unit": ("unit", "text"),
    "max_rows_per_unit": ("max_rows_per_unit", "number"),
    "max_groups_per_unit": ("max_groups_per_unit", "number"),
    "per_unit": ("per_unit", "flag"),
    "epsilon": ("epsilon", "number"),
    "delta": ("delta", "number"),
    "adjacency": ("adjacency", "text"),
    "mechanism": ("mechanism", "text"),
    "target_error": ("target_error", "number"),
    "confidence": ("confidence", "number"),
    "range": ("range", "numbers"),
    "range_y": ("range_y", "numbers"),
    "on": ("on", "texts"),
    "range_on": ("range_on", "numbers"),
    "resolution": ("resolution", "number"),
    "bound": ("bound", "number"),
    "base": ("base", "number"),
    "interval": ("interval", "flag"),
    "population": ("population", "flag"),
    "no_quantiles": ("no_quantiles", "flag"),
    "rows": ("rows", "number"),
    "bins": ("bins", "number"),
    "quantile_bins": ("quantile_bins", "number"),
    "width": ("width", "number"),
    "at": ("at", "numbers"),
    "among": ("among", "texts"),
    "group_by": ("group_by", "texts"),
    "keys": ("keys", "texts"),
    "types": ("types", "by column"),
}


def count(
    data: Any,
    column: str | None = None,
    *,
    epsilon: Number | None = None,
    delta: Number | None = None,
    adjacency: str | None = None,
    mechanism: str | None = None,
    target_error: Number | None = None,
    confidence: Number | None = None,
    where: str | None = None,
    window: str | None = None,
    privacy_unit: str | None = None,
    unit: str | None = None,
    max_rows_per_unit: Number | None = None,
    max_groups_per_unit: Number | None = None,
    per_unit: bool | None = None,
    range: tuple[Number, Number] | str | None = None,
    group_by: Sequence[str] | str | None = None,
    keys: Sequence[str] | None = None,
    types: Mapping[str, str] | None = None,
    type: Mapping[str, str] | None = None,
    alpha: Number | None = None,
    ledger: Path | None = None,
    name: str | None = None,
    analyst: str | None = None,
    apart: bool = False,
    request_id: str | None = None,
    anyway: bool = False,
) -> Release:
    """How many records there are, or how many have a field that is not empty.

    >>> import equipoise as eq
    >>> release = eq.count(["a", "b"] * 500, epsilon=2)
    >>> abs(release.value - 1000) < 50  # off by 50 with a chance of e^-100
    True

    Keywords:

    ``epsilon``
        The privacy loss: 0.1 is careful, 1 is usual, above 10 protects little.
    ``delta``
        By how much any set of outcomes may be likelier than e^epsilon allows, such as 1e-6: well below one over the
        number of rows.
    ``adjacency``
        What may change between data sets that look alike, one row or person: add-remove (the number of rows is
        private too) or replace.
    ``mechanism``
        The mechanism by name; auto takes the least predicted error; a plan shows the others.
    ``target_error``
        How far off the answer may be, instead of epsilon: rows of a count, ranks of a quantile, the column's unit for
        a sum, or for a mean or variance with ``range`` and ``rows``; the least epsilon is used.
    ``confidence``
        With which probability the error bar holds [default: 0.95].
    ``where``
        Only rows of which this is true: comparisons, and, or, not, in, between, is null; a null is never true.
    ``window``
        Where a limit renews by a column of days: the calendar windows whose rows alone take part, as 2026-11,
        2026-09,2026-11 or 2026-07..2026-09; each is charged.
    ``privacy_unit``, ``unit``
        The column that names the person, where people have several rows: all of a person's rows are protected.
    ``max_rows_per_unit``
        With a unit: how many rows of each person take part, drawn at random [default: 1].
    ``max_groups_per_unit``
        With a unit and groups: in how many groups each person takes part, drawn at random, with R rows in each; for a
        select of found values, for how many of them.
    ``per_unit``
        With a unit: all rows of each person, in each group, are first made one value (their count, sum or mean), and
        the answer is about these; ``range`` is then that of the values.
    ``range``
        Rows beyond these count as these; only mechanisms that measure in its steps need it. Of the column's type, as
        2000-01-01,2030-12-31.
    ``group_by``
        Answer for each group of records that agree in these columns; finding the groups needs a delta.
    ``keys``
        The groups, where they are public: values of the one column; needs no delta.
    ``types``, ``type``
        What a column holds: date, timestamp, decimal:2 (digits after the point), integer, boolean, number or text.
    ``alpha``
        One minus the confidence, for who is used to that.
    ``ledger``, ``name``, ``analyst``, ``request_id``
        A file in which the charge is written down, the name that the budget of the data belongs to, who asks, and a
        name for this request: asking again under it gives the same answer for free, whatever rows data of that name has by
        now. Without a ledger an odometer of this process counts (:func:`spent`), and data in memory has no name to ask again
        about; questions about a file use the ledger beside it.
    ``apart``
        A limit beside or above a file covers it under whatever name, and is not walked around by another ledger, a link or a
        move. With ``apart=True`` it is counted apart, and both ledgers write that down.
    ``anyway``
        Ask although an earlier count of the same file, or in the same session, shows that there are too few rows, which is
        otherwise an error before the charge.
    """
    return ask("count", locals())


def share(
    data: Any,
    column: str | None = None,
    *,
    epsilon: Number | None = None,
    delta: Number | None = None,
    adjacency: str | None = None,
    mechanism: str | None = None,
    target_error: Number | None = None,
    confidence: Number | None = None,
    where: str | None = None,
    window: str | None = None,
    privacy_unit: str | None = None,
    unit: str | None = None,
    max_rows_per_unit: Number | None = None,
    max_groups_per_unit: Number | None = None,
    population: bool | None = None,
    rows: Number | None = None,
    group_by: Sequence[str] | str | None = None,
    keys: Sequence[str] | None = None,
    types: Mapping[str, str] | None = None,
    type: Mapping[str, str] | None = None,
    alpha: Number | None = None,
    ledger: Path | None = None,
    name: str | None = None,
    analyst: str | None = None,
    apart: bool = False,
    request_id: str | None = None,
    anyway: bool = False,
) -> Release:
    """The share of records of which a condition is true, or a column says yes.

    Yes and no are counted apart, each with noise for all of epsilon. Rows of which the condition is neither true nor false,
    because something in it is null, take no part.

    >>> import equipoise as eq
    >>> release = eq.share({"delay": list(range(1000))}, "delay >= 900", epsilon=2)
    >>> abs(release.value - 0.1) < 0.05  # off by 50 rows with a chance of e^-100
    True

    Keywords:

    ``epsilon``
        The privacy loss: 0.1 is careful, 1 is usual, above 10 protects little.
    ``delta``
        By how much any set of outcomes may be likelier than e^epsilon allows, such as 1e-6: well below one over the
        number of rows.
    ``adjacency``
        What may change between data sets that look alike, one row or person: add-remove (the number of rows is
        private too) or replace.
    ``mechanism``
        The mechanism by name; auto takes the least predicted error; a plan shows the others.
    ``target_error``
        How far off the answer may be, instead of epsilon: rows of a count, ranks of a quantile, the column's unit for
        a sum, or for a mean or variance with ``range`` and ``rows``; the least epsilon is used.
    ``confidence``
        With which probability the error bar holds [default: 0.95].
    ``where``
        Only rows of which this is true: comparisons, and, or, not, in, between, is null; a null is never true.
    ``window``
        Where a limit renews by a column of days: the calendar windows whose rows alone take part, as 2026-11,
        2026-09,2026-11 or 2026-07..2026-09; each is charged.
    ``privacy_unit``, ``unit``
        The column that names the person, where people have several rows: all of a person's rows are protected.
    ``max_rows_per_unit``
        With a unit: how many rows of each person take part, drawn at random [default: 1].
    ``max_groups_per_unit``
        With a unit and groups: in how many groups each person takes part, drawn at random, with R rows in each; for a
        select of found values, for how many of them.
    ``population``
        Widen the error bar by what the rows differ by chance from a population that they were drawn from, each on its
        own.
    ``rows``
        How many rows have a value, exactly, where you state it as public: where all rows take part it stands for a
        noisy count, of quantiles, and of means and variances with ``range``; the error bar then holds if it is right.
    ``group_by``
        Answer for each group of records that agree in these columns; finding the groups needs a delta.
    ``keys``
        The groups, where they are public: values of the one column; needs no delta.
    ``types``, ``type``
        What a column holds: date, timestamp, decimal:2 (digits after the point), integer, boolean, number or text.
    ``alpha``
        One minus the confidence, for who is used to that.
    ``ledger``, ``name``, ``analyst``, ``request_id``
        A file in which the charge is written down, the name that the budget of the data belongs to, who asks, and a
        name for this request: asking again under it gives the same answer for free, whatever rows data of that name has by
        now. Without a ledger an odometer of this process counts (:func:`spent`), and data in memory has no name to ask again
        about; questions about a file use the ledger beside it.
    ``apart``
        A limit beside or above a file covers it under whatever name, and is not walked around by another ledger, a link or a
        move. With ``apart=True`` it is counted apart, and both ledgers write that down.
    ``anyway``
        Ask although an earlier count of the same file, or in the same session, shows that there are too few rows, which is
        otherwise an error before the charge.
    """
    return ask("share", locals())


def sum(
    data: Any,
    column: str | None = None,
    *,
    epsilon: Number | None = None,
    delta: Number | None = None,
    adjacency: str | None = None,
    mechanism: str | None = None,
    target_error: Number | None = None,
    confidence: Number | None = None,
    where: str | None = None,
    window: str | None = None,
    privacy_unit: str | None = None,
    unit: str | None = None,
    max_rows_per_unit: Number | None = None,
    max_groups_per_unit: Number | None = None,
    per_unit: bool | None = None,
    range: tuple[Number, Number] | str | None = None,
    group_by: Sequence[str] | str | None = None,
    keys: Sequence[str] | None = None,
    types: Mapping[str, str] | None = None,
    type: Mapping[str, str] | None = None,
    alpha: Number | None = None,
    ledger: Path | None = None,
    name: str | None = None,
    analyst: str | None = None,
    apart: bool = False,
    request_id: str | None = None,
    anyway: bool = False,
) -> Release:
    """The sum of a column of numbers.

    Without ``range``, a part of epsilon finds one; it is released with the answer.

    >>> import equipoise as eq
    >>> release = eq.sum([20.0, 30.0] * 5000, epsilon=1, range=(0, 100))
    >>> abs(release.value - 250_000) < 10_000  # noise of scale 100: farther off with a chance of e^-100
    True

    Keywords:

    ``epsilon``
        The privacy loss: 0.1 is careful, 1 is usual, above 10 protects little.
    ``delta``
        By how much any set of outcomes may be likelier than e^epsilon allows, such as 1e-6: well below one over the
        number of rows.
    ``adjacency``
        What may change between data sets that look alike, one row or person: add-remove (the number of rows is
        private too) or replace.
    ``mechanism``
        The mechanism by name; auto takes the least predicted error; a plan shows the others.
    ``target_error``
        How far off the answer may be, instead of epsilon: rows of a count, ranks of a quantile, the column's unit for
        a sum, or for a mean or variance with ``range`` and ``rows``; the least epsilon is used.
    ``confidence``
        With which probability the error bar holds [default: 0.95].
    ``where``
        Only rows of which this is true: comparisons, and, or, not, in, between, is null; a null is never true.
    ``window``
        Where a limit renews by a column of days: the calendar windows whose rows alone take part, as 2026-11,
        2026-09,2026-11 or 2026-07..2026-09; each is charged.
    ``privacy_unit``, ``unit``
        The column that names the person, where people have several rows: all of a person's rows are protected.
    ``max_rows_per_unit``
        With a unit: how many rows of each person take part, drawn at random [default: 1].
    ``max_groups_per_unit``
        With a unit and groups: in how many groups each person takes part, drawn at random, with R rows in each; for a
        select of found values, for how many of them.
    ``per_unit``
        With a unit: all rows of each person, in each group, are first made one value (their count, sum or mean), and
        the answer is about these; ``range`` is then that of the values.
    ``range``
        Rows beyond these count as these; only mechanisms that measure in its steps need it. Of the column's type, as
        2000-01-01,2030-12-31.
    ``group_by``
        Answer for each group of records that agree in these columns; finding the groups needs a delta.
    ``keys``
        The groups, where they are public: values of the one column; needs no delta.
    ``types``, ``type``
        What a column holds: date, timestamp, decimal:2 (digits after the point), integer, boolean, number or text.
    ``alpha``
        One minus the confidence, for who is used to that.
    ``ledger``, ``name``, ``analyst``, ``request_id``
        A file in which the charge is written down, the name that the budget of the data belongs to, who asks, and a
        name for this request: asking again under it gives the same answer for free, whatever rows data of that name has by
        now. Without a ledger an odometer of this process counts (:func:`spent`), and data in memory has no name to ask again
        about; questions about a file use the ledger beside it.
    ``apart``
        A limit beside or above a file covers it under whatever name, and is not walked around by another ledger, a link or a
        move. With ``apart=True`` it is counted apart, and both ledgers write that down.
    ``anyway``
        Ask although an earlier count of the same file, or in the same session, shows that there are too few rows, which is
        otherwise an error before the charge.
    """
    return ask("sum", locals())


def mean(
    data: Any,
    column: str | None = None,
    *,
    epsilon: Number | None = None,
    delta: Number | None = None,
    adjacency: str | None = None,
    mechanism: str | None = None,
    target_error: Number | None = None,
    confidence: Number | None = None,
    where: str | None = None,
    window: str | None = None,
    privacy_unit: str | None = None,
    unit: str | None = None,
    max_rows_per_unit: Number | None = None,
    max_groups_per_unit: Number | None = None,
    per_unit: bool | None = None,
    range: tuple[Number, Number] | str | None = None,
    population: bool | None = None,
    rows: Number | None = None,
    group_by: Sequence[str] | str | None = None,
    keys: Sequence[str] | None = None,
    types: Mapping[str, str] | None = None,
    type: Mapping[str, str] | None = None,
    alpha: Number | None = None,
    ledger: Path | None = None,
    name: str | None = None,
    analyst: str | None = None,
    apart: bool = False,
    request_id: str | None = None,
    anyway: bool = False,
) -> Release:
    """The mean of a column of numbers, without bounds.

    A ``range`` that is known in advance makes it more accurate. With a privacy unit and ``per_unit=True`` it is the mean of people's
    means, each of all rows of one person.

    >>> import equipoise as eq
    >>> eq.mean([20.0, 30.0] * 5000, epsilon=1, range=(0, 100)).refused
    False

    Keywords:

    ``epsilon``
        The privacy loss: 0.1 is careful, 1 is usual, above 10 protects little.
    ``delta``
        By how much any set of outcomes may be likelier than e^epsilon allows, such as 1e-6: well below one over the
        number of rows.
    ``adjacency``
        What may change between data sets that look alike, one row or person: add-remove (the number of rows is
        private too) or replace.
    ``mechanism``
        The mechanism by name; auto takes the least predicted error; a plan shows the others.
    ``target_error``
        How far off the answer may be, instead of epsilon: rows of a count, ranks of a quantile, the column's unit for
        a sum, or for a mean or variance with ``range`` and ``rows``; the least epsilon is used.
    ``confidence``
        With which probability the error bar holds [default: 0.95].
    ``where``
        Only rows of which this is true: comparisons, and, or, not, in, between, is null; a null is never true.
    ``window``
        Where a limit renews by a column of days: the calendar windows whose rows alone take part, as 2026-11,
        2026-09,2026-11 or 2026-07..2026-09; each is charged.
    ``privacy_unit``, ``unit``
        The column that names the person, where people have several rows: all of a person's rows are protected.
    ``max_rows_per_unit``
        With a unit: how many rows of each person take part, drawn at random [default: 1].
    ``max_groups_per_unit``
        With a unit and groups: in how many groups each person takes part, drawn at random, with R rows in each; for a
        select of found values, for how many of them.
    ``per_unit``
        With a unit: all rows of each person, in each group, are first made one value (their count, sum or mean), and
        the answer is about these; ``range`` is then that of the values.
    ``range``
        Rows beyond these count as these; only mechanisms that measure in its steps need it. Of the column's type, as
        2000-01-01,2030-12-31.
    ``population``
        Widen the error bar by what the rows differ by chance from a population that they were drawn from, each on its
        own.
    ``rows``
        How many rows have a value, exactly, where you state it as public: where all rows take part it stands for a
        noisy count, of quantiles, and of means and variances with ``range``; the error bar then holds if it is right.
    ``group_by``
        Answer for each group of records that agree in these columns; finding the groups needs a delta.
    ``keys``
        The groups, where they are public: values of the one column; needs no delta.
    ``types``, ``type``
        What a column holds: date, timestamp, decimal:2 (digits after the point), integer, boolean, number or text.
    ``alpha``
        One minus the confidence, for who is used to that.
    ``ledger``, ``name``, ``analyst``, ``request_id``
        A file in which the charge is written down, the name that the budget of the data belongs to, who asks, and a
        name for this request: asking again under it gives the same answer for free, whatever rows data of that name has by
        now. Without a ledger an odometer of this process counts (:func:`spent`), and data in memory has no name to ask again
        about; questions about a file use the ledger beside it.
    ``apart``
        A limit beside or above a file covers it under whatever name, and is not walked around by another ledger, a link or a
        move. With ``apart=True`` it is counted apart, and both ledgers write that down.
    ``anyway``
        Ask although an earlier count of the same file, or in the same session, shows that there are too few rows, which is
        otherwise an error before the charge.
    """
    return ask("mean", locals())


def variance(
    data: Any,
    column: str | None = None,
    *,
    epsilon: Number | None = None,
    delta: Number | None = None,
    adjacency: str | None = None,
    mechanism: str | None = None,
    target_error: Number | None = None,
    confidence: Number | None = None,
    where: str | None = None,
    window: str | None = None,
    privacy_unit: str | None = None,
    unit: str | None = None,
    max_rows_per_unit: Number | None = None,
    max_groups_per_unit: Number | None = None,
    range: tuple[Number, Number] | str | None = None,
    rows: Number | None = None,
    group_by: Sequence[str] | str | None = None,
    keys: Sequence[str] | None = None,
    types: Mapping[str, str] | None = None,
    type: Mapping[str, str] | None = None,
    alpha: Number | None = None,
    ledger: Path | None = None,
    name: str | None = None,
    analyst: str | None = None,
    apart: bool = False,
    request_id: str | None = None,
    anyway: bool = False,
) -> Release:
    """The variance of a column of numbers (their mean squared distance from the mean), without bounds.

    >>> import equipoise as eq
    >>> eq.variance([20.0, 30.0] * 5000, epsilon=1, range=(0, 100)).refused
    False

    Keywords:

    ``epsilon``
        The privacy loss: 0.1 is careful, 1 is usual, above 10 protects little.
    ``delta``
        By how much any set of outcomes may be likelier than e^epsilon allows, such as 1e-6: well below one over the
        number of rows.
    ``adjacency``
        What may change between data sets that look alike, one row or person: add-remove (the number of rows is
        private too) or replace.
    ``mechanism``
        The mechanism by name; auto takes the least predicted error; a plan shows the others.
    ``target_error``
        How far off the answer may be, instead of epsilon: rows of a count, ranks of a quantile, the column's unit for
        a sum, or for a mean or variance with ``range`` and ``rows``; the least epsilon is used.
    ``confidence``
        With which probability the error bar holds [default: 0.95].
    ``where``
        Only rows of which this is true: comparisons, and, or, not, in, between, is null; a null is never true.
    ``window``
        Where a limit renews by a column of days: the calendar windows whose rows alone take part, as 2026-11,
        2026-09,2026-11 or 2026-07..2026-09; each is charged.
    ``privacy_unit``, ``unit``
        The column that names the person, where people have several rows: all of a person's rows are protected.
    ``max_rows_per_unit``
        With a unit: how many rows of each person take part, drawn at random [default: 1].
    ``max_groups_per_unit``
        With a unit and groups: in how many groups each person takes part, drawn at random, with R rows in each; for a
        select of found values, for how many of them.
    ``range``
        Rows beyond these count as these; only mechanisms that measure in its steps need it. Of the column's type, as
        2000-01-01,2030-12-31.
    ``rows``
        How many rows have a value, exactly, where you state it as public: where all rows take part it stands for a
        noisy count, of quantiles, and of means and variances with ``range``; the error bar then holds if it is right.
    ``group_by``
        Answer for each group of records that agree in these columns; finding the groups needs a delta.
    ``keys``
        The groups, where they are public: values of the one column; needs no delta.
    ``types``, ``type``
        What a column holds: date, timestamp, decimal:2 (digits after the point), integer, boolean, number or text.
    ``alpha``
        One minus the confidence, for who is used to that.
    ``ledger``, ``name``, ``analyst``, ``request_id``
        A file in which the charge is written down, the name that the budget of the data belongs to, who asks, and a
        name for this request: asking again under it gives the same answer for free, whatever rows data of that name has by
        now. Without a ledger an odometer of this process counts (:func:`spent`), and data in memory has no name to ask again
        about; questions about a file use the ledger beside it.
    ``apart``
        A limit beside or above a file covers it under whatever name, and is not walked around by another ledger, a link or a
        move. With ``apart=True`` it is counted apart, and both ledgers write that down.
    ``anyway``
        Ask although an earlier count of the same file, or in the same session, shows that there are too few rows, which is
        otherwise an error before the charge.
    """
    return ask("variance", locals())


def std(
    data: Any,
    column: str | None = None,
    *,
    epsilon: Number | None = None,
    delta: Number | None = None,
    adjacency: str | None = None,
    mechanism: str | None = None,
    target_error: Number | None = None,
    confidence: Number | None = None,
    where: str | None = None,
    window: str | None = None,
    privacy_unit: str | None = None,
    unit: str | None = None,
    max_rows_per_unit: Number | None = None,
    max_groups_per_unit: Number | None = None,
    range: tuple[Number, Number] | str | None = None,
    rows: Number | None = None,
    group_by: Sequence[str] | str | None = None,
    keys: Sequence[str] | None = None,
    types: Mapping[str, str] | None = None,
    type: Mapping[str, str] | None = None,
    alpha: Number | None = None,
    ledger: Path | None = None,
    name: str | None = None,
    analyst: str | None = None,
    apart: bool = False,
    request_id: str | None = None,
    anyway: bool = False,
) -> Release:
    """The standard deviation of a column of numbers (the root of the variance), without bounds.

    >>> import equipoise as eq
    >>> eq.std([20.0, 30.0] * 5000, epsilon=1, range=(0, 100)).statistic
    'std'

    Keywords:

    ``epsilon``
        The privacy loss: 0.1 is careful, 1 is usual, above 10 protects little.
    ``delta``
        By how much any set of outcomes may be likelier than e^epsilon allows, such as 1e-6: well below one over the
        number of rows.
    ``adjacency``
        What may change between data sets that look alike, one row or person: add-remove (the number of rows is
        private too) or replace.
    ``mechanism``
        The mechanism by name; auto takes the least predicted error; a plan shows the others.
    ``target_error``
        How far off the answer may be, instead of epsilon: rows of a count, ranks of a quantile, the column's unit for
        a sum, or for a mean or variance with ``range`` and ``rows``; the least epsilon is used.
    ``confidence``
        With which probability the error bar holds [default: 0.95].
    ``where``
        Only rows of which this is true: comparisons, and, or, not, in, between, is null; a null is never true.
    ``window``
        Where a limit renews by a column of days: the calendar windows whose rows alone take part, as 2026-11,
        2026-09,2026-11 or 2026-07..2026-09; each is charged.
    ``privacy_unit``, ``unit``
        The column that names the person, where people have several rows: all of a person's rows are protected.
    ``max_rows_per_unit``
        With a unit: how many rows of each person take part, drawn at random [default: 1].
    ``max_groups_per_unit``
        With a unit and groups: in how many groups each person takes part, drawn at random, with R rows in each; for a
        select of found values, for how many of them.
    ``range``
        Rows beyond these count as these; only mechanisms that measure in its steps need it. Of the column's type, as
        2000-01-01,2030-12-31.
    ``rows``
        How many rows have a value, exactly, where you state it as public: where all rows take part it stands for a
        noisy count, of quantiles, and of means and variances with ``range``; the error bar then holds if it is right.
    ``group_by``
        Answer for each group of records that agree in these columns; finding the groups needs a delta.
    ``keys``
        The groups, where they are public: values of the one column; needs no delta.
    ``types``, ``type``
        What a column holds: date, timestamp, decimal:2 (digits after the point), integer, boolean, number or text.
    ``alpha``
        One minus the confidence, for who is used to that.
    ``ledger``, ``name``, ``analyst``, ``request_id``
        A file in which the charge is written down, the name that the budget of the data belongs to, who asks, and a
        name for this request: asking again under it gives the same answer for free, whatever rows data of that name has by
        now. Without a ledger an odometer of this process counts (:func:`spent`), and data in memory has no name to ask again
        about; questions about a file use the ledger beside it.
    ``apart``
        A limit beside or above a file covers it under whatever name, and is not walked around by another ledger, a link or a
        move. With ``apart=True`` it is counted apart, and both ledgers write that down.
    ``anyway``
        Ask although an earlier count of the same file, or in the same session, shows that there are too few rows, which is
        otherwise an error before the charge.
    """
    return ask("std", locals())


def median(
    data: Any,
    column: str | None = None,
    *,
    epsilon: Number | None = None,
    delta: Number | None = None,
    adjacency: str | None = None,
    mechanism: str | None = None,
    target_error: Number | None = None,
    confidence: Number | None = None,
    where: str | None = None,
    window: str | None = None,
    privacy_unit: str | None = None,
    unit: str | None = None,
    max_rows_per_unit: Number | None = None,
    max_groups_per_unit: Number | None = None,
    range: tuple[Number, Number] | str | None = None,
    resolution: Number | None = None,
    bound: Number | None = None,
    interval: bool | None = None,
    population: bool | None = None,
    rows: Number | None = None,
    group_by: Sequence[str] | str | None = None,
    keys: Sequence[str] | None = None,
    types: Mapping[str, str] | None = None,
    type: Mapping[str, str] | None = None,
    alpha: Number | None = None,
    ledger: Path | None = None,
    name: str | None = None,
    analyst: str | None = None,
    apart: bool = False,
    request_id: str | None = None,
    anyway: bool = False,
) -> Release:
    """The median of a column of numbers (the lower one of the two in the middle), without bounds.

    >>> import equipoise as eq
    >>> salaries = [30_000 + 7 * i for i in range(1000)]
    >>> release = eq.median(salaries, epsilon=1)
    >>> release.refused  # a noisy count of 1,000 rows would have to fall below 200 at epsilon 0.05
    False

    Keywords:

    ``epsilon``
        The privacy loss: 0.1 is careful, 1 is usual, above 10 protects little.
    ``delta``
        By how much any set of outcomes may be likelier than e^epsilon allows, such as 1e-6: well below one over the
        number of rows.
    ``adjacency``
        What may change between data sets that look alike, one row or person: add-remove (the number of rows is
        private too) or replace.
    ``mechanism``
        The mechanism by name; auto takes the least predicted error; a plan shows the others.
    ``target_error``
        How far off the answer may be, instead of epsilon: rows of a count, ranks of a quantile, the column's unit for
        a sum, or for a mean or variance with ``range`` and ``rows``; the least epsilon is used.
    ``confidence``
        With which probability the error bar holds [default: 0.95].
    ``where``
        Only rows of which this is true: comparisons, and, or, not, in, between, is null; a null is never true.
    ``window``
        Where a limit renews by a column of days: the calendar windows whose rows alone take part, as 2026-11,
        2026-09,2026-11 or 2026-07..2026-09; each is charged.
    ``privacy_unit``, ``unit``
        The column that names the person, where people have several rows: all of a person's rows are protected.
    ``max_rows_per_unit``
        With a unit: how many rows of each person take part, drawn at random [default: 1].
    ``max_groups_per_unit``
        With a unit and groups: in how many groups each person takes part, drawn at random, with R rows in each; for a
        select of found values, for how many of them.
    ``range``
        Rows beyond these count as these; only mechanisms that measure in its steps need it. Of the column's type, as
        2000-01-01,2030-12-31.
    ``resolution``
        Answers and rows are multiples of this; of dates in days, of timestamps in seconds. exact keeps every float,
        where numbers are otherwise rounded to 7 significant digits, 9 for an iqr; whole numbers below 1e10 are kept.
    ``bound``
        With propose-test-release: the most that one row may move the answer, as you propose; tested, and refused
        where few rows could change that. Searched where nothing is said.
    ``interval``
        Spend half of epsilon on an interval of values that holds the true answer; for several quantiles one each.
    ``population``
        Widen the error bar by what the rows differ by chance from a population that they were drawn from, each on its
        own.
    ``rows``
        How many rows have a value, exactly, where you state it as public: where all rows take part it stands for a
        noisy count, of quantiles, and of means and variances with ``range``; the error bar then holds if it is right.
    ``group_by``
        Answer for each group of records that agree in these columns; finding the groups needs a delta.
    ``keys``
        The groups, where they are public: values of the one column; needs no delta.
    ``types``, ``type``
        What a column holds: date, timestamp, decimal:2 (digits after the point), integer, boolean, number or text.
    ``alpha``
        One minus the confidence, for who is used to that.
    ``ledger``, ``name``, ``analyst``, ``request_id``
        A file in which the charge is written down, the name that the budget of the data belongs to, who asks, and a
        name for this request: asking again under it gives the same answer for free, whatever rows data of that name has by
        now. Without a ledger an odometer of this process counts (:func:`spent`), and data in memory has no name to ask again
        about; questions about a file use the ledger beside it.
    ``apart``
        A limit beside or above a file covers it under whatever name, and is not walked around by another ledger, a link or a
        move. With ``apart=True`` it is counted apart, and both ledgers write that down.
    ``anyway``
        Ask although an earlier count of the same file, or in the same session, shows that there are too few rows, which is
        otherwise an error before the charge.
    """
    return ask("median", locals())


def quantile(
    data: Any,
    q: Number | Sequence[Number],
    column: str | Number | Sequence[Number] | None = None,
    *,
    epsilon: Number | None = None,
    delta: Number | None = None,
    adjacency: str | None = None,
    mechanism: str | None = None,
    target_error: Number | None = None,
    confidence: Number | None = None,
    where: str | None = None,
    window: str | None = None,
    privacy_unit: str | None = None,
    unit: str | None = None,
    max_rows_per_unit: Number | None = None,
    max_groups_per_unit: Number | None = None,
    range: tuple[Number, Number] | str | None = None,
    resolution: Number | None = None,
    bound: Number | None = None,
    interval: bool | None = None,
    population: bool | None = None,
    rows: Number | None = None,
    group_by: Sequence[str] | str | None = None,
    keys: Sequence[str] | None = None,
    types: Mapping[str, str] | None = None,
    type: Mapping[str, str] | None = None,
    alpha: Number | None = None,
    ledger: Path | None = None,
    name: str | None = None,
    analyst: str | None = None,
    apart: bool = False,
    request_id: str | None = None,
    anyway: bool = False,
) -> Release:
    """One quantile or several of a column of numbers, without bounds.

    >>> import equipoise as eq
    >>> eq.quantile(list(range(10_000)), [0.25, 0.5, 0.75], epsilon=2).refused
    False

    Keywords:

    ``q``
        Which quantiles: 0.9, or several as 0.25,0.5,0.75.
    ``epsilon``
        The privacy loss: 0.1 is careful, 1 is usual, above 10 protects little.
    ``delta``
        By how much any set of outcomes may be likelier than e^epsilon allows, such as 1e-6: well below one over the
        number of rows.
    ``adjacency``
        What may change between data sets that look alike, one row or person: add-remove (the number of rows is
        private too) or replace.
    ``mechanism``
        The mechanism by name; auto takes the least predicted error; a plan shows the others.
    ``target_error``
        How far off the answer may be, instead of epsilon: rows of a count, ranks of a quantile, the column's unit for
        a sum, or for a mean or variance with ``range`` and ``rows``; the least epsilon is used.
    ``confidence``
        With which probability the error bar holds [default: 0.95].
    ``where``
        Only rows of which this is true: comparisons, and, or, not, in, between, is null; a null is never true.
    ``window``
        Where a limit renews by a column of days: the calendar windows whose rows alone take part, as 2026-11,
        2026-09,2026-11 or 2026-07..2026-09; each is charged.
    ``privacy_unit``, ``unit``
        The column that names the person, where people have several rows: all of a person's rows are protected.
    ``max_rows_per_unit``
        With a unit: how many rows of each person take part, drawn at random [default: 1].
    ``max_groups_per_unit``
        With a unit and groups: in how many groups each person takes part, drawn at random, with R rows in each; for a
        select of found values, for how many of them.
    ``range``
        Rows beyond these count as these; only mechanisms that measure in its steps need it. Of the column's type, as
        2000-01-01,2030-12-31.
    ``resolution``
        Answers and rows are multiples of this; of dates in days, of timestamps in seconds. exact keeps every float,
        where numbers are otherwise rounded to 7 significant digits, 9 for an iqr; whole numbers below 1e10 are kept.
    ``bound``
        With propose-test-release: the most that one row may move the answer, as you propose; tested, and refused
        where few rows could change that. Searched where nothing is said.
    ``interval``
        Spend half of epsilon on an interval of values that holds the true answer; for several quantiles one each.
    ``population``
        Widen the error bar by what the rows differ by chance from a population that they were drawn from, each on its
        own.
    ``rows``
        How many rows have a value, exactly, where you state it as public: where all rows take part it stands for a
        noisy count, of quantiles, and of means and variances with ``range``; the error bar then holds if it is right.
    ``group_by``
        Answer for each group of records that agree in these columns; finding the groups needs a delta.
    ``keys``
        The groups, where they are public: values of the one column; needs no delta.
    ``types``, ``type``
        What a column holds: date, timestamp, decimal:2 (digits after the point), integer, boolean, number or text.
    ``alpha``
        One minus the confidence, for who is used to that.
    ``ledger``, ``name``, ``analyst``, ``request_id``
        A file in which the charge is written down, the name that the budget of the data belongs to, who asks, and a
        name for this request: asking again under it gives the same answer for free, whatever rows data of that name has by
        now. Without a ledger an odometer of this process counts (:func:`spent`), and data in memory has no name to ask again
        about; questions about a file use the ledger beside it.
    ``apart``
        A limit beside or above a file covers it under whatever name, and is not walked around by another ledger, a link or a
        move. With ``apart=True`` it is counted apart, and both ledgers write that down.
    ``anyway``
        Ask although an earlier count of the same file, or in the same session, shows that there are too few rows, which is
        otherwise an error before the charge.
    """
    return ask("quantile", locals())


def iqr(
    data: Any,
    column: str | None = None,
    *,
    epsilon: Number | None = None,
    delta: Number | None = None,
    adjacency: str | None = None,
    mechanism: str | None = None,
    target_error: Number | None = None,
    confidence: Number | None = None,
    where: str | None = None,
    window: str | None = None,
    privacy_unit: str | None = None,
    unit: str | None = None,
    max_rows_per_unit: Number | None = None,
    max_groups_per_unit: Number | None = None,
    range: tuple[Number, Number] | str | None = None,
    resolution: Number | None = None,
    base: Number | None = None,
    interval: bool | None = None,
    rows: Number | None = None,
    group_by: Sequence[str] | str | None = None,
    keys: Sequence[str] | None = None,
    types: Mapping[str, str] | None = None,
    type: Mapping[str, str] | None = None,
    alpha: Number | None = None,
    ledger: Path | None = None,
    name: str | None = None,
    analyst: str | None = None,
    apart: bool = False,
    request_id: str | None = None,
    anyway: bool = False,
) -> Release:
    """The interquartile range of a column of numbers, without bounds.

    >>> import equipoise as eq
    >>> eq.iqr(list(range(10_000)), epsilon=2).refused
    False

    Keywords:

    ``epsilon``
        The privacy loss: 0.1 is careful, 1 is usual, above 10 protects little.
    ``delta``
        By how much any set of outcomes may be likelier than e^epsilon allows, such as 1e-6: well below one over the
        number of rows.
    ``adjacency``
        What may change between data sets that look alike, one row or person: add-remove (the number of rows is
        private too) or replace.
    ``mechanism``
        The mechanism by name; auto takes the least predicted error; a plan shows the others.
    ``target_error``
        How far off the answer may be, instead of epsilon: rows of a count, ranks of a quantile, the column's unit for
        a sum, or for a mean or variance with ``range`` and ``rows``; the least epsilon is used.
    ``confidence``
        With which probability the error bar holds [default: 0.95].
    ``where``
        Only rows of which this is true: comparisons, and, or, not, in, between, is null; a null is never true.
    ``window``
        Where a limit renews by a column of days: the calendar windows whose rows alone take part, as 2026-11,
        2026-09,2026-11 or 2026-07..2026-09; each is charged.
    ``privacy_unit``, ``unit``
        The column that names the person, where people have several rows: all of a person's rows are protected.
    ``max_rows_per_unit``
        With a unit: how many rows of each person take part, drawn at random [default: 1].
    ``max_groups_per_unit``
        With a unit and groups: in how many groups each person takes part, drawn at random, with R rows in each; for a
        select of found values, for how many of them.
    ``range``
        Rows beyond these count as these; only mechanisms that measure in its steps need it. Of the column's type, as
        2000-01-01,2030-12-31.
    ``resolution``
        Answers and rows are multiples of this; of dates in days, of timestamps in seconds. exact keeps every float,
        where numbers are otherwise rounded to 7 significant digits, 9 for an iqr; whole numbers below 1e10 are kept.
    ``base``
        With scale: the answer is told up to factors of this, which few rows must not move it across [default: 2].
    ``interval``
        Spend half of epsilon on an interval of values that holds the true answer; for several quantiles one each.
    ``rows``
        How many rows have a value, exactly, where you state it as public: where all rows take part it stands for a
        noisy count, of quantiles, and of means and variances with ``range``; the error bar then holds if it is right.
    ``group_by``
        Answer for each group of records that agree in these columns; finding the groups needs a delta.
    ``keys``
        The groups, where they are public: values of the one column; needs no delta.
    ``types``, ``type``
        What a column holds: date, timestamp, decimal:2 (digits after the point), integer, boolean, number or text.
    ``alpha``
        One minus the confidence, for who is used to that.
    ``ledger``, ``name``, ``analyst``, ``request_id``
        A file in which the charge is written down, the name that the budget of the data belongs to, who asks, and a
        name for this request: asking again under it gives the same answer for free, whatever rows data of that name has by
        now. Without a ledger an odometer of this process counts (:func:`spent`), and data in memory has no name to ask again
        about; questions about a file use the ledger beside it.
    ``apart``
        A limit beside or above a file covers it under whatever name, and is not walked around by another ledger, a link or a
        move. With ``apart=True`` it is counted apart, and both ledgers write that down.
    ``anyway``
        Ask although an earlier count of the same file, or in the same session, shows that there are too few rows, which is
        otherwise an error before the charge.
    """
    return ask("iqr", locals())


def min(
    data: Any,
    column: str | None = None,
    *,
    epsilon: Number | None = None,
    delta: Number | None = None,
    adjacency: str | None = None,
    mechanism: str | None = None,
    target_error: Number | None = None,
    confidence: Number | None = None,
    where: str | None = None,
    window: str | None = None,
    privacy_unit: str | None = None,
    unit: str | None = None,
    max_rows_per_unit: Number | None = None,
    max_groups_per_unit: Number | None = None,
    range: tuple[Number, Number] | str | None = None,
    resolution: Number | None = None,
    group_by: Sequence[str] | str | None = None,
    keys: Sequence[str] | None = None,
    types: Mapping[str, str] | None = None,
    type: Mapping[str, str] | None = None,
    alpha: Number | None = None,
    ledger: Path | None = None,
    name: str | None = None,
    analyst: str | None = None,
    apart: bool = False,
    request_id: str | None = None,
    anyway: bool = False,
) -> Release:
    """The least value of a column that more than a few rows lie at or below, from inside of the rows.

    The least value itself is one person's. The answer is at least that, with at most so many rows below it as the error says.

    >>> import equipoise as eq
    >>> release = eq.min(list(range(10_000)), epsilon=1)
    >>> release.refused  # a noisy count of 10,000 rows would have to fall below 200 at epsilon 0.05
    False

    Keywords:

    ``epsilon``
        The privacy loss: 0.1 is careful, 1 is usual, above 10 protects little.
    ``delta``
        By how much any set of outcomes may be likelier than e^epsilon allows, such as 1e-6: well below one over the
        number of rows.
    ``adjacency``
        What may change between data sets that look alike, one row or person: add-remove (the number of rows is
        private too) or replace.
    ``mechanism``
        The mechanism by name; auto takes the least predicted error; a plan shows the others.
    ``target_error``
        How far off the answer may be, instead of epsilon: rows of a count, ranks of a quantile, the column's unit for
        a sum, or for a mean or variance with ``range`` and ``rows``; the least epsilon is used.
    ``confidence``
        With which probability the error bar holds [default: 0.95].
    ``where``
        Only rows of which this is true: comparisons, and, or, not, in, between, is null; a null is never true.
    ``window``
        Where a limit renews by a column of days: the calendar windows whose rows alone take part, as 2026-11,
        2026-09,2026-11 or 2026-07..2026-09; each is charged.
    ``privacy_unit``, ``unit``
        The column that names the person, where people have several rows: all of a person's rows are protected.
    ``max_rows_per_unit``
        With a unit: how many rows of each person take part, drawn at random [default: 1].
    ``max_groups_per_unit``
        With a unit and groups: in how many groups each person takes part, drawn at random, with R rows in each; for a
        select of found values, for how many of them.
    ``range``
        Rows beyond these count as these; only mechanisms that measure in its steps need it. Of the column's type, as
        2000-01-01,2030-12-31.
    ``resolution``
        Answers and rows are multiples of this; of dates in days, of timestamps in seconds. exact keeps every float,
        where numbers are otherwise rounded to 7 significant digits, 9 for an iqr; whole numbers below 1e10 are kept.
    ``group_by``
        Answer for each group of records that agree in these columns; finding the groups needs a delta.
    ``keys``
        The groups, where they are public: values of the one column; needs no delta.
    ``types``, ``type``
        What a column holds: date, timestamp, decimal:2 (digits after the point), integer, boolean, number or text.
    ``alpha``
        One minus the confidence, for who is used to that.
    ``ledger``, ``name``, ``analyst``, ``request_id``
        A file in which the charge is written down, the name that the budget of the data belongs to, who asks, and a
        name for this request: asking again under it gives the same answer for free, whatever rows data of that name has by
        now. Without a ledger an odometer of this process counts (:func:`spent`), and data in memory has no name to ask again
        about; questions about a file use the ledger beside it.
    ``apart``
        A limit beside or above a file covers it under whatever name, and is not walked around by another ledger, a link or a
        move. With ``apart=True`` it is counted apart, and both ledgers write that down.
    ``anyway``
        Ask although an earlier count of the same file, or in the same session, shows that there are too few rows, which is
        otherwise an error before the charge.
    """
    return ask("min", locals())


def max(
    data: Any,
    column: str | None = None,
    *,
    epsilon: Number | None = None,
    delta: Number | None = None,
    adjacency: str | None = None,
    mechanism: str | None = None,
    target_error: Number | None = None,
    confidence: Number | None = None,
    where: str | None = None,
    window: str | None = None,
    privacy_unit: str | None = None,
    unit: str | None = None,
    max_rows_per_unit: Number | None = None,
    max_groups_per_unit: Number | None = None,
    range: tuple[Number, Number] | str | None = None,
    resolution: Number | None = None,
    group_by: Sequence[str] | str | None = None,
    keys: Sequence[str] | None = None,
    types: Mapping[str, str] | None = None,
    type: Mapping[str, str] | None = None,
    alpha: Number | None = None,
    ledger: Path | None = None,
    name: str | None = None,
    analyst: str | None = None,
    apart: bool = False,
    request_id: str | None = None,
    anyway: bool = False,
) -> Release:
    """The largest value of a column that more than a few rows lie at or above, from inside of the rows.

    The largest value itself is one person's. The answer is at most that, with at most so many rows above it as the error says.

    >>> import equipoise as eq
    >>> release = eq.max(list(range(10_000)), epsilon=1)
    >>> release.refused  # a noisy count of 10,000 rows would have to fall below 200 at epsilon 0.05
    False

    Keywords:

    ``epsilon``
        The privacy loss: 0.1 is careful, 1 is usual, above 10 protects little.
    ``delta``
        By how much any set of outcomes may be likelier than e^epsilon allows, such as 1e-6: well below one over the
        number of rows.
    ``adjacency``
        What may change between data sets that look alike, one row or person: add-remove (the number of rows is
        private too) or replace.
    ``mechanism``
        The mechanism by name; auto takes the least predicted error; a plan shows the others.
    ``target_error``
        How far off the answer may be, instead of epsilon: rows of a count, ranks of a quantile, the column's unit for
        a sum, or for a mean or variance with ``range`` and ``rows``; the least epsilon is used.
    ``confidence``
        With which probability the error bar holds [default: 0.95].
    ``where``
        Only rows of which this is true: comparisons, and, or, not, in, between, is null; a null is never true.
    ``window``
        Where a limit renews by a column of days: the calendar windows whose rows alone take part, as 2026-11,
        2026-09,2026-11 or 2026-07..2026-09; each is charged.
    ``privacy_unit``, ``unit``
        The column that names the person, where people have several rows: all of a person's rows are protected.
    ``max_rows_per_unit``
        With a unit: how many rows of each person take part, drawn at random [default: 1].
    ``max_groups_per_unit``
        With a unit and groups: in how many groups each person takes part, drawn at random, with R rows in each; for a
        select of found values, for how many of them.
    ``range``
        Rows beyond these count as these; only mechanisms that measure in its steps need it. Of the column's type, as
        2000-01-01,2030-12-31.
    ``resolution``
        Answers and rows are multiples of this; of dates in days, of timestamps in seconds. exact keeps every float,
        where numbers are otherwise rounded to 7 significant digits, 9 for an iqr; whole numbers below 1e10 are kept.
    ``group_by``
        Answer for each group of records that agree in these columns; finding the groups needs a delta.
    ``keys``
        The groups, where they are public: values of the one column; needs no delta.
    ``types``, ``type``
        What a column holds: date, timestamp, decimal:2 (digits after the point), integer, boolean, number or text.
    ``alpha``
        One minus the confidence, for who is used to that.
    ``ledger``, ``name``, ``analyst``, ``request_id``
        A file in which the charge is written down, the name that the budget of the data belongs to, who asks, and a
        name for this request: asking again under it gives the same answer for free, whatever rows data of that name has by
        now. Without a ledger an odometer of this process counts (:func:`spent`), and data in memory has no name to ask again
        about; questions about a file use the ledger beside it.
    ``apart``
        A limit beside or above a file covers it under whatever name, and is not walked around by another ledger, a link or a
        move. With ``apart=True`` it is counted apart, and both ledgers write that down.
    ``anyway``
        Ask although an earlier count of the same file, or in the same session, shows that there are too few rows, which is
        otherwise an error before the charge.
    """
    return ask("max", locals())


def correlation(
    data: Any,
    column: str | None = None,
    y: str | None = None,
    *,
    epsilon: Number | None = None,
    delta: Number | None = None,
    adjacency: str | None = None,
    mechanism: str | None = None,
    target_error: Number | None = None,
    confidence: Number | None = None,
    where: str | None = None,
    window: str | None = None,
    privacy_unit: str | None = None,
    unit: str | None = None,
    max_rows_per_unit: Number | None = None,
    max_groups_per_unit: Number | None = None,
    range: tuple[Number, Number] | str | None = None,
    range_y: tuple[Number, Number] | str | None = None,
    group_by: Sequence[str] | str | None = None,
    keys: Sequence[str] | None = None,
    types: Mapping[str, str] | None = None,
    type: Mapping[str, str] | None = None,
    alpha: Number | None = None,
    ledger: Path | None = None,
    name: str | None = None,
    analyst: str | None = None,
    apart: bool = False,
    request_id: str | None = None,
    anyway: bool = False,
) -> Release:
    """How far two columns of numbers rise together: 1 in step, -1 against each other, 0 neither.

    Rows with a number in both columns count. Without ranges a part of epsilon finds them; they are released with the answer.

    >>> import equipoise as eq
    >>> people = {"age": list(range(100)) * 100, "pay": [2 * age for age in range(100)] * 100}
    >>> release = eq.correlation(people, "age", "pay", epsilon=1, range=(0, 100), range_y=(0, 200))
    >>> release.value > 0.9  # noise of about 5 on sums of 3,333 rows' squares
    True

    Keywords:

    ``y``
        The second column.
    ``epsilon``
        The privacy loss: 0.1 is careful, 1 is usual, above 10 protects little.
    ``delta``
        By how much any set of outcomes may be likelier than e^epsilon allows, such as 1e-6: well below one over the
        number of rows.
    ``adjacency``
        What may change between data sets that look alike, one row or person: add-remove (the number of rows is
        private too) or replace.
    ``mechanism``
        The mechanism by name; auto takes the least predicted error; a plan shows the others.
    ``target_error``
        How far off the answer may be, instead of epsilon: rows of a count, ranks of a quantile, the column's unit for
        a sum, or for a mean or variance with ``range`` and ``rows``; the least epsilon is used.
    ``confidence``
        With which probability the error bar holds [default: 0.95].
    ``where``
        Only rows of which this is true: comparisons, and, or, not, in, between, is null; a null is never true.
    ``window``
        Where a limit renews by a column of days: the calendar windows whose rows alone take part, as 2026-11,
        2026-09,2026-11 or 2026-07..2026-09; each is charged.
    ``privacy_unit``, ``unit``
        The column that names the person, where people have several rows: all of a person's rows are protected.
    ``max_rows_per_unit``
        With a unit: how many rows of each person take part, drawn at random [default: 1].
    ``max_groups_per_unit``
        With a unit and groups: in how many groups each person takes part, drawn at random, with R rows in each; for a
        select of found values, for how many of them.
    ``range``
        Rows beyond these count as these; only mechanisms that measure in its steps need it. Of the column's type, as
        2000-01-01,2030-12-31.
    ``range_y``
        The same as ``range``, for the second column.
    ``group_by``
        Answer for each group of records that agree in these columns; finding the groups needs a delta.
    ``keys``
        The groups, where they are public: values of the one column; needs no delta.
    ``types``, ``type``
        What a column holds: date, timestamp, decimal:2 (digits after the point), integer, boolean, number or text.
    ``alpha``
        One minus the confidence, for who is used to that.
    ``ledger``, ``name``, ``analyst``, ``request_id``
        A file in which the charge is written down, the name that the budget of the data belongs to, who asks, and a
        name for this request: asking again under it gives the same answer for free, whatever rows data of that name has by
        now. Without a ledger an odometer of this process counts (:func:`spent`), and data in memory has no name to ask again
        about; questions about a file use the ledger beside it.
    ``apart``
        A limit beside or above a file covers it under whatever name, and is not walked around by another ledger, a link or a
        move. With ``apart=True`` it is counted apart, and both ledgers write that down.
    ``anyway``
        Ask although an earlier count of the same file, or in the same session, shows that there are too few rows, which is
        otherwise an error before the charge.
    """
    return ask("correlation", locals())


def covariance(
    data: Any,
    column: str | None = None,
    y: str | None = None,
    *,
    epsilon: Number | None = None,
    delta: Number | None = None,
    adjacency: str | None = None,
    mechanism: str | None = None,
    target_error: Number | None = None,
    confidence: Number | None = None,
    where: str | None = None,
    window: str | None = None,
    privacy_unit: str | None = None,
    unit: str | None = None,
    max_rows_per_unit: Number | None = None,
    max_groups_per_unit: Number | None = None,
    range: tuple[Number, Number] | str | None = None,
    range_y: tuple[Number, Number] | str | None = None,
    group_by: Sequence[str] | str | None = None,
    keys: Sequence[str] | None = None,
    types: Mapping[str, str] | None = None,
    type: Mapping[str, str] | None = None,
    alpha: Number | None = None,
    ledger: Path | None = None,
    name: str | None = None,
    analyst: str | None = None,
    apart: bool = False,
    request_id: str | None = None,
    anyway: bool = False,
) -> Release:
    """The covariance of two columns of numbers (the mean product of distances from their means).

    Rows with a number in both columns count. Without ranges a part of epsilon finds them; they are released with the answer.

    >>> import equipoise as eq
    >>> people = {"age": list(range(100)) * 100, "pay": [2 * age for age in range(100)] * 100}
    >>> eq.covariance(people, "age", "pay", epsilon=1, range=(0, 100), range_y=(0, 200)).refused
    False

    Keywords:

    ``y``
        The second column.
    ``epsilon``
        The privacy loss: 0.1 is careful, 1 is usual, above 10 protects little.
    ``delta``
        By how much any set of outcomes may be likelier than e^epsilon allows, such as 1e-6: well below one over the
        number of rows.
    ``adjacency``
        What may change between data sets that look alike, one row or person: add-remove (the number of rows is
        private too) or replace.
    ``mechanism``
        The mechanism by name; auto takes the least predicted error; a plan shows the others.
    ``target_error``
        How far off the answer may be, instead of epsilon: rows of a count, ranks of a quantile, the column's unit for
        a sum, or for a mean or variance with ``range`` and ``rows``; the least epsilon is used.
    ``confidence``
        With which probability the error bar holds [default: 0.95].
    ``where``
        Only rows of which this is true: comparisons, and, or, not, in, between, is null; a null is never true.
    ``window``
        Where a limit renews by a column of days: the calendar windows whose rows alone take part, as 2026-11,
        2026-09,2026-11 or 2026-07..2026-09; each is charged.
    ``privacy_unit``, ``unit``
        The column that names the person, where people have several rows: all of a person's rows are protected.
    ``max_rows_per_unit``
        With a unit: how many rows of each person take part, drawn at random [default: 1].
    ``max_groups_per_unit``
        With a unit and groups: in how many groups each person takes part, drawn at random, with R rows in each; for a
        select of found values, for how many of them.
    ``range``
        Rows beyond these count as these; only mechanisms that measure in its steps need it. Of the column's type, as
        2000-01-01,2030-12-31.
    ``range_y``
        The same as ``range``, for the second column.
    ``group_by``
        Answer for each group of records that agree in these columns; finding the groups needs a delta.
    ``keys``
        The groups, where they are public: values of the one column; needs no delta.
    ``types``, ``type``
        What a column holds: date, timestamp, decimal:2 (digits after the point), integer, boolean, number or text.
    ``alpha``
        One minus the confidence, for who is used to that.
    ``ledger``, ``name``, ``analyst``, ``request_id``
        A file in which the charge is written down, the name that the budget of the data belongs to, who asks, and a
        name for this request: asking again under it gives the same answer for free, whatever rows data of that name has by
        now. Without a ledger an odometer of this process counts (:func:`spent`), and data in memory has no name to ask again
        about; questions about a file use the ledger beside it.
    ``apart``
        A limit beside or above a file covers it under whatever name, and is not walked around by another ledger, a link or a
        move. With ``apart=True`` it is counted apart, and both ledgers write that down.
    ``anyway``
        Ask although an earlier count of the same file, or in the same session, shows that there are too few rows, which is
        otherwise an error before the charge.
    """
    return ask("covariance", locals())


def regression(
    data: Any,
    column: str | None = None,
    *,
    epsilon: Number | None = None,
    delta: Number | None = None,
    adjacency: str | None = None,
    mechanism: str | None = None,
    target_error: Number | None = None,
    confidence: Number | None = None,
    where: str | None = None,
    window: str | None = None,
    privacy_unit: str | None = None,
    unit: str | None = None,
    max_rows_per_unit: Number | None = None,
    max_groups_per_unit: Number | None = None,
    range: tuple[Number, Number] | str | None = None,
    on: Sequence[str] | None = None,
    range_on: Number | Sequence[Number] | None = None,
    types: Mapping[str, str] | None = None,
    type: Mapping[str, str] | None = None,
    alpha: Number | None = None,
    ledger: Path | None = None,
    name: str | None = None,
    analyst: str | None = None,
    apart: bool = False,
    request_id: str | None = None,
    anyway: bool = False,
) -> Release:
    """How a column depends on others: intercept and coefficients by least squares.

    Rows with a number in all columns count. Without ranges a part of epsilon finds them; they are released with the answer. Where
    the model may predict worse than the mean alone, as far as noise tells, it is refused. For a model to predict with, see
    :class:`equipoise.sklearn.Private`.

    >>> import equipoise as eq
    >>> people = {"age": list(range(100)) * 200, "pay": [2 * age + 5 for age in range(100)] * 200}
    >>> release = eq.regression(people, "pay", on=["age"], range=(0, 210), range_on=(0, 100), epsilon=2)
    >>> 1.5 < release.value["coefficients"]["age"] < 2.5  # noise of about 3 on sums of 6,667 rows' squares
    True

    Keywords:

    ``epsilon``
        The privacy loss: 0.1 is careful, 1 is usual, above 10 protects little.
    ``delta``
        By how much any set of outcomes may be likelier than e^epsilon allows, such as 1e-6: well below one over the
        number of rows.
    ``adjacency``
        What may change between data sets that look alike, one row or person: add-remove (the number of rows is
        private too) or replace.
    ``mechanism``
        The mechanism by name; auto takes the least predicted error; a plan shows the others.
    ``target_error``
        How far off the answer may be, instead of epsilon: rows of a count, ranks of a quantile, the column's unit for
        a sum, or for a mean or variance with ``range`` and ``rows``; the least epsilon is used.
    ``confidence``
        With which probability the error bar holds [default: 0.95].
    ``where``
        Only rows of which this is true: comparisons, and, or, not, in, between, is null; a null is never true.
    ``window``
        Where a limit renews by a column of days: the calendar windows whose rows alone take part, as 2026-11,
        2026-09,2026-11 or 2026-07..2026-09; each is charged.
    ``privacy_unit``, ``unit``
        The column that names the person, where people have several rows: all of a person's rows are protected.
    ``max_rows_per_unit``
        With a unit: how many rows of each person take part, drawn at random [default: 1].
    ``max_groups_per_unit``
        With a unit and groups: in how many groups each person takes part, drawn at random, with R rows in each; for a
        select of found values, for how many of them.
    ``range``
        Rows beyond these count as these; only mechanisms that measure in its steps need it. Of the column's type, as
        2000-01-01,2030-12-31.
    ``on``
        The columns that explain the first one, as carat,depth.
    ``range_on``
        The same as ``range``, for each column of ``on`` in their order: 0,6,40,80 are 0 to 6 and 40 to 80.
    ``types``, ``type``
        What a column holds: date, timestamp, decimal:2 (digits after the point), integer, boolean, number or text.
    ``alpha``
        One minus the confidence, for who is used to that.
    ``ledger``, ``name``, ``analyst``, ``request_id``
        A file in which the charge is written down, the name that the budget of the data belongs to, who asks, and a
        name for this request: asking again under it gives the same answer for free, whatever rows data of that name has by
        now. Without a ledger an odometer of this process counts (:func:`spent`), and data in memory has no name to ask again
        about; questions about a file use the ledger beside it.
    ``apart``
        A limit beside or above a file covers it under whatever name, and is not walked around by another ledger, a link or a
        move. With ``apart=True`` it is counted apart, and both ledgers write that down.
    ``anyway``
        Ask although an earlier count of the same file, or in the same session, shows that there are too few rows, which is
        otherwise an error before the charge.
    """
    return ask("regression", locals())


def distinct(
    data: Any,
    column: str | None = None,
    *,
    epsilon: Number | None = None,
    delta: Number | None = None,
    adjacency: str | None = None,
    mechanism: str | None = None,
    target_error: Number | None = None,
    confidence: Number | None = None,
    where: str | None = None,
    window: str | None = None,
    privacy_unit: str | None = None,
    unit: str | None = None,
    max_rows_per_unit: Number | None = None,
    max_groups_per_unit: Number | None = None,
    group_by: Sequence[str] | str | None = None,
    keys: Sequence[str] | None = None,
    types: Mapping[str, str] | None = None,
    type: Mapping[str, str] | None = None,
    alpha: Number | None = None,
    ledger: Path | None = None,
    name: str | None = None,
    analyst: str | None = None,
    apart: bool = False,
    request_id: str | None = None,
    anyway: bool = False,
) -> Release:
    """How many different values a column has, or with a unit how many people there are.

    Empty fields are no value. With ``privacy_unit`` and no column, people are counted.

    >>> import equipoise as eq
    >>> release = eq.distinct(["Bern", "Basel", "Chur"] * 100, epsilon=2)
    >>> abs(release.value - 3) < 50  # off by 50 with a chance of e^-100
    True

    Keywords:

    ``epsilon``
        The privacy loss: 0.1 is careful, 1 is usual, above 10 protects little.
    ``delta``
        By how much any set of outcomes may be likelier than e^epsilon allows, such as 1e-6: well below one over the
        number of rows.
    ``adjacency``
        What may change between data sets that look alike, one row or person: add-remove (the number of rows is
        private too) or replace.
    ``mechanism``
        The mechanism by name; auto takes the least predicted error; a plan shows the others.
    ``target_error``
        How far off the answer may be, instead of epsilon: rows of a count, ranks of a quantile, the column's unit for
        a sum, or for a mean or variance with ``range`` and ``rows``; the least epsilon is used.
    ``confidence``
        With which probability the error bar holds [default: 0.95].
    ``where``
        Only rows of which this is true: comparisons, and, or, not, in, between, is null; a null is never true.
    ``window``
        Where a limit renews by a column of days: the calendar windows whose rows alone take part, as 2026-11,
        2026-09,2026-11 or 2026-07..2026-09; each is charged.
    ``privacy_unit``, ``unit``
        The column that names the person, where people have several rows: all of a person's rows are protected.
    ``max_rows_per_unit``
        With a unit: how many rows of each person take part, drawn at random [default: 1].
    ``max_groups_per_unit``
        With a unit and groups: in how many groups each person takes part, drawn at random, with R rows in each; for a
        select of found values, for how many of them.
    ``group_by``
        Answer for each group of records that agree in these columns; finding the groups needs a delta.
    ``keys``
        The groups, where they are public: values of the one column; needs no delta.
    ``types``, ``type``
        What a column holds: date, timestamp, decimal:2 (digits after the point), integer, boolean, number or text.
    ``alpha``
        One minus the confidence, for who is used to that.
    ``ledger``, ``name``, ``analyst``, ``request_id``
        A file in which the charge is written down, the name that the budget of the data belongs to, who asks, and a
        name for this request: asking again under it gives the same answer for free, whatever rows data of that name has by
        now. Without a ledger an odometer of this process counts (:func:`spent`), and data in memory has no name to ask again
        about; questions about a file use the ledger beside it.
    ``apart``
        A limit beside or above a file covers it under whatever name, and is not walked around by another ledger, a link or a
        move. With ``apart=True`` it is counted apart, and both ledgers write that down.
    ``anyway``
        Ask although an earlier count of the same file, or in the same session, shows that there are too few rows, which is
        otherwise an error before the charge.
    """
    return ask("distinct", locals())


def ecdf(
    data: Any,
    column: str | None = None,
    *,
    epsilon: Number | None = None,
    delta: Number | None = None,
    adjacency: str | None = None,
    mechanism: str | None = None,
    target_error: Number | None = None,
    confidence: Number | None = None,
    where: str | None = None,
    window: str | None = None,
    privacy_unit: str | None = None,
    unit: str | None = None,
    max_rows_per_unit: Number | None = None,
    max_groups_per_unit: Number | None = None,
    at: Number | Sequence[Number] | None = None,
    group_by: Sequence[str] | str | None = None,
    keys: Sequence[str] | None = None,
    types: Mapping[str, str] | None = None,
    type: Mapping[str, str] | None = None,
    alpha: Number | None = None,
    ledger: Path | None = None,
    name: str | None = None,
    analyst: str | None = None,
    apart: bool = False,
    request_id: str | None = None,
    anyway: bool = False,
) -> Release:
    """Which share of the rows is not above stated or drawn points: the distribution function.

    The shares are ``groups`` of the release, and the bars of all points hold at once; with ``group_by``
    those of each group. Without ``at`` points are drawn.

    >>> import equipoise as eq
    >>> release = eq.ecdf(list(range(1000)), epsilon=2, at=[99, 499])
    >>> [group["key"] for group in release.groups]
    ['up to 99', 'up to 499']

    Keywords:

    ``epsilon``
        The privacy loss: 0.1 is careful, 1 is usual, above 10 protects little.
    ``delta``
        By how much any set of outcomes may be likelier than e^epsilon allows, such as 1e-6: well below one over the
        number of rows.
    ``adjacency``
        What may change between data sets that look alike, one row or person: add-remove (the number of rows is
        private too) or replace.
    ``mechanism``
        The mechanism by name; auto takes the least predicted error; a plan shows the others.
    ``target_error``
        How far off the answer may be, instead of epsilon: rows of a count, ranks of a quantile, the column's unit for
        a sum, or for a mean or variance with ``range`` and ``rows``; the least epsilon is used.
    ``confidence``
        With which probability the error bar holds [default: 0.95].
    ``where``
        Only rows of which this is true: comparisons, and, or, not, in, between, is null; a null is never true.
    ``window``
        Where a limit renews by a column of days: the calendar windows whose rows alone take part, as 2026-11,
        2026-09,2026-11 or 2026-07..2026-09; each is charged.
    ``privacy_unit``, ``unit``
        The column that names the person, where people have several rows: all of a person's rows are protected.
    ``max_rows_per_unit``
        With a unit: how many rows of each person take part, drawn at random [default: 1].
    ``max_groups_per_unit``
        With a unit and groups: in how many groups each person takes part, drawn at random, with R rows in each; for a
        select of found values, for how many of them.
    ``at``
        The points, of the column's type and in growing order, as 0,15,60; drawn as quantiles where none are stated.
    ``group_by``
        Answer for each group of records that agree in these columns; finding the groups needs a delta.
    ``keys``
        The groups, where they are public: values of the one column; needs no delta.
    ``types``, ``type``
        What a column holds: date, timestamp, decimal:2 (digits after the point), integer, boolean, number or text.
    ``alpha``
        One minus the confidence, for who is used to that.
    ``ledger``, ``name``, ``analyst``, ``request_id``
        A file in which the charge is written down, the name that the budget of the data belongs to, who asks, and a
        name for this request: asking again under it gives the same answer for free, whatever rows data of that name has by
        now. Without a ledger an odometer of this process counts (:func:`spent`), and data in memory has no name to ask again
        about; questions about a file use the ledger beside it.
    ``apart``
        A limit beside or above a file covers it under whatever name, and is not walked around by another ledger, a link or a
        move. With ``apart=True`` it is counted apart, and both ledgers write that down.
    ``anyway``
        Ask although an earlier count of the same file, or in the same session, shows that there are too few rows, which is
        otherwise an error before the charge.
    """
    return ask("ecdf", locals())


def mode(
    data: Any,
    column: str | None = None,
    *,
    epsilon: Number | None = None,
    delta: Number | None = None,
    adjacency: str | None = None,
    mechanism: str | None = None,
    target_error: Number | None = None,
    confidence: Number | None = None,
    where: str | None = None,
    window: str | None = None,
    privacy_unit: str | None = None,
    unit: str | None = None,
    max_rows_per_unit: Number | None = None,
    max_groups_per_unit: Number | None = None,
    group_by: Sequence[str] | str | None = None,
    keys: Sequence[str] | None = None,
    types: Mapping[str, str] | None = None,
    type: Mapping[str, str] | None = None,
    alpha: Number | None = None,
    ledger: Path | None = None,
    name: str | None = None,
    analyst: str | None = None,
    apart: bool = False,
    request_id: str | None = None,
    anyway: bool = False,
) -> Release:
    """The most frequent value of a column, exact, or a refusal where it leads by too little.

    With a privacy unit, all rows of a person take part and each person counts once for each value, unless
    ``max_rows_per_unit`` draws rows.

    >>> import equipoise as eq
    >>> eq.mode(["Bern"] * 900 + ["Basel"] * 100, epsilon=1, delta=1e-6).value
    'Bern'

    Keywords:

    ``epsilon``
        The privacy loss: 0.1 is careful, 1 is usual, above 10 protects little.
    ``delta``
        By how much any set of outcomes may be likelier than e^epsilon allows, such as 1e-6: well below one over the
        number of rows.
    ``adjacency``
        What may change between data sets that look alike, one row or person: add-remove (the number of rows is
        private too) or replace.
    ``mechanism``
        The mechanism by name; auto takes the least predicted error; a plan shows the others.
    ``target_error``
        How far off the answer may be, instead of epsilon: rows of a count, ranks of a quantile, the column's unit for
        a sum, or for a mean or variance with ``range`` and ``rows``; the least epsilon is used.
    ``confidence``
        With which probability the error bar holds [default: 0.95].
    ``where``
        Only rows of which this is true: comparisons, and, or, not, in, between, is null; a null is never true.
    ``window``
        Where a limit renews by a column of days: the calendar windows whose rows alone take part, as 2026-11,
        2026-09,2026-11 or 2026-07..2026-09; each is charged.
    ``privacy_unit``, ``unit``
        The column that names the person, where people have several rows: all of a person's rows are protected.
    ``max_rows_per_unit``
        With a unit: how many rows of each person take part, drawn at random [default: 1].
    ``max_groups_per_unit``
        With a unit and groups: in how many groups each person takes part, drawn at random, with R rows in each; for a
        select of found values, for how many of them.
    ``group_by``
        Answer for each group of records that agree in these columns; finding the groups needs a delta.
    ``keys``
        The groups, where they are public: values of the one column; needs no delta.
    ``types``, ``type``
        What a column holds: date, timestamp, decimal:2 (digits after the point), integer, boolean, number or text.
    ``alpha``
        One minus the confidence, for who is used to that.
    ``ledger``, ``name``, ``analyst``, ``request_id``
        A file in which the charge is written down, the name that the budget of the data belongs to, who asks, and a
        name for this request: asking again under it gives the same answer for free, whatever rows data of that name has by
        now. Without a ledger an odometer of this process counts (:func:`spent`), and data in memory has no name to ask again
        about; questions about a file use the ledger beside it.
    ``apart``
        A limit beside or above a file covers it under whatever name, and is not walked around by another ledger, a link or a
        move. With ``apart=True`` it is counted apart, and both ledgers write that down.
    ``anyway``
        Ask although an earlier count of the same file, or in the same session, shows that there are too few rows, which is
        otherwise an error before the charge.
    """
    return ask("mode", locals())


def histogram(
    data: Any,
    column: str | None = None,
    *,
    epsilon: Number | None = None,
    delta: Number | None = None,
    adjacency: str | None = None,
    mechanism: str | None = None,
    target_error: Number | None = None,
    confidence: Number | None = None,
    where: str | None = None,
    window: str | None = None,
    privacy_unit: str | None = None,
    unit: str | None = None,
    max_rows_per_unit: Number | None = None,
    max_groups_per_unit: Number | None = None,
    range: tuple[Number, Number] | str | None = None,
    bins: Number | None = None,
    quantile_bins: Number | None = None,
    width: Number | None = None,
    group_by: Sequence[str] | str | None = None,
    keys: Sequence[str] | None = None,
    types: Mapping[str, str] | None = None,
    type: Mapping[str, str] | None = None,
    alpha: Number | None = None,
    ledger: Path | None = None,
    name: str | None = None,
    analyst: str | None = None,
    apart: bool = False,
    request_id: str | None = None,
    anyway: bool = False,
) -> Release:
    """How many records each value or bin of a column has; rare values are not released.

    The counts are ``groups`` of the release. Values are found privately, which takes a delta, or stated as ``keys``.

    >>> import equipoise as eq
    >>> release = eq.histogram(["a"] * 600 + ["b"] * 400, epsilon=1, keys=["a", "b", "c"])
    >>> [group["key"] for group in release.groups]
    ['a', 'b', 'c']
    >>> ages = eq.histogram(list(range(100)), epsilon=1, bins=2, range=(0, 100))
    >>> [group["key"] for group in ages.groups]
    ['below 0', '0 .. 50', '50 .. 100', 'above 100']

    Keywords:

    ``epsilon``
        The privacy loss: 0.1 is careful, 1 is usual, above 10 protects little.
    ``delta``
        By how much any set of outcomes may be likelier than e^epsilon allows, such as 1e-6: well below one over the
        number of rows.
    ``adjacency``
        What may change between data sets that look alike, one row or person: add-remove (the number of rows is
        private too) or replace.
    ``mechanism``
        The mechanism by name; auto takes the least predicted error; a plan shows the others.
    ``target_error``
        How far off the answer may be, instead of epsilon: rows of a count, ranks of a quantile, the column's unit for
        a sum, or for a mean or variance with ``range`` and ``rows``; the least epsilon is used.
    ``confidence``
        With which probability the error bar holds [default: 0.95].
    ``where``
        Only rows of which this is true: comparisons, and, or, not, in, between, is null; a null is never true.
    ``window``
        Where a limit renews by a column of days: the calendar windows whose rows alone take part, as 2026-11,
        2026-09,2026-11 or 2026-07..2026-09; each is charged.
    ``privacy_unit``, ``unit``
        The column that names the person, where people have several rows: all of a person's rows are protected.
    ``max_rows_per_unit``
        With a unit: how many rows of each person take part, drawn at random [default: 1].
    ``max_groups_per_unit``
        With a unit and groups: in how many groups each person takes part, drawn at random, with R rows in each; for a
        select of found values, for how many of them.
    ``range``
        Rows beyond these count as these; only mechanisms that measure in its steps need it. Of the column's type, as
        2000-01-01,2030-12-31.
    ``bins``
        Count numbers in so many bins of one length over ``range``; what lies below and above is counted too.
    ``quantile_bins``
        Draw edges with about as many rows between each two, for all of epsilon; counts follow from their ranks.
    ``width``
        Count numbers between multiples of this, in days for dates and seconds for timestamps: over ``range``, or
        where enough rows are, which takes a delta.
    ``group_by``
        Answer for each group of records that agree in these columns; finding the groups needs a delta.
    ``keys``
        The groups, where they are public: values of the one column; needs no delta.
    ``types``, ``type``
        What a column holds: date, timestamp, decimal:2 (digits after the point), integer, boolean, number or text.
    ``alpha``
        One minus the confidence, for who is used to that.
    ``ledger``, ``name``, ``analyst``, ``request_id``
        A file in which the charge is written down, the name that the budget of the data belongs to, who asks, and a
        name for this request: asking again under it gives the same answer for free, whatever rows data of that name has by
        now. Without a ledger an odometer of this process counts (:func:`spent`), and data in memory has no name to ask again
        about; questions about a file use the ledger beside it.
    ``apart``
        A limit beside or above a file covers it under whatever name, and is not walked around by another ledger, a link or a
        move. With ``apart=True`` it is counted apart, and both ledgers write that down.
    ``anyway``
        Ask although an earlier count of the same file, or in the same session, shows that there are too few rows, which is
        otherwise an error before the charge.
    """
    return ask("histogram", locals())


def select(
    data: Any,
    column: str | None = None,
    *,
    epsilon: Number | None = None,
    delta: Number | None = None,
    adjacency: str | None = None,
    mechanism: str | None = None,
    target_error: Number | None = None,
    confidence: Number | None = None,
    where: str | None = None,
    window: str | None = None,
    privacy_unit: str | None = None,
    unit: str | None = None,
    max_rows_per_unit: Number | None = None,
    max_groups_per_unit: Number | None = None,
    among: Sequence[str] | None = None,
    group_by: Sequence[str] | str | None = None,
    keys: Sequence[str] | None = None,
    types: Mapping[str, str] | None = None,
    type: Mapping[str, str] | None = None,
    alpha: Number | None = None,
    ledger: Path | None = None,
    name: str | None = None,
    analyst: str | None = None,
    apart: bool = False,
    request_id: str | None = None,
    anyway: bool = False,
) -> Release:
    """A value that nearly most records have: among stated candidates, or found ones.

    Among stated values it always answers, where :func:`mode` may refuse; among frequent ones, found for a delta, it refuses where
    none is frequent enough. It may name a value that is not quite the most frequent. With a privacy unit and ``among``, all rows of
    a person take part and each person counts once for each value, unless ``max_rows_per_unit`` draws rows; without ``among``, for as
    many values as ``max_groups_per_unit`` says.

    >>> import equipoise as eq
    >>> eq.select(["Bern"] * 900 + ["Basel"] * 100, epsilon=1, among=["Basel", "Bern"]).value  # wrong once in e^400
    'Bern'

    Keywords:

    ``epsilon``
        The privacy loss: 0.1 is careful, 1 is usual, above 10 protects little.
    ``delta``
        By how much any set of outcomes may be likelier than e^epsilon allows, such as 1e-6: well below one over the
        number of rows.
    ``adjacency``
        What may change between data sets that look alike, one row or person: add-remove (the number of rows is
        private too) or replace.
    ``mechanism``
        The mechanism by name; auto takes the least predicted error; a plan shows the others.
    ``target_error``
        How far off the answer may be, instead of epsilon: rows of a count, ranks of a quantile, the column's unit for
        a sum, or for a mean or variance with ``range`` and ``rows``; the least epsilon is used.
    ``confidence``
        With which probability the error bar holds [default: 0.95].
    ``where``
        Only rows of which this is true: comparisons, and, or, not, in, between, is null; a null is never true.
    ``window``
        Where a limit renews by a column of days: the calendar windows whose rows alone take part, as 2026-11,
        2026-09,2026-11 or 2026-07..2026-09; each is charged.
    ``privacy_unit``, ``unit``
        The column that names the person, where people have several rows: all of a person's rows are protected.
    ``max_rows_per_unit``
        With a unit: how many rows of each person take part, drawn at random [default: 1].
    ``max_groups_per_unit``
        With a unit and groups: in how many groups each person takes part, drawn at random, with R rows in each; for a
        select of found values, for how many of them.
    ``among``
        The candidates, where they are public; needs no delta.
    ``group_by``
        Answer for each group of records that agree in these columns; finding the groups needs a delta.
    ``keys``
        The groups, where they are public: values of the one column; needs no delta.
    ``types``, ``type``
        What a column holds: date, timestamp, decimal:2 (digits after the point), integer, boolean, number or text.
    ``alpha``
        One minus the confidence, for who is used to that.
    ``ledger``, ``name``, ``analyst``, ``request_id``
        A file in which the charge is written down, the name that the budget of the data belongs to, who asks, and a
        name for this request: asking again under it gives the same answer for free, whatever rows data of that name has by
        now. Without a ledger an odometer of this process counts (:func:`spent`), and data in memory has no name to ask again
        about; questions about a file use the ledger beside it.
    ``apart``
        A limit beside or above a file covers it under whatever name, and is not walked around by another ledger, a link or a
        move. With ``apart=True`` it is counted apart, and both ledgers write that down.
    ``anyway``
        Ask although an earlier count of the same file, or in the same session, shows that there are too few rows, which is
        otherwise an error before the charge.
    """
    return ask("select", locals())


def top(
    data: Any,
    k: Number,
    column: str | Number | None = None,
    *,
    epsilon: Number | None = None,
    delta: Number | None = None,
    adjacency: str | None = None,
    mechanism: str | None = None,
    target_error: Number | None = None,
    confidence: Number | None = None,
    where: str | None = None,
    window: str | None = None,
    privacy_unit: str | None = None,
    unit: str | None = None,
    max_rows_per_unit: Number | None = None,
    max_groups_per_unit: Number | None = None,
    among: Sequence[str] | None = None,
    group_by: Sequence[str] | str | None = None,
    keys: Sequence[str] | None = None,
    types: Mapping[str, str] | None = None,
    type: Mapping[str, str] | None = None,
    alpha: Number | None = None,
    ledger: Path | None = None,
    name: str | None = None,
    analyst: str | None = None,
    apart: bool = False,
    request_id: str | None = None,
    anyway: bool = False,
) -> Release:
    """The K most frequent values of a column: nearly, among stated ones; else exactly, or a refusal.

    Among stated values it always answers, nearly in the order of how frequent they are; without ``among``, which takes a delta, the exact
    set is released in the order of its texts, or refused where its last value leads the next one by too little. With a privacy unit,
    all rows of a person take part and each person counts once for each value, unless ``max_rows_per_unit`` draws rows. For the counts of the
    values ask :func:`histogram` with ``keys`` afterwards, at a price of its own.

    >>> import equipoise as eq
    >>> towns = ["Bern"] * 900 + ["Basel"] * 500 + ["Biel"] * 100
    >>> eq.top(towns, 2, epsilon=1, delta=1e-6).value  # refused once in e^300
    ['Basel', 'Bern']

    Keywords:

    ``k``
        How many of the most frequent values.
    ``epsilon``
        The privacy loss: 0.1 is careful, 1 is usual, above 10 protects little.
    ``delta``
        By how much any set of outcomes may be likelier than e^epsilon allows, such as 1e-6: well below one over the
        number of rows.
    ``adjacency``
        What may change between data sets that look alike, one row or person: add-remove (the number of rows is
        private too) or replace.
    ``mechanism``
        The mechanism by name; auto takes the least predicted error; a plan shows the others.
    ``target_error``
        How far off the answer may be, instead of epsilon: rows of a count, ranks of a quantile, the column's unit for
        a sum, or for a mean or variance with ``range`` and ``rows``; the least epsilon is used.
    ``confidence``
        With which probability the error bar holds [default: 0.95].
    ``where``
        Only rows of which this is true: comparisons, and, or, not, in, between, is null; a null is never true.
    ``window``
        Where a limit renews by a column of days: the calendar windows whose rows alone take part, as 2026-11,
        2026-09,2026-11 or 2026-07..2026-09; each is charged.
    ``privacy_unit``, ``unit``
        The column that names the person, where people have several rows: all of a person's rows are protected.
    ``max_rows_per_unit``
        With a unit: how many rows of each person take part, drawn at random [default: 1].
    ``max_groups_per_unit``
        With a unit and groups: in how many groups each person takes part, drawn at random, with R rows in each; for a
        select of found values, for how many of them.
    ``among``
        The candidates, where they are public; needs no delta.
    ``group_by``
        Answer for each group of records that agree in these columns; finding the groups needs a delta.
    ``keys``
        The groups, where they are public: values of the one column; needs no delta.
    ``types``, ``type``
        What a column holds: date, timestamp, decimal:2 (digits after the point), integer, boolean, number or text.
    ``alpha``
        One minus the confidence, for who is used to that.
    ``ledger``, ``name``, ``analyst``, ``request_id``
        A file in which the charge is written down, the name that the budget of the data belongs to, who asks, and a
        name for this request: asking again under it gives the same answer for free, whatever rows data of that name has by
        now. Without a ledger an odometer of this process counts (:func:`spent`), and data in memory has no name to ask again
        about; questions about a file use the ledger beside it.
    ``apart``
        A limit beside or above a file covers it under whatever name, and is not walked around by another ledger, a link or a
        move. With ``apart=True`` it is counted apart, and both ledgers write that down.
    ``anyway``
        Ask although an earlier count of the same file, or in the same session, shows that there are too few rows, which is
        otherwise an error before the charge.
    """
    return ask("top", locals())


def summary(
    data: Any,
    column: str | None = None,
    *,
    epsilon: Number | None = None,
    delta: Number | None = None,
    adjacency: str | None = None,
    mechanism: str | None = None,
    target_error: Number | None = None,
    confidence: Number | None = None,
    where: str | None = None,
    window: str | None = None,
    privacy_unit: str | None = None,
    unit: str | None = None,
    max_rows_per_unit: Number | None = None,
    max_groups_per_unit: Number | None = None,
    range: tuple[Number, Number] | str | None = None,
    resolution: Number | None = None,
    interval: bool | None = None,
    no_quantiles: bool | None = None,
    rows: Number | None = None,
    group_by: Sequence[str] | str | None = None,
    keys: Sequence[str] | None = None,
    types: Mapping[str, str] | None = None,
    type: Mapping[str, str] | None = None,
    alpha: Number | None = None,
    ledger: Path | None = None,
    name: str | None = None,
    analyst: str | None = None,
    apart: bool = False,
    request_id: str | None = None,
    anyway: bool = False,
) -> Release:
    """Count, mean, standard deviation and quantiles of a column, for one price in one scan.

    They are ``answers`` of the release. With ``group_by`` each of its ``groups`` has them, and their values by name as its
    ``value``: a table is ``pandas.DataFrame([{"town": group["key"], **group["value"]} for group in release.groups])``.

    >>> import equipoise as eq
    >>> release = eq.summary(list(range(10_000)), epsilon=4)
    >>> release.statistic
    'summary'

    Keywords:

    ``epsilon``
        The privacy loss: 0.1 is careful, 1 is usual, above 10 protects little.
    ``delta``
        By how much any set of outcomes may be likelier than e^epsilon allows, such as 1e-6: well below one over the
        number of rows.
    ``adjacency``
        What may change between data sets that look alike, one row or person: add-remove (the number of rows is
        private too) or replace.
    ``mechanism``
        The mechanism by name; auto takes the least predicted error; a plan shows the others.
    ``target_error``
        How far off the answer may be, instead of epsilon: rows of a count, ranks of a quantile, the column's unit for
        a sum, or for a mean or variance with ``range`` and ``rows``; the least epsilon is used.
    ``confidence``
        With which probability the error bar holds [default: 0.95].
    ``where``
        Only rows of which this is true: comparisons, and, or, not, in, between, is null; a null is never true.
    ``window``
        Where a limit renews by a column of days: the calendar windows whose rows alone take part, as 2026-11,
        2026-09,2026-11 or 2026-07..2026-09; each is charged.
    ``privacy_unit``, ``unit``
        The column that names the person, where people have several rows: all of a person's rows are protected.
    ``max_rows_per_unit``
        With a unit: how many rows of each person take part, drawn at random [default: 1].
    ``max_groups_per_unit``
        With a unit and groups: in how many groups each person takes part, drawn at random, with R rows in each; for a
        select of found values, for how many of them.
    ``range``
        Rows beyond these count as these; only mechanisms that measure in its steps need it. Of the column's type, as
        2000-01-01,2030-12-31.
    ``resolution``
        Answers and rows are multiples of this; of dates in days, of timestamps in seconds. exact keeps every float,
        where numbers are otherwise rounded to 7 significant digits, 9 for an iqr; whole numbers below 1e10 are kept.
    ``interval``
        Spend half of epsilon on an interval of values that holds the true answer; for several quantiles one each.
    ``no_quantiles``
        Leave the quantiles out and spend all of epsilon on count, mean and standard deviation, where there are too
        few rows for quantiles.
    ``rows``
        How many rows have a value, exactly, where you state it as public: where all rows take part it stands for a
        noisy count, of quantiles, and of means and variances with ``range``; the error bar then holds if it is right.
    ``group_by``
        Answer for each group of records that agree in these columns; finding the groups needs a delta.
    ``keys``
        The groups, where they are public: values of the one column; needs no delta.
    ``types``, ``type``
        What a column holds: date, timestamp, decimal:2 (digits after the point), integer, boolean, number or text.
    ``alpha``
        One minus the confidence, for who is used to that.
    ``ledger``, ``name``, ``analyst``, ``request_id``
        A file in which the charge is written down, the name that the budget of the data belongs to, who asks, and a
        name for this request: asking again under it gives the same answer for free, whatever rows data of that name has by
        now. Without a ledger an odometer of this process counts (:func:`spent`), and data in memory has no name to ask again
        about; questions about a file use the ledger beside it.
    ``apart``
        A limit beside or above a file covers it under whatever name, and is not walked around by another ledger, a link or a
        move. With ``apart=True`` it is counted apart, and both ledgers write that down.
    ``anyway``
        Ask although an earlier count of the same file, or in the same session, shows that there are too few rows, which is
        otherwise an error before the charge.
    """
    return ask("summary", locals())


quantiles = quantile
