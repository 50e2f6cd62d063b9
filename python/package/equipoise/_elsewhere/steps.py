"""What each row adds to exact sums, as expressions: the same whole steps as ``crates/session/src/row_facts/steps.rs``.

Sums come back exact whatever an engine's sums are: each step is added up in parts of 22 bits, and the parts are put together here. 2^40 rows do not
overflow them.

What is used more than once gets a column of its own first (:class:`Staged`). Expressions are trees: one that names another three times has three copies of
it, and a correlation written as one expression was three million characters, on which Spark's driver ran out of memory.
"""

from __future__ import annotations

from typing import Any

from .cells import as_float, between, column_name, either, number, whole
from .engine import Engine

_BITS = 22


class Staged:
    """Rows that get columns of their own under names that begin alike, one select after the other."""

    def __init__(self, rows: Any, name: str) -> None:
        self.rows, self._name = rows, name
        self._kept = list(rows.columns)
        self._made: list[str] = []

    def __getitem__(self, name: str) -> Any:
        return self.rows[f"{self._name}_{name}"]

    def then(self, keep: tuple[str, ...] = (), **columns: Any) -> Staged:
        """Make these columns next. Of those made before only the ones named in ``keep`` stay."""
        self._made = [f"{self._name}_{name}" for name in keep]
        made = {f"{self._name}_{name}": column for name, column in columns.items()}
        self.rows = self.rows.select(*self._kept, *self._made, **made)
        return self


class Adding:
    """Sums of columns of whole steps, and what is made of them."""

    def __init__(self, engine: Engine, name: str, bits: list[int], finish: Any = None) -> None:
        #: How many bits a row of each column has at most.
        self._engine, self._name, self._bits, self._finish = engine, name, bits, finish

    def measures(self, rows: Any) -> dict[str, Any]:
        """What is added up."""
        found = {f"{self._name}_n": _sum(rows[f"{self._name}_n"])}
        for place, bits in enumerate(self._bits):
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
            for place, bits in enumerate(self._bits)
        ]
        many = int(row[f"{self._name}_n"])
        return sums if self._finish is None else self._finish(sums, many)


def _sum(column: Any) -> Any:
    return column.sum().fill_null(0).cast("int64")


def adding(engine: Engine, rows: Any, described: dict[str, Any], name: str) -> tuple[Any, Adding]:
    """The rows with columns of what they add, from a description, and how these are added up."""
    columns: list[dict[str, Any]] = described["columns"]
    ((way, said),) = described["steps"].items()
    there = rows[column_name(columns[0])].notnull()
    for read in columns[1:]:
        there = there & rows[column_name(read)].notnull()
    staged = Staged(rows, name)
    if way == "wholes":
        staged.then(there=there, x0=rows[column_name(columns[0])])
        steps, finish = _wholes(engine, staged, said)
    else:
        staged.then(there=there, **{f"x{place}": as_float(rows, read) for place, read in enumerate(columns)})
        finish = None
        if way in ("shares", "squares"):
            steps = _shares(staged, [(said["clip"], said["frame"])], said["most"], squared=way == "squares")
        else:
            steps = (_pairs if way == "pairs" else _moments)(engine, staged, said)
    added = {str(place): either(staged["there"], step, whole(0)) for place, (step, _) in enumerate(steps)}
    staged.then(**added, n=either(staged["there"], whole(1), whole(0)))
    return staged.rows, Adding(engine, name, [bits for _, bits in steps], finish)


def _shares(staged: Staged, scales: list[tuple[dict[str, float], dict[str, float]]], most: int, squared: bool = False) -> list[tuple[Any, int]]:
    """Each number as whole steps from a centre, of which the farthest takes so many."""
    places = range(len(scales))
    there = ("there",)
    staged.then(there, **{f"x{at}": between(staged[f"x{at}"], scales[at][0]["low"], scales[at][0]["high"]) - number(scales[at][1]["centre"]) for at in places})
    staged.then(there, **{f"x{at}": _share(staged[f"x{at}"], scales[at][1]["farthest"]) for at in places})
    if squared:
        staged.then(there, **{f"x{at}": staged[f"x{at}"] * staged[f"x{at}"] for at in places})
    staged.then(there, **{f"x{at}": staged[f"x{at}"] * number(float(most)) for at in places})
    staged.then(there, **{f"x{at}": between(staged[f"x{at}"], -float(most), float(most)) for at in places})
    # Halves away from zero. Not by an engine's own rounding, of which there are several.
    found = tuple(f"x{at}" for at in places)
    staged.then(there + found, **{f"d{at}": staged[f"x{at}"].abs().floor() for at in places})
    staged.then(there + found, **{f"d{at}": _rounded(staged[f"x{at}"].abs(), staged[f"d{at}"]) for at in places})
    staged.then(there, **{f"x{at}": either(staged[f"x{at}"] < number(0.0), -staged[f"d{at}"], staged[f"d{at}"]) for at in places})
    return [(staged[f"x{at}"], most.bit_length() + 2) for at in places]


def _share(away: Any, farthest: float) -> Any:
    """The share of the farthest that a number lies from a centre. Where it is too small to be half a step it is zero: some engines fail where a
    double underflows."""
    return either(away.abs() <= number(farthest * 2.0**-200), number(0.0), away) / number(farthest)


def _rounded(size: Any, down: Any) -> Any:
    return (down + either(size - down >= number(0.5), number(1.0), number(0.0))).cast("int64")


def _wholes(engine: Engine, staged: Staged, said: dict[str, Any]) -> tuple[list[tuple[Any, int]], Any]:
    """Sums of ``parts · row - centre``, or of its square, from the sums of rows, of products of their parts, and of their number."""
    low, high, parts, centre = said["low"], said["high"], said["parts"], said["centre"]
    column = staged["x0"]
    staged.then(("there",), x0=either(column < whole(low), whole(low), either(column > whole(high), whole(high), column)))
    if not said["squared"]:
        return [(staged["x0"], 64)], lambda sums, many: [parts * sums[0] - many * centre]
    mask, held = whole((1 << _BITS) - 1), staged["x0"]
    staged.then(("there", "x0"), p0=held & mask, p1=engine.shifted(held, _BITS) & mask, p2=engine.shifted(held, 2 * _BITS))
    products = [(staged[f"p{one}"] * staged[f"p{other}"], 2 * _BITS + 1) for one in range(3) for other in range(one, 3)]

    def finish(sums: list[int], many: int) -> list[int]:
        squares, place = 0, 1
        for one in range(3):
            for other in range(one, 3):
                squares += (sums[place] << (_BITS * (one + other))) * (1 if one == other else 2)
                place += 1
        return [parts * parts * squares - 2 * parts * centre * sums[0] + many * centre * centre]

    return [(staged["x0"], 64), *products], finish


def _frame(clip: dict[str, float]) -> dict[str, float]:
    centre = clip["middle"]
    return {"centre": centre, "farthest": max(abs(clip["high"] - centre), abs(centre - clip["low"]), 2.2250738585072014e-308)}


def _larger(one: Any, other: Any) -> Any:
    return either(one > other, one, other)


def _pairs(engine: Engine, staged: Staged, said: dict[str, Any]) -> list[tuple[Any, int]]:
    most = said["steps"]
    (u, bits), (v, _) = _shares(staged, [(clip, _frame(clip)) for clip in said["clips"]], most)
    staged.then(("there",), total=u + v, difference=u - v, apart=(u * u - v * v) * whole(2))
    kept, total, difference = ("there", "total", "difference"), staged["total"], staged["difference"]
    staged.then((*kept, "apart"), a=total * total, b=total * total + difference * difference)
    both, apart = staged["b"], staged["apart"]
    if said["parts"] == "three":
        staged.then((*kept, "a", "b"), c=both, d=both)
    else:
        staged.then((*kept, "a", "b"), c=both + _larger(apart, whole(0)), d=both + apart.abs())
    assert most & (most - 1) == 0, "a power of two"
    shift = (4 * most).bit_length() - 1
    staged.then(kept, **{name: engine.shifted(staged[name] + whole(2 * most), shift) for name in "abcd"})
    a, b, c, d = (staged[name] for name in "abcd")
    found = [staged["total"], staged["difference"], a, b - a, c - b, d - c, whole(most) - d]
    return [(one, bits + 4) for one in found]


def _moments(engine: Engine, staged: Staged, said: dict[str, Any]) -> list[tuple[Any, int]]:
    bits = said["bits"]
    most = 1 << bits
    places = [place for place, _ in _shares(staged, [(clip, _frame(clip)) for clip in said["clips"]], most)]

    def scaled(product: Any) -> Any:
        return engine.shifted(product + whole(most // 2), bits)

    found = [whole(most), *places, *(scaled(one * one) - whole(most // 2) for one in places)]
    for column, one in enumerate(places):
        found.extend(scaled(one * other) for other in places[column + 1 :])
    return [(one, bits + 4) for one in found]
