"""Programs that nobody trusts, from Python: the same sandbox and the same session as on the command line."""

from __future__ import annotations

import datetime
import os
import subprocess
import sys
import warnings
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import equipoise as eq
from equipoise import _programs
from equipoise._data import Table, table

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="sandboxes are Linux's")

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "programs"
INCOMES = pd.DataFrame({"name": [f"p{i}" for i in range(2000)], "income": np.full(2000, 100.0)})
#: No time that a loaded machine misses.
PATIENT: dict[str, Any] = {"time_padding": False, "block_time": 120}
#: All of 20 blocks answer the same, at epsilon 20: anything else has a probability below e^-100.
SURE: dict[str, Any] = {"epsilon": 20, "delta": 1e-6, "blocks": 20, **PATIENT}


@pytest.fixture(autouse=True)
def sandboxed() -> None:
    """Where sandboxes cannot be built, the kernel must show what it lacks, and the refusal is the test."""
    try:
        eq.run_program(["true"], [1.0], output="number", range=(0, 1), epsilon=1, dry_run=True)
    except eq.RequestError as error:
        assert "the sandbox cannot be built here" in str(error)
        flags = "-mpnif" if os.geteuid() == 0 else "-Urmpnif"
        assert subprocess.run(["unshare", flags, "true"], check=False).returncode, "the kernel has namespaces"
        pytest.skip("the kernel lacks namespaces")


@pytest.fixture(autouse=True)
def quiet() -> Any:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="without rows")
        yield


def test_a_program_votes_on_blocks_of_a_table_and_of_a_file(tmp_path: Path) -> None:
    average = ["awk", "-F,", "NR > 1 { sum += $2 } END { if (NR > 1) print sum / (NR - 1) }"]
    # Laplace noise of scale 200/(16·18) on 100: beyond 50 with probability e^-72.
    release = eq.run_program(average, INCOMES, output="number", range=(0, 200), **SURE)
    assert isinstance(release, eq.Release)
    assert 50 < release.value < 150 and release.mechanism == "subsample, programs trusted"
    assert eq.spent()["epsilon"] != "0"
    INCOMES.to_csv(tmp_path / "incomes.csv", index=False)
    of_file = eq.run_program(average, tmp_path / "incomes.csv", output="number", range=(0, 200), **SURE)
    assert isinstance(of_file, eq.Release)
    assert 50 < of_file.value < 150 and (tmp_path / "equipoise.ledger").exists()


def test_it_is_planned_for_free_and_several_take_turns() -> None:
    before = eq.spent()
    plan = eq.run_program(["true"], INCOMES, output="label", epsilon=1, delta=1e-6, dry_run=True)
    assert isinstance(plan, dict) and plan["mechanism"] == "subsample, programs confined"
    assert eq.spent() == before
    several = [["sh", "-c", "cat > /dev/null; echo a,b"], ["echo", "b, a"]]
    release = eq.run_program(several, INCOMES, output="labels", **SURE)
    assert isinstance(release, eq.Release) and release.value == ["a", "b"]


def test_a_program_sees_its_block_and_nothing_else(tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("x")
    tmp_path.chmod(0o755)
    script = f"cat > /tmp/mine; if cat {secret} 2> /dev/null || ls /home /root /proc/1 2> /dev/null; then echo seen; else echo held; fi"
    release = eq.run_program(["sh", "-c", script], INCOMES, output="label", **SURE)
    assert isinstance(release, eq.Release) and release.value == "held"


def test_arrow_blocks_have_types_and_people_lie_in_one_block() -> None:
    frame = pd.DataFrame({"person": np.repeat(np.arange(500), 4), "x": np.arange(2000.0), "yes": True, "town": "Ayr"})
    script = (
        "import sys, pyarrow as pa\n"
        "table = pa.ipc.open_stream(sys.stdin.buffer).read_all()\n"
        "print(' '.join(str(field.type) for field in table.schema), all(n == 4 for n in table['person'].value_counts().field(1).to_pylist()))"
    )
    release = eq.run_program(
        [sys.executable, "-c", script], frame, output="label", input="arrow", privacy_unit="person", **SURE
    )
    assert isinstance(release, eq.Release)
    assert release.value == "double double string string True" and release.guarantee["unit"] == "person"
    types = {"person": "integer", "x": "decimal:2", "yes": "boolean"}
    plan = eq.run_program(["true"], frame, types=types, output="label", input="arrow", epsilon=1, delta=1e-6, dry_run=True)
    assert isinstance(plan, dict)
    said = eq.run_program([sys.executable, "-c", script], frame, types=types, output="label", input="arrow", privacy_unit="person", **SURE)
    assert isinstance(said, eq.Release) and said.value == "int64 decimal128(38, 2) bool string True"
    as_text = eq.run_program([sys.executable, "-c", script], pa.table(frame), output="label", input="arrow", dry_run=True, epsilon=1, delta=1e-6)
    assert isinstance(as_text, dict)


def handed_over(data: Any, places: list[int], typed: bool, types: Any = None, unit: str | None = None) -> Any:
    """What the compiled part is given of some rows: kinds, names and cells, of which alone it makes the bytes of a block."""
    held, kinds = _programs._handed_over(table(data), typed, unit, types)
    assert isinstance(held, Table)
    cells = [held.columns[place].cells(kind) for place, kind in kinds]
    # Not a number is nothing to the compiled part, and equal to nothing here.
    return held.names, kinds, [[None if column[place] != column[place] else column[place] for place in places] for column in cells]


#: Columns of which the first two rows are equal in each table, and whose types the last row changes.
PAIRS = [
    (pd.DataFrame({"x": [7, 2**53 + 1, 1]}), pd.DataFrame({"x": [7, 2**53 + 1, None]})),
    (pd.DataFrame({"x": [7, 10**17, 1]}), pd.DataFrame({"x": [7, 10**17, 0.5]})),
    (pd.DataFrame({"x": [True, False, True]}), pd.DataFrame({"x": [True, False, None]})),
    (pd.DataFrame({"x": ["a", None, "b"]}), pd.DataFrame({"x": pd.Categorical(["a", None, "rare"])})),
    (pd.DataFrame({"x": ["a", None, "b"]}), pd.DataFrame({"x": ["a", None, 5]})),
    (pa.table({"x": [1, None, 3]}), pa.table({"x": [1, None, 0.5]})),
    (pa.table({"x": [Decimal("1.50"), None, Decimal("1.0")]}), pa.table({"x": [Decimal("1.50"), None, Decimal("1.0001")]})),
    (pa.table({"x": ["a", "b", "a"]}), pa.table({"x": pa.array(["a", "b", "rare"]).dictionary_encode()})),
    (pa.table({"x": [datetime.date(2020, 1, 1), None]}), pa.table({"x": [datetime.datetime(2020, 1, 1), None]})),
    (pl.DataFrame({"x": [1, None, 3]}), pl.DataFrame({"x": [1.0, None, 0.5]})),
    (pl.DataFrame({"x": pl.Series(["a", "b", "a"], dtype=pl.Categorical)}), pl.DataFrame({"x": ["a", "b", "rare"]})),
    ({"x": np.array(["2020-01-01", "NaT"], "M8[D]")}, {"x": np.array(["2020-01-01", "NaT"], "M8[ms]")}),
    ({"x": np.array(["a", "b", "c"])}, {"x": np.array(["a", "b", "a rare diagnosis"])}),
    ({"x": np.array([1, 2, 3], "i1")}, {"x": np.array([1, 2, 300], "i4")}),
]


@pytest.mark.parametrize("typed", [False, True])
def test_a_program_s_block_does_not_tell_what_another_row_made_of_a_column(typed: bool) -> None:
    for one, other in PAIRS:
        assert handed_over(one, [0, 1], typed) == handed_over(other, [0, 1], typed), other
    # What is said of types holds whatever a table has, and who a row is about is never rounded.
    large = 2**53 + 1
    for types, cell, tables in [
        ("integer", large, [{"x": np.array([large])}, {"x": np.array([str(large)])}, pa.table({"x": [large, None]})]),
        ("number", 7.5, [{"x": np.array([7.5])}, {"x": np.array(["7.5", "text"])}, {"x": np.array([7.5, "text"], object)}]),
        ("date", 18262, [pa.table({"x": [datetime.date(2020, 1, 1)]}), {"x": np.array(["2020-01-01", "soon"])}]),
        ("boolean", 1, [{"x": np.array([True])}, pd.DataFrame({"x": ["yes", None]}), {"x": np.array([True, None])}]),
    ]:
        found = [handed_over(data, [0], typed, {"x": types}) for data in tables]
        assert all(one == found[0] for one in found) and (not typed or found[0][2] == [[cell]]), types
    for kind in (np.int64, "Int64"):
        _, kinds, cells = handed_over(pd.DataFrame({"x": [large, 1]}, dtype=kind), [0], typed, None, "x")
        assert kinds[-1] == (0, "text") and cells[-1] == [str(large)]


def test_types_of_blocks_are_words_and_part_of_the_request(tmp_path: Path) -> None:
    words = {"output": "label", "epsilon": 1, "delta": 1e-6, "dry_run": True}
    INCOMES.to_csv(tmp_path / "incomes.csv", index=False)
    for data, types, said in [
        (INCOMES, {"income": ["a", "b"]}, "a list of texts has no place"),
        (INCOMES, {"age": "text"}, "no column is called 'age'"),
        (INCOMES, {"income": "date"}, "holds numbers, not dates"),
        (tmp_path / "incomes.csv", {"income": "integer"}, "a file is given with the types that it declares"),
    ]:
        with pytest.raises(eq.EquipoiseError, match=said):
            eq.run_program(["true"], data, types=types, **words)
    paid = {**SURE, "output": "label", "ledger": tmp_path / "books.ledger", "name": "x", "request_id": "one"}
    first = eq.run_program(["echo", "a"], INCOMES, types={"income": "integer"}, **paid)
    assert isinstance(first, eq.Release)
    assert eq.run_program(["echo", "a"], INCOMES, types={"income": "integer"}, **paid) == first
    with pytest.raises(eq.RequestError, match="another request"):
        eq.run_program(["echo", "a"], INCOMES, types={"income": "number"}, **paid)


def test_the_example_with_scikit_learn_runs(tmp_path: Path) -> None:
    program = tmp_path / "classifier.py"
    program.write_text((EXAMPLES / "classifier.py").read_text())
    program.chmod(0o644)
    tmp_path.chmod(0o755)
    data = EXAMPLES.parent / "salaries.csv"
    # Twenty blocks answer; that the noise hides it has a probability of e^-30.
    release = eq.run_program(
        [sys.executable, program],
        pd.read_csv(data),
        output="vector:3",
        range=(-3, 3),
        epsilon=40,
        delta=1e-6,
        blocks=20,
        **PATIENT,
    )
    assert isinstance(release, eq.Release) and not release.refused and len(release.value) == 3


def test_the_same_id_with_another_script_is_another_request(tmp_path: Path) -> None:
    script, books = tmp_path / "vote.sh", tmp_path / "books.ledger"
    tmp_path.chmod(0o755)

    def ask(text: str) -> Any:
        script.write_text(text)
        script.chmod(0o644)
        return eq.run_program(
            ["sh", script], INCOMES, output="label", ledger=books, name="incomes", request_id="one", **SURE
        )

    first = ask("cat > /dev/null; echo one")
    assert ask("cat > /dev/null; echo one").to_dict() == first.to_dict()
    with pytest.raises(eq.RequestError):
        ask("cat > /dev/null; echo two")


def test_without_its_helper_nothing_runs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(_programs.os, "access", lambda *_: False)
    monkeypatch.setattr(_programs.shutil, "which", lambda _: None)
    before = eq.spent()
    with pytest.raises(eq.RequestError, match="needs the helper 'equipoise-sandbox'"):
        eq.run_program(["echo", "1"], INCOMES, output="number", range=(0, 1), epsilon=1)
    # Something else of that name keeps nothing either.
    monkeypatch.setattr(_programs.shutil, "which", lambda _: "/bin/true")
    with pytest.raises(eq.RequestError, match="is no keeper of sandboxes"):
        eq.run_program(["echo", "1"], INCOMES, output="number", range=(0, 1), epsilon=1)
    assert eq.spent() == before


def test_what_is_wrong_is_one_sentence() -> None:
    for program, words, said in [
        ("fit.py", {}, "list of words"),
        ([], {}, "list of words"),
        (["no-such-program"], {}, "no program 'no-such-program'"),
        (["echo"], {"output": "letters"}, "output letters"),
        (["echo"], {"input": "json"}, "input"),
        (["echo"], {"block_time": 0}, "block time"),
    ]:
        with pytest.raises(eq.RequestError, match=said):
            eq.run_program(program, INCOMES, **{"output": "number", "range": (0, 1), "epsilon": 1, **words})  # type: ignore[arg-type]
