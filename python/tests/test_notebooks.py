"""The notebooks of the documentation run from their first cell to the last, and show what they put out."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest

NOTEBOOKS = Path(__file__).resolve().parents[2] / "docs" / "notebooks"
NAMES = sorted(path.stem for path in NOTEBOOKS.glob("*.ipynb"))

spec = importlib.util.spec_from_file_location("run_notebooks", NOTEBOOKS / "run.py")
assert spec is not None and spec.loader is not None
runner: Any = importlib.util.module_from_spec(spec)
spec.loader.exec_module(runner)


def outputs(notebook: Any) -> list[Any]:
    return [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]


def test_there_are_six() -> None:
    assert len(NAMES) == 6


@pytest.mark.parametrize("name", NAMES)
def test_a_notebook_runs(name: str) -> None:
    assert outputs(runner.run(NOTEBOOKS / f"{name}.ipynb")), "a notebook shows something"


@pytest.mark.parametrize("name", NAMES)
def test_what_is_kept_was_executed(name: str) -> None:
    """Readers who do not run it see answers, and no error."""
    kept = runner.nbformat.read(NOTEBOOKS / f"{name}.ipynb", as_version=4)
    assert [cell for cell in kept.cells if cell.cell_type == "code" and cell.execution_count is None] == []
    assert outputs(kept) and not [output for output in outputs(kept) if output.output_type == "error"]
