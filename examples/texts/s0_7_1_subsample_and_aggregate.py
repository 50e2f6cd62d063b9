"""Any function on blocks, and the trimmed mean of what they answer

Text: S0, section 7.1 and footnote 1
Command line: equipoise run salaries.csv --epsilon 4 --output number --range 0,200000 --default 50000 --mechanism trimmed --trim 0.1 --no-time-padding --block-time 60 --blocks 20 -- sh typical_salary.sh
Python: eq.subsample(f, rows, range=(0, 100), mechanism="trimmed", trim=0.1)
Audit: trimmed
Figure: one block of 200 moves a mean without a tenth at each end by 100/160; at epsilon 4 that is noise of scale 0.15625, and a bar of 0.468 to either side
"""

import equipoise as eq
import numpy as np

rows = np.arange(20_000) % 100
release = eq.subsample(np.mean, rows, epsilon=4, blocks=200, range=(0, 100), default=50, mechanism="trimmed", trim=0.1)
half = (release.error["high"] - release.error["low"]) / 2
print(release.value, half)
assert abs(half - 100 / 160 / 4 * np.log(20)) < 1e-3
assert abs(release.value - 49.5) < 8, "noise of fifty scales"
