"""A session owns data, a privacy unit and a budget; its questions are lazy."""

from __future__ import annotations

import json
import os
import warnings
from collections import deque
from collections.abc import Mapping, Sequence
from decimal import ROUND_FLOOR
from typing import Any

from . import _books, _equipoise
from ._ask import Question, elsewhere_or_here, one_of
from ._batch import Questions, document
from ._data import FileTable, Table, table
from ._elsewhere import ElsewhereTable, is_elsewhere
from ._errors import RequestError
from ._methods import GroupStatistics, Statistics
from ._next import Place
from ._release import Release
from ._remote import RemoteData, RemoteQuestion
from ._statistics import Number
from ._wording import decimal, short, visible


class Query:
    """A question that was planned and not yet paid for.

    ``summarize()`` is free: cost, mechanism, and what can be told of the error. ``release()`` pays and answers.
    """

    def __init__(self, question: Question | RemoteQuestion) -> None:
        self._question = question

    def summarize(self) -> dict[str, Any]:
        """What it will cost and what can be told of the answer. Free, and without a look at the rows."""
        return self._question.summarize()

    def release(self, request_id: str | None = None, anyway: bool = False) -> Release:
        """Pay and answer. Under a request id, asking again gives the same answer for free.

        Where an earlier count shows that there are too few rows, that is an error before the charge; ``anyway=True`` asks all the same.
        """
        return self._question.release(request_id, anyway)

    def __repr__(self) -> str:
        summary = self.summarize()
        promise = summary["guarantee"]
        asked = f"{summary['statistic']} (epsilon={short(promise['epsilon'])}, {summary['mechanism']})"
        return visible(f"<query {asked}: {summary['expected']}>")


class Session(Statistics):
    """Data with a budget: questions are planned for free and paid for when released.

    ``data``
        A table or a column of any kind, the path of a file, the result of a query that speaks Arrow, or a table that is read where
        it lies: an Ibis table, a Spark DataFrame, a DuckDB relation, a Polars LazyFrame (:func:`equipoise.elsewhere`).
    ``budget``
        Epsilon, or a pair (epsilon, delta): what all answers together may cost. Without one, what is spent is counted.
    ``privacy_unit``, ``unit``
        The column that names the person.
    ``ledger``
        A file in which charges are written down before rows are read. A file of data uses the ledger beside it; data in
        memory is counted in memory unless a ledger and a ``name`` are given.

    ``apart``
        A limit beside or above a file covers it under whatever name; with ``apart=True`` the session is counted apart from it, and
        both ledgers write that down.
    ``anew``
        A data set keeps the unit and adjacency of its first use. With ``anew=True`` and a budget it counts for these from now on;
        what was spent for others is kept, told by ``earlier``, no longer counted, and not bounded by the new figures.
    ``every``, ``day``, ``adds_up``
        With ``every="month"`` (or day, week, quarter, year) the budget is one for each calendar window, beside any limit in total. With
        ``day``, a column of days, it is one for the rows of each window, for ever: questions say which they are about with ``window=``,
        and whoever has rows in n windows may lose n times the budget. Without it the same rows may lose the budget again with every
        window of the ledger's time, which has to be known: ``adds_up=True``. It takes a ledger.

    >>> import equipoise as eq
    >>> session = eq.Session({"age": list(range(18, 98)) * 50}, budget=1)
    >>> query = session.median("age", epsilon=0.4)
    >>> query.summarize()["charge"]["epsilon"]  # free
    '0.4'
    >>> release = query.release()
    >>> session.remaining_budget["epsilon"]
    '0.6'
    >>> try:
    ...     session.median("age", epsilon=0.7).release()
    ... except eq.BudgetError as error:
    ...     error.requested["epsilon"], error.remaining["epsilon"]
    ('0.7', '0.6')
    """

    def __init__(
        self,
        data: Any,
        *,
        budget: float | str | tuple[float | str, float | str] | None = None,
        privacy_unit: str | None = None,
        unit: str | None = None,
        adjacency: str = "add-remove",
        ledger: str | os.PathLike[str] | None = None,
        name: str | None = None,
        analyst: str | None = None,
        delimiter: str | None = None,
        header: bool = True,
        anew: bool = False,
        apart: bool = False,
        every: str | None = None,
        day: str | None = None,
        adds_up: bool = False,
    ) -> None:
        privacy_unit = one_of("unit", unit, "privacy_unit", privacy_unit)
        self._remote = data if isinstance(data, RemoteData) else None
        if self._remote is not None:
            given = [budget, privacy_unit, ledger, name, analyst, delimiter, anew or None, apart or None, every, day, adds_up or None]
            if any(one is not None for one in given) or adjacency != "add-remove" or not header:
                raise RequestError("budget, unit and how data is read are the server's to say; leave them out")
            self.name = self._remote.name
            return
        self._table: Table | FileTable | ElsewhereTable = (
            elsewhere_or_here(data) if is_elsewhere(data) else table(data, delimiter=delimiter, header=header)
        )
        #: What was released about these rows, the latest first; of a file the ledger knows, and rows elsewhere may change.
        self._told: deque[str] | None = deque(maxlen=200) if isinstance(self._table, Table) else None
        self._unit, self._adjacency, self._analyst = privacy_unit, adjacency, analyst
        file = self._table.path if isinstance(self._table, FileTable) else None
        self._charged: _books.Charged | None = None
        self._own: _equipoise.Books | None = None
        if ledger is None and file is None:
            if apart:
                raise RequestError("apart= is for files, which a limit elsewhere can cover; leave it out")
            self.name = name or "data"
            self._own = _equipoise.Books(None, analyst)
            self._process = os.getpid()
        else:
            self._charged = _books.charged(data if file is None else file, ledger, name, apart)
            self.name = self._charged.name
        if anew and budget is None:
            raise RequestError("anew= begins a budget for another unit or adjacency; give budget= too")
        if every is None and (day is not None or adds_up):
            raise RequestError("day= and adds_up= are for a budget for each calendar window; give every= too, such as every='month'")
        if every is not None and (budget is None or anew):
            raise RequestError("every= says how often the budget is there; give budget= too, and begin anew= without it first")
        if budget is not None:
            pair = tuple(budget) if isinstance(budget, (tuple, list)) else (budget, 0)
            if len(pair) != 2:
                raise RequestError("budget is not accepted; give epsilon, or a pair of epsilon and delta")
            epsilon, delta = pair
            amounts = (decimal(epsilon, "epsilon"), decimal(delta, "delta"))
            if every is None:
                same = self._books().set_limit(self.name, adjacency, *amounts, privacy_unit, anew, file)
            elif isinstance(self._table, ElsewhereTable) and day is not None:
                raise RequestError("day= is for tables that are read here; extract the table to a file first")
            else:
                columns, kinds = self._table.names, self._table.kinds()
                same = self._books().set_renewing(
                    self.name, adjacency, *amounts, every, columns, kinds, day, adds_up, privacy_unit, file
                )
            for other in same:
                warnings.warn(
                    f"{visible(other)} has the same content; what is spent there is spent on the same people", stacklevel=2
                )

    def _books(self) -> _equipoise.Books:
        if self._charged is not None:
            return self._charged.open(self._analyst)
        if os.getpid() != self._process:
            raise RequestError(
                "this session was opened before a fork, and its budget is counted in memory; open it in the child, or "
                "give it a ledger"
            )
        assert self._own is not None, "without a ledger its own"
        return self._own

    def _plan(self, statistic: str, said: dict[str, Any]) -> Query:
        keywords = {name: value for name, value in said.items() if name not in ("self", "column") and value is not None}
        if self._remote is not None:
            return Query(RemoteQuestion(statistic, self._remote, said["column"], **keywords))
        keywords.setdefault("adjacency", self._adjacency)
        if self._unit is not None and "unit" not in keywords:
            keywords.setdefault("privacy_unit", self._unit)
        here: dict[str, Any] = {"books": self._books(), "name": self.name, "told": self._told, "place": self._place()}
        return Query(Question(statistic, self._table, said["column"], **here, **keywords))

    def _place(self) -> Place:
        return Place(True, {"privacy_unit": self._unit, "adjacency": self._adjacency})

    def batch(
        self,
        questions: Questions,
        *,
        epsilon: Number | None = None,
        delta: Number | None = None,
        confidence: Number | None = None,
        where: str | None = None,
        window: str | None = None,
        max_rows_per_unit: Number | None = None,
        max_groups_per_unit: Number | None = None,
        types: Mapping[str, str] | None = None,
        leave_out: Sequence[int] | int = (),
    ) -> Query:
        """Several questions in one scan for one price; as :func:`equipoise.batch`."""
        keywords = {
            "epsilon": epsilon,
            "delta": delta,
            "confidence": confidence,
            "where": where,
            "window": window,
            "max_rows_per_unit": max_rows_per_unit,
            "max_groups_per_unit": max_groups_per_unit,
            "types": types,
        }
        words, _ = document(questions, keywords, leave_out)
        if self._remote is not None:
            return Query(RemoteQuestion("batch", self._remote, words=words))
        words.setdefault("adjacency", self._adjacency)
        if self._unit is not None:
            words.setdefault("unit", self._unit)
        here: dict[str, Any] = {"books": self._books(), "name": self.name, "told": self._told, "place": self._place()}
        return Query(Question("batch", self._table, words=words, **here))

    def group_by(self, *columns: str, keys: Sequence[str] | None = None) -> Groups:
        """Questions about each group of records that agree in these columns."""
        return Groups(self, columns, keys)

    def _balance(self) -> dict[str, Any]:
        if self._remote is not None:
            return self._remote.balance()
        balance: dict[str, Any] = json.loads(self._books().balance(self.name))
        return balance

    @property
    def spent(self) -> dict[str, str]:
        """What was spent: exact decimals."""
        return dict(self._balance()["spent"])

    @property
    def windows(self) -> dict[str, Any] | None:
        """The budget of each calendar window, and how those stand in which something was charged; ``None`` without one."""
        found: dict[str, Any] | None = json.loads(self._books().windows(self.name))
        return found

    def never_renew(self) -> None:
        """Lift the budget of each calendar window. What was spent in them stays spent, and limits in total stay."""
        self._books().never_renew(self.name)

    @property
    def remaining_budget(self) -> dict[str, str] | None:
        """What the budget leaves; ``None`` without one."""
        left: dict[str, str] | None = self._balance()["remaining"]
        return left

    @property
    def earlier(self) -> list[dict[str, Any]]:
        """What was spent for units and adjacencies that are no longer in force: kept, not counted, and not bounded by what is."""
        earlier: list[dict[str, Any]] = self._balance()["earlier"]
        return earlier

    def __repr__(self) -> str:
        left = self.remaining_budget
        budget = "no limit"
        if left is not None:
            budget = f"epsilon {short(left.get('epsilon') or left.get('rho') or '0', ROUND_FLOOR)} left"
        return visible(f"<session {self.name!r}: {budget}, epsilon {short(self.spent['epsilon'])} spent>")


class Groups(GroupStatistics):
    """Questions about each group; keys are found privately, which takes a delta, or stated."""

    def __init__(self, session: Session, columns: tuple[str, ...], keys: Sequence[str] | None) -> None:
        self._session, self._words = session, {"group_by": list(columns), "keys": keys}

    def _plan(self, statistic: str, said: dict[str, Any]) -> Query:
        return self._session._plan(statistic, dict(said, **self._words))
