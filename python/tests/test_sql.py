"""Private SQL: tables of every kind, rows, errors with their places, and a cursor that pandas reads."""

from __future__ import annotations

import warnings
from fractions import Fraction

import equipoise as eq
import equipoise.dbapi
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

PEOPLE = {"town": ["Ayr"] * 3000 + ["Bern"] * 2000 + ["Rare"], "pay": [1000.0] * 3000 + [3000.0] * 2000 + [9.0]}
QUERY = "SELECT town, COUNT(*) AS n, AVG(pay) AS pay FROM people GROUP BY town ORDER BY n DESC"


@pytest.mark.parametrize("kind", [dict, pd.DataFrame, pl.DataFrame, pa.table])
def test_every_kind_of_table_has_the_same_rows(kind):
    rows = eq.sql(QUERY, people=kind(PEOPLE), epsilon=100, delta=1e-6)
    assert rows.columns == ["town", "n", "pay"]
    assert [row[0] for row in rows] == ["Ayr", "Bern"]
    # At epsilon 100 noise of this size has a chance below 1e-100.
    for row, (count, pay) in zip(rows, [(3000, 1000), (2000, 3000)]):
        assert abs(row[1] - count) < 30 and abs(row[2] - pay) < 60
    assert rows.errors[0][0] is None and rows.errors[0][1]["kind"] == "noise"
    assert rows.release.guarantee["epsilon"] == "100"
    assert list(rows.to_pandas().columns) == ["town", "n", "pay"]
    assert rows.to_dict()["release"]["statistic"] == "batch"
    shown = repr(rows)
    assert "Ayr" in shown and "Ayr" in rows._repr_html_()
    # A table with bars, what they are about, price and receipt.
    assert " to " in shown and "epsilon=100" in shown and rows.release.receipt["id"][:8] in shown, shown
    assert "error: each holds on its own (95 % confidence)" in shown and "pay: rows are limited to" in shown, shown
    assert rows.svg().svg.startswith("<svg") and "epsilon 100" in rows.explain()


def test_a_file_is_a_table_and_its_ledger_is_charged_once(tmp_path):
    path = tmp_path / "people.csv"
    pd.DataFrame(PEOPLE).to_csv(path, index=False)
    text = f"SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=2, delta=1e-6) COUNT(*) FROM '{path}' GROUP BY town"
    first = eq.sql(text, request_id="one")
    again = eq.sql(text + " LIMIT 1", request_id="one")
    assert list(again) == list(first)[:1], "what is done to released values costs nothing"
    assert again.release.spent["epsilon"] == "2"


def test_what_is_wrong_has_a_place_and_costs_nothing(monkeypatch):
    # Where tables are joined, the second one is looked for.
    monkeypatch.setattr("equipoise._sql.program", lambda: None)
    before = eq.spent()
    for query, said in [
        ("SELECT pay FROM people", "line 1, column 8: 'pay' stands outside of an aggregate"),
        ("SELECT AVG(pya)\nFROM people", "line 1, column 8: no column is called 'pya'; did you mean 'pay'?"),
        ("SELECT COUNT(*)\nFROM others", "line 2, column 6: no table is called 'others'"),
        ("SELECT COUNT(*) FROM people JOIN others", "line 1, column 29: a join is not accepted"),
        ("SELECT COUNT(*) FROM people WHERE pay >", "line 1, column 40: "),
    ]:
        with pytest.raises(eq.RequestError) as error:
            eq.sql(query, people=PEOPLE, epsilon=1)
        assert str(error.value).startswith(said), str(error.value)
    with pytest.raises(eq.RequestError, match="how much privacy may the query cost"):
        eq.sql("SELECT COUNT(*) FROM people", people=PEOPLE)
    assert eq.spent() == before


def test_pandas_reads_a_cursor():
    with equipoise.dbapi.connect(people=pd.DataFrame(PEOPLE), epsilon=100, delta=1e-6) as connection:
        with warnings.catch_warnings():
            # pandas says that it tests SQLAlchemy only.
            warnings.simplefilter("ignore", UserWarning)
            frame = pd.read_sql(QUERY, connection)
    assert list(frame["town"]) == ["Ayr", "Bern"]
    assert abs(frame["n"][0] - 3000) < 30
    with pytest.raises(equipoise.dbapi.InterfaceError):
        connection.cursor().execute(QUERY)


def test_pandas_says_what_is_wrong_with_a_query_and_nothing_of_a_rollback():
    connection = equipoise.dbapi.connect(people=PEOPLE, epsilon=1, delta=1e-6)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        with pytest.raises(Exception, match="line 1, column 8: 'pay' stands outside") as error:
            pd.read_sql("SELECT pay FROM people", connection)
    assert "rollback" not in str(error.value)
    connection.cursor().execute(QUERY)
    with pytest.raises(equipoise.dbapi.NotSupportedError, match="a charge is not taken back"):
        connection.rollback()


def test_notebooks_ask_by_a_line_or_a_cell_and_each_query_is_one_charge(monkeypatch):
    monkeypatch.setenv("PLOOMBER_STATS_ENABLED", "false")
    from IPython.core.interactiveshell import InteractiveShell

    shell = InteractiveShell.instance()
    shell.push({"connection": equipoise.dbapi.connect(people=PEOPLE, epsilon=100, delta=1e-6)})
    before = eq.spent()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        shell.run_line_magic("load_ext", "sql")
        shell.run_line_magic("sql", "connection --alias people")
        line = shell.run_line_magic("sql", QUERY)
        clause = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(confidence=0.9)"
        cell = shell.run_cell_magic("sql", "", f"{clause}\n  COUNT(*) AS n\nFROM people;")
    frame = line.DataFrame()
    assert list(frame["town"]) == ["Ayr", "Bern"] and abs(frame["n"][0] - 3000) < 30
    assert abs(cell.DataFrame()["n"][0] - 5001) < 30
    assert Fraction(eq.spent()["epsilon"]) - Fraction(before["epsilon"]) == 200


def test_a_cursor_gives_rows_one_by_one():
    cursor = equipoise.dbapi.connect(people=PEOPLE, epsilon=100, delta=1e-6).cursor()
    assert cursor.description is None and cursor.rowcount == -1
    with pytest.raises(equipoise.dbapi.InterfaceError):
        cursor.fetchone()
    with pytest.raises(equipoise.dbapi.NotSupportedError):
        cursor.execute(QUERY, ["x"])
    cursor.execute(QUERY)
    assert cursor.rowcount == 2 and [column[0] for column in cursor.description] == ["town", "n", "pay"]
    assert cursor.fetchone()[0] == "Ayr"
    assert [row[0] for row in cursor] == ["Bern"]
    assert cursor.fetchall() == [] and cursor.fetchone() is None


def test_a_refusal_has_a_call_that_would_do():
    rows = eq.sql("SELECT MEDIAN(pay) FROM people", people={"pay": [float(row) for row in range(300)]}, epsilon=0.01)
    assert rows[0] == (None,)
    # Which one depends on the noise of a count: with more epsilon, or the count alone where it found no rows.
    assert rows.release.next_step is not None, repr(rows)
    assert "next: eq.median(data, 'pay'" in repr(rows) or "next: eq.count(data" in repr(rows), repr(rows)
