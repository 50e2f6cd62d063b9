"""Forks while other threads ask: no child hangs, no charge is lost, nothing is counted twice or not at all.

``EQUIPOISE_FORKS=2000`` makes so many forks under load; the default run makes a few.
"""

from __future__ import annotations

import multiprocessing
import os
import select
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import equipoise as eq
from equipoise import _books

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="forks are of unix")

FORKS = int(os.environ.get("EQUIPOISE_FORKS", "40"))
#: A child that says nothing for so long hangs. A loaded machine needs a few.
PATIENCE = 60
DATA = [float(number) for number in range(200)]
ARRAY = np.arange(200.0)


def in_child(work: Callable[[], str]) -> str:
    """What a forked child says; "hangs" where it says nothing."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            said = work()
        except BaseException as error:
            said = f"{type(error).__name__}: {error}"
        os.write(writer, said.encode())
        os._exit(0)
    os.close(writer)
    ready, _, _ = select.select([reader], [], [], PATIENCE)
    said = os.read(reader, 10_000).decode() if ready else "hangs"
    if not ready:
        os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    os.close(reader)
    return said


@contextmanager
def threads(*works: Callable[[], Any]) -> Iterator[list[int]]:
    """Threads that do their work again and again; how often each did it."""
    over, done, failed = threading.Event(), [0] * len(works), []

    def run(place: int) -> None:
        while not over.is_set():
            try:
                works[place]()
            except BaseException as error:
                failed.append(error)
                return
            done[place] += 1

    running = [threading.Thread(target=run, args=(place,)) for place in range(len(works))]
    for thread in running:
        thread.start()
    try:
        yield done
    finally:
        over.set()
        for thread in running:
            thread.join()
    assert not failed, failed


def test_no_fork_under_load_hangs_a_child(tmp_path: Path) -> None:
    ledger = tmp_path / "shared.ledger"
    counter = eq.RobustDistinct(alpha=0.2, beta=0.01)

    def bare() -> None:
        eq.count(DATA, epsilon="0.0001")

    def array() -> None:
        eq.median(ARRAY, epsilon=1)

    def charged() -> None:
        eq.count(ARRAY, epsilon="0.0001", ledger=ledger, name="x")

    def robust() -> None:
        counter.update([1, 2, 3])

    asks = [bare, array, charged]
    charges = 0
    with threads(bare, array, charged, robust) as done:
        while not all(done):
            time.sleep(0.01)
        for number in range(FORKS):
            first, second = asks[number % 3], asks[(number + 1) % 3]

            def child(first: Callable[[], None] = first, second: Callable[[], None] = second) -> str:
                first()
                second()
                return "answered"

            assert in_child(child) == "answered", f"fork {number}"
            charges += [first, second].count(charged)
    # Every charge of every process is in the one ledger.
    spent = eq.Session({"x": DATA}, ledger=ledger, name="x").spent["epsilon"]
    assert Fraction(spent) == Fraction("0.0001") * (charges + done[2])


def test_a_charge_of_a_child_outlives_its_parents_ledger(tmp_path: Path) -> None:
    """SQLite believed that a child has the locks of its parent; its charges went to a log that was removed meanwhile."""
    ledger, to_parent, to_child = tmp_path / "a.ledger", os.pipe(), os.pipe()
    eq.count(DATA, epsilon=1, ledger=ledger, name="x")
    child = os.fork()
    if child == 0:
        try:
            eq.count(DATA, epsilon=1, ledger=ledger, name="x")
            os.write(to_parent[1], b"charged")
            select.select([to_child[0]], [], [], PATIENCE)
            eq.count(DATA, epsilon=1, ledger=ledger, name="x")
            os._exit(0)
        finally:
            os._exit(1)
    assert select.select([to_parent[0]], [], [], PATIENCE)[0]
    eq.count(DATA, epsilon=1, ledger=ledger, name="x")
    # The parent's is closed, as at the end of a process.
    _books._OPEN.clear()
    os.write(to_child[1], b"closed")
    assert os.waitpid(child, 0)[1] == 0
    assert eq.Session({"x": DATA}, ledger=ledger, name="x").spent["epsilon"] == "4"
    for descriptor in (*to_parent, *to_child):
        os.close(descriptor)


def test_a_lost_answer_is_counted_in_a_child_too() -> None:
    """What bare functions spent was handed to children answer by answer: what was lost was not."""
    before = Fraction(eq.spent()["epsilon"])
    ballot_words = '{"statistic": "subsample", "epsilon": "1", "output": "number", "range": "0,1", "blocks": "128", "default": 0.0}'
    from equipoise import _equipoise

    books = _books.books(None)
    _equipoise.Ballot(books, _books.odometer(None), ballot_words).charge(books)
    assert Fraction(in_child(lambda: eq.spent()["epsilon"])) == before + 1


def test_parent_and_child_count_on_apart() -> None:
    before = Fraction(eq.spent()["epsilon"])

    def child() -> str:
        eq.count(DATA, epsilon=2)
        return eq.spent()["epsilon"]

    assert Fraction(in_child(child)) == before + 2
    eq.count(DATA, epsilon=1)
    assert Fraction(eq.spent()["epsilon"]) == before + 1


def test_a_question_of_a_session_in_memory_is_not_answered_in_a_child() -> None:
    session = eq.Session({"x": DATA}, budget=1)
    query = session.count(epsilon=1)
    assert in_child(lambda: str(query.release())).startswith("LedgerFileError: ledger in memory: opened before a fork")
    assert query.release().guarantee["epsilon"] == "1"


def test_a_question_with_a_ledger_is_answered_in_a_child(tmp_path: Path) -> None:
    session = eq.Session({"x": DATA}, budget=3, ledger=tmp_path / "a.ledger", name="x")
    query = session.count(epsilon=1)

    def child() -> str:
        query.release()
        return session.spent["epsilon"]

    assert in_child(child) == "1"
    query.release()
    assert session.spent["epsilon"] == "2"


def test_what_another_thread_was_changing_is_refused_in_a_child() -> None:
    counter = eq.RobustDistinct(alpha=0.2, beta=0.01)
    many = np.arange(20_000_000)
    over = threading.Event()

    def change() -> None:
        counter.update(many)
        over.set()

    thread = threading.Thread(target=change)
    thread.start()
    said = ""
    while not over.is_set() and "was changing it" not in said:
        said = in_child(lambda: str(counter.query()))
        assert said != "hangs"
    thread.join()
    assert "RequestError: another thread was changing it when this process was forked" in said


def test_a_monitor_of_the_parent_is_refused_in_a_child_although_a_thread_asks() -> None:
    monitor = eq.ThresholdMonitor({"x": DATA}, epsilon=1, delta=1e-6, budget_per_unit=10)
    with threads(lambda: monitor.ask("x > 3", 1e9)) as done:
        while not done[0]:
            time.sleep(0.001)
        for _ in range(5):
            assert in_child(lambda: str(monitor.ask("x > 3", 1e9))).startswith("RequestError: it was begun in the parent")


def test_a_pool_of_forked_workers_shares_a_ledger_with_threads(tmp_path: Path) -> None:
    ledger = tmp_path / "a.ledger"
    session = eq.Session({"x": DATA}, budget=1000, ledger=ledger, name="x")
    with threads(lambda: session.count(epsilon="0.001").release()) as done:
        while not done[0]:
            time.sleep(0.001)
        with multiprocessing.get_context("fork").Pool(3) as pool:
            asked = pool.map(ask_of, [(str(ledger), number) for number in range(12)], chunksize=1)
    assert asked == ["released"] * 12
    assert Fraction(session.spent["epsilon"]) == 12 + Fraction("0.001") * done[0]


def ask_of(place: tuple[str, int]) -> str:
    eq.count(DATA, epsilon=1, ledger=place[0], name="x", request_id=f"r{place[1]}")
    return "released"
