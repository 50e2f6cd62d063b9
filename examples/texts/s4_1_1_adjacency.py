"""Two notions of adjacency: one row replaced, or one that comes or goes

Text: S4, Definition 1 and section 1.1
Command line: equipoise audit --only laplace
Python: eq.count(rows, epsilon=1, adjacency="replace")
Audit: laplace
Figure: a count moves by 1 where a row comes and by 0 where one is replaced; a sum of rows in 0..1 by 1 in both
"""

import equipoise as eq

assert eq.refute(len, sensitivity=1) is None
assert eq.refute(len, sensitivity="0.5") is not None
assert eq.refute(len, sensitivity="0.001", adjacency="replace") is None
for adjacency in ("add-remove", "replace"):
    assert eq.refute(sum, sensitivity=1, adjacency=adjacency, made_up=[0, 1]) is None
print("e^epsilon at 0.1:", 2.718281828**0.1)
