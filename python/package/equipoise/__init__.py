"""Private answers to questions whose worst case is hopeless.

No clipping bounds, no lists of candidates; an error bar on everything; a refusal is a value.

    import equipoise as eq

    release = eq.median(df["salary"], epsilon=1)
    release.value, release.error, release.guarantee

Statistics        count, share, sum, mean, variance, std, median, quantile, iqr, min, max, distinct, ecdf, mode, histogram,
                  select, top, summary
                  on numpy, pandas, Polars, pyarrow, lists, anything that speaks Arrow, and files by their path
Several at once   batch([{"statistic": "count"}, ..], data, epsilon=...): one scan, one charge; sql(query, people=data)
Budgets           Session(data, budget=...) with lazy questions; spent() for bare functions
In an engine      Session(table) for an Ibis table, a Spark DataFrame, a DuckDB relation, a Polars LazyFrame, read where it lies; elsewhere(table,
                  deadline=...)
In a database     table(engine, "salaries", schema="hr") for an engine of SQLAlchemy; extract(database, query=..., into=...) to a file first
Behind a server   connect(url, token=...)["name"] goes where a table goes; no row comes here
Any function      subsample(f, data, ...) runs it on blocks of the data and publishes what they agree on
Your own analysis noise, choose, stable, propose_test_release, smooth, bounded_local_sensitivity, shifted_inverse, black_box: a value
                  that you compute and what you know of it; sampled; refute searches for what is wrong with a statement
Graphs            graph(edges, "triangles", adjacency="edge"): counts of a graph whose edges are rows
Any program       run_program(["python3", "fit.py"], data, ...), the same in a sandbox, for code nobody trusts
Any estimator     equipoise.sklearn.Private(estimator, epsilon=..., delta=...)
One after another AboveThreshold, ThresholdMonitor, Holdout
Streams           RobustDistinct, RobustF2, RobustPoint, RobustMinCut; choose_robust says which way suits; Robust around an estimator of yours
Looking inside    calibrate(name, ...), simulate(statistic, data, trials=...), audit(name)

There is no seed: noise that can be repeated protects nobody.
"""

from __future__ import annotations

from . import _forks  # noqa: F401, its hooks stand before the first call
from . import _statistics
from ._books import spent
from ._around import Robust
from ._batch import batch
from ._databases import extract, table
from ._elsewhere import elsewhere
from ._errors import (
    BudgetError,
    DataError,
    EquipoiseError,
    Interrupted,
    LedgerFileError,
    LostError,
    PrivacyWarning,
    RefusedError,
    RequestError,
)
from ._graph import graph
from ._mechanisms import Rehearsal, Simulation, audit, audits, calibrate, mechanisms, simulate
from ._monitor import AboveThreshold, Holdout, ThresholdMonitor
from ._own import (
    black_box,
    bounded_local_sensitivity,
    choose,
    noise,
    propose_test_release,
    sampled,
    shifted_inverse,
    smooth,
    stable,
)
from ._programs import run_program
from ._refute import Refutation, refute
from ._release import Release
from ._remote import RemoteData, Server, connect
from ._robust import RobustDistinct, RobustF2, RobustMinCut, RobustPoint, choose_robust
from ._session import Query, Session
from ._sql import Public, Rows, public, sql
from ._statistics import *  # noqa: F403, the functions of the table
from ._subsample import subsample

__version__ = "0.1.0"

__all__ = [
    "AboveThreshold",
    "BudgetError",
    "DataError",
    "EquipoiseError",
    "Holdout",
    "Interrupted",
    "LedgerFileError",
    "LostError",
    "PrivacyWarning",
    "Public",
    "Query",
    "Refutation",
    "RefusedError",
    "Rehearsal",
    "Release",
    "RemoteData",
    "RequestError",
    "Robust",
    "RobustDistinct",
    "RobustF2",
    "RobustMinCut",
    "RobustPoint",
    "Rows",
    "Server",
    "Session",
    "Simulation",
    "ThresholdMonitor",
    "audit",
    "audits",
    "batch",
    "black_box",
    "bounded_local_sensitivity",
    "calibrate",
    "choose",
    "choose_robust",
    "connect",
    "elsewhere",
    "extract",
    "graph",
    "mechanisms",
    "noise",
    "propose_test_release",
    "public",
    "refute",
    "run_program",
    "sampled",
    "shifted_inverse",
    "simulate",
    "smooth",
    "spent",
    "sql",
    "stable",
    "subsample",
    "table",
]
__all__ += _statistics.__all__
