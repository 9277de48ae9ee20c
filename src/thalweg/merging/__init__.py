"""Models that add up: moments of rows, parts of a model, and merging."""

from __future__ import annotations

from typing import TYPE_CHECKING

from thalweg.on_first_use import on_first_use

if TYPE_CHECKING:
    from thalweg.merging.merge import merge
    from thalweg.merging.part import Part

__all__ = ["Part", "merge"]

__getattr__ = on_first_use(__name__, {"Part": "thalweg.merging.part", "merge": "thalweg.merging.merge"})
