"""Smooth sensitivity with Cauchy noise

Text: S2, Definition 1.10 and section 1.6
Command line: equipoise audit --only cauchy-at-smooth-over-epsilon
Python: eq.smooth(value, local=[...], range=(lo, hi), noise="cauchy")
Audit: smooth
Figure: as printed, at SS/epsilon with beta = epsilon, Cauchy noise loses 1.143 for a promised 1
"""

import equipoise as eq

[found] = eq.audit("cauchy-at-smooth-over-epsilon")
print(found["verdict"])
assert found["verdict"] == "caught"
release = eq.smooth(50.0, local=[0.0] * 40, range=(0, 100), epsilon=1, noise="cauchy")
assert 0 <= release.value <= 100
