"""numpy.median on request: a line "path calls" in, the CPU seconds of that many calls out."""

import sys
import time

import numpy as np

for line in sys.stdin:
    path, calls = line.split()
    data = np.fromfile(path)
    np.median(data)
    start = time.process_time()
    for _ in range(int(calls)):
        np.median(data)
    print(time.process_time() - start, flush=True)
