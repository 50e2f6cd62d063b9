"""What was asked of an engine and what it found, to be counted again by another.

The coins are real, so that answers cannot be compared; facts can. Equal facts are equal answers with equal coins
(`crates/session/src/elsewhere/engine_tests.rs`), so an answer is *right* where all facts that it was made of are those that DuckDB finds in the same file under
the same key.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ibis

import equipoise as eq
from equipoise._elsewhere.passes import Passes

_begin, _count = Passes.begin, Passes.count


def in_order(text: str) -> tuple[list[str], list[str]]:
    found = json.loads(text)
    return sorted(map(json.dumps, found["counts"])), sorted(map(json.dumps, found["sums"]))


class Recorded:
    """All passes of one question that were answered, the last of each that was asked twice."""

    def __init__(self) -> None:
        self.key, self.rows = "", None
        self.passes: dict[str, str] = {}
        #: Called after each pass with what was asked and found.
        self.then: Callable[[str, str], None] = lambda text, found: None

    def watch(self, patch: Any) -> Recorded:
        """Note what passes by; ``patch`` sets an attribute of a class."""

        def begin(passes: Passes, key: str) -> str:
            self.key, self.rows = key, passes._rows._said
            self.passes.clear()
            return _begin(passes, key)

        def count(passes: Passes, text: str) -> str:
            found = self.passes[text] = _count(passes, text)
            self.then(text, found)
            return found

        patch(Passes, "begin", begin)
        patch(Passes, "count", count)
        return self

    def to_json(self) -> str:
        return json.dumps({"key": self.key, "rows": self.rows, "passes": self.passes})

    @classmethod
    def of_json(cls, text: str) -> Recorded:
        said, found = json.loads(text), cls()
        found.key, found.rows, found.passes = said["key"], said["rows"], said["passes"]
        return found

    def are_true(self, file: Path) -> bool:
        """Does DuckDB find the same?"""
        passes = eq.elsewhere(ibis.duckdb.connect().read_parquet(str(file))).counting(self.rows)
        _begin(passes, self.key)
        return bool(self.passes) and all(in_order(_count(passes, text)) == in_order(found) for text, found in self.passes.items())


def asked(session: eq.Session, number: int) -> Any:
    """Questions of several kinds in turn."""
    return [
        lambda: session.median("pay", epsilon=1),
        lambda: session.group_by("town").median("pay", epsilon=4, delta=1e-6),
        lambda: session.mean("pay", epsilon=1, unit="person", max_rows_per_unit=2),
        lambda: session.group_by("town", keys=["ayr", "bute"]).count(epsilon=1, unit="person", max_groups_per_unit=2, max_rows_per_unit=2),
        lambda: session.mean("pay", epsilon=1),
    ][number % 5]()
