"""The call that would do after a refusal or an error, as whoever asked would type it: of their session, or charged where theirs was."""

from __future__ import annotations

import ast
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ._errors import RequestError


@dataclass(frozen=True)
class Place:
    """Where a question was asked: of a session, with what it says for all of its questions, or of data, with keywords that say where
    it is charged."""

    session: bool = False
    said: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of_data(
        cls, ledger: str | os.PathLike[str] | None, name: str | None, analyst: str | None, apart: bool
    ) -> Place:
        """Of data, as the keywords say."""
        said: dict[str, Any] = {"ledger": None if ledger is None else os.fspath(ledger), "name": name, "analyst": analyst, "apart": apart or None}
        return cls(False, {word: value for word, value in said.items() if value is not None})

    def call(self, call: str) -> str:
        """A call about ``data`` as it is typed here.

        >>> Place(True, {"privacy_unit": "person"}).call("eq.median(data, 'pay', epsilon=0.3, privacy_unit='person')")
        "session.median('pay', epsilon=0.3).release()"
        >>> Place.of_data("pay.ledger", None, "ana", False).call("eq.mean(data, 'pay', epsilon=0.3)")
        "eq.mean(data, 'pay', epsilon=0.3, ledger='pay.ledger', analyst='ana')"
        """
        parsed = ast.parse(call, mode="eval").body
        if not isinstance(parsed, ast.Call) or not isinstance(parsed.func, ast.Attribute):
            return call
        if not self.session:
            more = [f"{word}={value!r}" for word, value in self.said.items()]
            return ", ".join([call.removesuffix(")"), *more]) + ")"
        # As they stand, so that no number is written anew.
        given: list[tuple[str | None, ast.expr]] = [(None, one) for one in parsed.args]
        given += [(keyword.arg, keyword.value) for keyword in parsed.keywords]
        words = []
        for word, value in given:
            text = str(ast.get_source_segment(call, value))
            if text != "data" and (word is None or word not in self.said or text != repr(self.said[word])):
                words.append(text if word is None else f"{word}={text}")
        return f"session.{parsed.func.attr}({', '.join(words)}).release()"

    def call_in(self, error: RequestError) -> None:
        """Write the call that an error offers as it is typed here."""
        if error.call is not None:
            error._offer(self.call(error.call))
