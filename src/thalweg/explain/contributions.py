"""One prediction explained: how much each column contributes to it, beside a base value.

The contributions are Shapley values under intervention: the worth of a set of columns is the mean score of rows that
have these columns from the row in question and all others from a background row. With the mean score of the background,
the base value, they add up to the score of the row.

1. Of few columns (8 at the most by default) all sets are enumerated: exact.
2. A score that is a sum over the features, as that of a linear model, needs the mean background row alone: exact.
3. Else columns are replaced one after the other along paths from each background row to the row, in a random order and
   in its reverse. The differences along a path add up to the difference of its ends whatever the order, so the
   contributions add up exactly; the standard error says how far each may be from its limit.

Of sparse rows only the values that are not zero are explained, and "replaced" means left out.

E. Štrumbelj and I. Kononenko, "Explaining prediction models and individual predictions with feature contributions",
Knowledge and Information Systems 41, 2014; S. M. Lundberg and S.-I. Lee, "A Unified Approach to Interpreting Model
Predictions", NeurIPS 2017; R. Mitchell et al., "Sampling Permutations for Shapley Value Estimation", JMLR 23, 2022.

Cost: b (2^g - 2) predictions for a row of g columns and b background rows by sets, b m (g - 1) by m paths for each
background row, g - 1 for a linear score; memory O(b p), with blocks of at most 2^21 numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import factorial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thalweg.errors import InvalidInput, InvalidParameter
from thalweg.explain.groups import Groups, groups_for
from thalweg.explain.importance import is_additive, is_classifier, outputs_for, scores_of
from thalweg.parameters import Whole
from thalweg.tables import Plan

Floats = NDArray[np.float64]
Masks = NDArray[np.bool_]
Places = NDArray[np.int64]

#: Columns of which all sets are enumerated.
MOST_ENUMERATED = 8
#: Columns of which all sets are enumerated for every row of a table or a request, and those that are named.
_FEW, _MOST_NAMED = 4, 10
#: What all columns that are not named contribute together.
_OTHERS = "other columns"
#: Of the rows that a model has kept, those that are background.
_RECENT = 32
#: Numbers of the rows that are asked at once.
_BLOCK = 1 << 21
#: By how much a score that should be a sum may differ from one, relative to its size.
_ADDITIVE_WITHIN = 1e-9


@dataclass(frozen=True)
class Contributions:
    """Result of `contributions`.

    Attributes
    ----------
    names : tuple of str or None
        The columns; None for sparse rows, whose contributions are by place.
    feature_names : dict of int to str, or None
        Of sparse rows, the names of the features that contribute: a column, or a word as in ``"note: late"``. None
        where rows have no names. Features may share a name.
    values : ndarray of shape (rows, columns), or csr_array
        The contributions. With the base value they add up to the score.
    standard_error : ndarray of shape (rows, columns), or csr_array
        0 where the contributions are exact. It includes the spread of the background, so that it errs on the large
        side.
    base : ndarray of shape (rows,)
        The mean score of the background.
    score : ndarray of shape (rows,)
        The score that is explained: the probability of the label, the number, or the decision score.
    labels : ndarray or None
        The label whose score it is; None of a regressor.
    """

    names: tuple[str, ...] | None
    values: Any
    standard_error: Any
    base: Floats
    score: Floats
    labels: NDArray[Any] | None
    feature_names: dict[int, str] | None = None

    def top(self, row: int, most: int = 5) -> dict[str, float]:
        """The largest contributions to one row, either sign, by name."""
        return dict(list(self.ranked(row).items())[:most])

    def ranked(self, row: int) -> dict[str, float]:
        """All contributions to one row that are not zero, by name, the largest of either sign first.

        Features of one name, such as the categories of a column, count together.
        """
        if self.names is None:
            begin, end = self.values.indptr[row : row + 2]
            places, values = self.values.indices[begin:end].tolist(), self.values.data[begin:end]
            known = self.feature_names
            names = [f"x{at}" if known is None else known[at] for at in places]
        else:
            names, values = list(self.names), self.values[row]
        by_word: dict[str, float] = {}
        for name, value in zip(names, values.tolist(), strict=True):
            by_word[name] = by_word.get(name, 0.0) + value
        return dict(sorted(((name, value) for name, value in by_word.items() if value), key=lambda item: -abs(item[1])))


def contributions(
    model: Any,
    X: Any,
    background: Any = None,
    *,
    groups: Any = None,
    label: Any = None,
    paths: int | None = None,
    seed: int = 0,
) -> Contributions:
    """How much each column contributes to the prediction of each row.

    Parameters
    ----------
    model : classifier or regressor
        Any that is fitted, also of scikit-learn; or a `TableClassifier` or `TableRegressor`, whose rows are tables; or
        a `StreamPipeline` that begins with a `TextHasher`, whose rows are texts.
    X : array of shape (rows, features), a table for a table's model, texts, or a sparse matrix
        The rows to explain.
    background : rows like X, optional
        What the base value is the mean score of, and where the values come from that stand in for those of a row:
        some dozens of ordinary rows. By default the recent rows that the model has kept; a file keeps those of a run.
        Sparse rows and texts have none: their values are left out.
    groups : dict of name to features, optional
        Features that are replaced together, by place or name; those in no group are one group. By default each feature
        is by itself, or the features of one column of a table together. Sparse rows cannot be grouped.
    label : optional
        The class whose score is explained, or the target by its place; by default the prediction.
    paths : even int >= 2, optional
        Paths for each background row: more lower the standard error. By default all sets of columns are enumerated
        where there are at most 8 columns, and 2 paths are taken elsewhere.
    seed : int
        Seed for the order of the columns along the paths.

    Returns
    -------
    Contributions
        The contributions, their standard errors, the base value and the score.

    Examples
    --------
    >>> import numpy as np
    >>> from thalweg import OnlineLinearRegression
    >>> from thalweg.explain import contributions
    >>> X = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0], [3.0, 1.0]])
    >>> model = OnlineLinearRegression(solver="rls").fit(X, 3.0 * X[:, 0] - X[:, 1])
    >>> result = contributions(model, [[4.0, 4.0]], X, groups={"rain": 0, "wind": 1})
    >>> {name: round(value, 3) for name, value in result.top(0).items()}, round(float(result.base[0]), 3)
    ({'rain': 7.5, 'wind': -3.0}, 3.5)
    """
    typed = getattr(model, "_typed", None)  # of a table's model, whose learner has labels as text
    if typed is not None and label is not None:
        label = model._labels_as_learned([label])[0]
    if hasattr(model, "_to_explain"):
        model, X, background, groups = model._to_explain(X, background, groups)
    if paths is not None:
        rule = Whole(2, 10_000, text="be an even integer from 2 to 10,000, or None")
        rule.check("contributions", "paths", paths)
        if paths % 2:
            raise InvalidParameter.of("contributions", "paths", rule.text, paths)
    if hasattr(X, "tocsr"):
        if groups is not None and not isinstance(groups, Groups):
            raise InvalidParameter.of("contributions", "groups", "be left out of sparse rows", groups)
        result = _of_sparse_rows(model, X.tocsr(), groups, label, paths, seed)
        return result if typed is None or result.labels is None else replace(result, labels=typed(result.labels))
    rows = _numbers(X)
    background = _background(model, background, rows.shape[1])
    groups = groups_for(groups, model, rows.shape[1])
    outputs = outputs_for(model, rows, label, len(rows))
    score = _picked(scores_of(model, rows), outputs)
    of_background = scores_of(model, background)
    base = of_background.mean(axis=0)[outputs]
    number, count = groups.numbers(), len(groups)
    mean_row = background.mean(axis=0, keepdims=True)
    if is_additive(model) and _is_mean(scores_of(model, mean_row)[0], of_background.mean(axis=0)):
        background, of_background, paths = mean_row, of_background.mean(axis=0, keepdims=True), 1
    values, errors = np.zeros((len(rows), count)), np.zeros((len(rows), count))
    for at, (row, output) in enumerate(zip(rows, outputs.tolist(), strict=True)):
        # A column that is the same in all background rows contributes nothing.
        active = np.unique(number[(background != row).any(axis=0)])

        def worth(
            masks: Masks, places: Places, row: Floats = row, output: int = output, active: Places = active
        ) -> Floats:
            chosen = np.zeros((len(masks), count), dtype=np.bool_)
            chosen[:, active] = masks
            return np.asarray(scores_of(model, np.where(chosen[:, number], row, background[places]))[:, output])

        plan = _Plan.of(len(active), len(background), paths, seed)
        ends = of_background[:, output], float(score[at])
        values[at, active], errors[at, active] = plan.shapley(worth, ends, _BLOCK // groups.width + 1)
    labels = np.asarray(model.classes_)[outputs] if is_classifier(model) else None
    if typed is not None and labels is not None:
        labels = typed(labels)
    return Contributions(groups.names, values, errors, base, score, labels)


def _numbers(X: Any) -> Floats:
    try:
        return np.atleast_2d(np.asarray(X, dtype=np.float64))
    except (TypeError, ValueError) as error:
        change = "texts are explained behind a TextHasher in a StreamPipeline, other columns by a table model"
        raise InvalidInput(f"X must hold numbers ({error}): {change}") from error


def _background(model: Any, background: Any, width: int) -> Floats:
    if background is None:
        recent = getattr(model, "_recent", None)
        if recent is None:
            rule = "be given: the model keeps no recent rows, as one that learned rows one by one or was just loaded"
            raise InvalidParameter.of("contributions", "background", rule, None)
        background = recent[0][-_RECENT:]
    rows = np.atleast_2d(np.asarray(background, dtype=np.float64))
    if rows.ndim != 2 or rows.shape[1] != width or len(rows) == 0:
        raise InvalidInput(f"background must have rows of the {width} features of X, got shape {rows.shape}")
    return rows


def _picked(scores: Floats, outputs: Places) -> Floats:
    return np.asarray(scores[np.arange(len(scores)), outputs])


def _is_mean(one: Floats, other: Floats) -> bool:
    return bool((np.abs(one - other) <= _ADDITIVE_WITHIN * (1.0 + np.abs(other))).all())


class _Plan:
    """The sets of columns that a row is asked with, and how contributions follow from their worth."""

    def __init__(self, count: int, backgrounds: int, orders: Places | None) -> None:
        self._count, self._backgrounds = count, backgrounds
        #: For each path the order of the columns, paths of one background row side by side; None to enumerate.
        self._orders = orders

    @classmethod
    def of(cls, count: int, backgrounds: int, paths: int | None, seed: int) -> _Plan:
        if paths is None and count <= MOST_ENUMERATED:
            return cls(count, backgrounds, None)
        if paths == 1:
            return cls(count, backgrounds, np.arange(count)[np.newaxis, np.newaxis])
        pairs = (paths or 2) // 2
        rng = np.random.default_rng([seed, count])
        there = rng.permuted(np.tile(np.arange(count), (backgrounds, pairs, 1)), axis=2)
        return cls(count, backgrounds, np.concatenate([there, there[:, :, ::-1]], axis=1))

    def shapley(self, worth: Any, ends: tuple[Floats, float], block: int) -> tuple[Floats, Floats]:
        """Contributions and their standard errors, from the scores of the background and of the row."""
        of_background, of_row = ends
        if self._count == 0:
            return np.empty(0), np.empty(0)
        if self._orders is None:
            return self._by_sets(worth, of_background, of_row, block), np.zeros(self._count)
        paths = self._orders.shape[1]
        scores = np.empty((self._backgrounds, paths, self._count + 1))
        scores[:, :, 0], scores[:, :, -1] = of_background[:, np.newaxis], of_row
        inner = scores[:, :, 1:-1].reshape(self._backgrounds * paths, -1)
        orders = self._orders.reshape(-1, self._count)
        for some in _blocks(len(orders), block // max(self._count - 1, 1)):
            # A column has come once its place in the order is reached.
            arrival = np.argsort(orders[some], axis=1)
            masks = arrival[:, np.newaxis, :] < np.arange(1, self._count)[:, np.newaxis]
            places = np.repeat(np.arange(len(orders))[some] // paths, self._count - 1)
            if masks.size:
                inner[some] = worth(masks.reshape(-1, self._count), places).reshape(-1, self._count - 1)
        scores[:, :, 1:-1] = inner.reshape(self._backgrounds, paths, -1)
        steps = np.empty((self._backgrounds, paths, self._count))
        np.put_along_axis(steps, self._orders, np.diff(scores, axis=2), axis=2)
        values = steps.mean(axis=(0, 1))
        if paths == 1:
            return values, np.zeros(self._count)
        # A path and its reverse are one observation.
        pairs = (steps[:, : paths // 2] + steps[:, paths // 2 :]).reshape(-1, self._count) / 2.0
        if len(pairs) == 1:
            return values, np.full(self._count, np.nan if self._count > 2 else 0.0)
        return values, pairs.std(axis=0, ddof=1) / np.sqrt(len(pairs))

    def _by_sets(self, worth: Any, of_background: Floats, of_row: float, block: int) -> Floats:
        count, sets = self._count, 1 << self._count
        inside = (np.arange(sets)[:, np.newaxis] >> np.arange(count)) & 1 == 1
        worths = np.zeros(sets)
        worths[0], worths[-1] = of_background.mean(), of_row
        for some in _blocks(sets - 2, block // self._backgrounds):
            masks = np.repeat(inside[1:-1][some], self._backgrounds, axis=0)
            places = np.tile(np.arange(self._backgrounds), len(masks) // self._backgrounds)
            worths[1:-1][some] = worth(masks, places).reshape(-1, self._backgrounds).mean(axis=1)
        size = inside.sum(axis=1)
        weight = np.array([factorial(k) * factorial(count - k - 1) / factorial(count) for k in range(count)])
        values = np.empty(count)
        for column in range(count):
            without = np.flatnonzero(~inside[:, column])
            values[column] = np.sum(weight[size[without]] * (worths[without | (1 << column)] - worths[without]))
        return values


def _blocks(count: int, size: int) -> Iterator[slice]:
    size = max(size, 1)
    return (slice(begin, min(begin + size, count)) for begin in range(0, count, size))


def _of_sparse_rows(model: Any, X: Any, groups: Any, label: Any, paths: int | None, seed: int) -> Contributions:
    from scipy.sparse import csr_array

    outputs = outputs_for(model, X, label, X.shape[0])
    score = _picked(scores_of(model, X), outputs)
    of_empty = scores_of(model, csr_array((1, X.shape[1])))
    additive = is_additive(model)
    values, errors = np.zeros(len(X.data)), np.zeros(len(X.data))
    for at, output in enumerate(outputs.tolist()):
        begin, end = X.indptr[at : at + 2]
        columns, data = X.indices[begin:end], X.data[begin:end]

        def worth(masks: Masks, _: Any, columns: Any = columns, data: Any = data, output: int = output) -> Floats:
            place = np.nonzero(masks)[1]
            starts = np.concatenate([[0], np.cumsum(masks.sum(axis=1))])
            kept: Any = (data[place], columns[place], starts)
            return np.asarray(scores_of(model, csr_array(kept, shape=(len(masks), X.shape[1])))[:, output])

        plan = _Plan.of(len(data), 1, 1 if additive else paths or _paths_without_background(len(data)), seed)
        ends = of_empty[:, output], float(score[at])
        values[begin:end], errors[begin:end] = plan.shapley(worth, ends, 1 << 14)
    labels = np.asarray(model.classes_)[outputs] if is_classifier(model) else None

    def like(values: Floats) -> Any:
        parts: Any = (values, X.indices.copy(), X.indptr.copy())
        return csr_array(parts, shape=X.shape)

    named = {at: groups.name_of(at) for at in np.unique(X.indices).tolist()} if isinstance(groups, Groups) else None
    return Contributions(None, like(values), like(errors), of_empty[0][outputs], score, labels, named)


def _paths_without_background(count: int) -> int | None:
    """As there is one background row, the empty one, it takes more paths."""
    return None if count <= MOST_ENUMERATED else 16


def contributions_by_column(
    learner: Any, X: Any, background: Any, plan: Plan
) -> tuple[Contributions, list[dict[str, float]]]:
    """Explain encoded rows: beside all that is known, for each row the largest contributions by column."""
    groups = Groups.of_plan(plan)
    paths = None if len(groups) <= _FEW else 2
    result = contributions(learner, X, background, groups=groups, paths=paths)
    return result, [_top(result, row) for row in range(X.shape[0])]


def _top(result: Contributions, row: int) -> dict[str, float]:
    ranked = result.ranked(row)
    others = sum(list(ranked.values())[_MOST_NAMED:])
    return result.top(row, _MOST_NAMED) | ({_OTHERS: others} if others else {})
