"""CPU time of filters that compute, beside DuckDB's for the same expression: 10^7 rows of Parquet, five rounds, interleaved.

    python bench/expressions.py target/release/equipoise [ROWS]

DuckDB's time is that of the query alone, ours that of the whole process.
"""

from __future__ import annotations

import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import duckdb

CONDITIONS = [
    "arr_delay - dep_delay > 15",
    "(arr_delay - dep_delay) / air_time > 0.5 and dep_delay >= 0",
    "distance * 2 + 1 > 1500",
    "round(dep_delay) % 7 = 3",
    "lower(carrier) like 'a%'",
    "case when dep_delay > 60 then distance else 0 end > 1000",
    "month(day) in (6, 7, 8)",
    "dep_delay > 15",
]
TABLE = """
COPY (
  SELECT (hash(i) % 20000) / 100.0 - 40 AS dep_delay, CASE WHEN i % 50 = 0 THEN NULL ELSE (hash(i + 7) % 30000) / 100.0 - 60 END AS arr_delay,
         (hash(i + 1) % 400)::DOUBLE AS air_time, (hash(i + 2) % 3000)::BIGINT AS distance,
         ['AA', 'UA', 'DL', 'WN', 'AS', 'B6', 'NK'][1 + (hash(i + 3) % 7)::BIGINT] AS carrier, DATE '2013-01-01' + (hash(i + 4) % 365)::INTEGER AS day
  FROM range({rows}) t(i)
) TO '{path}' (FORMAT parquet)
"""


def ours(binary: str, folder: str, condition: str) -> float:
    words = [binary, "count", "flights.parquet", "--where", condition, "--epsilon", "1", "--json"]
    process = subprocess.Popen(words, cwd=folder, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    if status != 0:
        raise SystemExit(f"{condition}: exit {status}")
    return used.ru_utime + used.ru_stime


def theirs(connection: duckdb.DuckDBPyConnection, condition: str) -> float:
    before = time.process_time()
    connection.execute(f"SELECT count(*) FROM flights WHERE {condition}").fetchall()
    return time.process_time() - before


def main() -> None:
    binary = str(pathlib.Path(sys.argv[1]).resolve())
    rows = int(sys.argv[2]) if len(sys.argv) > 2 else 10_000_000
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/flights.parquet"
        connection = duckdb.connect()
        connection.execute(TABLE.format(rows=rows, path=path))
        connection.execute(f"CREATE VIEW flights AS SELECT * FROM '{path}'")
        print(f"{rows} rows, CPU seconds, the median of five rounds\n{'ours':>7} {'duckdb':>7} {'ratio':>6}  condition")
        for condition in CONDITIONS:
            rounds = [(ours(binary, folder, condition), theirs(connection, condition)) for _ in range(5)]
            mine, other = (statistics.median(times) for times in zip(*rounds))
            print(f"{mine:7.2f} {other:7.2f} {mine / other:6.2f}  {condition}", flush=True)


if __name__ == "__main__":
    main()
