"""scikit-learn regressors, classifiers and clusterers, made private by subsample and aggregate.

    from sklearn.linear_model import LinearRegression
    from equipoise.sklearn import Private

    model = Private(LinearRegression(), epsilon=1, delta=1e-6).fit(X, y)
    model.refused_ or model.predict(X_new)

The model is fitted on blocks of the rows, and what is published of its parameters is what the blocks agree on. Nothing has
to be known about how it is fitted: no bounds, no clipping, no changes to the model. A model needs parameters of a size that is known
beforehand (coefficients, centres, statistics of classes) and one output; transformers, mixtures and models of several outputs are
refused with a reason. Least squares is better made of noisy moments, and is (:func:`equipoise.regression`).
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone, is_classifier, is_clusterer, is_regressor
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from . import _statistics
from ._blocks import Blocks, cutter
from ._books import books, name_of, odometer
from ._errors import DataError, RefusedError, RequestError
from ._matrix import checked, features, target
from ._moments import MOMENTS, is_least_squares, least_squares, parameters, suits
from ._penalties import ROWS_PER_PARAMETER, for_blocks, rows_per_parameter
from ._quiet import hush, is_interrupt
from ._release import Release
from ._subsample import _deal, _planned, reader, vote
from ._wording import decimal
from ._workers import portable, votes_of

#: What a fitted model is, by the first of these that it has all of.
PARAMETERS = (("coef_", "intercept_"), ("coef_",), ("cluster_centers_",), ("theta_", "var_", "class_prior_"), ("centroids_",))
#: The parts of epsilon that buy the number of rows and the list of classes, where these are not given.
_ROWS_SHARE, _CLASSES_SHARE = Fraction(1, 50), Fraction(1, 10)
_FEWEST_BLOCKS = 16
#: Each number of blocks that is tried is so many times the one before.
_MORE_BLOCKS = 1.3


def _has(method: str) -> Any:
    def check(self: Private) -> bool:
        getattr(self.estimator, method)
        return True

    return available_if(check)


class Private(MetaEstimatorMixin, BaseEstimator):
    """A regressor, classifier or clusterer under (epsilon, delta)-differential privacy for the rows it is fitted on.

    Models with parameters (``coef_`` and ``intercept_``, ``cluster_centers_``, the means of naive Bayes) are fitted once and
    predict as often as wanted. Others, such as trees, are asked: each row that ``predict`` sees costs ``epsilon / queries``,
    and the fitted object holds private models, so keep it to yourself.

    ``classes``
        The labels there can be; without them a part of epsilon and delta finds those that are frequent. They are never
        read from ``y`` for free.
    ``blocks``, ``rows``
        How many blocks, or how many rows there are; without either a part of epsilon buys a noisy count of the rows. A block has at
        least five rows for each parameter, and where odds are fitted twenty, if so few blocks are enough for an answer.
    ``mechanism``
        How blocks become one model (``"vectors"``, ``"ball"``), or ``"moments"``: least squares from sums with noise, which
        ``LinearRegression()`` takes by itself where that is predicted to be nearer and no ``blocks`` are given. It is refused
        where the model may explain less than nothing, as far as noise tells; ``release_`` has a bar for each coefficient and for R².
    ``range``, ``range_on``
        Ranges of ``y`` and of each column of ``X``, for moments: ``range=(0, 20000), range_on=(0, 6, 40, 80)``. Without them a part of
        epsilon finds some.
    ``rescale_penalty``
        Penalties that are weighed against a sum over rows (``C`` of logistic regression and support vectors, ``alpha`` of ridge and
        Huber's regression) are told to each block as a part of what they are for all rows; ``False`` leaves them as they are.
    ``progress``
        Show for how long blocks are being fitted; how many are done would tell of their rows.
    ``show_output``
        What models print and warn of while they are fitted may quote rows and is swallowed; ``True`` shows it, to whoever may
        see rows.
    ``refused_``, ``release_``
        After ``fit``: was there no answer, and the release itself. After a refusal ``predict`` raises
        :class:`equipoise.RefusedError` with the advice. There is none unless a noisy count, for a tenth of epsilon, shows that at least
        half of the blocks could be fitted; zeros stand for the others. ``release_.covers`` says what the error bar is about:
        the blocks' parameters, not those of a fit of all rows.

    Of models that are asked row by row, a block that could not be fitted says 0, or the first class; how many could is not told.

    ``score`` compares with the labels that it is given, and what it says is not private.
    """

    def __init__(
        self,
        estimator: Any,
        *,
        epsilon: Any = 1.0,
        delta: Any = 1e-6,
        blocks: int | None = None,
        rows: int | None = None,
        classes: Sequence[Any] | None = None,
        queries: int = 100,
        mechanism: str | None = None,
        range: Any = None,
        range_on: Any = None,
        rescale_penalty: bool = True,
        adjacency: str = "add-remove",
        n_jobs: int | None = None,
        time_limit: float | None = None,
        progress: bool = False,
        show_output: bool = False,
        ledger: Any = None,
        name: str | None = None,
        analyst: str | None = None,
    ) -> None:
        self.estimator = estimator
        self.epsilon = epsilon
        self.delta = delta
        self.blocks = blocks
        self.rows = rows
        self.classes = classes
        self.queries = queries
        self.mechanism = mechanism
        self.range = range
        self.range_on = range_on
        self.rescale_penalty = rescale_penalty
        self.adjacency = adjacency
        self.n_jobs = n_jobs
        self.time_limit = time_limit
        self.progress = progress
        self.show_output = show_output
        self.ledger = ledger
        self.name = name
        self.analyst = analyst

    def fit(self, X: Any, y: Any = None) -> Private:
        """Fit on blocks and publish the parameters that they agree on, or nothing."""
        self._forget()
        X, y = self._checked(X, y)
        epsilon, delta = _exact(self.epsilon, "epsilon"), _exact(self.delta, "delta")
        if epsilon <= 0:
            raise RequestError(f"epsilon {self.epsilon} is not accepted: give a number above 0, such as 1")
        portable(self.estimator, self.n_jobs, self.time_limit, what="the estimator")
        self.spent_: list[Release] = []
        self.release_: Release | None = None
        if is_classifier(self.estimator):
            self.classes_, epsilon, delta = self._classes(y, epsilon, delta)
            if len(self.classes_) < 2:
                return self._refuse("fewer than two classes are frequent enough; give classes=, more rows or more epsilon")
        template = self._template(X.shape[1])
        names = next((names for names in PARAMETERS if all(hasattr(template, name) for name in names)), None)
        size = X.shape[1] if names is None else sum(np.size(getattr(template, name)) for name in names)
        rows = self.rows if self.adjacency != "replace" or self.rows is not None else len(X)
        by_moments = self._by_moments(X.shape[1], rows, epsilon, delta)
        if rows is None and (by_moments is None or (not by_moments and self.blocks is None)):
            rows, epsilon = self._count(X, epsilon)
            by_moments = self._by_moments(X.shape[1], rows, epsilon, delta)
        if by_moments:
            return self._fit_moments(X, y, template, epsilon, delta)

        def worded(blocks: int) -> dict[str, Any]:
            if names is None:
                return {**self._words("predict", epsilon / self.queries, Fraction(0), blocks), **self._output()}
            words = self._words("fit", epsilon, delta, blocks)
            return {**words, "output": f"vector:{size}", "mechanism": self.mechanism}

        blocks = self._blocks(rows, size, worded)
        fitted = for_blocks(self.estimator, blocks) if self.rescale_penalty else self.estimator
        if names is None:
            return self._keep_models(X, y, fitted, worded(blocks))
        words = worded(blocks)
        try:
            _planned(words, books(self.ledger, self.analyst))
        except RequestError as error:
            # Once something was paid, that it cannot go on is a refusal.
            if self.spent_:
                return self._refuse(_without_default(str(error)))
            hint = None if error.hint is None else _without_default(error.hint)
            raise RequestError(_without_default(str(error)), error.argument, hint) from None
        fitting = _Fit(fitted, names, y is not None, self._expected_classes())
        data = X if y is None else np.column_stack([X, self._codes(y)])
        release = vote(
            words,
            lambda ballot: _deal(ballot, len(X), None),
            lambda dealt: self._votes(fitting, data, dealt, reader(words["output"])),
            ledger=self.ledger,
            analyst=self.analyst,
        )
        return self._published_as(release, template, names, lambda: np.asarray(release.value))

    def _published_as(self, release: Release, template: Any, names: tuple[str, ...], values: Callable[[], Any]) -> Private:
        self.release_ = release
        self.spent_.append(release)
        self.refused_ = release.refused
        if not self.refused_:
            self.estimator_ = _with(template, names, values())
            for name in names:
                setattr(self, name, getattr(self.estimator_, name))
        return self

    def _by_moments(self, features: int, rows: int | None, epsilon: Fraction, delta: Fraction) -> bool | None:
        """Are moments taken? Nothing where the number of rows decides, and is not known."""
        fits = is_least_squares(self.estimator)
        if self.mechanism == MOMENTS:
            if not fits:
                name = type(self.estimator).__name__
                raise RequestError(f"mechanism={MOMENTS!r} is for LinearRegression() with an intercept, and this is {name}; leave it out")
            if self.blocks is not None:
                raise RequestError(f"mechanism={MOMENTS!r} has no blocks; leave out blocks=, or the mechanism")
            return True
        stated = self.range is not None or self.range_on is not None
        if stated and not (fits and self.mechanism is None and self.blocks is None):
            raise RequestError(f"range= and range_on= are for mechanism={MOMENTS!r}; leave them out")
        if not fits or self.mechanism is not None or self.blocks is not None:
            return False
        return suits(features, rows, float(epsilon), float(delta))

    def _fit_moments(self, X: Any, y: Any, template: Any, epsilon: Fraction, delta: Fraction) -> Private:
        words = {"epsilon": decimal(epsilon), "delta": decimal(delta) if delta else None, "range": self.range, "range_on": self.range_on}
        release = least_squares(X, y, **words, **self._books())
        return self._published_as(release, template, PARAMETERS[0], lambda: np.asarray(parameters(release)))

    def _forget(self) -> None:
        """What an earlier fit left."""
        for name in [name for name in vars(self) if name.endswith("_") or name in ("_models", "_query", "_advice")]:
            delattr(self, name)

    def _checked(self, X: Any, y: Any) -> tuple[Any, Any]:
        """Shapes and types are looked at, not cells: a row that cannot be used is a row without a say, not an error."""
        supervised = not is_clusterer(self.estimator)
        if supervised and not (is_regressor(self.estimator) or is_classifier(self.estimator)):
            raise DataError("the estimator is no regressor, classifier or clusterer; give one of these")
        if supervised and y is None:
            name = type(self).__name__
            raise RequestError(f"This {name} estimator requires y to be passed, but the target y is None")
        # That there are no rows is private: such a fit is refused like others.
        words: dict[str, Any] = {"dtype": np.float64, "ensure_all_finite": False, "ensure_min_samples": 0, "ensure_min_features": 0}
        line = "X cannot be read as a table of numbers; give a table or a two-dimensional array of numbers"
        X = checked(lambda: validate_data(self, features(X), **words), line)
        if X.shape[1] == 0:
            raise RequestError("X has 0 feature(s) and a minimum of 1 is required")
        if not supervised:
            return X, None
        given = checked(lambda: target(y), "y cannot be read as a column; give one column of numbers or labels")
        if len(given.column) != len(X):
            raise RequestError("X and y differ in length; give a label for each row")
        if is_regressor(self.estimator):
            return X, checked(given.numbers, "y holds something else than numbers; give numbers")
        given.column.check("text", "y")
        if self.classes is None and given.dtype.kind not in "biuOUST":
            raise RequestError("Unknown label type: labels are whole numbers or texts; give such, or classes=")
        return X, given

    def _words(self, what: str, epsilon: Fraction, delta: Fraction, blocks: int) -> dict[str, Any]:
        account = odometer(self.adjacency) if self.ledger is None else name_of(None, self.ledger, self.name)
        return {
            "statistic": f"{type(self.estimator).__name__}.{what}",
            "data": account,
            "epsilon": decimal(epsilon),
            "delta": decimal(delta),
            "adjacency": self.adjacency,
            "blocks": blocks,
            "unit": None,
            "mechanism": None,
            "confidence": "0.95",
        }

    def _books(self) -> dict[str, Any]:
        return {"ledger": self.ledger, "name": self.name, "analyst": self.analyst, "adjacency": self.adjacency}

    def _count(self, X: Any, epsilon: Fraction) -> tuple[int, Fraction]:
        """About how many rows there are, and the epsilon that is left."""
        release = _statistics.count(X[:, 0], epsilon=decimal(epsilon * _ROWS_SHARE), **self._books())
        self.spent_.append(release)
        return release.value, epsilon * (1 - _ROWS_SHARE)

    def _blocks(self, rows: int | None, size: int, worded: Callable[[int], dict[str, Any]]) -> int:
        """The number of blocks that has as many rows for each parameter as the model needs; more where so few cannot answer."""
        if self.blocks is not None:
            return int(self.blocks)
        assert rows is not None, "counted where it was not given"

        def of(each: int) -> int:
            return max(_FEWEST_BLOCKS, int(rows) // (each * max(1, size)))

        blocks, most = of(rows_per_parameter(self.estimator)), of(ROWS_PER_PARAMETER)
        while blocks < most:
            try:
                _planned(worded(blocks), books(self.ledger, self.analyst))
                return blocks
            except RequestError:
                blocks = min(most, int(blocks * _MORE_BLOCKS) + 1)
        return blocks

    def _classes(self, y: Any, epsilon: Fraction, delta: Fraction) -> tuple[Any, Fraction, Fraction]:
        if self.classes is not None:
            return np.unique(np.asarray(self.classes)), epsilon, delta
        if delta == 0:
            raise RequestError("without classes= a delta is needed to find them; give classes=, or delta=1e-6")
        release = _statistics.histogram(
            {"class": y.column},
            "class",
            types={"class": "text"},
            epsilon=decimal(epsilon * _CLASSES_SHARE),
            delta=decimal(delta / 2),
            **self._books(),
        )
        self.spent_.append(release)
        found = [group["key"] for group in release.groups or [] if group["value"] is not None]
        return _labels(found, y.dtype), epsilon * (1 - _CLASSES_SHARE), delta / 2

    def _expected_classes(self) -> Any:
        return np.arange(len(self.classes_)) if is_classifier(self.estimator) else None

    def _codes(self, y: Any) -> Any:
        """Labels as their places among the classes; others, which are rare or wrong, as not-a-number."""
        if not is_classifier(self.estimator):
            return y
        places = {text: float(place) for place, text in enumerate(target(self.classes_).texts())}
        return np.array([places.get(text, np.nan) for text in y.texts()])

    def _template(self, features: int) -> Any:
        """The model fitted on made-up rows: the shape of its parameters, and everything else that it needs to predict."""
        count = 40 + 10 * features + 10 * len(getattr(self, "classes_", ()))
        made_up = np.sin(np.outer(np.arange(1, count + 1), np.sqrt(np.arange(2, features + 2)))) * 3
        model = clone(self.estimator)
        if is_clusterer(model):
            return model.fit(made_up)
        target = made_up.sum(axis=1)
        if is_classifier(model):
            target = np.arange(count) % len(self.classes_)
        return model.fit(made_up, target)

    def _keep_models(self, X: Any, y: Any, estimator: Any, words: dict[str, Any]) -> Private:
        if is_clusterer(self.estimator):
            raise DataError("this clusterer has no centres to publish; give one that has, such as KMeans")
        # The blocks are dealt now and asked later.
        ballot = _planned(words, books(self.ledger, self.analyst))
        data = np.column_stack([X, self._codes(y)])
        fitting = _Fit(estimator, None, True, self._expected_classes())
        self._models = self._votes(fitting, data, _deal(ballot, len(X), None), None)
        self._query = words
        self.queries_left_ = int(self.queries)
        self.refused_ = False
        return self

    def _votes(self, fitting: _Fit, data: Any, dealt: list[Any], read: Callable[[Any], Any] | None) -> list[Any]:
        return votes_of(
            fitting,
            Blocks(cutter(data), dealt),
            n_jobs=self.n_jobs,
            time_limit=self.time_limit,
            progress=self.progress,
            read=read,
            show_output=self.show_output,
        )

    def _output(self) -> dict[str, Any]:
        if is_classifier(self.estimator):
            return {"output": "label", "options": [str(place) for place in range(len(self.classes_))], "default": "0"}
        return {"output": "number", "default": 0.0}

    def _refuse(self, advice: str) -> Private:
        self.refused_, self._advice = True, advice
        return self

    def _ready(self, X: Any) -> Any:
        check_is_fitted(self, "refused_")
        if self.refused_:
            advice = self._advice if self.release_ is None else _without_default(str(self.release_.advice))
            raise RefusedError(f"the fit was refused: {advice}")
        return validate_data(self, X, dtype=np.float64, ensure_all_finite=False, reset=False)

    def predict(self, X: Any) -> Any:
        """Predict with the published parameters; where there are none, each row is paid for."""
        X = self._ready(X)
        if not hasattr(self, "estimator_"):
            return self._ask_models(X)
        finite = np.nan_to_num(X)
        # Noise may have made parameters so large that a sum overflows: a bad prediction, and no reason to warn.
        with np.errstate(over="ignore", invalid="ignore"):
            found = self.estimator_.predict(finite)
        return self.classes_[found.astype(int)] if is_classifier(self.estimator) else found

    def _ask_models(self, X: Any) -> Any:
        if len(X) > self.queries_left_:
            raise RefusedError(f"{self.queries_left_} predicted rows are left of {self.queries}; fit with more queries=")
        self.queries_left_ -= len(X)
        with hush(not self.show_output):
            of_rows = [[_predicted(model, row) for model in self._models] for row in np.nan_to_num(X)]
        found = []
        for votes in of_rows:
            release = vote(self._query, lambda _: [], lambda _: votes, ledger=self.ledger, analyst=self.analyst)
            found.append(release.value)
        return self.classes_[np.array(found, dtype=int)] if is_classifier(self.estimator) else np.array(found, dtype=float)

    @_has("decision_function")
    def decision_function(self, X: Any) -> Any:
        """As of the wrapped model, with the published parameters."""
        return self._published("decision_function", X)

    @_has("predict_proba")
    def predict_proba(self, X: Any) -> Any:
        """As of the wrapped model, with the published parameters."""
        return self._published("predict_proba", X)

    def _published(self, method: str, X: Any) -> Any:
        X = self._ready(X)
        if not hasattr(self, "estimator_"):
            raise RefusedError(f"{method} needs published parameters, and this model has none; use predict")
        with np.errstate(over="ignore", invalid="ignore"):
            return getattr(self.estimator_, method)(np.nan_to_num(X))

    def rehearse(self, X: Any, y: Any = None, *, rows: int | None = None) -> dict[str, Any]:
        """What cutting rows into blocks does to the parameters, on public rows: nothing is charged, and nothing of it is private.

        Gives the parameters of one fit of all rows (``whole``), the median of those of the blocks (``of_blocks``), and their
        difference (``bias``), which no noise is in, with the number of blocks and the share of them that could be fitted
        (``fitted``). ``rows`` is the number that blocks are chosen for, that of these rows unless said.

        >>> import numpy as np
        >>> from sklearn.linear_model import LogisticRegression
        >>> X = np.random.default_rng(1).normal(size=(6000, 1))
        >>> y = (np.random.default_rng(2).random(6000) < 1 / (1 + np.exp(-1.5 * X[:, 0]))).astype(int)
        >>> seen = [Private(LogisticRegression(), blocks=300, rescale_penalty=rescale).rehearse(X, y)["bias"][0] for rescale in (False, True)]
        >>> bool(seen[0] < -0.3 and seen[1] > -0.1)
        True
        """
        if self.mechanism == MOMENTS:
            raise RequestError(f"a rehearsal compares blocks, and mechanism={MOMENTS!r} has none")
        X, y = self._checked(X, y)
        if is_classifier(self.estimator):
            self.classes_ = np.unique(self.classes) if self.classes is not None else np.unique([text for text in y.texts() if text is not None])
        template = self._template(X.shape[1])
        names = next((names for names in PARAMETERS if all(hasattr(template, name) for name in names)), None)
        if names is None:
            raise RequestError("a rehearsal compares parameters, and this model has none")
        size = sum(np.size(getattr(template, name)) for name in names)
        epsilon, delta = _exact(self.epsilon, "epsilon"), _exact(self.delta, "delta")

        def worded(blocks: int) -> dict[str, Any]:
            words = self._words("fit", epsilon, delta, blocks)
            return {**words, "data": "rehearsal", "output": f"vector:{size}", "mechanism": self.mechanism}

        blocks = self._blocks(len(X) if rows is None else rows, size, worded)
        fitted = for_blocks(self.estimator, blocks) if self.rescale_penalty else self.estimator
        data = X if y is None else np.column_stack([X, self._codes(y)])
        whole = _Fit(self.estimator, names, y is not None, self._expected_classes())(data[np.isfinite(data).all(axis=1)])
        labels = np.random.default_rng().integers(blocks, size=len(data))
        dealt = [np.flatnonzero(labels == block) for block in np.arange(blocks)]
        votes = self._votes(_Fit(fitted, names, y is not None, self._expected_classes()), data, dealt, reader(f"vector:{size}"))
        given = [vote for vote in votes if vote is not None and np.isfinite(vote).all()]
        middle = np.median(given, axis=0) if given else np.full(size, np.nan)
        return {"blocks": blocks, "fitted": len(given) / blocks, "whole": whole, "of_blocks": middle, "bias": middle - whole}

    def score(self, X: Any, y: Any = None) -> float:
        """Accuracy or R², against labels that are at hand: not private."""
        from sklearn.metrics import accuracy_score, r2_score

        if is_clusterer(self.estimator):
            return float(self._published("score", X))
        measure = accuracy_score if is_classifier(self.estimator) else r2_score
        return float(measure(y, self.predict(X)))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        tags.estimator_type = inner.estimator_type
        tags.classifier_tags = copy.copy(inner.classifier_tags)
        if tags.classifier_tags is not None:
            tags.classifier_tags.multi_label = False
        tags.regressor_tags = copy.copy(inner.regressor_tags)
        tags.target_tags = copy.copy(inner.target_tags)
        tags.target_tags.multi_output = False
        tags.input_tags = copy.copy(inner.input_tags)
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = False
        tags.non_deterministic = True
        return tags


class _Fit:
    """Fits a model on one block and gives its parameters, or the model itself; fails where a class is missing."""

    def __init__(self, estimator: Any, names: tuple[str, ...] | None, supervised: bool, classes: Any) -> None:
        self._estimator, self._names, self._supervised, self._classes = estimator, names, supervised, classes

    def __call__(self, block: Any) -> Any:
        import warnings

        model = clone(self._estimator)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if not self._supervised:
                model.fit(block)
            else:
                known = np.isfinite(block[:, -1])
                rows, target = block[known, :-1], block[known, -1]
                if self._classes is not None:
                    target = target.astype(int)
                    if self._names is not None and len(np.unique(target)) < len(self._classes):
                        return None
                model.fit(rows, target)
        return model if self._names is None else _flat(model, self._names)


def _flat(model: Any, names: tuple[str, ...]) -> Any:
    """The parameters in one row. Centres have no order of their own: they are sorted, so that blocks can agree."""
    parts = []
    for name in names:
        values = np.asarray(getattr(model, name), dtype=float)
        if name == "cluster_centers_":
            values = values[np.lexsort(values.T[::-1])]
        parts.append(values.ravel())
    return np.concatenate(parts)


def _with(template: Any, names: tuple[str, ...], values: Any) -> Any:
    """The template with these parameters in place of its own."""
    model, start = copy.deepcopy(template), 0
    for name in names:
        shape = np.shape(getattr(template, name))
        part = values[start : start + int(np.prod(shape, dtype=int))].reshape(shape)
        start += part.size
        if name == "var_":
            part = np.maximum(part, 1e-9)
        if name == "class_prior_":
            part = np.clip(part, 1e-9, None) / np.clip(part, 1e-9, None).sum()
        setattr(model, name, np.ascontiguousarray(part) if shape else float(part))
    for name in ("labels_", "inertia_"):
        if hasattr(model, name):
            delattr(model, name)
    return model


def _predicted(model: Any, row: Any) -> Any:
    if model is None:
        return None
    try:
        found = model.predict(row.reshape(1, -1))[0]
        return str(int(found)) if isinstance(found, (int, np.integer)) else float(found)
    except BaseException as error:
        if is_interrupt(error):
            raise
        return None


def _labels(found: list[str], kind: np.dtype[Any]) -> Any:
    """Published texts as labels of this type; its length in texts is private, so that it is their own."""
    if kind.kind == "b":
        return np.unique(np.array([text == "true" for text in found], dtype=bool))
    if kind.kind in "iu":
        return np.unique(np.array([int(text) for text in found], dtype=kind))
    return np.unique(np.array(found, dtype=object if kind.kind == "O" else str))


def _without_default(text: str) -> str:
    """Advice without what only whoever asks about numbers can do: parameters have no default.

    >>> _without_default("give blocks=92, or a default=, which blocks without an answer count as")
    'give blocks=92'
    """
    return re.sub(r", or (state )?a default=(, which blocks without an answer count as)?", "", text)


def _exact(value: Any, name: str) -> Fraction:
    try:
        return Fraction(decimal(value, name))
    except (ValueError, ZeroDivisionError):
        raise RequestError(f"{name} is not a number; give one such as 1 or 1e-6") from None
