"""Which ledger a charge is written to, and under which name."""

from __future__ import annotations

import json
import os
from typing import Any, NamedTuple

from . import _equipoise
from ._data import is_path
from ._errors import RequestError

#: Ledgers that are open. Before a fork their files are closed, and parent and child open them again; what was counted in memory
#: goes on in both.
_OPEN: dict[tuple[str | None, str | None], _equipoise.Books] = {}


def books(ledger: str | os.PathLike[str] | None, analyst: str | None = None) -> _equipoise.Books:
    """The ledger of a file, or the odometer of this process."""
    path = None if ledger is None else _place(os.fspath(ledger))
    key = (path, analyst if path else None)
    if key not in _OPEN:
        # The first of two threads wins, so that none counts in books of its own.
        return _OPEN.setdefault(key, _equipoise.Books(*key))
    return _OPEN[key]


def _is_address(place: str) -> bool:
    return place.lower().startswith(("postgres://", "postgresql://"))


def _place(place: str) -> str:
    """A file wherever this process goes, or the address of a database as it is."""
    return place if _is_address(place) else os.path.abspath(place)


def odometer(adjacency: str | None, unit: str | None = None) -> str:
    """The name under which bare functions are counted: what is protected differently does not add up."""
    return f"this process, {adjacency or 'add-remove'}" + (f", {unit}" if unit else "")


def check_request_id(request_id: str | None) -> None:
    """Refuse to ask again where nothing names the data: the answer about one table would be given for another."""
    if request_id is not None:
        raise RequestError("request_id needs ledger= and name= for data in memory, since nothing else says which data it is for; give both")


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


class Charged(NamedTuple):
    """Where data is charged: the ledger, the name that its budget belongs to, and for files what is known of them."""

    ledger: str | os.PathLike[str]
    name: str
    files: _equipoise.Account | None

    def open(self, analyst: str | None = None) -> _equipoise.Books:
        """The ledger, which writes down with the next charge which files these are."""
        opened = books(self.ledger, analyst)
        if self.files is not None:
            opened.expect(self.files)
        return opened


def charged(data: Any, ledger: str | os.PathLike[str] | None, name: str | None, apart: bool = False) -> Charged:
    """Where data is charged, by the same rule as on the command line: a limit that covers a file is not walked around."""
    if is_path(data):
        if name is not None:
            raise RequestError("a file goes by its path; leave out name=")
        files = _equipoise.Account(data, ledger, bool(apart))
        # A path would take one of the two strokes of an address away.
        place = ledger if ledger is not None and _is_address(os.fspath(ledger)) else files.ledger
        return Charged(place, files.name, files)
    assert ledger is not None, "data in memory has no ledger of its own"
    if apart:
        raise RequestError("apart= is for files, which a limit elsewhere can cover; leave it out")
    return Charged(ledger, name_of(data, ledger, name), None)


def name_of(data: Any, ledger: str | os.PathLike[str], name: str | None) -> str:
    """The name that the budget of data in memory belongs to."""
    if name is None:
        raise RequestError("a ledger needs a name for data in memory; give name=, which its budget belongs to")
    return name
