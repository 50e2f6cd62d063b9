"""The examples in docstrings run, the example scripts run, and help reads well."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import pydoc
import subprocess
import sys
from pathlib import Path

import pytest

import equipoise as eq

MODULES = sorted(
    module.name for module in pkgutil.iter_modules(eq.__path__, "equipoise.") if module.name != "equipoise._equipoise"
)
EXAMPLES = sorted((Path(__file__).parent.parent / "examples").glob("*.py"))


@pytest.mark.parametrize("name", ["equipoise", *MODULES])
def test_examples_in_docstrings(name: str) -> None:
    assert doctest.testmod(importlib.import_module(name)).failed == 0


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example_scripts(path: Path, tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, str(path)], cwd=tmp_path, capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stderr
    assert list(tmp_path.glob("*.png")), "an example draws a picture"


def test_everything_public_is_documented() -> None:
    for name in eq.__all__:
        assert (getattr(eq, name).__doc__ or "").strip(), name
    text = pydoc.render_doc(eq, renderer=pydoc.plaintext)
    assert "No clipping bounds" in text and "median(data" in text


def test_import_is_light() -> None:
    """Nothing but the standard library is imported with the package."""
    code = "import sys, equipoise; heavy = {'numpy', 'pandas', 'sklearn', 'pyarrow', 'joblib'} & set(sys.modules); sys.exit(str(heavy) if heavy else 0)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
