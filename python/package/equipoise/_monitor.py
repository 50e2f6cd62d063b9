"""One question after another, each chosen with the earlier answers in mind, under one price for all of them."""

from __future__ import annotations

import fnmatch
import json
import os
import threading
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import Any

from . import _books, _equipoise
from ._columns import prepared
from ._data import FileTable, length_of, table
from ._errors import DataError, RequestError
from ._release import warn
from ._remote import RemoteData, RemoteWatch
from ._wording import decimal


def _account(
    adjacency: str, unit: str | None, ledger: str | os.PathLike[str] | None, name: str | None
) -> tuple[_equipoise.Books, str]:
    """Which ledger a stream is charged to as a whole, and under which name; else the odometer of this process."""
    if ledger is None:
        return _books.books(None), _books.odometer(adjacency, unit)
    if name is None:
        raise RequestError("a ledger needs a name for data in memory; give name=, which its budget belongs to")
    return _books.books(ledger), name


def _warn_of(epsilon: str, delta: str = "0", unit: str | None = None) -> None:
    """Before the charge, so that who makes errors of warnings does not pay for one. How many rows there are is private."""
    warn(_equipoise.cautions(epsilon, delta, "row" if unit is None else unit))


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
        if monotone and adjacency != "add-remove":
            raise RequestError("under replace one person can move values both ways; leave out monotone=, or adjacency=")
        books, account = _account(adjacency, None, ledger, name)
        _warn_of(decimal(epsilon, "epsilon"))
        self._core = _equipoise.Threshold(
            books,
            account,
            decimal(epsilon, "epsilon"),
            decimal(threshold, "threshold"),
            decimal(sensitivity, "sensitivity"),
            decimal(resolution, "resolution"),
            _whole(cutoff, "cutoff"),
            monotone,
            adjacency,
        )
        #: By how much each positive answer so far exceeded the noisy threshold; free.
        self.gaps: list[float] = []

    def answer(self, values: Any) -> Any:
        """For each value: True above, False below, None after the cut-off. A single number gives a single answer."""
        single = isinstance(values, (int, float))
        answers, gaps = self._core.answer(prepared([values] if single else values, "float"))
        self.gaps.extend(gaps)
        return answers[0] if single else answers

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

    Data in memory is watched for as long as this object lives. A file is watched as ``equipoise monitor`` does it: questions and
    answers are on the disk, in ``state``, before an answer is seen, and whoever starts again goes on without another charge.
    Data behind a server (:func:`connect`) is watched there.

    With ``privacy_unit``, a column, a person counts once however many rows they have, and has one budget. ``sums=True`` allows
    :meth:`ask_sum` and takes a little more noise. The data must not change while it is watched.

    >>> import equipoise as eq
    >>> people = {"age": [20] * 3000 + [70] * 50, "town": ["Ayr"] * 3050}
    >>> monitor = eq.ThresholdMonitor(people, epsilon=1, delta=1e-6, budget_per_unit=10)
    >>> monitor.ask("age < 30 and town = 'Ayr'", 1500)  # wrong with a chance below e^-40
    True
    >>> import numpy as np
    >>> monitor.ask(np.array(people["age"]) > 60, 1500)
    False
    """

    _file: _equipoise.FileWatch | RemoteWatch | None

    def __init__(
        self,
        data: Any,
        *,
        epsilon: Any,
        delta: Any,
        budget_per_unit: int,
        privacy_unit: str | None = None,
        sums: bool = False,
        adjacency: str = "add-remove",
        ledger: str | os.PathLike[str] | None = None,
        name: str | None = None,
        state: str | os.PathLike[str] | None = None,
        apart: bool = False,
    ) -> None:
        words: dict[str, Any] = {
            "epsilon": decimal(epsilon, "epsilon"),
            "delta": decimal(delta, "delta"),
            "budget_per_unit": decimal(budget_per_unit, "budget_per_unit"),
            "adjacency": adjacency,
            "sums": sums,
        }
        if privacy_unit is not None:
            words["unit"] = privacy_unit
        if isinstance(data, RemoteData):
            self._watch_remote(data, words, (ledger, name, state), apart)
            return
        self._data, self._table = data, table(data)
        self._lock = threading.Lock()
        self._file = None
        if isinstance(self._table, FileTable):
            self._watch_file(self._table, words, _books.charged(self._table.path, ledger, name, apart), state)
            return
        if apart:
            raise RequestError("apart= is for files, which a limit elsewhere can cover; leave it out")
        if state is not None:
            raise RequestError("a state file belongs to a file of rows; data in memory is watched while this object lives")
        books, account = _account(adjacency, privacy_unit, ledger, name)
        ids = None if privacy_unit is None else self._table.source([(self._table.place(privacy_unit), "text")])
        _warn_of(words["epsilon"], words["delta"], privacy_unit)
        self._core = _equipoise.Watch(
            books,
            account,
            self._table.names,
            self._table.rows,
            json.dumps(words),
            ids,
        )

    def _watch_remote(self, data: RemoteData, words: dict[str, Any], given: tuple[Any, ...], apart: bool) -> None:
        if words.pop("adjacency") != "add-remove" or apart or any(one is not None for one in given):
            raise RequestError("the server knows adjacency, ledger, name and state of its data; leave them out")
        self._data, self._file = data, RemoteWatch(data, words, None)

    def _watch_file(self, rows: FileTable, words: dict[str, Any], charged: _books.Charged, state: Any) -> None:
        words.update(rows.reading)
        if rows.path.lower().startswith(("sqlite:", "postgres://", "postgresql://")):
            raise RequestError("a monitor watches files, whose rows stand still; write the table to a file first")
        pattern = any(sign in rows.path for sign in "*?[") and not os.path.exists(rows.path)
        if pattern and (state is None or fnmatch.fnmatch(os.path.abspath(state), os.path.abspath(rows.path))):
            raise RequestError("a state file cannot lie beside or within a pattern; name another with state=")
        state = rows.path + ".monitor" if state is None else os.fspath(state)
        _warn_of(words["epsilon"], words["delta"], words.get("unit"))
        self._file = _equipoise.FileWatch(charged.open(), charged.name, rows._file, json.dumps(words), state)

    def ask(self, predicate: str | Callable[[Any], Any] | Sequence[bool], threshold: Any) -> bool:
        """Do at least about ``threshold`` records satisfy the predicate?

        A text, such as ``"age >= 18 and town = 'Ayr'"``, names columns (data without names is called ``value``) and is
        evaluated for all records at once. A function, or the yes and no of each record, is for data in memory: on an array, a
        column or a table the function is called once, on a list record by record. What it says of a record must
        depend on that record alone.
        """
        if isinstance(predicate, str):
            return self._ask_line({"where": predicate}, threshold)
        yes = self._each(predicate)
        if hasattr(yes, "__array__"):
            import numpy as np

            array = np.asarray(yes)
            if array.dtype != np.bool_ or array.ndim != 1:
                raise DataError("the predicate does not give one yes or no for each record")
            yes = np.ascontiguousarray(array)
        else:
            yes = [bool(one) for one in yes] if isinstance(yes, Iterable) else []
        return self._core.ask_rows(yes, decimal(threshold, "threshold"))

    def ask_sum(
        self,
        values: str | Callable[[Any], Any] | Sequence[float],
        threshold: Any,
        *,
        most: Any = 1,
        where: str | None = None,
    ) -> bool:
        """Is a sum at least about ``threshold``, in which each record (or person) counts from 0 to ``most``?

        ``values`` names a column, which ``where`` may narrow, or gives a number for each record as in :meth:`ask`.

        >>> import equipoise as eq
        >>> visits = {"visits": [3] * 5000}
        >>> monitor = eq.ThresholdMonitor(visits, epsilon=1, delta=1e-6, budget_per_unit=10, sums=True)
        >>> monitor.ask_sum("visits", 9000, most=10)  # 15,000; a record counts three tenths of a whole one
        True
        """
        if isinstance(values, str):
            words = {"sum": values, "most": decimal(most, "most")}
            return self._ask_line(words if where is None else dict(words, where=where), threshold)
        if where is not None:
            raise RequestError("where= narrows a column by its name; give numbers that are 0 for the others")
        try:
            whole, level = Fraction(decimal(most, "most")), Fraction(decimal(threshold, "threshold"))
        except (ValueError, ZeroDivisionError):
            raise RequestError("most and threshold are not both numbers; give some such as 10 and 1000") from None
        if whole <= 0:
            raise RequestError("most is not accepted; give a number above 0")
        import numpy as np

        parts = np.ascontiguousarray(prepared(self._each(values), "float"), dtype=np.float64) / float(whole)
        return self._core.ask_parts(parts, decimal(level / whole))

    def _each(self, question: Any) -> Any:
        """What the question says of each record."""
        if self._file is not None:
            raise RequestError("a file is asked with a text, such as \"age >= 18\"; read it into memory to use functions")
        if not callable(question):
            return question
        together = hasattr(self._data, "__array__") or hasattr(self._data, "columns") or isinstance(self._data, dict)
        return question(self._data) if together else [question(record) for record in self._data]

    def _ask_line(self, words: dict[str, Any], threshold: Any) -> bool:
        line = json.dumps(dict(words, threshold=decimal(threshold, "threshold")))
        if self._file is not None:
            answer = json.loads(self._file.ask(line))
            if "error" in answer:
                raise RequestError(answer["error"])
            return bool(answer["answer"] == "above")
        # A child of a fork is refused here, before it waits for a lock that a thread of its parent had.
        self._core.missing(line)
        with self._lock:
            return self._core.ask(line, self._table.source(self._core.missing(line)))

    @property
    def scale(self) -> float:
        """The scale of the noise of an answer, in records or people."""
        return self._core.scale if self._file is None else self._file.scale

    @property
    def resumed(self) -> bool:
        """Was this monitor of a file begun by an earlier program?"""
        return self._file is not None and self._file.resumed

    @property
    def earlier(self) -> list[dict[str, Any]]:
        """The questions and answers of earlier programs about this file."""
        return [] if self._file is None else [json.loads(line) for line in self._file.earlier()]


class Holdout:
    """A holdout set that survives reuse: means come from the training rows, and from the holdout only where they differ.

    ``questions`` can be asked, of which ``corrections`` are answered from the holdout. With probability ``1 - 2 beta`` every
    answer is within ``accuracy`` of the mean of the population. Rows are a list, an array or a table, or a pair ``(X, y)`` as
    scikit-learn has them, which :meth:`score` needs. Epsilon is about the holdout rows: answers from training rows are exact.

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
        books, account = _account("replace", None, ledger, name)
        _warn_of(decimal(epsilon, "epsilon"))
        self._core = _equipoise.Holdout(
            books,
            account,
            _rows(holdout),
            _whole(questions, "questions"),
            _whole(corrections, "corrections"),
            decimal(tolerance, "tolerance"),
            decimal(tolerance if threshold is None else threshold, "threshold"),
            decimal(beta, "beta"),
            decimal(epsilon, "epsilon"),
        )
        #: Was the last answer a correction from the holdout?
        self.corrected = False

    def ask(self, question: Callable[..., Any]) -> float | None:
        """The mean of a function from a row to [0, 1]; ``None`` once questions or corrections are used up.

        On arrays and tables the function is called once and gives a number for each row; of a pair it gets both.
        """
        answer = self._core.ask(_values(question, self._training), _values(question, self._holdout))
        if answer is None:
            return None
        self.corrected = answer[1]
        return answer[0]

    def score(self, estimator: Any, *, scoring: Callable[[Any, Any], Any] | None = None) -> float | None:
        """How well a fitted estimator predicts, as ``estimator.score`` would say it, without wearing the holdout out.

        That is the share of rows that it predicts rightly, or the mean of ``scoring(y, prediction)``, which gives a number
        from 0 to 1 for each row. ``None`` once questions or corrections are used up.
        """
        if scoring is None and _is_regressor(estimator):
            raise RequestError("a regressor is never quite right; give scoring=, a number from 0 to 1 for each row")

        def question(features: Any, truth: Any) -> Any:
            import numpy as np

            found = estimator.predict(features)
            if scoring is not None:
                return np.asarray(scoring(truth, found), dtype=np.float64)
            return (np.asarray(truth) == np.asarray(found)).astype(np.float64)

        if not (_is_pair(self._training) and _is_pair(self._holdout)):
            raise RequestError("score needs rows and labels; begin with pairs (X, y) for training and holdout")
        return self.ask(question)

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


def _is_pair(rows: Any) -> bool:
    """Rows and labels, as scikit-learn has them?"""
    return isinstance(rows, tuple) and len(rows) == 2 and all(hasattr(part, "__len__") for part in rows)


def _is_regressor(estimator: Any) -> bool:
    try:
        from sklearn.base import is_regressor
    except ImportError:
        return False
    # What is no estimator of scikit-learn's may still predict.
    return hasattr(estimator, "__sklearn_tags__") and bool(is_regressor(estimator))


def _rows(rows: Any) -> int:
    if not _is_pair(rows):
        return length_of(rows)
    features, labels = rows
    if len(features) != len(labels):
        raise DataError("X and y differ in length; give a label for each row")
    return len(labels)


def _values(question: Callable[..., Any], rows: Any) -> Any:
    if _is_pair(rows):
        values = prepared(question(*rows), "float")
    elif hasattr(rows, "__array__") or hasattr(rows, "columns"):
        values = prepared(question(rows), "float")
    else:
        values = prepared([question(row) for row in rows], "float")
    if len(values) != _rows(rows):
        raise DataError("the question does not give one number for each row")
    return values


def _whole(value: Any, name: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**63:
        raise RequestError(f"{name} is not accepted; give a whole number of at least 1")
    return value
