"""First framework: bound the local sensitivity privately, then add noise at the bound

Text: S2, section 1.5, framework 1
Command line: equipoise calibrate bounded-local-sensitivity --epsilon 2 --delta 1e-6 --refuse-above 1000
Python: eq.bounded_local_sensitivity(value, local, sensitivity=..., epsilon=..., delta=...)
Audit: bounded-local-sensitivity
Figure: a value that one row moves by 3 here, where that bound itself moves by at most 1
"""

import equipoise as eq

release = eq.bounded_local_sensitivity(1000.0, 3.0, sensitivity=1, epsilon=4, delta="1e-6")
print(release.value)
assert release.refused or abs(release.value - 1000) < 1000
