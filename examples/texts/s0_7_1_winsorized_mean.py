"""The winsorized mean of what blocks answer

Text: S0, section 7.1, footnote 2
Command line: equipoise run salaries.csv --epsilon 4 --output number --range 0,200000 --default 50000 --mechanism winsorized --trim 0.25 --no-time-padding --block-time 60 --blocks 20 -- sh typical_salary.sh
Python: eq.subsample(f, rows, range=(0, 100), mechanism="winsorized", trim=0.25)
Audit: trimmed
Figure: with a quarter of 40 votes moved inwards at each end one vote can carry eleven places: noise for 11/40 of the range
"""

import equipoise as eq
import numpy as np

rows = np.arange(20_000) % 100
release = eq.subsample(np.mean, rows, epsilon=40, blocks=40, range=(0, 100), default=50, mechanism="winsorized", trim=0.25)
half = (release.error["high"] - release.error["low"]) / 2
print(release.value, half)
assert release.mechanism == "winsorized"
assert abs(half - 11 / 40 * 100 / 40 * np.log(20)) < 1e-3
assert abs(release.value - 49.5) < 40
