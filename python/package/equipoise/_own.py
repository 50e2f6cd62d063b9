"""Your own analysis: a value that you compute, and what you know of it.

Each call is planned and charged, then your function is run, then the answer is drawn with exact noise and recorded. What you state is
part of the release: nobody checks it but :func:`refute`, and the promise rests on it.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from . import _books, _equipoise
from ._ask import one_of
from ._data import is_path, length_of
from ._errors import DataError, Interrupted, RequestError
from ._quiet import hush, is_interrupt, recorded, settle
from ._refute import Refutation, refute
from ._release import Release, warn, warned
from ._subsample import _confidence, _function
from ._wording import decimal

_Path = str | os.PathLike[str]
#: Made-up rows that statements are tried on where nothing else is said.
_FEW = (0, 1)


class _Call:
    """One call: its words, its books, and the function that is run between the charge and the answer."""

    def __init__(self, statistic: str, said: dict[str, Any], **words: Any) -> None:
        self.said = said
        self.data = said["data"]
        person = one_of("unit", said["unit"], "privacy_unit", said["privacy_unit"])
        self.request_id = said["request_id"]
        self.words = {
            "statistic": statistic,
            "epsilon": decimal(said["epsilon"], "epsilon"),
            "delta": decimal(said["delta"], "delta"),
            "adjacency": said["adjacency"],
            "unit": person,
            "confidence": _confidence(said["confidence"], said["alpha"]),
            "rate": None if said["rate"] is None else decimal(said["rate"], "rate"),
            **{word: value for word, value in words.items() if value is not None},
        }
        named = not (said["ledger"] is None and not is_path(self.data))
        if named:
            charged = _books.charged(self.data, said["ledger"], said["name"], said["apart"])
            self.account, self.books = charged.name, charged.open(said["analyst"])
        else:
            _books.check_request_id(self.request_id)
            if said["apart"]:
                raise RequestError("apart= is for files, which a limit elsewhere can cover; leave it out")
            adjacency = said["adjacency"] or "add-remove"
            self.account, self.books = _books.odometer(adjacency, person), _books.books(None, said["analyst"])
        if said["rate"] is not None and (self.data is None or is_path(self.data)):
            raise RequestError("a sample is drawn of rows in memory; give data= and functions of it")

    def tells(self, *functions: Any) -> None:
        """What the functions are is part of the request. Of a sample everything is computed anew."""
        if self.said["rate"] is not None and not all(callable(f) for f in functions):
            raise RequestError("rate= is for functions of data, which are run on the sample; a number is of all rows", "rate")
        known = [_function(f, self.request_id) for f in functions if callable(f)]
        if known:
            self.words["settings"] = known

    def try_to_refute(self, f: Any, **statement: Any) -> None:
        """Before anything is charged, where a function and rows are given: a counterexample is an error, for free."""
        made_up = self.said["made_up"]
        if not callable(f) or self.data is None or is_path(self.data) or (made_up is not None and len(made_up) == 0):
            return
        like = _like(self.data)
        if like is None and made_up is None:
            return
        adjacency = self.said["adjacency"] or "add-remove"
        rows = _FEW if made_up is None else made_up
        found: Refutation | None = None
        failed = False
        with hush(not self.said["show_output"]):
            try:
                found = refute(f, made_up=rows, like=like or list, adjacency=adjacency, size=3, **statement)
            except Exception:  # noqa: BLE001, what it says is somebody's
                failed = True
        # It may be about other rows than these; about those that were given it is not.
        if failed and made_up is not None:
            raise RequestError("the function fails on made-up rows; give others, or made_up=() to try none", "made_up")
        if found is not None:
            how = "if no such rows can occur, give made_up= some that can, or made_up=() to search nothing"
            raise RequestError(f"what is stated is wrong, and nothing was charged. {found}; {how}")

    def release(self, compute: Callable[[_equipoise.Stated, Any], Any]) -> Release:
        """Plan, pay, compute, answer, in this order. ``compute`` gives what :meth:`Stated.answer` takes."""

        def answer(stated: _equipoise.Stated, rows: Any) -> str:
            found = self._computed(lambda: compute(stated, rows))
            return recorded(lambda _: stated.answer(self.books, found), charged=True)

        return self._paid(answer)

    def _paid(self, answer: Callable[[_equipoise.Stated, Any], str]) -> Release:
        stated = _equipoise.Stated(self.books, self.account, json.dumps(self.words))
        before = warn(stated.warnings)
        earlier = stated.charge(self.books, self.request_id)
        if earlier is not None:
            return warned(Release._of_json(earlier), before)
        rows = self.data
        if self.said["rate"] is not None:
            rows = self._computed(lambda: _taken(self.data, stated.sample(length_of(self.data))))
        return warned(Release._of_json(answer(stated, rows)), before)

    def subsets(self, f: Callable[[Any], Any]) -> Release:
        """The same for a function that is called on subsets."""

        def answer(stated: _equipoise.Stated, rows: Any) -> str:
            def call(places: list[int]) -> float | None:
                found = self._computed(lambda: float(f(_taken(rows, places))))
                return found if isinstance(found, float) else None

            return recorded(lambda _: stated.answer_subsets(self.books, length_of(rows), call), charged=True)

        return self._paid(answer)

    def _computed(self, work: Callable[[], Any]) -> Any:
        """What somebody's code gives, in silence; nothing where it failed, whatever it raised."""
        found, interrupted = None, False
        try:
            with hush(not self.said["show_output"]):
                try:
                    found = work()
                except BaseException as error:  # noqa: BLE001, it may quote rows
                    interrupted = is_interrupt(error)
        finally:
            settle()
        if interrupted:
            raise Interrupted from None
        return found


def _like(data: Any) -> Callable[[list[Any]], Any] | None:
    """What makes data of made-up rows look like real data, as far as its type is public and simple."""
    if isinstance(data, list):
        return list
    if isinstance(data, tuple):
        return tuple
    if type(data).__module__ == "numpy" and getattr(data, "ndim", 0) == 1:
        import numpy as np

        return np.array
    return None


def _taken(data: Any, places: list[int]) -> Any:
    """Some rows of the data."""
    if hasattr(data, "iloc"):
        return data.iloc[places]
    if isinstance(data, (list, tuple)):
        return type(data)(data[place] for place in places)
    return data[places]


def _value(value: Any, rows: Any) -> Any:
    return value(rows) if callable(value) else value


def _plain(value: Any) -> Any:
    """What is released as it is: texts, numbers, yes and no, lists of them."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    json.dumps(value, allow_nan=False)
    return value


def _steps(value: Any) -> int | None:
    """A whole number from zero on, or nothing for infinity. ``None`` is what a function without a ``return`` gives."""
    if value is None:
        raise ValueError("no number of rows")
    if value == math.inf:
        return None
    steps = int(value)
    if steps != value or steps < 0:
        raise ValueError("no number of rows")
    return min(steps, 2**63)


def _list(values: Any) -> list[float]:
    return [float(value) for value in values]


def _check(data: Any, *functions: Any) -> None:
    if data is None and any(callable(f) for f in functions):
        raise RequestError("a function is given and no data; give data=, of which it is run behind the charge", "data")


def noise(
    value: Any,
    *,
    sensitivity: Any,
    epsilon: Any,
    delta: Any = 0,
    norm: str | None = None,
    size: int | None = None,
    grid: Any = None,
    mechanism: str | None = None,
    data: Any = None,
    adjacency: str | None = None,
    privacy_unit: str | None = None,
    unit: str | None = None,
    confidence: Any = None,
    alpha: Any = None,
    rate: Any = None,
    made_up: Sequence[Any] | None = None,
    show_output: bool = False,
    ledger: _Path | None = None,
    name: str | None = None,
    analyst: str | None = None,
    apart: bool = False,
    request_id: str | None = None,
) -> Release:
    """A number, or a vector, with exact Laplace or Gaussian noise at the sensitivity that you state.

    ``value``
        A number, a list of numbers, or a function of ``data`` that gives one, which is run behind the charge. Of a list the length is
        public; a function that gives a vector says its length as ``size``.
    ``sensitivity``, ``norm``
        The most that one person moves the value: of a vector in ``"l1"`` or ``"l2"``. Floats are taken exactly, so what your own
        arithmetic rounds belongs to it.
    ``grid``
        States that all values are multiples of this, such as 1 for counts; answers then are too. Without it values are rounded to a lattice
        far finer than the sensitivity, which the noise covers.
    ``mechanism``
        ``"laplace"``, or with a delta ``"gaussian"``; otherwise the one with the smaller error.
    ``data``, ``ledger``, ``name``, ``analyst``, ``apart``, ``request_id``
        The rows that functions are run on, and whose budget is charged: a path is charged to the ledger beside it, rows in memory to
        ``ledger`` under ``name``, or without one to this process (:func:`spent`).
    ``privacy_unit``, ``unit``
        States that everything is meant for all rows of one person, whom this column names.
    ``rate``
        As :func:`sampled`.
    ``made_up``
        Rows that can occur, made up by you, on which :func:`refute` tries the statement before the charge where there is a function of
        data: 0 and 1 if you say nothing and ``data`` is a list or an array, none for ``()``. A counterexample is an error and
        free.
    ``show_output``
        What your function prints may quote rows, so that it is swallowed; ``True`` shows it. Whatever it raises is one fixed line.

    >>> import equipoise as eq
    >>> release = eq.noise(4200, sensitivity=1, epsilon=0.5, grid=1)
    >>> release.to_dict()["stated"][0]
    'sensitivity 1, as stated by the caller'
    >>> eq.noise(sum, data=[0, 1, 1], sensitivity=1, epsilon=0.5, grid=1).mechanism
    'laplace'
    """
    said = locals()
    _check(data, value)
    vector = size is not None or not (callable(value) or _is_number(value))
    count = size if size is not None else (len(list(value)) if vector else None)
    call = _Call(
        "noise",
        said,
        sensitivity=decimal(sensitivity, "sensitivity"),
        norm=norm,
        dimensions=count,
        grid=None if grid is None else decimal(grid, "grid"),
        mechanism=mechanism,
    )
    call.tells(value)
    call.try_to_refute(value, sensitivity=sensitivity, norm=norm)

    def compute(_: Any, rows: Any) -> Any:
        found = _value(value, rows)
        return "null", _list(found) if vector else [float(found)], None

    return call.release(compute)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) or (hasattr(value, "__float__") and not hasattr(value, "__len__"))


def choose(
    scores: Any,
    options: Sequence[Any] | None = None,
    *,
    sensitivity: Any,
    epsilon: Any,
    monotone: bool = False,
    base: Any = None,
    mechanism: str | None = None,
    noise: str | None = None,
    data: Any = None,
    delta: Any = 0,
    adjacency: str | None = None,
    privacy_unit: str | None = None,
    unit: str | None = None,
    confidence: Any = None,
    alpha: Any = None,
    rate: Any = None,
    made_up: Sequence[Any] | None = None,
    show_output: bool = False,
    ledger: _Path | None = None,
    name: str | None = None,
    analyst: str | None = None,
    apart: bool = False,
    request_id: str | None = None,
) -> Release:
    """One of some public options whose score is nearly the highest.

    ``scores``
        A dictionary of options and their scores; a list of scores of the ``options``; or a function ``score(option, data)``, which is run
        behind the charge.
    ``sensitivity``, ``monotone``
        The most that one person moves any one score; and whether all scores always move the same way between neighbours, as counts
        do when somebody comes or goes, which halves the error.
    ``base``
        Public weights of the options, a dictionary or a list: the exponential mechanism over that measure.
    ``mechanism``, ``noise``
        ``"permute-and-flip"`` (without a word), ``"exponential"``, or ``"noisy-max"`` with ``"exponential"``, ``"gumbel"`` or ``"laplace"``
        noise.

    The bar says how much more the best option scores at most. Other keywords are those of :func:`noise`.

    >>> import equipoise as eq
    >>> bids = [1, 1, 1, 3.01] * 250
    >>> def revenue(price, bids):
    ...     return price * sum(bid >= price for bid in bids)
    >>> release = eq.choose(revenue, [1, 2, 3], data=bids, sensitivity=3, monotone=True, epsilon=1, made_up=[1, 3])
    >>> release.value in (1, 2, 3), release.error["kind"]
    (True, 'score')
    """
    said = locals()
    if isinstance(scores, Mapping):
        if options is not None:
            raise RequestError("a dictionary of scores names the options; leave out options=")
        options, scores = list(scores.keys()), list(scores.values())
    elif callable(scores):
        _check(data, scores)
        if options is None:
            raise RequestError("a function of (option, data) needs the options; give them as a list")
    else:
        scores = list(scores)
        options = list(range(len(scores))) if options is None else options
    among = [_plain(option) for option in options]
    weights = [base[option] for option in options] if isinstance(base, Mapping) else base
    call = _Call(
        "choose",
        said,
        sensitivity=decimal(sensitivity, "sensitivity"),
        options=among,
        monotone=bool(monotone),
        base=None if weights is None else [decimal(weight, "base") for weight in weights],
        mechanism=mechanism,
        noise=noise,
    )
    call.tells(scores)
    call.try_to_refute(scores, sensitivity=sensitivity, options=list(options), monotone=monotone)

    def compute(_: Any, rows: Any) -> Any:
        found = [scores(option, rows) for option in options] if callable(scores) else scores
        return "null", _list(found), None

    return call.release(compute)


def stable(
    value: Any,
    *,
    rows_to_change: Any,
    epsilon: Any,
    delta: Any,
    data: Any = None,
    adjacency: str | None = None,
    privacy_unit: str | None = None,
    unit: str | None = None,
    confidence: Any = None,
    alpha: Any = None,
    rate: Any = None,
    made_up: Sequence[Any] | None = None,
    show_output: bool = False,
    ledger: _Path | None = None,
    name: str | None = None,
    analyst: str | None = None,
    apart: bool = False,
    request_id: str | None = None,
) -> Release:
    """The exact value, where many rows would have to change before it does; otherwise a refusal.

    ``value``
        A text, a number, a list; or a function of ``data`` that gives one.
    ``rows_to_change``
        How many rows must change before the value is another one, from one on (``math.inf`` for never): a number, or a function of
        ``data``. Less than the true number is as good, as long as one person moves it by at most one.

    Other keywords are those of :func:`noise`.

    >>> import equipoise as eq
    >>> eq.stable("yes", rows_to_change=900, epsilon=1, delta=1e-6).value
    'yes'
    """
    said = locals()
    _check(data, value, rows_to_change)
    call = _Call("stable", said)
    call.tells(value, rows_to_change)
    if callable(rows_to_change):
        call.try_to_refute(value, rows_to_change=rows_to_change)

    def compute(_: Any, rows: Any) -> Any:
        return json.dumps(_plain(_value(value, rows))), [], _steps(_value(rows_to_change, rows))

    return call.release(compute)


def propose_test_release(
    value: Any,
    *,
    distance: Any,
    epsilon: Any,
    delta: Any,
    bound: Any = None,
    inner: tuple[Any, Any] | None = None,
    grid: Any = None,
    data: Any = None,
    adjacency: str | None = None,
    privacy_unit: str | None = None,
    unit: str | None = None,
    confidence: Any = None,
    alpha: Any = None,
    rate: Any = None,
    made_up: Sequence[Any] | None = None,
    show_output: bool = False,
    ledger: _Path | None = None,
    name: str | None = None,
    analyst: str | None = None,
    apart: bool = False,
    request_id: str | None = None,
) -> Release:
    """A value with little noise, or what a mechanism of your own answers, where the data is far from being unsafe; otherwise a refusal.

    ``value`` with ``bound``
        A number, or a function of ``data`` that gives one; data is unsafe where one person moves it by more than ``bound``. Half of
        epsilon is for the test, half for Laplace noise at the bound. ``grid`` as in :func:`noise`.
    ``value`` with ``inner``
        A function of ``data`` that is private by itself on safe data, where it loses at most ``inner``, a pair of epsilon and delta; the
        test takes what is left of ``epsilon`` and ``delta``. Its answer is released as it is, without an error bar. It is run in any case,
        also where the test then refuses.
    ``distance``
        How many rows must change before the data is unsafe, from zero on: a number, or a function of ``data``.

    Other keywords are those of :func:`noise`.

    >>> import equipoise as eq
    >>> release = eq.propose_test_release(31.5, distance=400, bound=0.1, epsilon=1, delta=1e-6)
    >>> release.refused
    False
    """
    said = locals()
    _check(data, value, distance)
    call = _Call(
        "propose-test-release",
        said,
        bound=None if bound is None else decimal(bound, "bound"),
        inner=None if inner is None else [decimal(part, "inner") for part in inner],
        grid=None if grid is None else decimal(grid, "grid"),
    )
    call.tells(value, distance)
    if callable(distance):
        call.try_to_refute(value, distance=distance, bound=bound)

    def compute(_: Any, rows: Any) -> Any:
        found, steps = _value(value, rows), _steps(_value(distance, rows))
        if inner is not None:
            return json.dumps(_plain(found)), [], steps
        return "null", [float(found)], steps

    return call.release(compute)


def smooth(
    value: Any,
    *,
    local: Any,
    range: tuple[Any, Any],
    epsilon: Any,
    delta: Any = 0,
    noise: str | None = None,
    beta: Any = None,
    distances: int | None = None,
    mechanism: str | None = None,
    data: Any = None,
    adjacency: str | None = None,
    privacy_unit: str | None = None,
    unit: str | None = None,
    confidence: Any = None,
    alpha: Any = None,
    rate: Any = None,
    made_up: Sequence[Any] | None = None,
    show_output: bool = False,
    ledger: _Path | None = None,
    name: str | None = None,
    analyst: str | None = None,
    apart: bool = False,
    request_id: str | None = None,
) -> Release:
    """A value in a range with noise that follows how far one person can move it near these rows; never a refusal.

    ``value``
        A number, or a function of ``data`` that gives one. It is moved into ``range``.
    ``local``
        The local sensitivity at distance k, the most that one person moves the value after k others have changed: a list for k = 0, 1, 2
        and so on; a function ``local(k)``; or with ``data`` a function ``local(data, k)``. Where a list ends the whole range counts, so
        a list must not end earlier on some rows than on others.
    ``distances``
        How many distances are looked at, a public number (1000 at most if you say nothing).
    ``mechanism``, ``noise``, ``beta``
        With a delta ``"released-scale"``: the smooth bound is released with noise, and makes an error bar that follows the data.
        ``"smooth"`` keeps it private, so that its bar is the widest of all: ``"cauchy"``, ``"student-t"`` or ``"poly-place"`` noise for
        epsilon alone, ``"laplace"`` with a delta. ``beta`` is how fast the bound may change between neighbours.

    Other keywords are those of :func:`noise`.

    >>> import equipoise as eq
    >>> release = eq.smooth(37.0, local=lambda k: 0.1 * (k + 1), range=(0, 120), epsilon=1, delta=1e-6)
    >>> release.mechanism
    'released-scale'
    """
    said = locals()
    _check(data, value)
    call = _Call(
        "smooth",
        said,
        range=",".join(decimal(end, "range") for end in range),
        noise=noise,
        beta=None if beta is None else decimal(beta, "beta"),
        distances=distances,
        mechanism=mechanism,
    )
    call.tells(value, local)
    if callable(local) and data is not None:
        low, high = (float(end) for end in range)
        # What is stated is about the value as it is moved into the range.
        moved = (lambda rows: min(max(float(value(rows)), low), high)) if callable(value) else value
        call.try_to_refute(moved, local=local)

    def compute(stated: _equipoise.Stated, rows: Any) -> Any:
        wanted = stated.wanted
        if not callable(local):
            known = _list(local)[:wanted]
        elif data is None:
            known = _list(local(k) for k in _places(wanted))
        else:
            known = _list(local(rows, k) for k in _places(wanted))
        return "null", [float(_value(value, rows)), *known], None

    return call.release(compute)


_places = range


def bounded_local_sensitivity(
    value: Any,
    local: Any,
    *,
    sensitivity: Any,
    epsilon: Any,
    delta: Any,
    ceiling: Any = None,
    grid: Any = None,
    data: Any = None,
    adjacency: str | None = None,
    privacy_unit: str | None = None,
    unit: str | None = None,
    confidence: Any = None,
    alpha: Any = None,
    rate: Any = None,
    made_up: Sequence[Any] | None = None,
    show_output: bool = False,
    ledger: _Path | None = None,
    name: str | None = None,
    analyst: str | None = None,
    apart: bool = False,
    request_id: str | None = None,
) -> Release:
    """A noisy upper bound on how far one person moves the value here, and the value with Laplace noise at that bound.

    ``value``, ``local``
        Numbers, or functions of ``data``: the value, and the most that one person moves it from here.
    ``sensitivity``
        The most that one person moves ``local`` itself: 1 for the triangles of a graph whose edges are private.
    ``ceiling``
        States that no change anywhere moves the value farther than this, so that no bound is larger. Without it a bound beyond 2^40 steps
        refuses.
    ``grid``
        States that value and local sensitivity are multiples of this, as in :func:`noise`.

    The error bar follows from the released bound. Other keywords are those of :func:`noise`.

    >>> import equipoise as eq
    >>> release = eq.bounded_local_sensitivity(1200, 4, sensitivity=1, grid=1, ceiling=98, epsilon=2, delta=1e-6)
    >>> "the released bound on the local sensitivity is" in repr(release)
    True
    """
    said = locals()
    _check(data, value, local)
    call = _Call(
        "bounded-local-sensitivity",
        said,
        sensitivity=decimal(sensitivity, "sensitivity"),
        ceiling=None if ceiling is None else decimal(ceiling, "ceiling"),
        grid=None if grid is None else decimal(grid, "grid"),
    )
    call.tells(value, local)
    if callable(local):
        call.try_to_refute(value, local=local, sensitivity=sensitivity)

    def compute(_: Any, rows: Any) -> Any:
        return "null", [float(_value(value, rows)), float(_value(local, rows))], None

    return call.release(compute)


def shifted_inverse(
    least_after: Any,
    *,
    epsilon: Any,
    range: tuple[Any, Any] | None = None,
    step: Any = None,
    answers: Sequence[Any] | None = None,
    delta: Any = 0,
    data: Any = None,
    adjacency: str | None = None,
    privacy_unit: str | None = None,
    unit: str | None = None,
    confidence: Any = None,
    alpha: Any = None,
    rate: Any = None,
    made_up: Sequence[Any] | None = None,
    show_output: bool = False,
    ledger: _Path | None = None,
    name: str | None = None,
    analyst: str | None = None,
    apart: bool = False,
    request_id: str | None = None,
) -> Release:
    """A value that a function comes down to when a few rows are removed, for functions that never fall when a row is added.

    ``least_after``
        The least value that is left after at most k removed rows: a list for k = 0, 1, 2 and so on, whose last entry stands for all later
        ones; a function of k; or with ``data`` a function ``least_after(data, k)``.
    ``range`` with ``step``, or ``answers``
        What can be answered, in growing order; nothing may be left of the function below the first answer when no row is left.

    Other keywords are those of :func:`noise`; no bound on single rows is needed.

    >>> import equipoise as eq
    >>> spent = list(range(1, 1001))
    >>> def largest(amounts, k):
    ...     return sorted(amounts, reverse=True)[k] if k < len(amounts) else 0
    >>> release = eq.shifted_inverse(largest, data=spent, range=(0, 2000), step=10, epsilon=1)
    >>> 800 <= release.value <= 1000  # fails once in 20 runs at most, and with the confidence of these rows hardly ever
    True
    """
    said = locals()
    call = _Call(
        "shifted-inverse",
        said,
        range=None if range is None else ",".join(decimal(end, "range") for end in range),
        step=None if step is None else decimal(step, "step"),
        answers=None if answers is None else [decimal(answer, "answers") for answer in answers],
    )
    call.tells(least_after)

    def compute(stated: _equipoise.Stated, rows: Any) -> Any:
        removals = _places(stated.wanted + 1)
        if not callable(least_after):
            known = _list(least_after)[: len(removals)]
            known += known[-1:] * (len(removals) - len(known))
        elif data is None:
            known = _list(least_after(k) for k in removals)
        else:
            known = _list(least_after(rows, k) for k in removals)
        return "null", known, None

    return call.release(compute)


def black_box(
    f: Callable[[Any], Any],
    data: Any,
    *,
    epsilon: Any,
    range: tuple[Any, Any] | None = None,
    step: Any = None,
    answers: Sequence[Any] | None = None,
    evaluations: int | None = None,
    delta: Any = 0,
    adjacency: str | None = None,
    privacy_unit: str | None = None,
    unit: str | None = None,
    confidence: Any = None,
    alpha: Any = None,
    rate: Any = None,
    made_up: Sequence[Any] | None = None,
    show_output: bool = False,
    ledger: _Path | None = None,
    name: str | None = None,
    analyst: str | None = None,
    apart: bool = False,
    request_id: str | None = None,
) -> Release:
    """Any function of the rows that changes little when a few of them are removed; nothing need be known of it but that it
    is one of the rows alone.

    ``f`` is run on every subset that lacks a few rows, so this is for few rows and a large epsilon: at most ``evaluations`` calls (100,000
    if you say nothing), and a refusal where more would be needed. How often it is called shows the number of rows, as the time to read
    them does. Where it fails, or gives no number, it counts as the first answer.

    ``range`` with ``step``, or ``answers``
        What can be answered, in growing order.

    Other keywords are those of :func:`noise`; there is no number to state, so ``made_up`` is of no use.

    >>> import equipoise as eq
    >>> ages = [41, 43, 40, 44, 42, 43, 41, 42, 40, 44, 43, 42]
    >>> release = eq.black_box(lambda rows: sum(rows) / len(rows), ages, range=(0, 100), step=5, epsilon=8, adjacency="replace")
    >>> release.mechanism
    'black-box'
    """
    said = locals()
    if not callable(f):
        raise DataError("f is not a function; give one that takes some of the rows")
    if is_path(data):
        raise DataError("f takes rows in memory; read the file into a table first")
    public = length_of(data) if adjacency == "replace" else None
    call = _Call(
        "black-box",
        said,
        range=None if range is None else ",".join(decimal(end, "range") for end in range),
        step=None if step is None else decimal(step, "step"),
        answers=None if answers is None else [decimal(answer, "answers") for answer in answers],
        evaluations=evaluations,
        rows=public,
    )
    call.tells(f)
    return call.subsets(f)


def sampled(call: Callable[..., Release], *arguments: Any, rate: Any, **keywords: Any) -> Release:
    """One of these calls on a secret sample of the rows, which costs less than on all of them.

    Each row is in the sample with probability ``rate``, drawn behind the charge; what is stated must be true of samples of every size.
    An epsilon of 1 at a rate of 0.1 is charged as ln(1 + 0.1(e - 1)) = 0.159. The bar is about the function of the sample. It needs
    ``data``, functions of it, and the adjacency ``"add-remove"``.

    >>> import equipoise as eq
    >>> release = eq.sampled(eq.noise, sum, data=[0, 1] * 500, rate=0.1, sensitivity=1, epsilon=1)
    >>> release.guarantee["epsilon"][:5]
    '0.158'
    """
    if call not in (noise, choose, stable, propose_test_release, smooth, bounded_local_sensitivity, shifted_inverse, black_box):
        raise RequestError("a sample is for calls with a function of your own; give eq.noise, eq.choose or one of the others")
    return call(*arguments, rate=rate, **keywords)
