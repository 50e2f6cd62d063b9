"""Data of many kinds as named columns, without copies where its memory allows that.

Names and types are public and known before anything is charged; cells are read after the charge.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping, Sequence
from typing import Any

from . import _equipoise
from ._columns import Column, column_of, quietly, speaks_arrow
from ._depth import shallow
from ._errors import DataError, EquipoiseError, LostError, RequestError


def is_path(data: object) -> bool:
    """A file by its name?"""
    return isinstance(data, (str, os.PathLike))


class Reading:
    """The columns that a plan wants: they can be read, by their types, and are read when :meth:`read` is called."""

    def __init__(self, columns: list[tuple[Column, str]]) -> None:
        self._columns = columns

    def __len__(self) -> int:
        return len(self._columns)

    def read(self) -> list[Any]:
        """Each column as something that the compiled part takes hold of. No cell makes this fail."""
        lost = "the data could not be read to the end; the charge stands and the answer is lost"
        return quietly(lambda: [column.read(kind) for column, kind in self._columns], lost, LostError)


class Table:
    """Named columns of one length. Columns are read when a question has been paid for, and only those that it needs."""

    def __init__(self, names: Sequence[Any], columns: Sequence[Any], rows: int) -> None:
        self.names = [_name(name) for name in names]
        self.columns = [column_of(column) for column in columns]
        self.rows = rows

    def source(self, wanted: Sequence[tuple[int, str]], types: Mapping[str, str] | None = None) -> Reading:
        """The columns that a plan wants, of which ``types=`` says this; refused where the type of one cannot be read as that."""
        said = types or {}
        columns = {
            place: column.declared(said[name]) if name in said else column
            for place, (name, column) in enumerate(zip(self.names, self.columns))
        }
        for place, kind in wanted:
            columns[place].check(kind, self.names[place])
        return Reading([(columns[place], kind) for place, kind in wanted])

    def kinds(self) -> list[str | None]:
        """What each column holds by its type; nothing where it has none."""
        return [column.kind for column in self.columns]

    def place(self, name: str) -> int:
        """The place of a column by its name."""
        if self.names.count(name) != 1:
            shown = _equipoise.shown(name)
            if name in self.names:
                raise RequestError(f"more than one column is called '{shown}'; give each a name of its own")
            there = ", ".join(map(_equipoise.shown, self.names[:8]))
            raise RequestError(f"no column is called '{shown}'. There are: {there}")
        return self.names.index(name)

    def column(self, name: str) -> Column:
        """A column by its name."""
        return self.columns[self.place(name)]


def _name(name: Any) -> str:
    """The name of a column as text, which half of a pair of surrogates is none of."""
    return str(name).encode("utf-8", "replace").decode()


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

    def source(self, wanted: Sequence[tuple[int, str]], types: Mapping[str, str] | None = None) -> Any:
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
    return quietly(lambda: _in_memory(data), "the data is of a type that cannot be read; give another")


def _in_memory(data: Any) -> Table:
    if isinstance(data, Mapping):
        columns = list(data.values())
        lengths = {length_of(column) for column in columns}
        if len(lengths) > 1:
            raise DataError("the columns differ in length; give columns of one table")
        return Table(list(data), columns, lengths.pop() if lengths else 0)
    root = type(data).__module__.partition(".")[0]
    if root == "adbc_driver_manager" and hasattr(data, "fetch_arrow"):
        return _of_query(_of_cursor(data))
    if speaks_arrow(data) and root not in ("pandas", "polars", "pyarrow", "ibis", "pyspark"):
        return _of_query(data)
    if root in ("polars", "pyspark", "ibis") and _is_lazy(data):
        raise DataError("the table is a query that has not run, and this needs its rows here; give what its collect() or to_pyarrow() gives")
    frame = _frame(data)
    if frame is not None:
        return frame
    dimensions = getattr(data, "ndim", 1)
    if dimensions != 1:
        raise DataError(f"the array has {dimensions} dimensions; give one column, such as data[:, 0]")
    return Table(["value"], [data], length_of(data))


def _is_lazy(data: Any) -> bool:
    from ._elsewhere import is_elsewhere

    return is_elsewhere(data)


def _of_cursor(cursor: Any) -> Any:
    """What a cursor of ADBC executed, which can be taken once. SQLite declares no types for results: its driver takes them from rows."""
    vendor = str(cursor.connection.adbc_get_info().get("vendor_name", ""))
    if vendor.lower() == "sqlite":
        raise DataError("the ADBC driver of SQLite takes types from rows; name the table, as in 'sqlite:people.db?table=salaries'")
    return cursor.fetch_arrow()


def _of_query(data: Any) -> Table:
    """The result of a query. What it says of itself beside its schema and rows is its own.

    It runs now, once. Whether it runs to its end may depend on rows, so where it does not the answer is lost after the
    charge; until then the schema serves, which a query for no rows has too."""
    try:
        columns, names, rows = quietly(lambda: _equipoise.Arrow.table(shallow(data)), "")
    except EquipoiseError:
        if not hasattr(data, "limit"):
            raise
        columns, names, rows = _equipoise.Arrow.table(shallow(data.limit(0)), unread=True)
    return Table(["value"] if names is None else names, columns, rows)


def length_of(column: Any) -> int:
    """How many rows there are."""
    if not isinstance(column, (bytes, bytearray, set, frozenset)):
        with contextlib.suppress(EquipoiseError):
            return quietly(lambda: len(column), "")
    kind = type(column).__name__
    raise DataError(f"a {kind} is not data; give a list, an array, a column, a table or the path of a file")


def _frame(data: Any) -> Table | None:
    """A table of pandas, Polars, pyarrow, or of anything else that names its columns."""
    names = getattr(data, "column_names", None)
    if names is not None and hasattr(data, "num_rows"):
        return Table(names, [data.column(place) for place in range(len(names))], data.num_rows)
    names = getattr(data, "columns", None)
    if names is None or callable(names) or not hasattr(data, "__getitem__"):
        return None
    # By their places where there are such: two columns may have one name.
    by_place = hasattr(data, "iloc") and hasattr(data, "items")
    columns = [column for _, column in data.items()] if by_place else [data[name] for name in names]
    return Table(list(names), columns, len(data))
