"""Stability amplification: a mechanism on a secret sample

Text: S3, DP-stability amplification
Command line: equipoise calibrate sampled --epsilon 1 --rate 0.5
Python: eq.sampled(question, rate=0.5); eq.calibrate("sampled", epsilon=1, rate=0.5)
Audit: sampled
Figure: 1-stable on half of the rows is ln(1 + (e - 1)/2) = 0.6201-stable, not 0.5, and below the text's 2 * 0.5
"""

import math

import equipoise as eq

found = eq.calibrate("sampled", epsilon=1, rate="0.5")["epsilon"]
print(found)
assert abs(found - math.log(1 + 0.5 * (math.e - 1))) < 1e-9
assert 0.62 < found < 0.6202 and found < 2 * 0.5
[wrong] = eq.audit("amplification-without-exponential")
assert wrong["verdict"] == "caught"
