"""Triangle counts of a made-up graph of 100,000 edges: time and error of four mechanisms.

    python bench/graphs.py [--edges 100000] [--trials 20] [--program target/release/equipoise]

The graph is public and made here, by attachment to people of large degree and to friends of friends, so that it has hubs and triangles. Each
answer is a run of the command line, with its own charge; CPU time is that of the whole process, reading included.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import statistics
import subprocess
import tempfile
from collections import defaultdict

#: The last of them answers about the count without a few edges, which its bar says and which nobody computes here.
MECHANISMS = ("smooth", "released-scale", "bounded-local-sensitivity", "shifted-inverse")


def made_up(edges: int) -> set[tuple[int, int]]:
    """People come one after another, know somebody in proportion to their degree, and then friends of theirs."""
    draw = random.Random(1)
    ends, friends, found = [0, 1], defaultdict(list, {0: [1], 1: [0]}), {(0, 1)}
    newest = 1
    while len(found) < edges:
        newest += 1
        target = draw.choice(ends)
        known = {target}
        for _ in range(4):
            known.add(draw.choice(friends[target]) if draw.random() < 0.6 else draw.choice(ends))
        for other in known - {newest}:
            found.add((other, newest))
            friends[other].append(newest)
            friends[newest].append(other)
            ends += [other, newest]
    return found


def triangles(edges: set[tuple[int, int]]) -> int:
    """Counted apart from the program."""
    near: dict[int, set[int]] = defaultdict(set)
    for a, b in edges:
        near[a].add(b)
        near[b].add(a)
    return sum(len(near[a] & near[b]) for a, b in edges) // 3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--edges", type=int, default=100_000)
    parser.add_argument("--trials", type=int, default=20)
    parser.add_argument("--epsilon", default="1")
    parser.add_argument("--program", default="target/release/equipoise")
    options = parser.parse_args()
    program = os.path.abspath(options.program)
    edges = made_up(options.edges)
    truth = triangles(edges)
    nodes = len({end for edge in edges for end in edge})
    print(f"{len(edges)} edges, {nodes} nodes, {truth} triangles; epsilon {options.epsilon}, delta 1e-6, {options.trials} answers each")
    print(f"{'mechanism':28}{'median error':>14}{'of truth':>10}{'95 % of errors':>16}{'bars that held':>16}{'CPU s':>8}")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "edges.csv")
        with open(path, "w") as file:
            file.write("from,to\n" + "".join(f"p{a},p{b}\n" for a, b in sorted(edges)))
        for mechanism in MECHANISMS:
            errors, held, seconds, judged = [], 0, [], True
            for _ in range(options.trials):
                before = resource.getrusage(resource.RUSAGE_CHILDREN)
                words = ["--statistic", "triangles", "--adjacency", "edge", "--epsilon", options.epsilon, "--delta", "1e-6", "--json"]
                asked = [program, "graph", path, "--mechanism", mechanism, "--nodes", str(nodes), *words]
                release = json.loads(subprocess.run(asked, check=True, capture_output=True).stdout)
                after = resource.getrusage(resource.RUSAGE_CHILDREN)
                seconds.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
                errors.append(abs(release["value"] - truth))
                judged = "of" not in release["error"].get("covers", {})
                held += release["error"]["low"] <= truth <= release["error"]["high"]
            errors.sort()
            middle, most = statistics.median(errors), errors[max(0, int(0.95 * len(errors)) - 1)]
            bars = f"{held}/{len(errors)}" if judged else "-"
            print(f"{mechanism:28}{middle:14.0f}{middle / truth:10.4f}{most:16.0f}{bars:>16}{statistics.median(seconds):8.2f}")


if __name__ == "__main__":
    main()
