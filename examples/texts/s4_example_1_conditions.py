"""The most common of d medical conditions

Text: S4, Example 1
Command line: equipoise select conditions.csv condition --among asthma,flu,gout --epsilon 4
Python: eq.choose(scores, options, sensitivity=1, monotone=True)
Audit: exponential
Figure: 90 people with flu, 40 with asthma and 5 with gout: at epsilon 4 another one is chosen less than once in 10^40
"""

import equipoise as eq

counts = {"asthma": 40, "flu": 90, "gout": 5}
release = eq.choose(counts, sensitivity=1, monotone=True, epsilon=4)
print(release.value)
assert release.value == "flu"
