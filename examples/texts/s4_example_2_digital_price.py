"""The price of a digital good, by revenue

Text: S4, Example 2
Command line: equipoise choose prices.csv --score "case when price >= option then option else 0 end" --options 0.01..0.99:0.01 --epsilon 2
Python: eq.choose(lambda p, rows: p * sum(x >= p for x in rows), options=prices, sensitivity=1, data=rows)
Audit: exponential
Figure: 1000 people who pay 0.50 and 1000 who pay 0.30: 0.30 brings 600, 0.50 brings 500
"""

import equipoise as eq

rows = [0.5] * 1000 + [0.3] * 1000
prices = [round(cents / 100, 2) for cents in range(1, 100)]


def revenue(price, rows):
    return price * sum(row >= price for row in rows)


assert round(revenue(0.3, rows)) == 600 and round(revenue(0.5, rows)) == 500
release = eq.choose(revenue, options=prices, sensitivity=1, data=rows, epsilon=2, made_up=[0.0, 0.3, 0.99])
print(release.value, revenue(release.value, rows))
assert revenue(release.value, rows) > 600 - 60, "e^-60 times 99"
