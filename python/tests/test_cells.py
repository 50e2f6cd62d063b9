"""A cell is the same whoever holds it, and no cell makes a question fail or is quoted by an error."""

from __future__ import annotations

import datetime
import sys
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import equipoise as eq

DAY, MOMENT = datetime.date(2020, 1, 2), datetime.datetime(2020, 1, 2, 3, 4, 5, 250_000)


def most_frequent(data: Any) -> Any:
    # Nine hundred of one text: refused, or another text, with a chance below e^-4000.
    return eq.mode(data, epsilon=10, delta=1e-6).value


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        (1.0, "1"),
        (-0.0, "0"),
        (0.1, "0.1"),
        (0.00002, "0.00002"),
        (2.5e20, "2.5e20"),
        (1e-7, "1e-7"),
        (7, "7"),
        (True, "true"),
        ("Zürich", "Zürich"),
        (DAY, "2020-01-02"),
        (MOMENT, "2020-01-02T03:04:05.25Z"),
    ],
    ids=str,
)
def test_a_cell_has_one_text(cell: Any, text: str, tmp_path: Path) -> None:
    cells = [cell] * 900
    pl.DataFrame({"x": cells}).write_parquet(tmp_path / "cells.parquet")
    kinds: list[Any] = [cells, np.array(cells), pd.Series(cells), pl.Series(cells), pa.array(cells)]
    kinds += [pd.Series(cells, dtype=object), pl.DataFrame({"x": cells}), str(tmp_path / "cells.parquet")]
    for data in kinds:
        column = "x" if isinstance(data, str) else None
        value = eq.mode(data, column, epsilon=10, delta=1e-6).value
        # Columns with a type are answered in it, and are the same cells.
        assert (str(value).lower() if isinstance(value, int) else value) == text, type(data)


def test_an_empty_text_is_nothing_and_so_is_what_is_no_text() -> None:
    for nothing in ("", None, float("nan"), "half a pair \udc80", b"\xff", pd.NA, pd.NaT, Decimal("NaN")):
        assert most_frequent([nothing] * 1500 + ["Bern"] * 900) == "Bern", repr(nothing)
    assert most_frequent(pl.Series([""] * 1500 + ["Bern"] * 900)) == "Bern"
    assert most_frequent(np.array([np.datetime64("NaT")] * 1500 + [np.datetime64("2020-01-02")] * 900)) == "2020-01-02"
    assert most_frequent([Decimal("1.50")] * 900) == "1.50"


def test_cells_far_out_are_cells() -> None:
    for far in (pa.array([2**63 - 1] * 900, pa.timestamp("s")), pa.array([2**31 - 1] * 900, pa.int32()).cast(pa.date32())):
        assert isinstance(eq.mode(far, epsilon=10, delta=1e-6).refused, bool)
        assert isinstance(eq.count({"x": far}, epsilon=1, where="x >= '2020-01-01'").value, int)


def test_what_is_masked_or_missing_is_not_read() -> None:
    hidden = np.ma.array(np.r_[np.full(3000, 1e9), np.arange(2000.0)], mask=np.r_[np.ones(3000, bool), np.zeros(2000, bool)])
    missing = [pd.NA, pd.NaT, None, Decimal("sNaN")] * 750 + [float(i) for i in range(2000)]
    for data in (hidden, missing, pd.Series([None] * 3000 + list(range(2000)), dtype="Int64")):
        # Ranks are off by 100 at epsilon 4 with a chance of e^-100; the refusal needs noise like it.
        assert 0 <= float(eq.median(data, epsilon=4)) <= 2000
    assert isinstance(eq.median(pl.Series([None] * 10), epsilon=1).refused, bool)
    assert isinstance(eq.median(pd.Series(pd.arrays.SparseArray([0.0, 1.0] * 500)), epsilon=1).refused, bool)


def test_tables_of_pandas_without_pyarrow(monkeypatch: pytest.MonkeyPatch) -> None:
    numbers, texts = pd.Series([1, 2, None] * 400, dtype="Int64"), pd.Series(["a"] * 900, dtype=object).astype("category")
    for module in [name for name in sys.modules if name.partition(".")[0] == "pyarrow"]:
        monkeypatch.setitem(sys.modules, module, None)
    assert isinstance(eq.median(numbers, epsilon=1).refused, bool)
    assert most_frequent(texts) == "a"


class Relation:
    """The result of a query that names its columns and gives them as relations again, as DuckDB's does."""

    def __init__(self, table: pa.Table) -> None:
        self._table, self.columns = table, table.column_names

    def __getitem__(self, name: str) -> Relation:
        return Relation(self._table.select([name]))

    def __len__(self) -> int:
        return int(self._table.num_rows)

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self._table.__arrow_c_stream__(requested_schema)


def test_the_result_of_a_query() -> None:
    session = eq.Session(Relation(pa.table({"x": np.arange(3000.0), "town": ["Bern", "Basel"] * 1500})))
    assert not session.median("x", epsilon=4).release().refused
    groups = session.group_by("town").count(epsilon=10, delta=1e-6).release().groups
    assert sorted(group["key"] for group in groups) == ["Basel", "Bern"]


@pytest.mark.parametrize("compression", ["uncompressed", "lz4", "zstd"])
def test_arrow_files_of_polars(compression: Any, tmp_path: Path) -> None:
    path = tmp_path / "cells.arrow"
    towns = ["a town with a long name", "Bern"] * 1500
    frame = pl.DataFrame({"x": np.arange(3000.0), "town": towns, "code": pl.Series(towns, dtype=pl.Categorical)})
    frame.write_ipc(path, compression=compression)
    # At epsilon 1000 the noise is off by one with a chance of e^-1000.
    for where in ("x >= 1000", "x >= 1000 and town <> 'x'", "x >= 1000 and code <> 'x'"):
        assert eq.count(path, epsilon=1000, where=where).value == 2000


@pytest.mark.parametrize(
    "data", [pl.LazyFrame({"x": [1.0]}), pl.Series([[1]]), b"abc", {1.0, 2.0}, [object()]]
)
def test_more_that_is_no_column_of_numbers(data: Any) -> None:
    before = eq.spent()
    with pytest.raises(eq.DataError) as caught:
        eq.median(data, epsilon=1)
    assert "\n" not in str(caught.value) and eq.spent() == before


def test_whole_numbers_of_64_bits_are_cells_and_the_next_ones_are_missing() -> None:
    from decimal import Decimal

    from equipoise import _cells

    for value in (2**63 - 1, -(2**63), 0, True):
        assert _cells._whole(value) == value
        assert _cells._whole(Decimal(int(value))) == value
    for value in (2**63, -(2**63) - 1, 2**64, 10**30):
        assert _cells._whole(value) is None and _cells._whole(Decimal(value)) is None
    # As floats: the largest below 2^63, and 2^63 itself.
    assert _cells._whole(2.0**63 - 1024) == 2**63 - 1024 and _cells._whole(-(2.0**63)) == -(2**63)
    assert _cells._whole(2.0**63) is None and _cells._whole(0.5) is None and _cells._whole(float("inf")) is None
    assert _cells._whole(Decimal("0.5")) is None and _cells._whole(Decimal("NaN")) is None
    assert _cells._whole("9223372036854775807") == 2**63 - 1 and _cells._whole("9223372036854775808") is None
