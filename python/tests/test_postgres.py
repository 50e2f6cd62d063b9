"""Tables of Postgres from Python: the same answers and errors as on the command line."""

from __future__ import annotations

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
