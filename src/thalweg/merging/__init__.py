"""Merging of models that learned different rows, and of parts of a model, by the moments of their rows."""

from __future__ import annotations

import lazy_loader

TYPE_CHECKING = False
if TYPE_CHECKING:
    from thalweg.merging.part import Part as Part
    from thalweg.merging.part import merge as merge

__getattr__, __dir__, __all__ = lazy_loader.attach(__name__, submod_attrs={"part": ["Part", "merge"]})
