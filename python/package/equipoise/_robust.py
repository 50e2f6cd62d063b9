"""Answers about a stream that stay right while whoever asks reacts to them."""

from __future__ import annotations

from typing import Any

from . import _equipoise
from ._monitor import _whole
from ._wording import decimal


def _batch(items: Any) -> Any:
    """Items as something that the compiled part reads: an array of whole numbers, or a list."""
    if hasattr(items, "__array__"):
        import numpy as np

        array = np.asarray(items)
        if array.dtype.kind in "iu":
            return np.ascontiguousarray(array, dtype=np.uint64 if array.dtype.kind == "u" else np.int64)
        return array.tolist()
    if isinstance(items, (str, int)):
        return [items]
    return list(items)


class RobustDistinct:
    """How many distinct items came, within a share ``alpha``, all answers together except with probability ``beta``.

    One sketch under a secret key is enough for one stream of items that come (``method="keyed"``); ``method="copies"``
    keeps copies behind a private median, for ``answers`` answers.

    >>> import equipoise as eq
    >>> sketch = eq.RobustDistinct()
    >>> sketch.update(["ann", "bob", "ann"])
    >>> sketch.query()
    2
    """

    def __init__(
        self, *, alpha: Any = 0.2, beta: Any = 0.01, answers: int = 1000, method: str = "keyed", keep: bool = False
    ) -> None:
        from ._errors import RequestError

        if method not in ("keyed", "copies"):
            raise RequestError("no method is called so; give 'keyed' or 'copies'")
        self._core = _equipoise.Distinct(
            decimal(alpha, "alpha"), decimal(beta, "beta"), _whole(answers, "answers"), method == "copies", keep
        )

    def update(self, batch: Any) -> None:
        """Items come: whole numbers or texts."""
        self._core.update(_batch(batch))

    def query(self) -> int:
        """About how many distinct items came."""
        return self._core.query()

    @property
    def queries_left(self) -> int | None:
        """How many answers are left; ``None`` where there is no limit."""
        return self._core.queries_left

    @property
    def guarantee(self) -> str:
        """What stands behind the answers."""
        return self._core.guarantee

    @property
    def space(self) -> int:
        """Bytes of memory, about."""
        return self._core.space


class RobustF2:
    """The sum of squared counts of a stream in which items come and go.

    ``heuristic`` takes sizes of one's own instead of the proved ones: copies, rows, buckets in a row, loss of an answer.

    >>> import equipoise as eq
    >>> sketch = eq.RobustF2(answers=10, heuristic=(32, 5, 256, 2))
    >>> sketch.update(["ann", "bob"], counts=[3, 4])
    >>> sketch.queries_left
    10
    """

    def __init__(
        self,
        *,
        alpha: Any = 0.5,
        beta: Any = 0.01,
        answers: int = 1000,
        keep: bool = False,
        heuristic: tuple[int, int, int, float] | None = None,
    ) -> None:
        self._core = _equipoise.Squares(
            decimal(alpha, "alpha"), decimal(beta, "beta"), _whole(answers, "answers"), keep, _own(heuristic)
        )

    def update(self, batch: Any, counts: Any = None) -> None:
        """Items come once each or as often as counted; a negative count takes them away."""
        self._core.update(_batch(batch), None if counts is None else [int(count) for count in counts])

    def query(self) -> int:
        """About the sum of squared counts."""
        return self._core.query()

    @property
    def queries_left(self) -> int:
        """How many answers are left."""
        return self._core.facts[0]

    @property
    def space(self) -> int:
        """Bytes of memory, about."""
        return self._core.facts[1]

    @property
    def guarantee(self) -> str:
        """What stands behind the answers: proved, or heuristic."""
        return self._core.facts[2]


class RobustPoint:
    """The counts of single items of a stream in which items come and go; keywords as of :class:`RobustF2`.

    >>> import equipoise as eq
    >>> sketch = eq.RobustPoint(answers=10, heuristic=(64, 5, 256, 4))
    >>> sketch.update(["ann", "bob"], counts=[300, 4])
    >>> sketch.queries_left
    10
    """

    def __init__(
        self,
        *,
        alpha: Any = 0.5,
        beta: Any = 0.01,
        answers: int = 1000,
        keep: bool = False,
        heuristic: tuple[int, int, int, float] | None = None,
    ) -> None:
        self._core = _equipoise.PointCounts(
            decimal(alpha, "alpha"), decimal(beta, "beta"), _whole(answers, "answers"), keep, _own(heuristic)
        )

    def update(self, batch: Any, counts: Any = None) -> None:
        """Items come once each or as often as counted; a negative count takes them away."""
        self._core.update(_batch(batch), None if counts is None else [int(count) for count in counts])

    def query(self, item: Any) -> int:
        """About how often an item came."""
        return self._core.query([item])

    @property
    def queries_left(self) -> int:
        """How many answers are left."""
        return self._core.facts[0]

    @property
    def space(self) -> int:
        """Bytes of memory, about."""
        return self._core.facts[1]

    @property
    def guarantee(self) -> str:
        """What stands behind the answers: proved, or heuristic."""
        return self._core.facts[2]


class RobustMinCut:
    """The exact minimum cut of a graph on the vertices 0, 1 and so on, whose edges come and go.

    >>> import equipoise as eq
    >>> cut = eq.RobustMinCut(4)
    >>> cut.update([(0, 1), (1, 2), (2, 3), (3, 0)])
    >>> cut.query()
    2
    >>> cut.update([(1, 2, -1)])  # a negative weight takes an edge away
    >>> cut.query()
    1
    """

    #: It is deterministic, so answers are without limit.
    queries_left = None

    def __init__(self, vertices: int) -> None:
        self._core = _equipoise.Cut(_whole(vertices, "vertices"))

    def update(self, batch: Any) -> None:
        """Edges come: rows of two ends and perhaps a weight, which is negative where they go."""
        if hasattr(batch, "__array__"):
            import numpy as np

            self._core.update(np.ascontiguousarray(batch, dtype=np.int64))
        else:
            self._core.update([[int(number) for number in edge] for edge in batch])

    def query(self) -> int:
        """The weight of a minimum cut."""
        return self._core.query()

    def side(self) -> list[int]:
        """The vertices on the smaller side of a minimum cut."""
        return self._core.side()


def _own(heuristic: tuple[int, int, int, float] | None) -> tuple[int, int, int, str] | None:
    if heuristic is None:
        return None
    copies, rows, width, loss = heuristic
    return copies, rows, width, decimal(loss, "loss")
