"""m-stability: samples of m rows with repetition

Text: S1, section 2, Definition 2 and Theorem 3
Command line: equipoise simulate --trials 20 run public.csv --epsilon 4 --delta 1e-6 --output label --blocks 40 --default x --block-time 60 -- sh -c 'cat > /dev/null; echo always'
Python: eq.simulate("subsample", f, public_rows, ...).stability["size"]
Audit: majority
Figure: a question whose answer all samples of 100 rows share is m-stable: 1.0, where 0.75 is asked for
"""

import equipoise as eq
import numpy as np

rows = np.concatenate([np.full(9_000, 1.0), np.full(1_000, 5.0)])
seen = eq.simulate("subsample", lambda block: f"{np.median(block):g}", rows, output="label", epsilon=2, delta="1e-6", blocks=100, default="?", trials=20)
print(seen.stability)
assert seen.stability["size"] == 1.0 and seen.details["stability"][1]["size"] == 100
