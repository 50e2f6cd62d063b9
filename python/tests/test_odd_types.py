"""Columns of unusual types and shapes are answered rightly or refused in one line of ours."""

from __future__ import annotations

import datetime
import subprocess
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
from equipoise._columns import column_of


def read(data: Any, kind: str) -> list[Any]:
    column = column_of(data)
    column.check(kind, "value")
    return [None if cell != cell else cell for cell in column.cells(kind)]


WHOLES = [0, 1, -7, 100]
FORMS: dict[str, tuple[list[Any], list[Any]]] = {
    "wholes": (
        WHOLES,
        [
            *(np.array(WHOLES, dtype) for dtype in ("i1", "i8", ">i4", "f2", "f8", ">f8", "O")),
            np.array([[cell, cell] for cell in WHOLES], order="F")[:, 1],
            np.array(WHOLES[::-1])[::-1],
            np.array([(0, cell) for cell in WHOLES], dtype=[("a", "i1"), ("b", "i8")])["b"],
            np.frombuffer(b"x" + np.array(WHOLES, "i8").tobytes(), dtype="i8", offset=1),
            np.frombuffer(b"x" + np.array(WHOLES, "f4").tobytes(), dtype="f4", offset=1),
            *(pd.Series(WHOLES, dtype=dtype) for dtype in ("int64", "Int8", "Float64", "category", "int16[pyarrow]", "double[pyarrow]")),
            pd.Series(pd.arrays.SparseArray(WHOLES)),
            pd.Index(WHOLES),
            pd.array(WHOLES, dtype="Int32"),
            *(pl.Series(WHOLES, dtype=dtype) for dtype in (pl.Int8, pl.Int128, pl.Float32, pl.Decimal(10, 0))),
            *(pa.array(WHOLES, kind) for kind in (pa.int8(), pa.float64(), pa.float16())),
            pa.array(WHOLES).dictionary_encode(),
            pa.array([Decimal(cell) for cell in WHOLES], pa.decimal256(50, 0)),
            pa.Array.from_buffers(pa.int64(), 4, [None, pa.py_buffer(b"x" + np.array(WHOLES, "i8").tobytes()).slice(1)]),
        ],
    ),
    "fractions": (
        [0.5, -0.25, None, 1e20],
        [
            np.ma.array([0.5, -0.25, 9, 1e20], mask=[0, 0, 1, 0]),
            np.array([0.5, -0.25, np.nan, 1e20], "f8"),
            np.array([0.5, -0.25, np.nan, 1e20], ">f8"),
            pd.Series([0.5, -0.25, None, 1e20], dtype="Float64"),
            pd.Series([0.5, -0.25, None, 1e20]).astype("category"),
            pd.Series(pd.arrays.SparseArray([0.5, -0.25, np.nan, 1e20])),
            pl.Series([0.5, -0.25, None, 1e20]),
            pa.chunked_array([[0.5], [-0.25, None], [], [1e20]]),
        ],
    ),
}


@pytest.mark.parametrize("name", FORMS)
def test_cells_are_the_same_whoever_holds_them(name: str) -> None:
    cells, forms = FORMS[name]
    for data in forms:
        if getattr(data, "dtype", None) != object:
            assert read(data, "float") == cells, repr(data)
        assert [None if text is None else float(text) for text in read(data, "text")] == cells, repr(data)
        assert read(data, "integer") == [cell if isinstance(cell, int) else None for cell in cells], repr(data)
        scaled = [None if cell is None or cell > 1e15 else round(100 * cell) for cell in cells]
        assert read(data, "decimal:2") == scaled, repr(data)


def test_days_and_moments_are_the_same_whoever_holds_them() -> None:
    day, moment = datetime.date(2020, 2, 29), datetime.datetime(2020, 2, 29, 1, 2, 3, 250_000)
    days = [[day, None], np.array(["2020-02-29", "NaT"], "M8[D]"), pl.Series([day, None]), pa.array([day, None]), pa.array([day, None], pa.date64())]
    days += [np.array([2617, np.iinfo("i8").min], "i8").view("M8[W]") + np.timedelta64(2, "D"), np.array([day, None], object)]
    for data in days:
        assert read(data, "date") == [18321, None] and read(data, "text") == ["2020-02-29", None], repr(data)
    assert read(np.array(["2020-02", "1969-01", "NaT"], "M8[M]"), "text") == ["2020-02-01", "1969-01-01", None]
    assert read(np.array([50, -1, 2**60], "i8").view("M8[Y]"), "text") == ["2020-01-01", "1969-01-01", None]
    moments = [[moment, None], np.array([moment, None], "M8[ms]"), np.array([moment, None], "M8[ns]"), np.array([moment, None], ">M8[us]")]
    moments += [pd.Series([moment, None]), pd.Series([moment, None]).astype(object), pd.Series([moment, None]).dt.tz_localize("UTC").dt.tz_convert("Asia/Tokyo")]
    moments += [pd.Series([moment, None]).astype("category"), pl.Series([moment, None], dtype=pl.Datetime("ns")), pa.array([moment, None], pa.timestamp("ms", "UTC"))]
    for data in moments:
        assert read(data, "text") == ["2020-02-29T01:02:03.25Z", None], repr(data)
        assert read(data, "timestamp") == [1582938123250000, None], repr(data)
    east = datetime.timezone(datetime.timedelta(hours=14))
    assert read([datetime.datetime(1, 1, 1, tzinfo=east)], "text") == ["0000-12-31T10:00:00Z"]
    assert read(np.array([2**62], "i8").view("M8[s]"), "text") == [None]


def test_numbers_that_no_other_format_has() -> None:
    wide = pl.Series([2**100, -(2**100), None], dtype=pl.Int128)
    assert read(wide, "float") == [2.0**100, -(2.0**100), None]
    assert read(wide, "text") == [str(2**100), str(-(2**100)), None] and read(wide, "integer") == [None] * 3
    long = np.array([1.5, 2.0], np.longdouble)
    assert read(long, "float") == [1.5, 2.0]
    assert read(np.array([np.longdouble(10) ** 400]), "float") == [float("inf")]


REFUSED: dict[str, tuple[Any, str]] = {
    "long doubles as texts": (np.array([1.0], np.longdouble), "holds long doubles, which other formats do not have"),
    "periods": (pd.Series(pd.period_range("2020", periods=3)), "holds periods, which cannot be asked about"),
    "intervals": (pd.Series(pd.interval_range(0, 3)), "holds intervals, which cannot be asked about"),
    "durations": (np.array([1], "m8[s]"), "holds durations, which cannot be asked about"),
    "durations of pandas": (pd.Series([datetime.timedelta(1)]), "holds durations, which cannot be asked about"),
    "complex": (np.array([1j]), "holds complex numbers, which cannot be asked about"),
    "records": (np.zeros(2, [("a", "f8")]), "holds structs, which cannot be asked about"),
    "objects of Polars": (pl.Series([object()], dtype=pl.Object), "holds objects of Python's, which cannot be asked about"),
    "lists": (pl.Series([[1]]), "holds lists, which cannot be asked about"),
    "times": (pl.Series([datetime.time(1)]), "holds times of day, which cannot be asked about"),
    "run ends": (pa.RunEndEncodedArray.from_arrays([1], [7]), "holds run-end encoded cells, which cannot be asked about"),
    "two dimensions": ({"value": np.zeros((3, 2))}, "has 2 dimensions and not one"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused_by_its_type(name: str) -> None:
    data, line = REFUSED[name]
    before = eq.spent()
    with pytest.raises(eq.DataError) as caught:
        eq.mode(data, "value" if isinstance(data, dict) else None, epsilon=1, delta=1e-6)
    assert str(caught.value) == f"the column 'value' {line}; give another column, or convert it first"
    assert eq.spent() == before


def test_two_columns_of_one_name_are_not_guessed_at() -> None:
    tables = [
        pd.DataFrame(np.ones((500, 3)), columns=["a", "a", "b"]),
        pd.DataFrame(np.ones((500, 3)), columns=["a", "a", 7]).rename(columns={7: "b"}),
        pa.table([[1.0] * 500] * 3, names=["a", "a", "b"]),
    ]
    for table in tables:
        with pytest.raises(eq.RequestError, match="more than one column is called 'a'; give each a name of its own"):
            eq.median(table, "a", epsilon=1)
        with pytest.raises(eq.RequestError, match="more than one column is called 'a'"):
            eq.count(table, epsilon=1, where="a > 0")
        assert isinstance(eq.median(table, "b", epsilon=1).refused, bool)
    with pytest.raises(eq.RequestError, match="more than one column is called 'a'"):
        eq.subsample(len, tables[0], epsilon=1, privacy_unit="a")
    with pytest.raises(eq.RequestError, match="more than one column is called '1'"):
        eq.median(pd.DataFrame(np.ones((5, 2)), columns=[1, "1"]), "1", epsilon=1)


def test_arrays_of_a_file_and_arrays_that_may_not_be_written_to(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.arange(3000.0))
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    fixed = np.arange(3000.0)
    fixed.flags.writeable = False
    for data in (mapped, fixed, fixed[::-1], np.asfortranarray(fixed), np.broadcast_to(np.float64(7), 3000)):
        # Ranks are off by 1000 at epsilon 4 with a chance below e^-1000.
        assert not eq.median(data, epsilon=4).refused


def test_names_of_columns_that_are_no_text() -> None:
    for name in ("\udc80", 7, ("a", "b"), None):
        frame = pd.DataFrame(np.arange(3000.0), columns=pd.Index([name], dtype=object))
        assert not eq.median(frame, epsilon=4).refused


def test_objects_are_numbers_where_types_says_so() -> None:
    cells = np.array([1.0, 2, "7", None, "no number", Decimal("2.0"), [3]] * 500, dtype=object)
    for data, name in ((cells, "value"), (pd.DataFrame({"v": cells}), "v")):
        for word in ("number", "integer"):
            assert 1 <= eq.median(data, name, epsilon=50, types={name: word}).value <= 2
        with pytest.raises(eq.DataError, match="holds objects, which are numbers only where types= says so"):
            eq.median(data, name, epsilon=50)


DEEP = """
import sys, threading
import numpy as np, pyarrow as pa
import equipoise as eq

class Stream:
    def __init__(self, table): self.table = table
    def __arrow_c_stream__(self, requested_schema=None): return self.table.__arrow_c_stream__(requested_schema)

class Array:
    def __init__(self, table): self.batch = table.to_batches()[0]
    def __arrow_c_array__(self, requested_schema=None): return self.batch.__arrow_c_array__(requested_schema)

def ask(levels, kinds):
    kind = pa.int64()
    for level in range(levels):
        kind = pa.struct([("f", kind)]) if level % 2 else pa.list_(kind)
    table = pa.table({"x": np.arange(2000.0), "deep": pa.nulls(2000, kind)})
    for made in kinds:
        try:
            print(levels, eq.median(made(table), "x", epsilon=50).refused)
        except eq.DataError as error:
            print(levels, error)
    try:
        eq.count(table, epsilon=1, privacy_unit="deep", max_rows_per_unit=1)
    except eq.DataError as error:
        print(levels, error)

ask(40, [lambda table: table, Stream, Array])
ask(1000, [lambda table: table, Stream, Array])
ask(3000, [lambda table: table])
threading.stack_size(512 * 1024)
thread = threading.Thread(target=ask, args=[300, [lambda table: table, Stream, Array]])
thread.start()
thread.join()
"""


def test_deep_data_in_memory_does_not_end_the_interpreter() -> None:
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", DEEP], capture_output=True, text=True, timeout=600)
    deep = "the data is nested more than 64 levels deep; leave such columns out, or unnest them first"
    unread = "the column 'deep' is of a type that cannot be read; give another column, or convert it first"
    assert (done.returncode, done.stderr) == (0, "")
    said = done.stdout.splitlines()
    assert said[:3] == ["40 False"] * 3 and said[4:7] == ["1000 False", f"1000 {deep}", f"1000 {deep}"]
    assert said[7:] == [f"1000 {unread}", "3000 False", f"3000 {unread}", "300 False", f"300 {deep}", f"300 {deep}", f"300 {unread}"]
