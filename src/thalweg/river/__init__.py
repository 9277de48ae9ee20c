"""RIVER: thalweg models as River objects, and River models and streams in thalweg's evaluation."""

from __future__ import annotations

from thalweg.river.from_river import from_river, river_stream
from thalweg.river.to_river import to_river

__all__ = ["from_river", "river_stream", "to_river"]
