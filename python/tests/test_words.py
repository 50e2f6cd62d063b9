"""What people read of releases: the range that values were limited to is part of every answer, in words, notebooks and frames."""

from __future__ import annotations

import equipoise as eq

PEOPLE = {"pay": [1000.0 + i % 700 for i in range(4000)], "town": ["Ayr", "Bern"] * 2000}
TOWNS = ["Ayr", "Bern"]


def test_a_number_is_not_read_without_the_range_of_its_values() -> None:
    release = eq.mean(PEOPLE, "pay", range=(0, 2000), epsilon=1)
    assert repr(release).startswith("<mean of pay, values limited to 0 .. 2000: 13")
    assert release.receipt["id"][:8] in repr(release)
    page = release._repr_html_()
    assert "mean of pay, values limited to 0 .. 2000" in page and "for one row (add-remove)" in page
    assert list(release.to_pandas().columns) == ["value", "low", "high", "limited_low", "limited_high", "refused"]
    by_town = eq.mean(PEOPLE, "pay", group_by="town", keys=TOWNS, range=(0, 2000), epsilon=1)
    for text in (repr(by_town), by_town._repr_html_()):
        assert "mean of pay by town" in text
        assert "about: rows are limited to 0 to 2000" in text and "each holds on its own (95 % confidence)" in text
    assert list(by_town.to_pandas()["limited_high"]) == [2000, 2000]


def test_several_answers_are_all_shown() -> None:
    summary = eq.summary(PEOPLE, "pay", epsilon=20)
    for text in (repr(summary), summary._repr_html_()):
        assert "None" not in text and "standard-deviation" in text and "limited to" in text and "ranks" in text
    batch = eq.batch([{"statistic": "count"}, {"statistic": "median", "column": "pay"}], PEOPLE, epsilon=4)
    assert "\n  median of pay: 1" in repr(batch) and "\n  count: " in repr(batch)
    grouped = eq.summary(PEOPLE, "pay", group_by="town", keys=TOWNS, epsilon=20)
    assert "\n  mean: about: rows are limited to" in repr(grouped)
    # A line break in a key is no line of ours.
    odd = eq.count({"town": ["a\nb"] * 900}, group_by="town", keys=["a\nb"], epsilon=1)
    assert "\n  a\\u{a}b" in repr(odd)


def test_a_refusal_has_its_advice_its_price_and_the_next_call() -> None:
    refused = eq.median([1.0] * 60, epsilon=0.5)
    assert refused.refused and refused.next_step is not None
    for text in (repr(refused), refused._repr_html_()):
        assert "refused" in text and "too few rows" in text and "eq.median(data" in text and "0.5" in text


def test_rows_of_a_query_show_their_bars_and_what_they_are_about() -> None:
    rows = eq.sql(
        "SELECT town, COUNT(*) AS n, AVG(pay, contribution_bounds_per_row => (0, 2000)) AS m FROM people GROUP BY town",
        people=PEOPLE,
        epsilon=4,
        delta=1e-6,
    )
    page = rows._repr_html_()
    assert "m: rows are limited to 0 to 2000" in page and "privacy: epsilon 4, delta 0.000001 for one row" in page and " to " in page
    shown = repr(rows)
    assert shown.startswith("<query, 2 rows (epsilon=4, delta=0.000001") and "m: rows are limited to 0 to 2000" in shown, shown
    assert all(len(line) < 120 for line in shown.splitlines()) and "\n  Ayr   " in shown, shown
    assert rows.to_polars().shape == rows.to_pandas().shape == (2, 3) and rows.to_arrow().num_rows == 2
