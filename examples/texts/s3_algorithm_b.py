"""Algorithm B around an estimator of one's own: a reservoir sample that an adaptive attack breaks when bare

Text: S3, Algorithm B
Command line: no command: the estimator is code of yours; `equipoise robust` has those that are built in
Python: eq.Robust(make_copy, queries=2000, alpha=0.3, error="absolute", highest=1, failure=1e-30)
Audit: robust-transfer
Figure: one who reacts to 1,999 answers takes a bare sample off by more than 0.3 at the last; behind a private median copies of the same size stay within 0.3
"""

import math
import random

import equipoise as eq
import numpy as np

ROWS, QUESTIONS, ALPHA, FAILURE = 8_000, 2_000, 0.3, 1e-30


class Reservoir:
    """Of which share of all rows a question is true, by a uniform sample of them. A question is a set of rows, as bits."""

    def __init__(self, size):
        self.size, self.seen, self.sample, self.bits, self.question = size, 0, [], 0, 0
        self.coins = random.Random(random.SystemRandom().getrandbits(64))

    def update(self, update):
        kind, what = update
        if kind == "question":
            self.question = what
            return
        self.seen += 1
        if len(self.sample) < self.size:
            self.sample.append(what)
        elif (place := self.coins.randrange(self.seen)) < self.size:
            self.bits ^= 1 << self.sample[place]
            self.sample[place] = what
        else:
            return
        self.bits |= 1 << what

    def query(self):
        return (self.question & self.bits).bit_count() / max(len(self.sample), 1)


def attack(estimator):
    """Random questions; the last one is what most of those have in common whose answers were high. How far off its answer is."""
    for row in range(ROWS):
        estimator.update(("row", row))

    def ask(members):
        estimator.update(("question", int.from_bytes(np.packbits(members, bitorder="little").tobytes(), "little")))
        return estimator.query()

    coins = np.random.default_rng()
    score = np.zeros(ROWS)
    for _ in range(QUESTIONS - 1):
        members = coins.random(ROWS) < 0.5
        score += np.sign(ask(members) - members.mean()) * (members - 0.5)
    last = score > 0
    return abs(ask(last) - last.mean())


# Hoeffding: a sample of so many is off by more than 7/8 of alpha with at most that chance, for questions that were fixed in advance.
size = math.ceil(math.log(2 / FAILURE) / (2 * (ALPHA * 7 / 8) ** 2))
bare = attack(Reservoir(size))
robust = eq.Robust(lambda: Reservoir(size), queries=QUESTIONS, alpha=ALPHA, error="absolute", highest=1, failure=FAILURE)
print(f"{robust.copies} copies of {size} rows; a copy may be off with probability {robust.copy_failure:.1e}; {robust.guarantee}")
behind = attack(robust)
print(f"off at the last answer: bare {bare:.3f}, robust {behind:.3f}")
assert bare > ALPHA
assert robust.guarantee == "proved" and behind <= ALPHA
