"""Rows that were measured before by this very build are not measured again: an interrupted run goes on where it ended."""

from __future__ import annotations

import dataclasses
import hashlib
import importlib.metadata
import json
from pathlib import Path

from asking import Row
from report import Measured
from trials import Cell

FOLDER = Path(__file__).resolve().parents[2] / "target" / "quality-rows"
#: Whatever changes here or in the installed package is another measurement.
SOURCES = ("asking.py", "data.py", "trials.py", "with_opendp.py", "with_pydp.py", "requirements.txt", "data-packages.txt")


class Kept:
    """One line for each row, in a file named after everything that a number depends on."""

    def __init__(self, least: int, most: int, seconds: float) -> None:
        digest = hashlib.sha256(f"{least} {most} {seconds}".encode())
        # The record of an installed wheel has the hashes of its files.
        digest.update((importlib.metadata.distribution("equipoise").read_text("RECORD") or "").encode())
        for name in SOURCES:
            digest.update((Path(__file__).parent / name).read_bytes())
        FOLDER.mkdir(parents=True, exist_ok=True)
        self._path = FOLDER / f"{digest.hexdigest()[:16]}.jsonl"
        lines = self._path.read_text().splitlines() if self._path.exists() else []
        self._found = {found["row"]: found for found in map(json.loads, lines)}

    def get(self, row: Row) -> Measured | None:
        found = self._found.get(_name(row))
        if found is None:
            return None
        cells = {method: Cell(**cell) for method, cell in found["cells"].items()}
        return Measured(row, found["rows"], cells, found["plain"])

    def put(self, measured: Measured) -> None:
        cells = {method: dataclasses.asdict(cell) for method, cell in measured.cells.items()}
        line = {"row": _name(measured.row), "rows": measured.rows, "cells": cells, "plain": measured.plain}
        with self._path.open("a") as file:
            file.write(json.dumps(line) + "\n")


def _name(row: Row) -> str:
    return f"{row.statistic}, {row.name}, {row.epsilon:g}"
