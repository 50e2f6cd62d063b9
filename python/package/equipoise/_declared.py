"""What ``types=`` says of the columns of blocks, in the words of questions: it is public, so that a block has that type always.

Cells are read as those of questions are, by the rules of files; what is none of the type is missing.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any, NamedTuple

from ._blocks import fresh
from ._cells import number_as_in_files, reader, text, total
from ._errors import RequestError

#: 64 bits hold any so many digits.
_MOST_DIGITS = 18
_WORDS = ("number", "integer", "boolean", "text", "date", "timestamp")


class Declared(NamedTuple):
    """A type: its word, and what belongs to it."""

    word: str
    digits: int = 0
    categories: tuple[str, ...] = ()


def declared(types: Any, names: Sequence[str]) -> dict[str, Declared]:
    """What is said of each of these columns: one type for all of them, or a type for each of some."""
    if types is None:
        return {}
    if not isinstance(types, Mapping):
        return dict.fromkeys(names, _read(types, "types="))
    for name in types:
        if list(names).count(name) != 1:
            wrong = "no column is" if name not in names else "more than one column is"
            raise RequestError(f"types=: {wrong} called '{name}'. There are: {', '.join(list(names)[:8])}")
    return {str(name): _read(said, f"types= of '{name}'") for name, said in types.items()}


def _read(said: Any, whose: str) -> Declared:
    if isinstance(said, str):
        digits = re.fullmatch(r"decimal:(\d{1,2})", said)
        if said in _WORDS:
            return Declared(said)
        if digits is not None and int(digits[1]) <= _MOST_DIGITS:
            return Declared("decimal", digits=int(digits[1]))
    elif isinstance(said, (list, tuple)) and all(isinstance(word, str) for word in said):
        if said and len(set(said)) == len(said):
            return Declared("categories", categories=tuple(map(str, said)))
    raise RequestError(f"{whose} is not accepted; give {', '.join(_WORDS)}, decimal:2 or a list of different texts")


def read_as(said: Declared, cells: list[Any]) -> list[Any]:
    """Cells as values of a type: floats, whole numbers, booleans, texts, days, microseconds or decimals; missing ones are ``None``."""
    cells = [_plain(cell) for cell in cells]
    if said.word in ("text", "categories"):
        known = set(said.categories)
        texts = fresh(_text(_moment(cell)) for cell in cells)
        return texts if said.word == "text" else [cell if cell in known else None for cell in texts]
    if said.word == "number":
        numbers = map(total(number_as_in_files), cells)
        return [None if found != found else found for found in numbers]
    read = total(reader(f"decimal:{said.digits}" if said.word == "decimal" else said.word))
    if said.word in ("date", "timestamp"):
        cells = [_moment(cell) for cell in cells]
    found = [read(cell) for cell in cells]
    if said.word == "decimal":
        return [None if cell is None else Decimal(f"{cell}e-{said.digits}") for cell in found]
    return found if said.word != "boolean" else [None if cell is None else bool(cell) for cell in found]


_EPOCH = datetime.datetime(1970, 1, 1)


def _moment(cell: Any) -> Any:
    """A moment of numpy's or pandas' as Python's own, in UTC; one that Python's calendar does not reach is none."""
    cell = getattr(cell, "asm8", cell)
    if type(cell).__name__ != "datetime64":
        return cell
    return total(lambda steps: _EPOCH + datetime.timedelta(microseconds=steps))(int(cell.astype("M8[us]").astype("i8")))


def _plain(cell: Any) -> Any:
    """A number as Python has it, whatever numbers its column has besides: short floats are longer ones, and complex numbers without
    an imaginary part are none."""
    kind = getattr(getattr(cell, "dtype", None), "kind", "")
    if kind in ("f", "c") and getattr(cell, "shape", None) == ():
        cell = float(cell) if kind == "f" else complex(cell)
    return cell.real if isinstance(cell, complex) and cell.imag == 0 else cell


def _text(cell: Any) -> str | None:
    if isinstance(cell, str):
        return str(cell)
    shown: str | None = total(text)(cell)
    if shown is not None and isinstance(cell, Decimal) and "." in shown and "e" not in shown:
        # How many digits a column of decimals has may be due to one cell elsewhere.
        shown = shown.rstrip("0").rstrip(".")
        return "0" if shown == "-0" else shown
    return shown
