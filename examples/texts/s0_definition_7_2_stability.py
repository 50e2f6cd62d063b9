"""Perturbation stability: the fewest rows that change a median or a mode

Text: S0, section 7.3.1, Definitions 7.2 and 7.3
Command line: equipoise mode salaries.csv town --mechanism stable --epsilon 1 --delta 1e-6
Python: eq.stable(f, rows_to_change=distance, data=rows)
Audit: distance-off-by-one
Figure: d = Delta - 1: f is k-stable where at least k + 1 rows must change; counting the one for the other is refuted on made-up rows
"""

import equipoise as eq


def at_least_two(rows):
    return len(rows) >= 2


def to_change(rows):
    """Rows to add or remove until the answer is another one."""
    return max(2 - len(rows), len(rows) - 1)


assert eq.refute(at_least_two, rows_to_change=to_change) is None
found = eq.refute(at_least_two, rows_to_change=lambda rows: to_change(rows) + 1)
print(found)
assert found is not None
