"""The notes of a release: what CHANGELOG.md has under "Unreleased". With --tag the section gets the version and the day, and a new one is begun.

notes.py VERSION [--tag]
"""

from __future__ import annotations

import datetime
import sys
from pathlib import Path

CHANGELOG = Path(__file__).resolve().parents[1] / "CHANGELOG.md"
HEADING = "## Unreleased\n"


def main(version: str, tag: bool) -> None:
    before, after = CHANGELOG.read_text().split(HEADING, 1)
    section, *older = after.split("\n## ", 1)
    assert section.strip(), "nothing is written under 'Unreleased': what do users notice?"
    print(f"# Equipoise {version}\n{section.rstrip()}")
    if tag:
        day = datetime.datetime.now(datetime.timezone.utc).date().isoformat()
        rest = f"\n## {older[0]}" if older else ""
        CHANGELOG.write_text(f"{before}{HEADING}\n## {version} ({day})\n{section.rstrip()}\n{rest}")


main(sys.argv[1], "--tag" in sys.argv[2:])
