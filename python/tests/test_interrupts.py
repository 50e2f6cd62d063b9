"""Ctrl-C: a call ends soon, an answer that was recorded is not thrown away, and what was charged is said."""

from __future__ import annotations

import os
import pickle
import re
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import equipoise as eq
from equipoise import _workers

DATA = np.arange(2000.0)
#: Measured far below 0.3 seconds on a quiet machine; a loaded one is forgiven.
SOON = 5.0


@contextmanager
def interrupted(after: float) -> Iterator[list[float]]:
    """SIGINT after so many seconds; when it was sent."""
    sent: list[float] = []

    def send() -> None:
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    # Whoever runs the tests in the background may have the signal ignored.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(after, send)
    timer.start()
    try:
        yield sent
    finally:
        timer.cancel()
        timer.join()
        signal.signal(signal.SIGINT, before)


def slow(block: Any) -> float:
    time.sleep(30)
    return float(np.median(block))


@pytest.mark.parametrize("how", [{}, {"n_jobs": 2}, {"time_limit": 60}, {"time_limit": 60, "n_jobs": 2}])
def test_a_slow_function_is_interrupted_soon_and_what_was_charged_is_said(how: dict[str, Any]) -> None:
    before = Fraction(eq.spent()["epsilon"])
    with interrupted(3) as sent, pytest.raises(eq.Interrupted) as caught:
        eq.subsample(slow, DATA, epsilon=2, blocks=200, **how)
    late = time.monotonic() - sent[0]
    print(f"{how}: {late:.3f} s")
    assert late < SOON
    assert str(caught.value) == "interrupted after the charge, which stands; the answer is lost"
    assert caught.value.release is None and isinstance(caught.value, KeyboardInterrupt)
    assert Fraction(eq.spent()["epsilon"]) == before + 2


def raises(block: Any) -> float:
    if 1999.0 in block:
        raise KeyboardInterrupt("a row")
    return 1.0


@pytest.mark.parametrize("how", [{}, {"n_jobs": 2}, {"time_limit": 60}])
def test_a_function_that_raises_an_interrupt_by_itself_is_a_block_without_an_answer(how: dict[str, Any]) -> None:
    """It told of one row: only what Ctrl-C itself raises is an interrupt."""
    with interrupted(600):  # by the handler that raises
        assert 0.5 < eq.subsample(raises, DATA, epsilon=10, blocks=200, default=0.0, **how).value < 1.5


class Cell:
    """Asked for its number, it raises what it holds."""

    def __init__(self, error: type[BaseException]) -> None:
        self.error = error

    def __float__(self) -> float:
        raise self.error("a row")

    __ne__ = __reduce__ = __str__ = __repr__ = __float__  # type: ignore[assignment]
    __hash__ = object.__hash__


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, GeneratorExit])
def test_a_cell_that_raises_an_interrupt_is_a_cell_without_a_value(error: type[BaseException]) -> None:
    cells = np.array([*map(float, range(2000)), Cell(error)], dtype=object)
    with interrupted(600):
        for ask in (
            lambda: eq.median(cells, epsilon=10, types={"value": "number"}),
            lambda: eq.mode(cells, epsilon=10, delta="1e-6"),
            lambda: eq.subsample(len, cells, epsilon=10, blocks=200, default=0.0),
            lambda: eq.subsample(len, cells, epsilon=10, blocks=200, default=0.0, types="number"),
            lambda: eq.subsample(len, DATA, epsilon=10, blocks=200, default=0.0, privacy_unit=cells[1:]),
        ):
            assert isinstance(ask(), eq.Release)
        with pytest.raises(eq.DataError):
            eq.median(list(cells), epsilon=10)


def test_workers_end_with_the_call_that_was_interrupted() -> None:
    with interrupted(3), pytest.raises(eq.Interrupted):
        eq.subsample(slow, DATA, epsilon=2, blocks=200, time_limit=60, n_jobs=2)
    children = [
        pid
        for pid in os.listdir("/proc")
        if pid.isdigit() and b"equipoise._workers" in _read(f"/proc/{pid}/cmdline") and _parent(pid) == os.getpid()
    ]
    assert not children


def _read(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""


def _parent(pid: str) -> int:
    found = [line for line in _read(f"/proc/{pid}/status").splitlines() if line.startswith(b"PPid:")]
    return int(found[0].split()[1]) if found else 0


def test_an_answer_that_was_recorded_comes_with_the_interrupt() -> None:
    big = np.arange(3_000_000.0)
    before = Fraction(eq.spent()["epsilon"])
    with interrupted(0.02), pytest.raises(KeyboardInterrupt) as caught:
        while True:
            eq.median(big, epsilon=1)
    asked = Fraction(eq.spent()["epsilon"]) - before
    if isinstance(caught.value, eq.Interrupted):
        assert caught.value.release.guarantee["epsilon"] == "1" and asked >= 1
        again = pickle.loads(pickle.dumps(caught.value))
        assert again.release == caught.value.release and "this exception has it" in str(again)


def soon(call: Callable[[], Any], expected: type[BaseException]) -> BaseException:
    """Interrupt a call that would take minutes, from its first second on; it ends soon."""
    with interrupted(0.7) as sent, pytest.raises(expected) as caught:
        call()
    late = time.monotonic() - sent[0]
    print(f"{late:.3f} s")
    assert late < SOON
    return caught.value


def test_what_charges_nothing_is_interrupted_soon() -> None:
    before = eq.spent()
    for call in (
        lambda: eq.simulate("median", DATA, epsilon=1, trials=10**7),
        lambda: eq.simulate("median", {"x": DATA, "who": DATA // 2}, "x", privacy_unit="who", epsilon=1, trials=10**7),
        lambda: [eq.audit("") for _ in range(100)],
    ):
        error = soon(call, KeyboardInterrupt)
        assert not isinstance(error, eq.Interrupted)
    assert eq.spent() == before


def test_a_scan_is_interrupted_soon_and_what_was_charged_is_said(tmp_path: Path) -> None:
    # A pattern that names one file again and again: long to read, short to write.
    rows = "\n".join(f"{number},{number % 99991}" for number in range(200_000))
    first = tmp_path / "0.csv"
    first.write_text("salary,person\n" + rows + "\n")
    for copy in range(1, 400):
        (tmp_path / f"{copy}.csv").symlink_to(first)
    session = eq.Session(str(tmp_path / "*.csv"), ledger=tmp_path / "books.ledger")
    for question in (
        lambda: session.mean("salary", epsilon=1),
        lambda: session.median("salary", epsilon=1, group_by="person", delta="1e-6"),
        lambda: session.count(epsilon=1, privacy_unit="person", max_rows_per_unit=1),
    ):
        before = Fraction(session.spent["epsilon"])
        error = soon(lambda question=question: question().release(), eq.Interrupted)
        assert str(error) == "interrupted after the charge, which stands; the answer is lost"
        assert Fraction(session.spent["epsilon"]) > before


def test_a_program_is_interrupted_soon_and_leaves_nothing_behind() -> None:
    for how in ({"time_padding": True}, {"time_padding": False}):
        before = Fraction(eq.spent()["epsilon"])
        # It does not sleep without rows, so that the rehearsal is short.
        program = ["/bin/sh", "-c", "read header; read row && exec sleep 4711; echo 1"]
        call = partial(eq.run_program, program, DATA, output="number", epsilon=1, blocks=200, range=(0, 2), block_time=60, **how)
        error = soon(call, eq.Interrupted)
        assert error.release is None
        assert Fraction(eq.spent()["epsilon"]) == before + 1
        alive = [pid for pid in os.listdir("/proc") if pid.isdigit() and _read(f"/proc/{pid}/cmdline") == b"sleep\x004711\x00"]
        assert not alive


def test_an_interrupted_rehearsal_charges_nothing() -> None:
    before = eq.spent()
    program = ["/bin/sh", "-c", "exec sleep 4711"]
    call = partial(eq.run_program, program, DATA, output="number", epsilon=1, blocks=200, range=(0, 2), block_time=60)
    assert not isinstance(soon(call, KeyboardInterrupt), eq.Interrupted)
    assert eq.spent() == before


def test_updates_that_are_interrupted_say_how_many_were_carried_out() -> None:
    distinct = eq.RobustDistinct(alpha=0.5, method="copies")
    items = np.arange(10**7)
    done = None
    for _ in range(50):
        error = soon(lambda: distinct.update(items), KeyboardInterrupt)
        done = re.fullmatch(r"interrupted after (\d+) items, which were carried out", str(error))
        # On a busy machine the signal may come before the first item, and then it says nothing.
        if done is not None or str(error):
            break
    assert done is not None and 0 < int(done[1]) < 10**7
    assert distinct.query() > 0


def test_a_handler_that_does_not_raise_stops_nothing() -> None:
    seen: list[int] = []
    with interrupted(0.05):
        signal.signal(signal.SIGINT, lambda number, frame: seen.append(number))
        trials = eq.simulate("median", DATA, epsilon=1, trials=20_000)
        while not seen:
            assert eq.median(DATA, epsilon=1).value is not None
    assert len(trials.values) == 20_000


def test_progress_follows_the_clock_and_not_the_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Any] = []

    class Bar:
        def __init__(self, *blocks: Any, **words: Any) -> None:
            self.blocks, self.words, self.ticks = blocks, words, 0
            made.append(self)

        def __enter__(self) -> Bar:
            return self

        def __exit__(self, *_: Any) -> None:
            pass

        def refresh(self) -> None:
            self.ticks += 1

    module = ModuleType("tqdm.auto")
    module.tqdm = Bar  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "tqdm.auto", module)
    monkeypatch.setattr(_workers, "_TICK_SECONDS", 0.01)
    ways: list[dict[str, Any]] = [{"n_jobs": 1, "time_limit": None}, {"n_jobs": 1, "time_limit": 60}]
    for how in ways:
        votes = _workers.votes_of(pause, [0.3] + [0.0] * 20, progress=True, **how)
        assert votes == [1.0] * 21
    for bar in made:
        # One long block and twenty that take no time: had it counted blocks, it would show so.
        assert bar.blocks == () and bar.words["total"] is None and "n_fmt" not in bar.words["bar_format"]
        assert bar.ticks >= 1
    assert len(made) == 2


def pause(seconds: float) -> float:
    time.sleep(seconds)
    return 1.0
