"""How far below the best score the answer may be: noisy max, and the exponential mechanism

Text: S4, Theorem 6 and Exercise 3
Command line: equipoise calibrate exponential --epsilon 1 --candidates 100
Python: eq.calibrate("noisy-max", epsilon=1, candidates=100)["error"]
Audit: exponential
Figure: with t = ln 20 and d = 100 the theorem has 4 (ln d + t)/epsilon = 30.4; half of it suffices, and both mechanisms are below that
"""

import math

import equipoise as eq

d, t = 100, math.log(20)
theorem = 4 * (math.log(d) + t)
found = [eq.calibrate(name, epsilon=1, candidates=d)["error"] for name in ("noisy-max", "exponential")]
print(theorem, found)
assert abs(theorem - 30.4) < 0.01
assert all(error <= theorem / 2 for error in found)
