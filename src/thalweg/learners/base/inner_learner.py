"""A learner inside another: any classifier as a core, and what learners share that decide by its probabilities.

The classifier is our own, one whose core is in Python, or scikit-learn's, asked row by row.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_regressor

from thalweg.errors import InvalidParameter
from thalweg.kernels import compiled
from thalweg.labels import Labels
from thalweg.learners.base.classifier import StreamClassifier, StreamCore, WithLogPosteriors, WithWeights
from thalweg.learners.base.python_core import PythonCore, posteriors
from thalweg.learners.base.rows import Floats
from thalweg.learners.base.sample_weight import require_weights_taken
from thalweg.parameters import Whole

if TYPE_CHECKING:
    from thalweg.kernels._base import Core


def core_of(model: Any, features: int, owner: str, parameter: str) -> StreamCore:
    """A fresh core for this classifier; an error that names the owner's parameter where it is none."""
    if isinstance(model, StreamClassifier):
        return model._make_core(features)
    numeric = hasattr(model, "__sklearn_tags__") and not isinstance(model, type) and is_regressor(model)
    if numeric:
        raise InvalidParameter.of(owner, parameter, "be classifiers", model)
    if isinstance(model, type) or not (hasattr(model, "partial_fit") and hasattr(model, "predict")):
        raise InvalidParameter.of(owner, parameter, "have partial_fit and predict", model)
    return compiled.foreign(features, _Foreign(model))


def compiled_core_of(model: Any, features: int, owner: str, parameter: str) -> Core:
    """The same, compiled or made to look so."""
    core = core_of(model, features, owner, parameter)
    if isinstance(core, compiled.Core):
        return core
    if model._needs_label_names:
        raise InvalidParameter.of(owner, parameter, "have no weights or costs by label inside a pipeline", model)
    return compiled.foreign(features, _InPython(model, core))


class _InPython:
    """A learner of ours whose core is in Python, as compiled code asks it: one row at a time."""

    def __init__(self, maker: StreamClassifier, core: PythonCore) -> None:
        self.maker = maker
        self.core = core
        self.forget = core.forget
        self.announce = core.announce

    def copy(self) -> _InPython:
        twin = self.maker._make_core(self.core.n_features)
        assert isinstance(twin, PythonCore)
        twin.restore(self.core.state())
        return _InPython(self.maker, twin)

    def learned(self) -> dict[str, NDArray[Any]]:
        return self.core.state()

    def take_back(self, what: dict[str, NDArray[Any]]) -> None:
        self.core.restore(what)

    def posteriors(self, x: Floats) -> Floats:
        """All 0 before the first label: then nothing is predicted."""
        scores = self.core.discriminants(x[None])
        given: Floats = posteriors(scores, self.core.confidence)[0]
        return np.zeros_like(given) if np.isneginf(scores).all() else given

    @property
    def kept_size(self) -> int:
        return int(getattr(self.core, "kept_size", 0))

    @property
    def kept_classes(self) -> list[bool]:
        core: Any = self.core
        marks: list[bool] = core.kept_classes.tolist()
        return marks

    def keep(self, x: Floats) -> bytes:
        kept = np.zeros((1, self.kept_size), dtype=np.uint8)
        core: Any = self.core  # one that keeps what it predicts
        core.scores(x[None], np.empty((1, core.n_classes)), kept)
        return kept.tobytes()

    def learn(self, x: Floats, k: int, weight: float = 1.0, kept: bytes | None = None) -> None:
        options: dict[str, Any] = {} if weight == 1 else {"masses": np.array([weight])}
        if kept is None:
            self.core.run(x[None], np.array([k]), **options)
            return
        options["kept"] = np.frombuffer(kept, dtype=np.uint8)[None].copy()
        self.core.follow(x[None], np.array([k]), np.array([~0]), np.empty(1, dtype=np.int64), None, **options)


class _Foreign:
    """A scikit-learn classifier as compiled code asks it: by class index, one row at a time."""

    def __init__(self, template: Any) -> None:
        self.template = template
        self.order: list[int] = []  # for each class index, in which order the class was first seen; -1: not yet
        self.latest: list[Floats] = []  # a row of each class seen, in that order: what a new start is taught
        self.model: Any = None

    def forget(self) -> None:
        self.order = [-1] * len(self.order)
        self.latest = []
        self.model = None

    def announce(self, at: int) -> None:
        self.order.insert(at, -1)

    def copy(self) -> _Foreign:
        twin = _Foreign(self.template)
        twin.take_back(copy.deepcopy(self.learned()))
        return twin

    def learned(self) -> tuple[list[int], list[Floats], Any]:
        return self.order, self.latest, self.model

    def take_back(self, what: tuple[list[int], list[Floats], Any]) -> None:
        self.order, self.latest, self.model = what

    def posteriors(self, x: Floats) -> Floats:
        """All 0 before the first label, 1 for the only class there is: a model is made for two."""
        seen = np.array([place >= 0 for place in self.order])
        if self.model is None:
            return np.asarray(seen, dtype=np.float64)
        by_arrival = self._ask(x[None])
        if by_arrival.shape != (len(self.latest),) or not (by_arrival >= 0).all() or not 0 < by_arrival.sum() < np.inf:
            return np.asarray(seen / seen.sum())
        by_arrival = by_arrival / by_arrival.sum()
        return np.array([by_arrival[place] if place >= 0 else 0.0 for place in self.order])

    def learn(self, x: Floats, k: int) -> None:
        if self.order[k] >= 0:
            self.latest[self.order[k]] = x
            if self.model is not None:
                self.model.partial_fit(x[None], [self.order[k]])
            return
        latest, model = [*self.latest, x], self.model
        if len(latest) > 1:
            classes = np.arange(len(latest))
            model = clone(self.template)
            model.partial_fit(np.stack(latest), classes, classes=classes)
        self.order[k], self.latest, self.model = len(self.latest), latest, model  # nothing changes where it fails

    def _ask(self, X: Floats) -> NDArray[np.float64]:
        known = len(self.latest)
        if hasattr(self.model, "predict_proba"):
            return np.asarray(self.model.predict_proba(X)[0], dtype=np.float64)
        if hasattr(self.model, "decision_function"):
            margin = np.atleast_1d(self.model.decision_function(X)[0])
            return np.asarray(posteriors(np.array([[0.0, margin[0]] if known == 2 else margin]), 1.0)[0])
        return np.asarray(np.eye(known)[int(self.model.predict(X)[0])])


#: Rows that a label comes late.
DELAY = Whole(0, 10**9, text="be an integer >= 0")
#: Rows over which outcomes count where probabilities are recalibrated.
RECALIBRATION_MEMORY = 5000.0


class Wrapper(WithLogPosteriors, WithWeights, abstract=True):
    """A classifier over the probabilities of ``learner``, which is a template and is never learned itself.

    A row of weight w is learned with that weight, and what became of its prediction counts w times.
    """

    learner: Any
    _core: Core

    _fit_depends_on_order = True
    _why_not_merged = "what it learned of its learner's probabilities depends on the order of the rows"

    _takes_sparse: Any = property(lambda self: self._of_learner("_takes_sparse_inside"))
    _same_from_sparse: Any = property(lambda self: self._of_learner("_same_from_sparse"))
    _needs_label_names: Any = property(lambda self: self._of_learner("_needs_label_names"))
    _needs_labels_at_once: Any = property(lambda self: self._of_learner("_needs_labels_at_once"))

    def _of_learner(self, trait: str) -> bool:
        return bool(getattr(self.learner, trait, False))

    def _inner_core(self, features: int) -> Core:
        return compiled_core_of(self.learner, features, type(self).__name__, "learner")

    def _learned_core(self) -> Core:
        core = super()._learned_core()
        assert isinstance(core, compiled.Core)
        return core

    def _require_weights_taken(self) -> None:
        require_weights_taken(self.learner, type(self).__name__)

    def _name_classes(self, core: Core, known: Labels) -> None:
        if self._of_learner("_needs_label_names"):
            self.learner._name_classes(core, known)
