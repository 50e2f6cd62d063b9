"""Tables of SQLite files from Python: the same answers and errors as on the command line."""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

import equipoise as eq


@pytest.fixture
def database(tmp_path: Path) -> Path:
    path = tmp_path / "people.db"
    with closing(sqlite3.connect(path)) as opened:
        opened.execute("CREATE TABLE Salaries (id INTEGER, salary REAL, town TEXT)")
        rows = [(place, 1000.0 + place, "Ayr" if place % 2 else "Bath") for place in range(2000)]
        opened.executemany("INSERT INTO Salaries VALUES (?, ?, ?)", rows)
        opened.execute("CREATE VIEW rich AS SELECT * FROM Salaries")
        opened.commit()
    return path


def test_a_table_is_asked_about_where_a_file_is(database: Path) -> None:
    table = f"sqlite:{database}?table=salaries"
    assert abs(eq.median(table, "salary", epsilon=10).value - 1999.5) < 60
    by = eq.count(table, group_by="town", keys=["Ayr", "Bath"], epsilon=10)
    assert set(by.to_pandas()["town"]) == {"Ayr", "Bath"}
    rows = eq.sql(f"SELECT COUNT(*) AS n FROM '{table}'", epsilon=10)
    assert abs(list(rows)[0][0] - 2000) < 20
    session = eq.Session(table, budget=100)
    assert abs(session.mean("salary", range=(0, 4000), epsilon=5).release().value - 1999.5) < 40


def test_what_is_no_table_costs_nothing(database: Path) -> None:
    for address, said in [
        (f"sqlite:{database}?table=rich", "there is no table 'rich'"),
        (f"sqlite:{database.parent}/none.db?table=t", "there is no file"),
        (str(database), "is a SQLite database"),
    ]:
        with pytest.raises(eq.RequestError, match=said):
            eq.count(address, epsilon=1)
    with pytest.raises(eq.RequestError, match="holds text"):
        eq.median(f"sqlite:{database}?table=salaries", "town", epsilon=1)
    with closing(sqlite3.connect(database.parent / "equipoise.ledger")) as ledger:
        assert ledger.execute("SELECT count(*) FROM entries WHERE kind = 'charge'").fetchone() == (0,)


def test_a_cursor_of_adbc_has_the_types_of_its_schema() -> None:
    dbapi = pytest.importorskip("adbc_driver_duckdb.dbapi")
    with closing(dbapi.connect()) as opened, closing(opened.cursor()) as cursor:
        cursor.execute("SELECT range::DOUBLE AS x, CASE WHEN range % 2 = 0 THEN 'Ayr' END AS town, NULL::INTEGER AS n FROM range(2000)")
        # All cells of n are missing; it is a column of integers all the same.
        data = eq.Session(cursor, budget=100)
        assert abs(data.median("x", epsilon=10).release().value - 999.5) < 60
        assert data.count(where="n is not null", epsilon=10).release().value < 20
        with pytest.raises(eq.RequestError, match="holds text"):
            data.median("town", epsilon=1).release()


def test_a_cursor_that_takes_types_from_rows_is_refused() -> None:
    dbapi = pytest.importorskip("adbc_driver_sqlite.dbapi")
    with closing(dbapi.connect()) as opened, closing(opened.cursor()) as cursor:
        cursor.execute("SELECT 1 AS x")
        with pytest.raises(eq.DataError, match="takes types from rows; name the table"):
            eq.median(cursor, "x", epsilon=1)


def test_frames_of_connectorx_have_the_types_of_the_database(database: Path) -> None:
    connectorx = pytest.importorskip("connectorx")
    for kind in ("pandas", "arrow", "polars"):
        frame = connectorx.read_sql(f"sqlite://{database}", "SELECT salary, town FROM Salaries", return_type=kind)
        frame = frame.read_all() if hasattr(frame, "read_all") else frame
        assert abs(eq.median(frame, "salary", epsilon=10).value - 1999.5) < 60, kind


def test_an_engine_for_a_file_is_an_address(database: Path, tmp_path: Path) -> None:
    sqlalchemy = pytest.importorskip("sqlalchemy")
    engine = sqlalchemy.create_engine(f"sqlite:///{database}")
    assert eq.table(engine, "Salaries") == f"sqlite:{database}?table=Salaries"
    assert abs(eq.median(eq.table(engine, "salaries"), "salary", epsilon=10).value - 1999.5) < 60
    done = eq.extract(engine, query="SELECT salary, town FROM rich", into=tmp_path / "rich.arrow", types={"town": "text"})
    assert (done["rows"], done["left_out"]) == (2000, [])
    for other, said in [
        (sqlalchemy.create_engine("sqlite://"), "in memory"),
        (sqlalchemy.create_engine(f"sqlite:///file:{database}?mode=ro&uri=true"), "in memory or an address"),
        (sqlalchemy.create_engine(f"sqlite:///{database}", poolclass=sqlalchemy.pool.StaticPool, creator=lambda: None), "creator"),
    ]:
        with pytest.raises(eq.RequestError, match=said):
            eq.table(other, "salaries")
    with pytest.raises(eq.RequestError, match="give query="):
        eq.extract(engine, into=tmp_path / "x.arrow")
    with pytest.raises(eq.RequestError, match="no such column: nowhere"):
        eq.extract(engine, query="SELECT nowhere FROM Salaries", into=tmp_path / "x.arrow")


def test_files_of_duckdb_are_extracted(tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    file = tmp_path / "people.duckdb"
    with duckdb.connect(str(file)) as opened:
        opened.execute("CREATE TABLE people AS SELECT range::DOUBLE AS x, DATE '2020-01-01' + range::INTEGER AS born, [1] AS odd FROM range(1000)")
        opened.execute("CREATE VIEW failing AS SELECT x, CAST('no number' AS INTEGER) + x AS y FROM people")
    done = eq.extract(f"duckdb:{file}", query="SELECT * FROM people", into=tmp_path / "people.arrow")
    assert done == {
        "into": str(tmp_path / "people.arrow"),
        "rows": 1000,
        "columns": {"x": "number", "born": "date"},
        "left_out": ["odd"],
    }
    assert (tmp_path / "people.arrow").stat().st_mode & 0o777 == 0o600
    assert abs(eq.median(tmp_path / "people.arrow", "x", epsilon=10).value - 500) < 60
    assert eq.extract(f"duckdb:{file}?table=people", into=tmp_path / "again.arrow")["rows"] == 1000
    for address, query, said in [
        (f"duckdb:{file}", "SELECT * FROM failing", "the query failed, and nothing was written"),
        (f"duckdb:{file}", "SELECT nowhere FROM people", "nowhere"),
        (f"duckdb:{file}", None, "which rows"),
        (f"duckdb:{tmp_path}/none.duckdb", "SELECT 1", "no such file"),
    ]:
        with pytest.raises(eq.EquipoiseError, match=said):
            eq.extract(address, query=query, into=tmp_path / "none.arrow")
    assert not (tmp_path / "none.arrow").exists()


def documented(heading: str) -> list[tuple[str, str]]:
    """Each type of a table in docs/databases.md, and what it says that it is read as."""
    page = (Path(__file__).parents[2] / "docs" / "databases.md").read_text()
    rows = re.search(rf"### {heading}.*?\n\|---.*?\n(.*?)\n\n", page, re.DOTALL)
    assert rows is not None
    cells = [row.split("|") for row in rows[1].splitlines()]
    return [(name, cell[2].strip()) for cell in cells for name in re.findall("`(.*?)`", cell[1])]


# Types with parameters as they can be written.
WRITTEN = {
    "DECIMAL(p, 0)": "DECIMAL(9, 0)", "ENUM": "ENUM('a')", "LIST": "INTEGER[]", "ARRAY": "INTEGER[3]",
    "STRUCT": "STRUCT(a INTEGER)", "MAP": "MAP(VARCHAR, INTEGER)", "UNION": "UNION(a INTEGER)",
}  # fmt: skip


def as_documented(kind: str | None, said: str) -> bool:
    word = {None: "what the question needs"}.get(kind, kind)
    return said.startswith("decimal with s digits") if word == "decimal:2" else word == said


def test_types_of_duckdb_are_read_as_documented(tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    file = tmp_path / "types.duckdb"
    with duckdb.connect(str(file)) as opened:
        there = {name for (name,) in opened.execute("SELECT DISTINCT logical_type FROM duckdb_types()").fetchall()}
    table = documented("Types of DuckDB")
    # What no column has, and what this version may not know yet.
    assert there - {"NULL", "TYPE", "TUPLE", "ANY", "DECIMAL"} <= {name for name, _ in table}
    assert len(table) > 30
    for name, said in table:
        if name.split("(")[0] not in there | {"JSON"}:
            continue
        written = WRITTEN.get(name, name.replace("(p, s)", "(9, 2)"))
        done = eq.extract(f"duckdb:{file}", query=f"SELECT 1 AS one, NULL::{written} AS x", into=tmp_path / "x.arrow")
        assert as_documented(done["columns"].get("x", "left out"), said), (name, done)
    big = f"SELECT {2**70}::HUGEINT AS x, 7::HUGEINT AS y"
    eq.extract(f"duckdb:{file}", query=big, into=tmp_path / "big.arrow")
    import pyarrow.ipc

    with pyarrow.ipc.open_file(tmp_path / "big.arrow") as written_file:
        assert written_file.read_all().to_pylist() == [{"x": None, "y": 7}]


def test_types_of_sqlite_are_read_as_documented(tmp_path: Path) -> None:
    table = documented("Types of SQLite")
    assert len(table) > 15
    for place, (name, said) in enumerate(table):
        declared = name.replace("(p, s)", "(9, 2)").replace("(n)", "(9)")
        file = tmp_path / f"types{place}.db"
        with closing(sqlite3.connect(file)) as opened:
            opened.execute(f"CREATE TABLE t (x {declared})")
            opened.commit()
        kind = eq._equipoise.File(f"sqlite:{file}?table=t").kinds[0]
        said = "number" if name in ("DECIMAL", "NUMERIC") else said
        assert as_documented(kind, said.split(" with s")[0] if kind != "decimal:2" else said), (name, kind, said)


def test_no_frame_of_an_error_has_the_password_of_an_engine() -> None:
    sqlalchemy = pytest.importorskip("sqlalchemy")
    pytest.importorskip("pg8000")
    url = "postgresql+pg8000://ann:secret-7f3a@db.example.org/staff"
    hooked = sqlalchemy.create_engine(url)
    sqlalchemy.event.listen(hooked, "do_connect", lambda *_: None)
    for engine in (hooked, sqlalchemy.create_engine(url, connect_args={"unix_sock": "/x"}), sqlalchemy.create_engine(f"{url}?options=-c+x")):
        for ask in (lambda: eq.table(engine, "salaries"), lambda: eq.extract(engine, query="SELECT 1", into="x.arrow")):  # noqa: B023
            with pytest.raises(eq.RequestError) as caught:
                ask()
            ours = [frame.frame.f_locals for frame in caught.traceback if "equipoise" in Path(frame.path).parts]
            assert ours and "secret-7f3a" not in f"{caught.value!r} {ours}"
