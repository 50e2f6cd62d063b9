"""Data of many kinds as named columns, without copies where its memory allows that.

What a column may be is decided by its type, before anything is charged. A plain list has no type but that of its
elements, so these are looked at.
"""

from __future__ import annotations

import contextlib
import datetime
import math
import os
import re
from collections.abc import Mapping, Sequence
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from . import _equipoise
from ._errors import DataError, RequestError


def is_path(data: object) -> bool:
    """A file by its name?"""
    return isinstance(data, (str, os.PathLike))


class Table:
    """Named columns of one length. Columns are read when a question needs them, and only then."""

    def __init__(self, names: Sequence[str], columns: Sequence[Any], rows: int) -> None:
        self.names = list(names)
        self._columns = list(columns)
        self.rows = rows

    def source(self, wanted: Sequence[tuple[int, str]]) -> Any:
        """The columns that a plan wants, each as something that the compiled part reads."""
        return [_prepared(self._columns[place], kind) for place, kind in wanted]

    def kinds(self) -> list[str | None]:
        """What each column holds by its type; nothing where it has none, or only numbers or texts."""
        return [_kind(column) for column in self._columns]

    def column(self, name: str) -> Any:
        """A column by its name."""
        if name not in self.names:
            shown = ", ".join(self.names[:8])
            raise RequestError(f"no column is called '{name}'. There are: {shown}")
        return self._columns[self.names.index(name)]


class FileTable:
    """A file of rows, of which only the header has been read."""

    rows = 0

    def __init__(self, path: str | os.PathLike[str], delimiter: str | None = None, header: bool = True) -> None:
        self.path = os.fspath(path)
        self._file = _equipoise.File(self.path, delimiter, header)
        #: How the file is read, where that is not as usual.
        self.reading: dict[str, str | bool] = {}
        if delimiter is not None:
            self.reading["delimiter"] = delimiter
        if not header:
            self.reading["header"] = False
        self.names = self._file.columns

    def source(self, wanted: Sequence[tuple[int, str]]) -> Any:
        return self._file

    def kinds(self) -> list[str | None]:
        """What the schema says of each column."""
        return self._file.kinds


def table(data: Any, *, delimiter: str | None = None, header: bool = True) -> Table | FileTable:
    """Any kind of data as a table; a single column is called ``value``."""
    if isinstance(data, (Table, FileTable)):
        return data
    if is_path(data):
        return FileTable(data, delimiter, header)
    if isinstance(data, Mapping):
        names = [str(name) for name in data]
        columns = list(data.values())
        lengths = {_length(column) for column in columns}
        if len(lengths) > 1:
            raise DataError("the columns differ in length; give columns of one table")
        return Table(names, columns, lengths.pop() if lengths else 0)
    root = type(data).__module__.partition(".")[0]
    if _speaks_arrow(data) and root not in ("pandas", "polars", "pyarrow"):
        # The result of a query: what it says of itself beside that is its own.
        found = _equipoise.Arrow.table(data)
        return _single(_equipoise.Arrow(data)) if found is None else Table(*found)
    if root == "polars" and not hasattr(data, "__len__"):
        raise DataError("a LazyFrame is a query that has not run; give what its collect() gives")
    frame = _frame(data)
    if frame is not None:
        return frame
    _one_dimension(data)
    return _single(data)


def _single(column: Any) -> Table:
    return Table(["value"], [column], _length(column))


def _length(column: Any) -> int:
    if not isinstance(column, (bytes, bytearray, set, frozenset)):
        with contextlib.suppress(TypeError):
            return len(column)
    kind = type(column).__name__
    raise DataError(f"a {kind} is not data; give a list, an array, a column, a table or the path of a file")


def _frame(data: Any) -> Table | None:
    """A table of pandas, Polars, pyarrow, or of anything else that names its columns."""
    names = getattr(data, "columns", None)
    if names is not None and not callable(names) and hasattr(data, "__getitem__"):
        names = list(names)
        if names and not isinstance(names[0], str) and hasattr(data, "column_names"):
            names = list(data.column_names)  # pyarrow's columns are arrays
            return Table(names, [data.column(name) for name in names], data.num_rows)
        return Table([str(name) for name in names], [data[name] for name in names], len(data))
    names = getattr(data, "column_names", None)
    if names is not None and hasattr(data, "num_rows"):
        return Table(list(names), [data.column(name) for name in names], data.num_rows)
    return None


def _kind(column: Any) -> str | None:
    """What a column holds by the name of its type, which numpy, pandas, Polars and pyarrow write much alike.

    >>> import numpy as np
    >>> [_kind(np.array([], dtype)) for dtype in ("M8[D]", "M8[ns]", "bool", "int32", "uint64", "float32", "U3")]
    ['date', 'timestamp', 'boolean', 'integer', None, None, None]
    """
    if isinstance(column, _equipoise.Arrow):
        return column.kind
    dtype = getattr(column, "dtype", None)
    name = str(getattr(column, "type", None) if dtype is None else dtype).lower()
    if name.startswith(("datetime64[d]", "date32", "date64")) or name == "date":
        return "date"
    if name.startswith(("timestamp", "datetime")):
        return "timestamp"
    if name in ("bool", "boolean", "bool[pyarrow]"):
        return "boolean"
    if re.fullmatch(r"(u?int(8|16|32)|int64)(\[pyarrow\])?", name):
        return "integer"
    decimal = re.match(r"decimal\d*\((?:precision=)?(\d+), (?:scale=)?(\d+)\)", name)
    if decimal is None:
        return None
    # 64 bits hold any 18 digits; of longer numbers six after the point are kept.
    precision, digits = int(decimal[1]), int(decimal[2])
    return f"decimal:{digits if precision <= 18 else min(digits, 6)}" if digits else "integer"


def _speaks_arrow(data: Any) -> bool:
    return hasattr(data, "__arrow_c_stream__") or hasattr(data, "__arrow_c_array__")


def _one_dimension(data: Any) -> None:
    dimensions = getattr(data, "ndim", 1)
    if dimensions != 1:
        raise DataError(f"the array has {dimensions} dimensions; give one column, such as data[:, 0]")


def _prepared(column: Any, kind: str) -> Any:
    """The column as a numpy array of floats, as a list, or as it is where it speaks Arrow."""
    _one_dimension(column)
    if isinstance(column, (list, tuple, range)):
        return _of_list(column, kind)
    dtype = getattr(column, "dtype", None)
    numpy_kind = getattr(dtype, "kind", None)
    if numpy_kind is not None and type(dtype).__module__.partition(".")[0] == "numpy":
        return _of_numpy(column, numpy_kind, kind)
    if isinstance(column, _equipoise.Arrow):
        return column
    if str(dtype) == "Null":
        return _of_list([None] * len(column), kind)
    if _speaks_arrow(column):
        try:
            _equipoise.Arrow(column)
            return column
        except Exception:  # pandas without pyarrow, types that only their maker knows
            if not hasattr(column, "__array__"):
                raise DataError("the column is of a type that cannot be read; give another") from None
    if hasattr(column, "__array__"):
        if numpy_kind in ("f", "i", "u", "b") and hasattr(column, "array"):
            numbers = column.to_numpy(dtype="float64", na_value=math.nan)
            return numbers if kind == "float" else _of_list(numbers.tolist(), kind)
        return _prepared(column.__array__(), kind)
    return _of_list(list(column), kind)


def _of_numpy(column: Any, numpy_kind: str, kind: str) -> Any:
    import numpy as np

    if isinstance(column, np.ma.MaskedArray):
        if kind == "float" and numpy_kind in "fiub":
            return np.ma.filled(column.astype(np.float64), np.nan)
        return _of_list(column.tolist(), kind)
    array = np.asarray(column)
    if kind == "float":
        if numpy_kind not in "fiub":
            raise DataError(f"the array holds {_named(array)}, not numbers; give an array of numbers")
        return np.ascontiguousarray(array, dtype=np.float64)
    if numpy_kind == "M" and kind in ("date", "timestamp"):
        moments = array.astype("datetime64[D]" if kind == "date" else "datetime64[us]")
        empty, numbers = np.isnat(moments), moments.astype(np.int64)
        return [None if null else one for null, one in zip(empty.tolist(), numbers.tolist())] if empty.any() else numbers
    if (numpy_kind == "b" and kind in ("boolean", "integer")) or (numpy_kind == "i" and kind == "integer"):
        return np.ascontiguousarray(array, dtype=np.int64)
    if numpy_kind == "M":
        # Whole days stay days; others are moments, of which Python knows the microseconds.
        days = np.datetime_data(array.dtype)[0] in ("Y", "M", "W", "D")
        return _of_list(array.astype("datetime64[D]" if days else "datetime64[us]").tolist(), kind)
    if numpy_kind == "f" and array.dtype.itemsize < 8:
        return _of_list([float(str(value)) for value in array], kind)  # the decimal that it shows
    return _of_list(array.tolist(), kind)


def _named(array: Any) -> str:
    names = {"O": "objects", "U": "texts", "S": "bytes", "T": "texts", "M": "dates", "m": "times", "c": "complex numbers"}
    return names.get(array.dtype.kind, str(array.dtype))


def _of_list(values: Sequence[Any], kind: str) -> Any:
    read = _READ.get(kind.partition(":")[0], _number)
    if kind.startswith("decimal:"):
        return [_scaled(value, int(kind.partition(":")[2])) for value in values]
    return [read(value) for value in values]


def _number(value: Any) -> float | None:
    """A number; nothing for nothing."""
    if value is None or _is_missing(value):
        return None
    if isinstance(value, (int, float)):
        try:
            return float(value)
        except OverflowError:
            return math.inf if value > 0 else -math.inf
    if hasattr(value, "__float__") and not hasattr(value, "__len__"):
        try:
            return float(value)
        except ValueError:  # a Decimal that signals
            return None
    what = "a text" if isinstance(value, (str, bytes)) else f"a {type(value).__name__}"
    raise DataError(f"the list holds {what}, not only numbers; give a list of numbers")


def _is_missing(value: Any) -> bool:
    """Nothing, as pandas writes it where a type has no nothing of its own."""
    return type(value).__name__ in ("NAType", "NaTType")


def _text(value: Any) -> str | None:
    """A text as a file would have it; nothing for nothing, for an empty text and for what is no text."""
    if value is None or _is_missing(value):
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _clean(value)
    if isinstance(value, int):
        return int.__repr__(value)
    if isinstance(value, float):
        return _float_text(value)
    if isinstance(value, bytes):
        try:
            return value.decode() or None
        except UnicodeDecodeError:
            return None
    if isinstance(value, Decimal):
        return f"{value:f}" if value.is_finite() else None
    if isinstance(value, datetime.datetime):
        return _moment_text(value)
    if isinstance(value, datetime.date):
        return value.isoformat()
    if hasattr(value, "item") and not hasattr(value, "__len__"):
        return _text(value.item())
    if type(value).__name__ == "UUID":
        return str(value)
    raise DataError(f"the list holds a {type(value).__name__}; give texts, numbers or dates")


def _clean(text: str) -> str | None:
    """The text, if it is one: half of a pair of surrogates is none."""
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            return None
    return text or None


def _float_text(value: float) -> str | None:
    """The shortest decimal; numbers far from one with an exponent; both zeros are one text."""
    if value != value:
        return None
    if value == 0 or 1e-5 <= abs(value) < 1e16:
        shown = f"{Decimal(repr(value + 0.0)):f}"
        return shown.removesuffix(".0")
    mantissa, _, exponent = repr(value).partition("e")
    return f"{mantissa}e{int(exponent)}" if exponent else mantissa


def _moment_text(value: datetime.datetime) -> str:
    """In UTC, without zeros at the end of its fraction."""
    utc = value.astimezone(datetime.timezone.utc) if value.tzinfo is not None else value
    seconds, fraction = utc.strftime("%m-%dT%H:%M:%S"), f".{utc.microsecond:06}".rstrip("0").rstrip(".")
    return f"{utc.year:04}-{seconds}{fraction}Z"


def _whole(value: Any) -> int | None:
    """A whole number of 64 bits; nothing for anything else."""
    if isinstance(value, (str, bytes)):
        return _read(value, "integer")
    number = _number(value)
    if number is None or not math.isfinite(number) or number != int(number) or not -(2**63) <= int(value) < 2**63:
        return None
    return int(value)


def _scaled(value: Any, digits: int) -> int | None:
    """A number as a multiple of 10^-digits."""
    if isinstance(value, (str, bytes)):
        return _read(value, f"decimal:{digits}")
    number = _number(value)
    if number is None or not math.isfinite(number):
        return None
    scaled = (Decimal(repr(value) if isinstance(value, float) else str(value)) * 10**digits).quantize(
        Decimal(1), rounding=ROUND_HALF_UP
    )
    return int(scaled) if -(2**63) <= scaled < 2**63 else None


def _yes_or_no(value: Any) -> int | None:
    if isinstance(value, (str, bytes)):
        return _read(value, "boolean")
    whole = _whole(value)
    return whole if whole in (0, 1) else None


def _read(value: str | bytes, kind: str) -> int | None:
    """A text as a value of a type, by the rules of files; nothing if it is none."""
    return _equipoise.read(value.decode("utf-8", "replace") if isinstance(value, bytes) else value, kind)


def _day(value: Any) -> int | None:
    if value is None or _is_missing(value):
        return None
    if isinstance(value, (str, bytes)):
        return _read(value, "date")
    if isinstance(value, datetime.date):
        return value.toordinal() - _EPOCH.toordinal()
    raise DataError(f"the list holds a {type(value).__name__}, not only dates; give a list of dates")


def _moment(value: Any) -> int | None:
    if value is None or _is_missing(value):
        return None
    if isinstance(value, (str, bytes)):
        return _read(value, "timestamp")
    if isinstance(value, datetime.datetime):
        moment = value if value.tzinfo is not None else value.replace(tzinfo=datetime.timezone.utc)
        return (moment - datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)) // datetime.timedelta(microseconds=1)
    raise DataError(f"the list holds a {type(value).__name__}, not only moments; give a list of datetimes")


_EPOCH = datetime.date(1970, 1, 1)
_READ: dict[str, Any] = {
    "float": _number,
    "integer": _whole,
    "boolean": _yes_or_no,
    "date": _day,
    "timestamp": _moment,
    "text": _text,
}
