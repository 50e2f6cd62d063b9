"""Children never repeat their parent's noise or each other's, and what was spent before a fork stays spent."""

from __future__ import annotations

import multiprocessing
from fractions import Fraction
from typing import Any

import pytest

import equipoise as eq

DATA = [float(i) for i in range(1000)]


def noise(_: int) -> tuple[list[float], str]:
    before = eq.spent()["epsilon"]
    return [eq.count(DATA, epsilon=0.0001).value for _ in range(8)], before


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_children_draw_noise_of_their_own(method: str) -> None:
    parent = noise(0)[0]
    spent = eq.spent()["epsilon"]
    with multiprocessing.get_context(method).Pool(3) as pool:
        children = pool.map(noise, range(6), chunksize=1)
    seen = [tuple(parent), *(tuple(values) for values, _ in children)]
    # Eight counts with noise of scale 10,000: two lists agree with a chance below 1e-30.
    assert len(set(seen)) == len(seen)
    if method == "fork":
        assert all(Fraction(before) >= Fraction(spent) for _, before in children)


def ask_session(session: Any) -> str:
    try:
        session.count(epsilon=0.1).release()
    except eq.EquipoiseError as error:
        return type(error).__name__
    return "released"


def test_a_session_in_memory_does_not_double_its_budget_by_a_fork() -> None:
    session = eq.Session({"x": DATA}, budget=1)
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe()
    child = context.Process(target=lambda: sender.send(ask_session(session)))
    child.start()
    assert receiver.poll(300) and receiver.recv() == "RequestError"
    child.join()


def test_a_ledger_is_shared_by_forked_children(tmp_path: Any) -> None:
    session = eq.Session({"x": DATA}, budget=1, ledger=tmp_path / "shared.ledger", name="x")
    session.count(epsilon=0.5).release()
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe()
    child = context.Process(target=lambda: sender.send(ask_session(session)))
    child.start()
    assert receiver.poll(300) and receiver.recv() == "released"
    child.join()
    assert session.spent["epsilon"] == "0.6"


def test_errors_survive_a_process_pool() -> None:
    import pickle

    error = pickle.loads(pickle.dumps(eq.BudgetError("too much", '{"remaining": {"epsilon": "1", "delta": "0"}}')))
    assert error.remaining == {"epsilon": "1", "delta": "0"} and str(error) == "too much"
