"""51 people earn nothing and 50 a million: one row moves the median by a million

Text: S1, introduction
Command line: equipoise median incomes.csv income --type income=integer --mechanism stable --adjacency replace --epsilon 1 --delta 1e-6
Python: eq.median(rows, mechanism="stable", epsilon=1, delta=1e-6)
Audit: gate
Figure: one replaced row is enough, and at that distance the gate opens with probability delta: the answer is refused
"""

import numpy as np

import equipoise as eq

found = eq.calibrate("gate", epsilon=1, delta="1e-6", steps=1)
print(found["probability"])
assert abs(found["probability"] - 1e-6) < 1e-12
rows = np.array([0] * 51 + [10**6] * 50)
release = eq.median(rows, mechanism="stable", adjacency="replace", epsilon=1, delta="1e-6")
assert release.refused, "but for once in a million"
