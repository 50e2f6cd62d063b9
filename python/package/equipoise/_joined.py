"""Private SQL about several tables: frames and files, joined by the program equipoise-sql, charged and answered in this process."""

from __future__ import annotations

import json
import os
import sys
import sysconfig
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from . import _books, _equipoise
from ._data import FileTable, Table, is_path, table
from ._errors import RequestError
from ._quiet import recorded
from ._release import Release, warn, warned
from ._remote import RemoteData
from ._tables import Public


def program() -> str | None:
    """The program that joins, where it is installed: beside this Python, or where programs are looked for."""
    found = _equipoise.sql_program([sysconfig.get_path("scripts"), str(Path(sys.executable).parent)])
    return None if found is None else str(found)


class JoinedStatement:
    """A query about several tables, where it is charged, and its plan: free until it is run.

    All rows of all private tables that have one unit are protected together. Each private table pays the whole price: frames without
    ``ledger=`` in the odometer of the process, once for each column that names units; with ``ledger=`` each under its own name."""

    def __init__(
        self,
        query: str,
        tables: Mapping[str, Any],
        given: dict[str, Any],
        charging: dict[str, Any],
        request_id: str | None,
        program: str,
    ) -> None:
        self._types: dict[str, str] = dict(given.get("types") or {})
        public = [name for name, data in tables.items() if isinstance(data, Public)]
        # Of a public table its rows count.
        self._data = {name: data.data if isinstance(data, Public) else data for name, data in tables.items()}
        for name, data in self._data.items():
            if isinstance(data, RemoteData):
                shown = _equipoise.shown(name)
                raise RequestError(
                    f"'{shown}' is data of a server, which answers queries about one data set; ask about it alone"
                )
        self._tables: dict[str, Table | FileTable] = {name: table(data) for name, data in self._data.items()}
        self._joined = _equipoise.JoinedQuery(
            query, json.dumps(given), program, public, {name: _known(found) for name, found in self._tables.items()}
        )
        found = list(self._data.items())
        same = [(one, other) for place, (one, data) in enumerate(found) for other, its in found[:place] if data is its]
        problem = self._joined.two_owners(same, {name: str(data) for name, data in found if is_path(data)})
        if problem is not None:
            raise RequestError(problem)
        self._request_id = request_id
        self._charge_to(charging)
        self._before: str | None = None
        if request_id is not None:
            # Before anything is planned: what an earlier version answered is given again under stricter rules too.
            self._before = self._joined.answered(self._ledger, self._paying[0][0], request_id)
        if self._before is None:
            first, *others = self._paying
            self._others = [(name, unit) for name, unit in others if name != first[0]]
            self.planned = self._joined.plan(self._ledger, first[0], self._others)
            self._sources = [self._source(name, wanted) for name, _, wanted in self._joined.reads]

    def _charge_to(self, charging: dict[str, Any]) -> None:
        """One ledger, and in it a name for each private table."""
        ledger, name, analyst, apart = charging["ledger"], charging["name"], charging["analyst"], charging["apart"]
        private = self._joined.private
        files = {table: self._data.get(table, table) for table, _ in private if is_path(self._data.get(table, table))}
        frames = [table for table, _ in private if table not in files]
        names = _names(name, frames, ledger)
        if not files and ledger is None:
            if apart:
                raise RequestError("apart= is for files, which a limit elsewhere can cover; leave it out")
            _books.check_request_id(self._request_id)
            self._ledger = _books.books(None, analyst)
            paying = [(_books.odometer(self._joined.adjacency, unit), unit) for _, unit in private]
        else:
            if frames and ledger is None:
                raise RequestError(
                    f"'{_equipoise.shown(frames[0])}' is data in memory and '{_equipoise.shown(next(iter(files)))}' is a file with a ledger beside it; "
                    "the private tables of a query share one ledger: give ledger= and name="
                )
            charged = {table: _books.charged(data, ledger, None, apart) for table, data in files.items()}
            places = {os.path.realpath(one.ledger) if one.files is not None else str(one.ledger) for one in charged.values()}
            if len(places) > 1:
                raise RequestError("the private tables of a query share one ledger, and these files have several; name one with ledger=")
            for one in charged.values():
                self._ledger = one.open(analyst)
            if not charged:
                assert ledger is not None, "data in memory has no ledger of its own"
                self._ledger = _books.books(ledger, analyst)
            paying = [(charged[table].name if table in charged else names[table], unit) for table, unit in private]
        for public in self._joined.public:
            data = self._data.get(public, public)
            known = _equipoise.known_as(data, ledger) if is_path(data) else None
            if known is not None:
                raise RequestError(
                    f"'{_equipoise.shown(public)}' is said to be public, and a ledger knows it as '{_equipoise.shown(known)}': "
                    "its rows are somebody's; name its unit in privacy_unit_column"
                )
        self._paying = list(dict.fromkeys(paying))
        units: dict[str, str] = {}
        for paid, unit in self._paying:
            if units.setdefault(paid, unit) != unit:
                raise RequestError(f"'{_equipoise.shown(paid)}' has two privacy units in this query, {units[paid]} and {unit}; name one unit for both")

    def _source(self, name: str, wanted: list[tuple[int, str]]) -> tuple[Any, int]:
        """What a table is read from, refused where a column cannot be read as it is wanted, and how many rows it has."""
        found = self._tables.get(name)
        if found is None:
            found = FileTable(name)
        types = {column: kind for column, kind in self._types.items() if column in found.names}
        return found.source(wanted, types), found.rows

    def run(self, anyway: bool = False) -> tuple[dict[str, Any], Release]:
        """Pay, read the rows, answer: the rows of the query, and the release that they come from."""
        text = self._before
        if text is None:
            # Before the charge: who makes errors of warnings does not pay for one.
            before = warn(self.planned.warnings)
            release = lambda came: self._joined.release(  # noqa: E731
                self._ledger, self.planned, self._others, self._sources, self._request_id, came
            )
            text = recorded(release)
            warned(Release._of_json(text), before)
        return json.loads(self._joined.rows(text)), Release._of_json(text)


def _known(found: Table | FileTable) -> tuple[str | None, list[tuple[str, str | None]]]:
    """What is known of a table before its rows are read: where it is, or its columns."""
    if isinstance(found, FileTable):
        return found.path, []
    return None, list(zip(found.names, found.kinds()))


def _names(name: Any, frames: list[str], ledger: Any) -> dict[str, str]:
    """The name under which each private frame is known to the ledger."""
    if name is None or isinstance(name, str):
        if ledger is None or not frames:
            if name is not None:
                raise RequestError("name= is for data in memory with ledger=; a file goes by its path, and the process by itself")
            return {}
        if name is not None and len(frames) == 1:
            return {frames[0]: name}
        example = ", ".join(f"{_equipoise.shown(frame)!r}: '..'" for frame in frames[:3])
        raise RequestError(f"in a ledger each private table has a budget of its own; give name={{{example}}}")
    missing = [frame for frame in frames if frame not in name]
    if missing:
        raise RequestError(f"name= has no name for '{_equipoise.shown(missing[0])}', whose budget is its own; add one")
    return {frame: str(name[frame]) for frame in frames}
