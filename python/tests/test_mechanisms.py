"""calibrate, simulate, audit; streams of answers; sketches."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import equipoise as eq


def test_calibrate_gives_numbers() -> None:
    laplace = eq.calibrate("laplace", epsilon=0.5, sensitivity=1)
    assert laplace["mechanism"] == "laplace" and laplace["scale"] == 2.0
    assert isinstance(laplace["cost"], str)
    gate = eq.calibrate("gate", epsilon=1, delta=1e-6)
    assert gate["table"][1] == pytest.approx(1e-6) and list(gate["table"]) == sorted(gate["table"])
    five = eq.calibrate("gate", epsilon=1, delta=1e-6, steps=5)
    assert five["probability"] == gate["table"][5]
    assert len(eq.mechanisms()) > 20
    with pytest.raises(eq.RequestError, match="did you mean 'laplace'"):
        eq.calibrate("laplas", epsilon=1)
    with pytest.raises(eq.RequestError, match="takes no parameter"):
        eq.calibrate("laplace", epsilom=1)
    for name, entry in eq.mechanisms().items():
        assert entry["about"] and isinstance(entry["parameters"], list), name


def test_every_parameter_of_every_mechanism_can_be_set_by_its_name() -> None:
    for name, entry in eq.mechanisms().items():
        for parameter in entry["parameters"]:
            assert parameter["name"].isidentifier(), (name, parameter)
            # The word is known: what is wrong with the value is said of it, or another one is missing.
            with pytest.raises(eq.RequestError) as caught:
                eq.calibrate(name, **{parameter["name"]: "nonsense"})
            assert "takes no parameter" not in str(caught.value), caught.value
    share = eq.calibrate("propose-test-release", epsilon=1, delta=1e-6, test_share=0.25)
    assert share != eq.calibrate("propose_test_release", epsilon=1, delta=1e-6)
    with pytest.raises(eq.RequestError, match="test_share 3 is not accepted"):
        eq.calibrate("propose-test-release", epsilon=1, delta=1e-6, test_share=3)
    with pytest.raises(eq.RequestError, match="is called propose-test-release"):
        eq.calibrate("ptr", epsilon=1, delta=1e-6)


def test_simulate_charges_nothing_and_says_so() -> None:
    before = eq.spent()
    outcome = eq.simulate("median", np.arange(1000.0), trials=300, epsilon=1)
    assert len(outcome.values) == 300 and eq.spent() == before
    assert len(outcome.released) + outcome.refusals == 300
    assert "not private" in repr(outcome)
    # The median is 500; rank error at epsilon 0.95 beyond 400 has a chance of e^-190 or so.
    assert all(abs(value - 500) < 400 for value in outcome.released)
    few = eq.simulate("median", [1.0], trials=200, epsilon=1)
    assert None in few.values
    assert eq.simulate("count", [1.0], trials=0, epsilon=1).values == []
    texts = eq.simulate("mode", ["a"] * 500, trials=5, epsilon=1, delta=1e-6)
    assert texts.values == ["a"] * 5
    assert texts.series[0]["answers"] == [{"value": "a", "trials": 5}] and texts.series[0]["truth"] == "a"
    with pytest.raises(eq.RequestError):
        eq.simulate("median", [1.0], trials=-1, epsilon=1)


def test_simulate_tells_what_each_number_came_to() -> None:
    # At epsilon 1000 a count is off with a chance of about e^-850.
    count = eq.simulate("count", [1.0] * 50, trials=4, epsilon=1000)
    assert count.values == [50] * 4 and [error and error["low"] for error in count.errors] == [50.0] * 4
    (one,) = count.series
    assert (one["told"], one["refused"], one["median"], one["truth"]) == (4, 0, 50, 50)
    assert one["bars"] == {"confidence": 0.95, "judged": 4, "held": 4}
    groups = eq.simulate("histogram", ["a", "a", "b"] * 100, trials=3, epsilon=1000, delta=1e-6)
    assert [group["key"] for group in groups.values[0]] == ["a", "b"]
    assert [(one["key"], one["told"], one["truth"]) for one in groups.series] == [("a", 3, 200), ("b", 3, 100)]
    assert groups.errors == [None] * 3
    spread = eq.simulate("std", [0.0, 100.0] * 200, trials=2, epsilon=1000, range=(0, 100))
    # Noise of about a thousandth of the range over 400 rows.
    assert spread.series[0]["truth"] == 50.0 and abs(spread.values[0] - 50.0) < 1.0
    lists = eq.simulate("quantile", np.arange(1000.0), trials=3, epsilon=50, q=[0.25, 0.5])
    assert [one["statistic"] for one in lists.series] == ["quantile 0.25", "quantile 0.5"]
    assert [one["truth"] for one in lists.series] == [249.0, 499.0]


def test_audits_run_from_python() -> None:
    names = [entry["name"] for entry in eq.audits()]
    assert "laplace" in names
    findings = eq.audit("majority")
    assert findings and all(finding["good"] for finding in findings)
    with pytest.raises(eq.RequestError, match="no audit is called"):
        eq.audit("nonsense")


def test_above_threshold_answers_until_the_cutoff() -> None:
    stream = eq.AboveThreshold(epsilon=10, threshold=1000, cutoff=2, monotone=True)
    # Every value is hundreds of noise scales from the threshold.
    values = np.array([0.0, 5000.0, 0.0, 5000.0, 5000.0])
    assert stream.answer(values) == [False, True, False, True, None]
    assert stream.positives_left == 0 and len(stream.gaps) == 2
    assert stream.answer(7) is None
    assert eq.AboveThreshold(epsilon=10, threshold=10).answer([float("nan"), -float("inf")]) == [False, False]
    assert eq.AboveThreshold(epsilon=1, threshold=10).accuracy(100) > 0
    with pytest.raises(eq.RequestError, match="at least one"):
        eq.AboveThreshold(epsilon=1, threshold=10, cutoff=0)


def test_streams_are_paid_for_at_their_start() -> None:
    before = eq.spent()["epsilon"]
    eq.AboveThreshold(epsilon="0.125", threshold=10)
    from fractions import Fraction

    assert Fraction(eq.spent()["epsilon"]) - Fraction(before) == Fraction("0.125")


def test_a_threshold_monitor_on_arrays_and_lists() -> None:
    ages = np.array([20] * 5000 + [70] * 100)
    for data in (ages, ages.tolist()):
        monitor = eq.ThresholdMonitor(data, epsilon=2, delta=1e-6, budget_per_unit=5)
        # Thousands of records from the threshold, at a noise of scale about ten.
        assert monitor.ask(lambda age: age < 30, 2500) is True
        assert monitor.ask(lambda age: age > 60, 2500) is False
        assert monitor.scale < 50
    with pytest.raises(eq.DataError, match="one value for each row"):
        monitor.ask([True], 10)
    with pytest.raises(eq.RequestError):
        eq.ThresholdMonitor(ages, epsilon=1, delta=0, budget_per_unit=5)


def test_a_monitor_takes_texts_on_every_kind_of_table() -> None:
    pandas, polars, pyarrow = (pytest.importorskip(name) for name in ("pandas", "polars", "pyarrow"))
    columns = {"age": [20] * 5000 + [70] * 100, "town": ["Ayr"] * 5000 + ["Bute"] * 100}
    # Thousands of scales from each threshold.
    for data in (columns, pandas.DataFrame(columns), polars.DataFrame(columns), pyarrow.table(columns)):
        monitor = eq.ThresholdMonitor(data, epsilon=2, delta=1e-6, budget_per_unit=2)
        assert monitor.ask("age < 30 and town = 'Ayr'", 2500) is True
        assert monitor.ask("town = 'Bute'", 2500) is False
        assert monitor.ask("town = 'Ayr'", 2500) is True
        # They have helped twice and are gone.
        assert monitor.ask("age >= 0", 2500) is False
        with pytest.raises(eq.RequestError, match="no column is called 'wage'"):
            monitor.ask("wage > 1", 10)
        with pytest.raises(eq.RequestError, match="where:"):
            monitor.ask("age >", 10)
        with pytest.raises(eq.RequestError, match="threshold"):
            monitor.ask("age > 1", float("nan"))
        with pytest.raises(eq.RequestError, match="sums need a monitor"):
            monitor.ask_sum("age", 10)


def test_a_monitor_of_people_and_sums() -> None:
    data = {"person": [f"p{row % 2000}" for row in range(10_000)], "hours": [4.0] * 10_000}
    monitor = eq.ThresholdMonitor(data, epsilon=4, delta=1e-6, budget_per_unit=5, privacy_unit="person", sums=True)
    # Two thousand people, hundreds of scales from each threshold.
    assert monitor.ask("hours > 0", 1000) is True
    assert monitor.ask("hours > 0", 3000) is False
    # Five rows of four hours each, cut to ten: 20,000 in all.
    assert monitor.ask_sum("hours", 15_000, most=10) is True
    assert monitor.ask_sum("hours", 25_000, most=10) is False
    assert monitor.ask_sum(np.full(10_000, 1.0), 15_000, most=10) is False
    assert monitor.ask_sum(np.full(10_000, 2.0), 15_000, most=10) is True
    for bad in (0, -1, "x"):
        with pytest.raises(eq.RequestError):
            monitor.ask_sum(np.full(10_000, 1.0), 10, most=bad)
    with pytest.raises(eq.RequestError, match="no column is called 'who'"):
        eq.ThresholdMonitor(data, epsilon=1, delta=1e-6, budget_per_unit=5, privacy_unit="who")


def test_a_monitor_of_a_file_goes_on_where_it_ended(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text("age\n" + "30\n" * 5000)
    words: dict[str, Any] = {"epsilon": 2, "delta": 1e-6, "budget_per_unit": 2}
    monitor = eq.ThresholdMonitor(path, **words)
    assert not monitor.resumed and monitor.ask("age > 18", 2500) is True
    with pytest.raises(eq.RequestError, match="no column"):
        monitor.ask("wage > 18", 2500)
    with pytest.raises(eq.RequestError, match="a file is asked with a text"):
        monitor.ask(lambda row: True, 10)
    del monitor
    again = eq.ThresholdMonitor(path, **words)
    assert again.resumed and [line["answer"] for line in again.earlier] == ["above"]
    assert again.ask("age > 18", 2500) is True
    # Everybody has helped twice; only one charge was made.
    assert again.ask("age > 18", 2500) is False
    session = eq.Session(path, ledger=tmp_path / "equipoise.ledger")
    assert session.spent["epsilon"] == "2"
    for state in (None, tmp_path / "people.c.v"):
        with pytest.raises(eq.RequestError, match="beside or within a pattern"):
            eq.ThresholdMonitor(tmp_path / "people.c*v", state=state, **words)
    assert session.spent["epsilon"] == "2"
    del again
    path.write_text("age\n" + "30\n" * 5001)
    with pytest.raises(eq.RequestError, match="the data have changed"):
        eq.ThresholdMonitor(path, **words)


def _asked_in_a_fork(stream: Any, asked: Any) -> str:
    """What a forked child is told."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            asked(stream)
            said = "answered"
        except Exception as error:
            said = str(error)
        os.write(write, said.encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as pipe:
        said = pipe.read()
    os.waitpid(child, 0)
    return said


def test_a_fork_does_not_double_a_budget() -> None:
    monitor = eq.ThresholdMonitor([1.0] * 100, epsilon=1, delta=1e-6, budget_per_unit=2)
    stream = eq.AboveThreshold(epsilon=1, threshold=10)
    holdout = eq.Holdout([0.5], [0.5] * 60_000, questions=10, corrections=1, tolerance=0.05, epsilon=1)
    for one, asked in (
        (monitor, lambda one: one.ask("value > 0", 10)),
        (stream, lambda one: one.answer(5)),
        (holdout, lambda one: one.ask(lambda row: row)),
    ):
        assert "begun in the parent process" in _asked_in_a_fork(one, asked)
        asked(one)


def test_a_holdout_scores_as_scikit_learn_does() -> None:
    class Always:
        def __init__(self, answer: int) -> None:
            self.answer = answer

        def predict(self, rows: Any) -> Any:
            return np.full(len(rows), self.answer)

    features = np.zeros((60_000, 2))
    labels = np.arange(60_000) % 4 == 0
    pair = (features, labels.astype(int))
    holdout = eq.Holdout(pair, pair, questions=100, corrections=10, tolerance=0.05, epsilon=1)
    # Training rows and holdout agree; the noise would have to exceed forty scales.
    assert holdout.score(Always(1)) == 0.25 and holdout.score(Always(0)) == 0.75
    assert holdout.score(Always(1), scoring=lambda truth, found: np.abs(truth - found) / 2) == 0.375
    assert holdout.questions_left == 97
    linear = pytest.importorskip("sklearn.linear_model")
    with pytest.raises(eq.RequestError, match="give scoring="):
        holdout.score(linear.LinearRegression().fit(features[:9], labels[:9]))
    with pytest.raises(eq.RequestError, match="pairs"):
        eq.Holdout([0.5], [0.5] * 60_000, questions=9, corrections=1, tolerance=0.05, epsilon=1).score(Always(1))
    with pytest.raises(eq.DataError, match="X and y differ"):
        eq.Holdout(pair, (features, labels[:-1]), questions=9, corrections=1, tolerance=0.05, epsilon=1)


def test_a_holdout_corrects_what_training_rows_mislead_about() -> None:
    training, held_out = np.full(1000, 0.9), np.full(60_000, 0.1)
    holdout = eq.Holdout(training, held_out, questions=100, corrections=10, tolerance=0.05, epsilon=1)
    answer = holdout.ask(lambda row: row)
    # The correction has noise of scale 20/60,000 on a grid of 0.05.
    assert holdout.corrected and abs(answer - 0.1) <= 0.05
    assert holdout.corrections_left == 9 and holdout.questions_left == 99
    assert holdout.accuracy < 0.5
    with pytest.raises(eq.RequestError, match="hold out more rows"):
        eq.Holdout(training, training, questions=1000, corrections=10, tolerance=0.01, epsilon=1)
