"""Counts of a graph whose edges are rows: private for one edge, or for one node with all of its edges."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import Any

from . import _books, _equipoise
from ._data import FileTable, is_path, table
from ._errors import RequestError
from ._quiet import recorded
from ._release import Release, warn, warned
from ._remote import check_own
from ._subsample import _confidence
from ._wording import decimal

_Path = str | os.PathLike[str]


def graph(
    edges: Any,
    statistic: str,
    *,
    adjacency: str,
    epsilon: Any,
    delta: Any = 0,
    columns: str | Sequence[str] | None = None,
    mechanism: str | None = None,
    max_degree: int | Sequence[int] | None = None,
    nodes: int | None = None,
    confidence: Any = None,
    alpha: Any = None,
    ledger: _Path | None = None,
    name: str | None = None,
    analyst: str | None = None,
    apart: bool = False,
    request_id: str | None = None,
) -> Release:
    """A count of a graph, of which each row names an edge.

    ``edges``
        A table or a path; ``columns`` names the two columns with the ends of each edge where there are others. Rows that name the same two
        nodes are one edge, in either direction; a row that names none, one, or one twice is no edge.
    ``statistic``
        ``"edges"``, ``"triangles"``, ``"stars:2"`` to ``"stars:4"``, ``"degree-histogram"`` or ``"components"``.
    ``adjacency``
        ``"edge"``, or ``"node"``, with all of its edges, for edges and the degree histogram.
    ``mechanism``
        Of triangles and stars: ``"smooth"``, or with a delta ``"bounded-local-sensitivity"`` or ``"released-scale"``. Of triangles and
        ``"stars:2"`` also ``"shifted-inverse"``: a number that removing a few edges brings the count down to.
    ``max_degree``
        For nodes: how many edges each keeps, or a list of such numbers, of which a quarter of epsilon chooses one (1, 2, 4 to 1024 if nothing
        is said). For edges: the last bin of a histogram.
    ``nodes``
        At most so many nodes, as you state: it makes the error bar of ``"smooth"`` narrower, and the promise does not rest on it.

    >>> import equipoise as eq
    >>> ring = {"from": list(range(1000)), "to": [(i + 1) % 1000 for i in range(1000)]}
    >>> release = eq.graph(ring, "edges", adjacency="edge", epsilon=1)
    >>> abs(release.value - 1000) < 60  # wrong with a chance below e^-60
    True
    >>> release.guarantee["unit"]
    'edge of from,to'
    """
    said = locals()
    check_own(edges)
    if ledger is None and not is_path(edges):
        _books.check_request_id(request_id)
        if apart:
            raise RequestError("apart= is for files, which a limit elsewhere can cover; leave it out")
        account, books = _books.odometer("add-remove", f"graph, {adjacency}"), _books.books(None, analyst)
    else:
        charged = _books.charged(edges, ledger, name, apart)
        account, books = charged.name, charged.open(analyst)
    rows, planned = _planned(said, books, account)
    # Before the charge: who makes errors of warnings does not pay for one.
    before = warn(planned.warnings)
    source = rows.source(planned.wanted)
    text = recorded(lambda came: planned.release(books, source, rows.rows, request_id, came))
    return warned(Release._of_json(text), before)


def _planned(said: dict[str, Any], books: _equipoise.Books, account: str) -> tuple[Any, _equipoise.Graph]:
    """The rows, and what was said of them as a plan."""
    rows, columns, max_degree, nodes = table(said["edges"]), said["columns"], said["max_degree"], said["nodes"]
    bounds = [max_degree] if isinstance(max_degree, int) else max_degree
    words: dict[str, Any] = {
        "statistic": "graph",
        "count": said["statistic"],
        "columns": columns if columns is None or isinstance(columns, str) else ",".join(columns),
        "adjacency": said["adjacency"],
        "epsilon": decimal(said["epsilon"], "epsilon"),
        "delta": decimal(said["delta"], "delta"),
        "confidence": _confidence(said["confidence"], said["alpha"]),
        "mechanism": said["mechanism"],
        "max_degree": None if bounds is None else ",".join(decimal(bound, "max_degree") for bound in bounds),
        "nodes": None if nodes is None else decimal(nodes, "nodes"),
        **(rows.reading if isinstance(rows, FileTable) else {}),
    }
    text = json.dumps({word: value for word, value in words.items() if value is not None})
    return rows, _equipoise.Graph(books, account, rows.names, text, rows.kinds())


def rehearse(
    edges: Any,
    statistic: str,
    trials: int,
    *,
    adjacency: str,
    epsilon: Any,
    delta: Any = 0,
    columns: str | Sequence[str] | None = None,
    mechanism: str | None = None,
    max_degree: int | Sequence[int] | None = None,
    nodes: int | None = None,
    confidence: Any = None,
    alpha: Any = None,
) -> tuple[list[Any], list[dict[str, Any] | None], list[dict[str, Any]]]:
    """The same count of a public graph many times, for :func:`simulate`; nothing is charged."""
    rows, planned = _planned(locals(), _equipoise.Books(None, None), "simulation")
    values, errors, series = planned.simulate(rows.source(planned.wanted), rows.rows, trials)
    return values, errors, json.loads(series)
