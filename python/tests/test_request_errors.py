"""Errors of requests say which keyword they are about and what to do, in the words of Python."""

from __future__ import annotations

import pickle
from typing import Any, Callable

import pytest

import equipoise as eq

ROWS = {"value": [7.0] * 200, "who": ["ann"] * 200}

WRONG: list[tuple[Callable[[], Any], str, str]] = [
    (lambda: eq.median(ROWS, "value", epsilon=0), "epsilon", "give a number above 0"),
    (lambda: eq.mode(ROWS, "who", epsilon=1), "delta", "give delta=1e-6 or one over ten times the rows"),
    (lambda: eq.median(ROWS, "vaule", epsilon=1), "column", "did you mean 'value'? There are: value, who"),
    (lambda: eq.count(ROWS, epsilon=1, privacy_unit="whom"), "privacy_unit", "did you mean 'who'?"),
    (lambda: eq.count(ROWS, epsilon=1, max_rows_per_unit=2), "max_rows_per_unit", "name the column of people with privacy_unit="),
    (lambda: eq.median(ROWS, "value", epsilon=1, mechanism="stable"), "delta", "give delta=1e-6, or use"),
    (lambda: eq.select(ROWS, "who", epsilon=1), "among", "State them with among=['a', 'b', 'c'], or give a delta such as delta=1e-6"),
]


@pytest.mark.parametrize("call, argument, hint", WRONG)
def test_the_argument_and_the_next_step(call: Callable[[], Any], argument: str, hint: str) -> None:
    before = eq.spent()
    with pytest.raises(eq.RequestError) as caught:
        call()
    error = caught.value
    assert error.argument == argument
    assert error.hint is not None and error.hint.startswith(hint)
    assert str(error).endswith(error.hint)
    assert "--" not in str(error) and "`" not in str(error)
    assert eq.spent() == before
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.argument, again.hint) == (str(error), error.argument, error.hint)


def test_an_error_about_no_argument_has_none() -> None:
    error = eq.RequestError("something else")
    assert (str(error), error.argument, error.hint) == ("something else", None, None)


def test_advice_is_in_the_words_of_python() -> None:
    release = eq.median([1.0, 2.0], epsilon=0.1)
    assert release.advice is not None
    assert "declare range= and resolution=" in release.advice
