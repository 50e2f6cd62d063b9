"""Blocks of Polars' tables and columns."""

from __future__ import annotations

import gc
from typing import Any

import numpy as np
import polars as pl

from ._blocks import Cut, is_missing, unmakeable
from ._blocks_numpy import microseconds
from ._declared import Declared, declared, read_as
from ._depth import leaves


def cutter(data: Any, types: Any) -> Cut:
    """How blocks are made of a table or a column."""
    columns = [data] if isinstance(data, pl.Series) else data.get_columns()
    for column in columns:
        check(column.dtype, column.name)
    if isinstance(data, pl.Series):
        shown = data.name or "value"
        one = declared(types, [shown]).get(shown)
        return lambda places: own(data, places, one)
    said = declared(types, data.columns)
    return lambda places: pl.DataFrame([own(column, places, said.get(column.name)) for column in columns])


def check(dtype: Any, name: str) -> None:
    """Refuse types of which blocks cannot be made."""

    for kind in leaves(dtype, _parts, name):
        if canonical(kind) is None:
            raise unmakeable(name, kind)


def has_categories(data: Any) -> bool:
    """Is there a categorical column, or are there categories that other tables of this process keep?"""
    columns = [data] if isinstance(data, pl.Series) else data.get_columns()
    kinds = [kind for column in columns for kind in leaves(column.dtype, _parts, column.name)]
    return any(isinstance(kind, pl.Categorical) for kind in kinds) or knows_categories()


def knows_categories() -> bool:
    """Does Polars know any, after what is garbage is gone? It forgets them with the last column that has some."""
    if not _knows():
        return False
    gc.collect()
    return _knows()


def _knows() -> bool:
    kind = getattr(pl, "Categories", None)
    if kind is None:  # before 1.32, when only those under a StringCache were shared
        return bool(pl.using_string_cache())
    try:
        kind()[0]
    except IndexError:
        return False
    return True


def _parts(dtype: Any) -> list[Any] | None:
    if isinstance(dtype, (pl.List, pl.Array)):
        return [dtype.inner]
    return [field.dtype for field in dtype.fields] if isinstance(dtype, pl.Struct) else None


def canonical(dtype: Any) -> Any:
    """The one type of blocks for cells of a type; nothing where there is none."""
    if dtype.is_numeric():
        return pl.Float64()
    if isinstance(dtype, (pl.Boolean, pl.Binary, pl.Time, pl.Null)):
        return dtype
    if isinstance(dtype, (pl.String, pl.Categorical, pl.Enum)):
        return pl.String()
    if isinstance(dtype, (pl.Date, pl.Datetime)):
        return pl.Datetime("us", getattr(dtype, "time_zone", None))
    return pl.Duration("us") if isinstance(dtype, pl.Duration) else None


def typed(said: Declared, cells: list[Any], name: str) -> Any:
    """Cells as a column of a type that was said."""
    cells = read_as(said, [None if is_missing(cell) else cell for cell in cells])
    kinds = {
        "number": pl.Float64(),
        "integer": pl.Int64(),
        "boolean": pl.Boolean(),
        "text": pl.String(),
        "date": pl.Int32(),
        "timestamp": pl.Int64(),
        "decimal": pl.Decimal(38, said.digits),
        "categories": pl.Enum(said.categories),
    }
    if said.word == "date":
        cells = [cell if cell is not None and abs(cell) < 2**31 else None for cell in cells]
    found = pl.Series(name, cells, dtype=kinds[said.word])
    later = {"date": pl.Date(), "timestamp": pl.Datetime("us", "UTC")}.get(said.word)
    return found if later is None else found.cast(later)


def _cells(taken: Any) -> list[Any]:
    """Each cell as an object, exactly; missing ones are ``None``."""
    kind = canonical(taken.dtype)
    if not isinstance(kind, (pl.Datetime, pl.Duration)):
        return list(taken.to_list())
    whole = _times(taken, kind).to_physical().fill_null(-(2**63)).to_numpy()
    return list(np.array(whole, dtype=np.int64).view("m8[us]" if isinstance(kind, pl.Duration) else "M8[us]"))


def own(column: Any, places: Any, said: Declared | None = None) -> Any:
    """A column of these cells in memory of its own, whose type follows from them, or is said."""
    taken = column.gather(places)
    kind = canonical(taken.dtype)
    if said is not None:
        return typed(said, _cells(taken), column.name)
    if taken.null_count() == len(taken):
        return pl.Series(column.name, [None] * len(taken), dtype=pl.Null)
    if isinstance(taken.dtype, pl.Decimal):
        cells = [None if cell is None else float(cell) for cell in taken.to_list()]
        return pl.Series(column.name, cells, dtype=pl.Float64)
    if isinstance(kind, pl.Float64):
        numbers = taken.cast(pl.Float64, strict=False)
        if numbers.null_count() == 0:
            return pl.Series(column.name, np.array(numbers.to_numpy(), copy=True))
        return pl.Series(column.name, numbers.to_list(), dtype=pl.Float64)
    if isinstance(kind, (pl.Datetime, pl.Duration)):
        return _times(taken, kind)
    if isinstance(kind, pl.Time):
        return pl.Series(column.name, taken.to_physical().to_list(), dtype=pl.Int64).cast(pl.Time)
    if isinstance(kind, pl.String):
        taken = taken.cast(pl.String)
    values = taken.to_list()
    if kind is None:
        kind = nested(taken.dtype, values)
        values = [plain(taken.dtype, value) for value in values]
    return pl.Series(column.name, values, dtype=kind)


def _times(taken: Any, kind: Any) -> Any:
    unit = "D" if isinstance(taken.dtype, pl.Date) else taken.dtype.time_unit
    letter = "m8" if isinstance(kind, pl.Duration) else "M8"
    whole = taken.to_physical().cast(pl.Int64)
    missing = whole.is_null().to_numpy()
    times = microseconds(np.array(whole.fill_null(0).to_numpy(), copy=True).view(f"{letter}[{unit}]"))
    missing = missing | np.isnat(times)
    cells = [None if empty else cell for cell, empty in zip(times.view(np.int64).tolist(), missing.tolist())]
    return pl.Series(taken.name, cells, dtype=pl.Int64).cast(kind)


def nested(dtype: Any, values: Any) -> Any:
    """The type of lists and structs, by their own cells as the types of columns."""
    present = [value for value in values if value is not None]
    if not present:
        return pl.Null()
    if isinstance(dtype, (pl.List, pl.Array)):
        return pl.List(nested(dtype.inner, [one for value in present for one in value]))
    if isinstance(dtype, pl.Struct):
        return pl.Struct({field.name: nested(field.dtype, [value[field.name] for value in present]) for field in dtype.fields})
    return canonical(dtype)


def plain(dtype: Any, value: Any) -> Any:
    """A value inside of lists and structs as one of the type that :func:`nested` gives."""
    if value is None:
        return None
    if isinstance(dtype, (pl.List, pl.Array)):
        return [plain(dtype.inner, one) for one in value]
    if isinstance(dtype, pl.Struct):
        return {field.name: plain(field.dtype, value[field.name]) for field in dtype.fields}
    return float(value) if isinstance(canonical(dtype), pl.Float64) else value
