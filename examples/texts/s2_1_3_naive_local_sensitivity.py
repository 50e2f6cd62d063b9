"""Noise at the local sensitivity is not private

Text: S2, section 1.3
Command line: equipoise audit --only laplace-at-local-sensitivity
Python: eq.audit("laplace-at-local-sensitivity")
Audit: laplace-at-local-sensitivity
Figure: 0, 0, 0, 0, R, R and 0, 0, 0, R, R, R have the same lower median and local sensitivities 0 and R
"""

import statistics

import equipoise as eq

R = 1000


def local(rows):
    neighbours = [rows[:i] + [value] + rows[i + 1 :] for i in range(len(rows)) for value in (0, R)]
    return max(abs(statistics.median_low(rows) - statistics.median_low(other)) for other in neighbours)


x, y = [0, 0, 0, 0, R, R], [0, 0, 0, R, R, R]
print(local(x), local(y))
assert statistics.median_low(x) == statistics.median_low(y) == 0
assert (local(x), local(y)) == (0, R)
[found] = eq.audit("laplace-at-local-sensitivity")
assert found["verdict"] == "caught"
