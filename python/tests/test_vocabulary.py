"""Shares, bins, ends, distinct values and distributions of rows in memory."""

from __future__ import annotations

import pytest

import equipoise as eq

# At this price noise is zero but for a chance below e^-100.
SURE = {"epsilon": 300}
FLIGHTS = {
    "delay": [0.0, 10.0, 20.0, float("nan"), 90.0] * 40,
    "night": [True, False, False, False, True] * 40,
    "carrier": ["AA", "AA", "UA", "UA", "UA"] * 40,
}


@pytest.fixture(autouse=True)
def _quiet() -> None:
    import warnings

    warnings.simplefilter("ignore", eq.PrivacyWarning)


def test_a_share_leaves_out_what_is_unknown() -> None:
    assert eq.share(FLIGHTS, "delay > 60", **SURE).value == pytest.approx(0.25, abs=0.01)
    assert eq.share(FLIGHTS, "coalesce(delay, 0) > 60", **SURE).value == pytest.approx(0.2, abs=0.01)
    assert eq.share(FLIGHTS, "night", **SURE).value == pytest.approx(0.4, abs=0.01)
    assert eq.share([True, False] * 100, **SURE).value == pytest.approx(0.5, abs=0.01)
    grouped = eq.share(FLIGHTS, "night", group_by="carrier", keys=["AA", "UA"], **SURE)
    shares = {group["key"]: group["value"] for group in grouped.groups}
    assert shares == {"AA": pytest.approx(0.5, abs=0.02), "UA": pytest.approx(1 / 3, abs=0.02)}


def test_a_column_of_numbers_is_no_condition() -> None:
    with pytest.raises(eq.RequestError, match="share takes a condition, and 'delay' is a number; compare it"):
        import pyarrow as pa

        eq.share(pa.table({"delay": [1.0, 2.0]}), "delay", epsilon=1)
