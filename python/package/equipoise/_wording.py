"""Texts of the libraries as texts of Python, and numbers as the decimals that they show."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from typing import Any


def in_python(text: str) -> str:
    """A text of the libraries, its options written as keywords.

    >>> in_python("raise epsilon, or declare `range` and `resolution`")
    'raise epsilon, or declare range= and resolution='
    >>> in_python("give `delta=1e-6`, or `mechanism=stable`")
    "give delta=1e-6, or mechanism='stable'"
    """
    from . import _equipoise

    return _equipoise.in_python(text)


def visible(text: str) -> str:
    """A text of somebody else's, with what nobody would see written out: marks of direction, zero widths, control characters.

    >>> visible("salary" + chr(0x202E) + "x")
    'salary\\\\u{202e}x'
    """
    from . import _equipoise

    return _equipoise.visible(text)


def decimal(value: Any, name: str = "number") -> str:
    """A number as the decimal that it shows: ``0.1`` is one tenth.

    >>> decimal(0.1), decimal(1e-06), decimal("0.25"), decimal(3)
    ('0.1', '1e-06', '0.25', '3')
    """
    if isinstance(value, bool):
        pass
    elif isinstance(value, str):
        return value.strip()
    elif isinstance(value, Fraction):
        return f"{value.numerator}/{value.denominator}" if value.denominator > 1 else str(value.numerator)
    elif isinstance(value, (int, Decimal)):
        return str(value)
    elif hasattr(value, "__float__"):
        return repr(float(value))
    from ._errors import RequestError

    raise RequestError(f"{name} is not a number; give one such as 1 or 0.5")


def short(number: str, rounding: str = ROUND_CEILING) -> str:
    """An exact number, short enough for a line: what was spent is not shown below itself.

    >>> short("0.5"), short("1/3"), short("0.000000189189189"), short("100000000/300000001")
    ('0.5', '1/3', '1.89190E-7', '0.333334')
    """
    if len(number) <= 12:
        return number
    exact = Fraction(number)
    context = Context(prec=6, rounding=rounding)
    return str(context.divide(Decimal(exact.numerator), Decimal(exact.denominator)))


def decimals(values: Any, name: str = "numbers") -> str:
    """Several numbers, joined by commas."""
    if isinstance(values, str) or not isinstance(values, Iterable):
        return decimal(values, name)
    return ",".join(decimal(value, name) for value in values)
