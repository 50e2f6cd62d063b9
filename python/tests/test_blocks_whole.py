"""Subsample and aggregate, whole: aggregators by name, several functions in turn, analyses chosen first, rehearsals."""

from __future__ import annotations

import inspect

import equipoise as eq
import numpy as np
import pytest

ROWS = np.arange(6_000) % 100
SAID = {"epsilon": 20, "delta": "1e-6", "blocks": 60, "default": 50.0}


@pytest.mark.parametrize(
    ("keywords", "mechanism"),
    [
        ({"range": (0, 100)}, "trimmed"),
        ({"range": (0, 100), "mechanism": "trimmed", "trim": 0.25}, "trimmed"),
        ({"range": (0, 100), "mechanism": "winsorized"}, "winsorized"),
        ({"range": (0, 100), "mechanism": "median"}, "median"),
        ({"range": (0, 100), "mechanism": "consensus", "bound": 5}, "consensus"),
        ({"mechanism": "grid", "width": 200}, "grid"),
        ({"mechanism": "choice", "width": [200, 2000]}, "choice"),
    ],
)
def test_aggregators_of_numbers_by_name(keywords, mechanism):
    release = eq.subsample(np.mean, ROWS, **SAID, **keywords)
    assert release.mechanism == mechanism
    assert release.refused or -2000 <= release.value <= 2000
    assert release.guarantee["epsilon"] in ("20", 20)


def test_labels_and_sets_of_labels():
    said = {"epsilon": 20, "delta": "1e-6", "blocks": 60}
    label = eq.subsample(lambda block: "b", ROWS, options=["a", "b"], default="a", mechanism="popularity", **said)
    assert label.value == "b" and abs(label.blocks["votes"] - 60) <= 20
    for mechanism in ("feature-by-feature", "whole-set"):
        sets = eq.subsample(lambda block: ["b", "a"], ROWS, output="labels", options=["a", "b", "c"], default=[], mechanism=mechanism, **said)
        assert sorted(sets.value) == ["a", "b"], mechanism
    sampled = eq.subsample(lambda block: "same", ROWS, output="label", epsilon=8, delta="1e-6", blocks=300, rate=0.01)
    assert sampled.value == "same" and "samples" in sampled.covers


def test_functions_take_blocks_in_turn():
    said = {"epsilon": 20, "delta": "1e-6", "blocks": 60, "output": "label", "options": ["ann", "bob"], "default": "ann", "mechanism": "popularity"}
    release = eq.subsample([lambda block: "ann", lambda block: "bob"], ROWS, **said)
    assert abs(release.blocks["votes"] - 30) <= 20
    with pytest.raises(eq.DataError, match="f is not a function"):
        eq.subsample([], ROWS, **said)


def test_an_analysis_is_chosen_and_then_run_for_one_charge(tmp_path):
    said = {"epsilon": 20, "blocks": 60, "range": (0, 100), "default": 50.0, "ledger": tmp_path / "books", "name": "rows"}
    then = {"mean": np.mean, "largest": np.max}
    release = eq.subsample([lambda block: "largest", lambda block: "largest"], ROWS, then=then, request_id="once", **said)
    assert release.blocks["analysis"] == "largest" and release.value > 60
    assert release.spent["epsilon"] in ("20", 20)
    again = eq.subsample([lambda block: "largest", lambda block: "largest"], ROWS, then=then, request_id="once", **said)
    assert again.value == release.value
    with pytest.raises(eq.RequestError, match="two different names"):
        eq.subsample(lambda block: "mean", ROWS, then={"mean": np.mean}, **said)


def test_the_texts_elections_say_their_evaluations_first():
    with pytest.raises(eq.RequestError, match="19801688 evaluations"):
        eq.subsample(lambda block: "a", ROWS, output="label", epsilon=1, delta="1e-6", rows=100_000, mechanism="A_samp")
    with pytest.raises(eq.RequestError, match="keeps a delta of"):
        eq.subsample(lambda block: "a", ROWS, output="label", epsilon=1, delta="1e-6", rows=6_000, size=93, adjacency="replace", mechanism="SA")


def test_a_rehearsal_shows_refusals_error_stability_and_bias():
    seen = eq.simulate("subsample", np.max, np.arange(5_000.0), epsilon=4, delta="1e-6", blocks=50, range=(0, 5000), default=2500, trials=40)
    assert len(seen) == 40 and seen.refusals == 0 and seen.all_rows == 4999
    assert seen.bias < -20, "the largest of a hundredth of the rows is not the largest of all"
    assert seen.error["median"] > 0 and [one["blocks"] for one in seen.details["by_blocks"]] == [25, 50, 100]
    assert "bias" in str(seen) and "nothing was charged" in str(seen)
    steady = eq.simulate("subsample", lambda block: "x", ROWS, output="label", epsilon=4, delta="1e-6", blocks=50, default="y", trials=10)
    assert steady.stability == {"rate": 1.0, "size": 1.0} and steady.values == ["x"] * 10
    with pytest.raises(eq.RequestError, match="takes no keyword"):
        eq.simulate("subsample", np.max, ROWS, epsilon=1, block=3)


def test_a_registered_file_is_no_public_data(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("x\n" + "\n".join(map(str, range(500))) + "\n")
    eq.count(path, epsilon=1)
    with pytest.raises(eq.RequestError, match="registered in a ledger"):
        eq.simulate("run_program", ["sh", "-c", "cat > /dev/null; echo 1"], path, output="number", epsilon=1)


def test_functions_and_programs_take_the_same_arguments():
    functions, programs = (set(inspect.signature(one).parameters) for one in (eq.subsample, eq.run_program))
    shared = {"output", "range", "options", "default", "then", "blocks", "rows", "mechanism", "trim", "width", "bound", "rate", "size"}
    assert shared <= functions & programs


def test_advice_names_arguments_that_exist():
    said = {"epsilon": 1, "output": "label"}
    for keywords in ({}, {"mechanism": "bootstrap"}, {"mechanism": "a-samp"}, {"mechanism": "sa"}, {"trim": 0.1, "options": ["a", "b"], "default": "a"}):
        with pytest.raises(eq.RequestError) as error:
            eq.subsample(lambda block: "a", ROWS, **{**said, **keywords})
        words = [word.split("=")[0] for word in str(error.value).replace("(", " ").split() if "=" in word]
        assert words and all(word in inspect.signature(eq.subsample).parameters for word in words), str(error.value)


def test_no_analyses_to_choose_among_are_free():
    for then in ({}, [np.mean], {"mean": 5}):
        before = eq.spent()
        with pytest.raises(eq.DataError):
            eq.subsample(lambda block: "mean", ROWS, then=then, range=(0, 100), epsilon=4, blocks=60)
        assert eq.spent() == before
