"""What learners share that decide by the probabilities of another learner."""

from __future__ import annotations

from typing import Any

from thalweg.kernels import compiled
from thalweg.kernels._base import Core
from thalweg.learners.base.classifier import StreamClassifier, WithLogPosteriors
from thalweg.learners.base.foreign import compiled_core_of
from thalweg.parameters import Whole

#: Rows that a label comes late.
DELAY = Whole(0, 10**9, text="be an integer >= 0")
#: Rows over which outcomes count where probabilities are recalibrated.
RECALIBRATION_MEMORY = 5000.0


class Wrapper(WithLogPosteriors, StreamClassifier):
    """A classifier over the probabilities of ``learner``, which is a template and is never learned itself."""

    learner: Any
    _core: Core

    _fit_depends_on_order = True
    _why_not_merged = "what it learned of its learner's probabilities depends on the order of the rows"

    def _inner_core(self, features: int) -> Core:
        return compiled_core_of(self.learner, features, type(self).__name__, "learner")

    def _learned_core(self) -> Core:
        core = super()._learned_core()
        assert isinstance(core, compiled.Core)
        return core

    @property
    def _needs_labels_at_once(self) -> bool:
        return bool(getattr(self.learner, "_needs_labels_at_once", False))
