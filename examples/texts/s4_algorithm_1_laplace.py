"""The Laplace mechanism, once and k times

Text: S4, Definition 2, Algorithm 1 and Lemma 3
Command line: equipoise calibrate laplace --epsilon 0.5 --sensitivity 1
Python: eq.noise(value, sensitivity=1, epsilon=0.5)
Audit: laplace
Figure: an average of n = 100 values in 0..1 is 1/n-sensitive: noise of scale 0.02 at epsilon 0.5; ten times cost 5
"""

import equipoise as eq

found = eq.calibrate("laplace", epsilon="0.5", sensitivity="0.01", grid="0.0001", values="any")
print(found["scale"])
assert abs(found["scale"] - 0.02) < 1e-3
before = eq.spent()
releases = [eq.noise(0.3, sensitivity="0.01", epsilon="0.5") for _ in range(10)]
assert all(abs(release.value - 0.3) < 1 for release in releases)
print(before, eq.spent())
