"""What tables of a query are, besides data."""

from __future__ import annotations

from typing import Any


class Public:
    """A table whose rows are nobody's; :func:`public` makes it."""

    __slots__ = ("data",)

    def __init__(self, data: Any) -> None:
        self.data = data


def public(data: Any) -> Public:
    """Say that the rows of a table are public: a list of towns with their regions, not of people. It stands among the tables of
    :func:`sql`; a query is about at least one table with people in it.

    >>> import equipoise as eq
    >>> people, towns = {"town": ["Ayr"] * 900}, {"town": ["Ayr"], "region": ["west"]}
    >>> [(n,)] = eq.sql("SELECT COUNT(*) FROM people", people=people, towns=eq.public(towns), epsilon=5)
    >>> n > 800
    True
    """
    return Public(data)
