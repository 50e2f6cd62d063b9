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


def test_bins_of_numbers() -> None:
    bins = eq.histogram(FLIGHTS, "delay", bins=2, range=(0, 40), **SURE)
    counts = {group["key"]: group["value"] for group in bins.groups}
    assert counts == {"below 0": 0, "0 .. 20": 80, "20 .. 40": 40, "above 40": 40}
    found = eq.histogram(FLIGHTS, "delay", width=50, delta=1e-6, **SURE)
    assert [(group["key"], group["value"]) for group in found.groups] == [("0 .. 50", 120), ("50 .. 100", 40)]


def test_ends_lie_inside() -> None:
    rows = list(range(2000))
    largest, least = eq.max(rows, **SURE), eq.min(rows, **SURE)
    assert 1990 <= largest.value <= 1999 and 0 <= least.value <= 9
    assert eq.max([1, 2, 3], epsilon=0.5).refused
    by = eq.max(FLIGHTS, "delay", group_by="carrier", keys=["AA", "UA"], range=(0, 100), resolution=1, **SURE)
    assert {group["key"]: group["value"] for group in by.groups} == {"AA": 10, "UA": 90}


def test_values_and_people_are_counted() -> None:
    assert eq.distinct(FLIGHTS, "carrier", **SURE).value == 2
    people = {"person": [1, 1, 2, 3] * 50}
    assert eq.distinct(people, privacy_unit="person", **SURE).value == 3


def test_a_distribution_at_points() -> None:
    shares = eq.ecdf(FLIGHTS, "delay", at=[0, 10.5, 100], **SURE)
    values = [group["value"] for group in shares.groups]
    assert values == pytest.approx([0.25, 0.5, 1.0], abs=0.02)
    drawn = eq.ecdf({"x": list(range(2000))}, "x", **SURE)
    assert len(drawn.groups) == 9 and drawn.groups[4]["value"] == 0.5


def test_two_columns_and_pictures_that_name_quantiles() -> None:
    people = {"age": list(range(100)) * 30, "pay": [2 * age for age in range(100)] * 30}
    ranges = {"range": (0, 100), "range_y": (0, 200)}
    # Noise of scale 1/16 on sums of 3,000 rows.
    assert eq.correlation(people, "age", "pay", **ranges, **SURE).value == pytest.approx(1, abs=0.05)
    assert eq.covariance(people, "age", "pay", **ranges, **SURE).value == pytest.approx(1666.5, abs=100)
    assert eq.Session(people).correlation("age", y="pay", epsilon=1).summarize()["column"] == "age and pay"
    with pytest.raises(eq.RequestError, match="with which column"):
        eq.correlation(people, "age", epsilon=1)
    pictured = eq.quantile(people, [0.25, 0.75], "pay", **SURE).svg().svg
    assert "quantile 0.25" in pictured and "1 of 2" not in pictured
