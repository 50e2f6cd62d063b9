"""The table, what it shows of the goals, and the page of the documentation that is made of both."""

from __future__ import annotations

import importlib.metadata
import math
from dataclasses import dataclass

import asking
import data
from asking import METHODS, OTHERS, OURS, Row
from trials import Cell, repeat

#: Best, or within this factor of the best.
GOAL_RATIO = 1.2
#: In which share of the rows.
GOAL_SHARE = 0.9

COMMAND = "bench/run quality"


@dataclass(frozen=True)
class Measured:
    """A row with what its methods came to."""

    row: Row
    rows: int
    cells: dict[str, Cell]
    plain: float | None

    @property
    def best(self) -> float:
        """The least loss of the others."""
        return min(cell.loss for method, cell in self.cells.items() if method in OTHERS)

    @property
    def ratio(self) -> float | None:
        """Our loss without bounds over the best of the others; ``None`` where nobody answers half of the time."""
        return ratio(self.cells[OURS].loss, self.best)

    @property
    def reached(self) -> bool:
        return self.ratio is not None and self.ratio <= GOAL_RATIO


def measure(row: Row, least: int, most: int, seconds: float) -> Measured:
    """All methods, one after the other."""
    rows, asks = asking.asks(row)
    cells = {method: repeat(ask, least, max(least, most), seconds) for method, ask in asks.items()}
    return Measured(row, rows, cells, asking.plain(row.of) if isinstance(row.of, data.Model) else None)


def ratio(ours: float, best: float) -> float | None:
    """
    >>> ratio(3.0, 2.0), ratio(0.0, 0.0), ratio(1.0, 0.0), ratio(1.0, math.inf), ratio(math.inf, 1.0)
    (1.5, 1.0, inf, 0.0, inf)
    >>> ratio(math.inf, math.inf) is None
    True
    """
    if math.isinf(best):
        return None if math.isinf(ours) else 0.0
    if best == 0:
        return 1.0 if ours == 0 else math.inf
    return ours / best


def number(value: float) -> str:
    """Three digits that matter.

    >>> number(0.000123456), number(0.0), number(12.3456), number(205960.2), number(math.inf), number(0.99999)
    ('0.000123', '0', '12.3', '2.06e+05', 'inf', '1')
    """
    return f"{value:.3g}"


def written(cell: Cell | None) -> str:
    """An error and the share that was refused, where some was.

    >>> written(Cell(0.0123, 0.0, 0.0123, 40)), written(Cell(0.5, 0.25, 0.7, 40)), written(Cell(None, 1.0, math.inf, 40)), written(None)
    ('0.0123', '0.5, 25 % refused', 'refused', '')
    """
    if cell is None:
        return ""
    if cell.error is None:
        return "refused"
    # A share that is not nothing is not written as nothing.
    share = "" if cell.missed == 0 else f", {'<1' if cell.missed < 0.005 else format(100 * cell.missed, '.0f')} % refused"
    return f"{number(cell.error)}{share}"


HEADING = ("data", "n", "statistic", "epsilon", *METHODS, "ours to the best")


def line(measured: Measured) -> tuple[str, ...]:
    row, found = measured.row, measured.ratio
    return (
        row.name,
        f"{measured.rows:,}",
        row.statistic if measured.plain is None else f"{row.statistic} ({number(measured.plain)} without privacy)",
        f"{row.epsilon:g}",
        *(written(measured.cells.get(method)) for method in METHODS),
        "nobody" if found is None else f"{found:.2f}",
    )


def table(heading: tuple[str, ...], lines: list[tuple[str, ...]]) -> str:
    rule = "|".join("---" for _ in heading)
    return "\n".join([f"| {' | '.join(heading)} |", f"|{rule}|", *(f"| {' | '.join(cells)} |" for cells in lines)])


def verdict(found: list[Measured]) -> str:
    """How many rows reach the goal, and which do not."""
    compared = [measured for measured in found if measured.ratio is not None]
    reached = [measured for measured in compared if measured.reached]
    text = [
        f"Best, or within {GOAL_RATIO} of the best: {len(reached)} of {len(compared)} rows"
        f" ({len(reached) / max(1, len(compared)):.0%}; the goal is {GOAL_SHARE:.0%})."
    ]
    text += _named(found)
    missing = [measured for measured in compared if not measured.reached]
    if missing:
        text += ["", "Not reached:", ""]
        for measured in missing:
            row, cell = measured.row, measured.cells[OURS]
            why = "refused" if math.isinf(cell.loss) else f"{measured.ratio:.2f} times the best"
            text.append(f"- {row.statistic} of {row.name} at epsilon {row.epsilon:g}: {why}")
    nobody = [measured for measured in found if measured.ratio is None]
    if nobody:
        text += ["", "Answered by nobody half of the time, and not counted:", ""]
        text += [f"- {one.row.statistic} of {one.row.name} at epsilon {one.row.epsilon:g}" for one in nobody]
    return "\n".join(text)


#: Goals for one row each: statistic, data, epsilon, the greatest error and the greatest share refused.
NAMED = (
    ("median", "lognormal 1e3", 0.1, 0.012, 0.01),
    ("mean", "lognormal 1e3", 1.0, 0.012, 0.5),
    ("mean", "lognormal 1e3", 0.1, math.inf, 0.5),
    ("mean", "penguins: body_mass_g", 1.0, math.inf, 0.5),
)


def _named(found: list[Measured]) -> list[str]:
    text = []
    for statistic, name, epsilon, error, missed in NAMED:
        for measured in found:
            row, cell = measured.row, measured.cells[OURS]
            if (row.statistic, row.name, row.epsilon) != (statistic, name, epsilon):
                continue
            holds = cell.error is not None and cell.error <= error and cell.missed <= missed
            wanted = f"refused in at most {missed:.0%}" + ("" if math.isinf(error) else f", error at most {error:g}")
            text.append(
                f"The {statistic} of {name} at epsilon {epsilon:g}, {wanted}: {'reached' if holds else 'not reached'}"
                f" ({written(cell)}, {cell.trials} trials)."
            )
    return ["", *(f"- {one}" for one in text)] if text else []


def page(found: list[Measured]) -> str:
    """The page of the documentation."""
    least = min(cell.trials for measured in found for cell in measured.cells.values())
    versions = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in ("diffprivlib", "opendp", "python-dp"))
    given = [(one.data, "" if one.name == "value" else one.name, _bounds(one.bounds), one.why) for one in data.stated()]
    return f"""# How far off: without bounds, and beside libraries that are given bounds

Written by `{COMMAND}`, which builds the package, installs {versions} and the data, measures, and writes this page anew; do not edit.
`{COMMAND} --only mean,median --data diamonds --eps 1` measures some rows and writes nothing.

Each number is a median over at least {least} trials, more where they are quick; noise has no seed. Ours is asked as a user
asks, `eq.mean(values, epsilon=1)`, with its defaults and all checks that can refuse: nothing is stated about the column. "With a range"
states the bounds that the others are given.

What the numbers are:

- mean, sum, std, median, iqr, quantile .9: the absolute error relative to the true value, of the trials that had an answer.
- histogram, its keys unknown beforehand: the absolute error of counts in rows, summed and divided by the number of released keys;
  refused is the share of keys that were not released. Delta is 1e-6.
- mean by group, the keys unknown: the median over groups of the relative error; refused is the share of groups without an answer. Delta is 1e-6.
- linear: 1 - R²; logistic: the share of rows that are predicted wrongly; both on the rows of the fit. Ours has a delta of 1e-6.

The last column divides ours without bounds by the best of diffprivlib, OpenDP and PyDP. There, a refusal is worse than every answer, so
that whoever refuses half of the time has no error that is finite; of a histogram, a key that was not released counts as 0 rows; a model
with R² below 0, or wrong about every second row, is worth no more than a refusal. `nobody`: no rival answers half of the time, nor do
we. An empty cell: the library does not offer it.

A median of 40 errors is itself off by about a fifth, and a ratio of two by a third: rows near {GOAL_RATIO} change sides from run to run.

The promises differ. Ours, OpenDP and PyDP protect a row that is added or removed, and the number of rows with it; diffprivlib takes the number of rows
as public, which favours it. Our models have a delta, diffprivlib's have none, which favours ours. OpenDP's mean is a noisy sum over a noisy count, its quantiles are chosen from 1,000
candidates over the bounds, its groups are found by a threshold on noisy counts. An answer that fails with an error, as diffprivlib's
quantiles of values with many ties do, is counted as refused.

## What the others are given

Public round numbers around what can be, as a careful person states them who has not seen the rows; not the least and greatest value.

{table(("data", "column", "bounds", "what it is"), given)}

## Goals

{verdict(found)}

## All rows

{table(HEADING, [line(measured) for measured in found])}
"""


def _bounds(bounds: tuple[float, float]) -> str:
    return f"{bounds[0]:,} to {bounds[1]:,}"
