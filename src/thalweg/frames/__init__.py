"""TABLES OF OTHER LIBRARIES: pandas, polars and Arrow as rows, without a copy where memory allows it.

Learners take them in every method. `chunks` goes through a table that is larger than memory.
"""

from thalweg.frames.chunks import chunks

__all__ = ["chunks"]
