"""Ctrl-C: a call on blocks ends soon, an answer that was recorded is not thrown away, and what was charged is said."""

from __future__ import annotations

import os
import pickle
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
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
