"""Any program, run on blocks of the data in a sandbox, and one private answer from all of theirs."""

from __future__ import annotations

import json
import os
import shutil
import sys
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from . import _books, _equipoise
from ._ask import one_of
from ._ask import request as words_of
from ._cells import text
from ._columns import Column
from ._data import FileTable, Table, table
from ._declared import Declared, declared, read_as
from ._errors import RequestError
from ._quiet import recorded
from ._release import Release, warned
from ._wording import decimal, decimals, in_python
from ._workers import clock

Command = Sequence["str | os.PathLike[str]"]


def run_program(
    program: Command | Sequence[Command],
    data: Any,
    *,
    output: str,
    epsilon: Any,
    delta: Any = 0,
    range: Any = None,
    options: Sequence[str] | None = None,
    default: Any = None,
    blocks: int | None = None,
    rows: int | None = None,
    adjacency: str | None = None,
    privacy_unit: str | None = None,
    unit: str | None = None,
    confidence: Any = None,
    alpha: Any = None,
    types: str | Mapping[str, str] | None = None,
    type: str | Mapping[str, str] | None = None,
    input: str = "csv",
    block_file: bool = False,
    block_time: float = 10.0,
    time_padding: bool = True,
    serial: bool = False,
    allow_read: Sequence[str | os.PathLike[str]] = (),
    memory: int = 2048,
    processes: int = 32,
    with_proc: bool = False,
    unsafe_no_sandbox: bool = False,
    ledger: str | os.PathLike[str] | None = None,
    name: str | None = None,
    analyst: str | None = None,
    apart: bool = False,
    request_id: str | None = None,
    progress: bool = False,
    dry_run: bool = False,
) -> Release | dict[str, Any]:
    """What a program says about blocks of the data, as one private answer; nothing has to be known about the program.

    ``program`` is a list of words, such as ``["python3", "fit.py"]``, or a list of such lists, which take blocks in turn. It runs
    unchanged, once for each block, gets the block on standard input and prints its answer, as text or JSON. It sees its
    own files, no network, no other block, no data and no ledger, as with ``equipoise run`` on the command line, in the
    same sandbox (Linux). ``docs/programs.md`` says what holds.

    ``output``
        What it prints: ``"number"``, ``"vector:3"``, ``"label"`` or ``"labels"``.
    ``range``, ``options``
        What numbers and labels can be, where you know; never needed.
    ``default``
        What a block without an answer counts as: a number, a list of numbers, a text, a list of texts. Without one a tenth of
        epsilon tells whether at least half of the blocks answered, and there is no answer where they did not.
    ``types``, ``type``
        What columns of a table in memory are: ``{"age": "integer"}``, in the words of questions. Without it numbers are 64-bit
        floats and days are moments, because one cell elsewhere could make them so; a file declares its types itself.
    ``input``, ``block_file``
        ``"csv"``, or ``"arrow"`` for an Arrow stream; as the file ``block.csv`` or ``block.arrow`` in its folder.
    ``block_time``, ``time_padding``, ``serial``
        The seconds that every block takes, whatever the program does; without padding the time tells of the rows, so that is for
        programs you trust. One block at a time with ``serial``.
    ``allow_read``, ``memory``, ``processes``, ``with_proc``
        More files to show, read-only; megabytes for each process; processes and threads of a block; a ``/proc``.
    ``progress``
        Show for how long it is running; how many blocks are done would tell of their rows.
    ``dry_run``
        Plan and try the program without rows; a dictionary, and nothing is charged.
    """
    _linux()
    privacy_unit, types = one_of("unit", unit, "privacy_unit", privacy_unit), one_of("type", type, "types", types)
    said = words_of("count", None, {"confidence": confidence, "alpha": alpha})
    held = table(data)
    source = held.path if isinstance(held, FileTable) else data
    charged = None
    if ledger is not None or isinstance(held, FileTable):
        charged = _books.charged(source, ledger, name, apart)
    else:
        _books.check_request_id(request_id)
    held, kinds = _handed_over(held, input == "arrow", privacy_unit, types)
    account = _books.odometer(adjacency, privacy_unit) if charged is None else charged.name
    words = {
        "programs": _commands(program),
        "output": output,
        "epsilon": decimal(epsilon, "epsilon"),
        "delta": decimal(delta, "delta"),
        "adjacency": adjacency,
        "unit": privacy_unit,
        "blocks": None if blocks is None else decimal(blocks, "blocks"),
        "rows": None if rows is None else decimal(rows, "rows"),
        "range": None if range is None else decimals(range, "range"),
        "options": None if options is None else [str(option) for option in options],
        "confidence": said.get("confidence"),
        "settings": [] if types is None else [f"types={json.dumps(dict(types) if isinstance(types, Mapping) else types)}"],
    }
    if default is not None:
        words["default"] = _plain(default)
    if input not in ("csv", "arrow"):
        raise RequestError("input is not accepted; give 'csv' or 'arrow'")
    how = {
        "keeper": None if unsafe_no_sandbox else _keeper(),
        "block_time": float(block_time),
        "memory": int(memory),
        "processes": int(processes),
        "serial": bool(serial),
        "padded": bool(time_padding),
        "arrow": input == "arrow",
        "block_file": bool(block_file),
        "proc": bool(with_proc),
        "allow_read": [os.fspath(path) for path in allow_read],
        "data": os.path.abspath(held.path) if isinstance(held, FileTable) else None,
        "dry_run": bool(dry_run),
    }
    if unsafe_no_sandbox:
        warnings.warn("no sandbox: the program can read and send all that you can", stacklevel=2)
    books = _books.books(None, analyst) if charged is None else charged.open(analyst)
    columns = held.source(kinds)
    with clock(progress, "program"):
        text = recorded(
            lambda came: _equipoise.run_program(
                books, account, json.dumps(words), json.dumps(how), held.names, columns, held.rows, kinds, request_id, came
            ),
            release=lambda text: json.dumps(json.loads(text)["release"]),
        )
    found: dict[str, Any] = json.loads(text)
    for note in found["notes"]:
        warnings.warn(note, stacklevel=2)
    if dry_run:
        plan: dict[str, Any] = found["plan"]
        return dict(plan, expected=in_python(plan["expected"]))
    return warned(Release._of_json(json.dumps(found["release"])))


def _plain(default: Any) -> Any:
    """A default as JSON takes it."""
    try:
        plain = default.tolist() if hasattr(default, "tolist") else default
        plain = plain if isinstance(plain, (str, int, float)) else list(plain)
        json.dumps(plain, allow_nan=False)
    except (TypeError, ValueError):
        raise RequestError("default is not accepted; give a finite number, a text, or a list of either") from None
    return plain


def _linux() -> None:
    if not hasattr(_equipoise, "run_program"):
        raise RequestError(f"programs run in a sandbox of Linux, and this is {sys.platform}; use subsample with a function you trust")


def _commands(program: Any) -> list[list[str]]:
    if isinstance(program, (str, os.PathLike)) or not len(program):
        raise RequestError("program is a list of words; give one such as ['python3', 'fit.py']")
    several = not isinstance(program[0], (str, os.PathLike))
    return [[os.fspath(word) for word in words] for words in (program if several else [program])]


def _keeper() -> str:
    """The helper that keeps the sandbox: the one of this package, or of an installed command."""
    beside = os.path.join(os.path.dirname(os.path.abspath(__file__)), "equipoise-sandbox")
    if os.access(beside, os.X_OK):
        return beside
    for other in ("equipoise-sandbox", "equipoise"):
        found = shutil.which(other)
        if found is not None:
            return os.path.abspath(found)
    raise RequestError(
        "the sandbox needs the helper 'equipoise-sandbox', which this installation lacks; install the package with "
        "'pip install ./python', or the equipoise command on the PATH; unsafe_no_sandbox=True runs without any protection"
    )


class _InBlocks(Column):
    """A column as programs get it: as what ``types=`` says, or as the one type for all that one cell elsewhere could have made of it.

    So whole numbers, decimals and floats are numbers, days and moments are moments, and a yes or no is a text where its type has
    no missing cell. Who a row is about stays exactly what it is.
    """

    def __init__(self, column: Column, said: str | None, name: str, unit: bool) -> None:
        super().__init__(len(column))
        self._column, self._unit = column, unit
        self.kind = _one_type(column) if said is None else said
        if said is not None and not self._from_text():
            column.check(_wanted(said), name)
        column.check("text", name)

    def _from_text(self) -> bool:
        """Texts that are to be numbers are read like those of files."""
        return self.kind == "number" and self._column.kind in (None, "text")

    def refusal(self, kind: str) -> str | None:
        return None

    def read(self, kind: str) -> Any:
        word = self.kind or "text"
        if word == "text" or (self._unit and kind == "text"):
            return self._column.read("text")
        if self._from_text():
            cells: list[Any] = read_as(Declared("number"), self._column.cells("text"))
        else:
            cells = self._column.cells(_wanted(word))
        if kind != "text":
            return cells
        if word == "number":
            return [text(cell) for cell in cells]
        return [None if cell is None else _equipoise.write(cell, word) for cell in cells]


def _wanted(word: str) -> str:
    return "float" if word == "number" else word


def _one_type(column: Column) -> str:
    kind = column.kind or "text"
    if kind == "boolean":
        return "boolean" if column.knows_missing else "text"
    if kind in ("date", "timestamp"):
        return "timestamp"
    return "text" if kind == "text" else "number"


def _handed_over(held: Table | FileTable, typed: bool, unit: str | None, types: Any) -> tuple[Table | FileTable, list[tuple[int, str]]]:
    """The columns as programs get them, and how each is handed over; the person is a text besides."""
    said = declared(types, held.names)
    if isinstance(held, FileTable):
        if said:
            raise RequestError("types= is for tables in memory: a file is given with the types that it declares")
        return held, []
    if any(one.word == "categories" for one in said.values()):
        raise RequestError("types= of a program's blocks are words, such as integer or text; a list of texts has no place there")
    words = {name: one.word + (f":{one.digits}" if one.word == "decimal" else "") for name, one in said.items()}
    columns = [_InBlocks(column, words.get(name), name, name == unit) for name, column in zip(held.names, held.columns)]
    kinds = [(place, _wanted(column.kind or "text") if typed else "text") for place, column in enumerate(columns)]
    if unit in held.names and kinds[held.names.index(unit)][1] != "text":
        kinds.append((held.names.index(unit), "text"))
    return Table(held.names, columns, held.rows), kinds
