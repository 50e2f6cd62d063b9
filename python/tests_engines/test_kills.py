"""Questions to Spark while something breaks: executors and coordinators are killed with -9, stopped, their disk is full, result rows come twice or not at all, the
table changes between passes.

A run is *right* where all facts that its answer was made of are those of another engine (`recorded.py`), *lost* where there is no answer and the charge stands,
*free* where its coordinator was killed before it charged, *hung* where it took longer than the deadline allows, and anything else is *wrong*.
Ten runs unless EQUIPOISE_KILLS says otherwise; `./test --kills 200` prints the table of docs/scale.md.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from conftest import Disk
from coordinator import ANSWERED, ASKING, NOTES, coordinate
from recorded import Recorded, asked

import equipoise as eq
from equipoise._elsewhere.engine import Engine

RUNS = int(os.environ.get("EQUIPOISE_KILLS", "10"))
#: For each query; a question asks two or three queries twice at most where one fails.
DEADLINE = 120.0
HUNG = 4 * DEADLINE
OUTCOMES = ("right", "lost", "free", "wrong", "hung")


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


def signalled(process: int, what: signal.Signals) -> bool:
    try:
        os.kill(process, what)
    except ProcessLookupError:
        return False
    return True


class Runs:
    """Runs of questions, each with a fault."""

    def __init__(self, spark: Any, file: Path, disk: Disk, port: int, folder: Path, patch: Any) -> None:
        self.spark, self.file, self.disk, self.port, self.folder, self.patch = spark, file, disk, port, folder, patch
        self.chance = random.Random(11)
        self.outcomes: dict[str, Counter[str]] = {}
        self.killed = 0
        self.forks = multiprocessing.get_context("forkserver")
        self.forks.set_forkserver_preload(["coordinator", "pyspark.sql.connect.session", "pandas"])

    def run(self, fault: str, number: int) -> str:
        began = time.monotonic()
        faults: dict[str, Callable[[int], str]] = {
            "an executor killed": lambda number: self._during(number, lambda: self._kill(1)),
            "both executors killed": lambda number: self._during(number, lambda: self._kill(2)),
            "executors stopped for a while": lambda number: self._during(number, self._stop, self._go_on),
            "the disk of the executors full": lambda number: self._during(number, self.disk.fill, self.disk.free),
            "a result row twice": lambda number: self._spoilt(number, lambda found, at: pa.concat_tables([found, found.slice(at, 1)])),
            "a result row missing": lambda number: self._spoilt(number, lambda found, at: pa.concat_tables([found.slice(0, at), found.slice(at + 1)])),
            "the table changed": self._changed,
            "the coordinator killed": self._coordinated,
        }
        outcome = faults[fault](number)
        if time.monotonic() - began > HUNG:
            outcome = "hung"
        self.outcomes.setdefault(fault, Counter())[outcome] += 1
        return outcome

    def _kill(self, many: int) -> None:
        for process in executors(self.spark)[:many]:
            self.killed += signalled(process, signal.SIGKILL)

    def _stop(self) -> None:
        stopped = [process for process in executors(self.spark) if signalled(process, signal.SIGSTOP)]
        time.sleep(self.chance.uniform(0.2, 2.0))
        for process in stopped:
            signalled(process, signal.SIGCONT)

    def _go_on(self) -> None:
        for process in executors(self.spark):
            signalled(process, signal.SIGCONT)

    def _during(self, number: int, fault: Callable[[], None], after: Callable[[], None] = lambda: None) -> str:
        """A question, and a fault at some time while it is answered."""
        stop = threading.Event()
        delay = self.chance.uniform(0.0, 2.0)
        other = threading.Thread(target=lambda: stop.wait(delay) or fault())
        other.start()
        try:
            return self._asked(number, self.file, Recorded())
        finally:
            stop.set()
            other.join()
            after()

    def _asked(self, number: int, file: Path, recorded: Recorded, check: Callable[[], None] = lambda: None) -> str:
        """A question, and whether its answer is right."""
        with self.patch.context() as patched:
            recorded.watch(patched.setattr)
            session = eq.Session(eq.elsewhere(self.spark.read.parquet(str(file)), deadline=DEADLINE))
            query = asked(session, number)
            before = float(session.spent["epsilon"])
            try:
                query.release()
            except eq.LostError:
                return "lost" if float(session.spent["epsilon"]) > before else "wrong"
        check()
        return "right" if recorded.are_true(self.file) else "wrong"

    def _spoilt(self, number: int, spoil: Callable[[pa.Table, int], pa.Table]) -> str:
        """What a query after the charge finds comes back with a row too many or too few: of one query, or of many."""
        recorded, left, run = Recorded(), self.chance.choice([1, 1000]), Engine.run

        def spoilt(engine: Engine, expression: Any) -> pa.Table:
            nonlocal left
            found = run(engine, expression)
            if recorded.key and left and found.num_rows and self.chance.random() < 0.4:
                left -= 1
                return spoil(found, self.chance.randrange(found.num_rows))
            return found

        with self.patch.context() as patched:
            patched.setattr(Engine, "run", spoilt)
            return self._asked(number, self.file, recorded, check=lambda: patched.setattr(Engine, "run", run))

    def _changed(self, number: int) -> str:
        """Every row is there twice after one of the first passes."""
        copy, recorded = self.folder / f"changing-{number}.parquet", Recorded()
        copy.write_bytes(self.file.read_bytes())
        left = self.chance.choice([1, 2])

        def changing(text: str, found: str) -> None:
            nonlocal left
            left -= 1
            if left == 0:
                table = pq.read_table(self.file)
                pq.write_table(pa.concat_tables([table, table]), f"{copy}.new")
                os.replace(f"{copy}.new", copy)

        recorded.then = changing
        return self._asked(number, copy, recorded)

    def _coordinated(self, number: int) -> str:
        """A question by another process, which is killed at some time after it began to ask."""
        home = self.folder / f"coordinator-{number}"
        home.mkdir()
        process = self.forks.Process(target=coordinate, args=(self.port, str(self.file), str(home), number, DEADLINE), daemon=True)
        process.start()
        end = time.monotonic() + HUNG
        while not (home / ASKING).exists() and process.is_alive() and time.monotonic() < end:
            time.sleep(0.02)
        process.join(self.chance.uniform(0.0, 6.0))
        process.kill()
        process.join()
        if not (home / ASKING).exists():
            return "hung" if time.monotonic() > end else "wrong"
        return self._left_behind(home)

    def _left_behind(self, home: Path) -> str:
        """What the ledger of a coordinator that is dead says."""
        ledger = home / "people.ledger"
        answered = (home / ANSWERED).exists()
        if not ledger.exists():
            return "wrong" if answered else "free"
        command = [sys.executable, "-m", "equipoise", "budget", "verify", "--ledger", str(ledger), "--json"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=HUNG, check=False)
        said = json.loads(done.stdout) if done.returncode == 0 else {}
        if said.get("charges") == 0:
            return "wrong" if answered else "free"
        if said.get("charges") != 1 or (answered and said.get("lost_count") != 0):
            return "wrong"
        if said.get("lost_count") == 1:
            return "lost"
        return "right" if Recorded.of_json((home / NOTES).read_text()).are_true(self.file) else "wrong"


#: Ten runs, which are repeated.
FAULTS = (
    "an executor killed",
    "the coordinator killed",
    "both executors killed",
    "a result row twice",
    "the disk of the executors full",
    "the coordinator killed",
    "an executor killed",
    "the table changed",
    "executors stopped for a while",
    "a result row missing",
)


def test_what_breaks_changes_no_answer(
    spark: Any, file: Path, disk: Disk, port: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert disk.is_small, "no small disk could be mounted: run this as a user who may"
    runs = Runs(spark, file, disk, port, tmp_path, monkeypatch)
    for number in range(RUNS):
        began, fault = time.monotonic(), FAULTS[number % len(FAULTS)]
        # Each fault meets each question.
        outcome = runs.run(fault, number // len(FAULTS) + number)
        print(f"run {number + 1}: {fault}: {outcome}, {time.monotonic() - began:.1f} s", flush=True)
    total: Counter[str] = Counter()
    print("\n| fault | runs | " + " | ".join(OUTCOMES) + " |\n|---|" + "---|" * (1 + len(OUTCOMES)))
    for fault, outcomes in runs.outcomes.items():
        total += outcomes
        print(f"| {fault} | {outcomes.total()} | " + " | ".join(str(outcomes[one]) for one in OUTCOMES) + " |")
    print(f"| all, {runs.killed} executors killed | {total.total()} | " + " | ".join(str(total[one]) for one in OUTCOMES) + " |")
    assert total["wrong"] == 0 and total["hung"] == 0
    assert total["right"] > 0 and runs.killed > 0
