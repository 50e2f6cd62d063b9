"""What an executor of Spark's does with a block: make it of its own cells, run a function on it in a process of its own, and hand back a vote.

A block is a table of pandas' by the rules of :mod:`equipoise._blocks`, in an order that a keyed hash of each row gives: neither how many rows others have nor how
Spark laid them out shows in it. What fails, crashes or is late is no vote, and no word of it leaves.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable
from typing import Any, NamedTuple

from .._blocks import Unmade
from .._quiet import silence
from .._workers import _Answer, _Worker

BLOCK, ROW = "equipoise_block", "equipoise_row"


class _Packed(NamedTuple):
    """A function for a process of its own, as :class:`_Worker` takes it."""

    packed: bytes
    show_output: bool = False


def packed(f: Callable[[Any], Any], read: Callable[[Any], Any]) -> bytes:
    """A function and what makes a vote of what it gives, written down with what every executor has to read it."""
    from pyspark import cloudpickle

    written: bytes = cloudpickle.dumps(_Answer(f, read, False))
    return written


class Voter(NamedTuple):
    """Functions that take blocks in turn, as they are sent to executors."""

    packed: tuple[bytes, ...]
    types: Any
    key: str
    time_limit: float | None

    def vote(self, table: Any) -> Any:
        """The vote of one block: its number, how many rows it has, and what the function gave as JSON."""
        import pyarrow as pa

        block = int(table.column(BLOCK)[0].as_py())
        rows = table.filter(table.column(ROW)).drop_columns([BLOCK, ROW])
        found = _worker_of(self.packed[block % len(self.packed)]).vote(self._made(rows), self.time_limit)
        written = pa.array([None if found is None else json.dumps(found)], pa.string())
        return pa.table({"block": pa.array([block], pa.int64()), "rows": pa.array([rows.num_rows], pa.int64()), "vote": written})

    def _made(self, rows: Any) -> Any:
        """A block that carries no mark of other rows."""
        with silence():
            try:
                return made(rows, self.types, self.key)
            except BaseException:  # noqa: BLE001
                return Unmade()


def made(rows: Any, types: Any, key: str) -> Any:
    """These rows as a table of pandas', in the order of a keyed hash."""
    import numpy as np
    import pandas as pd

    from .._blocks_pandas import cutter

    cells = zip(*(column.to_pylist() for column in rows.columns))
    spelt = [hashlib.sha256(f"{key}{row!r}".encode("utf-8", "surrogatepass")).digest() for row in cells]
    order = np.array(sorted(range(rows.num_rows), key=spelt.__getitem__), dtype=np.int64)
    frame = rows.to_pandas(types_mapper=pd.ArrowDtype)
    return cutter(frame, types)(order)


#: The process of each function, for as long as this one lives; one that died is replaced.
_workers: dict[bytes, _Worker] = {}


def _worker_of(packed: bytes) -> _Worker:
    name = hashlib.sha256(packed + str(os.getpid()).encode()).digest()
    if name not in _workers:
        for worker in _workers.values():
            worker.stop()
        _workers.clear()
        _workers[name] = _Worker(_Packed(packed))  # type: ignore[arg-type]
    return _workers[name]


def is_there(functions: list[bytes]) -> Callable[[Any], Any]:
    """Reads the functions where it runs, and says which version of this package is there."""

    def there(table: Any) -> Any:
        import pickle

        import pandas  # noqa: F401
        import pyarrow as pa

        from equipoise import __version__

        for function in functions:
            pickle.loads(function)
        return pa.table({"there": [__version__]})

    return there
