"""Several questions about one table: one scan, one charge, one release."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from typing import Any, Union

from ._ask import Question, request
from ._errors import RequestError
from ._release import Release
from ._remote import RemoteData, RemoteQuestion
from ._statistics import WORDS, Number, Path
from ._wording import decimal

#: What a question may be called by: the words of the command line's file, as well as keywords.
_KEYWORDS = {word: keyword for keyword, (word, _) in WORDS.items()}

Questions = Union[Sequence[Mapping[str, Any]], Mapping[str, Any], Path]


def batch(
    questions: Questions,
    data: Any = None,
    *,
    epsilon: Number | None = None,
    delta: Number | None = None,
    adjacency: str | None = None,
    confidence: Number | None = None,
    where: str | None = None,
    window: str | None = None,
    privacy_unit: str | None = None,
    unit: str | None = None,
    max_rows_per_unit: Number | None = None,
    max_groups_per_unit: Number | None = None,
    types: Mapping[str, str] | None = None,
    type: Mapping[str, str] | None = None,
    alpha: Number | None = None,
    leave_out: Sequence[int] | int = (),
    ledger: Path | None = None,
    name: str | None = None,
    analyst: str | None = None,
    apart: bool = False,
    request_id: str | None = None,
    anyway: bool = False,
) -> Release:
    """Several questions about one table, answered in one scan for one price. They are ``answers`` of the release, in their order.

    ``questions``
        A list of questions, each a dictionary with its ``statistic``, its ``column`` and whatever keywords it takes; one that has a
        ``weight`` gets so many shares of epsilon, one with an ``epsilon`` or a ``target_error`` of its own gets that. Or what
        ``equipoise batch`` reads: a dictionary with ``questions`` and what holds for all, or the path of such a file.
    ``epsilon``, ``delta``
        What all of them cost together.
    ``leave_out``
        The numbers of questions that are not asked, from one: what they would have cost is for the others.

    Other keywords hold for all questions, as of :func:`count`.

    >>> import equipoise as eq
    >>> people = {"pay": [float(pay) for pay in range(1000, 5000)]}
    >>> release = eq.batch([{"statistic": "count"}, {"statistic": "median", "column": "pay", "weight": 3}], people, epsilon=4)
    >>> [answer["statistic"] for answer in release.answers]
    ['count', 'median']
    >>> release.guarantee["epsilon"]
    '4'
    """
    keywords = {
        "epsilon": epsilon,
        "delta": delta,
        "adjacency": adjacency,
        "confidence": confidence,
        "where": where,
        "window": window,
        "privacy_unit": privacy_unit,
        "unit": unit,
        "max_rows_per_unit": max_rows_per_unit,
        "max_groups_per_unit": max_groups_per_unit,
        "types": types,
        "type": type,
        "alpha": alpha,
    }
    words, named = document(questions, keywords, leave_out)
    if isinstance(data, RemoteData):
        here: dict[str, Any] = {"ledger": ledger, "name": name, "analyst": analyst, "apart": apart}
        return RemoteQuestion("batch", data, words=words, **here).release(request_id, anyway)
    data = named if data is None else data
    if data is None:
        raise RequestError("which data? Give a table or the path of a file after the questions", "data")
    question = Question(
        "batch", data, words=words, ledger=ledger, name=name, analyst=analyst, apart=apart, request_id=request_id
    )
    return question.release(request_id, anyway)


def document(
    questions: Questions, keywords: dict[str, Any], leave_out: Sequence[int] | int
) -> tuple[dict[str, Any], str | None]:
    """The questions as the command line reads them with what holds for all, and the data that they name."""
    folder = ""
    if isinstance(questions, (str, os.PathLike)):
        folder = os.path.dirname(os.fspath(questions))
        try:
            with open(questions, encoding="utf-8") as file:
                questions = json.load(file)
        except OSError as error:
            raise RequestError(f"the questions cannot be read: {error.strerror}; give a list, or the path of a file of JSON") from None
        except ValueError:
            raise RequestError("the file of questions is no JSON; see help(equipoise.batch)") from None
    if isinstance(questions, Mapping):
        shared = {str(word): value for word, value in questions.items()}
        asked, named = shared.pop("questions", None), shared.pop("data", None)
    else:
        shared, asked, named = {}, questions, None
    if not isinstance(asked, Sequence) or isinstance(asked, (str, bytes)):
        raise RequestError("a batch has a list of questions, such as [{'statistic': 'count'}]", "questions")
    said = request("batch", None, keywords)
    del said["statistic"]
    words = {
        **shared,
        **said,
        "questions": [_question(place, one) for place, one in enumerate(asked, 1)],
        "leave_out": [leave_out] if isinstance(leave_out, int) else [int(one) for one in leave_out],
    }
    return words, None if named is None else os.path.join(folder, str(named))


def _question(place: int, one: Any) -> dict[str, Any]:
    """One question in the words of a request."""
    if not isinstance(one, Mapping) or not isinstance(one.get("statistic"), str):
        raise RequestError(f"question {place} is not one; give a dictionary such as {{'statistic': 'median', 'column': 'age'}}", "questions")
    said = {str(word).replace("-", "_"): value for word, value in one.items()}
    statistic, column, weight = said.pop("statistic"), said.pop("column", None), said.pop("weight", None)
    if not isinstance(column, str) and column is not None:
        raise RequestError(f"question {place}: column is the name of a column, a text", "column")
    try:
        words = request(statistic, column, {_KEYWORDS.get(word, word): value for word, value in said.items()})
    except RequestError as error:
        raise RequestError(f"question {place}: {error}", error.argument, error.hint) from None
    if weight is not None:
        words["weight"] = decimal(weight, "weight")
    return words
