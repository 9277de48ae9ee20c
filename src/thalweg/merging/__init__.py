"""Merging of models that learned different rows, and of parts of a model, by the moments of their rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from thalweg.on_first_use import on_first_use

if TYPE_CHECKING:
    from thalweg.merging.part import Part, merge

__all__ = ["Part", "merge"]

__getattr__ = on_first_use(__name__, {"Part": "thalweg.merging.part", "merge": "thalweg.merging.part"})
