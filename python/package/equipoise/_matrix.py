"""What scikit-learn is given: tables and targets in which every cell is a number or nothing, by their types alone.

scikit-learn converts cell by cell and quotes the one that it cannot convert, or the whole array; so what has a type is
converted here, totally, and of what scikit-learn says only words about shapes and types are passed on.
"""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from sklearn.exceptions import DataConversionWarning

from ._columns import Column, column_of, speaks_arrow
from ._data import Table, table
from ._errors import DataError, EquipoiseError, RequestError
from ._quiet import is_interrupt, watching

T = TypeVar("T")

#: Lines of scikit-learn's that tell shapes, types and names of columns, and neither cells nor how many rows there are.
_HARMLESS = re.compile(r"Expected 2D array, got|Found array with dim |Complex data not supported|Sparse |Feature names are only")


def checked(work: Callable[[], T], line: str) -> T:
    """Let scikit-learn look at data. What it raises becomes an error of ours, without a cell."""
    raised: BaseException = DataError(line)
    with watching():
        try:
            with np.errstate(all="ignore"):
                return work()
        except EquipoiseError as error:
            raised = type(error)(str(error))
        except Exception as error:
            first = str(error).partition("\n")[0].rstrip(":")
            if _HARMLESS.match(first):
                raised = (DataError if isinstance(error, TypeError) else RequestError)(first)
        except BaseException as error:
            if is_interrupt(error):
                raised = error.with_traceback(None)
    raise raised from None


def features(X: Any) -> Any:
    """The same table with a float for each cell, where its type does not say that every cell is one."""
    if isinstance(X, (list, tuple)):
        return X  # without a type: whoever reads it looks at its elements
    if isinstance(X, np.ma.MaskedArray):
        return np.where(np.ma.getmaskarray(X), np.nan, features(np.ma.getdata(X)))
    if isinstance(X, np.ndarray):
        return _array(X)
    if hasattr(X, "columns") or hasattr(X, "column_names"):
        return _frame(X)
    if hasattr(X, "__array__") and not hasattr(X, "toarray"):
        return _array(np.asarray(X))
    return X


def _array(X: Any) -> Any:
    kind = X.dtype.kind
    if kind == "O":
        cells = column_of(X.ravel()).floats("X")
        return np.array(cells, dtype=np.float64).reshape(X.shape)
    if kind == "c":
        raise RequestError("Complex data not supported: give real numbers")
    if kind not in "biuf":
        raise DataError(f"X holds {_WHAT.get(kind, 'something else')}, not numbers; give numbers")
    return X


_WHAT = {"U": "texts", "S": "texts", "T": "texts", "M": "dates", "m": "durations", "V": "structs"}


def _frame(X: Any) -> Any:
    """A table; its names stay, because scikit-learn remembers them."""
    found = table(X)
    assert isinstance(found, Table), "no path has columns"
    if all(column.is_plain for column in found.columns):
        return X
    columns = [np.array(column.floats(name), dtype=np.float64) for column, name in zip(found.columns, found.names)]
    matrix = np.column_stack(columns)
    library = type(X).__module__.partition(".")[0]
    if library == "pandas":
        return sys.modules["pandas"].DataFrame(matrix, columns=X.columns)
    return sys.modules["polars"].DataFrame(matrix, schema=found.names) if library == "polars" else matrix


class Target:
    """What a model is to predict: a column, and the type that classes made of it have. Both follow from its type."""

    def __init__(self, column: Column, dtype: Any = None) -> None:
        self.column = column
        kinds = {"integer": np.int64, "boolean": bool, "number": np.float64}
        self.dtype = np.dtype(kinds.get(column.kind or "", object)) if dtype is None else dtype

    def numbers(self) -> Any:
        """As floats; what is none is not-a-number."""
        return np.array(self.column.floats("y"), dtype=np.float64)

    def texts(self) -> list[str | None]:
        """Labels are compared as texts, so that 1 is 1 in an array of any type; what is no label is nothing."""
        return self.column.cells("text")


def target(y: Any) -> Target:
    """One column, also where it comes as a table of one."""
    if hasattr(y, "columns") or hasattr(y, "column_names"):
        found = table(y)
        assert isinstance(found, Table), "no path has columns"
        if len(found.columns) != 1:
            raise RequestError(f"y should be a 1d array, and it has {len(found.columns)} columns; give one column")
        _warn()
        return Target(found.columns[0])
    if isinstance(y, (list, tuple)) or not (hasattr(y, "dtype") or speaks_arrow(y)):
        y = np.asarray(y)
    if getattr(y, "ndim", 1) == 2 and y.shape[1] == 1:
        _warn()
        y = y[:, 0]
    if getattr(y, "ndim", 1) != 1:
        raise RequestError(f"y should be a 1d array, and it has {y.ndim} dimensions; give one column")
    dtype = getattr(y, "dtype", None)
    return Target(column_of(y), dtype if isinstance(dtype, np.dtype) else None)


def _warn() -> None:
    words = "A column-vector y was passed when a 1d array was expected. Please change the shape of y to (n_samples, ), for example using ravel()."
    warnings.warn(words, DataConversionWarning, stacklevel=5)
