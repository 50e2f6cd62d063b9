"""Bad input is one clear sentence, before anything is charged; never a panic."""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import equipoise as eq

BAD_DATA: dict[str, Any] = {
    "strings": ["a", "b"],
    "a numpy array of strings": np.array(["a", "b"]),
    "objects": np.array([1.0, object()], dtype=object),
    "a ragged list": [[1.0, 2.0], [3.0]],
    "two dimensions": np.zeros((3, 2)),
    "no dimension": np.float64(3.0),
    "complex": np.array([1j]),
    "a date": [datetime.date(2026, 1, 1)],
    "polars strings": pl.Series(["a"]),
    "polars lists": pl.Series([[1.0], [2.0]]),
    "pandas objects": pd.Series([{}, {}]),
    "a number": 3.5,
    "nothing": None,
    "a function": len,
}


@pytest.mark.parametrize("kind", BAD_DATA)
def test_data_that_is_no_column_of_numbers(kind: str) -> None:
    before = eq.spent()
    with pytest.raises((TypeError, eq.RequestError)) as caught:
        eq.median(BAD_DATA[kind], epsilon=1)
    assert isinstance(caught.value, eq.EquipoiseError)
    line = str(caught.value)
    assert line and "\n" not in line and len(line) < 200
    assert eq.spent() == before


BAD_WORDS: dict[str, dict[str, Any]] = {
    "negative epsilon": {"epsilon": -1},
    "epsilon zero": {"epsilon": 0},
    "epsilon nan": {"epsilon": float("nan")},
    "epsilon infinite": {"epsilon": float("inf")},
    "epsilon a word": {"epsilon": "much"},
    "epsilon a list": {"epsilon": [1]},
    "epsilon true": {"epsilon": True},
    "epsilon nothing": {"epsilon": None},
    "delta one": {"epsilon": 1, "delta": 2},
    "adjacency": {"epsilon": 1, "adjacency": "swap"},
    "range": {"epsilon": 1, "range": (5, 1)},
    "range one": {"epsilon": 1, "range": (5,)},
    "mechanism": {"epsilon": 1, "mechanism": "laplas"},
    "confidence": {"epsilon": 1, "confidence": 1.5},
    "alpha": {"epsilon": 1, "alpha": "small"},
    "resolution": {"epsilon": 1, "resolution": -1},
    "rows": {"epsilon": 1, "rows": -5},
    "stable without delta": {"epsilon": 1, "mechanism": "stable"},
}


@pytest.mark.parametrize("kind", BAD_WORDS)
def test_words_that_mean_nothing(kind: str) -> None:
    before = eq.spent()
    with pytest.raises(eq.RequestError) as caught:
        eq.median([1.0, 2.0], **BAD_WORDS[kind])
    assert isinstance(caught.value, ValueError)
    line = str(caught.value)
    assert line and "\n" not in line and "--" not in line
    assert eq.spent() == before


def test_a_missing_epsilon_and_a_seed_are_refused() -> None:
    with pytest.raises(eq.RequestError, match="how much privacy may it cost"):
        eq.median([1.0])
    with pytest.raises(TypeError, match="seed"):
        eq.median([1.0], epsilon=1, seed=7)  # type: ignore[call-arg]


@pytest.mark.parametrize("data", [[], np.array([]), [float("nan")] * 10, [None], pl.Series([], dtype=pl.Float64)])
def test_nothing_to_answer_from_is_an_answer_or_a_refusal(data: Any) -> None:
    for question in (eq.median, eq.mean, eq.sum, eq.variance, eq.iqr, eq.count):
        assert isinstance(question(data, epsilon=1).refused, bool)


def test_extreme_numbers_are_numbers() -> None:
    data = [1e308, -1e308, float("inf"), -float("inf"), 5e-324, 10**400, -(10**400)] * 200
    for question in (eq.median, eq.mean, eq.sum, eq.variance, eq.iqr):
        assert isinstance(question(data, epsilon=1).refused, bool)


def test_columns_of_different_length() -> None:
    with pytest.raises(eq.DataError, match="differ in length"):
        eq.median({"a": [1.0], "b": [1.0, 2.0]}, "a", epsilon=1)


def test_a_missing_file(tmp_path: Any) -> None:
    with pytest.raises(eq.EquipoiseError):
        eq.median(tmp_path / "none.csv", "x", epsilon=1)


@pytest.mark.parametrize("count", [2**63, 2**64, -1, True, 1.5, "1", None])
def test_a_number_of_answers_is_whole_and_of_64_bits(count: Any) -> None:
    for make in (
        lambda: eq.AboveThreshold(epsilon=1, threshold=10, cutoff=count),
        lambda: eq.Holdout([0.5] * 10, [0.5] * 10, epsilon=1, tolerance=0.5, questions=count, corrections=1),
        lambda: eq.Holdout([0.5] * 10, [0.5] * 10, epsilon=1, tolerance=0.5, questions=2, corrections=count),
    ):
        with pytest.raises(eq.RequestError) as caught:
            make()
        assert str(caught.value).endswith("is not accepted; give a whole number of at least 1")
