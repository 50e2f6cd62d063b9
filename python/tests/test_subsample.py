"""Any function on blocks; crashes and late answers are default votes."""

from __future__ import annotations

import html
import os
import subprocess
import sys
import threading
import time
from typing import Any

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import equipoise as eq

HEIGHTS = np.linspace(150.0, 190.0, 20_000)


@pytest.mark.parametrize("kind", [np.asarray, pd.Series, pl.Series, list, pa.array])
def test_a_number_of_every_kind_of_data(kind: Any) -> None:
    data = kind(HEIGHTS)
    release = eq.subsample(lambda block: float(np.mean(np.asarray(block))), data, epsilon=8, blocks=200)
    # The mean is 170; block means spread by about 1.2, and the noise is far below 10.
    assert abs(release.value - 170) < 10 and release.mechanism == "winsorized"
    assert release.interval[0] <= release.value <= release.interval[1]


def test_a_table_keeps_no_trace_of_places() -> None:
    frame = pd.DataFrame({"x": HEIGHTS, "y": HEIGHTS * 2})
    seen: list[Any] = []
    eq.subsample(lambda block: seen.append(block) or 1.0, frame, epsilon=10, blocks=50)
    assert len(seen) == 50 and sum(len(block) for block in seen) == len(frame)
    assert all(list(block.index) == list(range(len(block))) for block in seen)


def test_labels_and_vectors() -> None:
    label = eq.subsample(lambda block: "tall" if np.median(block) > 160 else "short", HEIGHTS, epsilon=2, delta=1e-6, default="none")
    assert label.value == "tall"  # all 128 blocks agree, by far more than the gate asks for
    given = eq.subsample(lambda _: "b", HEIGHTS, epsilon=8, options=["a", "b"])
    assert given.value == "b" and given.mechanism == "arg-max"
    vector = eq.subsample(
        lambda block: [np.mean(block), np.std(block)], HEIGHTS, epsilon=8, delta=1e-6, default=[0.0, 0.0], blocks=400
    )
    assert vector.refused or len(vector.value) == 2


def test_an_answer_says_that_it_is_about_blocks() -> None:
    # The mean of 60 blocks' maxima is not the maximum, and len of a block is not that of the table.
    release = eq.subsample(len, HEIGHTS, epsilon=8, blocks=400, default=50)
    assert release.covers.startswith("the mean of 400 blocks' answers; answers are limited to")
    assert release.covers.endswith("blocks without an answer count as 50")
    assert release.error["covers"]["of"] == "the mean of 400 blocks' answers"
    assert "the mean of 400 blocks' answers lies between" in repr(release) and "the mean of 400 blocks" in release._repr_html_()
    # The bar is about answers that are limited: without that it says something else, and is wrong.
    for given in release.error["covers"]["given"]:
        assert given in repr(release) and html.escape(given) in release._repr_html_()
    assert any("limited to" in given for given in release.error["covers"]["given"])
    assert release.blocks["count"] == 400 and release.blocks["answered"] is None and release.blocks["default_stated"]
    public = eq.subsample(len, HEIGHTS, epsilon=8, blocks=400, default=50, adjacency="replace")
    assert public.error["covers"]["of"] == "the mean of 400 blocks' answers, each from about 50 rows"
    assert eq.count([1.0] * 100, epsilon=1).covers == "the true value"


def test_a_label_among_options_is_never_called_exact() -> None:
    # Twenty blocks at epsilon 0.2 were wrong in a quarter of the cases, and every label was called exact.
    for _ in range(20):
        release = eq.subsample(lambda _: "b", HEIGHTS, epsilon=0.2, blocks=20, options=["a", "b"], default="a")
        assert (release.error["kind"], release.error["gap_unit"], release.error["confidence"]) == ("gap", "votes", 0.95)
        assert release.error["gap"] == 20  # of twenty votes: nothing is promised here, and that is said
        assert "the most frequent answer of 20 blocks has at most 20 votes more (95 % confidence)" in repr(release)
    surer = eq.subsample(lambda _: "b", HEIGHTS, epsilon=4, blocks=100, options=["a", "b"])
    assert surer.error["gap"] < 5 and 0 <= surer.blocks["answered_within"] < 10


def test_blocks_that_all_fail_are_no_answer() -> None:
    with pytest.raises(eq.RequestError, match="40 blocks are too few at epsilon 1 .* blocks=92, or epsilon=3, or a default="):
        eq.subsample(failing, HEIGHTS, epsilon=1, blocks=40, options=["a", "b"])
    # Noise of a hundred and more at epsilon 0.8 has a chance of e^-80.
    release = eq.subsample(failing, HEIGHTS, epsilon=8, blocks=200)
    assert release.refused and release.blocks["answered"] < 100 and "state a default=" in release.advice
    assert release.blocks["missing_as"] == 0 and "answered" in release._repr_html_()


def test_a_person_lies_in_one_block() -> None:
    people = np.repeat(np.arange(500), 4)
    frame = pd.DataFrame({"person": people, "x": np.arange(2000.0)})
    seen: list[set[int]] = []
    release = eq.subsample(lambda block: seen.append(set(block["person"])) or 0.0, frame, epsilon=10, blocks=50, privacy_unit="person")
    assert sum(len(block) for block in seen) == 500  # each person once
    assert release.guarantee["unit"] == "person"


def test_a_person_is_one_however_the_name_is_spaced_and_nobody_is_left_out() -> None:
    names = [" 7", "7", "7\t", 7, None, "", float("nan"), "  "] * 250
    for people in (names, pd.Series(names, dtype=object), np.array(names, dtype=object)):
        seen: list[int] = []
        frame = pd.DataFrame({"x": np.arange(2000.0)})
        eq.subsample(lambda block: seen.append(len(block)) or 0.0, frame, epsilon=10, blocks=50, privacy_unit=people)
        assert sorted(seen)[-2:] == [0, 1000] and len(seen) == 50
    table = pa.table({"who": pa.array([1, 1, 2, None] * 500), "x": np.arange(2000.0)})
    sizes: list[int] = []
    eq.subsample(lambda block: sizes.append(block.num_rows) or 0.0, table, epsilon=10, blocks=50, privacy_unit="who")
    assert sum(sizes) == 1500 and max(sizes) >= 1000


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_no_kind_of_exit_comes_through(n_jobs: int | None) -> None:
    def leaves(block: Any) -> float:
        raise SystemExit(f"the first row is {block[0]}")

    assert isinstance(eq.subsample(leaves, HEIGHTS, epsilon=10, blocks=50, n_jobs=n_jobs).refused, bool)


def test_a_label_that_is_no_text_is_a_default_vote() -> None:
    release = eq.subsample(lambda _: "half a pair \udc80", HEIGHTS, epsilon=10, blocks=50, default="a", options=["a", "b"])
    assert release.value == "a"  # all 50 votes, wrong with a chance of e^-250


SCRIPT = """
import sys
import equipoise as eq, numpy as np
print("run", flush=True)
release = eq.subsample(np.median, np.full(2000, 170.0), epsilon=10, blocks=50, time_limit=600)
print(abs(release.value - 170) < 20)
"""


def test_a_script_without_a_guard_runs_once(tmp_path: Any) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=600, check=True)
    assert done.stdout.split() == ["run", "True"]  # all votes are 170, and the noise is a tiny part of it


def test_what_cannot_be_dealt_is_refused_before_it_is_paid_for() -> None:
    before = eq.spent()
    for data, words, said in [
        ({"x": [1.0]}, {}, "a dict has none"),
        ((i for i in range(3)), {}, "a generator has none"),
        (pd.DataFrame({"x": [1.0]}), {"privacy_unit": "who"}, "no column is called 'who'"),
        ([1.0], {"privacy_unit": "who"}, "no column is called 'who'"),
        ([1.0], {"default": float("nan")}, "default"),
        ([1.0], {"default": [float("inf")], "delta": 1e-6}, "default"),
    ]:
        with pytest.raises(eq.EquipoiseError, match=said):
            eq.subsample(len, data, **{"epsilon": 10, "blocks": 50, **words})
    lock = threading.Lock()
    with pytest.raises(eq.RequestError, match="another process"):
        eq.subsample(lambda _: float(lock.locked()), HEIGHTS, epsilon=10, blocks=50, time_limit=600)
    assert eq.spent() == before


def test_a_function_that_no_process_can_be_given_is_refused_before_it_is_paid_for() -> None:
    lock, before = threading.Lock(), eq.spent()
    with pytest.raises(eq.RequestError, match="f cannot be handed to another process; let it hold nothing that cannot be pickled"):
        eq.subsample(lambda _: float(lock.locked()), HEIGHTS, epsilon=10, blocks=50, n_jobs=2)
    with joblib.parallel_config("multiprocessing", n_jobs=2), pytest.raises(eq.RequestError, match="another process"):
        eq.subsample(lambda _: float(lock.locked()), HEIGHTS, epsilon=10, blocks=50)
    assert eq.spent() == before
    # In this process it need not be handed over: its votes are all 0.
    seen: list[int] = []
    with joblib.parallel_config("threading", n_jobs=2):
        eq.subsample(lambda _: seen.append(lock.locked()) or 0.0, HEIGHTS, epsilon=10, blocks=50)
    eq.subsample(lambda _: seen.append(lock.locked()) or 0.0, HEIGHTS, epsilon=10, blocks=50, n_jobs=1)
    assert len(seen) == 100


def fragile(block: Any) -> float:
    if block[0] < 160:
        os._exit(3)
    return 1.0


def slow(block: Any) -> float:
    if block[0] < 160:
        time.sleep(600)
    return 1.0


def failing(block: Any) -> float:
    raise ValueError(f"the first row is {block[0]}")


@pytest.mark.parametrize("how", [{"n_jobs": 2}, {"time_limit": 600, "n_jobs": 2}])
def test_a_crash_is_a_default_vote(how: dict[str, Any]) -> None:
    from equipoise._workers import votes_of

    blocks = [np.array([151.0]), np.array([180.0]), np.array([152.0]), np.array([185.0])]
    votes = votes_of(fragile, blocks, n_jobs=how.get("n_jobs"), time_limit=how.get("time_limit"), progress=False)
    assert votes == [None, 1.0, None, 1.0]


def test_a_late_answer_is_a_default_vote() -> None:
    from equipoise._workers import _Answer, _Worker

    worker = _Worker(_Answer(slow, None, False))
    assert worker.vote(np.array([180.0]), None) == 1.0
    # A block that sleeps for ten minutes has no answer at once, whatever the machine does meanwhile.
    assert worker.vote(np.array([151.0]), 0) is None
    assert worker.vote(np.array([181.0]), None) == 1.0  # by a new process
    worker.stop()


def test_what_fails_everywhere_is_still_paid_for_and_says_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    before = eq.spent()
    release = eq.subsample(failing, HEIGHTS, epsilon=1)
    assert eq.spent() != before and isinstance(release.refused, bool)
    assert "first row" not in "".join(capfd.readouterr())


def test_the_number_of_blocks_follows_from_public_facts() -> None:
    sizes: list[int] = []
    for epsilon in (0.2, 8):
        seen: list[int] = []
        eq.subsample(lambda block: seen.append(1) or 0.0, HEIGHTS, epsilon=epsilon)
        sizes.append(len(seen))
    assert sizes[0] > sizes[1] >= 128


def test_bad_words() -> None:
    for words, said in [
        ({"epsilon": -1}, "epsilon"),
        ({"epsilon": 1, "blocks": 0}, "blocks"),
        ({"epsilon": 1, "mechanism": "mean"}, "There are: winsorized"),
        ({"epsilon": 1, "default": ["a"]}, "labels that are not listed"),
        ({"epsilon": 1, "default": "a"}, "labels"),
        ({"epsilon": 1, "confidence": 2}, "confidence"),
    ]:
        before = eq.spent()
        with pytest.raises(eq.EquipoiseError, match=said):
            eq.subsample(np.median, HEIGHTS, **words)
        assert eq.spent() == before
    with pytest.raises(eq.DataError, match="not a function"):
        eq.subsample(3, HEIGHTS, epsilon=1)  # type: ignore[arg-type]
