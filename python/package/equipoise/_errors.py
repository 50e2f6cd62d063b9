"""What can go wrong, one class for each thing that a caller can do about it. Every message is one sentence."""

from __future__ import annotations

from ._wording import in_python


class EquipoiseError(Exception):
    """Every error of this package."""

    def __init__(self, message: str = "") -> None:
        super().__init__(in_python(message))


class RequestError(EquipoiseError, ValueError):
    """A request that cannot be answered as it stands. Nothing was charged."""


class DataError(EquipoiseError, TypeError):
    """Data of a kind that the question cannot read. Nothing was charged."""


class LedgerFileError(EquipoiseError, OSError):
    """The ledger cannot be used. Nothing was charged."""


class LostError(EquipoiseError, RuntimeError):
    """The charge stands, and there is no answer: the data could not be read to the end."""


class BudgetError(EquipoiseError):
    """The budget does not allow it. Nothing was charged.

    ``spent``, ``requested`` and ``remaining`` are pairs (epsilon, delta) of exact decimals.
    """

    spent: tuple[str, str]
    requested: tuple[str, str]
    remaining: tuple[str, str]

    def __init__(
        self,
        message: str = "",
        spent: tuple[str, str] = ("0", "0"),
        requested: tuple[str, str] = ("0", "0"),
        remaining: tuple[str, str] = ("0", "0"),
    ) -> None:
        super().__init__(message)
        self.spent, self.requested, self.remaining = spent, requested, remaining

    def __reduce__(self) -> tuple[type[BudgetError], tuple[object, ...]]:
        return type(self), (str(self), self.spent, self.requested, self.remaining)


class RefusedError(EquipoiseError, ValueError):
    """A number was needed where the release was refused; the message is its advice."""
