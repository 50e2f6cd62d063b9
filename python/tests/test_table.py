"""The functions and methods of the package are those of the table of statistics, argument by argument."""

from __future__ import annotations

import inspect

import pytest

import equipoise as eq
from equipoise import _statistics
from equipoise._methods import GroupStatistics, Statistics

# Where it is charged, and whether it is asked whatever earlier counts say: of a session, and of `release()`.
BOOKS = {"ledger", "name", "analyst", "apart", "request_id", "anyway"}
STATISTICS = [name for name in _statistics.__all__ if name != "quantiles"]


def keywords(function: object) -> set[str]:
    parameters = inspect.signature(function).parameters.values()  # type: ignore[arg-type]
    assert all(one.kind is not inspect.Parameter.VAR_KEYWORD for one in parameters), "editors see every keyword"
    return {one.name for one in parameters} - {"self", "data"}


@pytest.mark.parametrize("name", STATISTICS)
def test_functions_and_methods_take_the_same(name: str) -> None:
    function = keywords(getattr(eq, name))
    assert function >= BOOKS
    assert keywords(getattr(Statistics, name)) == function - BOOKS
    if "group_by" in function:
        assert keywords(getattr(GroupStatistics, name)) == function - BOOKS - {"group_by", "keys"}


@pytest.mark.parametrize("name", STATISTICS)
def test_every_keyword_arrives_in_the_request(name: str) -> None:
    """A wrong value of every keyword is an error that the plan finds, and so was looked at."""
    column = [] if name == "count" else ["c"]
    for keyword in keywords(getattr(eq, name)) - BOOKS - {"column", "alpha", "q", "k", "interval", "population", "no_quantiles"}:
        said: dict[str, object] = {"epsilon": 1, "delta": "1e-3", keyword: {"nobody": "knows"} if keyword in {"type", "types"} else "?!"}
        if keyword == "keys":
            said["keys"] = ["a", "a"]
            said.update({} if name == "histogram" else {"group_by": "c"})
        if keyword == "among":
            said["among"] = ["a", "a"]
        if keyword == "target_error":
            del said["epsilon"]
        if keyword.startswith("max_"):
            said["privacy_unit"] = "c"
            said.update({"group_by": "c"} if keyword == "max_groups_per_unit" and "group_by" in keywords(getattr(eq, name)) else {})
        session = eq.Session({"c": [1.0, 2.0]})
        question = getattr(session, name)
        with pytest.raises(eq.RequestError):
            question(*{"quantile": [0.5], "top": [1]}.get(name, []), *column, **said)
