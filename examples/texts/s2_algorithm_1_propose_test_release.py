"""Propose-test-release around any algorithm

Text: S2, section 2, Algorithm 1
Command line: equipoise calibrate propose-test-release --epsilon 1 --delta 1e-6
Python: eq.propose_test_release(value, distance=..., bound=..., epsilon=..., delta=...)
Audit: propose-test-release
Figure: released where the nearest data set that breaks the proposed bound is 60 rows away; refused, nearly always, where it is 1
"""

import equipoise as eq

far = eq.propose_test_release(100.0, distance=200, bound=2, epsilon=2, delta="1e-6")
near = eq.propose_test_release(100.0, distance=0, bound=2, epsilon=2, delta="1e-6")
print(far.value, near.refused)
assert not far.refused and abs(far.value - 100) < 100
assert near.refused, "but for once in a million"
