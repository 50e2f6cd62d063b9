"""What can go wrong, one class for each thing that a caller can do about it. Every message is one sentence."""

from __future__ import annotations

import json
from typing import Any

from ._wording import in_python, visible


class EquipoiseError(Exception):
    """Every error of this package."""

    def __init__(self, message: str = "") -> None:
        super().__init__(visible(in_python(message)))


class RequestError(EquipoiseError, ValueError):
    """A request that cannot be answered as it stands. Nothing was charged.

    ``argument`` is the keyword that is wrong or missing, and ``hint`` what to do about it, where there is one of each.
    ``call`` is the whole call that was probably meant, where what the hint says makes it one that can be answered.
    """

    argument: str | None
    hint: str | None
    call: str | None

    def __init__(
        self, message: str = "", argument: str | None = None, hint: str | None = None, call: str | None = None
    ) -> None:
        super().__init__(message)
        self.argument = argument
        self.call = None
        self.hint = None if hint is None else visible(in_python(hint))
        if call is not None:
            self._offer(call)

    def _offer(self, call: str) -> None:
        """The call that was probably meant, as it is typed where it was asked."""
        self.call = call
        # A traceback ends with it.
        self.__notes__ = [f"try: {call}"]

    def __reduce__(self) -> tuple[type[RequestError], tuple[str, str | None, str | None, str | None]]:
        return type(self), (str(self), self.argument, self.hint, self.call)


class DataError(EquipoiseError, TypeError):
    """Data of a kind that the question cannot read. Nothing was charged."""


class LedgerFileError(EquipoiseError, OSError):
    """The ledger cannot be used. Nothing was charged, unless the message says that this is not known."""


class LostError(EquipoiseError, RuntimeError):
    """The charge stands, and there is no answer: the data could not be read to the end, or temporary files or the ledger failed.

    The message says which.
    """


class PrivacyWarning(UserWarning):
    """A price that protects little: an epsilon above 10, or a delta that is not small beside one over the number of rows."""


class Interrupted(KeyboardInterrupt):
    """Ctrl-C after the charge, which stands.

    ``release`` is the answer where it had been recorded already; ``None`` where it is lost.
    """

    def __init__(self, text: str | None = None) -> None:
        if text is None:
            super().__init__("interrupted after the charge, which stands; the answer is lost")
        else:
            super().__init__("interrupted after the answer was recorded; this exception has it as its release")
        self._text = text

    @property
    def release(self) -> Any:
        from ._release import Release

        return None if self._text is None else Release._of_json(self._text)

    def __reduce__(self) -> tuple[type[Interrupted], tuple[str | None]]:
        return type(self), (self._text,)


class BudgetError(EquipoiseError):
    """The budget does not allow it. Nothing was charged.

    ``spent``, ``requested`` and ``remaining`` are exact numbers by name, such as ``{"epsilon": "0.6", "delta": "0"}``.
    """

    spent: dict[str, str]
    requested: dict[str, str]
    remaining: dict[str, str]

    def __init__(self, message: str = "", parts: str = "{}") -> None:
        super().__init__(message)
        self._parts = parts
        known = json.loads(parts)
        self.spent = known.get("spent") or {}
        self.requested = known.get("requested") or {}
        self.remaining = known.get("remaining") or {}

    def __reduce__(self) -> tuple[type[BudgetError], tuple[str, str]]:
        return type(self), (str(self), self._parts)


class RefusedError(EquipoiseError, ValueError):
    """A number was needed where the release was refused; the message is its advice."""
