"""TABLES OF OTHER LIBRARIES: pandas, polars and Arrow as rows, without a copy where memory allows it.

Learners take them in every method. `chunks` goes through a table that is larger than memory.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from thalweg.on_first_use import on_first_use

if TYPE_CHECKING:
    from thalweg.frames.chunking import chunks

__all__ = ["chunks"]

__getattr__ = on_first_use(__name__, {"chunks": "thalweg.frames.chunking"})


def __dir__() -> list[str]:
    return list(__all__)
