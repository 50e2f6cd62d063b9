"""A limit that covers a file is not walked around; a copied state is refused; what nobody sees is written out."""

from __future__ import annotations

import os
import shutil
import warnings
from pathlib import Path

import pytest

import equipoise as eq

HIDDEN = "".join(map(chr, (0x202E, 0x200B, 0x2066, 0xAD, 0xE0041)))


@pytest.fixture
def used_up(tmp_path: Path) -> Path:
    """A file with a limit that is used up, in the ledger beside it."""
    file = tmp_path / "a.csv"
    file.write_text("x\n" + "7\n" * 300)
    session = eq.Session(file, budget=1)
    session.count(epsilon=1).release()
    with pytest.raises(eq.BudgetError):
        eq.count(file, epsilon=1)
    return file


def test_no_other_ledger_link_or_place_walks_around_a_limit(used_up: Path) -> None:
    folder = used_up.parent
    (folder / "sub").mkdir()
    os.link(used_up, folder / "sub" / "b.csv")
    os.link(used_up, folder / "c.csv")
    other = folder / "sub" / "other.ledger"
    refused = [
        lambda: eq.count(used_up, epsilon=1, ledger=other),
        lambda: eq.count(folder / "sub" / "b.csv", epsilon=1),
        lambda: eq.count(folder / "c.csv", epsilon=1),
        lambda: eq.Session(used_up, ledger=other),
        lambda: eq.Session(folder / "sub" / "b.csv", budget=5),
        lambda: eq.ThresholdMonitor(folder / "c.csv", epsilon=1, delta=1e-6, budget_per_unit=2),
        lambda: eq.count(str(folder / "sub" / "*.csv"), epsilon=1),
    ]
    for ask in refused:
        with pytest.raises(eq.RequestError, match="limited in the ledger .* or say apart=True to count it apart"):
            ask()
    assert not other.exists()
    for name in ("sub/b.csv", "c.csv"):
        with pytest.raises(eq.RequestError, match="registered in a ledger"):
            eq.simulate("count", folder / name, epsilon=1, trials=3)
        (folder / name).unlink()
    used_up.rename(folder / "sub" / "moved.csv")
    with pytest.raises(eq.RequestError, match="put it back as"):
        eq.count(folder / "sub" / "moved.csv", epsilon=1)


def test_apart_is_written_down_in_both_ledgers(used_up: Path) -> None:
    other = used_up.parent / "other.ledger"
    assert not eq.count(used_up, epsilon=1, ledger=other, apart=True).refused
    session = eq.Session(used_up, ledger=other, apart=True)
    session.count(epsilon=1).release()
    assert session.spent["epsilon"] == "2"
    with pytest.raises(TypeError, match="apart"):
        session.count(epsilon=1, apart=True)  # type: ignore[call-arg]
    os.chmod(used_up.parent / "equipoise.ledger", 0o400)
    with pytest.raises(eq.LedgerFileError, match="must be written down where the limit is.*read-only"):
        session.count(epsilon=1).release()
    with pytest.raises(eq.RequestError, match="apart= is for files"):
        eq.count([1.0], epsilon=1, apart=True)


def test_who_sets_a_limit_is_told_of_the_same_content(used_up: Path) -> None:
    copy = used_up.parent / "copy.csv"
    shutil.copyfile(used_up, copy)
    with pytest.warns(UserWarning, match="a.csv has the same content"):
        eq.Session(copy, budget=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        eq.count(copy, epsilon=1)


def test_a_copied_state_of_a_monitor_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "people.csv"
    file.write_text("age\n" + "40\n" * 1000)
    words = {"epsilon": 20, "delta": 1e-6, "budget_per_unit": 2}
    monitor = eq.ThresholdMonitor(file, **words)  # type: ignore[arg-type]
    assert monitor.ask("age > 30", 0)
    del monitor
    copy = tmp_path / "copy"
    shutil.copyfile(f"{file}.monitor", copy)
    with pytest.raises(eq.RequestError, match="it was copied, brought back"):
        eq.ThresholdMonitor(file, **words, state=copy)  # type: ignore[arg-type]
    assert not eq.ThresholdMonitor(file, **words).ask("age > 50", 500)  # type: ignore[arg-type]


def test_what_nobody_sees_is_written_out(tmp_path: Path) -> None:
    file = tmp_path / f"f{HIDDEN}.csv"
    file.write_text(f"c{HIDDEN}\n" + f"v{HIDDEN}\n" * 300)
    release = eq.mode(file, epsilon=5, delta=1e-3)
    assert release.value == f"v{HIDDEN}", "exact"
    shown = [repr(release), str(release), release._repr_html_(), repr(eq.Session(file))]
    for ask in (
        lambda: eq.median(file, f"x{HIDDEN}", epsilon=1),
        lambda: eq.count(tmp_path / f"none{HIDDEN}.csv", epsilon=1),
        lambda: eq.count([1.0], epsilon=f"1{HIDDEN}"),
        lambda: eq.count(file, epsilon=1, where=f"a{HIDDEN}b = 1"),
        lambda: eq.calibrate(f"lap{HIDDEN}", epsilon=1),
        lambda: eq.count(file, epsilon=1, analyst=f"a{HIDDEN}"),
    ):
        with pytest.raises(eq.EquipoiseError) as caught:
            ask()
        shown.append(str(caught.value))
    for text in shown:
        assert not any(hidden in text for hidden in HIDDEN), text.encode("unicode_escape")
    assert r"v\u{202e}" in shown[0]
