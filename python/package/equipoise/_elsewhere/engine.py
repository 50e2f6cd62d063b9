"""Tables that lie in an engine: which ones there are, and what is asked of each in its own way.

Whatever an engine raises stays here. Its schema is public; everything else is asked after the charge.
"""

from __future__ import annotations

import contextlib
import copy
import inspect
import itertools
import os
import threading
import time
from collections.abc import Callable
from typing import Any

from .._errors import DataError
from .cells import ibis

#: Longer than this no query of a pass takes, unless somebody says so.
DEADLINE = 3600.0
_numbers = itertools.count()

#: How many bytes a text has, by engine.
_BYTES = {
    "bigquery": "byte_length",
    "clickhouse": "length",
    "databricks": "octet_length",
    "duckdb": "strlen",
    "postgres": "octet_length",
    "pyspark": "octet_length",
    "snowflake": "octet_length",
}
#: Where a text ends: `$` of Java's is also before a last line break.
_ENDS = {"pyspark": r"\z", "databricks": r"\z", "bigquery": r"\z", "snowflake": "$", "postgres": "$", "duckdb": "$"}


_locks: dict[int, threading.Lock] = {}


def _lock_of(backend: Any) -> threading.Lock:
    return _locks.setdefault(id(backend), threading.Lock())


class TooLate(Exception):
    """A query did not end in time, or somebody asked to stop."""


class Engine:
    """A table of Ibis's, by whatever engine runs it."""

    def __init__(self, table: Any, deadline: float = DEADLINE) -> None:
        self.table, self.deadline = table, deadline
        self._kept: list[Any] = []
        #: Tables of ours that were joined, by the names that the engine has them under.
        self._joined: list[str] = []
        self._backend = self._of(table)
        self.name: str = self._backend.name
        #: What Ctrl-C raised; looked at while a query runs.
        self.came: list[BaseException] = []
        self._broken = False

    @staticmethod
    def _of(table: Any) -> Any:
        return table.get_backend()

    def fresh(self) -> Engine:
        """The same table for one question: what is kept and who interrupts are its own."""
        other = copy.copy(self)
        other._kept, other._joined, other.came, other._broken = [], [], [], False
        return other

    @property
    def connection(self) -> Any:
        """What computes: one that was examined is not examined again."""
        return self._backend

    @property
    def columns(self) -> list[str]:
        """The names of the columns, in order."""
        return list(self.table.columns)

    @property
    def called(self) -> str:
        """What people call it."""
        return {"pyspark": "Spark", "duckdb": "DuckDB", "polars": "Polars", "postgres": "Postgres"}.get(self.name, self.name)

    # What engines do in ways of their own.

    def shifted(self, value: Any, bits: int) -> Any:
        """A whole number without its last bits, rounded down."""
        if bits == 0:
            return value
        if self.name == "polars":
            return _halves(value, bits)
        return value >> bits

    def as_it_is(self, column: Any) -> Any:
        """A column of floats of which the engine presumes nothing. DuckDB believes the least and largest value that a Parquet file states of a
        column, which leave out what is not a number, and then takes no row for one: what becomes of a row would depend on others."""
        return ibis().array([column])[0] if self.name == "duckdb" else column

    def plain(self, text: Any) -> Any:
        """A text of which the engine compares bytes, whatever the collation of its column. Where a collation takes different texts for one, a group is called
        what one of its rows is called, and which one that is one person may decide; two people with such names would be one."""
        if self.name == "duckdb":
            return _builtin("decode", "string", _builtin("encode", "binary", text))
        if self.name == "postgres":
            utf8 = ibis().literal("UTF8")
            return _builtin("convert_from", "string", _builtin("convert_to", "binary", text, utf8), utf8)
        if self.name == "snowflake":
            return _builtin("collate", "string", text, ibis().literal(""))
        return text.cast("binary").cast("string") if self.name in ("pyspark", "databricks", "bigquery") else text

    def byte_length(self, text: Any) -> Any:
        return _builtin(_BYTES[self.name], "int64", text)

    @property
    def end_of_text(self) -> str:
        return _ENDS.get(self.name, "$")

    def sha256(self, text: Any) -> Any:
        """As hexadecimal digits."""
        if self.name == "postgres":
            digest = _builtin("sha256", "binary", _builtin("convert_to", "binary", text, ibis().literal("UTF8")))
            return _builtin("encode", "string", digest, ibis().literal("hex"))
        return text.hexdigest("sha256")

    def moment(self, column: Any) -> Any:
        """Microseconds since 1970."""
        if self.name == "duckdb":
            return _builtin("epoch_us", "int64", column)
        if self.name in ("pyspark", "databricks"):
            return _builtin("unix_micros", "int64", column)
        if self.name == "postgres":
            return (_builtin_extract(column) * ibis().literal(1_000_000, type="int64")).cast("int64")
        return column.epoch_seconds().cast("int64") * ibis().literal(1_000_000, type="int64") + column.microsecond().cast("int64")

    def refused_moments(self, dtype: Any) -> str | None:
        """Why moments of this type cannot be read, as the rest of a line."""
        return None

    def check_drawing(self) -> None:
        """Refuse to draw people's rows where an engine cannot."""
        if self.name not in _BYTES:
            raise DataError(
                f"rows of people are not drawn in {self.called}, which has no windows or hashes here; write the columns to a file and "
                "ask about that, or use another engine"
            )

    # What is asked of all of them.

    def run(self, expression: Any) -> Any:
        """The result of an expression, as a table of Arrow's; in time, or not at all."""
        return self._timed(lambda: self._result(expression))

    def _result(self, expression: Any) -> Any:
        # By this engine: Ibis has an expression of tables in memory alone computed by an engine of its own choice.
        return self._backend.to_pyarrow(expression)

    def small(self, columns: dict[str, list[Any]], schema: dict[str, str]) -> Any:
        """A table of public values, where the engine can join it."""
        import pyarrow

        kinds = {"string": pyarrow.string(), "int64": pyarrow.int64(), "float64": pyarrow.float64()}
        made = pyarrow.table({name: pyarrow.array(columns[name], kinds[kind]) for name, kind in schema.items()})
        table = ibis().memtable(made)
        self._joined.append(table.op().name)
        return table

    def keep(self, expression: Any) -> Any:
        """The rows of an expression, kept in the engine under a name that nobody else has until :meth:`close`; the expression itself where it
        cannot keep them."""
        try:
            kept = self._timed(expression.cache)
        except TooLate:
            raise
        except Exception:  # noqa: BLE001
            return expression
        self._kept.append(kept)
        return kept

    def close(self) -> None:
        """Let go of what was kept."""
        for kept in self._kept:
            with contextlib.suppress(Exception):
                kept.release()
        self._kept.clear()
        for name in self._joined:
            with contextlib.suppress(Exception):
                self._forget(name)
        self._joined.clear()
        self._broken = False

    def _forget(self, name: str) -> None:
        """Drop a table that was joined. Ibis leaves it until the session ends, and its rows follow from counts."""
        if self.name == "duckdb":
            self._backend.con.unregister(name)
        elif self.name != "polars":
            self._backend.drop_table(name, force=True)

    def cancel(self) -> None:
        """Ask the engine to end what is running. It may not know how."""
        with contextlib.suppress(Exception):
            if self.name == "duckdb":
                self._backend.con.interrupt()
            elif self.name == "postgres":
                self._backend.con.cancel()

    def _timed(self, work: Callable[[], Any]) -> Any:
        """Work on a thread of its own, which nobody waits for beyond the deadline or after Ctrl-C."""
        if self._broken or self.came:
            raise TooLate
        found: list[Any] = []
        failed: list[bool] = []

        def run() -> None:
            try:
                # Connections of some engines are for one thread at a time.
                with _lock_of(self._backend):
                    found.append(work())
            except BaseException:  # noqa: BLE001 what an engine says may quote a cell
                failed.append(True)

        worker = threading.Thread(target=run, daemon=True, name="equipoise-pass")
        worker.start()
        end = time.monotonic() + self.deadline
        while worker.is_alive():
            worker.join(0.02)
            if worker.is_alive() and (self.came or time.monotonic() > end):
                # The same query would be as late again.
                self._broken = True
                self.cancel()
                raise TooLate
        if failed or not found:
            raise RuntimeError("a query failed")
        return found[0]


class DuckRelation(Engine):
    """A relation of DuckDB's, which knows its connection and does not tell it: queries go through the relation."""

    def __init__(self, relation: Any, deadline: float = DEADLINE) -> None:
        self._relation = relation
        self._view = f"equipoise_{os.getpid()}_{next(_numbers)}"
        schema = ibis().Schema.from_pyarrow(relation.limit(0).to_arrow_table().schema)
        super().__init__(ibis().table(schema, name=self._view), deadline)
        self._names: list[str] = []

    @staticmethod
    def _of(table: Any) -> Any:
        return ibis().duckdb

    def fresh(self) -> Engine:
        return DuckRelation(self._relation, self.deadline)

    def _sql(self, expression: Any) -> str:
        return str(ibis().to_sql(expression, dialect="duckdb"))

    def _result(self, expression: Any) -> Any:
        return self._relation.query(self._view, self._sql(expression)).to_arrow_table()

    def _made(self, how: str, schema: Any) -> Any:
        name = f"{self._view}_{next(_numbers)}"
        self._relation.query(self._view, f'create temp table "{name}" as {how}')
        self._names.append(name)
        return ibis().table(schema, name=name)

    def small(self, columns: dict[str, list[Any]], schema: dict[str, str]) -> Any:
        kinds = {"string": "varchar", "int64": "bigint", "float64": "double"}
        names = list(schema)
        rows = ", ".join(
            "(" + ", ".join(f"{_quoted(columns[name][row])}::{kinds[schema[name]]}" for name in names) + ")"
            for row in range(len(columns[names[0]]))
        )
        named = ", ".join(f'"{name}"' for name in names)
        return self._made(f"select * from (values {rows}) t({named})", schema)

    def keep(self, expression: Any) -> Any:
        return self._timed(lambda: self._made(self._sql(expression), expression.schema()))

    def close(self) -> None:
        for name in self._names:
            with contextlib.suppress(Exception):
                self._relation.query(self._view, f'drop table if exists "{name}"')
        self._names.clear()
        self._broken = False

    def cancel(self) -> None:
        """A relation cannot be interrupted."""


def _halves(value: Any, bits: int) -> Any:
    """A shift without shifts, which are of 32 bits in some engine, and wrong beyond: doubles hold each half of a number exactly."""
    literal = ibis().literal

    def without(part: int) -> Any:
        kept = value & literal(part & ~((1 << bits) - 1), type="int64")
        return (kept.cast("float64") * literal(2.0**-bits, type="float64")).cast("int64")

    return without(-(1 << 32)) + without((1 << 32) - 1)


def _quoted(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    return f"'{value!r}'" if isinstance(value, float) else str(value)


_builtins: dict[tuple[str, ...], Any] = {}


def _builtin(name: str, result: str, *arguments: Any) -> Any:
    """A function that an engine has under this name."""
    kinds = tuple(argument.type() for argument in arguments)
    key = (name, result, *map(str, kinds))
    if key not in _builtins:

        def function() -> Any: ...

        places = [inspect.Parameter(f"a{place}", inspect.Parameter.POSITIONAL_OR_KEYWORD) for place in range(len(kinds))]
        function.__signature__ = inspect.Signature(places)  # type: ignore[attr-defined]
        function.__name__ = name
        made = ibis().udf.scalar.builtin(function, name=name, signature=(kinds, ibis().dtype(result)))
        _builtins[key] = made
    return _builtins[key](*arguments)


def _builtin_extract(column: Any) -> Any:
    """Seconds since 1970 with all their digits, as Postgres has them."""
    return column.epoch_seconds().cast("decimal(38, 6)")


def installed() -> bool:
    """Is Ibis there?"""
    import importlib.util

    return importlib.util.find_spec("ibis") is not None
