"""A search for what is wrong with a statement about a function: small data sets of made-up rows, never real ones."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from ._errors import DataError, RequestError
from ._made_up import rows_of, shape_of
from ._wording import decimal

#: Floats are rounded: less than this share of a stated number is no counterexample.
_ROUNDING = Fraction(1, 10**9)


class Refutation(NamedTuple):
    """Two neighbouring data sets of made-up rows on which a statement is wrong, and what is wrong there.

    ``str`` of it is the whole sentence.
    """

    data: list[Any]
    neighbour: list[Any]
    problem: str

    def __str__(self) -> str:
        return f"made-up rows {_listed(self.data)} and {_listed(self.neighbour)}: {self.problem}"


def _listed(rows: list[Any]) -> str:
    """Rows as they are typed, many of the same as a product."""
    if len(rows) <= _FEW:
        return repr(rows)
    runs = [(row, len(list(same))) for row, same in itertools.groupby(rows, key=repr)]
    return " + ".join(f"[{row}]" + (f" * {many}" if many > 1 else "") for row, many in runs)


def refute(
    f: Callable[..., Any],
    *,
    sensitivity: Any = None,
    norm: str | None = None,
    options: Sequence[Any] | None = None,
    monotone: bool = False,
    rows_to_change: Callable[[Any], Any] | None = None,
    distance: Callable[[Any], Any] | None = None,
    bound: Any = None,
    local: Callable[..., Any] | None = None,
    least_after: Callable[..., Any] | None = None,
    adjacency: str = "add-remove",
    made_up: Any = None,
    size: int = 4,
    like: Any = list,
) -> Refutation | None:
    """A counterexample to what is stated of ``f``, searched among small data sets of made-up rows; ``None`` where there is none.

    No finding is no proof, but most mistakes show on tiny data sets. No real row is looked at, and nothing is charged. Data sets on which
    ``f`` fails are passed over, as a mean does without rows; where it fails on all of them that is an error.

    ``sensitivity``
        One person moves ``f`` by at most this, in the ``norm`` ``"l1"`` or ``"l2"`` for vectors; with ``options`` it is a score
        ``f(option, data)``, of which no option's moves farther, and with ``monotone=True`` all move the same way.
    ``rows_to_change``
        As :func:`stable` takes it: one where a neighbour has another value, and moved by at most one between neighbours.
    ``distance`` with ``bound``
        As :func:`propose_test_release` takes it: zero where a neighbour's value is farther than the bound, and moved by at most one.
    ``local``
        As :func:`smooth` takes it, ``local(data, k)``: at distance zero no neighbour is farther, and no data set has more at k than a
        neighbour has at k + 1. With ``sensitivity`` as :func:`bounded_local_sensitivity` takes it: ``local(data)``, moved by at most
        that.
    ``least_after``
        As :func:`shifted_inverse` takes it, ``least_after(data, k)``: without removals it is ``f``, which does not fall when a row is added, and no
        data set has more left after k + 1 removals than a neighbour after k.
    ``made_up``, ``size``, ``like``
        Rows that can occur, made up by you; a table, or dictionaries, where ``like`` is one. Data sets have up to ``size`` of them; under
        ``"replace"`` exactly so many, where it is the number of rows that is public. ``f`` gets ``like(rows)``, such as ``numpy.array``, or data like
        ``like``: an array, a column or a table, of which only the type is looked at.

    >>> import equipoise as eq
    >>> print(eq.refute(sum, sensitivity=1, made_up=[0, 2]))
    made-up rows [] and [2]: the value moves by 2, and 1 was stated
    >>> eq.refute(sum, sensitivity=2, made_up=[0, 2]) is None
    True
    """
    if adjacency not in ("add-remove", "replace"):
        raise RequestError("adjacency is not known; write add-remove or replace", "adjacency")
    if not callable(f):
        raise DataError("f is not a function; give the one that the statement is about")
    claims = _claims(f, sensitivity, norm, options, monotone, rows_to_change, distance, bound, local, least_after)
    make, rows = _rows(like, made_up)
    failed, tried = "", False
    for here, there in _pairs(rows, size, adjacency):
        for claim in claims:
            try:
                problem = claim(make(list(here)), make(list(there)))
            except Exception as error:  # noqa: BLE001, somebody's function on somebody's rows
                failed = type(error).__name__
                continue
            tried = True
            if problem is not None:
                return Refutation(list(here), list(there), problem)
    if failed and not tried:
        raise RequestError(f"the function fails on all made-up rows ({failed}); give others as made_up=", "made_up")
    return None


def _rows(like: Any, made_up: Any) -> tuple[Callable[[list[Any]], Any], list[Any]]:
    """What makes data of rows, and the rows that there can be."""
    shape = None if callable(like) else shape_of(like)
    if shape is None and not callable(like):
        raise DataError(f"rows like a {type(like).__name__} cannot be made up; give like= a function that makes data of a list of rows")
    if made_up is None:
        return (like, [0, 1, 2]) if shape is None else (shape.like, list(shape.rows))
    if isinstance(made_up, (str, bytes)) or not (hasattr(made_up, "__iter__") or hasattr(made_up, "to_pylist")):
        raise DataError("made_up is not a list of rows; give a few that can occur, such as [0, 1]")
    return (like if shape is None else shape.like), rows_of(made_up)


_Claim = Callable[[Any, Any], "str | None"]


def _claims(
    f: Callable[..., Any],
    sensitivity: Any,
    norm: str | None,
    options: Sequence[Any] | None,
    monotone: bool,
    rows_to_change: Callable[[Any], Any] | None,
    distance: Callable[[Any], Any] | None,
    bound: Any,
    local: Callable[..., Any] | None,
    least_after: Callable[..., Any] | None,
) -> list[_Claim]:
    """What is said, as things that can be wrong of two neighbours; each is asked both ways round."""
    most = None if sensitivity is None else _exact(sensitivity, "sensitivity")
    if rows_to_change is not None:
        return [_changes(f, rows_to_change), _one_step(rows_to_change, "the number of rows to change")]
    if distance is not None:
        if bound is None:
            return [_one_step(distance, "the distance")]
        return [_safe(f, distance, _exact(bound, "bound")), _one_step(distance, "the distance")]
    if local is not None and most is not None:
        return [_near(f, lambda data: local(data)), _moves(local, most, None, "the local sensitivity")]
    if local is not None:
        return [_near(f, lambda data: local(data, 0)), *(_grows(local, k) for k in range(_DISTANCES))]
    if least_after is not None:
        return [_falls(f, least_after), *(_removed(least_after, k) for k in range(_DISTANCES))]
    if most is None:
        raise RequestError("what is stated of f? Give sensitivity, rows_to_change, distance and bound, local, or least_after")
    if options is None:
        return [_moves(f, most, norm, "the value")]
    return [_scores(f, list(options), most, monotone)]


#: Distances that are compared.
_DISTANCES = 5


def _moves(f: Callable[[Any], Any], most: Fraction, norm: str | None, what: str) -> _Claim:
    def wrong(here: Any, there: Any) -> str | None:
        pairs = list(zip(_numbers(f(here)), _numbers(f(there)), strict=True))
        moved = [abs(a - b) for a, b in pairs]
        if norm == "l2":
            far = sum(step * step for step in moved) > (most * (1 + _ROUNDING)) ** 2
            return f"the value moves by {_shown(math.sqrt(sum(s * s for s in moved)))}, and {_shown(most)} was stated" if far else None
        far = sum(moved) > most * (1 + _ROUNDING)
        return f"{what} moves by {_shown(sum(moved))}, and {_shown(most)} was stated" if far else None

    return wrong


def _scores(f: Callable[..., Any], options: list[Any], most: Fraction, monotone: bool) -> _Claim:
    def wrong(here: Any, there: Any) -> str | None:
        steps = [_number(f(option, there)) - _number(f(option, here)) for option in options]
        for option, step in zip(options, steps, strict=True):
            if abs(step) > most * (1 + _ROUNDING):
                return f"the score of {option!r} moves by {_shown(abs(step))}, and {_shown(most)} was stated"
        if monotone and any(step > 0 for step in steps) and any(step < 0 for step in steps):
            return "one score rises and another falls, and monotone scores were stated"
        return None

    return wrong


def _changes(f: Callable[[Any], Any], rows: Callable[[Any], Any]) -> _Claim:
    def wrong(here: Any, there: Any) -> str | None:
        stated = _steps(rows(here))
        if stated < 1:
            return f"{_shown(stated)} rows to change were stated, and one is the least"
        if stated > 1 and _plain(f(here)) != _plain(f(there)):
            return f"one row changes the value, and {_shown(stated)} rows to change were stated of the first"
        return None

    return wrong


def _safe(f: Callable[[Any], Any], distance: Callable[[Any], Any], bound: Fraction) -> _Claim:
    def wrong(here: Any, there: Any) -> str | None:
        moved, stated = abs(_number(f(here)) - _number(f(there))), _steps(distance(here))
        if moved > bound * (1 + _ROUNDING) and stated != 0:
            return (
                f"the value moves by {_shown(moved)}, above the bound {_shown(bound)}, and the first was stated to be "
                f"{_shown(stated)} steps from that"
            )
        return None

    return wrong


def _one_step(distance: Callable[[Any], Any], what: str) -> _Claim:
    def wrong(here: Any, there: Any) -> str | None:
        a, b = _steps(distance(here)), _steps(distance(there))
        far = a != b and (math.inf in (a, b) or abs(a - b) > 1)
        return f"{what} goes from {_shown(a)} to {_shown(b)}, and one person may move it by one" if far else None

    return wrong


def _near(f: Callable[[Any], Any], local: Callable[[Any], Any]) -> _Claim:
    def wrong(here: Any, there: Any) -> str | None:
        moved, stated = abs(_number(f(here)) - _number(f(there))), _size(local(here))
        if stated != math.inf and moved > Fraction(stated) * (1 + _ROUNDING):
            return f"the value moves by {_shown(moved)}, and a local sensitivity of {_shown(stated)} was stated of the first"
        return None

    return wrong


def _grows(local: Callable[..., Any], k: int) -> _Claim:
    def wrong(here: Any, there: Any) -> str | None:
        at, beyond = _size(local(here, k)), _size(local(there, k + 1))
        if beyond != math.inf and (at == math.inf or Fraction(at) > Fraction(beyond) * (1 + _ROUNDING)):
            return (
                f"the first has the local sensitivity {_shown(at)} at distance {k}, and its neighbour only {_shown(beyond)} at "
                f"distance {k + 1}"
            )
        return None

    return wrong


def _falls(f: Callable[[Any], Any], least_after: Callable[..., Any]) -> _Claim:
    def wrong(here: Any, there: Any) -> str | None:
        value, stated = _number(f(here)), _number(least_after(here, 0))
        if abs(stated - value) > abs(value) * _ROUNDING:
            return f"the value of the first is {_shown(value)}, and {_shown(stated)} was stated to be left without removals"
        if len(here) < len(there) and _number(f(there)) < value - abs(value) * _ROUNDING:
            return f"the value falls from {_shown(value)} to {_shown(_number(f(there)))} when a row is added"
        return None

    return wrong


def _removed(least_after: Callable[..., Any], k: int) -> _Claim:
    def wrong(here: Any, there: Any) -> str | None:
        before, beyond = _number(least_after(there, k)), _number(least_after(here, k + 1))
        if beyond > before + abs(before) * _ROUNDING:
            return (
                f"after {k + 1} removals {_shown(beyond)} is stated to be left of the first, and {_shown(before)} of its neighbour after {k}: "
                f"one row more to remove makes up for one row"
            )
        return None

    return wrong


#: Data sets of a public size are all tried where they have at most so many rows.
_FEW = 8


def _data_sets(rows: list[Any], size: int, public: bool) -> Iterator[tuple[int, ...]]:
    """Data sets of so many made-up rows, as places of rows: all, or where these are too many those of two rows, one of them rare or half of all."""
    if not public or size <= _FEW:
        yield from itertools.combinations_with_replacement(range(len(rows)), size)
        return
    for one, other in itertools.permutations(range(len(rows)), 2):
        for many in sorted({0, 1, size // 2, (size + 1) // 2}):
            yield (other,) * many + (one,) * (size - many)


def _pairs(rows: list[Any], size: int, adjacency: str) -> Iterator[tuple[tuple[Any, ...], tuple[Any, ...]]]:
    """Neighbouring pairs of small data sets, the smallest first, both ways round."""
    sizes = [size] if adjacency == "replace" else range(size)
    for count in sizes:
        for places in _data_sets(rows, count, adjacency == "replace"):
            data = tuple(rows[place] for place in places)
            if adjacency == "add-remove":
                others = [(*data, row) for row in rows]
            else:
                # Of many rows that are the same the first stands for all.
                ends = [at for at in range(count) if count <= _FEW or at == 0 or places[at] != places[at - 1]]
                others = [(*data[:at], row, *data[at + 1 :]) for at in ends for place, row in enumerate(rows) if place != places[at]]
            for other in others:
                yield data, other
                yield other, data


def _exact(value: Any, name: str) -> Fraction:
    try:
        return Fraction(decimal(value, name))
    except ValueError:
        raise RequestError(f"{name} is not a number; give one such as 1 or 0.5", name) from None


def _number(value: Any) -> Fraction:
    return Fraction(float(value))


def _numbers(value: Any) -> list[Fraction]:
    try:
        return [_number(one) for one in value]
    except TypeError:
        return [_number(value)]


def _steps(value: Any) -> Any:
    """A whole number of steps, or infinity."""
    if value is None:
        raise ValueError("no number of rows")
    return math.inf if value == math.inf else int(value)


def _size(value: Any) -> Any:
    return math.inf if value == math.inf else float(value)


def _plain(value: Any) -> Any:
    """What can be compared as a whole: arrays as lists."""
    return value.tolist() if hasattr(value, "tolist") else value


def _shown(number: Any) -> str:
    return str(number) if isinstance(number, int) else f"{float(number):.6g}"
