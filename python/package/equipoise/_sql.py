"""Private SQL: a query in, rows with error bars out, one charge."""

from __future__ import annotations

import html
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from . import _books, _equipoise, _frames
from ._ask import request
from ._data import FileTable, is_path, table
from ._errors import RequestError
from ._joined import JoinedStatement, program
from ._quiet import recorded
from ._release import Release, _below, warn, warned
from ._remote import RemoteData, RemoteStatement
from ._tables import Public, public
from ._wording import in_python, short, visible

__all__ = ["Public", "Rows", "Statement", "public", "sql"]


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
        """The error bar of each value, in the shape of the rows; ``None`` for keys, for what was refused, and for what was computed of
        answers without one."""
        errors: list[list[dict[str, Any] | None]] = self._parts["errors"]
        return errors

    @property
    def advice(self) -> list[str]:
        """What to do about values that are missing, from public facts only."""
        return [in_python(line) for line in self._parts["advice"]]

    def to_pandas(self) -> Any:
        """The rows as a pandas DataFrame."""
        return _frames.library("pandas", "to_pandas()").DataFrame(list(self), columns=self.columns)

    def to_polars(self) -> Any:
        """The rows as a Polars DataFrame."""
        return _frames.library("polars", "to_polars()").DataFrame(self._columns(), strict=False)

    def to_arrow(self) -> Any:
        """The rows as a table of Arrow's."""
        return _frames.library("pyarrow", "to_arrow()").table(self._columns())

    def _columns(self) -> dict[str, list[Any]]:
        return {name: [row[place] for row in self] for place, name in enumerate(self.columns)}

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

    def plot(self, ax: Any = None) -> Any:
        """The answers with their error bars, as :meth:`Release.plot` draws them."""
        return self.release.plot(ax)

    def svg(self) -> Any:
        """The picture that the command line draws, as SVG, which notebooks show."""
        return self.release.svg()

    def explain(self) -> str:
        """A paragraph about the release that the rows come from, for a paper or a privacy board."""
        return self.release.explain()

    def __repr__(self) -> str:
        many = f"{len(self)} row{'' if len(self) == 1 else 's'}"
        lines = [[value + (f" ({bar})" if bar else "") for value, bar in row] for row in self._shown(_FEW)]
        table = [[name for name in self.columns], *lines]
        widths = [min(max(map(len, column)), _WIDEST) for column in zip(*table)]
        below = ["  " + "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths)).rstrip() for row in table]
        below += [f"  … {len(self) - _FEW} more; rows.to_pandas() has all"] if len(self) > _FEW else []
        below += [f"  {line}" for line in self._below_rows()]
        return _below(f"<query, {many} ({self.release._price()})", below)

    def _shown(self, most: int) -> list[list[tuple[str, str]]]:
        """The first rows in words: each value in as many digits as its bar justifies, and the bar."""
        return [[self._words(value, error) for value, error in zip(row, errors)] for row, errors in zip(self[:most], self.errors)]

    def _repr_html_(self) -> str:
        left = "style='text-align:left'"
        head = "".join(f"<th {left}>{html.escape(name)}</th>" for name in self.columns)
        body = "".join(
            "<tr>" + "".join(f"<td {left}>{self._cell(value, error)}</td>" for value, error in zip(row, errors)) + "</tr>"
            for row, errors in zip(self[:_SCREENFUL], self.errors)
        )
        promise, receipt = self.release.guarantee, self.release.receipt
        delta = "" if promise["delta"] == "0" else f", delta {short(promise['delta'])}"
        below = [f"… {len(self) - _SCREENFUL} more; rows.to_pandas() has all"] if len(self) > _SCREENFUL else []
        below += self._below_rows()
        unit = f"for one {promise['unit']} ({promise['adjacency']})"
        below.append(f"privacy: epsilon {short(promise['epsilon'])}{delta} {unit}; receipt {str(receipt.get('id', ''))[:12]}")
        lines = "".join(f"<div {left}>{html.escape(line)}</div>" for line in below)
        return visible(f"<div><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{lines}</div>")

    def _about(self) -> list[str]:
        """How the bars hold, and what those of each column are about: a range that values were limited to is part of the answer."""
        holds: list[str] = []
        about: list[str] = []
        for name, errors in zip(self.columns, zip(*self.errors)):
            words = _equipoise.table_words(json.dumps([error for error in errors if error is not None]))
            if words is not None:
                holds.append(f"{name}: {words[0]}")
                about += [f"{name}: {line}" for line in words[1]]
        # Said once where all columns say the same.
        same = {line.split(": ", 1)[1] for line in holds}
        return ([f"error: {line}" for line in same] if len(same) == 1 else holds) + about

    def _below_rows(self) -> list[str]:
        """What stands below the rows: the bars, and after a refusal what to do."""
        step = self.release.next_step
        found = [answer["keys_from"] for answer in self.release.answers or [] if answer.get("keys_from") is not None]
        rare = [f"about: {_equipoise.rare_keys_words(max(found))}"] if found and not self.release.refused else []
        return [*self._about(), *rare, *(f"advice: {line}" for line in self.advice), *([f"next: {step['call']}"] if step and self.advice else [])]

    @staticmethod
    def _words(value: Any, error: dict[str, Any] | None) -> tuple[str, str]:
        """A value in as many digits as its bar justifies, and the bar in short."""
        if value is None or error is None:
            # No bar says how many digits mean something.
            return "null" if value is None else f"{value:.7g}" if isinstance(value, float) else str(value), ""
        return _equipoise.short_words(json.dumps(value), json.dumps(error))

    def _cell(self, value: Any, error: dict[str, Any] | None) -> str:
        shown, bar = self._words(value, error)
        return html.escape(shown) + (f" <span style='opacity:.65'>({html.escape(bar)})</span>" if bar else "")


#: So many rows are shown in a line of code, and in a notebook; a cell beyond this width moves what is behind it.
_FEW, _SCREENFUL, _WIDEST = 10, 100, 40


def sql(
    query: str,
    /,
    *,
    epsilon: float | str | None = None,
    delta: float | str | None = None,
    privacy_unit: str | None = None,
    unit: str | None = None,
    window: str | None = None,
    max_rows_per_unit: int | None = None,
    max_groups_per_unit: int | None = None,
    adjacency: str | None = None,
    confidence: float | str | None = None,
    types: Mapping[str, str] | None = None,
    type: Mapping[str, str] | None = None,
    ledger: str | os.PathLike[str] | None = None,
    name: str | Mapping[str, str] | None = None,
    analyst: str | None = None,
    apart: bool = False,
    request_id: str | None = None,
    anyway: bool = False,
    **tables: Any,
) -> Rows:
    """Answer a SQL query, privately: group keys and aggregates, one charge, one release.

    The tables of FROM are among the keywords, of any kind of data, behind a server too, or the paths of files between quotes. What the clause
    ``WITH DIFFERENTIAL_PRIVACY OPTIONS(..)`` does not say may be given by keyword, under the names of :func:`count`. Whatever is wrong with the query is a
    :class:`RequestError` with its line and column, before anything is charged.

    Joins, subqueries, WITH and set operations need the program ``equipoise-sql`` (``pip install 'equipoise[sql]'``, or its path in
    ``EQUIPOISE_SQL_PROGRAM``). Each private table then names its unit, as in ``OPTIONS(privacy_unit_column=[people.person, visits.who])``, and pays
    the whole price; others are :func:`public`. With ``ledger=`` and several private frames ``name=`` has a name for each.

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
    words = request(
        "sql",
        None,
        {
            "epsilon": epsilon,
            "delta": delta,
            "privacy_unit": privacy_unit,
            "unit": unit,
            "window": window,
            "max_rows_per_unit": max_rows_per_unit,
            "max_groups_per_unit": max_groups_per_unit,
            "adjacency": adjacency,
            "confidence": confidence,
            "types": types,
            "type": type,
        },
    )
    charging = {"ledger": ledger, "name": name, "analyst": analyst, "apart": apart}
    if _equipoise.is_about_several(query, json.dumps(words)):
        joins = program()
        if joins is not None:
            _are_tables(tables)
            return Rows(*JoinedStatement(query, tables, words, charging, request_id, joins).run(anyway))
    return Statement(query, tables, words, charging, request_id).run(anyway)


def _are_tables(tables: Mapping[str, Any]) -> None:
    """Refuse a misspelt keyword: it would otherwise be a table that nobody asks about, and what it says would not hold."""
    for keyword, value in tables.items():
        if value is None or isinstance(value, (bool, int, float)):
            raise RequestError(f"sql takes no keyword '{_equipoise.shown(keyword)}', and it is no table; see help(equipoise.sql)")


class Statement:
    """A query with its table, where it is charged, and its plan: free until it is run."""

    def __init__(
        self,
        query: str,
        tables: Mapping[str, Any],
        given: dict[str, Any],
        charging: dict[str, Any],
        request_id: str | None = None,
    ) -> None:
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
        if name is not None and not isinstance(name, str):
            raise RequestError("a query about one table has one name; give name= as a text")
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
        self._name = name
        self._before: str | None = None
        if request_id is not None:
            # Before anything is planned: what an earlier version answered is given again under stricter rules too.
            self._before = self._query.answered(self._ledger, name, request_id)
        if self._before is None:
            self.planned = self._query.plan(self._ledger, name, self._table.names, self._table.kinds())

    def _data(self, tables: Mapping[str, Any]) -> Any:
        """The data of the table that the query is about: a keyword, or a file."""
        _are_tables(tables)
        name = self._query.table
        if isinstance(tables.get(name), Public):
            problem = f"the table '{_equipoise.shown(name)}' is public, so that nothing has to be charged for it; name one with people in it"
            raise RequestError(self._query.wrong_table(problem))
        if name in tables:
            return tables[name]
        if os.path.exists(name) or name.startswith("sqlite:") or any(sign in name for sign in "*?["):
            return name
        known = ", ".join(map(_equipoise.shown, list(tables)[:8])) or "none"
        problem = f"no table is called '{_equipoise.shown(name)}', and no file; tables are keywords of sql(), and here there are: {known}"
        raise RequestError(self._query.wrong_table(problem))

    def run(self, anyway: bool = False) -> Rows:
        """Pay, read the rows, answer. What earlier counts show to be refused is an error for free, unless it is asked anyway."""
        if self._remote is not None:
            return Rows(*self._remote.run(self._request_id, anyway))
        text = self._before
        if text is None:
            if isinstance(self._table, FileTable) and not anyway:
                few = self._query.too_few(self._ledger, self.planned, self._name, self._table.path)
                if few is not None:
                    raise RequestError(few)
            # Before the charge: who makes errors of warnings does not pay for one.
            before = warn(self.planned.warnings)
            source = self._table.source(self.planned.wanted, self._types)
            release = lambda came: self._ledger.release(  # noqa: E731
                self.planned, source, self._table.rows, self._request_id, came
            )
            text = recorded(release)
            warned(Release._of_json(text), before)
        return Rows(json.loads(self._query.rows(text)), Release._of_json(text))
