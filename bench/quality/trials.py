"""What one trial comes to, and what many of them come to together."""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Trial:
    """One asking.

    ``error``
        How far off the answer was; ``None`` without one.
    ``missed``
        Which share was not answered: 0 or 1, or of the keys those that were not released.
    ``loss``
        How far off with what was missed: what two methods are compared by.
    """

    error: float | None
    missed: float
    loss: float


REFUSED = Trial(None, 1.0, math.inf)


def of_number(answer: float | None, truth: float) -> Trial:
    """A number: off relative to the truth; a refusal is off by more than any answer.

    >>> of_number(110.0, 100.0), of_number(None, 100.0) == REFUSED
    (Trial(error=0.1, missed=0.0, loss=0.1), True)
    """
    if answer is None:
        return REFUSED
    error = abs(answer - truth) / abs(truth)
    return Trial(error, 0.0, error)


def of_counts(answer: Mapping[str, float], truth: Mapping[str, int]) -> Trial:
    """Counts by key: off per key that was released; a key that was not counts as none of its rows.

    >>> of_counts({"a": 12}, {"a": 10, "b": 3, "c": 1})
    Trial(error=2.0, missed=0.6666666666666667, loss=2.0)
    """
    off = sum(abs(count - truth[key]) for key, count in answer.items())
    lost = sum(count for key, count in truth.items() if key not in answer)
    error = off / len(answer) if answer else None
    return Trial(error, 1 - len(answer) / len(truth), (off + lost) / len(truth))


def of_groups(answer: Mapping[str, float], truth: Mapping[str, float]) -> Trial:
    """Numbers by key: the median of how far those of groups are off; a group that was not released is off by more than any.

    >>> of_groups({"a": 11.0, "b": 20.0}, {"a": 10.0, "b": 20.0, "c": 5.0})
    Trial(error=0.05, missed=0.33333333333333337, loss=0.1)
    """
    off = [abs(answer[key] - value) / abs(value) for key, value in truth.items() if key in answer]
    missed = 1 - len(off) / len(truth)
    everybody = off + [math.inf] * (len(truth) - len(off))
    return Trial(statistics.median(off) if off else None, missed, statistics.median(everybody))


def of_model(score: float | None, worthless: float) -> Trial:
    """A model: the share that it leaves unexplained (1 - R²), or of rows that it gets wrong.

    One that does worse than knowing nothing is no better than a refusal.

    >>> of_model(0.75, worthless=1), of_model(-4.0, worthless=1), of_model(None, worthless=0.5) == REFUSED
    (Trial(error=0.25, missed=0.0, loss=0.25), Trial(error=5.0, missed=0.0, loss=inf), True)
    """
    if score is None:
        return REFUSED
    error = 1 - score
    return Trial(error, 0.0, error if error < worthless else math.inf)


@dataclass(frozen=True)
class Cell:
    """Many trials of one method: medians, and the mean of what was missed."""

    error: float | None
    missed: float
    loss: float
    trials: int


def cell(trials: list[Trial]) -> Cell:
    """
    >>> cell([of_number(11.0, 10.0), REFUSED, of_number(13.0, 10.0)])
    Cell(error=0.2, missed=0.3333333333333333, loss=0.3, trials=3)
    """
    errors = [trial.error for trial in trials if trial.error is not None]
    return Cell(
        statistics.median(errors) if errors else None,
        statistics.fmean(trial.missed for trial in trials),
        statistics.median(trial.loss for trial in trials),
        len(trials),
    )


def repeat(ask: Callable[[], Trial], least: int, most: int, seconds: float) -> Cell:
    """At least so many trials; more of them, up to ``most``, while the seconds last."""
    begin, trials = time.perf_counter(), []
    while len(trials) < least or (len(trials) < most and time.perf_counter() - begin < seconds):
        trials.append(ask())
    return cell(trials)
