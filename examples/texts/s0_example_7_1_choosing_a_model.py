"""The model that most blocks choose, with about how many chose it

Text: S0, Example 7.1
Command line: equipoise run salaries.csv --epsilon 4 --output label --options young,old --default young --mechanism popularity --no-time-padding --block-time 60 --blocks 20 -- sh -c 'cat > /dev/null; echo old'
Python: eq.subsample(f, rows, options=models, mechanism="popularity")
Audit: arg-max
Figure: all of 100 blocks choose the line: it is named, and its popularity is 100 with noise of scale 1/2 (a quarter of epsilon 8)
"""

import equipoise as eq
import numpy as np

x = np.linspace(0, 1, 10_000)
rows = np.column_stack([x, 3 * x + 1])


def best(block):
    """A line or a constant, by squared error."""
    errors = {}
    for name, degree in (("constant", 0), ("line", 1)):
        fitted = np.polyfit(block[:, 0], block[:, 1], degree)
        errors[name] = np.sum((np.polyval(fitted, block[:, 0]) - block[:, 1]) ** 2)
    return min(errors, key=errors.get)


release = eq.subsample(best, rows, epsilon=8, blocks=100, options=["constant", "line"], default="constant", mechanism="popularity")
print(release.value, release.blocks["votes"], release.blocks["votes_within"])
assert release.value == "line"
assert abs(release.blocks["votes"] - 100) < 30 and release.blocks["votes_within"] == 1
