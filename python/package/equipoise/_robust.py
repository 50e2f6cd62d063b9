"""Answers about a stream that stay right while whoever asks reacts to them."""

from __future__ import annotations

import json
import operator
from collections.abc import Iterable
from os import PathLike, fspath
from typing import Any

from . import _equipoise
from ._errors import DataError, RequestError
from ._monitor import _whole
from ._wording import decimal


def _batch(items: Any) -> Any:
    """Items as something that the compiled part reads: an array of whole numbers, or a list."""
    if hasattr(items, "__array__"):
        import numpy as np

        array = np.asarray(items)
        if array.dtype.kind in "iu" and array.ndim == 1:
            return np.ascontiguousarray(array, dtype=np.uint64 if array.dtype.kind == "u" else np.int64)
        return array.tolist() if array.ndim else [array.item()]
    if isinstance(items, (str, int)):
        return [items]
    if not isinstance(items, Iterable):
        raise DataError("items are whole numbers or texts; give a list or an array of one of them")
    return list(items)


def _index(value: Any, what: str) -> int:
    """A whole number, of whatever type; nothing is cut off."""
    try:
        return operator.index(value)
    except TypeError:
        raise DataError(f"{what} is not a whole number; give one, in a smaller unit where that helps") from None


def _counts(counts: Any) -> list[int] | None:
    if counts is None:
        return None
    listed = [_index(count, f"count {place}") for place, count in enumerate(counts)]
    if any(abs(count) >= 1 << 63 for count in listed):
        raise RequestError("a count is not accepted; give whole numbers that sum to 2^60 at most")
    return listed


def _wanted(alpha: Any, beta: Any, answers: int | None, asked: int | None, keep: bool) -> Any:
    return (
        decimal(alpha, "alpha"),
        decimal(beta, "beta"),
        None if answers is None else _whole(answers, "answers"),
        0 if asked is None else _whole(asked, "asked"),
        bool(keep),
    )


def _method(method: str, known: tuple[str, ...]) -> str:
    if method not in known:
        names = ", ".join(f"'{name}'" for name in known)
        raise RequestError(f"no method is called so; give one of {names}")
    return method


def _for_copies(method: str, **given: Any) -> None:
    """What belongs to copies is refused elsewhere, so that nobody relies on it."""
    for name, value in given.items():
        if value:
            raise RequestError(f"{name}= is for copies, not for the method {method}; add method='copies', or leave it out")


class _Structure:
    """What all structures have in common."""

    _core: Any

    @property
    def queries_left(self) -> int | None:
        """How many answers are left, in this phase where phases follow one another; ``None`` without a limit."""
        left: int | None = self._core.facts[0]
        return left

    @property
    def changes_left(self) -> int | None:
        """How often the answer may still change; ``None`` without a limit."""
        left: int | None = self._core.facts[1]
        return left

    @property
    def space(self) -> int:
        """Bytes of memory, about."""
        space: int = self._core.facts[2]
        return space

    @property
    def copies(self) -> int:
        """How many sketches there are."""
        copies: int = self._core.facts[3]
        return copies

    @property
    def guarantee(self) -> str:
        """What stands behind the answers: ``proved``, ``heuristic``, or ``exact``."""
        guarantee: str = self._core.facts[4]
        return guarantee

    def to_bytes(self) -> bytes:
        """The state. It holds keys: keep it secret, and go on from it once only, unless it keeps its input."""
        state: bytes = self._core.to_bytes()
        return state

    def __reduce__(self) -> Any:
        # A pickle is easily read twice, and then the same coins answer twice.
        raise TypeError("a robust structure is stored by to_bytes() and read by from_bytes(), once")


class RobustDistinct(_Structure):
    """How many distinct items came, within a share ``alpha``, all answers together except with probability ``beta``.

    One sketch under a secret key is enough for one stream of items that only come (``method="keyed"``), without a limit on
    answers. ``method="copies"`` keeps copies behind a private median, for ``answers`` answers; with ``keep=True`` it keeps
    the items too, and fresh copies take over phase by phase. ``method="switching"`` and ``"flips"`` are for an answer that
    changes at most ``changes`` times. :func:`choose_robust` says which suits.

    >>> import equipoise as eq
    >>> sketch = eq.RobustDistinct()
    >>> sketch.update(["ann", "bob", "ann"])
    >>> sketch.query()
    2
    """

    def __init__(
        self,
        *,
        alpha: Any = 0.2,
        beta: Any = 0.01,
        answers: int | None = None,
        method: str = "keyed",
        keep: bool = False,
        asked: int | None = None,
        changes: int | None = None,
    ) -> None:
        _method(method, ("keyed", "copies", "switching", "flips"))
        if method != "copies":
            _for_copies(method, keep=keep, asked=asked)
        if method == "keyed":
            _for_copies(method, answers=answers)
        if method in ("keyed", "copies") and changes is not None:
            raise RequestError("changes= is for the methods switching and flips; leave it out")
        self._core = _equipoise.Distinct(
            _wanted(alpha, beta, answers, asked, keep), method, 100 if changes is None else _whole(changes, "changes")
        )

    @classmethod
    def from_bytes(cls, state: bytes) -> RobustDistinct:
        """Go on from a stored state."""
        made = cls.__new__(cls)
        made._core = _equipoise.Distinct.from_bytes(state)
        return made

    def update(self, batch: Any) -> None:
        """Items come: whole numbers or texts."""
        self._core.update(_batch(batch))

    def query(self) -> int:
        """About how many distinct items came."""
        answer: int = self._core.query()
        return answer


class RobustF2(_Structure):
    """The sum of squared counts of a stream in which items come and go.

    ``heuristic`` takes sizes of one's own instead of the proved ones: copies, rows, buckets in a row, loss of an answer.
    ``asked`` of the copies answer, others each time, if given. Other keywords as of :class:`RobustDistinct`.

    >>> import equipoise as eq
    >>> sketch = eq.RobustF2(answers=10)
    >>> sketch.update(["ann", "bob"], counts=[3, 4])
    >>> sketch.queries_left, sketch.guarantee
    (10, 'proved')
    """

    def __init__(
        self,
        *,
        alpha: Any = 0.5,
        beta: Any = 0.01,
        answers: int | None = None,
        method: str = "copies",
        keep: bool = False,
        asked: int | None = None,
        changes: int | None = None,
        heuristic: tuple[int, int, int, Any] | None = None,
    ) -> None:
        _method(method, ("copies", "switching", "flips"))
        if method != "copies":
            _for_copies(method, keep=keep, asked=asked, heuristic=heuristic)
        elif changes is not None:
            raise RequestError("changes= is for the methods switching and flips; leave it out")
        self._core = _equipoise.Squares(
            _wanted(alpha, beta, answers, asked, keep),
            method,
            100 if changes is None else _whole(changes, "changes"),
            _own(heuristic),
        )

    @classmethod
    def from_bytes(cls, state: bytes) -> RobustF2:
        """Go on from a stored state."""
        made = cls.__new__(cls)
        made._core = _equipoise.Squares.from_bytes(state)
        return made

    def update(self, batch: Any, counts: Any = None) -> None:
        """Items come once each or as often as counted; a negative count takes them away."""
        self._core.update(_batch(batch), _counts(counts))

    def query(self) -> int:
        """About the sum of squared counts."""
        answer: int = self._core.query()
        return answer


class RobustPoint(_Structure):
    """The counts of single items of a stream in which items come and go, within ``alpha`` times the root of squared counts.

    Keywords as of :class:`RobustF2`.

    >>> import equipoise as eq
    >>> sketch = eq.RobustPoint(answers=10)
    >>> sketch.update(["ann", "bob"], counts=[300, 4])
    >>> sketch.queries_left, sketch.guarantee
    (10, 'proved')
    """

    def __init__(
        self,
        *,
        alpha: Any = 0.5,
        beta: Any = 0.01,
        answers: int | None = None,
        keep: bool = False,
        asked: int | None = None,
        heuristic: tuple[int, int, int, Any] | None = None,
    ) -> None:
        self._core = _equipoise.PointCounts(_wanted(alpha, beta, answers, asked, keep), _own(heuristic))

    @classmethod
    def from_bytes(cls, state: bytes) -> RobustPoint:
        """Go on from a stored state."""
        made = cls.__new__(cls)
        made._core = _equipoise.PointCounts.from_bytes(state)
        return made

    def update(self, batch: Any, counts: Any = None) -> None:
        """Items come once each or as often as counted; a negative count takes them away."""
        self._core.update(_batch(batch), _counts(counts))

    def query(self, item: Any) -> int:
        """About how often an item came."""
        answer: int = self._core.query(_batch([item]))
        return answer


class RobustMinCut(_Structure):
    """The minimum cut of a graph on the vertices 0, 1 and so on, whose edges come and go.

    It is exact, without a limit on answers. ``method="sampled"`` has approximate answers from copies of sampled graphs, which
    is slower on all graphs that were measured; ``beside`` says by how much.

    >>> import equipoise as eq
    >>> cut = eq.RobustMinCut(4)
    >>> cut.update([(0, 1), (1, 2), (2, 3), (3, 0)])
    >>> cut.query()
    2
    >>> cut.update([(1, 2, -1)])  # a negative weight takes an edge away
    >>> cut.query()
    1
    """

    def __init__(
        self,
        vertices: int,
        *,
        method: str = "exact",
        alpha: Any = 0.5,
        beta: Any = 0.01,
        answers: int | None = None,
    ) -> None:
        self._core = _equipoise.Cut(_vertices(vertices), _sampled(method, alpha, beta, answers))

    @classmethod
    def from_file(
        cls,
        path: str | PathLike[str],
        *,
        header: bool = True,
        vertices: int | None = None,
        method: str = "exact",
        alpha: Any = 0.5,
        beta: Any = 0.01,
        answers: int | None = None,
    ) -> RobustMinCut:
        """Begin with the edges of a CSV, Parquet or Arrow file: two columns of vertices and perhaps one of weights."""
        made = cls.__new__(cls)
        count = None if vertices is None else _vertices(vertices)
        made._core = _equipoise.Cut.from_file(fspath(path), not header, count, _sampled(method, alpha, beta, answers))
        return made

    @classmethod
    def from_bytes(cls, state: bytes) -> RobustMinCut:
        """Go on from a stored state. That may be done any number of times: samples are drawn anew."""
        made = cls.__new__(cls)
        made._core = _equipoise.Cut.from_bytes(state)
        return made

    def update(self, batch: Any) -> None:
        """Edges come: rows of two ends and perhaps a weight, which is negative where they go."""
        if hasattr(batch, "__array__"):
            import numpy as np

            array = np.asarray(batch)
            if array.dtype.kind in "iu" and array.ndim == 2:
                if array.dtype.kind == "u" and array.size and array.max() >= 1 << 63:
                    raise RequestError("a number is not accepted; weights are from 1 to 2^60")
                self._core.update(np.ascontiguousarray(array, dtype=np.int64))
                return
            batch = array.tolist()
        if not isinstance(batch, Iterable):
            raise DataError("edges are rows of two whole numbers and perhaps a weight")
        rows = []
        for place, edge in enumerate(batch):
            if not isinstance(edge, Iterable):
                raise DataError(f"edge {place}: an edge has two ends and perhaps a weight")
            row = [_index(number, f"edge {place}: '{number}'") for number in edge]
            if any(abs(number) >= 1 << 63 for number in row):
                raise RequestError(f"edge {place}: a number is not accepted; weights are from 1 to 2^60")
            rows.append(row)
        self._core.update(rows)

    def query(self) -> int:
        """The weight of a minimum cut."""
        answer: int = self._core.query()
        return answer

    def side(self) -> list[int]:
        """The vertices on the smaller side of a minimum cut."""
        side: list[int] = self._core.side()
        return side

    @property
    def beside(self) -> dict[str, float] | None:
        """Measured seconds for an answer from samples, and for the exact cut computed from scratch; ``None`` if exact."""
        measured = self._core.beside
        return None if measured is None else {"copies": measured[0], "scratch": measured[1]}


def choose_robust(
    question: str,
    *,
    alpha: Any = 0.2,
    beta: Any = 0.01,
    answers: int = 1000,
    insertions_only: bool = False,
    changes: int | None = None,
) -> list[dict[str, Any]]:
    """Which methods are proved for a stream, with copies, bytes of memory and what they promise, the smallest first.

    ``question`` is ``"distinct"``, ``"f2"`` or ``"point"``. ``changes`` is how often the answer will change, if that is known.

    >>> import equipoise as eq
    >>> eq.choose_robust("distinct", insertions_only=True)[0]["method"]
    'keyed'
    """
    _method(question, ("distinct", "f2", "point"))
    known = None if changes is None else _whole(changes, "changes")
    listed: list[dict[str, Any]] = json.loads(
        _equipoise.choose_robust(
            question, decimal(alpha, "alpha"), decimal(beta, "beta"), _whole(answers, "answers"), insertions_only, known
        )
    )
    return listed


def _vertices(vertices: Any) -> int:
    count = _whole(vertices, "vertices")
    if not 0 <= count < 1 << 32:
        raise RequestError(f"{count} vertices are not accepted; a graph has from 2 to 2^25")
    return count


def _sampled(method: str, alpha: Any, beta: Any, answers: int | None) -> Any:
    if _method(method, ("exact", "sampled")) == "exact":
        if answers is not None:
            raise RequestError("answers= is for samples; the exact cut has no limit")
        return None
    return _wanted(alpha, beta, answers, None, True)


def _own(heuristic: tuple[int, int, int, Any] | None) -> tuple[int, int, int, str] | None:
    if heuristic is None:
        return None
    copies, rows, width, loss = heuristic
    return _whole(copies, "copies"), _whole(rows, "rows"), _whole(width, "width"), decimal(loss, "loss")
