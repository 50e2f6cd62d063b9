"""One cell of Python's own, as a number, a text, a day or a moment; nothing where it is none.

A plain list declares no type, so an element that can never be what is wanted is an error there, which names the type of the
element and never the element. In a column of objects the same element is nothing: :func:`total`.
"""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from . import _equipoise
from ._errors import DataError
from ._quiet import is_interrupt

Reader = Callable[[Any], Any]


def reader(kind: str) -> Reader:
    """How a cell is read as a kind, by the word for it."""
    if kind.startswith("decimal:"):
        return lambda value: _scaled(value, kind)
    return _READ[kind]


def total(read: Reader) -> Reader:
    """The same reader for cells of any type: what it cannot read is nothing, whatever goes wrong."""

    def cell(value: Any) -> Any:
        try:
            return read(value)
        except BaseException as error:
            if is_interrupt(error):
                raise
            return None

    return cell


def _is_missing(value: Any) -> bool:
    """Nothing, as pandas writes it where a type has no nothing of its own."""
    return value is None or type(value).__name__ in ("NAType", "NaTType")


def _scalar(value: Any) -> Any:
    """A number of numpy's as Python's own; what has no such number, nor ever a text, as it is."""
    dtype = getattr(value, "dtype", None)
    if dtype is None or getattr(value, "shape", None) != () or dtype.kind not in "biuf" or dtype.itemsize > 8:
        return value
    if dtype.kind == "f" and dtype.itemsize < 8:
        return float(str(value.astype("f4")))  # the decimal that it shows, as in files
    return value.item()


def number(value: Any) -> float | None:
    """The nearest float."""
    if _is_missing(value):
        return None
    if isinstance(value, (int, float)):
        try:
            return float(value)
        except OverflowError:
            return math.inf if value > 0 else -math.inf
    if isinstance(value, Decimal):
        return None if value.is_nan() else float(value)
    dtype = getattr(value, "dtype", None)
    known = dtype is None or getattr(dtype, "kind", "f") in "biuf"
    if known and hasattr(value, "__float__") and not hasattr(value, "__len__"):
        return float(value)
    what = "a text" if isinstance(value, (str, bytes)) else f"a {type(value).__name__}"
    raise DataError(f"the list holds {what}, not only numbers; give a list of numbers")


def number_or_text(value: Any) -> float | None:
    """The nearest float, also of a text that is written as one."""
    return float(value) if isinstance(value, (str, bytes)) else number(value)


#: What text is a number, as in files.
_NUMBER = re.compile(r"[ \t]*[+-]?(([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?|inf|infinity)[ \t]*", re.IGNORECASE)


def number_as_in_files(value: Any) -> float | None:
    """The nearest float, also of a text that is a number by the rules of files; nothing for all else."""
    if isinstance(value, bytes):
        value = value.decode("utf-8", "replace")
    if isinstance(value, str):
        return float(value) if _NUMBER.fullmatch(value) else None
    return number(value)


#: So many binary digits are a text in decimal ones on every Python, whatever limit it sets there.
_DECIMAL_BITS = 2048
#: Decimals farther from one than this have an exponent: no cell decides how long a text is.
_FAR = 400


def text(value: Any) -> str | None:
    """A text as a file would have it; nothing for an empty one and for what is no text.

    >>> [text(cell) for cell in (1.0, -0.0, 2.5e20, True, "", "half a pair \\udc80", b"\\xff", datetime.date(2020, 1, 2))]
    ['1', '0', '2.5e20', 'true', None, None, None, '2020-01-02']
    """
    if isinstance(value, str):
        return _clean(value)
    if _is_missing(value):
        return None
    value = _scalar(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return int.__repr__(value) if value.bit_length() <= _DECIMAL_BITS else hex(value)
    if isinstance(value, float):
        return _float_text(value)
    if isinstance(value, bytes):
        return _clean(value.decode("utf-8", "surrogateescape"))
    if isinstance(value, Decimal):
        return _decimal_text(value)
    if isinstance(value, datetime.datetime):
        # Those of pandas are finer.
        return _moment_text(value.asm8) if hasattr(value, "asm8") else _equipoise.write(_microseconds(value), "timestamp")
    if isinstance(value, datetime.date):
        return value.isoformat()
    if _is_moment(value):
        return _moment_text(value)
    if type(value).__name__ == "UUID":
        return str(value)
    raise DataError(f"the list holds a {type(value).__name__}; give texts, numbers or dates")


def _clean(value: str) -> str | None:
    """The text, if it is one: half of a pair of surrogates is none."""
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            return None
    return str.__str__(value) or None  # of the text itself, not of a class made of it


def _float_text(value: float) -> str | None:
    """The shortest decimal; numbers far from one with an exponent; both zeros are one text."""
    if value != value:
        return None
    value = float(value)
    if value == 0 or 1e-5 <= abs(value) < 1e16:
        return f"{Decimal(repr(value + 0.0)):f}".removesuffix(".0")
    mantissa, _, exponent = repr(value).partition("e")
    return f"{mantissa}e{int(exponent)}" if exponent else mantissa


def _decimal_text(value: Decimal) -> str | None:
    if not value.is_finite():
        return None
    exponent = value.as_tuple().exponent
    return f"{value:f}" if isinstance(exponent, int) and abs(exponent) <= _FAR else f"{value:e}"


_EPOCH = datetime.date(1970, 1, 1).toordinal()


def _microseconds(value: datetime.datetime) -> int:
    """Since 1970, in UTC, in whole numbers: moments at both ends of the calendar have no other moment beside them."""
    second = ((value.toordinal() - _EPOCH) * 24 + value.hour) * 3600 + value.minute * 60 + value.second
    offset = value.utcoffset() or datetime.timedelta(0)
    return second * 1_000_000 + value.microsecond - offset // datetime.timedelta(microseconds=1)


def _is_moment(value: Any) -> bool:
    """A moment of numpy's?"""
    return getattr(getattr(value, "dtype", None), "kind", "") == "M" and getattr(value, "shape", None) == ()


def _one(value: Any, kind: str) -> list[Any]:
    """A moment of numpy's, read like a column of such."""
    from ._columns import column_of

    one = column_of(value.reshape(1))
    one.check(kind, "value")
    return one.cells(kind)


def _moment_text(value: Any) -> str | None:
    shown: str | None
    [shown] = _one(value, "text")
    return shown


def _moment_number(value: Any) -> int | None:
    number: int | None
    [number] = _one(value, "timestamp")
    return number


def _read(value: str | bytes, kind: str) -> int | None:
    """A text as a value of a type, by the rules of files; nothing if it is none."""
    shown = text(value)
    return None if shown is None else _equipoise.read(shown, kind)


def _whole(value: Any) -> int | None:
    """A whole number of 64 bits; nothing for anything else."""
    if isinstance(value, (str, bytes)):
        return _read(value, "integer")
    value = _scalar(value)
    if isinstance(value, int):
        return int(value) if -(2**63) <= value < 2**63 else None
    if isinstance(value, Decimal):
        near = value.is_finite() and value.adjusted() < 20 and value == value.to_integral_value()
        return _whole(int(value)) if near else None
    found = number(value)
    return _whole(int(found)) if found is not None and found.is_integer() else None


def _scaled(value: Any, kind: str) -> int | None:
    """A number as a multiple of its last digit."""
    if isinstance(value, (str, bytes)):
        return _read(value, kind)
    value = _scalar(value)
    if isinstance(value, bool):
        value = int(value)
    if isinstance(value, (int, float, Decimal)):
        shown = text(value)
    else:
        found = number(value)
        shown = None if found is None else _float_text(found)
    return None if shown is None else _equipoise.read(shown, kind)


def _yes_or_no(value: Any) -> int | None:
    if isinstance(value, (str, bytes)):
        return _read(value, "boolean")
    whole = _whole(value)
    return whole if whole in (0, 1) else None


def _day(value: Any) -> int | None:
    if _is_missing(value):
        return None
    if isinstance(value, (str, bytes)):
        return _read(value, "date")
    if isinstance(value, datetime.date):
        return value.toordinal() - _EPOCH
    if _is_moment(value):
        found = _moment_number(value)
        return None if found is None else found // 86_400_000_000
    raise DataError(f"the list holds a {type(value).__name__}, not only dates; give a list of dates")


def _moment(value: Any) -> int | None:
    if _is_missing(value):
        return None
    if isinstance(value, (str, bytes)):
        return _read(value, "timestamp")
    if isinstance(value, datetime.datetime):
        return _moment_number(value.asm8) if hasattr(value, "asm8") else _microseconds(value)
    if isinstance(value, datetime.date):
        return (value.toordinal() - _EPOCH) * 86_400_000_000
    if _is_moment(value):
        return _moment_number(value)
    raise DataError(f"the list holds a {type(value).__name__}, not only moments; give a list of datetimes")


_READ: dict[str, Reader] = {
    "float": number,
    "integer": _whole,
    "boolean": _yes_or_no,
    "date": _day,
    "timestamp": _moment,
    "text": text,
}
