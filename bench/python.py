"""The Python package side by side with numpy: import, wheel, median of ten million doubles, memory, simulation."""

import json
import os
import resource
import subprocess
import sys
import time

import numpy as np

import equipoise as eq

ROWS, ROUNDS = 10_000_000, 5


def import_seconds() -> float:
    def once(code: str) -> float:
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], check=True)
        return time.perf_counter() - start

    return min(once("import equipoise") for _ in range(5)) - min(once("pass") for _ in range(5))


def cpu(work: object) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def main() -> None:
    values = np.random.default_rng(1).lognormal(11, 0.6, ROWS)
    eq.median(values[:1000], epsilon=1)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    eq.median(values, epsilon=1)
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
    ours, theirs = [], []
    for _ in range(ROUNDS):
        ours.append(cpu(lambda: eq.median(values, epsilon=1)))
        theirs.append(cpu(lambda: np.median(values)))
    start = time.perf_counter()
    trials = eq.simulate("median", values[:1000], trials=100_000, epsilon=1)
    found = {
        "import_seconds": round(import_seconds(), 4),
        "median_cpu_ms": round(1000 * float(np.median(ours)), 1),
        "numpy_median_cpu_ms": round(1000 * float(np.median(theirs)), 1),
        "ratio": round(float(np.median(ours) / np.median(theirs)), 3),
        "data_mb": values.nbytes / 1e6,
        "peak_grew_mb": round(grown / 1e6, 1),
        "simulated_medians": len(trials.values),
        "simulate_seconds": round(time.perf_counter() - start, 2),
    }
    if len(sys.argv) > 1 and os.path.exists(sys.argv[1]):
        found["wheel_mb"] = round(os.path.getsize(sys.argv[1]) / 1e6, 2)
    print(json.dumps(found, indent=2))


if __name__ == "__main__":
    main()
