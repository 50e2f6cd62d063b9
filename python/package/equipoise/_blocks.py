"""Blocks of rows, made of their own cells and of the public schema alone.

A part of a table that is merely cut out carries marks of the whole: the categories that any row has, the width of the longest text,
floats because one number elsewhere is missing, the memory that it is a view of. A function that looks at its block alone
then sees other people. So a block's cells are copied into memory of its own, and the type of a column is not that of the
table but follows from the block's own cells, by one rule for each library:

================  ====================  ====================================  ==================  =====================
cells             numpy                 pandas                                Polars              pyarrow
================  ====================  ====================================  ==================  =====================
numbers           float64               float64                               Float64             float64
complex numbers   complex128            complex128                            none                none
booleans          float64               bool; object where one is missing     Boolean             bool
texts             object                object                                String              string
days, moments     datetime64[us]        datetime64[us], with its time zone    Datetime[us]        timestamp[us]
durations         timedelta64[us]       timedelta64[us]                       Duration[us]        duration[us]
no value at all   float64               object                                Null                null
others            object                object                                as declared         as declared
================  ====================  ====================================  ==================  =====================

So whole numbers, floats and decimals are one type, complex numbers too where none in the block has an imaginary part, and so are
categories, dictionaries and texts: one cell elsewhere can turn one into the other. Intervals of pandas' are objects between
floats. ``types=`` says otherwise, with words that are public (:mod:`equipoise._declared`). Missing cells are NaN among numbers, ``None`` among
objects, and null where a library knows it. The names of columns stay; indexes, attributes and metadata do not.

A list gives its elements, each a copy of its own.
"""

from __future__ import annotations

import pickle
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ._errors import DataError
from ._quiet import is_interrupt, silence

#: Makes a block of the rows at these places.
Cut = Callable[[Any], Any]


class Unmade:
    """In place of a block that could not be made: no vote."""


class Blocks:
    """The blocks of a table, each made when its turn comes."""

    def __init__(self, cut: Cut, dealt: list[Any]) -> None:
        self._cut, self._dealt = cut, dealt

    def __len__(self) -> int:
        return len(self._dealt)

    def __iter__(self) -> Iterator[Any]:
        return map(self._made, self._dealt)

    def _made(self, places: Any) -> Any:
        # After the charge nothing fails with a reason, and what a library warns of may quote cells.
        with silence():
            try:
                return self._cut(places)
            except BaseException as error:
                if is_interrupt(error):
                    raise
                return Unmade()


def cutter(data: Any, types: Any = None) -> Cut:
    """How blocks are made of this data. By its type alone it is refused, before anything is paid for, where none can be made."""
    numpy, pandas, polars, arrow = (sys.modules.get(name) for name in ("numpy", "pandas", "polars", "pyarrow"))
    if pandas is not None and isinstance(
        data, (pandas.DataFrame, pandas.Series, pandas.Index, pandas.api.extensions.ExtensionArray)
    ):
        from . import _blocks_pandas

        return _blocks_pandas.cutter(data, types)
    if polars is not None and isinstance(data, (polars.DataFrame, polars.Series)):
        from . import _blocks_polars

        return _blocks_polars.cutter(data, types)
    if arrow is not None and isinstance(data, (arrow.Table, arrow.RecordBatch, arrow.Array, arrow.ChunkedArray)):
        from . import _blocks_arrow

        return _blocks_arrow.cutter(data, types)
    if numpy is not None and isinstance(data, numpy.ndarray):
        from . import _blocks_numpy

        return _blocks_numpy.cutter(data, types)
    if isinstance(data, (list, tuple, range, deque)):
        return _list_cutter(data, types)
    raise DataError(
        f"blocks cannot be made of a {type(data).__name__}; give a table of pandas, Polars or pyarrow, an array of numpy, or a list"
    )


def needs_processes(data: Any, side_by_side: bool) -> bool:
    """Must a function run in processes of its own? Polars keeps one list of categories for all that a process has of them, and
    their codes show it: so neither the caller's tables nor another block may be in the same process at that time."""
    polars = sys.modules.get("polars")
    if polars is None or not isinstance(data, (polars.DataFrame, polars.Series)):
        return False
    from . import _blocks_polars

    return side_by_side or _blocks_polars.has_categories(data)


def leaves_categories() -> bool:
    """Does Polars still know categories, after what is garbage is gone?"""
    if "polars" not in sys.modules:
        return False
    from . import _blocks_polars

    return _blocks_polars.knows_categories()


def _list_cutter(data: Any, types: Any) -> Cut:
    if types is not None:
        raise DataError("the elements of a list are given as they are, so types= has no place; give an array or a table")
    return lambda places: fresh(data[int(place)] for place in places)


def unmakeable(name: str, what: Any) -> DataError:
    """A column of a type that can hold anything, also of other rows."""
    return DataError(f"no blocks can be made of the column '{name}' of type {what}; leave it out, or convert it first")


#: Another object of the same value, of which nobody else knows: how many refer to one object tells of other rows. Yes, no and
#: nothing are one object each for everybody, and so are small whole numbers to Python.
_ANOTHER: dict[type, Callable[[Any], Any]] = {
    type(None): lambda cell: cell,
    bool: lambda cell: cell,
    int: lambda cell: -(-cell),
    float: lambda cell: cell * 1.0,
    complex: lambda cell: complex(cell.real, cell.imag),
}


def fresh(cells: Iterable[Any]) -> list[Any]:
    """Cells to which nothing outside of the block refers, and which refer to nothing outside; equal texts are one object.

    What cannot be copied is given as it is.
    """
    cells = list(cells)
    texts = {cell for cell in cells if type(cell) is str or type(cell) is bytes}
    known = {cell: _copy(cell) for cell in texts}

    def copied(cell: Any) -> Any:
        kind = type(cell)
        if kind in _ANOTHER:
            return _ANOTHER[kind](cell)
        if kind is str or kind is bytes:
            return known[cell]
        try:
            return pickle.loads(pickle.dumps(cell, protocol=4))
        except BaseException as error:
            if is_interrupt(error):
                raise
            return cell

    if {type(cell) for cell in cells} <= {str, type(None)}:  # most columns, and faster
        return [known.get(cell) for cell in cells]
    return [copied(cell) for cell in cells]


def _copy(text: str | bytes) -> str | bytes:
    if isinstance(text, bytes):
        return bytes(bytearray(text))
    return text.encode("utf-8", "surrogatepass").decode("utf-8", "surrogatepass")


def is_missing(cell: Any) -> bool:
    """Nothing, as numpy and pandas write it."""
    if cell is None or type(cell).__name__ in ("NAType", "NaTType"):
        return True
    try:
        return bool(cell != cell)  # not a number, not a time
    except BaseException as error:  # an array, or something that compares to nothing
        if is_interrupt(error):
            raise
        return False


def kind_of(cells: list[Any]) -> str:
    """What cells are, of which missing ones are ``None``: the one word for all of them, "nothing" or "others"."""
    import datetime

    import numpy as np

    kinds = {type(cell) for cell in cells} - {type(None)}
    for word, members in (
        ("boolean", (bool, np.bool_)),
        ("text", str),
        ("moment", (datetime.datetime, np.datetime64)),
        ("duration", (datetime.timedelta, np.timedelta64)),
        ("number", (int, float, complex, np.number)),
    ):
        if kinds and all(issubclass(kind, members) for kind in kinds):
            # A yes is a number to Python, and a duration to numpy, but neither is to tables.
            if word != "number":
                return word
            if not kinds & {bool, np.bool_, np.timedelta64}:
                return "complex" if any(cell.imag for cell in cells if cell is not None) else "number"
    return "others" if kinds else "nothing"


def nearest(cell: Any) -> float:
    """A number as a float; not a number for nothing."""
    if cell is None:
        return float("nan")
    try:
        return float(cell.real if isinstance(cell, complex) or getattr(getattr(cell, "dtype", None), "kind", "") == "c" else cell)
    except OverflowError:
        return float("inf") if cell > 0 else float("-inf")
