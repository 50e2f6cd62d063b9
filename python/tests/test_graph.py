"""Counts of graphs: the same as on the command line, from tables and files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import equipoise as eq
import pytest

RING = {"from": list(range(3000)) * 2, "to": [(i + step) % 3000 for step in (1, 2) for i in range(3000)]}


@pytest.mark.parametrize(
    ("statistic", "words", "truth", "within"),
    [
        ("edges", {"adjacency": "edge"}, 6000, 40),
        ("components", {"adjacency": "edge"}, 1, 40),
        ("triangles", {"adjacency": "edge", "delta": 1e-6}, 3000, 300),
        ("triangles", {"adjacency": "edge", "mechanism": "smooth", "nodes": 3000}, 3000, 1000),
        ("stars:2", {"adjacency": "edge", "delta": 1e-6}, 18_000, 1000),
        ("triangles", {"adjacency": "edge", "mechanism": "shifted-inverse", "confidence": "0.999999999"}, 3000, 60),
        ("edges", {"adjacency": "node", "max_degree": 8}, 6000, 300),
        ("edges", {"adjacency": "node", "max_degree": [2, 8, 64]}, 6000, 2000),
    ],
)
def test_counts_are_near_the_truth(statistic: str, words: dict[str, Any], truth: int, within: int) -> None:
    """At epsilon 10 noise beyond these has a chance below e^-40; a bound of 2 keeps 3000 edges and is chosen with a chance below e^-40."""
    release = eq.graph(RING, statistic, epsilon=10, **words)
    assert abs(release.value - truth) <= within
    assert release.guarantee["unit"] == f"{words['adjacency']} of from,to"
    assert release.error is not None and release.error["low"] <= release.value <= release.error["high"]


def test_files_are_charged_to_the_ledger_beside_them_and_keep_their_unit(tmp_path: Path) -> None:
    path = tmp_path / "edges.csv"
    path.write_text("from,to,since\n" + "".join(f"{a},{b},2020\n" for a, b in zip(RING["from"], RING["to"])))
    with pytest.raises(eq.RequestError, match="which two columns"):
        eq.graph(path, "edges", adjacency="edge", epsilon=1)
    columns = ["from", "to"]
    first = eq.graph(path, "degree-histogram", adjacency="edge", epsilon=10, max_degree=5, columns=columns, request_id="a")
    again = eq.graph(path, "degree-histogram", adjacency="edge", epsilon=10, max_degree=5, columns=columns, request_id="a")
    assert first.to_dict() == again.to_dict()
    assert [group["key"] for group in first.to_dict()["groups"]] == ["1", "2", "3", "4", "5 or more"]
    # An edge may be many rows: what is counted for edges is not asked by row.
    with pytest.raises(eq.RequestError, match="edge of from,to"):
        eq.count(path, epsilon=1)
    assert eq.graph(path, "edges", adjacency="node", epsilon=1, max_degree=4, columns=columns).to_dict()["spent"]["epsilon"] == "12"


def test_a_table_of_kept_degrees_says_that_edges_were_left_out() -> None:
    release = eq.graph(RING, "degree-histogram", adjacency="node", epsilon=1, max_degree=3)
    assert "about: the number of nodes that keep so many edges where each node keeps at most 3" in repr(release)
    assert eq.graph(RING, "edges", adjacency="edge", epsilon=1, columns="from,to").guarantee["unit"] == "edge of from,to"


def test_what_is_wrong_is_one_line_before_the_charge() -> None:
    for statistic, words, said in [
        ("triangles", {"adjacency": "node"}, "is not answered for one node"),
        ("squares", {"adjacency": "edge"}, "squares"),
        ("edges", {"adjacency": "row"}, "row"),
        ("triangles", {"adjacency": "edge", "mechanism": "released-scale"}, "delta"),
    ]:
        with pytest.raises(eq.RequestError, match=said):
            eq.graph(RING, statistic, epsilon=1, **words)


@pytest.mark.parametrize(
    ("statistic", "words", "truth"),
    [
        ("triangles", {"adjacency": "edge", "delta": 1e-6}, 3000),
        ("triangles", {"adjacency": "edge", "mechanism": "shifted-inverse"}, 3000),
        ("edges", {"adjacency": "node", "max_degree": [4, 8]}, 6000),
    ],
)
def test_counts_of_public_graphs_are_simulated_for_free(statistic: str, words: dict[str, Any], truth: int) -> None:
    before = eq.spent()
    simulation = eq.simulate("graph", RING, statistic, epsilon=1, trials=60, **words)
    assert (len(simulation), simulation.refusals, eq.spent()) == (60, 0, before)
    assert len(set(simulation.values)) > 1 and all(error is not None for error in simulation.errors)
    [series] = simulation.series
    assert (series["truth"], series["told"], series["bars"]["judged"]) == (truth, 60, 60)
    # At least 57 of 60 are promised; below 40 has a chance of less than 1e-10.
    assert series["bars"]["held"] >= 40


def test_a_graph_that_a_ledger_knows_is_not_simulated(tmp_path: Path) -> None:
    path = tmp_path / "edges.csv"
    path.write_text("from,to\na,b\nb,c\n")
    assert eq.simulate("graph", path, "edges", adjacency="edge", epsilon=1, trials=3).series[0]["truth"] == 2
    eq.graph(path, "edges", adjacency="edge", epsilon=1)
    with pytest.raises(eq.RequestError, match="registered in a ledger"):
        eq.simulate("graph", path, "edges", adjacency="edge", epsilon=1, trials=3)
    with pytest.raises(eq.RequestError, match="takes no keyword 'request_id'"):
        eq.simulate("graph", RING, "edges", adjacency="edge", epsilon=1, request_id="a")
    with pytest.raises(eq.RequestError, match="needs adjacency="):
        eq.simulate("graph", RING, "edges", epsilon=1)
