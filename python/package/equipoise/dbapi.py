"""A DB-API 2.0 module over private SQL: whatever reads a cursor, such as ``pandas.read_sql`` or JupySQL's ``%sql``, reads private answers.

Tables are given to :func:`connect` by name; every ``execute`` of a query is a charge.

>>> import equipoise.dbapi
>>> people = {"town": ["Ayr"] * 600 + ["Bern"] * 400}
>>> connection = equipoise.dbapi.connect(people=people, epsilon=1, delta=1e-6)
>>> cursor = connection.cursor()
>>> cursor.execute("SELECT town, COUNT(*) AS n FROM people GROUP BY town ORDER BY n DESC").description[1][0]
'n'
>>> [town for town, n in cursor.fetchall()]
['Ayr', 'Bern']
"""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Sequence
from typing import Any

from . import _errors
from ._sql import Rows, sql

apilevel = "2.0"
#: Threads may share the module, and connections too: a connection holds nothing but words.
threadsafety = 2
#: Queries take no parameters; a price that depends on one would be another query.
paramstyle = "qmark"

Error = _errors.EquipoiseError
Warning = _errors.PrivacyWarning
InterfaceError = _errors.RequestError
DatabaseError = _errors.EquipoiseError
DataError = _errors.DataError
OperationalError = _errors.LostError
IntegrityError = _errors.LedgerFileError
InternalError = _errors.EquipoiseError
ProgrammingError = _errors.RequestError
NotSupportedError = _errors.RequestError


# What PEP 249 asks of every module. Queries take no parameters, so that nothing here needs them.
Date, Time, Timestamp, Binary = datetime.date, datetime.time, datetime.datetime, bytes
DateFromTicks = datetime.date.fromtimestamp
TimestampFromTicks = datetime.datetime.fromtimestamp


def TimeFromTicks(ticks: float) -> datetime.time:
    """The time of day of a number of seconds."""
    return datetime.datetime.fromtimestamp(ticks).time()


STRING, NUMBER, DATETIME, BINARY, ROWID = "STRING", "NUMBER", "DATETIME", "BINARY", "ROWID"


def connect(**keywords: Any) -> Connection:
    """A connection to tables: the keywords are those of :func:`equipoise.sql`, prices and tables alike."""
    return Connection(keywords)


class Connection:
    """Tables, what answers may cost, and where that is charged."""

    def __init__(self, keywords: dict[str, Any]) -> None:
        self._keywords: dict[str, Any] | None = keywords
        self._charged = False

    def cursor(self) -> Cursor:
        """A new cursor."""
        return Cursor(self)

    def commit(self) -> None:
        """Nothing: a charge is durable before rows are read."""
        self._charged = False

    def rollback(self) -> None:
        """Nothing after a query that was not accepted, which cost nothing; what was charged stays charged."""
        if self._charged:
            raise NotSupportedError("a charge is not taken back; leave rollback out")

    def close(self) -> None:
        """No more queries."""
        self._keywords = None

    def _ask(self, query: str) -> Rows:
        if self._keywords is None:
            raise InterfaceError("this connection is closed; open another")
        rows = sql(query, **self._keywords)
        self._charged = True
        return rows

    def __enter__(self) -> Connection:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Cursor:
    """The rows of one query after another."""

    #: How many rows ``fetchmany`` gives.
    arraysize = 1

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        #: The rows of the last query, with their error bars and the release that they come from.
        self.rows: Rows | None = None
        self._next = 0

    @property
    def description(self) -> list[tuple[str, None, None, None, None, None, None]] | None:
        """Seven items for each column, of which the name is known."""
        if self.rows is None:
            return None
        return [(name, None, None, None, None, None, None) for name in self.rows.columns]

    @property
    def rowcount(self) -> int:
        """How many rows the last query has; -1 before the first."""
        return -1 if self.rows is None else len(self.rows)

    def execute(self, query: str, parameters: Sequence[Any] | None = None) -> Cursor:
        """Pay for a query and answer it."""
        if parameters:
            raise NotSupportedError("queries take no parameters; write constants into the query")
        self.rows, self._next = self.connection._ask(query), 0
        return self

    def executemany(self, query: str, parameters: Sequence[Any]) -> None:
        """Not for queries that are charged."""
        raise NotSupportedError("each query is charged once; call execute for each")

    def fetchone(self) -> tuple[Any, ...] | None:
        """The next row."""
        rows = self.fetchmany(1)
        return rows[0] if rows else None

    def fetchmany(self, size: int | None = None) -> list[tuple[Any, ...]]:
        """The next rows."""
        if self.rows is None:
            raise InterfaceError("no query was executed; call execute first")
        size = self.arraysize if size is None else size
        found: list[tuple[Any, ...]] = self.rows[self._next : self._next + size]
        self._next += len(found)
        return found

    def fetchall(self) -> list[tuple[Any, ...]]:
        """All rows that are left."""
        return self.fetchmany(0 if self.rows is None else len(self.rows))

    def setinputsizes(self, sizes: Any) -> None:
        """Nothing."""

    def setoutputsize(self, size: int, column: int | None = None) -> None:
        """Nothing."""

    def close(self) -> None:
        """Forget the rows."""
        self.rows = None

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        while (row := self.fetchone()) is not None:
            yield row
