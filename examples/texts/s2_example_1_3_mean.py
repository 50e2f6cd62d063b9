"""The mean of unbounded rows has no sensitivity; limited rows have one

Text: S2, Example 1.3, section 1.1 and Remark 1.6
Command line: equipoise mean salaries.csv salary --epsilon 1
Python: eq.mean(rows, epsilon=1)
Audit: far-end
Figure: two means of n normal rows that share n - 1 of them differ by N(0, 2/n^2): 0.0014 for n = 1000; the range is searched privately
"""

import equipoise as eq
import numpy as np

n = 1000
coins = np.random.default_rng()
ends = coins.normal(size=(20_000, 2))
differences = (ends[:, 0] - ends[:, 1]) / n
print(differences.std())
assert abs(differences.std() * n - 2**0.5) < 0.05, "seven standard errors"
assert eq.refute(lambda rows: sum(rows) / len(rows) if rows else 0, sensitivity=10**9, made_up=[0, 10**12]) is not None
