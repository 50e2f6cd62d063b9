"""Structs and lists of Polars inside blocks: their types follow from their own cells, as those of columns do."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import polars as pl
import pytest

from equipoise._blocks_polars import nested, own, plain

ROWS = [{"a": 1, "b": [Decimal("1.5")]}, None, {"a": None, "b": None}]
KIND = pl.Struct({"a": pl.Int32, "b": pl.List(pl.Decimal(10, 1))})


@pytest.mark.parametrize(
    ("places", "kind"),
    [
        ([0, 1, 2], pl.Struct({"a": pl.Float64, "b": pl.List(pl.Float64)})),
        # What is empty here has no type here, whatever other blocks hold.
        ([2], pl.Struct({"a": pl.Null, "b": pl.Null})),
        ([1], pl.Null()),
    ],
)
def test_structs_are_typed_by_their_own_cells(places: list[int], kind: Any) -> None:
    made = own(pl.Series("x", ROWS, dtype=KIND), places)
    assert made.dtype == kind and made.to_list() == [ROWS[place] for place in places]


def test_values_inside_are_of_the_type_that_is_said() -> None:
    assert nested(KIND, ROWS) == pl.Struct({"a": pl.Float64, "b": pl.List(pl.Float64)})
    found = plain(KIND, ROWS[0])
    assert found == {"a": 1.0, "b": [1.5]}
    assert isinstance(found["a"], float) and isinstance(found["b"][0], float)
    assert plain(KIND, None) is None


def test_deep_structs_of_polars_are_refused() -> None:
    from equipoise import DataError
    from equipoise._depth import DEEPEST, shallow

    def series(levels: int) -> pl.Series:
        kind: Any = pl.Int64()
        for _ in range(levels):
            kind = pl.Struct({"a": kind})
        return pl.Series("x", [None], dtype=kind)

    assert shallow(series(DEEPEST - 1)) is not None
    with pytest.raises(DataError, match="levels deep"):
        shallow(series(DEEPEST + 1))
