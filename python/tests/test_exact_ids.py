"""People whose ids differ in the last digit are two people, whichever libraries are there to read them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.parametrize("blocked", ["pyarrow", "pandas", "polars", "numpy", "nothing"])
def test_ids_are_compared_exactly_without(blocked: str) -> None:
    script = Path(__file__).with_name("exact_ids.py")
    found = subprocess.run([sys.executable, str(script), blocked], capture_output=True, text=True, timeout=300)
    assert found.returncode == 0, found.stderr
    assert int(found.stdout) >= 15
