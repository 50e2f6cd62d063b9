"""Subsample and aggregate: any function on blocks of the data, and what the blocks agree on."""

from __future__ import annotations

import contextlib
import importlib.util
import json
import math
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from . import _books, _equipoise
from ._ask import one_of
from ._blocks import Blocks, cutter, needs_processes
from ._cells import text
from ._columns import Column, column_of, quietly
from ._data import is_path, length_of, table
from ._errors import DataError, Interrupted, LostError, RequestError
from ._identity import Untold, digest
from ._quiet import recorded
from ._release import Release, warned
from ._wording import decimal
from ._workers import jobs, portable, votes_of

#: A type in words, or categories; one for every column, or one for each of some.
Types = str | Sequence[str] | Mapping[str, "str | Sequence[str]"]
#: Numbers of blocks that are tried where nothing is said: the number of rows is private, so that it cannot decide.
_BLOCKS = (128, 256, 512, 1024, 2048, 4096, 8192)


def subsample(
    f: Callable[[Any], Any],
    data: Any,
    *,
    epsilon: Any,
    delta: Any = 0,
    blocks: int | None = None,
    default: Any = None,
    options: Sequence[str] | None = None,
    mechanism: str | None = None,
    adjacency: str = "add-remove",
    privacy_unit: str | Sequence[Any] | None = None,
    unit: str | Sequence[Any] | None = None,
    types: Types | None = None,
    type: Types | None = None,
    confidence: Any = None,
    alpha: Any = None,
    n_jobs: int | None = None,
    time_limit: float | None = None,
    progress: bool = False,
    show_output: bool = False,
    ledger: str | os.PathLike[str] | None = None,
    name: str | None = None,
    analyst: str | None = None,
    request_id: str | None = None,
) -> Release:
    """What a function says about blocks of the data, as one private answer.

    The data is dealt into blocks; ``f`` sees one block at a time, an array, a table or a list like the data itself, and gives
    a number, a vector or a label. One person is in one block, so nothing has to be known about ``f``: no bounds, no
    sensitivity. ``f`` is trusted to look at its block alone and to keep no memory.

    A block is made of its own cells, so that it carries no mark of other rows: in every library numbers are 64-bit floats, categories
    and dictionaries are texts, days and moments are moments in microseconds, and a column without any value in a block has no
    type there (objects in pandas, null in Polars and pyarrow, floats in numpy). Names of columns stay; indexes and metadata
    do not. ``types`` says otherwise.

    ``default``
        What a block counts as where ``f`` fails, takes too long or gives something else. It also says what ``f`` gives: a
        number, a list of numbers for a vector of that length, a text for a label. Without one ``f`` gives numbers, or labels
        where there are ``options``, and a tenth of epsilon tells whether at least half of the blocks answered: where that does not
        show, the answer is refused.
    ``options``
        The labels there can be; without them a label needs a delta. The answer is one of them, with a bar in votes.
    ``blocks``
        How many: more blocks mean less noise, and fewer rows for ``f`` in each. Without it, the fewest of 128, 256, 512 and
        so on with which epsilon is enough. The error bar is about the blocks' answers: what ``f`` gives on all rows may lie
        elsewhere (a maximum does), and ``release.covers`` says what it is.
    ``privacy_unit``, ``unit``
        A column that names the person, or one name for each row: all rows of a person lie in one block. Names are compared
        without spaces around them, and rows without a name are left out, as in files.
    ``types``, ``type``
        What columns are in every block, whatever the table has: ``{"age": "integer", "town": ["Ayr", "Oban"]}``. The words are
        those of questions (number, integer, boolean, text, date, timestamp, decimal:2); a list of texts are the categories there
        can be. One word or list alone is for every column. It is public: do not read it from the rows. Cells that are
        none of the type are missing.
    ``n_jobs``
        As in joblib, on whichever backend is active there. Without joblib, with a ``time_limit`` in seconds for each block, and for
        tables of Polars where there are categories or ``n_jobs``, processes of our own; a block that crashes or is late is a default vote.
    ``request_id``
        Asking again under it is free, with a ``ledger`` and the ``name`` of the data: the same request about data of that name gives the
        same answer, whatever rows it has by now. It belongs to ``f`` with its defaults, closure, bound arguments and what its
        code names; an ``f`` that holds something of which that cannot be told, such as a lock, takes none.
    ``progress``
        Show for how long blocks are running, with tqdm where that is installed; how many are done would tell of their rows.
    ``show_output``
        What ``f`` prints, warns of or logs may quote rows, so that it is swallowed: at the file descriptors of the process
        that runs it, for all of its threads while ``f`` runs. ``True`` shows it, to whoever may see rows.

    >>> import equipoise as eq
    >>> import numpy as np
    >>> heights = np.linspace(150, 190, 20_000)
    >>> release = eq.subsample(np.median, heights, epsilon=2, blocks=200)
    >>> release.mechanism, release.refused
    ('winsorized', False)
    """
    if not callable(f):
        raise DataError("f is not a function; give one that takes a block of the data")
    types = one_of("type", type, "types", types)
    rows, person, people = _people(data, one_of("unit", unit, "privacy_unit", privacy_unit))
    cut = cutter(data, types)
    apart = needs_processes(data, jobs(n_jobs) > 1)
    portable(f, n_jobs, time_limit, apart)
    if ledger is None:
        _books.check_request_id(request_id)
    account = _books.odometer(adjacency, person) if ledger is None else _books.name_of(data, ledger, name)
    words = {
        "statistic": "subsample",
        "data": account,
        "epsilon": decimal(epsilon, "epsilon"),
        "delta": decimal(delta, "delta"),
        "adjacency": adjacency,
        "blocks": blocks,
        "unit": person,
        "mechanism": mechanism,
        "confidence": _confidence(confidence, alpha),
        "settings": _settings(f, request_id, types, time_limit),
        **_output(default, options),
    }
    return vote(
        words,
        lambda ballot: _deal(ballot, rows, people),
        lambda dealt: votes_of(
            f,
            Blocks(cut, dealt),
            n_jobs=n_jobs,
            time_limit=time_limit,
            progress=progress,
            read=reader(words["output"]),
            show_output=show_output,
            apart=apart,
        ),
        ledger=ledger,
        analyst=analyst,
        request_id=request_id,
    )


def vote(
    words: dict[str, Any],
    deal: Callable[[_equipoise.Ballot], list[Any]],
    run: Callable[[list[Any]], list[Any]],
    *,
    ledger: Any = None,
    analyst: str | None = None,
    request_id: str | None = None,
) -> Release:
    """Plan, pay, deal, run, count, in this order. What runs gives votes as :func:`reader` reads them."""
    if importlib.util.find_spec("numpy") is None:
        raise RequestError("blocks are dealt with numpy; install it")
    books = _books.books(ledger, analyst)
    ballot = _planned(words, books)
    before = ballot.charge(books, request_id)
    if before is not None:
        return warned(Release._of_json(before))
    try:
        votes = run(deal(ballot))
    except KeyboardInterrupt:
        # Where it came may quote rows.
        raise Interrupted from None
    return warned(Release._of_json(recorded(lambda _: ballot.count(books, votes), charged=True)))


def _planned(words: dict[str, Any], books: _equipoise.Books) -> _equipoise.Ballot:
    said = dict(words)
    data, blocks = said.pop("data"), said.pop("blocks")

    def ballot(blocks: Any) -> _equipoise.Ballot:
        return _equipoise.Ballot(books, data, json.dumps(dict(said, blocks=decimal(blocks, "blocks"))))

    if blocks is not None:
        return ballot(blocks)
    for fewer in _BLOCKS[:-1]:
        with contextlib.suppress(RequestError):
            return ballot(fewer)
    return ballot(_BLOCKS[-1])


def _settings(f: Callable[[Any], Any], request_id: str | None, types: Any, time_limit: float | None) -> list[str]:
    """What else a request is: all that changes votes."""
    said = [_function(f, request_id)]
    if types is not None:
        said.append(f"types={json.dumps(dict(types) if isinstance(types, Mapping) else types)}")
    if time_limit is not None:
        said.append(f"time_limit={decimal(time_limit, 'time_limit')}")
    return said


def _function(f: Callable[[Any], Any], request_id: str | None) -> str:
    """What a function is: the same request id with another one, or with another value in it, is another request."""
    name = f"{getattr(f, '__module__', '')}.{getattr(f, '__qualname__', type(f).__qualname__)}"
    if request_id is None:
        return f"function={name}"
    try:
        return f"function={name}:{digest(f)}"
    except Untold as what:
        raise RequestError(
            f"request_id: f holds {what}, and nobody can tell it from what an earlier f held; leave request_id out, or let f "
            "hold plain values"
        ) from None


def _confidence(confidence: Any, alpha: Any) -> str:
    from ._ask import request

    said = request("count", None, {"confidence": confidence, "alpha": alpha})
    return str(said.get("confidence", "0.95"))


def _output(default: Any, options: Sequence[str] | None) -> dict[str, Any]:
    if options is not None or isinstance(default, str):
        labels = None if options is None else [str(option) for option in options]
        return {"output": "label", "options": labels, "default": None if default is None else str(default)}
    if default is None:
        return {"output": "number"}
    with contextlib.suppress(TypeError, ValueError):
        single = isinstance(default, (int, float))
        numbers = [float(number) for number in ([default] if single else default)]
        if numbers and all(map(math.isfinite, numbers)):
            return {"output": "number", "default": numbers[0]} if single else vector(numbers)
    raise RequestError("default is not accepted; give a finite number, a list of them or a text")


def vector(default: list[float]) -> dict[str, Any]:
    """Answers that are vectors, as words of a request."""
    return {"output": f"vector:{len(default)}", "default": default}


def _people(data: Any, privacy_unit: Any) -> tuple[int, str | None, Column | None]:
    """How many rows, what names the person, and the column of their names."""
    if is_path(data):
        raise DataError("f takes blocks of data in memory; read the file into a table first")
    if isinstance(data, Mapping) or not hasattr(data, "__getitem__") or not hasattr(data, "__len__"):
        raise DataError(f"f takes blocks of rows, and a {type(data).__name__} has none; give a table, an array or a list")
    rows = length_of(data)
    if privacy_unit is None:
        return rows, None, None
    named = isinstance(privacy_unit, str)
    people = table(data).column(privacy_unit) if named else column_of(privacy_unit)  # type: ignore[union-attr]
    people.check("text", privacy_unit if named else "privacy_unit")
    if len(people) != rows:
        raise DataError("privacy_unit does not name one person for each row")
    return rows, privacy_unit if named else "privacy_unit", people


def _deal(ballot: _equipoise.Ballot, rows: int, people: Column | None) -> list[Any]:
    """Rows into blocks, after the charge: the names of people are private."""
    if people is None:
        return _equipoise.deal_rows(ballot, rows)
    lost = "the data could not be read to the end; the charge stands and the answer is lost"
    return _equipoise.deal_people(ballot, quietly(lambda: people.cells("text"), lost, LostError))


def reader(kind: str) -> Callable[[Any], Any]:
    """What makes a vote of what a function gives, as the compiled part takes it; it fails where that is something else."""
    readers: dict[str, Callable[[Any], Any]] = {"label": _label, "number": float}
    return readers.get(kind, _numbers)


def _label(value: Any) -> str | None:
    return text(value)


def _numbers(value: Any) -> list[float]:
    import numpy as np

    return [float(number) for number in np.ravel(value)]
