"""Copies of an estimator of one's own, behind a private median, a queue and a monitor."""

from __future__ import annotations

import equipoise as eq
import pytest


class Counter:
    """Counts what comes; every copy is right."""

    def __init__(self) -> None:
        self.total = 0

    def update(self, item: int) -> None:
        self.total += item

    def query(self) -> int:
        return self.total


@pytest.mark.parametrize("said", [{}, {"method": "switching", "changes": 80}, {"method": "flips", "changes": 80}])
def test_every_method_follows_a_count_and_survives_the_disk(said):
    robust = eq.Robust(Counter, queries=60, alpha=0.4, failure=1e-200, highest=10_000, **said)
    assert robust.guarantee == "proved" and 0 < robust.copy_failure < 1e-5 and 0 < robust.copy_alpha <= 0.35
    for step in range(1, 41):
        robust.update(10)
        if step == 20:
            robust = eq.Robust.from_bytes(robust.to_bytes(), Counter)
        assert 0.6 * 10 * step <= robust.query() <= 1.4 * 10 * step
    assert robust.queries_left == 20
    with pytest.raises(TypeError, match="to_bytes"):
        robust.__reduce__()


def test_copies_and_queries_follow_from_each_other():
    by_queries = eq.Robust(Counter, queries=100, failure=1e-200, highest=1000)
    by_copies = eq.Robust(Counter, copies=by_queries.copies, failure=1e-200, highest=1000)
    assert by_copies.copies <= by_queries.copies and by_copies.queries_left >= 100
    assert eq.Robust(Counter, queries=5, highest=1000).guarantee == "heuristic"


def test_phases_follow_where_updates_are_kept():
    robust = eq.Robust(Counter, queries=3, failure=1e-200, highest=1000, keep=True)
    for step in range(1, 11):
        robust.update(5)
        assert 4 * step <= robust.query() <= 6 * step
    for _ in range(3):
        eq.Robust(Counter, queries=3, failure=1e-200, highest=1000).query()
    ends = eq.Robust(Counter, queries=1, failure=1e-200, highest=1000)
    ends.query()
    with pytest.raises(eq.RequestError, match="all 1 declared answers were given"):
        ends.query()


def test_what_cannot_be_is_one_line():
    same = Counter()
    for keywords, problem in [
        ({}, "give queries="),
        ({"queries": 5, "copies": 5}, "not both"),
        ({"queries": 5, "method": "flips"}, "changes="),
        ({"queries": 5, "error": "absolute"}, "highest="),
        ({"queries": 5, "error": "far"}, "relative"),
        ({"queries": 5, "failure": 2}, "failure is not accepted"),
        ({"queries": 5, "failure": "rarely"}, "failure is not a number"),
        ({"queries": 5, "highest": "far"}, "highest is not a number"),
        ({"queries": 5, "alpha": "near", "error": "absolute", "highest": 1}, "alpha is not a number"),
        ({"queries": 5, "failure": 0.1}, "fail more rarely"),
        ({"copies": 2, "failure": 1e-200}, "do not answer even once"),
    ]:
        with pytest.raises(eq.RequestError, match=problem):
            eq.Robust(Counter, **keywords)
    with pytest.raises(eq.DataError, match="same object"):
        eq.Robust(lambda: same, queries=5)
    with pytest.raises(eq.DataError, match="update"):
        eq.Robust(object, queries=5)
    with pytest.raises(eq.RequestError, match="no stored Robust"):
        eq.Robust.from_bytes(b"x", Counter)
    with pytest.raises(eq.RequestError, match="no stored Robust"):
        eq.Robust.from_bytes("x", Counter)
    stored = eq.Robust(Counter, queries=5, highest=1000).to_bytes()
    with pytest.raises(eq.RequestError, match=r"cannot be read \(UnpicklingError\)"):
        eq.Robust.from_bytes(stored[:40], Counter)


def test_the_audits_of_robust_are_among_all():
    names = {audit["name"] for audit in eq.audits()}
    assert {"robust-median", "robust-misses", "robust-transfer", "analyses", "widths"} <= names
    assert all(found["verdict"] == "holds" for found in eq.audit("robust-transfer"))
