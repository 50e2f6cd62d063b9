"""The statistics: one function each, on any kind of data.

Every function takes a column of numbers (numpy, pandas, Polars, pyarrow, a list, anything that speaks Arrow) or a table
or the path of a file with the name of a column. All share their keywords; see :func:`median`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, Union

from ._ask import ask
from ._release import Release

Number = Union[float, int, str]
Path = Union[str, "os.PathLike[str]"]


def count(
    data: Any,
    column: str | None = None,
    *,
    epsilon: Number,
    adjacency: str | None = None,
    privacy_unit: str | None = None,
    max_rows_per_unit: Number | None = None,
    max_groups_per_unit: Number | None = None,
    types: Mapping[str, str] | None = None,
    where: str | None = None,
    group_by: Sequence[str] | str | None = None,
    keys: Sequence[str] | None = None,
    delta: Number | None = None,
    confidence: Number | None = None,
    alpha: Number | None = None,
    ledger: Path | None = None,
    name: str | None = None,
    analyst: str | None = None,
    apart: bool = False,
    request_id: str | None = None,
) -> Release:
    """How many records there are, or how many have a value in a column.

    >>> import equipoise as eq
    >>> release = eq.count(["a", "b"] * 500, epsilon=2)
    >>> abs(release.value - 1000) < 50  # off by 50 with a chance of e^-100
    True
    """
    return ask("count", locals())


def sum(
    data: Any,
    column: str | None = None,
    *,
    epsilon: Number,
    delta: Number | None = None,
    adjacency: str | None = None,
    privacy_unit: str | None = None,
    max_rows_per_unit: Number | None = None,
    max_groups_per_unit: Number | None = None,
    types: Mapping[str, str] | None = None,
    range: tuple[Number, Number] | str | None = None,
    mechanism: str | None = None,
    where: str | None = None,
    group_by: Sequence[str] | str | None = None,
    keys: Sequence[str] | None = None,
    confidence: Number | None = None,
    alpha: Number | None = None,
    ledger: Path | None = None,
    name: str | None = None,
    analyst: str | None = None,
    apart: bool = False,
    request_id: str | None = None,
) -> Release:
    """The sum of a column. Without ``range``, a part of epsilon finds one; it is told with the answer.

    >>> import equipoise as eq
    >>> release = eq.sum([20.0, 30.0] * 5000, epsilon=1, range=(0, 100))
    >>> abs(release.value - 250_000) < 10_000  # noise of scale 100: farther off with a chance of e^-100
    True
    """
    return ask("sum", locals())


def mean(
    data: Any,
    column: str | None = None,
    *,
    epsilon: Number,
    delta: Number | None = None,
    adjacency: str | None = None,
    privacy_unit: str | None = None,
    max_rows_per_unit: Number | None = None,
    max_groups_per_unit: Number | None = None,
    types: Mapping[str, str] | None = None,
    range: tuple[Number, Number] | str | None = None,
    mechanism: str | None = None,
    where: str | None = None,
    group_by: Sequence[str] | str | None = None,
    keys: Sequence[str] | None = None,
    confidence: Number | None = None,
    alpha: Number | None = None,
    ledger: Path | None = None,
    name: str | None = None,
    analyst: str | None = None,
    apart: bool = False,
    request_id: str | None = None,
) -> Release:
    """The mean of a column, without bounds. A ``range`` that is known in advance makes it more accurate.

    >>> import equipoise as eq
    >>> eq.mean([20.0, 30.0] * 5000, epsilon=1, range=(0, 100)).refused
    False
    """
    return ask("mean", locals())


def variance(
    data: Any,
    column: str | None = None,
    *,
    epsilon: Number,
    delta: Number | None = None,
    adjacency: str | None = None,
    privacy_unit: str | None = None,
    max_rows_per_unit: Number | None = None,
    max_groups_per_unit: Number | None = None,
    types: Mapping[str, str] | None = None,
    range: tuple[Number, Number] | str | None = None,
    mechanism: str | None = None,
    where: str | None = None,
    group_by: Sequence[str] | str | None = None,
    keys: Sequence[str] | None = None,
    confidence: Number | None = None,
    alpha: Number | None = None,
    ledger: Path | None = None,
    name: str | None = None,
    analyst: str | None = None,
    apart: bool = False,
    request_id: str | None = None,
) -> Release:
    """The variance of a column, without bounds.

    >>> import equipoise as eq
    >>> eq.variance([20.0, 30.0] * 5000, epsilon=1, range=(0, 100)).refused
    False
    """
    return ask("variance", locals())


def std(
    data: Any,
    column: str | None = None,
    *,
    epsilon: Number,
    delta: Number | None = None,
    adjacency: str | None = None,
    privacy_unit: str | None = None,
    max_rows_per_unit: Number | None = None,
    max_groups_per_unit: Number | None = None,
    types: Mapping[str, str] | None = None,
    range: tuple[Number, Number] | str | None = None,
    mechanism: str | None = None,
    where: str | None = None,
    confidence: Number | None = None,
    alpha: Number | None = None,
    ledger: Path | None = None,
    name: str | None = None,
    analyst: str | None = None,
    apart: bool = False,
    request_id: str | None = None,
) -> Release:
    """The standard deviation of a column, without bounds: the root of :func:`variance`.

    >>> import equipoise as eq
    >>> eq.std([20.0, 30.0] * 5000, epsilon=1, range=(0, 100)).statistic
    'std'
    """
    return ask("std", locals())


def median(
    data: Any,
    column: str | None = None,
    *,
    epsilon: Number,
    delta: Number | None = None,
    adjacency: str | None = None,
    privacy_unit: str | None = None,
    max_rows_per_unit: Number | None = None,
    max_groups_per_unit: Number | None = None,
    types: Mapping[str, str] | None = None,
    range: tuple[Number, Number] | str | None = None,
    resolution: Number | None = None,
    interval: bool | None = None,
    rows: int | None = None,
    mechanism: str | None = None,
    where: str | None = None,
    group_by: Sequence[str] | str | None = None,
    keys: Sequence[str] | None = None,
    confidence: Number | None = None,
    alpha: Number | None = None,
    ledger: Path | None = None,
    name: str | None = None,
    analyst: str | None = None,
    apart: bool = False,
    request_id: str | None = None,
) -> Release:
    """The median of a column, without bounds or candidates.

    Keywords, which other statistics share:

    ``epsilon``, ``delta``
        The privacy loss. A float counts as the decimal that it shows: ``0.1`` is one tenth.
    ``adjacency``
        What one person may change: ``"add-remove"`` (the default; the number of rows is private too) or ``"replace"``.
    ``privacy_unit``, ``max_rows_per_unit``, ``max_groups_per_unit``
        The column that names the person, without which a person is a row; how many rows of each take part (one), and with
        ``group_by`` in how many groups.
    ``types``
        What columns hold, where their own type does not say it: ``{"hired": "date"}``, or timestamp, decimal:2, integer,
        boolean, number, text. Dates, moments and decimals are answered as text.
    ``range``, ``resolution``
        Answers lie between two numbers, and are multiples of a number. Not needed; they make errors smaller.
    ``interval``
        Spend half of epsilon on an interval of values that holds the true answer; for several quantiles one each, all at once.
    ``rows``
        The number of rows, where it is public: nothing is then paid for it.
    ``mechanism``
        By name; chosen from public facts without it. Sums, means and variances: ``laplace`` or ``gaussian``; ``select``:
        ``permute-and-flip``, ``exponential`` or ``noisy-max``.
    ``where``
        A condition on each record, such as ``"age >= 18 and town = 'Bern'"``.
    ``group_by``, ``keys``
        One answer for each group; the keys are found privately (which takes a delta) or stated.
    ``confidence`` or ``alpha``
        How sure the error bar is; ``alpha`` is one minus that.
    ``ledger``, ``name``, ``analyst``, ``request_id``
        A file in which the charge is written down, the name that the budget of the data belongs to, who asks, and a
        name for this request: asking again under it gives the same answer for free, whatever rows data of that name has by
        now. Without a ledger an odometer of this process counts (:func:`spent`), and data in memory has no name to ask again
        about; questions about a file use the ledger beside it.
    ``apart``
        A limit beside or above a file covers it under whatever name, and is not walked around by another ledger, a link or a move. With
        ``apart=True`` it is counted apart, and both ledgers write that down.

    >>> import equipoise as eq
    >>> salaries = [30_000 + 7 * i for i in range(1000)]
    >>> release = eq.median(salaries, epsilon=1)
    >>> release.refused  # a noisy count of 1,000 rows would have to fall below 200 at epsilon 0.05
    False
    """
    return ask("median", locals())


def quantile(
    data: Any,
    q: Number | Sequence[Number],
    column: str | None = None,
    *,
    epsilon: Number,
    delta: Number | None = None,
    adjacency: str | None = None,
    privacy_unit: str | None = None,
    max_rows_per_unit: Number | None = None,
    max_groups_per_unit: Number | None = None,
    types: Mapping[str, str] | None = None,
    range: tuple[Number, Number] | str | None = None,
    resolution: Number | None = None,
    interval: bool | None = None,
    rows: int | None = None,
    mechanism: str | None = None,
    where: str | None = None,
    group_by: Sequence[str] | str | None = None,
    keys: Sequence[str] | None = None,
    confidence: Number | None = None,
    alpha: Number | None = None,
    ledger: Path | None = None,
    name: str | None = None,
    analyst: str | None = None,
    apart: bool = False,
    request_id: str | None = None,
) -> Release:
    """One quantile or several of a column, without bounds.

    >>> import equipoise as eq
    >>> eq.quantile(list(range(10_000)), [0.25, 0.5, 0.75], epsilon=2).refused
    False
    """
    return ask("quantile", locals())


quantiles = quantile


def iqr(
    data: Any,
    column: str | None = None,
    *,
    epsilon: Number,
    delta: Number | None = None,
    adjacency: str | None = None,
    privacy_unit: str | None = None,
    max_rows_per_unit: Number | None = None,
    max_groups_per_unit: Number | None = None,
    types: Mapping[str, str] | None = None,
    range: tuple[Number, Number] | str | None = None,
    resolution: Number | None = None,
    interval: bool | None = None,
    rows: int | None = None,
    mechanism: str | None = None,
    where: str | None = None,
    group_by: Sequence[str] | str | None = None,
    keys: Sequence[str] | None = None,
    confidence: Number | None = None,
    alpha: Number | None = None,
    ledger: Path | None = None,
    name: str | None = None,
    analyst: str | None = None,
    apart: bool = False,
    request_id: str | None = None,
) -> Release:
    """The interquartile range of a column, without bounds.

    >>> import equipoise as eq
    >>> eq.iqr(list(range(10_000)), epsilon=2).refused
    False
    """
    return ask("iqr", locals())


def mode(
    data: Any,
    column: str | None = None,
    *,
    epsilon: Number,
    delta: Number,
    adjacency: str | None = None,
    privacy_unit: str | None = None,
    max_rows_per_unit: Number | None = None,
    max_groups_per_unit: Number | None = None,
    types: Mapping[str, str] | None = None,
    mechanism: str | None = None,
    where: str | None = None,
    group_by: Sequence[str] | str | None = None,
    keys: Sequence[str] | None = None,
    confidence: Number | None = None,
    alpha: Number | None = None,
    ledger: Path | None = None,
    name: str | None = None,
    analyst: str | None = None,
    apart: bool = False,
    request_id: str | None = None,
) -> Release:
    """The most frequent value of a column, exact as a text, or a refusal where it leads by too little.

    >>> import equipoise as eq
    >>> eq.mode(["Bern"] * 900 + ["Basel"] * 100, epsilon=1, delta=1e-6).value
    'Bern'
    """
    return ask("mode", locals())


def histogram(
    data: Any,
    column: str | None = None,
    *,
    epsilon: Number,
    delta: Number | None = None,
    adjacency: str | None = None,
    privacy_unit: str | None = None,
    max_rows_per_unit: Number | None = None,
    max_groups_per_unit: Number | None = None,
    types: Mapping[str, str] | None = None,
    where: str | None = None,
    keys: Sequence[str] | None = None,
    confidence: Number | None = None,
    alpha: Number | None = None,
    ledger: Path | None = None,
    name: str | None = None,
    analyst: str | None = None,
    apart: bool = False,
    request_id: str | None = None,
) -> Release:
    """How many records have each value of a column: ``groups`` of the release.

    Values are found privately, which takes a delta, or stated as ``keys``.

    >>> import equipoise as eq
    >>> release = eq.histogram(["a"] * 600 + ["b"] * 400, epsilon=1, keys=["a", "b", "c"])
    >>> [group["key"] for group in release.groups]
    ['a', 'b', 'c']
    """
    return ask("histogram", locals())


def select(
    data: Any,
    column: str | None = None,
    *,
    epsilon: Number,
    delta: Number | None = None,
    among: Sequence[str] | None = None,
    adjacency: str | None = None,
    privacy_unit: str | None = None,
    max_rows_per_unit: Number | None = None,
    max_groups_per_unit: Number | None = None,
    types: Mapping[str, str] | None = None,
    mechanism: str | None = None,
    where: str | None = None,
    confidence: Number | None = None,
    alpha: Number | None = None,
    ledger: Path | None = None,
    name: str | None = None,
    analyst: str | None = None,
    apart: bool = False,
    request_id: str | None = None,
) -> Release:
    """A value that nearly most records have, among those that are stated or, with a delta, among frequent ones.

    Among stated values it always answers, where :func:`mode` may refuse; among frequent ones, found for a delta, it refuses where
    none is frequent enough. It may name a value that is not quite the most frequent.

    >>> import equipoise as eq
    >>> eq.select(["Bern"] * 900 + ["Basel"] * 100, epsilon=1, among=["Basel", "Bern"]).value  # wrong once in e^400
    'Bern'
    """
    return ask("select", locals())


def summary(
    data: Any,
    column: str | None = None,
    *,
    epsilon: Number,
    delta: Number | None = None,
    adjacency: str | None = None,
    privacy_unit: str | None = None,
    max_rows_per_unit: Number | None = None,
    max_groups_per_unit: Number | None = None,
    types: Mapping[str, str] | None = None,
    range: tuple[Number, Number] | str | None = None,
    resolution: Number | None = None,
    interval: bool | None = None,
    where: str | None = None,
    group_by: Sequence[str] | str | None = None,
    keys: Sequence[str] | None = None,
    confidence: Number | None = None,
    alpha: Number | None = None,
    ledger: Path | None = None,
    name: str | None = None,
    analyst: str | None = None,
    apart: bool = False,
    request_id: str | None = None,
) -> Release:
    """Count, mean, standard deviation and five quantiles of a column for one price: ``answers`` of the release.

    With ``group_by`` each of its ``groups`` has them, and their values by name as its ``value``: a table is
    ``pandas.DataFrame([{"town": group["key"], **group["value"]} for group in release.groups])``.

    >>> import equipoise as eq
    >>> release = eq.summary(list(range(10_000)), epsilon=4)
    >>> release.statistic
    'summary'
    """
    return ask("summary", locals())
