"""The same cells, written in every type of every library that holds them, beside rows of which nothing is to be seen.

A family is a list of cells of one kind, and its encodings are the ways to write it as a column together with other rows. The other
rows make categories, widths, missing cells, chunks and floats that a block must not show.
"""

from __future__ import annotations

import datetime
import random
import warnings
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

Encoding = Callable[[list[Any]], Any]
UTC = datetime.timezone.utc
DAY = datetime.datetime(2020, 1, 1)
WORDS = ["Ayr", "", "é", "a rare diagnosis that only one person has", "x" * 50, "7", "née \U0001f600"]


class Family:
    """Cells of one kind, cells that other rows may have, and what writes both in one column."""

    def __init__(self, cells: list[Any], others: list[Any], encodings: dict[str, Encoding]) -> None:
        self.cells, self.others, self.encodings = cells, others, encodings

    def beside(self, encoding: str, odd: bool) -> list[Any]:
        """What other rows may hold in an encoding: among objects also what is none of the kind."""
        return [*self.others, "a rare text", 2j, (1, "a")] if odd and encoding == "object" else self.others


def missing_as(none: Any, write: Encoding) -> Encoding:
    return lambda cells: write([none if cell is None else cell for cell in cells])


def quiet(write: Callable[..., Any]) -> Callable[..., Any]:
    def written(*cells: Any) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return write(*cells)

    return written


def objects(cells: list[Any]) -> Any:
    array = np.empty(len(cells), dtype=object)
    array[:] = cells
    return array


def typed(dtype: Any) -> Encoding:
    return lambda cells: np.array(cells, dtype=dtype)


def series(dtype: Any) -> Encoding:
    return quiet(lambda cells: pd.Series(cells, dtype=dtype))


def arrow_series(kind: Any) -> Encoding:
    return quiet(lambda cells: pd.Series(pd.arrays.ArrowExtensionArray(pa.array(cells, kind))))


def category(cells: list[Any]) -> Any:
    known = sorted({cell for cell in cells if cell is not None}, key=repr, reverse=True)
    return pd.Series(pd.Categorical(cells, categories=known))


def arrow(kind: Any) -> Encoding:
    return lambda cells: pa.array(cells, kind)


def dictionary(kind: Any, codes: Any = None) -> Encoding:
    return lambda cells: pa.array(cells, kind).dictionary_encode().cast(pa.dictionary(codes or pa.int32(), kind))


def polars(dtype: Any) -> Encoding:
    return lambda cells: pl.Series("x", cells, dtype=dtype, strict=False)


def enum(cells: list[Any]) -> Any:
    return pl.Series("x", cells, dtype=pl.Enum(sorted({cell for cell in cells if cell is not None}, reverse=True)))


WHOLE = {f"{kind}{bits}": f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)}

NUMBERS = {
    "numpy": {
        **{name: typed(dtype) for name, dtype in WHOLE.items()},
        "float16": typed("f2"),
        "float32": typed("f4"),
        "float64": typed("f8"),
        "longdouble": typed(np.longdouble),
        "big-endian": typed(">i4"),
        "complex": typed("c16"),
        "object": objects,
        "objects of numpy": lambda cells: objects([np.int16(cell) for cell in cells]),
    },
    "pandas": {
        **{name: series(dtype) for name, dtype in WHOLE.items()},
        "float64": series("float64"),
        "Int64": series("Int64"),
        "UInt8": series("UInt8"),
        "Float32": series("Float32"),
        "Float64": series("Float64"),
        "object": series(object),
        "category": category,
        "sparse": series(pd.SparseDtype("float64", np.nan)),
        "sparse whole": series(pd.SparseDtype("int64", 0)),
        "int64[pyarrow]": arrow_series(pa.int64()),
        "uint8[pyarrow]": arrow_series(pa.uint8()),
        "double[pyarrow]": arrow_series(pa.float64()),
        "decimal[pyarrow]": arrow_series(pa.decimal128(20, 3)),
        "dictionary[pyarrow]": lambda cells: pd.Series(pd.arrays.ArrowExtensionArray(dictionary(pa.int64())(cells))),
    },
    "arrow": {
        **{name: arrow(pa.type_for_alias(dtype)) for name, dtype in WHOLE.items()},
        "float": arrow(pa.float32()),
        "double": arrow(pa.float64()),
        "decimal": arrow(pa.decimal128(20, 3)),
        "long decimal": arrow(pa.decimal256(50, 10)),
        "dictionary": dictionary(pa.int64()),
        "dictionary of floats": dictionary(pa.float64(), pa.int8()),
    },
    "polars": {
        **{name: polars(getattr(pl, name.replace("uint", "UInt").replace("int", "Int"))) for name in WHOLE},
        "Int128": polars(pl.Int128),
        "Float32": polars(pl.Float32),
        "Float64": polars(pl.Float64),
        "Decimal": polars(pl.Decimal(30, 3)),
    },
}
#: These hold no missing cell.
WITHOUT_NONE = {*WHOLE, "complex objects", "big-endian", "sparse whole", "objects of numpy", "bool", "texts", "bytes", "wide", "interval whole"}



def decimals(cells: list[Any]) -> list[Any]:
    return [None if cell is None else Decimal(str(cell)) for cell in cells]


def arrow_decimals(cells: list[Any]) -> Any:
    return pa.array(decimals(cells)) if any(cell is not None for cell in cells) else pa.array(cells, pa.decimal128(5, 1))


def complex_objects(cells: list[Any]) -> Any:
    return objects([np.complex128(cell) if place % 2 else complex(cell) for place, cell in enumerate(cells)])


#: How many digits decimals have is decided by all of them.
FRACTIONS = {
    "numpy": {"float64": typed("f8"), "complex": typed("c16"), "object": objects, "complex objects": complex_objects},
    "pandas": {
        "float64": series("float64"),
        "Float64": series("Float64"),
        "object": series(object),
        "complex": lambda cells: pd.Series(np.array(cells, "c16")),
        "category": category,
        "decimal[pyarrow]": lambda cells: pd.Series(pd.arrays.ArrowExtensionArray(arrow_decimals(cells))),
    },
    "arrow": {
        "double": arrow(pa.float64()),
        "decimals": arrow_decimals,
        "dictionary": lambda cells: arrow_decimals(cells).dictionary_encode(),
        "long decimals": lambda cells: pa.array(decimals(cells), pa.decimal256(60, 20)),
    },
    "polars": {
        "Float64": polars(pl.Float64),
        "Decimal": lambda cells: pl.Series("x", decimals(cells)),
        "long": lambda cells: pl.Series("x", decimals(cells), dtype=pl.Decimal(38, 18)),
    },
}
COMPLEX = {
    "numpy": {"complex": typed("c16"), "object": objects, "complex objects": complex_objects},
    "pandas": {"complex": lambda cells: pd.Series(np.array(cells, "c16")), "object": series(object), "category": category},
    "arrow": {},
    "polars": {},
}
INTERVALS = {
    "numpy": {},
    "arrow": {},
    "polars": {},
    "pandas": {
        "interval": lambda cells: pd.Series(pd.arrays.IntervalArray(cells)) if any(cells) else series(object)(cells),
        "object": series(object),
        "category": category,
    },
}

BOOLEANS = {
    "numpy": {"bool": typed(bool), "object": objects, "float64": typed("f8"), "int8": typed("i1")},
    "pandas": {
        "bool": series(bool),
        "object": series(object),
        "boolean": series("boolean"),
        "category": category,
        "bool[pyarrow]": arrow_series(pa.bool_()),
    },
    "arrow": {"bit": arrow(pa.bool_())},
    "polars": {"Boolean": polars(pl.Boolean)},
}
TEXTS = {
    "numpy": {
        "texts": typed("U"),
        "wide": typed("U300"),
        "object": objects,
        "T": lambda cells: np.array(cells, dtype=np.dtypes.StringDType(na_object=None)),
        "objects of numpy": lambda cells: objects([np.str_(cell) for cell in cells]),
    },
    "pandas": {
        "object": series(object),
        "str": series("str"),
        "string": series("string"),
        "string[python]": series("string[python]"),
        "string[pyarrow]": arrow_series(pa.string()),
        "large_string[pyarrow]": arrow_series(pa.large_string()),
        "category": category,
        "category of objects": lambda cells: category(cells).astype(object).astype("category"),
        "dictionary[pyarrow]": lambda cells: pd.Series(pd.arrays.ArrowExtensionArray(dictionary(pa.string())(cells))),
    },
    "arrow": {
        "string": arrow(pa.string()),
        "large": arrow(pa.large_string()),
        "view": arrow(pa.string_view()),
        "dictionary": dictionary(pa.string()),
        "small dictionary": dictionary(pa.large_string(), pa.int8()),
    },
    "polars": {"String": polars(pl.String), "Categorical": polars(pl.Categorical), "Enum": enum},
}
MOMENTS = {
    "numpy": {f"M8[{unit}]": typed(f"M8[{unit}]") for unit in ("s", "ms", "us", "ns")}
    | {"object": lambda cells: objects([np.datetime64(cell, "s") if isinstance(cell, datetime.datetime) else cell for cell in cells])},
    "pandas": {
        **{f"datetime64[{unit}]": series(f"datetime64[{unit}]") for unit in ("s", "ms", "us", "ns")},
        "object": series(object),
        "timestamps": lambda cells: pd.Series([None if cell is None else pd.Timestamp(cell) for cell in cells], dtype=object),
        "category": category,
        "timestamp[s][pyarrow]": arrow_series(pa.timestamp("s")),
        "timestamp[ns][pyarrow]": arrow_series(pa.timestamp("ns")),
    },
    "arrow": {unit: arrow(pa.timestamp(unit)) for unit in ("s", "ms", "us", "ns")} | {"dictionary": dictionary(pa.timestamp("s"))},
    "polars": {unit: polars(pl.Datetime(unit)) for unit in ("ms", "us", "ns")},
}
DAYS = {
    "numpy": {"M8[D]": typed("M8[D]"), "M8[us]": typed("M8[us]"), "M8[h]": typed("M8[h]")},
    "pandas": {"datetime64[s]": series("datetime64[s]"), "date[pyarrow]": arrow_series(pa.date32())},
    "arrow": {"date32": arrow(pa.date32()), "date64": arrow(pa.date64()), "timestamp": arrow(pa.timestamp("ns"))},
    "polars": {"Date": polars(pl.Date), "Datetime": polars(pl.Datetime("ns"))},
}


def timed(cell: Any, unit: str) -> Any:
    return np.timedelta64(cell, unit) if isinstance(cell, datetime.timedelta) else cell


DURATIONS = {
    "numpy": {f"m8[{unit}]": typed(f"m8[{unit}]") for unit in ("s", "us", "ns")}
    | {"object": lambda cells: objects([timed(cell, "s") for cell in cells])},
    "pandas": {
        "objects of numpy's": lambda cells: pd.Series(objects([timed(cell, "s") for cell in cells]), dtype=object),
        "timedelta64[s]": series("timedelta64[s]"),
        "timedelta64[ns]": series("timedelta64[ns]"),
        "object": series(object),
        "duration[us][pyarrow]": arrow_series(pa.duration("us")),
    },
    "arrow": {unit: arrow(pa.duration(unit)) for unit in ("s", "ms", "us", "ns")},
    "polars": {unit: polars(pl.Duration(unit)) for unit in ("ms", "us", "ns")},
}


def stamp(cell: Any) -> Any:
    return pd.Timestamp(cell) if isinstance(cell, datetime.datetime) else cell


ZONED = {
    "numpy": {},
    "pandas": {
        "datetime64[us, UTC]": series("datetime64[us, UTC]"),
        "datetime64[ns, UTC]": series("datetime64[ns, UTC]"),
        "object": lambda cells: pd.Series([stamp(cell) for cell in cells], dtype=object),
        "category": category,
    },
    "arrow": {unit: arrow(pa.timestamp(unit, "UTC")) for unit in ("s", "ms", "us", "ns")},
    "polars": {unit: polars(pl.Datetime(unit, "UTC")) for unit in ("ms", "us", "ns")},
}
BYTES = {
    "numpy": {"bytes": typed("S"), "object": objects},
    "pandas": {"object": series(object), "binary[pyarrow]": arrow_series(pa.binary()), "category": category},
    "arrow": {"binary": arrow(pa.binary()), "large": arrow(pa.large_binary()), "dictionary": dictionary(pa.binary())},
    "polars": {"Binary": polars(pl.Binary)},
}
LISTS = {
    "numpy": {"object": objects},
    "pandas": {"object": series(object)},
    "arrow": {
        "ints": arrow(pa.list_(pa.int64())),
        "floats": arrow(pa.list_(pa.float64())),
        "large": arrow(pa.large_list(pa.int8())),
        "view": arrow(pa.list_view(pa.int16())),
        "decimals": arrow(pa.list_(pa.decimal128(9, 2))),
    },
    "polars": {"ints": polars(pl.List(pl.Int64)), "floats": polars(pl.List(pl.Float32)), "small": polars(pl.List(pl.Int8))},
}


def of_days(write: Encoding) -> Encoding:
    return lambda cells: write([None if cell is None else [day and day.date() for day in cell] for cell in cells])


DAYS_IN_LISTS = {
    "numpy": {},
    "pandas": {},
    "arrow": {
        "date32": of_days(arrow(pa.list_(pa.date32()))),
        "date64": of_days(arrow(pa.large_list(pa.date64()))),
        "timestamp": arrow(pa.list_(pa.timestamp("ns"))),
    },
    "polars": {"Date": of_days(polars(pl.List(pl.Date))), "Datetime": polars(pl.List(pl.Datetime("ns")))},
}
STRUCTS = {
    "numpy": {"object": objects},
    "pandas": {"object": series(object)},
    "arrow": {
        "plain": arrow(pa.struct([("a", pa.int64()), ("b", pa.string())])),
        "large": arrow(pa.struct([("a", pa.float64()), ("b", pa.large_string())])),
    },
    "polars": {
        "plain": polars(pl.Struct({"a": pl.Int64, "b": pl.String})),
        "categories": polars(pl.Struct({"a": pl.Float64, "b": pl.Categorical})),
    },
}
PERIODS = {"numpy": {}, "arrow": {}, "polars": {}, "pandas": {"period": lambda cells: pd.Series(pd.PeriodIndex(cells, freq="M")), "object": series(object)}}
MIXED = {"numpy": {"object": objects}, "pandas": {"object": series(object)}, "arrow": {}, "polars": {}}


def _odd() -> list[Any]:
    return [1, 2.5, "Ayr", b"x", True, (1, "a"), Decimal("1.10"), datetime.date(2020, 1, 1), {"k": [1]}, 10**30, "a rare text"]


def families(library: str) -> dict[str, Family]:
    """What there is in a library; also what other rows may hold, which shows in the type of some encodings."""
    moments = [DAY + datetime.timedelta(seconds=7 * step) for step in range(9)]
    days = [DAY + datetime.timedelta(days=7 * step) for step in range(9)]
    spans = [datetime.timedelta(seconds=7 * step) for step in range(9)]
    found = {
        "numbers": Family([0, 1, 7, 100, 120], [0, 3, 99, 101, 127], NUMBERS[library]),
        "fractions": Family([0.1, 0.7, 123.3, -7.0], [0.5, 5.125, 0.123456789, 0.1234567890123, 123456789012.5], FRACTIONS[library]),
        "complex": Family([0.1, 1 + 2j, -3.5j], [2.5, 7 - 1j], COMPLEX[library]),
        "intervals": Family([pd.Interval(0, 1), pd.Interval(2, 5)], [pd.Interval(0, 7), pd.Interval(0.5, 2.5)], INTERVALS[library]),
        "days in lists": Family([days[:2], [], [days[3], None]], [[days[4]], [None]], DAYS_IN_LISTS[library]),
        "booleans": Family([True, False], [True, False], BOOLEANS[library]),
        "texts": Family(["Ayr", "b", "née", "7"], WORDS, TEXTS[library]),
        "moments": Family(moments[:5], moments, MOMENTS[library]),
        "days": Family(days[:5], days, DAYS[library]),
        "durations": Family(spans[:5], spans, DURATIONS[library]),
        "zoned": Family([m.replace(tzinfo=UTC) for m in moments[:5]], [m.replace(tzinfo=UTC) for m in moments], ZONED[library]),
        "bytes": Family([b"a", b"bc"], [b"longer than the others", b"\xff"], BYTES[library]),
        "lists": Family([[1, 2], [], [3, None]], [[9], [None], []], LISTS[library]),
        "structs": Family([{"a": 1, "b": "x"}, {"a": None, "b": None}], [{"a": 2, "b": "a rare text"}], STRUCTS[library]),
        "periods": Family([pd.Period("2020-01", "M"), pd.Period("2021-05", "M")], [pd.Period("1999-12", "M")], PERIODS[library]),
        "mixed": Family(_odd()[:8], _odd(), MIXED[library]),
    }
    return {name: family for name, family in found.items() if family.encodings}


def drawn(rng: random.Random, pool: list[Any], count: int, missing: bool, encoding: str) -> list[Any]:
    """So many cells, some of them missing where that can be."""
    allowed = missing and encoding not in WITHOUT_NONE
    return [None if allowed and rng.random() < 0.3 else rng.choice(pool) for _ in range(count)]
