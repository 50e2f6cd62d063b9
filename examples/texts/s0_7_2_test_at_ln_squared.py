"""Propose-test-release with the threshold ln^2 n

Text: S0, section 7.2
Command line: equipoise calibrate threshold --epsilon 1 --delta 1e-6
Python: eq.calibrate("threshold", epsilon=1, delta="1e-6")
Audit: threshold-from-private-rows
Figure: a distance of 0 passes ln^2 n with probability n^(-epsilon ln n)/2: 2e-10 for n = 100; the threshold must come from a public n
"""

import math

import equipoise as eq

n, epsilon = 100, 1
passes = 0.5 * math.exp(-epsilon * math.log(n) ** 2)
print(passes)
assert math.isclose(passes, 0.5 * n ** (-epsilon * math.log(n)))
assert 1e-10 < passes < 5e-10
# A test that is this rarely wrong asks for a distance of about ln(1/(2 delta)).
found = eq.calibrate("threshold", epsilon=1, delta="1e-6")
assert abs(found["steps_for_half"] - (1 + math.log(1 / 2e-6))) < 1.2
