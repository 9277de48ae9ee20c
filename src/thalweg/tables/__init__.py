"""From files to features: rows of CSV, Parquet, Arrow, NDJSON, ARFF, svmlight and Vowpal Wabbit text, in constant
memory, with a plan and an encoder for their columns.
"""

from __future__ import annotations

from thalweg.tables.encoder import Encoder
from thalweg.tables.fingerprint import Fingerprint
from thalweg.tables.opening import Source, open_source
from thalweg.tables.plan import Plan, plan_columns
from thalweg.tables.rows import BadRow, Block, Chunk, chunks
from thalweg.tables.target import Target

__all__ = [
    "BadRow",
    "Block",
    "Chunk",
    "Encoder",
    "Fingerprint",
    "Plan",
    "Source",
    "Target",
    "chunks",
    "open_source",
    "plan_columns",
]
