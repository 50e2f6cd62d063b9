"""A value by its distance to instability (A_dist)

Text: S0, section 7.3.1, Algorithm 13 and Proposition 7.2
Command line: equipoise calibrate threshold --epsilon 1 --delta 1e-6 --form algorithm-13
Python: eq.stable(value, rows_to_change=30, epsilon=1, delta=1e-6)
Audit: gate
Figure: the printed threshold keeps delta/2; at 20 rows from another value the gate releases more often than the threshold
"""

import equipoise as eq

printed = eq.calibrate("threshold", epsilon=1, delta="1e-6", form="algorithm-13")
assert printed["delta"] == 5e-7
threshold = eq.calibrate("threshold", epsilon=1, delta="1e-6", steps=20)["probability"]
gate = eq.calibrate("gate", epsilon=1, delta="1e-6", steps=20)["probability"]
print(threshold, gate)
assert 0.9985 < threshold < 0.9987 and gate > threshold
release = eq.stable("model 3", rows_to_change=60, epsilon=1, delta="1e-6")
assert release.value == "model 3", "certain at 28 rows and more"
