"""What an engine makes of public numbers, before anything is charged.

The expressions of :mod:`cells <equipoise._elsewhere.cells>` are exact where an engine's doubles are those of IEEE 754, its powers of two are exact and
its logarithms nearly so. That is looked at once for each connection and kind of column that a question needs, on numbers that everybody knows: an engine that
gets one wrong is not asked about people. Neither is one that takes different texts for one.
"""

from __future__ import annotations

import math
import struct
import weakref
from typing import Any

from .._errors import DataError
from .cells import between, either, number, whole, with_ordinal
from .engine import Engine

_HARD = [0.0, 1.0, 0.1, 1 / 3, 2.0**53, 5e-324, 2.225073858507201e-308, 2.2250738585072014e-308, 1.7976931348623157e308, float("inf"), 123456.789]
_POWERS = [2.0**power * part for power in range(-1021, 1023, 73) for part in (1.0, 1 - 2.0**-53, 1 + 2.0**-52, 1.5)]

_SMALL, _LARGE = 1e-300, 1e300
_SHIFTS = (0, 22, 31, 32, 48, 63)
#: Different texts that some collations take for one.
_TEXTS = ["a", "A", "a ", "\u00e4", "a\u0308"]
_good: dict[int, Any] = {}


def examine(engine: Engine) -> None:
    """Refuse an engine whose arithmetic is not what the guarantee rests on."""
    connection = engine.connection
    key = id(connection)
    known = _good.get(key)
    if known is not None and known() is connection:
        return
    numbers = [sign * value for value in [*_HARD, *_POWERS] for sign in (1.0, -1.0)]
    table = engine.small({"i": list(range(len(numbers))), "x": numbers}, {"i": "int64", "x": "float64"})
    asked = with_ordinal(table, table.x, "o", ["i", "x"])
    place = asked.o.fill_null(whole(7))
    parts = {f"o{bits}": engine.shifted(place, bits) for bits in _SHIFTS}
    # Quotients that are no normal numbers are computed nowhere: some engines fail there.
    held = either(asked.x.abs() < number(_SMALL), number(0.0), between(asked.x, -_LARGE, _LARGE))
    third = held / number(3.0) + number(0.1)
    found = engine.run(asked.select("i", t=third, low=place & whole(2**22 - 1), **parts)).to_pydict()
    rows = sorted(zip(found["i"], found["low"], *(found[f"o{bits}"] for bits in _SHIFTS)))
    thirds = [third for _, third in sorted(zip(found["i"], found["t"]))]
    expected = []
    for at, value in enumerate(numbers):
        bits = ordinal(value)
        expected.append((at, bits & (2**22 - 1), *(bits >> shift for shift in _SHIFTS)))
    exact = [(0.0 if abs(value) < _SMALL else max(-_LARGE, min(_LARGE, value))) / 3.0 + 0.1 for value in numbers]
    # Polars multiplies by the reciprocal of a constant, which is off by a bit; what a row adds to a sum is then another step in rare cases, and none that is longer.
    near = [math.isclose(*two, rel_tol=2.0**-51 if engine.name == "polars" else 0.0) for two in zip(thirds, exact)]
    if rows != expected or len(near) != len(numbers) or not all(near):
        raise DataError(f"{engine.called} does not compute as the passes need it; use another engine, or ask about a file")
    texts = engine.small({"s": _TEXTS}, {"s": "string"})
    texts = texts.select(s=engine.plain(texts.s))
    if engine.run(texts.group_by("s").agg(n=texts.count())).num_rows != len(_TEXTS):
        raise DataError(f"{engine.called} takes different texts for one, by the collation that its texts have here; set another, or ask about a file")
    try:
        _good[key] = weakref.ref(connection)
    except TypeError:
        _good.pop(key, None)


def ordinal(value: float) -> int:
    """The bits of a float without the sign, with its sign."""
    bits = int(struct.unpack("<q", struct.pack("<d", abs(value)))[0])
    return -bits if value < 0 else bits


