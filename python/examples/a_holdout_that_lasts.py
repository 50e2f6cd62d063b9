"""A holdout that lasts: an analyst picks features with the help of a holdout, and asks it how good they are.

The labels are coin tosses, so no classifier is right more often than half of the time. A plain holdout that helped to choose
the features says otherwise; the reusable one does not, and says how many corrections it has left. After Dwork, Feldman,
Hardt, Pitassi, Reingold and Roth, "The reusable holdout", Science 2015.
"""

import matplotlib.pyplot as plt
import numpy as np

import equipoise as eq

FEATURES, SIZES = 4_000, [21, 201, 601, 1101, 1601]
rng = np.random.default_rng()


def rows(count):
    """Features of one sign or the other, and a label that has nothing to do with them."""
    return rng.integers(0, 2, (count, FEATURES), dtype=np.int8) * 2 - 1, rng.integers(0, 2, count, dtype=np.int8) * 2 - 1


class Vote:
    """A classifier: features vote, each with its sign."""

    def __init__(self, features, signs):
        self.features, self.signs = features, signs

    def predict(self, table):
        return np.where(table[:, self.features] @ self.signs.astype(np.float32) > 0, 1, -1)


def agreement(table, labels):
    """How often each feature is equal to the label."""
    return (table == labels[:, None]).mean(axis=0)


def study(training, agrees, score):
    """Keep features on which training rows and holdout agree, strongest first; let ever more of them vote."""
    seen = agreement(*training)
    kept = [feature for feature in range(FEATURES) if (seen[feature] > 0.5) == agrees(feature)]
    kept.sort(key=lambda feature: -abs(seen[feature] - 0.5))
    signs = np.where(seen > 0.5, 1, -1)
    votes = [Vote(kept[:size], signs[kept[:size]]) for size in SIZES]
    return votes, [score(vote) for vote in votes]


# As many rows as the guarantee needs for so many questions and corrections.
ROWS = 24_000
training, held_out, fresh = rows(ROWS), rows(ROWS), rows(ROWS)
holdout = eq.Holdout(
    training, held_out, questions=FEATURES + len(SIZES), corrections=10, tolerance=0.05, threshold=0.04, epsilon=1
)
plain_agreement = agreement(*held_out)


def plain_score(vote):
    return float((vote.predict(held_out[0]) == held_out[1]).mean())


def truth(vote):
    return float((vote.predict(fresh[0]) == fresh[1]).mean())


def reusable(feature):
    return holdout.ask(lambda table, labels: table[:, feature] == labels) > 0.5


votes, plain = study(training, lambda feature: plain_agreement[feature] > 0.5, plain_score)
true = [truth(vote) for vote in votes]
print("plain holdout:   ", [f"{said:.3f}" for said in plain], "truth", [f"{share:.3f}" for share in true])
asked, lasting = study(training, reusable, holdout.score)
true_lasting = [truth(vote) for vote in asked]
print("reusable holdout:", [f"{said:.3f}" for said in lasting], "truth", [f"{share:.3f}" for share in true_lasting])
print(f"{10 - holdout.corrections_left} corrections used, {holdout.corrections_left} left")

assert plain[-1] > 0.55 and abs(true[-1] - 0.5) < 0.03, "a plain holdout deceives"
assert all(abs(said - share) <= holdout.accuracy for said, share in zip(lasting, true_lasting)), "this one does not"

figure, axes = plt.subplots(figsize=(7, 3.5))
axes.plot(SIZES, plain, marker="o", color="#b71c1c", label="a plain holdout says")
axes.plot(SIZES, lasting, marker="o", color="#00695c", label="the reusable holdout says")
axes.plot(SIZES, true, linestyle=":", color="#555555", label="truth")
axes.set(title="Features that tell nothing", xlabel="features that vote", ylabel="share of right predictions", ylim=(0.4, 0.8))
axes.legend()
figure.tight_layout()
figure.savefig("a_holdout_that_lasts.png")
