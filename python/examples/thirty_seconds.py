"""Thirty seconds: a private answer, its error bar, its price."""

import matplotlib.pyplot as plt
import numpy as np

import equipoise as eq

# Salaries that nobody has bounds for.
salaries = np.random.default_rng(2026).lognormal(mean=11, sigma=0.6, size=10_000)

median = eq.median(salaries, epsilon=1)
print(median)
print("true:", round(float(np.median(salaries)), 2), "  spent:", eq.spent())

count = eq.count(salaries, epsilon=0.1)
quartiles = eq.quantile(salaries, [0.25, 0.5, 0.75], epsilon=1)
print(count)
print(quartiles)

figure, axes = plt.subplots(figsize=(7, 3))
axes.hist(salaries, bins=200, range=(0, 200_000), color="#b2dfdb")
for value in quartiles.value or []:
    axes.axvline(value, color="#00695c")
axes.set(title="Quartiles at epsilon 1, no bounds", xlabel="salary", ylabel="people")
figure.tight_layout()
figure.savefig("thirty_seconds.png")
