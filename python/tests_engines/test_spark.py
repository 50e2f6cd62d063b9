"""Spark with real executors: facts, blocks, and executors that are too slow. What happens when they are killed is in `test_kills.py`."""

from __future__ import annotations

import hashlib
import os
import pickle
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from recorded import Recorded, asked

import equipoise as eq
from equipoise._elsewhere.blocks import AskedElsewhere, Dealt

DEADLINE = 120.0


def test_facts_of_spark_are_those_of_another_engine(spark: Any, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recorded = Recorded().watch(monkeypatch.setattr)
    session = eq.Session(eq.elsewhere(spark.read.parquet(str(file)), deadline=DEADLINE))
    for number in range(5):
        asked(session, number).release()
        assert recorded.passes and recorded.are_true(file), number


def test_nothing_is_kept_in_spark_from_question_to_question(spark: Any, file: Path) -> None:
    # Views, cached partitions and tables of ours that were joined: 40 keys are more than are written into a query.
    session = eq.Session(spark.read.parquet(str(file)), unit="person")
    keys = ["ayr", "bute", *(f"nowhere {place}" for place in range(40))]
    session.group_by("town", keys=keys).count(epsilon=1, max_groups_per_unit=2, max_rows_per_unit=2).release()
    del session
    assert [one.name for one in spark.catalog.listTables() if one.isTemporary] == []
    assert spark.sparkContext._jsc.getPersistentRDDs().size() == 0


def test_texts_are_told_apart_by_their_bytes_whatever_their_collation(spark: Any) -> None:
    frame = spark.createDataFrame([("AYR", "P")] + [("ayr", f"p{row}") for row in range(400)], "town string, person string")
    frame = frame.selectExpr("town collate UTF8_LCASE as town", "person collate UTF8_LCASE as person")
    found = eq.Session(eq.elsewhere(frame, deadline=DEADLINE)).group_by("town").count(epsilon=20, delta=1e-6).release().to_dict()["groups"]
    assert [group["key"] for group in found] == ["ayr"]


def test_a_slow_executor_is_a_lost_answer_in_time(spark: Any, file: Path) -> None:
    frame = spark.read.parquet(str(file))
    spark.udf.register("equipoise_slow", _slow, "double")
    slow = frame.selectExpr("equipoise_slow(pay) as pay")
    session = eq.Session(eq.elsewhere(slow, deadline=DEADLINE))
    query = session.mean("pay", epsilon=1, range=(0, 9))
    # The engine is examined within the usual time; 4,000 rows take at least 100 seconds.
    query._question.table.prepared(query._question.planned)
    query._question.table.engine.deadline = 6
    began = time.monotonic()
    with pytest.raises(eq.LostError, match="the answer is lost"):
        query.release()
    assert time.monotonic() - began < 60 and session.spent["epsilon"] == "1"


def _slow(value: float) -> float:
    time.sleep(0.05)
    return value


# Functions on blocks.

KEYS = ("11" * 16, "7a" * 16)


def votes(f: Any, frame: Any, key: str = KEYS[0], *, blocks: int = 6, output: str = "number", time_limit: float | None = None, types: Any = None) -> list[Any]:
    """What blocks vote under a key; no answer is made of it."""
    asked = AskedElsewhere(f, None, eq.elsewhere(frame, deadline=DEADLINE), types, "person")
    asked.work(n_jobs=None, time_limit=time_limit, progress=False, show_output=False)
    said = dict.fromkeys(["range", "options", "default", "blocks", "rows", "mechanism", "trim", "width", "bound", "rate", "size"])
    asked.words({**said, "output": output}, epsilon=1, delta=0, adjacency="add-remove", confidence="0.95")
    return asked.votes(asked.functions, Dealt(key, blocks), output)


def people(block: Any) -> Any:
    return sorted(set(block["person"].str.strip()))


def digest(block: Any) -> str:
    return hashlib.sha256(pickle.dumps(block)).hexdigest()


def mean(block: Any) -> float:
    return float(block["pay"].mean())


def crashes(block: Any) -> float:
    if (block["person"] == "7").any():
        os._exit(3)
    if (block["person"] == "8").any():
        raise ValueError("secret-7f3a")
    if (block["person"] == "9").any():
        time.sleep(600)
    return 1.0


@pytest.fixture(scope="module")
def frame(spark: Any) -> Any:
    rows = [(f" {person} " if row else str(person), float(row), None if row == 1 else "ayr", person) for person in range(60) for row in range(3)]
    rows += [(None, 1.0, "nobody", 0), (" \t", 1.0, "nobody", 0)]
    return spark.createDataFrame(rows, "person string, pay double, town string, age long").repartition(3)


def test_all_rows_of_a_person_lie_in_one_block_that_a_key_names(frame: Any) -> None:
    found = votes(people, frame, blocks=200, output="labels")
    everybody = Counter(person for block in found for person in block or [])
    assert len(found) == 200 and everybody == Counter({str(person): 1 for person in range(60)})
    # The key decides, and nothing else: the same blocks from other partitions, others under another key.
    assert votes(people, frame.repartition(1), blocks=200, output="labels") == found
    assert votes(people, frame, KEYS[1], blocks=200, output="labels") != found


def test_a_block_is_made_of_its_own_cells_alone(spark: Any, frame: Any) -> None:
    before, where = votes(digest, frame, output="label"), votes(people, frame, output="labels")
    odd = [("strange", float("inf"), "x" * 5000, None), ("strange", None, None, 2**62), ("other", -0.0, "", -1)]
    after = votes(digest, frame.union(spark.createDataFrame(odd, frame.schema)).repartition(2), output="label")
    now = votes(people, frame.union(spark.createDataFrame(odd, frame.schema)), output="labels")
    same = [place for place in range(6) if where[place] == now[place]]
    assert len(same) >= 4 and all(before[place] == after[place] for place in same)
    assert len(set(before)) == 6
    # What was said of types holds in every block.
    assert set(votes(lambda block: str(block.dtypes["age"]), frame, blocks=200, output="label", types={"age": "integer"})) == {"Int64"}


def test_what_fails_on_a_block_is_a_missing_vote(frame: Any) -> None:
    where = votes(people, frame, blocks=30, output="labels")
    found = votes(crashes, frame, blocks=30, time_limit=20.0)
    hurt = [bool({"7", "8", "9"} & set(block)) for block in where]
    assert found == [None if one else 1.0 for one in hurt] and 1 <= sum(hurt) <= 3


def test_blocks_on_spark_are_paid_for_and_answered_as_those_here(frame: Any) -> None:
    said: dict[str, Any] = {"epsilon": 60, "unit": "person", "blocks": 20, "range": (0, 9), "default": 1}
    there, here = eq.subsample(mean, frame, **said), eq.subsample(mean, frame.toPandas(), **said)
    assert abs(there.value - 1) < 0.5 and abs(here.value - 1) < 0.5
    one, other = there.to_dict(), here.to_dict()
    assert [one[name] for name in ("guarantee", "mechanism", "blocks")] == [other[name] for name in ("guarantee", "mechanism", "blocks")]
    chosen = eq.subsample(lambda block: "mean", frame, epsilon=200, unit="person", blocks=20, range=(0, 9), then={"mean": mean, "zero": lambda block: 0.0}, default=1)
    assert chosen.value is not None


@pytest.mark.parametrize(
    ("said", "line"),
    [
        ({}, "name the column of persons with unit="),
        ({"unit": "nobody"}, "no column is called 'nobody'"),
        ({"unit": "pay"}, "is not read as text; cast it in the table"),
        ({"unit": "person", "n_jobs": 2}, "n_jobs is for rows here"),
        ({"unit": "person", "show_output": True}, "show_output is for functions that run here"),
        ({"unit": "person", "mechanism": "bootstrap", "delta": 1e-6}, "samples that share rows"),
        ({"unit": "person", "types": {"x": "number"}}, "no column is called 'x'"),
    ],
)
def test_what_blocks_on_spark_cannot_do_is_one_line_before_the_charge(frame: Any, said: dict[str, Any], line: str) -> None:
    before = eq.spent(privacy_unit="person")
    with pytest.raises(eq.EquipoiseError) as raised:
        eq.subsample(mean, frame, epsilon=1, **said)
    assert line in str(raised.value) and "\n" not in str(raised.value)
    assert eq.spent(privacy_unit="person") == before


@pytest.mark.parametrize(("name", "line"), [("Equipoise_Row", "blocks need the name"), ("PAY", "one name to Spark")])
def test_a_table_with_names_of_ours_is_refused_before_the_charge(frame: Any, name: str, line: str) -> None:
    before = eq.spent(privacy_unit="person")
    with pytest.raises(eq.RequestError, match=line):
        eq.subsample(mean, frame.toDF("person", "pay", "town", name), epsilon=1, unit="person")
    assert eq.spent(privacy_unit="person") == before


def test_a_function_that_executors_cannot_read_is_refused_before_the_charge(frame: Any) -> None:
    import threading

    lock, before = threading.Lock(), eq.spent(privacy_unit="person")
    with pytest.raises(eq.RequestError, match="hold nothing that cannot be pickled"):
        eq.subsample(lambda block: float(lock.locked()), frame, epsilon=1, unit="person")
    assert eq.spent(privacy_unit="person") == before


def test_votes_that_do_not_add_up_are_a_lost_answer(frame: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def doubled(self: AskedElsewhere, key: str) -> Any:
        rows = people_of(self, key)
        # Every second query, which is the one that is dealt, has each row twice.
        asked.append(1)
        return rows

    people_of, frame_of = AskedElsewhere._people, type(eq.elsewhere(frame).engine).frame
    monkeypatch.setattr(AskedElsewhere, "_people", doubled)
    monkeypatch.setattr(type(eq.elsewhere(frame).engine), "frame", lambda self, rows: frame_of(self, rows).union(frame_of(self, rows)))
    before = float(eq.spent(privacy_unit="person")["epsilon"])
    with pytest.raises(eq.LostError, match="the charge stands and the answer is lost"):
        eq.subsample(mean, frame, epsilon=1, unit="person", blocks=20, range=(0, 9), default=1)
    assert len(asked) == 2 and float(eq.spent(privacy_unit="person")["epsilon"]) == before + 1
