"""The raw data problem: analysts choose a statistic, then it is computed, for one charge

Text: S0, Example 7.3
Command line: equipoise run salaries.csv --epsilon 8 --output number --range 0,200000 --default 50000 --blocks 20 --no-time-padding --block-time 60 -- sh -c 'cat > /dev/null; echo typical' --and sh -c 'cat > /dev/null; echo typical' --then typical sh typical_salary.sh --then nothing sh -c 'cat > /dev/null; echo 0'
Python: eq.subsample([ann, bob], rows, then={"mean": mean, "median": median})
Audit: analyses
Figure: two analysts name the median where there are outliers; half of epsilon chooses it, half computes it, and the charge is their sum
"""

import equipoise as eq
import numpy as np

rows = np.concatenate([np.linspace(40, 60, 19_000), np.full(1_000, 10_000.0)])


def ann(block):
    return "median" if block.mean() > 2 * np.median(block) else "mean"


def bob(block):
    return "median" if block.max() > 5 * np.median(block) else "mean"


release = eq.subsample(
    [ann, bob], rows, epsilon=8, blocks=200, range=(0, 100), default=50, then={"mean": np.mean, "median": np.median}
)
print(release.value, release.blocks["analysis"])
assert release.blocks["analysis"] == "median" and abs(release.value - 50) < 25
assert release.guarantee["epsilon"] in (8, "8", 8.0)
