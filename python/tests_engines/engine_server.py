"""A table in an engine, driven by lines of JSON: what the test of `crates/session/src/elsewhere/engine_tests.rs` speaks with.

    python engine_server.py duckdb|relation|polars|postgres|spark

The package has no door for coins that are written down: they are on the other side, in a test. Here are only passes and counts.
"""

from __future__ import annotations

import decimal
import json
import os
import struct
import sys
import traceback
from typing import Any

import pyarrow as pa

from equipoise._elsewhere.passes import Passes
from equipoise._elsewhere.table import elsewhere

def array(kind: str, cells: list[Any]) -> pa.Array:
    """Cells of a kind as an array, as the test wrote them."""
    if kind == "number":
        return pa.array([struct.unpack("<d", struct.pack("<Q", bits))[0] for bits in cells], pa.float64())
    if kind == "date":
        return pa.array(cells, pa.int32()).cast(pa.date32())
    if kind == "timestamp":
        return pa.array(cells, pa.int64()).cast(pa.timestamp("us"))
    if kind == "boolean":
        return pa.array([None if cell is None else cell != 0 for cell in cells], pa.bool_())
    if kind.startswith("decimal:"):
        digits = int(kind.partition(":")[2])
        return pa.array([None if cell is None else decimal.Decimal(cell).scaleb(-digits) for cell in cells], pa.decimal128(18, digits))
    return pa.array(cells, pa.int64() if kind == "integer" else pa.string())


class Server:
    def __init__(self, engine: str) -> None:
        self._engine = engine
        self._connection: Any = None
        self._made = 0
        self.passes: Passes | None = None

    def load(self, columns: list[dict[str, Any]]) -> None:
        rows = pa.table({column["name"]: array(column["kind"], column["cells"]) for column in columns})
        self.table = elsewhere(self._table(rows), deadline=120)

    def _table(self, rows: pa.Table) -> Any:
        self._made += 1
        name = f"people_{os.getpid()}_{self._made}"
        if self._engine == "polars":
            import polars

            return polars.from_arrow(rows).lazy()
        if self._engine == "relation":
            import duckdb

            self._connection = duckdb.connect()
            self._connection.register("people", rows)
            return self._connection.sql("select * from people")
        import ibis

        if self._engine == "duckdb":
            self._connection = self._connection or ibis.duckdb.connect()
            return self._connection.create_table(name, rows)
        if self._engine == "postgres":
            self._connection = self._connection or ibis.postgres.connect(
                host="127.0.0.1", port=int(os.environ["EQUIPOISE_TEST_POSTGRES_PORT"]), user="postgres", database="postgres"
            )
            return self._connection.create_table(name, rows, temp=True)
        if self._connection is None:
            self._connection = spark_session()
        return self._connection.createDataFrame(rows)

    def begin(self, rows: dict[str, Any], key: str) -> None:
        if self.passes is not None:
            self.passes.close()
        self.passes = self.table.counting(rows)
        self.passes.begin(key)

    def answer(self, line: str) -> str:
        asked = json.loads(line)
        if "table" in asked:
            self.load(asked["table"])
            return "{}"
        if "rows" in asked:
            self.begin(asked["rows"], asked["key"])
            return "{}"
        assert self.passes is not None
        return self.passes.count(json.dumps(asked["pass"]))


def spark_session() -> Any:
    """Spark on this machine: `local[2]`, or whatever EQUIPOISE_TEST_SPARK says."""
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master(os.environ.get("EQUIPOISE_TEST_SPARK", "local[2]"))
    settings = {
        "spark.ui.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.sql.ansi.enabled": "true",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": "2",
        "spark.ui.showConsoleProgress": "false",
    }
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    return session


def main() -> None:
    server = Server(sys.argv[1])
    # Libraries print; what is meant for the test goes through the first standard output.
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    for line in sys.stdin:
        try:
            found = server.answer(line)
        except Exception:  # noqa: BLE001
            traceback.print_exc()
            found = json.dumps({"failed": traceback.format_exc()[-600:]})
        out.write(found.replace("\n", " ") + "\n")
        out.flush()


if __name__ == "__main__":
    main()
