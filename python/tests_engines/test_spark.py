"""Spark with real executors, as processes that are killed.

The coins are real, so that answers cannot be compared; facts can. Each pass of a run, with what Spark counted, is counted again by DuckDB on the same file
under the same key. Equal facts are equal answers with equal coins (`crates/session/src/elsewhere/engine_tests.rs`), so a run is *right* where all facts that it
was answered from are equal, *lost* where there was no answer and the charge stands, and anything else is wrong.
"""

from __future__ import annotations

import json
import os
import random
import signal
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

import ibis
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pyspark
import pytest

import equipoise as eq
from equipoise._elsewhere.passes import Passes

os.environ["SPARK_HOME"] = os.path.dirname(pyspark.__file__)
RUNS = int(os.environ.get("EQUIPOISE_KILLS", "10"))
#: On a machine that is busy fewer runs are made, and how many is printed.
SECONDS = float(os.environ.get("EQUIPOISE_KILLS_SECONDS", "60"))
ROWS = 20_000
DEADLINE = 90.0


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    generator = np.random.default_rng(7)
    pay = np.exp(generator.normal(10, 1, ROWS))
    pay[::97], pay[5::301] = np.nan, -0.0
    table = pa.table({"pay": pay, "town": generator.choice(["ayr", "bute", "cull", ""], ROWS), "person": (generator.integers(0, 5000, ROWS)).astype(str)})
    path = tmp_path_factory.mktemp("spark") / "people.parquet"
    pq.write_table(table, path, row_group_size=5000)
    return path


@pytest.fixture(scope="module")
def spark() -> Any:
    from pyspark.sql import SparkSession

    settings = {
        "spark.ui.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.sql.ansi.enabled": "true",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": "4",
        "spark.ui.showConsoleProgress": "false",
        "spark.executor.memory": "700m",
        "spark.task.maxFailures": "8",
        "spark.deploy.maxExecutorRetries": "-1",
    }
    builder = SparkSession.builder.master("local-cluster[2,1,1024]").appName("equipoise")
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


def executors(spark: Any) -> list[int]:
    """The processes of the executors of this session, and of no other."""
    own = spark.sparkContext.applicationId
    found = []
    for process in Path("/proc").iterdir():
        if process.name.isdigit():
            try:
                words = (process / "cmdline").read_bytes().decode(errors="replace")
            except OSError:
                continue
            if "CoarseGrainedExecutorBackend" in words and own in words:
                found.append(int(process.name))
    return found


def asked(session: eq.Session, number: int) -> Any:
    """Questions of several kinds in turn."""
    return [
        lambda: session.median("pay", epsilon=1),
        lambda: session.group_by("town").median("pay", epsilon=4, delta=1e-6),
        lambda: session.mean("pay", epsilon=1, unit="person", max_rows_per_unit=2),
        lambda: session.group_by("town", keys=["ayr", "bute"]).count(epsilon=1, unit="person", max_groups_per_unit=2, max_rows_per_unit=2),
    ][number % 4]()


def in_order(text: str) -> tuple[list[str], list[str]]:
    found = json.loads(text)
    return sorted(map(json.dumps, found["counts"])), sorted(map(json.dumps, found["sums"]))


class Recorded:
    """What was asked of an engine, and what it found."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.key, self.passes, self.rows = "", [], None
        begin, count = Passes.begin, Passes.count

        def noted_begin(passes: Passes, key: str) -> str:
            self.key, self.rows, self.passes = key, passes._rows._said, []
            return begin(passes, key)

        def noted_count(passes: Passes, text: str) -> str:
            found = count(passes, text)
            self.passes.append((text, found))
            return found

        monkeypatch.setattr(Passes, "begin", noted_begin)
        monkeypatch.setattr(Passes, "count", noted_count)
        self._originals = (begin, count)

    def are_true(self, file: Path) -> bool:
        """Does DuckDB find the same?"""
        begin, count = self._originals
        passes = eq.elsewhere(ibis.duckdb.connect().read_parquet(str(file))).counting(self.rows)
        begin(passes, self.key)
        return all(in_order(count(passes, text)) == in_order(found) for text, found in self.passes)


def test_facts_of_spark_are_those_of_another_engine(spark: Any, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recorded = Recorded(monkeypatch)
    session = eq.Session(eq.elsewhere(spark.read.parquet(str(file)), deadline=DEADLINE))
    for number in range(4):
        asked(session, number).release()
        assert recorded.passes and recorded.are_true(file), number


def test_executors_that_are_killed_change_no_answer(spark: Any, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recorded = Recorded(monkeypatch)
    outcomes: Counter[str] = Counter()
    killed = 0
    chance = random.Random(11)
    until, runs = time.monotonic() + SECONDS, 0
    for number in range(RUNS):
        if time.monotonic() > until and outcomes["right"] and killed:
            break
        runs += 1
        session = eq.Session(eq.elsewhere(spark.read.parquet(str(file)), deadline=DEADLINE))
        query = asked(session, number)
        stop = threading.Event()

        def kill(delay: float = chance.uniform(0.0, 2.5), stop: threading.Event = stop) -> None:
            nonlocal killed
            if not stop.wait(delay):
                there = executors(spark)
                for process in there[: chance.choice([1, 1, 2])]:
                    os.kill(process, signal.SIGKILL)
                    killed += 1

        killer = threading.Thread(target=kill)
        began = time.monotonic()
        killer.start()
        try:
            query.release()
            outcomes["right" if recorded.are_true(file) else "wrong"] += 1
        except eq.LostError:
            outcomes["lost"] += 1
            assert float(session.spent["epsilon"]) > 0, "the charge stands"
        finally:
            stop.set()
            killer.join()
        if time.monotonic() - began > 2 * DEADLINE:
            outcomes["hung"] += 1
        print(f"run {runs}: {dict(outcomes)}, executors killed {killed}, {time.monotonic() - began:.0f} s", flush=True)
    print(f"\nruns {runs} of {RUNS}, executors killed {killed}, right {outcomes['right']}, lost {outcomes['lost']}, wrong {outcomes['wrong']}, hung {outcomes['hung']}")
    assert outcomes["wrong"] == 0 and outcomes["hung"] == 0
    assert outcomes["right"] > 0 and killed > 0


def test_a_slow_executor_is_a_lost_answer_in_time(spark: Any, file: Path) -> None:
    frame = spark.read.parquet(str(file))
    spark.udf.register("equipoise_slow", _slow, "double")
    slow = frame.selectExpr("equipoise_slow(pay) as pay")
    session = eq.Session(eq.elsewhere(slow, deadline=DEADLINE))
    query = session.mean("pay", epsilon=1, range=(0, 9))
    # The engine is examined within the usual time; 20,000 rows take at least 500 seconds.
    query._question.table.prepared(query._question.planned)
    query._question.table.engine.deadline = 6
    began = time.monotonic()
    with pytest.raises(eq.LostError, match="the answer is lost"):
        query.release()
    assert time.monotonic() - began < 60 and session.spent["epsilon"] == "1"


def _slow(value: float) -> float:
    time.sleep(0.05)
    return value
