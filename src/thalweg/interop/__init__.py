"""AT HOME ELSEWHERE: our models as River's objects, and River's models and streams in our evaluation."""

from __future__ import annotations

from thalweg.interop.from_river import from_river
from thalweg.interop.river import to_river
from thalweg.interop.river_rows import river_stream

__all__ = ["from_river", "river_stream", "to_river"]
