"""How time and memory grow with rows and with keys, and whether time follows what rows hold; writes docs/growth.md.

growth.py [--quick] [--calls N] [--json]   (bench/run growth builds what it needs; each size runs in a process of its own)
"""

import argparse
import json
import math
import os
import resource
import statistics
import subprocess
import sys
import time
import warnings
from datetime import date
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
PAGE = Path(__file__).resolve().parent.parent / "docs" / "growth.md"
GROUPED = ("histogram", "mean by group", "median by group")


def salaries(rows):
    import numpy as np

    return np.round(45_000 * np.exp(0.6 * np.random.default_rng(1).standard_normal(rows)), 2)


def question(name, rows, keys):
    """What is asked, and of what."""
    import numpy as np

    import equipoise as eq

    found = {"epsilon": 1, "delta": 1e-9}
    if name == "histogram":
        column = np.random.default_rng(2).integers(0, keys, rows)
        return lambda: eq.histogram(column, **found)
    salary = salaries(rows)
    if name == "median":
        return lambda: eq.median(salary, epsilon=1)
    if name == "mean":
        return lambda: eq.mean(salary, epsilon=1)
    if name == "summary":
        return lambda: eq.summary(salary, epsilon=1)
    table = {"salary": salary, "key": np.random.default_rng(2).integers(0, keys, rows)}
    ask = eq.mean if name == "mean by group" else eq.median
    return lambda: ask(table, "salary", group_by="key", **found)


def one(name, rows, keys):
    """CPU seconds of one answer, the second of two, and by how many bytes the process grew beyond its data."""
    ask = question(name, rows, keys)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    ask()
    begin = time.process_time()
    ask()
    spent = time.process_time() - begin
    return {"cpu": spent, "bytes": (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024}


def apart(*words):
    said = subprocess.run([sys.executable, "-W", "ignore", __file__, "--one", *map(str, words)], check=True, stdout=subprocess.PIPE, text=True).stdout
    return json.loads(said)


def orders(rows):
    """The same number of rows in forms that somebody who looks at a clock would try."""
    import numpy as np

    drawn = salaries(rows)
    changed = drawn.copy()
    changed[rows // 2] = 1e300
    half = drawn.copy()
    half[: rows // 2] = np.nan
    return {
        "as drawn": drawn, "as drawn, again": drawn.copy(), "one row changed to 1e300": changed, "sorted": np.sort(drawn),
        "sorted, largest first": np.sort(drawn)[::-1].copy(), "all equal": np.full(rows, 45_000.0), "two values, by turns": np.tile([1.0, 2.0], rows // 2),
        "half without a number": half, "spread over all floats": np.exp(np.linspace(-700, 700, rows)),
    }


def by_form(rows, calls):
    """Microseconds of each form beside those of the first, taken by turns so that the machine's moods fall on all alike."""
    import equipoise as eq

    forms = orders(rows)
    asks = {"mean": lambda column: eq.mean(column, epsilon=1), "mean in a range": lambda column: eq.mean(column, epsilon=1, range=(0, 200_000)),
            "count": lambda column: eq.count(column, epsilon=1)}
    found = []
    for name, ask in asks.items():
        spent = {form: [] for form in forms}
        for column in forms.values():
            ask(column)
        for turn in range(calls):
            for form in list(forms) if turn % 2 else reversed(list(forms)):
                begin = time.process_time()
                ask(forms[form])
                spent[form].append(1e6 * (time.process_time() - begin))
        first = spent["as drawn"]
        for form, times in spent.items():
            differences = [mine - his for mine, his in zip(times, first)]
            spread = statistics.stdev(differences) if form != "as drawn" else 0.0
            z = statistics.mean(differences) / (spread / math.sqrt(len(differences))) if spread else 0.0
            found.append({"question": name, "form": form, "median": statistics.median(times), "ratio": statistics.median(times) / statistics.median(first), "z": z})
    return found


def page(growth, forms, rows, calls):
    lines = [
        "# How time and memory grow", "",
        f"Written by `bench/run growth` on {date.today()}; do not edit. {os.cpu_count()} cores. CPU time is that of all threads, of the second answer of a process; memory is what the process grew by beyond its data.", "",
        "## With rows and keys", "",
        "| question | rows | keys | CPU s | ns a row | memory, MB |", "|---|---|---|---|---|---|",
    ]
    for one in growth:
        keys = f"{one['keys']:,}" if one["keys"] else ""
        lines.append(f"| {one['question']} | {one['rows']:,} | {keys} | {one['cpu']:.4g} | {1e9 * one['cpu'] / one['rows']:.3g} | {one['bytes'] / 1e6:.0f} |")
    lines += [
        "", "## With what rows hold", "",
        f"{calls} calls of each form of {rows:,} rows, by turns. A counting pass takes the same steps whatever a row holds; how fast a processor takes them depends on which memory was touched last. "
        "`z` is the mean difference to the first form over its standard error: beyond 3 somebody with so many measurements could tell.", "",
        "| question | rows | µs | ratio | z |", "|---|---|---|---|---|",
    ]
    lines += [f"| {one['question']} | {one['form']} | {one['median']:.0f} | {one['ratio']:.3f} | {one['z']:.1f} |" for one in forms]
    return "\n".join(lines) + "\n"


def main():
    flags = argparse.ArgumentParser()
    flags.add_argument("--one", nargs=3)
    flags.add_argument("--quick", action="store_true")
    flags.add_argument("--calls", type=int, default=200)
    flags.add_argument("--json", action="store_true")
    said = flags.parse_args()
    warnings.simplefilter("ignore")
    if said.one:
        name, rows, keys = said.one
        print(json.dumps(one(name, int(rows), int(keys))))
        return
    most = 6 if said.quick else 8
    sizes = [(name, 10**power, 0) for name in ("median", "mean", "summary") for power in range(5, most + 1)]
    sizes += [(name, 10**power, 50) for name in ("histogram", "mean by group") for power in range(5, most + 1)]
    sizes += [(name, 10 ** (most - 1), 10**power) for name in GROUPED for power in range(1, most)]
    growth = [{"question": name, "rows": rows, "keys": keys, **apart(name, rows, keys)} for name, rows, keys in sizes]
    rows, calls = 200_000, 20 if said.quick else said.calls
    forms = by_form(rows, calls)
    if said.json:
        print(json.dumps({"growth": growth, "forms": forms}, indent=1))
    else:
        PAGE.write_text(page(growth, forms, rows, calls))
        print(PAGE.read_text())


if __name__ == "__main__":
    main()
