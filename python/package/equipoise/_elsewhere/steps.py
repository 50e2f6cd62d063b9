"""What each row adds to exact sums, as expressions: the same whole steps as ``crates/session/src/row_facts/steps.rs``.

Sums come back exact whatever an engine's sums are: each step is added up in parts of 22 bits, and the parts are put together here. 2^40 rows do not
overflow them.
"""

from __future__ import annotations

from typing import Any

from .cells import as_float, between, column_name, either, number, whole
from .engine import Engine

_BITS = 22


class Adding:
    """Sums of columns of whole steps, and what is made of them."""

    def __init__(self, engine: Engine, name: str, there: Any, steps: list[tuple[Any, int]], finish: Any = None) -> None:
        #: Which rows add, what they add, and how many bits that has at most.
        self._engine = engine
        self._name, self._there, self._steps, self._finish = name, there, steps, finish

    def applied(self, rows: Any, kept: list[str]) -> Any:
        """The rows with columns of steps."""
        steps = {f"{self._name}_{place}": either(self._there, step, whole(0)) for place, (step, _) in enumerate(self._steps)}
        return rows.select(*kept, **steps, **{f"{self._name}_n": either(self._there, whole(1), whole(0))})

    def measures(self, rows: Any) -> dict[str, Any]:
        """What is added up."""
        found = {f"{self._name}_n": _sum(rows[f"{self._name}_n"])}
        for place, (_, bits) in enumerate(self._steps):
            column = rows[f"{self._name}_{place}"]
            for part, shift in enumerate(range(0, bits, _BITS)):
                last = shift + _BITS >= bits
                # The last part has the sign.
                piece = self._engine.shifted(column, shift)
                found[f"{self._name}_{place}_{part}"] = _sum(piece if last else piece & whole((1 << _BITS) - 1))
        return found

    def total(self, row: dict[str, Any]) -> list[int]:
        """The sums of a row of a result."""
        sums = [
            sum(int(row[f"{self._name}_{place}_{part}"]) << shift for part, shift in enumerate(range(0, bits, _BITS)))
            for place, (_, bits) in enumerate(self._steps)
        ]
        many = int(row[f"{self._name}_n"])
        return sums if self._finish is None else self._finish(sums, many)


def _sum(column: Any) -> Any:
    return column.sum().fill_null(0).cast("int64")


def adding(engine: Engine, rows: Any, described: dict[str, Any], name: str) -> Adding:
    """What rows add, from a description."""
    columns: list[dict[str, Any]] = described["columns"]
    ((way, said),) = described["steps"].items()
    there = rows[column_name(columns[0])].notnull()
    for read in columns[1:]:
        there = there & rows[column_name(read)].notnull()
    numbers = [as_float(rows, read) for read in columns]
    if way == "shares":
        return Adding(engine, name, there, [_share(numbers[0], said["clip"], said["frame"], said["most"])])
    if way == "squares":
        return Adding(engine, name, there, [_square(numbers[0], said["clip"], said["frame"], said["most"])])
    if way == "wholes":
        return _wholes(engine, rows[column_name(columns[0])], there, name, said)
    if way == "pairs":
        return _pairs(engine, numbers, there, name, said)
    return _moments(engine, numbers, there, name, said)


def _distance(value: Any, clip: dict[str, float], frame: dict[str, float]) -> Any:
    """The share of the farthest that a number lies from a centre. Where it is too small to be half a step it is zero: some engines fail where a
    double underflows."""
    away = between(value, clip["low"], clip["high"]) - number(frame["centre"])
    tiny = frame["farthest"] * 2.0**-200
    return either(away.abs() <= number(tiny), number(0.0), away) / number(frame["farthest"])


def _steps_of(share: Any, most: int) -> tuple[Any, int]:
    """Whole steps, halves away from zero. Not by an engine's own rounding, of which there are several."""
    scaled = between(share * number(float(most)), -float(most), float(most))
    size = scaled.abs()
    down = size.floor()
    steps = (down + either(size - down >= number(0.5), number(1.0), number(0.0))).cast("int64")
    return either(scaled < number(0.0), -steps, steps), most.bit_length() + 2


def _share(value: Any, clip: dict[str, float], frame: dict[str, float], most: int) -> tuple[Any, int]:
    return _steps_of(_distance(value, clip, frame), most)


def _square(value: Any, clip: dict[str, float], frame: dict[str, float], most: int) -> tuple[Any, int]:
    share = _distance(value, clip, frame)
    return _steps_of(share * share, most)


def _wholes(engine: Engine, column: Any, there: Any, name: str, said: dict[str, Any]) -> Adding:
    """Sums of ``parts · row - centre``, or of its square, from the sums of rows, of products of their parts, and of their number."""
    low, high, parts, centre = said["low"], said["high"], said["parts"], said["centre"]
    held = either(column < whole(low), whole(low), either(column > whole(high), whole(high), column))
    if not said["squared"]:
        return Adding(engine, name, there, [(held, 64)], lambda sums, many: [parts * sums[0] - many * centre])
    mask = whole((1 << _BITS) - 1)
    pieces = [held & mask, engine.shifted(held, _BITS) & mask, engine.shifted(held, 2 * _BITS)]
    products = [(pieces[one] * pieces[other], 2 * _BITS + 1) for one in range(3) for other in range(one, 3)]

    def finish(sums: list[int], many: int) -> list[int]:
        squares, place = 0, 1
        for one in range(3):
            for other in range(one, 3):
                squares += (sums[place] << (_BITS * (one + other))) * (1 if one == other else 2)
                place += 1
        return [parts * parts * squares - 2 * parts * centre * sums[0] + many * centre * centre]

    return Adding(engine, name, there, [(held, 64), *products], finish)


def _frame(clip: dict[str, float]) -> dict[str, float]:
    centre = clip["middle"]
    return {"centre": centre, "farthest": max(abs(clip["high"] - centre), abs(centre - clip["low"]), 2.2250738585072014e-308)}


def _larger(one: Any, other: Any) -> Any:
    return either(one > other, one, other)


def _pairs(engine: Engine, numbers: list[Any], there: Any, name: str, said: dict[str, Any]) -> Adding:
    most = said["steps"]
    (u, bits), (v, _) = (_share(value, clip, _frame(clip), most) for value, clip in zip(numbers, said["clips"]))
    total, difference = u + v, u - v
    above, both = total * total, total * total + difference * difference
    apart = (u * u - v * v) * whole(2)
    if said["parts"] == "three":
        running = [above, both, both, both]
    else:
        running = [above, both, both + _larger(apart, whole(0)), both + apart.abs()]
    assert most & (most - 1) == 0, "a power of two"
    a, b, c, d = (engine.shifted(one + whole(2 * most), (4 * most).bit_length() - 1) for one in running)
    found = [total, difference, a, b - a, c - b, d - c, whole(most) - d]
    return Adding(engine, name, there, [(one, bits + 4) for one in found])


def _moments(engine: Engine, numbers: list[Any], there: Any, name: str, said: dict[str, Any]) -> Adding:
    bits = said["bits"]
    most = 1 << bits
    places = [_share(value, clip, _frame(clip), most)[0] for value, clip in zip(numbers, said["clips"])]

    def scaled(product: Any) -> Any:
        return engine.shifted(product + whole(most // 2), bits)

    found = [whole(most), *places, *(scaled(one * one) - whole(most // 2) for one in places)]
    for column, one in enumerate(places):
        found.extend(scaled(one * other) for other in places[column + 1 :])
    return Adding(engine, name, there, [(one, bits + 4) for one in found])
