"""What a refusal means: no answer that looks like one, the charge stands, and the advice says what would help."""

import matplotlib.pyplot as plt

import equipoise as eq

# A mode is released only where it leads by enough that no single person could have changed it.
leads = range(0, 61, 4)
shares = []
for lead in leads:
    towns = ["Bern"] * (100 + lead) + ["Basel"] * 100
    outcome = eq.simulate("mode", towns, trials=400, epsilon=1, delta=1e-6)
    shares.append(1 - outcome.refusals / len(outcome))
    print(f"lead {lead:3}: released in {shares[-1]:.0%} of trials, always {set(outcome.released) or 'nothing'}")

refused = eq.mode(["Bern"] * 101 + ["Basel"] * 100, epsilon=1, delta=1e-6)
print(refused)
if refused.refused:
    print("advice:", refused.advice)
    try:
        float(refused)
    except eq.RefusedError as error:
        print("as a number:", error)

figure, axes = plt.subplots(figsize=(7, 3))
axes.plot(leads, shares, marker="o", color="#00695c")
axes.set(title="Chance of an answer at epsilon 1, delta 1e-6", xlabel="by how many rows Bern leads", ylabel="released")
figure.tight_layout()
figure.savefig("what_a_refusal_means.png")
