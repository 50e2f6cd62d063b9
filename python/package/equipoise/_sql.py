"""Private SQL about one table: a query in, rows with error bars out, one charge."""

from __future__ import annotations

import html
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from . import _books, _equipoise
from ._ask import request
from ._data import is_path, table
from ._errors import RequestError
from ._quiet import recorded
from ._release import Release, warn, warned
from ._remote import RemoteData, RemoteStatement
from ._wording import in_python, visible


class Rows(Sequence[tuple[Any, ...]]):
    """The rows of a query: a sequence of tuples, with the names of the columns, the error bars and the release that they come from.

    >>> import equipoise as eq
    >>> people = {"town": ["Ayr"] * 600 + ["Bern"] * 400, "pay": [1000.0] * 600 + [3000.0] * 400}
    >>> rows = eq.sql("SELECT town, COUNT(*) AS n FROM people GROUP BY town ORDER BY n DESC", people=people, epsilon=1, delta=1e-6)
    >>> rows.columns
    ['town', 'n']
    >>> [town for town, n in rows]
    ['Ayr', 'Bern']
    >>> rows.release.guarantee["epsilon"]
    '1'
    """

    __slots__ = ("_parts", "release")

    def __init__(self, parts: dict[str, Any], release: Release) -> None:
        self._parts, self.release = parts, release

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return [str(column["name"]) for column in self._parts["columns"]]

    @property
    def errors(self) -> list[list[dict[str, Any] | None]]:
        """The error bar of each value, in the shape of the rows; ``None`` for keys, for what was computed of several values, and for
        what was refused."""
        errors: list[list[dict[str, Any] | None]] = self._parts["errors"]
        return errors

    @property
    def advice(self) -> list[str]:
        """What to do about values that are missing, from public facts only."""
        return [in_python(line) for line in self._parts["advice"]]

    def to_pandas(self) -> Any:
        """The rows as a pandas DataFrame."""
        import pandas

        return pandas.DataFrame(list(self), columns=self.columns)

    def to_dict(self) -> dict[str, Any]:
        """Everything, in the shape of the command line's ``--json``."""
        copied: dict[str, Any] = json.loads(json.dumps(self._parts))
        return copied | {"release": self.release.to_dict()}

    def __len__(self) -> int:
        return len(self._parts["rows"])

    def __getitem__(self, place: Any) -> Any:
        rows = self._parts["rows"][place]
        return [tuple(row) for row in rows] if isinstance(place, slice) else tuple(rows)

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        return (tuple(row) for row in self._parts["rows"])

    def __repr__(self) -> str:
        shown = ", ".join(str(row) for row in self[:3]) + (", .." if len(self) > 3 else "")
        return visible(f"<{len(self)} rows of {', '.join(self.columns)}: {shown}>")

    def _repr_html_(self) -> str:
        cell = "<td style='text-align:left'>{}</td>".format
        head = "".join(f"<th style='text-align:left'>{html.escape(name)}</th>" for name in self.columns)
        body = "".join(
            "<tr>" + "".join(cell(self._cell(value, error)) for value, error in zip(row, errors, strict=True)) + "</tr>"
            for row, errors in zip(self[:1000], self.errors[:1000], strict=True)
        )
        return visible(f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>")

    @staticmethod
    def _cell(value: Any, error: dict[str, Any] | None) -> str:
        if value is None:
            return "<i>null</i>"
        if error is None:
            return html.escape(str(value))
        shown, bar = _equipoise.answer_words(json.dumps(value), json.dumps(error))
        return f"<span title='{html.escape(bar, quote=True)}'>{html.escape(shown)}</span>"


def sql(
    query: str,
    /,
    *,
    epsilon: float | str | None = None,
    delta: float | str | None = None,
    privacy_unit: str | None = None,
    max_rows_per_unit: int | None = None,
    max_groups_per_unit: int | None = None,
    adjacency: str | None = None,
    confidence: float | str | None = None,
    types: Mapping[str, str] | None = None,
    ledger: str | os.PathLike[str] | None = None,
    name: str | None = None,
    analyst: str | None = None,
    apart: bool = False,
    request_id: str | None = None,
    **tables: Any,
) -> Rows:
    """Answer a SQL query about one table, privately: group keys and aggregates, one charge, one release.

    The table of FROM is one of the keywords, of any kind of data, behind a server too, or the path of a file between quotes. What the clause
    ``WITH DIFFERENTIAL_PRIVACY OPTIONS(..)`` does not say may be given by keyword. Whatever is wrong with the query is a
    :class:`RequestError` with its line and column, before anything is charged.

    >>> import equipoise as eq
    >>> people = {"pay": [float(pay) for pay in range(1000, 3000)]}
    >>> rows = eq.sql("SELECT COUNT(*) AS n, MEDIAN(pay) AS m, DP_INTERVAL_LOW(m) AS low FROM people", people=people, epsilon=5)
    >>> [(n, m, low)] = rows
    >>> 1900 < n < 2100 and 1800 < m < 2200
    True
    >>> try:
    ...     eq.sql("SELECT pay FROM people", people=people, epsilon=1)
    ... except eq.RequestError as error:
    ...     print(str(error)[:58])
    line 1, column 8: 'pay' stands outside of an aggregate and
    """
    return Statement(
        query,
        tables,
        {
            "epsilon": epsilon,
            "delta": delta,
            "privacy_unit": privacy_unit,
            "max_rows_per_unit": max_rows_per_unit,
            "max_groups_per_unit": max_groups_per_unit,
            "adjacency": adjacency,
            "confidence": confidence,
            "types": types,
        },
        {"ledger": ledger, "name": name, "analyst": analyst, "apart": apart},
        request_id,
    ).run()


class Statement:
    """A query with its table, where it is charged, and its plan: free until it is run."""

    def __init__(
        self,
        query: str,
        tables: Mapping[str, Any],
        keywords: dict[str, Any],
        charging: dict[str, Any],
        request_id: str | None = None,
    ) -> None:
        given = request("sql", None, keywords)
        self._types: dict[str, str] | None = given.get("types")
        self._remote: RemoteStatement | None
        self._query = _equipoise.SqlQuery(query, json.dumps(given))
        data = self._data(tables)
        self._request_id = request_id
        self._remote = None
        if isinstance(data, RemoteData):
            self._remote = RemoteStatement(data, query, given, charging)
            return
        self._table = table(data)
        ledger, name, analyst = charging["ledger"], charging["name"], charging["analyst"]
        named = ledger is not None or is_path(data)
        if not named:
            if charging["apart"]:
                raise RequestError("apart= is for files, which a limit elsewhere can cover; leave it out")
            _books.check_request_id(request_id)
            name = _books.odometer(self._query.adjacency, self._query.unit)
            self._ledger = _books.books(None, analyst)
        else:
            charged = _books.charged(data, ledger, name, charging["apart"])
            name, self._ledger = charged.name, charged.open(analyst)
        self._before: str | None = None
        if request_id is not None:
            # Before anything is planned: what an earlier version answered is given again under stricter rules too.
            self._before = self._query.answered(self._ledger, name, request_id)
        if self._before is None:
            self.planned = self._query.plan(self._ledger, name, self._table.names, self._table.kinds())

    def _data(self, tables: Mapping[str, Any]) -> Any:
        """The data of the table that the query is about: a keyword, or a file."""
        name = self._query.table
        if name in tables:
            return tables[name]
        if os.path.exists(name) or name.startswith("sqlite:") or any(sign in name for sign in "*?["):
            return name
        known = ", ".join(map(_equipoise.shown, list(tables)[:8])) or "none"
        problem = f"no table is called '{_equipoise.shown(name)}', and no file; tables are keywords of sql(), and here there are: {known}"
        raise RequestError(self._query.wrong_table(problem))

    def run(self) -> Rows:
        """Pay, read the rows, answer."""
        if self._remote is not None:
            return Rows(*self._remote.run(self._request_id))
        text = self._before
        if text is None:
            # Before the charge: who makes errors of warnings does not pay for one.
            before = warn(self.planned.warnings)
            source = self._table.source(self.planned.wanted, self._types)
            release = lambda came: self._ledger.release(  # noqa: E731
                self.planned, source, self._table.rows, self._request_id, came
            )
            text = recorded(release)
            warned(Release._of_json(text), before)
        return Rows(json.loads(self._query.rows(text)), Release._of_json(text))
