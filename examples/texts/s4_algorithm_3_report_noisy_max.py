"""Report noisy max with exponential, Laplace and Gumbel noise

Text: S4, Algorithm 3 and Exercise 2, and the notes on Gumbel
Command line: equipoise calibrate noisy-max --epsilon 1 --candidates 1000
Python: eq.choose(scores, sensitivity=1, mechanism="noisy-max", noise="gumbel")
Audit: noisy-max
Figure: noise of scale Delta/epsilon for any scores, as the prose has it, is refuted; 2 Delta/epsilon holds
"""

import equipoise as eq

for noise in ("exponential", "laplace", "gumbel"):
    release = eq.choose({"low": 0, "high": 200}, sensitivity=1, epsilon=2, mechanism="noisy-max", noise=noise)
    print(noise, release.value)
    assert release.value == "high"
[found] = eq.audit("noisy-max-half-noise")
assert found["verdict"] == "caught"
