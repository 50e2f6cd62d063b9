"""The numbers that PyDP, Google's library behind Python, answers: bounds are given, and rows are added or removed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pydp.algorithms.laplacian as pydp

import data


def number(statistic: str, bounds: data.Bounds, epsilon: float) -> Callable[[Any], float] | None:
    """What answers about a column; nothing where the library does not."""
    words: dict[str, Any] = {"lower_bound": float(bounds[0]), "upper_bound": float(bounds[1]), "dtype": "float"}

    def by(algorithm: Any, part: float = epsilon, **more: Any) -> Callable[[Any], float]:
        # Each answers once.
        return lambda values: float(algorithm(epsilon=part, **words, **more).quick_result(values.tolist()))

    def iqr(values: Any) -> float:
        low, high = (by(pydp.Percentile, epsilon / 2, percentile=percentile)(values) for percentile in (0.25, 0.75))
        return high - low

    return {
        "mean": by(pydp.BoundedMean),
        "sum": by(pydp.BoundedSum),
        "std": by(pydp.BoundedStandardDeviation),
        "median": by(pydp.Median),
        "quantile .9": by(pydp.Percentile, percentile=0.9),
        "iqr": iqr,
    }.get(statistic)
