"""What a column is by its type, and its cells once a question has been paid for.

Whether a column can be read as what a question wants is decided by its type alone and before the charge: :meth:`Column.check`.
:meth:`Column.read` comes after the charge and is total: a cell that is none of the kind is nothing. A plain list has no type
but that of its elements, so these are looked at before the charge.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from . import _equipoise
from ._cells import Reader, number_as_in_files, number_or_text, reader, total
from ._depth import shallow
from ._errors import DataError, EquipoiseError
from ._quiet import is_interrupt, watching

T = TypeVar("T")


def quietly(work: Callable[[], T], line: str, failed: type[EquipoiseError] = DataError) -> T:
    """Do something with data of another library's. What that raises may quote a cell, and so may a chain of exceptions and the
    variables of their frames: nothing of it is passed on but our own words."""
    raised: BaseException
    with watching():
        try:
            return work()
        except EquipoiseError as error:
            raised = type(error)(str(error))
        except BaseException as error:  # compiled libraries panic with something that is no Exception
            raised = error.with_traceback(None) if is_interrupt(error) else failed(line)
    raise raised from None


_NUMBERS = ("number", "integer", "boolean")


class Column:
    """A column. ``kind`` is what its type says it holds, in the words of ``types=``; nothing where it does not say."""

    kind: str | None = None
    #: Can a cell be missing without another type? Else one missing cell makes another column of all of it.
    knows_missing = True
    #: Is every cell a number of numpy's?
    is_plain = False

    def __init__(self, length: int) -> None:
        self._length = length

    def __len__(self) -> int:
        return self._length

    def __repr__(self) -> str:
        return f"<column of {self.kind or 'no declared type'}>"

    def refusal(self, kind: str) -> str | None:
        """Why cells of this type cannot be read as a kind, as the rest of a line; nothing where they can."""
        declared = self.kind or "nothing"
        of_numbers = declared in _NUMBERS or declared.startswith("decimal")
        if kind == "text" or declared == "nothing" or (declared == "text" and kind != "float"):
            return None
        if kind in ("date", "timestamp"):
            return None if declared in ("date", "timestamp") else f"holds {_PLURAL.get(declared, 'numbers')}, not dates"
        return None if of_numbers else f"holds {_PLURAL[declared]}, not numbers"

    def declared(self, word: str) -> Column:
        """The column where ``types=`` says what it holds: of use where its own type does not say."""
        return self

    def check(self, kind: str, name: str) -> None:
        """Refuse, by type, what cannot be read as a kind."""
        why = self.refusal(kind)
        if why is not None:
            raise DataError(f"the column '{_equipoise.shown(name)}' {why}; give another column, or convert it first")

    def read(self, kind: str) -> Any:
        """The cells, as something that the compiled part takes hold of."""
        raise NotImplementedError

    def cells(self, kind: str) -> list[Any]:
        """The cells as a list of floats, whole numbers or texts, and nothing where a cell is none."""
        found = self.read(kind)
        return found if isinstance(found, list) else _equipoise.cells(found, kind)

    def floats(self, name: str) -> list[float | None]:
        """The cells for somebody who takes objects for numbers, as models do; refused where the type cannot be read as such."""
        self.check("float", name)
        return self.cells("float")


_PLURAL = {"text": "texts", "date": "dates", "timestamp": "moments"}


class _Unreadable(Column):
    def __init__(self, what: str, length: int = 0) -> None:
        super().__init__(length)
        self._what = what

    def refusal(self, kind: str) -> str | None:
        return self._what


class _Nothing(Column):
    """A type without values."""

    def read(self, kind: str) -> list[Any]:
        return [None] * len(self)


class _Listed(Column):
    """Elements without a declared type."""

    def __init__(self, values: Sequence[Any]) -> None:
        super().__init__(len(values))
        self._values = values
        self._kept: dict[str, list[Any]] = {}

    def check(self, kind: str, name: str) -> None:
        self._kept[kind] = self._cells(kind)  # what was looked at is what will be read

    def read(self, kind: str) -> list[Any]:
        kept = self._kept.pop(kind, None)
        return self._cells(kind) if kept is None else kept

    def _cells(self, kind: str) -> list[Any]:
        read = reader(kind)
        line = "the list holds something that cannot be read; give a list of numbers, texts or dates"
        return quietly(lambda: [read(value) for value in self._values], line)


class _Objects(Column):
    """Cells of which each may have a type of its own. They are no column of numbers unless ``types=`` says so."""

    def __init__(self, values: Any, missing: Any = None, kind: str | None = None) -> None:
        super().__init__(len(values))
        self._values, self._missing, self.kind = values, missing, kind

    def declared(self, word: str) -> Column:
        return _Objects(self._values, self._missing, word) if self.kind is None else self

    def refusal(self, kind: str) -> str | None:
        if self.kind is None and kind == "float":
            return "holds objects, which are numbers only where types= says so"
        return super().refusal(kind)

    def floats(self, name: str) -> list[float | None]:
        return super().floats(name) if self.kind is not None else self._each(number_or_text)

    def read(self, kind: str) -> list[Any]:
        return self._each(number_as_in_files if kind == "float" else reader(kind))

    def _each(self, read: Reader) -> list[Any]:
        cell = total(read)
        cells = [cell(value) for value in self._values.tolist()]
        if self._missing is not None:
            cells = [None if missing else cell for cell, missing in zip(cells, self._missing.tolist())]
        return cells


class _Numbers(Column):
    """Numbers of numpy's, and which are missing."""

    def __init__(self, values: Any, missing: Any = None) -> None:
        super().__init__(len(values))
        self._values, self._missing = values, missing
        self.knows_missing = missing is not None
        kind, size = values.dtype.kind, values.dtype.itemsize
        # Half of the unsigned numbers of 64 bits would be none as signed ones; as floats all are near.
        self.kind = "boolean" if kind == "b" else "integer" if kind == "i" or (kind == "u" and size < 8) else "number"
        self._long = kind == "f" and size > 8
        self.is_plain = missing is None

    def refusal(self, kind: str) -> str | None:
        if self._long and kind != "float":
            return "holds long doubles, which other formats do not have"
        return super().refusal(kind)

    def read(self, kind: str) -> Any:
        import numpy as np

        with np.errstate(all="ignore"):
            if kind != "float":
                half = self._values.dtype.kind == "f" and self._values.dtype.itemsize < 4
                return _plain(self._values, "f4" if half else None), _mask(self._missing), ""
            floats = _plain(self._values, "f8")
            if self._missing is None:
                return floats
            return np.where(self._missing, np.nan, floats)


def _plain(values: Any, dtype: Any = None) -> Any:
    """In the machine's own order of bytes, one after the other, each at an address where it may lie."""
    import numpy as np

    return np.require(np.asarray(values), dtype=np.dtype(dtype or values.dtype).newbyteorder("="), requirements=["C", "A"])


def _mask(missing: Any) -> Any:
    return None if missing is None else _plain(missing, bool)


#: Microseconds of each unit, and units of a nanosecond for finer ones.
_COARSE = {"h": 3_600_000_000, "m": 60_000_000, "s": 1_000_000, "ms": 1000, "us": 1}
_FINE = {"ns": 1, "ps": 1000, "fs": 1_000_000, "as": 1_000_000_000}
_DAYS = {"D": 1, "W": 7}
_LONGEST_YEARS = 5_000_000


class _Times(Column):
    """Days and moments of numpy's."""

    def __init__(self, values: Any, missing: Any = None) -> None:
        import numpy as np

        super().__init__(len(values))
        self._values, self._missing = values, missing
        self._unit, self._step = np.datetime_data(values.dtype)
        self.kind = "date" if self._unit in ("Y", "M", "W", "D") else "timestamp"

    def refusal(self, kind: str) -> str | None:
        if kind == "text" and self._unit in ("ps", "fs", "as"):
            return "holds moments finer than nanoseconds, which other formats do not have"
        return super().refusal(kind)

    def read(self, kind: str) -> Any:
        import numpy as np

        numbers = _plain(self._values).view(np.int64)
        missing = np.isnat(self._values) if self._missing is None else np.isnat(self._values) | self._missing
        if self._unit in ("Y", "M"):
            # The calendar of numpy's, on years that it does not overflow on.
            most = _LONGEST_YEARS * (1 if self._unit == "Y" else 12) // self._step
            numbers, missing = _within(numbers, missing, -most, most)
            moments = (numbers * self._step).view(f"M8[{self._unit}]")
            return moments.astype("M8[D]").view(np.int64).astype(np.int32), _mask(missing), "date"
        if self._unit in _DAYS:
            factor = _DAYS[self._unit] * self._step
            numbers, missing = _within(numbers, missing, -(2**31) // factor + 1, (2**31 - 1) // factor)
            return (numbers * factor).astype(np.int32), _mask(missing), "date"
        factor = _COARSE.get(self._unit, 1) * self._step
        numbers, missing = _within(numbers, missing, -(2**63) // factor + 1, (2**63 - 1) // factor)
        whole = _plain(numbers * factor // _FINE.get(self._unit, 1))
        if self._unit == "generic":
            missing = np.ones(len(whole), bool)
        return whole, _mask(missing), "nanoseconds" if self._unit in _FINE else "timestamp"


def _within(numbers: Any, missing: Any, least: int, most: int) -> tuple[Any, Any]:
    """Numbers that may be multiplied without an overflow; others are missing."""
    import numpy as np

    missing = missing | (numbers < least) | (numbers > most)
    return np.where(missing, 0, numbers), missing


class _Coded(Column):
    """A list of cells and for each row a place in it."""

    def __init__(self, codes: Any, listed: Column) -> None:
        super().__init__(len(codes))
        self._codes, self._listed, self.kind = codes, listed, listed.kind

    def refusal(self, kind: str) -> str | None:
        return self._listed.refusal(kind)

    def read(self, kind: str) -> list[Any]:
        listed = [*self._listed.cells(kind), None]  # -1 is the place of nothing
        return [listed[code] for code in self._codes.tolist()]


class _Late(Column):
    """A column that has to be made first, which is done when it is read; its type is that of another one without cells."""

    def __init__(self, length: int, typed: Column, make: Callable[[], Column]) -> None:
        super().__init__(length)
        self._typed, self._make, self.kind = typed, make, typed.kind
        self.knows_missing = typed.knows_missing

    def refusal(self, kind: str) -> str | None:
        return self._typed.refusal(kind)

    def read(self, kind: str) -> Any:
        return self._make().read(kind)


class _Digits(Column):
    """Whole numbers of more bits than others know, in decimal digits."""

    kind = "number"

    def __init__(self, series: Any) -> None:
        super().__init__(len(series))
        self._series = series

    def read(self, kind: str) -> list[Any]:
        shown = self._series.cast(sys.modules["polars"].String).to_list()
        if kind == "float":
            return [None if digits is None else float(digits) for digits in shown]
        cell = total(reader(kind))
        return [cell(digits) for digits in shown]


class _Arrow(Column):
    def __init__(self, arrow: _equipoise.Arrow) -> None:
        super().__init__(len(arrow))
        self._arrow, self.kind = arrow, arrow.kind

    def refusal(self, kind: str) -> str | None:
        if self._arrow.unreadable is not None:
            return f"holds {self._arrow.unreadable}, which cannot be asked about"
        if self._arrow.only_text and kind != "text":
            return "holds bytes of a fixed length, which are texts and no numbers"
        return super().refusal(kind)

    def read(self, kind: str) -> Any:
        return self._arrow


def column_of(data: Any) -> Column:
    """A column of any kind. It does not fail: what cannot be read is refused when it is asked about."""
    with contextlib.suppress(EquipoiseError):
        return quietly(lambda: _column(data), "")
    length = 0
    with contextlib.suppress(EquipoiseError):
        length = quietly(lambda: len(data), "")
    return _Unreadable("is of a type that cannot be read", length)


def prepared(data: Any, kind: str) -> Any:
    """Numbers or texts that somebody computed, as the compiled part takes hold of them."""
    column = column_of(data)
    column.check(kind, "value")
    return quietly(lambda: column.read(kind), "the values could not be read; give others")


def _column(data: Any) -> Column:
    if isinstance(data, Column):
        return data
    if isinstance(data, _equipoise.Arrow):
        return _Arrow(data)
    if isinstance(data, (list, tuple, range)):
        return _Listed(data)
    dimensions = getattr(data, "ndim", 1)
    if dimensions != 1:
        length = len(data) if dimensions else 0
        return _Unreadable(f"has {dimensions} dimensions and not one", length)
    dtype = getattr(data, "dtype", None)
    if _root(dtype) == "numpy":
        return _of_numpy(data)
    if hasattr(dtype, "construct_array_type"):
        return _of_pandas(getattr(data, "array", data), dtype)
    if _root(data) == "polars":
        return _of_polars(data, dtype)
    if speaks_arrow(data):
        return _of_arrow(data)
    if hasattr(data, "__array__"):
        import numpy as np

        return _of_numpy(np.asarray(data))
    return _Listed(list(data))


def _root(value: Any) -> str:
    """The library that something is from."""
    return type(value).__module__.partition(".")[0]


def speaks_arrow(data: Any) -> bool:
    """Does it hand itself over as Arrow has it?"""
    return hasattr(data, "__arrow_c_stream__") or hasattr(data, "__arrow_c_array__")


def _of_arrow(data: Any) -> Column:
    """A column that speaks Arrow. It is taken over when it is read, since a library may have to copy it for that; its type is that of
    any part of it, the empty one too."""
    if not hasattr(data, "slice"):
        return _Arrow(_equipoise.Arrow(shallow(data)))
    typed = _Arrow(_equipoise.Arrow(shallow(data.slice(0, 0))))
    return _Late(len(data), typed, lambda: _Arrow(_equipoise.Arrow(shallow(data))))


def _of_numpy(data: Any) -> Column:
    import numpy as np

    values, missing = np.asarray(data), None
    if isinstance(data, np.ma.MaskedArray):
        values, missing = np.ma.getdata(data), np.ma.getmaskarray(data)
    kind = values.dtype.kind
    if kind in "biuf":
        return _Numbers(values, missing)
    if kind == "M":
        return _Times(values, missing)
    if kind in "USTO":
        return _Objects(values, missing, None if kind == "O" else "text")
    what = {"m": "durations", "c": "complex numbers", "V": "structs"}.get(kind, "cells of an unknown type")
    return _Unreadable(f"holds {what}, which cannot be asked about", len(values))


def _of_pandas(array: Any, dtype: Any) -> Column:
    """A column of a type of pandas' own, which is read without pyarrow but where that holds the cells."""
    import numpy as np

    name = type(dtype).__name__
    if name == "CategoricalDtype":
        return _Coded(np.asarray(array.codes), column_of(array.categories))
    if name == "DatetimeTZDtype":
        return _of_numpy(np.asarray(array, dtype=f"M8[{dtype.unit}]"))
    if name == "SparseDtype":
        return _Late(len(array), _of_numpy(np.empty(0, dtype.subtype)), lambda: _of_numpy(np.asarray(array)))
    if name == "ArrowDtype" or (name == "StringDtype" and getattr(dtype, "storage", "") == "pyarrow"):
        return _of_arrow(array.__arrow_array__())
    if name == "StringDtype":
        return _Objects(np.asarray(array, dtype=object), None, "text")
    plain = getattr(dtype, "numpy_dtype", None)
    if name == "NumpyEADtype":
        return _of_numpy(array.to_numpy())
    if plain is not None and plain.kind in "biuf" and _root(dtype) == "pandas":
        nothing = plain.type(0)
        return _Late(
            len(array),
            _Numbers(np.empty(0, plain)),
            lambda: _Numbers(array.to_numpy(dtype=plain, na_value=nothing), np.asarray(array.isna())),
        )
    what = {"PeriodDtype": "periods", "IntervalDtype": "intervals"}.get(name, f"cells of the type {name}")
    return _Unreadable(f"holds {what}, which cannot be asked about", len(array))


def _of_polars(series: Any, dtype: Any) -> Column:
    name = dtype.__name__ if isinstance(dtype, type) else type(dtype).__name__
    if name in ("Int128", "UInt128"):
        return _Digits(series)
    if name == "Object":
        return _Unreadable("holds objects of Python's, which cannot be asked about", len(series))
    if name == "Null":  # what it hands over is more than Arrow allows
        return _Nothing(len(series))
    return _of_arrow(series)
