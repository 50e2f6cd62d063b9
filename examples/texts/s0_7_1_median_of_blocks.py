"""The median of what blocks answer

Text: S0, section 7.1
Command line: equipoise run salaries.csv --epsilon 8 --output number --range 0,200000 --default 50000 --mechanism median --no-time-padding --block-time 60 --blocks 20 -- sh typical_salary.sh
Python: eq.subsample(f, rows, range=(0, 100), mechanism="median")
Audit: inverse-sensitivity
Figure: among 2^20 steps of a range, at epsilon 4 and 95 %: within 8 ranks of the median of 400 answers
"""

import equipoise as eq
import numpy as np

rows = np.arange(40_000) % 100
release = eq.subsample(np.mean, rows, epsilon=4, blocks=400, range=(0, 100), default=50, mechanism="median")
print(release.value, release.error["rank"])
assert release.error["rank"] == 8
assert 20 < release.value < 80
