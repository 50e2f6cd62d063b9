"""Spark: data frames, and tables of Ibis's that lie there."""

from __future__ import annotations

import contextlib
import itertools
import os
import weakref
from typing import Any

from .cells import ibis
from .engine import Engine

_numbers = itertools.count()


class SparkEngine(Engine):
    """A table in Spark. Queries carry a tag, by which they are ended."""

    def __init__(self, table: Any, session: Any, deadline: float) -> None:
        self.session = session
        self._tag = f"equipoise-{os.getpid()}-{next(_numbers)}"
        #: The view that the table is, where it is one of ours; it goes with the last engine that has it.
        self._view: _View | None = None
        super().__init__(table, deadline)

    @property
    def connection(self) -> Any:
        return self.session

    def _result(self, expression: Any) -> Any:
        return self.tagged(lambda: super(SparkEngine, self)._result(expression))

    def tagged(self, work: Any) -> Any:
        """Work whose queries :meth:`cancel` ends."""
        self.session.addTag(self._tag)
        try:
            return work()
        finally:
            with contextlib.suppress(Exception):
                self.session.removeTag(self._tag)

    def frame(self, expression: Any) -> Any:
        """An expression as a data frame."""
        return self.session.sql(self._backend.compile(expression))

    def _forget(self, name: str) -> None:
        self.session.catalog.dropTempView(name)

    def cancel(self) -> None:
        with contextlib.suppress(Exception):
            self.session.interruptTag(self._tag)

    def refused_moments(self, dtype: Any) -> str | None:
        zone = str(self.session.conf.get("spark.sql.session.timeZone"))
        if zone in ("UTC", "Etc/UTC", "Z", "+00:00", "GMT"):
            return None
        return "holds moments, which are read where spark.sql.session.timeZone is UTC"


class _View:
    """A data frame under a name of its own, for as long as somebody asks about it."""

    def __init__(self, frame: Any) -> None:
        self.name = f"equipoise_{os.getpid()}_{next(_numbers)}"
        frame.createOrReplaceTempView(self.name)
        # Not at the end of the program: the session ends with it.
        weakref.finalize(self, _dropped, frame.sparkSession, self.name).atexit = False


def _dropped(session: Any, name: str) -> None:
    with contextlib.suppress(Exception):
        session.catalog.dropTempView(name)


def of_frame(frame: Any, deadline: float) -> SparkEngine:
    """A data frame, classic or of Spark Connect."""
    session = frame.sparkSession
    view = _View(frame)
    engine = SparkEngine(ibis().pyspark.connect(session).table(view.name), session, deadline)
    engine._view = view
    return engine
