"""A release as rows of a table: one for a number, one for each group, the parts of a summary side by side.

Everything in a row was released: values, both ends of error bars and of the range that values were limited to, ranks, and whether there was
a refusal.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

from ._errors import DataError

#: The quantiles of a summary.
SUMMARY = ("0.05", "0.25", "0.5", "0.75", "0.95")


def columns(parts: dict[str, Any], fractions: tuple[str, ...] = ()) -> dict[str, list[Any]]:
    """The columns of the table of a release, all of one length; of a list of quantiles with their fractions."""
    kind = parts.get("type")
    if parts.get("statistic") == "batch":
        raise DataError("a batch has a table for each question; take release.answers")
    groups = parts.get("groups")
    if groups is not None:
        names = [str(name) for name in parts.get("group_by") or ["key"]]
        found = [_cells(group, kind) for group in groups]
        taken = {name for cells in found for name in cells}
        # A column that was grouped by may be called as one of the others.
        names = [f"{name}_key" if name in taken else name for name in names]
        rows = [{**dict(zip(names, _key(group["key"]))), **cells} for group, cells in zip(groups, found)]
        return _table(rows, names)
    if isinstance(parts.get("value"), list):
        error = parts.get("error") or {}
        rows = [{"place": place + 1, **_one("", value, error, place, kind)} for place, value in enumerate(parts["value"])]
        if len(fractions) != len(rows):
            return _table(rows, ["place", "value", "low", "high"])
        rows = [{**row, "fraction": float(Fraction(fraction))} for row, fraction in zip(rows, fractions)]
        return _table(rows, ["place", "fraction", "value", "low", "high"])
    return _table([_cells(parts, kind)], [])


def _cells(answer: dict[str, Any], kind: str | None) -> dict[str, Any]:
    """One answer: its value and bar, those of each part of a summary, or those of each number of a list."""
    refused = answer.get("outcome") == "refused"
    if answer.get("answers") is not None:
        cells: dict[str, Any] = {}
        for part in answer["answers"]:
            cells.update(_part(part))
        return {**cells, "refused": refused}
    value, error = answer.get("value"), answer.get("error") or {}
    if isinstance(value, list):
        several: dict[str, Any] = {}
        for place, one in enumerate(value):
            several.update(_one(f"_{place + 1}", one, error, place, kind))
        return {**several, "refused": refused}
    return {**_one("", value, error, None, kind), "refused": refused}


def part_name(part: dict[str, Any]) -> str:
    """What one answer of several is called: coefficients by their columns."""
    if part["statistic"] == "coefficient" and part.get("column") is not None:
        return f"coefficient of {part['column']}"
    return str(part["statistic"])


def _part(part: dict[str, Any]) -> dict[str, Any]:
    """One statistic of a summary, by its name."""
    name, error = str(part["statistic"]).replace("-", "_"), part.get("error") or {}
    if name == "coefficient" and part.get("column") is not None:
        name = f"coefficient_{part['column']}"
    value, kind = part.get("value"), part.get("type")
    if name != "quantiles":
        return _named(name, value, error, None, kind)
    values = value if isinstance(value, list) else [None] * len(SUMMARY)
    cells: dict[str, Any] = {}
    for place, one in enumerate(values):
        fraction = SUMMARY[place] if len(values) == len(SUMMARY) else str(place + 1)
        cells.update(_named(f"q{fraction}", one, error, place, kind))
    return cells


def _one(suffix: str, value: Any, error: dict[str, Any], place: int | None, kind: str | None) -> dict[str, Any]:
    low, high, rank = _bar(value, error, place)
    cells = {f"value{suffix}": typed(value, kind), f"low{suffix}": typed(low, kind), f"high{suffix}": typed(high, kind)}
    cells.update({} if suffix else _limits("", error))
    return {**cells, f"rank{suffix}": rank} if rank is not None else cells


def _limits(prefix: str, error: dict[str, Any]) -> dict[str, Any]:
    """The range that values were limited to, which is part of an answer: its bar is about values in there."""
    limits = error.get("range")
    if not isinstance(limits, list) or len(limits) != 2:
        return {}
    return {f"{prefix}limited_low": limits[0], f"{prefix}limited_high": limits[1]}


def _named(name: str, value: Any, error: dict[str, Any], place: int | None, kind: str | None) -> dict[str, Any]:
    low, high, _ = _bar(value, error, place)
    bar = {name: typed(value, kind), f"{name}_low": typed(low, kind), f"{name}_high": typed(high, kind)}
    return bar if place is not None else {**bar, **_limits(f"{name}_", error)}


def _bar(value: Any, error: dict[str, Any], place: int | None) -> tuple[Any, Any, Any]:
    """Both ends of a bar and its ranks, at a place of a list where there is one; nothing where it has none."""

    def at(found: Any) -> Any:
        if not isinstance(found, list):
            return found
        return found[place] if place is not None and place < len(found) else None

    low, high, scale = at(error.get("low")), at(error.get("high")), error.get("scale")
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if number and low is None and scale is not None:
        low, high = value - scale, value + scale
    if number and error.get("kind") == "exact":
        low, high = value, value
    rank = error.get("rank")
    return low, high, at(rank) if isinstance(rank, list) and place is not None else rank if not isinstance(rank, list) else None


def typed(value: Any, kind: str | None) -> Any:
    """A value as the type that it is: days, moments and decimals come as texts, which lose nothing.

    >>> typed("2020-02-29", "date"), typed("12.50", "decimal:2"), typed(3, None)
    (datetime.date(2020, 2, 29), Decimal('12.50'), 3)
    """
    if not isinstance(value, str) or kind is None:
        return value
    try:
        if kind == "date":
            return datetime.date.fromisoformat(value)
        if kind == "timestamp":
            return datetime.datetime.fromisoformat(value.removesuffix("Z"))
        if kind.startswith("decimal"):
            return Decimal(value)
    except (ValueError, ArithmeticError):
        # Years that Python has no day for.
        pass
    return value


def _key(key: Any) -> list[Any]:
    return list(key) if isinstance(key, list) else [key]


def _table(rows: list[dict[str, Any]], first: list[str]) -> dict[str, list[Any]]:
    names = list(dict.fromkeys([*first, *(name for row in rows for name in row)]))
    # Refusals last, behind what was released.
    names.sort(key=lambda name: name == "refused")
    return {name: [row.get(name) for row in rows] for name in names}


def library(name: str, wanted: str) -> Any:
    """A library that a user may have."""
    import importlib

    try:
        return importlib.import_module(name)
    except ImportError:
        raise DataError(f"{wanted} needs {name}, which is not installed; install it, or take release.to_dict()") from None


def by_key(groups: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Groups in the order of their keys: empty ones first, numbers as numbers, texts by their letters. Bins and points are released from
    the lowest on, which their texts do not tell, and stay so."""
    if any(_is_bin(group["key"]) for group in groups):
        return groups

    def place(part: Any) -> tuple[int, float, str]:
        if part is None:
            return (0, 0.0, "")
        try:
            number = float(part)
        except ValueError:
            return (2, 0.0, str(part))
        finite = number == number and abs(number) != float("inf")
        return (1, number, str(part)) if finite else (2, 0.0, str(part))

    order: Callable[[dict[str, Any]], Any] = lambda group: [place(part) for part in _key(group["key"])]
    return sorted(groups, key=order)


def _is_bin(key: Any) -> bool:
    """Is it the text of a bin, or of a point of a distribution function? Of a group's bins, the last of its keys.

    >>> _is_bin("0 .. 500"), _is_bin(["Ayr", "below 0"]), _is_bin("up to 9"), _is_bin("Below Hill"), _is_bin(None)
    (True, True, True, False, False)
    """
    own = key[-1] if isinstance(key, list) and key else key
    if not isinstance(own, str):
        return False
    word, _, rest = own.partition(" ")
    number = rest.removeprefix("to ") if word == "up" else rest
    return " .. " in own or (word in ("below", "above", "at", "just", "up") and number[:1] in "-0123456789" and number != "")
