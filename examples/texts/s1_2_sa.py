"""SA as printed: its samples and the delta that it really keeps

Text: S1, section 2, SA and Theorem 4
Command line: no command runs it at these sizes: 262,144 evaluations for a delta of 0.025; `equipoise run --mechanism sa --rows N --size M` says so first
Python: eq.subsample(f, rows, mechanism="sa", rows=n, size=m, adjacency="replace")
Audit: bootstrap
Figure: n/m = 64 and epsilon 1: 262,144 samples, and a delta of 0.0249
"""

import equipoise as eq
import numpy as np

said = {"output": "label", "epsilon": 1, "mechanism": "sa", "rows": 640, "size": 10, "adjacency": "replace"}
try:
    eq.subsample(lambda block: "zero", np.zeros(640), delta="0.01", **said)
except eq.RequestError as error:
    print(error)
    assert "2.489e-2" in str(error)
else:
    raise AssertionError("a delta of 0.025 is no delta of 0.01")
# Far fewer samples, whose rows are capped, do the same for a delta of one's own.
release = eq.subsample(lambda block: "zero", np.zeros(640), output="label", epsilon=4, delta="1e-6", adjacency="replace",
                       mechanism="bootstrap", rows=640, size=4, blocks=400)
assert release.value == "zero"
