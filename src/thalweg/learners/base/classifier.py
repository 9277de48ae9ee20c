"""The base class of stream classifiers, over a core that holds the state.

A learner predicts a row, then learns its label. Its state is one compiled object; everything a call could refuse
is checked before that object is touched, or, in long chunks, while a copy of it is kept: a refused call leaves the
model exactly as it was.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import log_softmax
from sklearn.base import ClassifierMixin

from thalweg.errors import InvalidInput
from thalweg.kernels import compiled
from thalweg.labels import Labels, as_labels
from thalweg.learners.base.kept_predictions import KeptPredictions, steps_of
from thalweg.learners.base.labelled_estimator import LabelledEstimator
from thalweg.learners.base.python_core import PythonCore, posteriors
from thalweg.learners.base.rows import Floats, Row, are_many_rows, as_rows, bad_value, clearer_error, width_for_core
from thalweg.learners.base.sparse_rows import is_sparse

if TYPE_CHECKING:
    from thalweg.kernels._base import Core

StreamCore: TypeAlias = "Core | PythonCore"

#: Stands for minus infinity where a finite number is due: the score of a class that was never seen.
_NEVER = -1e100
#: What a core says of rows and labels that it looked at itself.
_ALL_GOOD = -1


class Predictions(NamedTuple):
    """What `predict_then_learn` gives when asked for more than labels; one entry per row, from before its label."""

    labels: NDArray[Any]
    proba: Floats | None
    rate: Floats | None
    weights: Floats | None


class StreamClassifier(ClassifierMixin, LabelledEstimator, abstract=True):
    """A classifier that learns a stream row by row, in constant memory, with classes that may arrive at any row.

    One thread may learn while others predict: the compiled core lets readers in together and learners one at a time.
    Two threads that learn the same model must take turns; so must one that brings a new class and one that predicts.

    Attributes
    ----------
    classes_ : ndarray
        The labels seen so far, sorted.
    n_features_in_ : int
        The width of a row.
    feature_names_in_ : ndarray of str
        The names of the features, where the first rows had names.
    """

    _core: StreamCore

    def _make_core(self, features: int) -> StreamCore:
        raise NotImplementedError

    def _learned_core(self) -> StreamCore:
        core: StreamCore = super()._learned_core()
        return core

    # What others may rely on: class means that move with every row, a covariance beside them, discriminants that differ
    # by a linear function of the row, a rate that can be read, and whether a prediction rests on the label of the row
    # before, which is no use where labels are delayed. Each is a bool, or a property that works it out.
    _keeps_class_means: Any = False
    _keeps_covariance: Any = False
    _scores_linearly: Any = False
    _has_rate: Any = False
    _needs_labels_at_once: Any = False
    #: Whether `_name_classes` changes the core.
    _needs_label_names: Any = False

    def _class_means(self) -> Floats | None:
        """The mean of each class in the units of the rows, to look at; None for learners that keep none."""
        return None

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Forget everything and start from these rows; `partial_fit` continues from there."""
        return self._fit(X, y)

    def _fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        rows, labels = self._take(X, y, anew=True)
        masses = self._masses(sample_weight, len(rows), first=True)
        known, codes = Labels.none().encode(labels)
        core = self._new_core(width_for_core(rows), known)
        self._begin(core, rows, codes, **masses)
        self._commit(core, known, self._remember_columns(X))
        self._keep_first(rows, labels)
        return self

    def _begin(self, core: Any, rows: Floats, codes: NDArray[np.int64], **masses: Floats) -> None:
        core.begin(rows, codes, **masses)

    def partial_fit(self, X: ArrayLike, y: ArrayLike, classes: ArrayLike | None = None) -> Self:
        """Learn these rows in order, at the rate. ``classes`` may announce labels to come; it is never needed."""
        return self._partial_fit(X, y, classes)

    def _partial_fit(self, X: ArrayLike, y: ArrayLike, classes: Any, sample_weight: ArrayLike | None = None) -> Self:
        rows, labels, unchecked = self._take_in(X, y, sample_weight is None)
        masses = self._masses(sample_weight, len(rows), first=not self.__sklearn_is_fitted__())
        self._go_through(X, rows, labels, unchecked, lambda _: masses, classes)
        return self

    def _go_through(
        self,
        X: ArrayLike,
        rows: Floats,
        labels: NDArray[Any],
        unchecked: bool,
        arrays_for: Callable[[Any], dict[str, Any]],
        announced: ArrayLike | None = None,
    ) -> dict[str, Any]:
        """Predict and learn these rows, with whatever arrays the core is to read and to fill; returns them."""
        core, codes = self._ready(rows, labels, X, announced, unchecked)
        arrays = arrays_for(core)
        bad = core.run(rows, codes, unchecked=True, **arrays) if unchecked else core.run(rows, codes, **arrays)
        if not unchecked or bad == _ALL_GOOD:
            self._keep_recent(rows, labels)
            return arrays
        if bad >= 0:
            raise bad_value(rows, bad, "X")
        as_rows(rows, self, "X")  # a new label: what is refused must be refused before it is announced
        return self._go_through(X, rows, labels, False, arrays_for, announced)

    def _take_in(self, X: ArrayLike, y: ArrayLike, may_wait: bool) -> tuple[Floats, NDArray[Any], bool]:
        """Rows and labels, and whether the core is to look at them on its way through."""
        core = self.__dict__.get("_core")
        if may_wait and are_many_rows(X) and isinstance(core, compiled.Core) and not core.may_fail:
            return X, as_labels(y, len(X), type(self).__name__), True
        return *self._take(X, y), False

    def predict_then_learn(
        self,
        X: ArrayLike,
        y: ArrayLike,
        *,
        with_proba: bool = False,
        with_rate: bool = False,
        with_weights: bool = False,
    ) -> NDArray[Any] | Predictions:
        """Predict each row before its label is seen, then learn it: the whole stream in one compiled call.

        Parameters
        ----------
        X, y : array or frame of shape (rows, features), array of shape (rows,)
            The rows and their labels, in the order in which they came.
        with_proba, with_rate, with_weights : bool
            Whether to give, beside each prediction, the class probabilities, the rate in force after the row, and the
            shares that the members of a learner made of others had in the prediction.

        Returns
        -------
        ndarray or Predictions
            The predictions; with one of the switches a `Predictions` that also holds what was asked for (probabilities
            with columns as in ``classes_`` after the call), or None where the learner has no such thing. Before any
            label is known the prediction is the zero of the labels' type: 0, False or "".
        """
        return self._predict_then_learn(X, y, with_proba, with_rate, with_weights)

    def _predict_then_learn(
        self,
        X: ArrayLike,
        y: ArrayLike,
        with_proba: bool,
        with_rate: bool,
        with_weights: bool,
        sample_weight: ArrayLike | None = None,
    ) -> NDArray[Any] | Predictions:
        rows, labels, unchecked = self._take_in(X, y, sample_weight is None and not with_weights)
        masses = self._masses(sample_weight, len(rows), first=not self.__sklearn_is_fitted__())
        count, scored = len(rows), with_proba and hasattr(self, "predict_proba")

        def arrays_for(core: Any) -> dict[str, Any]:
            return {
                "answers": np.empty(count, dtype=np.int64),
                "scores": np.empty((count, core.n_classes)) if scored else None,
                "rates": np.empty(count) if with_rate and self._has_rate else None,
                "shares": np.empty((count, core.n_members)) if with_weights and core.n_members else None,
                **masses,
            }

        results = self._go_through(X, rows, labels, unchecked, arrays_for)
        decoded = self._labels.decode(results["answers"], in_order=True)
        if not (with_proba or with_rate or with_weights):
            return decoded
        proba = posteriors(results["scores"], self._core.confidence) if scored else None
        return Predictions(decoded, proba, results["rates"], results["shares"])

    def follow(
        self,
        X: ArrayLike,
        y: ArrayLike,
        order: ArrayLike,
        *,
        with_proba: bool = False,
        kept: KeptPredictions | None = None,
    ) -> tuple[NDArray[Any], Floats | None]:
        """Predict and learn rows in any order, in one compiled call: what late labels need.

        Parameters
        ----------
        X, y : array of shape (rows, features), array of shape (rows,)
            The rows, and their labels; the label of a row that is not learned is not looked at.
        order : array of int
            The steps: ``i`` predicts row i, ``~i`` learns it.
        with_proba : bool
            Whether class probabilities are wanted, too.
        kept : KeptPredictions, optional
            Of rows that were predicted in an earlier call, so that members of a committee, probabilities, thresholds
            and sets are judged by what was predicted. Those of rows that are predicted now are written there.

        Returns
        -------
        ndarray of shape (rows,), ndarray of shape (rows, classes) or None
            The predictions, with the zero of the labels' type for rows that were not predicted or came before any
            label; and the probabilities (NaN for rows that were not predicted) where they are wanted and the learner
            has them.

        Examples
        --------
        >>> from thalweg import NoChange
        >>> model = NoChange()
        >>> model.follow([[0.0], [0.0], [0.0]], ["a", "b", "c"], [0, 1, ~0, 2])[0].tolist()
        ['', '', 'a']
        """
        with_proba = with_proba and hasattr(self, "predict_proba")
        predictions, proba, _ = self._follow(X, y, order, kept, with_proba=with_proba)
        return predictions, proba

    def _follow(
        self,
        X: ArrayLike,
        y: ArrayLike,
        order: ArrayLike,
        kept: KeptPredictions | None,
        *,
        with_proba: bool,
        with_sets: bool = False,
        sample_weight: ArrayLike | None = None,
    ) -> tuple[NDArray[Any], Floats | None, NDArray[np.bool_] | None]:
        rows, labels = self._take(X, y)
        options: dict[str, Any] = dict(self._masses(sample_weight, len(rows), first=not self.__sklearn_is_fitted__()))
        core, codes, steps = self._ready_to_follow(X, rows, labels, order)
        if core is None:
            return np.zeros(len(rows), dtype=labels.dtype), None, None  # no label yet, so no prediction either
        predictions = np.full(len(rows), -1, dtype=np.int64)
        scores = np.full((len(rows), core.n_classes), np.nan) if with_proba else None
        members = KeptPredictions.none(len(rows)) if kept is None else kept
        if (values := members.of(core, self._labels.values.tolist())) is not None:
            options["kept"] = values
        if with_sets:
            options["sets"] = np.zeros((len(rows), core.n_classes), dtype=np.bool_)
        core.follow(rows, codes, steps, predictions, scores, **options)
        proba = None if scores is None else posteriors(scores, core.confidence)
        return self._labels.decode(predictions), proba, options.get("sets")

    def _ready_to_follow(
        self, X: ArrayLike, rows: Floats, labels: NDArray[Any], order: ArrayLike
    ) -> tuple[Any, NDArray[np.int64], NDArray[np.int64]]:
        """The core, None where there is no label yet; the labels of rows that are learned as indices; the steps."""
        steps, taught = steps_of(order, len(rows))
        codes = np.zeros(len(rows), dtype=np.int64)
        if not taught.any() and not self.__sklearn_is_fitted__():
            return None, codes, steps
        core, codes[taught] = self._ready(rows, labels[taught], X)
        return core, codes, steps

    def learn_then_test(self, X: ArrayLike, y: ArrayLike, X_test: ArrayLike, y_test: ArrayLike) -> NDArray[np.int64]:
        """Learn each row, then predict that row's own test set: the papers' way to measure on simulated streams.

        Parameters
        ----------
        X, y : array of shape (steps, features), array of shape (steps,)
            The rows to learn.
        X_test, y_test : array of shape (steps, tests, features), array of shape (steps, tests)
            For each step, rows of the concept in force. Sparse rows come as one matrix of steps x tests rows.

        Returns
        -------
        ndarray of shape (steps,)
            The number of mistakes on each step's test set.
        """
        rows, labels = self._take(X, y)
        test_y = np.asarray(y_test)
        steps, features = rows.shape
        test_X: Any = X_test
        if is_sparse(test_X):
            tests = test_X.shape[0] // steps
            if test_X.shape != (steps * tests, features):
                raise InvalidInput(
                    f"X_test must have the {features} columns of X and as many rows for each of its {steps}"
                )
        else:
            test_X = np.asarray(test_X)
            if test_X.ndim != 3 or test_X.shape[0] != steps or test_X.shape[2] != features:
                shape = f"({steps}, tests, {features})"
                raise InvalidInput(f"X_test must have shape {shape} to go with X, got {test_X.shape}")
            tests, test_X = test_X.shape[1], test_X.reshape(-1, features)
        if test_y.shape != (steps, tests):
            raise InvalidInput(f"y_test must have shape {(steps, tests)} to go with X_test, got {test_y.shape}")
        test_rows, test_labels = self._take(test_X, test_y.reshape(-1), name="X_test")
        core, codes = self._ready(rows, labels, X)
        test_codes = self._codes_of_known(test_labels)
        mistakes = np.empty(steps, dtype=np.int64)
        core.learn_then_test(rows, codes, test_rows, test_codes.reshape(test_y.shape), mistakes)
        return mistakes

    def _codes_of_known(self, labels: NDArray[Any]) -> NDArray[np.int64]:
        """Places of labels among ``classes_``; -2, never a prediction, for a label the model does not know."""
        wider, codes = self._labels.encode(labels)
        if wider is self._labels:
            return codes
        known = np.array([self._labels.codes.get(label, -2) for label in wider.values.tolist()], dtype=np.int64)
        return known[codes]

    def learn_one(self, x: Row, y: Any) -> Self:
        """Learn one row: an array, a sequence of numbers, or a dict of feature name to number."""
        try:
            if not self._core.learn_known(x, y):
                self._learn_first(x, y)
        except InvalidInput as error:
            raise clearer_error(error, x, self) from None
        except AttributeError:
            if hasattr(self, "_core"):
                raise
            self._learn_first(x, y)
        return self

    def _learn_first(self, x: Row, y: Any) -> None:
        """Learn one row whose label the core does not know, and announce the labels to it."""
        labels = self._meet(x, y)
        self._core.learn_one(x, labels.codes[y])
        self._core.know(labels.codes, labels.everyday_types)

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Predict each row; nothing is learned."""
        rows = self._rows_to_predict(X)
        predictions = np.empty(len(rows), dtype=np.int64)
        self._core.answers(rows, predictions)
        return self._labels.decode(predictions)

    def _codes_and_proba(
        self, X: ArrayLike, kept: KeptPredictions | None = None
    ) -> tuple[NDArray[np.int64], Floats | None]:
        """Both at once, which is faster: the place of each prediction among ``classes_``, and the probabilities.

        What members predict is written where it is to go.
        """
        if not hasattr(self, "predict_proba"):
            rows = self._rows_to_predict(X)
            predictions = np.empty(len(rows), dtype=np.int64)
            self._core.answers(rows, predictions)
            return predictions, None
        scores = self._scores(X, kept)
        if self._core.decides:
            predictions = np.empty(len(scores), dtype=np.int64)
            self._core.answers(self._rows_to_predict(X), predictions)
            return predictions, posteriors(scores, self._core.confidence)
        # A prediction is the highest score, the first of equal ones, and none where no class was seen.
        predictions = scores.argmax(axis=1)
        predictions[np.isneginf(scores[np.arange(len(predictions)), predictions])] = -1
        return predictions, posteriors(scores, self._core.confidence)

    def predict_one(self, x: Row) -> Any:
        """Predict one row; None from a model that has seen no label yet."""
        try:
            core, labels = self._core, self._labels
        except AttributeError:
            return None
        try:
            return labels.ordinary[core.answer_one(x)]
        except InvalidInput as error:
            raise clearer_error(error, x, self) from None

    def _probabilities_one(self, x: Row) -> list[float]:
        """Of each known label, for one row, from a model that knows some."""
        given: list[float] = self._core.probabilities_one(x)
        return given

    def decision_function(self, X: ArrayLike) -> Floats:
        """The discriminant of each class (for two classes, the second's minus the first's; positive predicts it)."""
        scores = np.maximum(self._scores(X), _NEVER)
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    def _scores(self, X: ArrayLike, kept: KeptPredictions | None = None) -> Floats:
        rows = self._rows_to_predict(X)
        scores = np.empty((len(rows), self._core.n_classes))
        values = None if kept is None else kept.of(self._core, self._labels.values.tolist())
        self._core.scores(rows, scores, *(() if values is None else (values,)))
        return scores

    def _resume(
        self, state: dict[str, NDArray[Any]], known: Labels, features: int, names: list[str] | None = None
    ) -> None:
        """Continue from what a core of this learner once gave as its state; ValueError where it cannot be one."""
        if state["n_classes"].tolist() != [len(known)]:
            raise ValueError("the labels and the state disagree")
        learned: dict[str, Any] = {
            "_core": state,
            "_labels": known,
            "n_features_in_": features,
            "classes_": known.values,
        }
        if names is not None:
            learned["feature_names_in_"] = np.array(names, dtype=object)
        self.__setstate__({**self.get_params(deep=False), **learned})


class WithWeights(StreamClassifier, abstract=True):
    """A classifier whose rows may have weights."""

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Forget everything and start from these rows; `partial_fit` continues from there.

        ``sample_weight`` is how much each row counts: 1, or None, is an ordinary row, 0 is none, and more than 1 counts
        for more: as so many copies, or by a step so many times as large (the documentation's page on weights).
        """
        return self._fit(X, y, sample_weight)

    def partial_fit(
        self, X: ArrayLike, y: ArrayLike, classes: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Learn these rows in order, at the rate.

        ``classes`` may announce labels to come; it is never needed. ``sample_weight`` is how many rows each row counts
        for.
        """
        return self._partial_fit(X, y, classes, sample_weight)

    def predict_then_learn(
        self,
        X: ArrayLike,
        y: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        with_proba: bool = False,
        with_rate: bool = False,
        with_weights: bool = False,
    ) -> NDArray[Any] | Predictions:
        """Predict each row before its label is seen, then learn it: the whole stream in one compiled call.

        ``sample_weight`` is how much each row counts, 1 each by default; a row of weight 0 is only predicted. The other
        parameters and the result are those of `StreamClassifier.predict_then_learn`.
        """
        return self._predict_then_learn(X, y, with_proba, with_rate, with_weights, sample_weight=sample_weight)


class WithProbabilities:
    """Class probabilities: the softmax of the discriminants, times the learner's own confidence in them."""

    def predict_proba(self: Any, X: ArrayLike) -> Floats:
        """The probability of each class of ``classes_``; 0 for a class that was announced but never seen."""
        return posteriors(self._scores(X), self._core.confidence)


class WithRate:
    """A learning rate that can be read."""

    _has_rate = True

    @property
    def rate_(self: Any) -> float:
        """The learning rate now in force."""
        return float(self._learned_core().rate)


class WithLogPosteriors(WithProbabilities):
    """More than two discriminants are given as logarithms of probabilities, which no such choice can change."""

    def decision_function(self: Any, X: ArrayLike) -> Floats:
        """The logarithm of each class's probability; for two classes the second's minus the first's."""
        scores = super().decision_function(X)  # type: ignore[misc]
        return np.asarray(scores if scores.ndim == 1 else log_softmax(scores, axis=1))
