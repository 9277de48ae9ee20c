"""The contract every stream classifier keeps, over a compiled core that holds its state.

A learner answers a row, then learns its label. Its state is one compiled object; everything a call could refuse
is checked before that object is touched, so a refused call leaves the model exactly as it was.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_array, validate_data

from thalweg.errors import InvalidInput, InvalidParameter
from thalweg.kernels import compiled
from thalweg.kernels._base import Core
from thalweg.learners.labels import Labels, as_labels

Floats: TypeAlias = NDArray[np.float64]
Row: TypeAlias = Mapping[str, float] | Sequence[float] | Floats

#: Stands for minus infinity where a finite number is due: the score of a class that was never seen.
_NEVER = -1e100


class Answers(NamedTuple):
    """What `predict_then_learn` gives when asked for more than labels; one entry per row, from before its label."""

    labels: NDArray[Any]
    proba: Floats | None
    rate: Floats | None
    weights: Floats | None


class StreamClassifier(ClassifierMixin, BaseEstimator):
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

    _core: Core
    _labels: Labels
    _begun_with: dict[str, Any]

    def _make_core(self, features: int) -> Core:
        """The compiled core for rows of this width; raises `InvalidParameter` where a parameter breaks its rule."""
        raise NotImplementedError

    # What others may rely on: class means that move with every row, a covariance beside them, and whether an answer
    # rests on the label of the row before, which is no use where labels are delayed.
    @property
    def _keeps_class_means(self) -> bool:
        return False

    @property
    def _keeps_covariance(self) -> bool:
        return False

    @property
    def _needs_labels_at_once(self) -> bool:
        return False

    # ------------------------------------------------------------------ learning

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Forget everything and start from these rows; `partial_fit` goes on from there."""
        rows, labels = self._take(X, y)
        known, codes = Labels.none().encode(labels)
        core = self._new_core(rows.shape[1], known)
        core.begin(rows, codes)
        self._commit(core, known, self._remember_columns(X))
        return self

    def partial_fit(self, X: ArrayLike, y: ArrayLike, classes: ArrayLike | None = None) -> Self:
        """Learn these rows in order, at the rate. ``classes`` may announce labels to come; it is never needed."""
        rows, labels = self._take(X, y)
        core, codes = self._ready(rows, labels, X, announced=classes)
        core.run(rows, codes)
        return self

    def predict_then_learn(
        self,
        X: ArrayLike,
        y: ArrayLike,
        *,
        with_proba: bool = False,
        with_rate: bool = False,
        with_weights: bool = False,
    ) -> NDArray[Any] | Answers:
        """Answer each row before its label is seen, then learn it: the whole stream in one compiled call.

        Returns
        -------
        ndarray or Answers
            The answers; with one of the switches an `Answers` that also holds the class probabilities (columns as in
            ``classes_`` after the call), the rate in force after the row, and the shares that the members of a learner
            made of others had in the answer; None where the learner has no such thing. The first row of a model that
            knows no class yet is answered with the zero of the labels' type.
        """
        rows, labels = self._take(X, y)
        core, codes = self._ready(rows, labels, X)
        answers = np.empty(len(codes), dtype=np.int64)
        scores = np.empty((len(codes), core.n_classes)) if with_proba and hasattr(self, "predict_proba") else None
        rates = np.empty(len(codes)) if with_rate and isinstance(self, WithRate) else None
        shares = np.empty((len(codes), core.n_members)) if with_weights and core.n_members else None
        core.run(rows, codes, answers, scores, rates, shares)
        decoded = self._labels.decode(answers)
        if not (with_proba or with_rate or with_weights):
            return decoded
        return Answers(decoded, None if scores is None else _probabilities(scores, core), rates, shares)

    def learn_then_test(self, X: ArrayLike, y: ArrayLike, X_test: ArrayLike, y_test: ArrayLike) -> NDArray[np.int64]:
        """Learn each row, then answer that row's own test set: the papers' way to measure on simulated streams.

        Parameters
        ----------
        X, y : array of shape (steps, features), array of shape (steps,)
            The rows to learn.
        X_test, y_test : array of shape (steps, tests, features), array of shape (steps, tests)
            For each step, rows of the concept in force.

        Returns
        -------
        ndarray of shape (steps,)
            The number of mistakes on each step's test set.
        """
        rows, labels = self._take(X, y)
        test_X, test_y = np.asarray(X_test), np.asarray(y_test)
        steps, features = rows.shape
        if test_X.ndim != 3 or test_X.shape[0] != steps or test_X.shape[2] != features:
            raise InvalidInput(f"X_test must have shape ({steps}, tests, {features}) to go with X, got {test_X.shape}")
        if test_y.shape != test_X.shape[:2]:
            raise InvalidInput(f"y_test must have shape {test_X.shape[:2]} to go with X_test, got {test_y.shape}")
        test_rows, test_labels = self._take(test_X.reshape(-1, features), test_y.reshape(-1), name="X_test")
        core, codes = self._ready(rows, labels, X)
        test_codes = self._codes_of_known(test_labels)
        mistakes = np.empty(steps, dtype=np.int64)
        core.learn_then_test(rows, codes, test_rows.reshape(test_X.shape), test_codes.reshape(test_y.shape), mistakes)
        return mistakes

    def _codes_of_known(self, labels: NDArray[Any]) -> NDArray[np.int64]:
        """Places of labels among ``classes_``; -2, never an answer, for a label the model does not know."""
        wider, codes = self._labels.encode(labels)
        if wider is self._labels:
            return codes
        known = np.array([self._labels.codes.get(label, -2) for label in wider.values.tolist()], dtype=np.int64)
        return known[codes]

    def learn_one(self, x: Row, y: Any) -> Self:
        """Learn one row: an array, a sequence of numbers, or a dict of feature name to number."""
        labels: Labels | None = self.__dict__.get("_labels")
        if labels is None or type(y) not in labels.everyday_types or y not in labels.codes:
            labels = self._meet(x, y)
        self._core.learn_one(x, labels.codes[y])
        return self

    def _meet(self, x: Row, y: Any) -> Labels:
        """Before a first row, a new label or one of a rarer type: check the row and the label, then make room."""
        labels: Labels | None = self.__dict__.get("_labels")
        if labels is None:
            core, known = self._core_for_row(x), Labels.none().with_label(y)
            core.announce(0)
            core.check_one(x)
            self._commit(core, known, names=tuple(x) if isinstance(x, Mapping) else None)
        elif not labels.knows(y):
            self._core.check_one(x)
            self._announce(labels.with_label(y))
        return self._labels

    # ------------------------------------------------------------------ answering

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """The answer to each row. Nothing is learned."""
        rows = self._rows_to_answer(X)
        answers = np.empty(len(rows), dtype=np.int64)
        self._core.answers(rows, answers)
        return self._labels.decode(answers)

    def predict_one(self, x: Row) -> Any:
        """The answer to one row; None from a model that has seen no label yet."""
        labels: Labels | None = self.__dict__.get("_labels")
        return None if labels is None else labels.decode_one(self._core.answer_one(x))

    def decision_function(self, X: ArrayLike) -> Floats:
        """The discriminant of each class (for two classes, the second's minus the first's; positive answers it)."""
        scores = np.maximum(self._scores(X), _NEVER)
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    def _scores(self, X: ArrayLike) -> Floats:
        rows = self._rows_to_answer(X)
        scores = np.empty((len(rows), self._core.n_classes))
        self._core.scores(rows, scores)
        return scores

    def _rows_to_answer(self, X: ArrayLike) -> Floats:
        if not self.__sklearn_is_fitted__():
            raise NotFittedError(
                f"This {type(self).__name__} instance is not fitted yet: it has seen no row. "
                "Call 'fit' or 'partial_fit' first."
            )
        rows = _as_rows(X, self, "X")
        self._require_same_columns(X)
        return rows

    def _learned_core(self) -> Core:
        """The core, for attributes that exist once something was learned."""
        if "_core" not in self.__dict__:
            raise AttributeError("learned attributes exist once the first row is learned")
        return self._core

    # ------------------------------------------------------------------ taking rows in

    def _take(self, X: ArrayLike, y: ArrayLike, name: str = "X") -> tuple[Floats, NDArray[Any]]:
        rows = _as_rows(X, self, name)
        return rows, as_labels(y, len(rows), type(self).__name__)

    def _ready(
        self, rows: Floats, labels: NDArray[Any], X: ArrayLike, announced: ArrayLike | None = None
    ) -> tuple[Core, NDArray[np.int64]]:
        """The core, knowing every class of these labels, and the labels as class indices."""
        known: Labels = self.__dict__.get("_labels") or Labels.none()
        if announced is not None:
            wider = known.with_labels(as_labels(announced, np.size(announced), type(self).__name__))
            wider, codes = wider.encode(labels)
        else:
            wider, codes = known.encode(labels)
        if len(known) == 0:
            self._commit(self._new_core(rows.shape[1], wider), wider, self._remember_columns(X))
        else:
            self._require_same_parameters()
            self._require_same_columns(X)
            self._announce(wider)
        return self._core, codes

    def _new_core(self, features: int, known: Labels) -> Core:
        core = self._make_core(features)
        for code in range(len(known)):
            core.announce(code)
        return core

    def _core_for_row(self, x: Row) -> Core:
        try:
            width = len(x)
        except TypeError as error:
            raise InvalidInput(f"a row must be an array, a sequence of numbers or a dict, got {x!r}") from error
        if width == 0:
            raise InvalidInput("a row must have at least one feature, got none")
        core = self._make_core(width)
        if isinstance(x, Mapping):
            core.name_features(tuple(x))
        return core

    def _announce(self, wider: Labels) -> None:
        if wider is self._labels:
            return
        for code, label in enumerate(wider.values.tolist()):
            if label not in self._labels.codes:
                self._core.announce(code)
        self._labels = wider
        self.classes_ = wider.values

    def _remember_columns(self, X: ArrayLike) -> tuple[str, ...] | None:
        """The names of X's columns, if it has any, kept as scikit-learn keeps them."""
        validate_data(self, X=X, reset=True, skip_check_array=True)
        return tuple(self.feature_names_in_.tolist()) if hasattr(self, "feature_names_in_") else None

    def _require_same_columns(self, X: ArrayLike) -> None:
        try:
            validate_data(self, X=X, reset=False, skip_check_array=True)
        except ValueError as error:
            raise InvalidInput(str(error)) from error

    def _commit(self, core: Core, known: Labels, names: tuple[str, ...] | None) -> None:
        if names is not None:
            core.name_features(names)
            self.feature_names_in_ = np.asarray(names, dtype=object)
        self.n_features_in_ = core.n_features
        self._core = core
        self._labels = known
        self._begun_with = self.get_params()
        self.classes_ = known.values

    def _require_same_parameters(self) -> None:
        now = self.get_params()
        for name, value in self._begun_with.items():
            if now[name] is not value and now[name] != value:
                raise InvalidParameter(
                    f"The {name!r} parameter of {type(self).__name__} must not change once learning has begun "
                    f"(it was {value!r}, now {now[name]!r}): call fit to start anew."
                )

    # ------------------------------------------------------------------ being an estimator

    def __sklearn_is_fitted__(self) -> bool:
        return "_core" in self.__dict__

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = dict(super().__getstate__())
        if "_core" in state:
            state["_core"] = state["_core"].state()
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if "_core" in self.__dict__:
            saved = state["_core"]
            self._core = self._make_core(self.n_features_in_)
            if hasattr(self, "feature_names_in_"):
                self._core.name_features(tuple(self.feature_names_in_.tolist()))
            self._core.restore(saved)


class WithProbabilities:
    """Class probabilities: the softmax of the discriminants, times the learner's own confidence in them."""

    def predict_proba(self: Any, X: ArrayLike) -> Floats:
        """The probability of each class of ``classes_``; 0 for a class that was announced but never seen."""
        return _probabilities(self._scores(X), self._core)


class LooksAtNoFeature:
    """A baseline: scikit-learn is told not to expect a good score of it."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.classifier_tags.poor_score = True
        return tags


class WithRate:
    """A learning rate that can be read."""

    @property
    def rate_(self: Any) -> float:
        """The learning rate now in force."""
        return float(self._learned_core().rate)


def _probabilities(scores: Floats, core: Core) -> Floats:
    unseen = np.isneginf(scores).all(axis=1)
    scores[unseen] = 0.0  # nothing is known yet: all classes alike
    return np.asarray(softmax(core.confidence * scores, axis=1))


def _as_rows(X: ArrayLike, owner: BaseEstimator, name: str) -> Floats:
    try:
        rows: Floats = check_array(
            X, dtype=np.float64, order="C", ensure_all_finite=False, estimator=owner, input_name=name
        )
    except ValueError as error:
        raise InvalidInput(f"{name} must be a two-dimensional array of numbers: {error}") from error
    at, column = compiled.first_bad(rows)
    if at >= 0:
        value = rows[at, column]
        shown = "NaN" if np.isnan(value) else f"infinity ({value})" if np.isinf(value) else repr(float(value))
        names = getattr(X, "columns", None)
        where = column if names is None else repr(names[column])
        raise InvalidInput(
            f"{name} must hold finite numbers within ±{compiled.largest_value:g}, "
            f"got {shown} at row {at}, column {where}"
        )
    return rows
