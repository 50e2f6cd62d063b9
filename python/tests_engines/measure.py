"""What a question costs in an engine, beside what the engine itself takes for the same without privacy.

    python measure.py duckdb 1e6 1e7
    python measure.py spark 1e6 1e7        EQUIPOISE_TEST_SPARK=local-cluster[2,1,2048] for executors

Prints, for each number of rows: passes, seconds, CPU a row of this process and its children, and bytes and rows that came back.
"""

from __future__ import annotations

import os
import resource
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import equipoise as eq
from engine_server import spark_session
from equipoise._elsewhere.engine import Engine

came: list[tuple[int, int]] = []
_run = Engine.run


def _counted(self: Engine, expression: Any) -> Any:
    found = _run(self, expression)
    came.append((found.num_rows, found.nbytes))
    return found


def cpu() -> float:
    """Of this process; Spark's is in another."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime + _spark_cpu()


def _spark_cpu() -> float:
    """Of all processes of Java's that this one started, in seconds."""
    total, ticks = 0.0, os.sysconf("SC_CLK_TCK")
    parents: dict[int, int] = {}
    times: dict[int, float] = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                words = Path(f"/proc/{name}/stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            parents[int(name)], times[int(name)] = int(words[1]), (int(words[11]) + int(words[12])) / ticks
    for process, used in times.items():
        at = process
        while at not in (0, 1) and at in parents:
            at = parents[at]
            if at == os.getpid():
                total += used
                break
    return total


def table(engine: str, rows: int, folder: str) -> tuple[Any, Any, Any]:
    """The table, and the engine's own median and group-by."""
    import duckdb

    path = f"{folder}/{rows}.parquet"
    duckdb.sql(
        f"copy (select exp(10 + 2 * random()) as pay, (random() * 50)::int::varchar as town, (random() * {rows} / 4)::bigint::varchar as person "
        f"from range({rows})) to '{path}' (format parquet)"
    )
    if engine == "duckdb":
        import ibis

        connection = ibis.duckdb.connect()
        run = connection.con.execute
        return (
            connection.read_parquet(path),
            lambda: run(f"select median(pay) from '{path}'").fetchall(),
            lambda: run(f"select town, count(*) from '{path}' group by 1").fetchall(),
        )
    session = spark_session()
    frame = session.read.parquet(path)
    frame.createOrReplaceTempView("measured")
    return (
        frame,
        lambda: session.sql("select percentile(pay, 0.5) from measured").collect(),
        lambda: session.sql("select town, count(*) from measured group by 1").collect(),
    )


def main() -> None:
    Engine.run = _counted  # type: ignore[method-assign]
    print("| rows | question | passes | seconds | ns CPU a row | rows back | KiB back |\n|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for rows in (int(float(word)) for word in sys.argv[2:]):
            data, median, grouped = table(sys.argv[1], rows, folder)
            eq.count(data, epsilon=1)
            questions: dict[str, Any] = {
                "median": lambda data=data: eq.median(data, "pay", epsilon=1),
                "the engine's own median": median,
                "count by found town": lambda data=data: eq.count(data, group_by="town", epsilon=1, delta=1e-6),
                "the engine's own group-by": grouped,
                "median by found town": lambda data=data: eq.median(data, "pay", group_by="town", epsilon=4, delta=1e-6),
                "mean": lambda data=data: eq.mean(data, "pay", epsilon=1),
                "median, 2 rows a person": lambda data=data: eq.median(data, "pay", epsilon=1, unit="person", max_rows_per_unit=2),
            }
            for name, ask in questions.items():
                came.clear()
                began, used = time.monotonic(), cpu()
                ask()
                seconds, worked = time.monotonic() - began, cpu() - used
                back, size = sum(one[0] for one in came), sum(one[1] for one in came)
                cells = [f"{rows:.0e}", name, len(came) or "", f"{seconds:.1f}", f"{worked / rows * 1e9:.0f}", back or "", size // 1024 or ""]
                print("|", " | ".join(map(str, cells)), "|", flush=True)


if __name__ == "__main__":
    main()
