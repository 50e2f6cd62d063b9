"""The median of eleven numbers, and how many must be replaced to change it (SMed)

Text: S1, section 1, SMed and Theorem 1
Command line: equipoise median eleven.csv x --type x=integer --mechanism stable --adjacency replace --epsilon 4 --delta 0.1
Python: eq.median(rows, mechanism="stable", adjacency="replace")
Audit: gate
Figure: 1, 1, 2, 3, 3, 3, 3, 4, 5, 5, 5 has the median 3, and two rows must be replaced before it is another number
"""

import itertools
import statistics

import equipoise as eq

rows = [1, 1, 2, 3, 3, 3, 3, 4, 5, 5, 5]
assert statistics.median(rows) == 3


def can_change(k):
    """Some k replaced rows change the median: all become low, or all high."""
    for places in itertools.combinations(range(len(rows)), k):
        for far in (-100, 100):
            moved = [far if place in places else row for place, row in enumerate(rows)]
            if statistics.median(moved) != 3:
                return True
    return False


fewest = next(k for k in range(1, 12) if can_change(k))
print(fewest)
assert fewest == 2
# One replaced row changes nothing, so it may be released; nearly always where the distance is large.
assert eq.calibrate("gate", epsilon=4, delta="0.1", steps=2, adjacency="replace")["probability"] > 0.98
