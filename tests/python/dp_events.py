"""Builds the events that `equipoise plan FILE --export` prints with Google's dp_accounting, and says what they cost.

    equipoise plan batch.json --export | python dp_events.py 1e-6

prints one JSON object: epsilon by privacy-loss distributions and, where every event has a Renyi curve there, by those.
"""

import json
import sys

import dp_accounting
from dp_accounting import pld, rdp
from dp_accounting.pld import common, privacy_loss_distribution


def event(tree):
    """The DpEvent of one exported event; None where this version of the library has no such class."""
    fields = {name: value for name, value in tree.items() if name != "type"}
    if "event" in fields:
        fields["event"] = event(fields["event"])
    if "events" in fields:
        fields["events"] = [event(part) for part in fields["events"]]
    if None in fields.values() or None in fields.get("events", []):
        return None
    kind = getattr(dp_accounting, tree["type"], None)
    return kind and kind(**fields)


def distribution(tree):
    """The privacy-loss distribution, for what accountants of this version do not take as an event."""
    kind = tree["type"]
    if kind == "ComposedDpEvent":
        parts = [distribution(part) for part in tree["events"]]
        total = parts[0]
        for part in parts[1:]:
            total = total.compose(part)
        return total
    if kind == "SelfComposedDpEvent":
        return distribution(tree["event"]).self_compose(tree["count"])
    if kind == "PoissonSampledDpEvent":
        base, rate = tree["event"], tree["sampling_probability"]
        if base["type"] == "GaussianDpEvent":
            return privacy_loss_distribution.from_gaussian_mechanism(base["noise_multiplier"], sampling_prob=rate)
        return privacy_loss_distribution.from_laplace_mechanism(base["noise_multiplier"], sampling_prob=rate)
    if kind == "GaussianDpEvent":
        return privacy_loss_distribution.from_gaussian_mechanism(tree["noise_multiplier"])
    if kind == "LaplaceDpEvent":
        return privacy_loss_distribution.from_laplace_mechanism(tree["noise_multiplier"])
    if kind == "DiscreteLaplaceDpEvent":
        return privacy_loss_distribution.from_discrete_laplace_mechanism(tree["noise_parameter"], tree["sensitivity"])
    if kind == "EpsilonDeltaDpEvent":
        parameters = common.DifferentialPrivacyParameters(tree["epsilon"], tree["delta"])
        return privacy_loss_distribution.from_privacy_parameters(parameters)
    raise SystemExit(f"no distribution for {kind}")


def main():
    delta = float(sys.argv[1])
    tree = json.load(sys.stdin)
    answer = {}
    built = event(tree)
    if built is not None:
        accountant = pld.PLDAccountant()
        if accountant.supports(built):
            answer["pld_by_event"] = accountant.compose(built).get_epsilon(delta)
        accountant = rdp.RdpAccountant()
        if accountant.supports(built):
            answer["rdp_by_event"] = accountant.compose(built).get_epsilon(delta)
    answer["pld"] = distribution(tree).get_epsilon_for_delta(delta)
    print(json.dumps(answer))


if __name__ == "__main__":
    main()
