"""A scikit-learn model: the coefficients of a regression that nobody has analysed."""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import HuberRegressor, LinearRegression

from equipoise.sklearn import Private

generator = np.random.default_rng(11)
features = generator.normal(size=(12_000, 3))
truth = np.array([3.0, -2.0, 1.0])
target = features @ truth + generator.standard_t(3, size=len(features))

figure, axes = plt.subplots(figsize=(7, 3.5))
places = np.arange(3)
axes.bar(places - 0.3, truth, width=0.2, color="#b2dfdb", label="truth")
for shift, model in ((-0.1, LinearRegression()), (0.1, HuberRegressor())):
    private = Private(model, epsilon=4, delta=1e-6, blocks=400).fit(features, target)
    name = type(model).__name__
    if private.refused_:
        print(name, "refused:", private.release_.advice)
        continue
    print(name, np.round(private.coef_, 3), "R² on new data:", round(private.score(features[:1000], target[:1000]), 3))
    axes.bar(places + shift, private.coef_, width=0.2, label=f"private {name}")
axes.set(title="Coefficients at epsilon 4, delta 1e-6", xticks=places)
axes.legend()
figure.tight_layout()
figure.savefig("any_scikit_learn_model.png")
