"""The command ``equipoise``, which comes with the package: ``python -m equipoise median salaries.csv salary --epsilon 1``."""

from __future__ import annotations

import os
import sys

from . import _equipoise

HELPER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "equipoise-sandbox")


def main() -> None:
    """Run what was typed, and end with its exit code."""
    sys.exit(_equipoise.command_line(["equipoise", *sys.argv[1:]], HELPER))


if __name__ == "__main__":
    main()
