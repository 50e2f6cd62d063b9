"""The questions as a careful user of OpenDP asks them: bounds given, one row added or removed, as ours.

OpenDP has no mean of an unknown number of rows: it is a noisy sum over a noisy count, half of epsilon each, the sum of what lies above
or below the middle of the bounds, where one row moves least. A quantile is chosen from a grid of candidates over the bounds. Keys are
found by counts above a threshold, half of epsilon each for counts and sums; each row is in one group, so that sums of groups cost what one costs.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import opendp.prelude as dp

dp.enable_features("contrib")

#: How many candidates a quantile is chosen from. More would cost little epsilon each; fewer would be all of the error.
CANDIDATES = 1000

Bounds = tuple[float, float]
#: Rows of numbers, of which one is added or removed.
ROWS = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.symmetric_distance()


def _calibrated(make: Callable[[float], Any], epsilon: float) -> Any:
    """The measurement with the least scale that one row and this epsilon allow."""
    return make(dp.binary_search_param(make, d_in=1, d_out=epsilon, T=float))


def noisy_sum(bounds: Bounds, epsilon: float) -> Callable[[Any], float]:
    """A sum of values limited to the bounds."""
    low, high = map(float, bounds)
    found = _calibrated(
        lambda scale: ROWS >> dp.t.then_clamp((low, high)) >> dp.t.then_sum() >> dp.m.then_laplace(scale), epsilon
    )
    return lambda values: float(found(values))


def noisy_count(epsilon: float) -> Callable[[Any], float]:
    """How many rows there are, and at least one."""
    found = _calibrated(lambda scale: ROWS >> dp.t.then_count() >> dp.m.then_laplace(scale), epsilon)
    return lambda values: max(1.0, float(found(values)))


def mean(bounds: Bounds, epsilon: float) -> Callable[[Any], float]:
    low, high = bounds
    middle, reach = (low + high) / 2, (high - low) / 2
    total, count = noisy_sum((-reach, reach), epsilon / 2), noisy_count(epsilon / 2)
    return lambda values: min(high, max(low, middle + total(values - middle) / count(values)))


def std(bounds: Bounds, epsilon: float) -> Callable[[Any], float]:
    low, high = bounds
    middle, reach = (low + high) / 2, (high - low) / 2
    total, count = noisy_sum((-reach, reach), epsilon / 3), noisy_count(epsilon / 3)
    # A square lies between 0 and the square of the reach: moved to the middle of that, one row moves half as much.
    half = reach**2 / 2
    squares = noisy_sum((-half, half), epsilon / 3)

    def answer(values: Any) -> float:
        rows, near = count(values), np.clip(values, low, high) - middle
        variance = half + squares(near**2 - half) / rows - (total(near) / rows) ** 2
        return math.sqrt(min(max(variance, 0.0), reach**2))

    return answer


def quantile(bounds: Bounds, epsilon: float, q: float) -> Callable[[Any], float]:
    """One of a grid of candidates that begins anywhere within its first step: no grid is lucky over all trials."""
    low, high = map(float, bounds)
    step = (high - low) / CANDIDATES

    def chosen(candidates: list[float], scale: float) -> Any:
        scores = ROWS >> dp.t.then_quantile_score_candidates(candidates, alpha=q)
        return scores >> dp.m.then_noisy_max(dp.max_divergence(), scale, negate=True)

    # The scale depends on how many rows one candidate can gain, and not on where candidates are.
    few = [low, high]
    scale = dp.binary_search_param(lambda scale: chosen(few, scale), d_in=1, d_out=epsilon, T=float)

    def answer(values: Any) -> float:
        start = low + step * random.random()
        candidates = [start + step * place for place in range(CANDIDATES)]
        return candidates[chosen(candidates, scale)(values)]

    return answer


def iqr(bounds: Bounds, epsilon: float) -> Callable[[Any], float]:
    lower, upper = quantile(bounds, epsilon / 2, 0.25), quantile(bounds, epsilon / 2, 0.75)
    return lambda values: upper(values) - lower(values)


def histogram(epsilon: float, delta: float) -> Callable[[Mapping[str, int]], dict[str, int]]:
    """Counts of the keys that have enough rows. Rows are counted before, which is the same and much faster than lists of texts."""
    # One row changes one count by one.
    space = dp.map_domain(dp.atom_domain(T=str), dp.atom_domain(T=int)), dp.l01inf_distance(dp.absolute_distance(T=int))
    one_row = (1, 1, 1)
    # A threshold so high that only the scale decides, and then the lowest that delta allows.
    high = 2**30
    scale = dp.binary_search(
        lambda scale: (space >> dp.m.then_laplace_threshold(scale, threshold=high)).map(one_row)[0] <= epsilon,
        bounds=(1e-3, 1e6),
    )
    threshold = dp.binary_search(
        lambda threshold: (space >> dp.m.then_laplace_threshold(scale, threshold=threshold)).map(one_row)[1] <= delta,
        bounds=(1, high),
    )
    return space >> dp.m.then_laplace_threshold(scale, threshold=threshold)


def mean_by_group(bounds: Bounds, epsilon: float, delta: float) -> Callable[[Mapping[str, Any]], dict[str, float]]:
    """Means of groups whose keys are found; a group's noisy count serves both."""
    low, high = bounds
    middle, reach = (low + high) / 2, (high - low) / 2
    keys, total = histogram(epsilon / 2, delta), noisy_sum((-reach, reach), epsilon / 2)

    def answer(groups: Mapping[str, Any]) -> dict[str, float]:
        found = keys({key: len(values) for key, values in groups.items()})
        return {key: min(high, max(low, middle + total(groups[key] - middle) / count)) for key, count in found.items()}

    return answer
