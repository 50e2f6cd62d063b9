"""Bare functions count what they spent, and their memory does not grow with it.

``EQUIPOISE_CALLS=1000000`` makes so many calls; the default run makes a few thousand.
"""

from __future__ import annotations

import os
import subprocess
import sys
from fractions import Fraction

import pytest

CALLS = int(os.environ.get("EQUIPOISE_CALLS", "4000"))
#: A million calls may take 20 MB more; fewer are held to what allocators come and go by.
MOST = 20_000_000 if CALLS >= 1_000_000 else 3_000_000

#: In a process of its own, so that no other test's memory comes or goes meanwhile.
PROGRAM = """
import resource, sys
from fractions import Fraction
import equipoise as eq

def used():
    with open("/proc/self/statm") as pages:
        return int(pages.read().split()[1]) * resource.getpagesize()

calls, data = int(sys.argv[1]), [1.0, 2.0, 3.0]
for _ in range(1000):
    eq.count(data, epsilon="0.001")
spent, before = Fraction(eq.spent()["epsilon"]), used()
for _ in range(calls):
    eq.count(data, epsilon="0.001")
print(used() - before, Fraction(eq.spent()["epsilon"]) - spent)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="memory is read from /proc")
def test_memory_does_not_grow_with_the_number_of_calls() -> None:
    said = subprocess.run([sys.executable, "-c", PROGRAM, str(CALLS)], check=True, capture_output=True, text=True).stdout
    grown, spent = said.split()
    print(f"{CALLS} calls: {int(grown) / 1e6:.1f} MB more")
    assert Fraction(spent) == CALLS * Fraction("0.001")
    assert int(grown) < MOST, f"{int(grown) / CALLS:.0f} bytes a call"
