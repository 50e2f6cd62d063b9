"""Second framework: inverse sensitivity

Text: S2, section 1.5, framework 2
Command line: equipoise median salaries.csv salary --mechanism inverse-sensitivity --epsilon 1
Python: eq.median(rows, epsilon=1)
Audit: inverse-sensitivity
Figure: among all finite floats, at epsilon 1 and 95 %: within 47 ranks of the median, whatever the rows
"""

import equipoise as eq

found = eq.calibrate("inverse-sensitivity", epsilon=1)
print(found)
assert 47 in found.values()
