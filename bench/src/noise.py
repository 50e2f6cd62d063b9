"""Draws on request: a line "law scale length calls" in, the CPU seconds of that many calls out."""

import sys
import time

import numpy as np

rng = np.random.default_rng()
laws = {"laplace": rng.laplace, "gaussian": rng.normal}
for line in sys.stdin:
    law, scale, length, calls = line.split()
    draw, scale, length = laws[law], float(scale), int(length)

    def batch():
        noise = draw(0.0, scale, length)
        return np.rint(noise, out=noise).astype(np.int64)

    batch()
    start = time.process_time()
    for _ in range(int(calls)):
        batch()
    print(time.process_time() - start, flush=True)
