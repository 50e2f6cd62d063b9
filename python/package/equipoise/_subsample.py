"""Subsample and aggregate: any function on blocks of the data, and what the blocks agree on."""

from __future__ import annotations

import contextlib
import importlib.util
import inspect
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
from ._elsewhere import is_elsewhere
from ._errors import DataError, Interrupted, LostError, RequestError
from ._identity import Untold, digest
from ._quiet import recorded
from ._release import Release, warned
from ._remote import check_own
from ._wording import decimal, decimals
from ._workers import jobs, portable, votes_of

#: A type in words, or categories; one for every column, or one for each of some.
Types = str | Sequence[str] | Mapping[str, "str | Sequence[str]"]
#: Numbers of blocks that are tried where nothing is said: the number of rows is private, so that it cannot decide.
_BLOCKS = (128, 256, 512, 1024, 2048, 4096, 8192)
#: These say themselves how many samples they take, or that a number is missing.
COUNTED = ("bootstrap", "a-samp", "A_samp", "a_samp", "sa", "SA")


#: One function, or several that take blocks in turn.
Functions = Callable[[Any], Any] | Sequence[Callable[[Any], Any]]


def subsample(
    f: Functions,
    data: Any,
    *,
    epsilon: Any,
    delta: Any = 0,
    output: str | None = None,
    range: Any = None,
    options: Sequence[str] | None = None,
    default: Any = None,
    then: Mapping[str, Functions] | None = None,
    blocks: int | None = None,
    rows: int | None = None,
    mechanism: str | None = None,
    trim: Any = None,
    width: Any = None,
    bound: Any = None,
    rate: Any = None,
    size: int | None = None,
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

    Several functions in a list take blocks in turn: analysts who do not talk to each other.

    ``output``
        What ``f`` gives: ``"number"``, ``"vector:3"``, ``"label"``, or ``"labels"`` for a set of them. Without it what ``default`` is;
        else a label where there are ``options``, and a number where there are none.
    ``range``, ``options``
        Between which ends numbers are moved, and the labels there can be, where you know; never needed, and fewer blocks are
        enough with them. Without ``options`` a label needs a delta.
    ``default``
        What a block counts as where ``f`` fails, takes too long or gives something else: a number, a list of numbers, a text, a list of
        texts. Without one a tenth of epsilon tells whether at least half of the blocks answered: where that does not show, the
        answer is refused.
    ``then``
        ``{"mean": np.mean, "median": np.median}``: ``f`` gives the name of one of these analyses, half of epsilon chooses the one that most
        blocks name, and the other half pays for what it gives on blocks that are dealt anew. One charge, one release.
    ``blocks``, ``rows``
        How many blocks: more mean less noise, and fewer rows for ``f`` in each. Without it the best for ``rows``, a number of rows that you
        state as public; without that too, the fewest of 128, 256, 512 and so on with which epsilon is enough. The error bar is about
        the blocks' answers: what ``f`` gives on all rows may lie elsewhere (a maximum does), and ``release.covers`` says what it is.
    ``mechanism``
        How answers become one; without it the best for what is known. For numbers ``"trimmed"`` and ``"winsorized"`` (with ``trim``, the share at
        each end, 0.1 unless said), ``"median"``, ``"consensus"`` (the median where one answer moves it by at most ``bound``), ``"grid"`` (the cell of
        this ``width`` that most lie in), ``"choice"`` (one of several widths, chosen privately), ``"ball"`` (the mean of those that agree). For
        vectors ``"bounded"``, ``"vectors"``, ``"ball"``, ``"grid"``, ``"choice"``. For a label ``"arg-max"``, ``"popularity"`` (with how many
        blocks gave it), ``"majority"``; for labels ``"counts"`` (feature by feature), ``"majority"`` (the whole set). For both samples that share
        rows: ``"bootstrap"`` (as many as ``blocks``, each row with probability ``rate``, or ``size`` rows with repetition), and as the texts
        print them ``"a-samp"`` (with ``rows``) and ``"sa"`` (with ``rows`` and ``size``), which evaluate ``f`` as often as they say first.
    ``privacy_unit``, ``unit``
        A column that names the person, or one name for each row: all rows of a person lie in one block. Names are compared
        without spaces around them, and rows without a name are left out, as in files.
    ``types``, ``type``
        What columns are in every block, whatever the table has: ``{"age": "integer", "town": ["Ayr", "Oban"]}``. The words are
        those of questions (number, integer, boolean, text, date, timestamp, decimal:2); a list of texts are the categories there
        can be. One word or list alone is for every column. It is public: do not read it from the rows. Cells that are
        none of the type are missing.
    ``data``
        A table, an array or a list in memory; or a Spark DataFrame (``eq.elsewhere(frame, deadline=600)``) with ``unit``: people are dealt there by a keyed
        hash, and ``f`` gets tables of pandas' on the executors, which need this package. Only votes leave. A crash, or a block that is late, is a default vote there
        too.
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
    asked = _asked(data)(f, then, data, one_of("type", type, "types", types), one_of("unit", unit, "privacy_unit", privacy_unit))
    asked.work(n_jobs=n_jobs, time_limit=time_limit, progress=progress, show_output=show_output)
    if ledger is None:
        _books.check_request_id(request_id)
    account = _books.odometer(adjacency, asked.person) if ledger is None else _books.name_of(data, ledger, name)
    said = {"output": output, "range": range, "options": options, "default": default, "blocks": blocks, "rows": rows}
    said |= {"mechanism": mechanism, "trim": trim, "width": width, "bound": bound, "rate": rate, "size": size}
    words = asked.words(said, epsilon=epsilon, delta=delta, adjacency=adjacency, confidence=_confidence(confidence, alpha))
    words |= {"data": account, "settings": asked.settings(request_id, time_limit)}
    return vote(
        words,
        asked.deal,
        lambda dealt: asked.votes(asked.functions, dealt, words["output"]),
        ledger=ledger,
        analyst=analyst,
        request_id=request_id,
        choose=None if asked.then is None else asked.named,
        chosen=lambda name, dealt: asked.votes(asked.analyses[name], dealt, words["output"]),
    )


def rehearse(f: Functions, data: Any, trials: int, deals: int, keywords: dict[str, Any]) -> tuple[dict[str, Any], str]:
    """A function on blocks of public rows: what was seen, and the same in words; nothing is charged."""
    parameters = inspect.signature(subsample).parameters
    unknown = [name for name in keywords if name not in parameters]
    if unknown:
        raise RequestError(f"subsample takes no keyword '{unknown[0]}'; see help(equipoise.subsample)")
    said = {name: one.default for name, one in parameters.items() if one.default is not one.empty} | keywords
    if "epsilon" not in said:
        raise RequestError("subsample needs epsilon=")
    if said["then"] is not None:
        raise RequestError("simulate what chooses and each analysis apart, without then=")
    types, unit = one_of("type", said["type"], "types", said["types"]), one_of("unit", said["unit"], "privacy_unit", said["privacy_unit"])
    asked = Asked(f, None, data, types, unit)
    asked.work(**{name: said[name] for name in ("n_jobs", "time_limit", "progress", "show_output")})
    sure = _confidence(said["confidence"], said["alpha"])
    words = asked.words(said, epsilon=said["epsilon"], delta=said["delta"], adjacency=said["adjacency"], confidence=sure)
    ballot = _planned(dict(words, data="simulation"), _equipoise.Books(None, None))
    looks = ballot.looks(asked.rows, asked.names(), deals)
    votes = [asked.votes(asked.functions, blocks, words["output"]) for blocks in looks]
    details, text = ballot.rehearsed(votes, trials)
    return json.loads(details), text


class Asked:
    """Functions and the data that they get in blocks, before anything is charged."""

    def __init__(self, f: Functions, then: Mapping[str, Functions] | None, data: Any, types: Any, unit: Any) -> None:
        check_own(data)
        self.functions = _functions(f, "f")
        if then is not None and (not isinstance(then, Mapping) or not then):
            raise DataError("then has no analyses; give some by name, such as {'mean': np.mean, 'median': np.median}")
        self.then = then
        self.analyses = {str(name).strip(): _functions(one, f"then['{name}']") for name, one in (then or {}).items()}
        self.types = types
        self._take(data, unit)

    def _take(self, data: Any, unit: Any) -> None:
        """The data, where blocks can be made of it."""
        self.rows, self.person, self.people = _people(data, unit)
        self._cut, self._data = cutter(data, self.types), data

    def work(self, *, n_jobs: int | None, time_limit: float | None, progress: bool, show_output: bool) -> None:
        """How the functions are run; refused where they cannot be."""
        apart = needs_processes(self._data, jobs(n_jobs) > 1)
        for one in [*self.functions, *(one for several in self.analyses.values() for one in several)]:
            portable(one, n_jobs, time_limit, apart)
        self._how: dict[str, Any] = {"n_jobs": n_jobs, "time_limit": time_limit, "progress": progress, "show_output": show_output, "apart": apart}

    def words(self, said: dict[str, Any], *, epsilon: Any, delta: Any, adjacency: str | None, confidence: str) -> dict[str, Any]:
        """The request in words, but for the account."""
        numbers: dict[str, Callable[..., str]] = {"range": decimals, "width": decimals, "rows": decimal, "trim": decimal, "bound": decimal, "rate": decimal, "size": decimal}
        words = {name: None if said[name] is None else write(said[name], name) for name, write in numbers.items()}
        return {
            "statistic": "subsample",
            "epsilon": decimal(epsilon, "epsilon"),
            "delta": decimal(delta, "delta"),
            "adjacency": adjacency,
            "blocks": said["blocks"],
            "unit": self.person,
            "mechanism": said["mechanism"],
            "confidence": confidence,
            "analyses": [{"name": name} for name in self.analyses],
            **{name: word for name, word in words.items() if word is not None},
            **_output(said["output"], said["default"], said["options"]),
        }

    def settings(self, request_id: str | None, time_limit: float | None) -> list[str]:
        """What else a request is: all that changes votes."""
        said = [_function(one, request_id) for one in self.functions]
        said += [f"then={name}:{_function(one, request_id)}" for name, several in self.analyses.items() for one in several]
        if self.types is not None:
            said.append(f"types={json.dumps(dict(self.types) if isinstance(self.types, Mapping) else self.types)}")
        if time_limit is not None:
            said.append(f"time_limit={decimal(time_limit, 'time_limit')}")
        return said

    def deal(self, ballot: _equipoise.Ballot) -> list[Any]:
        """Rows into blocks, after the charge."""
        return _deal(ballot, self.rows, self.people)

    def names(self) -> list[str | None] | None:
        """Whose each row is, of public rows."""
        return None if self.people is None else self.people.cells("text")

    def named(self, dealt: list[Any]) -> list[Any]:
        """The analysis that each block names."""
        return self.votes(self.functions, dealt, "label")

    def votes(self, functions: list[Callable[[Any], Any]], dealt: list[Any], output: str) -> list[Any]:
        """One vote for each block, which the functions take in turn."""
        votes: list[Any] = [None] * len(dealt)
        many = len(functions)
        for place, one in enumerate(functions):
            votes[place::many] = votes_of(one, Blocks(self._cut, dealt[place::many]), read=reader(output), **self._how)
        return votes


def _asked(data: Any) -> type[Asked]:
    """Whoever deals this data: here, or where it lies."""
    if not is_elsewhere(data):
        return Asked
    from ._elsewhere.blocks import AskedElsewhere

    return AskedElsewhere


def _functions(f: Any, what: str) -> list[Callable[[Any], Any]]:
    several = list(f) if isinstance(f, (list, tuple)) else [f]
    if not several or not all(map(callable, several)):
        raise DataError(f"{what} is not a function; give one that takes a block of the data, or a list of such")
    return several


def vote(
    words: dict[str, Any],
    deal: Callable[[_equipoise.Ballot], list[Any]],
    run: Callable[[list[Any]], list[Any]],
    *,
    ledger: Any = None,
    analyst: str | None = None,
    request_id: str | None = None,
    choose: Callable[[list[Any]], list[Any]] | None = None,
    chosen: Callable[[str, list[Any]], list[Any]] | None = None,
) -> Release:
    """Plan, pay, deal, run, count, in this order. What runs gives votes as :func:`reader` reads them.

    ``choose`` gives the analyses that blocks name, of which one is chosen privately, and ``chosen`` runs it on blocks dealt anew.
    """
    if importlib.util.find_spec("numpy") is None:
        raise RequestError("blocks are dealt with numpy; install it")
    books = _books.books(ledger, analyst)
    ballot = _planned(words, books)
    before = ballot.charge(books, request_id)
    if before is not None:
        return warned(Release._of_json(before))
    try:
        if choose is None or chosen is None:
            votes = run(deal(ballot))
        else:
            name = ballot.choose(choose(deal(ballot)))
            votes = chosen(name, deal(ballot))
    except KeyboardInterrupt:
        # Where it came may quote rows.
        raise Interrupted from None
    return warned(Release._of_json(recorded(lambda _: ballot.count(books, votes), charged=True)))


def _planned(words: dict[str, Any], books: _equipoise.Books) -> _equipoise.Ballot:
    said = dict(words)
    data, blocks = said.pop("data"), said.pop("blocks")

    def ballot(blocks: Any) -> _equipoise.Ballot:
        words = dict(said, blocks=None if blocks is None else decimal(blocks, "blocks"))
        return _equipoise.Ballot(books, data, json.dumps(words))

    counted = said.get("rows") is not None or said.get("mechanism") in COUNTED
    if blocks is not None or counted:
        return ballot(blocks)
    for fewer in _BLOCKS[:-1]:
        with contextlib.suppress(RequestError):
            return ballot(fewer)
    return ballot(_BLOCKS[-1])


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


def _output(output: str | None, default: Any, options: Sequence[str] | None) -> dict[str, Any]:
    """What blocks give, in words: as was said, or as the default and the options show."""
    labels = None if options is None else [str(option) for option in options]
    sets = output == "labels" or (output is None and _is_texts(default))
    if sets:
        if default is not None and not _is_texts(default):
            raise RequestError("default is not accepted; give a list of texts for labels")
        return {"output": "labels", "options": labels, "default": None if default is None else [str(one) for one in default]}
    if output == "label" or (output is None and (options is not None or isinstance(default, str))):
        return {"output": "label", "options": labels, "default": None if default is None else str(default)}
    if default is None:
        return {"output": "number" if output is None else output, "options": labels}
    with contextlib.suppress(TypeError, ValueError):
        single = isinstance(default, (int, float))
        numbers = [float(number) for number in ([default] if single else default)]
        if numbers and all(map(math.isfinite, numbers)):
            words = {"output": "number", "default": numbers[0]} if single else vector(numbers)
            return {**words, "output": words["output"] if output is None else output, "options": labels}
    raise RequestError("default is not accepted; give a finite number, a list of them, a text or a list of texts")


def _is_texts(default: Any) -> bool:
    return isinstance(default, (list, tuple, set, frozenset)) and all(isinstance(one, str) for one in default)


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
    readers: dict[str, Callable[[Any], Any]] = {"label": _label, "labels": _labels, "number": float}
    return readers.get(kind, _numbers)


def _label(value: Any) -> str | None:
    return text(value)


def _labels(value: Any) -> list[str]:
    """A set of labels; one text is a set of one."""
    return [str(text(one)) for one in ([value] if isinstance(value, str) else value)]


def _numbers(value: Any) -> list[float]:
    import numpy as np

    return [float(number) for number in np.ravel(value)]
