"""Tables that are read where they lie: in Spark, a warehouse, DuckDB or Polars, through Ibis.

:mod:`engine` has what is asked of each engine in its own way, :mod:`cells` what a cell is there, :mod:`rows` which rows count, :mod:`steps` what rows add to
sums, :mod:`passes` the counts that answers are made of, :mod:`examine` what an engine has to get right first, :mod:`table` the data of a question.
Noise is drawn in this process, by the same compiled code as for rows that are read here; engines see no coin.
"""

from __future__ import annotations

from .table import ElsewhereTable, elsewhere, is_elsewhere

__all__ = ["ElsewhereTable", "elsewhere", "is_elsewhere"]
