"""TABLES OF OTHER LIBRARIES: pandas, polars and Arrow as rows, without a copy where memory allows it.

Learners take them in every method. `chunks` goes through a table that is larger than memory.
"""

from __future__ import annotations

import lazy_loader

TYPE_CHECKING = False
if TYPE_CHECKING:
    from thalweg.frames.chunking import chunks as chunks

__getattr__, __dir__, __all__ = lazy_loader.attach(__name__, submod_attrs={"chunking": ["chunks"]})
