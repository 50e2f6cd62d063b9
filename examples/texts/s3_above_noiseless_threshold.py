"""AboveNoiselessThreshold: one noise is enough, two are the text's

Text: S3, intuition, steps 1 and 2
Command line: equipoise calibrate threshold-monitor --epsilon 1 --delta 1e-6 --budget 1 --noise laplace
Python: eq.calibrate("threshold-monitor", epsilon=1, delta="1e-6", budget=1, noise="laplace")
Audit: threshold-monitor
Figure: one Laplace noise of scale 15.75 at epsilon 1, delta 1e-6, where the two printed noises are 10 ln^2(1/delta) = 1909 and ln(1/delta) = 13.8
"""

import math

import equipoise as eq

l = math.log(10**6)
found = eq.calibrate("threshold-monitor", epsilon=1, delta="1e-6", budget=1, noise="laplace")["scale"]
print(found, 10 * l**2, l)
assert abs(found - 15.7502) < 1e-3
assert abs(10 * l**2 - 1908.7) < 0.1 and abs(l - 13.8) < 0.02
