"""Your own analysis: a value that you compute, and what you know of it.

Each call is planned and charged, then your function is run, then the answer is drawn with exact noise and recorded. What you state is
part of the release: nobody checks it but :func:`refute`, and the promise rests on it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from . import _equipoise
from ._call import Call, check, check_number, check_numbers, check_plain, is_number, numbers, plain, rows_in, steps_of, takes, value_of
from ._data import is_path
from ._errors import DataError, RequestError
from ._release import Release
from ._subsample import _confidence
from ._wording import decimal

_Path = str | os.PathLike[str]


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
        States that everything is meant for all rows of one person, whom this column names. Data that is registered for people takes nothing
        less.
    ``rate``
        As :func:`sampled`.
    ``made_up``
        Rows that can occur, made up by you, on which :func:`refute` tries the statement before the charge where there is a function of
        data: if you say nothing 0 and 1, and such as the types of a table's columns tell; none for ``()``. For a table give one, or
        dictionaries. Under ``"replace"`` there are as many rows as in ``data``. A counterexample is an error and free.
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
    check(data, value)
    vector = size is not None or not (callable(value) or is_number(value))
    if not callable(value) and (size is not None or vector):
        if is_number(value):
            raise RequestError("size= is for a function that gives a vector; leave it out")
        value = check_numbers(value, "value", "a number, a list of numbers, or a function of data")
        if size is not None and size != len(value):
            raise RequestError(f"size={size} is for a function; the list has {len(value)} numbers")
    count = size if size is not None else (len(value) if vector else None)
    call = Call(
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
        found = value_of(value, rows)
        return "null", numbers(found) if vector else [float(found)], None

    return call.release(compute)


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
    scores, options = _among(scores, options, data)
    call = Call("choose", said, **_choice(options, sensitivity, monotone, base, mechanism, noise))
    call.tells(scores)
    call.try_to_refute(scores, sensitivity=sensitivity, options=list(options), monotone=monotone)

    def compute(_: Any, rows: Any) -> Any:
        return "null", _scored(scores, options, rows), None

    return call.release(compute)


def _among(scores: Any, options: Sequence[Any] | None, data: Any) -> tuple[Any, list[Any]]:
    """Scores, or what makes them, and the options in their order."""
    if isinstance(scores, Mapping):
        if options is not None:
            raise RequestError("a dictionary of scores names the options; leave out options=")
        return check_numbers(scores.values(), "scores", "a number for each option"), list(scores.keys())
    if callable(scores):
        check(data, scores, more=1)
        if options is None:
            raise RequestError("a function of (option, data) needs the options; give them as a list")
        return scores, list(options)
    scores = check_numbers(scores, "scores", "a dictionary of options and scores, a list of scores, or a function of (option, data)")
    options = list(range(len(scores)) if options is None else options)
    if len(scores) != len(options):
        raise RequestError(f"there are {len(scores)} scores and {len(options)} options; give one score for each")
    return scores, options


def _choice(options: list[Any], sensitivity: Any, monotone: bool, base: Any, mechanism: str | None, noise: str | None) -> dict[str, Any]:
    """The words of a choice."""
    if isinstance(base, Mapping) and not all(option in base for option in options):
        raise RequestError("base has no weight for one of the options; give each a number above 0")
    weights = [base[option] for option in options] if isinstance(base, Mapping) else base
    if weights is not None:
        weights = check_numbers(weights, "base", "a number above 0 for each option")
    return {
        "sensitivity": decimal(sensitivity, "sensitivity"),
        "options": [check_plain(option, "options") for option in options],
        "monotone": bool(monotone),
        "base": None if weights is None else [decimal(weight, "base") for weight in weights],
        "mechanism": mechanism,
        "noise": noise,
    }


def _scored(scores: Any, options: list[Any], rows: Any) -> list[float]:
    return numbers([scores(option, rows) for option in options] if callable(scores) else scores)


def rehearse_choice(
    scores: Any,
    options: Sequence[Any] | None,
    trials: int,
    *,
    sensitivity: Any,
    epsilon: Any,
    monotone: bool = False,
    base: Any = None,
    mechanism: str | None = None,
    noise: str | None = None,
    public_rows: Any = None,
    adjacency: str | None = None,
    confidence: Any = None,
    alpha: Any = None,
) -> tuple[list[Any], list[dict[str, Any] | None], list[dict[str, Any]]]:
    """The same choice by scores of public rows many times, for :func:`simulate`; nothing is charged."""
    scores, options = _among(scores, options, public_rows)
    words = {
        "statistic": "choose",
        "epsilon": decimal(epsilon, "epsilon"),
        "adjacency": adjacency,
        "confidence": _confidence(confidence, alpha),
        **_choice(options, sensitivity, monotone, base, mechanism, noise),
    }
    said = json.dumps({word: value for word, value in words.items() if value is not None})
    stated = _equipoise.Stated(_equipoise.Books(None, None), "simulation", said)
    values, errors, series = stated.simulate(_scored(scores, options, public_rows), trials)
    return values, errors, json.loads(series)


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
    check(data, value, rows_to_change)
    check_number(rows_to_change, "rows_to_change", "a number of rows, math.inf, or a function of data")
    if not callable(value):
        check_plain(value, "value")
    call = Call("stable", said)
    call.tells(value, rows_to_change)
    if callable(rows_to_change):
        call.try_to_refute(value, rows_to_change=rows_to_change)

    def compute(_: Any, rows: Any) -> Any:
        return json.dumps(plain(value_of(value, rows))), [], steps_of(value_of(rows_to_change, rows))

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
    check(data, value, distance)
    check_number(distance, "distance", "a number of rows, math.inf, or a function of data")
    if inner is None:
        check_number(value, "value", "a number, or a function of data")
    elif not (isinstance(inner, (list, tuple)) and len(inner) == 2):
        raise RequestError("inner is what the mechanism loses; give epsilon and delta, such as inner=(0.5, 0)")
    elif not callable(value):
        check_plain(value, "value")
    call = Call(
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
        found, steps = value_of(value, rows), steps_of(value_of(distance, rows))
        if inner is not None:
            return json.dumps(plain(found)), [], steps
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
    check(data, value)
    check_number(value, "value", "a number, or a function of data")
    takes(local, 1 if data is None else 2)
    if not callable(local):
        check_numbers(local, "local", "a list of local sensitivities, local(k), or with data local(data, k)")
    call = Call(
        "smooth",
        said,
        range=_ends(range),
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
            known = numbers(local)[:wanted]
        elif data is None:
            known = numbers(local(k) for k in _places(wanted))
        else:
            known = numbers(local(rows, k) for k in _places(wanted))
        return "null", [float(value_of(value, rows)), *known], None

    return call.release(compute)


_places = range


def _ends(range: Any) -> str:
    """Two ends in words."""
    if not isinstance(range, (list, tuple)) or len(range) != 2:
        raise RequestError("range is not accepted; give two numbers, the lower one first, such as range=(0, 100)", "range")
    return ",".join(decimal(end, "range") for end in range)


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
    check(data, value, local)
    check_number(value, "value", "a number, or a function of data")
    check_number(local, "local", "a number, or a function of data")
    call = Call(
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
        return "null", [float(value_of(value, rows)), float(value_of(local, rows))], None

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
    >>> release = eq.shifted_inverse(largest, data=spent, range=(0, 2000), step=10, epsilon=10)
    >>> 800 <= release.value <= 1000
    True
    """
    said = locals()
    takes(least_after, 1 if data is None else 2)
    if not callable(least_after) and not check_numbers(least_after, "least_after", "a list of what is left after 0, 1, 2 and so on removals, or a function"):
        raise RequestError("least_after is empty; give what is left after 0, 1, 2 and so on removals")
    call = Call(
        "shifted-inverse",
        said,
        range=None if range is None else _ends(range),
        step=None if step is None else decimal(step, "step"),
        answers=None if answers is None else [decimal(answer, "answers") for answer in answers],
    )
    call.tells(least_after)
    if callable(least_after) and data is not None:
        call.try_to_refute(lambda rows: least_after(rows, 0), least_after=least_after)

    def compute(stated: _equipoise.Stated, rows: Any) -> Any:
        removals = _places(stated.wanted + 1)
        if not callable(least_after):
            known = numbers(least_after)[: len(removals)]
            known += known[-1:] * (len(removals) - len(known))
        elif data is None:
            known = numbers(least_after(k) for k in removals)
        else:
            known = numbers(least_after(rows, k) for k in removals)
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
    takes(f, 1)
    many = rows_in(data)
    public = many if adjacency == "replace" else None
    call = Call(
        "black-box",
        said,
        range=None if range is None else _ends(range),
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
