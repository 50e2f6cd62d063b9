"""Blocks of pyarrow's tables and columns."""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.types as is_type

from ._blocks import Cut, is_missing, unmakeable
from ._blocks_numpy import microseconds
from ._declared import Declared, declared, read_as
from ._depth import leaves


def cutter(data: Any, types: Any) -> Cut:
    """How blocks are made of a table or a column."""
    if isinstance(data, (pa.Array, pa.ChunkedArray)):
        check(data.type, "value")
        chunked = isinstance(data, pa.ChunkedArray)
        one = declared(types, ["value"]).get("value")

        def cut_column(places: Any) -> Any:
            block = own(_taken(data, places), one)
            return pa.chunked_array([block]) if chunked else block

        return cut_column
    for field in data.schema:
        check(field.type, field.name)
    names = data.schema.names
    said = declared(types, names)
    made = pa.Table if isinstance(data, pa.Table) else pa.RecordBatch

    def cut(places: Any) -> Any:
        columns = [own(_taken(column, places), said.get(name)) for name, column in zip(names, data.columns)]
        # Not the fields of the table: those say whether a column may be empty, and carry notes.
        fields = [pa.field(name, column.type) for name, column in zip(names, columns)]
        if not columns:
            return made.from_pydict({})
        return made.from_arrays(columns, schema=pa.schema(fields))

    return cut


_LISTS = (is_type.is_list, is_type.is_large_list, is_type.is_fixed_size_list, is_type.is_list_view, is_type.is_large_list_view)
_TEXTS = (is_type.is_string, is_type.is_large_string, is_type.is_string_view)
_BYTES = (is_type.is_binary, is_type.is_large_binary, is_type.is_binary_view, is_type.is_fixed_size_binary)


def _any(tests: Any, kind: Any) -> bool:
    return any(test(kind) for test in tests)


def check(kind: Any, name: str) -> None:
    """Refuse types of which blocks cannot be made."""

    def parts(kind: Any) -> list[Any] | None:
        if is_type.is_dictionary(kind) or _any(_LISTS, kind):
            return [kind.value_type]
        return [field.type for field in kind] if is_type.is_struct(kind) else None

    for kind in leaves(kind, parts, name):
        if canonical(kind) is None:
            raise unmakeable(name, kind)


def canonical(kind: Any) -> Any:
    """The one type of blocks for cells of a type; nothing where there is none."""
    if is_type.is_boolean(kind) or is_type.is_null(kind):
        return kind
    if is_type.is_integer(kind) or is_type.is_floating(kind) or is_type.is_decimal(kind):
        return pa.float64()
    if _any(_TEXTS, kind):
        return pa.string()
    if _any(_BYTES, kind):
        return pa.binary()
    if is_type.is_date(kind):
        return pa.timestamp("us")
    if is_type.is_timestamp(kind):
        return pa.timestamp("us", kind.tz)
    if is_type.is_duration(kind):
        return pa.duration("us")
    return pa.time64("us") if is_type.is_time(kind) else None


def _taken(column: Any, places: Any) -> Any:
    if _any((is_type.is_string_view, is_type.is_binary_view), column.type):  # which take does not know
        return pa.array([column[int(place)].as_py() for place in places], column.type)
    return column.take(pa.array(places))


def _whole(taken: Any) -> Any:
    """One array, without a dictionary."""
    if isinstance(taken, pa.ChunkedArray):
        taken = taken.combine_chunks()
        if isinstance(taken, pa.ChunkedArray):  # some versions keep the chunk
            taken = pa.concat_arrays(taken.chunks) if taken.num_chunks else pa.array([], taken.type)
    return taken.dictionary_decode() if is_type.is_dictionary(taken.type) else taken


def cells_of(taken: Any) -> list[Any]:
    """Each cell as an object, exactly; missing ones are ``None``."""
    taken = _whole(taken)
    kind = canonical(taken.type)
    if kind is not None and (is_type.is_timestamp(kind) or is_type.is_duration(kind)):
        times = own(taken)
        whole = np.array(times.cast(pa.int64()).fill_null(-(2**63)).to_numpy(zero_copy_only=False))
        return list(whole.view("m8[us]" if is_type.is_duration(kind) else "M8[us]"))
    return list(taken.to_pylist())


def typed(said: Declared, cells: list[Any]) -> Any:
    """Cells as an array of a type that was said."""
    cells = read_as(said, [None if is_missing(cell) else cell for cell in cells])
    if said.word == "categories":
        codes = {text: code for code, text in enumerate(said.categories)}
        return pa.DictionaryArray.from_arrays(
            pa.array([None if cell is None else codes[cell] for cell in cells], pa.int32()), pa.array(said.categories, pa.string())
        )
    if said.word == "date":
        return pa.array([cell if cell is not None and abs(cell) < 2**31 else None for cell in cells], pa.int32()).cast(pa.date32())
    kinds = {
        "number": pa.float64(),
        "integer": pa.int64(),
        "boolean": pa.bool_(),
        "text": pa.string(),
        "timestamp": pa.timestamp("us", "UTC"),
        "decimal": pa.decimal128(38, said.digits),
    }
    return pa.array(cells, kinds[said.word])


def own(taken: Any, said: Declared | None = None) -> Any:
    """An array of the same cells in memory of its own, whose type follows from them, or is said."""
    if said is not None:
        return typed(said, cells_of(taken))
    taken = _whole(taken)
    if taken.null_count == len(taken):
        return pa.nulls(len(taken))
    kind = canonical(taken.type)
    missing = np.array(taken.is_null().to_numpy(zero_copy_only=False))
    if is_type.is_decimal(taken.type):
        # One by one: pyarrow's own way rounds by how many digits the column has.
        return pa.array([None if cell is None else float(cell) for cell in taken.to_pylist()], kind)
    if kind == pa.float64():
        return _numbers(taken.cast(pa.float64(), safe=False), missing, kind)
    if kind is not None and (is_type.is_timestamp(kind) or is_type.is_duration(kind)):
        return _times(taken, missing, kind)
    if kind is not None and is_type.is_time(kind):
        taken = taken.cast(kind, safe=False)
    values = taken.to_pylist()
    if kind is None:
        kind = nested(taken.type, values)
        values = [plain(taken.type, value) for value in values]
    return pa.array(values, type=kind)


def _numbers(taken: Any, missing: Any, kind: Any) -> Any:
    numbers = np.array(taken.fill_null(0).to_numpy(zero_copy_only=False), copy=True)
    return pa.array(numbers, type=kind, mask=missing if missing.any() else None)


#: How numpy writes the units of times.
_UNITS = {"s": "s", "ms": "ms", "us": "us", "ns": "ns"}


def _times(taken: Any, missing: Any, kind: Any) -> Any:
    letter = "m8" if is_type.is_duration(kind) else "M8"
    if is_type.is_date32(taken.type):
        unit, whole = "D", taken.cast(pa.int32()).cast(pa.int64())
    else:
        unit = "ms" if is_type.is_date64(taken.type) else _UNITS[taken.type.unit]
        whole = taken.cast(pa.int64())
    numbers = np.array(whole.fill_null(0).to_numpy(zero_copy_only=False), copy=True)
    times = microseconds(numbers.view(f"{letter}[{unit}]"))
    missing = missing | np.isnat(times)
    times[missing] = 0
    found = pa.array(times.view(np.int64), mask=missing if missing.any() else None)
    return found.view(kind)


def nested(kind: Any, values: list[Any]) -> Any:
    """The type of lists and structs, by their own cells as the types of columns."""
    present = [value for value in values if value is not None]
    if not present:
        return pa.null()
    if is_type.is_dictionary(kind):
        return nested(kind.value_type, present)
    if _any(_LISTS, kind):
        return pa.list_(nested(kind.value_type, [one for value in present for one in value]))
    if is_type.is_struct(kind):
        return pa.struct([pa.field(field.name, nested(field.type, [value[field.name] for value in present])) for field in kind])
    return canonical(kind)


def plain(kind: Any, value: Any) -> Any:
    """A value inside of lists and structs as one of the type that :func:`nested` gives."""
    if value is None:
        return None
    if is_type.is_dictionary(kind):
        return plain(kind.value_type, value)
    if _any(_LISTS, kind):
        return [plain(kind.value_type, one) for one in value]
    if is_type.is_struct(kind):
        return {field.name: plain(field.type, value[field.name]) for field in kind}
    if is_type.is_date(kind):
        return datetime.datetime.combine(value, datetime.time())
    return float(value) if canonical(kind) == pa.float64() else value
