"""Releases as tables, pictures, paragraphs and numbers: what was released, and nothing else."""

from __future__ import annotations

import builtins
import datetime
import sys
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

import equipoise as eq

TOWNS = ["Ayr", "Bath"] * 1000
VALUES = list(np.linspace(0, 100, 2000))
TABLE = {"town": TOWNS, "x": VALUES}


def test_a_number_is_one_row_with_both_ends_of_its_bar() -> None:
    release = eq.mean(VALUES, epsilon=10, range=(0, 100))
    frame = release.to_pandas()
    assert list(frame.columns) == ["value", "low", "high", "limited_low", "limited_high", "refused"] and len(frame) == 1
    assert frame["value"][0] == release.value and (frame["low"][0], frame["high"][0]) == release.interval
    assert release.to_polars().rows() == [tuple(frame.iloc[0])]
    assert release.to_arrow().to_pylist() == frame.to_dict("records")


def test_groups_are_rows_and_lists_and_summaries_columns() -> None:
    histogram = eq.histogram(TABLE, "town", epsilon=1000, keys=["Ayr", "Bath", "Cork"]).to_pandas()
    # Noise at epsilon 1000 is zero but for a chance of e^-1000.
    assert list(histogram["town"]) == ["Ayr", "Bath", "Cork"] and list(histogram["value"]) == [1000, 1000, 0]
    quantiles = eq.quantile(TABLE, "x", [0.25, 0.75], group_by="town", keys=["Ayr", "Bath"], epsilon=100).to_pandas()
    assert list(quantiles.columns) == ["town", "value_1", "low_1", "high_1", "rank_1", "value_2", "low_2", "high_2", "rank_2", "refused"]
    assert (quantiles["value_1"] < quantiles["value_2"]).all() and (quantiles["rank_1"] >= 0).all()
    summary = eq.summary(TABLE, "x", group_by="town", keys=["Ayr", "Bath"], epsilon=100, range=(0, 100)).to_arrow()
    for name in ("count", "count_low", "mean", "mean_high", "standard_deviation", "q0.05", "q0.5_low", "q0.95"):
        assert name in summary.column_names
    assert summary.num_rows == 2
    listed = eq.quantile(VALUES, [0.25, 0.75], epsilon=100).to_pandas()
    assert list(listed["fraction"]) == [0.25, 0.75]
    assert list(listed["place"]) == [1, 2] and listed["value"].is_monotonic_increasing


def test_a_column_that_is_called_like_a_result_keeps_its_own() -> None:
    frame = eq.count({"value": TOWNS}, group_by="value", keys=["Ayr"], epsilon=1000).to_pandas()
    assert list(frame["value_key"]) == ["Ayr"] and list(frame["value"]) == [1000]


def test_a_refusal_is_a_row_without_a_value() -> None:
    release = eq.median([1.0, 2.0, 3.0], epsilon=0.1)
    assert release.refused  # three rows are far fewer than the noisy count asks for: a chance below e^-10 otherwise
    frame = release.to_pandas()
    assert frame["refused"][0] and frame["value"][0] is None


def test_days_and_decimals_are_what_they_are() -> None:
    days = np.array(["2020-01-01"] * 500 + ["2020-06-01"] * 500, dtype="datetime64[D]")
    release = eq.median({"d": days}, "d", epsilon=10, type={"d": "date"})
    assert isinstance(release.to_pandas()["value"][0], (datetime.date, datetime.datetime))
    prices = [Decimal("12.50")] * 1000
    assert isinstance(eq.median({"p": prices}, "p", epsilon=10, type={"p": "decimal:2"}).to_arrow()["value"][0].as_py(), Decimal)


def test_a_missing_library_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    release = eq.count(VALUES, epsilon=1)
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(eq.DataError, match="needs polars, which is not installed"):
        release.to_polars()


def test_a_release_knows_nothing_but_what_was_released() -> None:
    """No row hides behind it: everything that it is made of is in its dictionary."""
    release = eq.mean([12345.678901] * 1000, epsilon=1, range=(0, 100_000))
    assert eq.Release.__slots__ == ("_fractions", "_parts", "_place") and release.to_dict() == release._parts
    assert release._fractions == ()  # of quantiles: those that were asked for
    assert vars(release._place) == {"session": False, "said": {}}  # what the caller typed of ledger, name and analyst
    assert not hasattr(release, "__dict__") and "12345.678901" not in str(release.to_dict())


def test_numbers_are_formatted_and_truth_is_an_error() -> None:
    release = eq.count(VALUES, epsilon=1000)
    assert f"{release:.1f}" == "2000.0" and f"{release:,}" == "2,000" and f"{release}" == str(release)
    assert float(release) == 2000.0
    with pytest.raises(TypeError, match="release.refused"):
        bool(release)
    several = eq.quantile(VALUES, [0.25, 0.75], epsilon=10)
    with pytest.raises(eq.DataError, match="take release.value"):
        f"{several:.2f}"
    with pytest.raises(eq.RefusedError):
        f"{eq.median([1.0, 2.0], epsilon=0.1):.2f}"


def test_a_paragraph_says_what_is_promised() -> None:
    words = eq.count(VALUES, epsilon=2.1).explain()
    for part in ("of data in memory, by", "e^2.1 = 8.2 times surer", "one row", "odds change", "is spent on all data of this process", "Receipt: "):
        assert part in words
    refused = eq.median([1.0, 2.0], epsilon=0.1).explain()
    assert "There is no answer" in refused and "`" not in refused


def test_pictures_with_and_without_matplotlib(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("matplotlib")
    release = eq.count({"town": ["$\\frac", "<script>"] * 500}, group_by="town", keys=["$\\frac", "<script>"], epsilon=10)
    axes = release.plot()
    axes.figure.canvas.draw()
    assert [label.get_text() for label in axes.get_yticklabels()] == ["\\$\\frac", "<script>"]
    picture = release.svg()
    assert picture._repr_svg_().startswith("<svg") and "<script>" not in picture.svg and "eq-bar" in picture.svg
    find = importlib_find_spec_without("matplotlib")
    monkeypatch.setattr("importlib.util.find_spec", find)
    assert release.plot().svg == picture.svg


def importlib_find_spec_without(hidden: str) -> Any:
    from importlib.util import find_spec

    return lambda name, *rest: None if name == hidden else find_spec(name, *rest)


def test_notebooks_show_groups_and_never_their_markup() -> None:
    keys = [f"k{place}" for place in builtins.range(50)] + ["<script>alert(1)</script>"]
    release = eq.histogram({"town": ["k1"] * 100}, "town", keys=keys, epsilon=10)
    shown = release._repr_html_()
    assert "<script>" not in shown and "51 groups" in shown and "11 more" in shown and release.receipt["id"][:12] in shown
    assert "k1 " in repr(release) and "41 more" in repr(release)


def test_columns_and_quantiles_in_either_order() -> None:
    for arguments in (("x", [0.25, 0.75]), ([0.25, 0.75], "x"), ("x", "0.25,0.75"), ("0.25,0.75", "x")):
        low, high = eq.quantile(TABLE, *arguments, epsilon=100).value
        assert low < 40 < 60 < high
    session = eq.Session(TABLE, budget=100)
    assert len(session.quantile("x", [0.1, 0.9], epsilon=10).release().value) == 2
    with pytest.raises(eq.RequestError, match="column is the name of a column"):
        eq.mean(TABLE, 7, epsilon=1)  # type: ignore[arg-type]


def test_columns_and_numbers_of_values_in_either_order() -> None:
    table = {"town": ["Ayr"] * 900 + ["Bern"] * 600 + ["Cork"] * 90}
    for release in (eq.top(table, "town", 2, epsilon=10, delta=1e-6), eq.top(table, 2, "town", epsilon=10, delta=1e-6)):
        # Both lead by hundreds of rows: refused with a chance below 1e-100.
        assert sorted(release.value) == ["Ayr", "Bern"]


def test_bins_are_shown_from_the_lowest_on() -> None:
    release = eq.histogram([100.0, 700.0, 12_000.0] * 300, bins=3, range=(0, 15_000), epsilon=1)
    shown = repr(release)
    places = [shown.index(f"  {key}") for key in ("below 0", "0 .. 5000", "5000 .. 10000", "10000 .. 15000", "above 15000")]
    assert places == sorted(places), shown


def test_ranks_are_told_in_plain_words() -> None:
    pay = {"pay": [float(row) for row in range(5000)], "town": ["Ayr", "Bern"] * 2500}
    assert " % quantile" in repr(eq.median(pay, "pay", epsilon=2)), "between which quantiles"
    groups = eq.median(pay, "pay", group_by="town", keys=["Ayr", "Bern"], epsilon=2)
    assert "rows of its group lie between an answer and the true one" in repr(groups)
    several = eq.quantile(pay, "pay", [0.2, 0.5, 0.8], epsilon=5)
    assert "as the others tell, the 0.5 quantile lies between" in repr(several)


def test_names_of_the_command_line_and_the_older_ones() -> None:
    people = {"who": [str(place // 2) for place in builtins.range(2000)], "day": ["2020-01-01"] * 2000}
    for words in ({"unit": "who"}, {"privacy_unit": "who"}):
        assert eq.count(people, epsilon=1, **words).guarantee["unit"] == "who"
        assert eq.Session(people, budget=5, **words).count(epsilon=1).release().guarantee["unit"] == "who"
        assert eq.subsample(len, people["day"], epsilon=1, default=0, **{name: people["who"] for name in words}).guarantee["unit"] != "row"
    for words in ({"type": {"day": "date"}}, {"types": {"day": "date"}}):
        assert eq.median(people, "day", epsilon=1, **words).type == "date"
    with pytest.raises(eq.RequestError, match="not both"):
        eq.count(people, epsilon=1, unit="who", privacy_unit="who")


def test_progress_is_the_clock_wherever_it_is_shown(capfd: pytest.CaptureFixture[str]) -> None:
    from equipoise import _workers

    # Nothing is shown where standard error is no terminal and there is no tqdm.
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "tqdm.auto", None)
        patch.setattr(_workers, "_TICK_SECONDS", 0.001)
        eq.simulate("count", VALUES, trials=2000, epsilon=1, progress=True)
    assert capfd.readouterr().err == ""
