"""Every question as a user of each library asks it; each becomes functions that run one trial.

Ours is asked through the package with its defaults: rows are added or removed, and the number of rows is private. "With a range" states the
bounds that others are told. diffprivlib takes the number of rows as public, which is the weaker promise, and costs it nothing.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import diffprivlib.models
import diffprivlib.tools
import numpy as np
from diffprivlib.accountant import BudgetAccountant
from equipoise.sklearn import Private
from sklearn.linear_model import LinearRegression, LogisticRegression

import data
import equipoise as eq
import with_opendp
import with_pydp
from trials import REFUSED, Trial, of_counts, of_groups, of_model, of_number

warnings.simplefilter("ignore")

DELTA = 1e-6
OURS, RANGED, *OTHERS = METHODS = ("ours", "ours with a range", "diffprivlib", "OpenDP", "PyDP")
DIFFPRIVLIB, OPENDP, PYDP = OTHERS
NUMBERS = ("mean", "sum", "std", "median", "iqr", "quantile .9")
STATISTICS = (*NUMBERS, "histogram", "mean by group", "linear", "logistic")

Ask = Callable[[], Trial]


@dataclass(frozen=True)
class Row:
    """One row of the table: what is asked of which data at which epsilon."""

    statistic: str
    of: data.Column | data.Keys | data.Model
    epsilon: float

    @property
    def name(self) -> str:
        of = self.of
        if isinstance(of, data.Keys) and of.of is not None:
            return f"{of.data}: {of.of.name} by {of.name}"
        return of.data if of.name == "value" else f"{of.data}: {of.name}"


def rows(epsilons: list[float]) -> list[Row]:
    """All rows, data set by data set."""
    pairs: list[tuple[str, Any]] = [(statistic, column) for column in data.COLUMNS for statistic in NUMBERS]
    pairs += [("histogram", keys) for keys in data.HISTOGRAMS] + [("mean by group", keys) for keys in data.GROUPS]
    pairs += [("linear", model) for model in data.LINEAR] + [("logistic", model) for model in data.LOGISTIC]
    return [Row(statistic, of, epsilon) for statistic, of in pairs for epsilon in epsilons]


def asks(row: Row) -> tuple[int, dict[str, Ask]]:
    """The number of rows, and one trial of each method that can be asked this."""
    of = row.of
    if isinstance(of, data.Column):
        return _of_numbers(row.statistic, of, row.epsilon)
    if isinstance(of, data.Model):
        return _of_models(of, row.epsilon)
    return _of_keys(of, row.epsilon) if of.of is None else _of_groups(of, of.of, row.epsilon)


def plain(model: data.Model) -> float:
    """What the same model leaves unexplained or wrong without privacy: nobody can do much better."""
    features, target = data.design(model)
    return 1 - float((_linear() if model.above is None else _logistic()).fit(features, target).score(features, target))


def _linear() -> Any:
    return LinearRegression()


def _logistic() -> Any:
    return LogisticRegression(max_iter=1000)


def _released(release: Any) -> float | None:
    return None if release.refused else float(release.value)


def _ours(ask: Callable[[], Trial]) -> Ask:
    """A question that cannot be asked at all, as this one, is refused too."""

    def trial() -> Trial:
        try:
            return ask()
        except eq.RequestError:
            return REFUSED

    return trial


def _of_numbers(statistic: str, column: data.Column, epsilon: float) -> tuple[int, dict[str, Ask]]:
    values, bounds = data.numbers(column), column.bounds
    quantiles = {q: float(np.quantile(values, q, method="inverted_cdf")) for q in (0.25, 0.5, 0.75, 0.9)}
    truth = {
        "mean": float(values.mean()),
        "sum": float(values.sum()),
        "std": float(values.std()),
        "median": quantiles[0.5],
        "iqr": quantiles[0.75] - quantiles[0.25],
        "quantile .9": quantiles[0.9],
    }[statistic]

    def ours(**keywords: Any) -> Ask:
        if statistic == "quantile .9":
            return _ours(lambda: of_number(_released(eq.quantile(values, 0.9, epsilon=epsilon, **keywords)), truth))
        ask = getattr(eq, statistic)
        return _ours(lambda: of_number(_released(ask(values, epsilon=epsilon, **keywords)), truth))

    theirs = {
        "mean": lambda: with_opendp.mean(bounds, epsilon),
        "sum": lambda: with_opendp.noisy_sum(bounds, epsilon),
        "std": lambda: with_opendp.std(bounds, epsilon),
        "median": lambda: with_opendp.quantile(bounds, epsilon, 0.5),
        "iqr": lambda: with_opendp.iqr(bounds, epsilon),
        "quantile .9": lambda: with_opendp.quantile(bounds, epsilon, 0.9),
    }[statistic]()
    googles = with_pydp.number(statistic, bounds, epsilon)
    asked: dict[str, Ask] = {
        OURS: ours(),
        RANGED: ours(range=bounds),
        DIFFPRIVLIB: lambda: of_number(_diffprivlib(statistic, values, epsilon, bounds), truth),
        OPENDP: lambda: of_number(theirs(values), truth),
    }
    if googles is not None:
        asked[PYDP] = lambda: of_number(googles(values), truth)
    return len(values), asked


def _diffprivlib(statistic: str, values: Any, epsilon: float, bounds: data.Bounds) -> float | None:
    try:
        return _answered_by_diffprivlib(statistic, values, epsilon, bounds)
    except RuntimeError:
        # "Can't find a candidate to return": its quantiles fail where many rows share few values.
        return None


def _answered_by_diffprivlib(statistic: str, values: Any, epsilon: float, bounds: data.Bounds) -> float:
    tools = diffprivlib.tools

    def quantile(q: float, part: float) -> float:
        # Its accountant looks at everything that was spent before; a new one does not slow down.
        return float(tools.quantile(values, q, epsilon=part, bounds=bounds, accountant=BudgetAccountant()))

    if statistic == "iqr":
        return quantile(0.75, epsilon / 2) - quantile(0.25, epsilon / 2)
    if statistic in ("median", "quantile .9"):
        return quantile(0.5 if statistic == "median" else 0.9, epsilon)
    return float(getattr(tools, statistic)(values, epsilon=epsilon, bounds=bounds, accountant=BudgetAccountant()))


def _groups(release: Any) -> dict[str, float]:
    return {group["key"]: group["value"] for group in release.groups or () if group["outcome"] == "released"}


def _of_keys(keys: data.Keys, epsilon: float) -> tuple[int, dict[str, Ask]]:
    table = data.keyed(keys)
    truth = {str(key): int(count) for key, count in table[keys.name].value_counts().items()}
    theirs = with_opendp.histogram(epsilon, DELTA)
    ask = lambda: of_counts(_groups(eq.histogram(table, keys.name, epsilon=epsilon, delta=DELTA)), truth)  # noqa: E731
    return len(table), {OURS: _ours(ask), OPENDP: lambda: of_counts(theirs(truth), truth)}


def _of_groups(keys: data.Keys, column: data.Column, epsilon: float) -> tuple[int, dict[str, Ask]]:
    table = data.keyed(keys)
    groups = {str(key): group.to_numpy(float) for key, group in table.groupby(keys.name)[column.name]}
    truth = {key: float(values.mean()) for key, values in groups.items()}
    theirs = with_opendp.mean_by_group(column.bounds, epsilon, DELTA)

    def ours(**keywords: Any) -> Ask:
        words = {"group_by": keys.name, "epsilon": epsilon, "delta": DELTA, **keywords}
        return _ours(lambda: of_groups(_groups(eq.mean(table, column.name, **words)), truth))

    return len(table), {
        OURS: ours(),
        RANGED: ours(range=column.bounds),
        OPENDP: lambda: of_groups(theirs(groups), truth),
    }


def _of_models(model: data.Model, epsilon: float) -> tuple[int, dict[str, Ask]]:
    features, target = data.design(model)
    low, high = (np.array(ends, float) for ends in zip(*(column.bounds for column in model.features), strict=True))
    # What a user of bounds does with them: features between -1 and 1, so that a row has a norm that is known.
    scaled = np.clip((features - low) / (high - low) * 2 - 1, -1, 1)
    width = scaled.shape[1]

    estimator = _linear() if model.above is None else _logistic()
    # That there are two classes is public; diffprivlib reads them from the rows.
    classes = {} if model.above is None else {"classes": [0, 1]}
    # The mean of the target for every row, or a coin.
    worthless = 1.0 if model.above is None else 0.5

    def ours() -> Trial:
        fitted = Private(estimator, epsilon=epsilon, delta=DELTA, **classes).fit(features, target)
        return REFUSED if fitted.refused_ else of_model(fitted.score(features, target), worthless)

    def theirs() -> Trial:
        words = {"epsilon": epsilon, "accountant": BudgetAccountant()}
        if model.above is None:
            box = (np.full(width, -1.0), np.full(width, 1.0))
            fitted = diffprivlib.models.LinearRegression(bounds_X=box, bounds_y=model.target.bounds, **words)
        else:
            fitted = diffprivlib.models.LogisticRegression(data_norm=float(np.sqrt(width)), max_iter=1000, **words)
        return of_model(float(fitted.fit(scaled, target).score(scaled, target)), worthless)

    return len(target), {OURS: _ours(ours), DIFFPRIVLIB: theirs}
