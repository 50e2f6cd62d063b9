"""The global sensitivity of a median in [0, R] is R

Text: S2, Example 1.2
Command line: equipoise median seven_r.csv x --range 0,1000 --epsilon 8
Python: eq.median(rows, range=(0, R))
Audit: inverse-sensitivity
Figure: four zeros and three R: one replaced row moves the median by all of R
"""

import statistics

import equipoise as eq

R = 1000
before, after = [0, 0, 0, 0, R, R, R], [0, 0, 0, R, R, R, R]
moved = statistics.median(after) - statistics.median(before)
print(moved)
assert moved == R
found = eq.refute(lambda rows: statistics.median_low(rows) if rows else 0, sensitivity=R - 1, adjacency="replace", made_up=[0, R], size=3)
assert found is not None
assert eq.refute(lambda rows: statistics.median_low(rows) if rows else 0, sensitivity=R, adjacency="replace", made_up=[0, R], size=3) is None
