"""Every file of examples/texts runs, and what it asserts of the source texts is true."""

from __future__ import annotations

import contextlib
import io
import pathlib
import runpy
import warnings

import pytest

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "examples" / "texts"
FILES = sorted(FOLDER.glob("*.py"))


def test_there_are_files_of_every_text():
    assert {path.name[:2] for path in FILES} == {"s0", "s1", "s2", "s3", "s4"}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_file_of_the_texts_runs_and_asserts_something(path):
    assert "\nassert " in path.read_text() or "    assert " in path.read_text(), "a file that asserts nothing shows nothing"
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()) as shown:
        # Some texts use an epsilon that protects little, to make a figure sharp.
        warnings.simplefilter("ignore")
        runpy.run_path(str(path), run_name="__main__")
    assert shown.getvalue().strip()
