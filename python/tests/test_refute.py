"""What is wrong with a statement shows on made-up rows, whatever data the function is about, and before anything is charged."""

from __future__ import annotations

from typing import Any

import equipoise as eq
import numpy as np
import pandas as pd
import polars as pl
import pytest

WRONG = "what is stated is wrong, and nothing was charged. made-up rows"


def mean(rows: list[float]) -> float:
    return sum(rows) / len(rows)


def test_a_function_that_fails_without_rows_is_searched_all_the_same():
    found = eq.refute(mean, sensitivity=0.001)
    assert str(found) == "made-up rows [0] and [0, 1]: the value moves by 0.5, and 0.001 was stated"
    for call in (
        lambda: eq.noise(mean, data=[0, 1] * 500, sensitivity=0.001, epsilon=1),
        lambda: eq.noise(np.mean, data=np.array([0.0, 1.0] * 500), sensitivity=0.001, epsilon=1),
        lambda: eq.smooth(lambda rows: sorted(rows)[len(rows) // 2], local=lambda rows, k: 0.0, data=[0, 1] * 9, range=(0, 1), epsilon=1),
    ):
        before = eq.spent()
        with pytest.raises(eq.RequestError, match=WRONG):
            call()
        assert eq.spent() == before
    with pytest.raises(eq.RequestError, match=r"fails on all made-up rows \(KeyError\); give others"):
        eq.refute(lambda rows: rows["x"], sensitivity=1, like=dict.fromkeys)


def test_of_a_public_number_of_rows_the_statement_is_about_so_many():
    rows = [0, 1] * 500
    assert not eq.noise(mean, data=rows, sensitivity=0.001, epsilon=1, adjacency="replace").refused
    with pytest.raises(eq.RequestError, match=r"made-up rows \[0\] \* 1000 and \[1\] \+ \[0\] \* 999: the value moves by 0.001, and 0.0009"):
        eq.noise(mean, data=rows, sensitivity=0.0009, epsilon=1, adjacency="replace")
    # One row in the place of another moves two counts: half of the rows are needed to see that of a majority.
    majority = lambda rows: sum(rows) > 500
    assert eq.refute(majority, rows_to_change=lambda rows: 2, adjacency="replace", size=1000, made_up=[0, 1]) is not None


def test_a_registered_adjacency_is_the_one_that_is_searched(tmp_path):
    ledger = tmp_path / "a.ledger"
    eq.noise(1, sensitivity=1, epsilon=1, adjacency="replace", ledger=ledger, name="people")
    release = eq.noise(mean, data=[0, 1] * 500, sensitivity=0.001, epsilon=1, ledger=ledger, name="people")
    assert release.guarantee["adjacency"] == "replace"


FRAME = pd.DataFrame({"x": [0.5] * 40, "town": ["Ayr"] * 40, "day": pd.to_datetime(["2024-05-01"] * 40), "kind": pd.Categorical(["a"] * 40)})


@pytest.mark.parametrize(
    "data",
    [
        FRAME,
        FRAME["x"],
        pl.from_pandas(FRAME[["x", "town", "day"]]),
        pl.Series("x", [0.5] * 40),
        pl.from_pandas(FRAME[["x", "town"]]).to_arrow(),
        {"x": [0.5] * 40, "town": ["Ayr"] * 40},
        np.full((40, 2), 0.5),
        (0.5,) * 40,
    ],
    ids=lambda data: f"{type(data).__module__.partition('.')[0]} {type(data).__name__}",
)
def test_rows_are_made_up_for_every_kind_of_data(data: Any):
    def total(rows: Any) -> float:
        if isinstance(rows, np.ndarray):
            return 5.0 * float(rows[:, 0].sum())
        table = isinstance(rows, (dict, pd.DataFrame, pl.DataFrame)) or hasattr(rows, "schema")
        return 5.0 * float(np.sum(np.asarray(rows["x"] if table else rows, dtype=float)))

    before = eq.spent()
    with pytest.raises(eq.RequestError, match="the value moves by 5, and 1 was stated"):
        eq.noise(total, data=data, sensitivity=1, epsilon=1)
    assert eq.spent() == before
    assert str(eq.refute(total, sensitivity=1, like=data)).endswith("the value moves by 5, and 1 was stated")
    assert eq.refute(total, sensitivity=5, like=data) is None
    # All rows are one half: 100, and noise of scale 5 is off by 200 with a chance of e^-40.
    assert abs(eq.noise(total, data=data, sensitivity=5, epsilon=1).value - 100) < 200


def test_made_up_rows_of_a_table_are_a_table_or_dictionaries():
    double = lambda table: 2.0 * table["x"].sum()
    made_up = pd.DataFrame({"x": [0.0, 3.0], "town": ["a", "b"]})
    for rows in (made_up, made_up.to_dict("records"), {"x": [0.0, 3.0], "town": ["a", "b"]}):
        with pytest.raises(eq.RequestError, match=r"moves by 6, and 2 was stated"):
            eq.noise(double, data=FRAME, sensitivity=2, epsilon=1, made_up=rows)


@pytest.mark.parametrize(
    ("least_after", "problem"),
    [
        (lambda rows, k: 5 * len(rows), "after 1 removals 5 is stated to be left of the first, and 0 of its neighbour after 0"),
        (lambda rows, k: max(3 - len(rows) - k, 0), "the value falls from 3 to 2 when a row is added"),
        (lambda rows, k: max(len(rows) - k // 2, 0), "removals"),
    ],
)
def test_what_removals_leave_is_searched_too(least_after, problem):
    with pytest.raises(eq.RequestError, match=WRONG) as wrong:
        eq.shifted_inverse(least_after, data=[1] * 300, answers=[0, 1, 10], epsilon=10)
    assert problem in str(wrong.value)
    right = lambda rows, k: max(len(rows) - k, 0)
    assert eq.refute(len, least_after=right) is None and eq.refute(len, least_after=right, adjacency="replace") is None
    assert "without removals" in str(eq.refute(lambda rows: len(rows) + 1, least_after=right))


def test_what_is_no_number_or_function_is_free():
    for call in (
        lambda: eq.noise("12", sensitivity=1, epsilon=1),
        lambda: eq.noise(None, sensitivity=1, epsilon=1),
        lambda: eq.noise(np.ones((2, 2)), sensitivity=1, epsilon=1),
        lambda: eq.noise(3, size=2, sensitivity=1, epsilon=1),
        lambda: eq.noise(lambda a, b: 1, data=[1], sensitivity=1, epsilon=1),
        lambda: eq.choose([1, 2, 3], ["a", "b"], sensitivity=1, epsilon=1),
        lambda: eq.choose("abc", sensitivity=1, epsilon=1),
        lambda: eq.choose({"a": 1, "b": 2}, base={"a": 1}, sensitivity=1, epsilon=1),
        lambda: eq.choose({object(): 1}, sensitivity=1, epsilon=1),
        lambda: eq.stable(FRAME, rows_to_change=9, epsilon=1, delta=1e-6),
        lambda: eq.stable("a", rows_to_change="many", epsilon=1, delta=1e-6),
        lambda: eq.propose_test_release(1, distance=None, bound=1, epsilon=1, delta=1e-6),
        lambda: eq.propose_test_release(1, distance=9, inner=0.5, epsilon=1, delta=1e-6),
        lambda: eq.smooth(3, local=1, range=(0, 9), epsilon=1),
        lambda: eq.smooth(3, local=[1], range=None, epsilon=1),
        lambda: eq.smooth(lambda rows: 1.0, local=lambda k: 0.0, data=[1], range=(0, 9), epsilon=1),
        lambda: eq.bounded_local_sensitivity(3, "x", sensitivity=1, epsilon=1, delta=1e-6),
        lambda: eq.shifted_inverse(5, answers=[0, 1], epsilon=1),
        lambda: eq.shifted_inverse([], answers=[0, 1], epsilon=1),
        lambda: eq.black_box(len, iter([1]), answers=[0, 1], epsilon=1),
        lambda: eq.refute(5, sensitivity=1),
        lambda: eq.refute(sum, sensitivity=1, made_up=5),
        lambda: eq.refute(sum, sensitivity=1, like=5),
    ):
        before = eq.spent()
        with pytest.raises(eq.EquipoiseError) as error:
            call()
        assert "\n" not in str(error.value) and not isinstance(error.value, eq.LostError) and eq.spent() == before


def test_columns_in_a_dictionary_are_sampled_by_row():
    seen = []

    def total(table: dict[str, list[int]]) -> float:
        seen.append(len(table["x"]))
        return float(sum(table["x"]))

    eq.sampled(eq.noise, total, data={"x": [1] * 10_000}, rate=0.1, sensitivity=1, epsilon=1, made_up=())
    assert 800 < seen[0] < 1200  # six deviations of 30
