"""The smooth sensitivity of the median of ten zeros

Text: S2, Example 1.11
Command line: equipoise calibrate smooth --epsilon 1 --range 0,1000
Python: eq.smooth(f, local=lambda rows, k: ..., data=rows)
Audit: smooth
Figure: local sensitivities at distances 0 to 5 are 0, 0, 0, 0, 0 and R, so that it is e^(-5 epsilon) R, not e^(-4 epsilon) R
"""

import math
import statistics

R = 1000


def local(changed):
    """After so many zeros became R: the most that one more replaced row moves the lower median."""
    rows = [0] * (10 - changed) + [R] * changed
    neighbours = [rows[:i] + [value] + rows[i + 1 :] for i in range(10) for value in (0, R)]
    return max(abs(statistics.median_low(rows) - statistics.median_low(other)) for other in neighbours)


found = [local(k) for k in range(6)]
print(found)
assert found == [0, 0, 0, 0, 0, R]
for epsilon in (0.1, 1):
    smooth = max(math.exp(-epsilon * k) * local(k) for k in range(11))
    assert math.isclose(smooth, math.exp(-5 * epsilon) * R)
# 2 ln(R)/epsilon zeros, not ln(R)/epsilon, make it one: half of them must change.
zeros = math.ceil(2 * math.log(10**6))
assert zeros == 28 and math.exp(-zeros / 2) * 10**6 <= 1
