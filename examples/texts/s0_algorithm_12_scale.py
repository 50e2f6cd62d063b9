"""The interquartile range up to a factor

Text: S0, section 7.2.1, Algorithm 12 and Theorem 7.1
Command line: equipoise iqr salaries.csv salary --mechanism scale --epsilon 2 --delta 1e-6
Python: eq.iqr(rows, mechanism="scale", epsilon=2, delta=1e-6)
Audit: scale
Figure: the printed threshold 1 + ln(1/delta) without epsilon has a delta of 0.235 at 4 epsilon for epsilon 0.1; the corrected form is (2 epsilon, delta)
"""

import equipoise as eq
import numpy as np

release = eq.iqr(np.random.default_rng().normal(size=20_000), mechanism="scale", epsilon=2, delta="1e-6", rows=20_000)
print(release.value)
assert release.refused or 0.2 < release.value < 9
[found] = eq.audit("scale-threshold-without-epsilon")
assert found["verdict"] == "caught"
