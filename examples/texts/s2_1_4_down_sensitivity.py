"""Down-sensitivity: what removed rows can do, which is small for a mean of normal rows

Text: S2, Definition 1.7 and Claim 1.8
Command line: equipoise audit --only laplace-at-down-sensitivity
Python: eq.black_box(f, data=rows, ...)
Audit: black-box
Figure: the largest of n removals moves a mean by about sigma sqrt(2 ln 2n)/n, not sigma/n: 3.9/n for n = 1000
"""

import math

import equipoise as eq
import numpy as np

n = 1000
rows = np.random.default_rng().normal(size=(200, n))
means = rows.mean(axis=1, keepdims=True)
down = np.abs(rows - means).max(axis=1) / (n - 1)
print(down.mean() * n, math.sqrt(2 * math.log(2 * n)))
assert 3 < down.mean() * n < 4 < math.sqrt(2 * math.log(2 * n)) + 0.2
[found] = eq.audit("laplace-at-down-sensitivity")
assert found["verdict"] == "caught"
