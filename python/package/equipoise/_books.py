"""Which ledger a charge is written to, and under which name."""

from __future__ import annotations

import json
import os
from fractions import Fraction
from typing import Any

from . import _equipoise
from ._data import is_path
from ._errors import RequestError

#: Ledgers that are open, by process: what was opened before a fork is left alone in the child.
_OPEN: dict[tuple[int, str | None, str | None], _equipoise.Books] = {}
#: What the odometer of this process, or of the one that it was forked from, has written down, by adjacency and unit.
_COUNTED: dict[tuple[str, str | None], tuple[str, str]] = {}


def books(ledger: str | os.PathLike[str] | None, analyst: str | None = None) -> _equipoise.Books:
    """The ledger of a file, or the odometer of this process."""
    path = None if ledger is None else os.path.abspath(os.fspath(ledger))
    key = (os.getpid(), path, analyst if path else None)
    if key not in _OPEN:
        opened = _equipoise.Books(path, key[2])
        if path is None:
            for (adjacency, unit), spent_before in _COUNTED.items():
                for epsilon, delta in _pieces(*spent_before):
                    opened.pay(odometer(adjacency, unit), adjacency, epsilon, delta, "spent before the fork", unit)
        # The first of two threads wins, so that none counts in books of its own.
        return _OPEN.setdefault(key, opened)
    return _OPEN[key]


def _pieces(epsilon: str, delta: str) -> list[tuple[str, str]]:
    """The same in equal parts, each of which is a charge that a ledger takes: at most 1000, and a delta below one."""
    parts = 1 + max(int(Fraction(epsilon)) // 1000, int(2 * Fraction(delta)))
    return [(str(Fraction(epsilon) / parts), str(Fraction(delta) / parts))] * parts


def odometer(adjacency: str | None, unit: str | None = None) -> str:
    """The name under which bare functions are counted: what is protected differently does not add up."""
    return f"this process, {adjacency or 'add-remove'}" + (f", {unit}" if unit else "")


def counted(adjacency: str | None, unit: str | None, spent: dict[str, str]) -> None:
    """Remember the most that the odometer showed, for children of a fork."""
    key, now = (adjacency or "add-remove", unit), (spent["epsilon"], spent["delta"])
    before = _COUNTED.get(key, ("0", "0"))
    _COUNTED[key] = (max(before[0], now[0], key=Fraction), max(before[1], now[1], key=Fraction))


def spent(*, adjacency: str = "add-remove", privacy_unit: str | None = None) -> dict[str, str]:
    """What bare functions have spent in this process, all data together: exact numbers, which ``fractions.Fraction`` reads.

    Losses under another adjacency or for another unit are counted apart, because they do not add up.

    >>> import equipoise as eq
    >>> before = eq.spent()
    >>> release = eq.count([1, 2, 3], epsilon=0.5)
    >>> from fractions import Fraction
    >>> Fraction(eq.spent()["epsilon"]) - Fraction(before["epsilon"])
    Fraction(1, 2)
    """
    balance: dict[str, Any] = json.loads(books(None).balance(odometer(adjacency, privacy_unit)))
    return dict(balance["spent"])


def beside(data: str | os.PathLike[str]) -> str:
    """The ledger that a file, a pattern or a folder is charged to, by the same rule as on the command line."""
    return os.fspath(_equipoise.charged_ledger(data))


def name_of(data: Any, ledger: str | os.PathLike[str], name: str | None) -> str:
    """The name that the budget of the data belongs to; for files the same as on the command line."""
    if is_path(data):
        if name is not None:
            raise RequestError("a file goes by its path; leave out name=")
        return _equipoise.data_name(data, ledger)
    if name is None:
        raise RequestError("a ledger needs a name for data in memory; give name=, which its budget belongs to")
    return name
