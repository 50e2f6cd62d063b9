"""Columns of every kind of every library, each made from any cells: the schema is the same whatever these are."""

from __future__ import annotations

import datetime
import functools
import uuid
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

UTC = datetime.timezone.utc
EAST, WEST = (datetime.timezone(datetime.timedelta(hours=hours)) for hours in (14, -12))
DAYS = [datetime.date.min, datetime.date(1969, 12, 31), datetime.date(2020, 2, 29), datetime.date.max]
MOMENTS = [datetime.datetime.min, datetime.datetime(1970, 1, 1), datetime.datetime(2020, 2, 29, 1, 2, 3, 4), datetime.datetime.max]
AWARE = [datetime.datetime(1, 1, 1, tzinfo=EAST), datetime.datetime(9999, 12, 31, 23, tzinfo=WEST), datetime.datetime(2020, 1, 1, tzinfo=UTC)]
TEXTS = ["", " ", "Zürich", "secret-7f3a", "7", "-1.50", "1e400", "nan", "true", "2020-02-30", "2020-02-29", "0001-01-01T00:00:00+14:00", "x" * 3000, "\0", "٣"]
BROKEN = ["half a pair \udc80", "\ud800"]
FLOATS = [0.0, -0.0, 0.1, 1e11, 123456.789, 1e308, 5e-324, float("nan"), float("inf"), -float("inf"), 2.0**63, 2.0**53 + 2]
DECIMALS = [Decimal("0.10"), Decimal("-99999999.99"), Decimal("0"), Decimal("12345678.25")]


class Hostile:
    """Whatever is asked of it, it tells what it is."""

    def __getattr__(self, name: str) -> Any:
        raise ValueError("secret-7f3a")

    def __repr__(self) -> str:
        raise ValueError("secret-7f3a")

    def __float__(self) -> float:
        raise ZeroDivisionError("secret-7f3a")

    __int__ = __index__ = __len__ = __bool__ = __str__ = __hash__ = __float__  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        raise ValueError("secret-7f3a")


class NoZone(datetime.tzinfo):
    def utcoffset(self, moment: datetime.datetime | None) -> datetime.timedelta:
        raise OverflowError("secret-7f3a")

    def tzname(self, moment: datetime.datetime | None) -> str:
        return "secret-7f3a"


OBJECTS: list[Any] = [
    *TEXTS, *BROKEN, *FLOATS, *DAYS, *MOMENTS, *AWARE, *DECIMALS,
    *(Decimal(far) for far in ("NaN", "sNaN", "Infinity", "1E+999999", "1E-999999", "1E+999999999")),
    7, 2**53 + 1, 10**5000, -(10**5000), True, Fraction(1, 3), 1j, b"\xff", b"secret-7f3a", bytearray(b"a"), object(), Hostile(), [1], (), {"a": 1},
    {1}, pd.NA, pd.NaT, np.float32(0.1), np.float16(0.1), np.longdouble(2) ** 70, np.int64(7), np.uint64(2**64 - 1), np.bool_(True), np.datetime64("NaT"),
    np.datetime64("2020-02-29"), np.datetime64(2**62, "s"), np.datetime64(7, "as"), np.timedelta64(1, "s"), np.void(b"abc"), np.zeros(2), np.zeros(()), np.str_("a"),
    datetime.timedelta(1), datetime.time(1), uuid.UUID(int=7), pd.Timestamp("2020-01-01", tz="Asia/Tokyo"), pd.Timestamp(7, unit="ns"), pd.Interval(0, 1),
    datetime.datetime(2020, 1, 1, tzinfo=NoZone()),
]  # fmt: skip


class Shape(NamedTuple):
    build: Callable[[list[Any]], Any]
    cells: list[Any]


def whole(bits: int, signed: bool = True) -> list[Any]:
    most = 2 ** (bits - signed)
    return [0, 1, 7, most - 1] + ([-1, -most] if signed else [])


def _object_array(cells: list[Any]) -> Any:
    array = np.empty(len(cells), dtype=object)
    for place, cell in enumerate(cells):
        array[place] = cell
    return array


def _masked(dtype: Any) -> Callable[[list[Any]], Any]:
    return lambda cells: np.ma.array([0 if cell is None else cell for cell in cells], mask=[cell is None for cell in cells], dtype=dtype)


def _unaligned(dtype: str) -> Callable[[list[Any]], Any]:
    def build(cells: list[Any]) -> Any:
        size = np.dtype(dtype).itemsize
        array = np.frombuffer(bytearray(1 + size * len(cells)), dtype=dtype, offset=1, count=len(cells))
        array[:] = cells
        return array

    return build


def numpy_shapes() -> dict[str, Shape]:
    found = {dtype: Shape(lambda cells, dtype=dtype: np.array(cells, dtype=dtype), whole(8 * np.dtype(dtype).itemsize, dtype[-2] != "u")) for dtype in
             ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", ">i8", ">u2")}  # fmt: skip
    for dtype in ("f2", "f4", "f8", ">f8", "g"):
        few = [0.0, -0.0, 1.5, float("nan"), float("inf")] if dtype == "f2" else FLOATS[:5] + FLOATS[7:] if dtype == "f4" else FLOATS
        found[dtype] = Shape(lambda cells, dtype=dtype: np.array(cells, dtype=dtype), few)
    for dtype in ("M8[ns]", "M8[us]", "M8[s]", "M8[D]", "M8[W]", "M8[M]", "M8[Y]", "M8[25s]", "M8[as]", ">M8[s]", "m8[s]"):
        ticks = [0, 1, -1, 7, 2**62, -(2**62), 2**63 - 1, -(2**63)]
        found[dtype] = Shape(lambda cells, dtype=dtype: np.array(cells, dtype="i8").astype(np.dtype(dtype).byteorder + "i8").view(dtype), ticks)
    return found | {
        "bool": Shape(lambda cells: np.array(cells, dtype=bool), [True, False]),
        "text": Shape(lambda cells: np.array(cells, dtype="U3000"), TEXTS + BROKEN),
        "bytes": Shape(lambda cells: np.array(cells, dtype="S20"), [b"", b"7", b"\xff", b"secret-7f3a"]),
        "string": Shape(lambda cells: np.array(cells, dtype=np.dtypes.StringDType()), TEXTS),
        "string with nothing": Shape(lambda cells: np.array(cells, dtype=np.dtypes.StringDType(na_object=None)), [*TEXTS, None]),
        "objects": Shape(_object_array, [*OBJECTS, None]),
        "complex": Shape(lambda cells: np.array(cells, dtype="c16"), [0j, 1j]),
        "records": Shape(lambda cells: np.array(cells, dtype=[("a", "f8")]), [(1.0,), (2.0,)]),
        "strided": Shape(lambda cells: np.array([[cell, cell] for cell in cells] or np.zeros((0, 2)), dtype="f8")[:, 1], FLOATS),
        "reversed": Shape(lambda cells: np.array(cells, dtype="i8")[::-1], whole(64)),
        "unaligned floats": Shape(_unaligned("f8"), FLOATS),
        "unaligned wholes": Shape(_unaligned("i8"), whole(64)),
        "packed": Shape(lambda cells: np.array([(1, cell) for cell in cells], dtype=[("a", "i1"), ("b", "i4")])["b"], whole(32)),
        "masked floats": Shape(_masked("f8"), [*FLOATS, None]),
        "masked wholes": Shape(_masked("i8"), [*whole(64), None]),
        "masked texts": Shape(lambda cells: np.ma.array([cell or "" for cell in cells], mask=[cell is None for cell in cells], dtype="U3000"), [*TEXTS, None]),
        "masked objects": Shape(lambda cells: np.ma.array(_object_array(cells), mask=[False] * len(cells)), [7, "a", None, b"\xff", 10**5000]),
    }  # fmt: skip


def pandas_shapes() -> dict[str, Shape]:
    def series(dtype: Any) -> Callable[[list[Any]], Any]:
        return lambda cells: pd.Series(cells, dtype=dtype)

    def coded(dtype: Any) -> Callable[[list[Any]], Any]:
        def build(cells: list[Any]) -> Any:
            places = {cell: place for place, cell in enumerate(dict.fromkeys(cell for cell in cells if cell is not None))}
            categories = pd.Index(_object_array(list(places)) if dtype is object else list(places), dtype=dtype)
            return pd.Series(pd.Categorical.from_codes([places.get(cell, -1) for cell in cells], categories))

        return build

    found = {str(dtype): Shape(series(dtype), [*whole(bits, signed), None]) for dtype, bits, signed in
             (("Int8", 8, True), ("Int64", 64, True), ("UInt64", 64, False), ("UInt16", 16, False))}  # fmt: skip
    arrow = {
        pa.int64(): whole(64), pa.float64(): FLOATS, pa.string(): TEXTS, pa.bool_(): [True, False], pa.date32(): DAYS, pa.timestamp("us", "UTC"): MOMENTS,
        pa.decimal128(12, 2): DECIMALS, pa.list_(pa.int8()): [[1], []], pa.null(): [None], pa.binary(): [b"\xff", b"a"],
    }  # fmt: skip
    found |= {f"arrow {kind}": Shape(series(pd.ArrowDtype(kind)), [*cells, None]) for kind, cells in arrow.items()}
    return found | {
        "int64": Shape(series("int64"), whole(64)),
        "float64": Shape(series("float64"), [*FLOATS, None]),
        "Float64": Shape(series("Float64"), [*FLOATS, None]),
        "Float32": Shape(series("Float32"), [0.1, 1.5, None]),
        "boolean": Shape(series("boolean"), [True, False, None]),
        "object": Shape(lambda cells: pd.Series(_object_array(cells), dtype=object), [*OBJECTS, None]),
        "str": Shape(series("str"), [*TEXTS, None]),
        "string python": Shape(series(pd.StringDtype("python")), [*TEXTS, *BROKEN, None]),
        "string pyarrow": Shape(series(pd.StringDtype("pyarrow")), [*TEXTS, None]),
        "categories of texts": Shape(coded("str"), [*TEXTS, None]),
        "categories of wholes": Shape(coded("int64"), [*whole(64), None]),
        "categories of floats": Shape(coded("float64"), [0.1, 1e11, 7.0, None]),
        "categories of moments": Shape(coded("M8[us]"), [datetime.datetime(2020, 1, 1), datetime.datetime(1, 1, 1), None]),
        "categories of objects": Shape(coded(object), ["a", 7, 10**5000, "\udc80", (1, 2), None]),
        "datetime64[ns]": Shape(series("M8[ns]"), [datetime.datetime(2020, 1, 1), datetime.datetime(1700, 1, 1), None]),
        "datetime64[s]": Shape(series("M8[s]"), [datetime.datetime(2020, 1, 1), datetime.datetime(1, 1, 1), None]),
        "with a zone": Shape(lambda cells: pd.Series(cells, dtype="M8[us]").dt.tz_localize("UTC").dt.tz_convert("Etc/GMT-14"), [*MOMENTS[1:3], datetime.datetime(1, 1, 1), None]),
        "timedelta": Shape(series("m8[ns]"), [datetime.timedelta(1), None]),
        "periods": Shape(series("period[D]"), [pd.Period("2020-01-01", "D"), None]),
        "intervals": Shape(series("interval[float64]"), [pd.Interval(0.0, 1.0), None]),
        "sparse floats": Shape(lambda cells: pd.Series(pd.arrays.SparseArray(cells, dtype=pd.SparseDtype("float64", np.nan))), FLOATS),
        "sparse wholes": Shape(lambda cells: pd.Series(pd.arrays.SparseArray(np.array(cells, dtype="i8"), dtype=pd.SparseDtype("int64", 0))), whole(64)),
        "an index": Shape(lambda cells: pd.Index(cells, dtype="int64"), whole(64)),
    }  # fmt: skip


def polars_shapes() -> dict[str, Shape]:
    plain: dict[Any, list[Any]] = {
        pl.Int8: whole(8), pl.Int64: whole(64), pl.UInt64: whole(64, False), pl.Int128: whole(128), pl.UInt128: whole(128, False), pl.Float32: FLOATS[:5],
        pl.Float64: FLOATS, pl.Boolean: [True, False], pl.String: TEXTS, pl.Categorical(): TEXTS, pl.Enum(["7", "secret-7f3a"]): ["7", "secret-7f3a"],
        pl.Binary: [b"\xff", b"7"], pl.Date: DAYS, pl.Datetime("us"): MOMENTS, pl.Datetime("ns"): MOMENTS[1:3], pl.Datetime("ms", "Asia/Tokyo"): MOMENTS[1:3],
        pl.Duration("us"): [datetime.timedelta(1)], pl.Time: [datetime.time(1)], pl.Decimal(12, 2): DECIMALS, pl.Decimal(38, 0): [Decimal(10) ** 37, Decimal(7)],
        pl.List(pl.Int8): [[1], []], pl.Struct({"a": pl.Int8}): [{"a": 1}], pl.Array(pl.Int8, 1): [[1]], pl.Null: [None],
    }  # fmt: skip
    found = {f"{dtype!r}"[:40]: Shape(lambda cells, dtype=dtype: pl.Series(cells, dtype=dtype), [*cells, None]) for dtype, cells in plain.items()}
    return found | {"objects": Shape(lambda cells: pl.Series(cells, dtype=pl.Object), [7, "secret-7f3a", object()])}


def arrow_shapes() -> dict[str, Shape]:
    def chunked(kind: Any) -> Callable[[list[Any]], Any]:
        # Every cell a chunk of its own, with a dictionary of its own; none where there is no cell.
        return lambda cells: pa.chunked_array([pa.array([cell], kind) if not pa.types.is_dictionary(kind) else pa.array([cell], kind.value_type).dictionary_encode().cast(kind) for cell in cells], kind)

    plain: dict[Any, list[Any]] = {
        pa.int16(): whole(16), pa.int64(): whole(64), pa.uint64(): whole(64, False), pa.float16(): [0.5], pa.float32(): FLOATS[:5], pa.float64(): FLOATS,
        pa.bool_(): [True, False], pa.string(): TEXTS, pa.large_string(): TEXTS, pa.string_view(): TEXTS, pa.binary(): [b"\xff", b"7"], pa.binary_view(): [b"\xff"],
        pa.binary(2): [b"\xff\xfe", b"77"], pa.date32(): DAYS, pa.date64(): DAYS, pa.timestamp("s"): [*MOMENTS[:3], 2**62], pa.timestamp("ns", "Asia/Tokyo"): MOMENTS[1:3],
        pa.time64("us"): [datetime.time(1)], pa.duration("s"): [datetime.timedelta(1)], pa.decimal32(9, 2): DECIMALS[:1], pa.decimal128(38, 2): DECIMALS,
        pa.decimal256(76, 2): DECIMALS, pa.null(): [None], pa.list_(pa.int8()): [[1]], pa.struct({"a": pa.int8()}): [{"a": 1}], pa.map_(pa.string(), pa.int8()): [[("a", 1)]],
        pa.month_day_nano_interval(): [(1, 2, 3)], pa.dictionary(pa.int8(), pa.string()): [str(k) for k in range(130)] + TEXTS,
        pa.dictionary(pa.int32(), pa.int64()): whole(64), pa.dictionary(pa.uint8(), pa.float64()): FLOATS[:5],
    }  # fmt: skip
    found = {f"{kind}": Shape(chunked(kind), [*cells, None]) for kind, cells in plain.items()}
    return found | {
        "run ends": Shape(lambda cells: pa.chunked_array([pa.RunEndEncodedArray.from_arrays(pa.array([1], pa.int32()), pa.array([cell], pa.int64())) for cell in cells], pa.run_end_encoded(pa.int32(), pa.int64())), [7, None]),
        "uuids": Shape(lambda cells: pa.ExtensionArray.from_storage(pa.uuid(), pa.array(cells, pa.binary(16))), [bytes(16), b"secret-7f3asecre", None]),
        "texts that are none": Shape(lambda cells: pa.array(cells, pa.binary()).view(pa.string()), [b"7", b"\xff\xfe", None]),
    }  # fmt: skip


@functools.cache
def connection() -> Any:
    """One for all, as a new one takes longer than a query."""
    return duckdb.connect()


class Query:
    """The result of a query: it speaks Arrow, and has no rows until it runs."""

    def __init__(self, kind: str, cells: list[Any]) -> None:
        rows = ", ".join(f"({'null' if cell is None else cell}::{kind})" for cell in cells)
        self._rows = f"select x as value from (values {rows}) t(x)" if cells else f"select null::{kind} as value where false"

    def run(self) -> Any:
        return connection().sql(self._rows)


def query_shapes() -> dict[str, Shape]:
    kinds: dict[str, list[Any]] = {
        "int": [7, -1], "hugeint": [2**100, 7], "double": [0.1, "'nan'", "'inf'"], "varchar": ["''", "'7'", "'secret-7f3a'"], "date": ["'0001-01-01'", "'2020-02-29'"],
        "timestamp": ["'0001-01-01 00:00:00'"], "timestamptz": ["'2020-01-01 00:00:00+00'"], "decimal(12,2)": ["1.50"], "boolean": ["true"], "uuid": ["'00000000-0000-0000-0000-000000000007'"],
        "enum('a','secret-7f3a')": ["'a'", "'secret-7f3a'"], "int[]": ["[1]"], "interval": ["interval 1 day"], "blob": ["'a'"],
    }  # fmt: skip
    return {kind: Shape(lambda cells, kind=kind: Query(kind, cells), [*cells, None]) for kind, cells in kinds.items()}


def shapes() -> dict[str, Shape]:
    """All of them by name."""
    libraries = {"numpy": numpy_shapes(), "pandas": pandas_shapes(), "polars": polars_shapes(), "pyarrow": arrow_shapes(), "duckdb": query_shapes()}
    return {f"{library}: {name}": shape for library, found in libraries.items() for name, shape in found.items()}
