"""The command that comes with the package: the same words, outputs and exit codes as the executable, sandboxes included."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

SCRIPT = Path(sysconfig.get_path("scripts")) / "equipoise"


def run(folder: Path, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "equipoise", *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=120, env={**os.environ, **environment})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "numbers.csv").write_text("x,town\n" + "".join(f"{number},Ayr\n" for number in range(4000)))
    return tmp_path


def test_a_question_is_answered_and_charged(folder: Path) -> None:
    done = run(folder, "median", "numbers.csv", "x", "--epsilon", "1")
    assert done.returncode == 0 and done.stdout.startswith("median of x: ") and not done.stderr
    assert (folder / "equipoise.ledger").exists()
    over = run(folder, "budget", "set", "numbers.csv", "--epsilon", "1")
    assert over.returncode == 0
    assert run(folder, "count", "numbers.csv", "--epsilon", "1").returncode == 4


def test_it_is_installed_as_a_program(folder: Path) -> None:
    done = subprocess.run([SCRIPT, "--version"], cwd=folder, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("equipoise ")


def test_what_has_no_end_of_line_is_printed_too(folder: Path) -> None:
    """Inside of Python nobody empties the compiled part's buffer at the end."""
    asked = {"EQUIPOISE_COMPLETE": "bash", "_CLAP_COMPLETE_INDEX": "3", "_CLAP_IFS": " "}
    assert run(folder, "--", "equipoise", "median", "numbers.csv", "to", **asked).stdout == "town"


def test_wrong_words_are_usage(folder: Path) -> None:
    done = run(folder, "median", "numbers.csv", "none", "--epsilon", "1")
    assert done.returncode == 2 and done.stderr.startswith("equipoise: ") and "Traceback" not in done.stderr
    assert run(folder, "nothing").returncode == 2


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="sandboxes are Linux's")
def test_programs_are_kept_by_the_helper_of_the_package(folder: Path) -> None:
    done = run(folder, "run", "numbers.csv", "--epsilon", "1", "--output", "number", "--dry-run", "--", "true")
    assert done.returncode == 0 or "the sandbox cannot be built here" in done.stderr, done.stderr


def test_it_runs_once_in_a_process() -> None:
    """Signals are held back from the first time on."""
    code = "from equipoise import _equipoise as e; words = ['equipoise', 'calibrate', '--list']; print(e.command_line(words, ''), e.command_line(words, ''))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.endswith("0 2\n") and "once in a process" in done.stderr
