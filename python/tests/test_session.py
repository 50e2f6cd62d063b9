"""Budgets: lazy questions, limits, ledgers on disk, request ids."""

from __future__ import annotations

import threading
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import equipoise as eq

AGES = {"age": [18.0 + i % 80 for i in range(4000)], "town": ["Bern", "Basel"] * 2000}


def test_plans_are_free_and_releases_are_paid_for() -> None:
    session = eq.Session(AGES, budget=(1, 1e-6))
    query = session.median("age", epsilon=0.25)
    summary = query.summarize()
    assert summary["charge"] == {"epsilon": "0.25", "delta": "0"}
    assert "ranks" in summary["expected"] and "--" not in summary["expected"]
    assert session.spent["epsilon"] == "0"
    query.release()
    assert session.spent["epsilon"] == "0.25"
    assert session.remaining_budget == {"epsilon": "0.75", "delta": "0.000001"}
    assert "0.75" in repr(session) and "median" in repr(query)


def test_over_budget_says_what_is_left_and_what_was_asked_for() -> None:
    session = eq.Session(AGES, budget=0.5)
    with pytest.raises(eq.BudgetError) as caught:
        session.count(epsilon=0.6).release()
    error = caught.value
    assert error.remaining["epsilon"] == "0.5" and error.requested["epsilon"] == "0.6"
    assert session.spent["epsilon"] == "0"


def test_groups() -> None:
    session = eq.Session(AGES)
    release = session.group_by("town", keys=["Bern", "Basel"]).median("age", epsilon=4).release()
    assert sorted(group["key"] for group in release.groups) == ["Basel", "Bern"]
    with pytest.raises(AttributeError, match="maximum"):
        session.group_by("town").maximum("age", epsilon=1)  # type: ignore[attr-defined]


def test_a_ledger_remembers(tmp_path: Path) -> None:
    path = tmp_path / "books.ledger"
    first = eq.Session(AGES, budget=2, ledger=path, name="ages")
    release = first.median("age", epsilon=1).release("monday")
    again = eq.Session(AGES, ledger=path, name="ages")
    assert again.spent["epsilon"] == "1"
    # The same request under the same id is the same answer, free.
    assert again.median("age", epsilon=1).release("monday") == release
    assert again.spent["epsilon"] == "1"
    assert release.receipt["ledger"] is not None
    with pytest.raises(eq.RequestError, match="another request"):
        again.median("age", epsilon=0.5).release("monday")
    with pytest.raises(eq.RequestError, match="name="):
        eq.median([1.0], epsilon=1, ledger=path)
    # A bare function may use it too.
    eq.median(AGES, "age", epsilon=0.5, ledger=path, name="ages")
    assert again.spent["epsilon"] == "1.5"


def test_a_file_has_the_ledger_beside_it(tmp_path: Path) -> None:
    data = tmp_path / "ages.csv"
    data.write_text("age,town\n" + "".join(f"{18 + i % 80},Bern\n" for i in range(4000)))
    session = eq.Session(data, budget=1)
    assert not session.median("age", epsilon=0.5).release().refused
    assert (tmp_path / "equipoise.ledger").exists() and session.name == "ages.csv"
    # The bare function charges the same account.
    eq.count(data, epsilon=0.5)
    assert session.remaining_budget["epsilon"] == "0"
    with pytest.raises(eq.BudgetError):
        eq.count(data, epsilon=0.1)
    with pytest.raises(eq.RequestError, match="registered"):
        eq.simulate("median", data, "age", trials=10, epsilon=1)
    with pytest.raises(eq.RequestError, match="no column is called"):
        session.median("salary", epsilon=0.1)


def test_files_of_every_format(tmp_path: Path) -> None:
    import polars as pl
    import pyarrow as pa

    frame = pl.DataFrame(AGES)
    frame.write_parquet(tmp_path / "ages.parquet")
    with pa.OSFile(str(tmp_path / "ages.arrow"), "wb") as sink, pa.ipc.new_file(sink, frame.to_arrow().schema) as writer:
        writer.write_table(frame.to_arrow())
    frame.write_csv(tmp_path / "ages.tsv", separator="\t")
    for name in ("ages.parquet", "ages.arrow", "ages.tsv"):
        release = eq.median(tmp_path / name, "age", epsilon=4)
        # 4,000 rows, and ranks off by more than 1,000 with a chance of e^-2000.
        assert 30 < release.value < 80, name


def test_threads_share_a_budget_and_never_overspend() -> None:
    session = eq.Session(AGES, budget=1)
    outcomes: list[Any] = []

    def ask() -> None:
        try:
            outcomes.append(session.count(epsilon=0.1).release())
        except eq.BudgetError as error:
            outcomes.append(error)

    threads = [threading.Thread(target=ask) for _ in range(25)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(isinstance(outcome, eq.Release) for outcome in outcomes) == 10
    assert session.remaining_budget["epsilon"] == "0"


def test_the_odometer_counts_bare_functions_by_adjacency() -> None:
    before = {name: Fraction(eq.spent(adjacency=name)["epsilon"]) for name in ("add-remove", "replace")}
    eq.count([1.0], epsilon=0.5)
    eq.median([1.0] * 500, epsilon=0.25, adjacency="replace")
    assert Fraction(eq.spent()["epsilon"]) - before["add-remove"] == Fraction("0.5")
    assert Fraction(eq.spent(adjacency="replace")["epsilon"]) - before["replace"] == Fraction("0.25")


def test_the_spread_of_each_group_is_a_root() -> None:
    data = {"town": ["Bern", "Basel"] * 5000, "x": [0.0, 0.0, 20.0, 20.0] * 2500}
    session = eq.Session(data)
    release = session.group_by("town", keys=["Bern", "Basel"]).std("x", epsilon=100, range=(0, 20)).release()
    assert release.statistic == "std"
    for group in release.groups:
        # The variance is 100; noise of scale 4 on sums of half a million moves its root by less than one.
        assert abs(group["value"] - 10) < 1 and group["error"]["low"] <= group["value"] <= group["error"]["high"] < 20


def test_a_name_without_a_ledger_does_not_hide_from_the_odometer() -> None:
    before = Fraction(eq.spent()["epsilon"])
    eq.count([1.0], epsilon=0.5, name="mine")
    assert Fraction(eq.spent()["epsilon"]) - before == Fraction("0.5")


def test_questions_of_a_session_have_its_books() -> None:
    session = eq.Session(AGES)
    for word in ("ledger", "name", "analyst", "books"):
        with pytest.raises(TypeError, match=word):
            session.count(epsilon=1, **{word: "other"})  # type: ignore[arg-type]
    with pytest.raises(eq.RequestError, match="pair"):
        eq.Session(AGES, budget=(1, 2, 3))  # type: ignore[arg-type]


def test_threads_count_in_one_odometer() -> None:
    before, start = Fraction(eq.spent(adjacency="replace")["epsilon"]), threading.Barrier(8)

    def ask() -> None:
        start.wait()
        eq.count([1.0], epsilon=0.25, adjacency="replace", where="value > 0")

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert Fraction(eq.spent(adjacency="replace")["epsilon"]) - before >= 2


def test_a_pattern_or_a_folder_is_no_way_to_simulate_on_private_rows(tmp_path: Path) -> None:
    (tmp_path / "salaries.csv").write_text("x\n" + "\n".join(map(str, range(500))))
    eq.Session(tmp_path / "salaries.csv", budget=1)
    for path in ("salaries.csv", "sal*.csv", ""):
        with pytest.raises(eq.RequestError, match="registered in a ledger"):
            eq.simulate("median", tmp_path / path, "x", epsilon=1, trials=2)


def test_an_answer_that_is_asked_for_again_is_the_same_to_the_last_bit(tmp_path: Path) -> None:
    session = eq.Session(AGES, ledger=tmp_path / "again.ledger", name="ages")
    for number in range(30):
        query = session.median("age", epsilon=1)
        assert query.release(f"request {number}").to_dict() == query.release(f"request {number}").to_dict()


def test_the_steward_begins_anew_for_another_unit_and_nothing_is_forgotten(tmp_path: Path) -> None:
    path = tmp_path / "visits.csv"
    path.write_text("person,town\n" + "".join(f"p{row % 50},t{row % 3}\n" for row in range(500)))
    eq.Session(path, privacy_unit="town").count(epsilon=0.1).release()
    with pytest.raises(eq.RequestError, match="registered with unit town"):
        eq.Session(path, privacy_unit="person", budget=5)
    with pytest.raises(eq.RequestError, match="give budget= too"):
        eq.Session(path, privacy_unit="person", anew=True)
    session = eq.Session(path, privacy_unit="person", budget=5, anew=True)
    assert session.spent["epsilon"] == "0"
    (earlier,) = session.earlier
    assert (earlier["unit"], earlier["spent"]["epsilon"], earlier["charges"]) == ("town", "0.1", 1)
    session.count(epsilon="1/3").release()
    again = eq.Session(path, privacy_unit="person", budget=5, anew=True)
    assert again.spent["epsilon"] == "1/3" and again.remaining_budget == {"epsilon": "14/3", "delta": "0"}
    assert repr(again).endswith("epsilon 14/3 left, epsilon 1/3 spent>")


def test_folders_and_patterns_do_not_walk_around_a_limit(tmp_path: Path) -> None:
    lower = tmp_path / "y1"
    lower.mkdir()
    file = lower / "s.csv"
    file.write_text("v\n" + "7\n" * 50)
    eq.Session(file, budget=1)
    # The folder has the ledger of its files, and a pattern from above is another account than the one beside a file.
    with pytest.raises(eq.RequestError, match="is limited in the ledger"):
        eq.count(lower, epsilon=20)
    with pytest.raises(eq.RequestError, match="has a ledger beside it"):
        eq.count(str(tmp_path / "y*" / "s.csv"), epsilon=20)
    with pytest.raises(eq.RequestError, match="leave out name="):
        eq.count(file, epsilon=0.1, name="other", ledger=tmp_path / "own.ledger")
    for data in (file, lower, str(tmp_path / "y*" / "s.csv")):
        with pytest.raises(eq.RequestError, match="simulate on public"):
            eq.simulate("count", data, trials=2, epsilon=1)
    assert not (tmp_path / "equipoise.ledger").exists()


def test_a_limit_on_a_pattern_holds_for_its_files(tmp_path: Path) -> None:
    lower = tmp_path / "y1"
    lower.mkdir()
    file = lower / "s.csv"
    file.write_text("v\n" + "7\n" * 50)
    pattern = str(tmp_path / "y*" / "s.csv")
    eq.Session(pattern, budget=1).count(epsilon=0.5).release()
    for data in (file, lower):
        with pytest.raises(eq.RequestError, match="is one of the files of"):
            eq.count(data, epsilon=20)
        with pytest.raises(eq.RequestError, match="simulate on public"):
            eq.simulate("count", data, trials=2, epsilon=1)
    assert eq.Session(pattern).spent["epsilon"] == "0.5"
