"""A median without bounds: how its error falls with rows and with epsilon."""

import matplotlib.pyplot as plt
import numpy as np

import equipoise as eq

generator = np.random.default_rng(7)
figure, axes = plt.subplots(figsize=(7, 3.5))
for epsilon in (0.1, 0.5, 2):
    rows, errors = [], []
    for count in (1_000, 3_000, 10_000, 30_000):
        public = generator.lognormal(mean=11, sigma=0.6, size=count)
        truth = float(np.median(public))
        # Made-up data: simulation is free, and shows what a question would come to.
        trials = eq.simulate("median", public, trials=200, epsilon=epsilon)
        if trials.released:
            rows.append(count)
            errors.append(float(np.median(np.abs(np.array(trials.released) - truth))) / truth)
        print(f"epsilon {epsilon:4}  rows {count:6}  refused {trials.refusals:3} of 200  error {errors[-1] if errors else float('nan'):.2%}")
    axes.loglog(rows, errors, marker="o", label=f"epsilon {epsilon}")
axes.set(title="Relative error of a private median, no bounds", xlabel="rows", ylabel="median error")
axes.legend()
figure.tight_layout()
figure.savefig("median_without_bounds.png")
