"""Rows that nobody has, in the shape of somebody's data: statements about functions are tried on them, and no real row is looked at.

Names and types of columns are public; whatever is told here follows from them.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

#: Two values of each kind: few, and such that hardly any column cannot have them.
_VALUES: dict[str, tuple[Any, Any]] = {
    "number": (0, 1),
    "boolean": (False, True),
    "text": ("a", "b"),
    "moment": (datetime.datetime(2020, 1, 1), datetime.datetime(2020, 1, 2)),
    # A type of which nothing can be made up: a function that does not look at the column does not mind.
    "nothing": (None, None),
}


class Shape(NamedTuple):
    """How some rows become data of the type of other data, and a few rows to begin with."""

    like: Callable[[list[Any]], Any]
    rows: tuple[Any, ...]


def shape_of(data: Any) -> Shape | None:
    """The shape of this data; nothing where its type does not tell what rows of it are."""
    if isinstance(data, (list, tuple)):
        return Shape(tuple if isinstance(data, tuple) else list, _VALUES["number"])
    if isinstance(data, Mapping):
        columns = {name: shape_of(column) for name, column in data.items()}
        known = {name: one for name, one in columns.items() if one is not None and not isinstance(one.rows[0], (list, dict))}
        return _table(known, dict) if len(known) == len(columns) else None
    makers = {"numpy": _numpy, "pandas": _pandas, "polars": _polars, "pyarrow": _pyarrow}
    maker = makers.get(type(data).__module__.partition(".")[0])
    return None if maker is None else maker(data)


def rows_of(made_up: Any) -> list[Any]:
    """Made-up rows as a list: of a table one dictionary a row."""
    if hasattr(made_up, "to_pylist"):
        return list(made_up.to_pylist())
    if hasattr(made_up, "iter_rows"):
        return list(made_up.iter_rows(named=True))
    if hasattr(made_up, "iloc") and hasattr(made_up, "columns"):
        return list(made_up.to_dict("records"))
    if isinstance(made_up, Mapping):
        return [dict(zip(made_up, row, strict=True)) for row in zip(*made_up.values(), strict=True)]
    return list(made_up.tolist() if hasattr(made_up, "tolist") else made_up)


def _table(columns: Mapping[Any, Shape], made: Callable[[dict[Any, Any]], Any]) -> Shape | None:
    """Rows are dictionaries: all first values, all second ones, and both in turn."""
    if not columns:
        return None
    first, second = ({name: one.rows[which] for name, one in columns.items()} for which in (0, 1))
    rows = [first, second]
    if len(columns) > 1:
        rows += [{name: (one, other)[at % 2][name] for at, name in enumerate(columns)} for one, other in ((first, second), (second, first))]

    def like(many: list[Any]) -> Any:
        # Whoever makes rows up may leave out columns that no function looks at.
        there = {name: one for name, one in columns.items() if all(name in row for row in many)}
        return made({name: one.like([row[name] for row in many]) for name, one in there.items()})

    return Shape(like, tuple(rows))


def _kind(dtype: Any) -> str | None:
    """Which values a type of numpy or pandas has."""
    kind = getattr(dtype, "kind", "")
    if str(dtype).startswith("str"):
        return "text"
    return {"i": "number", "u": "number", "f": "number", "b": "boolean", "U": "text", "T": "text", "M": "moment"}.get(kind)


def _numpy(data: Any) -> Shape | None:
    import numpy as np

    kind, dtype = _kind(getattr(data, "dtype", None)), getattr(data, "dtype", None)
    if kind is None or getattr(data, "ndim", 0) not in (1, 2):
        return None
    # Numbers keep what they are: whoever makes up halves in a column of whole numbers means halves.
    exact = None if kind in ("number", "text") else dtype

    def like(rows: list[Any]) -> Any:
        return np.array(rows, dtype=exact) if rows else np.empty(0, dtype=dtype)

    if data.ndim == 1:
        return Shape(like, _VALUES[kind])
    wide, (first, second) = data.shape[1], _VALUES[kind]
    rows = [[first] * wide, [second] * wide]
    if wide > 1:
        rows += [[(first, second)[(at + begin) % 2] for at in range(wide)] for begin in (0, 1)]
    return Shape(lambda many: like(many).reshape(len(many), wide), tuple(rows))


def _pandas(data: Any) -> Shape | None:
    import pandas as pd

    def column(one: Any) -> Shape:
        # A column of objects is of texts where it is of anything that can be made up; categories may be those of the rows.
        plain = str(one.dtype) in ("object", "category")
        kind = "text" if plain else _kind(one.dtype) or "nothing"
        empty = "object" if plain else one.dtype
        exact = {"moment": one.dtype, "nothing": "object"}.get(kind)
        return Shape(lambda rows: pd.Series(rows, dtype=exact if rows else empty, name=one.name), _VALUES[kind])

    if getattr(data, "ndim", 0) == 1:
        return column(data)
    if not hasattr(data, "columns") or not data.columns.is_unique:
        return None
    return _table({name: column(data[name]) for name in data.columns}, pd.DataFrame)


def _polars(data: Any) -> Shape | None:
    import polars as pl

    def column(name: str, dtype: Any) -> Shape:
        kinds = {pl.Boolean: "boolean", pl.String: "text", pl.Categorical: "text", pl.Datetime: "moment"}
        kind = "number" if dtype.is_numeric() else kinds.get(dtype.base_type(), "nothing")
        # Numbers become what the made-up ones are.
        exact = None if kind == "number" else pl.String if kind == "text" else dtype
        return Shape(lambda rows: pl.Series(name, rows, dtype=exact if rows else dtype), _VALUES[kind])

    if isinstance(data, pl.Series):
        return column(data.name, data.dtype)
    if not isinstance(data, pl.DataFrame):
        return None
    return _table({name: column(name, dtype) for name, dtype in data.schema.items()}, pl.DataFrame)


def _pyarrow(data: Any) -> Shape | None:
    import pyarrow as pa

    def column(dtype: Any) -> Shape:
        is_number = pa.types.is_integer(dtype) or pa.types.is_floating(dtype)
        is_text = pa.types.is_string(dtype) or pa.types.is_large_string(dtype)
        kind = "number" if is_number else "text" if is_text else "boolean" if pa.types.is_boolean(dtype) else "nothing"
        return Shape(lambda rows: pa.array(rows, type=None if is_number and rows else dtype), _VALUES[kind])

    if isinstance(data, (pa.Array, pa.ChunkedArray)):
        return column(data.type)
    if not isinstance(data, pa.Table):
        return None
    return _table({field.name: column(field.type) for field in data.schema}, pa.table)
