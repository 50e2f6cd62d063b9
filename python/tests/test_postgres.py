"""Tables of Postgres from Python: the same answers and errors as on the command line."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import postgres
import pytest

import equipoise as eq

pytestmark = pytest.mark.skipif(
    postgres.PROGRAMS is None, reason="!! Postgres is not installed, and nothing about it was tested; install Debian's 'postgresql'"
)

PEOPLE = """
CREATE SCHEMA hr;
CREATE TABLE hr.salaries (id int, salary float8, town text, paid numeric(9, 2), extra jsonb);
INSERT INTO hr.salaries SELECT i, 1000.0 + i, CASE WHEN i % 2 = 1 THEN 'Ayr' ELSE 'Bath' END, i / 4.0 FROM generate_series(1, 2000) i;
CREATE VIEW hr.rich AS SELECT * FROM hr.salaries;
GRANT USAGE ON SCHEMA hr TO reader; GRANT SELECT ON ALL TABLES IN SCHEMA hr TO reader;
"""


@pytest.fixture(scope="module")
def database() -> str:
    return postgres.cluster().database("people", PEOPLE)


@pytest.fixture(autouse=True)
def at_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A table of a server is charged to the ledger of its user."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    return tmp_path


def test_a_table_is_asked_about_where_a_file_is(database: str, at_home: Path) -> None:
    table = f"{database}?table=hr.salaries"
    assert abs(eq.median(table, "salary", epsilon=10).value - 2000.5) < 60
    by = eq.count(table, group_by="town", keys=["Ayr", "Bath"], epsilon=10)
    assert set(by.to_pandas()["town"]) == {"Ayr", "Bath"}
    rows = eq.sql(f"SELECT COUNT(*) AS n FROM '{table}'", epsilon=10)
    assert abs(list(rows)[0][0] - 2000) < 20
    session = eq.Session(table, budget=100)
    assert abs(session.mean("paid", range=(0, 500), epsilon=5).release().value - 250) < 10
    assert (at_home / "equipoise" / "equipoise.ledger").exists()


def test_what_is_no_table_costs_nothing(database: str) -> None:
    for address, said in [
        (f"{database}?table=hr.rich", "is a view"),
        (f"{database}?table=hr.nobody", "there is no such table"),
        (database.replace("reader@", "reader:secret@") + "?table=hr.salaries", "an address takes no password"),
        (database.replace("reader@", "boss@") + "?table=hr.salaries", "superuser"),
    ]:
        with pytest.raises(eq.RequestError, match=said) as caught:
            eq.count(address, epsilon=1)
        assert "secret" not in str(caught.value) and "@" not in str(caught.value)
    with pytest.raises(eq.RequestError, match="type 'jsonb'"):
        eq.mode(f"{database}?table=hr.salaries", "extra", epsilon=1, delta=1e-6)
    with pytest.raises(eq.RequestError, match="a monitor watches files"):
        eq.ThresholdMonitor(f"{database}?table=hr.salaries", epsilon=1, delta=1e-6, budget_per_unit=2)


def test_a_ledger_in_a_database_is_shared(tmp_path: Path) -> None:
    cluster = postgres.cluster(durable=True)
    database = cluster.database("books", "CREATE ROLE asking LOGIN;")
    steward, asking = (database.replace("reader@", f"{role}@") for role in ("boss", "asking"))
    people = tmp_path / "people.csv"
    people.write_text("salary\n" + "\n".join(map(str, range(1000))))
    with pytest.raises(eq.LedgerFileError, match="no ledger that this role may know of"):
        eq.count(people, epsilon=1, ledger=asking)
    init = [sys.executable, "-m", "equipoise", "budget", "init", "--ledger", steward, "--role", "asking"]
    subprocess.run(init, check=True, capture_output=True)
    first = eq.count(people, epsilon=0.5, ledger=asking, request_id="monday")
    again = eq.count(people, epsilon=0.5, ledger=asking, request_id="monday")
    assert first.receipt == again.receipt and abs(first.value - 1000) < 60
    session = eq.Session({"x": list(range(1000))}, ledger=asking, name="numbers")
    assert abs(session.median("x", epsilon=5).release().value - 500) < 60
    with pytest.raises(eq.LedgerFileError) as caught:
        eq.count(people, epsilon=1, ledger=asking.replace("asking@", "nobody_like_this@"))
    assert "nobody_like_this" not in str(caught.value)


def test_an_engine_of_sqlalchemy_is_an_address(database: str, at_home: Path) -> None:
    sqlalchemy = pytest.importorskip("sqlalchemy")
    pytest.importorskip("pg8000")
    cluster = postgres.cluster()
    cluster.run(
        "people",
        "CREATE ROLE locked LOGIN PASSWORD 'se:cr/et@'; GRANT USAGE ON SCHEMA hr TO locked; GRANT SELECT ON ALL TABLES IN SCHEMA hr TO locked;",
    )
    url = sqlalchemy.URL.create("postgresql+pg8000", "locked", "se:cr/et@", "127.0.0.1", cluster.port, "people")
    engine = sqlalchemy.create_engine(url)
    address = f"postgres://locked@127.0.0.1:{cluster.port}/people?table=hr.salaries"
    with pytest.raises(eq.RequestError, match="does not let this role in"):
        eq.count(address, epsilon=1)
    table = eq.table(engine, "salaries", schema="hr")
    assert "cr/et" not in table and "cr%2Fet" not in table
    assert abs(eq.median(table, "salary", epsilon=10).value - 2000.5) < 60
    with pytest.raises(eq.RequestError, match="type 'jsonb'"):
        eq.mode(table, "extra", epsilon=1, delta=1e-6)
    done = eq.extract(engine, query="SELECT town, salary * 2 AS double FROM hr.rich ORDER BY 2", into=at_home / "rich.arrow")
    assert (done["rows"], done["columns"]) == (2000, {"town": "text", "double": "number"})
    assert (at_home / "rich.arrow").stat().st_mode & 0o777 == 0o600
    assert abs(eq.median(at_home / "rich.arrow", "double", epsilon=10).value - 4001) < 120
    hooked = sqlalchemy.create_engine(url)
    sqlalchemy.event.listen(hooked, "do_connect", lambda *_: None)
    for other, said in [
        (hooked, "do_connect hook"),
        (sqlalchemy.create_engine(url, creator=lambda: None), "a creator or a pool of its own"),
        (sqlalchemy.create_engine(url, connect_args={"host": "elsewhere"}), r"connect_args \(host\)"),
        (sqlalchemy.create_engine(url.update_query_dict({"options": "-c x"})), "says 'options'"),
        ("postgresql://locked@h/d", "takes an engine"),
    ]:
        with pytest.raises(eq.RequestError, match=said) as caught:
            eq.table(other, "salaries", schema="hr")
        assert "cr/et" not in str(caught.value) and "elsewhere'" not in str(caught.value)
    eq.table(sqlalchemy.create_engine(url, connect_args={"timeout": 5}), "salaries", schema="hr")
