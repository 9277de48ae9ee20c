"""Columns that stand for each other: what one says, another says as well, or two others say together.

A model may use either, or the difference between them. To replace one of them alone makes rows that cannot be, such as
an hour that contradicts the time of departure, and its predictions there say nothing about any column. So they are
replaced together, and have one importance.

Two columns stand for each other if either explains 80 % of the other's variance, by a linear regression between their
features. Three do if two of them explain 90 % of the third, and neither does alone: hour, minute and the time of day.

Cost: O(n p^2 + g^3) for n rows of p features in g columns, once.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from thalweg.explain.groups import Groups

Floats = NDArray[np.float64]

#: Shares of the variance that one column, or two, must explain.
_BY_ONE, _BY_TWO = 0.8, 0.9
#: Rows that are needed, and columns and features of a column beyond which nothing is looked for.
_LEAST_ROWS, _MOST_COLUMNS, _MOST_FEATURES = 100, 60, 8
#: Of each feature the values beyond these quantiles count as those at them: single ones would make up a correlation.
_TAILS = (0.01, 0.99)


def stand_ins(X: Floats, groups: Groups) -> list[list[int]]:
    """Groups of features that stand for each other in these rows, by their numbers; those that do not are left out.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> hour, minute, delay = rng.integers(5, 23, 500), rng.integers(0, 60, 500), rng.normal(size=500)
    >>> X = np.column_stack([100.0 * hour + minute, delay, hour, minute])
    >>> stand_ins(X, Groups.single(["time", "delay", "hour", "minute"]))
    [[0, 2, 3]]
    """
    if len(X) < _LEAST_ROWS or not 1 < len(groups) <= _MOST_COLUMNS:
        return []
    Z = np.clip(X, *np.quantile(X, _TAILS, axis=0))
    Z = Z - Z.mean(axis=0)
    scale = Z.std(axis=0)
    varies = scale > 1e-9 * np.maximum(np.abs(X).max(axis=0), 1e-300)
    Z = np.where(varies, Z / np.where(varies, scale, 1.0), 0.0)
    features = [[at for at in each if varies[at]] for each in groups.features]
    columns = [at for at, each in enumerate(features) if 0 < len(each) <= _MOST_FEATURES]
    r = Z.T @ Z / len(Z)
    links = [
        (at, by)
        for at, column in enumerate(columns)
        for by, other in enumerate(columns)
        if at != by and _explained(r, features[column], features[other]) >= _BY_ONE
    ]
    single = [at for at, column in enumerate(columns) if len(features[column]) == 1]
    if len(single) > 2:
        places = [features[columns[at]][0] for at in single]
        links += _by_two(r[np.ix_(places, places)], single)
    return _connected(links, columns)


def _explained(r: Floats, of: list[int], by: list[int]) -> float:
    """The mean share of the variance of features that others explain, from the correlations of all."""
    if len(of) == len(by) == 1:
        return float(r[of[0], by[0]] ** 2)
    shared = r[np.ix_(by, of)]
    return float((shared * np.linalg.solve(r[np.ix_(by, by)] + 1e-9 * np.eye(len(by)), shared)).sum() / len(of))


def _by_two(r: Floats, names: list[int]) -> list[tuple[int, int]]:
    """Links of features to two others that explain them, where one does not; ``r`` are their correlations."""
    links = []
    for at in range(len(names)):
        own = r[at]
        with np.errstate(divide="ignore", invalid="ignore"):
            both = (own[:, None] ** 2 + own**2 - 2.0 * own[:, None] * own * r) / (1.0 - r**2)
        both[(r**2 > 1.0 - 1e-9) | ~np.isfinite(both)] = 0.0
        both[at], both[:, at] = 0.0, 0.0
        first, second = np.unravel_index(np.argmax(both), both.shape)
        if both[first, second] >= _BY_TWO and max(own[first] ** 2, own[second] ** 2) < _BY_ONE:
            links += [(names[at], names[int(first)]), (names[at], names[int(second)])]
    return links


def _connected(links: list[tuple[int, int]], columns: list[int]) -> list[list[int]]:
    """Sets of columns that links join, in the order of the columns."""
    root = list(range(len(columns)))
    for one, other in links:
        joined, into = root[one], root[other]
        root = [into if each == joined else each for each in root]
    found: dict[int, list[int]] = {}
    for at, column in enumerate(columns):
        found.setdefault(root[at], []).append(column)
    return [each for each in found.values() if len(each) > 1]
