"""One call about a value of the caller's: its words, its books, and the function that is run between the charge and the answer."""

from __future__ import annotations

import contextlib
import inspect
import json
import math
from collections.abc import Callable, Mapping
from typing import Any

from . import _books, _equipoise
from ._ask import one_of
from ._data import is_path, length_of
from ._errors import DataError, Interrupted, RequestError
from ._made_up import shape_of
from ._quiet import hush, is_interrupt, recorded, settle
from ._refute import Refutation, refute
from ._release import Release, warn, warned
from ._remote import check_own
from ._session import Session
from ._subsample import _confidence, _function
from ._wording import decimal

#: Statements are tried on data sets of fewer rows than this, where the number of rows is private.
_SMALL = 3
#: Where it is public they are tried on as many rows as there are, unless that takes long.
_LARGE = 100_000


class Call:
    """One call: its words, its books, and the function that is run between the charge and the answer."""

    def __init__(self, statistic: str, said: dict[str, Any], **words: Any) -> None:
        self.said = said
        self.data = said["data"]
        self._planned: _equipoise.Stated | None = None
        check_own(self.data)
        if isinstance(self.data, Session):
            raise RequestError("a session keeps its rows to itself; give the rows as data=, with the ledger= and name= that the session has")
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
        if said["rate"] is not None:
            if self.data is None or is_path(self.data):
                raise RequestError("a sample is drawn of rows in memory; give data= and functions of it")
            rows_in(self.data)

    def tells(self, *functions: Any) -> None:
        """What the functions are is part of the request. Of a sample everything is computed anew."""
        if self.said["rate"] is not None and not all(callable(f) for f in functions):
            raise RequestError("rate= is for functions of data, which are run on the sample; a number is of all rows", "rate")
        known = [_function(f, self.request_id) for f in functions if callable(f)]
        if known:
            self.words["settings"] = known

    def planned(self) -> _equipoise.Stated:
        """What was said, understood. Free, and blind."""
        if self._planned is None:
            self._planned = _equipoise.Stated(self.books, self.account, json.dumps(self.words))
        return self._planned

    def try_to_refute(self, f: Any, **statement: Any) -> None:
        """Before anything is charged, where a function and rows are given: a counterexample is an error, for free."""
        made_up = self.said["made_up"]
        if not callable(f) or self.data is None or is_path(self.data) or (made_up is not None and len(made_up) == 0):
            return
        shape = shape_of(self.data)
        if shape is None and made_up is None:
            return
        # A data set that was registered has an adjacency of its own.
        adjacency = str(json.loads(self.planned().summary)["guarantee"]["adjacency"])
        size = _SMALL if adjacency == "add-remove" else rows_in(self.data)
        if size > _LARGE and made_up is None:
            return
        found: Refutation | None = None
        failed = False
        with hush(not self.said["show_output"]):
            try:
                like = list if shape is None else shape.like
                rows = shape.rows if shape is not None and made_up is None else made_up
                found = refute(f, made_up=rows, like=like, adjacency=adjacency, size=size, **statement)
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
        stated = self.planned()
        before = warn(stated.warnings)
        earlier = stated.charge(self.books, self.request_id)
        if earlier is not None:
            return warned(Release._of_json(earlier), before)
        rows = self.data
        if self.said["rate"] is not None:
            rows = self._computed(lambda: _taken(self.data, stated.sample(rows_in(self.data))))
        return warned(Release._of_json(answer(stated, rows)), before)

    def subsets(self, f: Callable[[Any], Any]) -> Release:
        """The same for a function that is called on subsets."""

        def answer(stated: _equipoise.Stated, rows: Any) -> str:
            def call(places: list[int]) -> float | None:
                found = self._computed(lambda: float(f(_taken(rows, places))))
                return found if isinstance(found, float) else None

            return recorded(lambda _: stated.answer_subsets(self.books, rows_in(rows), call), charged=True)

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


def _taken(data: Any, places: list[int]) -> Any:
    """Some rows of the data."""
    if hasattr(data, "iloc"):
        return data.iloc[places]
    if isinstance(data, Mapping):
        return {name: _taken(column, places) for name, column in data.items()}
    if isinstance(data, (list, tuple)):
        return type(data)(data[place] for place in places)
    # Tables of pyarrow have columns in brackets.
    return data.take(places) if hasattr(data, "to_pylist") else data[places]


def rows_in(data: Any) -> int:
    """How many rows there are, of which some can be taken."""
    if isinstance(data, Mapping):
        # Its length is that of its columns.
        return length_of(next(iter(data.values()), ()))
    if not hasattr(data, "__getitem__"):
        raise DataError(f"no rows can be taken of a {type(data).__name__}; give a list, an array or a table")
    return length_of(data)


def value_of(value: Any, rows: Any) -> Any:
    return value(rows) if callable(value) else value


def plain(value: Any) -> Any:
    """What is released as it is: texts, numbers, yes and no, lists of them."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    json.dumps(value, allow_nan=False)
    return value


def steps_of(value: Any) -> int | None:
    """A whole number from zero on, or nothing for infinity. ``None`` is what a function without a ``return`` gives."""
    if value is None:
        raise ValueError("no number of rows")
    if value == math.inf:
        return None
    steps = int(value)
    if steps != value or steps < 0:
        raise ValueError("no number of rows")
    return min(steps, 2**63)


def numbers(values: Any) -> list[float]:
    return [float(value) for value in values]


def check(data: Any, *functions: Any, more: int = 0) -> None:
    """Functions have data that they are run on, and take it, with so many arguments more."""
    if data is None and any(callable(f) for f in functions):
        raise RequestError("a function is given and no data; give data=, of which it is run behind the charge", "data")
    for f in functions:
        takes(f, 1 + more)


def takes(f: Any, arguments: int) -> None:
    """A function of so many arguments, as far as that can be told without a call."""
    if not callable(f):
        return
    wrong = False
    with contextlib.suppress(ValueError):
        try:
            inspect.signature(f).bind(*range(arguments))
        except TypeError:
            wrong = True
    if wrong:
        name = getattr(f, "__name__", type(f).__name__)
        raise RequestError(f"the function {name} is called with {arguments} argument{'s' if arguments > 1 else ''} here; give one that takes so many")


def is_number(value: Any) -> bool:
    """One number, whatever it is worth: numpy's have no length."""
    return hasattr(value, "__float__") and getattr(value, "ndim", 0) == 0


def check_number(value: Any, name: str, accepted: str) -> None:
    """What is given in place of a function is a number; whether it is a good one is seen behind the charge."""
    if not callable(value) and not is_number(value):
        raise DataError(f"{name} is a {type(value).__name__}; give {accepted}")


def check_numbers(values: Any, name: str, accepted: str) -> list[Any]:
    """What is given in place of a function is a list of numbers."""
    try:
        listed = None if isinstance(values, (str, bytes, Mapping)) else list(values)
    except TypeError:
        listed = None
    if listed is None or not all(map(is_number, listed)):
        raise DataError(f"{name} is no list of numbers; give {accepted}")
    return listed


def check_plain(value: Any, name: str) -> Any:
    """Something that can be released as it is."""
    try:
        return plain(value)
    except (TypeError, ValueError):
        raise DataError(f"{name}: a {type(value).__name__} cannot be released; give texts, numbers, yes or no, or lists of them") from None
