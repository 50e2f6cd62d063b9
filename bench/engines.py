"""What questions cost in an engine (docs/scale.md), beside what the engine itself takes for the same without privacy.

    python/engines                                                       once: makes target/engines-venv
    target/engines-venv/bin/python bench/engines.py cost duckdb 1e6 1e7 1e8
    target/engines-venv/bin/python bench/engines.py cost spark 1e6 1e7 --executors 2
    target/engines-venv/bin/python bench/engines.py passes 5

`cost` prints for each number of rows: queries, seconds, CPU a row of this process and those that it started, and what came back. `passes` prints how many passes and queries
questions take on DuckDB, by how many rows there are, the least and the most of so many repetitions: they follow the rows.
"""

from __future__ import annotations

import argparse
import os
import resource
import tempfile
import time
from pathlib import Path
from typing import Any

import duckdb
import ibis

import equipoise as eq
from equipoise._elsewhere.engine import Engine
from equipoise._elsewhere.passes import Passes

came: list[tuple[int, int]] = []
passed: list[int] = []
_run, _count = Engine.run, Passes.count


def _counted(self: Engine, expression: Any) -> Any:
    found = _run(self, expression)
    came.append((found.num_rows, found.nbytes))
    return found


def _noted(self: Passes, text: str) -> str:
    passed.append(1)
    return _count(self, text)


def cpu() -> float:
    """Of this process, and of all that it started and that still run, in seconds: Spark's are in others."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    total, ticks = used.ru_utime + used.ru_stime, os.sysconf("SC_CLK_TCK")
    parents: dict[int, int] = {}
    times: dict[int, float] = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                words = Path(f"/proc/{name}/stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            parents[int(name)], times[int(name)] = int(words[1]), (int(words[11]) + int(words[12])) / ticks
    for process, spent in times.items():
        at = process
        while at in parents and at not in (0, 1):
            at = parents[at]
            if at == os.getpid():
                total += spent
                break
    return total


def written(rows: int, folder: str) -> str:
    """A file of people's pay, in files of ten million rows each."""
    path = f"{folder}/{rows}"
    os.mkdir(path)
    each = min(rows, 10_000_000)
    for part in range(rows // each):
        duckdb.sql(
            f"copy (select exp(10 + 2 * random()) as pay, (random() * 50)::int::varchar as town, (random() * {rows} / 4)::bigint::varchar as person "
            f"from range({each})) to '{path}/{part}.parquet' (format parquet)"
        )
    return path


def in_duckdb(path: str, folder: str) -> tuple[Any, Any, Any]:
    """The table, and the engine's own median and group-by."""
    connection = ibis.duckdb.connect(memory_limit="6GB", temp_directory=f"{folder}/duckdb")
    run = connection.con.execute
    return (
        connection.read_parquet(f"{path}/*.parquet"),
        lambda: run(f"select median(pay) from '{path}/*.parquet'").fetchall(),
        lambda: run(f"select town, count(*) from '{path}/*.parquet' group by 1").fetchall(),
    )


def spark_session(executors: int, folder: str) -> Any:
    """Spark with so many executors of one core, as processes."""
    import pyspark
    from pyspark.sql import SparkSession

    os.environ["SPARK_HOME"] = os.path.dirname(pyspark.__file__)
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.memory": "1g",
        "spark.executor.memory": "6g",
        "spark.local.dir": f"{folder}/spark",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": "4",
    }
    builder = SparkSession.builder.master(f"local-cluster[{executors},1,6144]").appName("equipoise")
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    return session


def in_spark(path: str, session: Any) -> tuple[Any, Any, Any]:
    frame = session.read.parquet(path)
    frame.createOrReplaceTempView("measured")
    return (
        frame,
        lambda: session.sql("select percentile(pay, 0.5) from measured").collect(),
        lambda: session.sql("select town, count(*) from measured group by 1").collect(),
    )


def cost(engine: str, sizes: list[int], executors: int, people: bool) -> None:
    Engine.run = _counted  # type: ignore[method-assign]
    print("| engine | rows | question | queries | seconds | ns CPU a row | rows back | KiB back |\n|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        session = None if engine == "duckdb" else spark_session(executors, folder)
        called = engine if session is None else f"{engine}, {executors} executors"
        for rows in sizes:
            path = written(rows, folder)
            data, median, grouped = in_duckdb(path, folder) if session is None else in_spark(path, session)
            eq.count(data, epsilon=1)
            questions: dict[str, Any] = {
                "the engine's own median": median,
                "median": lambda data=data: eq.median(data, "pay", epsilon=1),
                "the engine's own group-by": grouped,
                "count by found town": lambda data=data: eq.count(data, group_by="town", epsilon=1, delta=1e-6),
                "median by found town": lambda data=data: eq.median(data, "pay", group_by="town", epsilon=4, delta=1e-6),
                "mean": lambda data=data: eq.mean(data, "pay", epsilon=1),
            }
            if people:
                questions["median, 2 rows a person"] = lambda data=data: eq.median(data, "pay", epsilon=1, unit="person", max_rows_per_unit=2)
            for name, ask in questions.items():
                came.clear()
                began, used = time.monotonic(), cpu()
                ask()
                seconds, worked = time.monotonic() - began, cpu() - used
                back, size = sum(one[0] for one in came), sum(one[1] for one in came)
                cells = [called, f"{rows:.0e}", name, len(came) or "", f"{seconds:.1f}", f"{worked / rows * 1e9:.0f}", back or "", size // 1024 or ""]
                print("|", " | ".join(map(str, cells)), "|", flush=True)


SIZES = (0, 1, 50, 5_000, 300_000)


def passes(times: int) -> None:
    Engine.run, Passes.count = _counted, _noted  # type: ignore[method-assign]
    questions: dict[str, Any] = {
        "count": lambda data: eq.count(data, epsilon=1),
        "count by found town": lambda data: eq.count(data, group_by="town", epsilon=1, delta=1e-6),
        "histogram, 10 bins": lambda data: eq.histogram(data, "pay", range=(0, 1e6), bins=10, epsilon=1),
        "mean, range stated": lambda data: eq.mean(data, "pay", range=(0, 1e6), epsilon=1),
        "mean": lambda data: eq.mean(data, "pay", epsilon=1),
        "median": lambda data: eq.median(data, "pay", epsilon=1),
        "median by found town": lambda data: eq.median(data, "pay", group_by="town", epsilon=4, delta=1e-6),
        "iqr": lambda data: eq.iqr(data, "pay", epsilon=1),
        "nine quantiles": lambda data: eq.quantile(data, "pay", [place / 10 for place in range(1, 10)], epsilon=1),
        "summary": lambda data: eq.summary(data, "pay", epsilon=1),
        "median, 2 rows a person": lambda data: eq.median(data, "pay", epsilon=1, unit="person", max_rows_per_unit=2),
    }
    print("| question | " + " | ".join(f"{rows:,} rows" for rows in SIZES) + " |\n|---|" + "---|" * len(SIZES))
    tables = []
    for rows in SIZES:
        connection = ibis.duckdb.connect()
        connection.con.execute(f"create table people as select exp(10 + 2 * random()) as pay, (random() * 5)::int::varchar as town, (random() * {rows} / 4)::bigint::varchar as person from range({rows})")
        tables.append(connection.table("people"))
        eq.count(tables[-1], epsilon=1)
    for name, ask in questions.items():
        cells = []
        for data in tables:
            found = set()
            for _ in range(times):
                passed.clear()
                ask(data)
                found.add(len(passed))
            cells.append(str(min(found)) if len(found) == 1 else f"{min(found)} to {max(found)}")
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser()
    commands = parser.add_subparsers(dest="command", required=True)
    costs = commands.add_parser("cost")
    costs.add_argument("engine", choices=["duckdb", "spark"])
    costs.add_argument("rows", nargs="+", type=float)
    costs.add_argument("--executors", type=int, default=2)
    costs.add_argument("--without-people", action="store_true", help="leave out the question about people, whose rows are sorted")
    counts = commands.add_parser("passes")
    counts.add_argument("times", type=int, nargs="?", default=5)
    said = parser.parse_args()
    if said.command == "cost":
        cost(said.engine, [int(rows) for rows in said.rows], said.executors, not said.without_people)
    else:
        passes(said.times)


if __name__ == "__main__":
    main()
