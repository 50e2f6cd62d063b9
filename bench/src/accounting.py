"""Totals on request: a line "kind parameter rate times delta calls" in, "epsilon CPU-seconds" out."""

import sys
import time

from dp_accounting.pld import common
from dp_accounting.pld import privacy_loss_distribution as pld


def build(kind, parameter, rate):
    sampling = {} if rate == 1 else {"sampling_prob": rate}
    if kind == "gaussian":
        return pld.from_gaussian_mechanism(parameter, **sampling)
    if kind == "laplace":
        return pld.from_laplace_mechanism(1 / parameter, **sampling)
    if kind == "discrete-laplace":
        return pld.from_discrete_laplace_mechanism(parameter, 1)
    if kind == "discrete-gaussian":
        return pld.from_discrete_gaussian_mechanism(parameter)
    return pld.from_privacy_parameters(common.DifferentialPrivacyParameters(parameter, 0))


for line in sys.stdin:
    kind, parameter, rate, times, delta, calls = line.split()
    parameter, rate, times, delta = float(parameter), float(rate), int(times), float(delta)

    def total():
        one = build(kind, parameter, rate)
        return (one.self_compose(times) if times > 1 else one).get_epsilon_for_delta(delta)

    start = time.process_time()
    for _ in range(int(calls)):
        epsilon = total()
    print(epsilon, time.process_time() - start, flush=True)
