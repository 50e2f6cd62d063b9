"""Dates, moments, decimals, whole numbers and yes or no, by the types of columns or by words.

Of 1000 rows 300 are low, 400 in the middle and 300 high. An answer at epsilon 20 that is not the middle one would have to be
100 ranks off, which has a chance below 2^64 e^-900.
"""

from __future__ import annotations

import datetime
from decimal import Decimal
from typing import Any

import equipoise as eq
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

LARGE = 9_007_199_254_740_993
DAYS = [datetime.date(2001, 5, 6), datetime.date(2015, 2, 28), datetime.date(2023, 12, 31)]
MOMENTS = [datetime.datetime(2001, 5, 6, 7, 8, 9), datetime.datetime(2015, 2, 28, 12, 30), datetime.datetime(2023, 12, 31)]
ROWS = [0] * 300 + [1] * 400 + [2] * 300


def columns() -> dict[str, list[Any]]:
    return {
        "hired": [DAYS[row] for row in ROWS],
        "seen": [MOMENTS[row] for row in ROWS],
        "pay": [[Decimal("0.10"), Decimal("0.30"), Decimal("99.95")][row] for row in ROWS],
        "id": [[-5, LARGE, 2**63 - 1][row] for row in ROWS],
        "member": [row > 0 for row in ROWS],
    }


def tables() -> list[tuple[str, Any]]:
    arrow = pa.table(columns())
    return [
        ("pandas", pd.DataFrame({**columns(), "hired": pd.to_datetime(pd.Series(columns()["hired"]))})),
        ("pandas with arrow", arrow.to_pandas(types_mapper=pd.ArrowDtype)),
        ("polars", pl.DataFrame(columns())),
        ("pyarrow", arrow),
    ]


@pytest.mark.parametrize(("name", "table"), tables(), ids=[name for name, _ in tables()])
def test_answers_are_values_of_the_column_s_type(name: str, table: Any) -> None:
    def median(column: str) -> Any:
        return eq.median(table, column, epsilon=20).value

    hired = "2015-02-28T00:00:00Z" if name == "pandas" else "2015-02-28"
    assert median("hired") == hired
    assert median("seen") == "2015-02-28T12:30:00Z"
    assert median("id") == LARGE
    assert median("member") is True
    if name != "pandas":  # objects have no type
        assert median("pay") == "0.30"
    assert abs(eq.mean(table, "member", epsilon=100).value - 0.7) < 1e-9  # e^-15 for the count times e^-85


@pytest.mark.parametrize(("name", "table"), tables(), ids=[name for name, _ in tables()])
def test_conditions_on_dates_compare_days(name: str, table: Any) -> None:
    def count(condition: str) -> Any:
        return eq.count(table, where=condition, epsilon=100).value

    assert count("hired < 2010-01-01") == 300
    assert count("hired >= '2015-02-28' and hired is not null") == 700
    assert count("seen > 2015-02-28T12:29:59.999999Z") == 700
    assert count("member = true") == 700
    assert count("id > 9007199254740993") == 300
    with pytest.raises(eq.RequestError, match="which 5 is not"):
        count("hired < 5")


def test_words_declare_types_of_texts() -> None:
    texts = [str(day) for day in columns()["hired"]] + ["soon", ""]
    for data in ({"hired": texts}, {"hired": np.array(texts)}, {"hired": pa.array(texts)}, {"hired": pl.Series(texts)}):
        release = eq.median(data, "hired", epsilon=20, types={"hired": "date"}, resolution=1)
        assert (release.value, release.type) == ("2015-02-28", "date")
        assert "2015-02-28" in repr(release)
    release = eq.iqr({"hired": texts}, "hired", epsilon=60, types={"hired": "date"})
    assert (release.value, release.type) == (8274, "days")
    session = eq.Session({"hired": texts}, budget=100)
    assert session.median("hired", epsilon=20, types={"hired": "date"}).release().value == "2015-02-28"
    with pytest.raises(eq.RequestError, match="no type is called 'day'"):
        eq.median({"hired": texts}, "hired", epsilon=1, types={"hired": "day"})
    with pytest.raises(eq.RequestError, match="mean of a date has no meaning"):
        eq.mean({"hired": texts}, "hired", epsilon=1, types={"hired": "date"})


def test_missing_moments_are_nulls() -> None:
    moments = np.array([str(MOMENTS[row]) for row in ROWS] + ["NaT"] * 50, dtype="datetime64[ns]")
    release = eq.quantile({"seen": moments}, [0.1, 0.5], "seen", epsilon=60)
    assert release.value == ["2001-05-06T07:08:09Z", "2015-02-28T12:30:00Z"]
    assert eq.count({"seen": moments}, where="seen is null", epsilon=100).value == 50


def test_people_in_several_groups() -> None:
    data = {"person": [str(row % 500) for row in range(1000)], "ward": ["east"] * 500 + ["west"] * 500}
    words = {"privacy_unit": "person", "group_by": "ward", "keys": ["east", "west"], "epsilon": 200}
    both = eq.count(data, max_groups_per_unit=2, **words)
    assert [group["value"] for group in both.groups or []] == [500, 500]
    assert both.guarantee["max_groups_per_unit"] == 2
    one = eq.count(data, **words)
    assert sum(group["value"] for group in one.groups or []) == 500
