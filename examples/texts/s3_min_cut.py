"""Minimum cuts while edges change: the time per step

Text: S3, example of an application
Command line: equipoise robust min-cut --help
Python: eq.RobustMinCut(...)
Audit: robust-median
Figure: T = E/sqrt(V) balances E/sqrt(T) and sqrt(T V): sqrt(E) V^(1/4) per step, 3,162 for E = 10^6 and V = 10^2, where from scratch it is E
"""

import math

import equipoise as eq

E, V = 10**6, 10**2
T = E / math.sqrt(V)
step = E / math.sqrt(T) + math.sqrt(T) * math.sqrt(V)
print(step)
assert math.isclose(step, 2 * math.sqrt(E) * V**0.25) and round(step / 2) == 3162
cut = eq.RobustMinCut(4)
cut.update([[0, 1], [1, 2], [2, 3], [3, 0]])
assert cut.query() == 2
