"""DPAboveThreshold: which question of a stream is the first above a threshold

Text: S3, a DP-stable variant of AboveThreshold, with its accuracy
Command line: equipoise calibrate above-threshold --epsilon 1
Python: eq.AboveThreshold(epsilon=1, threshold=100).answer(values)
Audit: above-threshold
Figure: with the printed noises all of k = 100 answers are right within 8/epsilon ln((k + 1)/beta) = 60.9; ours needs less
"""

import math

import equipoise as eq

k, beta, epsilon = 100, 0.05, 1
printed = 8 / epsilon * math.log((k + 1) / beta)
found = eq.calibrate("above-threshold", epsilon=1)
print(printed, found["error"])
assert abs(printed - 60.89) < 0.01
assert found["threshold_scale"] + found["question_scale"] < 2 / epsilon + 4 / epsilon
watch = eq.AboveThreshold(epsilon=epsilon, threshold=1000)
answers = list(watch.answer([0, 0, 0, 5000]))
assert [bool(answer) for answer in answers] == [False, False, False, True], "a thousand is far beyond all noise"
