"""What learners share that decide by the probabilities of another learner."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from thalweg.kernels import compiled
from thalweg.learners.base.classifier import WithLogPosteriors, WithWeights
from thalweg.learners.base.foreign import compiled_core_of
from thalweg.learners.base.labels import Labels
from thalweg.learners.base.sample_weight import require_weights_taken
from thalweg.parameters import Whole

if TYPE_CHECKING:
    from thalweg.kernels._base import Core

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

    @property
    def _takes_sparse(self) -> bool:
        return bool(getattr(self.learner, "_takes_sparse_inside", False))

    @property
    def _same_from_sparse(self) -> bool:
        return bool(getattr(self.learner, "_same_from_sparse", False))

    def _inner_core(self, features: int) -> Core:
        return compiled_core_of(self.learner, features, type(self).__name__, "learner")

    def _learned_core(self) -> Core:
        core = super()._learned_core()
        assert isinstance(core, compiled.Core)
        return core

    def _require_weights_taken(self) -> None:
        require_weights_taken(self.learner, type(self).__name__)

    @property
    def _needs_label_names(self) -> bool:
        return bool(getattr(self.learner, "_needs_label_names", False))

    def _name_classes(self, core: Core, known: Labels) -> None:
        if getattr(self.learner, "_needs_label_names", False):
            self.learner._name_classes(core, known)

    @property
    def _needs_labels_at_once(self) -> bool:
        return bool(getattr(self.learner, "_needs_labels_at_once", False))
