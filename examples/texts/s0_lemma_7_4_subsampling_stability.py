"""q-subsampling stability, seen on public rows before anything is paid for

Text: S0, section 7.3.1 and Lemma 7.4
Command line: equipoise simulate --trials 20 run public.csv --epsilon 4 --delta 1e-6 --output label --blocks 40 --default x --block-time 60 -- sh -c 'cat > /dev/null; echo always'
Python: eq.simulate("subsample", f, public_rows, ...)
Audit: majority
Figure: a mode that 90 % of the rows have is that of all rows on every sample; the parity of a sum is on half of them
"""

import equipoise as eq
import numpy as np

rows = np.where(np.arange(20_000) % 10 == 0, 1, 0)
said = {"output": "label", "epsilon": 2, "delta": "1e-6", "blocks": 100, "default": "0", "trials": 50}
stable = eq.simulate("subsample", lambda block: str(int(2 * block.sum() > len(block))), rows, **said)
shaky = eq.simulate("subsample", lambda block: str(int(block.sum()) % 2), rows, **said)
print(stable)
print(shaky)
assert stable.stability == {"rate": 1.0, "size": 1.0} and stable.refusals == 0
assert shaky.stability["rate"] < 0.75
