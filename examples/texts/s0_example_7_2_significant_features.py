"""A set of features: feature by feature, and as a whole

Text: S0, Example 7.2
Command line: equipoise run salaries.csv --epsilon 8 --delta 1e-6 --output labels --options age,town,salary --default age --mechanism counts --no-time-padding --block-time 60 --blocks 40 -- sh -c 'cat > /dev/null; echo age; echo town'
Python: eq.subsample(f, rows, output="labels", options=features, mechanism="counts")
Audit: counts
Figure: both ways of aggregating name the two features that matter, of three
"""

import equipoise as eq
import numpy as np

coins = np.random.default_rng()
features = coins.normal(size=(6_000, 3))
rows = np.column_stack([features, 2 * features[:, 0] - 3 * features[:, 2]])


def significant(block):
    """Features whose least-squares weight is above one."""
    weights = np.linalg.lstsq(block[:, :3], block[:, 3], rcond=None)[0]
    return [name for name, weight in zip(("height", "shoe", "age"), weights) if abs(weight) > 1]


said = {"epsilon": 8, "delta": "1e-6", "blocks": 100, "output": "labels", "default": []}
each = eq.subsample(significant, rows, options=["height", "shoe", "age"], mechanism="counts", **said)
whole = eq.subsample(significant, rows, mechanism="majority", **said)
print(each.value, whole.value)
assert sorted(each.value) == sorted(whole.value) == ["age", "height"]
