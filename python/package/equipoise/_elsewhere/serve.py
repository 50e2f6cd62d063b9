"""A table in an engine for another program, which has the ledger and the coins: the command line starts this.

    python -m equipoise._elsewhere.serve duckdb:people.duckdb?table=salaries
    python -m equipoise._elsewhere.serve spark:sales.people

Lines of JSON go both ways. First one comes that says what the schema says; then for each question ``{"rows": ..}`` is checked and examined,
``{"key": ..}`` fixes the rows, and each ``{"pass": ..}`` is counted. What fails says so and nothing else: words of an engine may quote a cell. Counts go to the
program that started this and to nobody else.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from typing import Any, TextIO

from .._errors import DataError, EquipoiseError, RequestError
from .cells import ibis
from .passes import Passes
from .table import ElsewhereTable, elsewhere


def table_at(address: str) -> Any:
    """The table that an address names."""
    scheme, _, rest = address.partition(":")
    path, _, table = rest.rpartition("?table=")
    if scheme == "duckdb":
        if not path:
            raise RequestError("which table? Write duckdb:FILE?table=NAME")
        if not os.path.exists(path):
            raise DataError("there is no such file of DuckDB's; check the path between duckdb: and ?table=")
        return ibis().duckdb.connect(path, read_only=True).table(table)
    if scheme == "spark":
        from pyspark.sql import SparkSession

        builder = SparkSession.builder
        if rest.startswith("//"):
            host, _, rest = rest[2:].partition("/")
            builder = builder.master(f"spark://{host}")
        if not rest:
            raise RequestError("which table? Write spark:NAME or spark://HOST:PORT/NAME")
        return builder.getOrCreate().table(rest)
    raise RequestError("give duckdb:FILE?table=NAME, spark:NAME or spark://HOST:PORT/NAME")


class Served:
    """One table, and the question that is under way."""

    def __init__(self, table: ElsewhereTable) -> None:
        self._table = table
        self._passes: Passes | None = None

    def schema(self) -> dict[str, Any]:
        return {"columns": self._table.names, "kinds": self._table.kinds(), "engine": self._table.engine.called}

    def answer(self, asked: dict[str, Any]) -> dict[str, Any] | str:
        if "rows" in asked:
            if self._passes is not None:
                self._passes.close()
            self._passes = self._table.counting(asked["rows"])
            return {}
        assert self._passes is not None, "rows come first"
        if "key" in asked:
            self._passes.begin(asked["key"])
            return {}
        return self._passes.count(json.dumps(asked["pass"]))


def serve(opened: Callable[[], ElsewhereTable], lines: TextIO, out: TextIO) -> None:
    """Answer lines until there are no more."""

    def say(what: dict[str, Any] | str) -> None:
        out.write((what if isinstance(what, str) else json.dumps(what)) + "\n")
        out.flush()

    try:
        served = Served(opened())
        say(served.schema())
    except EquipoiseError as error:
        return say({"problem": str(error)})
    except Exception:  # noqa: BLE001
        return say({"problem": "the table could not be opened; check its address, and that its engine is there"})
    for line in lines:
        try:
            say(served.answer(json.loads(line)))
        except EquipoiseError as error:
            say({"problem": str(error)})
        except Exception:  # noqa: BLE001
            say({"problem": "the engine failed"})


def main() -> None:
    """The program."""
    # Libraries print to standard output; what the other program reads goes through a descriptor that they do not know.
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    serve(lambda: elsewhere(table_at(sys.argv[1])), sys.stdin, out)


if __name__ == "__main__":
    main()
