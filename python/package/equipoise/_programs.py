"""Any program, run on blocks of the data in a sandbox, and one private answer from all of theirs."""

from __future__ import annotations

import inspect
import json
import os
import shutil
import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
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
from ._remote import RemoteData, RemoteProgram
from ._wording import decimal, decimals, in_python
from ._workers import clock

Command = Sequence["str | os.PathLike[str]"]


def run_program(
    program: Command | Sequence[Command],
    data: Any,
    *,
    output: str | None = None,
    epsilon: Any,
    delta: Any = 0,
    range: Any = None,
    options: Sequence[str] | None = None,
    default: Any = None,
    then: Mapping[str, Command | Sequence[Command]] | None = None,
    blocks: int | None = None,
    rows: int | None = None,
    mechanism: str | None = None,
    trim: Any = None,
    width: Any = None,
    bound: Any = None,
    rate: Any = None,
    size: int | None = None,
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
    same sandbox (Linux). ``docs/programs.md`` says what holds. For data behind a server it is the name of a program that the
    steward of the data allows, such as ``"typical-salary"``, and what it prints is said there.

    ``output``
        What it prints: ``"number"``, ``"vector:3"``, ``"label"`` or ``"labels"``.
    ``range``, ``options``
        What numbers and labels can be, where you know; never needed.
    ``default``
        What a block without an answer counts as: a number, a list of numbers, a text, a list of texts. Without one a tenth of
        epsilon tells whether at least half of the blocks answered, and there is no answer where they did not.
    ``then``
        ``{"mean": ["sh", "mean.sh"], "median": ["sh", "median.sh"]}``: ``program`` prints the name of one of these, half of epsilon
        chooses the one that most blocks name, and the other half pays for what it prints on blocks that are dealt anew.
    ``mechanism``, ``trim``, ``width``, ``bound``, ``rate``, ``size``
        How answers become one, as for :func:`subsample`.
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
    said = dict(locals())
    if isinstance(data, RemoteData):
        return _remotely(said, data)
    if output is None:
        raise RequestError("run_program needs output=")
    _linux()
    held, kinds, words, how = _prepared(said)
    charged = None
    if ledger is not None or isinstance(held, FileTable):
        charged = _books.charged(held.path if isinstance(held, FileTable) else data, ledger, name, apart)
    else:
        _books.check_request_id(request_id)
    account = _books.odometer(adjacency, words["unit"]) if charged is None else charged.name
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


#: What is said of a program behind a server; the rest is its steward's to say.
_OF_REMOTE = ("epsilon", "delta", "blocks", "rows")


def _remotely(said: dict[str, Any], data: RemoteData) -> Release | dict[str, Any]:
    """A program that a steward allows, by its name."""
    parameters = inspect.signature(run_program).parameters
    own = {"program", "data", "confidence", "alpha", "request_id", "dry_run", "progress", "ledger", "name", "analyst", "apart", *_OF_REMOTE}
    for name, parameter in parameters.items():
        if name not in own and said[name] != parameter.default:
            raise RequestError(f"{name}= is for programs that run here; the steward of the data said it, so leave it out", name)
    sure = words_of("count", None, {"confidence": said["confidence"], "alpha": said["alpha"]})
    words = {name: decimal(said[name], name) for name in _OF_REMOTE if said[name] is not None}
    charging = {name: said[name] for name in ("ledger", "name", "analyst", "apart")}
    program = RemoteProgram(said["program"], data, {**words, **charging, "confidence": sure.get("confidence")})
    return program.summarize() if said["dry_run"] else program.release(said["request_id"])


def rehearse_program(program: Any, data: Any, trials: int, keywords: dict[str, Any]) -> tuple[dict[str, Any], str]:
    """A program on blocks of public rows: what was seen, and the same in words; nothing is charged."""
    _linux()
    parameters = inspect.signature(run_program).parameters
    unknown = [name for name in keywords if name not in parameters]
    if unknown:
        raise RequestError(f"run_program takes no keyword '{unknown[0]}'; see help(equipoise.run_program)")
    said = {name: one.default for name, one in parameters.items() if one.default is not one.empty}
    said |= {"program": program, "data": data} | keywords
    missing = [name for name in ("output", "epsilon") if name not in said]
    if missing:
        raise RequestError(f"run_program needs {missing[0]}=")
    held, kinds, words, how = _prepared(said)
    books = _equipoise.Books(None, None)
    with clock(bool(said["progress"]), "program"):
        text = recorded(
            lambda came: _equipoise.rehearse_program(
                books, "simulation", json.dumps(words), json.dumps(how), held.names, held.source(kinds), held.rows, kinds, trials, came
            ),
            release=lambda text: text,
        )
    found: dict[str, Any] = json.loads(text)
    for note in found["notes"]:
        warnings.warn(note, stacklevel=3)
    return found["simulation"], found["words"]


def _prepared(said: dict[str, Any]) -> tuple[Table | FileTable, list[tuple[int, str]], dict[str, Any], dict[str, Any]]:
    """The data as programs get it, the request in words, and how programs are run."""
    person = one_of("unit", said["unit"], "privacy_unit", said["privacy_unit"])
    types = one_of("type", said["type"], "types", said["types"])
    sure = words_of("count", None, {"confidence": said["confidence"], "alpha": said["alpha"]})
    if said["input"] not in ("csv", "arrow"):
        raise RequestError("input is not accepted; give 'csv' or 'arrow'")
    arrow = said["input"] == "arrow"
    held, kinds = _handed_over(table(said["data"]), arrow, person, types)
    numbers: dict[str, Callable[..., str]] = {"blocks": decimal, "rows": decimal, "trim": decimal, "bound": decimal, "rate": decimal, "size": decimal}
    numbers |= {"range": decimals, "width": decimals}
    words = {
        "programs": _commands(said["program"]),
        "analyses": [{"name": str(name), "programs": _commands(one)} for name, one in (said["then"] or {}).items()],
        "mechanism": said["mechanism"],
        "output": said["output"],
        "epsilon": decimal(said["epsilon"], "epsilon"),
        "delta": decimal(said["delta"], "delta"),
        "adjacency": said["adjacency"],
        "unit": person,
        "options": None if said["options"] is None else [str(option) for option in said["options"]],
        "confidence": sure.get("confidence"),
        "settings": [] if types is None else [f"types={json.dumps(dict(types) if isinstance(types, Mapping) else types)}"],
    }
    words |= {name: write(said[name], name) for name, write in numbers.items() if said[name] is not None}
    if said["default"] is not None:
        words["default"] = _plain(said["default"])
    how = {
        "keeper": None if said["unsafe_no_sandbox"] else _keeper(),
        "block_time": float(said["block_time"]),
        "memory": int(said["memory"]),
        "processes": int(said["processes"]),
        "serial": bool(said["serial"]),
        "padded": bool(said["time_padding"]),
        "arrow": arrow,
        "block_file": bool(said["block_file"]),
        "proc": bool(said["with_proc"]),
        "allow_read": [os.fspath(path) for path in said["allow_read"]],
        "data": os.path.abspath(held.path) if isinstance(held, FileTable) else None,
        "dry_run": bool(said["dry_run"]),
    }
    return held, kinds, words, how


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
