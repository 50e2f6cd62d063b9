"""The examples in docstrings run, the example scripts run, and help reads well."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import pydoc
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import equipoise as eq
import equipoise._joined

MODULES = sorted(
    module.name for module in pkgutil.iter_modules(eq.__path__, "equipoise.") if module.name != "equipoise._equipoise"
)
DOCS = Path(__file__).resolve().parents[2] / "docs"
EXAMPLES = sorted((Path(__file__).parent.parent / "examples").glob("*.py"))


@pytest.mark.parametrize("name", ["equipoise", *MODULES])
def test_examples_in_docstrings(name: str) -> None:
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_examples_of_the_page_about_your_own_analysis() -> None:
    page = Path(__file__).parent.parent.parent / "docs" / "own.md"
    found = doctest.testfile(str(page), module_relative=False)
    assert found.attempted > 10 and found.failed == 0


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example_scripts(path: Path, tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, str(path)], cwd=tmp_path, capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stderr
    assert list(tmp_path.glob("*.png")), "an example draws a picture"


# What pages take for granted that are about something else.
GIVEN = {
    "databases": """
import sqlite3, pandas, equipoise as eq
with sqlite3.connect("people.db") as database:
    pandas.read_csv("salaries.csv").to_sql("salaries", database, index=False)
database.close()
""",
    "sql": """
import pandas, equipoise.dbapi
df = pandas.read_csv("salaries.csv").rename(columns={"salary": "pay"})
""",
}
PAGES = sorted(
    path
    for folder in (".", "tutorials", "how-to", "explanation", "theory")
    for path in (DOCS / folder).glob("*.md")
    # What `bench/run transcripts` writes, it has run; sessions with >>> are doctests; tables in an engine need Ibis, which `python/engines` has.
    if re.search(r"^```python\n(?!>>>)", path.read_text(), flags=re.MULTILINE) and path.stem not in ("transcripts", "scale")
)


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_blocks_of_pages(path: Path, tmp_path: Path) -> None:
    """The blocks of a page run one after the other, in a folder with the example file."""
    if path.stem == "sql-joins" and equipoise._joined.program() is None:
        pytest.skip("equipoise-sql is not installed here; ./test --sql builds it and runs this")
    blocks = re.findall(r"^```python\n(.*?)^```$", path.read_text(), flags=re.MULTILINE | re.DOTALL)
    shutil.copy(DOCS.parent / "examples" / "salaries.csv", tmp_path)
    code = "\n".join([GIVEN.get(path.stem, ""), *(block for block in blocks if not block.startswith("%"))])
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr


def test_everything_public_is_documented() -> None:
    for name in eq.__all__:
        assert (getattr(eq, name).__doc__ or "").strip(), name
    text = pydoc.render_doc(eq, renderer=pydoc.plaintext)
    assert "No clipping bounds" in text and "median(data" in text


def test_import_is_light() -> None:
    """Nothing but the standard library is imported with the package."""
    code = "import sys, equipoise; heavy = {'numpy', 'pandas', 'sklearn', 'pyarrow', 'joblib'} & set(sys.modules); sys.exit(str(heavy) if heavy else 0)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_nothing_but_python_is_needed() -> None:
    """Lists are answered where numpy and its friends are not installed."""
    code = """
import sys
for name in ("numpy", "pandas", "pyarrow", "polars", "sklearn", "joblib"):
    sys.modules[name] = None
import equipoise as eq
numbers = list(range(2000))
eq.median(numbers, epsilon=1), eq.mean(numbers, epsilon=1, range=(0, 2000)), eq.mode(["a"] * 900, epsilon=1, delta=1e-6)
eq.histogram(["a"] * 900, epsilon=1, delta=1e-6), eq.simulate("median", numbers, trials=3, epsilon=1)
eq.AboveThreshold(epsilon=1, threshold=10).answer([1, 2, 3])
eq.ThresholdMonitor(numbers, epsilon=1, delta=1e-6, budget_per_unit=2).ask([True] * 2000, 10)
eq.Session(numbers, budget=1).median(epsilon=1).release()
sketch = eq.RobustDistinct()
sketch.update(["a", "b"]), sketch.update([1, 2]), sketch.query()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
