"""Ids that differ in their last digit only, of every kind of column there is without one library: `python exact_ids.py pandas`.

Prints how many kinds of columns it asked. Run by test_exact_ids.py in a process of its own.
"""

from __future__ import annotations

import importlib.abc
import sys
from decimal import Decimal
from typing import Any

BLOCKED = sys.argv[1]


class Without(importlib.abc.MetaPathFinder):
    """As if the library were not installed."""

    def find_spec(self, name: str, *_: Any) -> None:
        if name.partition(".")[0] == BLOCKED:
            raise ModuleNotFoundError(f"No module named '{name}'", name=name)


sys.meta_path.insert(0, Without())

import equipoise as eq  # noqa: E402
from equipoise._subsample import _people  # noqa: E402

NEAR = (2**53, 2**53 + 1)
FAR = (2**64 - 2, 2**64 - 1)
LONG = (10**37, 10**37 + 1)


def four(pair: tuple[Any, Any]) -> list[Any]:
    return [pair[0], pair[1], pair[1], pair[0]]


def columns() -> dict[str, Any]:
    """Each with two people, who have two rows each."""
    found: dict[str, Any] = {
        "list": four(NEAR),
        "list of long ones": four((10**5000, 10**5000 + 1)),
        "list of decimals": [Decimal(one) for one in four(LONG)],
    }
    if BLOCKED != "numpy":
        import numpy as np

        found |= {f"numpy {dtype}": np.array(four(NEAR), dtype) for dtype in ("i8", ">i8", "u8", "O")}
        found |= {
            "numpy far": np.array(four(FAR), "u8"),
            "numpy floats": np.array(four((0.1, np.nextafter(0.1, 1))), "f8"),
            "numpy short floats": np.array(four((0.1, np.nextafter(np.float32(0.1), np.float32(1)))), "f4"),
            "numpy moments": np.array(four(NEAR), "i8").view("M8[ns]"),
            "numpy masked": np.ma.array(four(FAR), mask=[False] * 4, dtype="u8"),
            "numpy texts": np.array([str(one) for one in four(LONG)]),
        }
    if BLOCKED not in ("numpy", "pandas"):
        import pandas as pd

        found |= {f"pandas {dtype}": pd.Series(four(NEAR), dtype=dtype) for dtype in ("int64", "Int64", "UInt64", "object")}
        found |= {
            "pandas with nothing": pd.Series([None, *four(NEAR), None], dtype="Int64"),
            "pandas far": pd.Series([None, *four(FAR)], dtype="UInt64"),
            "pandas categories": pd.Series(four(NEAR), dtype="category"),
            "pandas categories with nothing": pd.Series(pd.array([*four(NEAR), None], dtype="Int64")).astype("category"),
            "pandas sparse": pd.Series(pd.arrays.SparseArray(four(NEAR))),
            "pandas moments": pd.Series(pd.to_datetime(four(NEAR), unit="ns", utc=True)),
            "pandas objects of moments": pd.Series([pd.Timestamp(one, unit="ns") for one in four(NEAR)], dtype=object),
            "pandas texts": pd.Series([str(one) for one in four(LONG)]),
        }
        if BLOCKED != "pyarrow":
            found |= {f"pandas {dtype}": pd.Series(four(NEAR), dtype=dtype) for dtype in ("int64[pyarrow]", "uint64[pyarrow]")}
    if BLOCKED != "polars":
        import polars as pl

        wholes = (pl.Int64, pl.UInt64, pl.Int128, pl.UInt128, pl.Decimal(38, 0))
        found |= {f"polars {dtype}": pl.Series(four(NEAR), dtype=dtype) for dtype in wholes}
        found |= {
            "polars far": pl.Series([None, *four(FAR)], dtype=pl.UInt64),
            "polars long": pl.Series(four(LONG), dtype=pl.Int128),
            "polars moments": pl.Series(four(NEAR), dtype=pl.Int64).cast(pl.Datetime("ns")),
            "polars categories": pl.Series([str(one) for one in four(NEAR)], dtype=pl.Categorical),
        }
    if BLOCKED != "pyarrow":
        import pyarrow as pa

        kinds = (pa.int64(), pa.uint64(), pa.decimal128(38, 0), pa.decimal256(76, 10))
        found |= {f"pyarrow {kind}": pa.array([Decimal(one) for one in four(NEAR)]).cast(kind) for kind in kinds}
        found |= {
            "pyarrow far": pa.chunked_array([[FAR[0], FAR[1]], [FAR[1], FAR[0], None]], pa.uint64()),
            "pyarrow moments": pa.array(four(NEAR), pa.timestamp("ns")),
            "pyarrow dictionary": pa.array(four(NEAR)).dictionary_encode(),
        }
    return found


def main() -> None:
    for name, ids in columns().items():
        # Two people with one row each that counts: off by one at epsilon 200 with a chance of e^-200.
        release = eq.count({"id": ids}, privacy_unit="id", max_rows_per_unit=1, epsilon=200)
        assert release.value == 2, f"{name}: {release.value} people"
        groups = eq.count({"id": ids}, group_by="id", epsilon=200, delta=1e-6).groups or []
        assert [group["value"] for group in groups if group["key"] is not None] == [2, 2], f"{name}: {groups}"
        people = _people([0] * len(ids), ids)[2]
        assert people is not None and len(set(people.cells("text")) - {None}) == 2, f"{name}: blocks"
    print(len(columns()))


main()
