# Million updates per CPU second of Apache DataSketches: each question names a sketch, each answer is one round. Numpy arrays
# where the library takes them, a loop otherwise, which is how it is used from Python.
import sys, time
import datasketches
import numpy

made = {
    "hll": lambda: datasketches.hll_sketch(14),
    "theta": lambda: datasketches.update_theta_sketch(14),
    "cpc": lambda: datasketches.cpc_sketch(14),
}
start = 0
for line in sys.stdin:
    sketch = made[line.strip()]()
    updates, begin = 0, time.process_time()
    while time.process_time() - begin < 0.3:
        numbers = range(start, start + (1 << 16))
        for number in numbers:
            sketch.update(number)
        start += 1 << 16
        updates += 1 << 16
    print(updates / (time.process_time() - begin) / 1e6, flush=True)
