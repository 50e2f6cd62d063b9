"""Expressions where columns are named: the same texts as on the command line, with what they are of rows in memory."""

from __future__ import annotations

import pathlib
import runpy

import pytest

import equipoise as eq

FLIGHTS = {
    "left": [10, 20, 30, 40, 50] * 40,
    "arrived": [15.0, 20.0, float("nan"), 75.0, 50.0] * 40,
    "town": ["Ayr", "ayr", "Rome", "York", ""] * 40,
    "a - b": [1, 2, 3, 4, 5] * 40,
}
# At this price noise is zero but for a chance below e^-100.
SURE = {"epsilon": 300}


@pytest.fixture(autouse=True)
def _quiet() -> None:
    import warnings

    warnings.simplefilter("ignore", eq.PrivacyWarning)


@pytest.mark.parametrize(
    ("where", "rows"),
    [
        ("arrived - left > 4", 80),
        ("not arrived - left > 4", 80),
        ("lower(town) = 'ayr'", 80),
        ("left / 0 is null", 200),
        ("town like '_o%' and left * 2 >= 80", 40),
        ("`a - b` % 2 = 0", 80),
        ("case when left > 25 then town else 'x' end = 'x'", 80),
    ],
)
def test_conditions_compute(where: str, rows: int) -> None:
    assert eq.count(FLIGHTS, where=where, **SURE).value == rows


def test_columns_and_keys_compute() -> None:
    assert eq.count(FLIGHTS, "arrived / left", **SURE).value == 160
    delays = eq.median(FLIGHTS, "arrived - left", range=(0, 64), resolution=1, **SURE)
    assert delays.value in (0, 5)
    assert eq.median(FLIGHTS, "a - b", range=(0, 8), resolution=1, **SURE).value == 3
    towns = eq.count(FLIGHTS, group_by="lower(town)", keys=["ayr", "rome", "york"], **SURE)
    assert {group["key"]: group["value"] for group in towns.groups or []} == {"ayr": 80, "rome": 40, "york": 40}


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ({"where": "1 < 2"}, "names no column"),
        ({"where": "lower(left) = 'x'"}, "is of the type integer where a text is due; write cast"),
        ({"column": "left +"}, "the expression ends where a column or a constant is expected"),
        ({"column": "left + town"}, "town is of the type text"),
        ({"group_by": "moth(left)"}, "no function is called 'moth'"),
    ],
)
def test_what_is_wrong_is_said_before_the_charge(words: dict[str, str], line: str) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    # Lists have no types; the columns of a table do.
    table = pyarrow.table(FLIGHTS)
    with pytest.raises(eq.RequestError, match=line):
        eq.count(table, **words, epsilon=1, delta=1e-6)


def test_what_duckdb_says_is_what_is_kept() -> None:
    duckdb = pytest.importorskip("duckdb", minversion="1.2")
    assert duckdb
    root = pathlib.Path(__file__).resolve().parents[2]
    script = runpy.run_path(str(root / "tests/python/duckdb_expressions.py"))
    kept = (root / "crates/expression/tests/duckdb.tsv").read_text(encoding="utf-8").splitlines()
    assert script["lines"]() == kept
