"""Every statistic on every kind of data. Coins are real: each bound is far beyond what noise does, as noted."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import equipoise as eq

ROWS = 20_000
VALUES = np.arange(ROWS, dtype=np.float64)

KINDS = {
    "numpy": lambda x: x,
    "numpy integers": lambda x: x.astype(np.int32),
    "strided": lambda x: np.repeat(x, 2)[::2],
    "pandas": pd.Series,
    "pandas nullable": lambda x: pd.Series(x, dtype="Float64"),
    "polars": pl.Series,
    "polars chunks": lambda x: pl.concat([pl.Series(x[:700]), pl.Series(x[700:])], rechunk=False),
    "pyarrow": pa.array,
    "pyarrow chunks": lambda x: pa.chunked_array([x[:700], x[700:]]),
    "list": list,
    "range": lambda x: range(len(x)),
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_median_of_every_kind_of_column(kind: str) -> None:
    # Rank error at epsilon 4 is below 100 with a chance far beyond 1 - 1e-12: e^(-4·1000/2) ranks of 1000.
    release = eq.median(KINDS[kind](VALUES), epsilon=4)
    assert abs(release.value - ROWS / 2) < 1000
    assert release.mechanism == "inverse-sensitivity"
    assert release.error is not None and release.error["kind"] == "rank"


FRAMES = {
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "pyarrow": pa.table,
    "dict": dict,
}


@pytest.mark.parametrize("kind", FRAMES)
def test_columns_of_tables_by_name(kind: str) -> None:
    towns = ["Bern" if i % 4 else "Basel" for i in range(ROWS)]
    frame = FRAMES[kind]({"age": VALUES, "town": towns})
    assert abs(eq.median(frame, "age", epsilon=4).value - ROWS / 2) < 1000
    # Bern leads by 10,000 rows: the gate is certain.
    assert eq.mode(frame, "town", epsilon=1, delta=1e-6).value == "Bern"
    assert abs(eq.count(frame, epsilon=4).value - ROWS) < 100
    release = eq.histogram(frame, "town", epsilon=4, keys=["Bern", "Basel"])
    assert [group["key"] for group in release.groups] == ["Basel", "Bern"]
    by_town = eq.median(frame, "age", epsilon=4, group_by="town", keys=["Bern", "Basel"])
    assert len(by_town.groups) == 2
    with pytest.raises(eq.RequestError, match="There are: age, town"):
        eq.median(frame, epsilon=1)
    with pytest.raises(eq.RequestError, match="did you mean 'age'"):
        eq.median(frame, "agee", epsilon=1)


def test_other_mechanisms_by_name() -> None:
    # One row moves the sum by 20,000; an error of 2,000 times that is e^-1000 or less.
    for mechanism, delta in {"laplace": None, "gaussian": 1e-6}.items():
        release = eq.sum(VALUES, epsilon=1, delta=delta, range=(0, ROWS), mechanism=mechanism)
        assert release.mechanism == mechanism and abs(release.value - VALUES.sum()) < 2000 * ROWS
    towns = ["Bern" if i % 4 else "Basel" for i in range(ROWS)]
    for mechanism in ("permute-and-flip", "exponential", "noisy-max"):
        # Bern leads by 10,000 rows: e^-10000 or less.
        release = eq.select(towns, among=["Basel", "Bern"], epsilon=1, mechanism=mechanism)
        assert (release.mechanism, release.value) == (mechanism, "Bern")


class OnlyArrow:
    """A column or table that speaks Arrow and nothing else."""

    def __init__(self, inner: object) -> None:
        self._inner = inner

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._inner.__arrow_c_stream__(requested_schema)


def test_anything_that_speaks_arrow() -> None:
    assert abs(eq.median(OnlyArrow(pa.chunked_array([VALUES])), epsilon=4).value - ROWS / 2) < 1000
    table = OnlyArrow(pa.table({"age": VALUES, "other": VALUES}))
    assert abs(eq.median(table, "age", epsilon=4).value - ROWS / 2) < 1000


def test_every_statistic_has_its_shape() -> None:
    data = np.tile(np.arange(100.0), 200)
    for statistic, keywords in {
        "sum": {"range": (0, 100)},
        "mean": {"range": (0, 100)},
        "mean ": {},
        "variance": {"range": (0, 100)},
        "std": {"range": (0, 100)},
        "iqr": {},
    }.items():
        release = getattr(eq, statistic.strip())(data, epsilon=4, **keywords)
        assert not release.refused and float(release) == release.value
        assert release.statistic == statistic.strip()
    three = eq.quantile(data, [0.25, 0.5, 0.75], epsilon=4)
    assert len(three.value) == 3 and three.value == sorted(three.value)
    assert eq.quantiles is eq.quantile
    std = eq.std(data, epsilon=8, range=(0, 100))
    # The standard deviation is 28.9; noise of the variance at scale 100²/(8·20,000) is far below 100.
    assert 20 < std.value < 40
    assert std.interval is None or std.interval[0] <= std.value <= std.interval[1]


def test_selections_summaries_and_wanted_errors() -> None:
    towns = ["Bern"] * 9000 + ["Basel"] * 1000
    # Permute-and-flip names Basel with a chance of e^-2000.
    assert eq.select(towns, epsilon=1, among=["Basel", "Bern"]).value == "Bern"
    summary = eq.summary(VALUES, epsilon=8)
    assert summary.refused or summary.answers or summary.value is not None
    plan = eq.Session({"x": VALUES}).count(target_error=10)
    assert 0 < float(plan.summarize()["charge"]["epsilon"]) < 1


def test_conditions_and_people() -> None:
    frame = {"age": VALUES, "town": ["Bern", "Basel"] * (ROWS // 2), "person": [f"p{i // 2}" for i in range(ROWS)]}
    for kind in (dict, pd.DataFrame, pl.DataFrame, pa.table):
        data = kind(frame)
        # Noise of scale 1/4: off by 100 with a chance of e^-400.
        adults = eq.count(data, epsilon=4, where="age >= 5000 and town = 'Bern'")
        assert abs(adults.value - 7500) < 100
        people = eq.count(data, epsilon=4, privacy_unit="person")
        assert abs(people.value - ROWS / 2) < 100 and people.guarantee["unit"] == "person"
    with pytest.raises(eq.RequestError):
        eq.count(frame, epsilon=1, where="age >")


def test_missing_values_are_nothing() -> None:
    # Half of the rows are missing: the median is that of the others.
    data = pl.Series([None if i % 2 else float(i) for i in range(ROWS)])
    assert abs(eq.median(data, epsilon=4).value - ROWS / 2) < 1000
    assert abs(eq.count({"x": data}, "x", epsilon=4).value - ROWS / 2) < 100


def test_a_float_is_the_decimal_that_it_shows() -> None:
    assert eq.count([1.0], epsilon=0.1).guarantee["epsilon"] == "0.1"
    assert eq.count([1.0], epsilon=np.float64(0.3)).guarantee["epsilon"] == "0.3"
    assert eq.count([1.0], epsilon="1/4").guarantee["epsilon"] == "0.25"
    assert eq.mode(["a"], epsilon=1, delta=1e-6).guarantee["delta"] == "0.000001"


def test_confidence_and_alpha_are_one_thing() -> None:
    wide = eq.count(VALUES, epsilon=0.01, confidence=0.999)
    same = eq.count(VALUES, epsilon=0.01, alpha=0.001)
    assert wide.error["confidence"] == same.error["confidence"] == 0.999
    with pytest.raises(eq.RequestError, match="not both"):
        eq.count(VALUES, epsilon=1, confidence=0.9, alpha=0.1)


def test_data_is_not_copied() -> None:
    """The compiled part reads numpy's memory where it lies."""
    import tracemalloc

    tracemalloc.start()
    eq.median(VALUES, epsilon=1)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < VALUES.nbytes // 2


def test_a_refusal_is_a_value() -> None:
    # Three rows are fewer than a median needs: a noisy count at epsilon 0.05 would have to reach 180, e^-9, so that
    # all of 60 do with a chance below 1e-200.
    releases = [eq.median([1.0, 2.0, 3.0], epsilon=1) for _ in range(60)]
    refused = next(release for release in releases if release.refused)
    assert refused.value is None and "epsilon" in refused.advice and "range=" in refused.advice
    assert "--" not in refused.advice and "refused" in repr(refused)
    with pytest.raises(eq.RefusedError, match="too few rows"):
        float(refused)
    assert "refused" in refused._repr_html_()


def test_summaries_by_group() -> None:
    towns = ["Bern" if i % 4 else "Basel" for i in range(ROWS)]
    frame = pd.DataFrame({"age": VALUES, "town": towns})
    release = eq.summary(frame, "age", epsilon=40, group_by="town", keys=["Bern", "Basel"])
    assert release.groups is not None and release.value is None
    assert [group["key"] for group in release.groups] == ["Basel", "Bern"]
    names = ["count", "mean", "standard-deviation", "quantiles"]
    assert [answer["statistic"] for answer in release.groups[0]["answers"]] == names
    table = pd.DataFrame([{"town": group["key"], **group["value"]} for group in release.groups])
    assert list(table.columns) == ["town", *names]
    # Each count has an epsilon above 1: off by 1,000 with a chance below e^-1000, and so are means and medians.
    assert abs(table["count"][1] - 3 * ROWS / 4) < 1000 and abs(table["mean"][1] - ROWS / 2) < 2000
    assert abs(table["quantiles"][1][2] - ROWS / 2) < 2000
    session = eq.Session(frame)
    again = session.group_by("town", keys=["Bern"]).summary("age", epsilon=40).release()
    assert again.groups is not None and len(again.groups) == 1


def test_intervals_of_several_quantiles() -> None:
    # Each end has epsilon 4.75 and aims about 20 ranks off; 900 ranks more have a chance below 2^64 e^-2000.
    release = eq.quantile(VALUES, [0.25, 0.75], epsilon=40, interval=True)
    assert isinstance(release.interval, list) and release.error is not None and release.error["together"]
    for (low, high), truth in zip(release.interval, (ROWS / 4, 3 * ROWS / 4), strict=True):
        assert low <= high and abs(low - truth) < 1000 and abs(high - truth) < 1000
    assert "the true values lie between" in repr(release) and "all at once (95 % confidence)" in repr(release)
    spread = eq.iqr(VALUES, epsilon=40, interval=True)
    assert isinstance(spread.interval, tuple)
    low, high = spread.interval
    assert abs(low - ROWS / 2) < 2000 and abs(high - ROWS / 2) < 2000
    assert "each quartile within" in repr(eq.iqr(VALUES, epsilon=4))


def test_a_mean_says_what_its_rows_were_limited_to_and_shows_the_digits_that_count() -> None:
    # At epsilon 1 the mean of 20,000 rows is off by a few units: no digit behind the second of its bar is worth reading.
    release = eq.mean(VALUES, epsilon=1)
    assert release.error is not None and "with rows limited to" in repr(release)
    assert "count as the nearest end" in repr(release) and "rows limited to" in release._repr_html_()
    shown = repr(release).partition(": ")[2].partition(";")[0]
    assert float(shown) == pytest.approx(release.value, abs=0.02 * (release.interval[1] - release.interval[0]))
    assert len(shown) <= 9 < len(str(release.value))


def test_a_release_shows_itself() -> None:
    release = eq.count(VALUES, epsilon=1)
    assert "count" in repr(release) and "laplace" in repr(release) and "95 %" in repr(release)
    assert "<svg" in release._repr_html_()
    assert release.to_dict()["outcome"] == "released"
    assert release.interval[0] <= release.value <= release.interval[1]
    assert release.receipt["ledger"] is None
    with pytest.raises(eq.EquipoiseError, match=r"^the released value is a\\u\{202e\}b, not a number; take release.value$"):
        float(eq.Release(dict(eq.count(VALUES, epsilon=1).to_dict(), value="a\u202eb")))
    with pytest.raises(TypeError, match="not a number"):
        float(eq.mode(["a"] * 1000, epsilon=1, delta=1e-6))
