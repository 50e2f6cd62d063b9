"""Blocks of numpy's arrays, of any number of dimensions, with or without fields or masks."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._blocks import Cut, fresh, is_missing, kind_of, nearest
from ._declared import Declared, declared, read_as
from ._errors import DataError


def cutter(data: Any, types: Any) -> Cut:
    """How blocks are made of an array."""
    kind = type(data)
    if kind not in (np.ndarray, np.memmap, np.matrix, np.recarray, np.ma.MaskedArray):
        raise DataError(f"blocks cannot be made of a {kind.__name__}; give np.asarray(..) of it, or a table")
    if data.ndim == 0:
        raise DataError("the array has no rows; give one with at least one dimension")
    _check(data.dtype)
    masked = kind is np.ma.MaskedArray
    said = declared(types, list(data.dtype.names or ["value"]))
    if masked:
        if data.dtype.names is not None or said:
            raise DataError("blocks cannot be made of masked arrays with fields or types=; give a table")
        return lambda places: _masked(data, places)
    plain = data.view(np.ndarray)

    def cut(places: Any) -> Any:
        block = own(plain[places], said)
        if kind is np.matrix:
            return np.asmatrix(block)
        return block.view(np.recarray) if kind is np.recarray else block

    return cut


def _check(dtype: Any) -> None:
    """Refuse what can be anything."""
    if dtype.names is not None:
        for name in dtype.names:
            _check(dtype[name])
    elif dtype.subdtype is not None:
        _check(dtype.subdtype[0])
    elif dtype.kind not in "biufcmMUSTO":
        raise DataError(f"blocks cannot be made of an array of {dtype}; give numbers, texts, times or objects")


def own(taken: Any, said: dict[str, Declared] | None = None, name: str = "value") -> Any:
    """An array of the same cells in memory of its own, whose type follows from them, or is said."""
    kind = taken.dtype.kind
    if taken.dtype.names is not None:
        return _fields(taken, said)
    if said and name in said:
        return typed(said[name], _cells(taken)).reshape(taken.shape).copy()
    if kind in "biuf":
        return floats(taken)
    if kind == "c":
        return complexes(taken)
    if kind in "mM":
        times = microseconds(taken)
        return np.full(times.shape, np.nan) if np.isnat(times).all() else times
    return _objects(taken)


def floats(numbers: Any) -> Any:
    """Numbers in memory of their own; what is no number is so in one way, where processors have many."""
    found = np.array(numbers, dtype=np.float64, order="C", copy=True)
    found[np.isnan(found)] = np.nan
    return found


def complexes(numbers: Any) -> Any:
    """The same for complex numbers, which are floats where none of them has an imaginary part."""
    whole = np.array(numbers, dtype=np.complex128, order="C", copy=True)
    whole[np.isnan(whole)] = np.nan
    return whole if whole.imag.any() else floats(whole.real)


def _fields(taken: Any, said: dict[str, Declared] | None) -> Any:
    columns = {name: own(np.ascontiguousarray(taken[name]), said, name) for name in taken.dtype.names}
    # By its name, since a type that numpy derived from another is an object of its own.
    kinds = {name: column.dtype if column.dtype.names else column.dtype.str for name, column in columns.items()}
    block = np.zeros(taken.shape, [(name, kinds[name], column.shape[taken.ndim :]) for name, column in columns.items()])
    for name, column in columns.items():
        block[name] = column
    return block


def _cells(taken: Any) -> list[Any]:
    """Each cell as an object, exactly; missing ones are ``None``."""
    taken = np.ravel(taken)
    cells = list(microseconds(taken)) if taken.dtype.kind in "mM" else taken.tolist()
    return [None if is_missing(cell) else cell for cell in cells]


def _objects(taken: Any) -> Any:
    return array_of(_cells(taken)).reshape(taken.shape).copy()


def typed(said: Declared, cells: list[Any]) -> Any:
    """Cells as an array of a type that was said. Where numpy has no missing cell of it, one makes a block of objects."""
    cells = read_as(said, cells)
    if said.word == "number":
        return np.array([nearest(cell) for cell in cells], dtype=np.float64)
    if said.word in ("date", "timestamp"):
        return whole_times(cells).view("M8[D]" if said.word == "date" else "M8[us]")
    if said.word in ("integer", "boolean") and None not in cells:
        return np.array(cells, dtype=np.int64 if said.word == "integer" else bool)
    return objects(cells)


def whole_times(cells: list[Any]) -> Any:
    """Whole numbers as times have them inside."""
    return np.array([-(2**63) if cell is None else cell for cell in cells], dtype=np.int64)


def array_of(cells: list[Any]) -> Any:
    """Objects, of which missing ones are ``None``, as the array that numpy has for them."""
    kind = kind_of([float(cell) if isinstance(cell, (bool, np.bool_)) else cell for cell in cells])
    if kind in ("number", "nothing"):
        return np.array([nearest(cell) for cell in cells], dtype=np.float64)
    if kind == "complex":
        return complexes([np.nan if cell is None else cell for cell in cells])
    if kind in ("moment", "duration") and all(isinstance(cell, (np.datetime64, np.timedelta64)) for cell in cells if cell is not None):
        return times_of(cells, "M8[us]" if kind == "moment" else "m8[us]")
    if kind == "text":
        cells = [None if cell is None else str(cell) for cell in cells]
    return objects(fresh(cells))


def objects(cells: list[Any]) -> Any:
    """An array of objects, whatever they are: numpy would make more dimensions of lists."""
    return np.fromiter(cells, dtype=object, count=len(cells))


def times_of(cells: list[Any], dtype: str) -> Any:
    """Times of any units, one by one."""
    block = np.full(len(cells), "NaT", dtype)
    for place, cell in enumerate(cells):
        if cell is not None:
            block[place] = microseconds(np.array([cell]))[0]
    return block


#: Units of times that are no longer than a microsecond: a time in them always has one in microseconds.
_FINE = ("us", "ns", "ps", "fs", "as", "generic")


def microseconds(times: Any) -> Any:
    """Times in microseconds; what lies beyond their 64 bits is no time."""
    kind = times.dtype.kind
    found = np.array(times, dtype=f"{kind}8[us]", order="C", copy=True)
    if np.datetime_data(times.dtype)[0] not in _FINE:
        # A year before the ends: numpy itself goes wrong at the very end.
        ends = np.array([-(2**63) + 2**45, 2**63 - 2**45]).view(f"{kind}8[us]").astype(times.dtype)
        found[(times <= ends[0]) | (times >= ends[1])] = "NaT"
    return found


def _masked(data: Any, places: Any) -> Any:
    taken = data[places]
    mask = np.array(np.ma.getmaskarray(taken), order="C", copy=True)
    cells = np.array(taken.data, order="C", copy=True)
    if cells.dtype.kind in "biu":
        cells = cells.astype(np.float64)
    elif cells.dtype.kind in "UST":
        cells = cells.astype(object)
    # What lies under a mask is no cell.
    cells[mask] = {"f": np.nan, "c": np.nan, "m": "NaT", "M": "NaT", "O": None}[cells.dtype.kind]
    return np.ma.MaskedArray(own(cells), mask=mask)
