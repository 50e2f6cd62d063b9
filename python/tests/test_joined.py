"""Queries about several tables from Python: frames and files together, one charge for each private one, and the program that joins."""

from __future__ import annotations

import stat
from fractions import Fraction

import equipoise as eq
import equipoise._joined
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

PROGRAM = equipoise._joined.program()
joins = pytest.mark.skipif(PROGRAM is None, reason="equipoise-sql is not installed here; ./test --sql builds it and runs these")

MANY = 3000
PEOPLE = {"person": list(range(MANY)), "town": [["Ayr", "Bern", "Cork"][person % 3] for person in range(MANY)]}
VISITS = {
    "who": [*(str(person) for person in range(MANY) for _ in range(2)), None],
    "cost": [*(cost for person in range(MANY) for cost in (10.0, 20.0 + person % 3 * 10)), 1e6],
    "late": [*(late for person in range(MANY) for late in (False, True)), True],
}
TOWNS = {"town": ["Ayr", "Bern", "Cork"], "country": ["X", "X", "Y"]}
OPTIONS = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=200, delta=1e-6, privacy_unit_column=[people.person, visits.who])"
QUERY = (
    f"{OPTIONS} t.country, COUNT(*) AS n, SUM(v.cost) AS s FROM people p JOIN visits v ON p.person = v.who "
    "JOIN towns t ON t.town = p.town WHERE v.late GROUP BY t.country ORDER BY country"
)




@joins
@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, pa.table])
def test_frames_of_every_kind_are_joined_and_each_unit_pays_in_the_odometer(kind):
    def spent(unit):
        return Fraction(eq.spent(privacy_unit=unit)["epsilon"])

    before = [spent("person"), spent("who")]
    rows = eq.sql(QUERY, people=kind(PEOPLE), visits=kind(VISITS), towns=eq.public(kind(TOWNS)))
    assert rows.columns == ["country", "n", "s"]
    assert [row[0] for row in rows] == ["X", "Y"]
    # At epsilon 200 noise of this size has a chance below 1e-50.
    for (_, n, s), (people, cost) in zip(rows, [(2000, 50_000), (1000, 40_000)]):
        assert abs(n - people) < 30 and abs(s - cost) < 0.03 * cost
    assert isinstance(rows.release, eq.Release) and rows.release.guarantee["epsilon"] == "200"
    assert rows.release.guarantee["unit"] == "person" and rows.release.receipt["id"]
    assert [spent("person") - before[0], spent("who") - before[1]] == [200, 200]


@joins
def test_columns_without_a_type_take_one_from_the_keyword_and_bad_cells_are_null():
    visits = pd.DataFrame({"who": VISITS["who"], "cost": [*map(str, VISITS["cost"])]}).astype(object)
    visits.loc[0, "cost"] = "a lot"
    visits.loc[1, "who"] = [1, 2]
    query = f"{OPTIONS.replace('people.person, ', '')} COUNT(*) AS n FROM visits WHERE cost >= 30 AND who IN (SELECT who FROM visits WHERE cost = 10)"
    [(n,)] = eq.sql(query, visits=visits, types={"cost": "number"})
    assert abs(n - 2000) < 30


@joins
def test_frames_and_files_share_a_ledger_and_each_private_table_pays_under_its_name(tmp_path):
    visits = tmp_path / "visits.csv"
    pd.DataFrame(VISITS).to_csv(visits, index=False)
    ledger = tmp_path / "all.ledger"
    query = QUERY.replace("epsilon=200", "epsilon=1").replace("FROM people p", "FROM people p").replace("JOIN visits v", f"JOIN '{visits}' v")
    tables = {"people": pd.DataFrame(PEOPLE), "towns": eq.public(TOWNS)}
    ask = lambda **more: eq.sql(query, **tables, **{"ledger": ledger, "name": {"people": "the people"}, "types": {"late": "boolean"}, **more})  # noqa: E731
    first = ask(request_id="one")
    assert list(ask(request_id="one")) == list(first), "the same request costs nothing"
    assert first.release.receipt["id"] == ask(request_id="one").release.receipt["id"]
    people = eq.Session(tables["people"], ledger=ledger, name="the people", privacy_unit="person", budget=(9, 0.01))
    assert people.spent["epsilon"] == "1"
    file = eq.Session(str(visits), ledger=ledger, privacy_unit="who", budget=(1.5, 0.01))
    assert file.spent["epsilon"] == "1"
    # A limit of one of them holds for the query, and nothing is charged to the other.
    with pytest.raises(eq.BudgetError):
        ask()
    assert people.spent["epsilon"] == "1"


@joins
def test_no_row_is_read_before_the_charge(tmp_path, monkeypatch):
    ledger = tmp_path / "all.ledger"
    name = {"people": "people", "visits": "visits"}
    tables_of = [(PEOPLE, "people", "person"), (VISITS, "visits", "who")]

    def limit(epsilon):
        return [
            eq.Session(data, ledger=ledger, name=called, privacy_unit=unit, budget=(epsilon, 0.01)) for data, called, unit in tables_of
        ]

    limit(0.5)
    read = []
    monkeypatch.setattr("equipoise._data.Reading.read", lambda self: read.append(self) or [])
    tables = {"people": pa.table(PEOPLE), "visits": pa.table(VISITS), "towns": eq.public(pa.table(TOWNS))}
    with pytest.raises(eq.BudgetError):
        eq.sql(QUERY, **tables, ledger=ledger, name=name)
    assert read == []
    # Rows that do not come are a lost answer, and the charge stands in all of them.
    sessions = limit(900)
    with pytest.raises(eq.LostError, match="^the data could not be read to the end; the charge stands and the answer is lost$"):
        eq.sql(QUERY, **tables, ledger=ledger, name=name)
    assert len(read) == 3
    assert [session.spent["epsilon"] for session in sessions] == ["200", "200"]


@joins
def test_what_cannot_be_charged_or_joined_is_one_line_and_free(tmp_path):
    people, visits, towns = pd.DataFrame(PEOPLE), pd.DataFrame(VISITS), pd.DataFrame(TOWNS)
    file = tmp_path / "people.csv"
    people.to_csv(file, index=False)
    ledger = tmp_path / "all.ledger"
    right = {"people": people, "visits": visits, "towns": eq.public(towns)}
    before = [eq.spent(privacy_unit=unit) for unit in ("person", "who")]
    for query, keywords, line in [
        (QUERY, {**right, "towns": towns}, "'towns' is neither private nor public; name its unit"),
        (QUERY, {name: right[name] for name in ("people", "towns")}, "no table is called 'visits', and no file; tables are keywords of sql()"),
        (QUERY.replace("p.person = v.who", "p.town = v.cost"), right, "this join is not accepted: a row would belong to two units"),
        (QUERY.replace("v.cost)", "v.costs)"), right, "no column is called 'v.costs'"),
        (QUERY.replace("epsilon=200", "epsilon=200, adjacency='replace'"), right, "protects people who are added or removed"),
        (QUERY, {**right, "ledger": ledger, "name": "both"}, "each private table has a budget of its own; give name={'people': '..', 'visits': '..'}"),
        (QUERY, {**right, "ledger": ledger, "name": {"people": "p"}}, "name= has no name for 'visits'"),
        (QUERY, {**right, "people": str(file)}, "the private tables of a query share one ledger: give ledger= and name="),
        (QUERY, {**right, "request_id": "x"}, "request_id needs ledger= and name="),
        (QUERY, {**right, "pepole": 1}, "sql takes no keyword 'pepole'"),
        (QUERY.replace("epsilon=200, ", ""), right, "how much privacy may the query cost"),
    ]:
        with pytest.raises(eq.RequestError) as error:
            eq.sql(query, **keywords)
        assert line in str(error.value) and "\n" not in str(error.value), str(error.value)
    assert [eq.spent(privacy_unit=unit) for unit in ("person", "who")] == before
    assert not ledger.exists() or "charged" not in ledger.read_text(errors="replace")


@joins
def test_what_outgrows_the_memory_of_the_join_is_a_lost_answer_without_a_word(monkeypatch, capfd):
    monkeypatch.setenv("EQUIPOISE_SQL_MEMORY", "1")
    people = pa.table({"person": list(range(60_000)), "salary": [f"{person}" * 12 for person in range(60_000)]})
    query = (
        f"{OPTIONS.replace(', visits.who', '')} MODE(p.salary) FROM people p JOIN people q ON p.person = q.person"
    )
    with pytest.raises(eq.LostError, match="^the data could not be read to the end; the charge stands and the answer is lost$"):
        eq.sql(query, people=people)
    assert capfd.readouterr() == ("", "")


def test_without_the_program_there_is_one_line_that_says_how_to_get_it(monkeypatch):
    monkeypatch.setattr("equipoise._sql.program", lambda: None)
    with pytest.raises(eq.RequestError) as error:
        eq.sql(QUERY, people=PEOPLE, visits=VISITS, towns=eq.public(TOWNS))
    assert str(error.value).startswith("line 1, column ") and str(error.value).endswith("install it with: pip install 'equipoise[sql]'"), str(error.value)


def test_a_program_that_is_another_one_is_one_line_and_the_variable_names_it(monkeypatch, tmp_path):
    other = tmp_path / "other"
    other.write_text("#!/bin/sh\necho private; echo private >&2\n")
    other.chmod(other.stat().st_mode | stat.S_IXUSR)
    before = eq.spent(privacy_unit="person")
    for program in [str(other), str(tmp_path / "nowhere")]:
        monkeypatch.setenv("EQUIPOISE_SQL_PROGRAM", program)
        assert equipoise._joined.program() == program
        with pytest.raises(eq.RequestError, match="does not answer, or is of another version than") as error:
            eq.sql(QUERY, people=PEOPLE, visits=VISITS, towns=eq.public(TOWNS))
        assert "\n" not in str(error.value) and "pip install 'equipoise[sql]'" in str(error.value)
    assert eq.spent(privacy_unit="person") == before
