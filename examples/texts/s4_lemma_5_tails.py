"""Tails of exponential noise and of the largest of d

Text: S4, Lemma 5
Command line: equipoise calibrate noisy-max --epsilon 1 --candidates 100
Python: eq.calibrate("noisy-max", epsilon=1, candidates=100)
Audit: noisy-max
Figure: P(Z > t lambda) = e^-t; the largest of d exceeds lambda (ln d + t) with probability 1 - (1 - e^-t/d)^d, at most e^-t
"""

import math

import numpy as np

d, t = 100, 1.0
exact = 1 - (1 - math.exp(-t) / d) ** d
print(exact, math.exp(-t))
assert exact < math.exp(-t) and abs(exact - 0.3083) < 1e-3
draws = np.random.default_rng().exponential(size=(20_000, d)).max(axis=1)
assert abs((draws > math.log(d) + t).mean() - exact) < 0.02, "six standard errors"
