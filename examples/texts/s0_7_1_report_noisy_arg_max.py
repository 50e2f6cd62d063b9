"""How many blocks choose among m options

Text: S0, section 7.1 (b >= log m)
Command line: equipoise calibrate exponential --epsilon 1 --candidates 1000
Python: eq.calibrate("exponential", epsilon=1, candidates=1000)
Audit: arg-max
Figure: unanimous blocks need 19.7 votes to choose among 1000 options with probability 0.95, not log2(1000) = 10
"""

import math

import equipoise as eq

found = eq.calibrate("exponential", epsilon=1, candidates=1000)
print(found["error"])
assert abs(found["error"] - 2 * math.log(999 * 0.95 / 0.05)) < 1e-6
assert round(found["error"], 1) == 19.7
