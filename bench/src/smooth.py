"""Medians on request: a line "kind rows calls" in, the CPU seconds of one numpy.median out, averaged."""

import sys
import time

import numpy as np

rng = np.random.default_rng(1)
made = {}
for line in sys.stdin:
    kind, rows, calls = line.split()
    if (kind, rows) not in made:
        values = rng.lognormal(10.0, 0.7, int(rows))
        made[kind, rows] = values if kind == "f64" else np.rint(values * 100).astype(np.int64)
    data = made[kind, rows]
    start = time.process_time()
    for _ in range(int(calls)):
        np.median(data)
    print((time.process_time() - start) / int(calls), flush=True)
