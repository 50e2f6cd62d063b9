"""Days beyond what dates can hold are missing, and the last that can be held is not."""

from __future__ import annotations

import numpy as np
import pytest

from equipoise._columns import column_of

EDGE = 2**31


@pytest.mark.parametrize(
    ("day", "held"),
    [(10, True), (EDGE - 1, True), (EDGE, False), (-EDGE + 1, True), (-EDGE, False), (3 * EDGE, False), (-3 * EDGE, False)],
)
def test_days_beyond_dates_are_missing(day: int, held: bool) -> None:
    days, missing, kind = column_of(np.array([day, 5], dtype="M8[D]")).read("date")
    assert kind == "date" and days[1] == 5
    assert (missing is None or not missing[0]) == held
    assert not held or days[0] == day
