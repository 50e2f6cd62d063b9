"""A table that lies in an engine, as data of questions."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from .. import _equipoise
from .._columns import quietly
from .._errors import DataError, RequestError
from .._quiet import recorded, silence
from .._workers import clock
from .cells import ibis
from .engine import DEADLINE, DuckRelation, Engine, installed
from .examine import examine
from .passes import Passes
from .rows import Rows
from .spark import SparkEngine, of_frame

_INSTALL = "install it with: pip install 'equipoise[ibis]'"


class ElsewhereTable:
    """Named columns of a table that is read where it lies. Only its schema is known."""

    rows = 0

    def __init__(self, engine: Engine, progress: bool = False) -> None:
        self.engine, self.progress = engine, progress
        self.names = [str(name) for name in engine.columns]
        empty = engine.table.schema().to_pyarrow().empty_table()
        columns, _, _ = _equipoise.Arrow.table(empty)
        self._kinds = [column.kind for column in columns]
        self._unreadable = [column.unreadable for column in columns]

    def kinds(self) -> list[str | None]:
        """What the schema says of each column."""
        return list(self._kinds)

    def source(self, wanted: Sequence[tuple[int, str]], types: Mapping[str, str] | None = None) -> Any:
        raise RequestError(f"this needs rows here, and the table lies in {self.engine.called}; give public rows from a file or in memory")

    def prepared(self, planned: _equipoise.Planned) -> Passes:
        """Whoever runs the passes of a plan. What the engine cannot do is said now, before the charge."""
        for place, _ in planned.wanted:
            if self._unreadable[place] is not None:
                name = _equipoise.shown(self.names[place])
                raise DataError(f"the column '{name}' holds {self._unreadable[place]}, which cannot be asked about; give another column")

        return self.counting(json.loads(planned.rows_elsewhere))

    def counting(self, described: dict[str, Any]) -> Passes:
        """The same from what a plan says of its rows."""

        def prepare() -> Passes:
            engine = self.engine.fresh()
            rows = Rows(engine, self.names, described)
            examine(engine)
            return Passes(engine, rows)

        return quietly(prepare, f"{self.engine.called} does not take the question; check that it is there and may be read")

    def release(self, books: _equipoise.Books, planned: _equipoise.Planned, request_id: str | None) -> str:
        """Pay, have the engine count, answer."""
        passes = self.prepared(planned)

        def answer(came: list[BaseException]) -> str:
            # By the clock alone: how many passes there are, and when one is done, tells of the rows.
            with clock(self.progress, self.engine.called), silence():
                return _equipoise.release_elsewhere(books, planned, passes.until(came), request_id, came)

        try:
            return recorded(answer)
        finally:
            passes.close()


def _root(data: Any) -> str:
    return type(data).__module__.partition(".")[0]


def is_elsewhere(data: Any) -> bool:
    """Does this lie in an engine? By its type alone: nothing is imported or run. Relations of DuckDB's do where Ibis is installed, and are taken
    over as Arrow where it is not."""
    if isinstance(data, (ElsewhereTable, Engine)):
        return True
    root, name = _root(data), type(data).__name__
    if root == "ibis":
        return name == "Table" or name == "CachedTable"
    if root == "pyspark":
        # Not one of pandas on Spark. By its module: a data frame of Spark Connect has a column of any name.
        return name == "DataFrame" and type(data).__module__.startswith("pyspark.sql.")
    if root == "polars":
        return name == "LazyFrame"
    return root in ("duckdb", "_duckdb") and name == "DuckDBPyRelation" and installed()


def elsewhere(data: Any, *, deadline: float = DEADLINE, progress: bool = False) -> ElsewhereTable:
    """A table that is read where it lies: an Ibis table, a Spark DataFrame, a DuckDB relation or a Polars LazyFrame, of which only counts, sums and
    at most a window of values for each group leave the engine.

    Questions take such tables as they are; this says how long each query of a pass may take, in seconds. One that takes longer is a lost answer. ``progress``
    shows for how long the engine has been counting, with tqdm where that is installed; how many passes are done would tell of the rows.
    """
    if isinstance(data, ElsewhereTable):
        data.engine.deadline, data.progress = float(deadline), bool(progress)
        return data
    if not is_elsewhere(data):
        kind = type(data).__name__
        raise DataError(f"a {kind} lies in no engine; give an Ibis table, a Spark DataFrame, a DuckDB relation or a Polars LazyFrame")
    if not installed():
        raise DataError(f"tables elsewhere are read through Ibis, which is not installed; {_INSTALL}")
    if not float(deadline) > 0:
        raise RequestError("deadline is not accepted; give seconds above 0, such as 600")
    return quietly(lambda: ElsewhereTable(_engine(data, float(deadline)), bool(progress)), "the table is of a kind that Ibis does not read; give another")


def _engine(data: Any, deadline: float) -> Engine:
    root = _root(data)
    if root == "ibis":
        backend = data.get_backend()
        return SparkEngine(data, backend._session, deadline) if backend.name == "pyspark" else Engine(data, deadline)
    if root == "pyspark":
        return of_frame(data, deadline)
    if root == "polars":
        connection = ibis().polars.connect({"equipoise_rows": data})
        return Engine(connection.table("equipoise_rows"), deadline)
    return DuckRelation(data, deadline)


