"""Models that add up: moments of rows, parts of a model, and merging."""

from __future__ import annotations

import lazy_loader

TYPE_CHECKING = False
if TYPE_CHECKING:
    from thalweg.merging.merge import merge as merge
    from thalweg.merging.part import Part as Part

__getattr__, __dir__, __all__ = lazy_loader.attach(
    __name__,
    submod_attrs={
        "merge": ["merge"],
        "part": ["Part"],
    },
)
