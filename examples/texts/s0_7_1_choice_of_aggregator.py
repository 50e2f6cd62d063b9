"""An aggregator that is chosen privately by the data, and paid for

Text: S0, section 7.1, footnote 3
Command line: equipoise run salaries.csv --epsilon 8 --delta 1e-6 --output number --width 10000,100000 --mechanism choice --default 0 --no-time-padding --block-time 60 --blocks 40 -- sh typical_salary.sh
Python: eq.subsample(f, rows, width=[0.1, 10], mechanism="choice", delta=1e-6)
Audit: choice
Figure: a fifth of epsilon chooses the finest width on which enough of 200 blocks agree: 0.5, not 50
"""

import equipoise as eq
import numpy as np

rows = np.full(20_000, 7.2)
release = eq.subsample(np.mean, rows, epsilon=10, delta="1e-6", blocks=200, default=0, width=[0.5, 50], mechanism="choice")
print(release.value, release.covers)
assert abs(release.value - 7.2) <= 0.25 + 1e-9
