"""Mechanisms by name: what calibration derives, how they behave on public data, and attacks on their claims."""

from __future__ import annotations

import json
import re
from typing import Any

from . import _books, _equipoise
from ._ask import Question
from ._data import is_path
from ._errors import RequestError
from ._release import warn
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


def simulate(statistic: str, data: Any, column: str | None = None, *, trials: int = 1000, progress: bool = False, **keywords: Any) -> Simulation:
    """A question asked many times about public or made-up data, each time with fresh noise; nothing is charged.

    Keywords as of the statistic itself; ``progress`` shows for how long it is running. A file that a ledger knows is refused: simulating on private rows publishes them.

    >>> import equipoise as eq
    >>> outcome = eq.simulate("median", list(range(1000)), trials=100, epsilon=1)
    >>> len(outcome.values)
    100
    >>> outcome.series[0]["truth"]
    499.0
    """
    if isinstance(trials, bool) or not isinstance(trials, int) or not 0 <= trials <= 10_000_000:
        raise RequestError("trials is not accepted; give a whole number up to ten million")
    ledger = keywords.pop("ledger", None)
    if is_path(data) and _equipoise.known_as(data, ledger) is not None:
        raise RequestError("this file is registered in a ledger; simulate on public or made-up data only")
    books = _equipoise.Books(None, None)
    question = Question(statistic, data, column, books=books, name="simulation", **keywords)
    with clock(progress, "trials"):
        return Simulation(statistic, *question.simulate(trials))


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
