"""A request id belongs to one function with all that it holds: another one is another request."""

from __future__ import annotations

import functools
import math
import operator
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import equipoise as eq

HEIGHTS = np.linspace(150.0, 190.0, 2000)
SHIFT = 1.0
TABLE = {"a": {1, 2, 3}, "b": [SHIFT]}


def helper(block: Any) -> float:
    return float(np.mean(block)) + SHIFT


def by_helper(block: Any) -> float:
    return helper(block)


def by_table(block: Any) -> float:
    return float(len(TABLE["a"]))


def recursive(block: Any, depth: int = 3) -> float:
    return recursive(block, depth - 1) if depth else 0.0


class Model:
    factor = 1.0

    def __init__(self, power: Any) -> None:
        self.power = power

    def __call__(self, block: Any) -> float:
        return self.of(block)

    def of(self, block: Any) -> float:
        return float(np.mean(block) ** self.power) * self.factor


def closing_over(value: Any) -> Any:
    return lambda block: float(np.sum(value))


def with_default(value: Any) -> Any:
    def f(block: Any, extra: Any = value) -> float:
        return float(extra)

    return f


def with_keyword(value: Any) -> Any:
    def f(block: Any, *, extra: Any = value) -> float:
        return float(extra)

    return f


def decorated(value: Any) -> Any:
    @functools.wraps(helper)
    def f(block: Any) -> float:
        return helper(block) * value

    return f


def with_attribute(value: Any) -> Any:
    f = closing_over(1)
    f.extra = value
    return f


class Configured:
    """A decorator that is a class, and has the name of what it decorates."""

    def __init__(self, f: Any) -> None:
        functools.update_wrapper(self, f)
        self.power = 1.0

    def __call__(self, block: Any) -> float:
        return float(np.mean(block) ** self.power)


@Configured
def configured(block: Any) -> float:
    raise AssertionError


class Hidden(Model):
    """Its state is not what it is made of."""

    def __getstate__(self) -> Any:
        return {}


class Remade(Model):
    def __reduce__(self) -> Any:
        return Remade, (0,)


class Slotted:
    __slots__ = ("__power",)

    def __init__(self, power: Any) -> None:
        self.__power = power

    def __reduce__(self) -> Any:
        return Slotted, (0,)

    def __call__(self, block: Any) -> float:
        return float(self.__power)


def of_a_kind(value: Any) -> Any:
    class Kind(type):
        def __call__(cls, block: Any) -> float:
            return float(value)

    return Kind("Made", (), {})


#: Two functions each, of which nothing in their code differs but what it holds.
OTHERS = {
    "constant": (lambda block: 1.5, lambda block: 2.5),
    "type of a constant": (lambda block: [1, 7][0], lambda block: [1.0, 7][0]),
    "constant of a function inside": (lambda block: (lambda: 1.5)(), lambda block: (lambda: 2.5)()),
    "partial": (functools.partial(np.quantile, q=0.1), functools.partial(np.quantile, q=0.9)),
    "positional": (functools.partial(math.pow, 1), functools.partial(math.pow, 2)),
    "closure": (closing_over(1), closing_over(2)),
    "type": (closing_over(1), closing_over(1.0)),
    "array": (closing_over(np.arange(3)), closing_over(np.array([0, 1, 3]))),
    "order": (closing_over(np.array([[1, 2], [3, 4]])), closing_over(np.array([[1, 3], [2, 4]]))),
    "table": (closing_over(pd.DataFrame({"x": [1, 2]})), closing_over(pd.DataFrame({"x": [1, 3]}))),
    "default": (with_default(1), with_default(2)),
    "keyword": (with_keyword(1), with_keyword(2)),
    "method": (Model(1).of, Model(2).of),
    "object": (Model(1), Model(2)),
    "hidden": (Hidden(1), Hidden(2)),
    "remade": (Remade(1), Remade(2)),
    "slots": (Slotted(1), Slotted(2)),
    "kind of class": (of_a_kind(1), of_a_kind(2)),
    "nested": (closing_over(Model([1])), closing_over(Model([2]))),
    "wrapped": (decorated(1), decorated(2)),
    "attribute": (with_attribute(1), with_attribute(2)),
    "cached": (functools.lru_cache(closing_over(1)), functools.lru_cache(closing_over(2))),
    "long": (closing_over(10**5000), closing_over(10**5000 + 1)),
    "getter": (operator.itemgetter(0), operator.itemgetter(1)),
    "built in": ([1.0, 2.0].count, [1.0, 3.0].count),
    "ufunc": (np.frompyfunc(closing_over(1), 1, 1), np.frompyfunc(closing_over(2), 1, 1)),
}


def asked(f: Any, folder: Path, request_id: str | None = "one", **words: Any) -> eq.Release:
    said = {"epsilon": 10, "blocks": 50, "default": 0.0, **words}
    return eq.subsample(f, HEIGHTS, ledger=folder / "x.ledger", name="x", request_id=request_id, **said)


@pytest.mark.parametrize("what", [what for what in OTHERS if what != "ufunc"])
def test_another_function_is_another_request(what: str, tmp_path: Path) -> None:
    one, other = OTHERS[what]
    first = asked(one, tmp_path)
    assert asked(one, tmp_path).receipt == first.receipt
    with pytest.raises(eq.RequestError, match="another request"):
        asked(other, tmp_path)


def test_what_a_function_names_belongs_to_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module = sys.modules[__name__]
    for place, (f, name, value) in enumerate(
        [
            (helper, "SHIFT", 2.0),
            (by_helper, "SHIFT", 2.0),
            (lambda block: by_helper(block), "SHIFT", 2.0),
            (by_table, "TABLE", {"a": {1, 2}, "b": [SHIFT]}),
            (by_helper, "helper", by_table),
            (lambda block: [helper(one) for one in [block]][0], "SHIFT", 2.0),
            (recursive, "helper", by_table),
        ]
    ):
        first = asked(f, tmp_path, f"id {place}")
        with monkeypatch.context() as changed:
            changed.setattr(module, name, value)
            if f is recursive:  # which does not name it
                assert asked(f, tmp_path, f"id {place}").receipt == first.receipt
                continue
            with pytest.raises(eq.RequestError, match="another request"):
                asked(f, tmp_path, f"id {place}")
        assert asked(f, tmp_path, f"id {place}").receipt == first.receipt


def test_a_class_belongs_to_its_objects(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = asked(Model(1), tmp_path)
    assert asked(Model(1), tmp_path).receipt == first.receipt
    monkeypatch.setattr(Model, "factor", 2.0)
    with pytest.raises(eq.RequestError, match="another request"):
        asked(Model(1), tmp_path)


def test_the_state_of_an_object_with_a_name_belongs_to_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = asked(configured, tmp_path)
    assert asked(configured, tmp_path).receipt == first.receipt
    monkeypatch.setattr(configured, "power", 2.0)
    with pytest.raises(eq.RequestError, match="another request"):
        asked(configured, tmp_path)


def test_a_time_limit_belongs_to_the_request(tmp_path: Path) -> None:
    first = asked(helper, tmp_path)
    assert asked(helper, tmp_path, n_jobs=1).receipt == first.receipt
    with pytest.raises(eq.RequestError, match="another request"):
        asked(helper, tmp_path, time_limit=1e-6)


def test_without_a_name_of_the_data_there_is_no_request_id() -> None:
    """The answer about one table was given for another."""
    before = eq.spent()
    for ask in (
        lambda: eq.median(HEIGHTS, epsilon=1, request_id="one"),
        lambda: eq.subsample(helper, HEIGHTS, epsilon=10, blocks=50, request_id="one"),
        lambda: eq.run_program(["true"], HEIGHTS, output="number", epsilon=10, blocks=50, request_id="one"),
    ):
        with pytest.raises(eq.RequestError, match="request_id needs ledger= and name= for data in memory"):
            ask()
    assert eq.spent() == before


def test_modules_of_one_s_own_are_read_where_they_are_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = tmp_path / "of_my_own.py"
    itself = "def by_itself(block):\n    import of_my_own as m\n    return float(m.LEVEL)\n"
    source.write_text("LEVEL = 1\nUNUSED = 1\ndef level(block): return float(LEVEL)\n" + itself)
    monkeypatch.syspath_prepend(str(tmp_path))
    import of_my_own  # type: ignore[import-not-found]

    def outside(block: Any) -> float:
        return of_my_own.level(block)

    def inside(block: Any) -> float:
        import of_my_own as imported

        return imported.level(block)

    def outside_itself(block: Any) -> float:
        return of_my_own.by_itself(block)

    for place, f in enumerate([outside, inside, outside_itself]):
        first = asked(f, tmp_path, f"id {place}")
        of_my_own.UNUSED = 2
        assert asked(f, tmp_path, f"id {place}").receipt == first.receipt
        of_my_own.LEVEL = 2
        with pytest.raises(eq.RequestError, match="another request"):
            asked(f, tmp_path, f"id {place}")
        of_my_own.LEVEL = 1


def test_what_cannot_be_told_apart_takes_no_request_id(tmp_path: Path) -> None:
    lock, opened = threading.Lock(), open(__file__)  # noqa: SIM115
    stream = (number for number in range(3))
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    functions = [closing_over(lock), closing_over(opened), closing_over(stream), Model(lock), closing_over(deep), OTHERS["ufunc"][0]]
    for f in functions:
        with pytest.raises(eq.RequestError, match="request_id") as caught:
            asked(f, tmp_path)
        assert "\n" not in str(caught.value)
    assert not (tmp_path / "x.ledger").exists() or asked(helper, tmp_path, "two").spent["epsilon"] == "10"
    assert asked(functions[0], tmp_path, None).receipt
    opened.close()
    while deep:  # one by one: the interpreter's stack is shorter
        deep = deep[0]


SCRIPT = """
import functools, numpy as np
from equipoise._identity import digest
WORDS = {"one", "two", "three", "four"}
class Kept:
    def __init__(self):
        self.words, self.again = frozenset(WORDS), {"self": None}
        self.again["self"] = self
    def __call__(self, block):
        return sum(len(word) for word in WORDS | self.words if word in {"one", "two", "five"})
kept = Kept()
print(digest(kept), digest(functools.partial(lambda block, words: kept(block), words=WORDS)), digest(np.median))
"""


def test_the_same_function_is_the_same_in_another_process() -> None:
    found = {
        subprocess.run(
            [sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True, timeout=600, env={"PYTHONHASHSEED": seed}
        ).stdout
        for seed in "123"
    }
    assert len(found) == 1
