"""A process that holds a session and its ledger, and is killed: what a test starts and looks after.

It reaches Spark over Spark Connect, so that executors outlive it.
"""

from __future__ import annotations

from pathlib import Path

import equipoise as eq
from recorded import Recorded, asked

ASKING, NOTES, ANSWERED = "asking", "notes", "answered"


def coordinate(port: int, file: str, folder: str, number: int, deadline: float) -> None:
    """Ask one question about a file in Spark; what is found is noted after each pass."""
    from pyspark.sql import SparkSession

    home = Path(folder)
    spark = SparkSession.builder.remote(f"sc://127.0.0.1:{port}").getOrCreate()
    recorded = Recorded().watch(setattr)

    def noted(text: str, found: str) -> None:
        (home / "new").write_text(recorded.to_json())
        (home / "new").rename(home / NOTES)

    recorded.then = noted
    session = eq.Session(eq.elsewhere(spark.read.parquet(file), deadline=deadline), ledger=home / "people.ledger", name="people")
    query = asked(session, number)
    query._question.table.prepared(query._question.planned)
    (home / ASKING).touch()
    query.release(request_id="once")
    (home / ANSWERED).touch()
