"""Any estimator of one's own, made right for whoever reacts to its answers."""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from typing import Any, Protocol

from . import _equipoise
from ._errors import DataError, EquipoiseError, RequestError
from ._monitor import _whole
from ._robust import _method
from ._wording import decimal


class Estimator(Protocol):
    """What :class:`Robust` makes copies of."""

    def update(self, item: Any, /) -> Any:
        """Follow one update."""

    def query(self) -> Any:
        """The answer about all updates so far: a number."""


class Robust:
    """Copies of any estimator behind a private median, right for whoever chooses updates after seeing answers (Algorithm B).

    ``make_copy`` makes one copy with fresh coins of its own: an object with ``update(item)`` and ``query()``. A copy is *oblivious* if it is
    right for updates that were fixed in advance; whoever reacts to its answers learns its coins and steers it into a mistake.
    What is answered here lies within ``alpha`` of the truth, all answers together except with probability ``beta``, if a copy is off
    by more than :attr:`copy_alpha` on fixed updates with probability at most :attr:`copy_failure`.

    ``queries``, ``copies``
        How many answers there will be, for which the proof says how many copies; or how many copies, for which it says how many answers.
    ``alpha``, ``error``, ``resolution``, ``highest``
        How far off answers may be: a share of the truth, which is never negative (``error="relative"``), or a number (``error="absolute"``).
        Answers are multiples of ``resolution`` (with an absolute error of an eighth of alpha) and at most ``highest``.
    ``failure``
        What you state of one copy: the chance to be off by more than :attr:`copy_alpha` at one moment of fixed updates. It must be
        as rare as the proof needs, else the error says how rare; the median of several estimators in one copy, or a larger sample,
        makes it so. Without it the sizes are the same and :attr:`guarantee` is ``"heuristic"``.
    ``method``, ``changes``
        ``"copies"``; or for a value that changes by a factor only ``changes`` times ``"switching"`` (one copy after another) and ``"flips"`` (an answer
        that stays until most copies disagree).
    ``keep``
        Keep all updates, so that copies are made anew on them when the answers of a phase are given, and there is no end of answers.

    >>> import random
    >>> import equipoise as eq
    >>> class Counter:
    ...     def __init__(self):
    ...         self.total = 0
    ...     def update(self, item):
    ...         self.total += item
    ...     def query(self):
    ...         return self.total
    >>> robust = eq.Robust(Counter, queries=10, alpha=0.2, failure=1e-300)
    >>> for item in range(100):
    ...     robust.update(item)
    >>> 4950 * 0.8 <= robust.query() <= 4950 * 1.2
    True
    >>> robust.guarantee, robust.queries_left
    ('proved', 9)
    """

    def __init__(
        self,
        make_copy: Callable[[], Estimator],
        *,
        queries: int | None = None,
        copies: int | None = None,
        alpha: Any = 0.2,
        beta: Any = 0.01,
        error: str = "relative",
        resolution: Any = None,
        highest: Any = None,
        failure: Any = None,
        method: str = "copies",
        changes: int | None = None,
        keep: bool = False,
    ) -> None:
        if not callable(make_copy):
            raise DataError("make_copy is not a function; give one that makes an estimator with update(item) and query()")
        _method(method, ("copies", "switching", "flips"))
        if queries is not None and copies is not None:
            raise RequestError("give queries= or copies=, not both: each follows from the other")
        if queries is None and copies is None:
            raise RequestError("give queries=, the number of answers, or copies=")
        if (changes is None) != (method == "copies"):
            raise RequestError("changes= is for switching and flips, which need it: how often the answer may change")
        if copies is not None and method != "copies":
            raise RequestError("copies= is for the method copies; switching and flips follow from queries= and changes=")
        if keep and method != "copies":
            raise RequestError("keep= is for the method copies")
        absolute = _error(error)
        self._unit = _unit(absolute, alpha, resolution)
        if absolute and highest is None:
            raise RequestError("highest= is missing: the largest size of an answer, for which an absolute error has to be counted")
        most = Decimal(2) ** 50 * self._unit if highest is None else _decimal(highest, "highest")
        units = int(math.ceil(most / self._unit))
        self._make, self._keep, self._name = make_copy, bool(keep), method
        self._core = _equipoise.Together(
            method,
            str(Decimal(8)) if absolute else str(decimal(alpha, "alpha")),
            str(decimal(beta, "beta")),
            None if queries is None else _whole(queries, "queries"),
            None if copies is None else _whole(copies, "copies"),
            1 if changes is None else _whole(changes, "changes"),
            units,
            absolute,
            _ln_inverse(failure),
            bool(keep),
        )
        self._absolute = absolute
        self._updates: list[Any] = []
        self._copies = self._made()

    def _made(self) -> list[Any]:
        copies = [self._make() for _ in range(self.copies)]
        for copy in copies:
            if not callable(getattr(copy, "update", None)) or not callable(getattr(copy, "query", None)):
                raise DataError("make_copy makes something without update(item) and query(); give an estimator that has both")
        if len(copies) > 1 and len({id(copy) for copy in copies}) < len(copies):
            raise DataError("make_copy gives the same object again; each copy needs coins of its own")
        return copies

    def update(self, item: Any) -> None:
        """One update, for every copy that may still be asked."""
        if self._keep:
            self._updates.append(item)
        first = self._core.facts[4][0] if self._name == "switching" else 0
        for copy in self._copies[first:]:
            copy.update(item)

    def query(self) -> float:
        """The answer about all updates so far."""
        if self._core.facts[5]:
            # A new phase has fresh coins in every copy, and begins on the present input.
            self._copies = self._made()
            for copy in self._copies:
                for item in self._updates:
                    copy.update(item)
        first, end = self._core.facts[4]
        says = [0] * len(self._copies)
        for place in range(first, end):
            says[place] = self._units(self._copies[place].query())
        return float(self._core.answer(says) * self._unit)

    def _units(self, said: Any) -> int:
        """What a copy says in whole units; what is no number counts as nothing, which is off."""
        try:
            number = float(said)
        except (TypeError, ValueError):
            return 0
        return round(Decimal(number) / self._unit) if math.isfinite(number) else 0

    @property
    def copies(self) -> int:
        """How many copies there are."""
        return int(self._core.facts[2])

    @property
    def queries_left(self) -> int:
        """How many answers are left, in this phase where phases follow one another."""
        return int(self._core.facts[0])

    @property
    def changes_left(self) -> int | None:
        """How often the answer may still change; ``None`` without a limit."""
        left: int | None = self._core.facts[1]
        return left

    @property
    def guarantee(self) -> str:
        """``proved``, if what was stated of a copy is true; or ``heuristic``."""
        return str(self._core.facts[3])

    @property
    def copy_failure(self) -> float:
        """How rarely a copy must be off by more than :attr:`copy_alpha` on fixed updates for the proof."""
        return math.exp(-self._core.needed[0])

    @property
    def copy_alpha(self) -> float:
        """How far off a copy may be and not count as off: a share, or a number where the error is absolute."""
        alpha = self._core.needed[1]
        return float(alpha * float(self._unit)) if self._absolute else float(alpha)

    def to_bytes(self) -> bytes:
        """The state, where copies can be pickled. It holds their coins: keep it secret, and go on from it once only."""
        try:
            held = pickle.dumps((self._copies, self._updates))
        except Exception as error:
            raise RequestError(f"the copies cannot be pickled ({type(error).__name__}); let them hold plain values") from None
        facts = (self._name, self.copies, self._core.needed, self._core.to_bytes(), str(self._unit), self._absolute, self._keep, held)
        return _MAGIC + pickle.dumps(facts)

    @classmethod
    def from_bytes(cls, state: bytes, make_copy: Callable[[], Estimator]) -> Robust:
        """Go on from a stored state of your own: it is a pickle, and reading a stranger's runs their code."""
        if not isinstance(state, (bytes, bytearray)) or not state.startswith(_MAGIC):
            raise RequestError("this is no stored Robust; give what to_bytes() gave, or begin anew")
        made = cls.__new__(cls)
        try:
            name, copies, needed, core, unit, absolute, keep, held = pickle.loads(state[len(_MAGIC) :])
            made._make, made._keep, made._name, made._absolute, made._unit = make_copy, keep, name, absolute, Decimal(unit)
            made._core = _equipoise.Together.from_bytes(name, copies, needed, core)
            made._copies, made._updates = pickle.loads(held)
        except EquipoiseError:
            raise
        except Exception as error:  # noqa: BLE001, whatever a torn pickle, or a class that is not there, raises
            raise RequestError(f"the stored Robust cannot be read ({type(error).__name__}); give all of it, where its classes are defined, or begin anew") from None
        if keep:
            # A phase that has answered is over: fresh coins, on the same input.
            made._copies = made._made()
            for copy in made._copies:
                for item in made._updates:
                    copy.update(item)
        return made

    def __reduce__(self) -> Any:
        # A pickle is easily read twice, and then the same coins answer twice.
        raise TypeError("a robust structure is stored by to_bytes() and read by from_bytes(), once")


_MAGIC = b"equipoise-robust-1\n"


def _error(error: str) -> bool:
    if error not in ("relative", "absolute"):
        raise RequestError("error is not accepted; give 'relative', a share of the truth, or 'absolute', a number")
    return error == "absolute"


def _unit(absolute: bool, alpha: Any, resolution: Any) -> Decimal:
    """What answers are multiples of: an eighth of an absolute error, so that rounding takes little of it."""
    if absolute:
        if resolution is not None:
            raise RequestError("resolution= is for a relative error; with an absolute one answers are multiples of an eighth of alpha")
        unit = _decimal(alpha, "alpha") / 8
    else:
        unit = _decimal(1 if resolution is None else resolution, "resolution")
    if not unit > 0:
        raise RequestError("alpha and resolution are not accepted; give numbers above 0")
    return unit


def _decimal(value: Any, name: str) -> Decimal:
    try:
        number = Decimal(decimal(value, name))
    except InvalidOperation:
        number = Decimal("NaN")
    if not number.is_finite():
        raise RequestError(f"{name} is not a number; give one such as 1 or 0.5", name)
    return number


def _ln_inverse(failure: Any) -> str | None:
    """ln(1/failure), rounded down."""
    if failure is None:
        return None
    chance = float(_decimal(failure, "failure"))
    if not 0 < chance < 1:
        raise RequestError("failure is not accepted; give a probability above 0 and below 1, such as 1e-30")
    return str(Decimal(-math.log(chance) * (1 - 1e-12)).quantize(Decimal("0.000001"), rounding="ROUND_DOWN"))
