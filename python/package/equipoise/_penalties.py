"""What a model's parameters mean on a block, and how many rows a model needs there.

Some penalties are weighed against a sum over rows. A block has a part of the rows, so that the same number penalises a fit of it as many
times more as there are blocks: coefficients shrink. How many blocks there are is public, and so is what a block has to be told instead.
"""

from __future__ import annotations

from typing import Any

from sklearn.base import clone, is_classifier

#: The weight of a penalty beside a sum over rows; of a model by the first of its classes that is listed.
_WEIGHT_OF_PENALTY = {"Ridge": "alpha", "RidgeClassifier": "alpha", "HuberRegressor": "alpha", "KernelRidge": "alpha"}
#: The weight of the sum over rows itself. Models that are not listed average over rows (Lasso, ElasticNet, SGD), or have no penalty.
_WEIGHT_OF_ROWS = {"LogisticRegression": "C", "LinearSVC": "C", "LinearSVR": "C", "SVC": "C", "SVR": "C"}
#: Rows of a block for each parameter: fits of fewer rows are biased, fits of more leave too few blocks.
ROWS_PER_PARAMETER = 5
#: The same where odds are fitted: classes that few rows tell apart without an error have no finite coefficients.
ROWS_PER_PARAMETER_OF_ODDS = 20


def for_blocks(estimator: Any, blocks: int) -> Any:
    """The estimator whose fit of one of so many blocks is penalised as the given one's fit of all rows.

    >>> from sklearn.linear_model import Lasso, LogisticRegression, Ridge
    >>> for_blocks(Ridge(alpha=2.0), 50), for_blocks(LogisticRegression(C=0.1), 50), for_blocks(Lasso(alpha=0.5), 50)
    (Ridge(alpha=0.04), LogisticRegression(C=5.0), Lasso(alpha=0.5))
    """
    for one in type(estimator).__mro__:
        if one.__module__.partition(".")[0] != "sklearn":
            continue
        for table, factor in ((_WEIGHT_OF_PENALTY, 1 / blocks), (_WEIGHT_OF_ROWS, blocks)):
            name = table.get(one.__name__)
            if name is not None:
                told = clone(estimator)
                return told.set_params(**{name: getattr(told, name) * factor})
    return estimator


def rows_per_parameter(estimator: Any) -> int:
    """How many rows of a block each parameter should have."""
    odds = is_classifier(estimator) and any(one.__name__ in _WEIGHT_OF_ROWS for one in type(estimator).__mro__)
    return ROWS_PER_PARAMETER_OF_ODDS if odds else ROWS_PER_PARAMETER
