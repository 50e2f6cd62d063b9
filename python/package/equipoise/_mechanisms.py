"""Mechanisms by name: what calibration derives, how they behave on public data, and attacks on their claims."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from inspect import signature
from typing import Any, Literal, overload

from . import _books, _equipoise, _graph, _own, _programs, _subsample
from ._ask import Question
from ._data import is_path
from ._errors import RequestError
from ._release import warn
from ._remote import RemoteData, RemoteQuestion
from ._wording import decimals
from ._workers import clock


def calibrate(name: str, **parameters: Any) -> dict[str, Any]:
    """Every number that a mechanism derives from its parameters: scale, threshold, cost, error.

    Numbers are given as floats, rounded in the direction that is safe; ``cost`` is a sentence. See :func:`mechanisms` for
    names and parameters; parameters of several words are written with underscores, as ``test_share``. An epsilon above 10, or a
    delta above one over ``rows``, is said as a :class:`PrivacyWarning`.

    >>> import equipoise as eq
    >>> eq.calibrate("laplace", epsilon=0.5, sensitivity=1)["scale"]
    2.0
    """
    pairs = [(key.replace("_", "-"), _text(value, key)) for key, value in parameters.items() if value is not None]
    try:
        found: dict[str, Any] = json.loads(_equipoise.calibrate(name.replace("_", "-"), pairs))
    except RequestError as error:
        raise RequestError(_as_keywords(str(error))) from None
    given = dict(pairs)
    warn(_equipoise.cautions(given.get("epsilon", "0"), given.get("delta", "0"), "row", given.get("rows")))
    return {key: value if key == "mechanism" else _number(value) for key, value in found.items()}


def _as_keywords(text: str) -> str:
    """Parameters as Python writes them: ``test-share`` becomes ``test_share``; names of mechanisms stay."""
    names = {one["name"] for entry in json.loads(_equipoise.mechanisms()) for one in entry["parameters"]}
    several = sorted((name for name in names if "-" in name), key=len, reverse=True)
    pattern = r"(?<![\w-])(" + "|".join(several) + r")(?![\w-])"
    return re.sub(pattern, lambda found: found[0].replace("-", "_"), text)


def _text(value: Any, name: str) -> str:
    return str(value).lower() if isinstance(value, bool) else decimals(value, name)


def _number(value: Any) -> Any:
    if isinstance(value, dict):
        return value["text"] if "text" in value else {int(key): _number(one) for key, one in value.items()}
    numerator, _, denominator = value.partition("/")
    return float(numerator) / float(denominator) if denominator else float(numerator)


def mechanisms() -> dict[str, dict[str, Any]]:
    """Every mechanism that can be calibrated: what it does, and its parameters.

    >>> import equipoise as eq
    >>> "laplace" in eq.mechanisms()
    True
    """
    entries = json.loads(_equipoise.mechanisms())
    for parameter in (parameter for entry in entries for parameter in entry["parameters"]):
        parameter["name"] = parameter["name"].replace("-", "_")
        parameter["about"] = _as_keywords(parameter["about"])
    return {entry.pop("name"): entry for entry in entries}


class Simulation:
    """Outcomes of many trials on public data. Nothing was charged, and nothing here may be published as private."""

    def __init__(
        self,
        statistic: str,
        values: list[Any],
        errors: list[dict[str, Any] | None],
        series: list[dict[str, Any]],
    ) -> None:
        #: What was asked for.
        self.statistic = statistic
        #: One outcome for each trial; ``None`` where it was refused, a list of dicts where there are groups.
        self.values = values
        #: The error bar of each outcome; ``None`` where it was refused, and where each group has its own.
        self.errors = errors
        #: One dict for each number or text of the answers (each quantile, part of a summary, key): in how many trials it was
        #: ``told`` and ``refused``, its ``median`` and the ``nine_of_ten_between`` (for texts the ``answers`` and how often
        #: each came), the ``truth`` of these rows, and how many error ``bars`` held.
        self.series = series

    @property
    def released(self) -> list[Any]:
        """The values without the refusals."""
        return [value for value in self.values if value is not None]

    @property
    def refusals(self) -> int:
        """How many trials were refused."""
        return len(self.values) - len(self.released)

    def __len__(self) -> int:
        return len(self.values)

    def __repr__(self) -> str:
        return f"<simulation of {self.statistic}: {len(self)} trials, {self.refusals} refused; not private>"


class Rehearsal:
    """A function or program on blocks of public rows. Nothing was charged, and nothing here may be published as private.

    ``print`` shows all of it in words; ``details`` has every number.
    """

    def __init__(self, details: dict[str, Any], words: str) -> None:
        #: All that was seen, as the command line prints it with ``--json``.
        self.details = details
        self._words = words

    @property
    def values(self) -> list[Any]:
        """One outcome for each trial; ``None`` where it was refused."""
        values: list[Any] = self.details["answers"]
        return values

    @property
    def refusals(self) -> int:
        """How many trials were refused."""
        return int(self.details["refused"])

    @property
    def all_rows(self) -> Any:
        """What is answered of all rows; ``None`` where there was no answer."""
        return self.details["all_rows"]

    @property
    def error(self) -> dict[str, float] | None:
        """How far numbers are from that of all rows: the ``median`` error, and what ``nine_of_ten`` stay within."""
        return self.details.get("error")

    @property
    def bias(self) -> Any:
        """How far the mean of the blocks' numbers is from that of all rows: what the size of blocks does, which no error bar covers."""
        return self.details["block_answers"].get("bias")

    @property
    def stability(self) -> dict[str, float]:
        """The share of samples that answer as all rows do: with each row at a ``rate`` (q-stability), and of a ``size`` with repetition
        (m-stability). The texts ask for 0.75."""
        shares = {}
        for one in self.details["stability"]:
            shares["rate" if "rate" in one else "size"] = one["agree"] / max(one["samples"], 1)
        return shares

    def __len__(self) -> int:
        return len(self.values)

    def __str__(self) -> str:
        return self._words

    def __repr__(self) -> str:
        return f"<simulation of {self.details['statistic']}: {len(self)} trials, {self.refusals} refused; not private>"


@overload
def simulate(
    statistic: Literal["subsample", "run_program"], data: Any, column: Any = None, *, trials: int = 1000, progress: bool = False, **keywords: Any
) -> Rehearsal: ...
@overload
def simulate(
    statistic: str, data: Any, column: Any = None, *, trials: int = 1000, progress: bool = False, **keywords: Any
) -> Simulation: ...
def simulate(
    statistic: str,
    data: Any,
    column: Any = None,
    *,
    trials: int = 1000,
    progress: bool = False,
    **keywords: Any,
) -> Simulation | Rehearsal:
    """A question asked many times about public or made-up data, each time with fresh noise; nothing is charged.

    Keywords as of the statistic itself; ``progress`` shows for how long it is running. A file that a ledger knows is refused: simulating on private rows publishes them.
    Data behind a server (:func:`connect`) is simulated there, at most 1000 trials, on rows that are made up from the names and types of its columns.

    ``simulate("subsample", f, rows, ...)`` and ``simulate("run_program", program, rows, ...)`` deal public rows into blocks three times and show
    how often the answer is refused, how far it is from that of all rows, how stable the function is on samples, and what other sizes
    of blocks do: a :class:`Rehearsal`.

    ``simulate("graph", edges, "triangles", adjacency="edge", ...)`` counts in a public graph as :func:`graph` does, and
    ``simulate("choose", scores, options, public_rows=rows, sensitivity=...)`` chooses as :func:`choose` does, whose function is then run on these rows
    once and in the open.

    >>> import equipoise as eq
    >>> outcome = eq.simulate("median", list(range(1000)), trials=100, epsilon=1)
    >>> len(outcome.values)
    100
    >>> outcome.series[0]["truth"]
    499.0
    """
    if isinstance(trials, bool) or not isinstance(trials, int) or not 0 <= trials <= 10_000_000:
        raise RequestError("trials is not accepted; give a whole number up to ten million")
    if isinstance(data, RemoteData):
        with clock(progress, "trials"):
            return Simulation(statistic, *RemoteQuestion(statistic, data, column, **keywords).simulate(trials))
    ledger = keywords.pop("ledger", None)
    on_blocks = statistic in ("subsample", "run_program")
    rows: Any = column if on_blocks else keywords.get("public_rows") if statistic == "choose" else data
    if is_path(rows) and _equipoise.known_as(rows, ledger) is not None:
        raise RequestError("this file is registered in a ledger; simulate on public or made-up data only")
    if on_blocks:
        return _rehearsed(statistic, data, rows, trials, dict(keywords, progress=progress))
    if statistic in _OWN:
        _check_keywords(statistic, keywords)
        with clock(progress, "trials"):
            return Simulation(statistic, *_OWN[statistic](data, column, trials, **keywords))
    books = _equipoise.Books(None, None)
    question = Question(statistic, data, column, books=books, name="simulation", **keywords)
    with clock(progress, "trials"):
        return Simulation(statistic, *question.simulate(trials))


#: Counts of graphs and choices by scores of one's own.
_OWN: dict[str, Callable[..., tuple[list[Any], list[dict[str, Any] | None], list[dict[str, Any]]]]] = {"graph": _graph.rehearse, "choose": _own.rehearse_choice}


def _check_keywords(statistic: str, keywords: dict[str, Any]) -> None:
    """All that has to be said is there, and nothing that is only for answers that are charged."""
    known = {name: one for name, one in signature(_OWN[statistic]).parameters.items() if one.kind is one.KEYWORD_ONLY}
    for name in keywords:
        if name not in known:
            raise RequestError(f"a simulation of {statistic} takes no keyword '{name}'; see help(equipoise.{statistic})")
    for name, one in known.items():
        if one.default is one.empty and name not in keywords:
            raise RequestError(f"a simulation of {statistic} needs {name}=; see help(equipoise.{statistic})", name)


#: So often rows are dealt: each time the function runs on every block, while noise is drawn for every trial.
_DEALS = 3


def _rehearsed(statistic: str, f: Any, rows: Any, trials: int, keywords: dict[str, Any]) -> Rehearsal:
    if rows is None:
        raise RequestError(f'what to run it on is missing; give simulate("{statistic}", f, rows, ...)')
    if statistic == "run_program":
        return Rehearsal(*_programs.rehearse_program(f, rows, trials, keywords))
    return Rehearsal(*_subsample.rehearse(f, rows, trials, _DEALS, keywords))


def audit(name: str) -> list[dict[str, Any]]:
    """Attack the privacy claims whose names have this text in them, exactly: measured delta beside the claim.

    >>> import equipoise as eq
    >>> [finding["verdict"] for finding in eq.audit("laplace-vector")]  # doctest: +SKIP
    ['holds']
    """
    found: list[dict[str, Any]] = json.loads(_equipoise.audit(name))
    return found


def audits() -> list[dict[str, Any]]:
    """Every audit: its name, whether it is a claim or broken on purpose, and what it is about."""
    found: list[dict[str, Any]] = json.loads(_equipoise.audits())
    return found
