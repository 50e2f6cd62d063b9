"""Smooth sensitivity, seen: local sensitivity against distance, the smooth bound, and the noise that follows it."""

import matplotlib.pyplot as plt
import numpy as np

import equipoise as eq

rows = np.sort(np.concatenate([np.random.default_rng(3).normal(50, 5, 400), [0.0, 100.0]]))
low, high, beta = 0.0, 100.0, 0.1
middle = len(rows) // 2
padded = np.concatenate([np.full(len(rows), low), rows, np.full(len(rows), high)])
middle += len(rows)

# What one person can do to the median after k others have changed: the widest gap of k + 1 ranks around the middle.
distances = np.arange(120)
local = [max(padded[middle + shift] - padded[middle + shift - k - 1] for shift in range(k + 2)) for k in distances]
decayed = np.exp(-beta * distances) * local
smooth = decayed.max()
print(f"local sensitivity here {local[0]:.3f}, smooth bound {smooth:.3f}, worst case {high - low:.0f}")

noise = eq.simulate("median", rows, trials=2000, epsilon=1, range=(low, high), resolution=0.01)
released = np.array(noise.released)
print(f"a median at epsilon 1 without any of this: off by {np.median(np.abs(released - np.median(rows))):.3f}")

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.5))
left.plot(distances, local, label="local sensitivity at distance k", color="#b0bec5")
left.plot(distances, decayed, label="with the decay $e^{-\\beta k}$", color="#00695c")
left.axhline(smooth, linestyle="--", color="#b00020", label="smooth bound")
left.set(xlabel="rows changed", yscale="log")
left.legend(fontsize=8)
right.hist(released, bins=60, color="#b2dfdb")
right.axvline(float(np.median(rows)), color="#00695c")
right.set(title="2,000 private medians", xlabel="value")
figure.tight_layout()
figure.savefig("smooth_sensitivity_seen.png")
