"""Tables that are read where they lie: same ledger, same releases, one line before the charge for what an engine cannot do, and a lost answer without a
word for what fails after it. That answers are those of rows here is in `engine_server.py` and the test that speaks with it."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import ibis
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from conftest import Disk

import equipoise as eq
from equipoise._elsewhere.engine import Engine
from equipoise._elsewhere.passes import Passes

ROWS = 4000
LOST = "the data could not be read to the end; the charge stands and the answer is lost"
SECRET = "secret-7f3a"


def rows(many: int = ROWS) -> pa.Table:
    return pa.table(
        {
            "pay": pa.array([None if row % 50 == 0 else float(row % 1000) for row in range(many)], pa.float64()),
            "town": [["ayr", "bute", None][row % 3] for row in range(many)],
            "age": [row % 90 for row in range(many)],
            "person": [f"p{row // 4}" for row in range(many)],
            "tags": pa.array([[1]] * many),
        }
    )


@pytest.fixture
def table() -> Any:
    return ibis.duckdb.connect().create_table("people", rows())


@pytest.fixture(params=["ibis", "relation", "polars"])
def anywhere(request: pytest.FixtureRequest) -> Iterator[Any]:
    if request.param == "polars":
        yield pl.from_arrow(rows().drop_columns("tags")).lazy()
    elif request.param == "ibis":
        yield ibis.duckdb.connect().create_table("people", rows())
    else:
        connection = duckdb.connect()
        connection.register("people", rows())
        yield connection.sql("select * from people")


def test_questions_are_answered_where_the_table_lies(anywhere: Any) -> None:
    session = eq.Session(anywhere, budget=(1000, 0.1))
    # At epsilon 50 the count is off by one or more with a chance below 1e-21.
    assert session.count(epsilon=50).release().value == ROWS
    assert abs(session.median("pay", epsilon=50).release().value - 500) < 20
    assert abs(session.mean("age", epsilon=50).release().value - 44.5) < 2
    found = session.group_by("town").count(epsilon=50, delta=1e-6).release()
    assert {group["key"] for group in found.to_dict()["groups"]} >= {"ayr", "bute"}
    parts = session.batch([{"statistic": "count"}, {"statistic": "sum", "column": "age", "range": [0, 90]}], epsilon=60).release()
    assert len(parts.answers) == 2
    assert session.spent["epsilon"] == "260"


def test_module_functions_take_such_tables_too(anywhere: Any) -> None:
    assert abs(eq.quantile(anywhere, "pay", 0.9, epsilon=50).value - 900) < 20


def test_the_receipt_says_that_nobody_checked_the_rows(table: Any, tmp_path: Path) -> None:
    adults = table.filter(table.age >= 18).mutate(double=table.age * 2)
    session = eq.Session(adults, ledger=tmp_path / "l.ledger", name="people")
    query = session.sum("double", epsilon=1, range=(0, 200))
    clause = "the rows are those that a table of the holder's has in DuckDB, which nobody checked"
    assert query.summarize()["stated"] == [clause]
    release = query.release(request_id="once")
    assert release.to_dict()["stated"] == [clause]
    again = session.sum("double", epsilon=1, range=(0, 200)).release(request_id="once")
    assert again.value == release.value and session.spent["epsilon"] == "1"


def test_people_have_so_many_rows_and_groups(table: Any) -> None:
    session = eq.Session(table, unit="person")
    assert session.count(epsilon=100).release().value == 1000
    assert session.count(epsilon=100, max_rows_per_unit=3).release().value == 3000
    found = session.group_by("town", keys=["ayr", "bute"]).count(epsilon=200, max_groups_per_unit=2, max_rows_per_unit=9).release()
    assert sum(group["value"] for group in found.to_dict()["groups"]) <= 4000
    whole = session.mean("age", per_unit=True, epsilon=100, range=(0, 90)).release()
    assert abs(whole.value - 44.5) < 3


@pytest.mark.parametrize(
    ("asked", "line"),
    [
        (lambda data: eq.count(data, where="age > 3", epsilon=1), "filter the table there"),
        (lambda data: eq.mean(data, "age / 2", epsilon=1), "compute the column there"),
        (lambda data: eq.count(data, "tags", epsilon=1), "lists"),
        (lambda data: eq.count(data, unit="pay", epsilon=1), "is of the type float64 there, which is not read as text; cast it in the table"),
        (lambda data: eq.mean(data, "pay", unit="person", per_unit=True, range=(0, 9), epsilon=1), "adds up floats"),
        (lambda data: eq.simulate("count", data, epsilon=1, trials=2), "needs rows here"),
        (lambda data: eq.graph(data, "edges", columns=("age", "town"), epsilon=1, adjacency="edge"), "needs its rows here"),
        (lambda data: eq.elsewhere(data, deadline=0), "deadline is not accepted"),
        (lambda data: eq.elsewhere([1, 2]), "lies in no engine"),
    ],
)
def test_what_an_engine_cannot_do_is_one_line_before_the_charge(table: Any, asked: Any, line: str) -> None:
    before = (eq.spent(), eq.spent(privacy_unit="pay"), eq.spent(privacy_unit="person"))
    with pytest.raises(eq.EquipoiseError) as raised:
        asked(table)
    assert line in str(raised.value) and "\n" not in str(raised.value)
    assert before == (eq.spent(), eq.spent(privacy_unit="pay"), eq.spent(privacy_unit="person"))


@pytest.mark.parametrize("engine", ["duckdb", "relation", "polars"])
def test_what_is_not_a_number_is_none_whatever_a_file_states_of_its_column(engine: str, tmp_path: Path) -> None:
    # The statistics of such a file leave out what is not a number, and DuckDB took no row for one.
    path = str(tmp_path / "people.parquet")
    pq.write_table(pa.table({"x": [float("nan") if row % 10 == 0 else float(row) for row in range(1000)]}), path)
    if engine == "duckdb":
        table = ibis.duckdb.connect().read_parquet(path)
    else:
        table = duckdb.connect().read_parquet(path) if engine == "relation" else pl.scan_parquet(path)
    # At epsilon 50 a count is off by one or more with a chance below 1e-21.
    assert eq.count(table, "x", epsilon=50).value == 900


def test_polars_draws_no_people() -> None:
    with pytest.raises(eq.DataError, match="rows of people are not drawn in Polars"):
        eq.count(pl.LazyFrame({"person": ["a"]}), unit="person", epsilon=1)


def test_whatever_an_engine_raises_is_a_lost_answer_without_a_word(table: Any, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    session = eq.Session(table)
    session.count(epsilon=1).release()  # looked at once

    def broken(self: Engine, expression: Any) -> Any:
        print(SECRET)
        raise ValueError(SECRET)

    monkeypatch.setattr(Engine, "_result", broken)
    with pytest.raises(eq.LostError) as raised:
        session.median("pay", epsilon=1).release()
    assert str(raised.value) == LOST
    assert raised.value.__cause__ is None and raised.value.__context__ is None
    out, err = capfd.readouterr()
    assert SECRET not in out + err + repr(raised.value)
    assert session.spent["epsilon"] == "2"


@pytest.mark.parametrize("found", ["", "[]", "{}", '{"counts": [{"key": [], "of": 0, "count": -1}], "sums": []}', '{"counts": 7, "sums": []}'])
def test_what_is_no_counts_is_a_lost_answer(table: Any, monkeypatch: pytest.MonkeyPatch, found: str) -> None:
    monkeypatch.setattr(Passes, "count", lambda self, text: found)
    with pytest.raises(eq.LostError, match="the answer is lost"):
        eq.median(table, "pay", epsilon=1)


def _spoilt(monkeypatch: pytest.MonkeyPatch, spoil: Any, times: int) -> list[int]:
    """Spoil the results of so many passes that have more than one row."""
    seen: list[int] = []
    count = Passes.count

    def spoilt(self: Passes, text: str) -> str:
        found = json.loads(count(self, text))
        if len(found["counts"]) > 2 and len(seen) < times:
            seen.append(1)
            spoil(found["counts"])
        return json.dumps(found)

    monkeypatch.setattr(Passes, "count", spoilt)
    return seen


SPOILS = {
    "doubled": lambda counts: counts.append(counts[-1]),
    "missing": lambda counts: counts.pop(),
    "one more": lambda counts: counts[-1].update(count=counts[-1]["count"] + 1),
    "foreign": lambda counts: counts[0].update(key=["nowhere"]),
}


@pytest.mark.parametrize("spoil", SPOILS.values(), ids=SPOILS)
def test_a_row_that_comes_twice_or_not_at_all_is_asked_for_again_and_then_lost(table: Any, monkeypatch: pytest.MonkeyPatch, spoil: Any) -> None:
    session = eq.Session(table)
    with monkeypatch.context() as patched:
        seen = _spoilt(patched, spoil, 1)
        assert abs(session.median("pay", epsilon=50).release().value - 500) < 20 and seen
    seen = _spoilt(monkeypatch, spoil, 100)
    with pytest.raises(eq.LostError, match="the answer is lost"):
        session.median("pay", epsilon=50).release()
    assert seen and session.spent["epsilon"] == "100"


def test_a_table_that_changes_between_passes_is_a_lost_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    connection = ibis.duckdb.connect()
    table = connection.create_table("people", rows())
    count = Passes.count

    def changing(self: Passes, text: str) -> str:
        found = count(self, text)
        connection.con.execute("insert into people select * from people where age = 45")
        return found

    session = eq.Session(table)
    session.count(epsilon=1).release()
    monkeypatch.setattr(Passes, "count", changing)
    with pytest.raises(eq.LostError, match="the answer is lost"):
        session.median("pay", epsilon=50).release()


def test_a_doubling_in_what_was_kept_is_seen(table: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    keep = Engine.keep
    monkeypatch.setattr(Engine, "keep", lambda self, expression: keep(self, expression.union(expression)))
    with pytest.raises(eq.LostError, match="the answer is lost"):
        eq.count(table, unit="person", max_rows_per_unit=2, epsilon=1)


def test_a_query_that_takes_too_long_is_a_lost_answer_in_time(table: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    slow = eq.elsewhere(table, deadline=0.5)
    session = eq.Session(slow)
    session.count(epsilon=1).release()
    monkeypatch.setattr(Engine, "_result", lambda self, expression: time.sleep(3))
    began = time.monotonic()
    with pytest.raises(eq.LostError, match="the answer is lost"):
        session.count(epsilon=1).release()
    assert time.monotonic() - began < 2.5
    monkeypatch.undo()
    eq.elsewhere(slow, deadline=20)
    session.count(epsilon=1).release()
    assert session.spent["epsilon"] == "3"


def test_little_leaves_the_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    left: list[int] = []
    run = Engine.run

    def counted(self: Engine, expression: Any) -> Any:
        found = run(self, expression)
        left.append(found.num_rows)
        return found

    monkeypatch.setattr(Engine, "run", counted)
    connection = ibis.duckdb.connect()
    connection.con.execute("create table big as select random() * 1e6 as x from range(300000)")
    session = eq.Session(connection.table("big"))
    session.count(epsilon=1).release()
    left.clear()
    session.median("x", epsilon=1).release()
    # The first bits of random numbers below a million, then three prefixes of 2^16 buckets at most, then a window.
    assert 5 <= len(left) <= 9 and max(left) <= 3 << 16 and left[-1] <= 2 * 89 + 1


def _spoilt_query(monkeypatch: pytest.MonkeyPatch, which: int, spoil: Any) -> list[int]:
    """Spoil what one query after the charge finds, by its number, whenever it is asked; how many there were."""
    seen: list[int] = []
    run, begin = Engine.run, Passes.begin
    begun: list[int] = []

    def spoilt(self: Engine, expression: Any) -> pa.Table:
        found = run(self, expression)
        if begun:
            seen.append(1)
            if len(seen) >= which and found.num_rows:
                return spoil(found)
        return found

    def noted(self: Passes, key: str) -> str:
        begun.append(1)
        return begin(self, key)

    monkeypatch.setattr(Engine, "run", spoilt)
    monkeypatch.setattr(Passes, "begin", noted)
    return seen


@pytest.mark.parametrize("lost", [True, False], ids=["missing", "twice"])
@pytest.mark.parametrize(
    "asked",
    [
        lambda session: session.count(epsilon=1),
        lambda session: session.group_by("town").count(epsilon=4, delta=1e-6),
        lambda session: session.group_by("town", keys=["ayr", "nowhere"]).count(epsilon=1),
        lambda session: session.group_by("town", keys=["ayr", *(f"nowhere {place}" for place in range(40))]).count(epsilon=1),
        lambda session: session.mean("pay", epsilon=1),
        lambda session: session.mean("pay", epsilon=1, range=(0, 9)),
        lambda session: session.histogram("pay", epsilon=1, range=(0, 1000), bins=4),
        lambda session: session.top("town", 1, epsilon=1, among=["ayr", "bute"]),
    ],
    ids=["count", "found", "stated", "joined", "mean", "sum", "bins", "texts"],
)
def test_no_row_of_any_result_is_missing_or_there_twice(table: Any, monkeypatch: pytest.MonkeyPatch, asked: Any, lost: bool) -> None:
    # Each query in turn, and all after it: the first row of its result.
    session = eq.Session(table)
    asked(session).release()
    for which in range(1, 20):
        with monkeypatch.context() as patched:
            seen = _spoilt_query(patched, which, lambda found: found.slice(1) if lost else pa.concat_tables([found, found.slice(0, 1)]))
            before = float(session.spent["epsilon"])
            query = asked(session)
            try:
                query.release()
            except eq.LostError:
                assert float(session.spent["epsilon"]) > before
                continue
            assert len(seen) < which, which
            break
    assert which > 2


def test_a_row_that_stands_for_another_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    # As many records are of the wanted town as of none: those of none, twice, add up to all, and the town had none.
    session = eq.Session(ibis.duckdb.connect().create_table("people", pa.table({"town": ["ayr", "bute"] * 1000})))
    query = session.group_by("town", keys=["ayr"]).count(epsilon=50)
    assert query.release().to_dict()["groups"][0]["value"] == 1000

    def twice(found: pa.Table) -> pa.Table:
        others = found.filter(pc.less(found["g"], 0))
        return pa.concat_tables([others, others])

    _spoilt_query(monkeypatch, 2, twice)
    with pytest.raises(eq.LostError, match="the answer is lost"):
        session.group_by("town", keys=["ayr"]).count(epsilon=50).release()


@pytest.mark.parametrize("kind", ["ibis", "relation"])
def test_texts_are_told_apart_by_their_bytes_whatever_their_collation(kind: str) -> None:
    # Under this collation all are one town, which is called what its first row is called: AYR, by one person's row alone.
    connection = duckdb.connect()
    connection.execute("create table people (town varchar collate nocase, person varchar collate nocase, pay double)")
    connection.execute("insert into people values ('AYR', 'P0', 0)")
    connection.execute("insert into people select 'ayr', 'p' || (i % 500), i from range(1000) t(i)")
    there = ibis.duckdb.from_connection(connection).table("people") if kind == "ibis" else connection.sql("select * from people")
    session = eq.Session(there)
    found = session.group_by("town").count(epsilon=20, delta=1e-6).release().to_dict()["groups"]
    assert [group["key"] for group in found] == ["ayr"]
    stated = session.group_by("town", keys=["AYR", "ayr"]).count(epsilon=50).release().to_dict()["groups"]
    assert {group["key"]: group["value"] for group in stated} == {"AYR": 1, "ayr": 1000}
    # P0 is not p0, whose row would not be kept beside hers.
    assert eq.count(there, unit="person", max_rows_per_unit=1, epsilon=50).value == 501


def test_the_engine_itself_is_examined_and_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    # Ibis has tables in memory computed by an engine of its own choice: public numbers came back right, from DuckDB, whatever was to be examined.
    connection = ibis.polars.connect({"people": pl.from_arrow(rows().drop_columns("tags")).lazy()})
    kind, asked = type(connection), []
    compute = kind.to_pyarrow
    monkeypatch.setattr(kind, "to_pyarrow", lambda self, expression, **more: (asked.append(expression), compute(self, expression, **more))[1])
    eq.count(connection.table("people"), epsilon=1)
    assert "o48" in asked[0].columns


def test_an_engine_that_takes_different_texts_for_one_is_refused() -> None:
    connection = ibis.duckdb.connect()
    table = connection.create_table("people", rows())
    connection.con.execute("set default_collation = 'nocase'")
    before = eq.spent()
    with pytest.raises(eq.DataError, match="takes different texts for one"):
        eq.count(table, epsilon=1)
    assert eq.spent() == before


def test_sums_of_a_table_that_changed_are_not_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    connection = ibis.duckdb.connect()
    table = connection.create_table("people", rows())
    count = Passes.count

    def changing(self: Passes, text: str) -> str:
        found = count(self, text)
        connection.con.execute("insert into people select * from people")
        return found

    session = eq.Session(table)
    session.count(epsilon=1).release()
    monkeypatch.setattr(Passes, "count", changing)
    with pytest.raises(eq.LostError, match="the answer is lost"):
        session.mean("pay", epsilon=1).release()


def test_a_full_disk_is_a_lost_answer(disk: Disk) -> None:
    assert disk.is_small, "no small disk could be mounted: run this as a user who may"
    connection = ibis.duckdb.connect(memory_limit="40MB", temp_directory=str(disk.folder / "duckdb"), threads=1)
    connection.con.execute("create view people as select (i % 30000)::varchar || repeat('x', 60) as person, i::double as pay from range(120000) t(i)")
    session = eq.Session(connection.table("people"), unit="person")
    # People's rows are sorted, which these bytes of memory are not enough for: with room on the disk there is an answer.
    assert session.median("pay", epsilon=1, max_rows_per_unit=2).release().value is not None
    disk.fill()
    try:
        with pytest.raises(eq.LostError, match="the answer is lost"):
            session.median("pay", epsilon=1, max_rows_per_unit=2).release()
        assert session.spent["epsilon"] == "2"
    finally:
        disk.free()


INTERRUPTED = """
import os, signal, sys, threading, time
import ibis, equipoise as eq
from equipoise._elsewhere.engine import Engine
session = eq.Session(ibis.memtable({"x": [1.0, 2.0]}))
session.count(epsilon=1).release()
Engine._result = lambda self, expression: time.sleep(60)
threading.Timer(0.7, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
began = time.monotonic()
try:
    session.median("x", epsilon=1).release()
except eq.Interrupted as error:
    print("interrupted", error, session.spent["epsilon"], time.monotonic() - began < 5)
"""


def test_an_interrupt_ends_a_pass() -> None:
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", INTERRUPTED], capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout.startswith("interrupted") and done.stdout.rstrip().endswith("2 True"), done


PROGRESS = """
import time
import ibis, equipoise as eq
from equipoise._elsewhere.engine import Engine
run = Engine._result
Engine._result = lambda self, expression: (time.sleep(0.4), run(self, expression))[1]
eq.median(eq.elsewhere(ibis.memtable({"x": [1.0, 2.0]}), progress=True), "x", epsilon=1)
"""


def test_progress_is_told_by_the_clock_alone() -> None:
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", PROGRESS], capture_output=True, text=True, timeout=120, check=True)
    told = re.split(r"[\r\n]+", done.stderr)
    assert any("DuckDB: 00:01" in line for line in told), told
    assert all(re.fullmatch(r"( *|DuckDB: \d\d:\d\d *)", line) for line in told), told


def test_threads_ask_side_by_side() -> None:
    found: list[Any] = []
    table = ibis.duckdb.connect().create_table("people", rows())
    before = signal.getsignal(signal.SIGINT)

    def ask() -> None:
        found.append(eq.count(table, epsilon=50).value)

    threads = [threading.Thread(target=ask) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [ROWS] * 3
    assert signal.getsignal(signal.SIGINT) is before


def test_the_block_of_the_page_runs(tmp_path: Path) -> None:
    """The first block of docs/scale.md, about a file of DuckDB's that is there."""
    page = (Path(__file__).resolve().parents[2] / "docs" / "scale.md").read_text()
    block = re.search(r"^```python\n(.*?)^```$", page, flags=re.MULTILINE | re.DOTALL)
    assert block is not None
    with duckdb.connect(str(tmp_path / "people.duckdb")) as con:
        con.execute("CREATE TABLE salaries AS SELECT i AS person, 'town ' || (i % 3) AS town, 1000.0 + i AS salary FROM range(6000) t(i)")
    code = f"import os; os.chdir({str(tmp_path)!r})\n{block[1]}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
