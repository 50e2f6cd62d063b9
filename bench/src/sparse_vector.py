"""A million threshold questions by hand, insecure: a line "noise scale path" in, CPU seconds and positives out."""

import sys
import time

import numpy as np

rng = np.random.default_rng()
THRESHOLD, CUTOFF, THRESHOLD_SCALE = 1000.0, 10, 4.0


def above_threshold(values, noise, scale):
    """Indexes of the first values above the threshold, up to the cut-off."""
    if noise == "laplace":
        threshold = THRESHOLD + rng.laplace(0, THRESHOLD_SCALE)
        noisy = values + rng.laplace(0, scale, len(values))
    else:
        threshold = THRESHOLD + rng.exponential(THRESHOLD_SCALE)
        noisy = values + rng.exponential(scale, len(values))
    return np.flatnonzero(noisy >= threshold)[:CUTOFF]


for line in sys.stdin:
    noise, scale, path = line.split()
    values = np.fromfile(path, dtype=np.int64)
    above_threshold(values, noise, float(scale))
    start = time.process_time()
    found = above_threshold(values, noise, float(scale))
    print(time.process_time() - start, len(found), flush=True)
