"""Prices that protect little are warned of, by public numbers, and nobody loses an answer that was paid for over it."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import equipoise as eq

KEYS = {"name": [f"p{row}" for row in range(3000)], "value": [float(row) for row in range(3000)]}


def test_a_large_epsilon_and_a_large_delta_are_warned_of() -> None:
    with pytest.warns(eq.PrivacyWarning, match="epsilon 11 is above 10 and protects little: one row") as seen:
        release = eq.count(KEYS, epsilon=11)
    assert len(seen) == 1 and seen[0].filename == __file__
    assert len(release.warnings) == 1 and release.to_dict()["warnings"] == release.warnings
    with pytest.warns(eq.PrivacyWarning, match="delta 0.5 is above one over the number of rows wherever") as seen:
        release = eq.histogram(KEYS, "name", epsilon=1, delta=0.5)
    # Each key is told with a probability above a tenth; that none is has a chance below 1e-100.
    assert len(seen) == 1 and "the released number of rows" in release.warnings[0] and "delta=" in release.warnings[0]
    summary = eq.Session(KEYS).count(epsilon=11).summarize()
    assert len(summary["warnings"]) == 1


def test_usual_prices_are_quiet() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert eq.count(KEYS, epsilon=10).warnings == []
        eq.histogram(KEYS, "name", epsilon=1, delta=1e-6)


def test_who_makes_errors_of_warnings_does_not_pay_for_one() -> None:
    session = eq.Session(KEYS, budget=(100, 0.1))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(eq.PrivacyWarning):
            session.count(epsilon=11).release()
        assert session.spent["epsilon"] == "0"
        # What is known with the answer alone comes with it: a delta of 1/1500 is above one over 3,000 rows.
        release = session.histogram("name", epsilon=1, delta="1/1500", keys=None).release()
    assert session.spent["epsilon"] == "1" and isinstance(release.warnings, list)


def test_blocks_warn_too() -> None:
    with pytest.warns(eq.PrivacyWarning, match="epsilon 20"):
        release = eq.subsample(len, KEYS["value"], epsilon=20, blocks=100, default=0)
    assert not release.refused


def test_calibration_warns_of_the_price_beside_the_stated_rows() -> None:
    with pytest.warns(eq.PrivacyWarning, match="epsilon 11 is above 10 and protects little: one row") as seen:
        assert eq.calibrate("laplace", epsilon=11, sensitivity=11)["scale"] == 1.0
    assert len(seen) == 1 and seen[0].filename == __file__
    with pytest.warns(eq.PrivacyWarning, match="delta 0.01 is above one over the stated number of rows, 200") as seen:
        eq.calibrate("bootstrap", epsilon=1, delta=0.01, rows=200)
    assert len(seen) == 1 and "delta=" in str(seen[0].message) and "--delta" not in str(seen[0].message)
    with pytest.warns(eq.PrivacyWarning, match="one over the number of rows wherever there are more than 500"):
        eq.calibrate("gaussian", epsilon=1, delta=0.002, sensitivity=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        eq.calibrate("laplace", epsilon=10, sensitivity=1)
        eq.calibrate("bootstrap", epsilon=1, delta="1/200", rows=200)
        with pytest.raises(eq.RequestError):
            eq.calibrate("laplace", epsilon=11, sensitivity=-1)


def _monitor(**words: Any) -> eq.ThresholdMonitor:
    return eq.ThresholdMonitor(KEYS, **{"epsilon": 1, "delta": 1e-6, "budget_per_unit": 10, **words})


def _stream(**words: Any) -> eq.AboveThreshold:
    return eq.AboveThreshold(**{"epsilon": 1, "threshold": 1000, **words})


def _holdout(**words: Any) -> eq.Holdout:
    rows = [0.25] * 60_000
    return eq.Holdout(rows, rows, **{"questions": 100, "corrections": 10, "tolerance": 0.05, "epsilon": 1, **words})


@pytest.mark.parametrize("begin", [_monitor, _stream, _holdout])
def test_what_is_paid_for_once_warns_before_it_is_charged(begin: Callable[..., Any], tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        begin()
        begin(epsilon=10)
    with pytest.warns(eq.PrivacyWarning, match="epsilon 11 is above 10 and protects little: one row may") as seen:
        begin(epsilon=11)
    assert len(seen) == 1 and seen[0].filename == __file__
    ledger = tmp_path / "spent.ledger"
    spent = lambda: eq.Session(KEYS, ledger=ledger, name="people").spent["epsilon"]  # noqa: E731
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(eq.PrivacyWarning):
            begin(epsilon=11, ledger=ledger, name="people")
    assert spent() == "0"
    with pytest.warns(eq.PrivacyWarning):
        begin(epsilon=11, ledger=ledger, name="people")
    assert spent() == "11"


def test_a_monitor_warns_of_its_delta_and_names_its_unit(tmp_path: Path) -> None:
    with pytest.warns(eq.PrivacyWarning, match="delta 0.01 is above .* allow all rows of one name to be published") as seen:
        _monitor(delta=0.01, privacy_unit="name")
    assert len(seen) == 1
    file = tmp_path / "people.csv"
    file.write_text("name,value\n" + "".join(f"p{row},{row}\n" for row in range(3000)))
    for unit, words in [(None, "one row"), ("name", "all rows of one name")]:
        with pytest.warns(eq.PrivacyWarning, match=f"delta 0.01 is above .* allow {words} to be published") as seen:
            monitor = eq.ThresholdMonitor(
                file, epsilon=1, delta=0.01, budget_per_unit=10, privacy_unit=unit, state=tmp_path / f"{unit}.monitor"
            )
        assert len(seen) == 1 and not monitor.resumed


def test_robust_structures_are_about_no_rows_and_say_nothing() -> None:
    # What they lose is about their own coins: nothing is charged, so that there is no price to be warned of.
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        eq.RobustF2(answers=3, heuristic=(64, 5, 512, 40))
