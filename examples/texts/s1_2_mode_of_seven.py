"""The mode of seven numbers and its frequency

Text: S1, section 2
Command line: equipoise mode seven.csv x --type x=integer --mechanism stable --epsilon 8 --delta 0.5
Python: eq.mode(rows, mechanism="stable")
Audit: mode-raw-gap-under-replace
Figure: the mode of 1, 2, 4, 3, 4, 4, 2 is 4, three times; the next has two, so one replaced row makes a tie
"""

from collections import Counter

import equipoise as eq

rows = [1, 2, 4, 3, 4, 4, 2]
(first, second) = Counter(rows).most_common(2)
print(first, second)
assert first == (4, 3) and second == (2, 2)
[found] = eq.audit("mode-raw-gap-under-replace")
assert found["verdict"] == "caught", "half of the gap is the distance under replace, not all of it"
