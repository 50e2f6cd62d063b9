"""A_samp as printed, and what replaces it

Text: S0, section 7.3.2, Algorithm 14 and Theorem 7.3
Command line: equipoise calibrate bootstrap --epsilon 1 --delta 1e-6 --rows 100000
Python: eq.subsample(f, rows, mechanism="a-samp", rows=n); mechanism="bootstrap"
Audit: bootstrap
Figure: 19,801,688 evaluations at epsilon 1, delta 1e-6 and 100,000 rows; at epsilon 40, delta 0.01 and 2,000 rows there are 663
"""

import equipoise as eq
import numpy as np

found = eq.calibrate("bootstrap", epsilon=1, delta="1e-6", rows=100_000)
print(found["samples"])
assert found["samples"] == 19_801_688
try:
    eq.subsample(np.median, np.zeros(100_000), output="label", epsilon=1, delta="1e-6", rows=100_000, mechanism="a-samp")
except eq.RequestError as error:
    assert "19801688 evaluations" in str(error) or "evaluations" in str(error)
else:
    raise AssertionError("nobody waits for twenty million evaluations")
release = eq.subsample(lambda block: "zero", np.zeros(2_000), output="label", epsilon=40, delta="0.01", rows=2_000, mechanism="a-samp")
print(release.value, release.blocks["count"])
assert release.value == "zero" and 600 < release.blocks["count"] < 700
sampled = eq.subsample(lambda block: "zero", np.zeros(2_000), output="label", epsilon=4, delta="1e-6", blocks=500, rate=0.01, mechanism="bootstrap")
assert sampled.value == "zero"
