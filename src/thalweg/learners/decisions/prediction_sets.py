"""Sets of labels that hold the true one in a given share of the rows, through any drift.

=========  ====================  ==================================================================
paper      here                  meaning
=========  ====================  ==================================================================
s_t        log-odds against y_t  score of the true label: low where it was likely
q_t        ``threshold_``        a label is in the set where its score is at most this
alpha      1 - ``coverage``      share of rows whose label may be missing from its set
eta        ``step``              q <- q + eta (1[missed] - alpha)
=========  ====================  ==================================================================

A. N. Angelopoulos, E. J. Candès, R. J. Tibshirani, "Conformal PID Control for Time Series Prediction", NeurIPS 2023:
the rule, quantile tracking, and its guarantee where labels come at once. Over T rows the share of misses differs from
alpha by at most (28 + 2 eta) / (eta T), whatever the rows are: 0.6 percentage points after 50,000 rows, and in practice
far less.

I. Gibbs, E. Candès, "Adaptive Conformal Inference Under Distribution Shift", NeurIPS 2021: the idea of steering by
misses; there alpha is moved, and q is a quantile of the scores of a window.

Where we depart
1. Scores are log-odds, so that one step is right for labels that are nearly certain as for others that are not.
2. A label that comes late moves q half by whether the given set had it, and half by whether the set by today's q would
   have, both by the score of then (`follow_sets`). The first alone moves q on before its effect is known.
3. A row of weight w moves q by w times as much. The misses are then a share of the weight, which differs from alpha by
   at most (28 + 2 eta w) / (eta W) for weights up to w that sum to W, as long as eta w is at most 1.

Cost: that of the learner, plus O(classes) a row.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from thalweg.kernels import compiled
from thalweg.learners.base.catalogue_entry import CatalogueEntry
from thalweg.learners.base.inner_learner import DELAY, Wrapper
from thalweg.learners.base.kept_predictions import KeptPredictions
from thalweg.learners.base.rows import Floats
from thalweg.parameters import POSITIVE, Real, Rules

if TYPE_CHECKING:
    from thalweg.kernels._base import Core

Flags = NDArray[np.bool_]


class PredictionsWithSets(NamedTuple):
    """Of each row the prediction, the probabilities of ``classes_``, and whether each of them is in the set."""

    predictions: NDArray[Any]
    proba: Floats
    sets: Flags


class PredictionSets(Wrapper):
    """Predicts sets of labels, of which a given share holds the true label over the long run.

    An empty set says that no label is as likely as labels usually are, a large one that several are. `predict` and the
    probabilities are those of the learner.

    Parameters
    ----------
    learner : classifier
        A learner of thalweg, or a scikit-learn classifier with ``partial_fit``, which is asked row by row and whose
        model can be copied and pickled but not saved to a file.
    coverage : float in (0, 1), default 0.95
        Share of rows whose set is to hold the true label.
    step : positive float, default 0.1
        By how much a miss moves the threshold, in log-odds. Larger restores the coverage sooner after a change, and
        makes the sets more uneven in between.
    delay : int >= 0, default 0
        How many rows late the labels come. With a delay a row is judged by a copy of the learner that is at least so
        many rows old, as the prediction was; at most nine copies are kept.

    Attributes
    ----------
    threshold_ : float
        The log-odds against a label up to which it is in the set.

    Examples
    --------
    >>> from thalweg import OnlineLDC, PredictionSets
    >>> from thalweg.streams import MovingPlane
    >>> X, y = MovingPlane(seed=1).take(5000)
    >>> model = PredictionSets(OnlineLDC(0.1, counts="soft"), coverage=0.95)
    >>> sets = model.predict_set_then_learn(X, y)
    >>> bool(abs(sets[range(5000), y].mean() - 0.95) < 0.01)
    True
    >>> model.predict_labels([[0.0, 0.0], [5.0, 5.0]])
    [[0, 1], [0]]
    """

    _catalogue = CatalogueEntry(
        name="sets",
        about="auto with sets of labels that hold the true one in 95 % of the rows",
        when="a known share of misses",
        base="AutoClassifier",
    )

    _rules = Rules(coverage=Real(0, 1, "neither"), step=POSITIVE, delay=DELAY)

    def __init__(self, learner: Any, coverage: float = 0.95, *, step: float = 0.1, delay: int = 0) -> None:
        self.learner = learner
        self.coverage = coverage
        self.step = step
        self.delay = delay

    def _make_core(self, features: int) -> Core:
        self._rules.check(self)
        inner = self._inner_core(features)
        return compiled.prediction_sets(inner, float(self.coverage), float(self.step), int(self.delay))

    @property
    def threshold_(self) -> float:
        """The log-odds against a label up to which it is in the set."""
        return float(self._learned_core().state()["threshold"][0])

    def predict_set(self, X: ArrayLike) -> Flags:
        """Whether each label of ``classes_`` is in the set of each row. Nothing is learned."""
        rows = self._rows_to_predict(X)
        scores = np.empty((len(rows), self._core.n_classes))
        sets = np.zeros(scores.shape, dtype=np.bool_)
        nothing = np.zeros(len(rows), dtype=np.int64)
        self._core.follow(rows, nothing, np.arange(len(rows)), nothing.copy(), scores, sets=sets)
        return sets

    def predict_labels(self, X: ArrayLike) -> list[list[Any]]:
        """The set of each row as a list of labels. Nothing is learned."""
        labels = self._labels.ordinary if self.__sklearn_is_fitted__() else []
        return [[labels[code] for code in np.flatnonzero(row)] for row in self.predict_set(X)]

    def predict_set_then_learn(self, X: ArrayLike, y: ArrayLike, *, sample_weight: ArrayLike | None = None) -> Flags:
        """The set of each row before its label is seen; then the row is learned (test-then-train).

        Columns are as in ``classes_`` after the call; sets before any label are empty. ``sample_weight`` is how much
        each row counts, 1 each by default; a row of weight 0 is only predicted.
        """
        rows = np.arange(len(np.asarray(y)))
        order = np.stack([rows, ~rows], axis=1).ravel()
        return self.follow_sets(X, y, order, sample_weight=sample_weight).sets

    def follow_sets(
        self,
        X: ArrayLike,
        y: ArrayLike,
        order: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        kept: KeptPredictions | None = None,
    ) -> PredictionsWithSets:
        """Predictions, probabilities, sets and learning in any order, as `follow` has them.

        Before there is any label the probabilities and sets have no columns.
        """
        options: dict[str, Any] = {"with_proba": True, "with_sets": True, "sample_weight": sample_weight}
        predictions, proba, sets = self._follow(X, y, order, kept, **options)
        if proba is None or sets is None:
            proba = np.zeros((len(predictions), 0))
            sets = proba.astype(np.bool_)
        return PredictionsWithSets(predictions, proba, sets)
