"""Calls with a function of the caller's: charged first, silent, exact, and with the statement in the release."""

from __future__ import annotations

import json
import math
from fractions import Fraction

import numpy as np
import pytest

import equipoise as eq

#: What is lost is lost in one line, whatever was raised.
LOST = "the function failed, or gave something else than was stated; the charge stands and the answer is lost"


def calls(data):
    """One call of each kind on rows of zeros and ones, as functions of data."""
    ones = lambda rows: float(np.sum(rows))  # noqa: E731
    return {
        "noise": lambda **more: eq.noise(ones, data=data, sensitivity=1, epsilon=1, **more),
        "choose": lambda **more: eq.choose(
            lambda option, rows: sum(row == option for row in rows), [0, 1], data=data, sensitivity=1, monotone=True, epsilon=1, **more
        ),
        "stable": lambda **more: eq.stable(
            lambda rows: "many" if len(rows) > 3 else "few",
            rows_to_change=lambda rows: max(len(rows) - 3, 4 - len(rows)),
            data=data,
            epsilon=1,
            delta=1e-6,
            **more,
        ),
        "propose-test-release": lambda **more: eq.propose_test_release(
            ones, distance=lambda rows: math.inf, bound=1, data=data, epsilon=1, delta=1e-6, **more
        ),
        "smooth": lambda **more: eq.smooth(
            ones, local=lambda rows, k: 1.0, range=(0, 10_000), data=data, epsilon=1, delta=1e-6, distances=200, **more
        ),
        "bounded-local-sensitivity": lambda **more: eq.bounded_local_sensitivity(
            ones, lambda rows: 1.0, sensitivity=1, data=data, epsilon=1, delta=1e-6, **more
        ),
        "shifted-inverse": lambda **more: eq.shifted_inverse(
            lambda rows, k: max(sum(rows) - k, 0), data=data, range=(0, 2000), step=10, epsilon=1, **more
        ),
    }


ROWS = [0, 1] * 500


@pytest.mark.parametrize("name", list(calls(ROWS)))
def test_a_call_is_charged_released_and_says_what_was_stated(name, tmp_path):
    ledger = tmp_path / "own.ledger"
    release = calls(ROWS)[name](ledger=ledger, name="people")
    assert release.statistic == name and not release.refused
    parts = release.to_dict()
    assert parts["stated"] and all(clause.endswith("as stated by the caller") for clause in parts["stated"])
    assert release.spent["epsilon"] == "1" and release.receipt["ledger"] is not None
    # Noise of scale 2 at most, and of about 60 at most where a bound is released with it: e^-30 and e^-50.
    within = {"noise": 60, "propose-test-release": 60, "smooth": 3000, "bounded-local-sensitivity": 3000}
    if name in within:
        assert abs(release.value - 500) < within[name]
    assert "as stated by the caller" in repr(release)


@pytest.mark.parametrize("name", list(calls(ROWS)))
def test_whatever_a_function_raises_is_one_fixed_line_and_stays_charged(name, tmp_path):
    class Broken(list):
        """Rows that break whoever reads them, with a private number in the message."""

        def __len__(self):
            raise ValueError("salary 123456")

        def __iter__(self):
            raise ValueError("salary 123456")

        __array__ = __iter__

    ledger = tmp_path / "own.ledger"
    with pytest.raises(eq.LostError) as lost:
        calls(Broken())[name](ledger=ledger, name="people", made_up=())
    assert str(lost.value) == LOST and lost.value.__context__ is None and lost.value.__cause__ is None
    again = eq.noise(1, sensitivity=1, epsilon=1, ledger=ledger, name="people")
    assert again.spent["epsilon"] == "2", "the lost one is not given back"


def test_the_charge_comes_before_the_function_is_run(tmp_path):
    ran = []
    with pytest.raises(eq.BudgetError):
        session = eq.Session({"x": ROWS}, budget=0.5, ledger=tmp_path / "a.ledger", name="people")
        assert session.name == "people"
        eq.noise(
            lambda rows: ran.append(1) or 1.0, data=ROWS, sensitivity=1, epsilon=1, ledger=tmp_path / "a.ledger", name="people", made_up=()
        )
    assert ran == []


def test_output_of_a_function_is_swallowed(capfd):
    def loud(rows):
        print("salary 123456")
        return float(len(rows))

    eq.noise(loud, data=ROWS, sensitivity=1, epsilon=1, made_up=())
    assert "salary" not in capfd.readouterr().out
    eq.noise(loud, data=ROWS, sensitivity=1, epsilon=1, made_up=(), show_output=True)
    assert "salary" in capfd.readouterr().out


def test_vectors_and_grids():
    release = eq.noise([3.0, 4.0, 5.0], sensitivity=1, epsilon=100)
    assert len(release.value) == 3 and release.error["scale"] < 1
    counts = eq.noise([3, 4, 5], sensitivity=1, epsilon=1, grid=1)
    assert all(float(value).is_integer() for value in counts.value)
    wide = eq.noise([0.0] * 100, sensitivity=1, norm="l2", epsilon=1, delta=1e-6)
    assert wide.mechanism == "gaussian"
    with pytest.raises(eq.RequestError, match="laplace noise hides what moves in L1"):
        eq.noise([0.0] * 100, sensitivity=1, norm="l2", epsilon=1)
    got = eq.noise(lambda rows: np.bincount(rows, minlength=2), size=2, data=ROWS, sensitivity=1, epsilon=100, grid=1)
    assert abs(got.value[0] - 500) < 5  # e^-400


def test_choices_by_name_and_measure():
    scores = {"a": 1, "b": 900, "c": 2}
    for more in [
        {},
        {"mechanism": "exponential"},
        {"mechanism": "noisy-max", "noise": "gumbel"},
        {"noise": "laplace"},
        {"base": {"a": 1, "b": 0.25, "c": 5}},
        {"monotone": True},
    ]:
        release = eq.choose(scores, sensitivity=1, epsilon=1, **more)
        assert release.value == "b"  # e^-400
        assert release.error["kind"] == "score" and release.error["score"] > 0
    assert eq.choose([1, 900], sensitivity=1, epsilon=1).value == 1
    # Half the error where scores move together.
    error = lambda **more: eq.choose(scores, sensitivity=1, epsilon=1, **more).error["score"]  # noqa: E731
    assert error(monotone=True) == pytest.approx(error() / 2)


def test_the_price_of_a_digital_good():
    """Three bidders want it for 1 and one for 3.01: the best price is 3.01, and 3.02 sells nothing."""
    bids = [1.0, 1.0, 1.0, 3.01]

    def revenue(price, bids):
        return price * sum(bid >= price for bid in bids)

    assert [revenue(price, bids) for price in (1, 3.01, 3.02)] == [4, 3.01, 0]
    many = bids * 500
    release = eq.choose(revenue, [1.0, 3.01, 3.02], data=many, sensitivity="3.02", monotone=True, epsilon=1, made_up=[1.0, 3.01])
    assert release.value in (1.0, 3.01)  # 3.02 has a score of 0 against 2000: e^-600


def test_a_test_around_a_mechanism_of_ones_own():
    ran = []

    def mechanism(rows):
        ran.append(len(rows))
        return {"fit": [1, 2]}["fit"]

    ask = lambda distance: eq.propose_test_release(  # noqa: E731
        mechanism, distance=distance, inner=(0.5, 0), data=ROWS, epsilon=1, delta=1e-6
    )
    release = ask(1000)
    assert release.value == [1, 2] and release.error is None
    assert ask(0).refused  # delta 1e-6
    assert ran == [1000, 1000], "it runs in any case"


def test_a_secret_sample_costs_less():
    seen = []

    def total(rows):
        seen.append(len(rows))
        return float(sum(rows))

    release = eq.sampled(eq.noise, total, data=[1] * 10_000, rate=0.1, sensitivity=1, epsilon=1, made_up=())
    assert float(Fraction(release.guarantee["epsilon"])) == pytest.approx(math.log(1 + 0.1 * (math.e - 1)), rel=1e-5)
    assert 800 < seen[0] < 1200  # six deviations of 30
    assert "secret sample" in release.covers
    with pytest.raises(eq.RequestError, match="private under replace only"):
        eq.sampled(eq.noise, total, data=[1] * 10, rate=0.1, sensitivity=1, epsilon=1, made_up=(), adjacency="replace")
    with pytest.raises(eq.RequestError, match="give eq.noise"):
        eq.sampled(eq.median, [1, 2], rate=0.1, epsilon=1)


def test_black_boxes():
    mean = lambda rows: sum(rows) / len(rows)  # noqa: E731
    rows = [10.0] * 12
    release = eq.black_box(mean, rows, range=(0, 20), step=1, epsilon=8, adjacency="replace")
    assert 0 <= release.value <= 20
    with pytest.raises(eq.RequestError, match="outnumber"):
        eq.black_box(mean, [1.0] * 100, range=(0, 20), step=1, epsilon=1, adjacency="replace")


def test_asking_again_is_free(tmp_path):
    ask = lambda f: eq.noise(  # noqa: E731
        f, data=ROWS, sensitivity=1, epsilon=1, ledger=tmp_path / "own.ledger", name="people", request_id="a"
    )
    total = lambda rows: float(sum(rows))  # noqa: E731
    first = ask(total)
    assert ask(total) == first
    with pytest.raises(eq.RequestError):
        ask(lambda rows: float(sum(rows)) + 1)


def test_the_ledger_keeps_what_was_stated(tmp_path):
    import sqlite3

    ledger = tmp_path / "own.ledger"
    eq.noise(1, sensitivity="0.25", epsilon=1, ledger=ledger, name="people")
    text = "\n".join(sqlite3.connect(ledger).iterdump())
    assert "sensitivity 0.25, as stated by the caller" in text


FIVE = {
    "a local sensitivity that is off by one": (
        {"local": lambda rows, k: max(len(rows) + k - 1, 0)},
        lambda rows: len(rows) * (len(rows) + 1) / 2,
        "a local sensitivity of",
    ),
    "a distance that moves by two": (
        {"distance": lambda rows: 2 * len(rows), "bound": 1},
        len,
        "one person may move it by one",
    ),
    "a function that is not as stable as stated": (
        {"rows_to_change": lambda rows: abs(len(rows) - 2) + 1},
        lambda rows: len(rows) >= 2,
        "one row changes the value",
    ),
    "a score that moves by two": (
        {"sensitivity": 1, "options": [0, 1]},
        lambda option, rows: sum(2 for row in rows if row == option),
        "moves by 2, and 1 was stated",
    ),
    "scores that are not monotone": (
        {"sensitivity": 1, "options": [0, 1], "monotone": True},
        lambda option, rows: sum(1 if row == option else -1 for row in rows),
        "one score rises and another falls",
    ),
}


@pytest.mark.parametrize("case", list(FIVE))
def test_wrong_statements_are_refuted(case):
    statement, f, problem = FIVE[case]
    found = eq.refute(f, **statement, made_up=[0, 1])
    assert found is not None and problem in str(found)
    assert abs(len(found.data) - len(found.neighbour)) == 1


def test_right_statements_are_not_refuted():
    assert eq.refute(sum, sensitivity=2) is None
    assert eq.refute(sum, sensitivity=2, adjacency="replace") is None
    assert eq.refute(sum, sensitivity=1, adjacency="replace") is not None
    assert eq.refute(lambda rows: len(rows) * (len(rows) + 1) / 2, local=lambda rows, k: len(rows) + k + 1) is None
    assert eq.refute(lambda rows: len(rows) >= 2, rows_to_change=lambda rows: max(2 - len(rows), len(rows) - 1)) is None
    assert eq.refute(lambda rows: [len(rows)] * 2, sensitivity=2) is None
    assert eq.refute(lambda rows: [len(rows)] * 2, sensitivity="1.42", norm="l2") is None
    assert eq.refute(lambda rows: [len(rows)] * 2, sensitivity="1.41", norm="l2") is not None
    with pytest.raises(eq.RequestError, match="what is stated of f"):
        eq.refute(sum)


def test_a_counterexample_is_free_and_comes_before_the_charge():
    before = eq.spent()
    with pytest.raises(eq.RequestError, match="what is stated is wrong, and nothing was charged. made-up rows"):
        eq.noise(lambda rows: 2.0 * len(rows), data=ROWS, sensitivity=1, epsilon=1)
    assert eq.spent() == before
    # On rows that it is not about a function may fail; and nobody need search.
    eq.noise(lambda rows: float(sum(row["x"] for row in rows)), data=[{"x": 1}], sensitivity=1, epsilon=1)
    eq.noise(lambda rows: 2.0 * len(rows), data=ROWS, sensitivity=1, epsilon=1, made_up=())


def test_no_real_row_is_looked_at_before_the_charge():
    class Watched(list):
        def __iter__(self):
            raise AssertionError("a real row was read")

    with pytest.raises(eq.RequestError, match="made-up rows"):
        eq.noise(lambda rows: 2.0 * len(rows), data=Watched(ROWS), sensitivity=1, epsilon=1)


def test_wrong_calls_are_one_line_and_free():
    for call, line in [
        (lambda: eq.noise(sum, sensitivity=1, epsilon=1), "a function is given and no data"),
        (lambda: eq.choose(lambda option, rows: 1, data=[1], sensitivity=1, epsilon=1), "needs the options"),
        (lambda: eq.choose({"a": 1}, ["b"], sensitivity=1, epsilon=1), "leave out options="),
        (lambda: eq.noise(1, sensitivity=1, epsilon=1, request_id="a"), "request_id needs ledger="),
        (lambda: eq.noise(1, sensitivity=1, epsilon=1, rate=0.5), "give data= and functions of it"),
        (lambda: eq.stable("a", rows_to_change=3, epsilon=1, delta=0), "needs a delta above 0; give delta=1e-6"),
    ]:
        before = eq.spent()
        with pytest.raises(eq.RequestError, match=line.replace("(", r"\(")) as error:
            call()
        assert "\n" not in str(error.value) and eq.spent() == before


def test_numbers_that_are_no_numbers():
    for wrong in (math.nan, math.inf, "x", None, [1, 2]):
        with pytest.raises(eq.LostError, match="the function failed"):
            eq.noise(lambda rows, wrong=wrong: wrong, data=ROWS, sensitivity=1, epsilon=1, made_up=())
    with pytest.raises(eq.LostError):
        eq.stable(lambda rows: object(), rows_to_change=9, data=ROWS, epsilon=1, delta=1e-6)
    with pytest.raises(eq.LostError):
        eq.stable("a", rows_to_change=lambda rows: 1.5, data=ROWS, epsilon=1, delta=1e-6)


def test_summaries_are_json():
    release = eq.smooth(5, local=[1, 2, 3], range=(0, 10), epsilon=1)
    assert json.loads(json.dumps(release.to_dict())) == release.to_dict()
    low, high = release.interval
    assert 0 <= low <= release.value <= high <= 10


def test_what_a_sample_is_priced_for_is_computed_on_the_sample() -> None:
    rows = [0, 1] * 500
    for call in (
        lambda: eq.noise(500, data=rows, sensitivity=1, epsilon=1, rate=0.01),
        lambda: eq.stable("yes", rows_to_change=900, data=rows, epsilon=1, delta=1e-6, rate=0.01),
        lambda: eq.choose({"a": 1, "b": 2}, data=rows, sensitivity=1, epsilon=1, rate=0.01),
        lambda: eq.noise(sum, data=rows, sensitivity=1, epsilon=1, rate=0.01, unit="id"),
    ):
        before = eq.spent()
        with pytest.raises(eq.RequestError):
            call()
        assert eq.spent() == before


def test_a_function_without_a_return_is_no_infinite_distance() -> None:
    with pytest.raises(eq.LostError):
        eq.stable(lambda rows: rows[0], rows_to_change=lambda rows: None, data=["ann"], epsilon=1, delta=1e-6, made_up=())


def test_a_failure_of_a_black_box_is_a_value() -> None:
    def f(rows: list[int]) -> float:
        return 1 / 0 if 99 in rows else 5

    for rows in ([5] * 12, [5] * 11 + [99]):
        found = eq.black_box(f, rows, range=(0, 10), step=1, adjacency="replace", epsilon=8)
        assert 0 <= found.value <= 10


def test_choices_are_simulated_on_public_rows_for_free():
    bids = [0.5] * 100 + [0.3] * 100

    def revenue(price, rows):
        return price * sum(row >= price for row in rows)

    before = eq.spent()
    simulation = eq.simulate("choose", revenue, [0.1, 0.3, 0.5], public_rows=bids, sensitivity=1, monotone=True, epsilon=1, trials=200)
    assert (len(simulation), simulation.refusals, eq.spent()) == (200, 0, before)
    [series] = simulation.series
    assert series["truth"] == 0.3 and {one["value"] for one in series["answers"]} <= {0.1, 0.3, 0.5}
    # 60 against 50 and 20 at epsilon 1: another price has odds below 1 : e^10 - 1. Bars hold for 190 of 200, and 150 with a chance below 1e-20.
    assert series["answers"][0]["value"] == 0.3 and series["bars"]["held"] >= 150
    with pytest.raises(eq.RequestError, match="needs sensitivity="):
        eq.simulate("choose", {"a": 1, "b": 2}, epsilon=1)
    assert eq.simulate("choose", {"a": 1, "b": 2}, sensitivity=1, epsilon=1, trials=5).series[0]["truth"] == "b"


def test_what_the_promise_rests_on_is_said_whatever_came_out():
    for release in (
        eq.noise(4, sensitivity=1, epsilon=1),
        eq.stable("yes", rows_to_change=0, epsilon=1, delta=1e-6),  # refused but for a chance of delta
        eq.propose_test_release(lambda rows: "a", data=ROWS, distance=math.inf, inner=(0.5, 0), epsilon=1, delta=1e-6),
    ):
        clauses = release.to_dict()["stated"]
        assert clauses
        for clause in clauses:
            assert clause in repr(release) and clause in release._repr_html_()
            bare = clause.removesuffix(", as stated by the caller")
            assert f"if what the caller stated is true, which nobody checked: {clauses[0].removesuffix(', as stated by the caller')}" in release.explain()
            assert bare in release.explain()


def test_a_choice_on_a_sample_is_told_against_the_best_option_of_it():
    release = eq.sampled(eq.choose, lambda option, rows: sum(row == option for row in rows), [0, 1], data=ROWS, rate=0.5, sensitivity=1, epsilon=1)
    assert "the best option of a secret sample that has each row with probability 0.5 scores at most" in repr(release)
