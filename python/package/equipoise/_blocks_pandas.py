"""Blocks of pandas' tables and columns."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from ._blocks import Cut, fresh, is_missing, kind_of, nearest, unmakeable
from ._blocks_numpy import complexes, floats, microseconds, objects, times_of, whole_times
from ._declared import Declared, declared, read_as


def cutter(data: Any, types: Any) -> Cut:
    """How blocks are made of a table or a column."""
    if not isinstance(data, pd.DataFrame):
        column = data if isinstance(data, pd.Series) else pd.Series(data)
        name = column.name
        shown = "value" if name is None else str(name)
        _check(column.dtype, shown)
        one = declared(types, [shown]).get(shown)
        return lambda places: pd.Series(own(column.iloc[places], one), name=name)
    for name, dtype in zip(data.columns, data.dtypes):
        _check(dtype, str(name))
    said = declared(types, [str(name) for name in data.columns])
    # The names are public; how they are kept may be a mark of something else.
    kept = list(data.columns)
    names = pd.MultiIndex.from_tuples(kept, names=data.columns.names) if data.columns.nlevels > 1 else pd.Index(kept)
    names = names.set_names(data.columns.names)

    def cut(places: Any) -> Any:
        taken = data.iloc[places]
        columns = {place: own(taken.iloc[:, place], said.get(str(name))) for place, name in enumerate(kept)}
        block = pd.DataFrame(columns, index=pd.RangeIndex(len(places)))
        block.columns = names
        return block

    return cut


def _check(dtype: Any, name: str) -> None:
    """Refuse what other libraries have made a type of: nobody knows what it carries."""
    known = (
        pd.CategoricalDtype, pd.DatetimeTZDtype, pd.PeriodDtype, pd.IntervalDtype, pd.StringDtype, pd.SparseDtype, pd.ArrowDtype,
        pd.BooleanDtype, pd.Int8Dtype, pd.Int16Dtype, pd.Int32Dtype, pd.Int64Dtype, pd.UInt8Dtype, pd.UInt16Dtype,
        pd.UInt32Dtype, pd.UInt64Dtype, pd.Float32Dtype, pd.Float64Dtype,
    )  # fmt: skip
    if isinstance(dtype, pd.ArrowDtype):
        from ._blocks_arrow import check

        check(dtype.pyarrow_dtype, name)
    elif not isinstance(dtype, known) and not isinstance(dtype, np.dtype):
        raise unmakeable(name, dtype)


def own(taken: Any, said: Declared | None = None) -> Any:
    """A column of the same cells in memory of its own, whose type follows from them, or is said."""
    dtype = taken.dtype
    if said is not None:
        return typed(said, _cells(taken))
    if isinstance(dtype, pd.ArrowDtype):
        return _of_arrow(taken)
    if isinstance(dtype, pd.CategoricalDtype):
        taken = _decoded(taken)
        dtype = taken.dtype
    if pd.api.types.is_bool_dtype(dtype) or isinstance(dtype, pd.SparseDtype):
        return column_of(_cells(taken))
    if pd.api.types.is_complex_dtype(dtype):
        return _numbers(complexes(taken.to_numpy()))
    if pd.api.types.is_numeric_dtype(dtype):
        return _numbers(taken.to_numpy(dtype=np.float64, na_value=np.nan))
    if getattr(dtype, "kind", "O") in "mM":
        return _times(taken)
    return column_of(_cells(taken))


def _decoded(taken: Any) -> Any:
    """Cells of a category as cells of what its categories are."""
    codes = taken.cat.codes.to_numpy()
    present = codes >= 0
    kinds = taken.cat.categories
    if not present.any():
        return _nothing(len(taken))
    return pd.Series(kinds.take(np.where(present, codes, codes[present][0]))).where(present)


def _cells(taken: Any) -> list[Any]:
    """Each cell as an object, exactly; missing ones are ``None``."""
    if isinstance(taken.dtype, pd.ArrowDtype):
        from ._blocks_arrow import cells_of

        cells = cells_of(taken.array.__arrow_array__())
    elif getattr(taken.dtype, "kind", "O") in "mM":
        cells = list(_microseconds(taken))
    else:
        found = np.array(taken.to_numpy(dtype=object), copy=True)
        found[pd.isna(found)] = None
        return list(found.tolist())
    return [None if is_missing(cell) else cell for cell in cells]


def typed(said: Declared, cells: list[Any]) -> Any:
    """Cells as a column of a type that was said."""
    cells = read_as(said, cells)
    if said.word == "number":
        return pd.Series(np.array([nearest(cell) for cell in cells], dtype=np.float64))
    if said.word in ("integer", "boolean"):
        return pd.Series(cells, dtype="Int64" if said.word == "integer" else "boolean")
    if said.word in ("date", "timestamp"):
        days = said.word == "date"
        found = pd.Series(microseconds(whole_times(cells).view("M8[D]" if days else "M8[us]")))
        return found if days else found.dt.tz_localize("UTC")
    if said.word == "categories":
        return pd.Series(pd.Categorical(cells, categories=list(said.categories)))
    return pd.Series(objects(cells), dtype=object)


def _nothing(rows: int) -> Any:
    return pd.Series(objects([None] * rows), dtype=object)


def _numbers(numbers: Any) -> Any:
    if np.isnan(numbers).all():
        return _nothing(len(numbers))
    return pd.Series(floats(numbers) if numbers.dtype.kind == "f" else numbers)


def _microseconds(taken: Any) -> Any:
    dtype = taken.dtype
    unit = dtype.unit if isinstance(dtype, pd.DatetimeTZDtype) else np.datetime_data(dtype)[0]
    return microseconds(taken.array.view("i8").view(f"{dtype.kind}8[{unit}]"))


def _times(taken: Any) -> Any:
    return _zoned(_microseconds(taken), getattr(taken.dtype, "tz", None))


def _zoned(times: Any, zone: Any) -> Any:
    if np.isnat(times).all():
        return _nothing(len(times))
    column = pd.Series(times)
    return column if zone is None else column.dt.tz_localize("UTC").dt.tz_convert(zone)


def column_of(cells: list[Any]) -> Any:
    """Objects, of which missing ones are ``None``, as the column that pandas has for them."""
    kind = kind_of(cells)
    if kind == "nothing":
        return _nothing(len(cells))
    if kind == "number":
        return _numbers(np.array([nearest(cell) for cell in cells]))
    if kind == "complex":
        return _numbers(complexes([np.nan if cell is None else cell for cell in cells]))
    if kind == "boolean":
        yes = [None if cell is None else bool(cell) for cell in cells]
        return pd.Series(objects(yes), dtype=object if None in cells else bool)
    if kind in ("moment", "duration") and all(isinstance(cell, np.generic) for cell in cells if cell is not None):
        return _zoned(times_of(cells, "M8[us]" if kind == "moment" else "m8[us]"), None)
    if kind in ("moment", "duration"):
        # In one time zone, by its name: some libraries make an object of it for summer and one for winter.
        zones = {str(getattr(cell, "tzinfo", None)) for cell in cells if cell is not None}
        found = pd.Series(cells) if len(zones) == 1 else None
        if found is not None and found.dtype.kind in "mM":
            return _times(found)
    if kind == "text":
        cells = [None if cell is None else str(cell) for cell in cells]
    if kind == "others" and all(isinstance(cell, pd.Period) for cell in cells if cell is not None):
        found = pd.Series(cells)
        if isinstance(found.dtype, pd.PeriodDtype):
            return found
    if kind == "others":
        cells = [_between(cell) if isinstance(cell, pd.Interval) else cell for cell in cells]
    return pd.Series(objects(fresh(cells)), dtype=object)


def _between(interval: Any) -> Any:
    """An interval between floats, or times in microseconds: whole numbers and finer times are others where one elsewhere is."""
    ends = [interval.left, interval.right]
    if isinstance(ends[0], (pd.Timestamp, pd.Timedelta)):
        return pd.Interval(*(end.as_unit("us") for end in ends), closed=interval.closed)
    return pd.Interval(*map(nearest, ends), closed=interval.closed)


def _of_arrow(taken: Any) -> Any:
    """A column that pandas keeps as pyarrow's."""
    import pyarrow as pa

    from ._blocks_arrow import own as own_of_arrow

    found = own_of_arrow(taken.array.__arrow_array__())
    if pa.types.is_floating(found.type):
        return _numbers(found.to_numpy(zero_copy_only=False))
    if pa.types.is_timestamp(found.type) or pa.types.is_duration(found.type):
        times = found.cast(pa.int64()).fill_null(-(2**63)).to_numpy(zero_copy_only=False)
        kind = "M8[us]" if pa.types.is_timestamp(found.type) else "m8[us]"
        return _zoned(times.view(kind), getattr(found.type, "tz", None))
    return column_of(found.to_pylist())
