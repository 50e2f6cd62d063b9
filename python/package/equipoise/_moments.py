"""Least squares by noisy moments, for models of scikit-learn that are least squares.

One row moves the sums that a line is made of by a number that is known, so that they take noise once, where blocks take a fit of few
rows each. Sums of more columns take more noise; and where rows lie far out, blocks find what most rows say with fewer of them.
"""

from __future__ import annotations

import math
from typing import Any

from sklearn.linear_model import LinearRegression

from . import _statistics
from ._penalties import ROWS_PER_PARAMETER
from ._release import Release

#: The name by which it can be asked for.
MOMENTS = "moments"
#: The most columns that explain which moments take.
MOST_FEATURES = 50
#: Blocks times epsilon from which on blocks answer well: then moments are taken only if there are rows in plenty, because rows far out and
#: columns on both sides of zero spoil a range sooner than they spoil most blocks.
_ENOUGH_BLOCKS = 400
#: Rows for each parameter, times epsilon, that are plenty.
_PLENTY = 100_000
#: The part of epsilon that sums over searched ranges have, at least, about.
_PART_OF_SUMS = 0.6
#: The variance of a column in squares of half of its range, about: of even rows it is a third, of the usual ones less.
_SPREAD = 0.05
#: Noise of sums may be this part of what they are of, in the direction in which it is largest.
_NOISE = 0.5


def is_least_squares(estimator: Any) -> bool:
    """Is this model plain least squares, and nothing that a subclass makes of it?"""
    return type(estimator) is LinearRegression and bool(estimator.fit_intercept) and not estimator.positive


def suits(features: int, rows: int | None, epsilon: float, delta: float) -> bool | None:
    """Are moments predicted to be better than blocks? Nothing where the number of rows is not known, which decides.

    >>> suits(2, None, 1, 1e-6), suits(2, 10_000, 1, 1e-6), suits(2, 10_000, 0.1, 1e-6), suits(2, 330_000, 1, 1e-6)
    (None, False, True, True)
    >>> suits(30, 1_000_000, 1, 1e-6), suits(30, 4_000_000, 1, 1e-6), suits(51, 4_000_000, 1, 1e-6)
    (False, True, False)
    """
    if features > MOST_FEATURES:
        return False
    if rows is None:
        return None
    if rows // (ROWS_PER_PARAMETER * (features + 1)) * epsilon < _ENOUGH_BLOCKS:
        return True
    width = features + 1
    pairs = width * (width - 1) / 2
    part = epsilon * _PART_OF_SUMS
    # What one row moves: the number of rows, sums, squares less a half, and products.
    noise = math.sqrt(2) * (1 + width + width / 2 + pairs) / part
    if delta > 0:
        noise = min(noise, math.sqrt(1 + width + width / 4 + pairs) * math.sqrt(2 * math.log(1.25 / delta)) / part)
    return noise * 2 * math.sqrt(width) <= _NOISE * _SPREAD * rows and rows * epsilon >= _PLENTY * width


def least_squares(X: Any, y: Any, **words: Any) -> Release:
    """The regression of ``y`` on columns that are called x0, x1 and so on."""
    data = {f"x{place}": X[:, place] for place in range(X.shape[1])} | {"y": y}
    return _statistics.regression(data, "y", on=[name for name in data if name != "y"], **words)


def parameters(release: Release) -> list[float]:
    """Coefficients in their order, and the intercept."""
    coefficients = release.value["coefficients"]
    return [*(coefficients[f"x{place}"] for place in range(len(coefficients))), release.value["intercept"]]
