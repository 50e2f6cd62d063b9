"""The Gaussian mechanism: its exact scale, and where the textbook formula ends

Text: S4, Exercise 1
Command line: equipoise calibrate gaussian --epsilon 1 --delta 1e-5
Python: eq.noise(value, sensitivity=1, epsilon=1, delta="1e-5", mechanism="gaussian")
Audit: gaussian
Figure: sigma = 3.74 at epsilon 1, delta 1e-5, where sqrt(2 ln(1.25/delta)) is 4.84; at epsilon 10 the formula keeps 2.27e-5, not 1e-5
"""

import math

import equipoise as eq

sigma = math.sqrt(eq.calibrate("gaussian", epsilon=1, delta="1e-5")["variance"])
textbook = math.sqrt(2 * math.log(1.25 / 1e-5))
print(sigma, textbook)
assert abs(sigma - 3.74) < 0.01 and abs(textbook - 4.84) < 0.01
[found] = eq.audit("gaussian-classical-at-epsilon-10")
assert found["verdict"] == "caught"
