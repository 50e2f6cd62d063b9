"""The statistics as methods that plan. Written by the table of statistics; do not edit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._session import Query
    from ._statistics import Number


class Statistics:
    """Questions about all rows."""

    def _plan(self, statistic: str, said: dict[str, Any]) -> Query:
        raise NotImplementedError

    def count(
        self,
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
    ) -> Query:
        """How many records there are, or how many have a field that is not empty; keywords as of :func:`equipoise.count`."""
        return self._plan("count", locals())

    def share(
        self,
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
    ) -> Query:
        """The share of records of which a condition is true, or a column says yes; keywords as of :func:`equipoise.share`."""
        return self._plan("share", locals())

    def sum(
        self,
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
    ) -> Query:
        """The sum of a column of numbers; keywords as of :func:`equipoise.sum`."""
        return self._plan("sum", locals())

    def mean(
        self,
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
    ) -> Query:
        """The mean of a column of numbers, without bounds; keywords as of :func:`equipoise.mean`."""
        return self._plan("mean", locals())

    def variance(
        self,
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
    ) -> Query:
        """The variance of a column of numbers (their mean squared distance from the mean), without bounds; keywords as of :func:`equipoise.variance`."""
        return self._plan("variance", locals())

    def std(
        self,
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
    ) -> Query:
        """The standard deviation of a column of numbers (the root of the variance), without bounds; keywords as of :func:`equipoise.std`."""
        return self._plan("std", locals())

    def median(
        self,
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
    ) -> Query:
        """The median of a column of numbers (the lower one of the two in the middle), without bounds; keywords as of :func:`equipoise.median`."""
        return self._plan("median", locals())

    def quantile(
        self,
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
    ) -> Query:
        """One quantile or several of a column of numbers, without bounds; keywords as of :func:`equipoise.quantile`."""
        return self._plan("quantile", locals())

    def iqr(
        self,
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
    ) -> Query:
        """The interquartile range of a column of numbers, without bounds; keywords as of :func:`equipoise.iqr`."""
        return self._plan("iqr", locals())

    def min(
        self,
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
    ) -> Query:
        """The least value of a column that more than a few rows lie at or below, from inside of the rows; keywords as of :func:`equipoise.min`."""
        return self._plan("min", locals())

    def max(
        self,
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
    ) -> Query:
        """The largest value of a column that more than a few rows lie at or above, from inside of the rows; keywords as of :func:`equipoise.max`."""
        return self._plan("max", locals())

    def correlation(
        self,
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
    ) -> Query:
        """How far two columns of numbers rise together: 1 in step, -1 against each other, 0 neither; keywords as of :func:`equipoise.correlation`."""
        return self._plan("correlation", locals())

    def covariance(
        self,
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
    ) -> Query:
        """The covariance of two columns of numbers (the mean product of distances from their means); keywords as of :func:`equipoise.covariance`."""
        return self._plan("covariance", locals())

    def regression(
        self,
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
    ) -> Query:
        """How a column depends on others: intercept and coefficients by least squares; keywords as of :func:`equipoise.regression`."""
        return self._plan("regression", locals())

    def distinct(
        self,
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
    ) -> Query:
        """How many different values a column has, or with a unit how many people there are; keywords as of :func:`equipoise.distinct`."""
        return self._plan("distinct", locals())

    def ecdf(
        self,
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
    ) -> Query:
        """Which share of the rows is not above stated or drawn points: the distribution function; keywords as of :func:`equipoise.ecdf`."""
        return self._plan("ecdf", locals())

    def mode(
        self,
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
    ) -> Query:
        """The most frequent value of a column, exact, or a refusal where it leads by too little; keywords as of :func:`equipoise.mode`."""
        return self._plan("mode", locals())

    def histogram(
        self,
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
    ) -> Query:
        """How many records each value or bin of a column has; rare values are not released; keywords as of :func:`equipoise.histogram`."""
        return self._plan("histogram", locals())

    def select(
        self,
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
    ) -> Query:
        """A value that nearly most records have: among stated candidates, or found ones; keywords as of :func:`equipoise.select`."""
        return self._plan("select", locals())

    def top(
        self,
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
    ) -> Query:
        """The K most frequent values of a column: nearly, among stated ones; else exactly, or a refusal; keywords as of :func:`equipoise.top`."""
        return self._plan("top", locals())

    def summary(
        self,
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
    ) -> Query:
        """Count, mean, standard deviation and quantiles of a column, for one price in one scan; keywords as of :func:`equipoise.summary`."""
        return self._plan("summary", locals())


class GroupStatistics:
    """Questions about each group."""

    def _plan(self, statistic: str, said: dict[str, Any]) -> Query:
        raise NotImplementedError

    def count(
        self,
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
        types: Mapping[str, str] | None = None,
        type: Mapping[str, str] | None = None,
        alpha: Number | None = None,
    ) -> Query:
        """How many records there are, or how many have a field that is not empty; keywords as of :func:`equipoise.count`."""
        return self._plan("count", locals())

    def share(
        self,
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
        types: Mapping[str, str] | None = None,
        type: Mapping[str, str] | None = None,
        alpha: Number | None = None,
    ) -> Query:
        """The share of records of which a condition is true, or a column says yes; keywords as of :func:`equipoise.share`."""
        return self._plan("share", locals())

    def sum(
        self,
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
        types: Mapping[str, str] | None = None,
        type: Mapping[str, str] | None = None,
        alpha: Number | None = None,
    ) -> Query:
        """The sum of a column of numbers; keywords as of :func:`equipoise.sum`."""
        return self._plan("sum", locals())

    def mean(
        self,
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
        types: Mapping[str, str] | None = None,
        type: Mapping[str, str] | None = None,
        alpha: Number | None = None,
    ) -> Query:
        """The mean of a column of numbers, without bounds; keywords as of :func:`equipoise.mean`."""
        return self._plan("mean", locals())

    def variance(
        self,
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
        types: Mapping[str, str] | None = None,
        type: Mapping[str, str] | None = None,
        alpha: Number | None = None,
    ) -> Query:
        """The variance of a column of numbers (their mean squared distance from the mean), without bounds; keywords as of :func:`equipoise.variance`."""
        return self._plan("variance", locals())

    def std(
        self,
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
        types: Mapping[str, str] | None = None,
        type: Mapping[str, str] | None = None,
        alpha: Number | None = None,
    ) -> Query:
        """The standard deviation of a column of numbers (the root of the variance), without bounds; keywords as of :func:`equipoise.std`."""
        return self._plan("std", locals())

    def median(
        self,
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
        types: Mapping[str, str] | None = None,
        type: Mapping[str, str] | None = None,
        alpha: Number | None = None,
    ) -> Query:
        """The median of a column of numbers (the lower one of the two in the middle), without bounds; keywords as of :func:`equipoise.median`."""
        return self._plan("median", locals())

    def quantile(
        self,
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
        types: Mapping[str, str] | None = None,
        type: Mapping[str, str] | None = None,
        alpha: Number | None = None,
    ) -> Query:
        """One quantile or several of a column of numbers, without bounds; keywords as of :func:`equipoise.quantile`."""
        return self._plan("quantile", locals())

    def iqr(
        self,
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
        types: Mapping[str, str] | None = None,
        type: Mapping[str, str] | None = None,
        alpha: Number | None = None,
    ) -> Query:
        """The interquartile range of a column of numbers, without bounds; keywords as of :func:`equipoise.iqr`."""
        return self._plan("iqr", locals())

    def min(
        self,
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
        types: Mapping[str, str] | None = None,
        type: Mapping[str, str] | None = None,
        alpha: Number | None = None,
    ) -> Query:
        """The least value of a column that more than a few rows lie at or below, from inside of the rows; keywords as of :func:`equipoise.min`."""
        return self._plan("min", locals())

    def max(
        self,
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
        types: Mapping[str, str] | None = None,
        type: Mapping[str, str] | None = None,
        alpha: Number | None = None,
    ) -> Query:
        """The largest value of a column that more than a few rows lie at or above, from inside of the rows; keywords as of :func:`equipoise.max`."""
        return self._plan("max", locals())

    def correlation(
        self,
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
        types: Mapping[str, str] | None = None,
        type: Mapping[str, str] | None = None,
        alpha: Number | None = None,
    ) -> Query:
        """How far two columns of numbers rise together: 1 in step, -1 against each other, 0 neither; keywords as of :func:`equipoise.correlation`."""
        return self._plan("correlation", locals())

    def covariance(
        self,
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
        types: Mapping[str, str] | None = None,
        type: Mapping[str, str] | None = None,
        alpha: Number | None = None,
    ) -> Query:
        """The covariance of two columns of numbers (the mean product of distances from their means); keywords as of :func:`equipoise.covariance`."""
        return self._plan("covariance", locals())

    def distinct(
        self,
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
        types: Mapping[str, str] | None = None,
        type: Mapping[str, str] | None = None,
        alpha: Number | None = None,
    ) -> Query:
        """How many different values a column has, or with a unit how many people there are; keywords as of :func:`equipoise.distinct`."""
        return self._plan("distinct", locals())

    def ecdf(
        self,
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
        types: Mapping[str, str] | None = None,
        type: Mapping[str, str] | None = None,
        alpha: Number | None = None,
    ) -> Query:
        """Which share of the rows is not above stated or drawn points: the distribution function; keywords as of :func:`equipoise.ecdf`."""
        return self._plan("ecdf", locals())

    def mode(
        self,
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
        types: Mapping[str, str] | None = None,
        type: Mapping[str, str] | None = None,
        alpha: Number | None = None,
    ) -> Query:
        """The most frequent value of a column, exact, or a refusal where it leads by too little; keywords as of :func:`equipoise.mode`."""
        return self._plan("mode", locals())

    def histogram(
        self,
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
        types: Mapping[str, str] | None = None,
        type: Mapping[str, str] | None = None,
        alpha: Number | None = None,
    ) -> Query:
        """How many records each value or bin of a column has; rare values are not released; keywords as of :func:`equipoise.histogram`."""
        return self._plan("histogram", locals())

    def select(
        self,
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
        types: Mapping[str, str] | None = None,
        type: Mapping[str, str] | None = None,
        alpha: Number | None = None,
    ) -> Query:
        """A value that nearly most records have: among stated candidates, or found ones; keywords as of :func:`equipoise.select`."""
        return self._plan("select", locals())

    def top(
        self,
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
        types: Mapping[str, str] | None = None,
        type: Mapping[str, str] | None = None,
        alpha: Number | None = None,
    ) -> Query:
        """The K most frequent values of a column: nearly, among stated ones; else exactly, or a refusal; keywords as of :func:`equipoise.top`."""
        return self._plan("top", locals())

    def summary(
        self,
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
        types: Mapping[str, str] | None = None,
        type: Mapping[str, str] | None = None,
        alpha: Number | None = None,
    ) -> Query:
        """Count, mean, standard deviation and quantiles of a column, for one price in one scan; keywords as of :func:`equipoise.summary`."""
        return self._plan("summary", locals())
