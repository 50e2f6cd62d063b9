"""Prices that protect little are warned of, by public numbers, and nobody loses an answer that was paid for over it."""

from __future__ import annotations

import warnings

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
