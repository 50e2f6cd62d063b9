"""The exponential mechanism, also with a base measure

Text: S4, Algorithm 2 and Theorem 4
Command line: equipoise calibrate exponential --epsilon 1 --candidates 3
Python: eq.choose(scores, options, sensitivity=1, base=[...])
Audit: exponential
Figure: scores 0, 1, 2 at epsilon 2 are chosen with odds 1 : e : e^2; a base measure multiplies them
"""

import math

import equipoise as eq

weights = [math.exp(score) for score in (0, 1, 2)]
odds = [weight / sum(weights) for weight in weights]
print(odds)
assert abs(odds[2] - 0.665) < 1e-3
trials = [eq.choose({"a": 0, "b": 1, "c": 2}, sensitivity=1, epsilon=2, mechanism="exponential").value for _ in range(300)]
assert abs(trials.count("c") / 300 - odds[2]) < 0.17, "six standard errors"
only = eq.choose({"a": 0, "b": 0}, sensitivity=1, epsilon=1, base=[1, 1e-12], mechanism="exponential")
assert only.value == "a"
