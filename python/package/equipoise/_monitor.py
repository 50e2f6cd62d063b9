"""One question after another, each chosen with the earlier answers in mind, under one price for all of them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from . import _books, _equipoise
from ._data import _length, _prepared
from ._errors import DataError, RequestError
from ._wording import decimal


def _pay(what: str, adjacency: str, epsilon: Any, delta: Any, ledger: Any, name: str | None) -> None:
    """Charge a whole stream of answers at its start: the odometer of this process, or a ledger."""
    if ledger is not None and name is None:
        raise RequestError("a ledger needs a name for data in memory; give name=, which its budget belongs to")
    account = name if ledger is not None and name is not None else _books.odometer(adjacency)
    books = _books.books(ledger)
    books.pay(account, adjacency, decimal(epsilon, "epsilon"), decimal(delta, "delta"), what)
    if ledger is None:
        _books.counted(adjacency, None, _books.spent(adjacency=adjacency))


class AboveThreshold:
    """Which values of a stream lie above a threshold, until ``cutoff`` of them did; all others are free.

    Each value is what the data says to one question; one person moves it by at most ``sensitivity``. Where one person
    moves all values the same way (counts under add-remove), say ``monotone=True``. All answers together cost epsilon.

    >>> import equipoise as eq
    >>> stream = eq.AboveThreshold(epsilon=10, threshold=1000, monotone=True)
    >>> stream.answer([10, 20, 5000, 10])  # wrong with a chance below e^-1000
    [False, False, True, None]
    >>> stream.positives_left
    0
    """

    def __init__(
        self,
        *,
        epsilon: Any,
        threshold: Any,
        cutoff: int = 1,
        monotone: bool = False,
        sensitivity: Any = 1,
        resolution: Any = 1,
        adjacency: str = "add-remove",
        ledger: str | os.PathLike[str] | None = None,
        name: str | None = None,
    ) -> None:
        self._core = _equipoise.Threshold(
            decimal(epsilon, "epsilon"),
            decimal(threshold, "threshold"),
            decimal(sensitivity, "sensitivity"),
            decimal(resolution, "resolution"),
            _whole(cutoff, "cutoff"),
            monotone,
        )
        _pay("above-threshold", adjacency, epsilon, 0, ledger, name)
        #: By how much each positive answer so far exceeded the noisy threshold; free.
        self.gaps: list[float] = []

    def answer(self, values: Any) -> Any:
        """For each value: True above, False below, None after the cut-off. A single number gives a single answer."""
        single = isinstance(values, (int, float))
        answers, gaps = self._core.answer(_prepared([values] if single else values, "float"))
        self.gaps.extend(gaps)
        said = [None if answer < 0 else answer == 1 for answer in answers]
        return said[0] if single else said

    @property
    def positives_left(self) -> int:
        """How many positive answers are left."""
        return self._core.positives_left

    def accuracy(self, questions: int, confidence: float = 0.95) -> float:
        """Of so many questions none is answered wrongly whose value is farther from the threshold than this."""
        return self._core.accuracy(questions, decimal(confidence, "confidence"))


class ThresholdMonitor:
    """Do at least so many records satisfy a predicate? For ever, at one price: a record drops out once it has helped
    ``budget_per_unit`` times.

    >>> import equipoise as eq
    >>> ages = [20] * 3000 + [70] * 50
    >>> monitor = eq.ThresholdMonitor(ages, epsilon=1, delta=1e-6, budget_per_unit=10)
    >>> monitor.ask(lambda age: age < 30, 1500)  # wrong with a chance below e^-40
    True
    >>> monitor.ask(lambda age: age > 60, 1500)
    False
    """

    def __init__(
        self,
        data: Any,
        *,
        epsilon: Any,
        delta: Any,
        budget_per_unit: int,
        adjacency: str = "add-remove",
        ledger: str | os.PathLike[str] | None = None,
        name: str | None = None,
    ) -> None:
        self._data = data
        self._core = _equipoise.Watch(
            _length(data), decimal(epsilon, "epsilon"), decimal(delta, "delta"), _whole(budget_per_unit, "budget"), adjacency
        )
        _pay("threshold-monitor", adjacency, epsilon, delta, ledger, name)

    def ask(self, predicate: Callable[[Any], Any] | Sequence[bool], threshold: Any) -> bool:
        """Do at least about ``threshold`` records satisfy the predicate?

        The predicate looks at one record at a time; on an array, a column or a table it may do so for all at once and
        give one yes or no for each. It must not depend on other records.
        """
        yes: Any = predicate
        if callable(predicate):
            together = hasattr(self._data, "__array__") or hasattr(self._data, "columns")
            yes = predicate(self._data) if together else [bool(predicate(record)) for record in self._data]
        if hasattr(yes, "__array__"):
            import numpy as np

            array = np.asarray(yes)
            if array.dtype != np.bool_ or array.ndim != 1:
                raise DataError("the predicate does not give one yes or no for each record")
            yes = np.ascontiguousarray(array)
        elif not isinstance(yes, list):
            yes = list(yes) if isinstance(yes, Iterable) else yes
        return self._core.ask(yes, decimal(threshold, "threshold"))

    @property
    def scale(self) -> float:
        """The scale of the noise of an answer, in records."""
        return self._core.scale


class Holdout:
    """A holdout set that survives reuse: means come from the training rows, and from the holdout only where they differ.

    ``questions`` can be asked, of which ``corrections`` are answered from the holdout. With probability ``1 - 2 beta`` every
    answer is within ``accuracy`` of the mean of the population.

    >>> import equipoise as eq
    >>> rows = [0.25] * 60_000
    >>> holdout = eq.Holdout(rows, rows, questions=100, corrections=10, tolerance=0.05, epsilon=1)
    >>> holdout.ask(lambda row: row)  # both agree; the noise would have to exceed 0.04 at scale 1e-3
    0.25
    """

    def __init__(
        self,
        training: Any,
        holdout: Any,
        *,
        questions: int,
        corrections: int,
        tolerance: Any,
        epsilon: Any,
        threshold: Any = None,
        beta: Any = 0.05,
        ledger: str | os.PathLike[str] | None = None,
        name: str | None = None,
    ) -> None:
        self._training, self._holdout = training, holdout
        self._core = _equipoise.Holdout(
            _length(holdout),
            _whole(questions, "questions"),
            _whole(corrections, "corrections"),
            decimal(tolerance, "tolerance"),
            decimal(tolerance if threshold is None else threshold, "threshold"),
            decimal(beta, "beta"),
            decimal(epsilon, "epsilon"),
        )
        _pay("holdout", "replace", epsilon, 0, ledger, name)
        #: Was the last answer a correction from the holdout?
        self.corrected = False

    def ask(self, question: Callable[[Any], Any]) -> float | None:
        """The mean of a function from a row to [0, 1]; ``None`` once questions or corrections are used up."""
        answer = self._core.ask(_values(question, self._training), _values(question, self._holdout))
        if answer is None:
            return None
        self.corrected = answer[1]
        return answer[0]

    @property
    def accuracy(self) -> float:
        """How far any answer may be from the mean of the population."""
        return self._core.accuracy

    @property
    def questions_left(self) -> int:
        """How many questions can still be asked."""
        return self._core.questions_left

    @property
    def corrections_left(self) -> int:
        """How many answers can still come from the holdout."""
        return self._core.corrections_left


def _values(question: Callable[[Any], Any], rows: Any) -> Any:
    if hasattr(rows, "__array__") or hasattr(rows, "columns"):
        values = _prepared(question(rows), "float")
    else:
        values = _prepared([question(row) for row in rows], "float")
    if len(values) != _length(rows):
        raise DataError("the question does not give one number for each row")
    return values


def _whole(value: Any, name: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**63:
        raise RequestError(f"{name} is not accepted; give a whole number of at least 1")
    return value
