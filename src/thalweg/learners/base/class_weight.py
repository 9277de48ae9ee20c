"""``class_weight``: what the rows of each class count for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from thalweg.errors import InvalidParameter
from thalweg.kernels import compiled
from thalweg.labels import Labels
from thalweg.learners.base.classifier import WithWeights
from thalweg.parameters import NOT_NEGATIVE

if TYPE_CHECKING:
    from thalweg.kernels._base import Core

ClassWeight: TypeAlias = Mapping[Any, float] | Literal["balanced"] | None


class WithClassWeight(WithWeights, abstract=True):
    """A classifier whose rows may count by their class, on top of their own weights."""

    class_weight: ClassWeight

    def _weighted_by_class(self, core: Core) -> Core:
        """The core, or, where class weights are given, one around it that weighs rows by their class."""
        if self.class_weight is None:
            return core
        balanced = isinstance(self.class_weight, str) and self.class_weight == "balanced"
        if not balanced:
            self._check_class_weight()
        return compiled.class_weighted(core, balanced)

    def _check_class_weight(self) -> None:
        owner = type(self).__name__
        if not isinstance(self.class_weight, Mapping):
            rule = 'be a mapping of labels to weights, "balanced" or None'
            raise InvalidParameter.of(owner, "class_weight", rule, self.class_weight)
        for label, weight in self.class_weight.items():
            NOT_NEGATIVE.check(owner, f"class_weight[{label!r}]", weight)

    _needs_label_names: Any = property(lambda self: isinstance(self.class_weight, Mapping))

    def _name_classes(self, core: Any, known: Labels) -> None:
        if isinstance(self.class_weight, Mapping):
            given = self.class_weight
            compiled.set_class_weights(core, np.array([float(given.get(label, 1.0)) for label in known.codes]))
