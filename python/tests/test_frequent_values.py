"""Frequent values: of people who have many of them, and the first few. Coins are real; each lead is hundreds of people or rows."""

from __future__ import annotations

import equipoise as eq

#: 1,000 people with A among twenty conditions each, 600 with B alone.
PEOPLE = [f"a{person}" for person in range(1000) for _ in range(20)] + [f"b{person}" for person in range(600)]
CONDITIONS = ["A" if i == 0 else f"c{(person + i) % 200}" for person in range(1000) for i in range(20)] + ["B"] * 600
FRAME = {"person": PEOPLE, "condition": CONDITIONS}


def test_each_person_counts_once_for_each_value() -> None:
    # B wins with a chance below e^-150.
    select = eq.select(FRAME, "condition", epsilon=1, among=["A", "B"], privacy_unit="person")
    assert select.value == "A"
    assert select.error is not None and select.error["gap_unit"] == "people"
    mode = eq.mode(FRAME, "condition", epsilon=1, delta=1e-6, privacy_unit="person")
    assert mode.value == "A"
    # One row of each: about fifty of the thousand draw A.
    drawn = eq.select(
        FRAME, "condition", epsilon=1, among=["A", "B"], privacy_unit="person", max_rows_per_unit=1
    )
    assert drawn.value == "B"


def test_the_first_few() -> None:
    stated = eq.top(FRAME, 2, "condition", epsilon=1, among=["A", "B", "c1", "none"], privacy_unit="person")
    assert stated.value == ["A", "B"]
    assert stated.error is not None and stated.error["kind"] == "gap"
    found = eq.top(FRAME, 2, "condition", epsilon=1, delta=1e-6, privacy_unit="person")
    assert found.value == ["A", "B"]
    # The third and the fourth have about as many.
    assert eq.top(FRAME, 3, "condition", epsilon=0.1, delta=1e-6, privacy_unit="person").refused
