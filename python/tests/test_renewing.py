"""Budgets that renew: by a column of days, and with time after a word about what that adds up to."""

from __future__ import annotations

import datetime
from pathlib import Path

import pytest

import equipoise as eq


@pytest.fixture
def visits(tmp_path: Path) -> Path:
    """A hundred visits in each of six months."""
    rows = [f"2026-{month:02d}-{1 + row % 28:02d},p{row % 50}" for month in range(7, 13) for row in range(100)]
    file = tmp_path / "visits.csv"
    file.write_text("visited,person\n" + "\n".join(rows) + "\n")
    return file


def left(windows: list[dict[str, object]]) -> dict[str, str]:
    return {one["window"]: one["remaining"]["epsilon"] for one in windows}  # type: ignore[index, misc]


def test_each_month_has_a_budget_of_its_own(visits: Path) -> None:
    session = eq.Session(visits, budget=20, every="month", day="visited")
    release = session.count(epsilon=10, window="2026-10").release()
    assert abs(release.value - 100) < 9  # off by 9 with a chance of e^-90
    assert left(release.to_dict()["windows"]) == {"2026-10": "10"}
    two = session.count(epsilon=5, window="2026-09..2026-10").release()
    assert abs(two.value - 200) < 18
    assert session.windows is not None
    assert left(session.windows["windows"]) == {"2026-09": "15", "2026-10": "5"}
    assert session.windows["renewing"]["day"] == {"column": "visited", "type": "date"}
    with pytest.raises(eq.BudgetError, match="for the month 2026-10"):
        session.count(epsilon=6, window="2026-10").release()
    with pytest.raises(eq.RequestError, match="window="):
        session.count(epsilon=1)
    with pytest.raises(eq.RequestError, match="leave out window="):
        eq.count({"visited": ["2026-10-01"]}, epsilon=1, window="2026-10")
    rows = eq.sql(f"SELECT COUNT(*) AS n FROM '{visits}'", epsilon=5, window="2026-11")
    assert abs(next(iter(rows))[0] - 100) < 18
    batch = eq.batch([{"statistic": "count"}], visits, epsilon=5, window="2026-12")
    assert abs(batch.answers[0]["value"] - 100) < 18
    session.never_renew()
    assert session.windows is None
    assert abs(session.count(epsilon=10).release().value - 600) < 9


def test_types_of_frames_say_what_the_column_holds(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    days = pandas.date_range("2026-09-30T22:00", periods=100, freq="h")
    frame = pandas.DataFrame({"visited": days})
    session = eq.Session(frame, budget=20, ledger=tmp_path / "l.ledger", name="visits", every="month", day="visited")
    assert session.windows is not None and session.windows["renewing"]["day"]["type"] == "timestamp"
    release = session.count(epsilon=10, window="2026-09").release()
    assert abs(release.value - 2) < 9


def test_what_adds_up_is_said_first(visits: Path) -> None:
    with pytest.raises(eq.RequestError, match="adds up to epsilon 12 in a year.*adds_up=True"):
        eq.Session(visits, budget=1, every="month")
    session = eq.Session(visits, budget=1, every="month", adds_up=True)
    release = session.count(epsilon=0.5).release()
    assert session.remaining_budget == {"epsilon": "0.5", "delta": "0"}
    assert [one["window"] for one in release.to_dict()["windows"]] == [release.to_dict()["receipt"]["time"][:7]]
    assert datetime.date.fromisoformat(release.to_dict()["receipt"]["time"][:10])


def test_wrong_words_are_one_line(visits: Path) -> None:
    for keywords, said in [
        ({"day": "visited"}, "every="),
        ({"budget": 1, "every": "moon", "day": "visited"}, "every="),
        ({"budget": 1, "every": "month", "day": "visit"}, "visited"),
        ({"every": "month", "day": "visited"}, "budget="),
        ({"budget": 1, "every": "month", "day": "visited", "adjacency": "replace"}, "add-remove"),
    ]:
        with pytest.raises(eq.RequestError, match=said) as error:
            eq.Session(visits, **keywords)  # type: ignore[arg-type]
        assert "\n" not in str(error.value)
    with pytest.raises(eq.EquipoiseError):
        eq.Session({"visited": ["2026-10-01"]}, budget=1, every="month", day="visited")
