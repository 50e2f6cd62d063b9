"""Two neighbours with the same median, and local sensitivities 0 and a million

Text: S0, section 7.2, Definition 7.1
Command line: equipoise audit --only laplace-at-local-sensitivity
Python: eq.refute(f, local=...)
Audit: laplace-at-local-sensitivity
Figure: noise scaled to the local sensitivity is not private for any epsilon: a statement that 0 bounds it is refuted
"""

import statistics

import equipoise as eq


def median(rows):
    return statistics.median_low(rows) if rows else 0


found = eq.refute(median, local=lambda rows, k: 0, made_up=[0, 10**6])
print(found)
assert found is not None and "1000000" in str(found).replace(",", "").replace("1e+06", "1000000").replace("1e6", "1000000")
