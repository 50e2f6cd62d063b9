"""ThresholdMonitor: thresholds for ever, where rows drop out that helped k times

Text: S3, an extension of DPAboveThreshold
Command line: equipoise calibrate threshold-monitor --epsilon 1 --delta 1e-6 --budget 10
Python: eq.ThresholdMonitor(data, epsilon=1, delta=1e-6, budget_per_unit=10).ask(predicate, threshold)
Audit: threshold-monitor
Figure: noise of scale 19.72 at k = 10, epsilon 1, delta 1e-6
"""

import equipoise as eq

found = eq.calibrate("threshold-monitor", epsilon=1, delta="1e-6", budget=10)
print(found["scale"])
assert abs(found["scale"] - 19.72) < 0.01
monitor = eq.ThresholdMonitor({"x": list(range(5_000))}, epsilon=1, delta="1e-6", budget_per_unit=2)
assert monitor.ask("x < 4000", 1000)
assert not monitor.ask("x < 0", 1000)
