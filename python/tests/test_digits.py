"""Numbers are ranked with seven significant digits where nothing else is said, and every surface says so."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pytest

import equipoise as eq

INCOMES = np.exp(np.random.default_rng(7).normal(10.5, 0.5, 5000))


def digits(value: float) -> int:
    """How many significant digits the shortest text of a float has."""
    return len(Decimal(repr(value)).normalize().as_tuple().digits)


def test_a_quantile_of_floats_has_seven_digits_and_says_so() -> None:
    release = eq.median(INCOMES, epsilon=1)
    assert digits(release.value) <= 7 and abs(release.value / np.median(INCOMES) - 1) < 0.1
    assert release.error["significant_digits"] == 7
    assert "rows rounded to at least 7 significant digits" in repr(release)
    several = eq.quantile(INCOMES, [0.25, 0.5, 0.75], epsilon=5)
    assert all(digits(value) <= 7 for value in several.value)
    spread = eq.iqr(INCOMES, epsilon=5)
    assert digits(spread.value) <= 6 and "the answer is rounded to 6 significant digits" in repr(spread)
    assert eq.iqr(INCOMES, epsilon=5, mechanism="inverse-sensitivity").error["significant_digits"] == 9


def test_exact_keeps_every_float() -> None:
    release = eq.median(INCOMES, epsilon=1, resolution="exact")
    assert "significant_digits" not in release.error and "rounded" not in repr(release)
    # A draw among all floats has seven digits by chance once in about 10^9 times.
    assert digits(release.value) > 7
    # Fewer possible answers: a narrower bar for the same price.
    assert eq.median(INCOMES, epsilon=1).error["rank"] < 0.7 * release.error["rank"]
    with pytest.raises(eq.RequestError, match="or exact"):
        eq.median(INCOMES, epsilon=1, resolution="fine")


def test_columns_of_another_type_keep_their_values() -> None:
    seconds = np.arange(1_700_000_000, 1_700_005_000)
    for column in (seconds, seconds.astype("datetime64[s]")):
        assert "significant_digits" not in eq.median(column, epsilon=1).error
    # Whole numbers below 10^10 are themselves, whatever their digits.
    release = eq.median(seconds.astype(float), epsilon=1)
    assert release.value == int(release.value) and release.error["significant_digits"] == 7
