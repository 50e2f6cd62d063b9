"""A ledger on a disk that is really full: the right class, the file by its name, and true words about the charge."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

import equipoise as eq

AGES = {"age": [float(age) for age in range(18, 98)] * 50}
PAGE = 4096


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    path = tmp_path / "disk"
    path.mkdir()
    words = ["mount", "-t", "tmpfs", "-o", "size=16m,mode=700", "tmpfs", str(path)]
    try:
        made = subprocess.run(words, capture_output=True).returncode == 0
    except OSError:
        made = False
    if not made:
        pytest.skip("no disk can be mounted here; only root may")
    yield path
    subprocess.run(["umount", "--lazy", str(path)], check=True)


def leave(disk: Path, pages: int) -> Path:
    """Fill the disk up to so many pages."""
    filler = disk / "filler"
    with filler.open("wb", buffering=0) as file:
        try:
            while file.write(bytes(PAGE)):
                pass
        except OSError:
            pass
        file.truncate(max(0, filler.stat().st_size - pages * PAGE))
    return filler


def spent(ledger: Path) -> str:
    return eq.Session(AGES, ledger=ledger, name="ages").spent["epsilon"]


def test_a_full_ledger_is_named_and_what_is_said_of_the_charge_is_true(disk: Path) -> None:
    ends = set()
    for pages in range(40):
        ledger = disk / f"{pages}.ledger"
        session = eq.Session(AGES, ledger=ledger, name="ages")
        session.median("age", epsilon=1, rows=4000).release()
        filler = leave(disk, pages)
        try:
            session.median("age", epsilon=2, rows=4000).release()
            end, expected = "answered", "3"
        except eq.LostError as error:
            assert "the charge stands and the answer is lost" in str(error) and str(ledger) in str(error)
            end, expected = "lost", "3"
        except eq.LedgerFileError as error:
            assert "nothing was charged" in str(error) and str(ledger) in str(error)
            end, expected = "not charged", "1"
        ends.add(end)
        filler.unlink()
        assert spent(ledger) == expected, (pages, end)
    assert ends == {"answered", "lost", "not charged"}


@pytest.mark.parametrize("kind", ["blocks", "monitor"])
def test_blocks_and_monitors_say_the_same(disk: Path, kind: str) -> None:
    def ask(ledger: Path) -> None:
        if kind == "blocks":
            eq.subsample(len, AGES["age"], epsilon=5, blocks=200, default=0, ledger=ledger, name="ages")
        else:
            eq.ThresholdMonitor(AGES, epsilon=5, delta=1e-6, budget_per_unit=5, ledger=ledger, name="ages")

    ends = set()
    for pages in range(50):
        # A ledger is opened once for a process, so each has a name of its own.
        ledger = disk / f"{pages}.ledger"
        filler = leave(disk, pages)
        try:
            ask(ledger)
            end, expected = "answered", "5"
        except eq.LostError as error:
            assert f"{ledger} could not record the answer" in str(error) and "the charge stands" in str(error)
            end, expected = "lost", "5"
        except eq.LedgerFileError as error:
            assert str(ledger) in str(error)
            end, expected = "not charged", "0"
        filler.unlink()
        ends.add(end)
        assert spent(ledger) == expected, (pages, end)
    assert {"answered", "not charged"} <= ends


def test_a_limit_that_cannot_be_written_is_an_error_of_the_ledger(disk: Path) -> None:
    leave(disk, 9)
    with pytest.raises(eq.LedgerFileError, match="ledger"):
        eq.Session(AGES, budget=1, ledger=disk / "l.ledger", name="ages")


def test_what_charges_nothing_does_not_speak_of_a_charge(tmp_path: Path) -> None:
    import gzip

    whole = gzip.compress(b"age\n" + b"30\n" * 5000)
    (tmp_path / "cut.csv.gz").write_bytes(whole[:-9])
    with pytest.raises(eq.DataError, match="could not be read to the end; nothing was charged"):
        eq.simulate("count", tmp_path / "cut.csv.gz", epsilon=1, trials=2)
