"""From keywords to a request, and from a request to a release: what every statistic shares."""

from __future__ import annotations

import json
import os
from collections import deque
from decimal import Decimal, InvalidOperation
from typing import Any

from . import _books, _equipoise
from ._data import FileTable, Table, is_path, table
from ._elsewhere import ElsewhereTable, elsewhere, is_elsewhere
from ._errors import RequestError
from ._next import Place
from ._quiet import recorded
from ._release import Release, warn, warned
from ._wording import decimal, decimals, in_python

#: Longer releases are about many groups, which tell nothing of all rows.
MOST_KEPT = 100_000


class Question:
    """A question about data, planned: free until it is released."""

    def __init__(
        self,
        statistic: str,
        data: Any,
        column: str | None = None,
        *,
        books: _equipoise.Books | None = None,
        name: str | None = None,
        ledger: str | os.PathLike[str] | None = None,
        analyst: str | None = None,
        apart: bool = False,
        request_id: str | None = None,
        told: deque[str] | None = None,
        place: Place | None = None,
        words: dict[str, Any] | None = None,
        **keywords: Any,
    ) -> None:
        self._place = place or (Place.of_data(ledger, name, analyst, apart) if books is None else Place())
        # Of several questions the words are whole already.
        several = words is not None
        words = request(statistic, column, keywords) if words is None else words
        self._types: dict[str, str] | None = words.get("types")
        self._fractions = tuple(part.strip() for part in str(words.get("fraction") or "").split(",") if part.strip())
        self.table: Table | FileTable | ElsewhereTable = elsewhere_or_here(data)
        if not several and "column" not in words and statistic != "count" and len(self.table.names) == 1:
            words["column"] = self.table.names[0]
        self._named = not (books is None and ledger is None and not is_path(data))
        if not self._named:
            if apart:
                raise RequestError("apart= is for files, which a limit elsewhere can cover; leave it out")
            name, books = _books.odometer(words.get("adjacency"), words.get("unit")), _books.books(None, analyst)
        elif books is None:
            charged = _books.charged(data, ledger, name, apart)
            name, books = charged.name, charged.open(analyst)
        assert name is not None and books is not None, "a session names its data"
        self.books, self._name, self._words = books, name, json.dumps(words)
        self._told = told
        self._before: str | None = None
        if request_id is not None and self._named:
            # Before anything is planned: what an earlier version answered is given again under stricter rules too.
            self._before = books.answered(name, self._words, request_id)
        if self._before is None:
            engine = self.table.engine.called if isinstance(self.table, ElsewhereTable) else None
            try:
                self.planned = books.plan(name, self.table.names, self._words, self.table.kinds(), engine)
            except RequestError as error:
                # The same error: another one would drag this one along.
                self._place.call_in(error)
                raise

    def _too_few(self) -> tuple[str, str | None, str | None, str | None] | None:
        """What earlier counts tell of this question, where it, or some of it, would be refused. Which rows a count was about is known
        of a file, and of the table of a session; any other table in memory may be another than the last."""
        if isinstance(self.table, FileTable):
            few = self.books.too_few(self.planned, self._name, self.table.path, [])
        elif self._told:
            few = self.books.too_few(self.planned, self._name, None, list(self._told))
        else:
            return None
        if few is None:
            return None
        line, argument, hint, call = few
        return line, argument, hint, None if call is None else self._place.call(call)

    def summarize(self) -> dict[str, Any]:
        """What it will cost and what can be told of the answer. Free."""
        summary: dict[str, Any] = json.loads(self.planned.summary)
        summary["expected"] = in_python(summary["expected"])
        summary["warnings"] = [in_python(line) for line in summary["warnings"]]
        few = self._too_few()
        if few is not None:
            summary["would_be_refused"] = {"why": in_python(few[0]), "call": few[3]}
        return summary

    def release(self, request_id: str | None = None, anyway: bool = False) -> Release:
        """Pay, read the rows, answer. What earlier counts show to be refused is an error for free, unless it is asked anyway."""
        if self._before is not None:
            return Release._of_json(self._before, self._fractions, self._place)
        if not self._named:
            _books.check_request_id(request_id)
        few = None if anyway else self._too_few()
        if few is not None:
            answered = None if request_id is None else self.books.answered(self._name, self._words, request_id)
            if answered is not None:
                return Release._of_json(answered, self._fractions, self._place)
            raise RequestError(*few)
        # Before the charge: who makes errors of warnings does not pay for one.
        before = warn(self.planned.warnings)
        text = self._answered(request_id)
        if self._told is not None and len(text) < MOST_KEPT:
            self._told.appendleft(text)
        return warned(Release._of_json(text, self._fractions, self._place), before)

    def _answered(self, request_id: str | None) -> str:
        if isinstance(self.table, ElsewhereTable):
            return self.table.release(self.books, self.planned, request_id)
        source, rows = self.table.source(self.planned.wanted, self._types), self.table.rows
        return recorded(lambda came: self.books.release(self.planned, source, rows, request_id, came))

    def simulate(self, trials: int) -> tuple[list[Any], list[dict[str, Any] | None], list[dict[str, Any]]]:
        """Outcomes of many trials on public data, their error bars, and what each number came to; nothing is charged."""
        source = self.table.source(self.planned.wanted, self._types)
        values, errors, text = _equipoise.simulate(self.planned, source, self.table.rows, trials)
        series: list[dict[str, Any]] = json.loads(text)
        return values, errors, series


def elsewhere_or_here(data: Any) -> Table | FileTable | ElsewhereTable:
    """Any kind of data of a question: read where it lies if that is an engine, else here."""
    if is_elsewhere(data):
        return data if isinstance(data, ElsewhereTable) else elsewhere(data)
    return table(data)


def request(statistic: str, column: str | None, keywords: dict[str, Any]) -> dict[str, Any]:
    """The request in words: only what was said."""
    words: dict[str, Any] = {"statistic": statistic}
    column, keywords = _in_order(column, keywords)
    if column is not None:
        words["column"] = column
    alpha = keywords.pop("alpha", None)
    if alpha is not None:
        if keywords.get("confidence") is not None:
            raise RequestError("give confidence= or alpha=, not both: alpha is 1 - confidence")
        keywords["confidence"] = _complement(decimal(alpha, "alpha"))
    from ._statistics import WORDS

    for keyword, value in keywords.items():
        if keyword not in WORDS:
            raise RequestError(f"{statistic} takes no keyword '{keyword}'; see help(equipoise.{statistic})")
        if value is not None:
            word, kind = WORDS[keyword]
            words[word] = _written(kind, value, keyword)
    return words


#: The names of the command line, and the older ones of Python.
ALIASES = {"unit": "privacy_unit", "type": "types"}


def _in_order(column: Any, keywords: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """The column and the keywords under one name each. ``quantile(data, "x", [0.1, 0.9])`` and ``top(data, "x", 5)`` are as good as the
    other way round."""
    keywords = dict(keywords)
    for name, old in ALIASES.items():
        said = keywords.pop(name, None)
        keywords[old] = one_of(name, said, old, keywords.get(old))
    number = "k" if "k" in keywords else "q"
    said = keywords.get(number)
    if isinstance(said, str) and column is not None and not _is_fraction(said) and _is_fraction(column):
        keywords[number], column = column, said
    elif column is not None and not isinstance(column, str):
        raise RequestError("column is the name of a column, a text")
    return column, keywords


def one_of(name: str, said: Any, old: str, said_before: Any) -> Any:
    """What was said under a name or under its older one; never under both."""
    if said is not None and said_before is not None:
        raise RequestError(f"give {name}= or {old}=, not both: they are the same")
    return said_before if said is None else said


def _is_fraction(value: Any) -> bool:
    """Is this a number, or several, rather than the name of a column?"""
    if not isinstance(value, str):
        return True
    try:
        return all(Decimal(part).is_finite() for part in value.split(","))
    except InvalidOperation:
        return "/" in value and value.replace("/", "").replace(",", "").isdigit()


def _written(kind: str, value: Any, keyword: str) -> Any:
    """A keyword as it stands in a request."""
    if kind == "number":
        return decimal(value, keyword)
    if kind == "numbers":
        return decimals(value, keyword)
    if kind == "texts":
        return [value] if isinstance(value, str) else [str(one) for one in value]
    if kind == "flag":
        return bool(value)
    if kind == "by column":
        if not hasattr(value, "items"):
            raise RequestError(f"{keyword} has a type for each column that it names; give {keyword}={{'hired': 'date'}}", keyword)
        return {str(name): str(word) for name, word in value.items()}
    return str(value)


def _complement(text: str) -> str:
    try:
        return str(1 - Decimal(text))
    except InvalidOperation:
        raise RequestError("alpha is not a number; give one such as 0.05") from None


def ask(statistic: str, said: dict[str, Any]) -> Release:
    """Plan, pay, answer."""
    said = dict(said)
    data, column = said.pop("data"), said.pop("column", None)
    request_id, anyway = said.pop("request_id", None), said.pop("anyway", False)
    from ._remote import RemoteData, RemoteQuestion

    if isinstance(data, RemoteData):
        return RemoteQuestion(statistic, data, column, **said).release(request_id, anyway)
    return Question(statistic, data, column, request_id=request_id, **said).release(request_id, anyway)
