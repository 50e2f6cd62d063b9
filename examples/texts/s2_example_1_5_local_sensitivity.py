"""The local sensitivity of the median of four zeros is 0

Text: S2, Definition 1.4 and Example 1.5
Command line: equipoise median zeros.csv x --type x=integer --mechanism stable --adjacency replace --epsilon 8 --delta 0.5
Python: eq.smooth(f, local=..., range=(0, R))
Audit: smooth
Figure: no one replaced row of 0, 0, 0, 0 moves the lower median
"""

import statistics

import equipoise as eq

zeros = [0, 0, 0, 0]
moved = max(abs(statistics.median_low(zeros[:i] + [value] + zeros[i + 1 :])) for i in range(4) for value in (-(10**9), 1, 10**9))
print(moved)
assert moved == 0
release = eq.stable(0, rows_to_change=2, epsilon=8, delta="0.5")
assert release.value == 0 or release.refused
