"""calibrate, simulate, audit; streams of answers; sketches."""

from __future__ import annotations

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
    with pytest.raises(eq.RequestError):
        eq.simulate("median", [1.0], trials=-1, epsilon=1)


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
    from decimal import Decimal

    assert Decimal(eq.spent()["epsilon"]) - Decimal(before) == Decimal("0.125")


def test_a_threshold_monitor_on_arrays_and_lists() -> None:
    ages = np.array([20] * 5000 + [70] * 100)
    for data in (ages, ages.tolist()):
        monitor = eq.ThresholdMonitor(data, epsilon=2, delta=1e-6, budget_per_unit=5)
        # Thousands of records from the threshold, at a noise of scale about ten.
        assert monitor.ask(lambda age: age < 30, 2500) is True
        assert monitor.ask(lambda age: age > 60, 2500) is False
        assert monitor.scale < 50
    with pytest.raises(eq.DataError, match="one yes or no"):
        monitor.ask([True], 10)
    with pytest.raises(eq.RequestError):
        eq.ThresholdMonitor(ages, epsilon=1, delta=0, budget_per_unit=5)


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
