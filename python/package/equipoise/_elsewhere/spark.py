"""Spark: data frames, and tables of Ibis's that lie there."""

from __future__ import annotations

import contextlib
import itertools
import os
from typing import Any

from .cells import ibis
from .engine import Engine

_numbers = itertools.count()


class SparkEngine(Engine):
    """A table in Spark. Queries carry a tag, by which they are ended."""

    def __init__(self, table: Any, session: Any, deadline: float) -> None:
        self._session = session
        self._tag = f"equipoise-{os.getpid()}-{next(_numbers)}"
        super().__init__(table, deadline)

    def _result(self, expression: Any) -> Any:
        self._session.addTag(self._tag)
        try:
            return super()._result(expression)
        finally:
            with contextlib.suppress(Exception):
                self._session.removeTag(self._tag)

    def cancel(self) -> None:
        with contextlib.suppress(Exception):
            self._session.interruptTag(self._tag)

    def refused_moments(self, dtype: Any) -> str | None:
        zone = str(self._session.conf.get("spark.sql.session.timeZone"))
        if zone in ("UTC", "Etc/UTC", "Z", "+00:00", "GMT"):
            return None
        return "holds moments, which are read where spark.sql.session.timeZone is UTC"


def of_frame(frame: Any, deadline: float) -> SparkEngine:
    """A data frame, classic or of Spark Connect, under a name of its own: a view that goes with the session."""
    session = frame.sparkSession
    view = f"equipoise_{os.getpid()}_{next(_numbers)}"
    frame.createOrReplaceTempView(view)
    return SparkEngine(ibis().pyspark.connect(session).table(view), session, deadline)
